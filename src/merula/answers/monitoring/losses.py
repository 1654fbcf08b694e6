"""How much the model expects to lose on rows, what it does lose where their classes are known, and how surprising the rows are."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t as student

from merula.core import Array, InputError
from merula.core.logspace import log_sum_exp
from merula.data.encode import Encoded, encode_rows
from merula.data.schema import Schema
from merula.data.table import as_times, build_frame

LEAST = 2.0**-52  # a probability below is taken for this, as `evaluate` does
DRAWS, FEW = 9_999, 5_000  # classes drawn for a test, and rows up to which they are: of more, the sum is normal
FEWEST, DRAWN = 500, 5_000  # rows drawn from the model, at least and at most
OWN_WORD, ROWS_BEFORE, LEFT_OUT = "own word", "rows before", "rows left out"  # what a loss is compared with
SURPRISING = 0.01  # share of the rows drawn that are no more probable than a surprising one
SHOWN = 5  # rows that are named


@dataclass(frozen=True)
class Loss:
    """The mean of −log P(true class): what the model expects of rows, what it is where classes are known, and of how many rows.

    `before` is what it was, by the `standard` "rows before" or "rows left out" (of the folds of a pool); without, by the model's "own word".
    """

    expected: float
    realised: float | None = None
    expected_of_labelled: float | None = None
    rows: int = 0
    before: float | None = None
    standard: str = OWN_WORD


@dataclass(frozen=True)
class Evidence:
    """log P(row): its mean over the rows, its mean over those it is compared with, and how many rows are surprising.

    A surprising row is less probable than 99 in 100 of those `compared_with`: rows of "before", or rows "drawn" from the model. Means are of rows that
    are not `impossible`, which is the share of the new ones that are.
    """

    mean: float
    usual: float
    surprising: float
    most_surprising: tuple[int, ...]
    compared_with: str
    model: str
    impossible: float = 0.0


def expected_losses(posterior: Array) -> Array:
    """The entropy of each row's posterior: the loss it expects, if it is right."""
    return np.asarray(-(posterior * np.log(np.maximum(posterior, LEAST))).sum(axis=1))


def realised_losses(posterior: Array, truth: NDArray[np.int64]) -> Array:
    """−log P(true class) of each row."""
    return np.asarray(-np.log(np.maximum(posterior[np.arange(len(truth)), truth], LEAST)))


def exceeds(posterior: Array, truth: NDArray[np.int64], rng: np.random.Generator) -> float | None:
    """The probability that classes drawn from these posteriors would lose as much as the true ones do; None if they cannot be told.

    z = Σ (loss − expected) / √Σ variance; of rows few enough, by drawing classes.
    """
    losses = -np.log(np.maximum(posterior, LEAST))
    expected = (posterior * losses).sum(axis=1)
    variance = float(((posterior * losses**2).sum(axis=1) - expected**2).sum())
    own = float(realised_losses(posterior, truth).sum())
    if not variance > 1e-12:
        return None if own <= expected.sum() + 1e-9 else 0.0
    plain = float(norm.sf((own - expected.sum()) / sqrt(variance)))
    if len(posterior) > FEW or plain > 0.5:
        return plain
    edges, totals = np.cumsum(posterior, axis=1), np.zeros(DRAWS)
    for row in range(len(posterior)):
        totals += losses[row, np.minimum(np.searchsorted(edges[row], rng.random(DRAWS)), posterior.shape[1] - 1)]
    return float((1 + (totals >= own * (1 - 1e-12)).sum()) / (1 + DRAWS))


def larger(now: Array, before: Array) -> float | None:
    """Welch's test that a mean is no larger than before, against that it is."""
    if len(now) < 2 or len(before) < 2:
        return None
    one, two = now.var(ddof=1) / len(now), before.var(ddof=1) / len(before)
    if not one + two > 0:
        return None
    freedom = (one + two) ** 2 / (one**2 / (len(now) - 1) + two**2 / (len(before) - 1))
    return float(student.sf((now.mean() - before.mean()) / sqrt(one + two), freedom))


def larger_than_told(now: Array, mean: float, error: float) -> float | None:
    """The test that a mean is no larger than one that is known with a standard error."""
    if len(now) < 2:
        return None
    spread = sqrt(now.var(ddof=1) / len(now) + error**2)
    return float(norm.sf((now.mean() - mean) / spread)) if spread > 0 else None


def left_out_loss(model: Any) -> tuple[float, float] | None:
    """The log loss of rows left out and its standard error, of a pool, which knows them."""
    if not hasattr(model, "out_of_fold_") or hasattr(model, "temperature_"):
        return None
    kept = any(part == "similar rows" for part in model.parts_)
    found = model.out_of_fold_.get("pool" if kept else "portable")
    return found if found is not None and np.isfinite(found).all() else None


# ------------------------------------------------------------------------------------------------------------- evidence


def with_evidence(model: Any) -> Any:
    """The model that gives P(row): the model itself, the joint part of a pool, or None."""
    told = vars(model).get("joint_", model)
    return told if hasattr(told, "log_evidence") and not told.fitted_.no_joint else None


def read_by(told: Any, rows: Any, schema: Schema | None = None) -> Encoded:
    """Rows as the model reads them."""
    if isinstance(rows, Encoded):
        return rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to note of them is told elsewhere
        return encode_rows(rows, schema or told.schema_, told.fitted_.plan.named, type(told).__name__)


def log_evidence(told: Any, read: Encoded) -> Array:
    """log P(row) of each row."""
    return np.asarray(log_sum_exp(told.fitted_.score(read, None, told.n_jobs)[0]))


def drawn_evidence(told: Any, lacking: Mapping[str, NDArray[np.bool_]], rows: int, random_state: Any) -> Array | None:
    """log P(row) of rows drawn from the model, which lack the cells that given rows lack; None where none can be drawn."""
    count = int(np.clip(rows, FEWEST, DRAWN))
    try:
        drawn, _ = told.fitted_.sample(count, np.random.default_rng(random_state))
    except (InputError, AttributeError, TypeError, NotImplementedError):
        return None
    nothing, held = np.full(count, np.nan), {}
    for column in told.schema_.columns:
        cells = drawn.get(column.name, nothing)
        cells = cells if column.unit is None else as_times(cells, column.unit)
        held[column.name] = _without(cells, np.resize(lacking[column.name], count)) if column.name in lacking else cells
    as_drawn = Schema(
        tuple(replace(column, cuts=None) for column in told.schema_.columns)
    )  # intervals are drawn by name
    return log_evidence(told, read_by(told, build_frame(held, told.fitted_.plan.library), as_drawn))


def _without(cells: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[Any]:
    """The cells of a column, some of them missing."""
    if not missing.any():
        return cells
    cells = cells.astype(
        np.float64 if cells.dtype.kind in "iub" else object if cells.dtype.kind in "US" else cells.dtype
    )
    cells[missing] = np.nan if cells.dtype.kind == "f" else None if cells.dtype.kind == "O" else "NaT"
    return cells


def evidence_of(now: Array, usual: Array, compared_with: str, model: str) -> Evidence:
    """What the evidence of rows says beside that of others."""
    least = float(np.quantile(usual, SURPRISING))
    order = np.argsort(now, kind="stable")[:SHOWN]
    rows = tuple(int(row) for row in order.tolist() if now[row] < least)
    possible = [part[np.isfinite(part)] for part in (now, usual)]
    means = [float(part.mean()) if len(part) else 0.0 for part in possible]
    return Evidence(means[0], means[1], float((now < least).mean()), rows, compared_with, model, float(np.isneginf(now).mean()))  # fmt: skip
