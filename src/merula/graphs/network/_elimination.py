"""The compiled loops of linear systems: unknown numbers eliminated by reflections, for every configuration or row.

A system has a row for each equation, a column for each number, and the constants in the last column:
Σ_j system[i, j] · x_j + system[i, −1] = ε_i, all ε_i independent standard normals.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel

Integers = NDArray[np.int64]
LARGEST = 1e150  # of a coefficient: its square is still a number


@kernel
def _reflect(system: Array, top: int, column: int, sums: Array) -> float:
    """Make a column zero below row `top` by a Householder reflection of the rows from there on; the entry it keeps.

    The row with the largest entry comes on top first: equations of very different precision then keep their own digits
    (Cox & Higham 1998, "Stability of Householder QR factorization for weighted least squares problems").
    """
    rows, width = system.shape
    pivot, below = top, 0
    for i in range(top, rows):
        if abs(system[i, column]) > abs(system[pivot, column]):
            pivot = i
        if system[i, column] != 0.0:
            below += 1
    if pivot != top:
        for j in range(width):
            system[top, j], system[pivot, j] = system[pivot, j], system[top, j]
    head: float = system[top, column]
    if below <= 1:
        return head
    total = 0.0
    for i in range(top, rows):
        total += (system[i, column] / head) ** 2
    length: float = -head * np.sqrt(total)
    share, scale = (length - head) / length, 1.0 / (head - length)
    for j in range(width):
        sums[j] = system[top, j]
    for i in range(top + 1, rows):
        if system[i, column] != 0.0:
            weight = system[i, column] * scale
            for j in range(width):
                sums[j] += weight * system[i, j]
    for j in range(width):
        sums[j] *= share
    for i in range(top + 1, rows):
        if system[i, column] != 0.0:
            weight = system[i, column] * scale
            for j in range(width):
                system[i, j] -= weight * sums[j]
            system[i, column] = 0.0
    for j in range(width):
        system[top, j] -= sums[j]
    system[top, column] = length
    return length


@kernel
def eliminate(systems: Array, columns: Integers, logarithms: Array) -> None:
    """Bring each system to the form where row k solves for columns[k] and no later row mentions it, in place.

    log |entry on the diagonal| is taken off `logarithms`: what is left of each density once those numbers are integrated out.
    """
    sums = np.empty(systems.shape[2])
    for s in range(len(systems)):
        for k in range(len(columns)):
            logarithms[s] -= np.log(abs(_reflect(systems[s], k, columns[k], sums)))


@kernel
def invert(triangles: Array, inverses: Array) -> None:
    """Write the inverses of upper triangular matrices, row by row from the last."""
    size = triangles.shape[1]
    inverses[:] = 0.0
    for s in range(len(triangles)):
        for i in range(size - 1, -1, -1):
            head = triangles[s, i, i]
            for k in range(i + 1, size):
                share = triangles[s, i, k] / head
                if share != 0.0:
                    for j in range(k, size):
                        inverses[s, i, j] -= share * inverses[s, k, j]
            inverses[s, i, i] = 1.0 / head


@kernel
def _differing(codes: NDArray[np.int32], row: int, levels: Integers, s: int) -> int:
    """How many switches have another level in the row than in the configuration."""
    count = 0
    for k in range(len(codes)):
        if codes[k, row] >= 0 and codes[k, row] != levels[s, k]:
            count += 1
    return count


@kernel
def _complete(systems: Array, s: int, values: Array, row: int) -> float:
    """−½ Σ ε² of a row that knows every number."""
    numbers, logarithm = len(values), 0.0
    for i in range(systems.shape[1]):
        error = systems[s, i, numbers]
        for j in range(numbers):
            error += systems[s, i, j] * values[j, row]
        error = min(max(error, -LARGEST), LARGEST)
        logarithm -= 0.5 * error * error
    return logarithm


@kernel
def _incomplete(
    systems: Array, s: int, values: Array, known: NDArray[np.bool_], row: int, work: Array, sums: Array, log_2pi: float
) -> float:
    """log p of the known numbers of a row, up to the system's own constant: the unknown ones are integrated out."""
    count, numbers, unknown = systems.shape[1], len(values), 0
    for i in range(count):
        work[i, numbers] = systems[s, i, numbers]
    for j in range(numbers):
        for i in range(count):
            if known[j, row]:
                work[i, numbers] += systems[s, i, j] * values[j, row]
            else:
                work[i, unknown] = systems[s, i, j]
        unknown += not known[j, row]
    for i in range(count):
        work[i, unknown] = min(max(work[i, numbers], -LARGEST), LARGEST)
    logarithm, part = 0.5 * log_2pi * unknown, work[:, : unknown + 1]
    for k in range(unknown):
        logarithm -= np.log(abs(_reflect(part, k, k, sums)))
    for i in range(unknown, count):
        logarithm -= 0.5 * work[i, unknown] * work[i, unknown]
    return logarithm


@kernel
def add_log_densities(
    systems: Array,
    constants: Array,
    values: Array,
    known: NDArray[np.bool_],
    codes: NDArray[np.int32],
    levels: Integers,
    log_2pi: float,
    logarithms: Array,
) -> None:
    """Add log p(known numbers given the configuration) for each row and configuration; −inf where the row's levels differ.

    ``values`` and ``known`` have a row for each number, ``codes`` one for each switch (−1: unknown), ``levels`` one for each
    configuration: the levels of the switches in it.
    """
    work, sums = np.empty(systems.shape[1:]), np.empty(systems.shape[2])
    for row in range(values.shape[1]):
        unknown = 0
        for j in range(len(values)):
            unknown += not known[j, row]
        for s in range(len(systems)):
            if _differing(codes, row, levels, s):
                logarithms[row, s] = -np.inf
            elif unknown:
                density = _incomplete(systems, s, values, known, row, work, sums, log_2pi)
                logarithms[row, s] += constants[s] + density
            else:
                logarithms[row, s] += constants[s] + _complete(systems, s, values, row)
