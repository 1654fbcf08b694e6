"""Text on a terminal: how wide it stands in any script, cut where it is long, and in tables whose columns align."""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import category, east_asian_width, normalize

Rows = Sequence[Sequence[str]]
RULE = "─"
UNSEEN = ("Mn", "Me", "Cf")  # marks drawn over the letter before, joiners
# what a terminal obeys instead of showing it: controls of both sets, line separators, and marks that turn the writing round
COUNTS = re.compile(r"""'[^']*'|"[^"]*"|\d[\d,]*(?:\.\d+)?""")
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""The text with everything that a terminal would obey written out, but for line breaks.

    Labels, cells and names of files come from strangers: none of them may clear the screen or turn a sentence round.

    Examples
    --------
    >>> print(visible("wren\x1b[2J\x9b and \u202egnik"))
    wren\x1b[2J\x9b and \u202egnik
    """
    return OBEYED.sub(lambda sign: sign[0].encode("unicode_escape").decode(), text)


def display_width(text: str) -> int:
    """The number of terminal cells a text takes: 2 for wide and fullwidth signs, 0 for combining marks, else 1.

    Examples
    --------
    >>> display_width("größe"), display_width("色泽"), display_width("e\u0301")
    (5, 4, 1)
    """
    if text.isascii():
        return len(text)
    composed = normalize("NFC", text)  # else the parts of a Korean syllable would count one by one
    return sum(_sign_width(sign) for sign in composed)


def _sign_width(sign: str) -> int:
    if category(sign) in UNSEEN:
        return 0
    return 2 if east_asian_width(sign) in "WF" else 1


def pad(text: str, width: int, right: bool = False) -> str:
    """The text with spaces up to `width` cells: behind it, or before it with ``right=True``; never cut.

    Examples
    --------
    >>> pad("色泽", 6) + "|" + pad("4.2", 6, right=True) + "|"
    '色泽  |   4.2|'
    """
    spaces = " " * (width - display_width(text))
    return spaces + text if right else text + spaces


def shortened(text: str, width: int, middle: bool = False) -> str:
    """The text on one line, no wider than `width`: an ellipsis stands for its end, or (`middle`) for its middle.

    Examples
    --------
    >>> shortened("a very long label", 10), shortened("measurement number 12", 14, middle=True)
    ('a very lo…', 'measure…ber 12')
    """
    line = " ".join(text.split())
    if display_width(line) <= width:
        return line
    tail = _fitting(line[::-1], (width - 1) // 2)[::-1] if middle else ""
    return _fitting(line, width - 1 - display_width(tail)) + "…" + tail


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines no wider than `width`, broken between words, or within one that is longer than a line.

    Examples
    --------
    >>> wrapped("色泽 is what they call the colour", 14)
    ['色泽 is what', 'they call the', 'colour']
    """
    lines = [""]
    for word in text.split():
        if lines[-1] and display_width(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
            continue
        while len(part := _fitting(word, width) or word[:1]) < len(word):
            lines.append(part)
            word = word[len(part) :]
        lines.append(word)
    return [line for line in lines if line] or [""]


def listed(label: object, longest: int) -> str:
    """A label as a list separated by commas can hold it: shortened, between quotation marks where it has a comma itself.

    Examples
    --------
    >>> ", ".join(listed(label, 20) for label in ("cat", "cat, black"))
    "cat, 'cat, black'"
    """
    text = shortened(str(label), longest)
    return repr(text) if "," in text else text


def _fitting(text: str, width: int) -> str:
    """As much of the text's beginning as fits."""
    if text[: width + 1].isascii():
        return text[:width]
    kept = ""
    for character in text:
        if display_width(kept + character) > width:
            break
        kept += character
    return kept


def text_table(heading: str, rows: Rows, names: int, note: str = "") -> str:
    """Rows as aligned columns: the first `names` to the left, numbers to the right; `heading` above, `note` below.

    A row without cells is a rule; one with fewer cells than the others ends early.

    Examples
    --------
    >>> print(text_table("P(beak)", [["beak", "probability"], ["yellow", "0.75"], [], ["all", "1"]], 1))
    P(beak)
    beak    probability
    yellow         0.75
    ───────────────────
    all               1
    """
    rows = [[visible(" ".join(cell.split("\n"))) for cell in row] for row in rows]
    columns = max(map(len, rows), default=0)
    widths = [max(display_width(row[k]) for row in rows if len(row) > k) for k in range(columns)]
    rule = [RULE * (sum(widths) + 2 * (columns - 1))]
    lines = [
        "  ".join(pad(cell, widths[k], right=k >= names) for k, cell in enumerate(row)) for row in (one or rule for one in rows)
    ]  # fmt: skip
    return "\n".join([*([heading] if heading else []), *(line.rstrip() for line in lines), *([note] if note else [])])


def counted_alike(line: str) -> str:
    """A note without its numbers, but for those in names between quotation marks.

    Examples
    --------
    >>> counted_alike("11 of 7,043 rows have no 'group 2'")
    "# of # rows have no 'group 2'"
    """
    return COUNTS.sub(lambda part: part[0] if part[0][0] in "'\"" else "#", line)
