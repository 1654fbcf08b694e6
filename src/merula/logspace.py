"""Probabilities as logarithms: log-sum-exp, normalising, zero evidence, and the options of compiled loops."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
F = TypeVar("F", bound=Callable[..., Any])


class ZeroEvidenceWarning(UserWarning):
    """Some rows have probability 0 under every class; their posterior is the class prior."""


def kernel(function: F) -> F:
    """A loop compiled once per argument type, cached on disk, running without the interpreter lock.

    Sums may be regrouped (``reassoc``) so that they use vector instructions. Then x − x may be taken for 0, which is what
    np.isfinite is made of: inside a kernel, test numbers by comparison, as in ``abs(x) < np.inf``.
    """
    options = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}}
    return numba.njit(**options)(function)  # type: ignore[no-any-return]


def warn_user(message: str, category: type[Warning]) -> None:
    """A warning that points at the line outside this package that asked."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "merula":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def safe_log(probability: Any) -> Array:
    """log p, with log 0 = −inf and no warning."""
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(probability, dtype=np.float64))


def as_float(count: int) -> float:
    """A whole number as a float, infinite beyond its range."""
    return float(count) if abs(count) < 10**300 else np.inf


def log_sum_exp(values: Array) -> Array:
    """log Σ exp(values) over the last axis; −inf where every value is −inf."""
    peak = values.max(axis=-1, keepdims=True)
    finite_peak = np.where(np.isfinite(peak), peak, 0.0)
    total = np.exp(values - finite_peak).sum(axis=-1)
    result: Array = safe_log(total) + finite_peak[..., 0]
    return result


@kernel
def _largest(values: Array) -> float:
    largest = -np.inf
    for value in values:
        largest = max(largest, value)
    return largest


def to_posterior(log_joint: Array, log_prior: Array) -> int:
    """Turn each row of log P(class, row) into P(class given row), in place; the number of rows without evidence.

    posterior = exp(log_joint − peak) / Σ exp(log_joint − peak), peak the row's largest; a row of −inf alone gets exp(log_prior).
    """
    impossible = int(_below_peak(log_joint, log_prior))
    np.exp(log_joint, out=log_joint)  # many at once: three times as fast as one by one
    _normalise(log_joint)
    return impossible


@kernel
def _below_peak(log_joint: Array, log_prior: Array) -> int:
    """Subtract each row's largest value, in place; rows of −inf alone become the prior and are counted."""
    impossible = 0
    for row in range(log_joint.shape[0]):
        peak = _largest(log_joint[row])
        if peak == -np.inf:
            impossible += 1
        for label in range(log_joint.shape[1]):
            log_joint[row, label] = log_prior[label] if peak == -np.inf else log_joint[row, label] - peak
    return impossible


@kernel
def _normalise(weights: Array) -> None:
    """Divide each row by its sum, in place."""
    for row in range(weights.shape[0]):
        total = 0.0
        for label in range(weights.shape[1]):
            total += weights[row, label]
        for label in range(weights.shape[1]):
            weights[row, label] /= total


@kernel
def to_log_posterior(log_joint: Array, log_prior: Array) -> int:
    """Turn each row of log P(class, row) into log P(class given row), in place; see `to_posterior`."""
    impossible = 0
    for row in range(log_joint.shape[0]):
        peak = _largest(log_joint[row])
        if peak == -np.inf:
            impossible += 1
            for label in range(log_joint.shape[1]):
                log_joint[row, label] = log_prior[label]
            continue
        total = 0.0
        for label in range(log_joint.shape[1]):
            log_joint[row, label] -= peak
            total += np.exp(log_joint[row, label])
        log_total = np.log(total)
        for label in range(log_joint.shape[1]):
            log_joint[row, label] -= log_total
    return impossible


def warn_zero_evidence(rows: int) -> None:
    """One `ZeroEvidenceWarning` when some rows are impossible under every class."""
    if rows:
        noun = "row has" if rows == 1 else "rows have"
        message = (
            f"{rows} {noun} probability 0 under every class; answered with the class prior. smoothing > 0 avoids this"
        )
        warn_user(message, ZeroEvidenceWarning)
