"""Linear equations of numbers with normal errors, one system for each configuration of the discrete variables.

Everything about jointly normal numbers follows from their own equations by orthogonal reflections, so no covariance matrix
is ever inverted: numbers that are nearly functions of one another lose no digits (Bierman 1977, "Factorization methods for
discrete sequential estimation", chapter V).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.graphs.factors.errors import TooWideError
from merula.graphs.network import _elimination as kernels
from merula.graphs.network.components import Component, Nodes, gaussian
from merula.graphs.network.node import GaussianNode

LOG_2PI = float(np.log(2 * np.pi))


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
        densities: Array = found.logs - 0.5 * (found.matrices[:, :, -1] ** 2).sum(axis=1)
        return densities

    def normals(self, names: Sequence[str]) -> tuple[Array, Array]:
        """The means of some numbers given each configuration and what was put in, and roots R of their covariances R·Rᵀ."""
        others = [name for name in self.numbers if name not in set(names)]
        matrices, _ = self._eliminated([*others, *names])
        at = [*(self.numbers.index(name) for name in names), -1]
        rows = matrices[:, len(others) : len(self.numbers), at]
        triangles = np.ascontiguousarray(rows[:, :, :-1])
        roots = np.empty_like(triangles)
        kernels.invert(triangles, roots)
        return -(roots @ rows[:, :, -1:])[:, :, 0], roots

    def _eliminated(self, names: Sequence[str]) -> tuple[Array, Array]:
        matrices, logs = self.matrices.copy(), self.logs + 0.5 * LOG_2PI * len(names)
        columns = np.array([self.numbers.index(name) for name in names], np.int64)
        kernels.eliminate(matrices, columns, logs)
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
    """The systems of a component for every configuration of its free switches (C order), or for those at `places`.

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
