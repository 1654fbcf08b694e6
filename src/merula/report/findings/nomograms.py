"""The nomogram of a report: of the model itself where its columns speak one at a time, else of a simpler one, tested beside it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from merula.answers.evaluation import Evaluation, ModelEvaluation, evaluate
from merula.answers.evaluation.result import rows_learned
from merula.answers.explanation.nomograms import Nomogram, Scale, column_points, nomogram_of_rows
from merula.classify.base import BayesianClassifier
from merula.classify.readable import axis_unit, shown
from merula.core import Array
from merula.data.encode import Encoded
from merula.data.schema import Label
from merula.report.findings.contributions import some_rows
from merula.report.findings.curves import tested as tested_answers
from merula.report.findings.learned_effects import bends
from merula.report.findings.result import Points, PointScale

SIMPLER = "one column at a time"
KEPT = 0.75  # of what the model gains on the class frequencies: a simpler one that keeps less is not drawn
DRAWN = (8, 16, 24, 40, 60)  # columns: as few of these as read close enough, at most the last
CLOSE = 0.005  # in probability
MOST_ROWS = 2_000  # that are read off to see how close it is
TOTALS = 81  # places along the total
REACH = 0.005, 0.995  # the probabilities the total reaches to
TOLERATED = 0.008  # four times what all columns together may be off in probability, so that scales need fewer places


def drawn_nomogram(
    model: BayesianClassifier, X: Any, y: Any, evaluation: Evaluation, progress: bool | None = None
) -> tuple[Points | None, str]:
    """The nomogram of the two classes that are most often taken for each other; or why there is none.

    model : fitted on all rows, the first of the evaluation. What its columns say together has no scale: then a log-linear model
    that takes one column at a time is fitted instead, and tested on the same folds.
    """
    pair = confused_pair(evaluation)
    if any(column.kind == "text" for column in model.schema_.columns):
        return None, "No nomogram: it has a scale for each column, and a text would need one for each word."
    rows = model._encoded(X)
    own = _own_nomogram(model, pair, rows)
    if own is not None:
        loss = evaluation.models[0].figures["log_loss"]
        return _points(own, model, rows, evaluation.weights, evaluation.models[0].name, True, str(loss))
    try:
        simpler, tested = _simpler(model, X, y, evaluation, progress)
        rows = simpler._encoded(X)
        found = nomogram_of_rows(simpler, *pair, rows)
    except ValueError as error:
        return None, f"No nomogram: a model of {SIMPLER} cannot be fitted here ({str(error).rstrip('.')})."
    loss = tested.models[0].figures["log_loss"]
    if not _worth_drawing(evaluation, tested):
        return None, _not_drawn(evaluation, tested)
    return _points(found, simpler, rows, evaluation.weights, SIMPLER, False, str(loss))


def confused_pair(evaluation: Evaluation) -> tuple[Label, Label]:
    """The two classes most often taken for each other, the rarer one first; of two classes, the second and the first."""
    classes, confusion = evaluation.classes, evaluation.models[0].confusion
    if len(classes) == 2:
        return classes[1], classes[0]
    both = np.triu(confusion + confusion.T, 1)
    if not both.any():  # none is: then the two of which one gets most of the other's probability
        given = _probability_given(evaluation)
        both = np.triu(given + given.T, 1)
    if not both.any():
        return classes[1], classes[0]
    one, other = np.unravel_index(int(both.argmax()), both.shape)
    return classes[max(one, other)], classes[min(one, other)]


def _probability_given(evaluation: Evaluation) -> Array:
    """The probability that rows of each class (down) were given for each class (across), summed."""
    answers = tested_answers(evaluation, evaluation.models[0])
    mass = np.ones(len(answers.truth)) if answers.weights is None else answers.weights
    given = np.zeros((len(evaluation.classes), len(evaluation.classes)))
    np.add.at(given, answers.truth, answers.proba * mass[:, None])
    return given


def _own_nomogram(model: BayesianClassifier, pair: tuple[Label, Label], rows: Encoded) -> Nomogram | None:
    """The model's own, where reading it off gives the model's probabilities."""
    try:
        found = nomogram_of_rows(model, *pair, rows)
    except ValueError:
        return None
    return None if found.remark and not found.slip else found  # of several classes, the slip to the prior is not in it


# -------------------------------------------------------------------------------------------------------- simpler model


def _simpler(
    model: BayesianClassifier, X: Any, y: Any, evaluation: Evaluation, progress: bool | None
) -> tuple[Any, Evaluation]:
    """A log-linear model that takes one column at a time, fitted on all rows, and what it answers on the evaluation's folds."""
    from merula.classify import LogLinearClassifier  # it brings loops along that other reports do not need

    fresh = LogLinearClassifier(order=1, kinds=model.kinds)
    weights: dict[str, Any] = {} if evaluation.weights is None else {"sample_weight": evaluation.weights}
    folds = [(rows_learned(fold, evaluation.weights, len(evaluation.truth)), fold.test) for fold in evaluation.folds]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is to be told of rows and folds was told of the model itself
        tested = evaluate({SIMPLER: fresh}, X, y, cv=folds, groups=evaluation.groups, progress=progress, **weights)
        return fresh.fit(X, y, **weights), tested


def _losses(evaluation: Evaluation, tested: Evaluation) -> tuple[ModelEvaluation, ModelEvaluation]:
    return evaluation.models[0], tested.models[0]


def _worth_drawing(evaluation: Evaluation, tested: Evaluation) -> bool:
    """Whether the simpler model surely beats the class frequencies, and keeps most of what the model gains on them."""
    known = [one.figures["log_loss"].value for one in (*_losses(evaluation, tested), evaluation.baseline)]
    if None in known or tested.against_baseline("log_loss")[0].direction >= 0:
        return False
    model, simpler, frequencies = (value or 0.0 for value in known)
    return frequencies - simpler >= KEPT * (frequencies - model)


def _not_drawn(evaluation: Evaluation, tested: Evaluation) -> str:
    model, simpler = (one.figures["log_loss"] for one in _losses(evaluation, tested))
    if tested.against_baseline("log_loss")[0].direction >= 0:
        return f"No nomogram: a model that takes {SIMPLER}, which could be drawn as one, is not shown to be better than the class frequencies (log loss {simpler} on unseen rows)."
    return f"No nomogram: a model that takes {SIMPLER}, which could be drawn as one, is much worse than this model (log loss {simpler} on unseen rows, against {model})."


# --------------------------------------------------------------------------------------------------------------- points


@dataclass(frozen=True)
class _Reading:
    """What is left to its average so that fewer columns need to be drawn, and how far that may lead astray."""

    drawn: int
    average: float = 0.0
    error: float = 0.0


def _points(
    found: Nomogram, model: Any, rows: Encoded, weights: Array | None, name: str, own: bool, log_loss: str
) -> tuple[Points | None, str]:
    """What the nomogram says, the column with the widest scale first."""
    spans = {scale.column.name: _span(scale) for scale in found.scales}
    ranked = sorted((scale for scale in found.scales if spans[scale.column.name] > 0), key=lambda one: (-spans[one.column.name], one.column.name))  # fmt: skip
    if not ranked:
        return None, "No nomogram: no column has any influence."
    chosen = some_rows(len(rows), weights, MOST_ROWS)
    mass = np.ones(len(chosen)) if weights is None else weights[chosen]
    reading = _reading(found, [one.column.name for one in ranked], column_points(found, model, rows.take(chosen)), mass)
    tolerance = TOLERATED / (found.unit * len(ranked))
    low, high = found.reach
    least, most = (float(found.total_points(low + share * (high - low))) - reading.average for share in REACH)
    totals = np.linspace(max(0.0, least) if most > 0 else least, most, TOTALS).tolist()  # no value has points below 0
    return Points(
        found.label,
        found.against,
        tuple(_scale(scale, tolerance) for scale in ranked[: reading.drawn]),
        tuple((p, total - reading.average) for p, total in found.totals if total >= reading.average),
        tuple((total, float(found.probability(total + reading.average))) for total in totals),
        found.remark,
        name,
        own,
        log_loss,
        tuple(one.column.name for one in ranked[reading.drawn :]),
        reading.average,
        reading.error,
        tuple(one.column.name for one in found.scales if not spans[one.column.name]),
    ), ""  # fmt: skip


def _reading(found: Nomogram, ranked: Sequence[str], points: Mapping[str, Array], mass: Array) -> _Reading:
    """As few columns as read close enough, the others at their average points."""
    reading = _Reading(len(ranked))
    if len(ranked) <= DRAWN[0]:
        return reading
    whole = np.sum([points[name] for name in ranked], axis=0)
    told = np.isfinite(whole)
    for drawn in (most for most in DRAWN if most < len(ranked)):
        rest = np.sum([points[name] for name in ranked[drawn:]], axis=0)[told]
        average = float(np.average(rest, weights=mass[told])) if told.any() else 0.0
        away = found.probability(whole[told]) - found.probability(whole[told] - rest + average)
        reading = _Reading(drawn, average, float(np.abs(away).max(initial=0.0)))
        if reading.error <= CLOSE:
            return reading
    return reading if len(ranked) > DRAWN[-1] else _Reading(len(ranked))


def _span(scale: Scale) -> float:
    """How far apart the points of a column lie; what is impossible under a class is as far as can be."""
    if not np.isfinite(scale.points).all():
        return float("inf")
    return float(np.ptp(np.append(scale.points, scale.missing)).round(9))


def _scale(scale: Scale, tolerance: float) -> PointScale:
    column = scale.column
    if column.kind == "categorical":
        return PointScale(column.name, tuple(scale.shown()), scale.missing)
    is_time = column.unit is not None and column.unit.startswith("datetime")
    x = np.array(scale.values, dtype=np.float64)
    kept = np.unique(list(bends(x, scale.points[:, None], 0, len(x) - 1, tolerance))).tolist() if np.isfinite(scale.points).all() else range(len(x))  # fmt: skip
    unit, size = ("", 1.0) if is_time else axis_unit(column, float(np.ptp(x)))
    along = ((shown(column, scale.values[k]) if is_time else float(x[k] / size), float(scale.points[k])) for k in kept)
    return PointScale(column.name, tuple(scale.shown()), scale.missing, tuple(along), unit)
