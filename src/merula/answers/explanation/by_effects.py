"""Rows explained by purified effects: what each set of columns says beyond its smaller sets, starting from the average row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from merula.classify.base import BayesianClassifier
from merula.classify.effects.subjects import Subject
from merula.classify.fitted import ComponentTerms, Term
from merula.core import Array
from merula.core.logspace import log_sum_exp
from merula.data.encode import Encoded
from merula.stats.distinct_rows import distinct_rows

if TYPE_CHECKING:
    from merula.classify.effects.purified import Effects

SLIP = Subject((), "allowance for odd rows")  # of rows that no part of a pool explains


def effect_terms(model: BayesianClassifier, effects: Effects, row: Encoded) -> ComponentTerms:
    """The effects of one row as terms, and what is left of its log joint as the prior; what is allowed for odd rows is the last."""
    ((_, start, told),) = told_effects(model, effects, row)
    if len(model.fitted_.components) > 1:
        told[SLIP] = _slip(model, start + sum(told.values()))
    terms = tuple(Term(subject, 1.0, values) for subject, values in told.items())
    return ComponentTerms(start[0], terms, np.zeros(1))


def _slip(model: BayesianClassifier, scores: Array) -> Array:
    """What mixing with the prior changes in the log posterior that these scores give: log ((1 − ε)·P + ε·prior) − log P."""
    pool, slip = model.fitted_.components
    logs = scores - log_sum_exp(scores)[:, None]
    mixed = np.logaddexp(pool.log_weight + logs, slip.log_weight + slip.log_prior)
    possible = mixed > -np.inf  # a class that the prior excludes stays excluded
    return np.where(possible, mixed - np.where(possible, logs, 0.0), 0.0)


def told_effects(
    model: BayesianClassifier, effects: Effects, rows: Encoded
) -> Iterator[tuple[NDArray[np.int64], Array, dict[Subject, Array]]]:
    """Groups of rows with the same columns missing: which they are, what is left of their log joint, and their effects.

    Where a missing cell says nothing, an effect of it and of others is an effect of the others: a function of these alone.
    """
    component, names = model.fitted_.components[0], effects.marginals.columns
    silent = np.zeros((len(rows), len(names)), dtype=np.bool_)  # there are no columns where all are texts
    for j, name in enumerate(names):
        silent[:, j] = (effects.marginals.states(name, rows) < 0) & (not model._answers_missing(name))
    first, groups = distinct_rows(silent.astype(np.int8))
    for index, row in enumerate(first.tolist()):
        own = np.flatnonzero(groups == index)
        some, unknown = rows.take(own), {name for name, lost in zip(names, silent[row], strict=True) if lost}
        told: dict[Subject, Array] = {}
        for subject, values in effects.values(some).items():
            known = (
                subject if subject.whole else Subject(tuple(name for name in subject.columns if name not in unknown))
            )
            if not subject.whole or values.any():  # what parts may say beyond their columns, they seldom do
                told[known] = told.get(known, 0.0) + values
        told.pop(Subject(()), None)
        start = np.empty((len(own), len(model.classes_)))
        component.add_up(some, start)
        yield own, start - sum(told.values()), told
