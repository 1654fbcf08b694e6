"""Draws from Dirichlet distributions, one for each row of a table, as logarithms: none of them vanishes, however small its parameter."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from merula.core import Array

SMALL = 0.1  # parameters below which a gamma variable may be too small for a float
LEAST = 1e-300  # that a parameter above 0 counts for: of smaller ones its logarithm would be, too


def log_dirichlet(rng: np.random.Generator, parameters: Array, n: int) -> Array:
    """The logarithms of `n` draws for each row (the last axis) of the parameters; a parameter of 0 is a probability of 0.

    log G(α) = log G(α + 1) + log(U) / α where α is small (Devroye 1986, "Non-uniform random variate generation", page 420).

    Examples
    --------
    >>> drawn = np.exp(log_dirichlet(np.random.default_rng(0), np.array([[2.0, 1.0, 0.0], [1e-5, 1e-5, 1e-5]]), 4))
    >>> drawn.shape, drawn.sum(axis=-1).round(12).tolist()[0], drawn[:, 0, 2].tolist()
    ((4, 2, 3), [1.0, 1.0], [0.0, 0.0, 0.0, 0.0])
    """
    logs = _log_gammas(rng, parameters.reshape(-1), n).reshape(n, *parameters.shape)
    logs -= logs.max(axis=-1, keepdims=True)
    logs -= np.log(np.exp(logs).sum(axis=-1, keepdims=True))
    return logs


def log_dirichlet_rows(rng: np.random.Generator, parameters: Array, sizes: NDArray[np.int64]) -> Array:
    """The logarithms of one draw for each of several rows of these sizes, none of them 0, whose parameters stand one behind the other.

    Examples
    --------
    >>> drawn = np.exp(log_dirichlet_rows(np.random.default_rng(0), np.array([2.0, 1.0, 0.0, 1e-5, 1e-5]), np.array([3, 2])))
    >>> drawn[:3].sum().round(12), drawn[3:].sum().round(12), drawn[2]
    (np.float64(1.0), np.float64(1.0), np.float64(0.0))
    """
    logs = _log_gammas(rng, parameters, 1)[0]
    starts = np.cumsum(sizes) - sizes
    logs -= np.repeat(np.maximum.reduceat(logs, starts), sizes)
    logs -= np.repeat(np.log(np.add.reduceat(np.exp(logs), starts)), sizes)
    return logs


def _log_gammas(rng: np.random.Generator, flat: Array, n: int) -> Array:
    """The logarithms of `n` gamma variables of each shape."""
    small = np.flatnonzero((flat < SMALL) & (flat > 0))
    gammas = rng.standard_gamma(np.where(flat < SMALL, flat + 1, flat), (n, flat.size))
    logs = np.log(gammas, out=gammas)
    if len(small):
        logs[:, small] += np.log1p(-rng.random((n, len(small)))) / np.maximum(flat[small], LEAST)
    logs[:, flat == 0] = -np.inf
    return logs
