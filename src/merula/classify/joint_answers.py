"""What only a model that gives P(row) can tell: evidence, likelihood, information criteria, rows drawn from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from merula.classify.availability import available_unless
from merula.classify.fitted import FittedModel
from merula.core import Array, InputError, as_float
from merula.core.checks import checked_generator
from merula.core.logspace import log_sum_exp
from merula.data.encode import encode_target
from merula.data.schema import Schema
from merula.data.table import as_times, build_frame, label_indices
from merula.distributions import Distribution


def _lacks_joint(model: Any) -> str:
    why = model._no_joint
    return why and f"it needs P(row), which this model does not give: {why}"


class JointAnswers:
    """The part of every classifier that needs P(row); a conditional model has none of it, and says why."""

    class_prior: Any
    fitted_: FittedModel
    classes_: NDArray[Any]
    schema_: Schema
    distributions_: tuple[Distribution, ...]
    predict_joint_log_proba: Callable[[Any], Array]

    @available_unless(_lacks_joint)
    def log_evidence(self, X: Any) -> Array:
        """log P(row) = log Σ_class P(class, row): array of shape (n_samples,).

        Examples
        --------
        >>> import merula as mr
        >>> fruit = {"apple": {"red": 0.5, "green": 0.5}, "cherry": {"red": 1.0, "green": 0.0}}
        >>> model = mr.NaiveBayesClassifier.from_tables({"apple": 0.5, "cherry": 0.5}, {"color": fruit})
        >>> np.exp(model.log_evidence([["red"], ["green"]])).round(6).tolist()
        [0.75, 0.25]
        """
        check_is_fitted(self, "classes_")
        self._refuse_without_density("log_evidence")
        return log_sum_exp(self.predict_joint_log_proba(X))

    def _refuse_without_density(self, what: str) -> None:
        """A ValueError where terms are known only up to what all classes have in common: their sum over classes says nothing."""
        if self.fitted_.no_joint:
            raise InputError.at(what, f"needs P(row), which this model does not give: {self.fitted_.no_joint}")

    @available_unless(_lacks_joint)
    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Σ weight · log P(class, row) over the rows."""
        return self._likelihood(X, y, sample_weight)[0]

    def _likelihood(self, X: Any, y: Any, sample_weight: Any) -> tuple[float, float]:
        """The log likelihood, and the weight of the rows."""
        log_joint = self.predict_joint_log_proba(X)
        target = encode_target(y, len(log_joint), sample_weight)
        known = self.classes_.tolist()
        places = label_indices(target.classes.tolist(), known, "y holds", f"the model does not know (classes: {known})")
        own = log_joint[np.arange(len(log_joint)), places[target.codes]]
        self._refuse_without_density("the likelihood")
        weights = np.ones(len(own)) if target.weights is None else target.weights
        return float(own[weights > 0] @ weights[weights > 0]), float(weights.sum())

    @property
    def parameters_count(self) -> int:
        """The number of free parameters: those of the class prior if it was estimated, and those of every distribution."""
        check_is_fitted(self, "classes_")
        prior = len(self.classes_) - 1 if isinstance(self.class_prior, str) and self.class_prior != "uniform" else 0
        return prior + sum(part.parameters_count for part in self.distributions_)

    @available_unless(_lacks_joint)
    def aic(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """log likelihood − parameters (larger is better, as R's bnlearn writes it)."""
        return float(self.log_likelihood(X, y, sample_weight)) - as_float(self.parameters_count)

    @available_unless(_lacks_joint)
    def bic(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """log likelihood − ½ · parameters · log n (larger is better, as R's bnlearn writes it)."""
        log_likelihood, rows = self._likelihood(X, y, sample_weight)
        return log_likelihood - 0.5 * as_float(self.parameters_count) * float(np.log(rows))

    @available_unless(_lacks_joint)
    def sample(self, n: int = 1, random_state: Any = None) -> tuple[Any, NDArray[Any]]:
        """`n` rows drawn from the model: a table like the one it was fitted on, and their classes.

        Examples
        --------
        >>> import merula as mr
        >>> model = mr.NaiveBayesClassifier().fit([[1.0, "red"], [2.0, "red"], [7.0, "blue"], [8.0, "blue"]], [0, 0, 1, 1])
        >>> rows, classes = model.sample(3, random_state=0)
        >>> len(rows), classes.shape
        (3, (3,))
        """
        check_is_fitted(self, "classes_")
        drawn, classes = self.fitted_.sample(n, checked_generator(random_state))
        nothing = np.full(n, np.nan)  # what columns that are ignored hold
        values = {
            column.name: found if column.unit is None else as_times(found, column.unit)
            for column in self.schema_.columns
            for found in [drawn.get(column.name, nothing)]
        }
        return build_frame(values, self.fitted_.plan.library), self.classes_[classes]
