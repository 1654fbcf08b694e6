"""Probabilities as logarithms: log-sum-exp, normalising, and what happens when every class is impossible."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.core.compiled import kernel
from merula.core.exponential import exp_in_place
from merula.core.notes import Note

ROWS_AT_ONCE = 256  # so that they stay in the nearest cache from one step to the next


class ZeroEvidenceWarning(UserWarning):
    """Some rows have probability 0 under every class; their posterior is the class prior.

    Examples
    --------
    >>> import merula as mr, warnings
    >>> model = mr.NaiveBayesClassifier(smoothing=0, levels={"x0": ["red", "blue", "green"]}).fit([["red"], ["blue"]], [0, 1])
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     print(model.predict_proba([["green"]]), said[0].category is mr.ZeroEvidenceWarning)
    [[0.5 0.5]] True
    """


def safe_log(probability: Any) -> Array:
    """log p, with log 0 = −inf and no warning."""
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(probability, dtype=np.float64))


def log_sum_exp(values: Array) -> Array:
    """log Σ exp(values) over the last axis; −inf where every value is −inf."""
    peak = values.max(axis=-1, keepdims=True)
    finite_peak = np.where(np.isfinite(peak), peak, 0.0)
    total = np.exp(values - finite_peak).sum(axis=-1)
    result: Array = safe_log(total) + finite_peak[..., 0]
    return result


def times(weight: float, logs: Array) -> Array:
    """weight · log p, where a weight of 0 silences even what is impossible."""
    return logs if weight == 1 else weight * logs if weight else np.zeros_like(logs)


@kernel
def start_rows(out: Array, log_prior: Array) -> None:
    """out[row] = log_prior; several times as fast as NumPy, which is made for longer rows."""
    for row in range(out.shape[0]):
        for label in range(out.shape[1]):
            out[row, label] = log_prior[label]


@kernel
def to_posterior(log_joint: Array, log_prior: Array) -> int:
    """Turn each row of log P(class, row) into P(class given row), in place; the number of rows without evidence.

    posterior = exp(log_joint − peak) / Σ exp(log_joint − peak), peak the row's largest; a row of −inf alone gets exp(log_prior).
    """
    impossible = 0
    for start in range(0, log_joint.shape[0], ROWS_AT_ONCE):
        part = log_joint[start : start + ROWS_AT_ONCE]
        impossible += _below_peak(part, log_prior)
        exp_in_place(part)
        _normalise(part)
    return impossible


@kernel
def _below_peak(log_joint: Array, log_prior: Array) -> int:
    """Subtract each row's largest value, in place; rows of −inf alone become the prior and are counted."""
    impossible = 0
    for row in range(log_joint.shape[0]):
        peak = -np.inf
        for label in range(log_joint.shape[1]):
            peak = max(peak, log_joint[row, label])
        impossible += peak == -np.inf
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
def add_share(log_joint: Array, log_weight: Array, normalised: bool, out: Array) -> None:
    """out = log(exp(out) + exp(log_weight + log_joint)) of each row and class, in place.

    Where it is `normalised`, log_joint is taken less the log Σ exp of its row; a row of −inf alone adds nothing.
    """
    rows, classes = out.shape
    memory, shift = np.empty((ROWS_AT_ONCE, classes)), np.empty(ROWS_AT_ONCE)
    for start in range(0, rows, ROWS_AT_ONCE):
        stop = min(start + ROWS_AT_ONCE, rows)
        joint, own, away = log_joint[start:stop], out[start:stop], memory[: stop - start]
        shift[: stop - start] = log_weight[start:stop]
        if normalised:
            _normalisers(joint, shift, away)
        for row in range(stop - start):
            for label in range(classes):
                one, other = own[row, label], joint[row, label] + shift[row]
                own[row, label] = max(one, other)
                away[row, label] = min(one, other) - own[row, label] if min(one, other) > -np.inf else -np.inf
        exp_in_place(away)
        for row in range(stop - start):
            for label in range(classes):
                own[row, label] += np.log1p(away[row, label])


@kernel
def _normalisers(log_joint: Array, shift: Array, memory: Array) -> None:
    """Take log Σ exp of each row from its shift, in place; −inf where all of the row is."""
    for row in range(len(log_joint)):
        peak = -np.inf
        for label in range(log_joint.shape[1]):
            peak = max(peak, log_joint[row, label])
        shift[row] -= peak if peak > -np.inf else np.inf
        for label in range(log_joint.shape[1]):
            memory[row, label] = log_joint[row, label] - peak if peak > -np.inf else 0.0
    exp_in_place(memory)
    for row in range(len(log_joint)):
        total = 0.0
        for label in range(log_joint.shape[1]):
            total += memory[row, label]
        shift[row] -= np.log(total)


@kernel
def to_log_posterior(log_joint: Array, log_prior: Array) -> int:
    """Turn each row of log P(class, row) into log P(class given row), in place; see `to_posterior`."""
    impossible = _below_peak(log_joint, log_prior)
    for row in range(log_joint.shape[0]):
        total = 0.0
        for label in range(log_joint.shape[1]):
            total += np.exp(log_joint[row, label])
        log_total = np.log(total)
        for label in range(log_joint.shape[1]):
            log_joint[row, label] -= log_total
    return impossible


@kernel
def most_probable(log_joint: Array, log_prior: Array, best: NDArray[np.int64]) -> int:
    """Write the index of each row's first largest value to `best`; the number of rows without evidence.

    The largest log P(class, row) is that of the largest posterior, so nothing is normalised; a row of −inf alone gets the
    first largest class of the prior.
    """
    impossible, fallback = 0, int(np.argmax(log_prior))
    for row in range(log_joint.shape[0]):
        peak, found = -np.inf, fallback
        for label in range(log_joint.shape[1]):
            if log_joint[row, label] > peak:
                peak, found = log_joint[row, label], label
        best[row] = found
        impossible += peak == -np.inf
    return impossible


def zero_evidence_notes(rows: int, remedy: str = "smoothing > 0 avoids this") -> tuple[Note, ...]:
    """One note when some rows are impossible under every class, else none."""
    noun = "row has" if rows == 1 else "rows have"
    message = f"{rows} {noun} probability 0 under every class; answered with the class prior. {remedy}"
    return (Note(ZeroEvidenceWarning, message),) if rows else ()
