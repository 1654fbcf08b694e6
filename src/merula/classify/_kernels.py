"""The compiled loops behind weights of terms: plain, serial."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel


@kernel
def residuals(scores: Array, log_prior: Array, codes: NDArray[np.int64], weights: Array) -> float:
    """Turn the sums of terms of each row into weight · (P(class given row) − 1 where it is its own), in place; Σ weight · −log P(own)."""
    total = 0.0
    for row in range(scores.shape[0]):
        peak = -np.inf
        for label in range(scores.shape[1]):
            scores[row, label] += log_prior[label]
            peak = max(peak, scores[row, label])
        own, mass = scores[row, codes[row]] - peak, 0.0
        for label in range(scores.shape[1]):
            scores[row, label] = np.exp(scores[row, label] - peak)
            mass += scores[row, label]
        total += weights[row] * (np.log(mass) - own)
        for label in range(scores.shape[1]):
            scores[row, label] *= weights[row] / mass
        scores[row, codes[row]] -= weights[row]
    return total
