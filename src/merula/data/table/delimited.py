"""CSV and its relatives: which separator, which decimal sign, which encoding; then one reader for all."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from merula.core import InputError, Option, warn_user
from merula.core.encodings import marked_encoding
from merula.data.table.declared_sizes import refuse_columns
from merula.show.numbers import several

SEPARATORS = ",;\t|"
SAMPLE = 2**16  # characters that tell the separator
DECIMAL_COMMA, DECIMAL_POINT = re.compile(r"[-+]?\d+,\d+"), re.compile(r"[-+]?\d*\.\d+")
NUMBER = re.compile(r"\s*[-+]?\d*\.?\d+([eE][-+]?\d+)?\s*")
WIDE = (("utf-16-le", 1), ("utf-16-be", 0))  # which of a plain letter's two bytes is zero
EXCEL = re.compile(rb"\Asep=.\r?\n")  # what Excel writes before the header, for itself
BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")  # what no text holds
FOR_MISSING = ("NA", "N/A", "n/a", "na", "NaN", "nan", "null", "NULL", "#N/A", "?", "-", "--", ".")
LONGEST = 60
MOST_LINES = 1_000  # of a header
ALONE = 2**20  # bytes that one thread reads: others may end a script that is over before them (terminate called …)
NO_ROWS = "has a header but no rows"


def read_delimited(
    data: bytes, words: Collection[str] = (), missing: Sequence[str] = (), encoding: str | None = None
) -> Any:
    r"""The pyarrow table of a CSV file's bytes; types suit every cell, and an empty cell is missing.

    Examples
    --------
    >>> read_delimited(b"bird|weight\nwren|9\nrobin|\n").to_pydict()
    {'bird': ['wren', 'robin'], 'weight': [9, None]}
    """
    import pyarrow as pa
    import pyarrow.csv

    data = EXCEL.sub(b"", in_utf8(data, encoding), count=1)
    separator, decimal = dialect(data[:SAMPLE].decode(errors="ignore"), len(data) <= SAMPLE)
    parsing = pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    header = _checked_header(data, separator)
    converting = pyarrow.csv.ConvertOptions(
        null_values=["", *missing],
        strings_can_be_null=True,
        decimal_point=decimal,
        column_types={name: pa.string() for name in words if name in header},
    )
    # one block, so that types are those of all rows and a line may be as long as it likes
    reading = pyarrow.csv.ReadOptions(block_size=len(data) + 1, use_threads=len(data) > ALONE)
    try:
        table = pyarrow.csv.read_csv(pa.BufferReader(data), reading, parsing, converting)
    except pa.ArrowInvalid as error:
        if "Empty CSV" in str(error):  # one line, without an end
            raise InputError(NO_ROWS) from None
        raise InputError(_ragged(data, separator, len(header)) or f"cannot be read as CSV: {error}") from None
    _refuse_open_quote(table, data)
    _refuse_stray_quotes(table, data, separator)
    return _numbers_with_gaps(table, words, decimal)


def _numbers_with_gaps(table: Any, words: Collection[str], decimal: str) -> Any:
    """The table; columns that hold numbers, or dates, and what people write for missing are read as such, with a warning."""
    gaps: dict[str, list[str]] = {}
    for index, name in enumerate(table.column_names):
        found = None if name in words else _without_gaps(table.column(index), decimal)
        if found is not None:
            gaps.setdefault(found[1], []).append(repr(name))
            table = table.set_column(index, name, found[0])
    for said, names in gaps.items():
        which = f"column {names[0]} holds" if len(names) == 1 else f"columns {', '.join(names)} hold"
        warn_user(f"{which} {said}, read as missing", UserWarning)
    return table


def _without_gaps(column: Any, decimal: str) -> tuple[Any, str] | None:
    """A column of strings as numbers or dates but for its gaps, and what it holds in words; None where it is something else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type):
        return None
    empty = pc.is_in(column, value_set=pa.array(FOR_MISSING))
    rest = pc.if_else(empty, pa.scalar(None, pa.string()), column)
    if rest.null_count in (column.null_count, len(column)):
        return None
    said = ", ".join(map(repr, pc.unique(column.filter(empty)).to_pylist()))
    numbers = pc.replace_substring(rest, decimal, ".")
    for text, kind, what in (
        (numbers, pa.int64(), "numbers"),
        (numbers, pa.float64(), "numbers"),
        (rest, pa.date32(), "dates"),
        (rest, pa.timestamp("s"), "times"),
    ):
        try:
            return text.cast(kind), f"{what} and {said}"
        except pa.ArrowInvalid:  # one cell is none
            continue
    return None


def is_marked(data: bytes) -> bool:
    """Whether the text begins with the mark of an encoding other than UTF-8."""
    return marked_encoding(data) not in (None, "utf-8-sig")


def in_utf8(data: bytes, encoding: str | None) -> bytes:
    """The same text in UTF-8 without a mark; a ValueError that says where it is not in the encoding, or no text at all."""
    chosen = encoding or marked_encoding(data) or "utf-8"
    if chosen not in ("utf-16", "utf-32") and not encoding and BINARY.search(data[:SAMPLE]):
        raise _no_text(data[:SAMPLE])
    try:
        text = data.decode(chosen)
    except LookupError:
        raise InputError(
            f"cannot be read: the encoding {chosen!r} is not known",
            where="encoding",
            got=chosen,
            remedy="try latin-1 or utf-8",
        ) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"is not in {chosen.upper()}: line {line} holds the byte 0x{data[error.start]:02x}",
            where=f"line {line}",
            got=data[error.start],
            remedy=("say its encoding, often ", Option("encoding", "latin-1")),
        ) from None
    return data if chosen == "utf-8" else text.encode()


def _no_text(sample: bytes) -> InputError:
    """The error of bytes that no text in UTF-8 holds: text in UTF-16 without a mark has a zero byte in every letter."""
    for name, zero in WIDE:
        zeros, others = sample[zero::2], sample[1 - zero :: 2]
        if zeros.count(0) > 0.8 * len(zeros) and not others.count(0):
            problem = "is not in UTF-8 but looks like UTF-16 without a mark"
            return InputError(problem, where="encoding", got="utf-8", remedy=("say ", Option("encoding", name)))
    return InputError("is no table: it holds binary data, neither CSV, JSON lines, Parquet nor Arrow")


def dialect(sample: str, whole: bool) -> tuple[str, str]:
    r"""The separator that parts the sample's lines into most equally many cells, and the decimal sign of its numbers.

    Examples
    --------
    >>> dialect("wing;weight\n4,9;9,1\n", whole=True)
    (';', ',')
    """
    lines = sample.splitlines(keepends=True)
    lines = lines if whole or len(lines) < 2 else lines[:-1]
    parted = {separator: _cells(lines, separator) for separator in SEPARATORS}
    best = max(SEPARATORS, key=lambda separator: _regularity(parted[separator]))
    cells = [cell for row in parted[best][1:] for cell in row]
    commas, points = (sum(bool(sign.fullmatch(cell)) for cell in cells) for sign in (DECIMAL_COMMA, DECIMAL_POINT))
    return best, "," if commas and not points and best != "," else "."


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


def _checked_header(data: bytes, separator: str) -> list[str]:
    """The names in the first line; a ValueError where it is a row like the others."""
    refuse_columns(_header_width(data, separator))
    first = data.lstrip(b"\r\n").partition(b"\n")[0].rstrip(b"\r").decode()
    names = next(iter(_cells([first], separator)), [first])
    if len(names) > 1 and all(map(NUMBER.fullmatch, names)):
        raise InputError(
            f"begins with a line of numbers ({_short(first)})", remedy="the first line must name the columns: add one"
        )
    return names


def _header_width(data: bytes, separator: str) -> int:
    """The number of names in the header, which goes on to the next line within quotation marks."""
    start, quotes, width = len(data) - len(data.lstrip(b"\r\n")), 0, 1
    for _ in range(MOST_LINES):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        width += data.count(separator.encode(), start, end)
        quotes += data.count(b'"', start, end)
        if quotes % 2 == 0 or end == len(data):
            break
        start = end + 1
    return width


def _ragged(data: bytes, separator: str, width: int) -> str | None:
    """What is wrong with the first row that has more or fewer cells than the header; None if no row has."""
    import pyarrow as pa
    import pyarrow.csv

    wrong: list[tuple[int, int, str]] = []

    def note(row: Any) -> str:
        wrong.append((row.number, row.actual_columns, row.text))
        return "skip"

    parsing = pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True, invalid_row_handler=note)
    reading = pyarrow.csv.ReadOptions(block_size=len(data) + 1, use_threads=False)
    try:
        pyarrow.csv.read_csv(pa.BufferReader(data), reading, parsing)
    except pa.ArrowInvalid:
        return None
    if not wrong:
        return None
    number, cells, text = wrong[0]
    if number == 2 and len({actual for _, actual, _ in wrong}) == 1 and len(wrong) > 1:
        first = data.lstrip(b"\r\n").partition(b"\n")[0].decode()
        return f"has {several(cells, 'cell')} in every row from the second on, but {width} in its first line ({_short(first)}), which must name the columns: remove or mend that line"
    more = (
        f", and {several(len(wrong) - 1, 'more row')} {'is' if len(wrong) == 2 else 'are'} uneven"
        if len(wrong) > 1
        else ""
    )
    return f"is ragged: row {number} has {several(cells, 'cell')} where the header has {width} ({_short(text)}){more}; quote cells that hold {separator!r}, or repair the rows"


def _refuse_open_quote(table: Any, data: bytes) -> None:
    """A quotation mark that is never closed swallows the rest of the file: a ValueError, not a last cell of many lines."""
    import pyarrow as pa

    if data.count(b'"') % 2 == 0 or not table.num_rows:
        return
    for name, column in zip(table.column_names, table.columns, strict=True):
        last = column[-1].as_py() if pa.types.is_string(column.type) else None
        if last is not None and "\n" in last:
            raise InputError(
                f"has a quotation mark that is never closed, in column {name!r} of row {table.num_rows + 1} ({_short(last)})"
            )


def _refuse_stray_quotes(table: Any, data: bytes, separator: str) -> None:
    """Quotation marks inside cells make one row of several: a ValueError that names the first, not rows that are gone."""
    if b'"' not in data or table.num_rows >= data.count(b"\n") - data.count(b"\n\n") - data.count(b"\n\r\n") - 1:
        return
    lines = data[:SAMPLE].decode(errors="ignore").splitlines(keepends=True)
    rows = csv.reader(lines, delimiter=separator, strict=True)
    try:
        list(rows)
    except csv.Error as error:
        if "expected after" in str(error):
            raise InputError(
                f"has a quotation mark inside a cell, at line {rows.line_num} ({_short(lines[rows.line_num - 1])}), so that rows run together",
                remedy="double it or take it out",
            ) from None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= LONGEST else line[: LONGEST - 1] + "…")
