"""Distinct numbers by class, few of them: where a column has more than a model keeps, they are rounded down to multiples of a power of 2.

The power is the smallest that leaves few enough. Multiples of 2ᵏ⁺¹ are multiples of 2ᵏ, and more rows never have fewer of them: so it
depends on the numbers alone, not on the order in which they came, and any batches add up to exactly what all rows at once would give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import add, sub
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.sound import all_paired, all_shaped, are_names, are_weights, ascends
from merula.data.encode import Encoded, Target
from merula.stats.base import OfColumns
from merula.stats.counts import ValueCounts
from merula.stats.fading import faded_weights

MOST = 2_048  # distinct numbers of a column
EXACT = -2_000  # the power of 2 of a column whose numbers are kept as they are: smaller than any number
LOWEST, HIGHEST = -1_075, 1_025  # powers of 2 of the smallest number, and beyond the largest
LEAST = float(np.finfo(np.float64).min)
DIGITS = 2.0**53  # multiples of a unit, from which on every number is one


def rounded_down(values: Array, power: int) -> Array:
    """Every number as the multiple of 2 ** power below it.

    Examples
    --------
    >>> rounded_down(np.array([-0.3, 0.3, 37.8]), -1).tolist()
    [-0.5, 0.0, 37.5]
    """
    if power <= EXACT:
        return values
    with np.errstate(over="ignore"):
        steps = np.ldexp(values, -power)
        whole = np.abs(steps) >= DIGITS
        found = np.ldexp(np.floor(np.where(whole, 0.0, steps)), power)
    return np.asarray(np.where(whole, values, np.maximum(found, LEAST)) + 0.0)


@dataclass(frozen=True, eq=False)
class RoundedCounts(OfColumns):
    """For each of several columns: the weight of each class at each of its distinct numbers, rounded where there are many, and of its missing cells.

    ``powers[j]`` is k where numbers of column j stand for those from themselves up to 2ᵏ more: that is how far off a quantile can be.

    Examples
    --------
    >>> from merula.data.encode import encode_rows, encode_target, infer_schema
    >>> from merula.data.table import open_table
    >>> import pandas as pd
    >>> table = open_table(pd.DataFrame({"temperature": [36.5, 38.25, 36.5]}))
    >>> rows = encode_rows(table, infer_schema(table)[0], True, "rows")
    >>> found = RoundedCounts.zero(("temperature",), 2).update(rows, encode_target(["ill", "well", "well"], 3))
    >>> found.values[0].tolist(), found.counts[0].tolist(), found.step("temperature")
    ([36.5, 38.25], [[1.0, 0.0], [1.0, 1.0]], 0.0)
    """

    columns: tuple[str, ...]
    powers: tuple[int, ...]
    values: tuple[Array, ...]
    counts: tuple[Array, ...]
    missing: Array

    @classmethod
    def zero(cls, columns: Sequence[str], classes: int) -> RoundedCounts:
        d = len(columns)
        return cls(tuple(columns), (EXACT,) * d, (np.zeros(0),) * d, (np.zeros((classes, 0)),) * d, np.zeros((classes, d)))  # fmt: skip

    def update(self, rows: Encoded, target: Target) -> RoundedCounts:
        met = ValueCounts.zero(self.columns, len(self.missing)).update(rows, target)
        return self + RoundedCounts(self.columns, (EXACT,) * len(self.columns), met.values, met.counts, met.missing)._few()  # fmt: skip

    def __add__(self, other: RoundedCounts) -> RoundedCounts:
        return self._together(other, add)._few()

    def __sub__(self, other: RoundedCounts) -> RoundedCounts:
        """What is left, no finer than the whole."""
        return self._together(other, sub)

    def _together(self, other: RoundedCounts, join: Any) -> RoundedCounts:
        """Both as one, each as coarse as the coarser of the two."""
        other = other if other.columns == self.columns else other.with_columns(self.columns)
        powers = tuple(map(max, self.powers, other.powers))
        both = join(self._at(powers)._plain, other._at(powers)._plain)
        return RoundedCounts(self.columns, powers, both.values, both.counts, both.missing)

    @property
    def _plain(self) -> ValueCounts:
        return ValueCounts(self.columns, self.values, self.counts, self.missing)

    def _few(self) -> RoundedCounts:
        """The same with no more distinct numbers than are kept."""
        powers = [power if len(held) <= MOST else _power_for(held, power) for held, power in zip(self.values, self.powers, strict=True)]  # fmt: skip
        return self._at(powers)

    def _at(self, powers: Sequence[int]) -> RoundedCounts:
        """The same, rounded to these powers of 2 where it is finer."""
        if tuple(powers) == self.powers:
            return self
        values, counts = list(self.values), list(self.counts)
        for j, (power, own) in enumerate(zip(powers, self.powers, strict=True)):
            if power > own and len(values[j]):
                rounded = rounded_down(values[j], power)
                first = np.flatnonzero(np.concatenate([[True], rounded[1:] != rounded[:-1]]))
                values[j], counts[j] = rounded[first], np.add.reduceat(counts[j], first, axis=1)
        return replace(self, powers=tuple(powers), values=tuple(values), counts=tuple(counts))

    def scaled(self, factor: float) -> RoundedCounts:
        return replace(self, counts=tuple(faded_weights(part, factor) for part in self.counts), missing=faded_weights(self.missing, factor))  # fmt: skip

    def step(self, column: str) -> float:
        """How far a number may be from the one that stands for it: 0 where numbers are as they were."""
        power = self.powers[self.columns.index(column)]
        return 0.0 if power <= EXACT else float(np.ldexp(1.0, power))

    def fits(self, classes: int) -> bool:
        """True when its parts fit together and this number of classes; a file from a stranger is asked before it is used."""
        d = len(self.columns)
        paired = are_names(self.columns) and all_paired(self.columns, self.values, self.counts, lambda held: (classes, len(held)))  # fmt: skip
        if not paired or not all_shaped((classes, d), self.missing) or not are_weights(self.missing, *self.counts):
            return False
        powers = len(self.powers) == d and all(type(one) is int and (one == EXACT or LOWEST <= one <= HIGHEST) for one in self.powers)  # fmt: skip
        held = all(all_shaped((len(values),), values) and ascends(values) for values in self.values)
        few = held and all(len(values) <= MOST for values in self.values)
        return powers and few and all((rounded_down(v, p) == v).all() for v, p in zip(self.values, self.powers, strict=True))  # fmt: skip


def _power_for(values: NDArray[np.float64], least: int) -> int:
    """The smallest power of 2 to whose multiples these numbers, in order, round down to few enough."""
    low, high = max(least, LOWEST - 1), HIGHEST
    while high - low > 1:
        middle = (low + high) // 2
        rounded = rounded_down(values, middle)
        low, high = (middle, high) if 1 + np.count_nonzero(rounded[1:] != rounded[:-1]) > MOST else (low, middle)
    return high
