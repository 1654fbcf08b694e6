"""Sparse matrices as tables: one text column whose words were counted elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from merula.data.table.cell_values import checked_shape

DENSE_NEEDED = "Sparse data was passed, but dense data is required; use .toarray() if it fits in memory, or say kinds='text' if its columns count words"


@dataclass(frozen=True, eq=False)
class SparseTable:
    """A scipy sparse matrix (CSR) whose columns count the words of one text column."""

    matrix: Any
    library: str = "sparse"
    named: bool = False
    names: tuple[str, ...] = ("text",)
    whole: None = None

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.matrix.shape[0])

    def kind(self, position: int, unit: str | None = None) -> NoReturn:
        """There is none of a dense column: no kind, no numbers, no codes."""
        raise TypeError(DENSE_NEEDED)

    numbers = integers = has_categories = codes = kind

    def read_words(self, positions: Sequence[int], threads: int) -> None:
        """Nothing: see `FrameTable.read_words`."""


def open_sparse(matrix: Any) -> SparseTable:
    """The table behind a scipy sparse matrix or array."""
    return SparseTable(checked_shape(matrix.tocsr()))
