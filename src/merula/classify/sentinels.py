"""Numbers that stand for something else, such as 10⁷ for "unknown": found, counted and told, never changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, Note
from merula.core.compiled import kernel
from merula.data.encode import Encoded, encode_rows
from merula.data.schema import Schema
from merula.distributions.gaussian import typical_variance
from merula.engines import Source, sampled
from merula.stats import Collected, Moments, PatternMoments, Rows, ValueCounts

FAR = 1_000.0  # distances between the quartiles
ISOLATED = 10.0  # times as far out as all other values
MOST = 3  # different ones
NINES = tuple(
    int("9" * k) / scale for k in range(2, 10) for scale in (1, 10, 100) if 10 ** (k - 2) >= scale
)  # 99, 99.9, 999, …
BEYOND = 5.0  # ranges of all others
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

    Far is more than 1,000 times the distance between the quartiles away from them, and ten times as far as any other value; for
    values that are nines alone, such as 9999 and -99.9, five times the range of all others beyond them.

    Examples
    --------
    >>> sentinels(np.array([1.0, 2, 3, 4, 5, 6, 7, 8, 9, 1e7, 1e7, np.nan]))
    {10000000.0: 2}
    """
    known = values[np.isfinite(values)].astype(np.float64)
    with np.errstate(over="ignore"):
        if len(known) < FEWEST_ROWS or not may_hold(known[:, None])[0]:
            return {}
        low, high = np.quantile(known, [0.25, 0.75])
        distance = np.maximum(low - known, known - high)
        out = distance > FAR * (high - low)
    if high == low or not out.any() or distance[~out].max() * ISOLATED > distance[out].min():
        out = _nines(known)
    found, counts = np.unique(known[out], return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True)) if len(found) <= MOST else {}


def _nines(known: Array) -> NDArray[np.bool_]:
    """Which values are nines alone, as people write for missing numbers, and lie several ranges of all others beyond them."""
    nines = np.isin(np.abs(known), NINES)
    others = known[~nines]
    if not nines.any() or len(others) < FEWEST_ROWS:
        return np.zeros(len(known), dtype=np.bool_)
    low, high = others.min(), others.max()
    out: NDArray[np.bool_] = nines & (np.maximum(low - known, known - high) > BEYOND * (high - low))
    return out


@kernel
def may_hold(cells: Array) -> NDArray[np.bool_]:
    """Whether in each column some values, the farthest out left aside, span so little of all that there may be sentinels.

    All but sentinels lie within a tenth of the sentinels' distance from the quartiles, on either side. This is far less to ask
    than the quartiles themselves.
    """
    rows, columns = cells.shape
    low, high = np.full(columns, np.inf), np.full(columns, -np.inf)
    for row in range(rows):
        for j in range(columns):
            low[j], high[j] = min(low[j], cells[row, j]), max(high[j], cells[row, j])
    found, some = np.zeros(columns, dtype=np.bool_), np.empty(ASKED)
    for j in range(columns):
        count = 0
        for row in range(0, rows, -(-rows // ASKED)):
            value = cells[row, j]
            place = count
            while place > 0 and some[place - 1] > value:
                place -= 1
            if value == value and (place == 0 or some[place - 1] < value):  # known, and not met before
                for later in range(count, place, -1):
                    some[later] = some[later - 1]
                some[place] = value
                count += 1
        kept, least = count - MOST, high[j] - low[j]
        for left in range(MOST + 1 if kept > 0 else 0):
            least = min(least, some[kept - 1 + left] - some[left])
        found[j] = low[j] < high[j] and (kept < 1 or least <= NARROW * (high[j] - low[j]))
    return found


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
    source = sampled(source)
    rows = encode_rows(source.table, some, source.named, source.reader)
    return rows if source.weight is None else rows.take(np.flatnonzero(np.asarray(source.weight) > 0))


def _suspects(block: Any) -> Iterator[str]:
    """The columns that may hold sentinels: a class varies far more than is usual, or values that are kept span little but for a few."""
    if isinstance(block, PatternMoments):
        whole = block.complete
        squares = np.diagonal(whole.scatter, axis1=1, axis2=2)
        yield from _uneven(whole.columns, squares / np.maximum(whole.weight[:, None], 1.0), whole.mean)
    elif isinstance(block, Moments):
        yield from _uneven(block.columns, block.squares / np.maximum(block.weight, 1.0), block.mean)
    elif isinstance(block, ValueCounts):
        yield from (name for name, met in zip(block.columns, block.values, strict=True) if len(met) and may_hold(met[:, None])[0])  # fmt: skip
    elif isinstance(block, Rows) and len(block.cells):
        yield from (name for name, suspicious in zip(block.columns, may_hold(block.cells).tolist(), strict=True) if suspicious)  # fmt: skip


def _uneven(columns: tuple[str, ...], variance: Array, mean: Array) -> Iterator[str]:
    far = variance.max(axis=0) / SUSPICIOUS > typical_variance(variance, mean)
    yield from (name for name, suspicious in zip(columns, far.tolist(), strict=True) if suspicious)
