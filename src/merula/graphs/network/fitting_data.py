"""Tables read for learning: which levels are fixed, which columns may lack, and what cannot be learned at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from merula.core.checks import nearest, one_of
from merula.core.notes import warn_of
from merula.data.encode import CodedColumns, code_columns
from merula.data.schema import Label
from merula.data.table import Table, open_table, plain_label
from merula.graphs.network.statistic import FamilyStatistic, count_families
from merula.graphs.structure.graph import Graph

Known = tuple[Label, ...] | None


def read_statistic(
    graph: Graph,
    stated: Mapping[str, Known],
    believed: Mapping[str, Known],
    data: Any,
    weights: Any,
    levels: Mapping[str, Any],
    kinds: Mapping[str, str] | str | None,
    cuts: Mapping[str, Any],
    n_jobs: int | None,
) -> FamilyStatistic:
    """The statistic of a table for a network: `stated` levels stay, then come those asked for, then those an expert knows."""
    asked = {one_of(name, graph, "a key of levels="): _labels(name, known) for name, known in levels.items()}
    for name, known in asked.items():
        if name in stated and stated[name] != known:
            raise ValueError(f"levels= gives {name!r} {_kind(known)}, but the network states {_kind(stated[name])}; leave it out, or state the variable anew")  # fmt: skip
    said = {name for name in graph if isinstance(kinds, str) or name in (kinds or {})}
    expected = {name: known for name, known in believed.items() if known and name in graph and name not in said}
    declared = {**expected, **stated, **asked}
    table = open_table(data)
    rows = code_columns(table, list(graph), declared, kinds, weights, absent=_absent(table, graph, asked), cuts=cuts)
    warn_of(rows.notes)
    for name, position in rows.positions.items():
        _check_column(name, rows, position)
    return count_families(_settled(graph, rows), rows, declared, n_jobs=n_jobs)


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
        raise ValueError(
            f"levels= gives {name!r} {known!r}, expected a list of at least one level, or None for numeric"
        )
    found = tuple(plain_label(label) for label in known)
    if not found or len(set(found)) < len(found):
        raise ValueError(f"levels= gives {name!r} {list(found)}: name at least one level, and each once")
    return found


def _kind(known: Known) -> str:
    return "numbers" if known is None else f"the levels {list(known)}"


def _absent(table: Table, graph: Graph, allowed: Mapping[str, Any] | Sequence[str]) -> str:
    """Whether columns may lack; only those allowed may."""
    lacking = [name for name in graph if name not in table.names] if table.named else []
    for name in lacking:
        if name not in allowed:
            raise ValueError(
                f"column {name!r} is missing from the table, which has {', '.join(map(repr, table.names[:8]))}{', …' if len(table.names) > 8 else ''}; add it, or, if {name!r} is never observed, state its levels: levels={{{name!r}: […]}}{nearest(name, table.names)}"
            )
    return "missing" if lacking else "error"


def _check_column(name: str, rows: CodedColumns, position: int) -> None:
    """A column that holds nothing says neither levels nor numbers."""
    known = rows.levels[position]
    if known == () or (known is None and rows.missing(name).all()):
        raise ValueError(f"column {name!r} holds no value; if it is never observed, state its levels: levels={{{name!r}: […]}}")  # fmt: skip


def _settled(graph: Graph, rows: CodedColumns) -> Graph:
    """The graph, the discrete parents of numeric variables first; a discrete variable cannot have numeric ones."""
    settled = {}
    for name, parents in graph.items():
        numeric = tuple(parent for parent in parents if rows.is_numeric(parent))
        if numeric and not rows.is_numeric(name):
            raise ValueError(
                f"{name!r} has levels, so its parents must too; column {numeric[0]!r} is numeric: turn the arc round, discretise {numeric[0]!r}, or say kinds={{{numeric[0]!r}: 'categorical'}} if its numbers are names"
            )
        discrete = tuple(parent for parent in parents if parent not in numeric)
        settled[name] = discrete + numeric if rows.is_numeric(name) else parents
    return settled
