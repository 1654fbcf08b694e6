"""A merula classifier that is calibrated whenever it is fitted."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from merula.core import Array, InputError


class CalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A merula classifier that `fit` also calibrates, so that `evaluate`, pipelines and searches measure it calibrated.

    fit(X, y) = estimator.fit(X, y).calibrated(X, y, cv=cv)

    Parameters
    ----------
    estimator : a merula classifier
    cv : int, scikit-learn splitter or pairs (train, test) of row numbers
        The folds by which the temperature is found, as for the classifiers' own `calibrated`.

    Attributes
    ----------
    estimator_ : the fitted and calibrated classifier, which is explained, decided with and saved as any other
    temperature_ : float
        What every term is divided by.
    classes_ : array

    Examples
    --------
    >>> import merula as mr
    >>> colours, ripe = [["red"] * 3, ["green"] * 3] * 200, ["yes", "no"] * 140 + ["no", "yes"] * 60
    >>> model = mr.CalibratedClassifier(mr.NaiveBayesClassifier()).fit(colours, ripe)
    >>> model.temperature_ > 2, model.predict_proba([["red"] * 3]).round(1).tolist()
    (True, [[0.3, 0.7]])
    """

    def __init__(self, estimator: Any, *, cv: Any = 5) -> None:
        self.estimator = estimator
        self.cv = cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """The classifier fitted on these rows, and its temperature found out of fold."""
        if not hasattr(self.estimator, "calibrated"):
            raise InputError.at(
                "estimator",
                f"is {self.estimator!r}, which is no merula classifier",
                got=self.estimator,
                remedy="sklearn.calibration.CalibratedClassifierCV calibrates others",
            )
        if isinstance(self.cv, str):
            raise InputError.of("cv", self.cv, "a number of folds from 2, a splitter or pairs of row numbers")
        fitted = clone(self.estimator).fit(X, y, sample_weight)
        self.estimator_ = fitted.calibrated(X, y, sample_weight, cv=self.cv)
        self.classes_, self.temperature_ = self.estimator_.classes_, self.estimator_.temperature_
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict_proba(self, X: Any) -> Array:
        """P(class given row) of the calibrated classifier: array of shape (n_samples, n_classes)."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)

    def predict_log_proba(self, X: Any) -> Array:
        """log P(class given row) of the calibrated classifier."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict_log_proba(X), dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict(X))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags = inner.classifier_tags
        return tags
