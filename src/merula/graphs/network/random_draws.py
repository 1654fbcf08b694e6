"""Rows drawn from a network: parents first and weighted by the evidence, exactly from the posterior, or by Gibbs chains.

Gibbs sampling (Geman & Geman 1984) draws each variable anew given its Markov blanket, in many chains side by side. Their
stationary distribution is the posterior if every state can be reached from every other one variable at a time;
deterministic tables may forbid that, and then a chain stays near where it began.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.logspace import safe_log
from merula.graphs.factors.tree_draws import draw_cells, row_numbers
from merula.graphs.network.evidence import NOTHING_KNOWN, Evidence
from merula.graphs.network.hybrid import evidence_pieces
from merula.graphs.network.inference import Inference
from merula.graphs.network.linear_systems import LOG_2PI, points
from merula.graphs.network.node import AnyNode, GaussianNode, Node, NoisyNode
from merula.graphs.structure.graph import ancestors, children_of, topological_order

Integers = NDArray[np.int64]
State = dict[str, NDArray[Any]]  # by variable: the index of the level, or the number, in each draw
Numeric = dict[str, GaussianNode]
ROOM = 2**21  # entries of the covariances that are held at once
WRITTEN_OUT = 2**12  # entries up to which a noisy variable is looked up in its table


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
    return {name: np.eye(len(nodes[name].levels))[code] for name, code in evidence.hard.items()} | evidence.soft


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
    return np.full(n, known), -0.5 * (LOG_2PI + np.log(variance) + (known - mean) ** 2 / variance)


def _levels_of(names: tuple[str, ...], state: State, n: int) -> Integers:
    """The levels of some variables, a row for each."""
    return np.stack([state[name] for name in names]) if names else np.zeros((0, n), np.int64)


def draw_posterior(
    nodes: Mapping[str, AnyNode],
    inference: Inference,
    evidence: Evidence,
    n: int,
    rng: np.random.Generator,
    limit: float,
) -> tuple[float, State]:
    """The log density of the evidence, and `n` independent rows drawn from the posterior; `nodes` come parents first."""
    log, pieces = evidence_pieces(nodes, inference, evidence, limit) if evidence.numbers else (0.0, ())
    more, levels = inference.draw(n, rng, evidence, limit, pieces)
    if not log + more > -np.inf:
        return -np.inf, {}
    state = draw_weighted(nodes, NOTHING_KNOWN, n, rng, state={**levels}).state
    known = {name: number for name, number in evidence.numbers.items() if name not in points(nodes)}
    return log + more, given_numbers(nodes, state, known) if known else state


def given_numbers(nodes: Mapping[str, AnyNode], state: State, known: Mapping[str, float]) -> State:
    """Draws made without the known numbers, moved to what they are given them.

    x + Σ_xk·Σ_kk⁻¹·(known − x_k), with the covariance Σ given the levels (Matheron's rule: Journel & Huijbregts 1978,
    "Mining geostatistics", section VII.A.2)
    """
    numeric = {name: node for name, node in nodes.items() if isinstance(node, GaussianNode)}
    known = {
        name: number for name, number in known.items() if numeric[name].variance.any()
    }  # others are set, not drawn
    if not known or not len(next(iter(state.values()))):
        return state
    values = np.stack([state[name] for name in numeric], axis=1)
    at = [list(numeric).index(name) for name in known]
    groups, group = _configurations(numeric, state, len(values))
    step = max(1, ROOM // len(numeric) ** 2)
    for first in range(0, len(next(iter(groups.values()), np.zeros(1))), step):
        part = {name: codes[first : first + step] for name, codes in groups.items()}
        covariance = _covariances(numeric, part, min(step, int(group.max(initial=0)) + 1 - first))
        rows = np.flatnonzero((group >= first) & (group < first + step))
        mine = covariance[group[rows] - first]
        apart = np.array(list(known.values())) - values[rows][:, at]
        values[rows] += np.einsum("rjk,rk->rj", mine[:, :, at], np.linalg.solve(mine[:, at][:, :, at], apart[:, :, None])[:, :, 0])  # fmt: skip
    values[:, at] = list(known.values())
    return {**state, **dict(zip(numeric, values.T, strict=True))}


def _configurations(numeric: Numeric, state: State, n: int) -> tuple[State, NDArray[np.int64]]:
    """The distinct combinations of levels of the numbers' discrete parents, and which of them each draw has."""
    parents = sorted({parent for node in numeric.values() for parent in node.discrete})
    if not parents:
        return {}, np.zeros(n, np.int64)
    distinct, group = np.unique(np.stack([state[name] for name in parents], axis=1), axis=0, return_inverse=True)
    return dict(zip(parents, distinct.T, strict=True)), group.reshape(-1)


def _covariances(numeric: Numeric, levels: State, count: int) -> Array:
    """The covariance matrix of all numbers for each of some combinations of levels; the numbers come parents first.

    cov(y, x) = Σ_j slope_j·cov(x_j, x); var(y) = variance + Σ_j slope_j·cov(x_j, y)
    """
    index = {name: j for j, name in enumerate(numeric)}
    found = np.zeros((count, len(numeric), len(numeric)))
    for name, node in numeric.items():
        at, own = tuple(levels[parent] for parent in node.discrete), index[name]
        slopes = np.broadcast_to(node.slopes[at], (count, len(node.numeric)))
        parents = [index[parent] for parent in node.numeric]
        found[:, own] = np.einsum("cj,cjk->ck", slopes, found[:, parents])
        found[:, :, own] = found[:, own]
        found[:, own, own] = np.einsum("cj,cj->c", slopes, found[:, own][:, parents]) + node.variance[at]
    return found


@dataclass(frozen=True, eq=False)
class _Table:
    """log P(variable given parents) of a node, looked up in its table."""

    scope: tuple[str, ...]
    strides: dict[str, int]
    cards: dict[str, int]
    logs: Array

    @classmethod
    def of(cls, node: Node | NoisyNode) -> _Table:
        scope, shape = (*node.parents, node.name), node.table.shape
        strides = {name: prod(shape[axis + 1 :]) for axis, name in enumerate(scope)}
        return cls(scope, strides, dict(zip(scope, shape, strict=True)), safe_log(node.table).reshape(-1))

    def for_levels(self, name: str, state: State) -> Array:
        """The logarithm in each chain (row) if one variable had each of its levels (column)."""
        start: Integers = np.zeros(len(state[name]), np.int64)
        for other in self.scope:
            if other != name:
                start += self.strides[other] * state[other]
        return self.logs[start[:, None] + self.strides[name] * np.arange(self.cards[name])]


@dataclass(frozen=True, eq=False)
class _Noisy:
    """log P(variable given parents) of a noisy variable with too many parents for a table: a product over the parents."""

    node: NoisyNode
    at_most: Array  # by parent and its level: P(what it alone brings about ≤ y); levels it does not have are left empty
    leak: Array

    @classmethod
    def of(cls, node: NoisyNode) -> _Noisy:
        at_most = np.zeros((len(node.parents), max(map(len, node.strengths)), len(node.levels)))
        for parent, strength in enumerate(node.strengths):
            at_most[parent, : len(strength)] = np.cumsum(strength, axis=1)
        return cls(node, at_most, np.cumsum(node.leak))

    def for_levels(self, name: str, state: State) -> Array:
        """The logarithm in each chain (row) if one variable had each of its levels (column)."""
        parents = self.node.parents
        parts = self.at_most[np.arange(len(parents))[:, None], np.stack([state[parent] for parent in parents])]
        if name == self.node.name:
            return safe_log(np.diff(self.leak * parts.prod(axis=0), axis=1, prepend=0.0))
        position = parents.index(name)
        parts[position] = 1.0
        others = self.leak * parts.prod(axis=0)
        own, chains = state[self.node.name], np.arange(len(others))
        sums = self.at_most[position, : len(self.node.strengths[position])].T
        upper = others[chains, own][:, None] * sums[own]
        lower = np.where(own > 0, others[chains, own - 1], 0.0)[:, None] * sums[own - 1]
        return safe_log(np.maximum(upper - lower, 0.0))


def sweeps(
    nodes: Mapping[str, AnyNode], evidence: Evidence, state: State, burn_in: int, rng: np.random.Generator
) -> Iterator[State]:
    """The state of all chains after each sweep over the unknown variables, without end; `state` is where they begin.

    P(x given all else) ∝ λ(x) · P(x given parents) · Π_child P(child given its parents), λ being soft evidence
    """
    children = children_of({name: node.parents for name, node in nodes.items()})
    parts = {name: _conditional(node) for name, node in nodes.items()}
    known = likelihoods_of(nodes, evidence)
    state, done = dict(state), 0
    while True:
        for name, node in nodes.items():
            if name not in evidence.hard:
                logs = safe_log(known.get(name, np.ones(len(node.levels))))
                logs = logs + sum(parts[member].for_levels(name, state) for member in (name, *children[name]))
                state[name] = np.argmax(logs + rng.gumbel(size=logs.shape), axis=1)  # x with probability ∝ exp(logs)
        done += 1
        if done > burn_in:
            yield state


def _conditional(node: AnyNode) -> _Table | _Noisy:
    assert not isinstance(node, GaussianNode)
    if isinstance(node, NoisyNode) and prod(map(len, node.strengths)) * len(node.levels) > WRITTEN_OUT:
        return _Noisy.of(node)
    return _Table.of(node)
