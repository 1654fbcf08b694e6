"""Checks that every floor makes of what it is given: words among those allowed, the nearest to an unknown one, numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set as AbstractSet
from difflib import get_close_matches
from typing import Any

import numpy as np

MOST_NAMED = 20  # of what is allowed, that an error names


def one_of(word: Any, allowed: Iterable[str], what: str) -> str:
    """The word itself if it is allowed, else a ValueError that suggests the nearest one."""
    if isinstance(word, str) and isinstance(allowed, Mapping | AbstractSet) and word in allowed:
        return word
    words = list(allowed)
    if isinstance(word, str) and word in words:
        return word
    if not words:
        raise ValueError(f"{what} is {word!r}, but there is none yet")
    more = f", … ({len(words):,} in all)" if len(words) > MOST_NAMED else ""
    named = ", ".join(map(repr, words[:MOST_NAMED])) + more
    raise ValueError(f"{what} is {word!r}, expected one of {named}{nearest(word, words)}")


def nearest(word: Any, words: Iterable[str], cutoff: float = 0.5) -> str:
    """A hint at the word nearest to one that is unknown, or nothing."""
    near = get_close_matches(word, list(words), n=1, cutoff=cutoff) if isinstance(word, str) else []
    return f"; did you mean {near[0]!r}?" if near else ""


def checked_number(
    value: Any, what: str, expected: str, fits: Callable[[Any], Any] = lambda _: True, whole: bool = False
) -> Any:
    """The number itself if it is one, True and False are none, and fits; else a ValueError that says what is expected.

    Examples
    --------
    >>> checked_number(3, "patience", "a whole number from 1", lambda value: value >= 1, whole=True)
    3
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer if whole else int | float | np.number) or not fits(value):  # fmt: skip
        raise ValueError(f"{what} is {value!r}, expected {expected}")
    return value


def as_float(count: float) -> float:
    """A whole number as a float, infinite beyond its range."""
    return float(count) if abs(count) < 10**300 else np.inf
