"""Words that are something else: numbers with signs, dates in another order, what people write for missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from merula.data.table import FOR_MISSING

SIGNS = str.maketrans("", "", " ,'%€$£")
DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}([ T]\d{1,2}:\d{2}(:\d{2})?)?")
NUMBER = re.compile(r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
PADDED = re.compile(r"0\d+")  # as in "007", a name
FEWEST_WORDS = 5
MOST_OTHERS = 0.2  # of the words
SHOWN = 3


def others_than_numbers(words: Sequence[str]) -> list[str] | None:
    """The words that are no numbers, where most are; None where most are not, some begin with 0 as codes do, or they are too few to tell.

    Examples
    --------
    >>> others_than_numbers(["12 %", "7 %", "1,200 %", "9.5 %", "none"])
    ['none']
    >>> others_than_numbers(["red", "green", "blue", "white", "7"]) is None
    True
    >>> others_than_numbers(["01067", "04109", "20095", "50667", "80331"]) is None
    True
    """
    most, others = MOST_OTHERS * len(words), []
    for word in words:
        if not _is_number(word):
            others.append(word)
            if len(others) > most or PADDED.fullmatch(word):
                return None
    return others if len(words) >= FEWEST_WORDS else None


def meant_missing(words: Sequence[str]) -> list[str]:
    """The words that people write where a cell is empty; a minus beside a plus is none.

    Examples
    --------
    >>> meant_missing(["male", "NA"]), meant_missing(["+", "-"])
    (['NA'], [])
    """
    return [word for word in words if word in FOR_MISSING and not (word == "-" and "+" in words)]


def are_dates(words: Sequence[str]) -> bool:
    """Whether all words are days, written in an order that is not read as a date."""
    return len(words) >= FEWEST_WORDS and all(DATE.fullmatch(word) for word in words)


def shown(words: Sequence[Any]) -> str:
    """The first few words, quoted."""
    return ", ".join(map(repr, words[:SHOWN])) + (", …" if len(words) > SHOWN else "")


def _is_number(word: str) -> bool:
    return NUMBER.fullmatch(word.translate(SIGNS)) is not None
