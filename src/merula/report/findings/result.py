"""What there is to say of a table and its model, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from merula.answers.evaluation import Evaluation
from merula.answers.explanation.reasons import Explanation
from merula.classify.conditionals import Conditional
from merula.core.plain import from_plain, to_plain
from merula.data.schema import Label
from merula.show.html import Html, html_block, html_tag


@dataclass(frozen=True)
class ColumnSummary:
    """One column: how it is read, how many cells are missing, and what the others hold.

    ``reach`` is the lowest, the middle and the highest of numbers or times, as a person reads them; ``commonest`` the
    most frequent levels with the number of their rows. What was pointed out of the column is its ``remark``; one that
    alone predicts the class almost always ``leaks``.
    """

    name: str
    kind: str
    missing: int
    distinct: int | None = None
    reach: tuple[str, str, str] | None = None
    commonest: tuple[tuple[str, int], ...] = ()
    remark: str = ""
    leaks: bool = False


@dataclass(frozen=True)
class DataSummary:
    """The table: its rows, its columns, and a fingerprint that another copy of the same data has too.

    Rows that were not learned from are ``left_out``: so many, for lack of what.
    """

    rows: int
    columns: tuple[ColumnSummary, ...]
    fingerprint: str
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def missing(self) -> int:
        """The number of missing cells in columns that are not ignored."""
        return sum(column.missing for column in self.columns if column.kind != "ignore")


@dataclass(frozen=True)
class RatingCurve:
    """How well a model ranks rows by the probability of one class, each row beside the others of its fold: the mean of the folds.

    ``roc`` are points (share of false alarms, share of the class found), ``precision_recall`` are points
    (share of the class found, share of rows taken that are of the class).
    """

    model: str
    label: Label
    roc: tuple[tuple[float, float], ...]
    precision_recall: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class CostCurve:
    """What acting on a model costs, by the probability from which on one acts.

    With ``stated`` costs it is the mean cost, by threshold. Without, a false alarm costs c and a miss 1 − c, and the
    threshold is the best one for them, c.
    """

    model: str
    label: Label
    points: tuple[tuple[float, float], ...]
    stated: bool


@dataclass(frozen=True)
class Action:
    """One action: how often it is the best, what always taking it would cost, and where it is the best of two classes' actions."""

    name: Label
    share: float
    always: float
    taken: tuple[float, ...]
    from_to: tuple[float, float] | None = None


@dataclass(frozen=True)
class Actions:
    """What to do under the costs: each action, what the models' choices cost, and what knowing the truth would cost."""

    each: tuple[Action, ...]
    costs: Mapping[str, float]
    knowing: float
    threshold: float | None = None


@dataclass(frozen=True)
class Contribution:
    """How far a column (or columns modelled together) moves the log-odds of the true class, on average over rows.

    ``strength`` is the mean size of the move, whatever its direction; rows in which it alone decides are counted in
    ``decides`` and left out of the means. ``given`` are the columns that it depends on besides the class. What is not told
    by its columns has a ``name``; all that is too small to be told apart is one, of so many ``others``.
    """

    columns: tuple[str, ...]
    evidence: float
    strength: float
    by_class: Mapping[Label, float]
    decides: float = 0.0
    given: tuple[str, ...] = ()
    name: str = ""
    others: int = 0


@dataclass(frozen=True)
class EffectAxis:
    """Where a column's effects are told: ``form`` is "numbers" (durations in a ``unit``), or "times" or "levels", as texts.

    How many levels were left out is ``others``.
    """

    column: str
    form: str
    values: tuple[Any, ...]
    unit: str = ""
    others: int = 0


@dataclass(frozen=True)
class LearnedEffect:
    """What one column or two say of each class, two beyond each by itself: ``given[label]``, over the first axis, then the second.

    Of two classes it is the effect on the log-odds of one ``against`` the other; of more on the log score of each. What a column
    of numbers says where it is ``missing`` is told where that is an answer.
    """

    axes: tuple[EffectAxis, ...]
    given: Mapping[Label, tuple[float, ...]]
    against: Label = None
    missing: Mapping[Label, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PointScale:
    """One column of a nomogram: the points of the values that are listed, of a missing one, and along the whole range.

    ``along`` holds numbers (durations and times of day in a ``unit``), or times as texts; it is empty for a column of levels,
    which are all listed.
    """

    column: str
    listed: tuple[tuple[str, float], ...]
    missing: float
    along: tuple[tuple[Label, float], ...] = ()
    unit: str = ""


@dataclass(frozen=True)
class Points:
    """A nomogram: a scale for each column that is drawn, the widest first.

    ``totals`` are (probability, total points) at round probabilities, ``curve`` (total points, probability) all along. What is
    to be known beside is the ``remark``. Drawn is the ``model``: the reported one (``own``), or a simpler one that takes one column
    at a time; ``log_loss`` is its own, on unseen rows. Columns ``left_out`` of the drawing have their average points (``average``)
    in the total, which changes the probability of a row by at most ``error``; ``silent`` columns have no influence.
    """

    label: Label
    against: Label
    scales: tuple[PointScale, ...]
    totals: tuple[tuple[float, float], ...]
    curve: tuple[tuple[float, float], ...]
    remark: str = ""
    model: str = ""
    own: bool = True
    log_loss: str = ""
    left_out: tuple[str, ...] = ()
    average: float = 0.0
    error: float = 0.0
    silent: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class RowStory:
    """One row explained, and why it was chosen: "least certain", "most certain" or "most surprising".

    Its ``number`` is that in the table that was read, from 1, rows counted that were left out.

    ``words`` are the most telling words of its texts, with their weights of evidence for the explained class against the
    ``rival``, the most probable of the others.
    """

    number: int
    why: str
    truth: Label
    explanation: Explanation
    words: tuple[tuple[str, float], ...] = ()
    rival: Label = None


@dataclass(frozen=True)
class Origin:
    """How to get the same report again."""

    versions: Mapping[str, str]
    model: str
    parameters: Mapping[str, str]
    folds: str
    random_state: str
    python: tuple[str, ...] = ()
    command: str | None = None
    written: str = ""


@dataclass(frozen=True, eq=False)
class Findings:
    """Everything a report says. The first model of the evaluation is the one that is explained; parts that cannot be had are empty.

    A model that is explained by effects has ``importances`` and ``effects`` in place of ``contributions``.
    """

    title: str
    target: str | None
    evaluation: Evaluation
    balance: Mapping[Label, float]
    ratings: tuple[RatingCurve, ...]
    cost_curves: tuple[CostCurve, ...]
    origin: Origin
    actions: Actions | None = None
    data: DataSummary | None = None
    contributions: tuple[Contribution, ...] = ()
    importances: tuple[Contribution, ...] = ()
    given_others: tuple[Contribution, ...] = ()
    conditionals: tuple[Conditional, ...] = ()
    effects: tuple[LearnedEffect, ...] = ()
    nomogram: Points | None = None
    rows: tuple[RowStory, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """The verdict, as the page begins."""
        from merula.report.verdict import verdict_of  # it is of findings

        verdict = verdict_of(self)
        return "\n".join([self.title, verdict.headline, *verdict.figures, *(f"• {step}" for step in verdict.steps)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from merula.report.verdict import verdict_of

        verdict = verdict_of(self)
        steps = html_tag("ul", *(html_tag("li", step) for step in verdict.steps)) if verdict.steps else Html("")
        figures = (html_tag("p", figure) for figure in verdict.figures)
        return html_block(
            html_tag("p", html_tag("strong", self.title)),
            html_tag("p", html_tag("strong", verdict.headline)),
            *figures,
            steps,
        )

    def to_dict(self) -> dict[str, Any]:
        """The same as data that strict JSON holds; `from_dict` reads it.

        Examples
        --------
        >>> import json
        >>> import merula as mr
        >>> from merula.report import findings_html
        >>> from merula.report.findings import Findings, findings_of
        >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
        >>> found = findings_of(mr.evaluate(mr.NaiveBayesClassifier(), heights, sexes, cv=3))
        >>> text = json.dumps(found.to_dict(), allow_nan=False)
        >>> findings_html(Findings.from_dict(json.loads(text))) == findings_html(found)
        True
        """
        return to_plain(self)  # type: ignore[no-any-return]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Findings:
        """The findings that `to_dict` wrote."""
        return from_plain(cls, data)  # type: ignore[no-any-return]
