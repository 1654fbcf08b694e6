"""The family of categorical columns that depend on others besides the class: which on which, and their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar, Self

import numpy as np

from merula.core import Array, InputError, Option, one_of
from merula.core.limits import check_bytes
from merula.core.logspace import safe_log
from merula.data.schema import Label
from merula.distributions.base import BaseFamily, Distribution, Setting
from merula.distributions.posteriors import JEFFREYS, Posterior, averaged
from merula.distributions.priors import log_belief
from merula.graphs.dependence.beliefs import dependent_posterior
from merula.graphs.dependence.columns import DependentColumns
from merula.graphs.dependence.estimates import BACKOFF, Estimate, checked, estimate, imagined
from merula.graphs.structure.dependence import along_a_tree, on_one, on_several
from merula.graphs.structure.graph import Graph, find_cycle
from merula.stats import PairCounts, Statistic, Wanted
from merula.stats.dependence import Dependence
from merula.stats.mixed_pairs import MixedPairs

STRUCTURES = ("super-parent", "tree", "k-dependence")
COPIES = 4  # of a table while it is made
Levels = Mapping[str, tuple[Label, ...]]


@dataclass(frozen=True)
class Dependent(BaseFamily):
    """Categorical columns of which each may depend on others besides the class.

    Parameters
    ----------
    structure : "super-parent", "tree" or "k-dependence"
        Which columns depend on which: all on one, along the most probable tree, or each on the `k` that tell most of it.
    k : int
        The most parents of a column, with "k-dependence".
    super_parent : None or str
        The one that all depend on, with "super-parent"; None takes that with the best BIC.
    parents : None or {column: sequence of columns}
        The parents of each column, stated; columns that are not named have none.
    smoothing : "backoff", "bdeu", float or MEstimate
        How tables are estimated from counts; see `merula.graphs.dependence.estimates`.
    """

    structure: str = "tree"
    k: int = 1
    super_parent: str | None = None
    parents: Any = None
    smoothing: Any = BACKOFF
    name: ClassVar[str] = "dependent"
    kinds: ClassVar[tuple[str, ...]] = ("categorical",)
    distribution: ClassVar[type[Distribution]] = DependentColumns
    statistic: ClassVar[type[Statistic]] = Dependence

    def check(self) -> None:
        one_of(self.structure, STRUCTURES, "structure")
        if isinstance(self.k, bool) or not isinstance(self.k, int | np.integer) or self.k < 0:
            raise InputError.of("k", self.k, "a whole number of parents from 0")

    @property
    def deepest(self) -> int:
        """The most parents that a column may have."""
        if self.parents is not None:
            return max((len(named(some, name)) for name, some in self.parents.items()), default=0)
        return int(self.k) if self.structure == "k-dependence" else 1

    def graph(self, pairs: PairCounts) -> Graph:
        """Each column's parents, those first that tell most of it."""
        if self.parents is not None:
            return stated_graph(self.parents, pairs.columns)
        if self.structure == "super-parent":
            return on_one(pairs, self.super_parent)
        return along_a_tree(pairs) if self.structure == "tree" else on_several(pairs, int(self.k))

    def wanted(self, columns: Sequence[str], **options: Any) -> Wanted:
        self.check()
        return Wanted(Dependence, columns, options=options)

    def chosen(self, statistic: Dependence, setting: Setting) -> Graph:
        """Each column's parents, by what the pairs of columns say; an error where their tables would be too large."""
        pairs = ordered(statistic, setting)
        graph = self.graph(pairs)
        refuse_size(graph, dict(zip(pairs.columns, pairs.labels, strict=True)), len(setting.classes))
        return graph

    def build(self, statistic: Dependence, setting: Setting) -> DependentColumns:
        pairs = ordered(statistic, setting)
        graph = self.graph(pairs)
        refuse_new_parents(graph, statistic)
        return self._columns(statistic, pairs, graph, setting)

    def log_belief(self, part: DependentColumns, statistic: Dependence, setting: Setting) -> float:
        """log P(parameters) up to a constant, of the Dirichlet priors that pseudo-counts are; "backoff" has no fixed prior: 0."""
        rule = checked(self.smoothing, part.columns)
        if rule == BACKOFF:
            return 0.0
        tables = zip(part.columns, part.level_sets, part.log_table, strict=True)
        known = [(name, levels, np.moveaxis(table[..., :-1, :], -1, 0)) for name, levels, table in tables if levels]
        return sum(log_belief(imagined(logs.shape, rule, name, levels, setting.classes), logs) for name, levels, logs in known)  # fmt: skip

    def predictive(self, statistic: Dependence, setting: Setting) -> Distribution:
        return self.averaging().build(statistic, setting)

    def averaging(self) -> Self:
        """The same family whose tables are the means of what is believed of them."""
        return replace(self, smoothing=averaged(self.smoothing))

    def posterior(self, statistic: Dependence, setting: Setting) -> Posterior:
        pairs = ordered(statistic, setting)
        return posterior_of(self.build(statistic, setting), statistic, pairs, self.smoothing, setting)

    def _columns(self, statistic: Dependence, pairs: PairCounts, graph: Graph, setting: Setting) -> DependentColumns:
        """The distribution of columns that depend on each other as the graph says."""
        return dependent_columns(statistic, pairs, graph, self.smoothing, setting)


def refuse_new_parents(graph: Graph, statistic: Dependence | MixedPairs) -> None:
    """An error where a column is best told by several others that it was not counted with."""
    strange = [name for name, parents in graph.items() if not statistic.knows(name, parents)]
    if strange:
        name = strange[0]
        raise InputError(
            f"with these rows, column {name!r} is best told by {list(graph[name])}, no longer by {list(statistic.parents.get(name, ()))}, and its counts with them are not known",
            where=f"column {name!r}",
            remedy=("fit on all rows at once, or state ", Option("parents")),
        )


@dataclass(frozen=True, eq=False)
class SuperParent:
    """A column as the parent of all others: its levels that are frequent enough, P(class) where it is known, the columns below."""

    name: str
    levels: tuple[Label, ...]
    log_prior: Array
    columns: DependentColumns


@dataclass(frozen=True)
class OneDependence(BaseFamily):
    """Categorical columns of which each in turn is the parent of all others; by themselves they depend on the class alone.

    Parameters
    ----------
    smoothing : "backoff", "bdeu", float or MEstimate
        As for `Dependent`.
    """

    smoothing: Any = 1
    name: ClassVar[str] = "one_dependence"
    kinds: ClassVar[tuple[str, ...]] = ("categorical",)
    distribution: ClassVar[type[Distribution]] = DependentColumns
    statistic: ClassVar[type[Statistic]] = Dependence

    def build(self, statistic: Dependence, setting: Setting) -> DependentColumns:
        pairs = ordered(statistic, setting)
        return dependent_columns(statistic, pairs, dict.fromkeys(pairs.columns, ()), self.smoothing, setting)

    def predictive(self, statistic: Dependence, setting: Setting) -> Distribution:
        return self.averaging().build(statistic, setting)

    def averaging(self) -> Self:
        """The same family whose tables are the means of what is believed of them."""
        return replace(self, smoothing=averaged(self.smoothing))

    def posterior(self, statistic: Dependence, setting: Setting) -> Posterior:
        pairs = ordered(statistic, setting)
        return posterior_of(self.build(statistic, setting), statistic, pairs, self.smoothing, setting)

    def posteriors_above(
        self, found: Sequence[SuperParent], statistic: Dependence, setting: Setting
    ) -> list[tuple[Array, Posterior]]:
        """Of each super-parent what P(class) is Dirichlet distributed with where it is known, and what is believed of its tables."""
        pairs = ordered(statistic, setting)
        return [(self._class_rows(pairs.table((one.name,))), posterior_of(one.columns, statistic, pairs, self.smoothing, setting)) for one in found]  # fmt: skip

    def super_parents(self, statistic: Dependence, setting: Setting, fewest: float) -> list[SuperParent]:
        """Every column with two levels or more as the parent of the others.

        Webb, Boughton & Wang (2005), "Not so naive Bayes: aggregating one-dependence estimators", equation 10, with P(c, x_i) =
        (n_ci + α) / (n_i + α·K·m_i) = P(c) · P(x_i given c), both from the rows that know x_i.
        """
        pairs = ordered(statistic, setting)
        found = []
        for name, levels in zip(pairs.columns, pairs.labels, strict=True):
            counts = pairs.table((name,))
            frequent = tuple(level for level, count in zip(levels, counts.sum(axis=0), strict=True) if count >= fewest and count > 0)  # fmt: skip
            if len(levels) > 1 and frequent:
                columns = dependent_columns(statistic, pairs, on_one(pairs, name), self.smoothing, setting)
                found.append(SuperParent(name, frequent, self._log_prior(counts), columns))
        return found

    def _log_prior(self, counts: Array) -> Array:
        """P(c) = (n_c + α·m) / (n + α·K·m), from the rows that know a column of m levels."""
        total = counts.sum(axis=1) + self._imagined * counts.shape[1]
        return safe_log(total / total.sum())

    def _class_rows(self, counts: Array) -> Array:
        """The rows of each class, counted and imagined, that know a column."""
        return counts.sum(axis=1) + (self._imagined * counts.shape[1] or JEFFREYS)

    @property
    def _imagined(self) -> float:
        """The rows imagined in each cell of class and level."""
        return float(self.smoothing) if isinstance(self.smoothing, int | float | np.number) else 0.0


def posterior_of(
    built: DependentColumns, statistic: Dependence, pairs: PairCounts, smoothing: Any, setting: Setting
) -> Posterior:
    """What is believed of the tables of columns that were built from these counts."""
    return dependent_posterior(built, counts_by_depth(statistic, pairs, built.graph), smoothing, setting)


def ordered(statistic: Dependence, setting: Setting) -> PairCounts:
    """The counts of pairs over the levels that the model will know."""
    declared = [column.levels if column.declared else None for column in setting.columns]
    return statistic.pairs.ordered(declared, setting.missing == "level")


def dependent_columns(
    statistic: Dependence, pairs: PairCounts, graph: Graph, smoothing: Any, setting: Setting
) -> DependentColumns:
    """The distribution of columns that depend on each other as the graph says."""
    levels: Levels = dict(zip(pairs.columns, map(tuple, pairs.labels), strict=True))
    rule = checked(smoothing, pairs.columns)
    refuse_size(graph, levels, len(setting.classes))
    tables = [
        log_table(estimate(counts, rule, name, levels[name], setting.classes), setting)
        for name, counts in counts_by_depth(statistic, pairs, graph).items()
    ]
    parents = tuple(graph[name] for name in pairs.columns)
    return DependentColumns(pairs.columns, tuple(levels.values()), parents, tuple(tables), setting.unseen)


def counts_by_depth(statistic: Dependence, pairs: PairCounts, graph: Graph) -> dict[str, list[Array]]:
    """For each column its counts given no parent, one, two, …: an axis for the class, each parent, the levels."""
    levels: Levels = dict(zip(pairs.columns, map(tuple, pairs.labels), strict=True))
    counted = Dependence(pairs, statistic.deeper)
    return {
        name: [counted.table((*graph[name][:depth], name), levels) for depth in range(len(graph[name]) + 1)]
        for name in pairs.columns
    }


def log_table(found: Estimate, setting: Setting) -> Array:
    """Logarithms with an axis for each parent, the levels and one for a level never met, and the classes."""
    unseen = found.unseen if setting.unseen == "smooth" else np.ones_like(found.unseen)
    whole = safe_log(np.concatenate([found.known, unseen[..., None]], axis=-1))
    return np.ascontiguousarray(np.moveaxis(whole, 0, -1))


def refuse_size(graph: Graph, levels: Mapping[str, Sequence[Label]], classes: int) -> None:
    """An error before memory is taken for tables that are too large."""
    for name, parents in graph.items():
        cells = prod(len(levels[member]) for member in (*parents, name)) * classes
        given = f" given {', '.join(map(repr, parents))}" if parents else ""
        what = f"column {name!r} with {len(levels[name]):,} levels{given} in {classes:,} classes needs a table"
        check_bytes(8.0 * COPIES * cells, what, "unite rare levels, or leave the column out")


def named(some: Any, name: str) -> tuple[str, ...]:
    """The parents stated for a column: one name, or several."""
    if isinstance(some, str):
        return (some,)
    if not isinstance(some, list | tuple):
        raise InputError.of(f"parents[{name!r}]", some, "a column, or a list of columns")
    return tuple(some)


def stated_graph(parents: Any, columns: Sequence[str]) -> Graph:
    """The graph that was stated, checked."""
    if not isinstance(parents, Mapping):
        raise InputError.of("parents", parents, "{column: [its parents]}")
    graph: dict[str, tuple[str, ...]] = dict.fromkeys(columns, ())
    for name, some in parents.items():
        one_of(name, columns, "a column of parents")
        graph[name] = named(some, name)
        for parent in graph[name]:
            one_of(parent, [other for other in columns if other != name], f"a parent of {name!r}")
        if len(set(graph[name])) < len(graph[name]):
            raise InputError.at("parents", f"names a parent of {name!r} twice: {list(graph[name])}")
    circle = find_cycle(graph)
    if circle:
        raise InputError.at("parents", f"lead round in a circle: {' → '.join(circle)}")
    return graph
