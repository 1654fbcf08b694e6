"""Everything that a page or a service says, as types; JSON Schema is made of them, and of nothing else."""

from merula.web.said.answers import (
    Case,
    Decision,
    Derivation,
    Explanation,
    Explanations,
    ExplanationTold,
    Note,
    Prediction,
    Question,
    Questions,
    QuestionsTold,
    Reason,
)
from merula.web.said.networks import Moments, NetworkAnswer
from merula.web.said.requests import Asked, QueryAsked
from merula.web.said.schema import SAID, json_schema
from merula.web.said.service import ColumnTold, Error, Health, Metadata, ModelList, ModelNamed, VariableTold
from merula.web.said.version import VERSION

__all__ = [
    "SAID",
    "VERSION",
    "Asked",
    "Case",
    "ColumnTold",
    "Decision",
    "Derivation",
    "Error",
    "Explanation",
    "ExplanationTold",
    "Explanations",
    "Health",
    "Metadata",
    "ModelList",
    "ModelNamed",
    "Moments",
    "NetworkAnswer",
    "Note",
    "Prediction",
    "QueryAsked",
    "Question",
    "Questions",
    "QuestionsTold",
    "Reason",
    "VariableTold",
    "json_schema",
]
