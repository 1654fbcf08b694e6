"""Numbers that stand for something else, such as 10⁷ for "unknown": found, counted and told, never changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, Note
from merula.data.encode import Encoded, encode_rows
from merula.data.schema import Schema
from merula.distributions.gaussian import VARIANCE_FLOOR, variance_floor
from merula.engines import Source
from merula.stats import Collected, Moments, PatternMoments, Rows, ValueCounts

FAR = 1_000.0  # distances between the quartiles
ISOLATED = 10.0  # times as far out as all other values
MOST = 3  # different ones
FEWEST_ROWS = 10
ASKED, NARROW = 64, 0.25  # values that are asked first, and the share of the range that they may span
SUSPICIOUS = 1e6  # times the variance that is usual within a class


class SentinelWarning(UserWarning):
    """A column of numbers holds a few values so far beyond all others that they may stand for something else.

    Examples
    --------
    >>> import merula as mr, warnings
    >>> rows = [[float(k % 7)] for k in range(20)] + [[1e7]]
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     model = mr.NaiveBayesClassifier().fit(rows, ["wren", "tit"] * 10 + ["tit"])
    >>> print(said[0].message)
    column 'x0' holds 10,000,000 (1 row), far beyond all its other values; if it stands for a missing number, leave the cell empty
    """


def sentinels(values: NDArray[Any]) -> dict[float, int]:
    """The values that lie far beyond all others, each with its count; none where too many differ.

    Far is more than 1,000 times the distance between the quartiles away from them, and ten times as far as any other value.

    Examples
    --------
    >>> sentinels(np.array([1.0, 2, 3, 4, 5, 6, 7, 8, 9, 1e7, 1e7, np.nan]))
    {10000000.0: 2}
    """
    known = values[np.isfinite(values)].astype(np.float64)
    with np.errstate(over="ignore"):
        if len(known) < FEWEST_ROWS or not _may_hold(known):
            return {}
        low, high = np.quantile(known, [0.25, 0.75])
        distance = np.maximum(low - known, known - high)
        out = distance > FAR * (high - low)
    if high == low or not out.any() or distance[~out].max() * ISOLATED > distance[out].min():
        return {}
    found, counts = np.unique(known[out], return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True)) if len(found) <= MOST else {}


def _may_hold(known: Array) -> bool:
    """Whether some of the values, the few farthest out left aside, span so little of all that they may hold sentinels.

    All but sentinels lie within a tenth of the sentinels' distance from the quartiles, on either side; this is far less to ask
    than the quartiles themselves.
    """
    some = np.unique(known[:: -(-len(known) // ASKED)])
    spans = [some[len(some) - 1 - MOST + left] - some[left] for left in range(min(MOST + 1, len(some) - MOST))]
    return not spans or bool(min(spans) <= NARROW * np.ptp(known))


def told(found: Mapping[float, int]) -> str:
    """What a column holds, in words."""
    each = [f"{value:,.15g} ({count:,} row{'s' if count > 1 else ''})" for value, count in found.items()]
    return f"holds {' and '.join(each)}, far beyond all its other values"


def sentinel_notes(collected: Collected, source: Source, schema: Schema) -> list[Note]:
    """A note for each column of numbers that holds sentinels, looked for where the statistics give reason to."""
    suspects = {name for block in collected.blocks for name in _suspects(block)}
    suspects &= {column.name for column in schema.of_kind("numeric", "count")}
    if not suspects:
        return []
    rows, notes = _columns(source, schema, suspects), []
    for name in sorted(suspects, key=schema.names.index):
        if found := sentinels(rows.values((name,))[:, 0]):
            remedy = "if it stands for a missing number, leave the cell empty"
            notes.append(Note(SentinelWarning, f"column {name!r} {told(found)}; {remedy}", name))
    return notes


def _columns(source: Source, schema: Schema, names: set[str]) -> Encoded:
    """The rows that count, read for these columns alone."""
    if isinstance(source.table, Encoded):
        return source.table
    some = Schema(tuple(c if c.name in names else replace(c, kind="ignore") for c in schema.columns))
    rows = encode_rows(source.table, some, source.named, source.reader)
    return rows if source.weight is None else rows.take(np.flatnonzero(np.asarray(source.weight) > 0))


def _suspects(block: Any) -> Iterator[str]:
    """The columns that may hold sentinels: where a class varies far more than is usual, or all that are kept value by value."""
    if isinstance(block, PatternMoments):
        whole = block.complete
        squares = np.diagonal(whole.scatter, axis1=1, axis2=2)
        yield from _uneven(whole.columns, squares / np.maximum(whole.weight[:, None], 1.0), whole.mean)
    elif isinstance(block, Moments):
        yield from _uneven(block.columns, block.squares / np.maximum(block.weight, 1.0), block.mean)
    elif isinstance(block, ValueCounts | Rows):
        yield from block.columns


def _uneven(columns: tuple[str, ...], variance: Array, mean: Array) -> Iterator[str]:
    usual = variance_floor(variance, mean, np.full(len(columns), np.inf)) / VARIANCE_FLOOR
    yield from (name for name, far in zip(columns, variance.max(axis=0) > SUSPICIOUS * usual, strict=True) if far)
