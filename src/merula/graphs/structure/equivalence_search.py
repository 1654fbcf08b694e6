"""Greedy search over equivalence classes: the arc that gains most in any graph of the class, so that ties decide nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import merge
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merula.graphs.structure.constraints import Constraints
from merula.graphs.structure.equivalence import Marks, complete_marks, extend_marks
from merula.graphs.structure.score import EQUIVALENT, Scorer

TURNED = 3  # at most this many undirected neighbours become parents with a new arc


class Insertion(NamedTuple):
    """A new arc, the neighbours of its child that become parents with it, and all that are parents beside the settled ones."""

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
    settled = frozenset(np.flatnonzero(marks[:, child] & ~marks[child]).tolist())
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
        known = settled | frozenset(clique)
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
