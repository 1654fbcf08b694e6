"""An evaluation for notebooks: every figure with its standard error, how models differ, and a small picture of calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merula.answers.evaluation.metrics import FIGURES
from merula.answers.evaluation.result import BETTER, title_of
from merula.show.html import CELL, STYLE, html_block, html_text
from merula.show.plots import COLORS
from merula.show.text import shortened

if TYPE_CHECKING:
    from merula.answers.evaluation.reliability import ReliabilityCurve
    from merula.answers.evaluation.result import Evaluation, ModelEvaluation

LONGEST, MOST_PAIRS = 40, 10
ONE_LINE = f"{CELL};white-space:nowrap"
SIDE, EDGE = 150, 14  # pixels of the picture, and around it


def as_html(evaluation: Evaluation) -> str:
    """The figures as a table, one column for each model, beside the calibration."""
    parts = f"<div>{_table(evaluation)}</div><div>{_calibration(evaluation)}</div>"
    side_by_side = f"<div style='display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start'>{parts}</div>"
    notes = [BETTER + ("; the best in bold" if len(evaluation.models) > 1 else ""), *_differences(evaluation)]
    below = html_text("\n".join(notes))
    return html_block(f"<p>{html_text(title_of(evaluation))}</p>", side_by_side, f"<p>{below}</p>")


def _table(evaluation: Evaluation) -> str:
    heads = "".join(
        f"<th style='{CELL}'>{_name(model, index, evaluation)}</th>" for index, model in enumerate(evaluation.models)
    )
    rows = []
    for name in evaluation.models[0].figures:
        title, better = FIGURES[name]
        cells = "".join(
            f"<td style='{ONE_LINE}'>{f'<b>{model.figures[name]}</b>' if is_best else model.figures[name]}</td>"
            for model, is_best in zip(evaluation.models, _best(evaluation, name), strict=True)
        )
        rows.append(f"<tr><th style='{ONE_LINE}'>{html_text(title)}</th><td style='{CELL}'>{better}</td>{cells}</tr>")
    head = f"<thead><tr><th></th><th></th>{heads}</tr></thead>"
    return f"<table style='{STYLE}'>{head}<tbody>{''.join(rows)}</tbody></table>"


def _name(model: ModelEvaluation, index: int, evaluation: Evaluation) -> str:
    """A model's name, with the colour of its curve where there are several."""
    dot = f"<span style='color:{_color(index)}'>●</span> " if len(evaluation.models) > 1 else ""
    return dot + html_text(shortened(model.name, LONGEST))


def _color(index: int) -> str:
    return COLORS[index % len(COLORS)]


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


def _calibration(evaluation: Evaluation) -> str:
    """The share of rows whose most probable class is true, by its probability: a curve for each model."""
    curves = "".join(_curve(model.confidence, _color(index)) for index, model in enumerate(evaluation.models))
    frame = f"<path d='M0 0V{SIDE}H{SIDE}' fill='none' stroke='currentColor'/><path d='M0 {SIDE}L{SIDE} 0' stroke='currentColor' stroke-dasharray='3 4' opacity='0.6'/>"
    whole, corner = SIDE + 2 * EDGE, -EDGE
    texts = _text(0, SIDE + 12, "0", "middle") + _text(SIDE, SIDE + 12, "1", "middle") + _text(-5, 4, "1", "end")
    svg = f"<svg xmlns='http://www.w3.org/2000/svg' role='img' width='{whole}' height='{whole}' viewBox='{corner} {corner} {whole} {whole}' font-size='10'>{frame}{curves}{texts}</svg>"
    return f"{svg}<br><small>probability of the most probable class,<br>and how often it is true</small>"


def _curve(curve: ReliabilityCurve, color: str) -> str:
    indices = [(SIDE * x, SIDE * (1 - y)) for x, y in zip(curve.predicted, curve.observed, strict=True)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in indices)
    most = max(curve.count, default=1.0)
    points = "".join(
        f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{1.5 + 3 * (count / most) ** 0.5:.1f}' fill='{color}'/>"
        for (x, y), count in zip(indices, curve.count, strict=True)
    )
    return f"<polyline points='{line}' fill='none' stroke='{color}' stroke-width='1.5'/>{points}"


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f"<text x='{x}' y='{y}' text-anchor='{anchor}' fill='currentColor'>{text}</text>"
