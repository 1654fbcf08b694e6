"""Random draws: cells from rows of a table, and all variables together from a junction tree, many draws at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel
from merula.graphs.factors.propagation import NOTHING, Filled, Integers, Likelihoods, Propagation


def draw_states(
    plan: Propagation, fresh: Filled, n: int, rng: np.random.Generator, likelihoods: Likelihoods = NOTHING
) -> tuple[float, Integers]:
    """The log evidence, and a row of levels for each variable: `n` independent draws from their joint posterior.

    Messages are collected once; then the root is drawn, and every other clique given what it shares with its parent.
    """
    found, tree = plan._collect(fresh, likelihoods), plan.tree
    levels = np.zeros((len(tree.cards), n), np.int64)
    for k in reversed(range(len(tree.cliques))) if found.log > -np.inf else ():
        clique, shared, shape = list(tree.cliques[k]), tree.separators[k], tree.shape(k)
        start, size = plan.cliques[k, :2]
        table = found.tables[start : start + size].reshape(-1, tree.size(clique[shared:]))
        if found.logarithms:
            peaks = table.max(axis=1, keepdims=True)
            table = np.exp(table - np.where(peaks > -np.inf, peaks, 0.0))
        rows = row_numbers(levels[clique[:shared]], shape[:shared])
        levels[clique[shared:]] = np.unravel_index(draw_cells(table, rows, rng), shape[shared:])
    return found.log, levels


def row_numbers(levels: Integers, shape: Sequence[int]) -> Integers:
    """Which row of a table with these leading axes each draw has; `levels` has a row for each axis, a column for each draw."""
    if not len(shape):
        return np.zeros(levels.shape[1], np.int64)
    return np.ravel_multi_index(tuple(levels), tuple(shape))


def draw_cells(table: Array, rows: Integers, rng: np.random.Generator) -> Integers:
    """For each draw a cell of its row, with probability proportional to the row's entries; the table is used up.

    A cell of probability 0 is never drawn, unless its whole row is 0: then the first one is.

    Examples
    --------
    >>> table = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
    >>> draw_cells(table, np.array([0, 1, 1]), np.random.default_rng(0)).tolist()
    [1, 2, 2]
    """
    cells = np.empty(len(rows), np.int64)
    _draw(table, rows, rng.random(len(rows)), np.zeros(len(table), np.bool_), cells)
    return cells


@kernel
def _draw(table: Array, rows: Integers, uniforms: Array, summed: NDArray[np.bool_], cells: Integers) -> None:
    """Rows become running sums when they are first drawn from, then the cell is found by bisection."""
    width = table.shape[1]
    for i in range(len(rows)):
        row = table[rows[i]]
        if not summed[rows[i]]:
            for cell in range(1, width):
                row[cell] += row[cell - 1]
            summed[rows[i]] = True
        total = row[width - 1]
        wanted = uniforms[i] * total
        low, high = 0, width - 1
        while low < high:
            middle = (low + high) // 2
            if row[middle] > wanted or row[middle] >= total:  # the second: rounding may bring `wanted` up to the total
                high = middle
            else:
                low = middle + 1
        cells[i] = low
