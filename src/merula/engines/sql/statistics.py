"""The statistics of columns alone and of whole rows, made of groups and sums that a database answers with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.engines.sql.needs import (
    Answers,
    Counts,
    GroupedMoments,
    GroupedRows,
    InCells,
    Need,
    PairSums,
    Patterns,
    Products,
    Sums,
    Values,
    counted,
    needs_of,
    refusal,
)
from merula.stats import (
    CellCounts,
    ClassCounts,
    Families,
    Family,
    FullMoments,
    JointCounts,
    LevelCounts,
    Moments,
    PairCounts,
    PatternMoments,
    RoundedCounts,
    Rows,
    TokenCounts,
    ValueCounts,
    Wanted,
    added,
)
from merula.stats.dependence import Dependence
from merula.stats.distinct_rows import labelled_codes, unite_labels
from merula.stats.mixed_pairs import MixedPairs
from merula.stats.pair_moments import LabelMoments, PairMoments

__all__ = ["counted", "needs_of"]


def updated(statistic: Any, found: GroupedRows | None) -> Any:
    """The statistic with the grouped rows counted; none may have been found."""
    return statistic if found is None else statistic.update(found.rows, found.target)


@needs_of.register
def _(_statistic: Rows, wanted: Wanted) -> Sequence[Need]:
    raise refusal(wanted, "belongs to a model that keeps the rows themselves, and these stay in the database")


@needs_of.register
def _(_statistic: TokenCounts, wanted: Wanted) -> Sequence[Need]:
    raise refusal(wanted, "is text, whose words a database does not count as this machine does")


@needs_of.register
def _(_statistic: ClassCounts, _wanted: Wanted) -> Sequence[Need]:
    return [Sums(())]


@counted.register
def _(_statistic: ClassCounts, answers: Answers) -> ClassCounts:
    return ClassCounts(answers[Sums(())].weight)


# --------------------------------------------------------------------------------------------------- columns alone


@needs_of.register
def _(statistic: LevelCounts, _wanted: Wanted) -> Sequence[Need]:
    return [Counts((name,)) for name in statistic.columns]


@counted.register
def _(statistic: LevelCounts, answers: Answers) -> LevelCounts:
    classes = len(statistic.missing)
    parts = [updated(LevelCounts.zero((name,), classes), answers[Counts((name,))]) for name in statistic.columns]
    return LevelCounts(
        statistic.columns,
        tuple(part.labels[0] for part in parts),
        tuple(part.counts[0] for part in parts),
        np.concatenate([part.missing for part in parts], axis=1),
    )


@needs_of.register
def _(statistic: ValueCounts, _wanted: Wanted) -> Sequence[Need]:
    return [Values(name) for name in statistic.columns]


@needs_of.register
def _(statistic: RoundedCounts, _wanted: Wanted) -> Sequence[Need]:
    return [Values(name) for name in statistic.columns]


@counted.register
def _(statistic: RoundedCounts, answers: Answers) -> RoundedCounts:
    zero = len(statistic.missing)
    parts = [updated(RoundedCounts.zero((name,), zero), answers[Values(name)]) for name in statistic.columns]
    return RoundedCounts(
        statistic.columns,
        tuple(part.powers[0] for part in parts),
        tuple(part.values[0] for part in parts),
        tuple(part.counts[0] for part in parts),
        np.concatenate([part.missing for part in parts], axis=1),
    )


@counted.register
def _(statistic: ValueCounts, answers: Answers) -> ValueCounts:
    zero = len(statistic.missing)
    parts = [updated(ValueCounts.zero((name,), zero), answers[Values(name)]) for name in statistic.columns]
    return replace(
        statistic,
        values=tuple(part.values[0] for part in parts),
        counts=tuple(part.counts[0] for part in parts),
        missing=np.concatenate([part.missing for part in parts], axis=1),
    )


@needs_of.register
def _(statistic: CellCounts, _wanted: Wanted) -> Sequence[Need]:
    return [InCells(name, grid) for name, grid in zip(statistic.columns, statistic.grids, strict=True)]


@counted.register
def _(statistic: CellCounts, answers: Answers) -> CellCounts:
    needs = (InCells(name, grid) for name, grid in zip(statistic.columns, statistic.grids, strict=True))
    return CellCounts.beside([answers[need] for need in needs])


@needs_of.register
def _(statistic: Moments, _wanted: Wanted) -> Sequence[Need]:
    return [Sums(statistic.columns)]


@counted.register
def _(statistic: Moments, answers: Answers) -> Moments:
    found: GroupedMoments = answers[Sums(statistic.columns)]
    moments: Moments = placed(found.moments, found.classes, len(statistic.weight))
    return moments


# ------------------------------------------------------------------------------------------------ columns together


@needs_of.register
def _(statistic: JointCounts, _wanted: Wanted) -> Sequence[Need]:
    return [Counts(statistic.columns)]


@counted.register
def _(statistic: JointCounts, answers: Answers) -> JointCounts:
    found: JointCounts = updated(statistic, answers[Counts(statistic.columns)])
    return found


@needs_of.register
def _(statistic: FullMoments, _wanted: Wanted) -> Sequence[Need]:
    return [Products(statistic.columns)]


@counted.register
def _(statistic: FullMoments, answers: Answers) -> FullMoments:
    found: GroupedMoments = answers[Products(statistic.columns)]
    moments: FullMoments = placed(found.moments, found.classes, len(statistic.weight))
    return moments


@needs_of.register
def _(statistic: PatternMoments, _wanted: Wanted) -> Sequence[Need]:
    return [Patterns(statistic.columns)]


@counted.register
def _(statistic: PatternMoments, answers: Answers) -> PatternMoments:
    found: PatternMoments = answers[Patterns(statistic.columns)]
    return found


def placed(moments: Any, where: NDArray[np.int64], count: int) -> Any:
    """The moments of groups at these places among `count`; groups at the same place are added up."""
    rank = np.zeros(len(where), dtype=np.int64)
    met: dict[int, int] = {}
    for group, place in enumerate(where.tolist()):
        rank[group] = met[place] = met.get(place, -1) + 1
    layers = [np.flatnonzero(rank == layer) for layer in range(int(rank.max(initial=-1)) + 1)]
    parts = [_some(moments, groups).with_classes(where[groups], count) for groups in layers]
    return added(parts) if parts else type(moments).zero(moments.columns, count)


def _some(moments: Any, groups: NDArray[np.int64]) -> Any:
    """The moments of some groups."""
    return type(moments)(moments.columns, *(part[groups] for part in moments._parts))


# ----------------------------------------------------------------------------------------------------------- pairs


def pair_needs(columns: Sequence[str], known: tuple[str, ...] = ()) -> list[Counts]:
    """Each pair of columns once; a column that has no other, alone."""
    if len(columns) == 1:
        return [Counts((columns[0],), known)]
    return [Counts((one, other), known) for k, one in enumerate(columns) for other in columns[k + 1 :]]


@needs_of.register
def _(statistic: PairCounts, _wanted: Wanted) -> Sequence[Need]:
    return pair_needs(statistic.columns)


@counted.register
def _(statistic: PairCounts, answers: Answers) -> PairCounts:
    return pairs_of(statistic, [(need.columns, answers[need]) for need in pair_needs(statistic.columns)])


def pairs_of(statistic: PairCounts, tables: Sequence[tuple[tuple[str, ...], GroupedRows | None]]) -> PairCounts:
    """The counts of pairs from the groups of each; a column's own counts are those of the first pair it stands in."""
    parts: list[PairCounts] = []
    alone: set[str] = set()
    for names, found in tables:
        if found is not None:
            part = PairCounts.zero(names, statistic.weight.shape[1], statistic.missing_is_label)
            parts.append(_among(part.update(found.rows, found.target), statistic, alone))
        alone.update(names)
    return added([statistic, *parts])


def _among(part: PairCounts, statistic: PairCounts, done: set[str]) -> PairCounts:
    """The counts of one pair of columns as a part of those of all columns, without columns whose own counts are done."""
    size = len(statistic.columns)
    places = [statistic.columns.index(name) for name in part.columns]
    own = list(zip(*np.triu_indices(len(places)), strict=True))  # (first, first), (first, second), (second, second)
    cells, kept = part.cells.copy(), np.ones(len(part.cells), dtype=bool)
    for pair, (one, other) in enumerate(own):
        these = part.cells[:, 0] == pair
        low, high = sorted((places[one], places[other]))
        cells[these, 0] = low * size - low * (low - 1) // 2 + high - low
        if places[one] > places[other]:
            cells[these, 1:] = cells[these, :0:-1]
        if one == other and part.columns[one] in done:
            kept[these] = False
    cells, weight = cells[kept], part.weight[kept]
    order = np.lexsort(cells.T[::-1])
    labels: list[Any] = [()] * size
    for place, known in zip(places, part.labels, strict=True):
        labels[place] = tuple(known)
    return PairCounts(statistic.columns, tuple(labels), cells[order], weight[order], statistic.missing_is_label)


# -------------------------------------------------------------------------------------------------------- families


def family_need(family: Family) -> Need:
    """What the counts or moments of one family ask for."""
    return Products(family.numeric, family.discrete) if family.numeric else Counts(family.discrete)


@needs_of.register
def _(statistic: Families, _wanted: Wanted) -> Sequence[Need]:
    return [family_need(family) for family in statistic.families]


@counted.register
def _(statistic: Families, answers: Answers) -> Families:
    return joined(statistic, [one_family(statistic, f, answers[family_need(f)]) for f in statistic.families])


def one_family(statistic: Families, family: Family, found: Any) -> Families:
    """The counts or moments of one family."""
    alone = Families.of([family], statistic.classes, statistic.missing_is_label)
    if found is None or isinstance(found, GroupedRows):
        part: Families = updated(alone, found)
        return part
    return moments_of_family(alone, found, found.classes)


def moments_of_family(alone: Families, found: GroupedMoments, classes: NDArray[np.int64]) -> Families:
    """The moments of one family of numbers, from those of the groups that its discrete columns make."""
    family = alone.families[0]
    labels: dict[str, Any] = dict.fromkeys(family.discrete, ())
    where: Any = classes.astype(np.int64)
    kept: Any = np.ones(len(classes), dtype=bool)
    if found.rows is not None and family.discrete:
        met, cells = labelled_codes(found.rows, family.discrete, alone.missing_is_label)
        labels = dict(zip(family.discrete, map(tuple, met), strict=True))
        kept = (cells >= 0).all(axis=1)
        for column, known in zip(cells.T, met, strict=True):
            where = where * len(known) + column
    count = alone.classes * int(np.prod([len(known) for known in labels.values()]))
    some = _some(found.moments, np.flatnonzero(kept))
    return replace(alone, labels=labels, within=(placed(some, where[kept], count),))


def joined(statistic: Families, parts: Sequence[Families]) -> Families:
    """Families that were counted one by one as one statistic: over the labels that any of them met."""
    labels: dict[str, Any] = dict.fromkeys(statistic.labels, ())
    for part in parts:
        for name, known in part.labels.items():
            labels[name] = tuple(unite_labels(labels[name], known)[0])
    within = tuple(part.over({name: labels[name] for name in part.labels}).within[0] for part in parts)
    return replace(statistic, labels=labels, within=within)


@needs_of.register
def _(statistic: Dependence, wanted: Wanted) -> Sequence[Need]:
    pairs = pair_needs(statistic.columns) if statistic.columns else []
    return [*pairs, *(need for part in statistic.deeper for need in needs_of(part, wanted))]


@counted.register
def _(statistic: Dependence, answers: Answers) -> Dependence:
    pairs = counted(statistic.pairs, answers) if statistic.columns else statistic.pairs
    return Dependence(pairs, tuple(counted(part, answers) for part in statistic.deeper))  # type: ignore[arg-type, misc]


# ----------------------------------------------------------------------------------------------- words and numbers


@needs_of.register
def _(statistic: MixedPairs, wanted: Wanted) -> Sequence[Need]:
    needs: list[Need] = [*needs_of(statistic.words, wanted), *needs_of(statistic.deeper, wanted)]
    if statistic.numeric:
        needs.append(PairSums(statistic.numeric))
        needs += [Sums(statistic.numeric, (part.word,)) for part in statistic.beside_words]
    return needs


@counted.register
def _(statistic: MixedPairs, answers: Answers) -> MixedPairs:
    found: Any = {"words": counted(statistic.words, answers), "deeper": counted(statistic.deeper, answers)}
    if statistic.numeric:
        numbers: PairMoments = answers[PairSums(statistic.numeric)]
        found["numbers"] = numbers
        found["beside_words"] = tuple(_beside(part, answers) for part in statistic.beside_words)
    return replace(statistic, **found)


def _beside(part: LabelMoments, answers: Answers) -> LabelMoments:
    """The moments of numbers within each class and label of one word."""
    found: GroupedMoments = answers[Sums(part.moments.columns, (part.word,))]
    if found.rows is None or not len(found.classes):
        return part
    labels, cells = labelled_codes(found.rows, (part.word,))
    kept = np.flatnonzero(cells[:, 0] >= 0)
    where = found.classes[kept] * len(labels[0]) + cells[kept, 0]
    moments = placed(_some(found.moments, kept), where, part.classes * len(labels[0]))
    return LabelMoments(part.word, tuple(labels[0]), part.classes, moments)
