"""Draws from Dirichlet distributions, one for each row of a table, as logarithms: none of them vanishes, however small its parameter."""

from __future__ import annotations

import numpy as np

from merula.core import Array

SMALL = 0.1  # parameters below which a gamma variable may be too small for a float


def log_dirichlet(rng: np.random.Generator, parameters: Array, n: int) -> Array:
    """The logarithms of `n` draws for each row (the last axis) of the parameters; a parameter of 0 is a probability of 0.

    log G(α) = log G(α + 1) + log(U) / α where α is small (Devroye 1986, "Non-uniform random variate generation", page 420).

    Examples
    --------
    >>> drawn = np.exp(log_dirichlet(np.random.default_rng(0), np.array([[2.0, 1.0, 0.0], [1e-5, 1e-5, 1e-5]]), 4))
    >>> drawn.shape, drawn.sum(axis=-1).round(12).tolist()[0], drawn[:, 0, 2].tolist()
    ((4, 2, 3), [1.0, 1.0], [0.0, 0.0, 0.0, 0.0])
    """
    flat = parameters.reshape(-1)
    small = np.flatnonzero((flat < SMALL) & (flat > 0))
    gammas = rng.standard_gamma(np.where(flat < SMALL, flat + 1, flat), (n, flat.size))
    logs = np.log(gammas, out=gammas)
    if len(small):
        logs[:, small] += np.log1p(-rng.random((n, len(small)))) / flat[small]
    logs[:, flat == 0] = -np.inf
    logs = logs.reshape(n, *parameters.shape)
    peaks = logs.max(axis=-1, keepdims=True)
    logs -= peaks
    logs -= np.log(np.exp(logs).sum(axis=-1, keepdims=True))
    return logs
