"""Arrays as tables: rows of unnamed columns; a sparse matrix is one text column whose words were counted elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from merula.core import InputError
from merula.data.table.cell_values import (
    Codes,
    checked_shape,
    codes_of_labels,
    codes_of_numbers,
    is_missing,
    object_kind,
    object_numbers,
    plain_label,
    time_numbers,
    widened,
    worded_alike,
)
from merula.data.words import NO_HINTS, Hints

DENSE_NEEDED = "Sparse data was passed, but dense data is required; use .toarray() if it fits in memory, or say kinds='text' if its columns count words"


@dataclass(frozen=True, eq=False)
class MatrixTable:
    """An array of rows and unnamed columns, which are matched by position and called x0, x1, and so on; asked like a `FrameTable`."""

    matrix: NDArray[Any]
    library: str = "numpy"

    @property
    def rows(self) -> int:
        return int(self.matrix.shape[0])

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(f"x{position}" for position in range(self.matrix.shape[1]))

    named = False
    hints = NO_HINTS

    @property
    def whole(self) -> NDArray[Any]:
        return self.matrix

    def kind(self, position: int) -> tuple[str, str | None]:
        dtype = self.matrix.dtype
        if dtype.kind in "Mm":
            return "datetime", dtype.name
        if dtype.kind == "O":
            return object_kind(self.matrix[:, position], self.names[position])
        return ("numeric" if dtype.kind in "fiu" else "categorical"), None

    def numbers(self, position: int, unit: str | None = None) -> NDArray[Any]:
        values = self.matrix[:, position]
        if values.dtype.kind in "OUS":
            return object_numbers(values, self.names[position], unit)
        return values if unit is None and values.dtype.kind not in "Mm" else time_numbers(values, unit)

    def texts(self, position: int) -> list[str | None]:
        return [None if is_missing(value) else str(plain_label(value)) for value in self.matrix[:, position]]

    def integers(self, position: int) -> NDArray[Any] | None:
        return self.matrix[:, position] if self.matrix.dtype.kind in "iu" and self.matrix.dtype != np.uint64 else None

    def read_words(self, positions: Sequence[int], threads: int) -> None:
        """Nothing: see `FrameTable.read_words`."""

    def has_categories(self, position: int) -> bool:
        return False

    def codes(self, position: int) -> Codes:
        values = self.matrix[:, position]
        if values.dtype.kind == "b":
            return values.view(np.int8), [False, True]
        if values.dtype.kind in "Mm":  # as text that does not depend on the unit
            values = values.astype(f"{values.dtype.kind}8[us]")
        return worded_alike(*codes_of_labels(values)) if values.dtype.kind in "OMmUS" else codes_of_numbers(values)


@dataclass(frozen=True, eq=False)
class SparseTable:
    """A scipy sparse matrix (CSR) whose columns count the words of one text column; it must be said to be one."""

    matrix: Any
    library: str = "sparse"
    named: bool = False
    names: tuple[str, ...] = ("text",)
    whole: None = None
    hints: Hints = NO_HINTS

    @property
    def rows(self) -> int:
        return int(self.matrix.shape[0])

    def read_words(self, positions: Sequence[int], threads: int) -> None:
        """Nothing: see `FrameTable.read_words`."""

    def _refuse(self, position: int, unit: str | None = None) -> NoReturn:
        raise TypeError(DENSE_NEEDED)

    kind = numbers = integers = has_categories = codes = _refuse


def counts_table(matrix: NDArray[Any]) -> SparseTable:
    """The same counts as those of a sparse matrix."""
    from scipy.sparse import csr_matrix

    return SparseTable(csr_matrix(matrix.astype(np.float64 if matrix.dtype.kind == "f" else np.int64, copy=False)))


def open_matrix(array: NDArray[Any]) -> MatrixTable:
    """The table behind an array of rows and columns."""
    if isinstance(array, np.ma.MaskedArray):
        array = _unmasked(array)
    if array.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {array.ndim}D array instead of rows and columns. Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row"
        )
    if array.dtype.kind == "c":
        raise InputError("Complex data not supported: merula reads real numbers, words and times")
    if array.dtype.kind not in "fiubOUSMm" or isinstance(array, np.matrix):
        raise TypeError(
            f"an array of {array.dtype} ({type(array).__name__}) cannot be read; pass a plain 2D array or a data frame"
        )
    array = widened(array)
    if array.dtype == np.uint64 and array.max(initial=0) < 2**63:
        array = array.view(np.int64)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return MatrixTable(checked_shape(array))


def _unmasked(array: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """A masked array as a plain one: NaN, or None, where it is masked."""
    if not np.ma.is_masked(array):
        return np.asarray(array)
    if array.dtype.kind in "fiu":
        return np.ma.filled(array.astype(np.float64), np.nan)
    plain = np.asarray(array).astype(object)
    plain[np.ma.getmaskarray(array)] = None
    return plain
