"""Message passing with logarithms: for evidence so improbable that plain probabilities would vanish.

The same walks as in `_kernels`, ten times slower; only rows whose log evidence lies beyond the range of floats come here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from merula.factors._kernels import _next_run, raise_to
from merula.logspace import Array, kernel

Integers = NDArray[np.int64]


@kernel
def add(
    table: Array, start: int, size: int, small: Array, place: int, views: Integers, view: int, counters: Integers
) -> None:
    """Add a smaller table to a larger one."""
    last = views[view] - 1
    run, stride = views[view + 1 + 2 * last], views[view + 2 + 2 * last]
    for i in range(start, start + size, run):
        for t in range(run):
            table[i + t] += small[place + t * stride]
        place = _next_run(views, view, counters, place)


@kernel
def _add_exponentials(
    table: Array,
    start: int,
    size: int,
    highest: Array,
    small: Array,
    place: int,
    views: Integers,
    view: int,
    counters: Integers,
) -> None:
    """Add exp(entry − highest) to the smaller table."""
    last = views[view] - 1
    run, stride = views[view + 1 + 2 * last], views[view + 2 + 2 * last]
    for i in range(start, start + size, run):
        for t in range(run):
            top = highest[place + t * stride]
            if top > -np.inf:
                small[place + t * stride] += np.exp(table[i + t] - top)
        place = _next_run(views, view, counters, place)


@kernel
def _log_sums(
    table: Array, start: int, size: int, small: Array, width: int, views: Integers, view: int, counters: Integers
) -> None:
    """Write log Σ exp of a table's entries into the first `width` entries of a smaller one."""
    highest = np.full(width, -np.inf)
    raise_to(table, start, size, highest, 0, views, view, counters)
    small[:width] = 0.0
    _add_exponentials(table, start, size, highest, small, 0, views, view, counters)
    for i in range(width):
        small[i] = highest[i] + np.log(small[i]) if highest[i] > -np.inf else -np.inf


@kernel
def collect(
    tables: Array, messages: Array, cliques: Integers, views: Integers, counters: Integers, highest: bool
) -> float:
    """Send messages towards the roots; the log evidence (or, by `highest`, the logarithm of the most probable cell)."""
    logarithm = 0.0
    room = np.empty(cliques[:, 4].max())
    for k in range(len(cliques)):
        start, size, parent = cliques[k, 0], cliques[k, 1], cliques[k, 2]
        message, width, mine, theirs = cliques[k, 3], cliques[k, 4], cliques[k, 5], cliques[k, 6]
        if highest:
            room[:width] = -np.inf
            raise_to(tables, start, size, room, 0, views, mine, counters)
        else:
            _log_sums(tables, start, size, room, width, views, mine, counters)
        messages[message : message + width] = room[:width]
        if parent >= 0:
            add(tables, cliques[parent, 0], cliques[parent, 1], room, 0, views, theirs, counters)
        else:
            logarithm += room[0]
    return logarithm


@kernel
def distribute(tables: Array, messages: Array, cliques: Integers, views: Integers, counters: Integers) -> None:
    """Send messages away from the roots and turn every table into its clique's posterior, as plain probabilities."""
    room = np.empty(cliques[:, 4].max())
    for k in range(len(cliques) - 1, -1, -1):
        start, size, parent = cliques[k, 0], cliques[k, 1], cliques[k, 2]
        message, width, mine, theirs = cliques[k, 3], cliques[k, 4], cliques[k, 5], cliques[k, 6]
        if parent >= 0:
            _log_sums(tables, cliques[parent, 0], cliques[parent, 1], room, width, views, theirs, counters)
            for i in range(width):
                old = messages[message + i]
                room[i] = room[i] - old if old > -np.inf else -np.inf
            add(tables, start, size, room, 0, views, mine, counters)
        else:
            for i in range(start, start + size):
                tables[i] -= messages[message]
    for i in range(len(tables)):
        tables[i] = np.exp(tables[i])
