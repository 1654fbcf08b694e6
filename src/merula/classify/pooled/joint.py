"""The part of a pool that gives P(row): asked where only a joint distribution of class and columns can answer."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from merula.classify.base import BayesianClassifier
from merula.classify.calibration import scored_out_of_fold
from merula.classify.dependent import GAUSSIAN, TANClassifier
from merula.classify.naive import NaiveBayesClassifier
from merula.classify.pooled.pool import mean_loss
from merula.classify.pooled.rows import FOLDS, Rows
from merula.core import InputError
from merula.data.encode import Target
from merula.data.table import open_rows
from merula.show.progress import name_part

JOINT, JOINTS = "joint", (NaiveBayesClassifier.__name__, TANClassifier.__name__)
MANY = 1_000  # rows, from which on one fold chooses
Loss = tuple[float, float]
Judged = tuple[BayesianClassifier, Loss | None]


def best_joint(
    X: Any, learned: Rows, options: Mapping[str, Any], dependent: bool
) -> tuple[BayesianClassifier, Loss | None]:
    """The joint model under which the classes of rows left out are most probable, and its loss out of fold, if it is known.

    Of trees of columns whose numbers are cut into intervals or normal; naive Bayes, where columns may not depend on one another, and
    where no tree can be made.
    """
    name_part(JOINT)
    source = open_rows(X).take(learned.places)
    trees = [{}, {"numeric": GAUSSIAN}] if None in learned.level_sets.values() else [{}]
    dependent = dependent and len(learned.level_sets) > 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to know of the rows is said of the pool
        found = [one for own in trees if dependent and (one := _tree(source, learned.target, {**options, **own}))]
        found = found or [_judged(NaiveBayesClassifier(**options), source, learned.target)]
    best, loss = min(found, key=lambda one: float(f"{one[1][0]:.12g}") if one[1] else np.inf)
    return best._hold(replace(best.fitted_, collected=None)), loss  # it neither learns on nor merges


def _tree(source: Any, target: Target, options: Mapping[str, Any]) -> Judged | None:
    """A tree of columns; None where it is too large for the table, or a column is called as it calls the class."""
    try:
        return _judged(TANClassifier(**options), source, target)
    except InputError:
        return None


def _judged(model: Any, source: Any, target: Target) -> Judged:
    """The fitted model, with the mean loss of rows by models that have not seen them, and its standard error."""
    model.fit(source, target.classes[target.codes], target.weights)
    of_folds = scored_out_of_fold(model, source, target, FOLDS)
    scored = [one for one in islice(of_folds, 1 if len(target.codes) >= MANY else FOLDS) if len(one.codes)]
    losses, weights = [one.losses for one in scored], [one.weights for one in scored]
    return model, mean_loss(np.concatenate(losses), np.concatenate(weights)) if scored else None
