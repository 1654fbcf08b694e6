"""Distributions as aligned text and as tables for notebooks; long ones are shortened, and say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from merula.data.schema import Label
from merula.graphs.factors.names import title
from merula.show.html import html_table
from merula.show.text import display_width, pad, shortened

if TYPE_CHECKING:
    from merula.graphs.factors.conditional import ConditionalDistribution
    from merula.graphs.factors.named import NamedTable

MOST_ROWS, MOST_COLUMNS, LONGEST = 20, 12, 36
UNDEFINED = "undefined"
Rows = list[list[str]]


def shown(level: Label) -> str:
    """A level on one line."""
    return "missing" if level is None else shortened(f"{level:.6g}" if type(level) is float else str(level), LONGEST)


def number(probability: float) -> str:
    """A probability to six digits."""
    return f"{probability:.6g}"


def joint_rows(joint: NamedTable) -> Rows:
    """The names, then the first cells: their levels and probability."""
    rows = [[*(shortened(name, LONGEST) for name in joint.variables), "probability"]]
    for flat in range(min(joint.values.size, MOST_ROWS)):
        index = np.unravel_index(flat, joint.values.shape)
        labels = [shown(joint.levels[name][rank]) for name, rank in zip(joint.variables, index, strict=True)]
        rows.append([*labels, number(joint.values[index])])
    return rows


def conditional_rows(conditional: ConditionalDistribution) -> Rows:
    """The parents' names and the cells' levels, then the first rows: the parents' levels and the probabilities given them."""
    cells = _cells(conditional)
    defined = conditional.defined.reshape(-1)
    values = conditional.values.reshape(len(defined), -1)
    columns = min(values.shape[1], MOST_COLUMNS)
    more = ["…"] if columns < values.shape[1] else []
    rows = [[*(shortened(name, LONGEST) for name in conditional.parents), *cells[:columns], *more]]
    for flat in range(min(len(defined), MOST_ROWS)):
        index = np.unravel_index(flat, conditional.defined.shape)
        labels = [shown(conditional.levels[name][rank]) for name, rank in zip(conditional.parents, index, strict=True)]
        numbers = [number(value) if defined[flat] else UNDEFINED for value in values[flat, :columns]]
        rows.append(labels + numbers + more)
    return rows


def _cells(conditional: ConditionalDistribution) -> list[str]:
    """The levels that head the columns of a conditional distribution, as many as are shown."""
    shape = tuple(len(conditional.levels[name]) for name in conditional.variables)
    heads = []
    for flat in range(min(int(np.prod(shape)), MOST_COLUMNS + 1)):
        index = np.unravel_index(flat, shape)
        labels = [
            shown(conditional.levels[name][rank]) for name, rank in zip(conditional.variables, index, strict=True)
        ]
        heads.append(", ".join(labels))
    return heads


def left_out(rows: int) -> str:
    """The note below a table that shows only its beginning; "" if it shows everything."""
    return f"({rows - MOST_ROWS:,} more rows not shown)" if rows > MOST_ROWS else ""


def aligned(heading: str, rows: Rows, names: int, note: str) -> str:
    """Rows as columns of one width: the first `names` to the left, numbers to the right."""
    widths = [max(display_width(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            pad(cell, width, right=column >= names)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join([heading, *(line.rstrip() for line in lines), *([note] if note else [])])


def joint_text(joint: NamedTable) -> str:
    """``P(color, shape)`` above its cells."""
    return aligned(title(joint.variables), joint_rows(joint), len(joint.variables), left_out(joint.values.size))


def conditional_text(conditional: ConditionalDistribution) -> str:
    """``P(category given color, shape)`` above a row for each combination of the parents."""
    heading = title(conditional.variables, conditional.parents)
    rows, note = conditional_rows(conditional), left_out(conditional.defined.size)
    return aligned(heading, rows, len(conditional.parents), note)


# ----------------------------------------------------------------------------------------------------------------- HTML


def joint_html(joint: NamedTable) -> str:
    """The cells as a table; two variables as rows and columns."""
    heading = title(joint.variables)
    if len(joint.variables) == 2 and joint.values.shape[0] <= MOST_ROWS and joint.values.shape[1] <= MOST_COLUMNS:
        across, down = joint.variables[1], joint.variables[0]
        head = [f"{down} \\ {across}", *(shown(level) for level in joint.levels[across])]
        body = [
            [shown(level), *(number(value) for value in values)]
            for level, values in zip(joint.levels[down], joint.values, strict=True)
        ]
        return html_table(heading, [head, *body], 1, "")
    return html_table(heading, joint_rows(joint), len(joint.variables), left_out(joint.values.size))


def conditional_html(conditional: ConditionalDistribution) -> str:
    """A row for each combination of the parents."""
    heading = title(conditional.variables, conditional.parents)
    rows, note = conditional_rows(conditional), left_out(conditional.defined.size)
    return html_table(heading, rows, len(conditional.parents), note)
