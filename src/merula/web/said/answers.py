"""What is said of rows: predictions, decisions, explanations, questions, each with the notes that belong to it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from merula.web.said.version import VERSION

Label = str | int | float | bool
Cell = str | int | float | bool | None
Probability = Annotated[float, Meta(ge=0, le=1)]
Number = float | Literal["inf", "-inf"]
Case = Annotated[
    dict[str, Cell],
    Meta(
        title="Case", description="What is known of a row, by column; a column that is not named, or null, is unknown."
    ),
]
Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$", description="SHA-256 of the model's file.")]
Kind = Literal["unseen", "impossible", "reading", "ignored", "other"]


class Note(Struct, omit_defaults=True):
    """One thing to know beside an answer."""

    kind: Kind
    text: str
    column: str | None = None
    rows: Annotated[list[int], Meta(description="The first rows that it is about, counted from 0.")] = field(
        default_factory=list
    )
    count: Annotated[int, Meta(description="How many rows it is about.", ge=0)] = 0


class OfModel(Struct, kw_only=True):
    """Which model answered."""

    version: int = VERSION
    model: str
    hash: Hash


class Prediction(OfModel, kw_only=True):
    """P(class given row) of each row, in the order of `classes`, and the most probable class of each."""

    classes: list[Label]
    posterior: list[list[Probability]]
    class_: list[Label] = field(name="class")
    notes: list[Note]


class Decision(OfModel, kw_only=True):
    """The action of least expected cost for each row, what it is expected to cost, and the posterior that it rests on."""

    classes: list[Label]
    actions: list[Label]
    posterior: list[list[Probability]]
    class_: list[Label] = field(name="class")
    action: list[Label]
    risk: list[float]
    rejected: Annotated[list[int], Meta(description="The rows for which no decision is cheaper.")]
    notes: list[Note]


class Reason(Struct):
    """What one column, or several together, contribute: a log term for each class, and the evidence for the label."""

    columns: list[str]
    values: list[str]
    log_terms: list[Number]
    evidence: Number | None
    known: bool
    weight: float
    name: str | UnsetType = UNSET


class Derivation(Struct):
    """One sum of terms, from where it starts to its log joint; a mixture has several, each with its share."""

    name: str
    share: float
    log_prior: list[Number]
    log_joint: list[Number]
    prior_log_odds: Number | None
    start: str
    log_odds: Number | None
    reasons: list[Reason]


class Explanation(Struct):
    """One row explained: log-odds of the label, against another class or all others, as a sum of evidence."""

    classes: list[Label]
    label: Label
    against: Label | None
    log_joint: list[Number]
    posterior: list[Probability]
    zero_evidence: bool
    derivations: list[Derivation]


class ExplanationTold(Explanation):
    """The same with what is to be known beside it."""

    notes: list[Note] = field(default_factory=list)


class Explanations(OfModel, kw_only=True):
    """Each row explained."""

    answers: list[ExplanationTold]


class Question(Struct):
    """One unknown column: what knowing it is expected to be worth."""

    column: str
    gain: float
    reduction: float
    price: float
    information: float
    error: float


class QuestionsTold(Struct):
    """The columns not yet known of a row, best first, and the risk of deciding now."""

    risk: float
    questions: list[Question]
    asked: str | UnsetType = UNSET
    notes: list[Note] = field(default_factory=list)


class Questions(OfModel, kw_only=True):
    """For each row, what to find out next."""

    answers: list[QuestionsTold]
