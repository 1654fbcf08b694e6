"""In which order variables are summed out: several rules tried, the one with the smallest tables kept.

No single rule wins on every network, so the classical ones are tried, with ties broken in several ways, for as long as
trying is cheap beside the propagation it may save. Nothing is allocated before the cost is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel

FILL, WEIGHT, WEIGHTED_FILL = 0, 1, 2
MOST_TRIES = 90
HOPELESS = 1e4  # times too wide: no other way to break ties will save as much
SHARE = 0.25  # of the propagation's work may be spent on looking for a better order

Bits = NDArray[np.uint64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Elimination:
    """An elimination order, the clique each step makes (its variable first), and the entries of all their tables."""

    order: Integers
    cliques: list[list[int]]
    entries: float


def eliminate(cards: Sequence[int], scopes: Sequence[Sequence[int]], limit: float = np.inf) -> Elimination:
    """The cheapest elimination order found for tables over these scopes; far beyond `limit` the search is given up.

    Examples
    --------
    >>> chain = eliminate([2, 2, 2, 2], [(0, 1), (1, 2), (2, 3)])
    >>> sorted(len(clique) for clique in chain.cliques)
    [1, 2, 2, 2]
    """
    sizes = np.asarray(cards, dtype=np.float64)
    adjacent = _moral(len(cards), scopes)
    best: tuple[float, Any] = (np.inf, None)
    effort = 2.0 * len(cards) ** 2  # measured: about as long as propagating so many entries
    for attempt in range(MOST_TRIES):
        if attempt > WEIGHTED_FILL and (attempt * effort > SHARE * best[0] or best[0] > HOPELESS * limit):
            break
        order = np.empty(len(cards), np.int64)
        bound = np.nan if best[1] is None else best[0]
        cost = _order(adjacent.copy(), sizes, attempt % 3, attempt // 3, bound, order)
        if best[1] is None or cost < best[0]:
            best = (cost, order)
    cost, order = best
    return Elimination(order, _cliques(adjacent, order), cost)


def _moral(count: int, scopes: Sequence[Sequence[int]]) -> Bits:
    """Which variables share a table, as one row of bits for each."""
    adjacent = np.zeros((count, (count + 63) // 64), np.uint64)
    _connect(
        adjacent,
        np.array([v for scope in scopes for v in scope], np.int64),
        np.cumsum([len(scope) for scope in scopes], dtype=np.int64),
    )
    return adjacent


def _cliques(adjacent: Bits, order: Integers) -> list[list[int]]:
    members = np.empty(len(order) * len(order), np.int64)
    ends = _record(adjacent.copy(), order, members)
    flat = members[: ends[-1] if len(ends) else 0].tolist()
    return [flat[start:end] for start, end in pairwise([0, *ends.tolist()])]


@kernel
def _connect(adjacent: Bits, members: Integers, ends: Integers) -> None:
    start = 0
    for end in ends:
        for i in range(start, end):
            for j in range(start, end):
                if members[i] != members[j]:
                    adjacent[members[i], members[j] >> 6] |= np.uint64(1) << np.uint64(members[j] & 63)
        start = end


@kernel
def _count(word: np.uint64) -> np.int64:
    """How many bits of a word are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def _members(row: Bits, found: Integers) -> int:
    """The positions of the bits set in a row, written into `found`; how many they are."""
    count = 0
    for index in range(len(row)):
        word = row[index]
        while word:
            lowest = word & (~word + np.uint64(1))
            found[count] = 64 * index + _count(lowest - np.uint64(1))
            count += 1
            word ^= lowest
    return count


@kernel
def _score(adjacent: Bits, sizes: Array, rule: int, v: int, around: Integers) -> tuple[float, float]:
    """What eliminating v costs by the rule, and the entries of the table it makes."""
    degree = _members(adjacent[v], around)
    table = sizes[v]
    for i in range(degree):
        table *= sizes[around[i]]
    if rule == WEIGHT:
        return table, table
    fill = 0.0
    for i in range(degree):
        u = around[i]
        for index in range(adjacent.shape[1]):
            lacking = adjacent[v, index] & ~adjacent[u, index]
            if u >> 6 == index:
                lacking &= ~(np.uint64(1) << np.uint64(u & 63))
            if rule == FILL:
                fill += _count(lacking)
                continue
            others = 0.0
            while lacking:
                lowest = lacking & (~lacking + np.uint64(1))
                others += sizes[64 * index + _count(lowest - np.uint64(1))]
                lacking ^= lowest
            fill += sizes[u] * others
    return fill, table


@kernel
def _remove(adjacent: Bits, v: int, around: Integers, degree: int) -> None:
    """Connect the neighbours of v with each other and take v out."""
    for i in range(degree):
        u = around[i]
        for index in range(adjacent.shape[1]):
            adjacent[u, index] |= adjacent[v, index]
        adjacent[u, u >> 6] &= ~(np.uint64(1) << np.uint64(u & 63))
        adjacent[u, v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))


@kernel
def _order(adjacent: Bits, sizes: Array, rule: int, seed: int, bound: float, order: Integers) -> float:
    """Eliminate greedily by the rule; ties by table size, then by `seed` (0: by position). The entries of all tables.

    An order that turns out no cheaper than `bound` is left unfinished.
    """
    count = len(adjacent)
    scores, tables, stale = np.empty(count), np.empty(count), np.ones(count, np.bool_)
    alive, around, beyond = np.ones(count, np.bool_), np.empty(count, np.int64), np.empty(count, np.int64)
    state, entries = np.uint64(seed), 0.0
    for step in range(count):
        # A variable whose neighbours all share tables may always come next: then no other score need be renewed.
        simplicial = False
        for v in range(count):
            simplicial |= alive[v] and not stale[v] and rule != WEIGHT and scores[v] == 0.0
        best = -1
        for v in range(count):
            if not alive[v] or (simplicial and stale[v]):
                continue
            if stale[v]:
                scores[v], tables[v] = _score(adjacent, sizes, rule, v, around)
                stale[v] = False
            if best < 0 or scores[v] < scores[best] or (scores[v] == scores[best] and tables[v] < tables[best]):
                best = v
            elif seed and scores[v] == scores[best] and tables[v] == tables[best]:
                state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
                if state >> np.uint64(63):
                    best = v
        order[step] = best
        alive[best] = False
        entries += tables[best]
        if entries >= bound:
            return float(entries)
        degree = _members(adjacent[best], around)
        filled = rule == WEIGHT or scores[best] > 0
        _remove(adjacent, best, around, degree)
        for i in range(degree):
            if not filled and not stale[around[i]] and scores[around[i]] == 0.0:
                tables[around[i]] /= sizes[best]  # what lacked nothing lacks nothing
                continue
            stale[around[i]] = True
            if filled and rule != WEIGHT:  # a new edge changes what its ends' neighbours lack
                for j in range(_members(adjacent[around[i]], beyond)):
                    stale[beyond[j]] = True
    return float(entries)


@kernel
def _record(adjacent: Bits, order: Integers, members: Integers) -> Integers:
    """The cliques an order makes, one behind the other in `members`; where each ends."""
    ends, around, end = np.empty(len(order), np.int64), np.empty(len(order), np.int64), 0
    for step in range(len(order)):
        degree = _members(adjacent[order[step]], around)
        members[end] = order[step]
        members[end + 1 : end + 1 + degree] = around[:degree]
        end += degree + 1
        ends[step] = end
        _remove(adjacent, order[step], around, degree)
    return ends
