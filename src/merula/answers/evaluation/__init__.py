"""Honest figures of any probabilistic classifier: cross-validated, with standard errors, calibration and costs."""

from merula.answers.evaluation.figure import Comparison, Figure, Fold
from merula.answers.evaluation.folds import RareClassWarning
from merula.answers.evaluation.net_benefit import DecisionCurve
from merula.answers.evaluation.parts import Parts, PartWorth
from merula.answers.evaluation.reliability import ReliabilityCurve, calibration_error, reliability_curve
from merula.answers.evaluation.result import Evaluation, Learning, ModelEvaluation
from merula.answers.evaluation.run import evaluate
from merula.answers.evaluation.subgroups import GroupFigure, Subgroup, Subgroups

__all__ = [
    "Comparison",
    "DecisionCurve",
    "Evaluation",
    "Figure",
    "Fold",
    "GroupFigure",
    "Learning",
    "ModelEvaluation",
    "PartWorth",
    "Parts",
    "RareClassWarning",
    "ReliabilityCurve",
    "Subgroup",
    "Subgroups",
    "calibration_error",
    "evaluate",
    "reliability_curve",
]
