"""Columns that repeat each other: numbers in the same order, or columns of which one nearly tells the other.

Two columns of numbers by Spearman's rank correlation; any others by how much of the less varied one the other tells,
I(a; b) / min(H(a), H(b)), numbers cut into ten intervals of equal weight, less what chance alone would give, (|a| − 1)(|b| − 1) / 2n.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.answers.stability import evenly
from merula.core import Array
from merula.data.encode import Encoded
from merula.data.intervals import assign
from merula.distributions.discretize import quantile_cuts

SAME_ORDER, TOLD = 0.95, 0.9
MOST_ROWS, MOST_COLUMNS, BINS = 10_000, 100, 10


@dataclass(frozen=True)
class Repeat:
    """Two columns that say nearly the same: ``measure`` is "rank correlation" or "share told"."""

    first: str
    second: str
    measure: str
    value: float


def repeats(rows: Encoded, columns: list[str], weights: Array | None) -> tuple[Repeat, ...]:
    """The pairs of columns that repeat each other, the strongest first; rows are a sample where there are many.

    Examples
    --------
    >>> from merula.data.encode import encode, infer_schema
    >>> from merula.data.table import open_table
    >>> import pandas as pd
    >>> birds = open_table(pd.DataFrame({"wing in mm": [49.0, 51, 98, 95], "wing in inches": [1.93, 2.01, 3.86, 3.74], "call": list("abba")}))
    >>> schema, _ = infer_schema(birds)
    >>> [(one.first, one.second, one.value) for one in repeats(encode(birds, schema, range(3)), schema.names, None)]
    [('wing in inches', 'wing in mm', 1.0)]
    """
    chosen = evenly(len(rows), weights, MOST_ROWS)
    some, mass = rows.take(chosen), np.ones(len(chosen)) if weights is None else weights[chosen]
    known = [name for name in columns if name in some.numeric or name in some.coded][:MOST_COLUMNS]
    numbers = {name: np.asarray(some.numeric[name], dtype=np.float64) for name in known if name in some.numeric}
    codes = {name: _cut(numbers[name], mass) if name in numbers else _codes(some.coded[name]) for name in known}
    ranks = {name: _ranks(values, mass) for name, values in numbers.items()}
    found = [one for pair in combinations(sorted(known), 2) if (one := _repeat(*pair, ranks, codes, mass))]
    return tuple(sorted(found, key=lambda one: (-round(one.value, 12), one.first, one.second)))


def _repeat(first: str, second: str, ranks: Mapping[str, Array], codes: Mapping[str, NDArray[np.int64]], mass: Array) -> Repeat | None:  # fmt: skip
    if first in ranks and second in ranks:
        found = correlation(ranks[first], ranks[second], mass)
        if abs(found) >= SAME_ORDER:
            return Repeat(first, second, "rank correlation", found)
        return None
    share = told_share(codes[first], codes[second], mass)
    return Repeat(first, second, "share told", share) if share >= TOLD else None


def _codes(column: Any) -> NDArray[np.int64]:
    """Each cell's level by number; a missing cell is a level."""
    return np.unique(np.asarray(column.in_slots()[0]), return_inverse=True)[1]


def _cut(values: Array, mass: Array) -> NDArray[np.int64]:
    """The interval of each number, of ten of equal weight; missing is one more."""
    known = ~np.isnan(values)
    codes = np.zeros(len(values), dtype=np.int64)
    if known.any():
        met, where = np.unique(values[known], return_inverse=True)
        counts = np.bincount(where, mass[known])[None]
        codes[known] = 1 + assign(values[known], quantile_cuts(met, counts, BINS))
    return codes


def _ranks(values: Array, mass: Array) -> Array:
    """The middle rank of each number by weight, NaN where it is missing: a weight of 2 equals the row twice."""
    known = ~np.isnan(values)
    ranks = np.full(len(values), np.nan)
    met, where = np.unique(values[known], return_inverse=True)
    counts = np.bincount(where, mass[known], len(met))
    ranks[known] = (np.cumsum(counts) - counts / 2)[where]
    return ranks


def correlation(first: Array, second: Array, mass: Array) -> float:
    """The correlation of two columns over the rows that know both; 0 where one of them is constant there.

    Examples
    --------
    >>> correlation(np.array([1.0, 2.0, np.nan]), np.array([4.0, 2.0, 1.0]), np.ones(3))
    -1.0
    """
    known = ~np.isnan(first) & ~np.isnan(second)
    if mass[known].sum() <= 0:
        return 0.0
    one, other = (values[known] - np.average(values[known], weights=mass[known]) for values in (first, second))
    scale = np.sqrt((mass[known] @ one**2) * (mass[known] @ other**2))
    return float(np.clip((mass[known] @ (one * other)) / scale, -1.0, 1.0)) if scale > 0 else 0.0


def told_share(first: NDArray[np.int64], second: NDArray[np.int64], mass: Array) -> float:
    """I(a; b) / min(H(a), H(b)), less what chance alone gives; 0 where one of them is constant.

    Examples
    --------
    >>> told_share(np.array([0, 1, 0, 1] * 50), np.array([1, 0, 1, 0] * 50), np.ones(200)) > 0.99
    True
    """
    table = np.zeros((int(first.max()) + 1, int(second.max()) + 1))
    np.add.at(table, (first, second), mass)
    table = table[np.ix_(table.sum(axis=1) > 0, table.sum(axis=0) > 0)]
    if min(table.shape) < 2:
        return 0.0
    joint, total = table / table.sum(), table.sum()
    alone = [_entropy(joint.sum(axis=axis)) for axis in (1, 0)]
    told = alone[0] + alone[1] - _entropy(joint.ravel())
    chance = (table.shape[0] - 1) * (table.shape[1] - 1) / (2 * total)
    return max(0.0, float((told - chance) / min(alone)))


def _entropy(shares: Array) -> float:
    known = shares[shares > 0]
    return float(-(known @ np.log(known)))
