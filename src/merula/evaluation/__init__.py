"""Honest figures of any probabilistic classifier: cross-validated, with standard errors, calibration and costs."""

from merula.evaluation.comparison import Comparison
from merula.evaluation.figure import Figure, Fold
from merula.evaluation.folds import RareClassWarning
from merula.evaluation.reliability import ReliabilityCurve, calibration_error, reliability_curve
from merula.evaluation.result import Evaluation, ModelEvaluation
from merula.evaluation.run import evaluate

__all__ = [
    "Comparison",
    "Evaluation",
    "Figure",
    "Fold",
    "ModelEvaluation",
    "RareClassWarning",
    "ReliabilityCurve",
    "calibration_error",
    "evaluate",
    "reliability_curve",
]
