"""The tree of columns that tells most: mutual information of all pairs, and its largest spanning tree."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from merula.core import Array, InputError, Option, one_of
from merula.data.encode import CodedColumns
from merula.graphs.structure.graph import Graph
from merula.show.progress import progress_bar
from merula.stats.pairs import PairCounts

DIGITS = 12  # information is compared rounded to this many decimals


def chow_liu(
    rows: CodedColumns,
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
    >>> from merula.data.encode import code_columns
    >>> rows = code_columns(pd.DataFrame({"fire": [True, True, False, False], "smoke": [True, True, False, False]}))
    >>> chow_liu(rows, root="smoke")
    {'fire': ('smoke',), 'smoke': ()}
    """
    return tree_of_pairs(count_pairs(rows, given, progress, n_jobs), root)


def tree_of_pairs(pairs: PairCounts, root: str | None = None) -> Graph:
    """The same tree from counts of pairs, conditional on their classes."""
    names = sorted(pairs.columns)
    if root is not None:
        one_of(root, names, "root")
    order = [pairs.columns.index(name) for name in names]
    near = spanning_tree(names, pairs.information()[np.ix_(order, order)].round(DIGITS))
    directed = directed_tree(near, names if root is None else [root, *names])
    return {name: directed[name] for name in pairs.columns}


def spanning_tree(names: list[str], information: Array) -> dict[str, list[str]]:
    """The neighbours of each column in the largest spanning tree (Kruskal, 1956)."""
    one, other = np.triu_indices(len(names), 1)
    weights = information[one, other]
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


def directed_tree(near: Mapping[str, list[str]], roots: list[str]) -> Graph:
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
    rows: CodedColumns, given: str | None = None, progress: bool | None = None, n_jobs: int | None = None
) -> Array:
    """I(one; other), or I(one; other | given), in nats, for every pair of columns; 0 on the diagonal and for `given`.

    I = Σ P(x, y, c) log(P(x, y | c) / (P(x | c) P(y | c))), with P from the rows complete in the pair (and `given`).

    Examples
    --------
    >>> import pandas as pd
    >>> from merula.data.encode import code_columns
    >>> rows = code_columns(pd.DataFrame({"fire": [True, True, False, False], "smoke": [True, True, False, False]}))
    >>> pair_information(rows).round(6).tolist()
    [[0.0, 0.693147], [0.693147, 0.0]]
    """
    pairs = count_pairs(rows, given, progress, n_jobs)
    indices = [rows.positions[name] for name in pairs.columns]
    information = np.zeros((len(rows.names), len(rows.names)))
    information[np.ix_(indices, indices)] = pairs.information()
    return information


def count_pairs(
    rows: CodedColumns, given: str | None = None, progress: bool | None = None, n_jobs: int | None = None
) -> PairCounts:
    """The counts of all pairs of columns, in each class of the column `given`; an error where one is numeric."""
    for name in rows.names:
        if rows.is_numeric(name):
            raise InputError.at(f"column {name!r}", "is numeric, and mutual information is counted from levels", remedy=("discretise it, leave it out, or use ", Option('method', 'hill-climb')))  # fmt: skip
    where = None if given is None else rows.positions[one_of(given, rows.names, "given")]
    others = [index for index in range(len(rows.names)) if index != where]
    levels = [rows.levels[index] or () for index in others]
    classes = np.zeros(rows.count, dtype=np.int32) if where is None else rows.codes[where]
    zero = PairCounts.zero(
        [rows.names[index] for index in others], 1 if where is None else int(rows.cardinalities[where])
    )
    with progress_bar(len(others), progress) as step:
        return zero.add_codes(levels, np.ascontiguousarray(rows.codes[others]), classes, rows.weights, n_jobs, step)
