"""Conditional log-linear models: terms fitted to tell classes apart, not to describe rows."""

from merula.classify.log_linear.estimator import LogLinearClassifier

__all__ = ["LogLinearClassifier"]
