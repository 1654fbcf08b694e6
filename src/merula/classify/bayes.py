"""The full Bayes classifier: all numeric columns jointly, all categorical columns jointly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from merula.classify.base import BayesianClassifier
from merula.classify.intervals import PLUG_IN
from merula.classify.plan import stated_plan
from merula.core import InputError, check_probabilities, one_of
from merula.data.encode import encode_target
from merula.data.schema import sort_labels
from merula.distributions import JointCategorical, Multinomial, MultivariateGaussian, NegativeBinomial
from merula.engines import Source
from merula.graphs.factors import read_columns

if TYPE_CHECKING:
    from merula.graphs.network import BayesianNetwork


class BayesClassifier(BayesianClassifier):
    """The Bayes classifier with full joint distributions: a multivariate normal and a joint table for each class.

    P(c given x) ∝ P(c) · N(x_numeric; mean_c, Σ_c) · P(x_categorical given c)

    Parameters
    ----------
    covariance : "full", "shared" or "diagonal"
        One covariance per class (quadratic), one for all classes (linear), or variances only.
    shrinkage : "auto" or a number from 0 to 1
        Σ = (1 − λ)·S + λ·diag(S); 0 is the textbook estimate, an error where it is singular.
    kinds, levels, distributions, class_prior, smoothing, variance, missing, unseen, estimate, n_jobs
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
        estimate: Any = PLUG_IN,
        n_jobs: Any = None,
    ) -> None:
        super().__init__(
            kinds=kinds, levels=levels, distributions=distributions, class_prior=class_prior, smoothing=smoothing,
            variance=variance, missing=missing, unseen=unseen, n_jobs=n_jobs,
        )  # fmt: skip
        self.estimate = estimate
        self.covariance = covariance
        self.shrinkage = shrinkage

    def _default_families(self) -> Mapping[str, Any]:
        normal = MultivariateGaussian(self.covariance, self.shrinkage)
        normal.check()
        return {
            "numeric": normal,
            "datetime": normal,
            "count": NegativeBinomial(),
            "categorical": JointCategorical(),
            "text": Multinomial(),
        }

    @property
    def _needs_classes(self) -> str:
        return ""

    @classmethod
    def from_joint(cls, joint: Any, target: str, *, unseen: str = "missing", n_jobs: Any = None) -> Self:
        """The classifier of one variable of a known joint distribution.

        Parameters
        ----------
        joint : JointDistribution, table or pandas Series
            As it is; or one column per variable and a column "probability" (a data frame, or a list of dicts), or a Series of
            probabilities with a named index. Combinations not listed have probability 0.
        target : str
            The variable to classify.
        unseen : "missing" or "error"
            What a level that the joint does not name means at predict.
        n_jobs : None or int
            As for the class.

        Examples
        --------
        >>> import merula as mr
        >>> joint = [{"color": "red", "category": "pos", "probability": 0.4}, {"color": "blue", "category": "neg", "probability": 0.6}]
        >>> mr.BayesClassifier.from_joint(joint, target="category").predict_proba([["red"]])
        array([[0., 1.]])
        """
        columns = read_columns(joint)
        probabilities = check_probabilities(columns.pop("probability"), "the joint distribution")
        if target not in columns or len(columns) < 2:
            raise InputError.of("target", target, f"one of at least two variables of the joint: {list(columns)}")
        truth = columns.pop(target)
        rows = np.array(list(columns.values()), dtype=object).T
        levels = {name: sort_labels(set(values)) for name, values in columns.items()}
        # a known joint is a table whose rows count as often as they are probable
        plan = stated_plan(levels, JointCategorical(smoothing=0))
        model = cls(smoothing=0, unseen=one_of(unseen, ("missing", "error"), "unseen"), n_jobs=n_jobs)
        counted = model._count(plan, Source(rows, truth, probabilities)).within(
            encode_target(truth, len(truth)).classes
        )
        return model._hold(replace(model._build(plan, counted), collected=None))

    def to_network(self, target: str = "class") -> BayesianNetwork:
        """The same model as a Bayesian network: within a block, each column depends on the class and the columns before it.

        Parameters
        ----------
        target : str
            What to call the class.

        Notes
        -----
        A joint table is written out, so it must be of moderate size; a multivariate normal becomes a chain of regressions.
        Columns that say nothing (ignored or constant) are left out. A network takes a level that it does not know for missing.

        Examples
        --------
        >>> import merula as mr
        >>> model = mr.BayesClassifier().fit([["red", "circle"], ["red", "square"], ["blue", "circle"]], ["yes", "no", "no"])
        >>> model.to_network("ripe").arcs
        [('ripe', 'x0'), ('ripe', 'x1'), ('x0', 'x1')]
        """
        from merula.classify.conversion import as_network  # on first use: networks take their time to load

        return as_network(self, target)
