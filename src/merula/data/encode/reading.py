"""The cells of a column as its schema reads them: words that mean numbers or times, and labels in their one spelling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import InputError, Option, fields_of, located, warn_user
from merula.data.encode.kinds import ORDERS, shown
from merula.data.schema import Column, Label, Reading
from merula.data.table import Table, distinct_labels, time_numbers
from merula.data.units import same_unit
from merula.data.words import Hints, as_labels, as_numbers, clean, understand, without_gaps
from merula.data.words.decision import time_kind, truth_in_words
from merula.data.words.numbers import PLAIN
from merula.data.words.times import are_compact, is_impossible, names_month

_one_way: ContextVar[bool] = ContextVar("whether words are read as the schema says and in no other way", default=False)


@contextmanager
def one_way() -> Iterator[None]:
    """While it is open, words are read as the schema says and in no other way: rows of one fit mean the same."""
    before = _one_way.set(True)
    try:
        yield
    finally:
        _one_way.reset(before)


def numbers_read(table: Table, column: Column, position: int) -> NDArray[Any]:
    """A column of numbers or times as numbers, NaN for missing, its words as the schema reads them."""
    try:
        if table.kind(position)[0] == "categorical":
            codes, labels = table.codes(position)
            if any(isinstance(label, str) for label in labels):
                return np.append(worded_numbers(labels, column, table.hints.date_order), np.nan)[codes]
        if (column.unit or "").startswith("datetime64") and table.kind(position)[0] == "numeric":
            found = table.numbers(position, None)
            if (column.reading is not None and column.reading.form == "date") or _are_days(found):
                return _days_without_signs(found, column)
        return without_sentinels(table.numbers(position, column.unit), column)
    except ValueError as error:
        raise (error if fields_of(error).get("where") else located(error, f"column {column.name!r}", " ")) from None


def worded_numbers(words: Sequence[Label], column: Column, order: str | None = None) -> NDArray[np.float64]:
    """The number that each word of a column of numbers or times means, NaN for missing; an error where one means none.

    `order` is what was said of the day, month and year of these words.
    """
    also, kind = (column.reading.missing if column.reading else ()), "datetime" if column.unit else "numeric"
    said = [word for word in words if isinstance(word, str)]
    only = _one_way.get() and column.reading is not None
    for reading in (column.reading,) if only else _ways(column, said, kind, order):
        if reading is not None and time_kind(reading) == (column.unit or "").partition("[")[0]:
            values, strange = as_numbers(words, replace(reading, missing=also))
            impossible = [word for word in strange if reading.form == "date" and is_impossible(clean(word))]
            if len(impossible) == len(strange):
                _note_impossible(column.name, impossible)
                _check_change(column, reading)
                _check_decimal(column, reading, words, values)
                return _counted_in(values, column.unit)
    strange = without_gaps(map(clean, said), also)[0]
    if not strange:
        return np.full(len(words), np.nan)
    what = {"datetime64": "date", "timedelta64": "duration"}.get((column.unit or "").partition("[")[0], "number")
    worst = [word for word in strange if understand([word], wanted=kind) is None]
    if only and not worst:
        raise InputError.at(f"column {column.name!r}", f"holds {shown(strange)}, which is not written as in the first rows, and what these tell holds for all", remedy=("state how it is written: ", Option("date_order"), " or ", Option("decimal")))  # fmt: skip
    raise InputError.at(
        f"column {column.name!r}",
        f"is {'numeric' if what == 'number' else f'a {what}'} but holds something else ({shown(worst or strange)})",
        remedy=(f"make it a {what} or leave the cell empty, or at fit say ", Option("kinds", "categorical", column=column.name)),
    )  # fmt: skip


def _ways(column: Column, words: Sequence[str], kind: str, order: str | None) -> Iterator[Reading | None]:
    """How words of a column may be read: as was said of their days, as those that were learned from, as they are written here, or plainly."""
    if order is not None and kind == "datetime" and (column.reading is None or column.reading.order != order):
        yield understand(words, hints=Hints(date_order=order), wanted=kind)
    yield column.reading
    if column.reading is not None and column.reading.form == "number" and column.reading.decimal == ",":
        yield understand(words, hints=Hints(decimal=","), wanted=kind)  # with other signs, but the same decimal comma
    yield understand(words, wanted=kind)
    yield Reading("number")  # codes such as 007, where it is known that they are numbers


def _are_days(values: NDArray[Any]) -> bool:
    """Whether all numbers are days of plausible years, such as 20190131."""
    known = np.unique(values[~np.isnan(values)])
    return (
        len(known) > 0 and bool((known == np.round(known)).all()) and are_compact([f"{value:.0f}" for value in known])
    )


def _days_without_signs(values: NDArray[Any], column: Column) -> NDArray[Any]:
    """Numbers such as 20190131 and 10.2019 as the days that they are, where a column holds days."""
    different, places = np.unique(values, return_inverse=True)
    words = [None if np.isnan(value) else _as_written(float(value)) for value in different]
    return worded_numbers(words, column)[places]


def _as_written(value: float) -> str:
    """A number as a day or a month was written that was taken for it."""
    if value.is_integer():
        return f"{value:.0f}"
    month = f"{value:.4f}"
    return month if names_month(month) and float(month) == value else repr(value)


def _note_impossible(name: str, words: Sequence[str]) -> None:
    """A warning of days that there are not, in new rows."""
    if words:
        warn_user(f"column {name!r} holds {shown(words)}, no {'day' if len(words) == 1 else 'days'} that there {'is' if len(words) == 1 else 'are'}, read as missing", UserWarning)  # fmt: skip


def _check_change(column: Column, here: Reading) -> None:
    """An error where cells count another unit than those learned from; a warning where day and month stand the other way round."""
    then = column.reading
    if then is None or then == here:
        return
    if then.unit and here.unit and not same_unit(then.unit, here.unit):
        raise InputError.at(
            f"column {column.name!r}",
            f"holds amounts in {here.unit}, but those learned from are in {then.unit}",
            remedy=f"give them in {then.unit}",
        )
    if {then.order, here.order} == {"dmy", "mdy"}:
        doubt = ", where either would have fitted: state the order and fit again" if then.ambiguous else ""
        warn_user(f"column {column.name!r} is read as days, {ORDERS[here.order]}; at fit it was read {ORDERS[then.order]}{doubt}", UserWarning)  # fmt: skip


def _check_decimal(column: Column, here: Reading, words: Sequence[Label], values: Sequence[float | None]) -> None:
    """A warning where the decimal sign is another than at fit, and some word would have been another number then."""
    then = column.reading
    if then is None or then.form != "number" or then.decimal == here.decimal:
        return
    for word, value, before in zip(words, values, as_numbers(words, then)[0], strict=True):
        if value is not None and before is not None and value != before:
            warn_user(f"column {column.name!r} is read with the decimal sign {here.decimal!r}, so that {word!r} is {value:g}; at fit it was {then.decimal!r}, and the word {before:g}", UserWarning)  # fmt: skip
            return


def _counted_in(values: Sequence[float | int | None], unit: str | None) -> NDArray[np.float64]:
    """Numbers with NaN for None; microseconds as a count of `unit`, to the bit that times of a library would be."""
    if unit is None:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    kind, nothing = unit.partition("[")[0], np.iinfo(np.int64).min
    whole = all(value is None or value % 1000 == 0 for value in values)
    counts = [nothing if value is None else int(value) // (1000 if whole else 1) for value in values]
    return time_numbers(np.array(counts, dtype=np.int64).view(f"{kind}[{'ms' if whole else 'us'}]"), unit)


def without_sentinels(values: NDArray[Any], column: Column) -> NDArray[Any]:
    """The numbers, NaN where one was said to mean that there is none."""
    words = column.reading.missing if column.reading and column.unit is None else ()
    sentinels = [float(word) for word in words if PLAIN.fullmatch(word)]
    if not sentinels or not (out := np.isin(values, sentinels)).any():
        return values
    return np.where(out, np.nan, values)


def read_codes(table: Table, column: Column, position: int) -> tuple[NDArray[Any], Sequence[Label]]:
    """Codes and labels of a column of categories, as its labels are read; those of a library's own categories stay as they are."""
    codes, labels = table.codes(position)
    if column.levels is None and column.reading is None and table.has_categories(position):
        return codes, labels
    read = as_labels(truth_in_words(labels, column.reading, column.levels), column.reading, column.levels)
    return (codes, labels) if read == list(labels) else distinct_labels(codes, read)
