"""What was found of a model and new rows: a verdict, what has changed, and everything it was judged by."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from merula.answers.monitoring.columns import NUMBERS, ColumnChange, Numbers
from merula.answers.monitoring.losses import ROWS_BEFORE, Evidence, Loss
from merula.answers.monitoring.prevalence import Share
from merula.classify.readable import is_of_the_day, shown, with_unit
from merula.core.plain import to_plain
from merula.data.schema import Column, Label
from merula.data.table import build_frame, label_array
from merula.show.html import html_block, html_table, html_tag
from merula.show.numbers import NOTHING, fixed, percent, rounded, several, short
from merula.show.terminal import colored
from merula.show.text import shortened, text_table

LONGEST = 32
MOST_LINES = 20  # columns and classes that are shown


@dataclass(frozen=True)
class Change:
    """Something that has changed beyond chance.

    Attributes
    ----------
    of : str
        A column, or "loss", "class" or "evidence".
    sentence : str
    p : float
        The least of its p-values, adjusted for the number of all.
    remedy : str
        What to do about it.
    column : str or None
        The column, if it is one.
    """

    of: str
    sentence: str
    p: float
    remedy: str = ""
    column: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Monitoring:
    """What has changed since a model learned, as `monitor` found it.

    Attributes
    ----------
    verdict : str
        One sentence.
    changes : tuple of Change
        What has changed beyond chance, the most serious first.
    doubts : tuple of Change
        What the model itself says and these rows deny, where nothing tells whether it ever was so: that its probabilities are right, that classes are
        as frequent as it learned. A model that was never quite right fails here without any change.
    steps : tuple of str
        What to do.
    rows, labelled : int
        How many new rows there are, and of how many the class is known.
    rows_then : float or None
        The rows that the model learned from.
    columns : tuple of ColumnChange
    prevalence : {class: Share}
        How frequent each class was, and is: counted where every class is known, else estimated from the posteriors.
    counted : bool
        Whether `prevalence` was counted.
    loss : Loss
    evidence : Evidence or None
        None where the model gives no P(row), and has no part that does.
    tests : {what: adjusted p-value}
        Every test that counts, adjusted for their number (Holm 1979).
    false_alarms : float
        The chance that anything is said to have changed where nothing has.
    remarks : tuple of str
        What could not be told, and what a number rests on.

    Examples
    --------
    >>> import merula as mr
    >>> rows, birds = [[20 + k % 5 + 7 * (k % 2)] for k in range(200)], ["tit", "wren"] * 100
    >>> model = mr.NaiveBayesClassifier().fit(rows, birds, reference=True)
    >>> found = mr.monitor(model, [[wing + 3] for [wing] in rows], birds)
    >>> found.changed, [change.of for change in found.changes]
    (True, ['x0'])
    """

    verdict: str
    changes: tuple[Change, ...]
    doubts: tuple[Change, ...]
    steps: tuple[str, ...]
    rows: int
    labelled: int
    rows_then: float | None
    columns: tuple[ColumnChange, ...]
    prevalence: Mapping[Label, Share]
    counted: bool
    loss: Loss
    evidence: Evidence | None
    tests: Mapping[str, float]
    false_alarms: float
    remarks: tuple[str, ...]
    schema: tuple[Column, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything has changed beyond chance."""
        return bool(self.changes)

    def column(self, name: str) -> ColumnChange:
        """What was found of one column."""
        return next(one for one in self.columns if one.column == name)

    # ------------------------------------------------------------------------------------------------ shown

    def __str__(self) -> str:
        parts = [self.verdict]
        parts += ["\n".join(f"{k}. {change.sentence}" for k, change in enumerate(self.changes, 1))] if self.changes else []  # fmt: skip
        parts += ["\n".join(["In doubt", *(f"- {doubt.sentence}" for doubt in self.doubts)])] if self.doubts else []
        parts += ["\n".join(["What to do", *(f"- {step}" for step in self.steps)])] if self.steps else []
        parts += [text_table("", self.class_lines(), 1), text_table("", self.column_lines(), 1)]
        parts += ["\n".join(self.facts())]
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        return str(self)

    __rich__ = colored

    def _repr_html_(self) -> str:
        changes = html_tag("ol", *(html_tag("li", change.sentence) for change in self.changes)) if self.changes else ""
        steps = html_tag("ul", *(html_tag("li", step) for step in self.steps)) if self.steps else ""
        doubts = html_tag("ul", *(html_tag("li", doubt.sentence) for doubt in self.doubts)) if self.doubts else ""
        parts = [html_tag("p", html_tag("b", self.verdict)), changes, doubts, steps]
        tables = [html_table("classes", self.class_lines(), 1), html_table("columns", self.column_lines(), 1)]
        return html_block(*filter(None, parts), *tables, html_tag("p", "\n".join(self.facts())))

    def class_lines(self) -> list[list[str]]:
        """The classes then and now, as a table; of many, those that moved most."""
        now = "now" if self.counted else "now, estimated"
        head = ["class", "then", now, "95 % interval"]
        most = sorted(self.prevalence, key=lambda label: -abs(self.prevalence[label].now - self.prevalence[label].then))[:MOST_LINES]  # fmt: skip
        shown = [(label, one) for label, one in self.prevalence.items() if label in set(most)]
        lines = [[shortened(str(label), LONGEST), percent(one.then), percent(one.now), f"{percent(one.low)} to {percent(one.high)}"] for label, one in shown]  # fmt: skip
        return [head, *lines, *_rest(len(self.prevalence) - len(shown), "class", "classes")]

    def column_lines(self) -> list[list[str]]:
        """The columns then and now, as a table; of many, those whose tests come nearest to a change."""
        head = ["column", "compared by", "then", "now", "PSI", "missing then", "now", "p"]
        most = sorted(self.columns, key=lambda one: min((test.adjusted for test in one.tests), default=2.0))[:MOST_LINES]  # fmt: skip
        shown = [one for one in self.columns if one in most]
        return [head, *(self._line(one) for one in shown), *_rest(len(self.columns) - len(shown), "column", "columns")]

    def _line(self, one: ColumnChange) -> list[str]:
        known = {column.name: column for column in self.schema}.get(one.column)
        lost = [NOTHING if share is None else percent(share) for share in (one.missing_then, one.missing_now)]
        psi = NOTHING if one.psi is None else f"{one.psi:.3f}"
        return [shortened(one.column, LONGEST), one.compared, *held_then_and_now(one, known), psi, *lost, smallest(one)]

    def facts(self) -> list[str]:
        """Loss, evidence, and what the tests rest on, in sentences."""
        return [*loss_told(self.loss), *evidence_told(self.evidence), *self.remarks]

    # ------------------------------------------------------------------------------------------------ plain data

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, strict JSON once labels are."""
        return {
            "verdict": self.verdict,
            "changed": self.changed,
            "changes": [to_plain(change) for change in self.changes],
            "doubts": [to_plain(doubt) for doubt in self.doubts],
            "steps": list(self.steps),
            "rows": self.rows,
            "labelled": self.labelled,
            "rows_then": self.rows_then,
            "false_alarms": self.false_alarms,
            "tests": dict(self.tests),
            "classes": [{"class": label, **to_plain(one)} for label, one in self.prevalence.items()],
            "classes_counted": self.counted,
            "loss": to_plain(self.loss),
            "evidence": None if self.evidence is None else to_plain(self.evidence),
            "columns": [_column_state(one) for one in self.columns],
            "remarks": list(self.remarks),
        }

    def to_frame(self, library: str = "pandas") -> Any:
        """A line for each column: what it was compared by, its means and missing cells then and now, its index and p-value."""
        told = self.columns
        words = {"column": [one.column for one in told], "compared": [one.compared for one in told]}
        numbers: dict[str, list[float | None]] = {
            "mean_then": [None if one.numbers_then is None else one.numbers_then.mean for one in told],
            "mean_now": [None if one.numbers_now is None else one.numbers_now.mean for one in told],
            "missing_then": [one.missing_then for one in told],
            "missing_now": [one.missing_now for one in told],
            "psi": [one.psi for one in told],
            "p": [min((test.adjusted for test in one.tests), default=None) for one in told],
        }
        held: dict[str, Any] = {name: label_array(values) for name, values in words.items()}
        held |= {name: np.array([np.nan if one is None else one for one in values], dtype=np.float64) for name, values in numbers.items()}  # fmt: skip
        held["changed"] = np.array([any(test.changed for test in one.tests) for one in told])
        return build_frame(held, library)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write everything, with charts of the columns that changed, to one HTML file that needs no network.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import merula as mr
        >>> rows, birds = [[20 + k % 5 + 7 * (k % 2)] for k in range(200)], ["tit", "wren"] * 100
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "still-true.html"
        >>> mr.monitor(mr.NaiveBayesClassifier().fit(rows, birds), rows).to_html(path)
        >>> path.read_text()[:15]
        '<!DOCTYPE html>'
        """
        import merula  # by the front door: the report stands above

        merula.write_monitoring(self, path)


def _rest(count: int, one: str, many: str) -> list[list[str]]:
    """The line that says how many are not shown; `to_dict` has all of them."""
    return [[f"… {several(count, f'more {one}', f'more {many}')}"]] if count else []


def _column_state(one: ColumnChange) -> dict[str, Any]:
    plain: dict[str, Any] = to_plain({name: getattr(one, name) for name in ("column", "kind", "compared", "known_then", "known_now", "missing_then", "missing_now", "numbers_then", "numbers_now", "psi", "step", "remark")})  # fmt: skip
    shares = [{"value": label, "then": then, "now": now} for label, (then, now) in one.shares.items()]
    unseen = [{"level": label, "rows": rows} for label, rows in one.unseen.items()]
    return {**plain, "shares": shares, "unseen": unseen, "tests": [to_plain(test) for test in one.tests]}


def smallest(one: ColumnChange) -> str:
    """The least adjusted p-value of a column's tests."""
    least = min((test.adjusted for test in one.tests), default=None)
    return NOTHING if least is None else "< 0.0001" if least < 5e-5 else f"{least:.4f}"


def held_then_and_now(one: ColumnChange, column: Column | None) -> tuple[str, str]:
    """A column in a few words: the mean of numbers, or the level that has moved most."""
    if one.numbers_then is not None and one.numbers_now is not None:
        spread = min((part.deviation for part in (one.numbers_then, one.numbers_now) if part.deviation > 0), default=0.0)  # fmt: skip
        return mean_told(one.numbers_then, column, spread), mean_told(one.numbers_now, column, spread)
    if one.shares and one.compared != NUMBERS:
        label = moved_most(one)
        then, now = one.shares[label]
        return f"{shortened(str(label), 16)} {percent(then)}", percent(now)
    return NOTHING, NOTHING


def mean_told(one: Numbers, column: Column | None, spread: float) -> str:
    """A mean as a reader likes it."""
    if column is not None and (column.unit is not None or is_of_the_day(column)):
        return shown(column, one.mean if column.unit is not None else float(round(one.mean)))
    told = rounded(one.mean, spread) if spread else short(one.mean)
    return told if column is None else with_unit(column, told)


def moved_most(one: ColumnChange) -> Label:
    """The level or interval whose share has moved most."""
    return max(one.shares, key=lambda label: abs(one.shares[label][1] - one.shares[label][0]))


def loss_told(loss: Loss) -> list[str]:
    """The losses, in sentences."""
    if loss.realised is None:
        before = "" if loss.before is None else f"; of the rows before, {fixed(loss.before)}"
        return [f"Expected log loss, if its probabilities are right: {fixed(loss.expected)}{before}."]
    rows = "rows before" if loss.standard == ROWS_BEFORE else "rows left out when it learned"
    before = "" if loss.before is None else f"; on the {rows} it was {fixed(loss.before)}"
    return [f"Log loss on {several(loss.rows, 'row')} with a class: {fixed(loss.realised)}, where the model expects {fixed(loss.expected_of_labelled)}{before}."]  # fmt: skip


def evidence_told(evidence: Evidence | None) -> list[str]:
    """How surprising the rows are, in a sentence."""
    if evidence is None:
        return []
    others = "the rows before" if evidence.compared_with == "before" else "rows drawn from the model"
    told = f"Log evidence by the {evidence.model}: {evidence.mean:.2f} a row, {evidence.usual:.2f} of {others}; {percent(evidence.surprising)} of rows are less probable than 99 in 100 of those"
    rows = ", ".join(str(row + 1) for row in evidence.most_surprising)
    named = "row" if len(evidence.most_surprising) == 1 else "rows"
    never = f"; {percent(evidence.impossible)} cannot be, as the model has it, and are left out of the mean" if evidence.impossible else ""  # fmt: skip
    return [f"{told} (most of all {named} {rows}){never}." if rows else f"{told}{never}."]
