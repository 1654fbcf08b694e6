"""merula: from tables to probabilities and decisions. Names load what they need when first touched."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from merula.classify import BayesClassifier, NaiveBayesClassifier, load
    from merula.distributions import (
        BaseFamily,
        Bernoulli,
        Categorical,
        Distribution,
        Family,
        Gaussian,
        JointCategorical,
        MultivariateGaussian,
        Setting,
    )
    from merula.encode import UnseenLevelWarning
    from merula.logspace import ZeroEvidenceWarning
    from merula.priors import MEstimate
    from merula.schema import Column, Schema

_HOMES = {
    "BaseFamily": "distributions",
    "BayesClassifier": "classify",
    "Bernoulli": "distributions",
    "Categorical": "distributions",
    "Column": "schema",
    "Distribution": "distributions",
    "Family": "distributions",
    "Gaussian": "distributions",
    "JointCategorical": "distributions",
    "MEstimate": "priors",
    "MultivariateGaussian": "distributions",
    "NaiveBayesClassifier": "classify",
    "Schema": "schema",
    "Setting": "distributions",
    "UnseenLevelWarning": "encode",
    "ZeroEvidenceWarning": "logspace",
    "load": "classify",
}

__all__ = [
    "BaseFamily",
    "BayesClassifier",
    "Bernoulli",
    "Categorical",
    "Column",
    "Distribution",
    "Family",
    "Gaussian",
    "JointCategorical",
    "MEstimate",
    "MultivariateGaussian",
    "NaiveBayesClassifier",
    "Schema",
    "Setting",
    "UnseenLevelWarning",
    "ZeroEvidenceWarning",
    "load",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version("merula")
    if name not in _HOMES:
        raise AttributeError(f"module 'merula' has no attribute {name!r}")
    value = getattr(import_module(f"merula.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
