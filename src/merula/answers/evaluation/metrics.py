"""The figures of one set of tested rows; scikit-learn's own functions wherever it has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score, zero_one_loss

from merula.answers.decision import REJECT, Costs, actual_costs, least_risk
from merula.answers.evaluation.reliability import error_of
from merula.core import Array
from merula.data.table.frame import Rows

Codes = NDArray[np.int64]
SMALLEST = float(np.finfo(np.float64).eps)  # where scikit-learn's log loss stops


class Meaning(NamedTuple):
    """What a figure is called in print, and which way it is better ("" where neither is)."""

    title: str
    better: str = "↓"


FIGURES = {
    "log_loss": Meaning("log loss"),
    "brier": Meaning("Brier score"),
    "error": Meaning("error"),
    "auc": Meaning("AUC", "↑"),
    "calibration_error": Meaning("calibration error"),
    "impossible": Meaning("true class had probability 0"),
    "mean_cost": Meaning("mean cost"),
    "mean_risk": Meaning("mean cost expected", ""),
    "coverage": Meaning("coverage", ""),
    "error_accepted": Meaning("error where not rejected"),
}


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model answered for rows it had not seen, beside the truth; classes by their numbers.

    `present` says which classes the whole target holds; without `costs` no action is taken.
    """

    truth: Codes
    proba: Array
    weights: Array | None
    present: NDArray[np.bool_]
    costs: Costs | None = None
    reject_cost: float | None = None


class RowValues(NamedTuple):
    """The addends of a figure that is a mean over rows, and their weights."""

    values: Array
    weights: Array | None


def pooled(folds: list[Answers]) -> Answers:
    """The answers of all folds as one."""
    first = folds[0]
    weights = None if first.weights is None else np.concatenate([fold.weights for fold in folds])
    truth, proba = (np.concatenate([getattr(fold, part) for fold in folds]) for part in ("truth", "proba"))
    return Answers(truth, proba, weights, first.present, first.costs, first.reject_cost)


def figures_of(answers: Answers) -> dict[str, float | None]:
    """Every figure of these rows, in the order of `FIGURES`; None where it is undefined.

    Brier score = mean of Σ_class (P(class given row) − [class is true])², from 0 to 2 for any number of classes.
    """
    truth, proba, weights = answers.truth, answers.proba, answers.weights
    among = {"labels": np.arange(proba.shape[1]), "sample_weight": weights}
    found: dict[str, float | None] = {
        **{name: _mean(rows) for name, rows in row_values(answers).items()},
        "log_loss": float(log_loss(truth, proba, **among)),
        "brier": float(brier_score_loss(truth, proba, **among, scale_by_half=False)),
        "error": float(zero_one_loss(truth, proba.argmax(axis=1), sample_weight=weights)),
        "auc": _auc(answers),
        "calibration_error": error_of(truth, proba, weights),
    }
    return {name: found[name] for name in FIGURES if name in found}


def pooled_calibration_error(folds: Sequence[Answers], rows: Sequence[Rows]) -> float | None:
    """The calibration error of the answers of all folds together; `rows` are the numbers of those that each was tested on."""
    every = pooled(list(folds))
    return error_of(every.truth, every.proba, every.weights, rows=np.concatenate(rows))


def row_values(answers: Answers) -> dict[str, RowValues]:
    """What each row adds to each figure that is a mean over rows."""
    proba, weights = answers.proba, answers.weights
    own = proba[np.arange(len(proba)), answers.truth]
    values = {
        "log_loss": -np.log(np.clip(own, SMALLEST, 1 - SMALLEST)),
        "brier": (proba**2).sum(axis=1) - own**2 + (1 - own) ** 2,
        "error": proba.argmax(axis=1) != answers.truth,
        "impossible": own == 0,
    }
    rows = {name: RowValues(np.asarray(value, dtype=np.float64), weights) for name, value in values.items()}
    return {**rows, **_action_values(answers)}


def _action_values(answers: Answers) -> dict[str, RowValues]:
    """What the least-risk actions cost and were expected to cost; which rows were rejected, which accepted are wrong."""
    costs, reject_cost, weights = answers.costs, answers.reject_cost, answers.weights
    if costs is None:
        return {}
    chosen, risk = least_risk(np.ascontiguousarray(answers.proba), costs.table, reject_cost)
    paid = actual_costs(answers.truth, chosen, costs, reject_cost)
    values = {"mean_cost": RowValues(paid, weights), "mean_risk": RowValues(risk, weights)}
    if reject_cost is None:
        return values
    accepted = chosen != REJECT
    values["coverage"] = RowValues(accepted.astype(np.float64), weights)
    if set(costs.actions) <= set(costs.classes):
        names = np.array([costs.classes.index(action) for action in costs.actions], dtype=np.int64)
        wrong = names[chosen[accepted]] != answers.truth[accepted]
        kept = None if weights is None else weights[accepted]
        values["error_accepted"] = RowValues(wrong.astype(np.float64), kept)
    return values


def _mean(rows: RowValues) -> float | None:
    return float(np.average(rows.values, weights=rows.weights)) if len(rows.values) else None


def _auc(answers: Answers) -> float | None:
    """The area under the ROC curve, for more than two classes the mean of one class against the rest.

    None unless every class that the whole target holds is among these rows.
    """
    return paired_auc([answers]) if np.isin(np.flatnonzero(answers.present), answers.truth).all() else None


def paired_auc(folds: Sequence[Answers]) -> float | None:
    """The same of rows of several folds, a row of a class compared only with the rest of its own fold.

    Models of different folds differ in their priors, so that scores of different folds are no ranking. None where some class
    has no row to be compared.
    """
    classes = np.flatnonzero(folds[0].present)
    areas = [_class_area(folds, index) for index in (classes[1:] if folds[0].proba.shape[1] == 2 else classes)]
    return None if not areas or None in areas else float(np.mean(areas))  # type: ignore[arg-type]


def _class_area(folds: Sequence[Answers], index: int) -> float | None:
    """The share of all pairs, one row of the class and one of the rest in the same fold, that stand in the right order."""
    areas, pairs = [], []
    for fold in folds:
        own, mass = fold.truth == index, np.ones(len(fold.truth)) if fold.weights is None else fold.weights
        if own.any() and not own.all():
            areas.append(roc_auc_score(own, fold.proba[:, index], sample_weight=fold.weights))
            pairs.append(mass[own].sum() * mass[~own].sum())
    return float(np.average(areas, weights=pairs)) if areas else None
