"""An evaluation for notebooks: every figure with its standard error, how models differ, and a small picture of calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merula.answers.evaluation.metrics import FIGURES
from merula.answers.evaluation.result import title_of
from merula.answers.evaluation.words import legend_of
from merula.show.colors import color_at
from merula.show.html import CELL, Html, html_block, html_table, html_tag
from merula.show.text import shortened

if TYPE_CHECKING:
    from merula.answers.evaluation.reliability import ReliabilityCurve
    from merula.answers.evaluation.result import Evaluation, ModelEvaluation

LONGEST, MOST_PAIRS = 40, 10
SIDE, EDGE = 150, 14  # pixels of the picture, and around it


def as_html(evaluation: Evaluation) -> str:
    """The figures as a table, one column for each model, beside the calibration."""
    parts = html_tag("div", _table(evaluation)), html_tag("div", _calibration(evaluation))
    beside = html_tag("div", *parts, style="display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start")
    notes = [
        legend_of(len(evaluation.classes)) + ("; the best model in bold" if len(evaluation.models) > 1 else ""),
        *_differences(evaluation),
    ]
    return html_block(
        html_tag("p", title_of(evaluation)),
        beside,
        *(html_tag("p", "\n".join(part)) for part in (evaluation.told, notes)),
        *(Html(evaluation.by(model=one.name)._repr_html_()) for one in evaluation.models if evaluation.columns),
    )


def _table(evaluation: Evaluation) -> Html:
    names = [_name(model, k, evaluation) for k, model in enumerate(evaluation.models)]
    rows: list[list[str]] = [["", "", *names, evaluation.baseline.name]]
    for name in evaluation.models[0].figures:
        figures = zip((str(model.figures[name]) for model in evaluation.models), _best(evaluation, name), strict=True)
        cells = [html_tag("b", text) if is_best else text for text, is_best in figures]
        rows.append([*FIGURES[name], *cells, str(evaluation.baseline.figures[name])])
    return html_table("", rows, 1, style=f"{CELL};white-space:nowrap")


def _name(model: ModelEvaluation, index: int, evaluation: Evaluation) -> Html:
    """A model's name, which may be broken, with the colour of its curve where there are several."""
    dot = html_tag("span", "●", style=f"color:{color_at(index)}") + " " if len(evaluation.models) > 1 else ""
    return html_tag("span", Html(dot), shortened(model.name, LONGEST), style="white-space:normal")


def _best(evaluation: Evaluation, name: str) -> list[bool]:
    """Which models have the best value of a figure, where one value is better than another."""
    values = [model.figures[name].value for model in evaluation.models]
    known = {value for value in values if value is not None}
    if len(known) < 2 or not FIGURES[name].better:
        return [False] * len(values)
    best = min(known) if FIGURES[name].better == "↓" else max(known)
    return [value == best for value in values]


def _differences(evaluation: Evaluation) -> list[str]:
    if len(evaluation.models) < 2:
        return []
    found = [str(one) for one in evaluation.compare()]
    more = len(found) - MOST_PAIRS
    return [*found[:MOST_PAIRS], *([f"… and {more} more pairs"] if more > 0 else [])]


# ---------------------------------------------------------------------------------------------------------- calibration


def _calibration(evaluation: Evaluation) -> Html:
    """The share of rows whose most probable class is true, by its probability: a curve for each model."""
    curves = "".join(_curve(model.confidence, color_at(index)) for index, model in enumerate(evaluation.models))
    frame = f"<path d='M0 0V{SIDE}H{SIDE}' fill='none' stroke='currentColor'/><path d='M0 {SIDE}L{SIDE} 0' stroke='currentColor' stroke-dasharray='3 4' opacity='0.6'/>"
    whole, corner = SIDE + 2 * EDGE, -EDGE
    texts = "".join(
        f"<text x='{x}' y='{y}' text-anchor='{anchor}' fill='currentColor'>{text}</text>"
        for x, y, text, anchor in ((0, SIDE + 12, "0", "middle"), (SIDE, SIDE + 12, "1", "middle"), (-5, 4, "1", "end"))
    )
    svg = f"<svg xmlns='http://www.w3.org/2000/svg' role='img' width='{whole}' height='{whole}' viewBox='{corner} {corner} {whole} {whole}' font-size='10'>{frame}{curves}{texts}</svg>"
    return Html(f"{svg}<br><small>probability of the most probable class,<br>and how often it is true</small>")


def _curve(curve: ReliabilityCurve, color: str) -> str:
    places = [(SIDE * x, SIDE * (1 - y)) for x, y in zip(curve.predicted, curve.observed, strict=True)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    most = max(curve.count, default=1.0)
    points = "".join(
        f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{1.5 + 3 * (count / most) ** 0.5:.1f}' fill='{color}'/>"
        for (x, y), count in zip(places, curve.count, strict=True)
    )
    return f"<polyline points='{line}' fill='none' stroke='{color}' stroke-width='1.5'/>{points}"
