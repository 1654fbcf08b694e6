"""One temperature for all terms of a model, fitted on rows it has not seen.

P(c given row) ∝ Σ_component weight · P_component(c) · exp(Σ_term log p(term given c) / T)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from merula.classify.fitted import FittedModel
from merula.classify.folds import Some, canonical_order, deal, like, some_of_each, uncut
from merula.core import Array, InputError
from merula.core.logspace import log_sum_exp
from merula.core.notes import silenced
from merula.data.encode import Encoded, Target, encode_rows, encode_target, in_parts
from merula.data.schema import Schema
from merula.data.table import FrameTable, label_indices, open_rows, open_table

COLDEST, HOTTEST = 0.1, 100.0  # temperatures that may be found
PLACES = 61  # from one to the other, where the least loss is looked for; one of them is 1
DIGITS = 12  # losses are compared rounded to this many
KEPT = 8  # digits of a temperature: the order of rows, which changes the last ones, does not matter
MOST_CELLS = 2**22  # sums looked at: rows × components × classes; of larger tables some rows, chosen by their content
Split = tuple[Some, Some]  # the rows to learn from, and those to score


@dataclass(frozen=True, eq=False)
class Scored:
    """Rows scored by a model that has not seen them, rows × components × classes: where each sum starts, and its terms' sum."""

    start: Array
    sums: Array
    codes: NDArray[np.int64]
    weights: Array

    @classmethod
    def of(cls, fitted: FittedModel, rows: Encoded, target: Target) -> Scored:
        """Those of the rows that the model does not call impossible in their own class: no temperature helps the others."""
        known = {label: k for k, label in enumerate(fitted.classes.tolist())}
        codes = np.array([known.get(label, -1) for label in target.classes.tolist()], dtype=np.int64)[target.codes]
        start, sums = fitted.sums(rows)
        weights = np.ones(len(codes)) if target.weights is None else target.weights
        own = np.arange(len(codes)), slice(None), codes
        possible = (codes >= 0) & (weights > 0) & np.isfinite(start[own] + sums[own]).any(axis=1)
        return cls(start[possible], sums[possible], codes[possible], weights[possible])

    def loss(self, warmth: float) -> tuple[float, float]:
        """Σ weight · −log P(own class) where terms are multiplied by `warmth`, 1/T, and its derivative."""
        parts = self.start + warmth * self.sums
        joint = log_sum_exp(parts.swapaxes(1, 2))
        logs = joint - log_sum_exp(joint)[:, None]
        with np.errstate(invalid="ignore"):
            within = np.where(np.isneginf(parts), 0.0, np.exp(parts - joint[:, None, :]))
        slopes = (within * np.where(np.isneginf(self.sums), 0.0, self.sums)).sum(axis=1)
        rows = np.arange(len(self.codes))
        slope = (np.exp(logs) * slopes).sum(axis=1) - slopes[rows, self.codes]
        return float(-(self.weights @ logs[rows, self.codes])), float(self.weights @ slope)


def best_temperature(scored: Sequence[Scored]) -> float:
    """The temperature of least log loss; where several are as good to 12 digits, the one nearest to 1."""

    def loss(warmth: float) -> tuple[float, float]:
        found = [one.loss(warmth) for one in scored]
        return sum(value for value, _ in found), sum(slope for _, slope in found)

    places = np.geomspace(1 / HOTTEST, 1 / COLDEST, PLACES)
    places[np.argmin(np.abs(np.log(places)))] = 1.0
    losses = [float(f"{loss(place)[0]:.{DIGITS}g}") for place in places.tolist()]
    best = min(range(PLACES), key=lambda k: (losses[k], abs(np.log(places[k]))))
    if not 0 < best < PLACES - 1 or losses[best] in (losses[best - 1], losses[best + 1]):
        return float(1 / places[best])
    low, high = float(places[best - 1]), float(places[best + 1])
    if loss(low)[1] < 0 < loss(high)[1]:
        found = float(brentq(lambda warmth: loss(warmth)[1], low, high, xtol=1e-15, rtol=1e-14))
        return 1 / found if loss(found)[0] <= loss(float(places[best]))[0] else float(1 / places[best])
    return float(1 / places[best])


def calibrated(model: Any, X: Any, y: Any, sample_weight: Any, cv: Any) -> FittedModel:
    """The fitted model with every term divided by the best temperature; see `BayesianClassifier.calibrated`."""
    rows = model._encoded(X)
    target, known = encode_target(y, len(rows), sample_weight), model.classes_.tolist()
    label_indices(target.classes.tolist(), known, "y holds", f"the model does not know (classes: {known})")
    if isinstance(cv, str) and cv == "prefit":
        scored = [Scored.of(model.fitted_.with_temperature(1.0), rows, target)]
    else:
        scored = list(_scored_out_of_fold(model, X, target, cv))
    if not any(len(one.codes) for one in scored):
        raise InputError("no row can be scored by a model that has not seen it", where="y", remedy="give more rows of each class")  # fmt: skip
    return model.fitted_.with_temperature(float(f"{best_temperature(scored):.{KEPT}g}"))  # type: ignore[no-any-return]


def _scored_out_of_fold(model: Any, X: Any, target: Target, cv: Any) -> Iterator[Scored]:
    """The rows of each fold, scored by a model like this one that was fitted on the others."""
    if model.fitted_.collected is None:
        raise InputError("this model's probabilities were stated, and there is no fitting it anew", where="cv", remedy="give rows it has not seen, and cv='prefit'")  # fmt: skip
    if model.fitted_.collected.shared:
        raise InputError("this model has learned from rows without a class too, which it does not keep: none like it can be fitted anew", where="cv", remedy="give rows it has not seen, and cv='prefit'")  # fmt: skip
    labels, plan = target.classes[target.codes], model.fitted_.plan
    schema = uncut(plan.schema)
    X = _known_columns(X, schema)
    source = open_rows(X)
    rows = encode_rows(X, schema, plan.named, type(model).__name__)
    for learned, left_out in _splits(model, rows, target, schema, cv):
        if len(np.unique(target.codes[learned.indices])) < 2 or not len(left_out.indices):
            continue
        other = like(model, target.classes[np.unique(target.codes[learned.indices])])
        with silenced(), in_parts(X):  # what there is to know of the rows was said when the model was fitted
            other.fit(source.take(learned.indices), labels[learned.indices], learned.weights)
            some = other._encoded(source.take(left_out.indices))
        yield Scored.of(other.fitted_, some, Target(target.codes[left_out.indices], target.classes, left_out.weights))


def _known_columns(X: Any, schema: Schema) -> Any:
    """The table without columns that the model does not have, such as the target: one fitted anew would learn from them."""
    table = open_table(X)
    if not isinstance(table, FrameTable) or not table.named or set(table.names) <= set(schema.names):
        return X
    return open_table(table.frame.select([name for name in table.names if name in schema.names]).to_native())


def _splits(model: Any, rows: Encoded, target: Target, schema: Schema, cv: Any) -> Iterator[Split]:
    """The rows to learn from and to score, with their weights, of each fold."""
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool) and cv >= 2:
        folds = deal(rows, target, schema, int(cv))
        most = MOST_CELLS // (len(model.fitted_.components) * len(model.classes_))
        some = some_of_each(folds, canonical_order(rows, target, schema), most)
        yield from ((learned, left_out) for (learned, _), left_out in zip(folds, some, strict=True))
    elif hasattr(cv, "split") and not isinstance(cv, str | type):
        yield from _stated(cv.split(np.zeros(len(rows)), target.codes), target, len(rows))
    elif isinstance(cv, Iterable) and not isinstance(cv, str):
        yield from _stated(cv, target, len(rows))
    else:
        raise InputError.of("cv", cv, "a number of folds from 2, a scikit-learn splitter, pairs of row numbers or 'prefit'")  # fmt: skip


def _stated(pairs: Iterable[Any], target: Target, count: int) -> Iterator[Split]:
    """The folds that someone else has dealt, checked."""
    weights = np.ones(count) if target.weights is None else target.weights
    for number, pair in enumerate(pairs, 1):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError.at(f"fold {number} of cv", f"is of type {type(pair).__name__}", expected="a pair (train, test) of row numbers")  # fmt: skip
        learned, left_out = (_row_numbers(part, number, weights) for part in pair)
        shared = np.intersect1d(learned, left_out)
        if len(shared):
            raise InputError.at(f"fold {number} of cv", f"has row {shared[0]} both in train and in test ({len(shared)} such rows)", remedy="a temperature is fitted on rows that its model has not seen")  # fmt: skip
        yield Some(learned, weights[learned]), Some(left_out, weights[left_out])


def _row_numbers(part: Any, number: int, weights: Array) -> NDArray[np.int64]:
    """The rows of some weight that one side of a fold names, by their numbers or by a mask."""
    try:
        rows, count = np.asarray(part), len(weights)
    except ValueError:
        raise InputError.at(f"fold {number} of cv", "holds lists of different lengths", expected="row numbers") from None  # fmt: skip
    if rows.dtype == bool and rows.shape == (count,):
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and (rows.dtype.kind not in "iu" or not 0 <= rows.min() <= rows.max() < count)):
        raise InputError.at(f"fold {number} of cv", f"is an array of {rows.dtype} of shape {rows.shape}{_range_of(rows)}", expected=f"row numbers from 0 to {count - 1}, or a mask of {count}")  # fmt: skip
    kept: NDArray[np.int64] = rows.astype(np.int64)
    return kept[weights[kept] > 0]


def _range_of(rows: NDArray[Any]) -> str:
    return f" from {rows.min()} to {rows.max()}" if rows.size and rows.dtype.kind in "iu" else ""
