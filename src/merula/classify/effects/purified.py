"""The parts of a weighted sum taken apart: the purified effect of every set of columns.

score(row, class) = Σ_part weight · log p(part) = intercept + Σ_column effect + Σ_pair effect + …, all centred over classes

An effect has mean 0 along each of its columns, when this column alone is drawn from its marginal: main effects carry all that one
column says whatever the others are, pairs what two say together besides (the functional analysis of variance; Hooker 2007,
"Generalized functional ANOVA diagnostics"; Lengerich et al. 2020, "Purifying interaction effects with the functional ANOVA").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from merula.classify.effects._kernels import add_spreads
from merula.classify.effects.grids import MOST_CELLS, MOST_COLUMNS, Axis, Grid, GridEffects, TermEffect
from merula.classify.effects.marginals import Marginals
from merula.classify.effects.normals import NormalEffects
from merula.classify.effects.quadratics import QuadraticEffects, quadratic_cuts
from merula.classify.effects.subjects import PartEffects, Places, Subject
from merula.classify.effects.tables import TableEffects, table_cuts
from merula.classify.log_linear.terms import QuadraticTerms, TableTerms
from merula.core import Array, InputError
from merula.core.sound import LARGEST
from merula.data.encode import Encoded
from merula.data.schema import Label
from merula.distributions import Distribution, MultivariateGaussianDistribution
from merula.distributions.mixed_cells import KeptRowsDistribution

Weighted = Iterable[tuple[Distribution, float]]
NUMBERS_AT_ONCE = 2**22  # of effects
SIMILAR = "similar rows"


@dataclass(frozen=True, eq=False)
class Effects:
    """What a sum of log terms says of each set of columns, rows × classes, centred over classes."""

    parts: tuple[PartEffects, ...]
    marginals: Marginals
    class_count: int

    @cached_property
    def subjects(self) -> tuple[Subject, ...]:
        """All that has an effect: columns, pairs, larger sets, then what is not purified."""
        places, beyond = self.marginals.places, len(self.marginals.columns)

        def order(subject: Subject) -> Any:
            known = [places.get(name, beyond) for name in subject.columns]
            return bool(subject.whole), len(known), known, subject.columns, subject.whole

        return tuple(sorted({subject for part in self.parts for subject in part.subjects}, key=order))

    def intercept(self, rows: Encoded) -> Array:
        """What belongs to no column; it depends on which cells are missing where a part is a multivariate normal."""
        return np.concatenate([self._intercept(tile) for tile in self._tiles(rows, 1)])

    def values(self, rows: Encoded, subjects: Sequence[Subject] | None = None) -> dict[Subject, Array]:
        """The effect of each subject, or of some."""
        some = self.subjects if subjects is None else tuple(subjects)
        found = [centred(self._effects(tile, some)) for tile in self._tiles(rows, len(some))]
        return dict(zip(some, np.concatenate(found, axis=1), strict=True))

    def importances(self, rows: Encoded, weight: Array | None = None) -> dict[Subject, float]:
        """How much each subject tells classes apart: the mean over rows of its largest less its smallest effect, most first."""
        weights = np.ones(len(rows)) if weight is None else np.asarray(weight, dtype=np.float64)
        found, start = np.zeros(len(self.subjects)), 0
        for tile in self._tiles(rows, len(self.subjects)):
            add_spreads(self._effects(tile, self.subjects), weights[start : start + len(tile)], found)
            start += len(tile)
        found /= max(float(weights.sum()), 1e-300)
        return {self.subjects[k]: float(found[k]) for k in np.argsort(-found, kind="stable").tolist()}

    def _tiles(self, rows: Encoded, subjects: int) -> Iterator[Encoded]:
        """Rows in tiles that all parts can read, and whose effects fit; one of no rows where there are none."""
        fitting = NUMBERS_AT_ONCE // max(1, subjects * self.class_count)
        size = max(1, min([fitting, *(part.rows_at_once for part in self.parts)]))
        for start in range(0, max(1, len(rows)), size):
            yield rows.tile(start, start + size)

    def _intercept(self, rows: Encoded) -> Array:
        out = np.zeros((len(rows), self.class_count))
        for part in self.parts:
            part.add_intercept(part.read(rows), out)
        return centred(out)

    def _effects(self, rows: Encoded, subjects: Sequence[Subject]) -> Array:
        """Subjects × rows × classes."""
        out = np.zeros((len(subjects), len(rows), self.class_count))
        for part, own in zip(self.parts, self._wanted(subjects), strict=True):
            if (own >= 0).any():
                part.add(part.read(rows), own, out)
        return out

    def _wanted(self, subjects: Sequence[Subject]) -> list[Places]:
        """For each part, where among these its subjects are, −1 for nowhere."""
        if subjects is self.subjects:
            return self._all_wanted
        where = {subject: k for k, subject in enumerate(subjects)}
        return [np.array([where.get(subject, -1) for subject in part.subjects], dtype=np.int64) for part in self.parts]

    @cached_property
    def _all_wanted(self) -> list[Places]:
        return self._wanted(list(self.subjects))


def centred(values: Array) -> Array:
    """Less their mean over classes, the last axis; over those that are possible, where others are not."""
    possible = np.isfinite(values)
    if possible.all():
        return values - values.mean(axis=-1, keepdims=True)  # type: ignore[no-any-return]
    count = np.maximum(possible.sum(axis=-1, keepdims=True), 1)
    return values - np.where(possible, values, 0.0).sum(axis=-1, keepdims=True) / count  # type: ignore[no-any-return]


# --------------------------------------------------------------------------------------------------------------- making


def marginals_for(parts: Iterable[Distribution], rows: Encoded, weight: Array | None, columns: Sequence[str]) -> Marginals:  # fmt: skip
    """The marginals of these rows, cut wherever one of the parts changes what it says, with all levels that they know.

    Columns stand in the order of their names, whatever the table's, and so they do in the subjects of effects.
    """
    known = tuple(parts)
    levels: dict[str, list[Label]] = {}
    for part in known:
        for name, met in part.levels.items():
            levels.setdefault(name, []).extend(met)
    return Marginals.of(rows, weight, sorted(columns), asked_cuts(known), levels)


def asked_cuts(parts: Iterable[Distribution]) -> dict[str, Array]:
    """The numbers of each column at which a part changes what it says: x ≤ cut on one side."""
    found: dict[str, list[Array]] = {}
    for part in parts:
        for name, cuts in [*_own_cuts(part), *part.read_bounds.items()]:
            found.setdefault(name, []).append(np.asarray(cuts, dtype=np.float64))
    every = ((name, np.concatenate(cuts)) for name, cuts in found.items())
    return {name: np.unique(cuts[np.abs(cuts) < LARGEST]) for name, cuts in every}


def _own_cuts(part: Distribution) -> Iterator[tuple[str, Any]]:
    if isinstance(part, TableTerms):
        yield from table_cuts(part).items()
    elif isinstance(part, QuadraticTerms):
        yield from quadratic_cuts(part).items()
    yield from part.read_cuts.items()


def purified(parts: Weighted, marginals: Marginals, classes: int) -> Effects:
    """The effects of a weighted sum of parts, each with one weight for all its factors, over marginals made for them.

    Parameters
    ----------
    parts : pairs of a distribution and its weight
        Tables and the twin of conditional log-linear models, multivariate normals, and terms of one column are purified.
        So are terms of up to four columns (a column and its parents) that have levels or cuts, on a grid of at most 2²⁰ numbers.
        All else is one effect of its columns, as it is, named by what the part is ``called``: rows that were kept, larger grids, and parts that call
        something impossible. A part that does not read numbers as rows hold them says so in ``read_cuts`` or ``read_bounds``.
    marginals : Marginals
        As `marginals_for` makes them.
    classes : int
        The number of classes.

    Examples
    --------
    >>> import merula as mr
    >>> from merula.data.encode import encode_rows
    >>> rows, birds = [["red", 1.0], ["blue", 3.0], ["red", 2.0], ["blue", 5.0]], ["tit", "wren", "tit", "wren"]
    >>> model = mr.NaiveBayesClassifier().fit(rows, birds)
    >>> encoded = encode_rows(rows, model.schema_, False, "model")
    >>> marginals = marginals_for(model.distributions_, encoded, None, model.schema_.names)
    >>> effects = purified([(part, 1.0) for part in model.distributions_], marginals, 2)
    >>> found = effects.values(encoded)
    >>> [subject.key for subject in found], all(abs(effect.mean(axis=0)).max() < 1e-12 for effect in found.values())
    (['x0', 'x1'], True)
    >>> score = sum(part.log_prob(encoded) for part in model.distributions_)
    >>> gap = effects.intercept(encoded) + sum(found.values()) - centred(score)
    >>> bool(abs(gap).max() < 1e-12)
    True
    """
    known = [(part, weight) for part, weight in parts if weight != 0]
    if not suit(marginals, [part for part, _ in known]):
        raise InputError("these are marginals of other parts", remedy="make them by marginals_for, of the same parts")
    taken, grids = list[PartEffects](), list[Grid]()
    for part, weight in known:
        for found in _taken_apart(part, float(weight), marginals, classes):
            (grids if isinstance(found, Grid) else taken).append(found)  # type: ignore[arg-type]
    return Effects((*taken, *([GridEffects(tuple(grids), marginals)] if grids else [])), marginals, classes)


def suit(marginals: Marginals, parts: Sequence[Distribution]) -> bool:
    """True when the marginals are cut wherever a part asks, and have all levels that one knows."""
    places = marginals.places
    cut = all(name in places and np.isin(cuts, marginals.cuts[places[name]]).all() for name, cuts in asked_cuts(parts).items())  # fmt: skip
    told = ((name, known) for part in parts for name, known in part.levels.items())
    return cut and all(name in places and set(known) - {None} <= set(marginals.level_sets[places[name]] or ()) for name, known in told)  # fmt: skip


def _taken_apart(part: Distribution, weight: float, marginals: Marginals, classes: int) -> Iterator[PartEffects | Grid]:
    """The effects of one part, or of its factors."""
    inner = part.read_part
    if isinstance(part, TableTerms):
        yield TableEffects.of(part, weight, marginals)
    elif isinstance(part, QuadraticTerms):
        yield QuadraticEffects.of(part, weight, marginals)
    elif isinstance(inner, MultivariateGaussianDistribution) and not set(part.read_cuts) & set(part.columns):
        yield NormalEffects.of(inner, weight, marginals, part.read_bounds)
    else:
        for factor in part.factors():
            yield _factor(factor, weight, marginals, classes)


def _factor(part: Distribution, weight: float, marginals: Marginals, classes: int) -> PartEffects | Grid:
    """One column, a grid of a few, or the whole as it is."""
    names, cuts = (*part.columns, *part.parents), part.read_cuts
    if len(names) == 1:
        return TermEffect.of(part, weight, marginals)
    places = marginals.places
    axes = [Axis.of(name, cuts.get(name), marginals) for name in sorted(names, key=lambda name: places.get(name, -1)) if _has_states(name, cuts, marginals)]  # fmt: skip
    if len(axes) == len(names) <= MOST_COLUMNS and prod(len(axis.weights) for axis in axes) * classes <= MOST_CELLS:
        grid = Grid.of(part, weight, tuple(axes), marginals)
        if grid is not None:
            return grid
    inner = part.read_part
    return TermEffect(part, weight, Subject(names, SIMILAR if isinstance(inner, KeptRowsDistribution) else inner.called))  # fmt: skip


def _has_states(name: str, cuts: Mapping[str, Sequence[float]], marginals: Marginals) -> bool:
    """Whether a part knows a column by its levels or intervals alone."""
    return name in marginals.places and (name in cuts or marginals.level_sets[marginals.places[name]] is not None)
