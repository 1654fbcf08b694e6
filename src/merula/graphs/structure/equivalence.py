"""Graphs that no data can tell apart: CPDAGs, Meek's rules, consistent extensions, distances between structures."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from merula.core import InputError
from merula.core.compiled import kernel
from merula.graphs.structure.graph import AnyGraph, Arc, Graph, arcs_of, build_graph, topological_order

Marks = NDArray[np.bool_]  # marks[a, b] and not marks[b, a]: a → b; both: a − b, an edge without direction


@dataclass(frozen=True)
class PartialGraph:
    """Some arcs with and some edges without direction; as a CPDAG, all graphs with the same independences at once.

    Examples
    --------
    >>> chain = cpdag({"smoke": ("fire",), "fire": (), "alarm": ("smoke",)})
    >>> sorted(chain.arcs), sorted(chain.edges)
    ([], [('alarm', 'smoke'), ('fire', 'smoke')])
    """

    nodes: tuple[str, ...]
    arcs: frozenset[Arc]
    edges: frozenset[Arc]  # each pair sorted by name


def _to_marks(graph: PartialGraph) -> Marks:
    index = {node: position for position, node in enumerate(graph.nodes)}
    marks = np.zeros((len(index), len(index)), dtype=np.bool_)
    for one, other in graph.arcs | graph.edges:
        marks[index[one], index[other]] = True
    for one, other in graph.edges:
        marks[index[other], index[one]] = True
    return marks


def from_marks(nodes: tuple[str, ...], marks: Marks) -> PartialGraph:
    """The partially directed graph that a matrix of marks describes."""
    arcs = {(nodes[a], nodes[b]) for a, b in np.argwhere(marks & ~marks.T).tolist()}
    edges = {(nodes[a], nodes[b]) for a, b in np.argwhere(marks & marks.T).tolist() if nodes[a] < nodes[b]}
    return PartialGraph(nodes, frozenset(arcs), frozenset(edges))


def cpdag(graph: AnyGraph) -> PartialGraph:
    """The completed partially directed graph: an arc keeps its direction when every equivalent graph has it.

    The skeleton with its v-structures (a → c ← b, a and b not adjacent), closed under Meek's rules 1 to 3: Meek (1995),
    "Causal inference and causal explanation with background knowledge", theorem 3.

    Examples
    --------
    >>> sorted(cpdag({"rain": (), "tap": (), "wet": ("rain", "tap")}).arcs)
    [('rain', 'wet'), ('tap', 'wet')]
    """
    topological_order(graph)  # an error when there is a cycle
    nodes = tuple(sorted(graph))
    arcs = _to_marks(PartialGraph(nodes, frozenset(arcs_of(graph)), frozenset()))
    return from_marks(nodes, complete_marks(arcs))


@kernel
def complete_marks(arcs: Marks) -> Marks:
    """The CPDAG of a directed acyclic graph, as marks."""
    marks = arcs | arcs.T
    for child in range(len(arcs)):
        for one in range(len(arcs)):
            for other in range(len(arcs)):
                apart = one != other and not arcs[one, other] and not arcs[other, one]
                if arcs[one, child] and arcs[other, child] and apart:
                    marks[child, one] = False
    close_under_meek(marks, np.ones_like(marks))
    return marks


@kernel
def close_under_meek(marks: Marks, allowed: Marks) -> None:
    """Direct every edge whose direction follows from the others (rules 1 to 4 of Meek, 1995), in place.

    An orientation that is not `allowed`, or that would close a directed cycle, is not made: with data it may follow from
    arcs that contradict each other.
    """
    changed = True
    while changed:
        changed = False
        for a in range(len(marks)):
            for b in range(len(marks)):
                free = marks[a, b] and marks[b, a] and allowed[a, b]
                if free and _follows(marks, a, b) and not directed_path(marks, b, a):
                    marks[b, a] = False
                    changed = True


@kernel
def _follows(marks: Marks, a: int, b: int) -> bool:
    """True when one of Meek's rules directs the edge a − b as a → b."""
    for c in range(len(marks)):
        if c in (a, b):
            continue
        joined_b = marks[c, b] or marks[b, c]
        if marks[c, a] and not marks[a, c] and not joined_b:  # rule 1: c → a − b, c and b not adjacent
            return True
        into_b = marks[c, b] and not marks[b, c]
        if into_b and marks[a, c] and not marks[c, a]:  # rule 2: a → c → b
            return True
        if not (into_b and (marks[a, c] or marks[c, a])):
            continue
        for d in range(len(marks)):
            if d in (a, b, c) or not (marks[a, d] and marks[d, a]):
                continue
            if marks[a, c] and marks[c, a] and marks[d, b] and not marks[b, d] and not (marks[c, d] or marks[d, c]):
                return True  # rule 3: a − c → b, a − d → b, c and d not adjacent
            if marks[d, c] and not marks[c, d] and not (marks[d, b] or marks[b, d]):
                return True  # rule 4: a − d → c → b, d and b not adjacent
    return False


@kernel
def directed_path(marks: Marks, start: int, stop: int) -> bool:
    """True when arcs lead from start to stop."""
    met = np.zeros(len(marks), dtype=np.bool_)
    stack, height = np.empty(len(marks) + 1, dtype=np.int64), 1
    stack[0] = start
    while height:
        height -= 1
        node = stack[height]
        for after in range(len(marks)):
            if marks[node, after] and not marks[after, node] and not met[after]:
                if after == stop:
                    return True
                met[after] = True
                stack[height] = after
                height += 1
    return False


def consistent_extension(graph: PartialGraph) -> Graph | None:
    """A directed acyclic graph with the same skeleton and v-structures; None when there is none.

    Dor & Tarsi (1992): take away, again and again, a node without outgoing arcs whose undirected neighbours are adjacent
    to all its other neighbours, and direct its edges towards it; of several such nodes the last by name.

    Examples
    --------
    >>> chain = PartialGraph(("alarm", "fire", "smoke"), frozenset(), frozenset({("alarm", "smoke"), ("fire", "smoke")}))
    >>> consistent_extension(chain)
    {'alarm': (), 'fire': ('smoke',), 'smoke': ('alarm',)}
    """
    nodes = tuple(sorted(graph.nodes))
    marks = _to_marks(PartialGraph(nodes, graph.arcs, graph.edges))
    if not extend_marks(marks, np.ones_like(marks)):
        return None
    return build_graph(graph.nodes, [(nodes[parent], nodes[child]) for parent, child in np.argwhere(marks).tolist()])


@kernel
def extend_marks(marks: Marks, allowed: Marks) -> bool:
    """Direct all edges as a consistent extension does, in place, by `allowed` directions only; False when that fails."""
    left = marks.copy()
    gone = np.zeros(len(marks), dtype=np.bool_)
    for _ in range(len(marks)):
        sink = len(marks) - 1
        while sink >= 0 and (gone[sink] or not _may_be_sink(left, allowed, sink)):
            sink -= 1
        if sink < 0:
            return False
        for near in range(len(marks)):
            if left[sink, near]:
                marks[sink, near] = False
        left[sink] = False
        left[:, sink] = False
        gone[sink] = True
    return True


@kernel
def _may_be_sink(marks: Marks, allowed: Marks, node: int) -> bool:
    """No arc leaves the node, and each of its undirected neighbours is adjacent to all its other neighbours."""
    for near in range(len(marks)):
        if not marks[node, near]:
            continue
        if not marks[near, node] or not allowed[near, node]:
            return False
        for other in range(len(marks)):
            apart = other != near and not marks[near, other] and not marks[other, near]
            if marks[other, node] and apart:
                return False
    return True


def structural_hamming_distance(one: AnyGraph, other: AnyGraph, equivalence: bool = True) -> int:
    """The number of pairs of nodes between which two graphs differ.

    A pair counts once, whether the arc is missing, added, or directed otherwise. With `equivalence` the two CPDAGs are
    compared, so that graphs no data can tell apart have distance 0 (Tsamardinos, Brown & Aliferis, 2006); without it
    the graphs themselves.

    Examples
    --------
    >>> there, back = {"fire": (), "smoke": ("fire",)}, {"fire": ("smoke",), "smoke": ()}
    >>> structural_hamming_distance(there, back), structural_hamming_distance(there, back, equivalence=False)
    (0, 1)
    """
    if set(one) != set(other):
        raise InputError(
            f"the graphs have different nodes: only one of them has {min(set(one) ^ set(other))!r}",
            remedy="compare graphs over the same columns",
        )
    if equivalence:
        first, second = cpdag(one), cpdag(other)
        return _differing_pairs((first.arcs, first.edges), (second.arcs, second.edges))
    return _differing_pairs((arcs_of(one), ()), (arcs_of(other), ()))


def _differing_pairs(one: tuple[Collection[Arc], Iterable[Arc]], other: tuple[Collection[Arc], Iterable[Arc]]) -> int:
    """Pairs that are not joined alike: by the same arc, by an edge in both, or not at all."""
    first, second = (
        {frozenset(arc): arc for arc in arcs} | {frozenset(edge): None for edge in edges}
        for arcs, edges in (one, other)
    )
    return sum(first.get(pair, ()) != second.get(pair, ()) for pair in first.keys() | second.keys())
