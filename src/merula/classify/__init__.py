"""The classifiers: scikit-learn estimators that choose structure and families; `base` derives the rest once."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from merula.classify.bayes import BayesClassifier
from merula.classify.kernel import KernelBayesClassifier
from merula.classify.model_files import load
from merula.classify.naive import NaiveBayesClassifier
from merula.classify.neighbors import NearestNeighborsClassifier

if TYPE_CHECKING:
    from merula.classify.averaged import AODEClassifier
    from merula.classify.dependent import KDBClassifier, SPODEClassifier, TANClassifier
    from merula.classify.log_linear import LogLinearClassifier
    from merula.classify.network import BayesianNetworkClassifier
    from merula.classify.pooled import AutoBayesClassifier

_LATER = {
    "AODEClassifier": "averaged",
    "AutoBayesClassifier": "pooled",
    "BayesianNetworkClassifier": "network",
    "KDBClassifier": "dependent",
    "LogLinearClassifier": "log_linear",
    "SPODEClassifier": "dependent",
    "TANClassifier": "dependent",
}  # loaded when they are asked for: they bring structures or more loops along

__all__ = [
    "AODEClassifier",
    "AutoBayesClassifier",
    "BayesClassifier",
    "BayesianNetworkClassifier",
    "KDBClassifier",
    "KernelBayesClassifier",
    "LogLinearClassifier",
    "NaiveBayesClassifier",
    "NearestNeighborsClassifier",
    "SPODEClassifier",
    "TANClassifier",
    "load",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
