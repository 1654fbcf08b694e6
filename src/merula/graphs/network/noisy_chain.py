"""A noisy-MAX with many parents as a chain of small tables, so that its cost grows with their number, not exponentially.

Y is the last of A_1, …, A_n with A_i = max(A_{i−1}, Z_i), Z_i being what parent i alone brings about and A_0 the leak
(Heckerman & Breese 1996, "Causal independence for probability assessment and inference", temporal form).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from merula.core.arrays import Array
from merula.graphs.factors.errors import TooWideError
from merula.graphs.network.node import Node, NoisyNode
from merula.graphs.network.noisy import noisy_max, noisy_rows


def chain_tables(strengths: Sequence[Array], leak: Array) -> list[Array]:
    """P(A_1 given x_1), then P(A_i given A_{i−1}, x_i) with axes (before, parent, after) for every further parent.

    Examples
    --------
    >>> first, second = chain_tables([np.array([[1, 0], [0.1, 0.9]]), np.array([[1, 0], [0.6, 0.4]])], np.array([1.0, 0]))
    >>> first.tolist()
    [[1.0, 0.0], [0.1, 0.9]]
    >>> second[0, 1].tolist()
    [0.6, 0.4]
    """
    steps = [_step(np.asarray(strength, dtype=np.float64)) for strength in strengths]
    return [np.einsum("b,bxa->xa", leak, steps[0]), *steps[1:]]


def _step(strength: Array) -> Array:
    """P(max(before, Z) = after given before, x): Z stays below where it does not show, and rises above where it does."""
    levels = strength.shape[1]
    at_most = np.cumsum(strength, axis=1)
    table = np.zeros((levels, len(strength), levels))
    for before in range(levels):
        table[before, :, before] = at_most[:, before]
        table[before, :, before + 1 :] = strength[:, before + 1 :]
    return table


def written_out(node: NoisyNode, known: Mapping[str, int], limit: float) -> Node:
    """A noisy-MAX as one table over those of its parents whose level is not known; the others act as part of the leak."""
    fixed = {parent: np.array([known[parent]]) for parent in node.parents if parent in known}
    left = [index for index, parent in enumerate(node.parents) if parent not in known]
    strengths = [node.strengths[index] for index in left]
    entries = prod(len(strength) for strength in strengths) * len(node.levels)
    if entries > limit:
        raise TooWideError(entries, limit)
    acting = [strength for parent, strength in zip(node.parents, node.strengths, strict=True) if parent in known]
    leak = noisy_rows(acting, node.leak, list(fixed.values()), 1)[0]
    return Node(node.name, node.levels, tuple(node.parents[index] for index in left), noisy_max(strengths, leak))
