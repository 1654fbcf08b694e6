"""A header that stands again among the rows, as where tables were put below one another, each with its own."""

from __future__ import annotations

import re
from dataclasses import dataclass

from merula.core import warn_user
from merula.data.table.headers import NUMBER, line_cells
from merula.show.numbers import several

FEWEST_BETWEEN = 10  # rows for each line that is the header again
MARK = rb"(?:\xef\xbb\xbf)?"  # of the order of bytes, with which a file begins that was put below another
LINE_END = rb"\r?(?=\n|\Z)"


@dataclass(frozen=True)
class HeaderAgain:
    """What finds a header among rows, in quotation marks or not: its lines; and its first or last cell where rows begin or end."""

    lines: re.Pattern[bytes]
    ends: re.Pattern[bytes]
    longest: bytes  # cell, without which there is nothing to look for

    def taken_out(self, rows: bytes, between: int = FEWEST_BETWEEN) -> tuple[bytes, int]:
        r"""The rows, which begin with a line end, with blank lines where the header stands again; and how often it does.

        A first line that may be a row is no header: one that is there too often, or whose first or last cell stands elsewhere, too.

        Examples
        --------
        >>> rows = b"\nwren,9" * 10 + b"\nbird,weight" + b"\nrobin,16\n"
        >>> header_again(b"bird,weight\n", ",").taken_out(rows)[0] == rows.replace(b"bird,weight", b"")
        True
        """
        if self.longest not in rows:
            return rows, 0
        rest, count = self.lines.subn(lambda found: b"\n" * found[0].count(b"\n"), rows)
        kept = count == 0 or self.ends.search(rest) is not None or count * between > rows.count(b"\n")
        return (rows, 0) if kept else (rest, count)


def header_again(header: bytes, separator: str) -> HeaderAgain | None:
    """What finds this header among rows; None where it has fewer than two names, or where one is a number as those of rows are."""
    cells = header_cells(header, separator)
    named = [place for place, cell in enumerate(cells) if cell]
    if len(named) < 2 or any(map(NUMBER.fullmatch, cells)):
        return None
    sign, patterns = re.escape(separator.encode()), [_cell(cell, separator) for cell in cells]
    units = b"".join(re.escape(line.rstrip(b"\r")) + rb"\r?\n" for line in header.split(b"\n")[1:] if line.strip())
    below = rb"(?:\r?\n" + units.removesuffix(rb"\r?\n") + rb")?" if units else b""
    first, last = rb"(?:\n|" + sign + rb")", rb"(?:" + sign + rb"|" + LINE_END + rb")"
    ends = [
        (rb"\n" if named[0] == 0 else first) + patterns[named[0]] + sign,
        sign + patterns[named[-1]] + (LINE_END if named[-1] == len(cells) - 1 else last),
    ]
    longest = max(cells, key=len).encode()
    return HeaderAgain(re.compile(rb"\n" + MARK + sign.join(patterns) + below + LINE_END), re.compile(b"|".join(ends)), longest)  # fmt: skip


def header_cells(header: bytes, separator: str) -> list[str]:
    r"""The cells of a header's first line as they stand there; none where its quotation marks go on below, or one is very long.

    Examples
    --------
    >>> header_cells(b'"bird", weight\n,g\n', ",")
    ['bird', 'weight']
    """
    line = header.partition(b"\n")[0].decode().rstrip("\r").removeprefix("\ufeff")
    if line.count('"') % 2:
        return []
    return [cell.strip() for cell in line_cells(line, separator, skipinitialspace=True)]


def _cell(cell: str, separator: str) -> bytes:
    """What finds a cell: with or without quotation marks, and with blanks round it."""
    blanks = (
        rb" *+" if separator == "\t" else rb"[ \t]*+"
    )  # not given back: a long row of them would take time beyond measure
    return blanks + rb'"?' + blanks + re.escape(cell.replace('"', '""').encode()) + blanks + rb'"?' + blanks


def note_header_again(count: int) -> None:
    """A note of how often the header stands again."""
    warn_user(f"the header stands again in {several(count, 'line')} below it, which {'is' if count == 1 else 'are'} left out", UserWarning)  # fmt: skip
