"""Exact draws from a posterior: levels from the junction tree, then numbers given the levels and the known numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.graphs.network import hybrid
from merula.graphs.network.components import points
from merula.graphs.network.evidence import Evidence
from merula.graphs.network.forward_draws import State, draw_weighted
from merula.graphs.network.inference import Inference
from merula.graphs.network.node import AnyNode, GaussianNode

Numeric = dict[str, GaussianNode]
ROOM = 2**21  # entries of the covariances that are held at once


def draw_posterior(
    nodes: Mapping[str, AnyNode],
    inference: Inference,
    evidence: Evidence,
    n: int,
    rng: np.random.Generator,
    limit: float,
) -> tuple[float, State]:
    """The log density of the evidence, and `n` independent rows drawn from the posterior; `nodes` come parents first."""
    log, pieces = hybrid.evidence_pieces(nodes, inference, evidence, limit) if evidence.numbers else (0.0, ())
    more, levels = inference.draw(n, rng, evidence, limit, pieces)
    if not log + more > -np.inf:
        return -np.inf, {}
    state = draw_weighted(nodes, Evidence({}, {}, {}, {}), n, rng, state={**levels}).state
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
