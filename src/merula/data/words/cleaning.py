"""Words as a person sees them: without blanks at their ends and what cannot be seen; and those that mean that nothing is there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from unicodedata import is_normalized, normalize

ALWAYS_MISSING = frozenset(
    {"", "NA", "N/A", "n/a", "na", "#N/A", "<NA>", "null", "NULL", "Null", "NaN", "nan", "?", r"\N"}
)  # the last as MySQL, PostgreSQL and Hive write it
DASHES = frozenset(["-", "--", "---", "–", "—", ".", ".."])  # which may also be a name
ERRORS = frozenset(["#value!", "#div/0!", "#ref!", "#name?", "#num!", "#null!"])  # of spreadsheets
NO_DAYS = frozenset(["0000-00-00", "0000-00-00 00:00:00", "00.00.0000", "00/00/0000"])  # of databases
# in columns of numbers or dates alone, in any case: `-` beside `+`, or a colour that is none, are words like others
GAPS = DASHES | ERRORS | NO_DAYS | {"…", "*", "unknown", "none", "nil", "missing", "blank", "empty", "undefined", "not available", "not applicable", "not known", "no data", "n.a.", "n.a", "k.a.", "nat", "<nan>"}  # fmt: skip
# soft hyphen, zero-width space, marks of direction, word joiner, byte-order mark, control characters: nobody sees them
UNSEEN = "".join(chr(code) for first, last in ((0xAD, 0xAD), (0x200B, 0x200B), (0x200E, 0x200F), (0x202A, 0x202E), (0x2060, 0x2064), (0x2066, 0x2069), (0xFEFF, 0xFEFF), (0, 8), (0x0E, 0x1F), (0x7F, 0x9F)) for code in range(first, last + 1))  # fmt: skip
JOINERS = "\u200c\u200d"  # letters of some scripts, unless nothing follows
SPACES = "\t\r\n\x0b\x0c\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
AT_ENDS = " " + SPACES + JOINERS + UNSEEN  # what means nothing before and behind a word
REMOVED = {ord(sign): None for sign in UNSEEN} | {ord(sign): " " for sign in SPACES}
RARE = 0.1  # of the rows of the commonest spelling
FEW = 2  # rows


def clean(word: str) -> str:
    r"""The word without blanks around it and characters that cannot be seen, its accents written in one way.

    Examples
    --------
    >>> clean("\tYes\u200b "), clean("New\u00a0York"), clean("   "), clean('="01067"')
    ('Yes', 'New York', '', '01067')
    """
    if word.startswith('="') and word.endswith('"') and len(word) > 2:  # so that Excel leaves it as it is
        word = word[2:-1]
    if word.isprintable() and (word.isascii() or is_normalized("NFC", word)) and word.strip() == word:
        return word
    return normalize("NFC", word.translate(REMOVED).strip(JOINERS + " "))


def is_gap(word: str, keep: Collection[str] = ()) -> bool:
    """Whether people write this word where a number or a date is unknown, and it was not said to `keep` it; the word is clean."""
    return (word in ALWAYS_MISSING or word.casefold() in GAPS) and word not in keep


def gap_spellings() -> tuple[str, ...]:
    """All that people write where a number or a date is unknown, but for an empty cell: as it is, Capitalised and in CAPITALS.

    Examples
    --------
    >>> {"NA", "unknown", "Unknown", "No Data", "-"} <= set(gap_spellings())
    True
    """
    spelled = {form for word in GAPS for form in (word, word.capitalize(), word.title(), word.upper())}
    return tuple(sorted((ALWAYS_MISSING | spelled) - {""}))


def without_gaps(
    words: Iterable[str], also: Collection[str] = (), keep: Collection[str] = ()
) -> tuple[list[str], list[str]]:
    """The words that say something, and those that people write where a number or a date is unknown.

    Examples
    --------
    >>> without_gaps(["12", "unknown", "7"])
    (['12', '7'], ['unknown'])
    """
    parted: tuple[list[str], list[str]] = [], []
    for word in words:
        parted[word in also or is_gap(word, keep)].append(word)
    return parted


def other_spellings(counts: Mapping[str, int], fold_case: bool = False) -> tuple[dict[str, str], list[list[str]]]:
    """Words that differ only in case: {rare spelling: the common one}, and the spellings that are too common to be mistakes.

    Where it was said to `fold_case`, none is too common.

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
        rare = len(first) > 1 and all(counts[word] <= max(FEW, RARE * counts[first]) for word in others)
        if others and (rare or fold_case):
            merged |= dict.fromkeys(others, first)
        elif others:
            apart.append([first, *others])
    return merged, apart
