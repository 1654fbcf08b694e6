"""Words as a person sees them: without blanks at their ends and what cannot be seen; and those that mean that nothing is there."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from unicodedata import is_normalized, normalize

ALWAYS_MISSING = frozenset({"", "NA", "N/A", "n/a", "na", "#N/A", "<NA>", "null", "NULL", "Null", "NaN", "nan", "?"})
GAPS = frozenset(["-", "--", "---", "–", "—", ".", "..", "…", "*", "unknown", "none", "nil", "missing", "n.a.", "n.a", "k.a.", "blank", "empty", "undefined"]) | frozenset(
    {"not available", "not applicable", "not known", "no data", "#value!", "#div/0!", "#ref!", "#name?", "#num!", "#null!", "nat", "<nan>"}
)  # fmt: skip
DASHES = frozenset(["-", "--", "---", "–", "—", ".", ".."])  # which may also be a name
UNSEEN = re.compile(
    "[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\x00-\x08\x0e-\x1f\x7f-\x9f]"
)
RARE = 0.1  # of the rows of the commonest spelling
FEW = 2  # rows
JOINERS = "\u200c\u200d"  # letters of some scripts, unless nothing follows
SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000\t\r\n\x0b\x0c]")


def clean(word: str) -> str:
    r"""The word without blanks around it and characters that cannot be seen, its accents written in one way.

    Examples
    --------
    >>> clean("\tYes\u200b "), clean("New\u00a0York"), clean("   ")
    ('Yes', 'New York', '')
    """
    if word.isprintable() and (word.isascii() or is_normalized("NFC", word)) and word.strip() == word:
        return word
    return normalize("NFC", SPACES.sub(" ", UNSEEN.sub("", word)).strip(JOINERS + " "))


def is_gap(word: str) -> bool:
    """Whether people write this word where a number or a date is unknown; the word is clean."""
    return word in ALWAYS_MISSING or word.casefold() in GAPS


def without_gaps(words: Iterable[str], also: Collection[str] = ()) -> tuple[list[str], list[str]]:
    """The words that say something, and those that people write where a number or a date is unknown.

    Examples
    --------
    >>> without_gaps(["12", "unknown", "7"])
    (['12', '7'], ['unknown'])
    """
    parted: tuple[list[str], list[str]] = [], []
    for word in words:
        parted[word in also or is_gap(word)].append(word)
    return parted


def other_spellings(counts: Mapping[str, int]) -> tuple[dict[str, str], list[list[str]]]:
    """Words that differ only in case: {rare spelling: the common one}, and the spellings that are too common to be mistakes.

    Examples
    --------
    >>> other_spellings({"Yes": 500, "yes": 3, "No": 800, "m": 20, "M": 1})
    ({'yes': 'Yes'}, [['m', 'M']])
    """
    groups: dict[str, list[str]] = {}
    for word in sorted(counts, key=lambda word: (-counts[word], word)):
        groups.setdefault(word.casefold(), []).append(word)
    merged: dict[str, str] = {}
    apart = []
    for first, *others in groups.values():
        if others and len(first) > 1 and max(counts[word] for word in others) <= max(FEW, RARE * counts[first]):
            merged |= dict.fromkeys(others, first)
        elif others:
            apart.append([first, *others])
    return merged, apart
