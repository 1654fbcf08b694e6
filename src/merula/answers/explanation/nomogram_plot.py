"""A nomogram drawn: read a row's points off each column's scale, add them up, and read the probability below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from merula.answers.explanation.nomograms import MOST_POINTS, PROBABILITIES, round_step
from merula.show.colors import FOR
from merula.show.numbers import percent
from merula.show.plots import draw_on, literal
from merula.show.text import display_width, shortened

if TYPE_CHECKING:
    from merula.answers.explanation.nomograms import Nomogram, Scale

LONGEST_NAME, LONGEST_LEVEL = 28, 16
PER_SIGN = (MOST_POINTS + 6) / 105  # points a character takes along the axis
CURVE_HEIGHT = 0.34
FURTHEST = 0.002  # the probabilities the last line reaches to


def draw(picture: Nomogram, ax: Any = None) -> Any:
    """The axes with one strip for each column."""
    names = [shortened(scale.column.name, LONGEST_NAME, middle=True) for scale in picture.scales]
    texts = [text for scale in picture.scales for text, _ in scale.shown()]
    texts += [*names, str(picture.label), str(picture.against)]
    size = (10, 2.2 + 0.55 * len(names))
    return draw_on(ax, size, texts, lambda ax: _draw(ax, picture, names), hidden=("right", "left", "bottom"))


def _draw(ax: Any, picture: Nomogram, names: list[str]) -> None:
    """A strip for each column, then the total and its probability."""
    for row, scale in enumerate(picture.scales, start=1):
        (_levels if scale.column.kind == "categorical" else _curve)(ax, row, scale)
    _total(ax, picture, len(names) + 1)
    ax.set_yticks(
        [*range(1, len(names) + 1), len(names) + 1.1, len(names) + 1.8],
        [*map(literal, names), "total points", literal(f"P({shortened(str(picture.label), LONGEST_LEVEL)})")],
    )
    ax.set(xlim=(-3, MOST_POINTS + 3), ylim=(len(names) + 2.2, 0.3))
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    label, against = (shortened(str(label), LONGEST_NAME) for label in (picture.label, picture.against))
    ax.set_xlabel(literal(f"points for {label} against {against}"))
    ax.grid(axis="x", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)


def _levels(ax: Any, row: int, scale: Scale) -> None:
    """A line with a mark for each level; impossible levels stand outside its ends."""
    finite = scale.points[np.isfinite(scale.points)]
    if len(finite):
        ax.plot([finite.min(), finite.max()], [row, row], color="black", linewidth=0.9)
    _label_marks(ax, row, [(np.clip(points, -2, MOST_POINTS + 2), text) for text, points in scale.shown()])


def _curve(ax: Any, row: int, scale: Scale) -> None:
    """A number's points rise and fall along its range: a curve from its lowest value (below) to its highest (above)."""
    values = np.array(scale.values, dtype=np.float64)
    along = (values - values[0]) / (np.ptp(values) or 1.0)
    height = row + CURVE_HEIGHT * (0.5 - along)
    ax.plot(scale.points, height, color=FOR, linewidth=1.3)
    taken: list[tuple[float, float, bool]] = []
    middle_first = sorted(zip(scale.ticks, scale.shown(), strict=True), key=lambda tick: -abs(along[tick[0]] - 0.5))
    for k, (text, points) in middle_first:
        over, half = bool(along[k] >= 0.5), 0.5 * (display_width(text) + 1) * PER_SIGN
        ax.plot([points], [height[k]], marker="o", markersize=2.5, color=FOR)
        x = _inside(points, half)
        if all(side != over or abs(x - other) > half + reach for other, reach, side in taken):
            taken.append((x, half, over))
            _write(ax, x, float(height[k]), text, over)


def _inside(x: float, half: float) -> float:
    """Where to write a label this wide at x without leaving the drawing."""
    return min(max(x, half - 3), MOST_POINTS + 3 - half)


def _write(ax: Any, x: float, y: float, text: str, over: bool) -> None:
    """A small label above or below a place."""
    shift = -0.1 if over else 0.1
    ax.text(x, y + shift, literal(text), fontsize="x-small", ha="center", va="bottom" if over else "top")


def _label_marks(ax: Any, row: float, marks: list[tuple[float, str]]) -> None:
    """Marks on a line, their labels above it or else below it, left out where they would overlap."""
    ends = {True: -np.inf, False: -np.inf}
    for points, text in sorted(marks, key=lambda mark: (mark[0], mark[1])):
        ax.plot([points, points], [row - 0.07, row + 0.07], color="black", linewidth=0.9)
        label = shortened(text, LONGEST_LEVEL)
        half = 0.5 * (display_width(label) + 1) * PER_SIGN
        x = _inside(points, half)
        over = next((side for side in (True, False) if x - half > ends[side]), None)
        if over is not None:
            ends[over] = x + half
            _write(ax, x, row, label, over)


def _total(ax: Any, picture: Nomogram, row: int) -> None:
    """Total points on one line and the probability below it, as far as it is neither 0 nor 1, across the drawing."""
    finite = [scale.points[np.isfinite(scale.points)] for scale in picture.scales]
    least = float(sum(min([*points, scale.missing]) for points, scale in zip(finite, picture.scales, strict=True)))
    most = float(sum(max([*points, scale.missing]) for points, scale in zip(finite, picture.scales, strict=True)))
    if most - least < 1e-9:  # nothing that is known changes anything
        least, most = least - 1, most + 1
    least = max(least, min(float(picture.total_points(FURTHEST)), most - 1))
    most = min(most, max(float(picture.total_points(1 - FURTHEST)), least + 1))

    def index(total: float) -> float:
        return (total - least) / (most - least) * MOST_POINTS

    step = round_step((most - least) / 8)
    totals = np.arange(np.ceil(least / step) * step, most + 1e-9, step)
    for line in (row + 0.1, row + 0.8):
        ax.plot([0, MOST_POINTS], [line, line], color="black", linewidth=0.9)
    _label_marks(ax, row + 0.1, [(index(total), f"{total:g}") for total in totals])
    reached = [p for p in PROBABILITIES if least <= picture.total_points(p) <= most]
    _label_marks(ax, row + 0.8, [(index(float(picture.total_points(p))), percent(p)) for p in reached])
