"""Rows drawn from a network parents first: one variable at a time, for all rows at once, weighted by the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.core.logspace import safe_log
from merula.graphs.factors.tree_draws import draw_cells, row_numbers
from merula.graphs.network.evidence import Evidence
from merula.graphs.network.node import AnyNode, GaussianNode, Node, NoisyNode
from merula.graphs.structure.graph import ancestors, topological_order

Integers = NDArray[np.int64]
State = dict[str, NDArray[Any]]  # by variable: the place of the level, or the number, in each draw
LOG_TWO_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Draws:
    """Rows drawn, and the logarithm of each one's weight."""

    state: State
    log_weights: Array

    @property
    def weights(self) -> Array:
        """The weights, the largest 1; all of them 0 if no row agrees with the evidence."""
        peak = self.log_weights.max(initial=-np.inf)
        return np.exp(self.log_weights - peak) if peak > -np.inf else np.zeros(len(self.log_weights))


def needed_for(nodes: Mapping[str, AnyNode], names: Iterable[str]) -> dict[str, AnyNode]:
    """These variables and their ancestors, parents first: no other has to be drawn."""
    graph = {name: node.parents for name, node in nodes.items()}
    wanted = {*names}
    wanted |= ancestors(graph, wanted)
    return {name: nodes[name] for name in topological_order(graph) if name in wanted}


def likelihoods_of(nodes: Mapping[str, AnyNode], evidence: Evidence) -> dict[str, Array]:
    """What is known of discrete variables, as a likelihood for each level."""
    hard = {name: np.eye(len(nodes[name].levels))[code] for name, code in evidence.hard.items()}
    return hard | evidence.soft


def draw_weighted(
    nodes: Mapping[str, AnyNode], evidence: Evidence, n: int, rng: np.random.Generator, state: State | None = None
) -> Draws:
    """Rows drawn parents first and held to the evidence, each weighted by how probable that was (likelihood weighting).

    Fung & Chang (1990). A variable with a likelihood λ is drawn from P(x given parents)·λ(x), and the weight takes the sum
    of that over its levels: for a known level, its probability. `nodes` come parents first; what `state` holds is drawn.
    """
    known = likelihoods_of(nodes, evidence)
    state, logs = dict(state or {}), np.zeros(n)
    for name, node in nodes.items():
        if name in state:
            continue
        if isinstance(node, GaussianNode):
            state[name], more = _number(node, state, n, rng, evidence.numbers.get(name))
            logs += more
        elif name in known:
            table, rows = conditional(node, state, n)
            agreeing = table * known[name]
            logs += safe_log(agreeing.sum(axis=1))[rows]
            state[name] = draw_cells(agreeing, rows, rng)
        else:
            state[name] = _level(node, state, n, rng)
    return Draws(state, logs)


def conditional(node: Node | NoisyNode, state: State, n: int) -> tuple[Array, Integers]:
    """P(variable given its parents) as a table, and the row of it that each draw has; noisy ones are not written out."""
    if isinstance(node, Node):
        table = node.table.reshape(-1, len(node.levels))
        return table, row_numbers(_levels_of(node.parents, state, n), node.table.shape[:-1])
    at_most = np.tile(np.cumsum(node.leak), (n, 1))
    for parent, strength in zip(node.parents, node.strengths, strict=True):
        at_most *= np.cumsum(strength, axis=1)[state[parent]]
    return np.diff(at_most, axis=1, prepend=0.0), np.arange(n)


def _level(node: Node | NoisyNode, state: State, n: int, rng: np.random.Generator) -> Integers:
    """A level for each draw; of a noisy variable, the largest of what each parent and the leak bring about."""
    if isinstance(node, Node):
        table, rows = conditional(node, state, n)
        return draw_cells(table.copy(), rows, rng)
    level = draw_cells(node.leak[None, :].copy(), np.zeros(n, np.int64), rng)
    for parent, strength in zip(node.parents, node.strengths, strict=True):
        np.maximum(level, draw_cells(strength.copy(), state[parent], rng), out=level)
    return level


def _number(
    node: GaussianNode, state: State, n: int, rng: np.random.Generator, known: float | None
) -> tuple[Array, Array | float]:
    """A number for each draw, and the logarithm of its density if it is known."""
    index = tuple(_levels_of(node.discrete, state, n))
    mean = np.broadcast_to(node.intercept[index], n).astype(np.float64)
    for j, parent in enumerate(node.numeric):
        mean += node.slopes[(*index, j)] * state[parent]
    variance = np.broadcast_to(node.variance[index], n)
    if known is None:
        return rng.normal(mean, np.sqrt(variance)), 0.0
    if not variance.any():  # set by an intervention
        return np.full(n, known), safe_log((mean == known).astype(np.float64))
    return np.full(n, known), -0.5 * (LOG_TWO_PI + np.log(variance) + (known - mean) ** 2 / variance)


def _levels_of(names: tuple[str, ...], state: State, n: int) -> Integers:
    """The levels of some variables, a row for each."""
    return np.stack([state[name] for name in names]) if names else np.zeros((0, n), np.int64)
