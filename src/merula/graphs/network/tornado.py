"""A tornado: how far each number of a network moves an answer, the widest bar on top."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merula.core import InputError
from merula.show.colors import AGAINST, FOR
from merula.show.numbers import percent
from merula.show.plots import draw_on, literal
from merula.show.text import shortened, wrapped

if TYPE_CHECKING:
    from merula.graphs.network.sensitivity import Sensitivity

LINE, MOST_LINES = 44, 3  # signs of a label's line, and lines


def tornado(found: Sensitivity, ax: Any, by: float, top: int) -> Any:
    """The axes with a bar for each of the `top` numbers that matter most."""
    if not isinstance(top, int) or top < 1:
        raise InputError.of("top", top, "a number of bars from 1")
    swings = found.swings(by)[:top]
    labels = [_in_lines(str(swing.parameter), LINE) for swing in swings]

    def draw(ax: Any) -> None:
        for place, swing in enumerate(swings):
            for end, colour, word in ((swing.low, AGAINST, "less"), (swing.high, FOR, "more")):
                label = f"{percent(by)} {word}" if not place else None
                ax.barh(place, end - found.answer, left=found.answer, color=colour, height=0.6, label=label)
        ax.axvline(found.answer, color="black", linewidth=1)
        ax.set_yticks(range(len(labels)), [literal(label) for label in labels])
        ax.invert_yaxis()
        ax.set_xlabel(literal(_in_lines(found.question, 2 * LINE)))
        if swings:  # above, where it covers no bar
            ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False, borderaxespad=0.0)

    lines = sum(label.count("\n") + 1 for label in labels)
    return draw_on(ax, (9, 1.6 + 0.14 * len(labels) + 0.22 * max(1, lines)), [*labels, found.question], draw)


def _in_lines(text: str, width: int) -> str:
    """The text in a few lines: what tells numbers apart often stands at their end."""
    return "\n".join(wrapped(shortened(text, MOST_LINES * (width - 8), middle=True), width))
