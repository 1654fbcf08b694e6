"""From probabilities to decisions: costs, risk, the least-risk action, and a classifier that answers with it."""

from merula.answers.decision.calibrated import CalibratedClassifier
from merula.answers.decision.classifier import DecisionClassifier, underlying
from merula.answers.decision.risk import (
    REJECT,
    actual_costs,
    adjust_prior,
    bayes_risk,
    conditional_risk,
    decide,
    least_risk,
)
from merula.classify.costs import Costs, binary_threshold, checked_reject_cost, read_costs

__all__ = [
    "REJECT",
    "CalibratedClassifier",
    "Costs",
    "DecisionClassifier",
    "actual_costs",
    "adjust_prior",
    "bayes_risk",
    "binary_threshold",
    "checked_reject_cost",
    "conditional_risk",
    "decide",
    "least_risk",
    "read_costs",
    "underlying",
]
