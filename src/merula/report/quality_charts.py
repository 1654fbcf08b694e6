"""Charts of how good the probabilities are: scores beside the class frequencies, calibration, ROC, precision and recall, confusion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from merula.answers.evaluation import Evaluation
from merula.answers.evaluation.words import CLASS_FREQUENCIES
from merula.report.chart import OWN_COLOR, Chart, bars_height, color_of, colored, drawing, name, specification
from merula.report.findings import RatingCurve
from merula.show.colors import FOR
from merula.show.numbers import count, fixed, percent

SQUARE, LEARNING = 300, 200
PREDICTED = "the predicted class, whichever it is"
SIGMAS = 1.96  # standard errors to either side, which hold 95 %
MOST_FLAT, FLAT = 5, 30  # classes, and signs of all labels together that stand side by side without being turned
MOST_NUMBERED = 12  # classes whose confusion is written into the cells


def _diagonal() -> Any:
    line = drawing(("x", "y"), [(0, 0), (1, 1)]).mark_line(color="#555555", strokeDash=[5, 4], strokeWidth=1.5)
    return line.encode(x="x:Q", y="y:Q")


def _unit(field: str, title: str, axis: Any) -> Any:
    return axis(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1], nice=False), axis=alt.Axis(tickCount=5))


# --------------------------------------------------------------------------------------------------------------- scores


def score_chart(evaluation: Evaluation) -> Chart:
    """The log loss of every model and of the class frequencies, with its standard error."""
    figures = [(name(model.name), model.figures["log_loss"]) for model in evaluation.beside_baseline]
    lines = [
        (label, value, max(0.0, value - SIGMAS * error), value + SIGMAS * error, str(figure))
        for label, figure in figures
        for value, error in [(figure.value or 0.0, figure.standard_error or 0.0)]
    ]
    drawn = drawing(("model", "loss", "low", "high", "text"), lines)
    y = alt.Y("model:N", sort=None, title=None)
    tooltip = [alt.Tooltip("model:N"), alt.Tooltip("text:N", title="log loss")]
    x = alt.X("loss:Q", title="log loss (shorter is better)", scale=alt.Scale(zero=True))
    bars = drawn.mark_bar(color=FOR, opacity=0.75).encode(x=x, y=y, tooltip=tooltip)
    errors = drawn.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", y=y)
    return Chart(
        "scores",
        "Log loss beside the class frequencies",
        "How surprised each model is by the truth, on average; lines are 95 % intervals.",
        specification(alt.layer(bars, errors), bars_height(len(lines), 28)),
        ("model", "log loss"),
        tuple((line[0], line[4]) for line in lines),
    )


# ---------------------------------------------------------------------------------------------------------- calibration


def calibration_chart(evaluation: Evaluation) -> Chart:
    """How often rows are of a class, beside the probability they were given for it: of two classes the second, of more the most probable."""
    model, times = evaluation.models[0], evaluation.times_tested
    whose: Any = evaluation.classes[1] if len(evaluation.classes) == 2 else PREDICTED
    curves = {whose: model.confidence if whose is PREDICTED else model.reliability[whose]}
    labels, colors = [whose], {str(whose): FOR if whose is PREDICTED else color_of(evaluation.classes)[str(whose)]}
    lines = [
        (name(label), p, share, rows, colors[str(label)], low, high, f"{fixed(low)} to {fixed(high)}")
        for label in labels
        for p, share, rows, (low, high) in zip(curves[label].predicted, curves[label].observed, curves[label].count, curves[label].intervals(times), strict=True)
    ]  # fmt: skip
    fields = ("label", "predicted", "observed", "rows", "color", "low", "high", "interval")
    encoded = drawing(fields, lines).encode(
        x=_unit("predicted", "probability given", alt.X),
        y=_unit("observed", "share observed", alt.Y),
        detail="label:N",
        color=OWN_COLOR,
    )
    points = encoded.mark_circle(opacity=0.9).encode(
        size=alt.Size("rows:Q", legend=None, scale=alt.Scale(range=[25, 320])),
        tooltip=[
            alt.Tooltip("label:N", title="class"),
            alt.Tooltip("predicted:Q", title="probability given", format=".3f"),
            alt.Tooltip("observed:Q", title="share observed", format=".3f"),
            alt.Tooltip("interval:N", title="95 % interval"),
            alt.Tooltip("rows:Q", title="rows", format=",.0f"),
        ],
    )
    reach = encoded.mark_rule(strokeWidth=1.5, opacity=0.7).encode(y=_unit("low", "share observed", alt.Y), y2="high:Q")
    return Chart(
        "calibration",
        "Calibration",
        "Tested rows in ten bins by the probability they were given; empty bins are left out, larger points hold more rows, lines are 95 % intervals. Where a line crosses the dashed one, the probability agrees with what was observed; where it stays below, the model is too sure of the class, where it stays above, not sure enough.",
        specification(alt.layer(_diagonal(), reach, points), SQUARE),
        ("class", "probability given", "share observed", "95 % interval", "rows tested"),
        tuple((label, fixed(p), fixed(o), interval, count(rows)) for label, p, o, rows, *_, interval in lines),
        tuple((name(label), colors[str(label)]) for label in labels),
    )


# --------------------------------------------------------------------------------------------------------------- rating


def rating_charts(curves: Sequence[RatingCurve], classes: Sequence[Any]) -> list[Chart]:
    """ROC, and precision by recall: a line for each class, or of two classes for each model."""
    if not curves:
        return []
    by_model = len(classes) == 2
    keys = [curve.model if by_model else curve.label for curve in curves]
    colors = color_of(list(dict.fromkeys(keys))) if by_model else color_of(classes, dict.fromkeys(keys))
    kept, drawn = name(curves[0].label) if by_model else "a class", list(zip(keys, curves, strict=True))
    some = len(set(keys)) < len(classes) and not by_model
    folds = "Averaged over the folds." + (f" {len(set(keys))} of the {len(classes)} classes are drawn." if some else "")
    roc = _rating(
        "roc",
        "ROC curve",
        f"How many rows of {kept} are found, at how many false alarms, as the threshold falls. The dashed line is guessing. {folds}",
        [(key, curve.roc) for key, curve in drawn if curve.model != CLASS_FREQUENCIES],  # theirs is the dashed line
        ("share of false alarms", "share found"),
        colors,
        _diagonal(),
    )
    recall = _rating(
        "precision",
        "Precision and recall",
        f"{_precision_against_recall(kept if by_model else None)} {folds}",
        # from the left edge on: to find fewer rows than the highest threshold does changes nothing
        [(key, [(0.0, curve.precision_recall[0][1]), *curve.precision_recall]) for key, curve in drawn],
        ("share found (recall)", "share right (precision)"),
        colors,
        None,
    )
    return [roc, recall]


def _precision_against_recall(label: str | None) -> str:
    """What the curve of a class shows, of several by whatever class they are."""
    if label is None:
        return "Precision (the share of rows predicted as a class that are of it) against recall (the share of rows of the class that are found)."
    return f"Precision (the share of rows predicted as {label} that are {label}) against recall (the share of rows of class {label} that are found)."


def _rating(
    key: str, title: str, caption: str, curves: Any, axes: tuple[str, str], colors: dict[str, str], over: Any
) -> Chart:
    legend = tuple((name(label), colors[str(label)]) for label, _ in curves)
    lines = [(name(label), x, y, order) for label, points in curves for order, (x, y) in enumerate(points)]
    drawn = (
        drawing(("label", "x", "y", "order"), lines)
        .mark_line(strokeWidth=1.8, interpolate="linear" if over is not None else "step-before")
        .encode(
            x=_unit("x", axes[0], alt.X),
            y=_unit("y", axes[1], alt.Y),
            order="order:Q",
            color=colored("label", legend),
            tooltip=[
                alt.Tooltip("label:N", title="line"),
                alt.Tooltip("x:Q", title=axes[0], format=".3f"),
                alt.Tooltip("y:Q", title=axes[1], format=".3f"),
            ],
        )
    )
    return Chart(
        key,
        title,
        caption,
        specification(drawn if over is None else alt.layer(drawn, over), SQUARE),
        ("line", *axes),
        tuple(
            (name(label), fixed(x), fixed(y))
            for label, points in curves
            for x, y in points[:: max(1, len(points) // 10)]
        ),
        legend,
    )


# ------------------------------------------------------------------------------------------------------------- learning


def learning_chart(evaluation: Evaluation) -> Chart | None:
    """The log loss by how many rows were learned from, half of them and all, beside the class frequencies; None where that is not known."""
    model = evaluation.models[0]
    known = None if model.learning is None else model.learning.half
    full, frequencies = model.figures["log_loss"], evaluation.baseline.figures["log_loss"].value
    if model.learning is None or known is None or None in (known.value, full.value, frequencies):
        return None
    rows = float(np.mean([fold.train_weight for fold in evaluation.folds]))
    lines = [
        (round(learned), value, max(0.0, value - SIGMAS * error), value + SIGMAS * error, str(figure))
        for learned, figure in ((rows / model.learning.ratio, known), (rows, full))
        for value, error in [(figure.value or 0.0, figure.standard_error or 0.0)]
    ]
    x = alt.X("rows:Q", title="rows learned from", scale=alt.Scale(domain=[0, 1.08 * rows], nice=False), axis=alt.Axis(tickCount=5, format=",.0f"))  # fmt: skip
    y = alt.Y("loss:Q", title="log loss", scale=alt.Scale(zero=True))
    base = drawing(("rows", "loss", "low", "high", "text"), lines).encode(x=x)
    tooltip = [alt.Tooltip("rows:Q", format=",.0f"), alt.Tooltip("text:N", title="log loss")]
    guessing = drawing(("loss",), [(frequencies,)]).mark_rule(color="#555555", strokeDash=[5, 4], strokeWidth=1.5)
    told = evaluation.sentences("the model")[0][-1]  # what is said of more rows is said last
    return Chart(
        "learning",
        "Learning curve",
        f"{told} Points are the log loss on unseen rows of the model fitted on half of the rows and on all, lines their 95 % intervals; the dashed line is the class frequencies. Lower is better.",
        specification(
            alt.layer(
                guessing.encode(y=y),
                base.mark_rule(color=FOR, strokeWidth=2, opacity=0.7).encode(
                    y=alt.Y("low:Q", title="log loss"), y2="high:Q"
                ),
                base.mark_line(color=FOR, strokeWidth=1.5).encode(y=y),
                base.mark_circle(color=FOR, size=80, opacity=1).encode(y=y, tooltip=tooltip),
            ),
            LEARNING,
        ),
        ("rows learned from", "log loss"),
        (*((count(line[0]), line[-1]) for line in lines), (CLASS_FREQUENCIES, fixed(frequencies))),
    )


# ------------------------------------------------------------------------------------------------------------ confusion


def confusion_chart(evaluation: Evaluation) -> Chart:
    """True class by most probable class."""
    confusion = evaluation.models[0].confusion
    labels = [name(label) for label in evaluation.classes]
    shares = confusion / np.where(confusion.sum(axis=1, keepdims=True) > 0, confusion.sum(axis=1, keepdims=True), 1.0)
    lines = [
        (labels[i], labels[j], float(confusion[i, j]), float(shares[i, j]), percent(float(shares[i, j])))
        for i in range(len(labels))
        for j in range(len(labels))
    ]
    base = drawing(("truth", "guess", "rows", "part", "share"), lines).encode(
        x=alt.X(
            "guess:N",
            sort=None,
            title="predicted class",
            axis=alt.Axis(
                labelAngle=0 if sum(map(len, labels)) <= FLAT and len(labels) <= MOST_FLAT else -40,
                labelLimit=90,
                labelOverlap=len(labels) > MOST_NUMBERED,
            ),
        ),
        y=alt.Y("truth:N", sort=None, title="actual class", axis=alt.Axis(labelLimit=90)),
    )
    cells = base.mark_rect().encode(
        color=alt.Color("part:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=["#f2f6fa", FOR])),
        tooltip=["truth:N", alt.Tooltip("guess:N", title="predicted"), alt.Tooltip("rows:Q", format=",.1f"), alt.Tooltip("share:N", title="share of the actual class")],
    )  # fmt: skip
    texts = base.mark_text().encode(
        text=alt.Text("rows:Q", format=",.3~g" if confusion.max() < 1000 else ",.0f"),
        color=alt.condition("datum.part > 0.55", alt.value("white"), alt.value("#222222")),
    )
    drawn = alt.layer(cells, texts) if len(labels) <= MOST_NUMBERED else cells
    return Chart(
        "confusion",
        "Confusion matrix: actual against predicted",
        "Rows by actual class and predicted class (the most probable one), each tested row counted once. Darker: a larger share of the actual class.",
        specification(drawn, 110 + 34 * len(labels) if len(labels) <= MOST_NUMBERED else 110 + 18 * len(labels)),
        ("actual class", *labels),
        tuple((label, *(count(round(float(cell), 1)) for cell in confusion[i])) for i, label in enumerate(labels)),
    )
