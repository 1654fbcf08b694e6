"""Data frames as tables: named columns, each read by its own library; and rows taken out of whatever table the user holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import InputError, Option
from merula.data.table.cell_values import (
    Codes,
    NotALabelError,
    checked_shape,
    codes_of_labels,
    distinct_labels,
    is_missing,
    object_kind,
    object_numbers,
    plain_label,
    time_numbers,
    widened,
    worded_alike,
)
from merula.data.table.codes import arrow_codes, pandas_codes, polars_codes
from merula.data.table.in_arrow import cells_in_arrow
from merula.data.table.plain_columns import holds_times_of_day, plain_column
from merula.data.table.views import without_views
from merula.data.words import Hints

Rows = NDArray[np.int64]
HINTS = b"merula"  # under which a table that was read from a file keeps what was said of its words
FLOATS = ("double", "float")  # of pyarrow
SUCH_AS = {"datetime64": "give days or times, such as 2024-12-31", "timedelta64": "give durations, such as 1h 30m"}
UNREAD = "unread"  # the kind of a column of lists, records or bytes
MANY_ROWS = 20_000  # from which on threads cost less than they save


@dataclass(frozen=True, eq=False)
class FrameTable:
    """Columns of a pandas, polars or pyarrow table, each read by its own library."""

    frame: Any
    library: str
    named: bool
    names: tuple[str, ...]
    coded_words: frozenset[str] = (
        frozenset()
    )  # columns that the reader of a file holds as codes: they are words all the same
    _read: dict[int, Any] = field(default_factory=dict)
    _seen: dict[int, Any] = field(default_factory=dict)
    _coded: dict[int, Codes] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.frame.shape[0])

    @cached_property
    def hints(self) -> Hints:
        """What was said of the table's words when its file was read; of other tables only which columns hold times of day."""
        if self.library != "pyarrow":
            return Hints(of_the_day=self._times_of_day())
        said = (self.frame.to_native().schema.metadata or {}).get(HINTS)
        try:
            held: dict[str, Any] = json.loads(said) if said else {}
            listed: dict[str, Any] = {name: tuple(value) for name, value in held.items() if isinstance(value, list)}
            stand_ins = {name: tuple(words) for name, words in held.get("stand_ins", {}).items()}
            times = (*listed.get("of_the_day", ()), *self._times_of_day())
            return Hints(**{**held, **listed, "stand_ins": stand_ins, "of_the_day": times})
        except (ValueError, TypeError, AttributeError):  # what somebody else keeps under this name
            return Hints(of_the_day=self._times_of_day())

    def _times_of_day(self) -> tuple[str, ...]:
        """The columns that the library holds as times of day."""
        native = self.frame.to_native()
        types = native.schema.types if self.library == "pyarrow" else list(getattr(native, "dtypes", ()))
        return tuple(name for name, dtype in zip(self.names, types, strict=False) if holds_times_of_day(dtype))

    @cached_property
    def whole(self) -> NDArray[Any] | None:
        """All columns as one matrix, where the library holds them as one (pandas, one dtype, one block); else None."""
        if self.library != "pandas":
            return None
        native = self.frame.to_native()
        if self._native(0).dtype != self._native(len(self.names) - 1).dtype:  # asking for all takes longer
            return None
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
            column = native[self.names[position]] if self.named else native.iloc[:, position]
        else:
            column = native.column(position) if self.library == "pyarrow" else self.frame[:, position].to_native()
        return plain_column(column, self.library)

    def _series(self, position: int) -> Any:
        """One column as narwhals sees it; not asked of the frame, which would look through all its names."""
        import narwhals as nw

        if position not in self._seen:
            self._seen[position] = nw.from_native(self._native(position), series_only=True)
        return self._seen[position]

    def _type(self, position: int) -> Any:
        """What the library itself calls the type of a column."""
        native = self._native(position)
        return native.type if self.library == "pyarrow" else native.dtype

    def _unreadable(self, position: int) -> NotALabelError:
        """The error of a column whose cells are neither numbers nor labels."""
        told = f"holds {self._type(position)}, which merula cannot read"
        return NotALabelError.at(f"column {self.names[position]!r}", told, remedy="convert it")

    def cells(self, name: str) -> Any:
        """One column in pyarrow as it stands, for whoever wants the rows back; cells of several types as words."""
        return cells_in_arrow(self.frame[name], name, in_words=True)

    def kind(self, position: int) -> tuple[str, str | None]:
        """Kind and unit of one column, from its dtype."""
        if self.library == "pandas":  # the common dtypes by the shortest way
            own = self._native(position).dtype
            if isinstance(own, np.dtype) and own.kind in "fiuO":
                return self._object_kind(position) if own.kind == "O" else ("numeric", None)
            if hasattr(own, "categories"):
                return "categorical", None
        if self._holds_floats(position):
            return "numeric", None
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
        if dtype in (nw.List, nw.Array, nw.Struct, nw.Binary):
            return UNREAD, None
        raise InputError.at(f"column {self.names[position]!r}", f"holds {self._type(position)}, which merula cannot read", got=dtype, remedy=("convert it or say ", Option('kinds', 'ignore', column=self.names[position])))  # fmt: skip

    def _object_kind(self, position: int) -> tuple[str, str | None]:
        """The kind of a column of Python objects, from all of them (a guess from the first would depend on row order)."""
        if self.library == "pandas":
            from pandas.api.types import infer_dtype

            if infer_dtype(self._native(position), skipna=True) == "string":
                return "categorical", None
        cells = self._series(position).to_list()
        if any(isinstance(cell, dict | list | set | np.ndarray) for cell in cells):
            return UNREAD, None
        return object_kind(cells, self.names[position])

    def _holds_floats(self, position: int) -> bool:
        """Whether a column of pyarrow is plainly one of floats: nobody else needs to be asked about it."""
        return self.library == "pyarrow" and str(self._native(position).type) in FLOATS

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
        if unit is None and self._holds_floats(position):
            return native.to_numpy()  # type: ignore[no-any-return]
        import narwhals as nw

        series = self._series(position)
        dtype = series.dtype
        if dtype in (nw.Datetime, nw.Date, nw.Duration):
            name = "timedelta64" if dtype == nw.Duration else "datetime64"
            return time_numbers(_times(series, f"{name}[{_resolution(dtype)}]"), unit)
        if dtype in (nw.Object, nw.String, nw.Categorical, nw.Enum):
            return object_numbers(series.to_list(), self.names[position], unit)
        if unit is not None:
            if series.null_count() == len(series) or (dtype.is_float() and np.isnan(series.to_numpy()).all()):
                return np.full(len(series), np.nan)
            raise InputError.at(f"column {self.names[position]!r}", f"holds {dtype} where the model was fitted on {unit}", got=dtype, remedy=SUCH_AS[unit.partition("[")[0]])  # fmt: skip
        if self.kind(position)[0] == UNREAD:  # an error if it is nothing that merula reads
            raise NotALabelError.at(f"column {self.names[position]!r}", f"holds {self._type(position)} where the model was fitted on numbers", remedy="give a number in every cell")  # fmt: skip
        if dtype.is_decimal():  # to the nearest float, which Arrow and polars miss where they divide
            series = series.cast(nw.String()).cast(nw.Float64())
        if dtype in (nw.Boolean, nw.Unknown, nw.Int128, nw.UInt128):
            series = series.cast(nw.Float64())
        values = series.to_numpy()
        return widened(values) if values.dtype.kind in "fiu" else object_numbers(values, self.names[position], None)

    def texts(self, position: int) -> list[str | None]:
        """One column as texts, None for missing."""
        return [None if is_missing(value) else str(plain_label(value)) for value in self._series(position).to_list()]

    def integers(self, position: int) -> NDArray[Any] | None:
        """One column of whole numbers, none of them missing, as it is; else None."""
        native = self._native(position)
        pandas = self.library == "pandas"
        if not (isinstance(native.dtype, np.dtype) if pandas else self._series(position).dtype.is_integer()):
            return None
        values = np.asarray(native)
        return values if values.dtype.kind in "iu" and values.dtype != np.uint64 else None

    def has_categories(self, position: int) -> bool:
        """Whether the library holds the column as categories, so that its words are names whatever they look like."""
        if self.names[position] in self.coded_words:
            return False
        if self.library == "pandas":
            return hasattr(self._native(position).dtype, "categories")
        import narwhals as nw

        return self._series(position).dtype in (nw.Categorical, nw.Enum)

    def codes(self, position: int) -> Codes:
        """One column's codes and their labels, as the source keeps them where it does; made at most once."""
        if position not in self._coded:
            self._coded[position] = self._make_codes(position)
        return self._coded[position]

    def read_words(self, positions: Sequence[int], threads: int) -> None:
        """Make the codes of those of these columns that hold strings, several columns at a time: it takes most of the time of reading them."""
        if threads > 1 and self.rows >= MANY_ROWS:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(self.codes, filter(self._holds_strings, positions)))

    def _holds_strings(self, position: int) -> bool:
        """Whether the library holds strings, not Python objects: then threads do not wait for one another."""
        import narwhals as nw

        objects = self.library == "pandas" and isinstance(self._native(position).dtype, np.dtype)
        return not objects and self._series(position).dtype == nw.String

    def _make_codes(self, position: int) -> Codes:
        reader = {"pandas": pandas_codes, "polars": polars_codes, "pyarrow": arrow_codes}.get(self.library)
        try:
            codes, labels = (
                reader(self._native(position)) if reader else codes_of_labels(self._series(position).to_list())
            )
        except TypeError as error:  # not even a label
            object_kind(self._series(position).to_list(), self.names[position])
            raise self._unreadable(position) from error
        codes, labels = distinct_labels(codes, labels)
        return (codes, labels) if self.has_categories(position) else worded_alike(codes, labels)


def _resolution(dtype: Any) -> str:
    """The unit a time column counts in; whole seconds and days are counted in milliseconds."""
    unit = getattr(dtype, "time_unit", "ms")
    return unit if unit in ("ns", "us") else "ms"


def _times(series: Any, unit: str) -> NDArray[Any]:
    """A time column as datetime64 or timedelta64 of `unit`, time zones in UTC."""
    import narwhals as nw

    if unit.startswith("timedelta"):
        return np.asarray(series.to_numpy()).astype(unit)
    if series.dtype == nw.Date:
        series = series.cast(nw.Datetime("ms"))
    counts = np.asarray(series.dt.timestamp(unit.partition("[")[2][:2]).to_numpy())
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    return np.where(missing, np.iinfo(np.int64).min, np.where(missing, 0, counts).astype(np.int64)).view(unit)


def open_frame(source: Any) -> FrameTable:
    """The table behind a data frame; a TypeError if it is none that narwhals knows."""
    import narwhals as nw

    raw_names = list(source.column_names if hasattr(source, "column_names") else source.columns)
    if len(set(raw_names)) < len(raw_names):
        duplicates = {str(name) for name in raw_names if raw_names.count(name) > 1}
        raise InputError(f"column name {min(duplicates)!r} stands more than once", remedy="rename so that every column has its own name")  # fmt: skip
    words = [isinstance(name, str) for name in raw_names]
    if any(words) and not all(words):
        raise TypeError(
            "Feature names are only supported if all input features have string names, but some of these column names are not strings; rename them (X.columns = X.columns.astype(str))"
        )
    frame = nw.from_native(without_views(source), eager_only=True)
    names = tuple(raw_names) if all(words) else tuple(f"x{position}" for position in range(len(raw_names)))
    checked_shape(frame)
    return FrameTable(frame, str(frame.implementation.name).lower(), bool(words) and all(words), names)


def build_frame(columns: dict[str, NDArray[Any]], library: str) -> Any:
    """A table of the user's own library from named arrays; an array of the columns side by side for NumPy."""
    if library == "numpy":
        kinds = {array.dtype.kind for array in columns.values()}
        alike = kinds <= set("fiub") or kinds in ({"M"}, {"m"})
        return np.column_stack([array if alike else _objects(array) for array in columns.values()])
    import narwhals as nw

    lists = {name: array.tolist() if array.dtype.kind == "O" else array for name, array in columns.items()}
    return nw.from_dict(lists, backend=library).to_native()


def _objects(array: NDArray[Any]) -> NDArray[Any]:
    """An array of Python objects: times as datetime and timedelta."""
    return (array.astype(f"{array.dtype.kind}8[us]") if array.dtype.kind in "Mm" else array).astype(object)


# ----------------------------------------------------------------------------------------------------------------- rows


@dataclass(frozen=True, eq=False)
class RowSource:
    """A table as the number of its rows and a way to take some of them."""

    count: int
    take: Callable[[Rows], Any]


def open_rows(X: Any) -> RowSource:
    """The rows of an array, a list, a data frame (opened already or not) or a sparse matrix; missing cells stay as they are."""
    import narwhals as nw

    if hasattr(X, "tocsr"):
        matrix = X.tocsr()
        return RowSource(matrix.shape[0], lambda rows: matrix[rows])
    try:
        frame = (
            X.frame
            if isinstance(X, FrameTable)
            else nw.from_native(without_views(X), allow_series=True, pass_through=True)
        )
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"a column name stands more than once ({' '.join(str(error).split())})", remedy="give every column its own") from None  # fmt: skip
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"X is a {type(X).__name__}, whose rows are not in memory; collect it first")
    if isinstance(frame, nw.DataFrame | nw.Series):
        return RowSource(len(frame), lambda rows: frame[rows].to_native())
    if isinstance(X, list | tuple):
        return RowSource(len(X), lambda rows: [X[row] for row in rows.tolist()])
    if not hasattr(X, "__getitem__") or not hasattr(X, "shape"):
        raise TypeError(f"X is {X!r}, expected an array, a list of rows, a data frame or a sparse matrix")
    return RowSource(X.shape[0], lambda rows: X[rows])
