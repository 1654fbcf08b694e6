"""Everything a report says of a table and its model, as plain data: gathered in one place, from public functions."""

from merula.classify.conditionals import Conditional
from merula.report.findings.collect import collect_findings, findings_of
from merula.report.findings.result import (
    Action,
    Actions,
    ColumnSummary,
    Contribution,
    CostCurve,
    DataSummary,
    EffectAxis,
    Findings,
    LearnedEffect,
    Origin,
    Points,
    PointScale,
    RatingCurve,
    RowStory,
)

__all__ = [
    "Action",
    "Actions",
    "ColumnSummary",
    "Conditional",
    "Contribution",
    "CostCurve",
    "DataSummary",
    "EffectAxis",
    "Findings",
    "LearnedEffect",
    "Origin",
    "PointScale",
    "Points",
    "RatingCurve",
    "RowStory",
    "collect_findings",
    "findings_of",
]
