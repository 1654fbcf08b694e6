"""Statements: where rows come from, groups and what is added up within them, and the rows of a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp, parse
from sqlglot.errors import SqlglotError

from merula.core import InputError
from merula.engines.dialects import refuse_changes
from merula.engines.sql.expressions import double, whole

WEYL = 2_654_435_769  # 2³² / golden ratio: multiples of it, modulo 2³², lie evenly, whatever period a table has
ROUND = 2**31  # row numbers begin anew, so that products stay within 63 bits


def table_named(table: str, schema: str | None = None) -> Any:
    """A table by its quoted name."""
    if not isinstance(table, str) or not table:
        raise InputError.of("table", table, "the name of a table")
    return exp.table_(table, db=schema, quoted=True)


def read_query(text: str, dialect: str) -> Any:
    """A SELECT as something to select from; an `InputError` where it is something else, or several."""
    try:
        parsed = [one for one in parse(text, read=dialect) if one is not None]
    except SqlglotError as error:
        raise InputError.at("query", f"cannot be read ({str(error).splitlines()[0]})", remedy="give one SELECT") from None  # fmt: skip
    if len(parsed) != 1 or not isinstance(parsed[0], exp.Query):
        raise InputError.of("query", text, "one SELECT", "rows are only read")
    refuse_changes(parsed[0], "query")
    return parsed[0].subquery("given")


def grouped(source: Any, keys: Sequence[str], sums: Mapping[str, exp.Expression], most: int | None = None) -> Any:
    """SELECT keys, sums FROM source GROUP BY keys; not more than `most` rows."""
    said = [exp.column(key) for key in keys]
    found = [exp.alias_(double(value), name) for name, value in sums.items()]
    query = exp.select(*said, *found).from_(source)
    query = query.group_by(*(key.copy() for key in said)) if keys else query
    return query if most is None else query.limit(most)


def projected(source: Any, columns: Mapping[str, exp.Expression], where: Sequence[exp.Expression] = ()) -> Any:
    """SELECT expressions under plain names FROM source WHERE all of the conditions hold, as something to select from."""
    query = exp.select(*(exp.alias_(value.copy(), name) for name, value in columns.items())).from_(source)
    for condition in where:
        query = query.where(condition.copy())
    return query.subquery("read")


def first_rows(source: Any, columns: Mapping[str, exp.Expression], rows: int) -> Any:
    """The first rows that come, whichever they are."""
    query = exp.select(*(exp.alias_(value.copy(), name) for name, value in columns.items())).from_(source)
    return query.limit(rows).subquery("read")


def spread_rows(source: Any, names: Sequence[str], rows: int, total: int, dialect: str) -> Any:
    """About `rows` of the `total` rows, never more, spread evenly over all of them: always the same ones."""
    listed = [exp.column(name, quoted=True) for name in names]
    if total <= rows:
        return exp.select(*listed).from_(source).limit(rows)
    alias = "merula row number"
    numbered = exp.select(*(one.copy() for one in listed), exp.alias_(_row_number(dialect), alias, quoted=True)).from_(source)  # fmt: skip
    place = exp.Mod(this=exp.Paren(this=exp.Mod(this=exp.column(alias, quoted=True), expression=whole(ROUND))), expression=whole(2**32))  # fmt: skip
    place.this.replace(exp.Paren(this=exp.Mul(this=place.this.copy(), expression=whole(WEYL))))
    kept = exp.LT(this=place, expression=whole(int(2**32 * rows / total)))
    return exp.select(*listed).from_(numbered.subquery("numbered")).where(kept).limit(rows)


def _row_number(dialect: str) -> exp.Expression:
    """The number of a row: in the order of the table, or of its part where it lies in several."""
    if dialect == "spark":
        return exp.Anonymous(this="MONOTONICALLY_INCREASING_ID", expressions=[])
    return exp.Window(this=exp.RowNumber())
