"""The columns of a network given one of its variables, the class: looked up where a row knows enough, else by the junction tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.logspace import safe_log
from merula.core.sound import ROUNDING, all_shaped, are_finite, are_labels, are_names, within
from merula.data.encode import CodedColumns, Encoded
from merula.data.schema import Label
from merula.data.table import label_array
from merula.distributions.base import Distribution
from merula.distributions.joint_table import level_cells
from merula.graphs.dependence import _kernels as kernels
from merula.graphs.network.batches import log_of_rows
from merula.graphs.network.building import free_parameters
from merula.graphs.network.evidence import NOTHING_KNOWN, Evidence
from merula.graphs.network.inference import Inference
from merula.graphs.network.linear_systems import LOG_2PI
from merula.graphs.network.node import AnyNode, GaussianNode, Node
from merula.graphs.network.random_draws import draw_posterior
from merula.graphs.structure.graph import Graph, ancestors, find_cycle, markov_blanket, topological_order
from merula.stats.distinct_rows import MISSING
from merula.stats.moments import refuse_overflow

LIMIT = 2**29  # table entries of an exact answer, 4 GiB
FARTHEST = 1e100  # standard deviations from its mean that a number is taken for, at most
LARGEST = 1e150  # a number whose square still is one
NOISE = 1e-12  # what rounding leaves of nothing
Cells = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class NetworkColumns(Distribution):
    """P(columns given the class) of a Bayesian network: log P(known cells, class) − log P(class), whatever is missing summed out.

    A column of words has its levels and ``tables[j]`` = P(level given parents), an axis for each of ``parent_sets[j]`` and one
    for the levels. A column of numbers has no levels (None): its table has an axis for each parent with levels, which come
    first, and at last intercept, variance, and a slope for each numeric parent, of (x − centre) / unit. The class may be a
    parent, `target`, and have parents. A column that says nothing (never met, or always the same number) has an empty table.
    """

    columns: tuple[str, ...]
    target: str
    level_sets: tuple[tuple[Label, ...] | None, ...]
    parent_sets: tuple[tuple[str, ...], ...]
    tables: tuple[Array, ...]
    class_parents: tuple[str, ...]
    class_table: Array
    centre: Array
    unit: Array

    # ------------------------------------------------------------------------------------------------ the network

    @cached_property
    def graph(self) -> Graph:
        """The parents of every variable that says something, and of the class."""
        told = {name: parents for name, parents, table in self._each if table.size}
        return {self.target: self.class_parents, **told}

    @cached_property
    def _each(self) -> list[tuple[str, tuple[str, ...], Array]]:
        return list(zip(self.columns, self.parent_sets, self.tables, strict=True))

    @cached_property
    def nodes(self) -> dict[str, AnyNode]:
        """The network, parents first: the class has its indices as levels, numbers are in units from their centres."""
        found: dict[str, AnyNode] = {}
        for name in topological_order(self.graph):
            if name == self.target:
                found[name] = Node(name, tuple(range(self.class_count)), self.class_parents, self.class_table)
            else:
                found[name] = self._node(self._where[name])
        return found

    def _node(self, j: int) -> AnyNode:
        name, parents, table = self._each[j]
        levels = self.level_sets[j]
        if levels is not None:
            return Node(name, levels, parents, table)
        words = tuple(parent for parent in parents if self._has_levels(parent))
        return GaussianNode(name, words, parents[len(words) :], table[..., 0], table[..., 2:], table[..., 1])

    def _has_levels(self, name: str) -> bool:
        return name == self.target or self.level_sets[self._where[name]] is not None

    @property
    def class_count(self) -> int:
        """The number of classes."""
        return int(self.class_table.shape[-1])

    @cached_property
    def log_class(self) -> Array:
        """log P(class), the network's marginal."""
        if not self.class_parents:
            return safe_log(self.class_table)
        return safe_log(self._inference.joint((self.target,), NOTHING_KNOWN, LIMIT)[1])

    @cached_property
    def _inference(self) -> Inference:
        return Inference({name: node for name, node in self.nodes.items() if not isinstance(node, GaussianNode)})

    @cached_property
    def _where(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.columns)}

    @cached_property
    def _words(self) -> tuple[str, ...]:
        return tuple(name for name, levels in zip(self.columns, self.level_sets, strict=True) if levels is not None)

    @cached_property
    def _word_levels(self) -> tuple[tuple[Label, ...], ...]:
        return tuple(levels for levels in self.level_sets if levels is not None)

    @cached_property
    def _numbers(self) -> tuple[str, ...]:
        return tuple(name for name, levels in zip(self.columns, self.level_sets, strict=True) if levels is None)

    # ------------------------------------------------------------------------------------------------ scoring

    def log_prob(self, rows: Encoded) -> Array:
        return self._log_prob(*self._read(rows))

    def _read(self, rows: Encoded) -> tuple[Cells, Array]:
        """Each row's levels, −1 for missing, and its numbers in units from their centres, NaN for missing."""
        cells = np.zeros((len(rows), 0), dtype=np.int32)
        if self._words:
            cells = level_cells(rows, self._words, self._word_levels, "missing")
        return cells, self._in_units(rows)

    def _in_units(self, rows: Encoded) -> Array:
        if not self._numbers:
            return np.zeros((len(rows), 0))
        at, values = [self._where[name] for name in self._numbers], rows.values(self._numbers)
        refuse_overflow(values, ~np.isinf(values).any(axis=0), self._numbers)
        with np.errstate(over="ignore"):
            found = (values.astype(np.float64) - self.centre[at]) / self.unit[at]
        return np.clip(found, -FARTHEST, FARTHEST)

    def _log_prob(self, cells: Cells, values: Array) -> Array:
        """log P(known cells given class): of rows that know the parents of all they know by looking up, else by summing out."""
        found = np.zeros((len(cells), self.class_count))
        lacking = self._add_words(cells, found)
        for name in self._numbers:
            if name in self.graph:
                lacking |= self._add_number(name, cells, values, found)
        if lacking.any():
            found[lacking] = self._summed(cells[lacking], values[lacking])
        return found

    def _add_words(self, cells: Cells, out: Array) -> NDArray[np.bool_]:
        first, parents, sizes, starts, table = self._stacked
        if len(sizes) > cells.shape[1]:  # the class given its parents, as one column more that every row knows
            cells = np.concatenate([cells, np.zeros((len(cells), 1), dtype=np.int32)], axis=1)
        return kernels.add_terms(cells, first, parents, sizes, starts, table, out)

    @cached_property
    def _stacked(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Array]:
        """Where each column's parents stand, which they are, its levels, where its table begins, and all tables end to end."""
        place = {name: position for position, name in enumerate(self._words)}
        above = [[parent for parent in self.parent_sets[self._where[name]] if parent in place] for name in self._words]
        tables = [self._by_class(name) for name in self._words]
        sizes = [len(levels) for levels in self._word_levels]
        if self.class_parents:
            above, sizes = [*above, list(self.class_parents)], [*sizes, 1]
            tables.append(_padded(less(safe_log(self.class_table), self.log_class)[..., None, :]))
        flat = [table.reshape(-1, self.class_count) for table in tables]
        return (
            np.cumsum([0, *map(len, above)]),
            np.array([place[parent] for some in above for parent in some], dtype=np.int64),
            np.array(sizes, dtype=np.int64),
            np.cumsum([0, *map(len, flat)]),
            np.concatenate([np.zeros((0, self.class_count)), *flat]),
        )

    def _by_class(self, name: str) -> Array:
        """log P(level given parents and class): an axis for each parent, the levels and one for none, the classes."""
        j = self._where[name]
        table, parents = self.tables[j], self.parent_sets[j]
        if not table.size:
            return np.zeros((1, self.class_count))
        logs = safe_log(table)
        if self.target in parents:
            return _padded(np.moveaxis(logs, parents.index(self.target), -1))
        return _padded(np.broadcast_to(logs[..., None], (*logs.shape, self.class_count)))

    def _add_number(self, name: str, cells: Cells, values: Array, out: Array) -> NDArray[np.bool_]:
        """Add the density of one column where its parents are known; which rows know it and lack one of them."""
        words, numeric, table = self._regressions[name]
        own = values[:, self._numbers.index(name)]
        known = ~np.isnan(own)
        given = (cells[:, words] >= 0).all(axis=1) & ~np.isnan(values[:, numeric]).any(axis=1)
        at = table[tuple(np.maximum(cells[:, word], 0) for word in words)]
        if not words:
            at = at[None]
        mean = at[..., 0] + np.einsum("rcp,rp->rc", np.broadcast_to(at[..., 2:], (len(cells), *at.shape[1:-1], len(numeric))), values[:, numeric])  # fmt: skip
        error = np.clip((own[:, None] - mean) / np.sqrt(at[..., 1]), -LARGEST, LARGEST)
        unit = float(np.log(self.unit[self._where[name]]))
        logs = -0.5 * (error * error + LOG_2PI + np.log(at[..., 1])) - unit
        out += np.where((known & given)[:, None], logs, 0.0)
        return known & ~given

    @cached_property
    def _regressions(self) -> dict[str, tuple[list[int], list[int], Array]]:
        """For each number: its parents among the words and among the numbers, and its table with the classes last but one."""
        found = {}
        for name in self._numbers:
            j = self._where[name]
            parents, table = self.parent_sets[j], self.tables[j]
            words = [self._words.index(parent) for parent in parents if parent in self._words]
            numeric = [self._numbers.index(parent) for parent in parents if parent in self._numbers]
            axis = parents.index(self.target) if self.target in parents else None
            by_class = table[..., None, :] if axis is None else np.moveaxis(table, axis, -2)
            found[name] = words, numeric, by_class
        return found

    def _summed(self, cells: Cells, values: Array) -> Array:
        """The same for any rows: each of them once with every class, through one batched junction tree."""
        classes, count = self.class_count, len(cells)
        words = [name for name in self._words if name in self.graph]
        numbers = [name for name in self._numbers if name in self.graph]
        names = (self.target, *words, *numbers)
        codes = np.full((len(names), classes * count), MISSING, dtype=np.int32)
        codes[0] = np.repeat(np.arange(classes), count)
        for row, name in enumerate(words, start=1):
            codes[row] = np.tile(cells[:, self._words.index(name)], classes)
        known = {name: values[:, self._numbers.index(name)] for name in numbers}
        levels = tuple(self.nodes[name].levels if self._has_levels(name) else None for name in names)
        rows = CodedColumns(names, levels, codes, {name: np.tile(column, classes) for name, column in known.items()})
        logs = log_of_rows(self.nodes, self._inference, rows, LIMIT, 1).reshape(classes, count).T
        units = sum((~np.isnan(known[name]) * np.log(self.unit[self._where[name]]) for name in numbers), np.zeros(count))  # fmt: skip
        return less(logs, self.log_class) - units[:, None]

    # ------------------------------------------------------------------------------------------------ one column after the other

    @cached_property
    def blanket(self) -> frozenset[str]:
        """The columns that tell all that can be known of the class, once all of them are known."""
        return frozenset(markov_blanket(self.graph, self.target))

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The columns of the Markov blanket, then all others, each time parents first."""
        told = [name for name in topological_order(self.graph) if name != self.target]
        near = [name for name in told if name in self.blanket]
        silent = [name for name in self.columns if name not in self.graph]
        return (*near, *(name for name in told if name not in self.blanket), *silent)

    def given(self, name: str) -> tuple[str, ...]:
        """The columns before this one that its term depends on: its parents; what leads to the class hangs together given it."""
        above = ancestors(self.graph, [self.target])
        wanted = {*self.graph.get(name, ()), *(above if name in above else ())}
        return tuple(one for one in self.order[: self.order.index(name)] if one in wanted)

    def log_prob_of(self, name: str, rows: Encoded) -> Array:
        """log P(one cell given those before it in `order` and the class): what these are told more with it than without.

        The terms so found add up to the whole, whichever cells are missing. A column outside the Markov blanket tells no class
        from another once the blanket is known.
        """
        if name not in self.graph:
            return np.zeros((len(rows), self.class_count))
        cells, values = self._read(rows)
        position = self.order.index(name)
        whole = self._log_prob(*self._hidden(cells, values, self.order[position + 1 :]))
        rest = self._log_prob(*self._hidden(cells, values, self.order[position:]))
        term = less(whole, rest)
        if name not in self.blanket:
            highest = term.max(axis=1, keepdims=True)
            with np.errstate(invalid="ignore"):
                settled = self._knows_blanket(cells, values) & (np.abs(highest - term) <= NOISE * np.maximum(1.0, np.abs(highest))).all(axis=1)  # fmt: skip
            term[settled] = highest[settled]
        return term

    def _hidden(self, cells: Cells, values: Array, names: Sequence[str]) -> tuple[Cells, Array]:
        """The rows as if they lacked these columns."""
        cells, values = cells.copy(), values.copy()
        cells[:, [self._words.index(name) for name in names if name in self._words]] = MISSING
        values[:, [self._numbers.index(name) for name in names if name in self._numbers]] = np.nan
        return cells, values

    def _knows_blanket(self, cells: Cells, values: Array) -> NDArray[np.bool_]:
        words = [k for k, name in enumerate(self._words) if name in self.blanket]
        numbers = [k for k, name in enumerate(self._numbers) if name in self.blanket]
        known: NDArray[np.bool_] = np.all(cells[:, words] >= 0, axis=1)
        return known & ~np.isnan(values[:, numbers]).any(axis=1)

    def factors(self) -> tuple[Distribution, ...]:
        return tuple(OneOfNetwork((name,), self) for name in self.columns)

    # ------------------------------------------------------------------------------------------------ size and sampling

    @property
    def parameters_count(self) -> int:
        """The free parameters of all variables, less those of the class prior, which the model counts."""
        return sum(map(free_parameters, self.nodes.values())) - (self.class_count - 1)

    def parameters_of(self, name: str) -> int:
        """The free parameters of one column."""
        return free_parameters(self.nodes[name]) if name in self.nodes else 0

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        drawn: dict[str, Any] = {name: np.full(len(classes), None if name in self._words else np.nan) for name in self.columns}  # fmt: skip
        for label in np.unique(classes).tolist():
            own = np.flatnonzero(classes == label)
            known = Evidence({self.target: label}, {}, {}, {})
            _, state = draw_posterior(self.nodes, self._inference, known, len(own), rng, LIMIT)
            for name in self.columns:
                if name in state:
                    drawn[name][own] = self._written(name, state[name])
        return drawn

    def _written(self, name: str, found: NDArray[Any]) -> NDArray[Any]:
        """Labels, and numbers in the column's own units."""
        j = self._where[name]
        levels = self.level_sets[j]
        return found * self.unit[j] + self.centre[j] if levels is None else label_array(levels)[found]

    # ------------------------------------------------------------------------------------------------ files

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # what was derived is made anew

    def fits(self, classes: int) -> bool:
        parts: tuple[Any, ...] = (self.level_sets, self.parent_sets, self.tables)
        d = len(self.columns)
        if not are_names((*self.columns, self.target)) or not d or any(not isinstance(part, tuple) or len(part) != d for part in parts):  # fmt: skip
            return False
        if not all(levels is None or are_labels(levels, missing=True) for levels in self.level_sets):
            return False
        if not all(isinstance(table, np.ndarray) for table in (*self.tables, self.class_table)) or not self.class_table.ndim:  # fmt: skip
            return False
        placed = all(are_names(some) and set(some) <= self.graph.keys() for some in self.graph.values())
        if not placed or find_cycle(self.graph) or not all_shaped((d,), self.centre, self.unit):
            return False
        if not are_finite(self.centre) or not within(1 / LARGEST, LARGEST, self.unit):
            return False
        levels = {**dict(zip(self.columns, self.level_sets, strict=True)), self.target: tuple(range(classes))}
        return _is_table(self.class_table, self.class_parents, self.target, levels) and all(
            self._fits_column(name, parents, table, levels) for name, parents, table in self._each
        )

    def _fits_column(self, name: str, parents: tuple[str, ...], table: Array, levels: Mapping[str, Any]) -> bool:
        if not table.size:
            return parents == () and all_shaped((0,), table)
        if levels[name] is not None:
            return _is_table(table, parents, name, levels)
        words = [parent for parent in parents if levels[parent] is not None]
        shape = (*(len(levels[parent]) for parent in words), 2 + len(parents) - len(words))
        if list(parents[: len(words)]) != words or not all_shaped(shape, table):
            return False
        return within(-FARTHEST, FARTHEST, table) and within(1 / FARTHEST, FARTHEST, table[..., 1])


def _is_table(table: Array, parents: Sequence[str], name: str, levels: Mapping[str, Any]) -> bool:
    """Whether this is P(variable given parents), all of which have levels."""
    if not all(levels[parent] for parent in (*parents, name)):
        return False
    if not all_shaped(tuple(len(levels[member]) for member in (*parents, name)), table) or not within(0.0, 1.0 + ROUNDING, table):  # fmt: skip
        return False
    return bool((np.abs(table.sum(axis=-1) - 1) <= ROUNDING).all())


def _padded(logs: Array) -> Array:
    """The same with a place more on the axis of the levels, for those never met, which no row looks up."""
    return np.concatenate([logs, np.zeros((*logs.shape[:-2], 1, logs.shape[-1]))], axis=-2)


def less(logs: Array, others: Array) -> Array:
    """logs − others, where what is impossible either way adds nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(others), np.where(np.isneginf(logs), 0.0, logs), logs - others)


@dataclass(frozen=True, eq=False)
class OneOfNetwork(Distribution):
    """One column of a network: its term given the class and the columns before it, of which its parents are named."""

    columns: tuple[str, ...]
    whole: NetworkColumns

    @property
    def parents(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.whole.given(self.columns[0])

    @property
    def levels(self) -> Mapping[str, tuple[Label, ...]]:
        return {name: levels for name, levels in self.whole.levels.items() if name in self.columns}

    @property
    def parameters_count(self) -> int:
        return self.whole.parameters_of(self.columns[0])

    def log_prob(self, rows: Encoded) -> Array:
        return self.whole.log_prob_of(self.columns[0], rows)

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        return {name: self.whole.sample(classes, rng)[name] for name in self.columns}
