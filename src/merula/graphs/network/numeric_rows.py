"""What the numbers of many rows say of the discrete variables: log densities for every row and configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.data.encode.columns import CodedColumns
from merula.graphs.factors.propagation import NO_FACTORS, RowFactors
from merula.graphs.network import _elimination as kernels
from merula.graphs.network.components import Nodes, components, points
from merula.graphs.network.linear_systems import LOG_2PI, Systems, check_width, systems_of


@dataclass(frozen=True, eq=False)
class NumericRows:
    """The numbers of a table's rows, ready to be weighed: systems of equations by the switches they depend on.

    What rows say of the variable `hidden` is not looked at.
    """

    nodes: Nodes
    rows: CodedColumns
    systems: dict[tuple[str, ...], list[Systems]]
    hidden: str | None

    @property
    def scopes(self) -> list[tuple[str, ...]]:
        """The sets of switches; each has one factor of the rows' own."""
        return [scope for scope in self.systems if scope]

    def factors(self) -> RowFactors:
        """The densities as factors over `scopes`."""
        if not self.systems and not self._points:
            return NO_FACTORS
        return RowFactors(len(self.scopes), sum(map(self._width, self.scopes)), self.logs)

    def logs(self, part: slice) -> tuple[Array, Array]:
        """For some rows, log p(numbers given configuration) less its largest, scope by scope, and these largest summed."""
        count = len(range(*part.indices(self.rows.count)))
        found, constants = [np.empty((count, 0))], self._contradicted(part, count)
        for scope in self.systems:
            densities = self._densities(scope, part, count)
            highest = densities.max(axis=1, initial=-np.inf)
            constants += highest
            if scope:
                found.append(densities - highest[:, None])
        return np.concatenate(found, axis=1), constants

    def _densities(self, scope: tuple[str, ...], part: slice, count: int) -> Array:
        codes, levels = self._codes(scope, part, count), self._levels(scope)
        found = np.zeros((count, self._width(scope)))
        for systems in self.systems[scope]:
            values = np.stack([self.rows.values[name][part] for name in systems.numbers]) if systems.numbers else np.empty((0, count))  # fmt: skip
            known = ~np.isnan(values)
            kernels.add_log_densities(systems.matrices, systems.logs, values, known, codes, levels, LOG_2PI, found)
        return found

    def _codes(self, scope: tuple[str, ...], part: slice, count: int) -> NDArray[np.int32]:
        """A row for each switch: the level that each row of the table knows, −1 for none."""
        found = np.full((len(scope), count), -1, np.int32)
        for k, name in enumerate(scope):
            if name in self.rows.positions and name != self.hidden:
                found[k] = self.rows.codes[self.rows.positions[name], part]
        return found

    def _levels(self, scope: tuple[str, ...]) -> NDArray[np.int64]:
        """The level of each switch in each configuration."""
        shape = [len(self.nodes[name].levels) for name in scope]
        if not shape:
            return np.empty((1, 0), np.int64)
        return np.ascontiguousarray(np.indices(shape).reshape(len(shape), -1).T)

    def _width(self, scope: tuple[str, ...]) -> int:
        return prod(len(self.nodes[name].levels) for name in scope)

    def _contradicted(self, part: slice, count: int) -> Array:
        """−inf for rows that know another number than an intervention has set."""
        logs = np.zeros(count)
        for name, number in self._points.items():
            values = self.rows.values[name][part]
            logs[(values != number) & ~np.isnan(values)] = -np.inf
        return logs

    @cached_property
    def _points(self) -> dict[str, float]:
        return {name: number for name, number in points(self.nodes).items() if name in self.rows.values}


def numeric_rows(nodes: Nodes, rows: CodedColumns, limit: float, hidden: str | None = None) -> NumericRows:
    """The numbers of rows: those known in every row cut the network apart, those never known are integrated out at once."""
    fixed = points(nodes)
    seen = [name for name, values in rows.values.items() if name not in fixed and not np.isnan(values).all()]
    always = {name for name in seen if not np.isnan(rows.values[name]).any()}
    systems: dict[tuple[str, ...], list[Systems]] = {}
    for component in components(nodes, {*fixed, *always}, seen):
        check_width(nodes, component, {}, limit)
        own = systems_of(nodes, component, {}).given(fixed)
        never = [name for name in own.numbers if name not in seen]
        systems.setdefault(component.switches, []).append(own.without(never))
    return NumericRows(nodes, rows, systems, hidden)


def patterns(rows: CodedColumns) -> Sequence[NDArray[np.int64]]:
    """The rows in groups that know the same numbers."""
    if not rows.values:
        return [np.arange(rows.count)]
    known = np.stack([~np.isnan(values) for values in rows.values.values()], axis=1)
    _, group = np.unique(np.packbits(known, axis=1), axis=0, return_inverse=True)
    order = np.argsort(group.reshape(-1), kind="stable")
    return np.split(order, np.flatnonzero(np.diff(group.reshape(-1)[order])) + 1)
