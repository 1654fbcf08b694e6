"""An explanation as a waterfall: from the prior's log-odds, step by step, to the posterior's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from merula.answers.explanation.largest import checked_top
from merula.answers.explanation.layout import Part, lay_out
from merula.answers.explanation.steps import Step, steps_of
from merula.core import InputError
from merula.show.colors import TOTAL, sided
from merula.show.numbers import NOTHING, signed
from merula.show.plots import draw_on, literal

if TYPE_CHECKING:
    from merula.answers.explanation.reasons import Explanation

PROBABILITIES = [0.0001, 0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999, 0.9999]


def waterfall(explanation: Explanation, ax: Any = None, top: int | str = 20) -> Any:
    """The axes with one bar for each step, strongest first; columns beyond the `top` strongest are drawn as one."""
    if len(explanation.derivations) > 1:
        raise InputError(f"this model is a mixture of {len(explanation.derivations)}", remedy="a waterfall shows a single sum")  # fmt: skip
    most = checked_top(top)
    layout, (part,) = lay_out(explanation, most_effects=most), explanation.derivations
    steps = _steps(layout.parts[0], most)
    labels = [part.start, *(name for name, _ in steps), "posterior"]

    def draw(ax: Any) -> None:
        _draw(ax, part.prior_log_odds, steps, part.log_odds)
        ax.set_yticks(range(len(labels)), [literal(label) for label in labels])
        ax.set_ylim(len(labels) - 0.4, -0.6)
        ax.set_xlabel(literal(f"log-odds: {layout.heading}"))
        _probability_axis(ax)

    return draw_on(ax, (8, 1.6 + 0.32 * len(labels)), [*labels, layout.heading], draw)


def _steps(part: Part, top: int | None) -> list[Step]:
    """Every step; before what decides alone, how many columns are missing."""
    steps, unknown = steps_of(part, top), len(part.reasons) - len(part.known)
    finite = [step for step in steps if np.isfinite(step[1])]
    return [*finite, *([(f"{unknown} missing", 0.0)] if unknown else []), *steps[len(finite) :]]


def _draw(ax: Any, before: float, steps: list[Step], after: float) -> None:
    """A bar from 0 to the log-odds before, one for each step, and one to the log-odds after."""
    finite = [weight for _, weight in steps if np.isfinite(weight)]
    start = before if np.isfinite(before) else 0.0
    path = start + np.cumsum([0.0, *finite])
    reach = max(1.0, float(np.ptp([0.0, *path])))
    low, high = min(0.0, path.min()) - 0.18 * reach, max(0.0, path.max()) + 0.18 * reach
    ax.set_xlim(low, high)
    _bar(ax, 0, 0.0, start, TOTAL, signed(before))
    reached = start
    for row, (_, weight) in enumerate(steps, start=1):
        end = reached + weight if np.isfinite(weight) else (high if weight > 0 else low)
        _bar(ax, row, reached, end, sided(weight), signed(weight) if weight else NOTHING)
        ax.plot([end, end], [row - 0.35, row + 1.35], color="#999999", linewidth=0.7)
        reached = end if np.isfinite(weight) else reached
    edge = reached if np.isfinite(after) else (high if after > 0 else low)
    _bar(ax, len(steps) + 1, 0.0, edge, TOTAL, signed(after))
    ax.axvline(0.0, color="black", linewidth=0.8)


def _bar(ax: Any, row: int, start: float, end: float, color: str, text: str) -> None:
    """A bar with its number on the side where it ends, or inside the edge where there is no room."""
    ax.barh(row, end - start, left=start, color=color, height=0.7)
    low, high = ax.get_xlim()
    rightwards = end >= start
    room = (high - end if rightwards else end - low) > 0.12 * (high - low)
    outwards = rightwards if room else not rightwards
    paper = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.5}  # no line runs through it
    ax.annotate(
        text,
        (end, row),
        xytext=(4 if outwards else -4, 0),
        textcoords="offset points",
        ha="left" if outwards else "right",
        va="center",
        fontsize="small",
        color="black" if room else "white",
        bbox=paper if room else None,
    )


def _probability_axis(ax: Any) -> None:
    """The same axis in probabilities, along the top, without crowding."""
    low, high = ax.get_xlim()
    odds = np.log(np.array(PROBABILITIES) / (1 - np.array(PROBABILITIES)))
    chosen: list[int] = []
    for k in sorted(range(len(odds)), key=lambda k: abs(odds[k])):
        if low < odds[k] < high and all(abs(odds[k] - odds[other]) > 0.09 * (high - low) for other in chosen):
            chosen.append(k)
    top = ax.secondary_xaxis("top")
    top.set_xticks([odds[k] for k in chosen], [f"{PROBABILITIES[k]:g}" for k in chosen])
    top.set_xlabel("probability")
