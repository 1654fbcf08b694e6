"""A line below the header that tells the units of columns, as measuring devices write it: (°C), (bar)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from merula.core import warn_user
from merula.data.table.headers import NUMBER, quoted
from merula.data.words import clean
from merula.data.words.cleaning import is_gap
from merula.data.words.numbers import is_limit

BRACKETED = re.compile(r"[\[(](?=.*[^\W\d_]|.*[°%Ω])[^\[\]()]{1,20}[\])]")  # with a letter or a sign within
UNIT = re.compile(r"[^\W\d_°%µΩ]{0,6}[°%µΩ]?[^\W\d_]{1,6}([²³]|\^?[23])?([/·*][^\W\d_]{1,6}([²³]|\^?[23])?)*|[°%Ω]")
FORMAT = re.compile(r"[dmyhsjt]{1,4}([-:./ ][dmyhsjtz]{1,4})+", re.IGNORECASE)  # how times are written: hh:mm:ss
FEWEST_ROWS = 3
MOSTLY = 0.8  # of the cells below units in brackets, which are hardly anything else


def tells_units(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a row tells units: in brackets, or plainly for every column of numbers; below it stand numbers alone.

    Examples
    --------
    >>> below = [["21.5", "1.2", "run"], ["22", "1.3", "stop"], ["20", "", "run"]]
    >>> tells_units(["[µg/l]", "", "hh:mm"], [["<0.5", "1", "10:20"], ["1.2", "2", "10:30"], ["3.1", "1", "10:40"]])
    True
    >>> tells_units(["(°C)", "[bar]", ""], below), tells_units(["°C", "bar", "-"], below), tells_units(["20", "1", "run"], below)
    (True, True, False)
    """
    cells = [clean(cell) for cell in row]
    below = [one for one in below if len(one) == len(row)]
    said = [place for place, cell in enumerate(cells) if cell and not is_gap(cell) and not FORMAT.fullmatch(cell)]
    if len(below) < FEWEST_ROWS or not said or not all(_numbers(below, place, MOSTLY) for place in said):
        return False
    if all(BRACKETED.fullmatch(cells[place]) for place in said):
        return True
    every = [place for place in range(len(cells)) if _numbers(below, place)]
    return len(said) > 1 and said == every and all(UNIT.fullmatch(cells[place]) for place in said)


def _numbers(rows: Sequence[Sequence[str]], place: int, share: float = 1.0) -> bool:
    """Whether a column holds numbers alone, or as a share of its cells, at least one."""
    cells = [cell for row in rows if (cell := clean(row[place])) and not is_gap(cell)]
    return bool(cells) and sum(bool(NUMBER.fullmatch(cell)) or is_limit(cell) for cell in cells) >= share * len(cells)


def note_units(row: Sequence[str]) -> None:
    """A note that quotes the units of a line that is left out."""
    told = [cell for cell in map(clean, row) if cell and not is_gap(cell)]
    warn_user(f"the line below the header tells units ({quoted(told)}), and is no row", UserWarning)
