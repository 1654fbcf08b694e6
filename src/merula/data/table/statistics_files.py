"""Files of SPSS, Stata and SAS, read by pyreadstat: values that have labels become these, dates and missing values stay what they are."""

from __future__ import annotations

import io
from typing import Any

from merula.core import InputError, bounded
from merula.data.table.file_options import FileOptions
from merula.data.table.workbook import EXACT, as_seen
from merula.data.words import clean

NEEDS_READSTAT = "files of SPSS, Stata and SAS are read by pyreadstat, which is not installed: pip install 'merula[statistics]', or save the table as CSV"
CELL = 16  # bytes that a cell takes, at least


def read_spss(data: bytes, options: FileOptions) -> Any:
    """The pyarrow table of an SPSS file (.sav, .zsav)."""
    return _read(data, options, "sav", "an SPSS file")


def read_stata(data: bytes, options: FileOptions) -> Any:
    """The pyarrow table of a Stata file (.dta)."""
    return _read(data, options, "dta", "a Stata file")


def read_sas(data: bytes, options: FileOptions) -> Any:
    """The pyarrow table of a SAS file (.sas7bdat)."""
    return _read(data, options, "sas7bdat", "a SAS file")


def _read(data: bytes, options: FileOptions, suffix: str, what: str) -> Any:
    try:
        import pyreadstat
    except ImportError:
        raise ImportError(NEEDS_READSTAT) from None
    import pyarrow as pa

    options.refuse_lines(what)
    reader = getattr(pyreadstat, f"read_{suffix}")
    try:
        _, told = reader(io.BytesIO(data), metadataonly=True)
        bounded.refuse_beyond(CELL * (told.number_rows or 0) * told.number_columns, len(data), bounded.COLUMNAR)
        columns, told = reader(io.BytesIO(data), output_format="dict")
    except (pyreadstat.ReadstatError, UnicodeDecodeError) as error:
        raise InputError(f"is {what} that cannot be read ({error})", remedy="save it again, or as CSV") from None
    labels = told.variable_value_labels
    return pa.table(
        {name: _column(list(cells), labels.get(name, {}), name in options.words) for name, cells in columns.items()}
    )


def _column(cells: list[Any], labels: dict[Any, str], stays_words: bool) -> Any:
    """A column of values; of their labels where each has one; of words without blanks at their ends where it holds words."""
    import pyarrow as pa

    held = [None if cell is None or cell != cell or cell == "" else cell for cell in cells]  # NaN is not itself
    if labels and all(cell is None or cell in labels for cell in held):
        return pa.array([None if cell is None else labels[cell] for cell in held], pa.string())
    kinds = {type(cell) for cell in held if cell is not None}
    if kinds and (stays_words or str in kinds):
        return pa.array([None if cell is None else clean(as_seen(cell)) or None for cell in held], pa.string())
    if kinds == {float} and all(cell is None or (cell.is_integer() and abs(cell) < EXACT) for cell in held):
        return pa.array([None if cell is None else int(cell) for cell in held], pa.int64())
    return pa.array(held)
