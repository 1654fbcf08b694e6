"""Gibbs sampling: each variable drawn anew given its Markov blanket, in many chains side by side.

Geman & Geman (1984). The chains' stationary distribution is the posterior if every state can be reached from every other
one variable at a time; deterministic tables may forbid that, and then a chain stays near where it began.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.core.logspace import safe_log
from merula.graphs.network.evidence import Evidence
from merula.graphs.network.forward_draws import State, likelihoods_of
from merula.graphs.network.node import AnyNode, GaussianNode, Node, NoisyNode
from merula.graphs.structure.graph import children_of

Integers = NDArray[np.int64]
WRITTEN_OUT = 2**12  # entries up to which a noisy variable is looked up in its table


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
        found: Array = self.logs[start[:, None] + self.strides[name] * np.arange(self.cards[name])]
        return found


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
