"""Remarks below a table, as people and programs write them: sources, notes, dates of an export; and totals, which look like rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from merula.core import warn_user
from merula.data.table.headers import LONGEST, line_cells, quoted
from merula.data.words import clean, understand
from merula.data.words.numbers import MONEY
from merula.show.text import shortened

MOST_FOOTERS = 20  # lines
TAIL = 2**14  # bytes at the end of a file that are looked at
MOST_TOTALS = 4  # rows
WORDS_OF_A_REMARK = 3
# what remarks begin with: a word before a colon, a sign before the text, or what a program says of itself
NAMED = r"sources?|notes?|remarks?|comments?|footnotes?|legend|key|quellen?|hinweise?|anmerkung(?:en)?|bemerkung(?:en)?|stand|remarques?|sources? des données|fuentes?|notas?|observaciones|fontes?|bron|data source|copyright"
REMARK = re.compile(rf"(?:(?:{NAMED}|last updated|updated|exported|generated|created|printed|downloaded|retrieved)\s*[:=]|[*#†‡©] ?\S|\(c\)|\[?\d+\] |(?:last updated|exported|generated|created|printed|downloaded|retrieved|erstellt|exportiert|généré) (?:on|at|by|from|am|le|par|with|\d)|end of (?:file|report|table|data)|©)", re.IGNORECASE)  # fmt: skip
COUNTED = re.compile(r"\(?\d[\d,. ]* (?:rows?|records?|entries|lines|results|zeilen|lignes|filas|datensätze)\b.*", re.IGNORECASE)  # fmt: skip
TOTAL = re.compile(r"(?:(?:grand|sub)?[ -]?totals?|(?:column )?sums?|averages?|overall|summe|gesamt|insgesamt|zwischensumme|mittelwert|durchschnitt|total général|moyenne|totale|suma|totaal|endsumme|gesamtsumme|gesamtbetrag|(?:end|anfangs|schlu(?:ss|ß))?saldo|(?:(?:alter|neuer) )?kontostand|(?:(?:opening|closing|ending|final|new) )?balance|solde(?: final)?|saldo final|eindsaldo)\b ?:?", re.IGNORECASE)  # fmt: skip
OF = r"as of|at|on|in|for|of|am|per|zum|vom|bis|im|au|du|le|en|al|del|de|da|op|na"  # a day, a month, a currency
CALLED = re.compile(rf"(?:{TOTAL.pattern})(?: *[(:=\d].{{0,60}}| +(?:(?:{OF}) |[\d(]).{{0,60}}| *(?:{MONEY.pattern}))?", re.IGNORECASE)  # fmt: skip
TOTAL_OF = re.compile(rf"(?:{TOTAL.pattern})(?:[ :].{{0,60}})?", re.IGNORECASE)  # of whatever: Total revenue
FEWEST_BESIDE = 10  # rows with a number or a day, before what else begins like a total is one: Total Recall is a film


@dataclass(frozen=True)
class Footer:
    """How many rows at the end are remarks, and what they say."""

    rows: int = 0
    texts: tuple[str, ...] = ()


def footer_of(rows: Sequence[Sequence[str]], width: int, ended: bool = True) -> Footer:
    """The remarks below a table so many columns wide; none wherever that is in doubt: a row that is cut short is no remark.

    `ended` says whether the last line has its end, which a file that was cut short has not.

    Examples
    --------
    >>> footer_of([["wren", "4.9", "7"], [], ["Source: ringing station"]], 3)
    Footer(rows=2, texts=('Source: ringing station',))
    >>> footer_of([["wren", "4.9", "7"], ["tit"]], 3)
    Footer(rows=0, texts=())
    """
    first = len(rows)
    while first and len(rows) - first <= MOST_FOOTERS and width > 1 and _may_be_remark(rows[first - 1], width):
        first -= 1
    run = rows[first:] if len(rows) - first <= MOST_FOOTERS else []
    for start, row in enumerate(run):
        below_blank = start > 0 and not _filled(run[start - 1])
        if _filled(row) and _tells(row, width, ended, below_blank):
            above = next((k for k in range(start, 0, -1) if _filled(run[k - 1])), 0)  # blank rows between are none
            texts = [" ".join(filter(None, map(clean, line))) for line in run[start:]]
            return Footer(len(run) - above, tuple(filter(None, texts)))
    return Footer()


def total_in(rows: Sequence[Sequence[str]], width: int) -> str | None:
    """The word that calls the last row, as wide as the table, a total; None where it is like others.

    Examples
    --------
    >>> total_in([["wren", "4"], ["tit", "5"], ["Total", "9"]], 2), total_in([["total", "4"], ["total", "5"]], 2)
    ('Total', None)
    """
    rows = [row for row in rows if row]
    filled = [clean(cell) for cell in rows[-1] if clean(cell)] if len(rows) > 1 else []
    if len(filled) < 2 or len(rows[-1]) != width or TOTAL.fullmatch(filled[0]) is None:
        return None
    return None if any(filled[0] in map(clean, row) for row in rows[:-1]) else filled[0]


def unfit_totals(rows: Sequence[Sequence[str]], width: int) -> Footer:
    """The rows at the end, as wide as the table, that are called totals where all others have a number or a day: they are no rows.

    A word that is there in several rows is none of a total but a value, such as `average` below the numbers of a column that was sorted.

    Examples
    --------
    >>> unfit_totals([["31.01.2024", "4,50"], ["01.02.2024", "5,20"], ["Endsaldo", "9,70"]], 2)
    Footer(rows=1, texts=('Endsaldo 9,70',))
    >>> unfit_totals([["wren", "4"], ["tit", "5"], ["Total", "9"]], 2)
    Footer(rows=0, texts=())
    >>> unfit_totals([["3", "4"], ["4", "5"], ["average", "4"], ["average", "9"]], 2)
    Footer(rows=0, texts=())
    """
    last = len(rows)
    while last and (not _filled(rows[last - 1]) or _is_unfit(rows[last - 1], rows, width)):
        last -= 1
    while last < len(rows) and not _filled(rows[last]):
        last += 1
    found = [row for row in rows[last:] if _filled(row)]
    if len(found) > MOST_TOTALS or any(_stands_elsewhere(row, rows) for row in found):
        return Footer()
    return Footer(len(rows) - last, tuple(" ".join(filter(None, map(clean, row))) for row in found))


def with_totals(footer: Footer, rows: Sequence[Sequence[str]], width: int) -> Footer:
    """The remarks, and the totals above them that are no rows."""
    totals = unfit_totals(rows[: len(rows) - footer.rows], width)
    return Footer(totals.rows + footer.rows, totals.texts + footer.texts)


def _is_unfit(row: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether a row's first word calls it a total, in a column that holds nothing else but numbers or days."""
    place = _first_filled(row)
    word = clean(row[place])
    if len(row) != width or TOTAL_OF.fullmatch(word) is None:
        return False
    others = [clean(other[place]) for other in rows if len(other) == width and clean(other[place])]
    rest = [word for word in others if TOTAL_OF.fullmatch(word) is None]
    enough = len(rest) >= (1 if CALLED.fullmatch(word) else FEWEST_BESIDE)
    return enough and any(understand(rest, wanted=kind) is not None for kind in ("numeric", "datetime"))


def _stands_elsewhere(row: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first word of a row begins another row, too."""
    place = _first_filled(row)
    return sum(clean(row[place]) == clean(other[place]) for other in rows if len(other) > place) > 1


def _first_filled(row: Sequence[str]) -> int:
    return next(k for k, cell in enumerate(row) if clean(cell))


def note_footer(footer: Footer) -> None:
    """A note that quotes the remarks which are left out."""
    if footer.rows:
        told = quoted([shortened(text, LONGEST) for text in footer.texts])
        which = "the last line is no row but a remark" if footer.rows == 1 else f"the last {footer.rows} lines are no rows but remarks"  # fmt: skip
        warn_user(f"{which}, and left out ({told})", UserWarning)


def note_total(called: str | None) -> None:
    """A note on a last row that looks like a total, and is kept."""
    if called is not None:
        warn_user(f"the last row is called {called!r} and looks like a total of the others, but is read as a row like them; if it is a total, delete it from the file", UserWarning)  # fmt: skip


def last_rows(data: bytes, start: int, separator: str) -> tuple[list[list[str]], list[int]]:
    r"""The cells of some last lines from `start` on, and where each begins; lines that are not whole cells by themselves end them.

    Examples
    --------
    >>> last_rows(b"bird,wing\nwren,4.9\nSource: us\n", 10, ",")
    ([['wren', '4.9'], ['Source: us']], [10, 19])
    """
    rows, places, end = list[list[str]](), list[int](), len(data)
    while end > max(start, len(data) - TAIL) and len(rows) <= MOST_FOOTERS:
        place = max(data.rfind(b"\n", start, end - 1) + 1, start)
        line = data[place:end].rstrip(b"\r\n")
        if line.count(b'"') % 2 or (place > start and place < len(data) - TAIL):
            break
        rows.append(line_cells(line.decode(errors="replace"), separator))
        places.append(place)
        end = place
    return rows[::-1], places[::-1]


def _filled(row: Sequence[str]) -> int:
    return sum(bool(clean(cell)) for cell in row)


def _may_be_remark(row: Sequence[str], width: int) -> bool:
    """Whether a row has clearly fewer cells than the table, or begins as nothing but a remark does."""
    filled = _filled(row)
    if len(row) < width:
        return filled <= max(1, width // 2)
    return filled == 0 or (filled == 1 and width > 2) or _is_named(row)


def _is_named(row: Sequence[str]) -> bool:
    """Whether the words of a row begin with what remarks begin with before a colon, which no cell of a table would."""
    return re.match(rf"(?:{NAMED})\s*:", clean(row[0]), re.IGNORECASE) is not None


def _tells(row: Sequence[str], width: int, ended: bool, below_blank: bool) -> bool:
    """Whether a row is surely a remark: by how it begins, or being too short by where it stands or how many words it has.

    One with as many cells as others may be a row whose cells are nearly all missing: it must have words and stand apart.
    """
    text = next(filter(None, map(clean, row)))
    if REMARK.match(text) or COUNTED.fullmatch(text):
        return True
    words = sum(any(map(str.isalpha, word)) for word in text.split())
    if len(row) >= width:
        return below_blank and words > 1 and bool(clean(row[0]))
    return below_blank or TOTAL.fullmatch(text) is not None or (ended and words >= WORDS_OF_A_REMARK)
