"""The full Bayes classifier: all numeric columns jointly, all categorical columns jointly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from merula.classify.base import BayesianClassifier
from merula.classify.plan import stated_plan
from merula.distributions import JointCategorical, JointTable, MultivariateGaussian
from merula.logspace import safe_log
from merula.priors import checked_probabilities
from merula.schema import sort_labels
from merula.stats.joint import distinct_rows, sum_rows
from merula.table import open_table, plain_label


class BayesClassifier(BayesianClassifier):
    """The Bayes classifier with full joint distributions: a multivariate normal and a joint table for each class.

    P(c given x) ∝ P(c) · N(x_numeric; mean_c, Σ_c) · P(x_categorical given c)

    Parameters
    ----------
    covariance : "full", "shared" or "diagonal"
        One covariance per class (quadratic), one for all classes (linear), or variances only.
    shrinkage : "auto" or a number from 0 to 1
        Σ = (1 − λ)·S + λ·diag(S); 0 is the textbook estimate, an error where it is singular.
    kinds, levels, distributions, class_prior, smoothing, variance, missing, unseen, n_jobs
        As for `NaiveBayesClassifier`. `smoothing` is the pseudo-count of every cell of the joint table; a column named in
        `distributions` leaves the joint blocks.

    Examples
    --------
    >>> import merula as mr
    >>> rows = [["red", "circle"], ["red", "square"], ["blue", "circle"], ["blue", "square"]]
    >>> model = mr.BayesClassifier().fit(rows, ["yes", "no", "no", "yes"])
    >>> model.predict(rows)
    array(['yes', 'no', 'no', 'yes'], dtype='<U3')
    """

    def __init__(
        self,
        *,
        covariance: Any = "full",
        shrinkage: Any = "auto",
        kinds: Any = None,
        levels: Any = None,
        distributions: Any = None,
        class_prior: Any = "empirical",
        smoothing: Any = 1,
        variance: Any = "mle",
        missing: Any = "marginalise",
        unseen: Any = "missing",
        n_jobs: Any = None,
    ) -> None:
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.kinds = kinds
        self.levels = levels
        self.distributions = distributions
        self.class_prior = class_prior
        self.smoothing = smoothing
        self.variance = variance
        self.missing = missing
        self.unseen = unseen
        self.n_jobs = n_jobs

    def _default_families(self) -> Mapping[str, Any]:
        normal = MultivariateGaussian(self.covariance, self.shrinkage)
        return {"numeric": normal, "datetime": normal, "categorical": JointCategorical()}

    @classmethod
    def from_joint(cls, joint: Any, target: str, **params: Any) -> Self:
        """The classifier of one variable of a known joint distribution.

        Parameters
        ----------
        joint : table or pandas Series
            One column per variable and a column "probability" (a data frame, or a list of dicts), or a Series of
            probabilities with a named index. Combinations not listed have probability 0.
        target : str
            The variable to classify.

        Examples
        --------
        >>> import merula as mr
        >>> joint = [{"color": "red", "category": "pos", "probability": 0.4}, {"color": "blue", "category": "neg", "probability": 0.6}]
        >>> mr.BayesClassifier.from_joint(joint, target="category").predict_proba([["red"]])
        array([[0., 1.]])
        """
        variables, cells, probabilities = _joint_cells(joint)
        if target not in variables or len(variables) < 2:
            raise ValueError(f"target is {target!r}, expected one of at least two variables of the joint: {variables}")
        truth = variables.index(target)
        others = [place for place in range(len(variables)) if place != truth]
        labels = sort_labels({row[truth] for row in cells})
        levels = [sort_labels({row[place] for row in cells}) for place in others]
        codes = np.array(
            [[known.index(row[place]) for place, known in zip(others, levels, strict=True)] for row in cells],
            dtype=np.int32,
        )
        weight = np.zeros((len(cells), len(labels)))
        weight[np.arange(len(cells)), [labels.index(row[truth]) for row in cells]] = probabilities
        first, groups = distinct_rows(codes)
        weight = sum_rows(weight, groups, len(first))
        prior = weight.sum(axis=0)
        names = tuple(variables[place] for place in others)
        table = JointTable(names, tuple(levels), codes[first], safe_log(weight / prior), np.full(len(labels), -np.inf))
        model = cls(class_prior=dict(zip(labels, prior.tolist(), strict=True)), **params)
        plan = stated_plan(dict(zip(names, levels, strict=True)), JointCategorical())
        return model._set_model(plan, np.array(labels), safe_log(prior), (table,))


def _joint_cells(joint: Any) -> tuple[list[str], list[tuple[Any, ...]], Any]:
    """The variables of a joint distribution, its cells and their probabilities."""
    if hasattr(joint, "index") and hasattr(joint, "name") and not hasattr(joint, "columns"):
        joint = joint.rename("probability").reset_index()
    if isinstance(joint, list):
        names = list(joint[0]) if joint else []
        columns = {name: [row.get(name) for row in joint] for name in names}
    else:
        table = open_table(joint)
        names = list(table.names)
        columns = {name: list(joint[name]) for name in names}
    if "probability" not in names:
        raise ValueError(f"the joint has columns {names}; one of them must be 'probability'")
    variables = [name for name in names if name != "probability"]
    probabilities = checked_probabilities(columns["probability"], "the joint distribution")
    cells = [tuple(plain_label(columns[name][row]) for name in variables) for row in range(len(probabilities))]
    return variables, cells, probabilities
