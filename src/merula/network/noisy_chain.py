"""A noisy-MAX with many parents as a chain of small tables, so that its cost grows with their number, not exponentially.

Y is the last of A_1, …, A_n with A_i = max(A_{i−1}, Z_i), Z_i being what parent i alone brings about and A_0 the leak
(Heckerman & Breese 1996, "Causal independence for probability assessment and inference", temporal form).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from merula.logspace import Array


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
