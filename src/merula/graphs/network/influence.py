"""How strongly each arc of a network acts: how far a child's distribution moves when one parent's level changes and the others stay.

The distance between two distributions is Hellinger's, from 0 (the parent changes nothing) to 1 (each level of it makes other levels of
the child certain); it is averaged over all pairs of the parent's levels and all levels of the other parents, and the largest is told too
(Koiter 2006, "Visualizing inference in Bayesian networks", chapter 3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from merula.core import Array
from merula.graphs.network.inference import written_out
from merula.graphs.network.node import GaussianNode, NoisyNode

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork


@dataclass(frozen=True)
class Influence:
    """One arc, and how far its child moves with its parent: on average, and at most."""

    parent: str
    child: str
    average: float
    largest: float

    def __str__(self) -> str:
        return f"{self.parent} → {self.child}: {self.average:.3f} on average, {self.largest:.3f} at most"


def influences(network: BayesianNetwork, *, limit: float | None = None) -> tuple[Influence, ...]:
    """The strength of every arc between variables that have levels, the strongest on average first.

    Examples
    --------
    >>> import merula as mr
    >>> network = mr.BayesianNetwork().add("flu", ["yes", "no"], [0.1, 0.9]).add("age", ["old", "young"], [0.5, 0.5])
    >>> table = {("yes", "old"): [1, 0], ("yes", "young"): [1, 0], ("no", "old"): [0.3, 0.7], ("no", "young"): [0.2, 0.8]}
    >>> for arc in network.add("cough", ["yes", "no"], table, parents=["flu", "age"]).influences():
    ...     print(arc)
    flu → cough: 0.708 on average, 0.743 at most
    age → cough: 0.041 on average, 0.082 at most
    """
    found = [arc for name in network.variables for arc in _arcs_to(network, name, network._limit(limit))]
    return tuple(sorted(found, key=lambda arc: (-round(arc.average, 12), -round(arc.largest, 12), arc.parent, arc.child)))  # fmt: skip


def _arcs_to(network: BayesianNetwork, name: str, limit: float) -> Iterator[Influence]:
    node = network._stated()[name]
    if isinstance(node, GaussianNode) or not node.parents:
        return
    table = (written_out(node, {}, limit) if isinstance(node, NoisyNode) else node).table
    for axis, parent in enumerate(node.parents):
        apart = distances(np.moveaxis(table, axis, 0))
        yield Influence(parent, name, float(apart.mean()) if apart.size else 0.0, float(apart.max(initial=0.0)))


def distances(rows: Array) -> Array:
    """Hellinger's distance √(½ Σ (√p − √q)²) of every two entries of the first axis, distributions along the last.

    Examples
    --------
    >>> distances(np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])).round(4).tolist()
    [1.0, 0.5412, 0.5412]
    """
    roots = np.sqrt(rows)
    pairs = combinations(range(len(roots)), 2)
    found = [np.sqrt(0.5 * ((roots[i] - roots[j]) ** 2).sum(axis=-1)) for i, j in pairs]
    return np.array(found)
