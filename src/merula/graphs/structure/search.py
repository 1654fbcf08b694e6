"""Greedy search over graphs by adding, deleting and reversing arcs, and over classes of equivalent graphs; tabu search."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from heapq import merge
from math import floor, log10
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel
from merula.graphs.structure.constraints import Constraints
from merula.graphs.structure.equivalence import Marks, complete_marks, extend_marks
from merula.graphs.structure.score import EQUIVALENT, Scorer
from merula.show.progress import progress_bar

ADD, DELETE, REVERSE = range(3)
DIGITS = 12  # scores are compared rounded to this many
PLATEAU = 30  # graphs of equal score that a climb crosses in a row
STEPS_PER_PAIR = 10  # a bound no climb comes near: with missing cells gains need not add up, so one could go in circles
Move = tuple[int, int, int]  # parent, child, and what becomes of the arc between them
TURNED = 3  # at most this many undirected neighbours become parents with a new arc


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
    climb = Climb(scorer, rules, arcs.copy(), _closure(arcs), np.full(arcs.shape, -np.inf), score_decimals(scorer))
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
    moves[..., ADD] = np.where(rules.useful & ~arcs & ~climb.reaches.T & room[None, :], climb.gains, -np.inf)
    loose = arcs & ~rules.required
    moves[..., DELETE] = np.where(loose, climb.gains, -np.inf)
    parents, children = np.nonzero(loose & rules.useful.T & room[:, None])
    other_way = (climb.reaches[parents] & arcs.T[children]).any(axis=1)  # from the parent to the child, so no reversing
    parents, children = parents[~other_way], children[~other_way]
    moves[parents, children, REVERSE] = climb.gains[parents, children] + climb.gains[children, parents]
    return moves.round(climb.decimals)


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
    parent, child, kind = (int(index) for index in np.unravel_index(int(np.argmax(gains)), gains.shape))
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
    return np.random.default_rng(0).integers(0, 2**64, (columns, columns), dtype=np.uint64)


class Insertion(NamedTuple):
    """A new arc, the neighbours of its child that become parents with it, and all that are parents besides the directed ones."""

    loss: float  # minus the gain, so that the best comes first; then by name
    parent: int
    child: int
    turned: tuple[int, ...]
    clique: tuple[int, ...]


def climb_classes(scorer: Scorer, rules: Constraints, arcs: Marks, decimals: int, step: Callable[[str], None]) -> Marks:
    """A graph from which no equivalent one gains by one arc more: the forward phase of greedy equivalence search.

    Chickering (2002), "Optimal structure identification with greedy search", theorem 15 and its corollary: insert x → y
    with neighbours T of y turned into parents, where T and the neighbours of y adjacent to x form a clique that blocks
    every way from y to x along edges and arcs. An insertion without a graph that keeps the constraints is passed over.
    Nothing is done where equivalent graphs may differ in score (K2, numeric columns).
    """
    if scorer.score not in EQUIVALENT or any(known is None for known in scorer.rows.levels):
        return arcs
    marks = complete_marks(arcs)
    offers: list[list[Insertion]] = [[] for _ in rules.names]
    stale = np.ones(len(rules.names), dtype=np.bool_)
    while True:
        for child in np.flatnonzero(stale).tolist():
            offers[child] = sorted(_insertions(scorer, rules, marks, child, decimals))
        found = _first_possible(rules, marks, offers)
        if found is None:
            return arcs
        arcs = found
        before, marks = marks, complete_marks(arcs)
        changed = (before != marks).any(axis=0) | (before != marks).any(axis=1)
        stale = changed | (marks & marks.T)[:, changed].any(axis=1)
        step(f"{int(arcs.sum())} arcs")


def _insertions(scorer: Scorer, rules: Constraints, marks: Marks, child: int, decimals: int) -> Iterator[Insertion]:
    """The new arcs into one child that gain, with each set of neighbours that may become parents."""
    joined = marks | marks.T
    directed = frozenset(np.flatnonzero(marks[:, child] & ~marks[child]).tolist())
    near = np.flatnonzero(marks[:, child] & marks[child]).tolist()
    candidates = np.flatnonzero(rules.useful[:, child] & ~joined[child]).tolist()
    by_clique: dict[tuple[int, ...], list[tuple[int, tuple[int, ...]]]] = {(): [(parent, ()) for parent in candidates]}
    if near:
        by_clique = {}
        for parent, beside in zip(candidates, joined[np.ix_(candidates, near)].tolist(), strict=True):
            common = tuple(node for node, adjacent in zip(near, beside, strict=True) if adjacent)
            others = [node for node, adjacent in zip(near, beside, strict=True) if not adjacent]
            for turned in _cliques(joined, common, others) if _is_clique(joined, common) else ():
                by_clique.setdefault(tuple(sorted(common + turned)), []).append((parent, turned))
    for clique, entries in by_clique.items():
        known = directed | frozenset(clique)
        if len(known) < rules.max_parents and rules.permitted[list(known), child].all():
            gains = scorer.gains(child, known, [parent for parent, _ in entries])
            for (parent, turned), exact in zip(entries, gains, strict=True):
                gain = round(exact, decimals)
                if gain > 0:
                    yield Insertion(-gain, parent, child, turned, clique)


def _is_clique(joined: Marks, nodes: tuple[int, ...]) -> bool:
    return all(joined[one, other] for index, one in enumerate(nodes) for other in nodes[:index])


def _cliques(joined: Marks, common: tuple[int, ...], others: list[int]) -> Iterator[tuple[int, ...]]:
    """The sets of at most `TURNED` of the others that form a clique with those in common; the empty one first."""
    open_sets: list[tuple[int, ...]] = [()]
    fitting = [node for node in others if all(joined[node, known] for known in common)]
    while open_sets:
        known = open_sets.pop(0)
        yield known
        if len(known) < TURNED:
            open_sets += [
                (*known, node)
                for node in fitting
                if (not known or node > known[-1]) and all(joined[node, other] for other in known)
            ]


def _first_possible(rules: Constraints, marks: Marks, offers: list[list[Insertion]]) -> Marks | None:
    """The graph after the best insertion that leads to one; None when none does."""
    allowed = rules.permitted & ~rules.required.T
    for offer in merge(*offers):
        if _blocks(marks, offer.child, offer.parent, offer.clique):
            after: NDArray[np.bool_] = marks.copy()
            after[offer.parent, offer.child] = True
            after[offer.child, list(offer.turned)] = False
            if extend_marks(after, allowed) and after.sum(axis=0).max() <= rules.max_parents:
                return after
    return None


def _blocks(marks: Marks, start: int, stop: int, clique: tuple[int, ...]) -> bool:
    """True when every way from start to stop, along arcs and undirected edges, leads through the clique."""
    met = np.zeros(len(marks), dtype=np.bool_)
    met[[start, *clique]] = True
    edge = marks[start] & ~met
    while edge.any():
        if edge[stop]:
            return False
        met |= edge
        edge = marks[edge].any(axis=0) & ~met
    return True
