"""ROC, precision and recall, and what acting costs, from the answers an evaluation kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import precision_recall_curve, roc_curve

from merula.answers.decision import binary_threshold
from merula.answers.evaluation import Evaluation, ModelEvaluation
from merula.answers.evaluation.metrics import Answers, pooled
from merula.answers.evaluation.result import answers_of
from merula.core import Array
from merula.report.findings.result import CostCurve, RatingCurve

MOST_POINTS = 200  # of a curve: more are not seen on a page
MOST_CLASSES = 8  # that get a curve of their own
THRESHOLDS = 101
RANKED = 0.5  # of the rows
ROUNDING = 1e-12  # of a share


def tested(evaluation: Evaluation, model: ModelEvaluation) -> Answers:
    """What one model answered in all folds, beside the truth."""
    return pooled(answers_of(evaluation, model.probabilities))


def shown_classes(evaluation: Evaluation) -> list[int]:
    """The classes that get a curve: the second of two; else those that were tested, the commonest where they are many."""
    rows = np.concatenate([fold.test for fold in evaluation.folds])
    counts = np.bincount(evaluation.truth[rows], minlength=len(evaluation.classes))
    if len(evaluation.classes) == 2:
        return [1] if counts.all() else []
    present = np.flatnonzero((counts > 0) & (counts < counts.sum()))
    commonest = present[np.argsort(-counts[present], kind="stable")][:MOST_CLASSES]
    return [int(index) for index in np.sort(commonest)]


def rating_curves(evaluation: Evaluation) -> tuple[RatingCurve, ...]:
    """For two classes a curve of each model; for more, one for each class of the first model.

    A class is left out where the folds that have both rows of it and others hold less than half of all rows: a fold of one class
    ranks nothing, and what the others show is then no picture of the table.
    """
    models = evaluation.beside_baseline if len(evaluation.classes) == 2 else evaluation.models[:1]
    found = (
        _rating(answers_of(evaluation, model.probabilities), model.name, evaluation.classes[index], index)
        for model in models
        for index in shown_classes(evaluation)
    )
    return tuple(curve for curve in found if curve is not None)


def _rating(folds: list[Answers], model: str, label: Any, index: int) -> RatingCurve | None:
    ranked = [fold for fold in folds if 0 < np.count_nonzero(fold.truth == index) < len(fold.truth)]
    if not ranked or sum(len(fold.truth) for fold in ranked) < RANKED * sum(len(fold.truth) for fold in folds):
        return None
    own, rest = np.transpose([_masses(fold, index) for fold in ranked])
    false, found = _mean_roc([_roc(fold, index) for fold in ranked], own * rest)
    recall, precision = _mean_precision([_precision(fold, index) for fold in ranked], own)
    return RatingCurve(model, label, _thinned(false, found), _thinned(recall, precision))


def _masses(answers: Answers, index: int) -> tuple[float, float]:
    """The rows of a class and the rest, by weight."""
    own = answers.truth == index
    mass = np.ones(len(own)) if answers.weights is None else answers.weights
    return float(mass[own].sum()), float(mass[~own].sum())


def _roc(answers: Answers, index: int) -> tuple[Array, Array]:
    false, found, _ = roc_curve(answers.truth == index, answers.proba[:, index], sample_weight=answers.weights)
    return false, found


def _precision(answers: Answers, index: int) -> tuple[Array, Array]:
    """The recalls above 0 that are reached, and the best precision at each."""
    precision, recall, _ = precision_recall_curve(answers.truth == index, answers.proba[:, index], sample_weight=answers.weights)  # fmt: skip
    reached, first = np.unique(recall[:-1][::-1], return_index=True)  # of thresholds that find as many, the highest
    kept = reached > 0
    return reached[kept], precision[:-1][::-1][first][kept]


def _mean_precision(curves: list[tuple[Array, Array]], weights: Array) -> tuple[Array, Array]:
    """The mean of precisions at equal recall, each that of the highest threshold which finds at least so many.

    The area, Σ (recall_n − recall_n−1) · precision_n, is the mean of the average precisions.
    """
    recall = np.unique(np.concatenate([reached for reached, _ in curves]))
    told = [precision[np.searchsorted(reached, recall - ROUNDING)] for reached, precision in curves]
    return recall, np.average(told, axis=0, weights=weights)


def _mean_roc(curves: list[tuple[Array, Array]], weights: Array) -> tuple[Array, Array]:
    """The mean of ROC curves along the lines false + found = t, on which each of them has one point.

    Models of different folds differ in their priors, so that their scores are not pooled. The area is the mean of the areas:
    with d = found − false it is 1/2 + 1/2 ∫ d dt, linear in d.
    """
    t = np.unique(np.concatenate([false + found for false, found in curves]))
    d = np.average([np.interp(t, false + found, found - false) for false, found in curves], axis=0, weights=weights)
    return np.clip((t - d) / 2, 0.0, 1.0), np.clip((t + d) / 2, 0.0, 1.0)


def _thinned(x: Array, y: Array) -> tuple[tuple[float, float], ...]:
    """At most so many points as are seen, both ends among them."""
    kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).round().astype(int))
    return tuple(zip(x[kept].tolist(), y[kept].tolist(), strict=True))


# ---------------------------------------------------------------------------------------------------------------- costs


def cost_curves(evaluation: Evaluation) -> tuple[CostCurve, ...]:
    """For two classes, what acting on each model costs by threshold; under stated costs if two actions are weighed."""
    if len(evaluation.classes) != 2:
        return ()
    table = _two_actions(evaluation)
    if evaluation.costs is not None and table is None:
        return ()
    return tuple(
        CostCurve(model.name, evaluation.classes[1], _cost_points(tested(evaluation, model), table), table is not None)
        for model in evaluation.beside_baseline
    )


def _two_actions(evaluation: Evaluation) -> Array | None:
    """The costs of two actions, the second the one for the second class; None where nothing is weighed."""
    if evaluation.costs is None or evaluation.costs.table.shape != (2, 2):
        return None
    table = evaluation.costs.table
    loss, gain = table[1] - table[0]
    if loss < 0 < gain:
        return table[::-1]
    return table if gain < 0 < loss else None


def best_threshold(evaluation: Evaluation) -> float | None:
    """The probability of the second class from which on its action is the best; None unless two actions are weighed."""
    table = None if len(evaluation.classes) != 2 else _two_actions(evaluation)
    return None if table is None else binary_threshold(table)


def _cost_points(answers: Answers, table: Array | None) -> tuple[tuple[float, float], ...]:
    """(threshold, mean cost): act from the threshold on."""
    points = []
    for threshold in np.linspace(0, 1, THRESHOLDS).tolist():
        costs = np.array([[0.0, 1 - threshold], [threshold, 0.0]]) if table is None else table
        paid = costs[(answers.proba[:, 1] >= threshold).astype(np.int64), answers.truth]
        points.append((threshold, float(np.average(paid, weights=answers.weights))))
    return tuple(points)
