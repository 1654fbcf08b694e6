"""Averages over many super-parents: rows as lists of levels, joined with the logs of all pairs of levels, and grouped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from merula.classify.averaged import AveragedModel
from merula.classify.sql.dependent import Tree
from merula.classify.sql.lookups import as_whole
from merula.classify.sql.script import Named
from merula.classify.sql.terms import Task
from merula.core import Array, InputError
from merula.engines.dialects import (
    Dialect,
    Expression,
    column,
    compare,
    exp_of,
    identifier,
    listed,
    ln_of,
    minus,
    number,
    plus,
    small_table,
    sqlglot,
    text,
    when,
    whole,
)

JOINED = ("duckdb", "postgres", "sqlite", "spark")
MOST_NUMBERS = 20_000_000
DIGITS = 16
ROW, SLOT, ABOVE, CLASS, BELOW, LOG, PEAK = "row", "slot", "above", "class", "below", "log", "peak"


def averaged(model: AveragedModel, task: Task) -> list[Expression]:
    """log Σ over super-parents of P(class, row) but for what classes have in common; NULL where a row admits none."""
    dialect, script = task.dialect, task.cells.script
    if dialect.name not in JOINED:
        raise InputError.at("the model", f"averages so many columns that rows must be numbered, which {dialect.name} may do in two ways in one statement", remedy=f"use {', '.join(JOINED)}, or fewer columns")  # fmt: skip
    if model._looked_up is None:
        raise InputError.at("the model", "averages columns with too many levels for a statement", remedy="unite rare levels, or fit on fewer columns")  # fmt: skip
    columns, _, starts, weights, log_start, table = model._looked_up
    logs, tree = _with_starts(table, weights, log_start), Tree(columns, task)
    slots = [_slot(tree, j, int(starts[j]), logs, task) for j in range(len(columns.columns))]
    row = script.let(("row",), lambda: _row_number(dialect))
    alias = f"{script.prefix}average"

    def relations(before: str) -> list[Named]:
        return _relations(alias, before, row.name, slots, logs, dialect)

    script.join(alias, row, ROW, relations, slots)
    return [script.let(("average", c), lambda c=c: column(f"class {c}", alias)) for c in range(task.classes)]  # type: ignore[misc]


def _row_number(dialect: Dialect) -> Expression:
    exp = sqlglot().exp
    if dialect.name == "spark":  # the same each time it is asked, and known not to be a function of the row
        return exp.Anonymous(this="MONOTONICALLY_INCREASING_ID")
    return exp.Window(this=exp.RowNumber())


def _with_starts(table: Array, weights: Array, log_start: Array) -> dict[int, Array]:
    """For each level that may stand above others the logs of all levels below it; at its own place, that of itself."""
    width, classes = log_start.shape
    if width * width * classes > MOST_NUMBERS:
        raise InputError.at("the model", f"averages {width:,} levels of its columns, too many for a statement", remedy="unite rare levels, or fit on fewer columns")  # fmt: skip
    found = {}
    for above in np.flatnonzero(weights).tolist():
        own = table.reshape(width, width, classes)[above].copy()
        own[above] = log_start[above]
        found[above] = own
    return found


def _slot(tree: Tree, j: int, start: int, logs: dict[int, Array], task: Task) -> Expression:
    """Where a cell's level stands among all levels of all columns; −1 where nothing is known.

    A level never met stands above no other; where being missing is a level, it is that one below others.
    """
    cells, levels = tree.cells(j), tree.part.level_sets[j]
    if None in levels and cells[-1] == levels.index(None):
        for own in logs.values():
            own[start + len(levels)] = own[start + cells[-1]]
        cells[-1] = len(levels)
    places = [float(start + cell) if cell >= 0 else -1.0 for cell in cells]
    return as_whole(listed(places, tree.code(j), task.dialect))


def _relations(
    alias: str, before: str, row: str, slots: Sequence[Expression], logs: dict[int, Array], dialect: Dialect
) -> list[Named]:
    """Rows as levels, logs of pairs, sums over pairs, their peaks, the average, and one row for each row again."""
    exp = sqlglot().exp
    names = {one: f"{alias} {one}" for one in ("slots", "packed", "logs", "sums", "peaks", "means")}
    lowest = number(-1.7e308, dialect)

    def table(name: str, short: str | None = None) -> Expression:
        alias_ = exp.TableAlias(this=identifier(short)) if short else None
        return exp.Table(this=identifier(names[name]), alias=alias_)

    above, below, pairs = "a", "b", "l"
    on_row = exp.EQ(this=column(ROW, below), expression=column(ROW, above))
    on_slots = exp.And(this=exp.EQ(this=column(ABOVE, pairs), expression=column(SLOT, above)), expression=exp.EQ(this=column(BELOW, pairs), expression=column(SLOT, below)))  # fmt: skip
    groups = [column(ROW, above), column(CLASS, pairs), column(SLOT, above)]
    sums = (
        exp.Select(expressions=[*groups, _named(exp.Sum(this=column(LOG, pairs)), LOG)])
        .from_(table("slots", above))
        .join(table("slots", below), on=on_row)
        .join(table("logs", pairs), on=on_slots)
        .group_by(*groups)
    )
    window = exp.Window(this=exp.Max(this=column(LOG)), partition_by=[column(ROW), column(CLASS)])
    peaks = exp.Select(expressions=[column(ROW), column(CLASS), column(LOG), _named(window, PEAK)]).from_(table("sums"))
    none = compare("LT", column(PEAK), lowest)
    share = when([(none, number(1.0, dialect))], exp_of(minus(column(LOG), column(PEAK)), dialect))
    mean = plus(exp.Max(this=column(PEAK)), ln_of(exp.Sum(this=share)))
    means = exp.Select(expressions=[column(ROW), column(CLASS), _named(mean, LOG)]).from_(table("peaks")).group_by(column(ROW), column(CLASS))  # fmt: skip
    classes = range(next(iter(logs.values())).shape[1])
    wide = [_named(exp.Max(this=when([(compare("EQ", column(CLASS), whole(c)), column(LOG))])), f"class {c}") for c in classes]  # fmt: skip
    rows = exp.Select(expressions=[column(ROW), *wide]).from_(table("means")).group_by(column(ROW))
    packed, unpacked = _logs(logs, names["packed"], dialect)
    return [
        (names["slots"], _slots(before, row, slots, dialect)),
        (names["packed"], packed),
        (names["logs"], unpacked),
        (names["sums"], sums),
        (names["peaks"], peaks),
        (names["means"], means),
        (alias, rows),
    ]


def _named(one: Expression, name: str) -> Expression:
    return sqlglot().exp.Alias(this=one, alias=identifier(name))


def _slots(before: str, row: str, slots: Sequence[Expression], dialect: Dialect) -> Expression:
    """A row for each row and level that it holds."""
    exp = sqlglot().exp
    source = exp.Table(this=identifier(before))
    if dialect.name == "sqlite":  # a list as JSON: a function takes no more than 127 arguments
        words = [exp.cast(slot, "text") for slot in slots]
        comma = exp.Literal.string(",")
        packed = _joined_words(words, comma)
        json = exp.DPipe(this=exp.DPipe(this=exp.Literal.string("["), expression=packed), expression=exp.Literal.string("]"))  # fmt: skip
        each = exp.Table(this=exp.Anonymous(this="JSON_EACH", expressions=[json]))
        chosen = exp.Select(expressions=[_named(column(row), ROW), _named(column("value"), SLOT)])
        return chosen.from_(source).join(each, join_type="cross").where(compare("GTE", column("value"), whole(0)))
    many = exp.Explode(this=exp.Array(expressions=list(slots)))
    inner = exp.Select(expressions=[_named(column(row), ROW), _named(many, SLOT)]).from_(source)
    outer = exp.Select(expressions=[column(ROW), column(SLOT)]).from_(inner.subquery(identifier("levels")))
    return outer.where(compare("GTE", column(SLOT), whole(0)))


def _joined_words(words: Sequence[Expression], comma: Expression) -> Expression:
    """Words with commas between them, not deep."""
    exp = sqlglot().exp
    if len(words) == 1:
        return words[0]
    half = len(words) // 2
    left, right = _joined_words(words[:half], comma), _joined_words(words[half:], comma)
    return exp.Paren(this=exp.DPipe(this=exp.DPipe(this=left, expression=comma), expression=right))


def _logs(logs: dict[int, Array], packed: str, dialect: Dialect) -> tuple[Expression, Expression]:
    """Logs of pairs written as one word for each level above and class, and how they are taken apart."""
    rows = [
        [whole(above), whole(c), text(_packed(table[:, c], dialect), dialect)]
        for above, table in logs.items()
        for c in range(table.shape[1])
    ]
    width = len(next(iter(logs.values())))
    return small_table([ABOVE, CLASS, LOG], rows, dialect), _UNPACKED[dialect.name](packed, width)


def _packed(values: Array, dialect: Dialect) -> str:
    opening, closing, endless = {
        "duckdb": ("[", "]", "-inf"),
        "postgres": ("{", "}", "-inf"),
        "sqlite": ("[", "]", "-9e999"),
        "spark": ("", "", "-Infinity"),
    }[dialect.name]
    words = [endless if value == -np.inf else f"{value:.{DIGITS}g}" for value in values.tolist()]
    return f"{opening}{','.join(words)}{closing}"


def _unpacked_duckdb(packed: str, width: int) -> Expression:
    exp = sqlglot().exp
    places = exp.Anonymous(this="UNNEST", expressions=[exp.Anonymous(this="RANGE", expressions=[whole(width)])])
    values = exp.Anonymous(this="UNNEST", expressions=[exp.cast(column(LOG), "array<double>")])
    return _taken_apart(packed, _named(places, BELOW), _named(values, LOG))


def _unpacked_postgres(packed: str, width: int) -> Expression:
    exp = sqlglot().exp
    places = exp.Anonymous(this="GENERATE_SERIES", expressions=[whole(0), whole(width - 1)])
    values = exp.Anonymous(this="UNNEST", expressions=[exp.cast(column(LOG), "array<double>")])
    return _taken_apart(packed, _named(places, BELOW), _named(values, LOG))


def _unpacked_spark(packed: str, _: int) -> Expression:
    exp = sqlglot().exp
    split = exp.Anonymous(this="SPLIT", expressions=[column(LOG), exp.Literal.string(",")])
    both = exp.Posexplode(this=exp.cast(split, "array<double>"))
    return _taken_apart(packed, exp.Aliases(this=both, expressions=[identifier(BELOW), identifier(LOG)]))


def _unpacked_sqlite(packed: str, _: int) -> Expression:
    exp = sqlglot().exp
    each = exp.Table(this=exp.Anonymous(this="JSON_EACH", expressions=[column(LOG)]))
    found = _taken_apart(packed, _named(column("key"), BELOW), _named(column("value"), LOG))
    return found.join(each, join_type="cross")


_UNPACKED: dict[str, Any] = {
    "duckdb": _unpacked_duckdb,
    "postgres": _unpacked_postgres,
    "spark": _unpacked_spark,
    "sqlite": _unpacked_sqlite,
}


def _taken_apart(packed: str, *found: Expression) -> Expression:
    exp = sqlglot().exp
    return exp.Select(expressions=[column(ABOVE), column(CLASS), *found]).from_(exp.Table(this=identifier(packed)))
