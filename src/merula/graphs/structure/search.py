"""Greedy search over graphs by adding, deleting and reversing arcs; with a memory of where it has been, tabu search."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.core.compiled import kernel
from merula.graphs.structure.constraints import Constraints
from merula.graphs.structure.equivalence import Marks
from merula.graphs.structure.equivalence_search import climb_classes
from merula.graphs.structure.score import Scorer
from merula.show.progress import progress_bar

ADD, DELETE, REVERSE = range(3)
DIGITS = 12  # scores are compared rounded to this many
PLATEAU = 30  # graphs of equal score that a climb crosses in a row
STEPS_PER_PAIR = 10  # a bound no climb comes near: with missing cells gains need not add up, so one could go in circles
Move = tuple[int, int, int]  # parent, child, and what becomes of the arc between them


@dataclass(eq=False)
class Climb:
    """A graph on its way up: its arcs, which node reaches which, and what toggling each arc would gain.

    ``gains[parent, child]`` is the change of the child's score when the arc is added (if it is not there) or deleted (if
    it is); an arc reversed gains the sum of the two. Only the columns of children whose parents changed are counted anew.
    """

    scorer: Scorer
    rules: Constraints
    arcs: Marks
    reaches: Marks
    gains: Array
    decimals: int

    def score(self) -> float:
        """The score of the graph as it stands."""
        return sum(self.scorer.local(child, np.flatnonzero(parents)) for child, parents in enumerate(self.arcs.T))


def start_climb(scorer: Scorer, rules: Constraints, arcs: Marks) -> Climb:
    """The search where it begins, every gain counted."""
    decimals = score_decimals(scorer)
    climb = Climb(scorer, rules, arcs.copy(), _closure(arcs), np.full(arcs.shape, -np.inf), decimals)
    for child in range(len(rules.names)):
        _count_gains(climb, child)
    return climb


def score_decimals(scorer: Scorer) -> int:
    """To how many decimals scores are compared: those that `DIGITS` leave of the score without arcs."""
    scale = abs(sum(scorer.local(child, ()) for child in range(len(scorer.rows.names))))
    return DIGITS - 1 - floor(log10(scale)) if scale > 0 else DIGITS


def _count_gains(climb: Climb, child: int) -> None:
    """The gains of all arcs into one child."""
    parents = np.flatnonzero(climb.arcs[:, child]).tolist()
    gains = climb.gains[:, child]
    gains[:] = -np.inf
    if len(parents) < climb.rules.max_parents:
        others = np.flatnonzero(climb.rules.useful[:, child] & ~climb.arcs[:, child])
        gains[others] = climb.scorer.gains(child, parents, others.tolist())
    for parent in parents:
        gains[parent] = climb.scorer.loss(child, parents, parent)


@kernel
def _closure(arcs: Marks) -> Marks:
    """Which node reaches which along arcs (Warshall, 1962)."""
    reaches = arcs.copy()
    for middle in range(len(arcs)):
        for start in range(len(arcs)):
            if reaches[start, middle]:
                for stop in range(len(arcs)):
                    reaches[start, stop] |= reaches[middle, stop]
    return reaches


def possible_gains(climb: Climb) -> Array:
    """The rounded gain of every move (parent, child, kind), −inf where it would close a cycle or break a constraint."""
    arcs, rules = climb.arcs, climb.rules
    room = arcs.sum(axis=0) < rules.max_parents
    moves = np.full((*arcs.shape, 3), -np.inf)
    may_add = rules.useful & ~arcs & ~climb.reaches.T & room[None, :]
    moves[..., ADD] = np.where(may_add, climb.gains, -np.inf)
    loose = arcs & ~rules.required
    moves[..., DELETE] = np.where(loose, climb.gains, -np.inf)
    parents, children = np.nonzero(loose & rules.useful.T & room[:, None])
    other_way = (climb.reaches[parents] & arcs.T[children]).any(axis=1)  # from the parent to the child, so no reversing
    parents, children = parents[~other_way], children[~other_way]
    moves[parents, children, REVERSE] = climb.gains[parents, children] + climb.gains[children, parents]
    rounded: Array = moves.round(climb.decimals)
    return rounded


def make_move(climb: Climb, move: Move) -> None:
    """Change the graph, and count anew what the children concerned would gain."""
    parent, child, kind = move
    arcs = climb.arcs
    arcs[parent, child] = kind == ADD
    arcs[child, parent] = kind == REVERSE
    if kind == ADD:
        above = climb.reaches[:, parent].copy()
        above[parent] = True
        below = climb.reaches[child].copy()
        below[child] = True
        climb.reaches |= above[:, None] & below[None, :]
    else:
        climb.reaches = _closure(arcs)
    _count_gains(climb, child)
    if kind == REVERSE:
        _count_gains(climb, parent)


def best_move(gains: Array) -> tuple[Move, float]:
    """The move that gains most; of several, the first by the names of parent and child, then add, delete, reverse."""
    where = int(np.argmax(gains))
    parent, child, kind = (int(index) for index in np.unravel_index(where, gains.shape))
    return (parent, child, kind), float(gains[parent, child, kind])


def hill_climb(scorer: Scorer, rules: Constraints, arcs: Marks, progress: bool | None = None) -> Marks:
    """The graph from which no added, deleted or reversed arc leads to a better score, nor does one from its equals.

    With a score that is equal for equivalent graphs, the direction of many arcs is a toss that a climb would pay for
    later. So arcs are first added over whole equivalence classes (`climb_classes`), and where nothing gains any more,
    the climb walks on among graphs of the same score that it has not met, at most `PLATEAU` in a row. `scorer` and
    `rules` must have their columns sorted by name, which is what breaks the ties that are left.
    """
    with progress_bar(None, progress) as step:
        arcs = climb_classes(scorer, rules, arcs, score_decimals(scorer), step)
        return _walk(start_climb(scorer, rules, arcs), 0.0, None, PLATEAU, step)


def tabu_search(
    scorer: Scorer, rules: Constraints, arcs: Marks, tabu_length: int, patience: int, progress: bool | None = None
) -> Marks:
    """The best graph met by a climb that goes on downhill: Glover (1989), "Tabu search, part I".

    It begins as `hill_climb` does. Then every step takes the best move that leads to none of the last `tabu_length`
    graphs, better or worse; after `patience` steps without a new best graph the search ends.
    """
    with progress_bar(None, progress) as step:
        arcs = climb_classes(scorer, rules, arcs, score_decimals(scorer), step)
        return _walk(start_climb(scorer, rules, arcs), -np.inf, tabu_length, patience, step)


def _walk(climb: Climb, least: float, remembered: int | None, patience: int, step: Callable[[str], None]) -> Marks:
    """The best graph on a walk by best moves that gain at least `least` and lead to no graph it remembers."""
    keys = _arc_keys(len(climb.rules.names))
    here = int(np.bitwise_xor.reduce(keys[climb.arcs], initial=np.uint64(0)))
    met = deque([here], maxlen=remembered)
    best, height, highest, waited = climb.arcs.copy(), 0.0, 0.0, 0
    steps = STEPS_PER_PAIR * len(climb.arcs) ** 2 + PLATEAU
    while waited < patience and (steps := steps - 1) >= 0:
        move, gain, there = _best_new(possible_gains(climb), keys, here, met)
        if gain < least or gain == -np.inf:
            break
        make_move(climb, move)
        here = there
        met.append(here)
        height, waited = round(height + gain, climb.decimals), waited + 1
        if height > highest:
            best, highest, waited = climb.arcs.copy(), height, 0
        step(f"{int(climb.arcs.sum())} arcs")
    return best


def _best_new(gains: Array, keys: NDArray[np.uint64], here: int, met: Collection[int]) -> tuple[Move, float, int]:
    """The best move to a graph that was not met, what it gains, and that graph's number."""
    while True:
        move, gain = best_move(gains)
        parent, child, kind = move
        there = here ^ int(keys[parent, child]) ^ (int(keys[child, parent]) if kind == REVERSE else 0)
        if there not in met or gain == -np.inf:
            return move, gain, there
        gains[move] = -np.inf


def _arc_keys(columns: int) -> NDArray[np.uint64]:
    """One number for each possible arc; those of a graph's arcs, xor-ed, are the graph's own (Zobrist, 1970)."""
    draws: NDArray[Any] = np.random.default_rng(0).integers(0, 2**64, (columns, columns), dtype=np.uint64)
    return draws
