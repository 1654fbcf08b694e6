"""A tornado: how far each number of a network moves an answer, the widest bar on top."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merula.core import InputError
from merula.show.colors import AGAINST, FOR
from merula.show.numbers import percent
from merula.show.plots import draw_on, literal
from merula.show.text import shortened

if TYPE_CHECKING:
    from merula.graphs.network.sensitivity import Sensitivity


def tornado(found: Sensitivity, ax: Any, by: float, top: int) -> Any:
    """The axes with a bar for each of the `top` numbers that matter most."""
    if not isinstance(top, int) or top < 1:
        raise InputError.of("top", top, "a number of bars from 1")
    swings = found.swings(by)[:top]
    labels = [shortened(str(swing.parameter), 60) for swing in swings]

    def draw(ax: Any) -> None:
        for place, swing in enumerate(swings):
            for end, colour, word in ((swing.low, AGAINST, "less"), (swing.high, FOR, "more")):
                label = f"{percent(by)} {word}" if not place else None
                ax.barh(place, end - found.answer, left=found.answer, color=colour, height=0.6, label=label)
        ax.axvline(found.answer, color="black", linewidth=1)
        ax.set_yticks(range(len(labels)), [literal(label) for label in labels])
        ax.invert_yaxis()
        ax.set_xlabel(literal(found.question))
        if swings:
            ax.legend(loc="lower right", frameon=False)

    return draw_on(ax, (8, 1.4 + 0.36 * max(1, len(labels))), [*labels, found.question], draw)
