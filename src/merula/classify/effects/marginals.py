"""How each column by itself is distributed over the rows learned from: what effects are averaged over. No row is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.plain_fields import PlainFields
from merula.core.sound import (  # fmt: skip
    LARGEST,
    ROUNDING,
    all_shaped,
    are_finite,
    are_labels,
    are_names,
    are_positive,
    ascends,
    within,
)
from merula.data.encode import Coded, Encoded
from merula.data.intervals import assign, between
from merula.data.schema import Label, sort_labels
from merula.distributions.joint_table import level_cells

Levels = tuple[tuple[Label, ...] | None, ...]
States = NDArray[np.int64]
MISSING, UNSEEN = -1, -2  # states of a cell besides its level or interval
PIECES = 32  # intervals of equal weight that numbers are cut into, besides where a part asks
FARTHEST = 1e100  # units from the center
PACKED = ("cuts", "shares", "means", "variances", "typical")
NONE = np.zeros(0)
NO_LEVEL: Any = ("a level never met",)  # a label that no table holds


@dataclass(frozen=True, eq=False)
class Marginals(PlainFields):
    """The share of rows at each level of a column of words, in each interval of a column of numbers, and where it is missing.

    Intervals lie between the ``cuts`` of a column, closed on the right. Their ``means`` and ``variances`` are those of
    z = (x − center) / unit; ``typical`` is a number of each interval: of those met there, the nearest to their mean.
    """

    columns: tuple[str, ...]
    level_sets: Levels
    cuts: tuple[Array, ...]
    shares: tuple[Array, ...]
    missing: Array
    center: Array
    unit: Array
    means: tuple[Array, ...]
    variances: tuple[Array, ...]
    typical: tuple[Array, ...]

    @classmethod
    def of(
        cls,
        rows: Encoded,
        weight: Array | None,
        columns: Sequence[str],
        asked: Mapping[str, Array] | None = None,
        levels: Mapping[str, Sequence[Label]] | None = None,
    ) -> Self:
        """The marginals of these rows: numbers cut where they are `asked` about, words with these `levels` and all that were met.

        Examples
        --------
        >>> from merula.data.encode import encode_cells
        >>> from merula.data.schema import Column, Schema
        >>> schema = Schema((Column("wing", "numeric"), Column("song", "categorical")))
        >>> rows = encode_cells(schema, {"wing": [1.0, 3.0, 3.0, None], "song": ["long", "short", "long", "long"]}, 4)
        >>> found = Marginals.of(rows, None, schema.names)
        >>> found.cuts[0].tolist(), found.shares[0].tolist(), found.missing.tolist()
        ([2.0], [0.25, 0.5], [0.25, 0.0])
        >>> found.level_sets[1], found.shares[1].tolist()
        (('long', 'short'), [0.75, 0.25])
        """
        mass = np.ones(len(rows)) if weight is None else np.asarray(weight, dtype=np.float64)
        read = [name for name in columns if name in rows.numeric or name in rows.coded]  # texts have no states
        found = [
            _numbers(rows.values((name,))[:, 0].astype(np.float64), mass, (asked or {}).get(name, NONE))
            if name in rows.numeric
            else _words(rows, name, mass, (levels or {}).get(name, ()))
            for name in read
        ]
        fields: dict[str, Any] = {field: tuple(getattr(one, field) for one in found) for field in _Column._fields}
        single = {field: np.array(fields[field], dtype=np.float64) for field in ("missing", "center", "unit")}
        return cls(tuple(read), **fields | single)

    # ------------------------------------------------------------------------------------------------ asking

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each column stands."""
        return {name: j for j, name in enumerate(self.columns)}

    def size(self, name: str) -> int:
        """The levels or intervals of a column."""
        return len(self.shares[self.places[name]])

    def all_states(self, name: str) -> States:
        """Every level or interval of a column, `UNSEEN` and `MISSING`, which count from the end of such a list."""
        return np.append(np.arange(self.size(name)), (UNSEEN, MISSING))

    def weights(self, name: str) -> Array:
        """The share of rows in each of `all_states`."""
        j = self.places[name]
        return np.concatenate([self.shares[j], [0.0, self.missing[j]]])

    def states(self, name: str, rows: Encoded) -> States:
        """Which level or interval each row has, `MISSING` or `UNSEEN`."""
        j = self.places[name]
        if self.level_sets[j] is None:
            return assign(rows.values((name,))[:, 0], self.cuts[j])
        return level_cells(rows, (name,), self._told[j])[:, 0].astype(np.int64)

    @cached_property
    def _told(self) -> list[tuple[Any]]:
        """The levels of each column as `level_cells` is told them: the same object each time."""
        return [(known,) for known in self.level_sets]

    def cells(self, name: str, known: Sequence[Label] | None) -> Array:
        """Each of `all_states` as `read_cells` gives it: a typical number, or the place among the levels a part has; NaN for missing."""
        j = self.places[name]
        if known is None:
            return np.append(self.typical[j], (np.nan, np.nan))
        places = {level: float(k) for k, level in enumerate(known)}
        return np.array([*(places.get(level, np.nan) for level in self.level_sets[j] or ()), np.nan, np.nan])

    def rows(self, states: Mapping[str, States], count: int, only: Sequence[str] | None = None) -> Encoded:
        """Rows in these states, to be asked of a distribution; all other columns, or of `only` some, are missing."""
        numeric: dict[str, Array] = {}
        coded: dict[str, Coded] = {}
        number, word = np.full(count, np.nan), Coded(np.full(count, MISSING), [None], -1)
        for name in self.columns if only is None else only:
            j, own = self.places[name], states.get(name)
            known = self.level_sets[j]
            if known is None:
                numeric[name] = number if own is None else np.append(self.typical[j], np.nan)[np.maximum(own, -1)]
            elif own is None:
                coded[name] = word
            else:
                coded[name] = Coded(np.where(own == UNSEEN, len(known), own), [None, *known, NO_LEVEL], -1)
        return Encoded(0, count, numeric, coded)

    def in_unit(self, name: str, center: Any, scale: Any, low: float = -np.inf, high: float = np.inf) -> tuple[Array, Array, Array]:  # fmt: skip
        """The share of each interval, and mean and variance of (x − center) / scale in it, x held between `low` and `high`.

        Both bounds must be cuts of the column, or infinite. Centers and scales may have axes of their own, before that of intervals.
        """
        j = self.places[name]
        center, scale = np.asarray(center)[..., None], np.asarray(scale)[..., None]
        with np.errstate(over="ignore"):
            z = _near((self.center[j] - center) / scale) + _near(self.unit[j] / scale * self.means[j])
            spread = _near(self.unit[j] / scale) ** 2 * self.variances[j]
        ends = np.concatenate([[-np.inf], self.cuts[j], [np.inf]])
        below, above = ends[1:] <= low, ends[:-1] >= high
        z = np.where(below, _near((low - center) / scale), np.where(above, _near((high - center) / scale), z))
        return self.shares[j], z, np.where(below | above, 0.0, spread)

    # ------------------------------------------------------------------------------------------------ files

    def state(self) -> dict[str, Any]:
        """Plain data: the arrays of all columns end to end, as a few arrays are read much faster than many."""
        packed = {name: np.concatenate([NONE, *getattr(self, name)]) for name in PACKED}
        sizes = np.array([[len(getattr(self, name)[j]) for name in PACKED] for j in range(len(self.columns))], dtype=np.int64)  # fmt: skip
        return {**super().state(), **packed, "sizes": sizes}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The marginals that `state` describes."""
        ends = np.cumsum(state["sizes"].reshape(-1, len(PACKED)), axis=0)
        several = {name: [part.copy() for part in np.split(state[name], ends[:, k])[:-1]] for k, name in enumerate(PACKED)}  # fmt: skip
        return super().from_state({name: value for name, value in state.items() if name != "sizes"} | several)

    def fits(self) -> bool:
        """True when all of it fits together; a file from a stranger is asked before it is used."""
        d = len(self.columns)
        fields = (self.level_sets, self.cuts, self.shares, self.means, self.variances, self.typical)
        if not are_names(self.columns) or any(not isinstance(field, tuple) or len(field) != d for field in fields):
            return False
        shaped = all_shaped((d,), self.missing, self.center, self.unit) and are_finite(self.center)
        return shaped and within(0.0, 1.0, self.missing) and are_positive(self.unit) and all(map(self._column_fits, range(d)))  # fmt: skip

    def _column_fits(self, j: int) -> bool:
        known, cuts, shares = self.level_sets[j], self.cuts[j], self.shares[j]
        if known is not None and not are_labels(known):
            return False
        size = len(known) if known is not None else len(cuts) + 1
        inner = 0 if known is not None else size
        shaped = all_shaped((size,), shares) and all_shaped((inner,), self.means[j], self.variances[j], self.typical[j])
        if (
            not shaped
            or not all_shaped((max(inner - 1, 0),), cuts)
            or not ascends(cuts)
            or not within(0.0, 1.0, shares)
        ):
            return False
        whole = float(shares.sum() + self.missing[j])
        told = within(-FARTHEST, FARTHEST, self.means[j]) and within(0.0, FARTHEST, self.variances[j])
        return told and are_finite(self.typical[j]) and (abs(whole - 1) <= ROUNDING or whole == 0)


def _near(z: Array) -> Array:
    """No farther out than squares can go."""
    return np.clip(z, -FARTHEST, FARTHEST)


class _Column(NamedTuple):
    """The fields of `Marginals` for one column."""

    level_sets: tuple[Label, ...] | None
    cuts: Array
    shares: Array
    missing: float
    center: float = 0.0
    unit: float = 1.0
    means: Array = NONE
    variances: Array = NONE
    typical: Array = NONE


def _words(rows: Encoded, name: str, weight: Array, known: Sequence[Label]) -> _Column:
    """The levels that are known and those that were met, and how often each was."""
    told = tuple(level for level in known if level is not None)
    levels = sort_labels({*told, *rows.unseen_labels(name, told)})
    cells = level_cells(rows, (name,), (levels,))[:, 0]
    mass = np.bincount(cells + 1, weight, len(levels) + 1)
    kept = [k for k, level in enumerate(levels) if mass[k + 1] > 0 or level in told]
    total = max(float(mass.sum()), 1e-300)
    return _Column(tuple(levels[k] for k in kept), NONE, mass[1:][kept] / total, float(mass[0]) / total)


def _numbers(x: Array, weight: Array, asked: Array) -> _Column:
    """The intervals of a column of numbers."""
    known = ~np.isnan(x) & (weight > 0)
    met, mass = _counted(x[known], weight[known])
    cuts = np.union1d(asked, _pieces(met, mass))
    inside, count = np.searchsorted(cuts, met), len(cuts) + 1
    center, unit = _safe_unit(met, mass)
    z = (met - center) / unit
    weights = np.bincount(inside, mass, count)
    share = np.maximum(weights, 1e-300)
    means = np.bincount(inside, mass * z, count) / share
    variances = np.bincount(inside, mass * (z - means[inside]) ** 2, count) / share
    lost = float(weight[np.isnan(x)].sum())
    total = max(float(mass.sum()) + lost, 1e-300)
    return _Column(None, cuts, weights / total, lost / total, center, unit, means, variances, _typical(met, inside, np.abs(z - means[inside]), cuts))  # fmt: skip


def _counted(x: Array, weight: Array) -> tuple[Array, Array]:
    """The numbers that occur, and the weight of each."""
    if (weight == 1).all():  # in a third of the time
        met, counts = np.unique(x, return_counts=True)
        return met, counts.astype(np.float64)
    met, place = np.unique(x, return_inverse=True)
    return met, np.bincount(place, weight, len(met)).astype(np.float64)


def _pieces(met: Array, mass: Array) -> Array:
    """Cuts between numbers that were met: all of them, or as many as make pieces of equal weight."""
    if len(met) <= PIECES:
        return np.array(between(met, np.arange(len(met) - 1)))
    reached = np.cumsum(mass)
    ends = np.searchsorted(reached, reached[-1] * np.arange(1, PIECES) / PIECES)
    return np.array(between(met, np.unique(ends[ends < len(met) - 1])))


def _safe_unit(met: Array, mass: Array) -> tuple[float, float]:
    """A middle number, from which differences are exact, and a power of two about as large as they are."""
    if not len(met):
        return 0.0, 1.0
    reached = np.cumsum(mass)
    center = float(met[min(int(np.searchsorted(reached, reached[-1] / 2)), len(met) - 1)])
    reach = max(0.5 * met[-1] - 0.5 * center, 0.5 * center - 0.5 * met[0])
    return center, float(2.0 ** min(max(int(np.frexp(reach)[1]), -900), 900)) if reach > 0 else 1.0


def _typical(met: Array, inside: NDArray[Any], distance: Array, cuts: Array) -> Array:
    """The number met in each interval that is nearest to their mean; where none was, an end of it."""
    beyond = min(float(np.nextafter(cuts[-1], np.inf)), LARGEST) if len(cuts) else 0.0
    found = np.append(cuts, beyond)
    order = np.lexsort((distance, inside))
    places, first = np.unique(inside[order], return_index=True)
    found[places] = met[order[first]]
    return found
