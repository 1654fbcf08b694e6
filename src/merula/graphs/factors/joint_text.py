"""Distributions as aligned text and as tables for notebooks; long ones are shortened, and say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from merula.core.arrays import Array
from merula.data.schema import Label
from merula.graphs.factors.names import title
from merula.show.html import html_table
from merula.show.numbers import short
from merula.show.text import shortened, text_table

if TYPE_CHECKING:
    from merula.graphs.factors.conditional import ConditionalDistribution
    from merula.graphs.factors.named import NamedTable

MOST_ROWS, MOST_COLUMNS, LONGEST, DIGITS = 20, 12, 36, 6
UNDEFINED = "undefined"
Parts = tuple[str, list[list[str]], int, str]  # heading, rows, how many cells of each are names, note


def shown(level: Label) -> str:
    """A level on one line."""
    return (
        "missing" if level is None else shortened(short(level, DIGITS) if type(level) is float else str(level), LONGEST)
    )


def joint_text(joint: NamedTable) -> str:
    """``P(color, shape)`` above its cells."""
    return text_table(*_joint(joint))


def joint_html(joint: NamedTable) -> str:
    """The cells as a table; two variables as rows and columns."""
    if len(joint.variables) != 2 or joint.values.shape[0] > MOST_ROWS or joint.values.shape[1] > MOST_COLUMNS:
        return html_table(*_joint(joint))
    down, across = joint.variables
    head = [f"{down} \\ {across}", *map(shown, joint.levels[across])]
    body = [[shown(level), *_numbers(row)] for level, row in zip(joint.levels[down], joint.values, strict=True)]
    return html_table(title(joint.variables), [head, *body], 1)


def conditional_text(conditional: ConditionalDistribution) -> str:
    """``P(category given color, shape)`` above a row for each combination of the parents."""
    return text_table(*_conditional(conditional))


def conditional_html(conditional: ConditionalDistribution) -> str:
    """A row for each combination of the parents."""
    return html_table(*_conditional(conditional))


def left_out(rows: int) -> str:
    """The note below a table that shows only its beginning; "" if it shows everything."""
    return f"({rows - MOST_ROWS:,} more rows not shown)" if rows > MOST_ROWS else ""


def _joint(joint: NamedTable) -> Parts:
    """The names, then the first cells: their levels and probability."""
    names, values = joint.variables, joint.values.ravel()[:MOST_ROWS]
    rows = [[*(shortened(name, LONGEST) for name in names), "probability"]]
    rows += [[*_levels(joint, names, flat), text] for flat, text in enumerate(_numbers(values))]
    return title(names), rows, len(names), left_out(joint.values.size)


def _conditional(conditional: ConditionalDistribution) -> Parts:
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
