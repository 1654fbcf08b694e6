"""Tables whose cells are parted by blanks, quoted by apostrophes, or ruled as reports and terminals draw them: written anew as other files are."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from merula.core import InputError
from merula.data.table.headers import NUMBER

BLANKS = re.compile(r"[ \t]+")
SEPARATORS = ",;\t|"
FEWEST_LINES, FEWEST_QUOTED = 4, 3  # that tell, and where the header is quoted
QUOTED_BETWEEN_BLANKS = re.compile(r""""[^"]*"(?:[ \t]+"[^"]*")+|'[^']*'(?:[ \t]+'[^']*')+""")
SAMPLE = 2**16
RULE = re.compile(r"[-=+|: ]*(?:-{3}|={3})[-=+|: ]*")  # a line that is drawn
NEAR_HEADER = 6  # lines
APOSTROPHES = re.compile(r"'[^']*'(\s*[,;\t|]\s*'[^']*')+\s*")  # a header of quoted names
NOT_IN_PIECES = "cannot be read piece by piece"


def written_plainly(data: bytes) -> tuple[bytes, str | None]:
    r"""The text of a file with tabs for blanks between its cells, or without apostrophes round them, and which of them it had.

    Examples
    --------
    >>> written_plainly(b"bird   wing\nwren    4.9\ntit     6.1\nrobin   7.2\n")
    (b'bird\twing\nwren\t4.9\ntit\t6.1\nrobin\t7.2\n', 'parted by blanks')
    >>> written_plainly(b"'bird','wing'\n'wren','4.9'\n")
    (b'bird,wing\nwren,4.9\n', 'quoted by apostrophes')
    """
    way = unusual(data)
    if way == "parted by blanks" and (quote := _quote_between_blanks(data)):
        return _without_quotes(data.decode(), quote), way
    if way == "parted by blanks":
        lines = (BLANKS.sub("\t", line.strip(" \t\r")) for line in data.decode().split("\n"))
        return "\n".join(lines).encode(), way
    if way == "ruled":
        return _without_rules(data.decode()), "parted by bars, between lines that are drawn"
    return (data if way is None else _without_apostrophes(data.decode())), way


def _without_rules(text: str) -> bytes:
    r"""The rows of a table that is drawn, without its lines and outer bars; titles and remarks as they are.

    Examples
    --------
    >>> _without_rules("+------+------+\n| bird | wing |\n+------+------+\n| wren |  4.9 |\n+------+------+\n(1 row)\n")
    b'bird|wing\nwren|4.9\n(1 row)\n'
    """
    lines = [line.strip() for line in text.split("\n") if not RULE.fullmatch(line.strip())]
    rows = [line for line in lines if "|" in line]
    framed = all(line.startswith("|") and line.endswith("|") for line in rows)
    return "\n".join("|".join(cell.strip() for cell in (line[1:-1] if framed else line).split("|")) if "|" in line else line for line in lines).encode()  # fmt: skip


def _without_apostrophes(text: str) -> bytes:
    """The rows of a text whose cells are quoted by apostrophes, which stand twice, or behind a backslash, within them."""
    sign = next(sign for sign in text[text.index("'", 1) :] if sign in SEPARATORS)
    written = io.StringIO(newline="")
    rows = csv.reader(io.StringIO(text.replace("\\'", "''"), newline=""), delimiter=sign, quotechar="'")
    try:
        csv.writer(written, delimiter=sign, lineterminator="\n").writerows(rows)
    except csv.Error as error:  # a cell without end
        raise InputError(f"has cells quoted by apostrophes, and cannot be read so: {error}") from None
    return written.getvalue().encode()


def _quote_between_blanks(data: bytes) -> str | None:
    """The sign that quotes the names of a header that blanks part; None where they are not quoted."""
    first = data[:SAMPLE].decode(errors="ignore").lstrip().partition("\n")[0]
    return first[0] if QUOTED_BETWEEN_BLANKS.fullmatch(first.strip()) else None


def _without_quotes(text: str, quote: str) -> bytes:
    r"""The rows of a text whose quoted cells blanks part, with tabs between; where rows have names that the header does not tell, it gets a nameless one.

    Examples
    --------
    >>> _without_quotes('"wing" "from"\n"wren" 4.9 "New York"\n"tit" 6.1 "Ulm"\n', '"')
    b'\twing\tfrom\nwren\t4.9\tNew York\ntit\t6.1\tUlm\n'
    """
    rows = [_quoted_cells(line, quote) for line in text.splitlines() if line.strip()]
    if len(rows[0]) + 1 == len(rows[1]):
        rows[0] = ["", *rows[0]]
    written = io.StringIO(newline="")
    csv.writer(written, delimiter="\t", lineterminator="\n").writerows(rows)
    return written.getvalue().encode()


def _quoted_cells(line: str, quote: str) -> list[str]:
    """The cells of a line that blanks part, unless they stand between quotes, which stand twice, or behind a backslash, within them."""
    cells = re.findall(rf"{quote}(?:[^{quote}\\]|\\.|{quote}{quote})*{quote}|\S+", line)
    return [re.sub(rf"(?:\\|{quote}){quote}", quote, cell[1:-1]) if len(cell) > 1 and cell[0] == quote else cell for cell in cells]  # fmt: skip


def _quoted_and_parted_by_blanks(lines: Sequence[str]) -> bool:
    """Whether names between quotes, with blanks between them, head rows of as many cells, or of one more: the names of rows, as R writes them."""
    if len(lines) < FEWEST_QUOTED or not QUOTED_BETWEEN_BLANKS.fullmatch(lines[0].strip()):
        return False
    quote = lines[0].lstrip()[0]
    names, *widths = (len(_quoted_cells(line, quote)) for line in lines)
    return len(set(widths)) == 1 and (widths[0] == names + 1 or (widths[0] == names and "\t" not in lines[0]))


def unusual(data: bytes) -> str | None:
    """What is unusual about how the cells of a file are written; None where nothing is, or it is in doubt."""
    sample = data[:SAMPLE].decode(errors="ignore")
    lines = [line for line in sample.splitlines() if line.strip()]
    lines = lines if len(data) <= SAMPLE else lines[:-1]
    if lines and _quoted_and_parted_by_blanks(lines):
        return "parted by blanks"
    if not lines or b'"' in data:
        return None
    if APOSTROPHES.fullmatch(lines[0]):
        return "quoted by apostrophes"
    if _are_ruled(lines):
        return "ruled"
    return "parted by blanks" if _parted_by_blanks(lines) else None


def _are_ruled(lines: Sequence[str]) -> bool:
    """Whether a line is drawn near the header, and bars part all rows into equally many cells."""
    ruled = any(RULE.fullmatch(line.strip()) for line in lines[:NEAR_HEADER])
    bars = [line.count("|") for line in lines if "|" in line and not RULE.fullmatch(line.strip())] if ruled else []
    return len(bars) > 1 and len(set(bars)) == 1


def _parted_by_blanks(lines: Sequence[str]) -> bool:
    """Whether blanks alone part all lines into equally many cells, of which some column holds numbers.

    Two columns of which one never changes are amounts with their unit.
    """
    if len(lines) < FEWEST_LINES or any(sign in line for line in lines for sign in ",;|") or "\t" in lines[0]:
        return False
    rows = [BLANKS.split(line.strip()) for line in lines]
    width = len(rows[0])
    if width < 2 or any(len(row) != width for row in rows) or all(map(NUMBER.fullmatch, rows[0])):
        return False
    columns = list(zip(*rows[1:], strict=True))
    numbers = any(all(map(NUMBER.fullmatch, column)) for column in columns)
    return numbers and (width > 2 or all(len(set(column)) > 1 for column in columns))


def refuse_unusual(data: bytes) -> None:
    """An `InputError` for a file that must be written anew before it is read, and is too large for that."""
    way = unusual(data)
    if way is not None:
        raise InputError(f"has cells {way}, and so {NOT_IN_PIECES}", remedy="save it as CSV, or read it at once: merula.read_table")  # fmt: skip
