"""What a column holds given each class, drawn: curves of numbers, bars of levels and of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from merula.classify.conditionals import Conditional, class_labels, conditional
from merula.core import InputError
from merula.data.schema import Label
from merula.data.table import plain_label
from merula.show.colors import COLORS, color_at
from merula.show.numbers import several, short
from merula.show.plots import draw_on, legend_beside, literal
from merula.show.text import display_width, shortened

if TYPE_CHECKING:
    from merula.classify.base import BayesianClassifier

MOST_CLASSES = 8
CLOSELY = 61  # places of a curve for each class, where its own mass is
LONGEST, LETTER = 30, 0.075  # letters of a name, and inches of a letter


def conditional_plot(
    model: BayesianClassifier, column: str, ax: Any = None, classes: Sequence[Any] | None = None
) -> Any:
    """The axes with p(column given class) of each class."""
    found = conditional(model, column, CLOSELY)
    colors, hidden = chosen_classes(model, classes)
    labels = {label: _label(found, label) for label in colors}
    called = {label: literal(text) for label, text in labels.items()}

    def draw(ax: Any) -> None:
        if found.form in ("levels", "words"):
            _bars(ax, found, colors, called)
        else:
            _curves(ax, found, colors, called)
        ax.set_title(literal(shortened(column, 2 * LONGEST, middle=True)), fontsize="medium")
        legend_beside(ax, f"… and {hidden} more" if hidden else "")

    texts = [column, *labels.values(), *(value for value in found.values if isinstance(value, str))]
    return draw_on(ax, _size(found, list(labels.values())), texts, draw)


def chosen_classes(model: BayesianClassifier, classes: Sequence[Any] | None) -> tuple[dict[Label, str], int]:
    """The classes to draw and their colours, and how many are left out unasked."""
    labels = class_labels(model)
    if classes is None:
        likely = np.sort(np.argsort(-model.class_log_prior_, kind="stable")[:MOST_CLASSES])
        wanted = [labels[position] for position in likely]
    else:
        wanted = [plain_label(label) for label in classes]
        if not wanted or any(label not in labels for label in wanted):
            raise InputError(f"classes is {list(classes)!r}", expected=f"one or more of the model's: {labels}")
    among = labels if len(labels) <= len(COLORS) else wanted  # a class keeps its colour, if there are enough
    colors = {label: color_at(among.index(label)) for label in wanted}
    return colors, len(labels) - len(wanted) if classes is None else 0


def _label(found: Conditional, label: Label) -> str:
    """A class, with the probabilities of single values, which no curve of a density shows."""
    unit, size = found.axis
    masses = [
        f"P({f'{value / size:g} {unit}'.rstrip()}) = {short(given[label], 3)}"
        for value, given in (found.masses or {}).items()
    ]
    return shortened(str(label), LONGEST) + (f" ({', '.join(masses)})" if masses else "")


def _size(found: Conditional, labels: Sequence[str]) -> tuple[float, float]:
    """Inches: room for the drawing, the legend beside it, and the names of levels before it."""
    width = 4.8 + LETTER * max(map(display_width, labels))
    if found.form in ("density", "numbers"):
        return width, 3.5
    names = max(display_width(shortened(value, LONGEST)) for value in found.values)
    return width + LETTER * names, 1.2 + len(found.values) * min(0.12 + 0.14 * len(labels), 0.6)


def _curves(ax: Any, found: Conditional, colors: Mapping[Label, str], labels: Mapping[Label, str]) -> None:
    """A line for each class; numbers in the unit that suits them."""
    x = np.array(found.values, dtype="datetime64[ms]" if found.is_time else np.float64)
    unit, size = found.axis
    x, thinner = (x if size == 1 else x / size), size if found.form == "density" else 1.0
    for label, color in colors.items():
        y = np.array(found.given[label]) * thinner
        ax.plot(x, y, color=color, label=labels[label], marker=None if found.form == "density" else "o", markersize=3)
        ax.fill_between(x, y, color=color, alpha=0.15)
    ax.set_ylim(bottom=0)
    ax.set(xlabel=literal(unit), ylabel="density given class" if found.form == "density" else "probability given class")
    if found.is_time:
        ax.set_yticks([])  # how many nanoseconds' worth says nothing
        ax.tick_params(axis="x", labelrotation=20)


def _bars(ax: Any, found: Conditional, colors: Mapping[Label, str], labels: Mapping[Label, str]) -> None:
    """A group of bars for each level, from top to bottom, one for each class."""
    indices, height = np.arange(len(found.values)), 0.8 / len(colors)
    for k, (label, color) in enumerate(colors.items()):
        offset = (k - (len(colors) - 1) / 2) * height
        ax.barh(indices + offset, found.given[label], height=0.9 * height, color=color, label=labels[label])
    ax.set_yticks(indices, [literal(shortened(value, LONGEST)) for value in found.values])
    ax.set_ylim(len(indices) - 0.5, -0.5)
    rest = {"levels": "level", "words": "word"}[found.form]
    others = f" ({several(found.others, f'more {rest}')} not drawn)" if found.others else ""
    ax.set_xlabel(f"probability given class{others}")
