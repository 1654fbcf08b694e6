"""Which numbers of a network hang together, and their linear equations: a system for each configuration of the levels.

Everything about jointly normal numbers follows from their own equations by orthogonal reflections, so no covariance matrix
is ever inverted: numbers that are nearly functions of one another lose no digits (Bierman 1977, "Factorization methods for
discrete sequential estimation", chapter V).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.graphs.factors.errors import TooWideError
from merula.graphs.network import _elimination as kernels
from merula.graphs.network.node import AnyNode, GaussianNode
from merula.graphs.structure.graph import topological_order

Nodes = Mapping[str, AnyNode]
LOG_2PI = float(np.log(2 * np.pi))


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


@dataclass(frozen=True, eq=False)
class Systems:
    """For each configuration s: Σ_j matrices[s, i, j] · x_j + matrices[s, i, −1] = ε_i, with ε_i ~ N(0, 1) independent.

    log p(x given s) = logs[s] − ½ Σ_i ε_i²
    """

    numbers: tuple[str, ...]
    matrices: Array
    logs: Array

    def given(self, known: Mapping[str, float]) -> Systems:
        """The systems with the known numbers put in."""
        at = [index for index, name in enumerate(self.numbers) if name in known]
        left = [index for index, name in enumerate(self.numbers) if name not in known]
        values = np.array([known[self.numbers[index]] for index in at])
        constants = self.matrices[:, :, -1] + self.matrices[:, :, at] @ values
        matrices = self.matrices[:, :, [*left, -1]]
        matrices[:, :, -1] = np.clip(constants, -kernels.LARGEST, kernels.LARGEST)
        return Systems(tuple(self.numbers[index] for index in left), matrices, self.logs)

    def without(self, names: Sequence[str]) -> Systems:
        """The systems with some numbers integrated out."""
        matrices, logs = self._eliminated(names)
        left = [index for index, name in enumerate(self.numbers) if name not in set(names)]
        kept = np.ascontiguousarray(matrices[:, len(names) :, [*left, -1]])
        return Systems(tuple(self.numbers[index] for index in left), kept, logs)

    def log_densities(self) -> Array:
        """log p of what was put in, given each configuration: every number left is integrated out."""
        found = self.without(self.numbers)
        return found.logs - 0.5 * (found.matrices[:, :, -1] ** 2).sum(axis=1)

    def normals(self, names: Sequence[str]) -> tuple[Array, Array]:
        """The means of some numbers given each configuration and what was put in, and roots R of their covariances R·Rᵀ."""
        others = [name for name in self.numbers if name not in set(names)]
        matrices, _ = self._eliminated([*others, *names])
        rows = matrices[:, len(others) : len(self.numbers), [*(self.numbers.index(name) for name in names), -1]]
        triangles = np.ascontiguousarray(rows[:, :, :-1])
        roots = np.empty_like(triangles)
        kernels.invert(triangles, roots)
        return -(roots @ rows[:, :, -1:])[:, :, 0], roots

    def _eliminated(self, names: Sequence[str]) -> tuple[Array, Array]:
        matrices, logs = self.matrices.copy(), self.logs + 0.5 * LOG_2PI * len(names)
        kernels.eliminate(matrices, np.array([self.numbers.index(name) for name in names], np.int64), logs)
        return matrices, logs


def free_switches(component: Component, hard: Mapping[str, int]) -> tuple[str, ...]:
    """The discrete variables the component depends on whose level is not known."""
    return tuple(name for name in component.switches if name not in hard)


def entries_of(nodes: Nodes, component: Component, hard: Mapping[str, int]) -> int:
    """The entries of the component's systems, for all configurations together."""
    configurations = prod(len(nodes[name].levels) for name in free_switches(component, hard))
    return configurations * len(component.equations) * (len(component.numbers) + 1)


def check_width(nodes: Nodes, component: Component, hard: Mapping[str, int], limit: float) -> None:
    """A `TooWideError` if the component's systems would have more entries than allowed."""
    entries = entries_of(nodes, component, hard)
    if entries > limit:
        raise TooWideError(entries, limit)


def systems_of(
    nodes: Nodes, component: Component, hard: Mapping[str, int], indices: NDArray[np.int64] | None = None
) -> Systems:
    """The systems of a component for every configuration of its free switches (C order), or for those at `indices`.

    (y − intercept − Σ_j slopes_j · x_j) / √variance = ε
    """
    shape = tuple(len(nodes[name].levels) for name in free_switches(component, hard))
    levels = np.unravel_index(np.arange(prod(shape)) if indices is None else indices, shape) if shape else ()
    code = {**hard, **dict(zip(free_switches(component, hard), levels, strict=True))}
    count = len(levels[0]) if shape else 1
    matrices = np.zeros((count, len(component.equations), len(component.numbers) + 1))
    logs = np.full(count, -0.5 * LOG_2PI * len(component.equations))
    column = {name: index for index, name in enumerate(component.numbers)}
    for i, name in enumerate(component.equations):
        node = gaussian(nodes, name)
        at: tuple[Any, ...] = tuple(code[parent] for parent in node.discrete)
        deviation = np.sqrt(node.variance[at])
        logs -= np.log(deviation)
        with np.errstate(over="ignore"):  # clipped below
            _write(matrices[:, i], node, at, deviation, column)
    return Systems(component.numbers, np.clip(matrices, -kernels.LARGEST, kernels.LARGEST), logs)


def _write(rows: Array, node: GaussianNode, at: tuple[Any, ...], deviation: Array, column: dict[str, int]) -> None:
    """The equation of one variable, a row for each configuration."""
    rows[:, column[node.name]] = 1 / deviation
    rows[:, -1] = -node.intercept[at] / deviation
    for j, parent in enumerate(node.numeric):
        rows[:, column[parent]] = -node.slopes[(*at, j)] / deviation
