"""Checks that every floor makes of what it is given: words among those allowed, the nearest to an unknown one, numbers, probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set as AbstractSet
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.core.errors import InputError

MOST_NAMED = 20  # of what is allowed, that an error names
SUM_TOLERANCE = 1e-6  # how far from 1 a sum of probabilities may be


def one_of(word: Any, allowed: Iterable[str], what: str) -> str:
    """The word itself if it is allowed, else an `InputError` that suggests the nearest one."""
    if isinstance(word, str) and isinstance(allowed, Mapping | AbstractSet) and word in allowed:
        return word
    words = list(allowed)
    if isinstance(word, str) and word in words:
        return word
    if not words:
        raise InputError(f"{what} is {word!r}, but there is none yet", where=what, got=word)
    more = f", … ({len(words):,} in all)" if len(words) > MOST_NAMED else ""
    named = ", ".join(map(repr, words[:MOST_NAMED])) + more
    raise InputError.of(what, word, f"one of {named}", nearest(word, words).removeprefix("; ") or None)


def nearest(word: Any, words: Iterable[str], cutoff: float = 0.5, show: Callable[[str], str] = repr) -> str:
    """A hint at the word nearest to one that is unknown, as `show` writes it, or nothing."""
    near = get_close_matches(word, list(words), n=1, cutoff=cutoff) if isinstance(word, str) else []
    return f"; did you mean {show(near[0])}?" if near else ""


def check_probabilities(
    values: Any,
    what: str | Callable[[tuple[int, ...]], str],
    axis: int | tuple[int, ...] = -1,
    *,
    tolerance: float = SUM_TOLERANCE,
    kept: float = 0.0,
    or_zero: bool = False,
    at: Callable[[tuple[int, ...]], str] | None = None,
    remedy: str | None = None,
) -> Array:
    """Probabilities that sum to exactly 1 over `axis`; an `InputError` names the first that is none, or the first other sum.

    Parameters
    ----------
    values : numbers from 0 whose sums are 1 within the tolerance
    what : what the values are called, or what the row or cell of an index is
    axis : the axis or axes to be summed over, the last ones
    tolerance, kept : how far from 1 a sum may be, and within which distance its row is kept bit for bit
    or_zero : whether a row may hold zeros alone, and stays so
    at : how the row or cell of an index is told, such as ``size = 'low'``
    remedy : what to do where a sum is not 1

    Examples
    --------
    >>> check_probabilities([0.2500001, 0.75], "class_prior").sum()
    np.float64(1.0)
    >>> check_probabilities([[0.5, 0.5], [0.5, 0.4]], "P(rain given season)", at=lambda index: f"season = {index[0]}")
    Traceback (most recent call last):
        ...
    merula.core.errors.InputError: P(rain given season) sums to 0.9 where season = 1, expected 1
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError.at(_called(what, ()), f"holds something that is not a number ({error})") from None
    if array.size and not (
        array.min() >= 0 and array.max() < np.inf
    ):  # without an array of truths, which large tables feel
        cell = _first(~((array >= 0) & (array < np.inf))) or ()
        told = f"holds {array[cell]:g}" + (f" at {at(cell)}" if at else "")
        remedy = "probabilities are numbers from 0 to 1"
        raise InputError.at(_called(what, cell), told, got=float(array[cell]), remedy=remedy)
    sums = np.asarray(array.sum(axis=axis, keepdims=True))
    off = np.asarray(np.abs(sums - 1))
    if (index := _first((off > tolerance) & ~(or_zero & (sums == 0)))) is not None:
        row = index[: array.ndim - np.size(axis)]
        told = f"sums to {sums[index]:.9g}" + (f" where {at(row)}" if at and row else "")
        raise InputError.at(_called(what, row), told, got=float(sums[index]), expected="1", remedy=remedy)
    sums[(sums == 0) | (off <= kept)] = 1.0
    del off
    result: Array = array / sums
    return result


def _first(wrong: NDArray[np.bool_]) -> tuple[int, ...] | None:
    return tuple(np.argwhere(wrong)[0].tolist()) if wrong.any() else None


def _called(what: str | Callable[[tuple[int, ...]], str], index: tuple[int, ...]) -> str:
    return what if isinstance(what, str) else what(index)


def checked_number(
    value: Any, what: str, expected: str, fits: Callable[[Any], Any] = lambda _: True, whole: bool = False
) -> Any:
    """The number itself if it is one, True and False are none, and fits; else an `InputError` that says what is expected.

    Examples
    --------
    >>> checked_number(3, "patience", "a whole number from 1", lambda value: value >= 1, whole=True)
    3
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer if whole else int | float | np.number) or not fits(value):  # fmt: skip
        raise InputError.of(what, value, expected)
    return value


def true_or_false(value: Any, what: str) -> bool:
    """The value itself where it is True or False; an `InputError` where it is neither.

    Examples
    --------
    >>> true_or_false(np.True_, "keep_rows")
    True
    """
    if not isinstance(value, bool | np.bool_):
        raise InputError.of(what, value, "True or False")
    return bool(value)


def checked_generator(random_state: Any) -> np.random.Generator:
    """What random numbers are drawn by: the same for the same number; an `InputError` for what is no seed.

    Examples
    --------
    >>> int(checked_generator(0).integers(10)), checked_generator(checked_generator(0)) is not None
    (8, True)
    """
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError.of(
            "random_state", random_state, "None, a whole number from 0 or a numpy.random.Generator"
        ) from None
