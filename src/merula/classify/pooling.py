"""Small cells pooled before statistics leave the house: no count of rows between 0 and `min_cell` stays in them.

First, levels of less weight become one, '(other)', as if the table had been written so. Then, class by class, every cell that is
still small (of a level, a pair, a family, a whole row) is added to the cell of '(other)' alone, and is left out where that is
small too, or where levels were declared (intervals are): those have no '(other)'. Moments of fewer rows are left out, and classes
of fewer rows with all that they hold. What keeps single values or words cannot be pooled, and is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError, Note, Option
from merula.core.sound import HEAVIEST, is_number
from merula.data.schema import OTHER, Label
from merula.show.numbers import several, short
from merula.stats import ClassCounts, Collected, Families, FullMoments, JointCounts, LevelCounts, Moments, PairCounts
from merula.stats.dependence import Dependence
from merula.stats.distinct_rows import distinct_rows, sum_rows
from merula.stats.patterns import PatternMoments

UNPOOLED = {
    "ValueCounts": (
        "keeps every distinct number",
        "use 'gaussian' for numbers, or a model that cuts them, such as tan",
    ),
    "TokenCounts": ("counts words, not rows", "leave columns of text out (kinds 'ignore')"),
    "MixedPairs": ("keeps moments of numbers beside words", "cut numbers (numeric='mdl', with stated cuts)"),
    "NetworkStatistic": ("keeps whole rows that lack a cell", "use tan, aode or naive"),
}  # and what to do instead

if TYPE_CHECKING:
    from merula.classify.counted import Counts


@dataclass
class Pooling:
    """What is pooled, and what that has cost so far."""

    min_cell: float
    declared: Collection[str]
    levels: dict[str, int] = field(default_factory=dict)
    weight: float = 0.0
    moved: int = 0
    dropped: int = 0

    def renamed(self, name: str, labels: Sequence[Label], weight: Array) -> tuple[list[Label], NDArray[np.int64]]:
        """A column's labels with rare ones as one, '(other)', and where each label stands among them; −1, the last, stays missing."""
        if name in self.declared:
            return list(labels), np.array([*range(len(labels)), -1], dtype=np.int64)
        rare = [label for label, held in zip(labels, weight.tolist(), strict=True) if 0 < held < self.min_cell and label not in (None, OTHER)]  # fmt: skip
        gone = set(rare)
        kept = [*(label for label in labels if label not in gone and label != OTHER), OTHER]
        if rare:
            self.levels[name] = self.levels.get(name, 0) + len(rare)
            self.weight += float(sum(held for label, held in zip(labels, weight.tolist(), strict=True) if label in gone))  # fmt: skip
        place = {label: index for index, label in enumerate(kept)}
        return kept, np.array([*(place.get(label, len(kept) - 1) for label in labels), -1], dtype=np.int64)

    def cells_pooled(
        self, cells: NDArray[Any], weight: Array, other: Sequence[int] | None, none: Sequence[int] = ()
    ) -> tuple[NDArray[Any], Array]:
        """Distinct rows of codes without small weights of a class: these go to the row `other`, if there is one.

        A row with a missing cell, coded as `none` says, goes nowhere; what is small in `other` too is left out.
        """
        if other is not None:
            cells = np.concatenate([np.array([other], dtype=cells.dtype), cells])
            weight = np.concatenate([np.zeros((1, weight.shape[1])), weight])
        first, groups = distinct_rows(cells)
        cells, weight = cells[first], sum_rows(weight, groups, len(first))
        small = (weight > 0) & (weight < self.min_cell)
        left = np.where(small, 0.0, weight)
        going = np.zeros_like(small)
        if other is not None:
            at = int(groups[0])
            firm: Any = (cells == np.array(none)).any(axis=1) if len(none) else np.zeros(len(cells), dtype=np.bool_)
            going = small & ~firm[:, None]
            going[at] = False
            gathered = weight[at] + np.where(going, weight, 0.0).sum(axis=0)
            left[at] = np.where(gathered < self.min_cell, 0.0, gathered)
            self.moved += int(np.where(left[at] > 0, going, False).sum())
            going = np.where(left[at] > 0, going | (np.arange(len(cells)) == at)[:, None], False)
        self.dropped += int((small & ~going).sum())
        kept = left.any(axis=1)
        return cells[kept], left[kept]


def pooled(counts: Counts, min_cell: Any) -> tuple[Counts, tuple[Note, ...]]:
    """The same statistics without small cells, and what that has cost."""
    if not is_number(min_cell, 0.0, HEAVIEST) or min_cell <= 1:
        raise InputError.of("min_cell", min_cell, "a weight above 1, such as 5")
    collected, classes = _large_classes(counts.collected, min_cell)
    columns = counts.plan.schema.columns
    rule = Pooling(float(min_cell), {column.name for column in columns if column.declared})
    found = replace(collected, blocks=tuple(pool(block, rule) for block in collected.blocks), reference=None)
    said = [
        *([classes] if classes else []),
        *(["the numbers kept for comparison left out"] if collected.reference else []),
    ]
    schema = replace(counts.plan.schema, columns=tuple(replace(c, levels=None) if c.kind == "categorical" and not c.declared else c for c in columns))  # fmt: skip
    told = _told(rule, said)
    plan = replace(counts.plan, schema=schema)
    done = replace(counts, plan=plan, collected=found, min_cell=float(min_cell), notes=(*counts.notes, told))
    return done, (Note(UserWarning, told),)


def _large_classes(collected: Collected, min_cell: float) -> tuple[Collected, str]:
    """The statistics of the classes that are large enough, and what is left out."""
    weight = collected.class_counts.weight
    large = weight >= min_cell
    if not large.any():
        raise InputError(f"no class has {min_cell:g} rows: nothing may leave", where="min_cell", remedy=("use a smaller ", Option("min_cell"), " or more rows"))  # fmt: skip
    if large.all():
        return collected, ""
    lost = several(int((~large).sum()), "class", "classes")
    kept = collected._moved(collected.classes[large], np.where(large, np.cumsum(large) - 1, -1))
    return kept, f"{lost} of fewer rows{_together(float(weight[~large].sum()), min_cell)} left out"


def _together(weight: float, min_cell: float) -> str:
    """How much weight something had together; nothing where that would tell what is small."""
    return f" (together {short(weight)})" if weight >= min_cell else ""


def _told(rule: Pooling, said: Sequence[str]) -> str:
    """What pooling has cost, without a word of what was pooled."""
    named = ", ".join(f"{several(count, 'level')} of {name!r}" for name, count in rule.levels.items())
    told = list(said)
    told += [f"{named}{_together(rule.weight, rule.min_cell)} pooled into {OTHER!r}"] if named else []
    told += [f"{several(rule.moved, 'further cell')} pooled within {'its class' if rule.moved == 1 else 'their classes'}"] if rule.moved else []  # fmt: skip
    told += [f"{several(rule.dropped, 'cell')} left out"] if rule.dropped else []
    return f"no cell below {short(rule.min_cell)} is kept: {'; '.join(told) if told else 'there was none'}"


# --------------------------------------------------------------------------------------------------------------- statistics


@singledispatch
def pool(statistic: Any, _rule: Pooling) -> Any:
    """The statistic without small cells; an error where it keeps what cannot be pooled."""
    named, kind = ", ".join(map(repr, statistic.columns)), type(statistic).__name__
    why, instead = UNPOOLED.get(kind, ("is one of your own", "count without min_cell"))
    raise InputError(f"min_cell cannot pool what was counted of {named}: it {why}", where="min_cell", remedy=instead)


@pool.register
def _levels(statistic: LevelCounts, rule: Pooling) -> LevelCounts:
    labels, counts = [], []
    for name, known, part in zip(statistic.columns, statistic.labels, statistic.counts, strict=True):
        names, place = rule.renamed(name, known, part.sum(axis=0))
        other = None if name in rule.declared else (len(names) - 1,)
        cells, weight = rule.cells_pooled(place[:-1, None], part.T, other)
        labels.append(tuple(names[k] for k in cells[:, 0].tolist()))
        counts.append(np.ascontiguousarray(weight.T))
    missing = np.where(statistic.missing < rule.min_cell, 0.0, statistic.missing)
    return LevelCounts(statistic.columns, tuple(labels), tuple(counts), missing)


@pool.register
def _moments(statistic: Moments, rule: Pooling) -> Moments:
    few = statistic.weight < rule.min_cell
    rule.dropped += int((few & (statistic.weight > 0)).sum())
    return Moments(statistic.columns, *(np.where(few, 0.0, part) for part in statistic._parts))


@pool.register
def _full_moments(statistic: FullMoments, rule: Pooling) -> FullMoments:
    few = statistic.weight < rule.min_cell
    rule.dropped += int((few & (statistic.weight > 0)).sum())
    parts = (np.where(few.reshape(-1, *[1] * (part.ndim - 1)), 0.0, part) for part in statistic._parts)
    return FullMoments(statistic.columns, *parts)


@pool.register
def _patterns(statistic: PatternMoments, rule: Pooling) -> PatternMoments:
    kept = {key: part for key, part in statistic.partial.items() if part.weight >= rule.min_cell}
    rule.dropped += len(statistic.partial) - len(kept)
    return PatternMoments(_full_moments(statistic.complete, rule), kept)


@pool.register
def _rows(statistic: JointCounts, rule: Pooling) -> JointCounts:
    cells, labels = statistic.cells.copy(), []
    other = np.full(len(statistic.columns), -1, dtype=np.int32)
    for j, (name, known) in enumerate(zip(statistic.columns, statistic.labels, strict=True)):
        seen = cells[:, j] >= 0
        held: Any = np.bincount(cells[seen, j], statistic.weight.sum(axis=1)[seen], len(known))
        names, place = rule.renamed(name, known, held)
        cells[:, j], other[j] = place[cells[:, j]], -1 if name in rule.declared else len(names) - 1
        labels.append(tuple(names))
    cells, weight = rule.cells_pooled(cells, statistic.weight, other.tolist())
    if not len(cells):
        raise InputError("no whole row is frequent enough to leave", where="min_cell", remedy="use naive Bayes, or a smaller min_cell")  # fmt: skip
    return JointCounts(statistic.columns, tuple(labels), cells, weight).with_met_labels()


@pool.register
def _dependence(statistic: Dependence, rule: Pooling) -> Dependence:
    pairs = _pairs(statistic.pairs, rule)
    known = dict(zip(pairs.columns, pairs.labels, strict=True))
    return Dependence(pairs, tuple(_families(part, known, rule) for part in statistic.deeper))


def _pairs(statistic: PairCounts, rule: Pooling) -> PairCounts:
    """Pairs without small cells: first each column with itself, then the others over the labels that are left."""
    columns, sides = statistic.columns, np.triu_indices(len(statistic.columns))
    renamed = [rule.renamed(name, known, statistic.table([name]).sum(axis=0)) for name, known in zip(columns, statistic.labels, strict=True)]  # fmt: skip
    cells = statistic._recoded(statistic.cells, [place.astype(np.int32) for _, place in renamed])
    none = [names.index(None) if None in names else -9 for names, _ in renamed]
    other = [-9 if name in rule.declared else len(names) - 1 for name, (names, _) in zip(columns, renamed, strict=True)]
    met, found = dict[int, set[int]](), dict[int, tuple[NDArray[Any], Array]]()
    for pair in sorted(range(len(sides[0])), key=lambda p: sides[0][p] != sides[1][p]):
        one, two = (int(side[pair]) for side in sides)
        some = statistic._rows(one, two)
        own, weight = cells[some, 1:], statistic.weight[some]
        aim: Any = (other[one], other[two]) if -9 not in (other[one], other[two]) else None
        if one != two:
            stays = np.isin(own[:, 0], list(met[one])) & np.isin(own[:, 1], list(met[two]))
            own, weight = own[stays], weight[stays]
            aim = aim if aim and aim[0] in met[one] and aim[1] in met[two] else None
        found[pair] = rule.cells_pooled(own, weight, aim, (none[one], none[two]))
        if one == two:
            met[one] = set(found[pair][0][:, 0].tolist())
    numbers = [np.full((len(part), 1), pair, dtype=np.int32) for pair, (part, _) in sorted(found.items())]
    parts = [np.concatenate([number, part], axis=1) for number, (_, (part, _)) in zip(numbers, sorted(found.items()), strict=True)]  # fmt: skip
    weights = [weight for _, (_, weight) in sorted(found.items())]
    labels = tuple(tuple(names) for names, _ in renamed)
    whole = replace(statistic, labels=labels, cells=np.ascontiguousarray(np.concatenate(parts), dtype=np.int32), weight=np.concatenate(weights))  # fmt: skip
    return whole._without_unused_labels()


def _families(statistic: Families, known: Mapping[str, Sequence[Label]], rule: Pooling) -> Families:
    """Families without small cells, over the labels that the pairs have kept; other labels are '(other)'."""
    labels = {name: tuple(known[name]) for name in statistic.labels}
    within: list[Any] = []
    for family, part in zip(statistic.families, statistic.within, strict=True):
        if not isinstance(part, ClassCounts):
            raise InputError("families of numbers cannot be pooled", where="min_cell", remedy="cut numbers, or count without min_cell")  # fmt: skip
        table = part.weight.reshape(statistic.classes, -1)
        shape, names = family.shape(statistic.labels), [labels[name] for name in family.discrete]
        met = np.flatnonzero(table.any(axis=0))
        cells = np.stack(np.unravel_index(met, shape), axis=1)
        other: Any = [some.index(OTHER) if OTHER in some else -9 for some in names]
        for axis, name in enumerate(family.discrete):
            lost = other[axis] if name not in rule.declared else -9
            place = [labels[name].index(label) if label in labels[name] else lost for label in statistic.labels[name]]
            cells[:, axis] = np.array(place)[cells[:, axis]]
        stays: Any = (cells >= 0).all(axis=1)
        none = [some.index(None) if None in some else -9 for some in names]
        cells, weight = rule.cells_pooled(cells[stays], table[:, met[stays]].T, other if min(other) >= 0 else None, none)  # fmt: skip
        filled = np.zeros((statistic.classes, *family.shape(labels)))
        filled[(slice(None), *cells.T)] = weight.T
        within.append(ClassCounts(filled.ravel()))
    return replace(statistic, labels=labels, within=tuple(within))
