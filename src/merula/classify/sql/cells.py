"""A table's cells as a model reads them: numbers, times as counts of their unit, and the place of a level among those known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from merula.classify.sql.script import Script
from merula.core import InputError
from merula.data.intervals import interval_labels
from merula.data.schema import BOOLEANS, FIGURES, OTHER, Column, Label, Schema
from merula.data.table.cell_values import times_longer
from merula.data.words import ALWAYS_MISSING, as_labels, clean
from merula.data.words.numbers import PLAIN
from merula.engines.dialects import (
    Expression,
    as_double,
    column as named,
    compare,
    is_null,
    label,
    matched,
    minus,
    number,
    number_of_cell,
    parted,
    plus,
    small_table,
    sqlglot,
    text,
    times,
    when,
    whole,
    within,
)

MOST_CASES = 64  # levels told apart one after the other; more are joined
EXACT = 2**53  # whole numbers that floats tell apart
BLANKS, UNSEEN = (
    "\t\n\r\u00a0\u202f\u3000",
    "\u00ad\u200b\u2060\ufeff",
)  # those that tables hold, and no sign that a terminal obeys
SECOND = "datetime64[s]"
LARGEST = 1.7976931348623157e308


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a model's columns in a script; `unseen` is what the model does with a level that it has not met."""

    script: Script
    schema: Schema
    unseen: str

    @property
    def dialect(self) -> Any:
        """What the database speaks."""
        return self.script.dialect

    def _cell(self, column: Column) -> Expression:
        """A column of the table itself; named with its table, for SQLite takes a name that is none of a column for a word."""
        return named(column.name, self.script.record)

    # ------------------------------------------------------------------------------------------------ numbers

    def number(self, name: str) -> Expression:
        """A column of numbers as floats, NULL where missing; infinity leaves a row without an answer, for it is an error to the model."""
        column = self.schema[name]
        return self.script.let(("number", name), lambda: self._number(column))

    def _number(self, column: Column) -> Expression:
        _refuse_reading(column)
        cell = self._cell(column)
        if column.unit is not None:
            return self._count_of_time(cell, column)
        value = number_of_cell(cell, self.dialect)
        gaps = [float(word) for word in (column.reading.missing if column.reading else ()) if PLAIN.fullmatch(word)]
        for gap in gaps:
            value = sqlglot().exp.Nullif(this=value, expression=number(gap, self.dialect))
        return value

    def _count_of_time(self, cell: Expression, column: Column) -> Expression:
        """An instant as a count of the column's unit since 1970."""
        kind, _, unit = (column.unit or "").partition("[")
        if kind != "datetime64" or unit in ("Y]", "M]"):
            _refuse(column, f"counts {column.unit}, which databases do not tell alike", "give it as numbers")
        value, counts = _instant(cell, self.dialect.name, typed=column.reading is None)
        return times(as_double(value), number(times_longer(counts, str(column.unit)), self.dialect))

    def clipped(self, name: str, low: float, high: float) -> Expression:
        """A column of numbers, none beyond these bounds."""
        value = self.number(name)
        return self.script.let(("clipped", name, low, high), lambda: within(value, low, high, self.dialect))

    def read(self, name: str) -> Expression:
        """A column of numbers as it was read last: NULL where missing, so that it need not be kept in two ways."""
        made = [cell for key, cell in self.script.made.items() if key[:2] == ("clipped", name)]
        return made[-1] if made else self.number(name)

    # ------------------------------------------------------------------------------------------------ levels

    def code(self, name: str, levels: Sequence[Label]) -> Expression:
        """The place of each cell's level among these; one more than the last where it is missing, two more where it is none of them."""
        known = tuple(level for level in levels if level is not None)
        return self.script.let(("code", name, known), lambda: self._code(self.schema[name], known))

    def _code(self, column: Column, known: tuple[Label, ...]) -> Expression:
        if column.cuts is not None and column.kind == "categorical":
            return self._interval(column, known)
        kinds = {bool if isinstance(level, bool) else int if isinstance(level, int | float) else type(level) for level in known}  # fmt: skip
        if kinds <= {str}:
            return self._word(column, known)
        if kinds == {bool}:
            cell = self._cell(column)
            places = [(label(level, self.dialect), whole(k)) for k, level in enumerate(known)]
            return when([(is_null(cell), whole(len(known)))], matched(cell, places, whole(len(known) + 1)))
        if kinds == {int}:
            return self._figure(column, known)
        return _refuse(column, "has labels of several kinds, and a column of a database has one", "make them all words")

    def tell_problems(self) -> None:
        """Say which cells are errors to the model: infinity, and where it was asked for, a level never seen."""
        exp = sqlglot().exp
        for key, cell in list(self.script.made.items()):
            if key[0] == "number" and self.schema[key[1]].unit is None:
                endless = compare("GT", exp.Abs(this=cell), number(LARGEST, self.dialect))
                self.script.problem(endless, f"infinite: {key[1]}")
            if key[0] == "code" and self.unseen == "error" and self.schema[key[1]].cuts is None:
                strange = compare("EQ", cell, whole(len(key[2]) + 1))
                self.script.problem(strange, f"level never seen: {key[1]}")

    def _interval(self, column: Column, known: tuple[Label, ...]) -> Expression:
        """The place of the interval that a number lies in."""
        value = self.number(column.name)
        place = {level: k for k, level in enumerate(known)}
        results = [whole(place.get(level, len(known) + 1)) for level in interval_labels(column.cuts or ())]
        own = [level for level in column.levels or () if level is not None]
        if own != list(interval_labels(column.cuts or ())):
            results = [whole(place.get(level, len(known) + 1)) for level in own]
        found = parted(value, column.cuts or (), results, self.dialect)
        return when([(is_null(value), whole(len(known)))], found)

    def _figure(self, column: Column, known: tuple[Label, ...]) -> Expression:
        """The place of a whole number or a float among the levels."""
        exact = all(abs(level) < EXACT for level in known)
        cell = self._cell(column)
        value = self.script.let(("figure", column.name), lambda: number_of_cell(cell, self.dialect)) if exact else cell
        gaps = [float(word) for word in (column.reading.missing if column.reading else ()) if PLAIN.fullmatch(word)]

        def literal(one: Label) -> Expression:
            return number(float(one), self.dialect) if exact else label(one, self.dialect)

        places = [(literal(level), k) for k, level in enumerate(known)]
        places += [(literal(gap), len(known)) for gap in gaps if gap not in known]
        return self._placed(column.name, value, places, len(known))

    def _word(self, column: Column, known: tuple[Label, ...]) -> Expression:
        """The place of a word among the levels, blanks at its ends undone, words that mean missing or a level read as the model does."""
        if column.reading is not None and column.reading.fold_case:
            _refuse(column, "is read with letters of any case, which databases fold differently", "write its levels one way")  # fmt: skip
        exp, levels = sqlglot().exp, frozenset(known)
        cell = exp.cast(self._cell(column), "text")
        cleaned = all(level == clean(level) for level in known)
        word = exp.Trim(this=self._cleaned(cell)) if cleaned else cell
        value = self.script.let(("word", column.name, cleaned), lambda: word)
        others = [one for one in _spellings(column) if one not in levels]
        read = dict(zip(others, as_labels(others, column.reading, known), strict=True))
        place = {level: k for k, level in enumerate(known)} | {None: len(known)}
        places = [(text(level, self.dialect), k) for k, level in enumerate(known)]
        places += [(text(one, self.dialect), place[found]) for one, found in read.items() if found in place]
        return self._placed(column.name, value, places, len(known), place.get(OTHER))

    def _cleaned(self, cell: Expression) -> Expression:
        """A word with the common blanks as spaces, and without the common signs that cannot be seen."""
        exp = sqlglot().exp
        if self.dialect.name != "sqlite":
            signs = [text(BLANKS + UNSEEN, self.dialect), text(" " * len(BLANKS), self.dialect)]
            return exp.Anonymous(this="TRANSLATE", expressions=[cell, *signs])
        for sign, instead in (*((blank, " ") for blank in BLANKS), *((unseen, "") for unseen in UNSEEN)):
            parts = [cell, text(sign, self.dialect), exp.Literal.string(instead)]
            cell = exp.Anonymous(this="REPLACE", expressions=parts)
        return cell

    def _placed(self, name: str, value: Expression, places: list[tuple[Expression, int]], count: int, other: int | None = None) -> Expression:  # fmt: skip
        """Which place a value has, `other` one that is not listed: told case by case, or joined from a small table where there are many."""
        lost, never = (is_null(value), whole(count)), whole(count + 1 if other is None else other)
        if len(places) <= MOST_CASES:
            found = matched(value, [(one, whole(k)) for one, k in places], never)
            return when([lost], found)
        alias = f"{self.script.prefix}levels {len(self.script.joins)}"
        own, standing = f"{alias} level", f"{alias} place"
        rows = [[one, whole(k)] for one, k in places]
        if value.name not in self.script.lines:
            value = self.script.let(("cell", name), lambda: value)
        self.script.join(alias, value, own, lambda _: [(alias, small_table([own, standing], rows, self.dialect))])
        exp = sqlglot().exp
        return when([lost], exp.Coalesce(this=named(standing, alias), expressions=[never]))


def _spellings(column: Column) -> list[str]:
    """Words that may mean a level or missing without being one: those for missing, and yes and no in several spellings."""
    own = set(column.reading.missing) if column.reading else set()
    plain = {word for pair in (*BOOLEANS, FIGURES) for side in pair for word in side}
    cased = {form for word in plain for form in (word, word.capitalize(), word.upper())}
    return sorted(ALWAYS_MISSING | own | cased)


def _instant(cell: Expression, dialect: str, typed: bool) -> tuple[Expression, str]:
    """The instant in a cell as a number, and what that counts; a `typed` cell is an instant already, perhaps with a time zone."""
    exp = sqlglot().exp
    micros = "datetime64[us]"
    stamp = cell if typed and dialect in ("duckdb", "postgres") else exp.cast(cell, "timestamp")
    if dialect == "duckdb":
        return exp.Anonymous(this="EPOCH_US", expressions=[stamp]), micros
    if dialect == "spark":
        wall = exp.DataType.build("timestamp_ntz", dialect="spark")
        zero = exp.cast(exp.Literal.string("1970-01-01 00:00:00"), wall)
        parts = [exp.Var(this="MICROSECOND"), zero, exp.cast(cell, wall)]
        return exp.Anonymous(this="TIMESTAMPDIFF", expressions=parts), micros
    if dialect == "sqlite":
        seconds, exact, rounded = (as_double(exp.Anonymous(this="STRFTIME", expressions=[exp.Literal.string(form), cell])) for form in ("%s", "%f", "%S"))  # fmt: skip
        return plus(seconds, minus(exact, rounded)), SECOND
    if dialect == "bigquery":
        return exp.Anonymous(this="UNIX_MICROS", expressions=[stamp]), micros
    if dialect == "snowflake":
        wall = exp.DataType.build("timestamp_ntz", dialect="snowflake")
        parts = [exp.Var(this="EPOCH_MICROSECOND"), exp.cast(cell, wall)]
        return exp.Anonymous(this="DATE_PART", expressions=parts), micros
    if dialect == "trino":
        return exp.Anonymous(this="TO_UNIXTIME", expressions=[stamp]), SECOND
    return exp.Extract(this=exp.Var(this="EPOCH"), expression=stamp), SECOND


def _refuse_reading(column: Column) -> None:
    """An error where words were read as numbers in a way that SQL cannot."""
    reading = column.reading
    if reading is None or column.unit is not None:
        return
    if reading.form == "time of day":
        _refuse(column, "was learned from times of day", "give it as seconds, and fit again")
    if reading.unit or reading.grouping or reading.decimal != ".":
        said = f"amounts in {reading.unit}" if reading.unit else "numbers written with other signs"
        _refuse(column, f"was learned from words that are {said}, which SQL does not read", "make it a column of numbers, and fit again")  # fmt: skip


def _refuse(column: Column, why: str, remedy: str) -> Any:
    raise InputError.at(f"column {column.name!r}", f"cannot be read in SQL: it {why}", remedy=remedy)
