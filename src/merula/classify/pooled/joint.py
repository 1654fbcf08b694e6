"""The part of a pool that gives P(row): asked where only a joint distribution of class and columns can answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from merula.classify.base import BayesianClassifier
from merula.classify.folds import like
from merula.classify.naive import NaiveBayesClassifier
from merula.classify.pooled.pool import mean_loss
from merula.classify.pooled.rows import FOLDS, Rows
from merula.core import Array, InputError
from merula.core.notes import silenced
from merula.data.encode import in_parts
from merula.data.table import open_rows
from merula.data.table.frame import RowSource
from merula.distributions import MultivariateGaussian
from merula.show.progress import name_part

JOINT, JOINTS = "joint", (NaiveBayesClassifier.__name__,)
COVARIANCES = ("full", "shared")
FEW, MANY = 30, 200  # rows, from which on two folds choose, and one
LEAST = 1e-6  # probability of a class, where losses are taken
Loss = tuple[float, float]
Judged = tuple[BayesianClassifier, Loss | None]


def best_joint(
    X: Any, learned: Rows, options: Mapping[str, Any], dependent: bool
) -> tuple[BayesianClassifier | None, Loss | None]:
    """The joint model under which the classes of rows left out are most probable, and its loss out of fold, if they are known.

    Of naive Bayes and, where columns may depend on one another, numbers that are jointly normal: with a covariance of each class, or with
    one of all.
    """
    name_part(JOINT)
    source, numbers = open_rows(X), [name for name, known in learned.level_sets.items() if known is None]
    together = COVARIANCES if dependent and len(numbers) > 1 else ()
    models = [NaiveBayesClassifier(distributions={"numeric": MultivariateGaussian(one)}, **options) for one in together]
    with silenced(), in_parts(X):  # what there is to know of the rows is said of the pool
        found = [one for model in (NaiveBayesClassifier(**options), *models) if (one := _tried(model, source, learned))]
    if not found:
        return None, None
    best, loss = min(found, key=lambda one: float(f"{one[1][0]:.12g}") if one[1] else np.inf)
    return best._hold(replace(best.fitted_, collected=None)), loss  # it neither learns on nor merges


def _tried(model: Any, source: RowSource, learned: Rows) -> Judged | None:
    """A model that some tables are too large for, or their numbers too small or too close together; None of these."""
    try:
        return _judged(model, source, learned)
    except InputError:
        return None


def _judged(model: Any, source: RowSource, learned: Rows) -> Judged:
    """The fitted model, with the mean loss of rows by models that have not seen them, and its standard error."""
    target = learned.target
    model.fit(source.take(learned.places), target.classes[target.codes], _unless_one(learned.weights))
    count = 1 if len(target.codes) >= MANY else 2 if len(target.codes) >= FEW else FOLDS
    scored = [found for fold in range(count) if (found := _losses(model, source, learned, fold))]
    losses, weights = zip(*scored, strict=True) if scored else ((), ())
    return model, mean_loss(np.concatenate(losses), np.concatenate(weights)) if scored else None


def _unless_one(weights: Array) -> Array | None:
    """The weights, or None where all are 1, for which loops have been compiled already."""
    return None if (weights == 1).all() else weights


def _losses(model: Any, source: RowSource, learned: Rows, fold: int) -> tuple[Array, Array] | None:
    """−log P(own class) of the rows of a fold by a model of the others, and their weights; None where these hold one class alone.

    A class that the others do not hold is as probable as all rows say.
    """
    train, held, labels = learned.folds.training(fold), learned.folds.shares[:, fold], learned.target.codes
    some, rest = np.flatnonzero(train > 0), np.flatnonzero(held > 0)
    met = np.unique(labels[some])
    if len(met) < 2 or not len(rest):
        return None
    other = like(model, learned.target.classes[met])
    other.fit(source.take(learned.places[some]), learned.target.classes[labels[some]], _unless_one(train[some]))
    shares = np.exp(learned.log_prior)
    chances = np.tile(shares, (len(rest), 1))
    chances[:, met] = shares[met].sum() * other.predict_proba(source.take(learned.places[rest]))
    return -np.log(np.maximum(chances[np.arange(len(rest)), labels[rest]], LEAST)), held[rest]
