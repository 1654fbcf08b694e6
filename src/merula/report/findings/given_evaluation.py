"""An evaluation that was made before, checked to be of the models and rows that a report is about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from merula.answers.evaluation import Evaluation
from merula.core import InputError
from merula.data.encode import encode_target
from merula.data.table import plain_label

AGAIN = "leave evaluation= out, and the report evaluates by itself"


def checked_evaluation(evaluation: Any, models: Iterable[str], y: Any, sample_weight: Any, **own: Any) -> Evaluation:
    """The evaluation with the models of the report alone, in their order; an error where it is of other models or rows.

    own : what an evaluation has of its own, so that it is not given beside it.
    """
    if not isinstance(evaluation, Evaluation):
        raise InputError.of("evaluation", evaluation, "what evaluate returns")
    given = [name for name, value in own.items() if value is not None]
    if given:
        raise InputError.at(given[0], "is given beside evaluation, which was made with its own", remedy=f"give it to evaluate, or {AGAIN}")  # fmt: skip
    known = {one.name: one for one in evaluation.models}
    lacking = [name for name in models if name not in known]
    if lacking:
        raise InputError.at("evaluation", f"is of {', '.join(map(repr, known))}, not of {lacking[0]!r}", remedy=AGAIN)
    _check_rows(evaluation, y, sample_weight)
    return replace(evaluation, models=tuple(known[name] for name in models))


def _check_rows(evaluation: Evaluation, y: Any, sample_weight: Any) -> None:
    """An error unless there are as many rows, of the same classes and weights, in the same order."""
    count = len(evaluation.truth)
    target = encode_target(y, len(y), sample_weight)
    if len(target.codes) != count:
        raise InputError.at("evaluation", f"is of {count:,} rows, y has {len(target.codes):,}", remedy=AGAIN)
    labels = [plain_label(label) for label in target.classes.tolist()]
    places = np.array([evaluation.classes.index(one) if one in evaluation.classes else -1 for one in labels])
    if (places[target.codes] != evaluation.truth).any():
        raise InputError.at("evaluation", "is of rows of other classes than y, or in another order", remedy=AGAIN)
    given, known = (np.ones(count) if one is None else one for one in (target.weights, evaluation.weights))
    if not np.array_equal(given, known):
        raise InputError.at("evaluation", "was made with other weights of rows", remedy=AGAIN)
