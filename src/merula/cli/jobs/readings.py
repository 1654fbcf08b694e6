"""Say how the words of a table were read, in few notes while a command learns from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from merula.cli.console import Console
from merula.data.encode.kinds import DOUBTS, ORDERS, far_years, shown, where_impossible
from merula.data.schema import Column, Reading, Schema
from merula.data.table import Table
from merula.data.units import same_unit
from merula.data.words import as_numbers, clean, spelled_as_one, understand
from merula.data.words.cleaning import is_gap
from merula.data.words.numbers import is_limit
from merula.data.words.times import is_impossible

MOST_NAMED = 6
FORMS = {"number": "numbers", "date": "dates", "time of day": "times of day", "duration": "durations", "boolean": "yes or no"}  # fmt: skip


def note_readings(schema: Schema, table: Table, console: Console) -> None:
    """One note of all columns whose words were understood, and one for each that could be read in another way."""
    read = [column for column in schema.columns if column.reading is not None and column.reading.form != "words"]
    worded = [
        column for column in read if column.name not in table.hints.of_the_day
    ]  # 08:15 in every cell wants no word
    told = [(FORMS[column.reading.form], column) for column in worded if column.reading and _is_more(column)]
    parts = [f"as {form}: {_named([column for other, column in told if other == form])}" for form in dict.fromkeys(form for form, _ in told)]  # fmt: skip
    if parts:
        console.note(f"words are read {'; '.join(parts)} (merula look TABLE tells more)")
    _note_limits({name: table.codes(place)[1] for place, name in enumerate(schema.names) if schema[name] in read and table.kind(place)[0] == "categorical"}, console)  # fmt: skip
    for column in read:
        strays = _strays(column, table)
        if strays and column.reading and column.reading.form in FORMS:
            console.note(f"column {column.name!r} holds {FORMS[column.reading.form]} and {shown(strays)}, read as missing; --kinds '{column.name}=categorical' keeps all as words", column.name)  # fmt: skip
        if column.reading and column.reading.form == "date":
            _note_days(column, table, console)
        if column.reading and column.reading.ambiguous:
            option = {"number": "--decimal", "date": "--date-order"}[column.reading.form]
            console.note(f"column {column.name!r} is read as {FORMS[column.reading.form]} {_signs(column)}, though {DOUBTS[column.reading.form]} would fit as well; {option} says which")  # fmt: skip


def _strays(column: Column, table: Table) -> list[str]:
    """The words of a column that were taken for missing since most others are numbers or times; days that there are not have their own note."""
    taken = column.reading.missing if column.reading and column.reading.form != "boolean" else ()
    return [word for word in taken if not (is_gap(word) or word in table.hints.missing or is_impossible(word))]


def _note_days(column: Column, table: Table, console: Console) -> None:
    """A note of days that there are not, with the row of the first, and one of years of two digits that are far in the future."""
    position = table.names.index(column.name)
    if table.kind(position)[0] == "categorical" and column.reading is not None:
        codes, labels = table.codes(position)
        told = where_impossible(labels, column.reading, codes)
        if told:
            console.note(f"column {column.name!r} holds dates, read as missing where there is no such day{told}", column.name)  # fmt: skip
        far = far_years([label for label in labels if isinstance(label, str)], column.reading)
        if far:
            console.note(f"column {column.name!r} holds dates: {far}", column.name)


def _note_limits(words: Mapping[str, Any], console: Console) -> None:
    """One note of all columns of numbers in which some are limits, such as <0.5."""
    found = {name: limits for name, held in words.items() if (limits := [word for word in held if isinstance(word, str) and is_limit(clean(word))])}  # fmt: skip
    if found:
        examples = [limits[0] for limits in found.values()]
        named = ", ".join(map(repr, list(found)[:MOST_NAMED]))
        which = "column" if len(found) == 1 else "columns"
        console.note(f"{which} {named}: {shown(examples)} and the like count as the limits that they name")


def note_other_readings(schema: Schema, table: Table, console: Console) -> None:
    """One note of all columns of new rows whose words are not read as they were when the model was fitted."""
    found = [told for position, name in enumerate(table.names) if name in schema.names and (told := _otherwise(schema[name], table, position))]  # fmt: skip
    if found:
        more = f"; and {len(found) - MOST_NAMED} columns more" if len(found) > MOST_NAMED else ""
        console.note(f"read otherwise than when the model was fitted: {'; '.join(found[:MOST_NAMED])}{more}")


def _otherwise(column: Column, table: Table, position: int) -> str:
    """How the words of a column of numbers or times are written here, and how they were; nothing where that is the same."""
    if column.kind not in ("numeric", "count", "datetime") or table.kind(position)[0] != "categorical":
        return ""
    words = [label for label in table.codes(position)[1] if isinstance(label, str)]
    here = understand(words, hints=table.hints, wanted="datetime" if column.unit else "numeric")
    if here is None or here.form == "time of day":  # which can be written in one way alone
        return ""
    before = column.reading or Reading(here.form, order="ymd" if here.form == "date" else "")
    if not same_unit(here.unit, before.unit) or {here.order, before.order} == {
        "dmy",
        "mdy",
    }:  # which the model itself says
        return ""
    in_order = column.reading is not None or here.order in ("", before.order)  # a month by its name has none
    fits = before.form == here.form and in_order and not as_numbers(words, replace(before, missing=here.missing))[1]
    if fits and (before.unit or not here.unit):  # which are the same, if both are named
        return ""
    doubt = f" (though {DOUBTS[here.form]} would fit as well)" if here.ambiguous and not fits else ""
    return f"{column.name!r} as {_written(here)}{doubt}, not {_written(before)}"


def _written(reading: Reading) -> str:
    return f"{FORMS[reading.form]} {_signs_of(reading) or '(plain)'}"


def _is_more(column: Column) -> bool:
    """Whether the column's words are more than plain numbers with gaps that were stated."""
    reading = column.reading
    return reading is not None and (reading.form != "number" or bool(reading.unit or reading.grouping or reading.decimal == ","))  # fmt: skip


def _named(columns: list[Column]) -> str:
    """Columns by name, each with its unit or order."""
    named = [f"{column.name!r}{_signs(column, ' ')}" for column in columns[:MOST_NAMED]]
    return ", ".join(named) + (f" and {len(columns) - MOST_NAMED} more" if len(columns) > MOST_NAMED else "")


def _signs(column: Column, before: str = "") -> str:
    signs = "" if column.reading is None else _signs_of(column.reading)
    return f"{before}{signs}" if signs else ""


def _signs_of(reading: Reading) -> str:
    """The signs that tell how numbers or dates are written, in brackets; nothing where there are none."""
    if reading.form == "number":
        signs = [reading.unit, f"decimal {reading.decimal!r}" if reading.decimal == "," else "", f"groups by {reading.grouping!r}" if reading.grouping else ""]  # fmt: skip
    else:
        signs = [ORDERS.get(reading.order, "")]
    held = ", ".join(filter(None, signs))
    return f"({held})" if held else ""


def one_spelling(labels: Any, target: str, console: Console, fold_case: bool = False) -> Any:
    """The column of classes with rare spellings that differ only in case made one, all where it was said to `fold_case`, each said."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(labels.type) and not pa.types.is_large_string(labels.type):
        return labels
    counted = pc.value_counts(labels.drop_null())
    counts: Mapping[str, int] = {entry["values"]: entry["counts"] for entry in counted.to_pylist()}
    merged, apart = spelled_as_one(counts, fold_case)
    for words in apart:
        console.note(f"the classes {', '.join(map(repr, words))} of {target!r} differ only in case; --fold-case reads them as one")  # fmt: skip
    if not merged:
        return labels
    said = ", ".join(f"{word!r} ({counts[word]:,}) as {first!r}" for word, first in merged.items())
    only = "differ only in case" if all(word.casefold() == first.casefold() for word, first in merged.items()) else "mean the same"  # fmt: skip
    console.note(f"spellings of {target!r} that {only} are read as one: {said}")
    for word, first in merged.items():
        labels = pc.if_else(pc.equal(labels, word), first, labels)
    return labels
