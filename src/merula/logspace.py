"""Probabilities as logarithms: log-sum-exp, normalising, zero evidence, and the options of compiled loops."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

Array = NDArray[np.float64]
F = TypeVar("F", bound=Callable[..., Any])
COMPILED: Any = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}}
AHEAD, LINE = 8_192, 64  # bytes: how far ahead memory is asked for, and how much comes at once


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


def kernel(function: F) -> F:
    """A loop compiled once per argument type, cached on disk, running without the interpreter lock.

    Sums may be regrouped (``reassoc``) so that they use vector instructions. Then x − x may be taken for 0, which is what
    np.isfinite is made of: inside a kernel, test numbers by comparison, as in ``abs(x) < np.inf``.
    """
    return numba.njit(**COMPILED)(function)  # type: ignore[no-any-return]


def inlined(function: F) -> F:
    """A kernel that is copied into those that call it, where handing over its arrays would take longer than its work."""
    return numba.njit(**COMPILED, inline="always")(function)  # type: ignore[no-any-return]


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(_: Any, table: Any, row: Any) -> tuple[Any, Callable[..., Any]]:
    """Ask memory for the cells some rows ahead of `row`: a loop that scatters its sums is else too slow to ask in time.

    It only hints, so it may point beyond the table's end. Nothing is asked for when rows do not lie one behind the other.
    """

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        if table.layout == "C" and table.ndim == 2:
            view = context.make_array(table)(context, builder, arguments[0])
            width = builder.extract_value(view.strides, 0)
            byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
            hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            first = builder.add(builder.mul(arguments[1], width), ir.Constant(width.type, AHEAD))
            start = builder.gep(builder.bitcast(view.data, byte), [first])
            with cgutils.for_range_slice(builder, width.type(0), width, width.type(LINE)) as (place, _exit):
                builder.call(hint, [builder.gep(start, [place]), word(0), word(3), word(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return types.void(table, row), generate


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


def as_float(count: float) -> float:
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


def warn_zero_evidence(rows: int, remedy: str = "smoothing > 0 avoids this") -> None:
    """One `ZeroEvidenceWarning` when some rows are impossible under every class."""
    if rows:
        noun = "row has" if rows == 1 else "rows have"
        warn_user(
            f"{rows} {noun} probability 0 under every class; answered with the class prior. {remedy}",
            ZeroEvidenceWarning,
        )
