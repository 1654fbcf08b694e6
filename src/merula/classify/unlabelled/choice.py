"""How much rows without a class count: as much as tells the classes of labelled rows left out best, or less if that is as good.

Nigam et al. (2000) choose the weight by rows left out. With few labelled rows the losses of weights differ by chance, so that the
smallest weight is taken whose loss is no more than one standard error above the least; the error is that of the difference,
row by row. 0 is among them: rows that do not help are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from merula.classify.folds import Some, deal, like, uncut
from merula.classify.unlabelled.climbing import Learned, climb
from merula.classify.unlabelled.told import TriedWeight
from merula.core import Array
from merula.core.logspace import to_log_posterior
from merula.core.notes import silenced
from merula.data.encode import Encoded, encode_rows, encode_target, in_parts
from merula.data.table import open_rows
from merula.engines import Source, encoded

FOLDS = 5
MASSES = (
    0.25,
    1.0,
    4.0,
    16.0,
    64.0,
)  # of all rows without a class together, in units of the labelled rows, besides 0 and all of it
DIGITS = 12  # losses are compared rounded to this many
FARTHEST = 700.0  # the loss of what is called impossible


@dataclass(frozen=True, eq=False)
class Unclassed:
    """Rows without a class: the table, which of its rows in which order, and these as the model reads them."""

    table: Any
    order: Any
    rows: Encoded

    def read_by(self, model: Any, otherwise: Any) -> Encoded:
        """The rows as `model` reads them, which are those of `otherwise` where both have the same columns."""
        plan = model.fitted_.plan
        if plan.schema == otherwise.fitted_.plan.schema:
            return self.rows
        return encode_rows(self.table, plan.schema, plan.named, type(model).__name__).take(self.order)

    def some(self, most: int) -> tuple[Unclassed, float]:
        """At most so many of them, evenly along their order, and how many each stands for."""
        step = -(-len(self.order) // most)
        if step <= 1:
            return self, 1.0
        kept = np.arange(0, len(self.order), step)
        return Unclassed(self.table, self.order[kept], self.rows.take(kept)), len(self.order) / len(kept)


def weights_to_try(labelled: float, unlabelled: int) -> list[float]:
    """0, weights with which all rows without a class count a quarter of the labelled ones, as much, four times …, and 1.

    Examples
    --------
    >>> weights_to_try(50, 5000)
    [0.0, 0.0025, 0.01, 0.04, 0.16, 0.64, 1.0]
    """
    between = [mass * labelled / unlabelled for mass in MASSES]
    return [0.0, *(weight for weight in between if weight < 1.0), 1.0]


def tried_weights(model: Any, source: Source, unclassed: Unclassed, each: float) -> tuple[list[TriedWeight], float]:
    """The mean log loss of labelled rows left out under each weight, and the weight to take; none of these where no row can be scored.

    Each of the rows without a class stands for `each` such rows.
    """
    plan = model.fitted_.plan
    schema, rows = uncut(plan.schema), source.table
    target = encode_target(source.target, rows.rows, source.weight)
    read = encode_rows(rows, schema, plan.named, type(model).__name__)
    total = float(len(read) if target.weights is None else target.weights.sum())
    weights = weights_to_try(total, round(each * len(unclassed.order)))
    losses, masses = [np.zeros((len(weights), 0))], [np.zeros(0)]
    for learned, left_out in deal(read, target, schema, FOLDS):
        if len(np.unique(target.codes[learned.indices])) > 1 and len(left_out.indices):
            found, counted = _losses(
                model, source, target, learned, left_out, unclassed, [one * each for one in weights]
            )
            losses.append(found)
            masses.append(counted)
    return chosen(weights, np.concatenate(losses, axis=1), np.concatenate(masses))


def _losses(
    model: Any, source: Source, target: Any, learned: Some, left_out: Some, unclassed: Unclassed, weights: list[float]
) -> tuple[Array, Array]:
    """−log P(own class) of the rows left out, weights × rows, and how often each counts; of classes that were learned."""
    rows = open_rows(getattr(source.table, "matrix", source.table))
    labels = target.classes[target.codes]
    other = like(model, target.classes[np.unique(target.codes[learned.indices])])
    with silenced(), in_parts(source.table):  # what there is to know of the rows was said when the model was fitted
        train = other._source(rows.take(learned.indices), labels[learned.indices], learned.weights)
        start = other._learn(train).fitted_
        known = Learned(*encoded(train, start.plan.schema, other.n_jobs), unclassed.read_by(other, model))
        asked = rows.take(left_out.indices)
        found = [_log_posterior(fitted, other, asked) for fitted in _models(other, start, known, weights)]
    place = {label: k for k, label in enumerate(start.classes.tolist())}
    codes = np.array([place.get(label, -1) for label in labels[left_out.indices].tolist()], dtype=np.int64)
    met = np.flatnonzero(codes >= 0)
    own = np.stack([logs[met, codes[met]] for logs in found])
    return np.minimum(-own, FARTHEST), left_out.weights[met]


def _models(other: Any, start: Any, known: Learned, weights: list[float]) -> Iterator[Any]:
    """The model with each weight."""
    for weight in weights:
        yield climb(other, start, known, weight).fitted if weight else start


def _log_posterior(fitted: Any, model: Any, asked: Any) -> Array:
    rows = model._hold(fitted)._encoded(asked)
    found: Array = fitted.score(rows, to_log_posterior, model.n_jobs)[0]
    return found


def chosen(weights: list[float], losses: Array, masses: Array) -> tuple[list[TriedWeight], float]:
    """What was found of each weight, and the smallest whose loss is no more than a standard error above the least.

    Examples
    --------
    >>> losses = np.array([[0.9, 0.8, 0.7, 0.9], [0.5, 0.6, 0.4, 0.6], [0.5, 0.6, 0.4, 0.59]])
    >>> tried, weight = chosen([0.0, 0.1, 1.0], losses, np.ones(4))
    >>> weight, [round(one.gain, 4) for one in tried]
    (0.1, [0.0, 0.3, 0.3025])
    """
    if not len(masses) or not masses.sum() > 0:
        return [], 0.0
    means = np.round(losses @ masses / masses.sum(), DIGITS)
    least = int(np.argmin(means))  # of equal ones the smallest weight
    above, errors = (
        np.round(one, DIGITS) for one in (means - means[least], _standard_errors(losses - losses[least], masses))
    )
    best = int(np.flatnonzero(above <= errors)[0])
    gains = _standard_errors(losses - losses[0], masses)
    parts = zip(weights, means, _standard_errors(losses, masses), means[0] - means, gains, strict=True)
    return [TriedWeight(*map(float, part)) for part in parts], weights[best]


def _standard_errors(values: Array, masses: Array) -> Array:
    """The standard error of the weighted mean of each row of values."""
    total = masses.sum()
    mean = values @ masses / total
    spread = (values - mean[:, None]) ** 2 @ masses / max(total - 1.0, 1.0)
    return np.asarray(np.sqrt(spread / total))
