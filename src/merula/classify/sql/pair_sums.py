"""Sums of logs over all pairs of levels that a row holds, as each database adds them up fastest.

A row of n columns has n² pairs, so that what is done for each of them decides: a look into a list of logs where the database has
lists, and into an index in SQLite, which has none; for all classes at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from merula.classify.sql.script import Named
from merula.core import Array
from merula.engines.dialects import (
    MOST_ARGUMENTS,
    Dialect,
    Expression,
    as_double,
    column,
    compare,
    identifier,
    number,
    plus,
    small_table,
    sqlglot,
    text,
    whole,
)

ROW, SLOTS, SLOT, ABOVE, BELOW, PACKED = "row", "slots", "slot", "above", "below", "packed"
DIGITS, CELL = 17, 24  # of a number, and the characters of one beside others in a word (SQLite)
LEAST = -1.79e308  # instead of −∞, which SQLite writes in a way that it does not read


def log_of(c: int) -> str:
    """What the logs of a class are called."""
    return f"log {c}"


def as_named(one: Expression, name: str) -> Expression:
    """An expression under a name."""
    return sqlglot().exp.Alias(this=one, alias=identifier(name))


def table_called(name: str, short: str | None = None) -> Expression:
    """A relation of the statement, perhaps under a shorter name."""
    exp = sqlglot().exp
    return exp.Table(this=identifier(name), alias=exp.TableAlias(this=identifier(short)) if short else None)


def selected(*found: Expression) -> Expression:
    """SELECT these."""
    return sqlglot().exp.Select(expressions=list(found))


def called(name: str, *parts: Expression) -> Expression:
    """name(parts)."""
    return sqlglot().exp.Anonymous(this=name, expressions=list(parts))


@dataclass(frozen=True, eq=False)
class PairSums:
    """For each row and level that stands above others the sum of each class's logs, of rows that hold `slots`.

    Slots are levels counted through all columns from 0, −1 where nothing is known; `logs` has for each level above the logs of all
    levels below it, by class.
    """

    alias: str
    slots: Sequence[Expression]
    logs: dict[int, Array]
    dialect: Dialect

    @property
    def classes(self) -> range:
        """The places of the classes."""
        return range(next(iter(self.logs.values())).shape[1])

    def relations(self, before: str, row: str) -> list[Named]:
        """Common table expressions, the last of which holds the sums."""
        held = selected(as_named(column(row), ROW), as_named(self._list(), SLOTS)).from_(table_called(before))
        return [(self._name(SLOTS), held), *_SUMS[self.dialect.name](self)]

    def _name(self, of: str) -> str:
        return f"{self.alias} {of}"

    def _equal(self, one: str, left: str, other: str, right: str) -> Expression:
        return compare("EQ", column(left, one), column(right, other))

    # ------------------------------------------------------------------------------------------------ databases with lists

    def _list(self) -> Expression:
        """The levels of a row as a list; as a word of JSON in SQLite, a function of which takes no more than 127 arguments."""
        exp = sqlglot().exp
        if self.dialect.name == "sqlite":
            words = _joined([exp.cast(slot, "text") for slot in self.slots], exp.Literal.string(","))
            return exp.DPipe(this=exp.DPipe(this=exp.Literal.string("["), expression=words), expression=exp.Literal.string("]"))  # fmt: skip
        first = 0 if self.dialect.name == "spark" else 1  # where lists begin
        return exp.Array(expressions=[plus(slot, whole(first)) if first else slot for slot in self.slots])

    def _lists(self) -> list[Named]:
        """A list of logs for each level above and each class: written as a word, and read once."""
        exp = sqlglot().exp
        opening, closing, endless, first = _WRITTEN[self.dialect.name]
        rows = []
        for above, table in self.logs.items():
            words = [",".join(_word(log, endless) for log in table[:, c].tolist()) for c in self.classes]
            rows.append([whole(above + first), *(text(f"{opening}{word}{closing}", self.dialect) for word in words)])
        packed = small_table([ABOVE, *map(log_of, self.classes)], rows, self.dialect)

        def read(name: str) -> Expression:
            word = column(name)
            return exp.cast(called("SPLIT", word, exp.Literal.string(",")) if not opening else word, "array<double>")

        logs = selected(column(ABOVE), *(as_named(read(name), name) for name in map(log_of, self.classes)))
        return [(self._name(PACKED), packed), (self._name("logs"), logs.from_(table_called(self._name(PACKED))))]

    def _above(self, opened: Expression) -> Expression:
        """For each row and level that it holds the lists of logs below that level: `a` the row, `l` the lists."""
        rows = selected(column(ROW), column(SLOTS), as_named(opened, ABOVE)).from_(table_called(self._name(SLOTS)))
        lists = table_called(self._name("logs"), "l")
        found = selected(column(ROW, "a"), column(ABOVE, "a"))
        return found.from_(rows.subquery(identifier("a"))).join(lists, on=self._equal("l", ABOVE, "a", ABOVE))

    def _in_duckdb(self) -> list[Named]:
        query = self._above(called("UNNEST", column(SLOTS)))
        for name in map(log_of, self.classes):
            below = called("LIST_SELECT", column(name, "l"), column(SLOTS, "a"))
            query = query.select(as_named(called("LIST_SUM", below), name))
        return [*self._lists(), (self._name("sums"), query)]

    def _in_postgres(self) -> list[Named]:
        exp = sqlglot().exp
        below = exp.Table(this=called("UNNEST", column(SLOTS, "a")), alias=exp.TableAlias(this=identifier("b"), columns=[identifier(SLOT)]))  # fmt: skip
        sums = [as_named(exp.Sum(this=exp.Bracket(this=column(name, "l"), expressions=[column(SLOT, "b")], offset=1)), name) for name in map(log_of, self.classes)]  # fmt: skip
        each = exp.Lateral(this=selected(*sums).from_(below).subquery(), alias=exp.TableAlias(this=identifier("x")))
        query = self._above(called("UNNEST", column(SLOTS))).join(each, join_type="cross")
        query = query.select(*(column(log_of(c), "x") for c in self.classes))
        return [*self._lists(), (self._name("sums"), query)]

    def _in_spark(self) -> list[Named]:
        exp = sqlglot().exp
        names = list(map(log_of, self.classes))
        each = self._above(exp.Explode(this=column(SLOTS))).select(*(column(name, "l") for name in names))
        each = each.select(as_named(exp.Explode(this=column(SLOTS, "a")), SLOT))
        sums = [as_named(exp.Sum(this=called("GET", column(name), column(SLOT))), name) for name in names]
        keys = [column(ROW), column(ABOVE)]
        query = selected(*keys, *sums).from_(each.subquery(identifier("b"))).group_by(*keys)
        return [*self._lists(), (self._name("sums"), query)]

    # ------------------------------------------------------------------------------------------------ SQLite

    def _in_sqlite(self) -> list[Named]:
        """A row for each pair of levels, found by an index; sums as one word, for a query within another gives one value."""
        exp = sqlglot().exp
        words = {above: ",".join(f'"{"".join(_cell(log) for log in logs)}"' for logs in table.tolist()) for above, table in self.logs.items()}  # fmt: skip
        rows = [[whole(above), text(f"[{word}]", self.dialect)] for above, word in words.items()]
        packed = small_table([ABOVE, PACKED], rows, self.dialect)
        logs = selected(column(ABOVE), as_named(column("key"), BELOW), *self._cells(column("value")))
        logs = logs.from_(table_called(self._name(PACKED))).join(_each(column(PACKED)), join_type="cross")
        sums = [called("MAX", exp.Sum(this=column(log_of(c), "l")), number(LEAST, self.dialect)) for c in self.classes]
        both = exp.And(this=self._equal("l", ABOVE, "a", "value"), expression=self._equal("l", BELOW, "b", "value"))
        groups = [sums[start : start + MOST_ARGUMENTS] for start in range(0, len(sums), MOST_ARGUMENTS)]
        printed = [called("PRINTF", exp.Literal.string(f"%!{CELL}.{DIGITS}g" * len(some)), *some) for some in groups]
        within = selected(_joined(printed, exp.Literal.string(""))).from_(_each(column(SLOTS, "r"), "b"))
        within = within.join(table_called(self._name("logs"), "l"), join_type="cross").where(both)
        each = selected(column(ROW, "r"), as_named(column("value", "a"), ABOVE), as_named(exp.Subquery(this=within), PACKED))  # fmt: skip
        each = each.from_(table_called(self._name(SLOTS), "r")).join(_each(column(SLOTS, "r"), "a"), join_type="cross")
        above = selected(column(ABOVE)).from_(table_called(self._name(PACKED)))
        each = each.where(exp.In(this=column("value", "a"), query=exp.Subquery(this=above)))
        found = selected(column(ROW), column(ABOVE), *self._cells(column(PACKED))).from_(table_called(self._name("words")))  # fmt: skip
        return [(self._name(PACKED), packed), (self._name("logs"), logs), (self._name("words"), each), (self._name("sums"), found)]  # fmt: skip

    def _cells(self, word: Expression) -> list[Expression]:
        """The numbers of all classes that stand in one word."""
        cut = [called("SUBSTR", word, whole(1 + CELL * c), whole(CELL)) for c in self.classes]
        return [as_named(as_double(one), log_of(c)) for c, one in enumerate(cut)]


def _word(log: float, endless: str) -> str:
    return endless if log == -np.inf else f"{log:.{DIGITS}g}"


def _cell(log: float) -> str:
    return f"{max(log, LEAST):{CELL}.{DIGITS}g}"


def _each(word: Expression, short: str | None = None) -> Expression:
    """The parts of a list in JSON (SQLite)."""
    exp = sqlglot().exp
    return exp.Table(this=called("JSON_EACH", word), alias=exp.TableAlias(this=identifier(short)) if short else None)


def _joined(words: Sequence[Expression], sign: Expression) -> Expression:
    """Words with a sign between them, not deep."""
    exp = sqlglot().exp
    if len(words) == 1:
        return words[0]
    half = len(words) // 2
    left, right = _joined(words[:half], sign), _joined(words[half:], sign)
    return exp.Paren(this=exp.DPipe(this=exp.DPipe(this=left, expression=sign), expression=right))


# how a list is written, −∞ in it, and where it begins
_WRITTEN = {
    "duckdb": ("[", "]", "-inf", 1),
    "postgres": ("{", "}", "-inf", 1),
    "spark": ("", "", "-Infinity", 0),
}
_SUMS = {
    "duckdb": PairSums._in_duckdb,
    "postgres": PairSums._in_postgres,
    "spark": PairSums._in_spark,
    "sqlite": PairSums._in_sqlite,
}
JOINED = tuple(_SUMS)
