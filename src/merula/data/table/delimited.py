"""CSV and its relatives: which separator, which decimal sign, which encoding; then one reader for all."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from merula.core import InputError, Option, warn_user
from merula.core.notes import mention
from merula.data.table.cleaning import are_whole, cleaned, holds_codes, seen_in, trimmed
from merula.data.table.declared_sizes import refuse_columns
from merula.data.table.file_options import NOTHING_STATED, FileOptions, with_decimal
from merula.data.table.footers import footer_of, last_rows, note_footer, note_total, total_in, with_totals
from merula.data.table.header_again import header_again, note_header_again
from merula.data.table.headers import (
    LOOKED_AT,
    NUMBER,
    Names,
    column_names,
    note_titles,
    title_rows,
    without_empty,
)
from merula.data.table.months import with_months
from merula.data.table.text_encoding import in_utf8
from merula.data.table.thousands import with_thousands
from merula.data.table.unit_rows import note_units, tells_units
from merula.data.table.unusual import written_plainly
from merula.data.words import clean
from merula.data.words.cleaning import is_gap
from merula.data.words.numbers import are_thousands
from merula.show.numbers import several
from merula.show.text import shortened

SEPARATORS = ",;\t|"
CALLED = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
SAMPLE = 2**16  # characters that tell the separator
DECIMAL_COMMA, DECIMAL_POINT = (
    re.compile(r"[-+]?\d+,\d+"),
    re.compile(r"(?![-+]?[1-9]\d{0,2}(?:\.\d{3})+\Z)[-+]?\d*\.\d+"),
)
GROUPS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+")  # 1,234 may be many
EXCEL = re.compile(rb"\Asep=.\r?\n")  # what Excel writes before the header, for itself
LONGEST = 60
MOST_LINES = 1_000  # of a header
MOST_LISTED = 5  # lines that are left out
ALONE = 2**20  # bytes that one thread reads: others may end a script that is over before them (terminate called …)
NO_ROWS = "has a header but no rows"


@dataclass(frozen=True)
class Layout:
    """Where in the bytes the header and the rows begin, and what parts their cells."""

    data: bytes
    separator: str
    decimal: str
    header: int
    rows: int
    names: Names

    def line(self, place: int) -> int:
        """The number of the line at this place, from 1."""
        return self.data.count(b"\n", 0, place) + 1


def read_delimited(data: bytes, options: FileOptions = NOTHING_STATED, whole: bool = True) -> Any:
    r"""The pyarrow table of a CSV file's bytes; types suit every cell, and an empty cell is missing.

    Remarks below the rows are left out, where the bytes are the `whole` file.

    Examples
    --------
    >>> read_delimited(b"bird|weight\nwren|9\nrobin|\n").to_pydict()
    {'bird': ['wren', 'robin'], 'weight': [9, None]}
    """
    import pyarrow as pa

    data, unusual = written_plainly(in_utf8(data, options.encoding))
    layout = layout_of(data, options, unusual)
    layout = without_repeats(layout)
    layout = without_footer(layout) if whole else layout
    uneven: list[Uneven] = []
    try:
        table = read_rows(layout, options)
    except pa.ArrowInvalid as error:
        if "Empty CSV" in str(error):
            raise InputError(NO_ROWS) from None
        layout = _with_last_sign(layout)
        table, uneven = _without_uneven(layout, options, error)
    _refuse_open_quote(table, layout)
    _refuse_stray_quotes(table, layout, len(uneven))
    return tidied(table, layout, options)


def without_repeats(layout: Layout) -> Layout:
    """The layout without lines that are its header again, as where tables were put below one another; a note counts them."""
    again = header_again(layout.data[layout.header : layout.rows], layout.separator)
    rest, count = (b"", 0) if again is None else again.taken_out(layout.data[layout.rows - 1 :])
    if count == 0:
        return layout
    note_header_again(count)
    return replace(layout, data=layout.data[: layout.rows - 1] + rest)


def without_footer(layout: Layout) -> Layout:
    """The layout without remarks below the rows; a note quotes them, and another tells of a last row that looks like a total."""
    rows, places = last_rows(layout.data, layout.rows, layout.separator)
    width = len(layout.names.names)
    footer = with_totals(footer_of(rows, width, layout.data.endswith(b"\n")), rows, width)
    note_footer(footer)
    note_total(total_in(rows[: len(rows) - footer.rows], width))
    return replace(layout, data=layout.data[: places[-footer.rows]]) if footer.rows else layout


def tidied(table: Any, layout: Layout, options: FileOptions) -> Any:
    """The table that was read, its codes as words, its words cleaned, and without nameless columns that are empty."""
    codes, untidy = seen_in(layout.data, layout.separator, layout.rows)
    table = _with_codes(table, layout, options) if codes else table
    table = cleaned(table, options, layout.decimal, trim=untidy)
    if layout.decimal == "." and options.decimal is None:

        def written(names: list[str], some: bool) -> Any:
            return _written(_beginning(layout) if some else layout, options, names)

        table = with_thousands(with_months(table, written), layout.separator == ";", written)
    return with_decimal(without_empty(table, layout.names.unnamed), layout.decimal)


def read_rows(layout: Layout, options: FileOptions, asked: dict[str, Any] | None = None, handler: Any = None) -> Any:
    """The table as pyarrow reads it; `asked` are the types of the columns that alone are read, where it is given."""
    import pyarrow as pa
    import pyarrow.csv

    names, size = layout.names.names, len(layout.data) - layout.rows
    parsing = pyarrow.csv.ParseOptions(delimiter=layout.separator, newlines_in_values=True, invalid_row_handler=handler)
    converting = pyarrow.csv.ConvertOptions(
        null_values=["", *options.missing],
        strings_can_be_null=True,
        decimal_point=layout.decimal,
        column_types=asked or {name: pa.string() for name in options.words if name in names},
        include_columns=list(asked or ()),
    )
    # one block, so that types are those of all rows and a line may be as long as it likes; rows have numbers in one thread
    reading = pyarrow.csv.ReadOptions(
        column_names=names, block_size=size + 1, use_threads=size > ALONE and handler is None
    )
    rows = pa.BufferReader(pa.py_buffer(layout.data).slice(layout.rows))
    return pyarrow.csv.read_csv(rows, reading, parsing, converting)


def _with_codes(table: Any, layout: Layout, options: FileOptions) -> Any:
    """The table; columns of whole numbers, some of which begin with a zero (01067), are words as they are written."""
    import pyarrow as pa

    whole = [
        name
        for name, kind in zip(table.column_names, table.schema.types, strict=True)
        if pa.types.is_integer(kind) or pa.types.is_floating(kind)  # NaN among codes
    ]
    if not whole:
        return table
    written = _written(layout, options, whole)
    for name in whole:
        cells = written[name]
        if holds_codes(cells) and (pa.types.is_integer(table.schema.field(name).type) or are_whole(cells)):
            table = table.set_column(table.column_names.index(name), name, cells)
    return table


def _beginning(layout: Layout) -> Layout:
    """The layout of the first rows; of all where a cell goes on over a line's end."""
    end = layout.data.rfind(b"\n", layout.rows, layout.rows + SAMPLE) + 1
    whole = end <= layout.rows or b'"' in layout.data[layout.rows : end]
    return layout if whole else replace(layout, data=layout.data[:end])


def _written(layout: Layout, options: FileOptions, names: list[str]) -> Any:
    """Some columns as the words that stand in the file, without blanks at their ends."""
    import pyarrow as pa

    handler = None if options.on_error == "raise" else lambda _: "skip"
    table = read_rows(layout, options, dict.fromkeys(names, pa.string()), handler)
    return pa.table({name: trimmed(table[name]) for name in names})


def layout_of(data: bytes, options: FileOptions, unusual: str | None = None) -> Layout:
    """Where header and rows begin: below the lines that are to be skipped, and else below titles; told, with what was `unusual`."""
    data = data if b"\n" in data or b"\r" not in data else data.replace(b"\r", b"\n")  # old lines
    excel = EXCEL.match(data)
    start = _after_lines(data, options.skip_rows) if options.skip_rows else excel.end() if excel else 0
    sample = data[start : start + SAMPLE].decode(errors="ignore")
    separator, decimal = dialect(sample, len(data) - start <= SAMPLE)
    if options.skip_rows is None:
        start = _after_lines(data, _title_lines(sample, separator), start)
    while data[start : start + 1] in (b"\r", b"\n"):
        start += 1
    end = _header_end(data, separator, start)
    names = _header_names(data[start:end].decode(), separator)
    end = _below_units(data, separator, end)
    decimal = options.decimal or decimal
    sign = ", the decimal sign is a comma" if decimal == "," else ""
    if unusual or separator != "," or sign:
        mention(f"cells are {unusual or f'parted by {CALLED[separator]}'}{sign}")
    return Layout(data, separator, decimal, start, end, column_names(names))


def _after_lines(data: bytes, count: int, start: int = 0) -> int:
    """Where the line after this many lines begins."""
    for _ in range(count):
        end = data.find(b"\n", start)
        if end < 0:
            lines = several(len(data.splitlines()), "line")
            raise InputError(f"has {lines}, and {count:,} are to be skipped", where="skip_rows", got=count)
        start = end + 1
    return start


def _title_lines(sample: str, separator: str) -> int:
    """How many lines are titles above the header, told in a note."""
    reader = csv.reader((line + "\n" for line in sample.split("\n")[:LOOKED_AT]), delimiter=separator)
    rows, ends = [], []
    try:
        for row in reader:
            rows.append(row)
            ends.append(reader.line_num)
    except csv.Error:
        return 0
    width = Counter(map(len, filter(None, rows))).most_common(1)[0][0] if any(rows) else 0
    count = title_rows(rows[: len(rows) - footer_of(rows, width).rows])
    note_titles(rows[:count])
    return ends[count - 1] if count else 0


def dialect(sample: str, whole: bool) -> tuple[str, str]:
    r"""The separator that parts the sample's lines into most equally many cells, and the decimal sign of its numbers.

    Examples
    --------
    >>> dialect("wing;weight\n4,9;9,1\n", whole=True)
    (';', ',')
    """
    lines = sample.splitlines(keepends=True)
    lines = lines if whole or len(lines) < 2 else lines[:-1]
    whole_lines = [[line] for line in lines if line.strip("\r\n")]  # what a sign that is nowhere makes of them
    parted = {sign: _cells(lines, sign) if sign in sample else whole_lines for sign in SEPARATORS}
    best = max(SEPARATORS, key=lambda separator: _regularity(parted[separator]))
    if best == ",":
        return best, "."
    rows = _cells(lines, best)[1:]
    cells = [cell for row in rows for cell in row]
    commas = [cell for cell in cells if DECIMAL_COMMA.fullmatch(cell)]
    if not commas or any(map(DECIMAL_POINT.fullmatch, cells)):
        return best, "."
    if not all(map(GROUPS.fullmatch, commas)):
        return best, ","
    # else only semicolons tell that commas are decimal, and 997 beside 1,005 that they are not
    thousands = best != ";" or any(map(_holds_thousands, zip_longest(*rows, fillvalue="")))
    return best, "." if thousands else ","


def _holds_thousands(cells: Sequence[str]) -> bool:
    """Whether a column's cells are surely whole numbers with a comma between thousands."""
    return are_thousands(cell.strip().lstrip("+-−") for cell in cells if not is_gap(clean(cell)))


def _cells(lines: list[str], separator: str) -> list[list[str]]:
    """The sample's rows under one separator; none where a cell is longer than Python's reader takes."""
    try:
        return [row for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error:
        return []


def _regularity(rows: list[list[str]]) -> tuple[bool, float, int]:
    """Whether there are several cells in a row, the share of rows as wide as most, and that width."""
    if not rows:
        return False, 0.0, 0
    width, count = Counter(map(len, rows)).most_common(1)[0]
    return width > 1, count / len(rows), width


def _header_end(data: bytes, separator: str, start: int) -> int:
    """Where the first row begins: the header goes on to the next line within quotation marks."""
    quotes, width, end = 0, 1, start
    for _ in range(MOST_LINES):
        line = end
        end = data.find(b"\n", line) + 1 or len(data)
        width += data.count(separator.encode(), line, end)
        quotes += data.count(b'"', line, end)
        if quotes % 2 == 0 or end == len(data):
            break
    refuse_columns(width)
    return end


def _below_units(data: bytes, separator: str, start: int) -> int:
    """Where the first row begins, below a line that tells units."""
    first, *below = _cells(data[start : start + SAMPLE].decode(errors="ignore").splitlines(keepends=True)[:LOOKED_AT], separator) or [[]]  # fmt: skip
    if not tells_units(first, below):
        return start
    note_units(first)
    return _after_lines(data, 1, start)


def _header_names(header: str, separator: str) -> list[str]:
    """The cleaned names in the header; a ValueError where it is a row like the others."""
    lines = header.rstrip("\r\n").split("\n")
    names = next(iter(_cells([line + "\n" for line in lines], separator)), [header])
    if len(names) > 1 and all(map(NUMBER.fullmatch, names)):
        raise InputError(
            f"begins with a line of numbers ({_short(header)})", remedy="the first line must name the columns: add one"
        )
    return [clean(name) for name in names]


@dataclass(frozen=True)
class Uneven:
    """A row that has more or fewer cells than the header."""

    cells: int
    text: str
    line: int


def _without_uneven(layout: Layout, options: FileOptions, error: Exception) -> tuple[Any, list[Uneven]]:
    """The table without rows that have more or fewer cells than the header, and these; an `InputError` unless they may be skipped."""
    import pyarrow as pa

    found: list[tuple[int, str]] = []

    def note(row: Any) -> str:
        found.append((row.actual_columns, row.text))
        return "skip"

    try:
        table = read_rows(layout, options, handler=note)
    except pa.ArrowInvalid:
        raise InputError(f"cannot be read as CSV: {error}") from None
    uneven = _located(layout, found)
    if not uneven:
        return table, []
    if options.on_error == "raise" or not table.num_rows:
        raise _ragged(layout, uneven, table.num_rows)
    lines = ", ".join(f"{row.line:,}" for row in uneven[:MOST_LISTED]) + (", …" if len(uneven) > MOST_LISTED else "")
    which = f"{several(len(uneven), 'row')} {'has' if len(uneven) == 1 else 'have'}"
    warn_user(
        f"{which} more or fewer cells than the header and {'is' if len(uneven) == 1 else 'are'} left out (line{'' if len(uneven) == 1 else 's'} {lines})",
        UserWarning,
    )
    return table, uneven


def _with_last_sign(layout: Layout) -> Layout:
    """The layout with a nameless last column where every row, but not the header, ends with the sign between cells."""
    rows, sign = layout.data[layout.rows :].replace(b"\r\n", b"\n").rstrip(b"\n") + b"\n", layout.separator.encode()
    if rows.count(sign + b"\n") < rows.count(b"\n") - rows.count(b"\n\n"):
        return layout
    names = Names([*layout.names.names, f"column {len(layout.names.names) + 1}"], layout.names.unnamed | {len(layout.names.names)})  # fmt: skip
    return layout if len(set(names.names)) < len(names.names) else replace(layout, names=names)


def _located(layout: Layout, found: list[tuple[int, str]]) -> list[Uneven]:
    """Uneven rows with the numbers of their lines; those of the first few are looked for."""
    uneven = list[Uneven]()
    place, line = layout.rows - 1, layout.line(layout.rows - 1)
    for cells, text in found:
        whole = None if len(uneven) > MOST_LISTED else re.compile(b"\n" + re.escape(text.encode()) + rb"\r?(?=\n|\Z)")
        if whole and (there := whole.search(layout.data, place)):
            line += layout.data.count(b"\n", place, there.start() + 1)
            place = there.start() + 1
        uneven.append(Uneven(cells, text, line))
    return uneven


def _ragged(layout: Layout, uneven: list[Uneven], even: int) -> InputError:
    """What is wrong with the first row that has more or fewer cells than the header."""
    first, width = uneven[0], len(layout.names.names)
    header = layout.data[layout.header : layout.rows].decode()
    if not even and len({row.cells for row in uneven}) == 1 < len(uneven):
        return InputError(
            f"has {several(first.cells, 'cell')} in every row from the second on, but {width} in its first line ({_short(header)}), which must name the columns",
            remedy=("remove or mend that line, or skip lines before the header: ", Option("skip_rows", "N")),
        )
    others = len(uneven) - 1
    more = f", and {several(others, 'more row')} {'is' if others == 1 else 'are'} uneven" if others else ""
    return InputError(
        f"is ragged: line {first.line} has {several(first.cells, 'cell')} where the header has {width} ({_short(first.text)}){more}",
        where=f"line {first.line}",
        got=first.cells,
        remedy=(
            f"quote cells that hold {layout.separator!r}, repair the rows, or leave them out: ",
            Option("on_error", "skip"),
        ),
    )


def _refuse_open_quote(table: Any, layout: Layout) -> None:
    """A quotation mark that is never closed swallows the rest of the file: a ValueError, not a last cell of many lines."""
    import pyarrow as pa

    if layout.data.count(b'"') % 2 == 0 or not table.num_rows:
        return
    for name, column in zip(table.column_names, table.columns, strict=True):
        last = column[-1].as_py() if pa.types.is_string(column.type) else None
        if last is not None and "\n" in last:
            raise InputError(
                f"has a quotation mark that is never closed, in column {name!r} of row {table.num_rows + 1} ({_short(last)})"
            )


def _refuse_stray_quotes(table: Any, layout: Layout, left_out: int) -> None:
    """Quotation marks inside cells make one row of several: a ValueError that names the first, not rows that are gone."""
    data, rows = layout.data, layout.rows
    if b'"' not in data:
        return
    found, lines = table.num_rows + left_out, data.count(b"\n", rows)
    if found >= lines or found >= lines - data.count(b"\n\n", rows) - data.count(b"\n\r\n", rows):
        return
    texts = data[:SAMPLE].decode(errors="ignore").splitlines(keepends=True)
    reader = csv.reader(texts, delimiter=layout.separator, strict=True)
    try:
        list(reader)
    except csv.Error as error:
        if "expected after" in str(error):
            raise InputError(
                f"has a quotation mark inside a cell, at line {reader.line_num} ({_short(texts[reader.line_num - 1])}), so that rows run together",
                remedy="double it or take it out",
            ) from None


def _short(text: str) -> str:
    return repr(shortened(text, LONGEST))
