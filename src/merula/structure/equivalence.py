"""Graphs that no data can tell apart: CPDAGs, Meek's rules, consistent extensions, distances between structures."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from merula.structure.graph import AnyGraph, Arc, Graph, arcs_of, build_graph, topological_order

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
    place = {node: position for position, node in enumerate(graph.nodes)}
    marks = np.zeros((len(place), len(place)), dtype=np.bool_)
    for one, other in graph.arcs | graph.edges:
        marks[place[one], place[other]] = True
    for one, other in graph.edges:
        marks[place[other], place[one]] = True
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
    arcs = frozenset(arcs_of(graph))
    adjacent = {frozenset(arc) for arc in arcs}
    compelled = {
        (parent, child)
        for child, parents in graph.items()
        for parent in parents
        if any(other != parent and frozenset((other, parent)) not in adjacent for other in parents)
    }
    edges = frozenset((min(arc), max(arc)) for arc in arcs - compelled)
    marks = _to_marks(PartialGraph(nodes, frozenset(compelled), edges))
    close_under_meek(marks)
    return from_marks(nodes, marks)


def close_under_meek(marks: Marks, allowed: Marks | None = None) -> None:
    """Direct every edge whose direction follows from the others (rules 1 to 4 of Meek, 1995), in place.

    An orientation that `allowed` forbids, or that would close a directed cycle, is not made: with data it may follow
    from arcs that contradict each other.
    """
    changed = True
    while changed:
        changed = False
        for a, b in np.argwhere(marks & marks.T).tolist():
            free = marks[a, b] and marks[b, a] and (allowed is None or allowed[a, b])
            if free and _follows(marks, a, b) and not directed_path(marks, b, a):
                marks[b, a] = False
                changed = True


def _follows(marks: Marks, a: int, b: int) -> bool:
    """True when one of Meek's rules directs the edge a − b as a → b."""
    into_a, into_b = marks[:, a] & ~marks[a], marks[:, b] & ~marks[b]
    near_b = marks[:, b] | marks[b]
    if (into_a & ~near_b).any():  # rule 1: c → a − b, c and b not adjacent
        return True
    if (marks[a] & ~marks[:, a] & into_b).any():  # rule 2: a → c → b
        return True
    undirected_a = marks[a] & marks[:, a]
    near = marks | marks.T
    between = np.flatnonzero(undirected_a & into_b)
    if len(between) > 1 and not (near[np.ix_(between, between)] | np.eye(len(between), dtype=np.bool_)).all():
        return True  # rule 3: a − c → b, a − d → b, c and d not adjacent
    near_a = near[a]
    onwards = (marks & ~marks.T)[:, into_b & near_a].any(axis=1)
    return bool((undirected_a & ~near_b & onwards).any())  # rule 4: a − d → c → b, d and b not adjacent


def directed_path(marks: Marks, start: int, stop: int) -> bool:
    """True when arcs lead from start to stop."""
    arcs = marks & ~marks.T
    reached = arcs[start]
    while not reached[stop]:
        further = reached | arcs[reached].any(axis=0)
        if (further == reached).all():
            return False
        reached = further
    return True


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
    left = list(range(len(nodes)))
    arcs = list(graph.arcs)
    while left:
        sink = next((node for node in reversed(left) if _may_be_sink(marks, node)), None)
        if sink is None:
            return None
        arcs += [(nodes[near], nodes[sink]) for near in np.flatnonzero(marks[sink] & marks[:, sink]).tolist()]
        marks[sink] = marks[:, sink] = False
        left.remove(sink)
    return build_graph(graph.nodes, arcs)


def _may_be_sink(marks: Marks, node: int) -> bool:
    """No arc leaves the node, and each of its undirected neighbours is adjacent to all its other neighbours."""
    if (marks[node] & ~marks[:, node]).any():
        return False
    neighbours = np.flatnonzero(marks[:, node])
    undirected = np.flatnonzero(marks[node])
    near = marks | marks.T
    joined = near[np.ix_(undirected, neighbours)] | (undirected[:, None] == neighbours[None, :])
    return bool(joined.all())


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
        raise ValueError(
            f"the graphs have different nodes: only one of them has {min(set(one) ^ set(other))!r}; compare graphs over the same columns"
        )
    if equivalence:
        first, second = cpdag(one), cpdag(other)
        return _differing_pairs((first.arcs, first.edges), (second.arcs, second.edges))
    return _differing_pairs((arcs_of(one), ()), (arcs_of(other), ()))


def _differing_pairs(one: tuple[Collection[Arc], Iterable[Arc]], other: tuple[Collection[Arc], Iterable[Arc]]) -> int:
    """Pairs that are not joined alike: by the same arc, by an edge in both, or not at all."""
    states = []
    for arcs, edges in (one, other):
        state: dict[frozenset[str], Arc | None] = {frozenset(arc): arc for arc in arcs}
        states.append(state | {frozenset(edge): None for edge in edges})
    pairs = states[0].keys() | states[1].keys()
    return sum(pair not in states[0] or pair not in states[1] or states[0][pair] != states[1][pair] for pair in pairs)
