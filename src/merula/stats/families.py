"""Families of columns: the weight of each configuration of their labels, or the moments of numbers within each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.sound import all_shaped, are_labels, are_names, are_weights
from merula.data.encode import Encoded, Target
from merula.data.schema import Label
from merula.stats.base import moved_groups
from merula.stats.configurations import NO_WEIGHTS, Index, count_table, group_moments, numbered, where_known
from merula.stats.counts import ClassCounts
from merula.stats.distinct_rows import labelled_codes, unite_labels
from merula.stats.moments import FullMoments, exact_sum
from merula.stats.removal import left_over, of_label

Labels = Mapping[str, Sequence[Label]]


@dataclass(frozen=True)
class Family:
    """Columns that are counted together, the child last: those with labels, then numbers."""

    discrete: tuple[str, ...]
    numeric: tuple[str, ...] = ()

    @property
    def child(self) -> str:
        """The column whose family it is."""
        return (*self.discrete, *self.numeric)[-1]

    def shape(self, labels: Labels) -> tuple[int, ...]:
        """The number of labels of each discrete column."""
        return tuple(len(labels[name]) for name in self.discrete)

    def zero(self, groups: int) -> ClassCounts | FullMoments:
        """Nothing counted yet in any of so many groups."""
        return FullMoments.zero(self.numeric, groups) if self.numeric else ClassCounts.zero((), groups)

    @classmethod
    def of(cls, columns: Sequence[str], numeric: Collection[str] = ()) -> Family:
        """The family of these columns, some of which are numbers."""
        discrete = tuple(name for name in columns if name not in numeric)
        return cls(discrete, tuple(name for name in columns if name in numeric))


@dataclass(frozen=True, eq=False)
class Families:
    """For each family the weight of its configurations, or the moments of its numbers within each: of the rows complete in it.

    The classes of ``within[k]`` are those of the target together with the configurations of ``families[k].discrete``: class
    by class, the last column running fastest. So they merge as any weights and moments do.

    Examples
    --------
    >>> from merula.data.encode import encode_rows, encode_target, infer_schema
    >>> from merula.data.table import open_table
    >>> import pandas as pd
    >>> table = open_table(pd.DataFrame({"rain": ["no", "yes", "yes"], "wet": ["no", "yes", "no"]}))
    >>> rows = encode_rows(table, infer_schema(table)[0], True, "rows")
    >>> found = Families.zero(["wet"], 1, parents=["rain"]).update(rows, encode_target([0, 0, 0], 3))
    >>> found.table("wet").tolist()
    [[[1.0, 0.0], [1.0, 1.0]]]
    """

    families: tuple[Family, ...]
    labels: Labels
    classes: int
    within: tuple[ClassCounts | FullMoments, ...]
    missing_is_label: bool = False

    @classmethod
    def zero(
        cls, columns: Sequence[str], classes: int, /, parents: Sequence[str] = (), numeric: Collection[str] = ()
    ) -> Families:
        """Nothing counted yet of each of these columns given the same parents; `numeric` names those that are numbers."""
        return cls.of([Family.of((*parents, name), numeric) for name in columns], classes)

    @classmethod
    def of(cls, families: Sequence[Family], classes: int, missing_is_label: bool = False) -> Families:
        """Nothing counted yet of these families; a missing cell is a label of its own (None) if that is said."""
        labels: Labels = {name: () for family in families for name in family.discrete}
        within = tuple(family.zero(0 if family.discrete else classes) for family in families)
        return cls(tuple(families), labels, classes, within, missing_is_label)

    def fits(self, classes: int) -> bool:
        """True when its parts fit together and this number of classes; a file from a stranger is asked before it is used."""
        named = all(are_names((*family.discrete, *family.numeric)) for family in self.families)
        told = {name for family in self.families for name in family.discrete} == set(self.labels)
        labelled = all(are_labels(labels, self.missing_is_label) for labels in self.labels.values())
        if not (named and told and labelled) or self.classes != classes or len(self.within) != len(self.families):
            return False
        groups = [classes * prod(family.shape(self.labels)) for family in self.families]
        return all(_fits(part, count) for part, count in zip(self.within, groups, strict=True))

    @cached_property
    def _of_child(self) -> dict[str, tuple[Family, Any]]:
        """Each child's family, and what was counted of it."""
        return {family.child: (family, part) for family, part in zip(self.families, self.within, strict=True)}

    def part(self, child: str) -> Any:
        """What was counted of one child: weights or moments of class × configuration."""
        return self._of_child[child][1]

    def table(self, child: str) -> Array:
        """The weights of one family: an axis for the classes, and one for each of its discrete columns."""
        family, part = self._of_child[child]
        return part.weight.reshape(self.classes, *family.shape(self.labels))

    def update(self, rows: Encoded, target: Target) -> Families:
        names = list(self.labels)
        met, cells = (
            labelled_codes(rows, names, self.missing_is_label)
            if names
            else ((), np.zeros((len(rows), 0), dtype=np.int32))
        )
        labels, codes = dict(zip(names, met, strict=True)), dict(zip(names, np.ascontiguousarray(cells.T), strict=True))
        lacking = {name for name, column in codes.items() if (column < 0).any()}
        within: list[ClassCounts | FullMoments] = []
        for family in self.families:
            columns = [target.codes.astype(np.int32), *(codes[name] for name in family.discrete)]
            sizes = (self.classes, *family.shape(labels))
            if family.numeric:
                within.append(moments_within(rows, family.numeric, columns, sizes, target.weights))
            else:
                known = numbered(columns[:-1], sizes[:-1], len(rows))
                table = count_table(known, columns[-1], sizes[-1], target.weights, lacking.isdisjoint(family.discrete))
                within.append(ClassCounts(table.ravel()))
        found = replace(self, labels=labels, within=tuple(within))
        return self + found if any(part.weight.any() for part in self.within) else found

    def __add__(self, other: Families) -> Families:
        labels = {name: unite_labels(mine, other.labels[name])[0] for name, mine in self.labels.items()}
        pairs = zip(self.over(labels).within, other.over(labels, self.families).within, strict=True)
        within: Any = tuple(mine + theirs for mine, theirs in pairs)  # type: ignore[operator]
        return replace(self, labels=labels, within=within)

    def __sub__(self, other: Families) -> Families:
        labels = {name: unite_labels(mine, other.labels[name])[0] for name, mine in self.labels.items()}
        whole, gone = self.over(labels), other.over(labels, self.families)
        within: list[Any] = []
        for family, mine, theirs in zip(self.families, whole.within, gone.within, strict=True):
            if isinstance(mine, FullMoments) and isinstance(theirs, FullMoments):
                within.append(mine - theirs)
            else:
                within.append(ClassCounts(left_over(mine.weight, theirs.weight, partial(self._told, family, labels))))
        return replace(whole, within=tuple(within)).with_met_labels()

    def _told(self, family: Family, labels: Labels, index: tuple[int, ...]) -> str:
        """What an error calls a configuration of a family."""
        places = np.unravel_index(index[0], (self.classes, *family.shape(labels)))[1:]
        return ", ".join(of_label(name, labels[name][int(k)]) for name, k in zip(family.discrete, places, strict=True))

    def with_met_labels(self) -> Families:
        """The same without labels that have no weight in any family."""
        met: dict[str, Any] = {name: np.zeros(len(known), dtype=np.bool_) for name, known in self.labels.items()}
        for family, part in zip(self.families, self.within, strict=True):
            table = part.weight.reshape(self.classes, *family.shape(self.labels)) > 0
            for axis, name in enumerate(family.discrete, start=1):
                met[name] |= table.any(axis=tuple(a for a in range(table.ndim) if a != axis))
        if all(some.all() for some in met.values()):
            return self
        labels = {name: tuple(known[k] for k in np.flatnonzero(met[name]).tolist()) for name, known in self.labels.items()}  # fmt: skip
        within: list[Any] = []
        for family, part in zip(self.families, self.within, strict=True):
            shape = (self.classes, *family.shape(labels))
            grid = np.full((self.classes, *family.shape(self.labels)), -1, dtype=np.int64)
            grid[np.ix_(np.arange(self.classes), *(np.flatnonzero(met[name]) for name in family.discrete))] = np.arange(prod(shape)).reshape(shape)  # fmt: skip
            within.append(part.with_classes(grid.ravel(), prod(shape)))
        return replace(self, labels=labels, within=tuple(within))

    def over(self, labels: Labels, families: Sequence[Family] | None = None) -> Families:
        """The same with these labels, which include its own; and with the columns of the families in this order."""
        wanted = self.families if families is None else tuple(families)
        if wanted == self.families and all(labels[name] == known for name, known in self.labels.items()):
            return self
        within = []
        for family in wanted:
            own, part = self._of_child[family.child]
            count = self.classes * prod(family.shape(labels))
            moved = part.with_classes(self._positions(own, family, labels), count)
            within.append(moved.with_columns(family.numeric))
        return replace(self, families=wanted, labels={name: labels[name] for name in self.labels}, within=tuple(within))

    def _positions(self, own: Family, wanted: Family, labels: Labels) -> NDArray[np.int64]:
        """Where each of a family's groups stands when its columns have another order and more labels."""
        shape = (self.classes, *wanted.shape(labels))
        grid = np.arange(prod(shape)).reshape(shape)
        grid = grid.transpose(0, *(1 + wanted.discrete.index(name) for name in own.discrete))
        where = [unite_labels(labels[name], self.labels[name])[1][:-1] for name in own.discrete]
        return grid[np.ix_(np.arange(self.classes), *where)].ravel()

    def scaled(self, factor: float) -> Families:
        return replace(self, within=tuple(part.scaled(factor) for part in self.within))

    def with_classes(self, indices: NDArray[np.int64], count: int) -> Families:
        within: list[Any] = []
        for part in self.within:
            cells = len(part.weight) // max(self.classes, 1)
            within.append(part.with_classes(moved_groups(indices, count, cells), count * cells))
        return replace(self, classes=count, within=tuple(within))

    def with_columns(self, columns: Sequence[str]) -> Families:
        """See `Statistic.with_columns`: the families of these children, in this order."""
        families = tuple(self._of_child[name][0] for name in columns)
        labels = {name: self.labels[name] for family in families for name in family.discrete}
        return replace(self, families=families, labels=labels, within=tuple(map(self.part, columns)))

    def state(self) -> dict[str, Any]:
        return {
            "families": [[list(family.discrete), list(family.numeric)] for family in self.families],
            "labels": {name: list(labels) for name, labels in self.labels.items()},
            "classes": self.classes,
            "within": [part.state() for part in self.within],
            **({"missing_is_label": True} if self.missing_is_label else {}),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Families:
        families = tuple(Family(tuple(discrete), tuple(numeric)) for discrete, numeric in state["families"])
        labels = {name: tuple(known) for name, known in state["labels"].items()}
        kinds: list[Any] = [type(family.zero(0)) for family in families]
        within = tuple(kind.from_state(part) for kind, part in zip(kinds, state["within"], strict=True))
        return cls(families, labels, state["classes"], within, state.get("missing_is_label", False))


def _fits(part: ClassCounts | FullMoments, groups: int) -> bool:
    """Whether these are the weights or moments of so many groups; it may be that no row is complete in a family."""
    if isinstance(part, FullMoments):
        return part.fits(groups)
    return all_shaped((groups,), part.weight) and are_weights(part.weight)


def moments_within(
    rows: Encoded, numeric: Sequence[str], codes: Sequence[Index], sizes: Sequence[int], weights: Array | None
) -> FullMoments:
    """The moments of numbers within each configuration of some columns, of the rows that lack nothing."""
    matrix = np.ascontiguousarray(rows.values(numeric).T, dtype=np.float64)
    known = where_known(numbered(codes, sizes, len(rows)), np.isnan(matrix).any(axis=0))
    weight, origin, drift, scatter = group_moments(
        matrix, known.index, known.size, NO_WEIGHTS if weights is None else weights
    )
    mean, rest = exact_sum(origin, drift)
    return FullMoments(tuple(numeric), weight, mean, scatter, rest)
