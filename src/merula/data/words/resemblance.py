"""Words that look like amounts but stay words, since nothing tells what number each of them is: ranges, pairs, several units."""

from __future__ import annotations

import re
from collections.abc import Sequence

from merula.data.units import one_name
from merula.data.words.numbers import parts_of
from merula.data.words.times import month_named

FEWEST = 2  # different words
RANGE = re.compile(r"[<>≤≥] ?\d+(?:[.,]\d+)?|\d+(?:[.,]\d+)? ?(?:-|–|to|bis|\.\.) ?\d+(?:[.,]\d+)?|\d+(?:[.,]\d+)?\+")
TRUE_RANGE = re.compile(r"(\d+(?:[.,]\d+)?) ?(?:-|–|to|bis|\.\.) ?(\d+(?:[.,]\d+)?)")
SEASON = re.compile(r"((?:1[89]|20|21)\d\d) ?/ ?(\d\d|\d{4})")
PAIR = re.compile(r"\d+(?:[.,]\d+)? ?/ ?\d+(?:[.,]\d+)?")


def resemblance(words: Sequence[str]) -> tuple[str, str] | None:
    """What words that stay words look like, and what would make numbers of them; None where they are just words.

    Examples
    --------
    >>> resemblance(["70 kg", "154 lb"])
    ('amounts in different units (kg, lb)', 'to use them as amounts, write them in one unit')
    >>> resemblance(["80-96", "97-120", "121+"])[0], resemblance(["45/100", "7/10"])[0], resemblance(["A-1", "red"])
    ('ranges of numbers', 'pairs of numbers', None)
    """
    if len(words) < FEWEST:
        return None
    if all(map(RANGE.fullmatch, words)) and any(map(_rises, words)):
        return "ranges of numbers", "to use them as amounts, replace each range by a number"
    if all(map(PAIR.fullmatch, words)) and not all(map(_is_season, words)):
        return "pairs of numbers", "to use them as amounts, divide them or make two columns of them"
    units = _units(words)
    if len(units) > 1:
        return f"amounts in different units ({', '.join(units)})", "to use them as amounts, write them in one unit"
    return None


def _rises(word: str) -> bool:
    """Whether a word is a range from a smaller number to a larger."""
    found = TRUE_RANGE.fullmatch(word)
    return found is not None and float(found[1].replace(",", ".")) < float(found[2].replace(",", "."))


def _is_season(word: str) -> bool:
    """Whether a word is two years, one after the other, as 2022/23 is: a season, or a year of business."""
    found = SEASON.fullmatch(word)
    return found is not None and (int(found[1]) + 1) % 10 ** len(found[2]) == int(found[2])


def _units(words: Sequence[str]) -> list[str]:
    """The different units of words that are all amounts, each with one; nothing where one is not."""
    units: dict[str, str] = {}
    for word in words:
        parts = parts_of(word)
        if parts is None or not parts.unit or month_named(parts.unit) is not None:  # 24 Jan
            return []
        units.setdefault(one_name(parts.unit), parts.unit)
    return list(units.values())
