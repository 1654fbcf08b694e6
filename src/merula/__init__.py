"""merula: from tables to probabilities and decisions. Names load what they need when first touched."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from merula.advice import TargetColumnWarning
    from merula.classify import (
        BayesClassifier,
        KernelBayesClassifier,
        NaiveBayesClassifier,
        NearestNeighborsClassifier,
        load,
    )
    from merula.decision import (
        DecisionClassifier,
        adjust_prior,
        bayes_risk,
        binary_threshold,
        conditional_risk,
        decide,
    )
    from merula.discretize import Discretizer
    from merula.distributions import (
        BaseFamily,
        Bernoulli,
        Categorical,
        Discretized,
        Distribution,
        Family,
        Gaussian,
        GaussianMixture,
        Histogram,
        JointCategorical,
        Kernel,
        Multinomial,
        MultivariateGaussian,
        NearestNeighbors,
        NegativeBinomial,
        Poisson,
        ProductKernel,
        Setting,
        ZeroInflated,
    )
    from merula.encode import GuessedKindWarning, UnseenLevelWarning
    from merula.evaluation import RareClassWarning, evaluate
    from merula.explanation import explain, nomogram
    from merula.factors import (
        ConditionalDistribution,
        ImpossibleEvidenceError,
        JointDistribution,
        NoSampleError,
        SampledDistribution,
        TooWideError,
    )
    from merula.formats import read_network
    from merula.logspace import ZeroEvidenceWarning
    from merula.network import (
        BayesianNetwork,
        LinearGaussian,
        MixedDistribution,
        NoisyMax,
        NoisyOr,
        NormalMixture,
        UnobservedParentsWarning,
        learn_structure,
    )
    from merula.priors import MEstimate
    from merula.question import next_question
    from merula.report import write_report
    from merula.schema import Column, Schema
    from merula.table import read_table
    from merula.versions import show_versions

_HOMES = {
    "BaseFamily": "distributions",
    "BayesClassifier": "classify",
    "BayesianNetwork": "network",
    "Bernoulli": "distributions",
    "Categorical": "distributions",
    "Column": "schema",
    "ConditionalDistribution": "factors",
    "DecisionClassifier": "decision",
    "Discretized": "distributions",
    "Discretizer": "discretize",
    "Distribution": "distributions",
    "Family": "distributions",
    "Gaussian": "distributions",
    "GaussianMixture": "distributions",
    "GuessedKindWarning": "encode",
    "Histogram": "distributions",
    "ImpossibleEvidenceError": "factors",
    "JointCategorical": "distributions",
    "JointDistribution": "factors",
    "Kernel": "distributions",
    "KernelBayesClassifier": "classify",
    "LinearGaussian": "network",
    "MEstimate": "priors",
    "MixedDistribution": "network",
    "Multinomial": "distributions",
    "MultivariateGaussian": "distributions",
    "NaiveBayesClassifier": "classify",
    "NearestNeighbors": "distributions",
    "NearestNeighborsClassifier": "classify",
    "NegativeBinomial": "distributions",
    "NoSampleError": "factors",
    "NoisyMax": "network",
    "NoisyOr": "network",
    "NormalMixture": "network",
    "Poisson": "distributions",
    "ProductKernel": "distributions",
    "RareClassWarning": "evaluation",
    "SampledDistribution": "factors",
    "Schema": "schema",
    "Setting": "distributions",
    "TargetColumnWarning": "advice",
    "TooWideError": "factors",
    "UnobservedParentsWarning": "network",
    "UnseenLevelWarning": "encode",
    "ZeroEvidenceWarning": "logspace",
    "ZeroInflated": "distributions",
    "adjust_prior": "decision",
    "bayes_risk": "decision",
    "binary_threshold": "decision",
    "conditional_risk": "decision",
    "decide": "decision",
    "evaluate": "evaluation",
    "explain": "explanation",
    "learn_structure": "network",
    "load": "classify",
    "next_question": "question",
    "nomogram": "explanation",
    "read_network": "formats",
    "read_table": "table",
    "show_versions": "versions",
    "write_report": "report",
}

__all__ = [
    "BaseFamily",
    "BayesClassifier",
    "BayesianNetwork",
    "Bernoulli",
    "Categorical",
    "Column",
    "ConditionalDistribution",
    "DecisionClassifier",
    "Discretized",
    "Discretizer",
    "Distribution",
    "Family",
    "Gaussian",
    "GaussianMixture",
    "GuessedKindWarning",
    "Histogram",
    "ImpossibleEvidenceError",
    "JointCategorical",
    "JointDistribution",
    "Kernel",
    "KernelBayesClassifier",
    "LinearGaussian",
    "MEstimate",
    "MixedDistribution",
    "Multinomial",
    "MultivariateGaussian",
    "NaiveBayesClassifier",
    "NearestNeighbors",
    "NearestNeighborsClassifier",
    "NegativeBinomial",
    "NoSampleError",
    "NoisyMax",
    "NoisyOr",
    "NormalMixture",
    "Poisson",
    "ProductKernel",
    "RareClassWarning",
    "SampledDistribution",
    "Schema",
    "Setting",
    "TargetColumnWarning",
    "TooWideError",
    "UnobservedParentsWarning",
    "UnseenLevelWarning",
    "ZeroEvidenceWarning",
    "ZeroInflated",
    "adjust_prior",
    "bayes_risk",
    "binary_threshold",
    "conditional_risk",
    "decide",
    "evaluate",
    "explain",
    "learn_structure",
    "load",
    "next_question",
    "nomogram",
    "read_network",
    "read_table",
    "show_versions",
    "write_report",
]


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
