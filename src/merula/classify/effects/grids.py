"""Terms of a few columns that have levels or intervals, purified on the grid of their states; and terms of one column, centred."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import prod

import numpy as np

from merula.classify.effects.marginals import MISSING, Marginals, States
from merula.classify.effects.subjects import AT_ONCE, Places, Subject, asked_for
from merula.core import Array
from merula.core.logspace import times
from merula.data.encode import Encoded
from merula.data.intervals import assign
from merula.distributions import Distribution, GaussianDistribution

MOST_COLUMNS, MOST_CELLS = 4, 2**20  # of a grid; a larger one is not purified
MISSING_PARENTS = "what others tell of missing parents"


# ---------------------------------------------------------------------------------------------------------- one column


@dataclass(frozen=True, eq=False)
class TermEffect:
    """weight · log p(columns given class) less its mean, which is 0 where a part is one effect of all its columns, as it is."""

    part: Distribution
    weight: float
    subject: Subject
    mean: Array | float = 0.0
    rows_at_once: int = AT_ONCE

    @classmethod
    def of(cls, part: Distribution, weight: float, marginals: Marginals) -> TermEffect:
        """The mean is exact for words, intervals and normal numbers.

        Of other densities it is the mean over the typical numbers of the column's intervals; a text, which has none, keeps its
        mean, and so does a part that calls something impossible.
        """
        (name,) = part.columns
        if name not in marginals.places:
            return cls(part, weight, Subject((name,), "a text"))
        weights = marginals.weights(name)
        states = marginals.all_states(name)[weights > 0]  # what was never met, a part may refuse
        said = times(weight, part.log_prob(marginals.rows({name: states}, len(states), part.looks_at)))
        if not np.isfinite(said).all():
            return cls(part, weight, Subject((name,), "some of it impossible"))
        mean = weights[weights > 0] @ said
        if isinstance(part, GaussianDistribution):
            mean = weight * _normal_mean(part, marginals)
        return cls(part, weight, Subject((name,)), mean)

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """See `PartEffects.subjects`."""
        return (self.subject,)

    def read(self, rows: Encoded) -> Encoded:
        """The rows themselves."""
        return rows

    def add_intercept(self, read: Encoded, out: Array) -> None:
        """See `PartEffects.add_intercept`."""
        out += self.mean

    def add(self, read: Encoded, wanted: Places, out: Array) -> None:
        """See `PartEffects.add`."""
        for _, place in asked_for(wanted):
            out[place] += times(self.weight, self.part.log_prob(read)) - self.mean


def _normal_mean(part: GaussianDistribution, marginals: Marginals) -> Array:
    """The mean of log N(x; mean, variance), quadratic in x, over one column."""
    (name,) = part.columns
    lost = marginals.missing[marginals.places[name]]
    shares, z, spread = marginals.in_unit(name, part.mean[:, 0], np.sqrt(2 * part.variance[:, 0]))
    height = part.log_height[:, 0] + part.log_present[:, 0]
    return height * shares.sum() - (z * z + spread) @ shares + part.log_missing[:, 0] * lost  # type: ignore[no-any-return]


# -------------------------------------------------------------------------------------------------------- a few columns


@dataclass(frozen=True, eq=False)
class Axis:
    """The states of one column of a grid: its levels, or the intervals between these cuts; then a level never met, and missing."""

    name: str
    cuts: Array | None
    weights: Array
    example: States

    @classmethod
    def of(cls, name: str, cuts: Sequence[float] | None, marginals: Marginals) -> Axis:
        """The states that a part tells apart, the share of each, and the state of the marginals that stands for it."""
        weights, size = marginals.weights(name), marginals.size(name)
        if cuts is None:
            return cls(name, None, weights, marginals.all_states(name))
        inside = assign(marginals.typical[marginals.places[name]], cuts)
        count = len(cuts) + 1
        shares = np.append(np.bincount(inside, weights[:size], count), (0.0, weights[MISSING]))
        return cls(name, np.asarray(cuts), shares, np.append(np.searchsorted(inside, np.arange(count)), (MISSING, MISSING)))  # fmt: skip

    def states(self, rows: Encoded, marginals: Marginals) -> States:
        """Each row's state, counted from the end for a level never met and for missing."""
        if self.cuts is None:
            return marginals.states(self.name, rows)
        return assign(rows.values((self.name,))[:, 0], self.cuts)


@dataclass(frozen=True, eq=False)
class Grid:
    """weight · log p of every combination of its columns' states, as a table for each set of columns, the empty one too."""

    part: Distribution
    weight: float
    axes: tuple[Axis, ...]
    whole: Array
    effects: dict[Subject, Array]

    @classmethod
    def of(cls, part: Distribution, weight: float, axes: tuple[Axis, ...], marginals: Marginals) -> Grid | None:
        """What the part says of rows that hold nothing else; None where it calls something impossible."""
        shape = [len(axis.weights) for axis in axes]
        places = np.unravel_index(np.arange(prod(shape)), shape)
        states = {axis.name: axis.example[place] for axis, place in zip(axes, places, strict=True)}
        said = times(weight, part.log_prob(marginals.rows(states, prod(shape), part.looks_at))).reshape(*shape, -1)
        if not np.isfinite(said).all():
            return None
        return cls(part, weight, axes, said, purified_grid(said, axes))


def purified_grid(values: Array, axes: Sequence[Axis]) -> dict[Subject, Array]:
    """For each set U of columns Π_{j∈U} (1 − E_j) · Π_{j∉U} E_j of these values, an axis for each column of the set and one for classes."""
    found: dict[tuple[str, ...], Array] = {(): values}
    for axis in axes:
        split = dict[tuple[str, ...], Array]()
        for names, table in found.items():
            at = len(names)  # axes averaged out are gone
            mean = np.tensordot(axis.weights, table, axes=(0, at))
            split[names] = mean
            split[(*names, axis.name)] = table - np.expand_dims(mean, at)
        found = split
    return {Subject(names): table for names, table in found.items()}


@dataclass(frozen=True, eq=False)
class _Read:
    """Rows, and the states of all columns that grids have."""

    rows: Encoded
    states: dict[tuple[str, bytes], States]


@dataclass(frozen=True, eq=False)
class GridEffects:
    """The effects of all parts that have a grid.

    Where a parent of a column is missing, other columns may tell of it; what they tell goes beyond the grid, and is one effect of
    all columns of such parts, not purified.
    """

    grids: tuple[Grid, ...]
    marginals: Marginals
    rows_at_once: int = AT_ONCE

    @cached_property
    def _by_subject(self) -> dict[Subject, list[tuple[tuple[Axis, ...], Array]]]:
        found: dict[Subject, list[tuple[tuple[Axis, ...], Array]]] = {}
        for grid in self.grids:
            axes = {axis.name: axis for axis in grid.axes}
            for subject, table in grid.effects.items():
                found.setdefault(subject, []).append((tuple(axes[name] for name in subject.columns), table))
        return found

    @cached_property
    def _beyond(self) -> Subject | None:
        """What is said beyond the grids, if anything may be."""
        names = set(chain.from_iterable((*grid.part.columns, *grid.part.parents) for grid in self._dependent))
        ordered = tuple(sorted(names, key=self.marginals.places.__getitem__))
        return Subject(ordered, MISSING_PARENTS) if ordered else None

    @property
    def _dependent(self) -> list[Grid]:
        return [grid for grid in self.grids if grid.part.parents]

    @cached_property
    def subjects(self) -> list[Subject]:
        """See `PartEffects.subjects`."""
        own = [subject for subject in self._by_subject if subject.columns]
        return [*own, *([self._beyond] if self._beyond else [])]

    def read(self, rows: Encoded) -> _Read:
        """The states of the rows' cells."""
        axes = {_key(axis): axis for grid in self.grids for axis in grid.axes}
        return _Read(rows, {key: axis.states(rows, self.marginals) for key, axis in axes.items()})

    def add_intercept(self, read: _Read, out: Array) -> None:
        """See `PartEffects.add_intercept`."""
        for _, table in self._by_subject.get(Subject(()), ()):
            out += table

    def add(self, read: _Read, wanted: Places, out: Array) -> None:
        """See `PartEffects.add`."""
        for k, place in asked_for(wanted):
            if self.subjects[k] == self._beyond:
                self._add_beyond(read, out[place])
            for axes, table in self._by_subject.get(self.subjects[k], ()):
                out[place] += table[tuple(read.states[_key(axis)] for axis in axes)]

    def _add_beyond(self, read: _Read, out: Array) -> None:
        """What rows that lack a parent are told beyond what the grid has for them."""
        for grid in self._dependent:
            states = [read.states[_key(axis)] for axis in grid.axes]
            parents = [own for axis, own in zip(grid.axes, states, strict=True) if axis.name in grid.part.parents]
            lacking = np.flatnonzero((np.array(parents) < 0).any(axis=0))
            if len(lacking):
                said = times(grid.weight, grid.part.log_prob(read.rows.take(lacking)))
                out[lacking] += said - grid.whole[tuple(own[lacking] for own in states)]


def _key(axis: Axis) -> tuple[str, bytes]:
    return axis.name, b"" if axis.cuts is None else axis.cuts.tobytes()
