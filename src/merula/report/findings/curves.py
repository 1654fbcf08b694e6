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
    """For two classes a curve of each model; for more, one for each class of the first model."""
    models = evaluation.models if len(evaluation.classes) == 2 else evaluation.models[:1]
    return tuple(
        _rating(tested(evaluation, model), model.name, evaluation.classes[index], index)
        for model in models
        for index in shown_classes(evaluation)
    )


def _rating(answers: Answers, model: str, label: Any, index: int) -> RatingCurve:
    hit, score = answers.truth == index, answers.proba[:, index]
    false, found, _ = roc_curve(hit, score, sample_weight=answers.weights)
    precision, recall, _ = precision_recall_curve(hit, score, sample_weight=answers.weights, drop_intermediate=True)
    real = slice(
        -2, None, -1
    )  # scikit-learn's last point (precision 1 of no row found) is none that any threshold gives
    return RatingCurve(model, label, _thinned(false, found), _thinned(recall[real], precision[real]))


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
        for model in evaluation.models
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
