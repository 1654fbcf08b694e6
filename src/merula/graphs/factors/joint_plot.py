"""The distribution of one variable as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from merula.graphs.factors.joint_text import shown
from merula.graphs.factors.names import title
from merula.show.colors import FOR
from merula.show.numbers import short
from merula.show.plots import draw_on, literal

if TYPE_CHECKING:
    from merula.graphs.factors.named import NamedTable

MOST_BARS = 50


def bars(joint: NamedTable, ax: Any = None) -> Any:
    """The axes with a bar for each level, from top to bottom, and a line for the standard error of an estimate."""
    if len(joint.variables) != 1:
        raise ValueError(f"{title(joint.variables)} has {len(joint.variables)} variables, bars show one; take marginal() or given() first")  # fmt: skip
    (name,) = joint.variables
    if len(joint.values) > MOST_BARS:
        raise ValueError(f"{name!r} has {len(joint.values)} levels, bars show at most {MOST_BARS}; derive() a coarser variable, or use to_frame()")  # fmt: skip
    labels = [literal(shown(level)) for level in joint.levels[name]]
    return draw_on(ax, (5, 0.9 + 0.32 * len(labels)), [*labels, name], lambda ax: _draw(ax, joint, labels))


def _draw(ax: Any, joint: NamedTable, labels: list[str]) -> None:
    indices, errors = np.arange(len(labels)), getattr(joint, "standard_errors", None)
    ax.barh(indices, joint.values, xerr=errors, color=FOR, height=0.7)
    for index, value in zip(indices, joint.values, strict=True):
        reach = value + (0.0 if errors is None else errors[index])
        ax.annotate(short(value), (reach, index), xytext=(4, 0), textcoords="offset points", va="center", fontsize="small")  # fmt: skip
    ax.set_yticks(indices, labels)
    ax.set(xlim=(0, 1.25 * max(joint.values)), ylim=(len(labels) - 0.4, -0.6), xlabel=literal(title(joint.variables)))
