"""Distributions as aligned text, as tables for notebooks (long ones are shortened, and say so) and as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from merula.core import Array, InputError
from merula.data.schema import Label
from merula.graphs.factors.names import title
from merula.show.colors import FOR
from merula.show.html import html_table
from merula.show.numbers import short
from merula.show.plots import draw_on, literal
from merula.show.text import shortened

if TYPE_CHECKING:
    from merula.graphs.factors.conditional import ConditionalDistribution
    from merula.graphs.factors.named import NamedTable

MOST_ROWS, MOST_COLUMNS, LONGEST, DIGITS, MOST_BARS = 20, 12, 36, 6, 50
UNDEFINED = "undefined"
Parts = tuple[str, list[list[str]], int, str]  # heading, rows, how many cells of each are names, note


def shown(level: Label) -> str:
    """A level on one line."""
    return (
        "missing" if level is None else shortened(short(level, DIGITS) if type(level) is float else str(level), LONGEST)
    )


def joint_html(joint: NamedTable) -> str:
    """The cells as a table; two variables as rows and columns."""
    if len(joint.variables) != 2 or joint.values.shape[0] > MOST_ROWS or joint.values.shape[1] > MOST_COLUMNS:
        return html_table(*joint_parts(joint))
    down, across = joint.variables
    head = [f"{down} \\ {across}", *map(shown, joint.levels[across])]
    body = [[shown(level), *_numbers(row)] for level, row in zip(joint.levels[down], joint.values, strict=True)]
    return html_table(title(joint.variables), [head, *body], 1)


def left_out(rows: int) -> str:
    """The note below a table that shows only its beginning; "" if it shows everything."""
    return f"({rows - MOST_ROWS:,} more rows not shown)" if rows > MOST_ROWS else ""


def joint_parts(joint: NamedTable) -> Parts:
    """The names, then the first cells: their levels and probability."""
    names, values = joint.variables, joint.values.ravel()[:MOST_ROWS]
    rows = [[*(shortened(name, LONGEST) for name in names), "probability"]]
    rows += [[*_levels(joint, names, flat), text] for flat, text in enumerate(_numbers(values))]
    return title(names), rows, len(names), left_out(joint.values.size)


def conditional_parts(conditional: ConditionalDistribution) -> Parts:
    """The parents' names and the cells' levels, then the first rows: the parents' levels and the probabilities given them."""
    parents, defined = conditional.parents, conditional.defined.ravel()
    values = conditional.values.reshape(len(defined), -1)
    columns = min(values.shape[1], MOST_COLUMNS)
    more = ["…"] if columns < values.shape[1] else []
    heads = [", ".join(_levels(conditional, conditional.variables, flat)) for flat in range(columns)]
    rows = [[*(shortened(name, LONGEST) for name in parents), *heads, *more]]
    for flat, row in enumerate(values[:MOST_ROWS, :columns]):
        numbers = _numbers(row) if defined[flat] else [UNDEFINED] * columns
        rows.append([*_levels(conditional, parents, flat), *numbers, *more])
    return title(conditional.variables, parents), rows, len(parents), left_out(len(defined))


def _levels(table: NamedTable | ConditionalDistribution, names: Sequence[str], flat: int) -> list[str]:
    """The levels of these variables in the cell with this number."""
    index = np.unravel_index(flat, tuple(len(table.levels[name]) for name in names))
    return [shown(table.levels[name][rank]) for name, rank in zip(names, index, strict=True)]


def _numbers(values: Array) -> list[str]:
    return [short(value, DIGITS) for value in values]


def bars(joint: NamedTable, ax: Any = None) -> Any:
    """The axes with a bar for each level, from top to bottom, and a line for the standard error of an estimate or an interval."""
    if len(joint.variables) != 1:
        raise InputError.at(f"{title(joint.variables)}", f"has {len(joint.variables)} variables, bars show one", remedy="take marginal() or given() first")  # fmt: skip
    (name,) = joint.variables
    if len(joint.values) > MOST_BARS:
        raise InputError(f"{name!r} has {len(joint.values)} levels, bars show at most {MOST_BARS}", where=f"variable {name!r}", remedy="derive() a coarser variable, or use to_frame()")  # fmt: skip
    labels = [literal(shown(level)) for level in joint.levels[name]]
    return draw_on(ax, (5, 0.9 + 0.32 * len(labels)), [*labels, name], lambda ax: _draw(ax, joint, labels))


def _errors(joint: NamedTable) -> Array | None:
    """How far a line reaches to the left and to the right of each probability: a standard error, or to the ends of an interval."""
    if hasattr(joint, "lower"):
        return np.maximum([joint.values - joint.lower, joint.upper - joint.values], 0.0)  # type: ignore[attr-defined]
    errors = getattr(joint, "standard_errors", None)
    return None if errors is None else np.stack([errors, errors])


def _draw(ax: Any, joint: NamedTable, labels: list[str]) -> None:
    indices, errors = np.arange(len(labels)), _errors(joint)
    ax.barh(indices, joint.values, xerr=errors, color=FOR, height=0.7)
    for index, value in zip(indices, joint.values, strict=True):
        reach = value + (0.0 if errors is None else errors[1, index])
        ax.annotate(short(value), (reach, index), xytext=(4, 0), textcoords="offset points", va="center", fontsize="small")  # fmt: skip
    ax.set_yticks(indices, labels)
    ax.set(
        xlim=(0, 1.25 * float(max(joint.values) if errors is None else (joint.values + errors[1]).max())),
        ylim=(len(labels) - 0.4, -0.6),
        xlabel=literal(title(joint.variables)),
    )
