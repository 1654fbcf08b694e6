"""Honest figures of any probabilistic classifier: cross-validated, with standard errors, calibration and costs."""

from merula.answers.evaluation.figure import Comparison, Figure, Fold
from merula.answers.evaluation.folds import RareClassWarning
from merula.answers.evaluation.parts import Parts, PartWorth
from merula.answers.evaluation.reliability import ReliabilityCurve, calibration_error, reliability_curve
from merula.answers.evaluation.result import Evaluation, Learning, ModelEvaluation
from merula.answers.evaluation.run import evaluate

__all__ = [
    "Comparison",
    "Evaluation",
    "Figure",
    "Fold",
    "Learning",
    "ModelEvaluation",
    "PartWorth",
    "Parts",
    "RareClassWarning",
    "ReliabilityCurve",
    "calibration_error",
    "evaluate",
    "reliability_curve",
]
