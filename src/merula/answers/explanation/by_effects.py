"""A row explained by purified effects: what each set of columns says beyond its smaller sets, starting from the average row."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from merula.classify.base import BayesianClassifier
from merula.classify.effects.subjects import Subject
from merula.classify.fitted import ComponentTerms, Term
from merula.core import Array
from merula.data.encode import Encoded
from merula.data.schema import Column, Label


def effect_terms(model: BayesianClassifier, row: Encoded, cells: Mapping[str, Label]) -> ComponentTerms | None:
    """The effects of one row as terms, and what is left of its log joint as the prior; None where effects are not known.

    Where a missing cell says nothing, an effect of it and of others is an effect of the others: a function of these alone.
    """
    effects = model.fitted_.effects
    if effects is None:
        return None
    silent = set() if model.missing == "level" else {column.name for column in model.schema_.columns if _is_silent(column, cells[column.name])}  # fmt: skip
    found: dict[Subject, Array] = {}
    for subject, values in effects.values(row).items():
        told = subject if subject.whole else Subject(tuple(name for name in subject.columns if name not in silent))
        found[told] = found.get(told, 0.0) + values
    found.pop(Subject(()), None)
    rest = model.fitted_.log_joint(row)[0] - sum(
        (values[0] for values in found.values()), np.zeros(len(model.classes_))
    )
    return ComponentTerms(rest, tuple(Term(subject, 1.0, values) for subject, values in found.items()), np.zeros(1))


def _is_silent(column: Column, value: Label) -> bool:
    """Whether a cell is missing, or holds a level never met, which is taken for missing."""
    return value is None or (column.kind == "categorical" and value not in (column.levels or ()))
