"""What a model card is asked for: the 31 source attributes of HTI-1 (United States, 45 CFR 170.315(b)(11)), in nine groups.

What the rows and the model tell is worked out; the rest is for people to state.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """One thing that is asked: its name within its group, and the question."""

    name: str
    text: str


@dataclass(frozen=True)
class Part:
    """A group of questions, by its name in the file and its title."""

    name: str
    title: str
    questions: tuple[Question, ...]


def _part(name: str, title: str, **questions: str) -> Part:
    return Part(name, title, tuple(Question(key, text) for key, text in questions.items()))


PARTS = (
    _part(
        "details",
        "Details and output",
        owner="Who developed it, and how to reach them",
        funding="Who paid for it",
        output="The value that it gives",
        kind="Prediction, classification, recommendation, evaluation or analysis",
    ),
    _part(
        "purpose",
        "Purpose",
        use="What it is for",
        population="For whom it is",
        users="Who uses it",
        role="Its role in the decision: does it inform, augment or replace it",
    ),
    _part(
        "out_of_scope",
        "Out of scope",
        exclusions="Tasks, situations and populations it is not for",
        risks="Known risks, inappropriate settings, limitations",
    ),
    _part(
        "development",
        "Development and inputs",
        criteria="Which rows were taken into the training data, and which were left out",
        sensitive_columns="Which inputs are sensitive attributes",
        representativeness="How far the training data represent those it is for",
        relevance="How relevant the training data are to where it is used",
    ),
    _part(
        "fairness",
        "Fairness in development",
        approach="What was done so that its output is fair",
        bias="What was done to manage, reduce or remove bias",
    ),
    _part(
        "external_validation",
        "External validation",
        source="The data, and the setting they come from",
        conducted_by="Who conducted it",
        representativeness="How far these data represent those it is for",
        process="How it was done",
    ),
    _part(
        "performance",
        "Performance",
        validity="How valid it is on test data of the same source",
        fairness="How fair it is on test data of the same source",
        external_validity="How valid it is on external data",
        external_fairness="How fair it is on external data",
        outcomes="References to evaluations of what its use led to",
    ),
    _part(
        "maintenance",
        "Maintenance",
        validity="How, and how often, its validity is monitored",
        local_validity="How valid it is on local data",
        fairness="How, and how often, its fairness is monitored",
        local_fairness="How fair it is on local data",
    ),
    _part(
        "updates",
        "Updates",
        schedule="How, and how often, the model is updated",
        correction="How, and how often, performance is corrected when risks are found",
    ),
)
