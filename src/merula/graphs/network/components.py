"""Which numeric variables of a network hang together: those that unknown numbers tie to one another."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from merula.graphs.network.node import AnyNode, GaussianNode
from merula.graphs.structure.graph import topological_order

Nodes = Mapping[str, AnyNode]


@dataclass(frozen=True)
class Component:
    """Numeric variables whose equations share unknown numbers, all numbers they mention, and the levels they depend on."""

    equations: tuple[str, ...]
    numbers: tuple[str, ...]
    switches: tuple[str, ...]


def gaussian(nodes: Nodes, name: str) -> GaussianNode:
    """A variable that is known to be numeric."""
    node = nodes[name]
    assert isinstance(node, GaussianNode)
    return node


def points(nodes: Nodes) -> dict[str, float]:
    """The variables that an intervention has set to a number: they have no parents and no variance."""
    return {
        name: float(node.intercept)
        for name, node in nodes.items()
        if isinstance(node, GaussianNode) and not node.parents and not node.variance
    }


def components(nodes: Nodes, known: Collection[str], asked: Collection[str] = ()) -> list[Component]:
    """The components of the numbers known and asked for, and of their unknown ancestors; all others integrate to 1.

    A known number ties nothing together: it stands as a constant in the equations of its children, so a variable whose
    numeric parents are all known is a component by itself.
    """
    equations = [name for name in _closure(nodes, known, {*known, *asked}) if gaussian(nodes, name).variance.any()]
    beside: dict[str, list[str]] = {name: [] for name in equations}
    for name in equations:
        for parent in gaussian(nodes, name).numeric:
            if parent not in known:
                beside[name].append(parent)
                beside[parent].append(name)
    index = {name: position for position, name in enumerate(equations)}
    return [component_of(nodes, sorted(names, key=index.__getitem__)) for names in _connected(beside)]


def component_of(nodes: Nodes, equations: Iterable[str]) -> Component:
    """The component of the equations of some variables; descendants should come before their ancestors."""
    mine = tuple(dict.fromkeys(equations))
    numbers = dict.fromkeys(name for own in mine for name in (own, *gaussian(nodes, own).numeric))
    switches = {name for own in mine for name in gaussian(nodes, own).discrete}
    return Component(mine, tuple(numbers), tuple(sorted(switches)))


def relatives(
    nodes: Nodes, known: Collection[str], tied: Mapping[str, Component], targets: Iterable[str]
) -> tuple[str, ...]:
    """The equations that targets' posterior depends on: theirs, their unknown ancestors', and what known numbers tie to these.

    `tied` has the component of each number that the known ones tie together.
    """
    found: dict[str, None] = {}
    for name in _closure(nodes, known, targets):
        if name not in found:
            found |= dict.fromkeys(tied[name].equations if name in tied else (name,))
    return tuple(found)


def switches_of_each(
    nodes: Nodes, known: Collection[str], tied: Mapping[str, Component], targets: Iterable[str]
) -> dict[str, frozenset[str]]:
    """For each target the discrete variables its posterior depends on, if it is asked alone: those of its `relatives`."""
    graph = {
        name: [parent for parent in gaussian(nodes, name).numeric if parent not in known]
        for name in _closure(nodes, known, targets)
    }
    found: dict[str, frozenset[str]] = {}
    for name in topological_order(graph):
        own = tied[name].switches if name in tied else gaussian(nodes, name).discrete
        found[name] = frozenset(own).union(*(found[parent] for parent in graph[name]))
    return found


def _closure(nodes: Nodes, known: Collection[str], names: Iterable[str]) -> list[str]:
    """Some numbers and their unknown numeric ancestors, mostly descendants first: such an order eliminates them cheaply."""
    found: dict[str, None] = {}
    waiting = sorted(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = None
            waiting += [parent for parent in gaussian(nodes, name).numeric if parent not in known]
    return list(found)


def _connected(beside: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The connected parts of an undirected graph."""
    parts: list[list[str]] = []
    seen: set[str] = set()
    for start in beside:
        if start in seen:
            continue
        part, waiting = [], [start]
        seen.add(start)
        while waiting:
            part.append(waiting.pop())
            for name in beside[part[-1]]:
                if name not in seen:
                    seen.add(name)
                    waiting.append(name)
        parts.append(part)
    return parts
