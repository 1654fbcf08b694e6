"""What a dossier says, as plain data: every part of it can be empty, and says where its numbers come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from merula.answers.stability import Stability
from merula.core.plain import from_plain, to_plain
from merula.data.schema import Label
from merula.report.dossier.repeats import Repeat
from merula.report.findings.result import DataSummary

NOT_STATED = "not stated"


@dataclass(frozen=True)
class Answer:
    """A question of the card and its answer: ``stated`` by people, ``found`` by working it out; both empty where nobody knows."""

    part: str
    name: str
    question: str
    stated: tuple[str, ...] = ()
    found: str = ""

    @property
    def is_answered(self) -> bool:
        """Whether anybody or anything answers it."""
        return bool(self.stated or self.found)


@dataclass(frozen=True)
class ModelFacts:
    """What the model file holds: its kind, options, classes with their shares, columns with kinds and distributions.

    Of a pool ``parts`` are those it is made of, then all together and the class frequencies: title, weight, log loss of rows left
    out at fit, and its standard error.
    """

    kind: str
    options: Mapping[str, str]
    parameters: int
    rows: float | None
    kept_rows: int
    temperature: float | None
    classes: tuple[tuple[str, float], ...]
    columns: tuple[tuple[str, str, str], ...]
    actions: tuple[str, ...] = ()
    unclassed: float = 0.0  # of the rows, those that had no class
    parts: tuple[tuple[str, float | None, float | None, float | None], ...] = ()


@dataclass(frozen=True)
class Measured:
    """A figure beside that of the class frequencies: its value, its standard error, and its 95 % interval."""

    name: str
    title: str
    better: str
    value: float | None
    standard_error: float | None
    interval: tuple[float, float] | None
    frequencies: float | None


@dataclass(frozen=True)
class GroupFigures:
    """A subgroup of the tested rows: its rows, and each figure with its 95 % interval."""

    name: str
    rows: int
    figures: tuple[Measured, ...]


@dataclass(frozen=True)
class CalibrationBin:
    """The tested rows whose probability was within a tenth: their mean probability, the share observed with its 95 % interval, and how many."""

    predicted: float
    observed: float
    low: float
    high: float
    rows: float


@dataclass(frozen=True)
class Performance:
    """How good the model is on rows it did not learn from; ``how`` says which these were.

    ``beside`` says how its log loss stands beside that of the class frequencies: "better", "unclear" or "worse".
    """

    how: str
    rows: int
    figures: tuple[Measured, ...]
    verdict: tuple[str, ...]
    beside: str
    calibrated: Label
    bins: tuple[CalibrationBin, ...]
    by: tuple[str, ...] = ()
    groups: tuple[GroupFigures, ...] = ()
    too_few: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()


@dataclass(frozen=True)
class NetBenefit:
    """What acting on a class is worth from each threshold on, by the model and always."""

    label: Label
    thresholds: tuple[float, ...]
    model: tuple[float, ...]
    always: tuple[float, ...]


@dataclass(frozen=True)
class Reach:
    """Up to where a column of numbers or times was learned from; how many of the rows of another file lie beyond, where there is one."""

    column: str
    low: str
    high: str
    beyond: int | None = None


@dataclass(frozen=True)
class Limits:
    """Known limits that were found: sentences, ranges, and columns that repeat each other."""

    sentences: tuple[str, ...]
    reaches: tuple[Reach, ...]
    repeats: tuple[Repeat, ...]


@dataclass(frozen=True)
class Origin:
    """How to get it all again: hashes of files, versions, when, and the command or the line that wrote it."""

    command: str
    hashes: Mapping[str, str]
    fingerprint: str
    versions: Mapping[str, str]
    written: str
    refitted: str


@dataclass(frozen=True)
class Dossier:
    """A model card: what people state of a model, and what its statistics, its rows and its evaluation say.

    Attributes
    ----------
    title : str
    target : str or None
    answers : tuple of Answer
        The 31 questions of HTI-1, and their answers.
    model, data, performance, net_benefit, stability, limits, origin
        What was found; None for parts that were not asked for, or cannot be had.
    sources : {part: command}
        Which command prints the numbers of each part.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> import merula as mr
    >>> heights, sexes = [[1.60 + k / 100] for k in range(40)], ["f"] * 18 + ["m", "f"] * 2 + ["m"] * 18
    >>> model = mr.NaiveBayesClassifier().fit(heights, sexes)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "dossier.json"
    >>> dossier = mr.write_dossier(model, heights, sexes, path, about={"purpose": {"use": "A guess"}}, cv=4, repeats=1)
    >>> print(dossier)
    Dossier: 3 of 31 questions are answered, 1 by people; the model beats the class frequencies
    >>> Dossier.from_dict(json.loads(path.read_text())) == dossier
    True
    """

    title: str
    target: str | None
    answers: tuple[Answer, ...]
    model: ModelFacts | None = None
    data: DataSummary | None = None
    performance: Performance | None = None
    net_benefit: NetBenefit | None = None
    stability: Stability | None = None
    limits: Limits | None = None
    origin: Origin | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def answered(self) -> tuple[int, int]:
        """How many questions are answered, and how many of them by people."""
        return sum(one.is_answered for one in self.answers), sum(bool(one.stated) for one in self.answers)

    def __str__(self) -> str:
        every, stated = self.answered
        told = {"better": "beats", "unclear": "cannot be told apart from", "worse": "does not beat"}
        verdict = (
            "" if self.performance is None else f"; the model {told[self.performance.beside]} the class frequencies"
        )
        return f"{self.title}: {every} of {len(self.answers)} questions are answered, {stated} by people{verdict}"

    def __repr__(self) -> str:
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """The same as data that strict JSON holds; `from_dict` reads it."""
        return to_plain(self)  # type: ignore[no-any-return]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Dossier:
        """The dossier that `to_dict` wrote."""
        return from_plain(cls, data)  # type: ignore[no-any-return]
