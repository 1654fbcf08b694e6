"""Message passing with logarithms: for evidence so improbable that plain probabilities would vanish.

The same walks as in `_kernels`, ten times slower; only rows whose log evidence lies beyond the range of floats come here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel
from merula.graphs.factors._kernels import MOST_AXES, _next_run, raise_to

Integers = NDArray[np.int64]


@kernel
def add(
    table: Array, start: int, size: int, small: Array, index: int, views: Integers, view: int, counters: Integers
) -> None:
    """Add a smaller table to a larger one."""
    last = views[view] - 1
    run, stride = views[view + 1 + 2 * last], views[view + 2 + 2 * last]
    for i in range(start, start + size, run):
        for t in range(run):
            table[i + t] += small[index + t * stride]
        index = _next_run(views, view, counters, index)


@kernel
def _add_exponentials(
    table: Array,
    start: int,
    size: int,
    highest: Array,
    small: Array,
    index: int,
    views: Integers,
    view: int,
    counters: Integers,
) -> None:
    """Add exp(entry − highest) to the smaller table."""
    last = views[view] - 1
    run, stride = views[view + 1 + 2 * last], views[view + 2 + 2 * last]
    for i in range(start, start + size, run):
        for t in range(run):
            top = highest[index + t * stride]
            if top > -np.inf:
                small[index + t * stride] += np.exp(table[i + t] - top)
        index = _next_run(views, view, counters, index)


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
def enter(tables: Array, logs: Array, known: Integers, entries: Integers) -> None:
    """Add the log likelihood of each known variable to its clique, as `_kernels.enter` multiplies."""
    for v in known:
        start, size, inner, card, index, _ = entries[v]
        level = 0
        for i in range(start, start + size, inner):
            for t in range(i, i + inner):
                tables[t] += logs[index + level]
            level = level + 1 if level + 1 < card else 0


@kernel
def collect(
    tables: Array, messages: Array, cliques: Integers, views: Integers, counters: Integers, highest: bool
) -> float:
    """Send messages towards the roots; the log evidence (or, by `highest`, the logarithm of the most probable cell)."""
    logarithm = 0.0
    room = np.empty(cliques[:, 4].max())
    for k in range(len(cliques)):
        start, size, parent, message, width, mine, theirs = cliques[k]
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
        start, size, parent, message, width, mine, theirs = cliques[k]
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


@kernel
def rows(
    codes: NDArray[np.int32],
    chosen: Integers,
    target: int,
    logs: Array,
    cliques: Integers,
    views: Integers,
    entries: Integers,
    room: int,
    answers: Array,
    logarithms: Array,
) -> None:
    """The log evidence of the chosen rows, as `_row_kernels.rows`; with a `target` (else −1) its unnormalised posterior."""
    tables, messages, counters = np.empty_like(logs), np.empty(room), np.zeros(MOST_AXES, np.int64)
    for number in chosen:
        tables[:] = logs
        for v in range(len(codes)):
            code = codes[v, number]
            if code >= 0 and v != target:
                start, size, inner, card = entries[v, 0], entries[v, 1], entries[v, 2], entries[v, 3]
                for i in range(start, start + size, inner * card):
                    tables[i : i + code * inner] = -np.inf
                    tables[i + (code + 1) * inner : i + card * inner] = -np.inf
        logarithms[number] = collect(tables, messages, cliques, views, counters, False)
        if target >= 0:
            _read_target(tables, entries[target], logarithms[number], answers[number])


@kernel
def _read_target(tables: Array, entry: Integers, logarithm: float, answer: Array) -> None:
    """The sums of the target's clique over everything else, its largest entry taken for 1."""
    start, size, inner, card = entry[0], entry[1], entry[2], entry[3]
    answer[:] = 0.0
    if not logarithm > -np.inf:
        return
    highest, level = -np.inf, 0
    for i in range(start, start + size):
        highest = max(highest, tables[i])
    for i in range(start, start + size, inner):
        for t in range(i, i + inner):
            answer[level] += np.exp(tables[t] - highest)
        level = level + 1 if level + 1 < card else 0
