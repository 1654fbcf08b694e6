"""Codes of a column in its own library: pandas, polars and pyarrow keep them, or make them faster than we could."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import InputError
from merula.data.table.cell_values import (
    FEW,
    Codes,
    NotALabelError,
    codes_of_labels,
    codes_of_numbers,
    distinct_labels,
    narrowest,
    plain_label,
)


def pandas_codes(series: Any) -> Codes:
    """Codes and labels of a pandas column; −1 for missing."""
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "fiu":
        return codes_of_numbers(series.to_numpy())
    if hasattr(series.array, "codes"):
        codes, categories = series.array.codes, series.array.categories
        if len(categories) > FEW + 4 * len(codes):  # a few rows of a column with very many categories
            used, codes = np.unique(codes[codes >= 0], return_inverse=True), np.array(codes)
            codes[codes >= 0], categories = used[1], categories.take(used[0])
        return codes, [plain_label(label) for label in categories.tolist()]
    if series.dtype == bool:
        return series.to_numpy().view(np.int8), [False, True]
    codes, labels = series.factorize(use_na_sentinel=True)
    plain = [plain_label(label) for label in labels.tolist()]
    return narrowest(codes, len(plain)), plain


def polars_codes(series: Any) -> Codes:
    """Codes and labels of a polars column; −1 for missing."""
    import polars as pl

    if series.dtype.is_float() or (series.dtype.is_integer() and not series.null_count()):
        return codes_of_numbers(series.to_numpy())
    if series.dtype == pl.Boolean:
        codes, labels = series.cast(pl.Int8), [False, True]
    elif isinstance(series.dtype, pl.Enum):
        codes, labels = series.to_physical(), series.dtype.categories.to_list()
    elif series.dtype in (pl.String, pl.Categorical):
        words = series.cast(pl.String)
        levels = words.drop_nulls().unique(maintain_order=True)
        codes, labels = words.cast(pl.Enum(levels)).to_physical(), levels.to_list()
    else:
        return codes_of_labels(series.to_list())
    return narrowest(codes.cast(pl.Int64).fill_null(-1).to_numpy(), len(labels)), labels


def arrow_codes(column: Any) -> Codes:
    """Codes and labels of a pyarrow column; −1 for missing."""
    import pyarrow as pa

    if isinstance(column, pa.Array):
        column = pa.chunked_array([column])
    if pa.types.is_null(column.type):
        return np.full(len(column), -1, dtype=np.int8), []
    if pa.types.is_floating(column.type):
        return codes_of_numbers(column.to_numpy())
    if not pa.types.is_dictionary(column.type):
        try:
            column = column.dictionary_encode()
        except pa.ArrowNotImplementedError:
            raise NotALabelError(
                f"holds {column.type}, which merula cannot read", got=str(column.type), remedy="convert it"
            ) from None
    try:
        whole = column.unify_dictionaries().combine_chunks()
    except pa.ArrowInvalid:  # dictionaries that list null
        whole = column.cast(column.type.value_type).dictionary_encode().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], type=column.type)
    labels = [plain_label(label) for label in python_cells(whole.dictionary)]
    return narrowest(whole.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False), len(labels)), labels


def python_cells(cells: Any) -> list[Any]:
    """A pyarrow array or table as Python objects; an `InputError` where it holds a time that Python has none for."""
    import pyarrow as pa

    try:
        return list(cells.to_pylist())
    except (OverflowError, ValueError) as error:
        kind = "a table" if isinstance(cells, pa.RecordBatch | pa.Table) else f"a column of {cells.type}"
        raise InputError(
            f"{kind} holds a time that cannot be told ({error})",
            remedy="correct it: times lie between the years 1 and 9999",
        ) from None


def codes_of_words(values: Any) -> tuple[NDArray[Any], list[str]] | None:
    """Codes and labels of a column that holds words and nothing else, from any library; None for anything else."""
    if isinstance(values, np.ndarray) and values.ndim == 1:
        is_words = values.dtype.kind == "U" or (values.dtype.kind == "O" and set(map(type, values)) == {str})
        return codes_of_labels(values) if is_words else None  # type: ignore[return-value]
    reader, test = {
        "pandas": (pandas_codes, _pandas_words),
        "polars": (polars_codes, _polars_words),
        "pyarrow": (arrow_codes, _arrow_words),
    }.get(type(values).__module__.partition(".")[0], (None, None))
    if reader is None or test is None or not test(values):
        return None
    codes, labels = distinct_labels(*reader(values))
    return codes, list(labels)


def _pandas_words(values: Any) -> bool:
    from pandas.api.types import is_string_dtype

    one_column = hasattr(values, "array") and getattr(values, "ndim", 0) == 1
    return one_column and bool(is_string_dtype(getattr(values.dtype, "categories", values)))


def _polars_words(values: Any) -> bool:
    import polars as pl

    return isinstance(values, pl.Series) and values.dtype in (pl.String, pl.Categorical, pl.Enum)


def _arrow_words(values: Any) -> bool:
    import pyarrow as pa

    kind = getattr(values, "type", None)
    kind = kind.value_type if kind is not None and pa.types.is_dictionary(kind) else kind
    return kind is not None and bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
