"""Open what users hold: NumPy, pandas, polars, pyarrow → one matrix or named columns, read in place.

The only module that knows a table library. A column is asked for in two ways: `numbers` (an array with NaN for
missing) and `codes` (the source's own integer codes, −1 for missing, with the label of each code).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = tuple[NDArray[Any], Sequence[Any]]
FEW = 256  # categories that are always cheap to look up
INSTANTS = (date, datetime, np.datetime64)
DURATIONS = (timedelta, np.timedelta64)


def is_missing(value: Any) -> bool:
    """True for None, NaN, NaT, pandas.NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, float | np.floating | np.datetime64 | np.timedelta64 | Decimal):
        return bool(value != value)
    return False


def plain_label(value: Any) -> Any:
    """A level as plain data: str, bool, int, float, or None for missing; anything else by its text."""
    if type(value) is str:
        return value
    if is_missing(value):
        return None
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, dict | list | set):
        raise TypeError(f"a cell holds {value!r}; a cell must be a string or a number")
    return str(value)


def narrowest(codes: NDArray[Any], largest: int) -> NDArray[Any]:
    """The codes in the smallest signed integer that holds `largest`, not copied if they are already."""
    width = next(kind for kind in (np.int8, np.int16, np.int32, np.int64) if largest <= np.iinfo(kind).max)
    return codes.astype(width, copy=False)


def widened(values: NDArray[Any]) -> NDArray[Any]:
    """The values themselves, unless they are floats of neither 4 nor 8 bytes: those as float64."""
    return values.astype(np.float64) if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8) else values


def codes_of_labels(values: Iterable[Any]) -> Codes:
    """Codes in order of first appearance of Python objects, −1 for missing."""
    values = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if set(map(type, values)) == {str}:
        words: dict[str, int] = {}
        codes = [words.setdefault(value, len(words)) for value in values]
        return narrowest(np.array(codes, dtype=np.int64), len(words)), list(words)
    seen: dict[Any, int] = {None: -1}
    found = [seen.setdefault(plain_label(value), len(seen) - 1) for value in values]
    return narrowest(np.array(found, dtype=np.int64), len(seen)), list(seen)[1:]


def distinct_labels(codes: NDArray[Any], labels: Sequence[Any]) -> Codes:
    """The same column with every label once and none for missing: a dictionary may list an entry twice, or null."""
    if len(set(labels)) == len(labels) and None not in labels:
        return codes, labels
    places: dict[Any, int] = {None: -1}
    moved = [places.setdefault(label, len(places) - 1) for label in labels]
    return narrowest(np.array([*moved, -1])[codes], len(places)), list(places)[1:]


def codes_of_numbers(values: NDArray[Any]) -> Codes:
    """Codes of the distinct numbers in an array, −1 for NaN."""
    if values.dtype.kind == "f":
        known = ~np.isnan(values)
        labels, inverse = np.unique(values[known], return_inverse=True)
        codes = np.full(len(values), -1, dtype=np.int64)
        codes[known] = inverse
    else:
        labels, codes = np.unique(values, return_inverse=True)
    return narrowest(codes, len(labels)), [plain_label(label) for label in labels.tolist()]


def time_numbers(values: NDArray[Any], unit: str | None) -> NDArray[np.float64]:
    """datetime64 or timedelta64 as a count of `unit`, NaN for NaT."""
    if unit is None or not unit.startswith(values.dtype.name.partition("[")[0]):
        raise ValueError(f"holds {values.dtype} where the model was fitted on {unit or 'plain numbers'}")
    if np.datetime_data(values.dtype)[0] in ("Y", "M"):
        values = values.astype(unit)
    # counted as floats: an instant beyond the range of `unit` is far away, not wrapped around
    here, there = np.datetime_data(values.dtype), np.datetime_data(np.dtype(unit))
    factor = np.timedelta64(1, here) / np.timedelta64(1, there)  # type: ignore[arg-type]
    numbers = values.astype(np.int64).astype(np.float64) * factor
    numbers[np.isnat(values)] = np.nan
    return numbers


def object_kind(values: Iterable[Any], name: str) -> tuple[str, str | None]:
    """Kind and unit of a column of Python objects: numeric if all are numbers, datetime if all are times, else categorical."""
    present = [value for value in values if not is_missing(value)]
    for times, unit in ((INSTANTS, "datetime64[us]"), (DURATIONS, "timedelta64[us]")):
        if present and all(isinstance(value, times) for value in present):
            return "datetime", unit
    if present and all(
        isinstance(value, Real | Decimal) and not isinstance(value, bool | np.bool_) for value in present
    ):
        return "numeric", None
    if not present:
        return "empty", None
    for value in present:
        if isinstance(value, (dict, list, set, np.ndarray, complex, np.complexfloating, *INSTANTS, *DURATIONS)):
            raise TypeError(f"column {name!r} holds {value!r}; its argument must be a string or a number in every cell")
    return "categorical", None


def object_numbers(values: Iterable[Any], name: str, unit: str | None) -> NDArray[np.float64]:
    """Python objects as numbers (or times as a count of `unit`), NaN for missing."""
    try:
        if unit is not None:
            times = [np.datetime64("NaT") if is_missing(value) else _without_zone(value, unit) for value in values]
            return time_numbers(np.array(times, dtype=unit.partition("[")[0] + "[us]"), unit)
        return np.array([np.nan if is_missing(value) else float(value) for value in values], dtype=np.float64)
    except (TypeError, ValueError) as error:
        expected, advice = (
            (f"a {unit.partition('[')[0]}", "convert it")
            if unit
            else ("numeric", f"say kinds={{{name!r}: 'categorical'}}")
        )
        raise ValueError(f"column {name!r} is {expected} but holds something else ({error}); {advice}") from None


def _without_zone(value: Any, unit: str) -> Any:
    """A time as NumPy takes it: instants in UTC without saying so."""
    if not isinstance(value, INSTANTS if unit.startswith("datetime") else DURATIONS):
        raise ValueError(f"{value!r} is no {unit.partition('[')[0]}")
    return value.astimezone(UTC).replace(tzinfo=None) if isinstance(value, datetime) and value.tzinfo else value


@dataclass(frozen=True, eq=False)
class MatrixTable:
    """An array of rows and unnamed columns, which are matched by position and called x0, x1, and so on."""

    matrix: NDArray[Any]
    library: str = "numpy"

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.matrix.shape[0])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """x0, x1, and so on."""
        return tuple(f"x{position}" for position in range(self.matrix.shape[1]))

    named = False

    @property
    def whole(self) -> NDArray[Any]:
        """All columns as one matrix."""
        return self.matrix

    def kind(self, position: int) -> tuple[str, str | None]:
        """Kind and unit of one column, from its dtype (or its values, if they are Python objects)."""
        dtype = self.matrix.dtype
        if dtype.kind in "Mm":
            return "datetime", dtype.name
        if dtype.kind == "O":
            return object_kind(self.matrix[:, position], self.names[position])
        return ("numeric" if dtype.kind in "fiu" else "categorical"), None

    def numbers(self, position: int, unit: str | None = None) -> NDArray[Any]:
        """One column as numbers; a view of the matrix where that is possible."""
        values = self.matrix[:, position]
        if values.dtype.kind in "OUS":
            return object_numbers(values, self.names[position], unit)
        return values if unit is None and values.dtype.kind not in "Mm" else time_numbers(values, unit)

    def integers(self, position: int) -> NDArray[Any] | None:
        """One column of whole numbers as it is, else None."""
        return self.matrix[:, position] if self.matrix.dtype.kind in "iu" and self.matrix.dtype != np.uint64 else None

    def codes(self, position: int) -> Codes:
        """One column's codes and their labels."""
        values = self.matrix[:, position]
        if values.dtype.kind == "b":
            return values.view(np.int8), [False, True]
        if values.dtype.kind in "Mm":  # as text that does not depend on the unit
            values = values.astype(f"{values.dtype.kind}8[us]")
        return codes_of_labels(values) if values.dtype.kind in "OMmUS" else codes_of_numbers(values)


@dataclass(frozen=True, eq=False)
class FrameTable:
    """Columns of a pandas, polars or pyarrow table, each read by its own library."""

    frame: Any
    library: str
    named: bool
    names: tuple[str, ...]
    _read: dict[int, Any] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.frame.shape[0])

    @cached_property
    def whole(self) -> NDArray[Any] | None:
        """All columns as one matrix, where the library holds them as one (pandas, one dtype, one block); else None."""
        if self.library != "pandas":
            return None
        native = self.frame.to_native()
        dtypes = set(native.dtypes)
        if len(dtypes) > 1 or not isinstance(dtype := dtypes.pop(), np.dtype) or dtype.kind not in "fiu":
            return None
        first_rows = native.iloc[:1]
        in_one_block = np.shares_memory(first_rows.to_numpy(), first_rows.iloc[:, 0].to_numpy())
        return np.asarray(native.to_numpy()) if in_one_block and len(self.names) > 1 else None

    def _native(self, position: int) -> Any:
        """One column as its own library holds it, asked for once (rows asked for one by one must be cheap)."""
        if position not in self._read:
            self._read[position] = self._ask(position)
        return self._read[position]

    def _ask(self, position: int) -> Any:
        native = self.frame.to_native()
        if self.library == "pandas":
            return native[native.columns[position]]
        return native.column(position) if self.library == "pyarrow" else self._series(position).to_native()

    def _series(self, position: int) -> Any:
        return self.frame[:, position]

    def kind(self, position: int) -> tuple[str, str | None]:
        """Kind and unit of one column, from its dtype."""
        if self.library == "pandas":  # the common dtypes by the shortest way
            own = self._native(position).dtype
            if isinstance(own, np.dtype) and own.kind in "fiuO":
                return self._object_kind(position) if own.kind == "O" else ("numeric", None)
            if hasattr(own, "categories"):
                return "categorical", None
        import narwhals as nw

        series = self._series(position)
        dtype = series.dtype
        if dtype == nw.Object:
            return self._object_kind(position)
        if dtype.is_float() or dtype.is_integer() or dtype.is_decimal():
            return "numeric", None
        if dtype in (nw.Datetime, nw.Date):
            return "datetime", f"datetime64[{_resolution(dtype)}]"
        if dtype == nw.Duration:
            return "datetime", f"timedelta64[{_resolution(dtype)}]"
        if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Boolean):
            return "categorical", None
        if dtype == nw.Unknown and series.null_count() == len(series):
            return "empty", None
        raise ValueError(
            f"column {self.names[position]!r} holds {dtype}, which merula cannot read; convert it or say kinds={{{self.names[position]!r}: 'ignore'}}"
        )

    def _object_kind(self, position: int) -> tuple[str, str | None]:
        """The kind of a column of Python objects, from all of them (a guess from the first would depend on row order)."""
        if self.library == "pandas":
            from pandas.api.types import infer_dtype

            if infer_dtype(self._native(position), skipna=True) == "string":
                return "categorical", None
        return object_kind(self._series(position).to_list(), self.names[position])

    def numbers(self, position: int, unit: str | None = None) -> NDArray[Any]:
        """One column as numbers; a view of the source where that is possible."""
        native = self._native(position)
        if (
            self.library == "pandas"
            and isinstance(native.dtype, np.dtype)
            and native.dtype.kind in "fiu"
            and unit is None
        ):
            return widened(native.to_numpy())
        import narwhals as nw

        series = self._series(position)
        dtype = series.dtype
        if dtype in (nw.Datetime, nw.Date, nw.Duration):
            name = "timedelta64" if dtype == nw.Duration else "datetime64"
            return time_numbers(_times(series, f"{name}[{_resolution(dtype)}]"), unit)
        if dtype in (nw.Object, nw.String, nw.Categorical, nw.Enum):
            return object_numbers(series.to_list(), self.names[position], unit)
        if unit is not None:
            if dtype.is_float() and np.isnan(series.to_numpy()).all():
                return np.full(len(series), np.nan)
            raise ValueError(f"column {self.names[position]!r} holds {dtype} where the model was fitted on {unit}")
        self.kind(position)  # an error if it is nothing that merula reads
        if dtype.is_decimal() or dtype in (nw.Boolean, nw.Unknown, nw.Int128, nw.UInt128):
            series = series.cast(nw.Float64())
        values = series.to_numpy()
        return widened(values) if values.dtype.kind in "fiu" else object_numbers(values, self.names[position], None)

    def integers(self, position: int) -> NDArray[Any] | None:
        """One column of whole numbers, none of them missing, as it is; else None."""
        native = self._native(position)
        if self.library == "pandas" and not isinstance(native.dtype, np.dtype):
            return None
        if self.library != "pandas" and not self._series(position).dtype.is_integer():
            return None
        values = np.asarray(native)
        return values if values.dtype.kind in "iu" and values.dtype != np.uint64 else None

    def codes(self, position: int) -> Codes:
        """One column's codes and their labels, as the source keeps them where it does."""
        reader = {"pandas": _pandas_codes, "polars": _polars_codes, "pyarrow": _arrow_codes}.get(self.library)
        try:
            codes, labels = (
                reader(self._native(position)) if reader else codes_of_labels(self._series(position).to_list())
            )
        except TypeError:  # not even a label
            object_kind(self._series(position).to_list(), self.names[position])
            raise
        return distinct_labels(codes, labels)


Table = MatrixTable | FrameTable


def _resolution(dtype: Any) -> str:
    """The unit a time column counts in; whole seconds and days are counted in milliseconds."""
    unit = getattr(dtype, "time_unit", "ms")
    return unit if unit in ("ns", "us") else "ms"


def _times(series: Any, unit: str) -> NDArray[Any]:
    """A time column as datetime64 or timedelta64 of `unit`, time zones in UTC."""
    import narwhals as nw

    resolution = unit.partition("[")[2][:2]
    if unit.startswith("timedelta"):
        counts = series.to_numpy()
        return np.asarray(counts).astype(unit)
    if series.dtype == nw.Date:
        series = series.cast(nw.Datetime("ms"))
    counts = np.asarray(series.dt.timestamp(resolution).to_numpy())
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    whole = np.where(missing, np.iinfo(np.int64).min, np.where(missing, 0, counts).astype(np.int64))
    return whole.view(unit)


def _pandas_codes(series: Any) -> Codes:
    values = series.array
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "fiu":
        return codes_of_numbers(series.to_numpy())
    if hasattr(values, "codes"):
        codes, categories = values.codes, values.categories
        if len(categories) > FEW + 4 * len(codes):  # a few rows of a column with very many categories
            used, codes = np.unique(codes[codes >= 0], return_inverse=True), np.array(codes)
            codes[codes >= 0], categories = used[1], categories.take(used[0])
        return codes, [plain_label(label) for label in categories.tolist()]
    if series.dtype == bool:
        return series.to_numpy().view(np.int8), [False, True]
    codes, labels = series.factorize(use_na_sentinel=True)
    plain = [plain_label(label) for label in labels.tolist()]
    return narrowest(codes, len(plain)), plain


def _polars_codes(series: Any) -> Codes:
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


def _arrow_codes(column: Any) -> Codes:
    import pyarrow as pa

    if isinstance(column, pa.Array):
        column = pa.chunked_array([column])
    if pa.types.is_null(column.type):
        return np.full(len(column), -1, dtype=np.int8), []
    if pa.types.is_floating(column.type):
        return codes_of_numbers(column.to_numpy())
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    try:
        whole = column.unify_dictionaries().combine_chunks()
    except pa.ArrowInvalid:  # dictionaries that list null
        whole = column.cast(column.type.value_type).dictionary_encode().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], type=column.type)
    labels = [plain_label(label) for label in whole.dictionary.to_pylist()]
    codes = whole.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return narrowest(codes, len(labels)), labels


def codes_of_words(values: Any) -> tuple[NDArray[Any], list[str]] | None:
    """Codes and labels of a column that holds words and nothing else, from any library; None for anything else."""
    if isinstance(values, np.ndarray) and values.ndim == 1:
        is_words = values.dtype.kind == "U" or (values.dtype.kind == "O" and set(map(type, values)) == {str})
        return codes_of_labels(values) if is_words else None  # type: ignore[return-value]
    module = type(values).__module__.partition(".")[0]
    reader, test = {
        "pandas": (_pandas_codes, _pandas_words),
        "polars": (_polars_codes, _polars_words),
        "pyarrow": (_arrow_codes, _arrow_words),
    }.get(module, (None, None))
    if reader is None or test is None or not test(values):
        return None
    codes, labels = distinct_labels(*reader(values))
    return codes, list(labels)


def _pandas_words(values: Any) -> bool:
    from pandas.api.types import is_string_dtype

    if not hasattr(values, "array") or getattr(values, "ndim", 0) != 1:
        return False
    return bool(is_string_dtype(getattr(values.dtype, "categories", values)))


def _polars_words(values: Any) -> bool:
    import polars as pl

    return isinstance(values, pl.Series) and values.dtype in (pl.String, pl.Categorical, pl.Enum)


def _arrow_words(values: Any) -> bool:
    import pyarrow as pa

    kind = getattr(values, "type", None)
    kind = kind.value_type if kind is not None and pa.types.is_dictionary(kind) else kind
    return kind is not None and bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def open_table(source: Any) -> Table:
    """The table behind an array or a data frame, without copying it.

    Examples
    --------
    >>> import numpy as np
    >>> open_table(np.eye(3)).names
    ('x0', 'x1', 'x2')
    """
    if isinstance(source, np.ndarray):
        return _open_matrix(source)
    if hasattr(source, "toarray") and hasattr(source, "nnz"):
        raise TypeError("Sparse data was passed, but dense data is required; use .toarray() if it fits in memory")
    if isinstance(source, list | tuple) or not (hasattr(source, "columns") or hasattr(source, "column_names")):
        array = np.asarray(source)
        return _open_matrix(np.array(source, dtype=object) if array.dtype.kind in "US" else array)
    return _open_frame(source)


def _open_matrix(array: NDArray[Any]) -> MatrixTable:
    if isinstance(array, np.ma.MaskedArray):
        array = _unmasked(array)
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead of rows and columns. Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row"
        )
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: merula reads real numbers, words and times")
    if array.dtype.kind not in "fiubOUSMm" or isinstance(array, np.matrix):
        raise TypeError(
            f"an array of {array.dtype} ({type(array).__name__}) cannot be read; pass a plain 2D array or a data frame"
        )
    array = widened(array)
    if array.dtype == np.uint64 and array.max(initial=0) < 2**63:
        array = array.view(np.int64)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return MatrixTable(_checked_shape(array))


def _unmasked(array: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """A masked array as a plain one: NaN, or None, where it is masked."""
    if not np.ma.is_masked(array):
        return np.asarray(array)
    if array.dtype.kind in "fiu":
        return np.ma.filled(array.astype(np.float64), np.nan)
    plain = np.asarray(array).astype(object)
    plain[np.ma.getmaskarray(array)] = None
    return plain


def _open_frame(source: Any) -> FrameTable:
    import narwhals as nw

    raw_names = list(source.column_names if hasattr(source, "column_names") else source.columns)
    duplicates = (
        {str(name) for name in raw_names if raw_names.count(name) > 1}
        if len(set(raw_names)) < len(raw_names)
        else set()
    )
    if duplicates:
        raise ValueError(
            f"column name {min(duplicates)!r} stands more than once; rename so that every column has its own name"
        )
    words = [isinstance(name, str) for name in raw_names]
    if any(words) and not all(words):
        raise TypeError(
            "Feature names are only supported if all input features have string names, but some of these column names are not strings; rename them (X.columns = X.columns.astype(str))"
        )
    frame = nw.from_native(source, eager_only=True)
    names = tuple(raw_names) if all(words) else tuple(f"x{position}" for position in range(len(raw_names)))
    _checked_shape(frame)
    return FrameTable(frame, str(frame.implementation.name).lower(), bool(words) and all(words), names)


def _checked_shape(table: Any) -> Any:
    """The table, unless it is empty."""
    rows, columns = table.shape
    if columns == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required: the table has no columns"
        )
    if rows == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape=(0, {columns})) while a minimum of 1 is required: the table has no rows"
        )
    return table


def build_frame(columns: dict[str, NDArray[Any]], library: str) -> Any:
    """A table of the user's own library from named arrays; an array of the columns side by side for NumPy."""
    if library == "numpy":
        kinds = {array.dtype.kind for array in columns.values()}
        return np.column_stack([array if kinds <= set("fiub") else array.astype(object) for array in columns.values()])
    import narwhals as nw

    lists = {name: array.tolist() if array.dtype.kind == "O" else array for name, array in columns.items()}
    return nw.from_dict(lists, backend=library).to_native()
