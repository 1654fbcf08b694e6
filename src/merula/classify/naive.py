"""Naive Bayes: every column by itself given the class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from merula.classify.fitted import FittedModel
from merula.classify.intervals import PLUG_IN
from merula.classify.plan import stated_plan
from merula.classify.weighting import WeightedTerms
from merula.core import InputError, check_probabilities, one_of
from merula.core.logspace import safe_log
from merula.data.encode import encode_target
from merula.distributions import (
    Categorical,
    CategoricalDistribution,
    Gaussian,
    Histogram,
    Multinomial,
    NegativeBinomial,
)

if TYPE_CHECKING:
    from merula.graphs.network import BayesianNetwork


class NaiveBayesClassifier(WeightedTerms):
    """Naive Bayes on raw tables: numbers, words, dates and missing cells in one model.

    P(c given x) ∝ P(c) · Π_j p(x_j given c)

    Parameters
    ----------
    kinds : None, word or {column: word}
        "numeric", "categorical", "count", "text", "datetime" or "ignore"; None reads the dtypes (counts are never guessed).
    levels : None or {column: [levels]}
        The levels a categorical column may have, seen or not.
    distributions : None, "auto" or {column or kind: distribution}
        A word ("gaussian", "kernel", "categorical", …) or a family object such as ``Gaussian(variance="unbiased")``. None is Gaussian for
        numbers and dates, negative binomial for counts (Poisson where they vary no more than that), multinomial for text.
        "auto" takes for each column the family under which unseen rows are most probable (see `distribution_scores_`).
    class_prior : "empirical", "laplace", "uniform", {class: p} or sequence
        "uniform" gives the maximum-likelihood rule, anything else MAP. A sequence follows `classes_`.
    smoothing : float or MEstimate
        Lidstone's pseudo-count: 1 is Laplace, 0 is none.
    weights : None or "conditional"
        "conditional" multiplies each column's log term by a weight from 0: P(c given x) ∝ P(c) · Π_j p(x_j given c)^w_j. Columns that
        say the same thing twice share their weight. See Notes.
    variance : "mle" or "unbiased"
        Divide by n or by n − 1.
    missing : "marginalise" or "level"
        Average missing cells out, or let being missing speak for itself.
    unseen : "missing", "smooth" or "error"
        What a level never seen at fit means at predict.
    estimate : "plug-in" or "predictive"
        Take parameters as they are estimated, or average them out: means and variances (Student's t) and tables (their mean) over
        what the rows make believe of them. See "How sure" in the documentation for the priors and for what is exact.
    n_jobs : None or int
        The most threads to use; None is all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted; columns of `predict_proba` follow them.
    schema_ : Schema
        What each column is: kind, levels, cuts.
    feature_names_in_ : array of shape (n_features,), if the table had names
        The names of the columns.
    class_log_prior_ : array of shape (n_classes,)
        log P(c).
    distributions_ : tuple of Distribution
        What the columns are given the class; each distribution names its `columns`.
    distribution_scores_ : {column: {family: score}}, with ``distributions="auto"``
        The mean log density of unseen cells under each family tried; the largest was chosen.
    weights_ : {column: weight}, with ``weights="conditional"``
        What each column's log term is multiplied by.
    ridge_ : float, with ``weights="conditional"``
        How strongly the weights are held near 1.
    temperature_ : float, of a model made by `calibrated`
        What all log terms were divided by.
    unlabelled_ : Unlabelled, where `fit` was given rows without a class
        What each counts, the weights that were tried, what it gained, and how the objective rose.

    Notes
    -----
    Weights minimise Σ_row −log P(own class given row) + ridge · Σ_j (w_j − 1)² / 2, w ≥ 0, where a row's terms come from all rows
    but itself (in closed form from counts and moments; by five folds for other families), and the ridge is that with the least log
    loss out of fold. The prior is not weighted, so that a row of which nothing is known gets the prior. Such a model gives P(class
    given row) alone: `log_evidence`, `log_likelihood`, `aic`, `bic`, `sample`, `partial_fit` and ``+`` are for weights=None.

    Examples
    --------
    >>> import merula as mr
    >>> rows = [["small", 1.2], ["large", 3.4], ["small", None], ["large", 2.9]]
    >>> model = mr.NaiveBayesClassifier().fit(rows, ["cat", "dog", "cat", "dog"])
    >>> model.predict([["small", None], [None, 3.0]])
    array(['cat', 'dog'], dtype='<U3')

    The same column three times is believed once:

    >>> colours, ripe = [["red"] * 3, ["green"] * 3] * 20, ["yes", "no"] * 14 + ["no", "yes"] * 6
    >>> plain = mr.NaiveBayesClassifier().fit(colours, ripe)
    >>> model = mr.NaiveBayesClassifier(weights="conditional").fit(colours, ripe)
    >>> [one.predict_proba([["red"] * 3]).round(1).tolist() for one in (plain, model)]  # 14 of 20 red ones are ripe
    [[[0.1, 0.9]], [[0.3, 0.7]]]
    """

    _remedy: ClassVar[str] = "smoothing > 0, and kernels that reach everywhere ('gaussian'), avoid this"

    def __init__(
        self,
        *,
        kinds: Any = None,
        levels: Any = None,
        distributions: Any = None,
        class_prior: Any = "empirical",
        smoothing: Any = 1,
        weights: Any = None,
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
        self.weights = weights

    def _default_families(self) -> Mapping[str, Any]:
        return {
            "numeric": Gaussian(),
            "datetime": Gaussian(),
            "count": NegativeBinomial(),
            "categorical": Categorical(),
            "text": Multinomial(),
        }

    def _candidates(self) -> Mapping[str, Sequence[Any]]:
        numbers = ("gaussian", "kernel", "mixture", "histogram", Histogram(bins="mdl"))
        return {"numeric": numbers, "datetime": numbers, "count": ("poisson", "negative_binomial")}

    @classmethod
    def from_tables(
        cls, class_prior: Mapping[Any, float], tables: Mapping[str, Any], *, unseen: str = "missing", n_jobs: Any = None
    ) -> Self:
        """The model with stated probabilities, without data.

        Parameters
        ----------
        class_prior : mapping
            ``{class: probability}``.
        tables : mapping
            ``{column: {class: {level: probability}}}``, P(level given class); for a column, a data frame with classes as rows and levels as columns serves as well.
        unseen : "missing" or "error"
            What a level that no table names means at predict.
        n_jobs : None or int
            As for the class.

        Examples
        --------
        >>> import merula as mr
        >>> fruit = {"apple": {"red": 0.5, "green": 0.4, "yellow": 0.1}, "cherry": {"red": 0.95, "green": 0, "yellow": 0.05}}
        >>> model = mr.NaiveBayesClassifier.from_tables({"apple": 0.5, "cherry": 0.5}, {"color": fruit})
        >>> model.predict_proba([["red"]]).round(3)
        array([[0.345, 0.655]])
        """
        classes = encode_target(list(class_prior), len(class_prior)).classes
        labels = classes.tolist()
        prior = check_probabilities([class_prior[label] for label in labels], "class_prior")
        if not tables:
            raise InputError.at("tables", "is empty", remedy="state P(level given class) for at least one column")
        level_sets, logs = {}, []
        for name, stated in tables.items():
            table = stated.to_dict("index") if hasattr(stated, "to_dict") else stated
            level_sets[name], probabilities = _stated_table(name, table, labels)
            logs.append(np.concatenate([safe_log(probabilities).T, np.zeros((2, len(labels)))]))
        distribution = CategoricalDistribution(tuple(tables), tuple(level_sets.values()), tuple(logs))
        model = cls(class_prior=dict(class_prior), unseen=one_of(unseen, ("missing", "error"), "unseen"), n_jobs=n_jobs)
        plan = stated_plan(level_sets, Categorical())
        return model._hold(FittedModel.plain_sum(plan, classes, safe_log(prior), (distribution,)))

    def to_network(self, target: str = "class") -> BayesianNetwork:
        """The same model as a Bayesian network: arcs from the class to every column.

        Parameters
        ----------
        target : str
            What to call the class.

        Notes
        -----
        Categorical columns become tables, Gaussian columns `LinearGaussian` variables; other distributions are an error that
        names the column. Columns that say nothing (ignored, constant or never observed) are left out. A network takes a level
        that it does not know for missing, whatever `unseen` says here.

        Examples
        --------
        >>> import merula as mr
        >>> model = mr.NaiveBayesClassifier(smoothing=0).fit([["red"], ["red"], ["blue"]], ["yes", "no", "no"])
        >>> model.to_network("ripe").query("ripe", given={"x0": "red"})["yes"]
        0.5
        """
        from merula.classify.conversion import as_network  # on first use: networks take their time to load

        return as_network(self, target)

    @classmethod
    def from_network(
        cls, network: BayesianNetwork, target: str, *, unseen: str = "missing", n_jobs: Any = None
    ) -> Self:
        """The classifier of a Bayesian network whose arcs go from the target to every other variable, and nowhere else.

        Parameters
        ----------
        network : BayesianNetwork
            Its tables and linear Gaussian variables are taken as they are.
        target : str
            The class.
        unseen : "missing" or "error"
            What a level that the network does not name means at predict.
        n_jobs : None or int
            As for the class.

        Examples
        --------
        >>> import merula as mr
        >>> network = mr.BayesianNetwork().add("ripe", ["no", "yes"], [0.5, 0.5])
        >>> network = network.add("color", ["green", "red"], [[0.9, 0.1], [0.1, 0.9]], parents=["ripe"])
        >>> mr.NaiveBayesClassifier.from_network(network, "ripe").predict([["red"]])
        array(['yes'], dtype='<U3')
        """
        from merula.classify.conversion import naive_model

        fitted = naive_model(network, target)
        prior = dict(zip(fitted.classes.tolist(), np.exp(fitted.log_prior).tolist(), strict=True))
        model = cls(class_prior=prior, unseen=one_of(unseen, ("missing", "error"), "unseen"), n_jobs=n_jobs)
        return model._hold(fitted)


def _stated_table(
    name: str, table: Mapping[Any, Mapping[Any, float]], classes: list[Any]
) -> tuple[tuple[Any, ...], Any]:
    """The levels of a stated column, in the order they are first named, and P(level given class), classes × levels."""
    for label in classes:
        if label not in table:
            raise InputError.at(f"tables[{name!r}]", f"has no row for class {label!r}")
    for label in table:
        if label not in classes:
            raise InputError.at(
                f"tables[{name!r}]", f"has a row for {label!r}, which class_prior does not name: {classes}"
            )
    levels = tuple(dict.fromkeys(level for label in classes for level in table[label]))
    rows = [
        check_probabilities([table[label].get(level, 0.0) for level in levels], f"tables[{name!r}][{label!r}]")
        for label in classes
    ]
    return levels, np.stack(rows)
