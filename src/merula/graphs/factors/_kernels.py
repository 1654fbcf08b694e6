"""The compiled loops of message passing: walks through a table beside a smaller one, and whole propagations.

A view, as `junction_tree.Views` writes it, says how the smaller table moves while the larger is read from end to end. Tables are
plain probabilities: messages are brought to sum 1 and what was divided out is kept as a logarithm. Beyond the range of
floats (log evidence under −600) callers repeat the work with logarithms, see `_log_kernels`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel

Integers = NDArray[np.int64]
SMALL = 1e-30  # a table whose entries sum to less is scaled up: what lies e^600 below that sum is still a float
MOST_AXES = 512


@kernel
def _next_run(views: Integers, view: int, counters: Integers, index: int) -> int:
    """Where the smaller table stands at the next run of the larger one."""
    axis = views[view] - 2
    while axis >= 0:
        size, stride = views[view + 1 + 2 * axis], views[view + 2 + 2 * axis]
        counters[axis] += 1
        index += stride
        if counters[axis] < size:
            return index
        counters[axis] = 0
        index -= stride * size
        axis -= 1
    return index


@kernel
def multiply(
    table: Array, start: int, size: int, small: Array, index: int, views: Integers, view: int, counters: Integers
) -> float:
    """Multiply a table by a smaller one; the sum of the products."""
    last = views[view] - 1
    run, stride = views[view + 1 + 2 * last], views[view + 2 + 2 * last]
    total = 0.0
    for i in range(start, start + size, run):
        if stride == 0:
            factor = small[index]
            for t in range(i, i + run):
                table[t] *= factor
                total += table[t]
        elif stride == 1:
            for t in range(run):
                table[i + t] *= small[index + t]
                total += table[i + t]
        else:
            for t in range(run):
                table[i + t] *= small[index + t * stride]
                total += table[i + t]
        index = _next_run(views, view, counters, index)
    return total


@kernel
def add_up(
    table: Array, start: int, size: int, small: Array, index: int, views: Integers, view: int, counters: Integers
) -> None:
    """Add a table's entries to those of a smaller one."""
    last = views[view] - 1
    run, stride = views[view + 1 + 2 * last], views[view + 2 + 2 * last]
    for i in range(start, start + size, run):
        if stride == 0:
            total = 0.0
            for t in range(i, i + run):
                total += table[t]
            small[index] += total
        elif stride == 1:
            for t in range(run):
                small[index + t] += table[i + t]
        else:
            for t in range(run):
                small[index + t * stride] += table[i + t]
        index = _next_run(views, view, counters, index)


@kernel
def raise_to(
    table: Array, start: int, size: int, small: Array, index: int, views: Integers, view: int, counters: Integers
) -> None:
    """Raise the entries of a smaller table to the largest of a table's entries above each."""
    last = views[view] - 1
    run, stride = views[view + 1 + 2 * last], views[view + 2 + 2 * last]
    for i in range(start, start + size, run):
        for t in range(run):
            if table[i + t] > small[index + t * stride]:
                small[index + t * stride] = table[i + t]
        index = _next_run(views, view, counters, index)


@kernel
def collect(
    tables: Array, messages: Array, scales: Array, cliques: Integers, views: Integers, counters: Integers, highest: bool
) -> float:
    """Send messages towards the roots; the logarithm of the evidence (or, by `highest`, of its most probable cell).

    ``cliques`` has a row for each: start, size, parent, the message's start and size, its view from the clique, and its
    view from the parent.
    """
    logarithm = 0.0
    for k in range(len(cliques)):
        start, size, parent, message, width, mine, theirs = cliques[k]
        messages[message : message + width] = 0.0
        if highest:
            raise_to(tables, start, size, messages, message, views, mine, counters)
        else:
            add_up(tables, start, size, messages, message, views, mine, counters)
        total = messages[message : message + width].sum()
        scales[k] = total
        if not total > 0.0:
            return -np.inf
        logarithm += np.log(total)
        messages[message : message + width] /= total
        if parent >= 0:
            above, room = cliques[parent, 0], cliques[parent, 1]
            left = multiply(tables, above, room, messages, message, views, theirs, counters)
            if left < SMALL and left > 0.0:
                tables[above : above + room] /= left
                logarithm += np.log(left)
    return logarithm


@kernel
def distribute(
    tables: Array, messages: Array, scales: Array, cliques: Integers, views: Integers, counters: Integers, sums: Array
) -> None:
    """Send messages away from the roots: every table becomes its clique's posterior (Jensen, Lauritzen, Olesen 1990)."""
    for k in range(len(cliques) - 1, -1, -1):
        start, size, parent, message, width, mine, theirs = cliques[k]
        if parent < 0:
            for i in range(start, start + size):
                tables[i] /= scales[k]
            continue
        sums[:width] = 0.0
        add_up(tables, cliques[parent, 0], cliques[parent, 1], sums, 0, views, theirs, counters)
        for i in range(width):
            old = messages[message + i] * scales[k]
            sums[i] = sums[i] / old if old > 0.0 else 0.0
        multiply(tables, start, size, sums, 0, views, mine, counters)


@kernel
def enter(tables: Array, likelihood: Array, known: Integers, entries: Integers) -> None:
    """Multiply the likelihood of each known variable into its clique; a row of `entries`: start, size, inner, card, index, home."""
    for v in known:
        start, size, inner, card, index, _ = entries[v]
        level = 0
        for i in range(start, start + size, inner):
            factor = likelihood[index + level]
            if factor != 1.0:
                for t in range(i, i + inner):
                    tables[t] *= factor
            level = level + 1 if level + 1 < card else 0


@kernel
def read(tables: Array, entries: Integers, posteriors: Array) -> None:
    """The posterior of every single variable from calibrated tables."""
    posteriors[:] = 0.0
    for v in range(len(entries)):
        start, size, inner, card, index, _ = entries[v]
        level = 0
        for i in range(start, start + size, inner):
            total = 0.0
            for t in range(i, i + inner):
                total += tables[t]
            posteriors[index + level] += total
            level = level + 1 if level + 1 < card else 0
