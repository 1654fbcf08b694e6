"""Everything a dossier says, gathered: from the model, from the rows it learned from, and from an evaluation out of fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.answers.decision import Costs, DecisionClassifier, read_costs
from merula.answers.evaluation import Evaluation
from merula.answers.evaluation.figure import interval_of
from merula.answers.evaluation.metrics import FIGURES
from merula.answers.evaluation.subgroups import Subgroup, Subgroups
from merula.answers.stability import MOST_ROWS, evenly, stability
from merula.classify.base import BayesianClassifier
from merula.classify.folds import uncut
from merula.classify.saved import SavedModel, describe
from merula.core import Array, InputError
from merula.core.notes import silenced
from merula.data.encode import Target, is_counted
from merula.data.schema import Label
from merula.data.table import open_table, plain_label
from merula.report.dossier.about import Answers
from merula.report.dossier.limits import find_limits
from merula.report.dossier.questions import PARTS
from merula.report.dossier.result import (
    Answer,
    CalibrationBin,
    GroupFigures,
    Limits,
    Measured,
    ModelFacts,
    NetBenefit,
    Performance,
)
from merula.report.findings.result import DataSummary
from merula.show.numbers import several

BESIDE = {-1: "better", 0: "unclear", 1: "worse"}
LONGEST = 200  # of an option's value


def classifier_of(model: Any) -> tuple[BayesianClassifier, Any, float | None]:
    """The fitted classifier that a dossier is about, and the costs that it decides by."""
    inner = model.estimator_ if hasattr(model, "estimator_") else model
    inner = inner.estimator_ if hasattr(inner, "estimator_") else inner
    if not isinstance(inner, BayesianClassifier) or not hasattr(inner, "classes_"):
        raise InputError.at("model", f"is a {type(model).__name__}", expected="a fitted classifier of merula, or a DecisionClassifier around one")  # fmt: skip
    return inner, *((model.costs, model.reject_cost) if isinstance(model, DecisionClassifier) else (None, None))


def model_facts(saved: SavedModel) -> ModelFacts:
    """What the model holds, as `merula info` tells it."""
    told = describe(saved)
    options = {name: repr(value) for name, value in saved.model.get_params(deep=False).items() if name != "kinds"}
    return ModelFacts(
        told["model"],
        {name: value if len(value) <= LONGEST else f"{value[:LONGEST]}…" for name, value in options.items()},
        told["parameters"],
        told["rows"],
        told["kept_rows"],
        told["temperature"],
        tuple(told["classes"].items()),
        tuple((column["column"], column["kind"], column["distribution"] or "") for column in told["columns"]),
        tuple(told["actions"] or ()),
        unclassed_of(saved.model),
        tuple((part["part"], part["weight"], part["log_loss"], part["standard_error"]) for part in told["parts"] or ()),
    )


def unclassed_of(model: BayesianClassifier) -> float:
    """The weight of the rows without a class that a model has learned from."""
    collected = model.fitted_.collected
    return 0.0 if collected is None else collected.shared


# ---------------------------------------------------------------------------------------------------------- performance


def performance_of(evaluation: Evaluation, how: str, label: Label = None) -> Performance:
    """How good the one model of an evaluation is; its calibration for a class, else for the second of two, else for the most probable."""
    (model,) = evaluation.models
    two = evaluation.classes[1] if len(evaluation.classes) == 2 else None
    whose = two if label is None else label
    curve = model.confidence if whose is None else model.reliability[whose]
    ends = curve.intervals(evaluation.times_tested)
    bins = [CalibrationBin(p, o, low, high, n) for p, o, n, (low, high) in zip(curve.predicted, curve.observed, curve.count, ends, strict=True)]  # fmt: skip
    groups = evaluation.by() if evaluation.columns else None
    return Performance(
        how,
        len(np.unique(np.concatenate([fold.test for fold in evaluation.folds]))),
        tuple(_measured(name, evaluation) for name in model.figures),
        evaluation.sentences("the model")[0],
        BESIDE[evaluation.against_baseline("log_loss")[0].direction],
        whose,
        tuple(bins),
        tuple(evaluation.columns),
        () if groups is None else tuple(_group(one) for one in groups),
        () if groups is None else groups.too_few,
        _differences(groups),
    )


def _differences(groups: Subgroups | None) -> tuple[str, ...]:
    return () if groups is None else tuple(groups.sentences())


def _measured(name: str, evaluation: Evaluation) -> Measured:
    figure, meaning = evaluation.models[0].figures[name], FIGURES[name]
    frequencies = evaluation.baseline.figures[name].value
    return Measured(name, meaning.title, meaning.better, figure.value, figure.standard_error, interval_of(name, figure), frequencies)  # fmt: skip


def _group(one: Subgroup) -> GroupFigures:
    figures = [
        Measured(name, FIGURES[name].title, FIGURES[name].better, own.value, own.standard_error, None if own.low is None or own.high is None else (own.low, own.high), None)
        for name, own in one.figures.items()
    ]  # fmt: skip
    return GroupFigures(one.name, one.rows, tuple(figures))


def how_tested(evaluation: Evaluation, test: str | None = None) -> str:
    """Which rows the figures are of, in a sentence."""
    count = len(evaluation.folds)
    if evaluation.tested:
        learned = several(evaluation.folds[0].train_weight, "row")
        named = test or evaluation.tested
        return (
            f"A model with the same options, fitted anew on {learned} of the table, was tested on the rows of {named}."
        )
    if evaluation.in_time_order:
        return f"Models with the same options were fitted anew for {several(count, 'fold')} in the order of time; each was tested on rows that come after all it had learned from."
    if count == 1:
        return "A model with the same options was fitted anew on a part of the table, and tested on the rest."
    kept = ", rows of one group never on both sides" if evaluation.groups is not None else ""
    times = round(evaluation.times_tested)
    often = f" {times} times" if times > 1 else ""
    return f"Models with the same options were fitted anew for {several(count, 'fold')}{kept}: every row was tested{often} by a model that had not learned from it. The model in the file, which has seen these rows, was not asked."


def net_benefit_of(evaluation: Evaluation, label: Label) -> NetBenefit | None:
    """What acting on a class is worth; of two classes on the second, of more none unless one is named."""
    if label is None and len(evaluation.classes) > 2:
        return None
    curve = evaluation.decision_curve(label)
    return NetBenefit(curve.label, tuple(curve.thresholds.tolist()), tuple(curve.models[evaluation.models[0].name].tolist()), tuple(curve.always.tolist()))  # fmt: skip


# ------------------------------------------------------------------------------------------------- the model on its rows


def stability_of(
    model: BayesianClassifier, X: Any, costs: Any, reject_cost: float | None, weights: Array | None
) -> Any:
    """What the model's answers for the rows rest on."""
    read: Costs = read_costs(costs, model.classes_)
    with silenced():
        return stability(model, model._encoded(X), read, reject_cost, weights, stated=costs is not None)


def limits_of(
    model: BayesianClassifier, X: Any, target: Target, data: DataSummary | None, weights: Array | None, kept_rows: int, test: Any = None
) -> Limits | None:  # fmt: skip
    """The known limits that the rows show; None for a matrix of counted words."""
    if data is None or is_counted(model.schema_):
        return None
    labels = [plain_label(label) for label in target.classes.tolist()]
    counts = np.bincount(target.codes, weights, len(labels)).tolist()
    classes = dict(zip(map(str, labels), counts, strict=True))
    with silenced():
        return find_limits(open_table(X), uncut(model.schema_), data, classes, weights, kept_rows, None if test is None else open_table(test))  # fmt: skip


def refitted(model: BayesianClassifier, fresh: Any, X: Any, y: Any, weights: Array | None) -> str:
    """Whether the options of the model, fitted on the very rows, give the model: in a sentence."""
    with silenced():
        again = fresh.fit(X, y) if weights is None else fresh.fit(X, y, sample_weight=weights)
        again = getattr(again, "estimator_", again)
        if [plain_label(one) for one in again.classes_.tolist()] != [
            plain_label(one) for one in model.classes_.tolist()
        ]:
            return "The model was not learned from these rows alone: fitted on them, it would have other classes."
        some = _some(X, len(y), weights)
        one, other = (each.predict_proba(some) for each in (model, again))
    if np.array_equal(one, other):
        return f"Fitted anew on all these rows, the same options give the very probabilities of the model, bit for bit ({several(len(one), 'row')} compared)."
    apart = float(np.abs(one - other).max())
    if unclassed_of(model):
        return f"The model has learned from rows without a class too: fitted anew on these rows, which have one, its probabilities differ by up to {apart:.4g}. The figures are those of its options on these rows alone, not of the model itself."
    return f"The model was not learned from these rows alone, or by another version: fitted anew on them, its probabilities differ by up to {apart:.4g}. The figures are those of its options on these rows, not of the model itself."


def _some(X: Any, count: int, weights: Array | None) -> Any:
    from merula.data.table import open_rows

    chosen: NDArray[np.int64] = evenly(count, weights, MOST_ROWS)
    return open_rows(X).take(chosen)


# -------------------------------------------------------------------------------------------------------------- answers


def answers_of(about: Answers, found: Mapping[str, str]) -> tuple[Answer, ...]:
    """The questions with what people state and what was found, by ``group.question``."""
    return tuple(
        Answer(part.name, one.name, one.text, about.get(part.name, {}).get(one.name, ()), found.get(f"{part.name}.{one.name}", ""))
        for part in PARTS
        for one in part.questions
    )  # fmt: skip


def found_answers(classes: Sequence[Label], target: str | None, actions: Sequence[str], performance: Performance | None) -> dict[str, str]:  # fmt: skip
    """What the model and its evaluation answer by themselves."""
    named = ", ".join(str(label) for label in classes[:10]) + (" …" if len(classes) > 10 else "")
    act = f", and the action of least expected cost among {', '.join(actions)}" if actions else ""
    told = {"details.output": f"The probability of each class of {target or 'the target'} ({named}){act}."}
    if performance is not None:
        told["performance.validity"] = f"{' '.join(performance.verdict)} See the parts on performance, calibration and net benefit."  # fmt: skip
        if performance.by:
            told["performance.fairness"] = f"{' '.join(performance.differences)} See the part on performance, by {', '.join(performance.by)}."  # fmt: skip
    return told
