"""A whole additive model on one page: points for each column's value, and what their total makes of the probability.

log-odds(label against the other) = prior log-odds + Σ_column weight of evidence(value) = base + unit · Σ points
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from merula.answers.explanation.reasons import class_index, explain_by_terms, log_odds, own_classifier
from merula.classify.base import BayesianClassifier
from merula.classify.effects.curves import places_of
from merula.classify.effects.marginals import Marginals
from merula.classify.effects.purified import Effects
from merula.classify.readable import is_of_the_day, shown
from merula.classify.single_row import encode_row
from merula.core import Array, InputError, Option
from merula.data.encode import Encoded, encode_cells
from merula.data.schema import Column, Label
from merula.data.table import build_frame, label_array, plain_label
from merula.distributions import CountDistribution
from merula.show.brief import brief
from merula.show.html import html_block, html_table
from merula.show.numbers import percent, several
from merula.show.terminal import colored
from merula.show.text import display_width, pad, shortened

Values = tuple[Label, ...]
Ticks = tuple[int, ...]
Seen = Mapping[str, tuple[float, ...]]  # numbers of columns
MOST_POINTS = 100.0
SHOWN = 0.001  # a probability that is shown as such
CURVE, TABLED = 201, 7  # places at which a numeric column is drawn, and listed
MIDDLE, CLOSER = (0.1, 0.9), 4  # shares of rows, between which so many places at least are listed
FEW = 12  # different whole numbers, that are all listed
ROUNDING = 1e-9  # of points, and of squares in units of a column
SEEN = 1_000  # numbers of rows that are places too
LONGEST = 40  # of a name or a level
UNKNOWN = "(unknown)"
MOST_LINES, MOST_VALUES = 60, 8  # that are printed: of scales altogether, and of one where they are too many
CLOCK = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400)  # seconds
TAIL = 0.001  # of a numeric column's mass left out on either side
PROBABILITIES = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True, eq=False)
class Scale:
    """One column: the points of its levels, or of numbers along its range; `missing` are those of an unknown value.

    `ticks` are the places in `values` that a person is shown. A level that is impossible under one of the two classes
    has −inf or inf points.
    """

    column: Column
    values: tuple[Label, ...]
    ticks: tuple[int, ...]
    points: Array
    missing: float
    __repr__ = brief

    def shown(self) -> list[tuple[str, float]]:
        """The values a person is shown, with their points."""
        return [(shown(self.column, self.values[k]), float(self.points[k])) for k in self.ticks]


@dataclass(frozen=True, eq=False)
class Nomogram:
    """Points per column, and from their total to a probability, as plain data: log-odds = base + unit · total points.

    The probability is that of `label`, given that the row is of one of the two classes compared. Of a pool with two classes it
    is mixed with the `prior` of `label`, by the share `slip` of rows that no part explains: (1 − slip) · P + slip · prior. What
    is to be known beside is in `remark`.
    """

    label: Label
    against: Label
    scales: tuple[Scale, ...]
    base: float
    unit: float
    slip: float = 0.0
    prior: float = 0.5
    remark: str = ""

    def points(self, model: Any, row: Any) -> dict[str, float]:
        """The points of each column of one row, exactly as the model that the nomogram was made of has them."""
        points = {scale.column.name: scale.missing for scale in self.scales}
        own = own_classifier(model)
        if own.fitted_.effects:
            evidence = _evidence(own, encode_row(own, row), *self._indices(own))
            points = {name: points[name] + float(evidence[name][0]) / self.unit for name in points}
        else:
            for reason in explain_by_terms(own, row, self.label, self.against).reasons:
                points[reason.columns[0]] += reason.evidence / self.unit
        return {name: 0.0 if abs(value) < ROUNDING else value for name, value in points.items()}

    def _indices(self, model: BayesianClassifier) -> tuple[int, int]:
        """Where the two classes stand among the model's."""
        classes = tuple(plain_label(name) for name in model.classes_.tolist())
        return classes.index(self.label), classes.index(self.against)

    def probability(self, total_points: Any) -> Any:
        """P(label given label or against) for a total of points."""
        if np.isnan(total_points).any():
            raise InputError("the total of points is NaN: the row is impossible under both classes")
        log_odds = np.minimum(700.0, np.maximum(-700.0, self.base + self.unit * np.asarray(total_points, dtype=float)))
        return ((1 - self.slip) / (1 + np.exp(-log_odds)) + self.slip * self.prior)[()]

    def total_points(self, probability: Any) -> Any:
        """The total of points at which the probability is this; −inf or inf where none is enough."""
        low, high = self.reach
        p = np.clip((np.asarray(probability, dtype=np.float64) - low) / (high - low), 0.0, 1.0)
        with np.errstate(divide="ignore"):
            return ((np.log(p) - np.log1p(-p) - self.base) / self.unit)[()]

    @property
    def reach(self) -> tuple[float, float]:
        """The probabilities that no total goes below and above."""
        return self.slip * self.prior, 1 - self.slip * (1 - self.prior)

    @property
    def totals(self) -> list[tuple[float, float]]:
        """Round probabilities that can be reached, each with its total of points."""
        low, high = self.reach
        return [(p, float(self.total_points(p))) for p in PROBABILITIES if low < p < high]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data that JSON holds; points of −inf and inf are the words "impossible" and "certain"."""
        return {
            "label": self.label,
            "against": self.against,
            "base": _finite(self.base),
            "unit": self.unit,
            "scales": [
                {
                    "column": scale.column.name,
                    "values": list(scale.values),
                    "shown": [text for text, _ in scale.shown()],
                    "ticks": list(scale.ticks),
                    "points": [_finite(points) for points in scale.points.tolist()],
                    "missing": scale.missing,
                }
                for scale in self.scales
            ],
            "totals": [[p, _finite(total)] for p, total in self.totals],
            **({"slip": self.slip, "prior": self.prior} if self.slip else {}),
            **({"remark": self.remark} if self.remark else {}),
        }

    def to_frame(self, library: str = "pandas") -> Any:
        """The scales as a table of this library: the points of every value that a person is shown, and of an unknown one.

        Examples
        --------
        >>> import merula as mr
        >>> tables = {"cough": {"well": {"no": 0.8, "yes": 0.2}, "ill": {"no": 0.2, "yes": 0.8}}}
        >>> model = mr.NaiveBayesClassifier.from_tables({"well": 0.5, "ill": 0.5}, tables)
        >>> mr.nomogram(model, "ill", "well").to_frame().round(3)
          column      value  points
        0  cough         no     0.0
        1  cough        yes   100.0
        2  cough  (unknown)    50.0
        """
        lines = [
            (scale.column.name, *pair) for scale in self.scales for pair in (*scale.shown(), (UNKNOWN, scale.missing))
        ]
        held = {"column": label_array([line[0] for line in lines]), "value": label_array([line[1] for line in lines])}
        return build_frame(held | {"points": np.array([line[2] for line in lines], dtype=np.float64)}, library)

    def _printed(self) -> tuple[list[tuple[str, list[tuple[str, float]]]], str]:
        """The widest scales, as many as a screen holds, with what each shows; and what is left out."""
        whole = [(scale.column.name, [*scale.shown(), (UNKNOWN, scale.missing)]) for scale in self.scales]
        if sum(len(row) + 1 for _, row in whole) <= MOST_LINES:
            return whole, ""
        cut = [(name, row if len(row) <= MOST_VALUES else [*row[: MOST_VALUES - 1], row[-1]]) for name, row in whole]
        widest = sorted(range(len(whole)), key=lambda k: (-_width(self.scales[k]), k))
        room = np.cumsum([len(cut[k][1]) + 1 for k in widest]) <= MOST_LINES
        kept = sorted(k for k, fits in zip(widest, room, strict=True) if fits)
        columns, values = len(whole) - len(kept), sum(len(whole[k][1]) - len(cut[k][1]) for k in kept)
        left = " and ".join(filter(None, (several(columns, "narrower scale") if columns else "", several(values, "value") if values else "")))  # fmt: skip
        return [cut[k] for k in kept], f"({left} not shown: see to_frame())"

    def __repr__(self) -> str:
        return str(self)

    __rich__ = colored

    def _repr_html_(self) -> str:
        printed, left = self._printed()
        rows = [[name if k == 0 else "", text, _points(points)] for name, row in printed for k, (text, points) in enumerate(row)]  # fmt: skip
        totals = [[f"{100 * p:g} %" for p, _ in self.totals], [_points(total) for _, total in self.totals]]
        title = f"points for {self.label} against {self.against}"
        total = html_table(f"total points → probability of {self.label}", totals, 0)
        return html_block(html_table(title, [["column", "value", "points"], *rows], 2, left), total, self.remark)

    def __str__(self) -> str:
        label, against = (shortened(str(name), LONGEST) for name in (self.label, self.against))
        lines = [f"points for {label} against {against}"]
        printed, left = self._printed()
        rows = [row for _, row in printed]
        wide = max(display_width(shortened(text, LONGEST)) for row in rows for text, _ in row)
        numbers = max(len(_points(points)) for row in rows for _, points in row)
        for name, row in printed:
            lines.append(shortened(name, LONGEST))
            lines += [f"  {pad(shortened(text, LONGEST), wide)}  {_points(points):>{numbers}}" for text, points in row]
        lines += [left] if left else []
        totals = [_points(total) for _, total in self.totals]
        shares = [f"{100 * p:g} %" for p, _ in self.totals]
        width = max(map(len, [*totals, *shares])) + 2
        lines.append(f"total points → probability of {label}")
        lines += ["  " + "".join(f"{text:>{width}}" for text in texts) for texts in (shares, totals)]
        return "\n".join([*lines, *([self.remark] if self.remark else [])])

    def plot(self, ax: Any = None) -> Any:
        """The nomogram drawn: a scale of points on top, one for each column, and the probability below; matplotlib axes."""
        from merula.answers.explanation.nomogram_plot import draw

        return draw(self, ax)


def _width(scale: Scale) -> float:
    """How far apart the points of a scale lie."""
    known = scale.points[np.isfinite(scale.points)]
    return float("inf") if len(known) < len(scale.points) else float(np.ptp(np.append(known, scale.missing)))


def nomogram(model: Any, label: Any = None, against: Any = None) -> Nomogram:
    """The nomogram of a fitted model whose columns speak independently, for one class against another.

    Parameters
    ----------
    model : a fitted merula classifier with one term for each column, or a pool or log-linear model with ``order=1``
    label, against : optional
        The two classes to compare; with two classes, the second against the first.

    Examples
    --------
    >>> import merula as mr
    >>> tables = {"cough": {"well": {"no": 0.8, "yes": 0.2}, "ill": {"no": 0.2, "yes": 0.8}}}
    >>> model = mr.NaiveBayesClassifier.from_tables({"well": 0.5, "ill": 0.5}, tables)
    >>> print(mr.nomogram(model, "ill", "well"))
    points for ill against well
    cough
      no           0
      yes        100
      (unknown)   50
    total points → probability of ill
         1 %   5 %  10 %  20 %  30 %  40 %  50 %  60 %  70 %  80 %  90 %  95 %  99 %
        -116   -56   -29     0    19    35    50    65    81   100   129   156   216
    """
    model = own_classifier(model)
    classes = tuple(plain_label(name) for name in model.classes_.tolist())
    if len(classes) > 2 and (label is None or against is None):
        raise InputError(
            (
                "a nomogram compares two classes: give ",
                Option("label"),
                " and ",
                Option("against"),
                f" (classes: {list(classes)})",
            )
        )
    second = None if against is None else class_index(against, classes, "against")
    first = (1 if second is None else 1 - second) if label is None else class_index(label, classes, "label")
    second = 1 - first if second is None else second
    if first == second:
        raise InputError(f"label and against are both {classes[first]!r}", remedy="compare two different classes")
    return _nomogram(model, first, second, {})


def nomogram_of_rows(model: BayesianClassifier, label: Label, against: Label, rows: Encoded) -> Nomogram:
    """The nomogram of a model whose scales of numbers have the places that these rows hold (of many, some), besides those of `nomogram`."""
    classes = tuple(plain_label(name) for name in model.classes_.tolist())
    known = {name: np.unique(values[np.isfinite(values)]) for name, values in rows.numeric.items()}
    kept = {
        name: np.linspace(0, len(values) - 1, min(len(values), SEEN)).round().astype(int)
        for name, values in known.items()
    }
    seen = {name: tuple(values[kept[name]].tolist()) for name, values in known.items()}
    return _nomogram(model, classes.index(label), classes.index(against), seen)


def _nomogram(model: BayesianClassifier, first: int, second: int, seen: Seen) -> Nomogram:
    """The nomogram of two classes by their places, along numbers that were seen too."""
    classes = tuple(plain_label(name) for name in model.classes_.tolist())
    _refuse_no_scales(model)
    parts = _weights(model, first, second, seen)
    base = _start(model, first, second)
    finite = {name: weights[np.isfinite(weights)] for name, (*_, weights) in parts.items()}
    lows = {name: float(min([0.0, *weights])) if len(weights) else 0.0 for name, weights in finite.items()}
    widest = max([float(max([0.0, *weights]) - lows[name]) for name, weights in finite.items()], default=0.0)
    unit = (widest or 1.0) / MOST_POINTS
    scales = tuple(
        Scale(model.schema_[name], values, ticks, (weights - lows[name]) / unit, -lows[name] / unit)
        for name, (values, ticks, weights) in parts.items()
    )
    return Nomogram(classes[first], classes[second], scales, base + sum(lows.values()), unit, **_slips(model, first))


def column_points(picture: Nomogram, model: BayesianClassifier, rows: Encoded) -> dict[str, Array]:
    """The points of each column in each of these rows, exactly as the model that the nomogram was made of has them."""
    evidence = _evidence(model, rows, *picture._indices(model))
    nothing = np.zeros(len(rows))
    return {
        one.column.name: one.missing + evidence.get(one.column.name, nothing) / picture.unit for one in picture.scales
    }


def _start(model: BayesianClassifier, first: int, second: int) -> float:
    """The log-odds of a row of which nothing is known."""
    base = log_odds(model.class_log_prior_, first, [second])
    if not model.fitted_.effects:
        return base
    return base + float(_odds_of_terms(model, encode_cells(model.schema_, {}, 1), first, second)[0])


def _slips(model: BayesianClassifier, first: int) -> dict[str, Any]:
    """The share of rows that no part explains, the prior that they have, and what to say of them; nothing of a model without."""
    slips = [float(np.exp(one.log_weight)) for one in model.fitted_.components[1:]]
    if not slips:
        return {}
    share = percent(slips[0])
    if len(model.classes_) > 2:  # what the slip adds to two classes depends on the others too
        return {"remark": f"Rows that no part explains, {share} of all, have the prior; here they are left out."}
    prior = float(np.exp(model.class_log_prior_[first]))
    low, high = slips[0] * prior, 1 - slips[0] * (1 - prior)
    ends = (
        f", the probability stays between {percent(low)} and {percent(high)}"
        if min(low, 1 - high) >= SHOWN
        else ", they have the prior"
    )
    return {
        "slip": slips[0],
        "prior": prior,
        "remark": f"Because the model allows for {share} of rows being unexplained{ends}.",
    }


def _refuse_no_scales(model: BayesianClassifier) -> None:
    """An error where columns have no points of their own."""
    effects = model.fitted_.effects
    if effects:
        _refuse_together(model, effects)
        return
    if model.missing == "level":
        raise InputError(
            ("a nomogram needs a model that averages missing cells out (", Option("missing", "marginalise"), ")")
        )
    first, *others = model.fitted_.components
    if others:
        raise InputError(
            f"this model is a mixture of {1 + len(others)}", remedy="a nomogram needs a single sum of terms"
        )
    for names in ((*one.columns, *one.parents) for part in first.parts for one in part.factors()):
        if len(names) > 1:
            raise InputError(
                f"columns {', '.join(map(repr, names))} are modelled together, so that they have no points of their own",
                remedy="a nomogram needs a naive model",
            )


def _refuse_together(model: BayesianClassifier, effects: Effects) -> None:
    """An error where what a column says depends on others, or on words."""
    text = next((column.name for column in model.schema_.columns if column.kind == "text"), None)
    if text is not None:
        raise InputError(f"column {text!r} is a text", remedy="a nomogram has one scale for each column")
    together = next((subject.columns for subject in effects.subjects if len(subject.columns) > 1), None)
    if together is not None:
        names = ", ".join(map(repr, together))
        raise InputError(
            f"columns {names} are modelled together, so that they have no points of their own",
            remedy="a nomogram needs naive Bayes, or a model of order=1",
        )


def _weights(model: BayesianClassifier, first: int, second: int, seen: Seen) -> dict[str, tuple[Values, Ticks, Array]]:
    """For each column: places along it, which of them to show, and the weight of evidence at each.

    No column's term depends on another column, so that one table asks for all: its rows hold the first value of every column,
    the second, and so on.
    """
    used = [column for column in model.schema_.columns if column.kind != "ignore"]
    places = {column.name: _places(model, column, first, second, seen.get(column.name, ())) for column in used}
    longest = max((len(values) for values, _ in places.values()), default=0)
    if not longest:
        return {name: (*found, np.zeros(0)) for name, found in places.items()}
    cells = {name: [*values, *[None] * (longest - len(values))] for name, (values, _) in places.items()}
    evidence = _evidence(model, encode_cells(model.schema_, cells, longest), first, second)
    return {  # a column without a term tells nothing
        name: (*found, evidence.get(name, np.zeros(longest))[: len(found[0])]) for name, found in places.items()
    }


def _places(
    model: BayesianClassifier, column: Column, first: int, second: int, seen: tuple[float, ...]
) -> tuple[Values, Ticks]:
    """Places along one column, as far as numbers were seen too, and which of them to show."""
    if column.kind == "categorical":
        values: tuple[Label, ...] = tuple(level for level in column.levels or () if level is not None)
        return values, tuple(range(len(values)))
    effects = model.fitted_.effects
    if effects:
        known = places_of(effects.marginals, column.name).values
        low, high = min([known[0], *seen]), max([known[-1], *seen])
        along = _along(low, high, _listed(column, low, high, effects.marginals), (*known, *seen))
        return _whole(*along) if column.kind == "count" else along
    owner = model.fitted_.factors_of(column.name)[0]
    shares = np.array([TAIL, *MIDDLE, 1 - TAIL])
    reach = owner.quantiles(column.name, shares, len(model.classes_))[:, [first, second]]
    low, high = min([float(reach[0].min()), *seen]), max([float(reach[-1].max()), *seen])
    listed = _round_numbers(column, low, high, float(reach[1].min()), float(reach[2].max()))
    along = _along(low, high, listed, seen)
    return _whole(*along) if isinstance(owner, CountDistribution) else along


def _along(
    low: float, high: float, listed: Sequence[float], more: Values = ()
) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Places from low to high, close enough for a curve, with those to show among them; and some more."""
    if not high > low:
        return (low,), (0,)
    values = sorted({*np.linspace(low, high, CURVE).tolist(), *listed, *more})
    return tuple(values), tuple(values.index(value) for value in listed)


def _listed(column: Column, low: float, high: float, marginals: Marginals) -> list[float]:
    """Numbers to show: all that were met, where they are few and whole; else round ones."""
    j = marginals.places[column.name]
    met = marginals.shares[j] > 0
    numbers, upto = marginals.typical[j][met], np.cumsum(marginals.shares[j][met])
    if not len(numbers):
        return _round_numbers(column, low, high, low, high)
    alone = len(numbers) <= FEW and not (marginals.variances[j][met] > ROUNDING).any()
    if alone and _second_of(column) is None and (numbers == np.floor(numbers)).all():
        return numbers.tolist()  # type: ignore[no-any-return]
    first, last = numbers[np.searchsorted(upto, np.array(MIDDLE) * upto[-1])].tolist()
    return _round_numbers(column, low, high, first, last)


def _round_numbers(column: Column, low: float, high: float, first: float, last: float) -> list[float]:
    """Round numbers from low to high; closer ones from first to last, where most rows are, if they have few of them otherwise."""
    if not high > low:
        return []
    step = _round_step_of(column, (high - low) / TABLED)
    closer = _round_step_of(column, (last - first) / CLOSER) if last > first else step
    return sorted({*_multiples(step, low, high), *(_multiples(closer, first, last) if closer < step / 2 else ())})


def _multiples(step: float, low: float, high: float) -> list[float]:
    return [float(f"{k * step:.12g}") for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]


def _whole(values: tuple[float, ...], ticks: tuple[int, ...]) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """The whole numbers from 0 among which these places lie."""
    numbers = sorted({max(0.0, float(round(value))) for value in values})
    return tuple(numbers), tuple(sorted({numbers.index(max(0.0, float(round(values[k])))) for k in ticks}))


def round_step(step: float) -> float:
    """1, 2 or 5 times a power of ten, no smaller than the step."""
    power = 10.0 ** np.floor(np.log10(max(step, 1e-300)))
    return float(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * 0.999))


def _round_step_of(column: Column, step: float) -> float:
    """A round step of a column's numbers; where they measure time, one of whole seconds, minutes, hours or days."""
    second = _second_of(column)
    if second is None or step < second:
        return round_step(step)
    day = CLOCK[-1]
    seconds = next((one for one in CLOCK if one * second >= step * 0.999), None)
    return second * (seconds or day * round_step(step / second / day))


def _second_of(column: Column) -> float | None:
    """How many of a column's own numbers make a second, if they measure time."""
    if is_of_the_day(column):
        return 1.0
    if column.unit is None or np.datetime_data(column.unit)[0] in ("Y", "M"):  # years and months differ
        return None
    return float(np.timedelta64(1, "s") / np.ones(1, dtype=column.unit.replace("datetime", "timedelta"))[0])


def _evidence(model: BayesianClassifier, rows: Encoded, first: int, second: int) -> dict[str, Array]:
    """Each column's weight of evidence in each row; inf where only the second class is impossible, 0 where both are.

    Of a model that is explained by effects, it is how far the column moves the log-odds from where they are without it.
    """
    found = _odds_of_columns(model, rows, first, second)
    if not model.fitted_.effects:
        return found
    without = _odds_of_columns(model, encode_cells(model.schema_, {}, 1), first, second)
    silent = {column.name: np.zeros(len(rows)) for column in model.schema_.columns if column.kind != "ignore"}
    return silent | {name: weights - without[name] for name, weights in found.items()}


def _odds_of_columns(model: BayesianClassifier, rows: Encoded, first: int, second: int) -> dict[str, Array]:
    """What the terms of each column add to the log-odds, where every term is of one column."""
    result: dict[str, Array] = {}
    for term in model.fitted_.components[0].terms(rows):
        own, other = term.values[:, first], term.values[:, second]
        both = np.isneginf(own) & np.isneginf(other)
        name, weights = term.part.columns[0], np.where(both, 0.0, own - np.where(both, 0.0, other))
        result[name] = result.get(name, 0.0) + weights
    return result


def _odds_of_terms(model: BayesianClassifier, rows: Encoded, first: int, second: int) -> Array:
    """What all terms together add to the log-odds."""
    found = np.zeros((len(rows), len(model.classes_)))
    for part in model.fitted_.components[0].scored:
        part.add_log_prob(rows, found)
    return found[:, first] - found[:, second]


def _finite(value: float) -> float | str:
    """A number as JSON holds it: infinite ones as words."""
    return value if np.isfinite(value) else _points(value)


def _points(value: float) -> str:
    if np.isinf(value):
        return "certain" if value > 0 else "impossible"
    return f"{round(value) + 0:d}"
