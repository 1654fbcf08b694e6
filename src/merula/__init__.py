"""merula: from tables to probabilities and decisions. Names load what they need when first touched."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers; a test compares it with what is loaded below
    from merula.answers.decision import (
        CalibratedClassifier as CalibratedClassifier,
        DecisionClassifier as DecisionClassifier,
        adjust_prior as adjust_prior,
        bayes_risk as bayes_risk,
        binary_threshold as binary_threshold,
        conditional_risk as conditional_risk,
        decide as decide,
    )
    from merula.answers.evaluation import RareClassWarning as RareClassWarning, evaluate as evaluate
    from merula.answers.explanation import explain as explain, nomogram as nomogram
    from merula.answers.monitoring import monitor as monitor
    from merula.answers.question import next_question as next_question
    from merula.answers.sensitivity import sensitivity as sensitivity
    from merula.answers.what_if import what_if as what_if
    from merula.classify import (
        AODEClassifier as AODEClassifier,
        AutoBayesClassifier as AutoBayesClassifier,
        BayesClassifier as BayesClassifier,
        BayesianNetworkClassifier as BayesianNetworkClassifier,
        KDBClassifier as KDBClassifier,
        KernelBayesClassifier as KernelBayesClassifier,
        LogLinearClassifier as LogLinearClassifier,
        NaiveBayesClassifier as NaiveBayesClassifier,
        NearestNeighborsClassifier as NearestNeighborsClassifier,
        SPODEClassifier as SPODEClassifier,
        TANClassifier as TANClassifier,
        load as load,
    )
    from merula.classify.advice import TargetColumnWarning as TargetColumnWarning
    from merula.classify.counted import Counts as Counts, count as count
    from merula.classify.look import look as look
    from merula.classify.pooled.estimator import LeftOutWarning as LeftOutWarning
    from merula.classify.sentinels import SentinelWarning as SentinelWarning
    from merula.classify.unlabelled.told import UnlabelledRowsWarning as UnlabelledRowsWarning
    from merula.core.compiled import NoCacheWarning as NoCacheWarning
    from merula.core.errors import InputError as InputError
    from merula.core.limits import TooLargeError as TooLargeError
    from merula.core.logspace import ZeroEvidenceWarning as ZeroEvidenceWarning
    from merula.core.versions import show_versions as show_versions
    from merula.data.encode import GuessedKindWarning as GuessedKindWarning, UnseenLevelWarning as UnseenLevelWarning
    from merula.data.schema import Column as Column, Schema as Schema
    from merula.data.table import read_table as read_table
    from merula.distributions import (
        BaseFamily as BaseFamily,
        Bernoulli as Bernoulli,
        Categorical as Categorical,
        Discretized as Discretized,
        Distribution as Distribution,
        Family as Family,
        Gaussian as Gaussian,
        GaussianMixture as GaussianMixture,
        Histogram as Histogram,
        JointCategorical as JointCategorical,
        Kernel as Kernel,
        Multinomial as Multinomial,
        MultivariateGaussian as MultivariateGaussian,
        NearestNeighbors as NearestNeighbors,
        NegativeBinomial as NegativeBinomial,
        Poisson as Poisson,
        ProductKernel as ProductKernel,
        Setting as Setting,
        ZeroInflated as ZeroInflated,
    )
    from merula.distributions.discretize import Discretizer as Discretizer
    from merula.distributions.priors import MEstimate as MEstimate
    from merula.engines.sampling import SampleWarning as SampleWarning
    from merula.graphs.factors import (
        ConditionalDistribution as ConditionalDistribution,
        ImpossibleEvidenceError as ImpossibleEvidenceError,
        IntervalDistribution as IntervalDistribution,
        JointDistribution as JointDistribution,
        NoSampleError as NoSampleError,
        SampledDistribution as SampledDistribution,
        TooWideError as TooWideError,
    )
    from merula.graphs.formats import read_network as read_network
    from merula.graphs.network import (
        BayesianNetwork as BayesianNetwork,
        LinearGaussian as LinearGaussian,
        MixedDistribution as MixedDistribution,
        NoisyMax as NoisyMax,
        NoisyOr as NoisyOr,
        NormalMixture as NormalMixture,
        UnobservedParentsWarning as UnobservedParentsWarning,
        learn_structure as learn_structure,
    )
    from merula.report import (
        write_dossier as write_dossier,
        write_evaluation as write_evaluation,
        write_monitoring as write_monitoring,
        write_report as write_report,
    )
    from merula.web import write_page as write_page

_EXPORTS = {
    "answers.decision": "CalibratedClassifier DecisionClassifier adjust_prior bayes_risk binary_threshold conditional_risk decide",
    "answers.evaluation": "RareClassWarning evaluate",
    "answers.explanation": "explain nomogram",
    "answers.monitoring": "monitor",
    "answers.question": "next_question",
    "answers.sensitivity": "sensitivity",
    "answers.what_if": "what_if",
    "classify": "AODEClassifier AutoBayesClassifier BayesClassifier BayesianNetworkClassifier KDBClassifier KernelBayesClassifier LogLinearClassifier NaiveBayesClassifier NearestNeighborsClassifier SPODEClassifier TANClassifier load",
    "classify.advice": "TargetColumnWarning",
    "classify.counted": "Counts count",
    "classify.look": "look",
    "classify.pooled.estimator": "LeftOutWarning",
    "classify.sentinels": "SentinelWarning",
    "classify.unlabelled.told": "UnlabelledRowsWarning",
    "core.compiled": "NoCacheWarning",
    "core.errors": "InputError",
    "core.limits": "TooLargeError",
    "core.logspace": "ZeroEvidenceWarning",
    "core.versions": "show_versions",
    "data.encode": "GuessedKindWarning UnseenLevelWarning",
    "data.schema": "Column Schema",
    "data.table": "read_table",
    "distributions": "BaseFamily Bernoulli Categorical Discretized Distribution Family Gaussian GaussianMixture Histogram JointCategorical Kernel Multinomial MultivariateGaussian NearestNeighbors NegativeBinomial Poisson ProductKernel Setting ZeroInflated",
    "distributions.discretize": "Discretizer",
    "distributions.priors": "MEstimate",
    "engines.sampling": "SampleWarning",
    "graphs.factors": "ConditionalDistribution ImpossibleEvidenceError IntervalDistribution JointDistribution NoSampleError SampledDistribution TooWideError",
    "graphs.formats": "read_network",
    "graphs.network": "BayesianNetwork LinearGaussian MixedDistribution NoisyMax NoisyOr NormalMixture UnobservedParentsWarning learn_structure",
    "report": "write_dossier write_evaluation write_monitoring write_report",
    "web": "write_page",
}
_HOMES = {name: home for home, names in _EXPORTS.items() for name in names.split()}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("merula")
    if name not in _HOMES:
        raise AttributeError(f"module 'merula' has no attribute {name!r}")
    value = getattr(import_module(f"merula.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
