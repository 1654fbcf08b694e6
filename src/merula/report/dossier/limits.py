"""Known limits of a model that its rows show: rare classes and levels, holes, ranges, columns that leak or repeat each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.classify.readable import shown
from merula.core import Array
from merula.data.encode import Encoded, encode, level_positions
from merula.data.schema import Schema
from merula.data.table import Table
from merula.report.dossier.repeats import Repeat, repeats
from merula.report.dossier.result import Limits, Reach
from merula.report.findings.result import DataSummary
from merula.show.numbers import count, percent, several
from merula.show.text import listed

RARE_CLASS, RARE_LEVEL = 50, 10  # rows, below which little is learned of a class, or of a level
HOLES = 0.2  # of the cells of a column
MOST_NAMED, LONGEST = 6, 40
NUMBERS = ("numeric", "count", "datetime")


def find_limits(
    table: Table,
    schema: Schema,
    data: DataSummary,
    classes: Mapping[str, float],
    weights: Array | None,
    kept_rows: int,
    other: Table | None = None,
) -> Limits:
    """What a table's rows show of the limits of a model that learned from them; `other` rows are compared with them."""
    rows = encode(table, schema, range(len(schema.columns)))
    used = [column.name for column in schema.columns if column.kind not in ("ignore", "text")]
    found = repeats(rows, used, weights)
    sentences = [
        *_of_classes(classes),
        *(f"{name_of(column.name)} {column.remark or 'alone tells the class almost always'}: if it is known only once the class is, the figures are too good." for column in data.columns if column.leaks),
        *map(_repeated, found),
        *_rare_levels(rows, schema, weights),
        *_holes(data),
        *_left_out(data),
        *([f"The model file holds {several(kept_rows, 'row')} that it learned from: whoever has the file has these."] if kept_rows else []),
    ]  # fmt: skip
    if other is not None:
        asked = encode(other, _of(schema, other), range(len(other.names)))
        return Limits((*sentences, *_unseen(rows, asked, schema)), tuple(_reaches(rows, schema, weights, asked)), found)
    return Limits(tuple(sentences), tuple(_reaches(rows, schema, weights)), found)


def name_of(column: str) -> str:
    """A column as a sentence names it."""
    return f"“{listed(column, LONGEST)}”"


def _of(schema: Schema, table: Table) -> Schema:
    """The columns in the order of another table."""
    return Schema(tuple(schema[name] for name in table.names))


def _of_classes(classes: Mapping[str, float]) -> list[str]:
    total = sum(classes.values())
    return [
        f"The class {listed(label, LONGEST)} is rare: {count(weight)} of {count(total)} rows ({percent(weight / total)}); what is said of it is uncertain."
        for label, weight in classes.items()
        if weight < RARE_CLASS
    ]


def _repeated(one: Repeat) -> str:
    if one.measure == "rank correlation":
        return f"{name_of(one.first)} and {name_of(one.second)} repeat each other: their rank correlation is {one.value:.2f}. A model that takes columns to be independent counts them twice."
    return f"{name_of(one.first)} and {name_of(one.second)} repeat each other: one tells {percent(one.value)} of what the less varied of them holds. A model that takes columns to be independent counts them twice."


def _rare_levels(rows: Encoded, schema: Schema, weights: Array | None) -> list[str]:
    """A sentence for each column with levels that few rows have."""
    found = []
    for column in schema.columns:
        if column.kind != "categorical" or column.name not in rows.coded:
            continue
        slots, labels = rows.coded[column.name].in_slots()
        counts = np.bincount(np.clip(slots, 0, len(labels)), weights, len(labels) + 1)
        rare = [(str(label), counts[at]) for at, label in enumerate(labels) if label is not None and 0 < counts[at] < RARE_LEVEL]  # fmt: skip
        rare.sort()  # whatever order the rows are in
        if rare:
            named = ", ".join(f"{listed(label, LONGEST)} ({count(weight)})" for label, weight in rare[:MOST_NAMED])
            more = f" and {len(rare) - MOST_NAMED} more" if len(rare) > MOST_NAMED else ""
            found.append(f"{name_of(column.name)} has levels on fewer than {RARE_LEVEL} rows: {named}{more}.")
    return found


def _holes(data: DataSummary) -> list[str]:
    return [
        f"{name_of(column.name)} is missing in {percent(column.missing / data.rows)} of the rows."
        for column in data.columns
        if column.kind != "ignore" and column.missing > HOLES * data.rows
    ]


def _left_out(data: DataSummary) -> list[str]:
    """One sentence of all columns that the model does not ask."""
    names = [column.name for column in data.columns if column.kind == "ignore"]
    if not names:
        return []
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return [f"The model does not ask {', '.join(map(name_of, names[:MOST_NAMED]))}{more}."]


def _reaches(rows: Encoded, schema: Schema, weights: Array | None, other: Encoded | None = None) -> Sequence[Reach]:
    """Up to where each column of numbers or times was learned from, and how many other rows lie beyond."""
    counted = slice(None) if weights is None else weights > 0
    found = []
    for column in schema.columns:
        if column.kind not in NUMBERS or column.name not in rows.numeric:
            continue
        values = np.asarray(rows.numeric[column.name], dtype=np.float64)[counted]
        known = values[~np.isnan(values)]
        if not len(known):
            continue
        low, high = float(known.min()), float(known.max())
        asked = None if other is None or column.name not in other.numeric else np.asarray(other.numeric[column.name], dtype=np.float64)  # fmt: skip
        beyond = None if asked is None else int(((asked < low) | (asked > high)).sum())
        found.append(Reach(column.name, shown(column, low), shown(column, high), beyond))
    return found


def _unseen(rows: Encoded, other: Encoded, schema: Schema) -> list[str]:
    """A sentence for each column whose other rows hold levels that were never learned from."""
    found = []
    for column in schema.columns:
        if column.kind != "categorical" or column.name not in other.coded or column.name not in rows.coded:
            continue
        known = tuple(dict.fromkeys(label for label in _met(rows, column.name) if label is not None))
        slots, labels = other.coded[column.name].in_slots()
        strange = level_positions(labels, known) == len(known) + 1
        hit: NDArray[Any] = strange[np.clip(slots, 0, len(labels))]
        if hit[np.asarray(slots) < len(labels)].any():
            found.append(f"{name_of(column.name)} holds levels in {several(int(hit.sum()), 'tested row')} that no row learned from has.")  # fmt: skip
    return found


def _met(rows: Encoded, name: str) -> list[Any]:
    slots, labels = rows.coded[name].in_slots()
    return [labels[at] for at in np.unique(slots).tolist() if at < len(labels)]
