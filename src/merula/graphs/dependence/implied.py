"""Levels that others say already: a row that holds both is read as if it held the telling one alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.plain_fields import PlainFields
from merula.core.sound import are_codes, are_labels, are_names
from merula.data.encode import Coded, Encoded
from merula.data.schema import Label
from merula.distributions.joint_table import UNKNOWN, level_cells
from merula.graphs.dependence import _kernels as kernels
from merula.stats import PairCounts
from merula.stats.distinct_rows import MISSING, distinct_rows

NEVER_MET = object()  # the label of a cell whose own is not known


@dataclass(frozen=True, eq=False)
class Implications(PlainFields):
    """Pairs of levels of which one says the other: wherever it was met, so was the other.

    Zheng & Webb (2006), "Efficient lazy elimination for averaged one-dependence estimators": subsumption resolution. A row of
    ``cells`` is a column and its level, then the column and the level that they imply. Columns that come last by name are left out
    first.
    """

    columns: tuple[str, ...]
    level_sets: tuple[tuple[Label, ...], ...]
    cells: NDArray[np.int32]

    @classmethod
    def met(cls, pairs: PairCounts, fewest: float) -> Implications:
        """Those of levels that this many rows hold, or more, among the rows that know both columns."""
        one, other = (side[pairs.cells[:, 0]] for side in np.triu_indices(len(pairs.columns)))
        left, right = pairs.cells[:, 1], pairs.cells[:, 2]
        together, apart = pairs.weight.sum(axis=1), one != other
        n_left, n_right = (_of_rows(together, np.column_stack([pairs.cells[:, 0], side])) for side in (left, right))
        says_right = apart & (together >= n_left * (1 - 1e-12)) & (n_left >= fewest)
        says_left = apart & (together >= n_right * (1 - 1e-12)) & (n_right >= fewest)
        cells = np.concatenate(
            [
                np.column_stack([one, left, other, right])[says_right],
                np.column_stack([other, right, one, left])[says_left],
            ]
        ).astype(np.int32)
        return cls(
            pairs.columns, tuple(map(tuple, pairs.labels)), np.ascontiguousarray(cells[np.lexsort(cells.T[::-1])])
        )

    def fits(self) -> bool:
        """True when its parts fit together; a file from a stranger is asked before it is used."""
        named = are_names(self.columns) and len(self.level_sets) == len(self.columns)
        if not named or not all(are_labels(levels) for levels in self.level_sets):
            return False
        d, sizes = len(self.columns), np.array([len(levels) for levels in self.level_sets], dtype=np.int64)
        if not are_codes(self.cells, (len(self.cells), 4), np.int32, 0, [d, 2**31, d, 2**31]):
            return False
        return bool(all((self.cells[:, k + 1] < sizes[self.cells[:, k]]).all() for k in (0, 2)))

    @cached_property
    def _listed(self) -> tuple[Any, ...]:
        """The columns, the last by name first; where each level stands among all, where what implies it begins, and which that is."""
        by_name = np.array(sorted(range(len(self.columns)), key=self.columns.__getitem__, reverse=True), dtype=np.int64)
        starts = np.cumsum([0, *map(len, self.level_sets)])
        order = np.lexsort((self.cells[:, 3], self.cells[:, 2]))
        implied = (starts[self.cells[:, 2]] + self.cells[:, 3])[order]
        first = np.searchsorted(implied, np.arange(starts[-1] + 1))
        return by_name, starts, first, np.ascontiguousarray(self.cells[order, :2])

    def resolved(self, rows: Encoded) -> Encoded:
        """The rows without the cells that others of the same row imply."""
        cells = level_cells(rows, self.columns, self.level_sets)
        if not len(self.cells) or not kernels.drop_implied(cells, *self._listed):
            return rows
        own = rows.take(np.arange(len(rows)))
        coded = {}
        for name, levels, codes in zip(self.columns, self.level_sets, cells.T, strict=True):
            slots: Any = (None, *levels, NEVER_MET)
            coded[name] = Coded(np.where(codes == UNKNOWN, len(levels) + 1, codes - MISSING), slots, 0)
        return replace(own, coded={**own.coded, **coded})


def _of_rows(weights: Array, keys: NDArray[np.int32]) -> Array:
    """For each row the weight of all rows with the same key."""
    if not len(keys):
        return weights
    _, groups = distinct_rows(np.ascontiguousarray(keys))
    return np.bincount(groups, weights)[groups].astype(np.float64)
