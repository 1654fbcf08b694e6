"""What rows with classes say of a network in which the class is one of the variables: the network's own statistic. It adds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from operator import add, sub
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError, Option
from merula.core.limits import check_cells
from merula.core.sound import are_names
from merula.data.encode import Coded, Encoded, Target
from merula.data.schema import Label, resolve_levels
from merula.distributions.gaussian import safe_centre
from merula.engines.sql.needs import (
    Answers,
    Counts,
    GroupedMoments,
    GroupedRows,
    Need,
    Products,
    Sums,
    counted,
    needs_of,
)
from merula.graphs.factors.probability_tables import MOST_CELLS
from merula.graphs.network.statistic import FamilyStatistic
from merula.graphs.structure.family_scores import spread
from merula.graphs.structure.graph import Arc, Graph, find_cycle
from merula.stats import Families, Family, FullMoments, PairCounts, Wanted
from merula.stats.distinct_rows import met_rows
from merula.stats.labels import Weights, rows_of_levels
from merula.stats.marginals import Marginal, marginals

Known = Mapping[str, tuple[Label, ...] | None]


@dataclass(frozen=True, eq=False)
class NetworkStatistic:
    """The statistic of a network over these columns and the class, which is the variable `target` with its indices as levels.

    Labels are those met; what they and the classes are called and how they are ordered, `settled` is told.
    """

    columns: tuple[str, ...]
    target: str
    counted: FamilyStatistic
    missing_is_label: bool = False

    @classmethod
    def zero(
        cls,
        columns: Sequence[str],
        _classes: int,
        /,
        arcs: Sequence[Arc] = (),
        target: str = "class",
        numeric: Collection[str] = (),
        missing_is_label: bool = False,
        pairs: bool = False,
    ) -> NetworkStatistic:
        """Nothing counted yet of these arcs; with `pairs`, of all pairs, from which a tree is found."""
        names = sorted((*columns, target))
        graph = graph_of(arcs, names, numeric)
        counted = FamilyStatistic.zero(names, 1, graph, {name: None if name in numeric else () for name in names}, (), pairs)  # fmt: skip
        labelled = replace(counted.families, missing_is_label=missing_is_label)
        within = replace(counted.moments, missing_is_label=missing_is_label)
        met = counted.pairs and replace(counted.pairs, missing_is_label=missing_is_label)
        counted = replace(counted, families=labelled, moments=within, pairs=met)
        return cls(tuple(columns), target, counted, missing_is_label)

    @property
    def numeric(self) -> tuple[str, ...]:
        """The columns of numbers."""
        return self.counted.columns.columns

    @property
    def parents(self) -> Graph:
        """The parents of each variable."""
        return self.counted.graph

    def update(self, rows: Encoded, target: Target) -> NetworkStatistic:
        if target.weights is not None and not target.weights.all():
            rows, target = rows.take(np.flatnonzero(target.weights > 0)), target.take(target.weights > 0)
        words = [name for name in self.counted.discrete if name != self.target]
        found = met_rows(rows, words, self.numeric, self.missing_is_label)
        classes = Coded(target.codes.astype(np.int32), [None, *range(len(target.classes))], -1)
        found = replace(found, coded={**found.coded, self.target: classes})
        self._refuse_size({name: len(part.slots) - 1 for name, part in found.coded.items()})
        one = Target(np.zeros(len(rows), dtype=np.uint8), np.zeros(1, dtype=np.int8), target.weights)
        return replace(self, counted=self.counted.update(found, one))

    def _refuse_size(self, sizes: Mapping[str, int], families: Sequence[Family] | None = None) -> None:
        """An error before memory is taken for a table that is too large."""
        for family in families or (*self.counted.families.families, *self.counted.moments.families):
            cells = prod(sizes[name] for name in family.discrete) * (1 + len(family.numeric)) ** 2
            given = f"column {family.child!r}" if family.child != self.target else "the class"
            check_cells(cells, MOST_CELLS, f"the table of {given} given {len(family.discrete) + len(family.numeric) - 1} parents", "give it fewer parents, or merge levels")  # fmt: skip

    def __add__(self, other: NetworkStatistic) -> NetworkStatistic:
        return self._together(other, add)

    def __sub__(self, other: NetworkStatistic) -> NetworkStatistic:
        return self._together(other, sub)

    def _together(self, other: NetworkStatistic, join: Callable[[Any, Any], Any]) -> NetworkStatistic:
        """Both as one, their parts joined one by one; an error where they are of different networks."""
        mine, theirs = self.counted, other.counted
        if (self.target, self.numeric) != (other.target, other.numeric) or (mine.pairs is None) != (
            theirs.pairs is None
        ):
            raise InputError("statistics of different networks cannot be added", remedy="fit on all rows at once")
        if mine.graph != theirs.graph:
            name = next(name for name in mine.graph if mine.graph[name] != theirs.graph.get(name))
            raise InputError(
                f"{name!r} depends on {list(mine.graph[name])} in one part and on {list(theirs.graph.get(name, ()))} in the other: counts of different networks cannot be added",
                where=f"variable {name!r}",
                remedy=("fit on all rows at once, or give the same ", Option("network")),
            )
        pairs = mine.pairs and theirs.pairs and join(mine.pairs, theirs.pairs.with_columns(mine.pairs.columns))
        both = replace(
            mine,
            families=join(mine.families, theirs.families),
            rows=join(mine.rows, theirs.rows.with_columns(mine.rows.columns)),
            moments=join(mine.moments, theirs.moments),
            columns=join(mine.columns, theirs.columns.with_columns(mine.columns.columns)),
            pairs=pairs,
        )
        return replace(self, counted=both)

    def scaled(self, factor: float) -> NetworkStatistic:
        return replace(self, counted=self.counted.scaled(factor))

    def with_classes(self, indices: NDArray[np.int64], count: int) -> NetworkStatistic:
        """See `Statistic.with_classes`: the classes are labels, which are met again under their new numbers."""
        counted = self.counted

        def moved(labels: Sequence[Label]) -> tuple[Label, ...]:
            return tuple(int(indices[label]) for label in labels)

        def renamed(part: Any) -> Any:
            at = part.columns.index(self.target)
            labels = tuple(moved(known) if j == at else known for j, known in enumerate(part.labels))
            return replace(part, labels=labels)

        def relabelled(part: Families) -> Families:
            known = part.labels
            return replace(part, labels={name: moved(some) if name == self.target else some for name, some in known.items()})  # fmt: skip

        changed = replace(
            counted,
            families=relabelled(counted.families),
            rows=renamed(counted.rows),
            moments=relabelled(counted.moments),
            pairs=counted.pairs and renamed(counted.pairs),
        )
        return replace(self, counted=changed)

    def with_columns(self, columns: Sequence[str]) -> NetworkStatistic:
        return replace(self, columns=tuple(columns))

    # ------------------------------------------------------------------------------------------------ to be learned from

    def levels(self, declared: Mapping[str, tuple[Label, ...] | None]) -> dict[str, tuple[Label, ...]]:
        """The levels of each column of words: those declared, or those met, sorted."""
        found = {}
        for name in self.counted.discrete:
            met = {*self.counted.families.labels[name], *self.counted.rows.labels[self.counted.index[name]]}
            if name != self.target:
                fixed = declared.get(name)
                wanted = resolve_levels(name, met - {None} if fixed is not None else met, fixed)
                found[name] = (*wanted, None) if None in met and None not in wanted else wanted
        return found

    def units(self) -> tuple[dict[str, float], dict[str, float]]:
        """A centre and a unit of each column of numbers, near its mean and its standard deviation; 0 for one that never varied."""
        alone = self.counted.columns
        centre = dict(zip(alone.columns, (alone.mean + alone.rest)[0].tolist(), strict=True))
        parts = zip(alone.columns, alone.weight[0], alone.mean[0], alone.squares[0], strict=True)
        unit = {name: spread(name, float(w), float(m), float(s)) for name, w, m, s in parts}
        for name in alone.columns if self.counted.moments.families else ():
            own: FullMoments = self.counted.moments.part(name).with_columns([name])
            centre[name] = safe_centre(centre[name], own.weight, own.mean[:, 0], own.scatter[:, 0, 0])
        return few_digits(centre, unit)

    def settled(self, levels: Mapping[str, tuple[Label, ...]], classes: int) -> FamilyStatistic:
        """The statistic over these levels, numbers in units from their centres; columns that say nothing left out."""
        _, unit = self.units()
        silent = {name for name, known in levels.items() if not known} | {name for name in unit if not unit[name]}
        counted = without(self.counted, silent) if silent else self.counted
        known: dict[str, tuple[Label, ...]] = {name: some for name, some in levels.items() if name not in silent}
        known[self.target] = tuple(range(classes))
        counted = replace(
            counted,
            levels={name: known.get(name) for name in counted.graph},
            families=counted.families.over(known),
            rows=counted.rows.ordered([known[name] for name in counted.discrete]),
            moments=counted.moments.over({name: known[name] for name in counted.moments.labels}),
        )
        return self._in_units(counted)

    def _in_units(self, counted: FamilyStatistic) -> FamilyStatistic:
        centre, unit = self.units()
        within = tuple(standardised(part, centre, unit) for part in counted.moments.within if isinstance(part, FullMoments))  # fmt: skip
        alone = counted.columns
        width = _stretch(alone.columns, unit)
        columns = replace(alone, mean=np.zeros_like(alone.mean), squares=alone.squares / width**2, rest=np.zeros_like(alone.mean))  # fmt: skip
        return replace(counted, moments=replace(counted.moments, within=within), columns=columns)

    # ------------------------------------------------------------------------------------------------ files

    def fits(self, classes: int) -> bool:
        """True when its parts fit together and this number of classes; a file from a stranger is asked before it is used."""
        counted, named = self.counted, are_names((*self.columns, self.target)) and type(self.missing_is_label) is bool
        if not named or set(counted.graph) != {*self.columns, self.target} or find_cycle(counted.graph):
            return False
        arcs = [(parent, name) for name, parents in counted.graph.items() for parent in parents]
        empty = self.zero(self.columns, classes, arcs, self.target, self.numeric, self.missing_is_label, counted.pairs is not None)  # fmt: skip
        like = empty.counted
        if counted.graph != like.graph or counted.families.families != like.families.families:
            return False
        if counted.moments.families != like.moments.families or counted.rows.columns != like.rows.columns:
            return False
        if counted.columns.columns != like.columns.columns or not self._classes_fit(classes):
            return False
        rows = not len(counted.rows.cells) or counted.rows.fits(1)
        parts = (counted.families, counted.moments, counted.columns, *((counted.pairs,) if counted.pairs else ()))
        return rows and all(part.fits(1) for part in parts) and self._labels_fit()

    def _labels_fit(self) -> bool:
        """Whether all labels are among those of the families and of incomplete rows, of which levels are made."""
        counted = self.counted
        known = {name: {*counted.families.labels[name], *counted.rows.labels[j]} for j, name in enumerate(counted.discrete)}  # fmt: skip
        others = list(counted.moments.labels.items())
        others += list(zip(counted.pairs.columns, counted.pairs.labels, strict=True)) if counted.pairs else []
        return all(set(labels) <= known.get(name, set()) for name, labels in others)

    def _classes_fit(self, classes: int) -> bool:
        counted = self.counted
        known = [counted.families.labels.get(self.target, ()), counted.rows.labels[counted.index[self.target]]]
        known += [counted.moments.labels.get(self.target, ())]
        return all(type(label) is int and 0 <= label < classes for labels in known for label in labels)

    def state(self) -> dict[str, Any]:
        return {
            "columns": list(self.columns),
            "target": self.target,
            "counted": self.counted.state(),
            "missing_is_label": self.missing_is_label,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> NetworkStatistic:
        counted = FamilyStatistic.from_state(state["counted"])
        return cls(tuple(state["columns"]), state["target"], counted, state["missing_is_label"])


def few_digits(centre: Mapping[str, float], unit: Mapping[str, float]) -> tuple[dict[str, float], dict[str, float]]:
    """Centres and units near these, a power of 2 and a multiple of it: the last digits of a mean, which the order of rows changes, do not matter.

    Examples
    --------
    >>> few_digits({"size": 171.3}, {"size": 9.2})
    ({'size': 168.0}, {'size': 8.0})
    """
    width = {name: float(2.0 ** np.round(np.log2(one))) if one else 0.0 for name, one in unit.items()}
    return {
        name: float(np.round(one / width[name]) * width[name]) if width[name] else one for name, one in centre.items()
    }, width


def standardised(part: FullMoments, centre: Mapping[str, float], unit: Mapping[str, float]) -> FullMoments:
    """The moments of the same numbers in units from their centres."""
    middle, width = _stretch(part.columns, centre), _stretch(part.columns, unit)
    mean = np.where(part.weight[:, None] > 0, ((part.mean - middle) + part.rest) / width, 0.0)
    return FullMoments(part.columns, part.weight, mean, part.scatter / width[:, None] / width, np.zeros_like(mean))


def graph_of(arcs: Sequence[Arc], names: Sequence[str], numeric: Collection[str]) -> Graph:
    """The parents of each of these variables, those with levels first, by name."""
    above: dict[str, list[str]] = {name: [] for name in names}
    for parent, child in arcs:
        above[child].append(parent)
    return {name: tuple(sorted(parents, key=lambda one: (one in numeric, one))) for name, parents in above.items()}


def _stretch(columns: Sequence[str], known: Mapping[str, float]) -> Array:
    return np.array([known[name] for name in columns], dtype=np.float64)


def without(counted: FamilyStatistic, silent: Collection[str]) -> FamilyStatistic:
    """The statistic of the other variables; an error where numbers depend on a column of words that was never met."""
    discrete = [name for name in counted.discrete if name not in silent]
    numeric = [name for name in counted.columns.columns if name not in silent]
    for name in numeric:
        lost = [parent for parent in counted.graph[name] if parent in silent and parent in counted.discrete]
        if lost:
            raise InputError(f"no row holds a value of {lost[0]!r}, on which the numbers of {name!r} depend", where=f"column {lost[0]!r}", remedy="complete the column, or remove the arc")  # fmt: skip
    graph = {name: tuple(p for p in counted.graph[name] if p not in silent) for name in counted.graph if name not in silent}  # fmt: skip
    moments = counted.moments.with_columns(numeric)
    families = tuple(Family(one.discrete, tuple(n for n in one.numeric if n not in silent)) for one in moments.families)
    parts: Any = zip(moments.within, families, strict=True)
    within = tuple(part.with_columns(family.numeric) for part, family in parts)
    known = counted.families
    if len(discrete) < len(counted.discrete):  # no row that lacks a column was complete: all are among the others
        known = Families.of([Family((*graph[name], name)) for name in discrete], 1, known.missing_is_label)
    return replace(
        counted,
        graph=graph,
        families=known,
        rows=counted.rows.with_columns(discrete),
        moments=replace(moments, families=families, within=within),
        columns=counted.columns.with_columns(numeric),
        pairs=counted.pairs and PairCounts.zero(discrete, 1),
    )


# ------------------------------------------------------------------------------------------------ counted in a database


@needs_of.register
def _(statistic: NetworkStatistic, _wanted: Wanted) -> Sequence[Need]:
    asked = _Asked(statistic)
    families = [asked.counts(family.discrete) for family in statistic.counted.families.families]
    moments = [asked.products(family) for family in statistic.counted.moments.families]
    pairs = [asked.counts(pair) for pair in asked.pairs]
    columns = [Sums(statistic.numeric)] if statistic.numeric else []
    return [*families, *pairs, *asked.incomplete, *moments, *columns]


@counted.register
def _(statistic: NetworkStatistic, answers: Answers) -> NetworkStatistic:
    from merula.engines.sql.statistics import joined, pairs_of, placed

    asked, network = _Asked(statistic), statistic.counted
    families = [asked.family(family, answers[asked.counts(family.discrete)]) for family in network.families.families]
    moments = [asked.moments(family, answers[asked.products(family)]) for family in network.moments.families]
    found: dict[str, Any] = {"families": joined(network.families, families)}
    if moments:
        alone = answers[Sums(statistic.numeric)]
        found["moments"] = joined(network.moments, moments)
        found["columns"] = placed(alone.moments, np.zeros(len(alone.classes), dtype=np.int64), 1)
    if network.pairs is not None:
        tables = [(pair, asked.grouped(answers[asked.counts(pair)], pair)) for pair in asked.pairs]
        found["pairs"] = pairs_of(network.pairs, tables)
    for need in asked.incomplete:
        rows = asked.grouped(answers[need], network.discrete)
        found["rows"] = network.rows if rows is None else network.rows.update(rows.rows, rows.target)
    return replace(statistic, counted=replace(network, **found))


@dataclass(frozen=True)
class _Asked:
    """What a network asks of a database, where the class is a key of every group, and what it makes of the answers."""

    statistic: NetworkStatistic

    @property
    def words(self) -> tuple[str, ...]:
        """The columns with levels."""
        return tuple(name for name in self.statistic.counted.discrete if name != self.statistic.target)

    @property
    def pairs(self) -> list[tuple[str, ...]]:
        """The pairs of variables that are to be counted, the class among them."""
        some = self.statistic.counted.pairs
        names = () if some is None else some.columns
        return [(one, other) for k, one in enumerate(names) for other in names[k + 1 :]]

    @property
    def incomplete(self) -> list[Counts]:
        """The rows that lack a word, where missing is no label."""
        return [] if self.statistic.missing_is_label or not self.words else [Counts(self.words, lacking=self.words)]

    def counts(self, variables: Sequence[str]) -> Counts:
        """The counts of some variables, of the rows that lack no word."""
        known = () if self.statistic.missing_is_label else self.words
        return Counts(tuple(name for name in variables if name != self.statistic.target), known)

    def products(self, family: Family) -> Products:
        """The moments of a family of numbers."""
        return Products(family.numeric, tuple(name for name in family.discrete if name != self.statistic.target))

    def grouped(self, found: GroupedRows | None, variables: Sequence[str]) -> GroupedRows | None:
        """Grouped rows in which the class is a variable like others, and all are of one class."""
        if found is None:
            return None
        one = Target(np.zeros(len(found.rows), dtype=np.uint8), np.zeros(1, dtype=np.int8), found.target.weights)
        return GroupedRows(self._rows(found.rows, found.target.codes, variables), one)

    def _rows(self, rows: Encoded | None, classes: NDArray[Any], variables: Sequence[str]) -> Encoded:
        words = [name for name in variables if name != self.statistic.target]
        coded = met_rows(rows, words, (), self.statistic.missing_is_label).coded if rows is not None and words else {}
        labels = np.unique(classes)
        own = Coded(np.searchsorted(labels, classes).astype(np.int32), [None, *labels.tolist()], -1)
        return Encoded(0, len(classes), {}, {**coded, self.statistic.target: own})

    def family(self, family: Family, found: GroupedRows | None) -> Families:
        """The counts of one family."""
        alone = Families.of([family], 1, self.statistic.missing_is_label)
        rows = self.grouped(found, family.discrete)
        if rows is None:
            return alone
        self.statistic._refuse_size({name: len(part.slots) - 1 for name, part in rows.rows.coded.items()}, [family])
        return alone.update(rows.rows, rows.target)

    def moments(self, family: Family, found: GroupedMoments) -> Families:
        """The moments of one family of numbers."""
        from merula.engines.sql.statistics import moments_of_family

        rows = self._rows(found.rows, found.classes, family.discrete)
        alone = Families.of([family], 1, self.statistic.missing_is_label)
        return moments_of_family(alone, replace(found, rows=rows), np.zeros(len(found.classes), dtype=np.int64))


@rows_of_levels.register
def _rows_of_network(statistic: NetworkStatistic) -> Weights:
    """Of the rows that lack no cell, and of those that do."""
    found = rows_of_levels(statistic.counted.families)
    for name, held in rows_of_levels(statistic.counted.rows).items():
        known = found.setdefault(name, {})
        for label, weight in held.items():
            known[label] = known.get(label, 0.0) + weight
    found.pop(statistic.target, None)
    return found


@marginals.register
def _of_network(statistic: NetworkStatistic) -> dict[str, Marginal]:
    """Words from the rows that lack none and from those that do; numbers from the moments of each alone."""
    counted = statistic.counted
    found, incomplete = Marginal.of_moments(counted.columns), marginals(counted.rows)
    for family in counted.families.families:
        name = family.child
        if name == statistic.target:
            continue
        table = counted.families.table(name)
        whole = Marginal.of_levels(counted.families.labels[name], table.sum(axis=tuple(range(table.ndim - 1))))
        aside = incomplete[name].levels or {}
        met = {**(whole.levels or {}), **aside}
        both = [(whole.levels or {}).get(label, 0.0) + aside.get(label, 0.0) for label in met]
        found[name] = Marginal.of_levels(tuple(met), np.array(both))
    return found
