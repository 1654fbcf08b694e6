"""Variables as they are stated: arcs, levels and conditionals read and checked before a network takes them in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from typing import Any

import numpy as np

from merula.core.checks import one_of
from merula.data.schema import Label
from merula.data.table import plain_label
from merula.graphs.factors.names import chosen
from merula.graphs.network.node import AnyNode, GaussianNode, Node, NoisyNode
from merula.graphs.network.parametric import LinearGaussian, NoisyMax, NoisyOr
from merula.graphs.network.tables import read_table
from merula.graphs.structure.graph import AnyGraph, ancestors, children_of, find_cycle


def new_node(
    nodes: Mapping[str, AnyNode],
    graph: AnyGraph,
    name: str,
    levels: Any,
    probabilities: Any,
    parents: Sequence[str],
) -> AnyNode:
    """The variable that `BayesianNetwork.add` was asked for, its parents among those that are there."""
    stated = levels if isinstance(levels, LinearGaussian) else probabilities
    if isinstance(stated, LinearGaussian) and levels is not None and probabilities is not None:
        raise ValueError(f"{name!r} has a LinearGaussian, so it is a number, and levels or probabilities besides; give one of the two")  # fmt: skip
    for parent in (parents,) if isinstance(parents, str) else parents:
        if parent in graph and parent not in nodes:
            raise ValueError(f"a parent of {name!r}, {parent!r}, has no probabilities yet; state it first")
    named = chosen(parents, nodes, f"a parent of {name!r}")
    if isinstance(stated, NoisyOr | NoisyMax):
        if named and set(named) != set(stated.parents):
            raise ValueError(f"{name!r} has parents={list(named)}, but its {type(stated).__name__} names {list(stated.parents)}; leave parents= out")  # fmt: skip
        named = stated.parents
    for parent in named:
        one_of(parent, nodes, f"a parent of {name!r}")
    numeric = [parent for parent in named if isinstance(nodes[parent], GaussianNode)]
    known = {parent: nodes[parent].levels for parent in named if parent not in numeric}
    if isinstance(stated, LinearGaussian):
        return stated.node(name, known, numeric)
    if numeric:
        raise ValueError(f"{name!r} has levels, so its parents must too; {numeric[0]!r} is numeric: turn the arc round, or discretise {numeric[0]!r}")  # fmt: skip
    found = checked_levels(name, levels)
    if isinstance(stated, NoisyOr | NoisyMax):
        return stated.node(name, found, known)
    if stated is None:
        raise ValueError(f"{name!r} has no probabilities; state them, or give a structure to BayesianNetwork(arcs) and let fit learn them")  # fmt: skip
    return Node(name, found, tuple(known), read_table(name, found, known, stated))


def check_new(nodes: Mapping[str, AnyNode], graph: AnyGraph, node: AnyNode) -> None:
    """A variable stated anew must not close a cycle, nor change the levels its children were stated for."""
    if node.name in node.parents or node.name in ancestors(graph, node.parents):
        cycle = find_cycle({**graph, node.name: node.parents}) or ()
        raise ValueError(f"{node.name!r} would close the cycle {' → '.join(cycle)}; a network has none")
    old = nodes.get(node.name)
    if old is not None and old.levels != node.levels:
        children = children_of(graph)[node.name]
        if children:
            raise ValueError(f"{node.name!r} has the child {children[0]!r}, stated for its levels {list(old.levels)}; state it with the same levels")  # fmt: skip


def read_structure(arcs: Any) -> dict[str, tuple[str, ...]]:
    """The parents of each variable, from arcs or from a mapping."""
    if isinstance(arcs, Mapping):
        graph = {
            name: tuple([parents] if isinstance(parents, str) else _several(parents)) for name, parents in arcs.items()
        }
    else:
        graph = {}
        for arc in _several(arcs):
            if isinstance(arc, str) or len(_several(arc)) != 2:
                raise ValueError(f"an arc is {arc!r}, expected (parent, child)")
            parent, child = arc
            graph.setdefault(parent, ())
            graph[child] = (*graph.get(child, ()), parent)
    for parents in list(graph.values()):
        for parent in parents:
            graph.setdefault(parent, ())
    odd = [name for name in graph if not isinstance(name, str) or not name]
    if odd:
        raise ValueError(f"a variable is called {odd[0]!r}, expected a name of at least one letter")
    cycle = find_cycle(graph)
    if cycle:
        raise ValueError(f"the arcs close the cycle {' → '.join(cycle)}; a network has none")
    twice = next((name for name, parents in graph.items() if len(set(parents)) < len(parents)), None)
    if twice is not None:
        raise ValueError(f"an arc to {twice!r} is given twice; give each arc once")
    return graph


def _several(arcs: Any) -> list[Any]:
    if isinstance(arcs, str) or not isinstance(arcs, Iterable):
        raise ValueError(f"arcs are {arcs!r}, expected a list of (parent, child), or {{variable: its parents}}")
    return list(arcs)


def checked_levels(name: str, levels: Any) -> tuple[Label, ...]:
    """The levels as plain labels: at least one, each once."""
    if isinstance(levels, str | Mapping | AbstractSet) or not isinstance(levels, Iterable):
        raise ValueError(f"the levels of {name!r} are {levels!r}, expected a list of at least one level, in order")
    found = tuple(plain_label(level) for level in levels)
    if not found or len(set(found)) < len(found):
        raise ValueError(f"the levels of {name!r} are {list(found)}: name at least one, and each once")
    return found


def free_parameters(node: AnyNode) -> int:
    """The free parameters of one conditional."""
    if isinstance(node, GaussianNode):
        return int(node.intercept.size) * (2 + int(node.slopes.shape[-1]))
    if isinstance(node, NoisyNode):
        moving = sum(int((rows != np.eye(rows.shape[1])[0]).any(axis=1).sum()) for rows in node.strengths)
        return (moving + 1) * (len(node.levels) - 1)
    return node.table.size // max(1, len(node.levels)) * (len(node.levels) - 1)


def checked_limit(limit: Any) -> float:
    """The most table entries that an exact answer may need."""
    if isinstance(limit, bool) or not isinstance(limit, int | float | np.number) or not limit > 0:
        raise ValueError(f"limit is {limit!r}, expected a number of table entries above 0")
    return limit  # type: ignore[return-value]


def refuse_numeric(nodes: Mapping[str, AnyNode], what: str, names: Iterable[str]) -> None:
    """An error naming the first of these variables that is a number."""
    numeric = [name for name in names if isinstance(nodes[name], GaussianNode)]
    if numeric:
        raise ValueError(f"{what} needs levels; {numeric[0]!r} is numeric: ask for discrete variables with targets=")
