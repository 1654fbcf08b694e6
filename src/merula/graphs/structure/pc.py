"""Structure from tests of independence: the PC algorithm in its stable form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from merula.core.checks import one_of
from merula.core.threads import for_each_block
from merula.data.encode.columns import CodedColumns
from merula.graphs.structure.constraints import Constraints
from merula.graphs.structure.equivalence import (
    Marks,
    PartialGraph,
    close_under_meek,
    consistent_extension,
    directed_path,
    from_marks,
)
from merula.graphs.structure.graph import Graph, build_graph
from merula.graphs.structure.independence import TESTS, deviation
from merula.show.progress import progress_bar

Pair = tuple[int, int]


@dataclass(frozen=True)
class Separation:
    """The columns given which two others were found independent, and the p-value of that test."""

    given: frozenset[int]
    p_value: float


@dataclass(frozen=True)
class Discovery:
    """What the tests settled (`cpdag`: arcs, and edges whose direction they leave open) and one graph that agrees."""

    cpdag: PartialGraph
    graph: Graph


def pc_stable(
    rows: CodedColumns,
    rules: Constraints,
    test: str = "g2",
    significance: float = 0.05,
    max_given: int | None = None,
    progress: bool | None = None,
    n_jobs: int | None = None,
) -> Discovery:
    """The graphs whose separations are those that tests find: Colombo & Maathuis (2014), algorithm 4.1 ("PC-stable").

    Two columns stay joined unless a test with a p-value above `significance` separates them given columns joined to one
    of them; within a round of conditioning sets of one size no removal changes the sets tried, so the order of columns
    does not matter. Of the sets of that size that separate a pair, the one with the largest p-value is kept. Colliders
    are directed in the order of these p-values; one that contradicts an earlier one, a constraint, or acyclicity is left
    out. Meek's rules follow. `rows` must have their columns sorted by name.
    """
    _check_options(rows, test, significance, max_given)
    joined = (rules.useful | rules.useful.T) | rules.required | rules.required.T
    fixed = rules.required | rules.required.T
    separations: dict[Pair, Separation] = {}
    with progress_bar(None, progress) as step:
        for size in range(len(rows.names) - 1 if max_given is None else max_given + 1):
            if not (joined.sum(axis=0) > size).any():
                break
            separations |= _part(rows, joined, fixed, size, test, significance, n_jobs)
            step(f"given {size}: {int(joined.sum()) // 2} pairs joined")
    marks = joined & ~rules.required.T
    _direct_one_way(marks, rules)
    _direct_colliders(marks, rules, separations)
    close_under_meek(marks, rules.permitted)
    found = from_marks(rows.names, marks)
    return Discovery(found, consistent_extension(found) or _some_extension(rows.names, marks, rules))


def _check_options(rows: CodedColumns, test: str, significance: float, max_given: int | None) -> None:
    one_of(test, TESTS, "test")
    if isinstance(significance, bool) or not isinstance(significance, int | float) or not 0 < significance < 1:
        raise ValueError(f"significance is {significance!r}, expected a number between 0 and 1, such as 0.05")
    if max_given is not None and (isinstance(max_given, bool) or not isinstance(max_given, int) or max_given < 0):
        raise ValueError(f"max_given is {max_given!r}, expected a whole number from 0, or None for no limit")
    for name in rows.names:
        if rows.is_numeric(name):
            raise ValueError(
                f"column {name!r} is numeric, which test={test!r} cannot count; discretise it, leave it out, or use method='hill-climb'"
            )


def _part(
    rows: CodedColumns, joined: Marks, fixed: Marks, size: int, test: str, significance: float, n_jobs: int | None
) -> dict[Pair, Separation]:
    """Part, in place, the pairs that a set of this size separates; how each was separated."""
    pairs: list[Pair] = [(one, other) for one, other in np.argwhere(np.triu(joined & ~fixed)).tolist()]
    before = joined.copy()

    def best(index: int) -> Separation | None:
        return _best_separation(rows, before, pairs[index], size, test)

    separations: dict[Pair, Separation] = {}
    for pair, found in zip(pairs, for_each_block(best, len(pairs), n_jobs, 1), strict=True):
        if found is not None and found.p_value > significance:
            separations[pair] = found
            joined[pair] = joined[pair[::-1]] = False
    return separations


def _best_separation(rows: CodedColumns, joined: Marks, pair: Pair, size: int, test: str) -> Separation | None:
    """The conditioning set of this size with the largest p-value; of equal ones the first by name."""
    best: Separation | None = None
    for given in _conditioning_sets(joined, pair, size):
        p_value = round(deviation(rows, *pair, given, test).p_value, 12)
        if best is None or p_value > best.p_value:
            best = Separation(frozenset(given), p_value)
    return best


def _conditioning_sets(joined: Marks, pair: Pair, size: int) -> Iterator[tuple[int, ...]]:
    """The sets of this size of columns joined to one of the pair, each once."""
    one, other = pair
    near_one = [int(near) for near in np.flatnonzero(joined[one]) if near != other]
    near_other = [int(near) for near in np.flatnonzero(joined[other]) if near != one]
    yield from combinations(near_one, size)
    met = set(near_one)
    yield from (given for given in combinations(near_other, size) if not met.issuperset(given))


def _direct_one_way(marks: Marks, rules: Constraints) -> None:
    """Direct the edges of which one direction is forbidden, in place; where the other closes a cycle, no arc can be."""
    for start, stop in np.argwhere(marks & marks.T & rules.permitted & ~rules.permitted.T).tolist():
        marks[stop, start] = False
        marks[start, stop] = not directed_path(marks, stop, start)


def _direct_colliders(marks: Marks, rules: Constraints, separations: dict[Pair, Separation]) -> None:
    """Direct a → c ← b, in place, for every pair separated without c, the surest first."""
    joined = marks | marks.T
    triples = [
        (-found.p_value, one, middle, other)
        for (one, other), found in separations.items()
        for middle in np.flatnonzero(joined[one] & joined[other]).tolist()
        if middle not in found.given
    ]
    for _, one, middle, other in sorted(triples):
        if all(_may_direct(marks, rules, end, middle) for end in (one, other)):
            marks[middle, one] = marks[middle, other] = False


def _may_direct(marks: Marks, rules: Constraints, start: int, stop: int) -> bool:
    """True when the arc start → stop is there already, or may be made of an edge without closing a cycle."""
    if not marks[start, stop]:
        return False
    if not marks[stop, start]:
        return True
    return bool(rules.permitted[start, stop]) and not directed_path(marks, stop, start)


def _some_extension(names: tuple[str, ...], marks: Marks, rules: Constraints) -> Graph:
    """A directed acyclic graph with this skeleton and these arcs, where none has the same colliders.

    Edge by edge, by name: directed forwards where that is permitted and closes no cycle, then what follows from it.
    """
    marks = marks.copy()
    while (marks & marks.T).any():
        one, other = np.argwhere(marks & marks.T)[0].tolist()
        if rules.permitted[one, other] and not directed_path(marks, other, one):
            marks[other, one] = False
        else:
            marks[one, other] = False
        close_under_meek(marks, rules.permitted)
    return build_graph(names, [(names[parent], names[child]) for parent, child in np.argwhere(marks).tolist()])
