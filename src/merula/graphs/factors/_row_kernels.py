"""Message passing for one row after another: tables hold only what the row leaves open.

A row that knows most of its cells leaves a handful of entries of every clique open. These are gathered from the filled tables
of the tree, so the cost of a row depends on what is unknown in it, not on the size of the network. For each row, `rows`

1. copies the open entries of every clique into one small table, cliques one behind the other (`_gather`): a known
   variable fixes where the walk through the clique begins, an unknown one is an axis of the walk;
2. multiplies in the factors that this row alone has, such as the densities of its numbers (`_weigh`);
3. sends messages towards the roots (`_collect`), which gives the log evidence. A clique's separator comes first among its
   variables, so that a message is the sums of contiguous runs of the small table;
4. reads the target's posterior from the last clique, the root, if there is a target (`_read_target`);
5. sends messages back (`_distribute`) and adds the clique posteriors to the expected counts (`_scatter`), if these are wanted.

A walk goes through two tables at once: one is read from end to end, and the index into the other moves by a stride along
each axis. `axes` holds the sizes, strides and counters of such a walk, innermost axis first; the innermost axis is a plain
loop, and `_step` advances the others like the wheels of an odometer.

Layout arrays, made by `propagation`:

``cliques``  per clique: start, size, parent, start of its message, width of it, two views
``members``  per clique: where its variables begin in ``variables``, how many they are, how many its parent shares
``shared``   for each clique, behind ``members[:, 3]``: for every variable of its *parent*, 1 if they share it
``entries``  per variable: start and size of its home clique, entries between its levels, levels, index, home
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import inlined, kernel
from merula.graphs.factors._kernels import SMALL

Integers = NDArray[np.int64]


@inlined
def _step(axes: Integers, count: int, index: int) -> int:
    """Where the other table stands at the next run; axes are innermost first: sizes, strides, counters."""
    axis = 1
    while axis < count:
        axes[2, axis] += 1
        index += axes[1, axis]
        if axes[2, axis] < axes[0, axis]:
            return index
        axes[2, axis] = 0
        index -= axes[1, axis] * axes[0, axis]
        axis += 1
    return index


@inlined
def _left_open(
    row: Integers, k: int, cliques: Integers, members: Integers, variables: Integers, entries: Integers, axes: Integers
) -> tuple[int, int, int, int]:
    """The walk through what the row leaves open of clique k: its number of axes, where it begins, its number of entries.

    And how many entries it leaves open of the clique's message, whose variables come first.
    """
    count, index, stride, size, rest = 0, cliques[k, 0], 1, 1, 1
    first = members[k, 0]
    for j in range(members[k, 1] - 1, -1, -1):
        v = variables[first + j]
        card = entries[v, 3]
        if row[v] < 0:
            axes[0, count], axes[1, count] = card, stride
            count += 1
            size *= card
            if j >= members[k, 2]:
                rest *= card
        else:
            index += row[v] * stride
        stride *= card
    if count == 0:
        axes[0, 0], axes[1, 0] = 1, 0
    return max(count, 1), index, size, size // rest


@inlined
def _gather(
    row: Integers,
    k: int,
    potentials: Array,
    cliques: Integers,
    members: Integers,
    variables: Integers,
    entries: Integers,
    table: Array,
    start: int,
    widths: Integers,
    axes: Integers,
) -> int:
    """Copy the entries of clique k that agree with the row behind `start`; how many they are."""
    count, index, size, widths[k] = _left_open(row, k, cliques, members, variables, entries, axes)
    if size == 1:  # most cliques of most rows
        table[start] = potentials[index]
        return size
    run, step = axes[0, 0], axes[1, 0]
    for i in range(start, start + size, run):
        for t in range(run):
            table[i + t] = potentials[index + t * step]
        index = _step(axes, count, index)
    return size


@kernel
def _scatter(
    row: Integers,
    k: int,
    cliques: Integers,
    members: Integers,
    variables: Integers,
    entries: Integers,
    table: Array,
    start: int,
    axes: Integers,
    weight: float,
    expected: Array,
) -> None:
    """Add weight × what the row left open of clique k to the full table."""
    count, index, size, _ = _left_open(row, k, cliques, members, variables, entries, axes)
    run, step = axes[0, 0], axes[1, 0]
    for i in range(start, start + size, run):
        for t in range(run):
            expected[index + t * step] += weight * table[i + t]
        index = _step(axes, count, index)


@inlined
def _beside(
    row: Integers,
    k: int,
    cliques: Integers,
    members: Integers,
    variables: Integers,
    shared: Integers,
    entries: Integers,
    axes: Integers,
) -> int:
    """How the message of clique k moves while its parent's open table is read; how many axes there are."""
    above = cliques[k, 2]
    first, count, stride = members[above, 0], 0, 1
    for j in range(members[above, 1] - 1, -1, -1):
        v = variables[first + j]
        if row[v] < 0:
            both = shared[members[k, 3] + j]
            axes[0, count], axes[1, count] = entries[v, 3], stride * both
            count += 1
            if both:
                stride *= entries[v, 3]
    return count


@inlined
def _multiply(table: Array, start: int, size: int, message: Array, index: int, axes: Integers, count: int) -> float:
    run, step, total = axes[0, 0], axes[1, 0], 0.0
    for i in range(start, start + size, run):
        for t in range(run):
            table[i + t] *= message[index + t * step]
            total += table[i + t]
        index = _step(axes, count, index)
    return total


@kernel
def _add_up(table: Array, start: int, size: int, message: Array, index: int, axes: Integers, count: int) -> None:
    run, step = axes[0, 0], axes[1, 0]
    for i in range(start, start + size, run):
        for t in range(run):
            message[index + t * step] += table[i + t]
        index = _step(axes, count, index)


@kernel
def _weigh(
    row: Integers,
    layout: Integers,
    factor: Array,
    members: Integers,
    variables: Integers,
    entries: Integers,
    table: Array,
    starts: Integers,
    axes: Integers,
) -> None:
    """Multiply what the row leaves open of one of its own factors into its clique."""
    k, index, count = layout[0], layout[1], 0
    first = members[k, 0]
    for j in range(members[k, 1] - 1, -1, -1):
        v = variables[first + j]
        if row[v] < 0:
            axes[0, count], axes[1, count] = entries[v, 3], layout[2 + j]
            count += 1
        else:
            index += row[v] * layout[2 + j]
    if count == 0:
        table[starts[k]] *= factor[index]
    else:
        _multiply(table, starts[k], starts[k + 1] - starts[k], factor, index, axes, count)


@inlined
def _collect(
    row: Integers,
    cliques: Integers,
    members: Integers,
    variables: Integers,
    shared: Integers,
    entries: Integers,
    table: Array,
    starts: Integers,
    widths: Integers,
    messages: Array,
    scales: Array,
    axes: Integers,
) -> float:
    """Send messages towards the roots; the log evidence."""
    logarithm, product = 0.0, 1.0
    for k in range(len(cliques)):
        start, message, above, width = starts[k], cliques[k, 3], cliques[k, 2], widths[k]
        rest = (starts[k + 1] - start) // width
        total = 0.0
        for i in range(width):
            part = 0.0
            for t in range(start + i * rest, start + (i + 1) * rest):
                part += table[t]
            messages[message + i] = part
            total += part
        scales[k] = total
        if not total > 0.0:
            return -np.inf
        if product * total < SMALL:  # one logarithm for many factors
            logarithm, product = logarithm + np.log(product), 1.0
        product *= total
        if above < 0 or width == 1:  # a message of one entry says nothing but how probable it is
            messages[message] = 1.0 if width == 1 else messages[message]
            continue
        for i in range(width):
            messages[message + i] /= total
        count = _beside(row, k, cliques, members, variables, shared, entries, axes)
        size = starts[above + 1] - starts[above]
        left = _multiply(table, starts[above], size, messages, message, axes, count)
        if left < SMALL and left > 0.0:
            for i in range(starts[above], starts[above] + size):
                table[i] /= left
            logarithm += np.log(left)
    return logarithm + float(np.log(product))


@kernel
def _distribute(
    row: Integers,
    cliques: Integers,
    members: Integers,
    variables: Integers,
    shared: Integers,
    entries: Integers,
    table: Array,
    starts: Integers,
    widths: Integers,
    messages: Array,
    scales: Array,
    axes: Integers,
    sums: Array,
) -> None:
    """Send messages away from the roots: the open part of every clique becomes its posterior."""
    for k in range(len(cliques) - 1, -1, -1):
        start, message, above, width = starts[k], cliques[k, 3], cliques[k, 2], widths[k]
        if width == 1:
            for i in range(start, starts[k + 1]):
                table[i] /= scales[k]
            continue
        for i in range(width):
            sums[i] = 0.0
        count = _beside(row, k, cliques, members, variables, shared, entries, axes)
        _add_up(table, starts[above], starts[above + 1] - starts[above], sums, 0, axes, count)
        rest = (starts[k + 1] - start) // width
        for i in range(width):
            old = messages[message + i] * scales[k]
            factor = sums[i] / old if old > 0.0 else 0.0
            for t in range(start + i * rest, start + (i + 1) * rest):
                table[t] *= factor


@kernel
def rows(
    codes: NDArray[np.int32],
    first: int,
    stop: int,
    weights: Array,
    target: int,
    layout: Integers,
    factors: Array,
    potentials: Array,
    cliques: Integers,
    members: Integers,
    variables: Integers,
    shared: Integers,
    entries: Integers,
    room: int,
    low: float,
    answers: Array,
    expected: Array,
    logarithms: Array,
) -> None:
    """The log evidence of rows `first` to `stop`, whose codes (−1: unknown) stand in columns; more if there is room for it.

    With a `target` (else −1) its unnormalised posterior goes into `answers`, whatever the row says of it; the target must be
    in the last clique. With `expected` tables (else empty) the posterior of every clique is added times the row's weight,
    unless the log evidence is under `low`: such rows are counted with logarithms elsewhere.
    Each row of `layout` is a factor of the row's own (`Propagation._factor_layout`); a row of `factors` has their values.
    """
    table, messages, scales = np.empty(len(potentials)), np.empty(room), np.empty(len(cliques))
    starts, widths = np.zeros(len(cliques) + 1, np.int64), np.ones(len(cliques), np.int64)
    axes, sums = np.zeros((3, 64), np.int64), np.empty(room)
    row, last = np.empty(len(codes), np.int64), len(cliques) - 1
    for number in range(first, stop):
        row[:] = codes[:, number]
        if target >= 0:
            row[target] = -1
        for k in range(len(cliques)):
            starts[k + 1] = starts[k] + _gather(
                row, k, potentials, cliques, members, variables, entries, table, starts[k], widths, axes
            )
        for i in range(len(layout)):
            _weigh(row, layout[i], factors[number - first], members, variables, entries, table, starts, axes)
        logarithms[number] = _collect(
            row, cliques, members, variables, shared, entries, table, starts, widths, messages, scales, axes
        )
        if target >= 0:
            _read_target(row, target, last, members, variables, entries, table, starts, answers[number])
        if len(expected) and logarithms[number] >= low:
            _distribute(
                row, cliques, members, variables, shared, entries, table, starts, widths, messages, scales, axes, sums
            )
            for k in range(len(cliques)):
                _scatter(
                    row, k, cliques, members, variables, entries, table, starts[k], axes, weights[number], expected
                )


@kernel
def _read_target(
    row: Integers,
    target: int,
    root: int,
    members: Integers,
    variables: Integers,
    entries: Integers,
    table: Array,
    starts: Integers,
    answer: Array,
) -> None:
    """The sums of the root's open table over everything but the target."""
    inner, past = 1, False
    for j in range(members[root, 0], members[root, 0] + members[root, 1]):
        if variables[j] == target:
            past = True
        elif past and row[variables[j]] < 0:
            inner *= entries[variables[j], 3]
    answer[:] = 0.0
    level = 0
    for i in range(starts[root], starts[root + 1], inner):
        for t in range(i, i + inner):
            answer[level] += table[t]
        level = level + 1 if level + 1 < entries[target, 3] else 0
