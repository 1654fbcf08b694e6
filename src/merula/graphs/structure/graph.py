"""Directed acyclic graphs as plain dictionaries, node → its parents: orders, relatives, d-separation."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from heapq import heapify, heappop, heappush

from merula.core import InputError, one_of

Graph = dict[str, tuple[str, ...]]
AnyGraph = Mapping[str, Collection[str]]
Arc = tuple[str, str]


def build_graph(nodes: Iterable[str], arcs: Iterable[Arc]) -> Graph:
    """The graph with these nodes and arcs (parent, child); each node's parents sorted by name.

    Examples
    --------
    >>> build_graph(["rain", "sprinkler", "wet"], [("sprinkler", "wet"), ("rain", "wet")])
    {'rain': (), 'sprinkler': (), 'wet': ('rain', 'sprinkler')}
    """
    parents: dict[str, list[str]] = {node: [] for node in nodes}
    for parent, child in arcs:
        parents[child].append(parent)
    return {node: tuple(sorted(found)) for node, found in parents.items()}


def arcs_of(graph: AnyGraph) -> list[Arc]:
    """The arcs (parent, child), child by child in the order of the graph."""
    return [(parent, child) for child, parents in graph.items() for parent in parents]


def children_of(graph: AnyGraph) -> dict[str, list[str]]:
    """Each node's children, sorted by name; a parent that is no node is an error."""
    children: dict[str, list[str]] = {node: [] for node in graph}
    for node in sorted(graph):
        for parent in graph[node]:
            one_of(parent, graph, f"a parent of {node!r}")
            children[parent].append(node)
    return children


def topological_order(graph: AnyGraph) -> list[str]:
    """The nodes, parents before children; of those that may come next, the first by name (Kahn's algorithm).

    Examples
    --------
    >>> topological_order({"wet": ("rain", "sprinkler"), "sprinkler": ("rain",), "rain": ()})
    ['rain', 'sprinkler', 'wet']
    """
    children = children_of(graph)
    waiting = {node: len(set(parents)) for node, parents in graph.items()}
    ready = [node for node, count in waiting.items() if not count]
    heapify(ready)
    order = []
    while ready:
        order.append(heappop(ready))
        for child in children[order[-1]]:
            waiting[child] -= 1
            if not waiting[child]:
                heappush(ready, child)
    if len(order) < len(graph):
        raise InputError(
            f"the arcs form a cycle: {' → '.join(find_cycle(graph) or ())}", remedy="remove or turn one of them"
        )
    return order


def find_cycle(graph: AnyGraph) -> list[str] | None:
    """The nodes along one directed cycle, its first node again at the end; None when there is none.

    Examples
    --------
    >>> find_cycle({"egg": ("hen",), "hen": ("egg",)})
    ['egg', 'hen', 'egg']
    """
    children = children_of(graph)
    done: set[str] = set()
    for start in sorted(graph):
        path: list[str] = []
        on_path: set[str] = set()
        stack = [(start, False)]
        while stack:
            node, leaving = stack.pop()
            if leaving:
                on_path.discard(path.pop())
                done.add(node)
            elif node in on_path:
                return [*path[path.index(node) :], node]
            elif node not in done:
                path.append(node)
                on_path.add(node)
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(children[node]))
    return None


def ancestors(graph: AnyGraph, nodes: Iterable[str] | str) -> set[str]:
    """The nodes from which a directed path of at least one arc leads to one of these.

    Examples
    --------
    >>> sorted(ancestors({"rain": (), "sprinkler": ("rain",), "wet": ("sprinkler",)}, "wet"))
    ['rain', 'sprinkler']
    """
    return _reached(_as_set(graph, nodes, "a node"), graph)


def descendants(graph: AnyGraph, nodes: Iterable[str] | str) -> set[str]:
    """The nodes to which a directed path of at least one arc leads from one of these."""
    return _reached(_as_set(graph, nodes, "a node"), children_of(graph))


def _reached(starts: Collection[str], steps: Mapping[str, Collection[str]]) -> set[str]:
    found: set[str] = set()
    stack = [after for start in starts for after in steps[start]]
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(steps[node])
    return found


def markov_blanket(graph: AnyGraph, node: str) -> set[str]:
    """Parents, children and the children's other parents: given them, no other node tells more about this one.

    Examples
    --------
    >>> sorted(markov_blanket({"rain": (), "sprinkler": (), "wet": ("rain", "sprinkler")}, "rain"))
    ['sprinkler', 'wet']
    """
    one_of(node, graph, "the node")
    children = children_of(graph)[node]
    return {*graph[node], *children, *(parent for child in children for parent in graph[child])} - {node}


def d_separated(
    graph: AnyGraph, xs: Iterable[str] | str, ys: Iterable[str] | str, given: Iterable[str] | str = ()
) -> bool:
    """True when every path between `xs` and `ys` is blocked by `given`; linear in the number of arcs.

    Koller & Friedman (2009), algorithm 3.1: a walk that remembers whether it came from a child or from a parent.
    A node of `given` among `xs` or `ys` is known, and separated from everything.

    Examples
    --------
    >>> graph = {"rain": (), "sprinkler": (), "wet": ("rain", "sprinkler")}
    >>> d_separated(graph, "rain", "sprinkler"), d_separated(graph, "rain", "sprinkler", given="wet")
    (True, False)
    """
    known = _as_set(graph, given, "a node of given")
    targets = _as_set(graph, ys, "a node of ys") - known
    return targets.isdisjoint(node for node, _ in _walk(graph, _as_set(graph, xs, "a node of xs") - known, known))


def told_by(graph: AnyGraph, targets: Iterable[str] | str, given: Iterable[str] | str) -> set[str]:
    """Those nodes of `given` that the others do not separate from the targets: all that a posterior needs; linear.

    Shachter (1998), "Bayes-ball": the known nodes at which a walk from the targets arrives.

    Examples
    --------
    >>> sorted(told_by({"rain": (), "wet": ("rain",), "slip": ("wet",)}, "slip", ["wet", "rain"]))
    ['wet']
    """
    known = _as_set(graph, given, "a node of given")
    return known & {node for node, _ in _walk(graph, _as_set(graph, targets, "a target") - known, known)}


def _walk(graph: AnyGraph, starts: set[str], known: set[str]) -> set[tuple[str, bool]]:
    """Where trails from `starts` arrive that `known` leaves open, and whether they come from below."""
    children = children_of(graph)
    opened = known | _reached(known, graph)  # a collider here lets the trail pass
    seen: set[tuple[str, bool]] = set()
    trail = deque((start, True) for start in starts)
    while trail:
        node, upwards = step = trail.popleft()
        if step in seen:
            continue
        seen.add(step)
        if node not in known:
            trail.extend((child, False) for child in children[node])
        if (upwards and node not in known) or (not upwards and node in opened):
            trail.extend((parent, True) for parent in graph[node])
    return seen


def skeleton(graph: AnyGraph) -> set[frozenset[str]]:
    """The pairs of nodes with an arc between them, directions forgotten."""
    return {frozenset(arc) for arc in arcs_of(graph)}


def moral_graph(graph: AnyGraph) -> dict[str, set[str]]:
    """Each node's neighbours once directions are forgotten and the parents of every node are joined.

    Examples
    --------
    >>> {node: sorted(near) for node, near in moral_graph({"rain": (), "tap": (), "wet": ("rain", "tap")}).items()}
    {'rain': ['tap', 'wet'], 'tap': ['rain', 'wet'], 'wet': ['rain', 'tap']}
    """
    neighbours: dict[str, set[str]] = {node: set() for node in graph}
    for child, parents in graph.items():
        family = {child, *parents}
        for member in family:
            neighbours[member] |= family - {member}
    return neighbours


def _as_set(graph: AnyGraph, nodes: Iterable[str] | str, what: str) -> set[str]:
    """One name or several as a set; a name that is no node is an error."""
    return {one_of(node, graph, what) for node in ({nodes} if isinstance(nodes, str) else set(nodes))}
