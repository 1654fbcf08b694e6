"""Are two columns independent given others? χ² and G² tests; and structure from them, the PC algorithm in its stable form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import chdtrc

from merula.core import Array, InputError, Option
from merula.core.checks import checked_number, one_of
from merula.core.compiled import kernel
from merula.core.threads import for_each_block
from merula.data.encode import CodedColumns
from merula.graphs.structure.constraints import LIMIT, Constraints
from merula.graphs.structure.equivalence import (
    Marks,
    PartialGraph,
    close_under_meek,
    consistent_extension,
    directed_path,
    from_marks,
)
from merula.graphs.structure.family_scores import configurations
from merula.graphs.structure.graph import Graph, build_graph
from merula.show.progress import progress_bar
from merula.stats.configurations import count_cells, count_table, extended, most_cells

TESTS = ("chi2", "g2")
Pair = tuple[int, int]


@dataclass(frozen=True)
class IndependenceTest:
    """A test statistic, its degrees of freedom, and the probability of one at least as large under independence."""

    statistic: float
    degrees: float
    p_value: float


def independence_test(
    rows: CodedColumns, one: str, other: str, given: Sequence[str] = (), test: str = "g2"
) -> IndependenceTest:
    """A test that two columns are independent given others, on the rows complete in all of them.

    Per stratum (configuration of `given`), with E = row sum × column sum / stratum sum: chi2 = Σ (O − E)² / E,
    g2 = 2 Σ O log(O / E). Its degrees of freedom are (rows − 1)(columns − 1) counted over the rows and columns that are
    not empty in this stratum, summed over strata: an empty one cannot deviate. Without any degree of freedom the
    p-value is 1.

    Examples
    --------
    >>> import pandas as pd
    >>> from merula.data.encode import code_columns
    >>> rows = code_columns(pd.DataFrame({"smoker": ["yes"] * 20 + ["no"] * 20, "cough": ["y"] * 15 + ["n"] * 25}))
    >>> found = independence_test(rows, "smoker", "cough", test="chi2")
    >>> found.statistic, found.degrees, found.p_value < 0.001
    (24.0, 1.0, True)
    """
    one_of(test, TESTS, "test")
    for name in (one, other, *given):
        one_of(name, rows.names, "a column of the test")
        if rows.is_numeric(name):
            raise InputError.at(
                f"column {name!r}",
                ("is numeric, which ", Option("test", test), " cannot count"),
                remedy="discretise it or leave it out",
            )
    if len({one, other, *given}) < len(given) + 2:
        raise InputError(
            f"a test of {one!r} and {other!r} given {list(given)} names a column twice", remedy="name each once"
        )
    indices = rows.positions
    return deviation(rows, indices[one], indices[other], [indices[name] for name in given], test)


def deviation(rows: CodedColumns, one: int, other: int, given: Sequence[int], test: str) -> IndependenceTest:
    """The same for columns named by their positions, unchecked."""
    strata = configurations(rows, given)
    base = extended(strata, rows.codes[one], int(rows.cardinalities[one]))
    width = int(rows.cardinalities[other])
    if base.size == strata.size * rows.cardinalities[one] and 0 < base.size * width <= most_cells(rows.count):
        complete = not rows.incomplete[[one, other, *given]].any()
        table = count_table(base, rows.codes[other], width, rows.weights, complete).ravel()
        chi2, g2, degrees = _dense_test(table, strata.size, int(rows.cardinalities[one]), width)
    else:
        chi2, g2, degrees = _sparse_test(rows, one, other, given)
    statistic = float(chi2 if test == "chi2" else g2)
    return IndependenceTest(statistic, float(degrees), float(chdtrc(degrees, statistic)) if degrees > 0 else 1.0)


@kernel
def _dense_test(table: Array, strata: int, left: int, right: int) -> tuple[float, float, float]:
    """chi2, g2 and the degrees of freedom of a table strata × left × right."""
    ones, others = np.empty(left), np.empty(right)
    chi2, g2, degrees = 0.0, 0.0, 0.0
    for stratum in range(strata):
        ones[:] = 0.0
        others[:] = 0.0
        start = stratum * left * right
        for one in range(left):
            for other in range(right):
                ones[one] += table[start + one * right + other]
                others[other] += table[start + one * right + other]
        mass = ones.sum()
        for one in range(left):
            for other in range(right):
                expected = ones[one] * others[other] / mass if mass > 0 else 0.0
                count = table[start + one * right + other]
                if expected > 0:
                    chi2 += (count - expected) ** 2 / expected
                    g2 += 2 * count * np.log(count / expected) if count > 0 else 0.0
        degrees += max((ones > 0).sum() - 1, 0) * max((others > 0).sum() - 1, 0)
    return chi2, max(g2, 0.0), degrees


def _sparse_test(rows: CodedColumns, one: int, other: int, given: Sequence[int]) -> tuple[float, float, float]:
    """The same from the cells that occur: Σ (O − E)² / E = Σ O² / E − n, since E sums to n like O."""
    strata = configurations(rows, given)
    left, right = configurations(rows, [*given, one]), configurations(rows, [*given, other])
    cells = count_cells(left, right.index, right.size, rows.weights)
    stratum_of = np.zeros(left.size, dtype=np.int64)
    known = left.index >= 0
    stratum_of[left.index[known]] = strata.index[known]
    stratum = stratum_of[cells.left]
    ones, others = np.bincount(cells.left, cells.counts), np.bincount(cells.right, cells.counts)
    masses = np.bincount(stratum, cells.counts)
    expected = ones[cells.left] * others[cells.right] / masses[stratum]
    chi2 = float((cells.counts**2 / expected).sum() - cells.counts.sum())
    g2 = float(2 * (cells.counts * np.log(cells.counts / expected)).sum())
    met_ones = np.bincount(stratum[np.unique(cells.left, return_index=True)[1]], minlength=len(masses))
    met_others = np.bincount(stratum[np.unique(cells.right, return_index=True)[1]], minlength=len(masses))
    return max(chi2, 0.0), max(g2, 0.0), float((np.maximum(met_ones - 1, 0) * np.maximum(met_others - 1, 0)).sum())


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
    checked_number(significance, "significance", "a number between 0 and 1, such as 0.05", lambda p: 0 < p < 1)
    checked_number(0 if max_given is None else max_given, "max_given", LIMIT, lambda n: n >= 0, whole=True)
    for name in rows.names:
        if rows.is_numeric(name):
            raise InputError.at(
                f"column {name!r}",
                ("is numeric, which ", Option("test", test), " cannot count"),
                remedy=("discretise it, leave it out, or use ", Option("method", "hill-climb")),
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
