"""The compiled loop that fills the open cells of rows at random: each row by one draw from its posterior.

The work is that of `_row_kernels` up to the root: what a row leaves open of every clique is gathered, and messages are collected. Then the
open part of the root is drawn from, and every other clique given what it shares with its parent, which is drawn already.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import inlined, kernel
from merula.graphs.factors._row_kernels import Integers, _collect, _gather


@kernel
def draw_rows(
    codes: NDArray[np.int32],
    uniforms: Array,
    potentials: Array,
    cliques: Integers,
    members: Integers,
    variables: Integers,
    shared: Integers,
    entries: Integers,
    room: int,
    drawn: NDArray[np.int32],
    logarithms: Array,
) -> None:
    """Fill the rows of `drawn`, which begin as what is known (−1: open); `codes` has the same, a row for each variable.

    A row of probability 0 is left as it is, with the logarithm −inf. Of equal rows one behind the other messages are collected once.
    """
    table, messages, scales = np.empty(len(potentials)), np.empty(room), np.empty(len(cliques))
    starts, widths = np.zeros(len(cliques) + 1, np.int64), np.ones(len(cliques), np.int64)
    axes, row = np.zeros((3, 64), np.int64), np.empty(len(codes), np.int64)
    for number in range(len(drawn)):
        if number > 0 and np.array_equal(row, codes[:, number]):
            logarithms[number] = logarithms[number - 1]
        else:
            row[:] = codes[:, number]
            for k in range(len(cliques)):
                starts[k + 1] = starts[k] + _gather(
                    row, k, potentials, cliques, members, variables, entries, table, starts[k], widths, axes
                )
            logarithms[number] = _collect(
                row, cliques, members, variables, shared, entries, table, starts, widths, messages, scales, axes
            )
        if logarithms[number] > -np.inf:
            for k in range(len(cliques) - 1, -1, -1):
                if starts[k + 1] - starts[k] > widths[k]:
                    _draw_clique(
                        row, k, members, variables, entries, table, starts, widths, uniforms[number, k], drawn[number]
                    )


@inlined
def _draw_clique(
    row: Integers,
    k: int,
    members: Integers,
    variables: Integers,
    entries: Integers,
    table: Array,
    starts: Integers,
    widths: Integers,
    uniform: float,
    drawn: NDArray[np.int32],
) -> None:
    """Draw what is open of clique k and not shared with its parent: one entry of the run that the shared levels name."""
    first, last, separator = members[k, 0], members[k, 0] + members[k, 1], members[k, 0] + members[k, 2]
    run, rest = 0, (starts[k + 1] - starts[k]) // widths[k]
    for j in range(first, separator):
        if row[variables[j]] < 0:
            run = run * entries[variables[j], 3] + drawn[variables[j]]
    start, total = starts[k] + run * rest, 0.0
    for t in range(start, start + rest):
        total += table[t]
    cell, below = 0, table[start]
    while cell < rest - 1 and (below <= uniform * total or table[start + cell] == 0.0):
        cell += 1
        below += table[start + cell]
    while cell > 0 and table[start + cell] == 0.0:  # rounding led past the last entry that can be
        cell -= 1
    for j in range(last - 1, separator - 1, -1):
        v = variables[j]
        if row[v] < 0:
            drawn[v] = cell % entries[v, 3]
            cell //= entries[v, 3]
