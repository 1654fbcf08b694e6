"""Many rows asked at once: all through one junction tree, missing cells summed out, numbers weighed by their densities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError, nearest, warn_of, warn_user
from merula.core.logspace import ZeroEvidenceWarning, safe_log
from merula.core.threads import for_each_block
from merula.data.encode.columns import CodedColumns, code_columns
from merula.data.table import open_table
from merula.graphs.factors.errors import TooWideError
from merula.graphs.factors.propagation import NO_FACTORS, RowFactors
from merula.graphs.network import _elimination as kernels
from merula.graphs.network.evidence import NOTHING_KNOWN
from merula.graphs.network.inference import Inference
from merula.graphs.network.linear_systems import LOG_2PI, Nodes, Systems, check_width, components, points, systems_of
from merula.graphs.network.node import AnyNode, GaussianNode, NoisyNode
from merula.graphs.network.noisy import noisy_rows

BLOCK = 16_384  # rows whose densities are computed at once


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


def read_known(
    nodes: Mapping[str, AnyNode], source: Any, cuts: Mapping[str, Any], target: str | None = None
) -> CodedColumns:
    """The columns of a table that a network knows, as codes and numbers; unknown levels count as missing, with a warning.

    The target's own column is not looked at. Numbers of a variable that has cuts are read as its intervals.
    """
    table = open_table(source)
    names = [name for name in table.names if name in nodes]
    if not names:
        raise InputError(f"no column of the rows is a variable of the network, which has {', '.join(map(repr, list(nodes)[:8]))}{' …' if len(nodes) > 8 else ''}", remedy=f"the rows have {', '.join(map(repr, table.names[:8]))}")  # fmt: skip
    _warn_of_typing(table.names, [name for name in nodes if name != target])
    names = [name for name in names if name != target]
    levels = {name: None if isinstance(nodes[name], GaussianNode) else nodes[name].levels for name in names}
    rows = code_columns(table, names, levels, unseen="missing", cuts=cuts)
    warn_of(rows.notes)
    return rows


def _warn_of_typing(columns: Sequence[str], variables: Sequence[str]) -> None:
    """A warning where a column is almost called like a variable that has none: it would be passed over without a word."""
    stray = [name for name in columns if name not in variables]
    for name in variables if stray else ():
        hint = nearest(name, stray, 0.8) if name not in columns else ""
        if hint:
            warn_user(f"no column is called {name!r}, which counts as not observed{hint}", UserWarning)


def posteriors(
    nodes: Mapping[str, AnyNode],
    inference: Inference,
    source: Any,
    target: str,
    cuts: Mapping[str, Any],
    limit: float,
    n_jobs: int | None,
) -> Array:
    """P(target given what a row knows), for every row."""
    if isinstance(nodes[target], GaussianNode):
        raise InputError.at(f"the target {target!r}", "is numeric, rows are answered with probabilities of levels", remedy=f"ask query({target!r}, given=row) for each row")  # fmt: skip

    def ask(rows: CodedColumns) -> tuple[Array, ...]:
        numbers = numeric_rows(nodes, rows, limit, target)
        tree, tables, variables = inference.rows(rows.names, target, limit, numbers.scopes)
        codes, position = _codes(rows, inference, variables), variables.index(inference.index[target])
        return tree.posteriors_of_rows(tables, codes, position, n_jobs, numbers.factors())

    logs, answers = _asked(read_known(nodes, source, cuts, target), ask)
    impossible = ~(logs > -np.inf)
    if impossible.any():
        answers[impossible] = inference.joint((target,), NOTHING_KNOWN, limit)[1]
        count = int(impossible.sum())
        warn_user(
            f"{count} row{'s have' if count > 1 else ' has'} probability 0 in this network (the first is row {int(np.argmax(impossible))}); the answer there is P({target}) without the row",
            ZeroEvidenceWarning,
        )
    return answers


def log_probabilities(
    nodes: Mapping[str, AnyNode],
    inference: Inference,
    source: Any,
    cuts: Mapping[str, Any],
    limit: float,
    n_jobs: int | None,
) -> Array:
    """log P(row) for every row of a table."""
    return log_of_rows(nodes, inference, read_known(nodes, source, cuts), limit, n_jobs)


def log_of_rows(
    nodes: Mapping[str, AnyNode], inference: Inference, known: CodedColumns, limit: float, n_jobs: int | None
) -> Array:
    """log P(row) for every row of columns that are read already."""

    def ask(rows: CodedColumns) -> tuple[Array, ...]:
        numbers = numeric_rows(nodes, rows, limit)
        discrete = [name for name in rows.names if name in inference.index]
        if len(discrete) == len(inference.names) and not any(rows.missing(name).any() for name in discrete):
            return (_complete(nodes, rows) + _densities(numbers, n_jobs),)
        tree, tables, variables = inference.rows(discrete, None, limit, numbers.scopes)
        return (tree.log_evidence_of_rows(tables, _codes(rows, inference, variables), n_jobs, numbers.factors()),)

    return _asked(known, ask)[0]


def _asked(rows: CodedColumns, ask: Callable[[CodedColumns], tuple[Array, ...]]) -> tuple[Array, ...]:
    """The answers for rows, all at once; if that is too wide, for those that know the same numbers, group by group."""
    try:
        return ask(rows)
    except TooWideError:
        groups = patterns(rows)
        if len(groups) < 2:
            raise
    parts = [ask(rows.take(indices)) for indices in groups]
    order = np.argsort(np.concatenate(groups))
    return tuple(np.concatenate(found)[order] for found in zip(*parts, strict=True))


def _densities(numbers: NumericRows, n_jobs: int | None) -> Array:
    """log p(numbers given levels) of rows that know all levels: one configuration of each scope agrees with them."""
    blocks = for_each_block(
        lambda start: numbers.logs(slice(start, start + BLOCK))[1], numbers.rows.count, n_jobs, BLOCK
    )
    return np.concatenate([np.zeros(0), *blocks])


def _complete(nodes: Mapping[str, AnyNode], rows: CodedColumns) -> Array:
    """log P(row) of complete rows: one entry of each table."""
    logs = np.zeros(rows.count)
    for node in nodes.values():
        if isinstance(node, GaussianNode):
            continue
        codes = [rows.codes[rows.positions[name]] for name in (*node.parents, node.name)]
        if isinstance(node, NoisyNode):
            found = noisy_rows(node.strengths, node.leak, codes[:-1], rows.count)
            logs += safe_log(np.take_along_axis(found, codes[-1][:, np.newaxis], axis=1)[:, 0])
        else:
            logs += safe_log(node.table[tuple(codes)])
    return logs


def _codes(rows: CodedColumns, inference: Inference, variables: list[int]) -> NDArray[np.int32]:
    """One row of codes for each row, in the order of a tree's variables; −1 for what no column says."""
    codes = np.full((len(variables), rows.count), -1, dtype=np.int32)
    position = {v: column for column, v in enumerate(variables)}
    for name in rows.names:
        v = inference.index.get(name)
        if v in position:
            codes[position[v]] = rows.codes[rows.positions[name]]
    return codes.T
