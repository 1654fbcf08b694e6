"""A model learned from rows with a class and rows without."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from merula.classify.fitted import FittedModel
from merula.classify.folds import canonical_order
from merula.classify.unlabelled.choice import Unclassed, tried_weights
from merula.classify.unlabelled.climbing import Climb, Learned, climb
from merula.classify.unlabelled.told import Unlabelled, UnlabelledRowsWarning
from merula.core import InputError, Option, warn_of, warn_user
from merula.core.checks import checked_number
from merula.core.sound import HEAVIEST
from merula.data.encode import Encoded, Target, encode_rows
from merula.data.table import open_table
from merula.engines import Source, encoded
from merula.engines.sampling import SAMPLED, sample_note

MODELS = "NaiveBayesClassifier, BayesClassifier, TANClassifier, SPODEClassifier and BayesianNetworkClassifier can learn from such rows"


def learn(model: Any, source: Source, unlabelled: Any, weight: Any) -> FittedModel:
    """The model of rows with a class (`source`) and rows without; `weight` is what one of these counts, or "auto"."""
    model = clone(model)  # whatever goes wrong, the one that was asked stays as it was
    if model._needs_classes:
        _refuse(model, model._needs_classes)
    auto = isinstance(weight, str) and weight == "auto"
    if not auto:
        weight = checked_number(
            weight, "unlabelled_weight", "'auto' or a number from 0", lambda one: 0 <= one <= HEAVIEST
        )
    start: FittedModel = model._learn(source).fitted_
    _refuse_other_estimates(model, start)
    if _is_empty(unlabelled):
        return replace(start, unlabelled=Unlabelled(0, 0.0))
    unclassed = _read(model, unlabelled)
    told = Unlabelled(len(unclassed.order), 0.0 if auto else float(weight))
    if auto:
        told = _chosen(model, source, unclassed, told)
    if not told.weight:
        return replace(start, unlabelled=told)
    rows, target = encoded(replace(source, named=start.plan.named), start.plan.schema, model.n_jobs)
    found = climb(model, start, Learned(rows, target, unclassed.rows), told.weight)
    return _as_told(model, found, told)


def _as_told(model: Any, found: Climb, told: Unlabelled) -> FittedModel:
    """The model that EM arrived at, built once more so that its notes are heard."""
    fitted: FittedModel = model._build(found.fitted.plan, found.fitted.collected)
    return replace(fitted, unlabelled=replace(told, objective=found.objective, ended=found.ended))


def _chosen(model: Any, source: Source, unclassed: Unclassed, told: Unlabelled) -> Unlabelled:
    """The weight that tells the classes of labelled rows left out; a warning where it is 0."""
    some, each = unclassed.some(SAMPLED)
    if each > 1:
        warn_of([sample_note("the weight of rows without a class was chosen", len(some.order))])
    tried, weight = tried_weights(model, source, some, each)
    found = replace(told, weight=weight, tried=tuple(tried))
    if not tried:
        warn_user(f"{found}: too few labelled rows to leave some out; state unlabelled_weight to count them nevertheless", UnlabelledRowsWarning)  # fmt: skip
    elif not weight:
        warn_user(str(found), UnlabelledRowsWarning)
    return found


def _is_empty(table: Any) -> bool:
    """Whether there are no rows: none without a class is no mistake."""
    shape = getattr(table, "shape", None)
    return (shape[0] if shape else len(table) if hasattr(table, "__len__") else 1) == 0


def _read(model: Any, unlabelled: Any) -> Unclassed:
    """The rows as the model reads its columns, in an order that depends on what they hold."""
    plan = model.fitted_.plan
    table = open_table(unlabelled)
    rows: Encoded = encode_rows(table, plan.schema, plan.named, type(model).__name__)
    order = canonical_order(rows, Target(np.zeros(len(rows), dtype=np.uint8), np.zeros(1)), plan.schema)
    return Unclassed(table, order, rows.take(order))


def _refuse(model: Any, why: str) -> None:
    raise InputError(
        (Option("unlabelled"), f" is not for this {type(model).__name__}: {why}"),
        where="unlabelled",
        remedy=f"leave it out; {MODELS}",
    )


def _refuse_other_estimates(model: Any, fitted: FittedModel) -> None:
    """An error where some columns are modelled by what no likelihood determines."""
    for block, belief in zip(fitted.plan.blocks, model._log_beliefs(fitted), strict=True):
        if belief is None:
            what = f"column {block.columns[0]!r} is modelled by the distribution {block.family.name!r}"
            _refuse(model, f"{what}, whose estimates are not those of a largest likelihood")
