"""The tree of columns that tells most: mutual information of all pairs, and its largest spanning tree."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.core.checks import one_of
from merula.core.compiled import kernel
from merula.core.threads import for_each_block
from merula.graphs.structure.configurations import configurations
from merula.graphs.structure.graph import Graph
from merula.graphs.structure.network_rows import NetworkRows
from merula.stats.configurations import NO_WEIGHTS, Cells, Index, count_cells, fill_table, most_cells
from merula.show.progress import progress_bar

DIGITS = 12  # information is compared rounded to this many decimals


def chow_liu(
    rows: NetworkRows,
    root: str | None = None,
    given: str | None = None,
    progress: bool | None = None,
    n_jobs: int | None = None,
) -> Graph:
    """The tree whose arcs carry the most mutual information, directed away from `root` (the first column by name).

    Of all trees it has the largest likelihood: Chow & Liu (1968), "Approximating discrete probability distributions with
    dependence trees". Equal information is decided by the columns' names; pairs without any are not joined, so that a
    constant column stands alone. With `given` (a class), the information is conditional on it, Friedman, Geiger &
    Goldszmidt (1997), and the tree spans the other columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from merula.graphs.structure import read_rows
    >>> rows = read_rows(pd.DataFrame({"fire": [True, True, False, False], "smoke": [True, True, False, False]}))
    >>> chow_liu(rows, root="smoke")
    {'fire': ('smoke',), 'smoke': ()}
    """
    information = pair_information(rows, given, progress, n_jobs)
    names = [name for name in rows.names if name != given]
    if root is not None:
        one_of(root, names, "root")
    near = _spanning_tree(rows, sorted(names), information.round(DIGITS))
    directed = _directed(near, sorted(names) if root is None else [root, *sorted(names)])
    return {name: directed[name] for name in names}


def _spanning_tree(rows: NetworkRows, names: list[str], information: Array) -> dict[str, list[str]]:
    """The neighbours of each column in the largest spanning tree (Kruskal, 1956)."""
    indices = np.array([rows.positions[name] for name in names], dtype=np.int64)
    one, other = np.triu_indices(len(names), 1)
    weights = information[indices[one], indices[other]]
    group = list(range(len(names)))

    def leader(member: int) -> int:
        while group[member] != member:
            group[member] = group[group[member]]
            member = group[member]
        return member

    near: dict[str, list[str]] = {name: [] for name in names}
    for pair in np.argsort(-weights, kind="stable").tolist():  # stable: equal pairs stay in the order of their names
        if not weights[pair] > 0:
            break
        left, right = leader(int(one[pair])), leader(int(other[pair]))
        if left != right:
            group[left] = right
            near[names[one[pair]]].append(names[other[pair]])
            near[names[other[pair]]].append(names[one[pair]])
    return near


def _directed(near: Mapping[str, list[str]], roots: list[str]) -> Graph:
    """The tree directed away from the first root; each part it does not reach, from the next root within that part."""
    graph: Graph = {}
    for root in roots:
        if root not in graph:
            graph[root] = ()
            stack = [root]
            while stack:
                parent = stack.pop()
                new = [child for child in near[parent] if child not in graph]
                graph |= dict.fromkeys(new, (parent,))
                stack += new
    return graph


def pair_information(
    rows: NetworkRows, given: str | None = None, progress: bool | None = None, n_jobs: int | None = None
) -> Array:
    """I(one; other), or I(one; other | given), in nats, for every pair of columns; 0 on the diagonal and for `given`.

    I = Σ P(x, y, c) log(P(x, y | c) / (P(x | c) P(y | c))), with P from the rows complete in the pair (and `given`).

    Examples
    --------
    >>> import pandas as pd
    >>> from merula.graphs.structure import read_rows
    >>> rows = read_rows(pd.DataFrame({"fire": [True, True, False, False], "smoke": [True, True, False, False]}))
    >>> pair_information(rows).round(6).tolist()
    [[0.0, 0.693147], [0.693147, 0.0]]
    """
    _check_discrete(rows)
    if given is not None:
        one_of(given, rows.names, "given")
    classes = [] if given is None else [rows.positions[given]]
    others = [index for index in range(len(rows.names)) if index not in classes]
    information = np.zeros((len(rows.names), len(rows.names)))

    with progress_bar(len(others), progress) as step:

        def one_with_all(start: int) -> Array:
            found = _information_with(rows, classes, others[start], others[start + 1 :])
            step(rows.names[others[start]])
            return found

        for start, found in enumerate(for_each_block(one_with_all, len(others), n_jobs, 1)):
            information[others[start], others[start + 1 :]] = found
    total: Array = information + information.T
    return total


def _check_discrete(rows: NetworkRows) -> None:
    for name in rows.names:
        if rows.is_numeric(name):
            raise ValueError(
                f"column {name!r} is numeric, and mutual information is counted from levels; discretise it, leave it out, or use method='hill-climb'"
            )


def _information_with(rows: NetworkRows, classes: list[int], one: int, others: list[int]) -> Array:
    """The information between one column and each of the others."""
    base = configurations(rows, [*classes, one])
    sizes = rows.cardinalities
    strata = int(sizes[classes[0]]) if classes else 1
    cells = base.size * sizes[others]
    plain = base.size == strata * sizes[one]  # not renumbered
    fits = (cells > 0) & (cells <= most_cells(rows.count)) if plain else np.zeros(len(others), dtype=np.bool_)
    found = np.zeros(len(others))
    for position in np.flatnonzero(~fits & (cells > 0)).tolist():
        found[position] = _sparse_information(rows, classes, one, others[position])
    candidates = np.array(others, dtype=np.int64)[fits]
    complete = ~rows.incomplete[candidates] & (not rows.incomplete[[*classes, one]].any())
    weights = NO_WEIGHTS if rows.weights is None else rows.weights
    if len(candidates):
        found[fits] = _dense_information(
            base.index, base.size, strata, rows.codes, sizes, candidates, complete, weights
        )
    return found


def _sparse_information(rows: NetworkRows, classes: list[int], one: int, other: int) -> float:
    """The same from the cells that occur, where a table of all would outgrow the rows."""
    # one column's levels renumbered within each class, so that its number tells the class too
    left = configurations(rows, [*classes, one])
    right = configurations(rows, [*classes, other])
    strata = configurations(rows, classes)
    cells = count_cells(left, right.index, right.size, rows.weights)
    total = float(cells.counts.sum())
    if not total > 0:
        return 0.0
    ones, others = _sums(cells.left, cells.counts), _sums(cells.right, cells.counts)
    stratum = np.zeros(left.size, dtype=np.int64)
    known = left.index >= 0
    stratum[left.index[known]] = strata.index[known]
    masses = _sums(stratum[cells.left], cells.counts)
    return _information(cells, ones[cells.left], others[cells.right], masses[stratum[cells.left]]) / total


def _sums(numbers: NDArray[np.int64], counts: Array) -> Array:
    """How much each number counts in all."""
    return np.bincount(numbers, counts).astype(np.float64)


def _information(cells: Cells, ones: Array, others: Array, masses: Array) -> float:
    terms = cells.counts * (np.log(cells.counts / ones) - np.log(others / masses))
    return max(float(terms.sum()), 0.0)


@kernel
def _table_information(table: Array, strata: int, left: int, right: int) -> float:
    """Σ_c Σ_xy n_cxy log(n_cxy n_c / (n_cx n_cy)) / n; cells of 0 add nothing."""
    ones, others = np.empty(left), np.empty(right)
    information, total = 0.0, 0.0
    for stratum in range(strata):
        ones[:] = 0.0
        others[:] = 0.0
        mass, start = 0.0, stratum * left * right
        for one in range(left):
            for other in range(right):
                count = table[start + one * right + other]
                ones[one] += count
                others[other] += count
                mass += count
        for one in range(left):
            for other in range(right):
                count = table[start + one * right + other]
                if count > 0:
                    information += count * (np.log(count / ones[one]) - np.log(others[other] / mass))
        total += mass
    return max(information / total, 0.0) if total > 0 else 0.0


@kernel
def _dense_information(
    base: Index,
    base_size: int,
    strata: int,
    codes: Index,
    cardinalities: NDArray[np.int64],
    candidates: NDArray[np.int64],
    complete: NDArray[np.bool_],
    weights: Array,
) -> Array:
    """The information between the column that `base` numbers (within each stratum) and each candidate."""
    found = np.empty(len(candidates))
    for number in range(len(candidates)):
        right = cardinalities[candidates[number]]
        table = np.empty(base_size * right)
        fill_table(base, codes[candidates[number]], right, weights, complete[number], table)
        found[number] = _table_information(table, strata, base_size // strata, right)
    return found
