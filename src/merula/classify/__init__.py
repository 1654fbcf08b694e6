"""The classifiers: scikit-learn estimators that choose structure and families; `base` derives the rest once."""

from merula.classify.bayes import BayesClassifier
from merula.classify.kernel import KernelBayesClassifier
from merula.classify.model_files import load
from merula.classify.naive import NaiveBayesClassifier
from merula.classify.neighbors import NearestNeighborsClassifier

__all__ = ["BayesClassifier", "KernelBayesClassifier", "NaiveBayesClassifier", "NearestNeighborsClassifier", "load"]
