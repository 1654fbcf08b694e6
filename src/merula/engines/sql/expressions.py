"""Columns as SQL reads them: numbers, keys of groups, intervals, weights; sqlglot writes every sign of it.

No label, and no name but a quoted one, ever stands in a query; numbers are written with all their digits and cast.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from sqlglot import exp

from merula.core import InputError, Option
from merula.data.schema import Column
from merula.data.table import times_longer
from merula.data.words.numbers import PLAIN
from merula.stats.cells import FINENESS, Grid

LOG_FROM = 1e8  # beyond this, asinh(z) is log(2 z) to the last digit, and z² need not be a number
NOTHING = 1e-8  # below this, asinh(z) · 1024 is nearest to 0, and z² may be too small for a number
INFINITE = -2  # the interval of infinity: an error


def column(name: str, table: str | None = None) -> exp.Expression:
    """A column by its quoted name."""
    return exp.column(name, table=table, quoted=True)


def double(value: Any) -> exp.Expression:
    """An expression as float64."""
    return exp.cast(value, exp.DataType.Type.DOUBLE)


def number(value: float) -> exp.Expression:
    """A number with all its digits, infinity and NaN among them."""
    words = {np.inf: "Infinity", -np.inf: "-Infinity"}
    text = "NaN" if value != value else words.get(value, repr(float(value)))
    return double(exp.Literal.string(text))


def whole(value: int) -> exp.Expression:
    """A whole number."""
    return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))


def without_nan(value: exp.Expression) -> exp.Expression:
    """A number, NULL for NaN; the three databases say that NaN equals NaN."""
    return exp.Nullif(this=value, expression=number(float("nan")))


def minus(one: exp.Expression, other: exp.Expression) -> exp.Expression:
    """one − other."""
    return exp.Paren(this=exp.Sub(this=one.copy(), expression=other.copy()))


def times(one: exp.Expression, other: exp.Expression, dialect: str) -> exp.Expression:
    """one · other; PostgreSQL raises an error where a product vanishes, so that tiny factors are 0 there."""
    product = exp.Mul(this=exp.paren(one.copy()), expression=exp.paren(other.copy()))
    if dialect != "postgres":
        return product
    tiny = exp.or_(*(exp.LT(this=exp.Abs(this=part.copy()), expression=number(1e-150)) for part in (one, other)))
    return exp.Case().when(tiny, number(0.0)).else_(product)


def is_known(value: exp.Expression) -> exp.Expression:
    """value IS NOT NULL."""
    return exp.Not(this=exp.Is(this=exp.paren(value.copy()), expression=exp.Null()))


def different(value: exp.Expression, dialect: str) -> exp.Expression:
    """About how many different values there are; Spark would expand every row to count several columns exactly."""
    if dialect == "postgres":
        return exp.Count(this=exp.Distinct(expressions=[value]))
    return exp.ApproxDistinct(this=value)


def holds_words(kind: Any) -> bool:
    """Whether a column of this type holds words."""
    import pyarrow as pa

    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(inner) or pa.types.is_large_string(inner))


def check_readable(name: str, kind: Any) -> None:
    """An `InputError` where a column is of a type that is read neither as numbers nor as categories."""
    import pyarrow as pa

    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_date, pa.types.is_timestamp, pa.types.is_null)  # fmt: skip
    if not holds_words(kind) and not any(test(kind) for test in tests):
        raise InputError.at(f"column {name!r}", f"holds {kind}, which merula cannot read", got=str(kind), remedy=("convert it or say ", Option("kinds", "ignore", column=name)))  # fmt: skip


def as_number(known: Column, kind: Any, dialect: str) -> exp.Expression:
    """A column of numbers or times as float64, NULL where it is missing, NaN, or said to mean that nothing is there."""
    import pyarrow as pa

    value = column(known.name)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _time(value, known, kind, dialect)
    if known.unit is not None and not pa.types.is_null(kind):
        raise InputError.at(f"column {known.name!r}", f"holds {kind} where the model was fitted on {known.unit}", got=str(kind))  # fmt: skip
    if pa.types.is_boolean(kind):
        value = exp.cast(value, exp.DataType.Type.INT)
    found = without_nan(double(value))
    sentinels = [float(word) for word in (known.reading.missing if known.reading else ()) if PLAIN.fullmatch(word)]
    for sentinel in sentinels:
        found = exp.Nullif(this=found, expression=number(sentinel))
    return found


def _time(value: exp.Expression, known: Column, kind: Any, dialect: str) -> exp.Expression:
    """A time as a count of the column's unit since 1970."""
    import pyarrow as pa

    if known.unit is None or not known.unit.startswith("datetime64"):
        raise InputError.at(f"column {known.name!r}", f"holds {kind} where the model was fitted on {known.unit or 'plain numbers'}", got=str(kind))  # fmt: skip
    counted, unit = MICROSECONDS[dialect](value, kind), "us"
    if dialect == "duckdb" and pa.types.is_timestamp(kind) and kind.unit == "ns":
        counted, unit = exp.Anonymous(this="EPOCH_NS", expressions=[value]), "ns"
    longer = times_longer(f"datetime64[{unit}]", known.unit)
    if longer == 1.0:
        return double(counted)
    if longer < 1.0:  # a division is exact where there is an exact answer, a product with 0.001 is not
        return exp.Div(this=double(counted), expression=number(round(1 / longer)), typed=True)
    return exp.Mul(this=double(counted), expression=number(longer))


def _duckdb_micros(value: exp.Expression, kind: Any) -> exp.Expression:
    import pyarrow as pa

    plain = pa.types.is_timestamp(kind) and kind.tz is not None
    return exp.Anonymous(this="EPOCH_US", expressions=[value if plain else exp.cast(value, exp.DataType.Type.TIMESTAMP)])  # fmt: skip


def _postgres_micros(value: exp.Expression, _kind: Any) -> exp.Expression:
    seconds = exp.Extract(this=exp.var("EPOCH"), expression=value)
    return exp.Mul(this=exp.paren(seconds), expression=exp.Literal.number(1_000_000))


def _spark_micros(value: exp.Expression, kind: Any) -> exp.Expression:
    import pyarrow as pa

    if pa.types.is_date(kind):
        days = double(exp.Anonymous(this="UNIX_DATE", expressions=[value]))
        return exp.Mul(this=days, expression=number(86_400e6))
    if kind.tz is not None:
        return exp.Anonymous(this="UNIX_MICROS", expressions=[value])
    start = exp.cast(exp.Literal.string("1970-01-01 00:00:00"), exp.DataType.build("TIMESTAMP_NTZ", dialect="spark"))
    return exp.Anonymous(this="TIMESTAMPDIFF", expressions=[exp.var("MICROSECOND"), start, value])


MICROSECONDS = {"duckdb": _duckdb_micros, "postgres": _postgres_micros, "spark": _spark_micros}


def as_key(known: Column, kind: Any, dialect: str) -> exp.Expression:
    """A column of categories as a key of groups: as it is, NULL for NaN; numbers with cuts as the number of their interval."""
    import pyarrow as pa

    if known.cuts is not None and not holds_words(kind):
        return interval(as_number(known, kind, dialect), known.cuts)
    value = column(known.name)
    return without_nan(value) if pa.types.is_floating(kind) else value


def interval(value: exp.Expression, cuts: Sequence[float]) -> exp.Expression:
    """The number of the interval that a value lies in: that of the cuts below it, as `merula.data.intervals.assign` has it."""
    endless = exp.EQ(this=exp.Abs(this=value.copy()), expression=number(np.inf))
    found = exp.Case().when(exp.Is(this=exp.paren(value.copy()), expression=exp.Null()), exp.Null())
    found = found.when(endless, whole(INFINITE))
    for place, cut in enumerate(cuts):
        found = found.when(exp.LTE(this=value.copy(), expression=number(cut)), whole(place))
    return found.else_(whole(len(cuts)))


def cell(value: exp.Expression, grid: Grid) -> exp.Expression:
    """The number of the cell that a value lies in: see `Grid`."""
    parts = [_steps_from(value, *middle, reach) for middle, reach in zip(grid.middles, grid.reaches, strict=True)]
    parts += [breaks_below(value, grid.breaks)] if grid.breaks else []
    return reduce(lambda one, other: exp.Add(this=one, expression=other), parts)


def _steps_from(value: exp.Expression, centre: float, scale: float, reach: float) -> exp.Expression:
    """⌊asinh((x − centre) / scale) · 1024 + ½⌋, no farther from the centre than `reach` scales."""
    z = exp.Div(this=minus(value, number(centre)), expression=number(scale), typed=True)
    size = exp.Abs(this=exp.paren(z.copy()))
    root = exp.Sqrt(this=exp.Add(this=exp.Mul(this=size.copy(), expression=size.copy()), expression=number(1.0)))
    near = exp.Ln(this=exp.Add(this=size.copy(), expression=root))
    far = exp.Add(this=exp.Ln(this=size.copy()), expression=number(float(np.log(2.0))))
    length = exp.Case().when(exp.GT(this=size.copy(), expression=number(reach)), number(float(np.arcsinh(reach))))
    if reach > LOG_FROM:
        length = length.when(exp.GT(this=size.copy(), expression=number(LOG_FROM)), far)
    length = length.when(exp.LT(this=size.copy(), expression=number(NOTHING)), number(0.0)).else_(near)
    signed = exp.Mul(this=exp.Sign(this=exp.paren(z)), expression=exp.paren(length))
    return double(
        exp.Floor(this=exp.Add(this=exp.Mul(this=signed, expression=number(FINENESS)), expression=number(0.5)))
    )


def breaks_below(value: exp.Expression, breaks: Sequence[float], before: int = 0) -> exp.Expression:
    """How many of these ascending numbers lie below a value, and `before` more: found by halves."""
    if not breaks:
        return whole(before)
    half = len(breaks) // 2
    at_most = exp.LTE(this=value.copy(), expression=number(breaks[half]))
    found = exp.Case().when(at_most, breaks_below(value, breaks[:half], before), copy=False)
    return found.else_(breaks_below(value, breaks[half + 1 :], before + half + 1), copy=False)
