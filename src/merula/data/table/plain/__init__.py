"""Large plain CSV files, read by a compiled loop: numbers while they are found, words as codes of the different ones.

The loop decides nothing: the different words of each column, and one number for all that it read, are handed to the reader
for all files as a small table, and what that makes of them holds for the cells. What the loop does not know (quotation
marks, uneven rows, columns of very many words …) leaves the whole file to the reader for all files.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from merula.core import bounded
from merula.data.table.file_options import FileOptions
from merula.data.table.text_encoding import is_marked

LARGE, LARGER = (
    2**23,
    2**26,
)  # bytes from which on the loop gains more than it costs: where Numba is loaded, and where not
HEAD = 2**18  # bytes that tell how a file begins


def read_if_plain(path: str, options: FileOptions, is_csv: Callable[[bytes], bool]) -> Any | None:
    """The table in a large plain CSV file; None of any other, and of one that there is something to say of."""
    try:
        size = Path(path).stat().st_size if Path(path).is_file() else 0
        if size < (LARGE if "numba" in sys.modules else LARGER) or size > bounded.most_bytes() or options.sheet:
            return None
        with open(path, "rb") as file:
            head = file.read(HEAD)
        if head[:2] == bounded.PACKED or is_marked(head) or not head.strip() or not is_csv(head):
            return None
    except (OSError, ValueError):  # told by who reads it
        return None
    from merula.core.compiled import are_kept  # on first use: no other table needs compiled loops
    from merula.data.table.plain.reader import read_plain

    return read_plain(path, size, head, options) if are_kept() else None  # to compile takes longer than to read
