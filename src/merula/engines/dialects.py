"""What databases say differently: names, numbers, missing cells, exp and ln that never raise, lists that are looked up.

Every statement is built and printed by sqlglot; no text is ever pasted into SQL. Expressions made here are sqlglot's, and mean the
same in every dialect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isinf, isnan
from typing import Any

from merula.core import InputError, one_of

Expression = Any  # sqlglot's, which is loaded on first use
LEAST_EXPONENT = -700.0  # exp of less raises in PostgreSQL; it is 0 to every digit that a probability has
NEXT_TO_NOTHING = 1e-150  # whose square is no number; PostgreSQL raises where a product becomes 0
AT_ONCE = 16  # terms of a sum in one pair of brackets, so that no expression is deep
MOST_ARGUMENTS = 100  # of a function; SQLite allows 127
CELL = 25  # characters of a number in a list that is looked up by its place (SQLite)
CONTROL = re.compile(r"([\t\n\r])")
QUERY = re.compile(r"[\s(]*(select|with|from)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Dialect:
    """One database's way of speaking: ``name`` is what sqlglot calls it.

    ``star`` says how all columns of a table but some are selected: with an exception ("except"), as one record ("record"), or not at all
    ("listed"). ``keeps`` says whether a common table expression is computed once only where it is called materialised. ``widest`` is the
    most columns of a result. ``equal_nan`` says whether NaN equals NaN; None where there is no NaN. ``plain_names`` allows letters and
    digits alone in names of results. ``longest_name`` is in bytes. ``tells_capitals`` says whether a quoted name is another one in capitals.
    """

    name: str
    star: str = "except"
    keeps: bool = False
    widest: int | None = None
    equal_nan: bool | None = True
    cast_numbers: bool = False
    plain_names: bool = False
    longest_name: int = 255
    tells_capitals: bool = False


DIALECTS = {
    one.name: one
    for one in (
        Dialect("duckdb"),
        Dialect(
            "postgres", star="record", keeps=True, widest=1600, cast_numbers=True, longest_name=63, tells_capitals=True
        ),
        Dialect("sqlite", star="listed", keeps=True, widest=2000, equal_nan=None),
        Dialect("spark"),
        Dialect("bigquery", equal_nan=False, plain_names=True),
        Dialect("snowflake", cast_numbers=True, tells_capitals=True),
        Dialect("trino", star="listed", equal_nan=False),
    )
}
ALSO_CALLED = {"postgresql": "postgres", "pyspark": "spark", "databricks": "spark", "presto": "trino"}


def sqlglot() -> Any:
    """sqlglot itself; an error that names the extra where it is not installed."""
    try:
        import sqlglot as library
    except ImportError:
        raise ImportError("SQL is written by sqlglot, which is not installed: pip install 'merula[sql]'") from None
    return library


def dialect_of(name: Any) -> Dialect:
    """The dialect that is meant by a name.

    Examples
    --------
    >>> dialect_of("PostgreSQL").name
    'postgres'
    """
    if isinstance(name, Dialect):
        return name
    word = str(name).lower() if isinstance(name, str) else name
    return DIALECTS[one_of(ALSO_CALLED.get(word, word), tuple(DIALECTS), "dialect")]


def printed(statement: Expression, dialect: Dialect) -> str:
    """The statement as text.

    Examples
    --------
    >>> from sqlglot import exp
    >>> printed(exp.select(column('a"; drop table x; --')).from_("rows"), dialect_of("duckdb"))
    'SELECT "a""; drop table x; --" FROM rows'
    """
    return str(statement.sql(dialect=dialect.name, comments=False))


# ------------------------------------------------------------------------------------------------------- names and literals


def identifier(name: str) -> Expression:
    """A name, quoted."""
    return sqlglot().exp.to_identifier(name, quoted=True)


def column(name: str, table: str | None = None) -> Expression:
    """A column by its name, quoted, whatever it holds."""
    exp = sqlglot().exp
    return exp.Column(this=identifier(name), table=None if table is None else identifier(table))


def number(value: float, dialect: Dialect) -> Expression:
    """A float in all its digits; infinities too.

    Examples
    --------
    >>> [printed(number(-0.1, dialect_of(name)), dialect_of(name)) for name in ("duckdb", "postgres")]
    ['-1e-01', "CAST('-0.1' AS DOUBLE PRECISION)"]
    >>> printed(number(float("-inf"), dialect_of("spark")), dialect_of("spark"))
    "CAST('-Infinity' AS DOUBLE)"
    """
    exp = sqlglot().exp
    if isnan(value):
        raise InputError("NaN is no number to be written in SQL")
    if isinf(value):
        return _infinity(value, dialect)
    if dialect.cast_numbers:  # without the cast, it would be a decimal, and so would what is computed from it
        return exp.cast(exp.Literal.string(repr(float(value))), "double")
    literal = exp.Literal.number(_exponential(abs(value)))
    return exp.Neg(this=literal) if value < 0 else literal


def _exponential(value: float) -> str:
    """A float as a mantissa and an exponent: without an exponent, some databases take it for a decimal."""
    text = repr(float(value))
    if "e" in text:
        return text
    mantissa, _, power = f"{value:.16e}".partition("e")
    for digits in range(17):
        mantissa, _, power = f"{value:.{digits}e}".partition("e")
        if float(f"{mantissa}e{power}") == value:
            break
    return f"{mantissa}e{power}"


def _infinity(value: float, dialect: Dialect) -> Expression:
    exp = sqlglot().exp
    if dialect.name == "sqlite":
        literal = exp.Literal.number("9e999")
        return exp.Neg(this=literal) if value < 0 else literal
    if dialect.name == "trino":
        endless = exp.Anonymous(this="INFINITY")
        return exp.Neg(this=endless) if value < 0 else endless
    word = "Infinity" if value > 0 else "-Infinity"
    return exp.cast(exp.Literal.string(word), "double")


def whole(value: int) -> Expression:
    """A whole number."""
    exp = sqlglot().exp
    literal = exp.Literal.number(str(abs(int(value))))
    return exp.Neg(this=literal) if value < 0 else literal


def text(word: str, dialect: Dialect) -> Expression:
    """A word; Spark would put the value of a setting where a word holds its name in braces, so that these are kept apart."""
    exp = sqlglot().exp
    if dialect.name == "spark" and "${" in word:
        parts = word.split("${")
        pieces = [parts[0] + "$", *("{" + part + "$" for part in parts[1:-1]), "{" + parts[-1]]
        return exp.Anonymous(this="CONCAT", expressions=[exp.Literal.string(piece) for piece in pieces])
    return _joined(CONTROL.split(word)) if CONTROL.search(word) else exp.Literal.string(word)


def _joined(pieces: Sequence[str]) -> Expression:
    """Pieces of a word, with signs that a file or a clipboard may change (ends of lines, tabs) by their numbers."""
    exp = sqlglot().exp
    parts = [exp.Chr(expressions=[exp.Literal.number(ord(piece))]) if CONTROL.fullmatch(piece) else exp.Literal.string(piece) for piece in pieces if piece]  # fmt: skip
    found = parts[0]
    for part in parts[1:]:
        found = exp.DPipe(this=found, expression=part)
    return exp.Paren(this=found) if len(parts) > 1 else found


def label(value: Any, dialect: Dialect) -> Expression:
    """A label: a word, a whole number, a float, yes or no, or nothing."""
    exp = sqlglot().exp
    if value is None:
        return exp.Null()
    if isinstance(value, bool):
        return exp.true() if value else exp.false()
    if isinstance(value, int):
        return whole(value)
    return number(value, dialect) if isinstance(value, float) else text(str(value), dialect)


# ------------------------------------------------------------------------------------------------------- expressions


def binary(kind: str, left: Expression, right: Expression) -> Expression:
    """``left + right`` and the like, each side in brackets where it is more than a name, a number or a function.

    Examples
    --------
    >>> product = binary("Mul", binary("Sub", column("x"), column("y")), column("z"))
    >>> printed(product, dialect_of("duckdb"))
    '("x" - "y") * "z"'
    """
    return getattr(sqlglot().exp, kind)(this=_bracketed(left), expression=_bracketed(right))


def _bracketed(one: Expression) -> Expression:
    exp = sqlglot().exp
    return exp.Paren(this=one) if isinstance(one, exp.Binary | exp.Unary | exp.Is) and not isinstance(one, exp.Paren) else one  # fmt: skip


def plus(left: Expression, right: Expression) -> Expression:
    """left + right."""
    return binary("Add", left, right)


def minus(left: Expression, right: Expression) -> Expression:
    """left − right."""
    return binary("Sub", left, right)


def times(left: Expression, right: Expression) -> Expression:
    """left · right."""
    return binary("Mul", left, right)


def over(left: Expression, right: Expression) -> Expression:
    """left / right, of floats."""
    return binary("Div", left, right)


def total(terms: Sequence[Expression], dialect: Dialect) -> Expression:
    """The sum of many terms, not deep."""
    return _gathered(list(terms), "Add") if terms else number(0.0, dialect)


def any_of(conditions: Sequence[Expression]) -> Expression:
    """Whether one of many conditions holds, not deep."""
    return _gathered(list(conditions), "Or") if conditions else sqlglot().exp.false()


def all_of(conditions: Sequence[Expression]) -> Expression:
    """Whether all of many conditions hold, not deep."""
    return _gathered(list(conditions), "And") if conditions else sqlglot().exp.true()


def _gathered(parts: list[Expression], kind: str) -> Expression:
    exp = sqlglot().exp
    while len(parts) > 1:
        groups = [parts[start : start + AT_ONCE] for start in range(0, len(parts), AT_ONCE)]
        parts = [_chain(group, getattr(exp, kind)) for group in groups]
    return parts[0].this if isinstance(parts[0], exp.Paren) else parts[0]


def _chain(group: list[Expression], kind: Any) -> Expression:
    exp = sqlglot().exp
    if len(group) == 1:
        return group[0]
    found = _bracketed(group[0])
    for other in group[1:]:
        found = kind(this=found, expression=_bracketed(other))
    return exp.Paren(this=found)


def when(cases: Iterable[tuple[Expression, Expression]], otherwise: Expression | None = None) -> Expression:
    """CASE WHEN condition THEN value … ELSE otherwise END."""
    exp = sqlglot().exp
    return exp.Case(ifs=[exp.If(this=condition, true=value) for condition, value in cases], default=otherwise)


def matched(subject: Expression, cases: Iterable[tuple[Expression, Expression]], otherwise: Expression) -> Expression:
    """CASE subject WHEN value THEN result … ELSE otherwise END."""
    exp = sqlglot().exp
    return exp.Case(this=subject, ifs=[exp.If(this=value, true=result) for value, result in cases], default=otherwise)


def is_null(one: Expression) -> Expression:
    """Whether nothing is there."""
    exp = sqlglot().exp
    return exp.Is(this=one, expression=exp.Null())


def is_known(one: Expression) -> Expression:
    """Whether something is there."""
    return sqlglot().exp.Not(this=is_null(one))


def compare(kind: str, left: Expression, right: Expression) -> Expression:
    """``LT``, ``LTE``, ``GT``, ``GTE``, ``EQ``, ``NEQ``."""
    return binary(kind, left, right)


def as_double(one: Expression) -> Expression:
    """As a float of 64 bits."""
    return sqlglot().exp.cast(one, "double")


def largest(parts: Sequence[Expression], dialect: Dialect) -> Expression:
    """The largest of some numbers, none of which is NULL."""
    exp, found = sqlglot().exp, list(parts)
    name = "MAX" if dialect.name == "sqlite" else "GREATEST"
    while len(found) > 1:
        groups = [found[start : start + MOST_ARGUMENTS] for start in range(0, len(found), MOST_ARGUMENTS)]
        found = [
            group[0] if len(group) == 1 else exp.Anonymous(this=name, expressions=group) for group in groups
        ]  # SQLite takes the MAX of one for an aggregate
    return found[0]


def number_of_cell(cell: Expression, dialect: Dialect) -> Expression:
    """A cell as a float, NULL where it is NULL or NaN; in SQLite, where any cell may hold a word, also where it is none.

    Examples
    --------
    >>> print(printed(number_of_cell(column("x"), dialect_of("duckdb")), dialect_of("duckdb")))
    NULLIF(CAST("x" AS DOUBLE), CAST('NaN' AS DOUBLE))
    """
    exp, value = sqlglot().exp, as_double(cell)
    if dialect.equal_nan is None:
        kinds = [exp.Literal.string("integer"), exp.Literal.string("real")]
        return when([(exp.In(this=exp.Anonymous(this="TYPEOF", expressions=[cell]), expressions=kinds), value)])
    if dialect.equal_nan:
        return exp.Nullif(this=value, expression=exp.cast(exp.Literal.string("NaN"), "double"))
    return when([(exp.Not(this=exp.IsNan(this=value)), value)])


def exp_of(one: Expression, dialect: Dialect) -> Expression:
    """exp of a number that is at most about 700; 0 where it is next to nothing, which PostgreSQL would raise at."""
    exp = sqlglot().exp
    low = compare("LT", one, number(LEAST_EXPONENT, dialect))
    return when([(low, number(0.0, dialect))], exp.Exp(this=one))


def ln_of(one: Expression) -> Expression:
    """ln of a number above 0."""
    return sqlglot().exp.Ln(this=one)


def square(one: Expression, dialect: Dialect) -> Expression:
    """The square; PostgreSQL raises where it would be too small for a number."""
    found = times(one, one)
    if dialect.name != "postgres":
        return found
    small = compare("LT", sqlglot().exp.Abs(this=one), number(NEXT_TO_NOTHING, dialect))
    return when([(small, number(0.0, dialect))], found)


def within(one: Expression, low: float, high: float, dialect: Dialect) -> Expression:
    """The number, no less than `low` and no more than `high`; NULL stays NULL."""
    low_end, high_end = number(low, dialect), number(high, dialect)
    below, above = compare("LT", one, low_end), compare("GT", one, high_end)
    return when([(below, low_end), (above, high_end)], one)


def log_sum_exp(parts: Sequence[Expression], dialect: Dialect) -> Expression:
    """log Σ exp of a few numbers, none of them NULL; −inf where all are."""
    if len(parts) == 1:
        return parts[0]
    peak, lowest = largest(parts, dialect), number(-1.7e308, dialect)
    shares = [exp_of(minus(part, peak), dialect) for part in parts]
    found = plus(peak, ln_of(total(shares, dialect)))
    return when([(compare("LT", peak, lowest), number(float("-inf"), dialect))], found)


def listed(values: Sequence[float], place: Expression, dialect: Dialect) -> Expression:
    """What stands at a place, from 0, in a list of numbers: written once and found at once, however long the list is.

    Examples
    --------
    >>> print(printed(listed([0.5, 0.25], column("k"), dialect_of("duckdb")), dialect_of("duckdb")))
    CAST('[0.5, 0.25]' AS DOUBLE[])["k" + 1]
    """
    if all(value == values[0] for value in values):
        return number(float(values[0]), dialect)
    if dialect.name in _LISTED:
        return _LISTED[dialect.name](values, place)
    return _listed_literally(values, place, dialect)


def _listed_duckdb(values: Sequence[float], place: Expression) -> Expression:
    return _bracket(_cast_list("[", ", ".join(map(repr, map(float, values))), "]"), place)


def _listed_postgres(values: Sequence[float], place: Expression) -> Expression:
    exp = sqlglot().exp
    return _bracket(exp.Paren(this=_cast_list("{", ",".join(map(repr, map(float, values))), "}")), place)


def _listed_spark(values: Sequence[float], place: Expression) -> Expression:
    exp = sqlglot().exp
    words = ",".join(repr(float(value)).replace("inf", "Infinity") for value in values)
    split = exp.Anonymous(this="SPLIT", expressions=[exp.Literal.string(words), exp.Literal.string(",")])
    return exp.Anonymous(this="GET", expressions=[exp.cast(split, "array<double>"), place])


def _listed_sqlite(values: Sequence[float], place: Expression) -> Expression:
    """Numbers of equal length, end to end as bytes, of which one is cut out: SQLite has no lists."""
    exp = sqlglot().exp
    words = "".join(repr(float(value)).replace("inf", "9e999").ljust(CELL) for value in values)
    start = plus(whole(1), times(whole(CELL), place))
    cut = exp.Anonymous(this="SUBSTR", expressions=[exp.cast(exp.Literal.string(words), "blob"), start, whole(CELL)])
    return as_double(cut)


def _listed_literally(values: Sequence[float], place: Expression, dialect: Dialect) -> Expression:
    exp = sqlglot().exp
    array = exp.Array(expressions=[number(float(value), dialect) for value in values])
    if dialect.name == "snowflake":
        return as_double(exp.Anonymous(this="GET", expressions=[array, place]))
    if dialect.name == "trino":
        return exp.Anonymous(this="ELEMENT_AT", expressions=[array, plus(place, whole(1))])
    return exp.Bracket(this=array, expressions=[place], offset=0, safe=False)


_LISTED = {
    "duckdb": _listed_duckdb,
    "postgres": _listed_postgres,
    "spark": _listed_spark,
    "sqlite": _listed_sqlite,
}


def _cast_list(opening: str, words: str, closing: str) -> Expression:
    exp = sqlglot().exp
    return exp.cast(exp.Literal.string(f"{opening}{words}{closing}"), "array<double>")


def _bracket(array: Expression, place: Expression) -> Expression:
    return sqlglot().exp.Bracket(this=array, expressions=[plus(place, whole(1))], offset=1)


def parted(value: Expression, cuts: Sequence[float], results: Sequence[Expression], dialect: Dialect) -> Expression:
    """Of ``results``, the one of the interval that a number lies in: as many cuts lie below it. By halving, so that it is not deep.

    Examples
    --------
    >>> printed(parted(column("x"), (1.0,), (whole(0), whole(1)), dialect_of("sqlite")), dialect_of("sqlite"))
    'CASE WHEN "x" <= 1e+00 THEN 0 ELSE 1 END'
    """
    if not len(cuts):
        return results[0]
    middle = len(cuts) // 2
    low = parted(value, cuts[:middle], results[: middle + 1], dialect)
    high = parted(value, cuts[middle + 1 :], results[middle + 1 :], dialect)
    return when([(compare("LTE", value, number(float(cuts[middle]), dialect)), low)], high)


# ------------------------------------------------------------------------------------------------------- tables


def small_table(names: Sequence[str], rows: Sequence[Sequence[Expression]], dialect: Dialect) -> Expression:
    """A SELECT of a few rows that are written out.

    Examples
    --------
    >>> rows = [[whole(1), text("one", dialect_of("sqlite"))]]
    >>> print(printed(small_table(["k", "word"], rows, dialect_of("sqlite")), dialect_of("sqlite")))
    SELECT "column1" AS "k", "column2" AS "word" FROM (VALUES (1, 'one'))
    """
    exp = sqlglot().exp
    tuples = [exp.Tuple(expressions=list(row)) for row in rows]
    if dialect.name == "sqlite":
        values = exp.Subquery(this=exp.Values(expressions=tuples))
        chosen = [exp.alias_(column(f"column{k + 1}"), identifier(name)) for k, name in enumerate(names)]
        return exp.Select(expressions=chosen).from_(values)
    alias = exp.TableAlias(this=identifier("v"), columns=[identifier(name) for name in names])
    return exp.Select(expressions=[column(name) for name in names]).from_(exp.Values(expressions=tuples, alias=alias))


def table_named(table: Any, dialect: Dialect) -> Expression:
    """What to select from: a name, with dots or in quotes as the database writes it, its parts in a sequence, or a query.

    Examples
    --------
    >>> duckdb = dialect_of("duckdb")
    >>> [printed(table_named(one, duckdb), duckdb) for one in ("shop.orders", "x; drop table y", "select 1 as a")]
    ['shop.orders', '"x; drop table y"', '(SELECT 1 AS a)']
    """
    glot = sqlglot()
    exp = glot.exp
    if isinstance(table, list | tuple):
        parts = [identifier(str(part)) for part in table]
        if not 1 <= len(parts) <= 3:
            raise InputError.of("table", table, "a name of one to three parts, or a query")
        return exp.Table(**dict(zip(("this", "db", "catalog"), reversed(parts), strict=False)))
    if not isinstance(table, str) or not table.strip():
        raise InputError.of("table", table, "the name of a table, or a query")
    if QUERY.match(table):
        return _query(table, dialect)
    try:
        found = exp.to_table(table, dialect=dialect.name)
    except (glot.errors.SqlglotError, ValueError):
        return exp.Table(this=identifier(table))
    plain = isinstance(found, exp.Table) and not found.args.get("joins") and isinstance(found.this, exp.Identifier)
    return found if plain and not found.alias else exp.Table(this=identifier(table))


def refuse_changes(query: Expression, where: str) -> None:
    """An `InputError` where a query would change something in the database."""
    exp = sqlglot().exp
    if query.find(
        exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Alter, exp.Command, exp.Into
    ):
        raise InputError.at(where, "would change the database", remedy="give a SELECT that only reads")


def _query(table: str, dialect: Dialect) -> Expression:
    glot = sqlglot()
    try:
        statements = [one for one in glot.parse(table, read=dialect.name) if one is not None]
    except glot.errors.SqlglotError as error:
        raise InputError.at("table", f"is no query in {dialect.name}: {str(error).splitlines()[0]}") from None
    if len(statements) != 1 or not isinstance(statements[0], glot.exp.Query):
        raise InputError.at("table", "holds more than one query", remedy="give one SELECT")
    refuse_changes(statements[0], "table")
    inner = statements[0].unnest() if isinstance(statements[0], glot.exp.Subquery) else statements[0]
    return glot.exp.Subquery(this=inner)
