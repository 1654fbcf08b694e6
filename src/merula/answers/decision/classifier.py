"""Any probabilistic classifier, answering with the action that is expected to cost least."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from merula.answers.decision.calibrated import CalibratedClassifier
from merula.answers.decision.risk import action_labels, actual_costs, least_risk
from merula.classify.costs import checked_reject_cost, read_costs
from merula.core import Array, InputError
from merula.data.encode import encode_target
from merula.data.table import label_indices


def underlying(model: Any) -> Any:
    """The model that a DecisionClassifier or a CalibratedClassifier asks, also where it was frozen; any other model itself."""
    if isinstance(model, DecisionClassifier | CalibratedClassifier):
        check_is_fitted(model, "estimator_")
        return underlying(model.estimator_)
    return underlying(model.estimator) if isinstance(model, FrozenEstimator) else model


class DecisionClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose answers are actions: those of least expected cost.

    predict(x) = argmin_a Σ_c costs[a, c] · P(c given x)

    Parameters
    ----------
    estimator : classifier with predict_proba
        Any scikit-learn classifier; fitted anew by `fit` (wrap a fitted one in ``sklearn.frozen.FrozenEstimator`` to keep it).
    costs : None, array, data frame or {action: {class: cost}}
        Row = action, column = truth; None is the 0/1 loss. An array's columns follow `classes_`.
    reject_cost : None or float
        What it costs to make no decision; None: always decide.
    reject_label : optional
        What to answer then; −1 where actions are numbers, "reject" where they are words.

    Attributes
    ----------
    classes_ : array
        The classes, as the estimator knows them: what is true.
    actions_ : array
        The actions, then the reject label if there is a reject cost: what is done.
    estimator_ : the fitted estimator

    Examples
    --------
    >>> import merula as mr
    >>> rows, species = [[2.0], [4.0], [4.5], [6.5]], ["edible", "edible", "poisonous", "poisonous"]
    >>> costs = {"eat": {"edible": 0, "poisonous": 100}, "leave": {"edible": 1, "poisonous": 0}}
    >>> model = mr.DecisionClassifier(mr.NaiveBayesClassifier(), costs=costs).fit(rows, species)
    >>> model.predict([[2.0], [3.9]]).tolist()
    ['eat', 'leave']
    """

    def __init__(self, estimator: Any, *, costs: Any = None, reject_cost: Any = None, reject_label: Any = None) -> None:
        self.estimator = estimator
        self.costs = costs
        self.reject_cost = reject_cost
        self.reject_label = reject_label

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """The estimator fitted, and the costs read for its classes; weights and `fit_params` go to the estimator's `fit`."""
        if not hasattr(self.estimator, "predict_proba"):
            raise InputError.at("estimator", f"is {self.estimator!r}, which has no predict_proba", got=self.estimator, remedy="decisions need probabilities")  # fmt: skip
        self._reject = checked_reject_cost(self.reject_cost)
        if sample_weight is not None:
            fit_params["sample_weight"] = sample_weight
        self.estimator_ = clone(self.estimator).fit(X, y, **fit_params)
        self.classes_ = self.estimator_.classes_
        self._read = read_costs(self.costs, self.classes_)
        self.actions_ = action_labels(self._read.actions, self.reject_label, self._reject is not None)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict_proba(self, X: Any) -> Array:
        """P(class given row), as the estimator gives it: array of shape (n_samples, n_classes)."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)

    @available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), "predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """log P(class given row), as the estimator gives it."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict_log_proba(X), dtype=np.float64)

    def predict_risk(self, X: Any) -> Array:
        """The expected cost of each of `actions_`: array of shape (n_samples, n_actions).

        Examples
        --------
        >>> import merula as mr
        >>> model = mr.DecisionClassifier(mr.NaiveBayesClassifier(), costs=[[0, 10], [1, 0]])
        >>> model.fit([["red"], ["red"], ["blue"]], ["ripe", "ripe", "unripe"]).predict_risk([[None]]).round(4).tolist()
        [[3.3333, 0.6667]]
        """
        risk = self.predict_proba(X) @ self._read.table.T
        return risk if self._reject is None else np.column_stack([risk, np.full(len(risk), self._reject)])

    def predict(self, X: Any) -> NDArray[Any]:
        """The action of least expected cost for each row; ties go to the first of `actions_`."""
        chosen = self._choose(X)  # or an error: it is not fitted
        return self.actions_[chosen]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the mean cost of the actions taken, so that larger is better."""
        chosen = self._choose(X)
        target = encode_target(y, len(chosen), sample_weight)
        known = self._read.classes
        indices = label_indices(target.classes.tolist(), known, "y holds", f"the model does not know ({list(known)})")
        paid = actual_costs(indices[target.codes], chosen, self._read, self._reject)
        return -float(np.average(paid, weights=target.weights))

    def _choose(self, X: Any) -> NDArray[np.int64]:
        """The index of each row's action in `actions_`; the reject label is the last of them, as −1 says."""
        return least_risk(np.ascontiguousarray(self.predict_proba(X)), self._read.table, self._reject)[0]

    def _html_repr(self) -> str:
        """What notebooks show: costs and the model asked; before it is fitted, scikit-learn's diagram."""
        if not hasattr(self, "actions_"):
            return str(super()._html_repr())
        from merula.answers.decision.html import as_html

        return as_html(self, underlying(self))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags = inner.classifier_tags
        return tags
