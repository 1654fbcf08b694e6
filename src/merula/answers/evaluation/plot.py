"""Calibration, drawn: how often something happens, by the probability it was given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from merula.core import InputError
from merula.data.table import plain_label
from merula.show.colors import color_at
from merula.show.plots import draw_on, legend_beside, literal
from merula.show.text import display_width, shortened

if TYPE_CHECKING:
    from merula.answers.evaluation.reliability import ReliabilityCurve
    from merula.answers.evaluation.result import Evaluation

LONGEST, LETTER = 40, 0.08  # letters of a name, and inches of a letter
SMALLEST, LARGEST = 12.0, 150.0  # areas of points
DIAGONAL = "_the probability itself"  # matplotlib leaves such a name out of the legend


def calibration_plot(evaluation: Evaluation, ax: Any = None, label: Any = None) -> Any:
    """The axes with a curve for each model: of a class, or of each row's most probable class."""
    if label is None:
        curves = [(model.name, model.confidence, None) for model in evaluation.models]
        return draw_curves(curves, ax, "the most probable class")
    if plain_label(label) not in evaluation.classes:
        raise InputError.of("label", label, f"one of the classes {list(evaluation.classes)}")
    curves = [(model.name, model.reliability[plain_label(label)], None) for model in evaluation.models]
    return draw_curves(curves, ax, shortened(str(label), LONGEST))


def draw_curves(
    curves: Sequence[tuple[str | None, ReliabilityCurve, str | None]], ax: Any = None, about: str = "the class"
) -> Any:
    """The axes with curves, each with its name (None: not in the legend) and its colour (None: the next one)."""
    names = [shortened(name, LONGEST) for name, _, _ in curves if name is not None]
    width = 4.2 + (0.5 if names else 0.0) + LETTER * max(map(display_width, names), default=0)

    def draw(ax: Any) -> None:
        _frame(ax, about)
        for name, curve, color in curves:
            _draw(ax, curve, name, color or color_at(len(ax.get_lines()) - 1))
        if any(not line.get_label().startswith("_") for line in ax.get_lines()):
            legend_beside(ax)

    return draw_on(ax, (width, 4.0), [*names, about], draw)


def _frame(ax: Any, about: str) -> None:
    """The unit square with its diagonal, once."""
    if all(line.get_label() != DIAGONAL for line in ax.get_lines()):
        ax.plot([0, 1], [0, 1], color="#999999", linewidth=1, linestyle="--", label=DIAGONAL)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        ax.set(xlabel=literal(f"probability of {about}"), ylabel="share observed")


def _draw(ax: Any, curve: ReliabilityCurve, name: str | None, color: str) -> None:
    weight = np.array(curve.count)
    areas = np.maximum(SMALLEST, LARGEST * weight / weight.max(initial=1e-300))
    called = "_unnamed" if name is None else literal(shortened(name, LONGEST))
    ax.scatter(curve.predicted, curve.observed, s=areas, color=color, alpha=0.8, linewidths=0, clip_on=False)
    ax.plot(curve.predicted, curve.observed, color=color, linewidth=1.4, label=called)
