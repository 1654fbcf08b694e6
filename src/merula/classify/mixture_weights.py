"""What each component of a mixture is worth, by how probable it makes the classes of rows it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from merula.classify.folds import canonical_order, deal, like, row_hashes, uncut
from merula.core import Array
from merula.core.notes import silenced
from merula.data.encode import in_parts
from merula.data.table import open_rows
from merula.engines import Source, encoded

FOLDS = 5
PRIOR = 1.0  # imaginary rows that each component alone explains
MOST_SCORES = 2**24  # of components, classes and rows, kept at once


@dataclass(frozen=True, eq=False)
class Unseen:
    """log P(class, row) of rows left out at fit, −inf for components they do not admit: rows × components × classes."""

    log_joint: Array
    classes: Any
    weights: Array


def component_weights(model: Any, source: Source, names: Sequence[str]) -> dict[str, float]:
    """The log weight of each component, fitted on rows that each model of the folds had not seen.

    Maximal is Σ_row weight · log P(class given row) + Σ_component log w, P the mixture with these weights.
    """
    found = out_of_fold(model, source, names)
    return dict(zip(names, best_log_weights(found).tolist(), strict=True))


def out_of_fold(model: Any, source: Source, names: Sequence[str]) -> Unseen:
    """What the components say of every row, of models learned without the row's fold; with their own cuts."""
    schema = uncut(model.fitted_.plan.schema)
    rows, target = encoded(source, schema)
    table = open_rows(getattr(source.table, "matrix", source.table))
    order = np.empty(len(rows), dtype=np.int64)
    order[canonical_order(rows, target, schema)] = np.arange(len(rows))
    most = max(1, MOST_SCORES // (len(names) * len(target.classes)))
    kept = _sampled(rows, target, most)
    labels = target.classes[target.codes]
    parts: list[tuple[Any, ...]] = []
    for learned, left_out in deal(rows, target, schema, FOLDS):
        asked = left_out.indices[kept[left_out.indices]]
        if len(np.unique(target.codes[learned.indices])) < 2:
            continue
        learner = like(model, target.classes[np.unique(target.codes[learned.indices])]).set_params(weights=None)
        with silenced(), in_parts(source.table):  # what there is to say of the rows was said of all of them
            learner.fit(table.take(learned.indices), labels[learned.indices], learned.weights)
        own = np.isin(target.codes[asked], np.searchsorted(target.classes, learner.classes_))
        asked, weights = asked[own], left_out.weights[kept[left_out.indices]][own]
        if len(asked):
            joint = _joint(learner, table.take(asked), names, target.classes)
            parts.append((order[asked], joint, target.codes[asked], weights))
    if not parts:
        return Unseen(np.zeros((0, len(names), len(target.classes))), np.zeros(0, dtype=np.int64), np.zeros(0))
    place, joint, codes, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    sorted_ = np.argsort(place, kind="stable")  # so that sums do not depend on the order of rows
    return Unseen(joint[sorted_], codes[sorted_], weights[sorted_])


def _sampled(rows: Any, target: Any, most: int) -> Any:
    """Which rows are scored: all, or as many as can be kept, chosen by what they hold."""
    counted = np.ones(len(rows), dtype=np.bool_) if target.weights is None else target.weights > 0
    share = (row_hashes(rows, counted) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return share <= most / max(1, len(rows))


def _joint(learner: Any, X: Any, names: Sequence[str], classes: Any) -> Array:
    """log P(class, row) of each named component; −inf where a row does not admit it, or the learner does not know the class."""
    rows = learner._encoded(X)
    found = np.full((len(rows), len(names), len(classes)), -np.inf)
    where = np.searchsorted(classes, learner.classes_)
    start, sums = learner.fitted_.sums(rows)
    for k, one in enumerate(learner.fitted_.components):
        if one.condition is not None and one.name in names:
            admitted = np.where(np.isneginf(start[:, k]).all(axis=1), -np.inf, 0.0)
            found[:, names.index(one.name), where] = one.log_prior + sums[:, k] + admitted[:, None]
    return found


def best_log_weights(found: Unseen) -> Array:
    """The log weights under which the classes of these rows are most probable; they add up to 1."""
    own = np.take_along_axis(found.log_joint, found.classes[:, None, None], axis=2)[:, :, 0]
    possible = ~np.isneginf(own).all(axis=1)  # a row that no component admits says nothing of them
    each = logsumexp(found.log_joint[possible], axis=2)
    own, weights = own[possible], found.weights[possible]
    m = own.shape[1]
    result = minimize(
        loss, np.zeros(m), args=(own, each, weights), jac=True, method="L-BFGS-B", options={"maxiter": 500}
    )
    return np.minimum(result.x - logsumexp(result.x), 0.0)  # type: ignore[no-any-return]


def loss(free: Array, own: Array, each: Array, weights: Array) -> tuple[float, Array]:
    """−Σ weight · log P(class given row) − Σ log w and its gradient, with w the softmax of the free numbers.

    P(class given row) = Σ_component w · exp(own) / Σ_component w · exp(each); both are rows × components.
    """
    log_w = free - logsumexp(free)
    right, all_ = logsumexp(log_w + own, axis=1), logsumexp(log_w + each, axis=1)
    value = -weights @ (right - all_) - PRIOR * log_w.sum()
    shares = np.exp(log_w + own - right[:, None]) - np.exp(log_w + each - all_[:, None])
    gradient = -weights @ shares - PRIOR * (1 - len(free) * np.exp(log_w))
    return float(value), gradient
