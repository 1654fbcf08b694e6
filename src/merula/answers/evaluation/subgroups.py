"""For whom a model is good: every figure within subgroups of the tested rows, with intervals, and how each differs from the rest.

A figure of a subgroup is that of its rows alone. Of a figure that is a mean over rows, each row counts by its mean over the folds that
test it, and the standard error is that of a mean over rows, or over groups of rows that belong together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t as student

from merula.answers.evaluation.figure import Difference
from merula.answers.evaluation.metrics import FIGURES, Answers, figures_of, paired_auc, pooled, row_values
from merula.answers.evaluation.reliability import ReliabilityCurve, confidence_curve, error_of
from merula.core import Array, InputError, one_of
from merula.core.plain import to_plain
from merula.data.schema import Label, sort_labels
from merula.data.table import build_frame, is_missing, label_array, plain_label
from merula.show.html import html_block, html_table
from merula.show.numbers import fixed, short
from merula.show.terminal import colored
from merula.show.text import shortened, text_table

if TYPE_CHECKING:
    from merula.answers.evaluation.result import Evaluation, ModelEvaluation

LEVEL = 0.95  # of intervals
MIN_ROWS = 10
BINS = 5
MISSING, OTHERWISE = "missing", "(no value)"  # empty cells, where that is no label of its own, and where it is
MOST_LEVELS = 50
SHARE = "share"
SHARES, LOSSES = (SHARE, "error", "impossible", "coverage"), ("log_loss", "brier")
SHOWN = ("log_loss", "brier", "error", "auc", "mean_cost")


@dataclass(frozen=True)
class GroupFigure:
    """A figure of a subgroup, its standard error, and the ends of its 95 % interval; None where they are not known."""

    value: float | None
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, eq=False)
class Subgroup:
    """Some of the tested rows, and the figures of these alone.

    Attributes
    ----------
    given : {column: level}
    rows : int
    figures : {name: GroupFigure}
    observed, expected : {class: GroupFigure}, {class: float}
        How frequent each class is among the rows, and how frequent the model says it is.
    confidence : ReliabilityCurve
        Of each row's most probable class, in five bins.
    differences : {name: Difference}
        Each figure that is a mean over rows, less that of all other tested rows.
    """

    given: Mapping[str, Label]
    rows: int
    figures: Mapping[str, GroupFigure]
    observed: Mapping[Label, GroupFigure]
    expected: Mapping[Label, float]
    confidence: ReliabilityCurve
    differences: Mapping[str, Difference]

    @property
    def name(self) -> str:
        """What its rows have in common."""
        return ", ".join(f"{column} = {_shown(level)}" for column, level in self.given.items())


def _shown(level: Label) -> str:
    """A level as it is written: 1 rather than 1.0."""
    return short(level, 6) if type(level) is float else str(level)


@dataclass(frozen=True, eq=False)
class Subgroups:
    """The subgroups of one model's tested rows; of those with too few rows nothing is told but that they are few.

    Examples
    --------
    >>> import merula as mr
    >>> heights, sexes = [[1.60 + k / 100] for k in range(40)], ["f", "m"] * 20
    >>> evaluation = mr.evaluate(mr.NaiveBayesClassifier(), heights, sexes, cv=5, repeats=1)
    >>> found = evaluation.by({"town": ["north"] * 25 + ["south"] * 15})
    >>> [(group.name, group.rows) for group in found.groups]
    [('town = north', 25), ('town = south', 15)]
    """

    model: str
    columns: tuple[str, ...]
    groups: tuple[Subgroup, ...]
    too_few: tuple[str, ...]
    min_rows: int

    def __iter__(self) -> Iterator[Subgroup]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, name: str) -> Subgroup:
        """The subgroup of this name, such as "sex = female"."""
        named = {group.name: group for group in self.groups}
        return named[one_of(name, named, "a subgroup")]

    @property
    def worst(self) -> tuple[tuple[Subgroup, str, Difference], ...]:
        """Where a figure is worse than for all other rows by more than two standard errors, the surest first."""
        found = [
            (group, name, difference)
            for group in self.groups
            for name, difference in group.differences.items()
            if difference.t is not None and _is_worse(name, difference.t)
        ]
        return tuple(sorted(found, key=lambda one: -abs(one[2].t or 0.0)))

    def sentences(self, most: int = 5) -> list[str]:
        """The differences that are surest, in words."""
        if not self.groups:
            return [f"No subgroup has {self.min_rows} rows or more."]
        told = [
            f"{FIGURES[name].title.capitalize()} is worse where {group.name}: {fixed(group.figures[name].value)}, "
            f"{fixed(abs(difference.value or 0.0))} ± {fixed(difference.standard_error)} "
            f"{'higher' if (difference.value or 0.0) > 0 else 'lower'} than that of all other rows."
            for group, name, difference in self.worst[:most]
        ]
        return told or ["In no subgroup is a figure worse than elsewhere by more than two standard errors."]

    def _shown(self) -> tuple[str, list[list[str]], str]:
        names = [name for name in SHOWN if any(name in group.figures for group in self.groups)]
        head = ["", "rows", *(f"{FIGURES[name].title} {FIGURES[name].better}".strip() for name in names)]
        rows = [
            [shortened(group.name, 40), f"{group.rows:,}", *(with_interval(group.figures[name]) for name in names)]
            for group in self.groups
        ]
        few = f"fewer than {self.min_rows} rows, not told: {'; '.join(self.too_few)}" if self.too_few else ""
        note = "\n".join(filter(None, ["in brackets 95 % intervals", few, *self.sentences()]))
        return f"{self.model} by {', '.join(self.columns)}", [head, *rows], note

    def __str__(self) -> str:
        title, rows, note = self._shown()
        return text_table(title, rows, 1, note)

    def __repr__(self) -> str:
        return str(self)

    __rich__ = colored

    def _repr_html_(self) -> str:
        title, rows, note = self._shown()
        return html_block(html_table(title, rows, 1, note))

    def to_frame(self, library: str = "pandas") -> Any:
        """A line for each subgroup and figure."""
        lines = [(group, name, one) for group in self.groups for name, one in group.figures.items()]
        held: dict[str, Any] = {
            "group": label_array([group.name for group, *_ in lines]),
            "rows": np.array([group.rows for group, *_ in lines], dtype=np.int64),
            "figure": label_array([name for _, name, _ in lines]),
        }
        for part in ("value", "low", "high"):
            numbers = [getattr(one, part) for *_, one in lines]
            held[part] = np.array([np.nan if number is None else number for number in numbers])
        return build_frame(held, library)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        groups = [{"given": dict(group.given), "rows": group.rows, "figures": to_plain(dict(group.figures)), "observed": {str(label): to_plain(one) for label, one in group.observed.items()}, "expected": {str(label): one for label, one in group.expected.items()}, "confidence": to_plain(group.confidence), "differences": {name: one._asdict() for name, one in group.differences.items()}} for group in self.groups]  # fmt: skip
        return {"model": self.model, "columns": list(self.columns), "min_rows": self.min_rows, "groups": groups, "too_few": list(self.too_few)}  # fmt: skip


def _is_worse(name: str, statistic: float) -> bool:
    better = FIGURES[name].better
    return (better == "↓" and statistic > 2) or (better == "↑" and statistic < -2)


def with_interval(figure: GroupFigure) -> str:
    """A figure and, in brackets, its interval."""
    if figure.value is None or figure.low is None or figure.high is None:
        return fixed(figure.value)
    return f"{fixed(figure.value)} [{fixed(figure.low)}, {fixed(figure.high)}]"


def subgroups(
    evaluation: Evaluation, model: ModelEvaluation, columns: Mapping[str, NDArray[Any]], min_rows: int, together: bool
) -> Subgroups:
    """The subgroups by each column and, `together`, by each two of them."""
    if type(min_rows) is not int or min_rows < 2:
        raise InputError.of("min_rows", min_rows, "a number of rows from 2")
    held = _Held(evaluation, model)
    sets = [(name,) for name in columns] + (list(combinations(columns, 2)) if together else [])
    groups, few = list[Subgroup](), list[str]()
    for names in sets:
        for given, rows in _levels(names, columns, held.tested):
            found = held.subgroup(given, rows)
            (groups.append(found) if len(rows) >= min_rows else few.append(found.name))
    return Subgroups(model.name, tuple(columns), tuple(groups), tuple(few), min_rows)


def _levels(
    names: Sequence[str], columns: Mapping[str, NDArray[Any]], tested: NDArray[np.int64]
) -> Iterator[tuple[dict[str, Label], NDArray[np.int64]]]:
    """What the tested rows have in common in these columns, and which they are."""
    keys = [tuple(columns[name][row] for name in names) for row in tested.tolist()]
    known = [sort_labels({key[i] for key in keys}) for i in range(len(names))]
    order = {key: [known[i].index(label) for i, label in enumerate(key)] for key in set(keys)}
    for key in sorted(order, key=order.__getitem__):
        rows = tested[[one == key for one in keys]]
        yield dict(zip(names, key, strict=True)), rows


class _Held:
    """What a model answered for each tested row: the means over the folds that test it."""

    def __init__(self, evaluation: Evaluation, model: ModelEvaluation) -> None:
        from merula.answers.evaluation.result import answers_of

        self.evaluation, self.answers = evaluation, answers_of(evaluation, model.probabilities)
        self.at = np.concatenate([fold.test for fold in evaluation.folds])
        self.tested = np.unique(self.at)
        count = len(evaluation.truth)
        self.weights = np.ones(count) if evaluation.weights is None else evaluation.weights
        often = np.bincount(self.at, minlength=count)
        per_fold = [row_values(fold) for fold in self.answers]
        self.values = {
            name: np.bincount(self.at, np.concatenate([fold[name].values for fold in per_fold]), count)
            / np.maximum(often, 1)
            for name in per_fold[0]
            if name != "error_accepted"
        }
        proba = np.concatenate([fold.proba for fold in self.answers])
        self.proba = np.column_stack([np.bincount(self.at, column, count) for column in proba.T]) / np.maximum(often, 1)[:, None]  # fmt: skip

    def subgroup(self, given: Mapping[str, Label], rows: NDArray[np.int64]) -> Subgroup:
        """The figures of these rows."""
        inside = np.zeros(len(self.weights), dtype=np.bool_)
        inside[rows] = True
        others = self.tested[~inside[self.tested]]
        some = [_some(answers, inside[fold.test]) for answers, fold in zip(self.answers, self.evaluation.folds, strict=True)]  # fmt: skip
        some = [one for one in some if len(one.truth)]
        whole = pooled(some)
        figures: dict[str, GroupFigure] = {name: GroupFigure(value) for name, value in figures_of(whole).items()}
        figures |= {name: self._mean(values, rows, name) for name, values in self.values.items()}
        figures["auc"] = _area(some)
        figures["calibration_error"] = GroupFigure(error_of(whole.truth, whole.proba, whole.weights, rows=self.at[inside[self.at]]))  # fmt: skip
        observed = {label: self._mean(self.evaluation.truth == k, rows) for k, label in enumerate(self.evaluation.classes)}  # fmt: skip
        shares = np.average(self.proba[rows], axis=0, weights=self.weights[rows])
        expected = dict(zip(self.evaluation.classes, shares.tolist(), strict=True))
        apart = {name: self._apart(values, rows, others) for name, values in self.values.items()}
        return Subgroup(given, len(rows), {name: figures[name] for name in FIGURES if name in figures}, observed, expected, confidence_curve(whole.truth, whole.proba, whole.weights, BINS), apart)  # fmt: skip

    def _mean(self, values: Array, rows: NDArray[np.int64], name: str = SHARE) -> GroupFigure:
        """A mean over rows with its interval: Wilson's of a share, Student's of others, which are no less than 0 but for costs."""
        value, error, freedom = self._mean_and_error(values, rows)
        if error is None:
            return GroupFigure(value)
        if name in SHARES:
            return GroupFigure(value, error, *wilson(value, freedom + 1))
        reach = float(student.ppf(0.5 + LEVEL / 2, freedom)) * error
        return GroupFigure(value, error, max(0.0, value - reach) if name in LOSSES else value - reach, value + reach)

    def _mean_and_error(self, values: Array, rows: NDArray[np.int64]) -> tuple[float, float | None, float]:
        """A mean over rows, its standard error, and the degrees of freedom of that."""
        weights, groups = self.weights[rows], self.evaluation.groups
        total = float(weights.sum())
        value = float(weights @ values[rows]) / total
        spread = weights * (values[rows] - value) / total
        if groups is None:
            count, squares = total, float((spread**2 / np.where(weights > 0, weights, 1.0)).sum())
        else:
            sums = np.bincount(np.unique(groups[rows], return_inverse=True)[1], spread)
            count, squares = float(len(sums)), float(sums @ sums)
        return value, sqrt(count / (count - 1) * squares) if count > 1 else None, count - 1

    def _apart(self, values: Array, rows: NDArray[np.int64], others: NDArray[np.int64]) -> Difference:
        """The mean of these rows less that of the others, by Welch's test."""
        if not len(others):
            return Difference(None)
        (one, error, freedom), (other, second, more) = (self._mean_and_error(values, some) for some in (rows, others))
        if error is None or second is None:
            return Difference(one - other)
        together = sqrt(error**2 + second**2)
        if together == 0:
            return Difference(one - other, 0.0, None if one != other else 0.0, 0.0 if one != other else 1.0)
        statistic = (one - other) / together
        degrees = together**4 / (error**4 / freedom + second**4 / more)
        return Difference(one - other, together, statistic, float(2 * student.sf(abs(statistic), degrees)))


def wilson(share: float, count: float) -> tuple[float, float]:
    """The ends of Wilson's (1927) 95 % interval of a share of so many independent rows.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(0.0, 20)], [round(end, 4) for end in wilson(0.5, 100)]
    ([0.0, 0.1611], [0.4038, 0.5962])
    """
    z = float(norm.ppf(0.5 + LEVEL / 2))
    middle, reach = share + z**2 / (2 * count), z * sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    low, high = ((middle + side * reach) / (1 + z**2 / count) for side in (-1, 1))
    return 0.0 if share == 0 else max(0.0, low), 1.0 if share == 1 else min(1.0, high)


def _some(answers: Answers, inside: NDArray[np.bool_]) -> Answers:
    """The answers for some rows; classes that the whole target holds but these rows do not are none of theirs."""
    truth = answers.truth[inside]
    present = np.bincount(truth, minlength=len(answers.present)) > 0
    weights = None if answers.weights is None else answers.weights[inside]
    return Answers(truth, np.ascontiguousarray(answers.proba[inside]), weights, present, answers.costs, answers.reject_cost)  # fmt: skip


def _area(folds: Sequence[Answers]) -> GroupFigure:
    """The area under the ROC curve of pairs of rows tested in the same fold; of two classes with Hanley and McNeil's (1982) interval."""
    whole = pooled(list(folds))
    present = np.bincount(whole.truth, minlength=whole.proba.shape[1]) > 0
    if present.sum() < 2:
        return GroupFigure(None)
    area = paired_auc([Answers(one.truth, one.proba, one.weights, present) for one in folds])
    if area is None or whole.proba.shape[1] != 2 or whole.weights is not None:
        return GroupFigure(area)
    first, second = np.unique(whole.truth, return_counts=True)[1].tolist()
    one, other = area / (2 - area), 2 * area**2 / (1 + area)
    spread = area * (1 - area) + (second - 1) * (one - area**2) + (first - 1) * (other - area**2)
    error = sqrt(max(0.0, spread) / (first * second))
    reach = float(norm.ppf(0.5 + LEVEL / 2)) * error
    return GroupFigure(area, error, max(0.0, area - reach), min(1.0, area + reach))


def read_by(by: Any, columns: Any, count: int) -> dict[str, NDArray[Any]]:
    """{name: a level for each row}: named columns of the table, or arrays of labels; missing is a level of its own."""
    if isinstance(by, Mapping) or hasattr(by, "columns"):
        told = {str(name): by[name] for name in (by.columns if hasattr(by, "columns") else by)}
    else:
        if not isinstance(by, Iterable):
            raise InputError.of("by", by, "names of columns, or {name: a label for each row}")
        told = {name: columns(name) for name in ([by] if isinstance(by, str) else by)}
    if not told:
        raise InputError.at("by", "names no column", remedy="name at least one, or leave it out")
    return {name: _labels(name, values, count) for name, values in told.items()}


def _labels(name: str, values: Any, count: int) -> NDArray[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable) or getattr(values, "ndim", 1) != 1:
        what = f"{values.ndim} dimensions" if hasattr(values, "ndim") else f"the value {values!r:.40}"
        raise InputError.at(f"by[{name!r}]", f"has {what}", expected="one label for each row")
    held = [plain_label(value) for value in (values.to_list() if hasattr(values, "to_list") else values)]
    if len(held) != count:
        raise InputError.at(f"by[{name!r}]", f"has {len(held)} values", expected=f"one for each of the {count} rows")
    empty = OTHERWISE if MISSING in held else MISSING
    found = np.array([empty if is_missing(value) else value for value in held], dtype=object)
    if len(set(found.tolist())) > MOST_LEVELS:
        raise InputError.at(f"by[{name!r}]", f"has {len(set(found.tolist()))} levels, at most {MOST_LEVELS} make subgroups", remedy="cut it into a few intervals, or name another column")  # fmt: skip
    return found
