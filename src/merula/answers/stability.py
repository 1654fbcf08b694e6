"""What the answers for many rows rest on: columns, class priors and costs, by how many rows would be answered otherwise.

A column matters by what becomes of the answers where it is not known; a class prior by what becomes of them where its odds are halved or
doubled, the other classes keeping their proportions; a cost where it is halved or doubled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.answers.decision import Costs, checked_reject_cost, least_risk
from merula.classify.base import BayesianClassifier
from merula.core import Array
from merula.core.logspace import to_posterior
from merula.data.encode import Encoded, is_counted, with_cells
from merula.data.schema import Label
from merula.data.table import plain_label

MOST_ROWS = 1_000  # that are asked: enough for shares
FACTORS = (0.5, 2.0)


@dataclass(frozen=True)
class ColumnMatters:
    """A column, and what becomes of the answers where it is not known.

    ``moved`` is the mean distance between the posteriors with and without it, half of Σ_class |difference|: the share of probability
    that changes its class. ``changed`` is the share of rows for which another action is the best.
    """

    column: str
    moved: float
    changed: float


@dataclass(frozen=True)
class PriorMatters:
    """A class, how frequent the model says it is, and for which share of rows another action is the best where its odds are halved or doubled."""

    label: Label
    prior: float
    halved: float
    doubled: float


@dataclass(frozen=True)
class CostMatters:
    """One entry of the table of costs, and for which share of rows another action is the best where it is halved or doubled."""

    action: Label
    truth: Label
    cost: float
    halved: float
    doubled: float


@dataclass(frozen=True)
class Stability:
    """What the answers for some rows rest on; columns that matter most come first. ``stated`` says whether the costs were, or are one for each mistake."""

    rows: int
    columns: tuple[ColumnMatters, ...]
    priors: tuple[PriorMatters, ...]
    costs: tuple[CostMatters, ...]
    stated: bool


def stability(
    model: BayesianClassifier,
    rows: Encoded,
    costs: Costs,
    reject_cost: float | None = None,
    weights: Array | None = None,
    stated: bool = True,
) -> Stability:
    """What a model's answers for some rows rest on; of more than 1,000 rows, every so many are asked.

    Examples
    --------
    >>> import merula as mr
    >>> from merula.answers.decision import read_costs
    >>> tables = {"cough": {"well": {"no": 0.8, "yes": 0.2}, "ill": {"no": 0.2, "yes": 0.8}}}
    >>> model = mr.NaiveBayesClassifier.from_tables({"well": 0.6, "ill": 0.4}, tables)
    >>> costs = read_costs({"treat": {"ill": 0, "well": 1}, "wait": {"ill": 3, "well": 0}}, model.classes_)
    >>> found = stability(model, model._encoded([["yes"], ["no"]]), costs)
    >>> [(one.column, one.changed) for one in found.columns], [(one.label, one.halved, one.doubled) for one in found.priors]
    ([('cough', 0.5)], [('ill', 0.0, 0.5), ('well', 0.5, 0.0)])
    """
    chosen = evenly(len(rows), weights)
    asked, mass = rows.take(chosen), np.ones(len(chosen)) if weights is None else weights[chosen]
    deciding = _Deciding(model, costs, checked_reject_cost(reject_cost), mass)
    before = deciding.posterior(asked)
    return Stability(
        len(chosen),
        deciding.columns(asked, before),
        deciding.priors(before),
        deciding.each_cost(before),
        stated,
    )


def evenly(count: int, weights: Array | None, most: int = MOST_ROWS) -> NDArray[np.int64]:
    """At most so many rows that count, evenly spread."""
    counted = np.arange(count) if weights is None else np.flatnonzero(weights > 0)
    return counted[np.unique(np.linspace(0, len(counted) - 1, min(len(counted), most)).round().astype(np.int64))]


@dataclass(frozen=True, eq=False)
class _Deciding:
    """A model, what mistakes cost, and how much each row counts."""

    model: BayesianClassifier
    costs: Costs
    reject_cost: float | None
    mass: Array

    def posterior(self, rows: Encoded) -> Array:
        return np.asarray(self.model.fitted_.score(rows, to_posterior, self.model.n_jobs)[0])

    def actions(self, posterior: Array, table: Array | None = None) -> NDArray[np.int64]:
        return least_risk(posterior, self.costs.table if table is None else table, self.reject_cost)[0]

    def _mean(self, values: NDArray[Any]) -> float:
        return float(np.average(values, weights=self.mass))

    def columns(self, rows: Encoded, before: Array) -> tuple[ColumnMatters, ...]:
        """Each column that the model asks, by what becomes of the answers without it."""
        decided, nothing = self.actions(before), [None] * len(before)
        if is_counted(self.model.schema_):
            return ()  # its columns are words
        found = []
        for column in self.model.schema_.columns:
            if column.kind == "ignore":
                continue
            after = self.posterior(with_cells(rows, column, nothing))
            moved = self._mean(np.abs(after - before).sum(axis=1) / 2)
            found.append(ColumnMatters(column.name, moved, self._mean(self.actions(after) != decided)))
        return tuple(sorted(found, key=lambda one: (-round(one.moved, 12), one.column)))

    def priors(self, before: Array) -> tuple[PriorMatters, ...]:
        """Each class, by what becomes of the decisions where it is rarer or more frequent."""
        prior, labels = np.exp(self.model.class_log_prior_), [plain_label(one) for one in self.model.classes_.tolist()]
        return tuple(
            PriorMatters(label, float(prior[k]), *self._moved(before, lambda factor, k=k: (_scaled(before, k, factor), None)))  # type: ignore[misc]
            for k, label in enumerate(labels)
        )  # fmt: skip

    def each_cost(self, before: Array) -> tuple[CostMatters, ...]:
        """Each cost that is not 0, by what becomes of the decisions where it is another."""
        table = self.costs.table

        def other(a: int, c: int, factor: float) -> Array:
            moved = table.copy()
            moved[a, c] *= factor
            return moved

        return tuple(
            CostMatters(plain_label(action), plain_label(truth), float(table[a, c]), *self._moved(before, lambda factor, a=a, c=c: (before, other(a, c, factor))))  # type: ignore[misc]
            for a, action in enumerate(self.costs.actions)
            for c, truth in enumerate(self.costs.classes)
            if table[a, c]
        )  # fmt: skip

    def _moved(self, before: Array, at: Callable[[float], tuple[Array, Array | None]]) -> list[float]:
        """For which share of rows the action changes, for each factor."""
        decided = self.actions(before)
        return [self._mean(self.actions(*at(factor)) != decided) for factor in FACTORS]


def _scaled(posterior: Array, k: int, factor: float) -> Array:
    """The posterior where the odds of class k are so many times as high: π_k / (1 − π_k) · factor, the others in their proportions."""
    moved = posterior.copy()
    moved[:, k] *= factor
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))
