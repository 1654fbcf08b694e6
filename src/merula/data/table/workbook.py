"""Workbooks of Excel and LibreOffice (.xlsx, .xls, .ods): one sheet of them as a table, its header found as that of CSV is.

Their cells are typed. A column of one type keeps it; a mixed one becomes words, written as a person sees them.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from merula.core import InputError, Option, nearest, warn_user
from merula.data.table.cleaning import cleaned
from merula.data.table.declared_sizes import refuse_columns
from merula.data.table.delimited import NO_ROWS
from merula.data.table.file_options import FileOptions
from merula.data.table.footers import MOST_FOOTERS, footer_of, note_footer, note_total, total_in, with_totals
from merula.data.table.header_again import FEWEST_BETWEEN, note_header_again
from merula.data.table.headers import (
    LOOKED_AT,
    NUMBER,
    column_names,
    note_titles,
    quoted,
    title_rows,
    without_empty,
)
from merula.data.table.workbook_sizes import refuse_hard_workbook
from merula.data.words import clean
from merula.show.text import shortened

NEEDS_CALAMINE = "workbooks are read by python-calamine, which is not installed: pip install 'merula[excel]', or save the sheet as CSV"
EXACT = 2**53  # whole numbers up to here are exact as floats
LONGEST = 60


def read_workbook(data: bytes, options: FileOptions) -> Any:
    """The pyarrow table of a workbook's sheet: the one named, or the first that holds anything."""
    import pyarrow as pa

    for name in ("encoding", "on_error"):
        options.refuse(name, "a workbook")
    refuse_hard_workbook(data)
    rows = _sheet(data, options)
    rows = rows[_titles(rows) if options.skip_rows is None else 0 :]
    if not rows:
        raise InputError(NO_ROWS)
    header, rows = rows[0], _without_footer(_without_repeats(rows[0], rows[1:]), len(rows[0]))
    body = [row for row in rows if any(not _is_empty(cell) for cell in row)]
    names = _header_names(header)
    found = column_names(names)
    if not body:
        raise InputError(NO_ROWS)
    columns = [_column(cells, name, options) for cells, name in zip(zip(*body, strict=True), found.names, strict=True)]
    table = pa.table(columns, names=found.names)
    return without_empty(cleaned(table, options, options.decimal or ".", retype=True), found.unnamed)


def _header_names(header: Sequence[Any]) -> list[str]:
    """The cleaned names in the header; a ValueError where it is a row like the others."""
    names = [clean(as_seen(cell)) for cell in header]
    refuse_columns(len(names))
    if len(names) > 1 and all(map(NUMBER.fullmatch, names)):
        told = shortened(" ".join(names), LONGEST)
        raise InputError(
            f"begins with a row of numbers ({told!r})", remedy="the first row must name the columns: add one"
        )
    return names


def _titles(rows: list[list[Any]]) -> int:
    """How many rows are titles above the header, told in a note."""
    seen = [[as_seen(cell) for cell in row] for row in rows[:LOOKED_AT]]
    width = max(map(len, seen), default=0)
    count = title_rows(seen[: len(seen) - footer_of(seen, width).rows])
    note_titles(seen[:count])
    return count


def _without_repeats(header: list[Any], rows: list[list[Any]]) -> list[list[Any]]:
    """The rows without those that are the header again, told in a note."""
    names = [clean(as_seen(cell)) for cell in header]
    named = [place for place, name in enumerate(names) if name]
    if len(named) < 2 or any(map(NUMBER.fullmatch, names)):
        return rows

    def holds(row: list[Any], places: Sequence[int]) -> bool:
        return all(clean(as_seen(row[place])) == names[place] for place in places)

    kept = [row for row in rows if not holds(row, range(len(names)))]
    count = len(rows) - len(kept)
    if not count or count * FEWEST_BETWEEN > len(rows) or any(holds(row, named[:1]) or holds(row, named[-1:]) for row in kept):  # fmt: skip
        return rows
    note_header_again(count)
    return kept


def _without_footer(rows: list[list[Any]], width: int) -> list[list[Any]]:
    """The rows without remarks below them, told in a note."""
    seen = [[as_seen(cell) for cell in row] for row in rows[-MOST_FOOTERS - 1 :]]
    footer = with_totals(footer_of(seen, width), seen, width)
    note_footer(footer)
    note_total(total_in(seen[: len(seen) - footer.rows], width))
    return rows[: len(rows) - footer.rows]


def _sheet(data: bytes, options: FileOptions) -> list[list[Any]]:
    """The rows of the sheet that is to be read, without those that are to be skipped."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook, PasswordError
    except ImportError:
        raise ImportError(NEEDS_CALAMINE) from None
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheet = _chosen(book, options.sheet)
        skipped = max(0, (options.skip_rows or 0) - (sheet.start or (0, 0))[0])  # empty rows above count
        return list(sheet.to_python(skip_empty_area=True))[skipped:]
    except PasswordError:
        raise InputError("is a workbook with a password", remedy="save it without one") from None
    except CalamineError as error:
        raise InputError(f"is a workbook that cannot be read ({error})", remedy="open it and save it again") from None


def _chosen(book: Any, wanted: str | int | None) -> Any:
    """The sheet that was named, by name or number; else the first that holds anything, with a note where there are others.

    Hidden sheets are read only where they are named, or no other holds anything.
    """
    from python_calamine import SheetVisibleEnum

    names = list(book.sheet_names)
    if wanted is not None:
        return book.get_sheet_by_index(_index(names, wanted))
    filled = [sheet for sheet in map(book.get_sheet_by_index, range(len(names))) if sheet.height]
    if not filled:
        raise InputError("is a workbook whose sheets are empty")
    seen = {told.name for told in book.sheets_metadata if told.visible == SheetVisibleEnum.Visible}
    filled = [sheet for sheet in filled if sheet.name in seen] or filled
    if len(filled) > 1:
        others = quoted([sheet.name for sheet in filled[1:]])
        warn_user((f"the sheet {filled[0].name!r} is read, not {others}; ", Option("sheet", "NAME"), " says another"), UserWarning)  # fmt: skip
    return filled[0]


def _index(names: list[str], wanted: str | int) -> int:
    """The position of a sheet, by its name or its number from 1; the number may be typed as a word."""
    if wanted in names:
        return names.index(str(wanted))
    number = int(wanted) if isinstance(wanted, int) or wanted.isdecimal() else 0
    if 1 <= number <= len(names):
        return number - 1
    near = nearest(wanted, names).removeprefix("; ") or None
    raise InputError(f"has no sheet {wanted!r}", where="sheet", got=wanted, expected=f"one of {quoted(names)}", remedy=near)  # fmt: skip


def _is_empty(cell: Any) -> bool:
    return cell is None or cell == ""


def as_seen(cell: Any) -> str:
    """A cell as a person sees it, as text.

    Examples
    --------
    >>> as_seen(12.0), as_seen(0.5), as_seen(True), as_seen(datetime(2024, 12, 31, 6, 30))
    ('12', '0.5', 'TRUE', '2024-12-31 06:30:00')
    """
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT:
        return str(int(cell))
    return "" if cell is None else str(cell)


def _column(cells: Sequence[Any], name: str, options: FileOptions) -> Any:
    """A column with the type that all its cells have; words where they differ, or where it is to hold words."""
    import pyarrow as pa

    held = [None if _is_empty(cell) or as_seen(cell) in options.missing else cell for cell in cells]
    kinds = {type(cell) for cell in held if cell is not None}
    if not kinds:
        return pa.nulls(len(held))
    if name not in options.words:
        if kinds <= {int, float}:
            whole = all(cell is None or (abs(cell) < EXACT and cell == int(cell)) for cell in held)
            return pa.array([None if cell is None else int(cell) for cell in held] if whole else held)
        if kinds == {date, datetime}:
            held = [datetime.combine(cell, time()) if type(cell) is date else cell for cell in held]
            return pa.array(held, pa.timestamp("us"))
        if len(kinds) == 1 and kinds <= {bool, date, datetime, time, timedelta}:
            return pa.array(held)
    return pa.array([None if cell is None else as_seen(cell) for cell in held], pa.string())
