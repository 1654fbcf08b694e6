"""Rows of numbers and words as one array: what distributions over kept rows compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError
from merula.data.encode import Encoded
from merula.data.schema import Label
from merula.distributions.base import Distribution
from merula.distributions.joint_table import level_cells
from merula.stats.kept_rows import are_rows


@dataclass(frozen=True, eq=False, repr=False)
class KeptRowsDistribution(Distribution):
    """Kept rows with their class and weight, cells as `read_cells` gives them."""

    columns: tuple[str, ...]
    level_sets: tuple[tuple[Label, ...] | None, ...]
    cells: Array
    labels: NDArray[np.int32]
    weight: Array

    answers_missing: ClassVar[bool] = False  # whether being missing may be a level

    def fits(self, classes: int) -> bool:
        kept = self.level_sets, self.cells, self.labels, self.weight
        return super().fits(classes) and are_rows(*kept, classes, self.answers_missing)


def read_cells(
    rows: Encoded, columns: Sequence[str], level_sets: Sequence[tuple[Label, ...] | None]
) -> NDArray[np.float64]:
    """Numbers, places among a column's levels, and NaN for missing cells and unseen levels: rows × columns.

    ``level_sets[j]`` is None for a column of numbers. Infinity is an error naming its column.
    """
    numbers = [j for j, known in enumerate(level_sets) if known is None]
    words = [j for j, known in enumerate(level_sets) if known is not None]
    cells = np.empty((len(rows), len(columns)))
    if numbers:
        cells[:, numbers] = rows.values([columns[j] for j in numbers])
        for j in np.flatnonzero(np.isinf(cells[:, numbers]).any(axis=0)).tolist():
            refuse_infinite(columns, numbers[j])
    if words:
        known = tuple(level_sets[j] or () for j in words)
        levels = rows.remember(
            ("levels of", tuple(columns), known), lambda: known
        )  # one object, by which it is known again
        indices = level_cells(rows, tuple(columns[j] for j in words), levels)
        cells[:, words] = np.where(indices < 0, np.nan, indices)
    return cells


def refuse_infinite(columns: Sequence[str], j: int) -> None:
    """An error naming the column that holds infinity; none where j is −1."""
    if j >= 0:
        raise InputError.at(f"column {columns[j]!r}", "contains infinity", remedy="replace it by a number, or by NaN if it is unknown")  # fmt: skip
