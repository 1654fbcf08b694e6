"""Everything there is to say of a table and its model, gathered: evaluated, fitted once more on all rows, and asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from merula.answers.decision import underlying
from merula.answers.evaluation import Evaluation, evaluate
from merula.answers.evaluation.folds import usual_folds
from merula.answers.evaluation.run import named_models
from merula.classify.base import BayesianClassifier
from merula.classify.conditionals import Conditional, conditional
from merula.core import Array
from merula.data.encode import Encoded, Target
from merula.data.table import label_array, plain_label
from merula.report.findings.actions import summarise_actions
from merula.report.findings.contributions import contributions_of, given_others, importances_of
from merula.report.findings.curves import cost_curves, rating_curves
from merula.report.findings.data import summarise_data
from merula.report.findings.given_evaluation import checked_evaluation
from merula.report.findings.learned_effects import learned_effects
from merula.report.findings.nomograms import drawn_nomogram
from merula.report.findings.origin import origin_of
from merula.report.findings.result import Findings
from merula.report.findings.row_stories import checked_numbers, row_stories
from merula.show.progress import progress_bar

TITLE = "Report"
MOST_PLOTS = 12  # columns whose distributions are drawn


def collect_findings(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    repeats: int | None = None,
    groups: Any = None,
    times: Any = None,
    costs: Any = None,
    reject_cost: float | None = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    learning_curve: bool = True,
    by: Any = None,
    min_rows: int | None = None,
    target: str | None = None,
    title: str | None = None,
    command: str | None = None,
    remarks: Mapping[str, str] | None = None,
    row_numbers: Any = None,
    left_out: Mapping[str, int] | None = None,
    evaluation: Evaluation | None = None,
    progress: bool | None = None,
) -> Findings:
    """Everything a report says of a table and of one or several models; the first is fitted on all rows and explained.

    Parameters
    ----------
    model, X, y, cv, repeats, groups, times, costs, reject_cost, sample_weight, random_state, learning_curve, by, min_rows, progress
        As for `evaluate`.
    target : str, optional
        What the class is called.
    title : str, optional
        What stands above the report.
    command : str, optional
        The command line that asked for it.
    remarks : {column: words}, optional
        What was already pointed out of columns, such as why one is left out.
    row_numbers : array of shape (n_samples,), optional
        The number of each row in the table that it comes from, where some of its rows are left out; 1, 2, 3, … unless given.
    left_out : {column: rows}, optional
        How many rows of that table are not among these, for lack of what.
    evaluation : Evaluation, optional
        What `evaluate` found of these models on these rows, so that it is not done again; see `write_report`.

    Examples
    --------
    >>> import merula as mr
    >>> from merula.report.findings import collect_findings
    >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
    >>> found = collect_findings(mr.NaiveBayesClassifier(), heights, sexes, cv=3, progress=False)
    >>> [model.name for model in found.evaluation.models], found.data.rows
    (['NaiveBayesClassifier'], 6)
    """
    models, cv = named_models(model), usual_folds(times) if cv is None else cv
    first = next(iter(models.values()))
    of_evaluation = {"groups": groups, "costs": costs, "reject_cost": reject_cost, "by": by, "min_rows": min_rows}
    if evaluation is not None:
        evaluation = checked_evaluation(evaluation, models, y, sample_weight, **of_evaluation)
    else:
        asked = {name: value for name, value in of_evaluation.items() if value is not None}
        evaluation = evaluate(models, X, y, cv=cv, repeats=repeats, times=times, sample_weight=sample_weight, random_state=random_state, learning_curve=learning_curve, progress=progress, **asked)  # fmt: skip
    weighed = {} if sample_weight is None else {"sample_weight": sample_weight}
    with progress_bar(2, progress) as step:
        step("fitting on all rows")
        own = underlying(clone(first).fit(X, y, **weighed))
        step("explaining")
        explained = _explained(own, X, y, evaluation, checked_numbers(row_numbers, len(evaluation.truth)))
    schema = own.schema_ if isinstance(own, BayesianClassifier) else None
    stated = _asked(evaluation, repeats, times, sample_weight, learning_curve, by, min_rows)
    return Findings(
        title=title or (f"{TITLE}: {target}" if target else TITLE),
        target=target,
        data=summarise_data(X, Target(evaluation.truth, label_array(evaluation.classes)), schema, remarks, left_out),
        origin=origin_of(evaluation, first, cv, random_state, stated, command),
        **_measured(evaluation),
        **explained,
    )


def findings_of(evaluation: Evaluation, title: str | None = None) -> Findings:
    """What an evaluation alone tells: how good the models are, nothing of columns and rows.

    Examples
    --------
    >>> import merula as mr
    >>> from merula.report.findings import findings_of
    >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
    >>> findings_of(mr.evaluate(mr.NaiveBayesClassifier(), heights, sexes, cv=3)).balance
    {'f': 3.0, 'm': 3.0}
    """
    return Findings(title or "Evaluation", target=None, origin=origin_of(evaluation), **_measured(evaluation))


def _asked(
    evaluation: Evaluation,
    repeats: int | None,
    times: Any,
    sample_weight: Any,
    learning_curve: bool,
    by: Any,
    min_rows: int | None,
) -> dict[str, str]:
    """What else `write_report` was asked, as it is written in Python; long arrays by their names."""
    stated = evaluation.costs
    costs = stated and {
        action: dict(zip(stated.classes, row, strict=True))
        for action, row in zip(stated.actions, stated.table.tolist(), strict=True)
    }
    given = {
        "repeats": repeats,
        "costs": costs,
        "reject_cost": evaluation.reject_cost,
        "learning_curve": None if learning_curve else False,
        "by": None if by is None or isinstance(by, Mapping) or hasattr(by, "columns") else by,
        "min_rows": min_rows,
    }
    named = {"groups": evaluation.groups, "times": times, "sample_weight": sample_weight, "by": by}
    written = {name: repr(value) for name, value in given.items() if value is not None}
    return written | {name: name for name, value in named.items() if value is not None and name not in written}


def _measured(evaluation: Evaluation) -> dict[str, Any]:
    """What follows from the evaluation."""
    counts = np.bincount(evaluation.truth, evaluation.weights, minlength=len(evaluation.classes))
    return {
        "evaluation": evaluation,
        "balance": dict(zip(evaluation.classes, counts.astype(np.float64).tolist(), strict=True)),
        "ratings": rating_curves(evaluation),
        "cost_curves": cost_curves(evaluation),
        "actions": summarise_actions(evaluation),
    }


def _explained(model: Any, X: Any, y: Any, evaluation: Evaluation, numbers: NDArray[np.int64]) -> dict[str, Any]:
    """What only a model made of terms can be asked, and why, where it cannot."""
    if not isinstance(model, BayesianClassifier):
        return {
            "notes": {"columns": f"{type(model).__name__} is not made of terms for each column: it is not explained."}
        }
    if hasattr(X, "tocsr"):
        return {"notes": {"columns": "The columns of a sparse matrix are words without names: they are not explained."}}
    rows, truth = model._encoded(X), _indices(model, evaluation)
    points, reason = drawn_nomogram(model, X, y, evaluation)
    sums = sum(bool(one.parts) for one in model.fitted_.components)
    averaged = f"The model averages {sums} sums, each with reasons of its own; mr.explain(model, row) writes them out." if sums > 1 else ""  # fmt: skip
    return {
        **_of_columns(model, rows, truth, evaluation.weights),
        "nomogram": points,
        "rows": () if averaged else row_stories(model, rows, truth, numbers),
        "notes": {part: why for part, why in (("nomogram", reason), ("rows", averaged)) if why},
    }


def _of_columns(
    model: BayesianClassifier, rows: Encoded, truth: NDArray[np.int64], weights: Array | None
) -> dict[str, Any]:
    """What columns contribute: by the model's terms and distributions, or by its effects, where it is explained by them."""
    apart, effects = given_others(model, rows, truth, weights), model.fitted_.effects
    if effects:
        ranked, largest = importances_of(model, rows, truth, weights)
        texts = [column.name for column in model.schema_.columns if column.kind == "text"]
        return {
            "importances": largest,
            "given_others": apart,
            "effects": learned_effects(model, effects, ranked),
            "conditionals": _conditionals(model, texts),
        }
    found = contributions_of(model, rows, truth, weights)
    every = list(dict.fromkeys(name for one in (*apart, *found) for name in one.columns))
    return {"contributions": found, "given_others": apart, "conditionals": _conditionals(model, every)}


def _conditionals(model: BayesianClassifier, columns: Sequence[str]) -> tuple[Conditional, ...]:
    """p(column given class) of the first columns that have one, in this order."""
    found: list[Conditional] = []
    for name in columns:
        with suppress(ValueError):  # it has none
            found.append(conditional(model, name))
        if len(found) == MOST_PLOTS:
            break
    return tuple(found)


def _indices(model: BayesianClassifier, evaluation: Evaluation) -> NDArray[np.int64]:
    """The index of each row's class among the model's."""
    where = {plain_label(label): index for index, label in enumerate(model.classes_.tolist())}
    return np.array([where.get(label, 0) for label in evaluation.classes], dtype=np.int64)[evaluation.truth]
