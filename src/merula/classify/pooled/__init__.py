"""A pool of Bayesian classifiers: what to reach for first."""

from merula.classify.pooled.estimator import AutoBayesClassifier

__all__ = ["AutoBayesClassifier"]
