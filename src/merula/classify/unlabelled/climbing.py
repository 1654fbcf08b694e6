"""Expectation-maximisation over rows without a class: each counts in every class, as probable as the model finds it there.

Nigam, McCallum, Thrun & Mitchell (2000), "Text classification from labeled and unlabeled documents using EM", section 5.3.1: with
weight λ of a row without a class,

    objective = Σ_labelled weight · log P(class, row) + λ · Σ_others log P(row) + log P(parameters)

    E: the posterior of each row without a class
    M: the model of the statistics of labelled rows + λ · those of the others, each row counted in every class by its posterior

The model is built from statistics as always. Where its estimates are the likeliest of all, or the likeliest under the prior that
smoothing is, the objective rises at every step (Dempster, Laird & Rubin 1977); where they are not, steps end before it falls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from merula.classify.fitted import FittedModel
from merula.classify.kept_statistics import reference_wanted
from merula.classify.unlabelled.told import FELL, SETTLED, STOPPED
from merula.core import Array
from merula.core.logspace import log_sum_exp, to_posterior
from merula.core.notes import silenced
from merula.data.encode import Encoded, SharedTarget, Target
from merula.engines import Source, collect
from merula.stats import Collected

MOST_STEPS = 200
TOLERANCE = 1e-6  # nats per row: a step that gains no more has settled
ROUNDING = 1e-12  # of the objective: what it loses by rounding alone
LEAST_SHARE = 1e-30  # of a row in a class: less is none, and no number comes near to vanishing


@dataclass(frozen=True, eq=False)
class Learned:
    """The rows that a model learns from: those with a class, and those without."""

    rows: Encoded
    target: Target
    unlabelled: Encoded

    @property
    def own_class(self) -> Any:
        """Where the log joint of each labelled row stands for its own class."""
        return np.arange(len(self.rows)), self.target.codes

    @property
    def weights(self) -> Array:
        """How often each labelled row counts."""
        return np.ones(len(self.rows)) if self.target.weights is None else self.target.weights


@dataclass(frozen=True, eq=False)
class Climb:
    """Where EM led: the model, the objective after each step, and how it ended."""

    fitted: FittedModel
    objective: tuple[float, ...]
    ended: str


def climb(model: Any, start: FittedModel, learned: Learned, weight: float) -> Climb:
    """From the model of labelled rows alone, steps of EM until the objective rises no more."""
    fitted, heights = start, list[float]()
    posterior = _posterior(fitted, learned, model.n_jobs)[0]
    least = TOLERANCE * (float(learned.weights.sum()) + weight * len(posterior))
    while len(heights) < MOST_STEPS:
        with silenced():  # what there is to know, the last step says
            found = model._build(start.plan, _together(model, start, learned, posterior, weight))
        posterior, evidence = _posterior(found, learned, model.n_jobs)
        height = _of_labelled(found, learned, model.n_jobs) + weight * evidence + model._log_belief(found)
        if heights and height < heights[-1] - ROUNDING * abs(heights[-1]):
            return Climb(fitted, tuple(heights), FELL)
        heights.append(max(height, heights[-1]) if heights else height)
        fitted = found
        if len(heights) > 1 and height - heights[-2] <= least:
            return Climb(fitted, tuple(heights), SETTLED)
    return Climb(fitted, tuple(heights), STOPPED)


def _together(model: Any, start: FittedModel, learned: Learned, posterior: Array, weight: float) -> Collected:
    """The statistics of labelled rows and of those without a class, each of these shared out among all."""
    labelled = start.collected
    assert labelled is not None
    wanted = [model._wanted_again(*one) for one in zip(start.plan.blocks, labelled.blocks, strict=True)]
    shares = np.where(posterior > LEAST_SHARE, posterior * weight, 0.0)
    source = Source(learned.unlabelled, SharedTarget(shares, start.classes))
    kept = [] if labelled.reference is None else reference_wanted(start.plan.schema)
    found = collect(source, start.plan.schema, [*wanted, *kept], model.n_jobs)
    found = found.with_reference(len(wanted)) if kept else found
    return labelled + replace(found, shared=weight * len(posterior))


def _posterior(fitted: FittedModel, learned: Learned, n_jobs: int | None) -> tuple[Array, float]:
    """P(class given row) of rows without a class, and Σ log P(row)."""
    joint, _ = fitted.score(learned.unlabelled.afresh(), None, n_jobs)
    evidence = float(log_sum_exp(joint).sum())
    to_posterior(joint, fitted.log_prior)
    return joint, evidence


def _of_labelled(fitted: FittedModel, learned: Learned, n_jobs: int | None) -> float:
    """Σ weight · log P(class, row) of labelled rows."""
    joint, _ = fitted.score(learned.rows.afresh(), None, n_jobs)
    weights, own = learned.weights, joint[learned.own_class]
    return float(weights[weights > 0] @ own[weights > 0])
