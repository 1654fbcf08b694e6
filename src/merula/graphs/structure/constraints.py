"""What a search may not do: arcs required, arcs forbidden, tiers, the number of parents; checked once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from merula.core import InputError, Option
from merula.core.checks import checked_number, one_of
from merula.data.encode.columns import CodedColumns
from merula.graphs.structure.equivalence import Marks
from merula.graphs.structure.family_scores import spread_of
from merula.graphs.structure.graph import Arc, Graph, arcs_of, build_graph, find_cycle

LIMIT = "a whole number from 0, or None for no limit"


@dataclass(frozen=True, eq=False)
class Constraints:
    """``required[parent, child]`` arcs must be there, those not ``permitted`` may not, and those not ``useful`` are not tried.

    An arc is of no use when one of its ends is constant or missing in every row.
    """

    names: tuple[str, ...]
    required: Marks
    permitted: Marks
    useful: Marks
    max_parents: int


def read_constraints(
    rows: CodedColumns,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    tiers: Sequence[Sequence[str]] | None = None,
    max_parents: int | None = None,
) -> Constraints:
    """The constraints as matrices over the columns of `rows`; an error where they contradict each other.

    Columns that no tier names may stand anywhere. A numeric column is never a parent of a categorical one.
    """
    musts, nevers = _read_arcs(rows, required, "required"), _read_arcs(rows, forbidden, "forbidden")
    both = sorted(set(musts) & set(nevers))
    if both:
        raise InputError(f"arc {_show(both[0])} is both required and forbidden", remedy="take it from one of the two")
    tier = _read_tiers(rows, tiers)
    for arc in musts:
        _check_required(rows, arc, tier)
    cycle = find_cycle(build_graph(rows.names, musts))
    if cycle:
        raise InputError(
            (Option("required"), f" asks for a cycle: {' → '.join(cycle)}"),
            where="required",
            remedy="remove or turn one of its arcs",
        )
    permitted = _permitted(rows, nevers, tier)
    idle = np.array([_is_idle(rows, index) for index in range(len(rows.names))], dtype=np.bool_)
    most = _read_max_parents(rows, max_parents, musts)
    return Constraints(rows.names, _as_marks(rows, musts), permitted, permitted & ~idle[:, None] & ~idle[None, :], most)


def _show(arc: Arc) -> str:
    return f"{arc[0]!r} → {arc[1]!r}"


def _read_arcs(rows: CodedColumns, arcs: Any, what: str) -> list[Arc]:
    if isinstance(arcs, str) or not isinstance(arcs, Iterable):
        raise InputError.of(what, arcs, "a list of arcs such as [('rain', 'wet')]")
    found = []
    for arc in arcs:
        if isinstance(arc, str) or not isinstance(arc, Collection) or len(arc) != 2:
            raise InputError.at(
                what, f"holds {arc!r}", got=arc, expected="pairs (parent, child) such as ('rain', 'wet')"
            )
        parent, child = arc
        one_of(parent, rows.names, f"the parent in {what}={(parent, child)!r}")
        one_of(child, rows.names, f"the child in {what}={(parent, child)!r}")
        if parent == child:
            raise InputError.at(what, f"holds an arc from {parent!r} to itself", remedy="name two different columns")
        found.append((parent, child))
    return sorted(set(found))


def _read_tiers(rows: CodedColumns, tiers: Any) -> dict[str, int]:
    """The number of each column's tier."""
    if tiers is None:
        return {}
    if isinstance(tiers, str) or not all(isinstance(tier, list | tuple) for tier in tiers):
        raise InputError.of("tiers", tiers, "lists of columns, earliest first, such as [['age'], ['income']]")
    found: dict[str, int] = {}
    for number, tier in enumerate(tiers):
        for name in tier:
            one_of(name, rows.names, f"a column of tiers[{number}]")
            if name in found:
                raise InputError.at("tiers", f"names column {name!r} more than once", remedy="put it into one tier")
            found[name] = number
    return found


def _check_required(rows: CodedColumns, arc: Arc, tier: Mapping[str, int]) -> None:
    parent, child = arc
    if parent in tier and child in tier and tier[parent] > tier[child]:
        raise InputError(
            f"required arc {_show(arc)} leads from tier {tier[parent]} back to tier {tier[child]}",
            remedy=("drop it or change ", Option("tiers")),
        )
    if rows.is_numeric(parent) and not rows.is_numeric(child):
        raise InputError(
            f"required arc {_show(arc)} makes numeric column {parent!r} a parent of categorical column {child!r}, which no conditional linear-Gaussian network has",
            remedy=f"turn it, or discretise {parent!r}",
        )


def _permitted(rows: CodedColumns, forbidden: Iterable[Arc], tier: Mapping[str, int]) -> Marks:
    order = np.array([tier.get(name, -1) for name in rows.names])
    numeric = np.array([rows.is_numeric(name) for name in rows.names], dtype=np.bool_)
    backwards = (order[:, None] > order[None, :]) & (order[None, :] >= 0)
    permitted: Marks = ~backwards & ~(numeric[:, None] & ~numeric[None, :]) & ~_as_marks(rows, forbidden)
    np.fill_diagonal(permitted, False)
    return permitted


def _as_marks(rows: CodedColumns, arcs: Iterable[Arc]) -> Marks:
    marks = np.zeros((len(rows.names), len(rows.names)), dtype=np.bool_)
    for parent, child in arcs:
        marks[rows.positions[parent], rows.positions[child]] = True
    return marks


def _is_idle(rows: CodedColumns, index: int) -> bool:
    """True when rows of some weight hold fewer than two values in this column."""
    name = rows.names[index]
    if rows.levels[index] is None:
        values = rows.values[name] if rows.weights is None else rows.values[name][rows.weights > 0]
        return not spread_of(name, values, None) > 0
    codes = rows.codes[index] if rows.weights is None else rows.codes[index][rows.weights > 0]
    return int((np.bincount(codes[codes >= 0]) > 0).sum()) < 2


def _read_max_parents(rows: CodedColumns, most: Any, required: Iterable[Arc]) -> int:
    if most is None:
        return len(rows.names)
    checked_number(most, "max_parents", LIMIT, lambda n: n >= 0, whole=True)
    for child, parents in build_graph(rows.names, required).items():
        if len(parents) > most:
            raise InputError(
                (
                    Option("required"),
                    f" gives column {child!r} {len(parents)} parents, more than ",
                    Option("max_parents", int(most)),
                ),
                where="required",
                got=len(parents),
                remedy="raise it or require fewer",
            )
    return int(most)


def read_start(rules: Constraints, start: Mapping[str, Collection[str]] | None) -> Marks:
    """The arcs a search starts from: those of `start` and those required; an error where they break a constraint."""
    found = rules.required.copy()
    if start is None:
        return found
    for arc in _start_arcs(rules, start):
        parent, child = (rules.names.index(name) for name in arc)
        if not rules.permitted[parent, child]:
            raise InputError.at("start", (f"holds arc {_show(arc)}, which ", Option('forbidden'), ", ", Option('tiers'), " or the columns' kinds rule out"), remedy="take it away")  # fmt: skip
        found[parent, child] = True
    _check_start(rules, found)
    return found


def _start_arcs(rules: Constraints, start: Any) -> list[Arc]:
    if not isinstance(start, Mapping):
        raise InputError.of("start", start, "a graph such as {'wet': ('rain',)}, each column with its parents")
    for child, parents in start.items():
        one_of(child, rules.names, "a column of start")
        if isinstance(parents, str):
            raise InputError.of(f"start[{child!r}]", parents, f"a tuple of parents such as ({parents!r},)")
        for parent in parents:
            one_of(parent, rules.names, f"a parent in start[{child!r}]")
    return sorted(arcs_of(start))


def _check_start(rules: Constraints, marks: Marks) -> None:
    graph = to_graph(rules.names, marks)
    cycle = find_cycle(graph)
    if cycle:
        raise InputError(
            f"start with the required arcs holds a cycle: {' → '.join(cycle)}", remedy="remove or turn one of them"
        )
    for child, parents in graph.items():
        if len(parents) > rules.max_parents:
            raise InputError.at(
                "start",
                (
                    f"gives column {child!r} {len(parents)} parents, more than ",
                    Option("max_parents", rules.max_parents),
                ),
                got=len(parents),
            )


def to_graph(names: Sequence[str], marks: Marks) -> Graph:
    """The graph of a matrix of arcs (parent, child)."""
    return build_graph(names, [(names[parent], names[child]) for parent, child in np.argwhere(marks).tolist()])
