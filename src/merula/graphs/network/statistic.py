"""What rows say of a network's families, before any prior: counts, moments, and the incomplete rows themselves. They add."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError, Option, nearest, one_of, warn_of
from merula.core.limits import check_cells
from merula.data.encode import Coded, CodedColumns, Encoded, Target, code_columns
from merula.data.schema import Label, Schema, sort_labels
from merula.data.table import Table, open_table, plain_label
from merula.engines import Source, collect
from merula.graphs.factors.probability_tables import MOST_CELLS
from merula.graphs.structure.graph import Graph
from merula.graphs.structure.spanning_tree import tree_of_pairs
from merula.stats import Families, Family, JointCounts, Moments, PairCounts, Wanted
from merula.stats.configurations import count_table, numbered
from merula.stats.distinct_rows import labelled_codes

Levels = tuple[Label, ...]
Known = tuple[Label, ...] | None


@dataclass(frozen=True, eq=False)
class FamilyStatistic:
    """The raw statistics of a network's families.

    Parameters
    ----------
    graph
        The parents of each variable; those of a numeric one with the discrete parents first.
    levels
        The levels met or declared; None for a numeric variable.
    declared
        The variables whose levels were stated and do not grow.
    families
        The counts of each discrete variable's family, of the rows **that lack no discrete cell**.
    rows
        The distinct rows that lack some discrete cell, but not all. Expectation-maximisation needs no more than these and the
        counts, so that it merges.
    moments
        For each numeric variable the moments of its numeric parents and itself, last, within each configuration of its
        discrete parents: of the rows complete in that family.
    columns
        The moments of each numeric variable alone: its scale.
    pairs
        Where the graph is the tree that tells most (Chow & Liu): the pairs of the rows that lack no cell.
    """

    graph: Graph
    levels: Mapping[str, Levels | None]
    declared: frozenset[str]
    families: Families
    rows: JointCounts
    moments: Families
    columns: Moments
    pairs: PairCounts | None = None

    @classmethod
    def zero(
        cls,
        columns: Sequence[str],
        classes: int,
        /,
        graph: Graph,
        levels: Mapping[str, Levels | None],
        declared: Collection[str] = (),
        pairs: bool = False,
    ) -> FamilyStatistic:
        """Nothing counted yet of a graph over these columns, with its pairs where they are wanted; a network has one class."""
        numeric = tuple(name for name in columns if levels[name] is None)
        discrete = tuple(name for name in columns if name not in numeric)
        families = {name: Family.of((*graph[name], name), numeric) for name in columns}
        return cls(
            graph,
            {name: levels[name] for name in columns},
            frozenset(declared),
            Families.of([families[name] for name in discrete], classes),
            JointCounts.zero(discrete, classes),
            Families.of([families[name] for name in numeric], classes),
            Moments.zero(numeric, classes),
            PairCounts.zero(discrete, classes) if pairs else None,
        )

    @property
    def discrete(self) -> tuple[str, ...]:
        """The variables with levels, in the order of the graph."""
        return self.rows.columns

    @cached_property
    def index(self) -> dict[str, int]:
        """The column of each discrete variable in `rows`."""
        return {name: column for column, name in enumerate(self.discrete)}

    @cached_property
    def counts(self) -> dict[str, Array]:
        """The weight of the rows that lack no discrete cell: for each discrete variable an axis per parent, its levels last."""
        return {name: self.families.table(name)[0] for name in self.discrete}

    def known(self, name: str) -> Levels:
        """The levels of a discrete variable."""
        levels = self.levels[name]
        assert levels is not None
        return levels

    def discrete_parents(self, name: str) -> tuple[str, ...]:
        """The parents with levels."""
        return tuple(parent for parent in self.graph[name] if self.levels[parent] is not None)

    def shape(self, names: Sequence[str]) -> tuple[int, ...]:
        """The numbers of levels of some discrete variables."""
        return tuple(len(self.known(name)) for name in names)

    def family(self, name: str) -> tuple[str, ...]:
        """A discrete variable's parents and, last, itself: the axes of its counts."""
        return (*self.graph[name], name)

    @property
    def weight(self) -> float:
        """The weight of all rows that tell of levels, or of numbers where there are no levels."""
        if not self.discrete:
            return float(self.columns.weight.max(initial=0.0))
        return float(self.available(()).sum() if len(self.rows.cells) else self.counts[self.discrete[0]].sum())

    def available(self, names: Sequence[str]) -> Array:
        """The weight of all rows that lack none of these discrete variables, which are (part of) some variable's family."""
        complete, shape = self._complete(tuple(names)), self.shape(names)
        if not len(self.rows.cells):
            return complete
        codes, weights = self._incomplete
        known = numbered([codes[self.index[name]] for name in names], shape, len(weights))
        return complete + count_table(known, np.zeros(len(weights), np.int32), 1, weights).reshape(shape)

    def _complete(self, names: tuple[str, ...]) -> Array:
        """The same of the rows that lack no discrete cell."""
        if names and names == self.family(names[-1]):
            return self.counts[names[-1]]
        child = next(name for name in self.discrete if set(names) <= set(self.family(name)))
        others = tuple(axis for axis, member in enumerate(self.family(child)) if member not in names)
        left = [member for member in self.family(child) if member in names]
        return self.counts[child].sum(axis=others).transpose([left.index(name) for name in names])

    @cached_property
    def _incomplete(self) -> tuple[NDArray[np.int32], Array]:
        """The distinct incomplete rows, column by column, and their weights."""
        return np.ascontiguousarray(self.rows.cells.T), self.rows.weight[:, 0].copy()

    def never_observed(self) -> tuple[str, ...]:
        """The discrete variables that no row knows."""
        met = np.any(self.rows.cells >= 0, axis=0).tolist()
        return tuple(name for name in self.discrete if not self.counts[name].any() and not met[self.index[name]])

    def update(self, rows: Encoded, target: Target) -> FamilyStatistic:
        width = len(self.discrete)
        lacking = ((labelled_codes(rows, self.discrete)[1] if width else np.zeros((len(rows), 0))) < 0).sum(axis=1)
        whole = rows, target
        if lacking.any():
            whole = _some(rows, target, lacking == 0)
        partial = _some(rows, target, (lacking > 0) & (lacking < width))
        return replace(
            self,
            families=self.families.update(*whole) if width else self.families,
            rows=self.rows.update(*partial) if len(partial[0]) else self.rows,
            moments=self.moments.update(rows, target) if self.columns.columns else self.moments,
            columns=self.columns.update(rows, target) if self.columns.columns else self.columns,
            pairs=None if self.pairs is None else self.pairs.update(*whole),
        )

    def __add__(self, other: FamilyStatistic) -> FamilyStatistic:
        """The statistic of both tables together; parents are matched by name, levels by label."""
        levels = {name: self._united(name, other) for name in self.graph}
        known = {name: met for name, met in levels.items() if met is not None}
        rows = self.rows + other.rows.with_columns(self.discrete)
        pairs = self.pairs and other.pairs and self.pairs + other.pairs.with_columns(self.pairs.columns)
        families = pairs.families(self.families.families) if pairs else self.families + other.families
        return replace(
            self,
            levels=levels,
            families=families.over(known),
            rows=rows.ordered([levels[name] for name in self.discrete]),
            moments=(self.moments + other.moments).over(known),
            columns=self.columns + other.columns.with_columns(self.columns.columns),
            pairs=pairs,
        )

    def __sub__(self, other: FamilyStatistic) -> FamilyStatistic:
        """The statistic without the rows of another table; levels of which nothing is left are gone, unless they were stated."""
        _ = {name: self._united(name, other) for name in self.graph}  # or an error where the two conflict
        rows = self.rows - other.rows.with_columns(self.discrete)
        pairs = self.pairs and other.pairs and self.pairs - other.pairs.with_columns(self.pairs.columns)
        families = pairs.families(self.families.families) if pairs else self.families - other.families
        met = {name: {*families.labels[name], *rows.labels[k]} for k, name in enumerate(self.discrete)}
        levels = {name: known if known is None or name in self.declared else tuple(label for label in known if label in met[name]) for name, known in self.levels.items()}  # fmt: skip
        known = {name: left for name, left in levels.items() if left is not None}
        return replace(
            self,
            levels=levels,
            families=families.over(known),
            rows=rows.ordered([levels[name] for name in self.discrete]),
            moments=(self.moments - other.moments).over(known),
            columns=self.columns - other.columns.with_columns(self.columns.columns),
            pairs=pairs,
        )

    def scaled(self, factor: float) -> FamilyStatistic:
        """The same as if every row had counted so often."""
        return replace(
            self,
            families=self.families.scaled(factor),
            rows=self.rows.scaled(factor),
            moments=self.moments.scaled(factor),
            columns=self.columns.scaled(factor),
            pairs=self.pairs and self.pairs.scaled(factor),
        )

    def _united(self, name: str, other: FamilyStatistic) -> Levels | None:
        mine, theirs = self.levels[name], other.levels[name]
        if (mine is None) != (theirs is None):
            raise InputError(f"{name!r} is numeric in one network and has levels in the other", where=f"variable {name!r}", remedy=("say ", Option('kinds'), " for both alike"))  # fmt: skip
        if mine is None or theirs is None or mine == theirs:
            return mine
        for this, that in ((self, theirs), (other, mine)):
            strange = [label for label in that if label not in this.known(name)]
            if name in this.declared and strange:
                raise InputError(f"{name!r} has the level {strange[0]!r} in one network only", where=f"variable {name!r}", remedy=f"the other's levels {list(this.known(name))} were stated and do not grow")  # fmt: skip
        return mine if name in self.declared else theirs if name in other.declared else sort_labels({*mine, *theirs})

    def with_tree(self, root: str | None) -> FamilyStatistic:
        """The same rows for the tree that tells most of all of them; every count that it needs is one of a pair."""
        assert self.pairs is not None
        codes, weights = self._incomplete
        aside = PairCounts.zero(self.rows.columns, 1)
        aside = aside.add_codes(self.rows.labels, codes, np.zeros(len(weights), dtype=np.int32), weights)
        tree = tree_of_pairs(self.pairs + aside.with_columns(self.pairs.columns), root)
        graph = {name: tree[name] for name in self.graph}
        found = self.pairs.families([Family((*graph[name], name)) for name in self.discrete])
        levels = {name: known for name, known in self.levels.items() if known is not None}
        return replace(self, graph=graph, families=found.over(levels))

    def in_name_order(self) -> FamilyStatistic:
        """What was counted of variables with levels: these, their parents and the rows in the order of names, levels in that of labels."""
        names = sorted(self.discrete)
        graph = {name: tuple(sorted(self.graph[name])) for name in names}
        levels = {name: sort_labels(self.known(name)) for name in names}
        empty = FamilyStatistic.zero(names, 1, graph, levels, self.declared.intersection(names))
        rows = self.rows.with_columns(names).ordered([levels[name] for name in names])
        return replace(empty, families=self.families.over(levels, empty.families.families), rows=rows)

    def state(self) -> dict[str, Any]:
        return {
            "graph": {name: list(parents) for name, parents in self.graph.items()},
            "levels": {name: None if known is None else list(known) for name, known in self.levels.items()},
            "declared": sorted(self.declared),
            **{name: getattr(self, name).state() for name in PARTS},
            "pairs": None if self.pairs is None else self.pairs.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> FamilyStatistic:
        graph = {name: tuple(parents) for name, parents in state["graph"].items()}
        levels = {name: None if known is None else tuple(known) for name, known in state["levels"].items()}
        parts: Any = {name: kind.from_state(state[name]) for name, kind in PARTS.items()}
        pairs = None if state["pairs"] is None else PairCounts.from_state(state["pairs"])
        return cls(graph, levels, frozenset(state["declared"]), **parts, pairs=pairs)


PARTS: dict[str, Any] = {"families": Families, "rows": JointCounts, "moments": Families, "columns": Moments}


def count_families(
    graph: Graph, rows: CodedColumns, declared: Collection[str], pairs: bool = False, n_jobs: int | None = None
) -> FamilyStatistic:
    """The statistic of a table, with its pairs where they are wanted; rows of weight 0 do not exist.

    Examples
    --------
    >>> import pandas as pd
    >>> from merula.data.encode import code_columns
    >>> table = pd.DataFrame({"rain": ["no", "yes", "yes"], "wet": ["no", "yes", None]})
    >>> found = count_families({"rain": (), "wet": ("rain",)}, code_columns(table), ())
    >>> found.counts["wet"].tolist(), found.rows.cells.tolist(), found.rows.weight.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [[1, -1]], [[1.0]])
    """
    if rows.weights is not None and not rows.weights.all():
        rows = rows.take(rows.weights > 0)
    levels = dict(zip(rows.names, rows.levels, strict=True))
    coded = {
        name: Coded(codes, (None, *known), -1)
        for name, codes, known in zip(rows.names, rows.codes, rows.levels, strict=True)
        if known is not None
    }
    cells = _count_cells(graph, levels)
    options = {"graph": graph, "levels": levels, "declared": declared, "pairs": pairs}
    wanted = Wanted(FamilyStatistic, tuple(graph), options=options)  # type: ignore[arg-type] # it cannot do without them
    encoded = Encoded(0, rows.count, rows.values, coded)
    target = Target(np.zeros(rows.count, dtype=np.uint8), np.zeros(1, dtype=np.int8), rows.weights)
    if cells > rows.count:  # tables that the rows do not fill are made once, not for every block
        return wanted.zero(1).update(encoded, target)  # type: ignore[return-value]
    return collect(Source(encoded, target), Schema(()), [wanted], n_jobs).blocks[0]  # type: ignore[return-value]


def _some(rows: Encoded, target: Target, kept: NDArray[np.bool_]) -> tuple[Encoded, Target]:
    """The rows that are kept."""
    return rows.take(np.flatnonzero(kept)), target.take(kept)


def _count_cells(graph: Graph, levels: Mapping[str, Levels | None]) -> int:
    """How many cells the tables of all families have; an error where one would be too large."""
    total = 0
    for name, members in graph.items():
        parents = [parent for parent in members if levels[parent] is not None]
        cells = prod(len(levels[member] or (None,)) for member in (*parents, name))
        remedy = f"give {name!r} fewer parents, or merge levels"
        check_cells(cells, MOST_CELLS, f"the table of {name!r} given {len(parents)} parents", remedy)
        total += cells
    return total


def read_rows(
    graph: Graph,
    stated: Mapping[str, Known],
    believed: Mapping[str, Known],
    data: Any,
    weights: Any,
    levels: Mapping[str, Any],
    kinds: Mapping[str, str] | str | None,
    cuts: Mapping[str, Any],
) -> tuple[CodedColumns, Collection[str]]:
    """The columns of a network's variables, and those whose levels are fixed.

    `stated` levels stay, then come those asked for, then those an expert knows.
    """
    asked = {one_of(name, graph, "a key of levels="): _labels(name, known) for name, known in levels.items()}
    for name, known in asked.items():
        if name in stated and stated[name] != known:
            raise InputError((Option('levels'), f" gives {name!r} {_kind(known)}, but the network states {_kind(stated[name])}"), where='levels', remedy="leave it out, or state the variable anew")  # fmt: skip
    said = {name for name in graph if isinstance(kinds, str) or name in (kinds or {})}
    expected = {name: known for name, known in believed.items() if known and name in graph and name not in said}
    declared = {**expected, **stated, **asked}
    table = open_table(data)
    rows = code_columns(table, list(graph), declared, kinds, weights, absent=_absent(table, graph, asked), cuts=cuts)
    warn_of(rows.notes)
    for name, position in rows.positions.items():
        _check_column(name, rows, position)
    return rows, declared


def read_further(
    statistic: FamilyStatistic, data: Any, weights: Any, cuts: Mapping[str, Any], n_jobs: int | None
) -> FamilyStatistic:
    """The statistic of further rows; what was numeric or had levels stays so, and stated levels stay as they are."""
    declared = {name: statistic.levels[name] for name in statistic.graph if name in statistic.declared}
    kinds = {name: "numeric" if known is None else "categorical" for name, known in statistic.levels.items()}
    table = open_table(data)
    hidden = [name for name in statistic.never_observed() if name in declared]
    rows = code_columns(table, list(statistic.graph), declared, kinds, weights, absent=_absent(table, statistic.graph, hidden), cuts=cuts)  # fmt: skip
    warn_of(rows.notes)
    return count_families(statistic.graph, rows, declared, statistic.pairs is not None, n_jobs)


def _labels(name: str, known: Any) -> Known:
    if known is None:
        return None
    if isinstance(known, str) or not hasattr(known, "__iter__"):
        raise InputError((Option('levels'), f" gives {name!r} {known!r}"), where='levels', expected="a list of at least one level, or None for numeric")  # fmt: skip
    found = tuple(plain_label(label) for label in known)
    if not found or len(set(found)) < len(found):
        raise InputError((Option('levels'), f" gives {name!r} {list(found)}: name at least one level, and each once"), where='levels')  # fmt: skip
    return found


def _kind(known: Known) -> str:
    return "numbers" if known is None else f"the levels {list(known)}"


def _absent(table: Table, graph: Graph, allowed: Mapping[str, Any] | Sequence[str]) -> str:
    """Whether columns may lack; only those allowed may."""
    lacking = [name for name in graph if name not in table.names] if table.named else []
    for name in lacking:
        if name not in allowed:
            raise InputError.at(f"column {name!r}", f"is missing from the table, which has {', '.join(map(repr, table.names[:8]))}{', …' if len(table.names) > 8 else ''}", remedy=f"add it, or, if {name!r} is never observed, state its levels: levels={{{name!r}: […]}}{nearest(name, table.names)}")  # fmt: skip
    return "missing" if lacking else "error"


def _check_column(name: str, rows: CodedColumns, position: int) -> None:
    """A column that holds nothing says neither levels nor numbers."""
    known = rows.levels[position]
    if known == () or (known is None and rows.missing(name).all()):
        raise InputError.at(f"column {name!r}", "holds no value", remedy=f"if it is never observed, state its levels: levels={{{name!r}: […]}}")  # fmt: skip


def discrete_parents_first(graph: Graph, rows: CodedColumns) -> Graph:
    """The graph, the discrete parents of numeric variables first; a discrete variable cannot have numeric ones."""
    ordered = {}
    for name, parents in graph.items():
        numeric = tuple(parent for parent in parents if rows.is_numeric(parent))
        if numeric and not rows.is_numeric(name):
            raise InputError(f"{name!r} has levels, so its parents must too", where=f"variable {name!r}", remedy=(f"column {numeric[0]!r} is numeric: turn the arc round, discretise {numeric[0]!r}, or say ", Option('kinds', 'categorical', column=numeric[0]), " if its numbers are names"))  # fmt: skip
        ordered[name] = tuple(sorted(parents, key=rows.is_numeric)) if rows.is_numeric(name) else parents
    return ordered
