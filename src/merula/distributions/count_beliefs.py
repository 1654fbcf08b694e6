"""What is believed of the mean and size of counts: Gamma for Poisson counts, Beta given each of many sizes for negative binomial ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, gammaln

from merula.core import Array
from merula.distributions.posteriors import log_gammas

NEAREST_POISSON, FARTHEST_POISSON = (
    1e-3,
    1e2,
)  # m / size, m the column's mean: how far counts vary more than Poisson counts
SIZES = 61  # that are tried
LARGEST_MEAN = 2.0**53


def gamma_belief(values: Array, counts: Array, rows: float) -> tuple[Array, Array]:
    """Σ x and the weight of each class with so many imaginary rows at the mean of all: shape and rate of its mean's Gamma distribution."""
    n, sums = counts.sum(axis=1), counts @ values
    return sums + rows * float(sums.sum() / n.sum()), n + rows


@dataclass(frozen=True, eq=False)
class CountBelief:
    """Beliefs of one column's counts: P(size) for each class, and mean = size · G(own) / G(all) given a size.

    ``total[c]`` is Σ x and ``weight[c]`` the rows, imaginary ones included. Poisson counts have no sizes: mean = G(total) / weight.
    """

    total: Array
    weight: Array
    sizes: Array
    reached: Array

    @classmethod
    def of(cls, values: Array, counts: Array, rows: float, overdispersed: bool) -> CountBelief:
        """From the weight of each class at each value, and so many imaginary rows at the mean of all.

        Given the size r, the share p = r / (r + mean) has the prior Beta(rows·r, rows·m), and so the rows have the probability

        P(x | r) = Π_row Γ(x + r) / (Γ(r)·x!) · B(rows·r + n·r, rows·m + Σ x) / B(rows·r, rows·m)
        """
        total, weight = gamma_belief(values, counts, rows)
        if not overdispersed:
            return cls(total, weight, np.zeros(0), np.zeros((len(weight), 0)))
        middle = float((counts @ values).sum() / counts.sum())
        sizes = middle / np.geomspace(FARTHEST_POISSON, NEAREST_POISSON, SIZES)
        rising = counts @ (gammaln(values[:, None] + sizes) - gammaln(sizes))
        shared = betaln(weight[:, None] * sizes, total[:, None]) - betaln(rows * sizes, rows * middle)
        logs = rising + shared
        share = np.exp(logs - logs.max(axis=1, keepdims=True))
        reached = np.cumsum(share, axis=1)
        return cls(total, weight, sizes, reached / reached[:, -1:])

    def draw(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """A mean and a size for each class; the size of Poisson counts is infinite."""
        own = log_gammas(self.total, rng)
        if not len(self.sizes):
            return np.minimum(np.exp(own - np.log(self.weight)), LARGEST_MEAN), np.full(len(own), np.inf)
        chance = rng.random((len(own), 1))
        size = self.sizes[np.minimum((chance >= self.reached).sum(axis=1), len(self.sizes) - 1)]
        logs = np.log(size) + own - log_gammas(self.weight * size, rng)
        return np.exp(np.minimum(logs, np.log(LARGEST_MEAN))), size
