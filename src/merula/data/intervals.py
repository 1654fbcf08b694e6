"""Intervals between cuts: where a cut lies between two values, which interval a value is in, what an interval is called."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from merula.core import Array, InputError

Cuts = tuple[float, ...]
FEWEST_DIGITS, MOST_DIGITS = 6, 17  # 17 tell any two float64 numbers apart
ANY = "any"  # the one interval of a column without cuts


def occurring(values: ArrayLike, weights: ArrayLike) -> tuple[Array, Array]:
    """The values that have some weight, and the weight of each class at each: what a column's table is read as.

    Where values were counted together, they are two rows: the lowest and the highest of those that were.
    """
    met, table = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    low, high = met if met.ndim == 2 and len(met) == 2 else (met, met)
    if table.ndim != 2 or low.ndim != 1 or table.shape[1] != len(low):
        raise InputError.at(
            "weights",
            f"has shape {table.shape}",
            got=table.shape,
            expected=f"(classes, {met.size}): the weight of each class at each value",
        )
    if (low[1:] <= high[:-1]).any() or (high < low).any() or not np.isfinite(met).all():
        raise InputError("values must be finite and ascend, each standing once", remedy="give those of ValueCounts")
    kept = table.any(axis=0)
    return (met, table) if kept.all() else (met[..., kept], table[:, kept])


def between(values: Array, indices: NDArray[np.intp]) -> Cuts:
    """The cuts half-way between ``values[place]`` and the next value, for each of these places.

    Of values in two rows, lowest and highest of those that were counted together: between the highest and the next lowest. Where no number lies between the two, the cut is the lower one: intervals are closed on the right.
    """
    lowest, highest = values if values.ndim == 2 else (values, values)
    low, high = highest[indices], lowest[indices + 1]
    half = 0.5 * low + 0.5 * high  # not half of the sum, which may overflow
    return tuple(np.where((low <= half) & (half < high), half, low).tolist())


def assign(values: ArrayLike, cuts: ArrayLike) -> NDArray[np.int64]:
    """The number of each value's interval, −1 for NaN: code = number of cuts below the value.

    Intervals are (−∞, cuts[0]], (cuts[0], cuts[1]], …, (cuts[−1], ∞).

    Examples
    --------
    >>> assign([1.4, 2.45, 5.1, float("nan")], (2.45, 4.75)).tolist()
    [0, 0, 2, -1]
    """
    numbers: NDArray[Any] = np.asarray(values)
    codes = np.searchsorted(np.asarray(cuts, dtype=np.float64), numbers, side="left").astype(np.int64)
    codes[np.isnan(numbers)] = -1
    return codes


def interval_labels(cuts: Sequence[float]) -> tuple[str, ...]:
    """The name of each interval, in order; all differ.

    Cuts are written with six digits, or as many more as keep them apart; at least one of them stands behind the point.

    Examples
    --------
    >>> interval_labels((2.45, 4.75))
    ('≤ 2.45', '(2.45, 4.75]', '> 4.75')
    >>> interval_labels((1.0000001, 1.0000002))
    ('≤ 1.0000001', '(1.0000001, 1.0000002]', '> 1.0000002')
    >>> interval_labels(())
    ('any',)
    """
    if not len(cuts):
        return (ANY,)
    texts: list[str] = []
    for digits in range(FEWEST_DIGITS, MOST_DIGITS + 1):
        texts = [_number_text(cut, digits) for cut in cuts]
        if len(set(texts)) == len(texts):
            break
    inner = (f"({low}, {high}]" for low, high in pairwise(texts))
    return (f"≤ {texts[0]}", *inner, f"> {texts[-1]}")


def cuts_said(labels: Sequence[Any]) -> Cuts:
    """The cuts between intervals called as `interval_labels` calls them, to the digits written; none where labels are others.

    Examples
    --------
    >>> cuts_said(("≤ 2.45", "(2.45, 4.75]", "> 4.75"))
    (2.45, 4.75)
    >>> cuts_said(("low", "high"))
    ()
    """
    if not labels or not isinstance(labels[0], str) or not labels[0].startswith("≤ "):
        return ()
    try:
        cuts = tuple(float(str(label).rpartition(" ")[2].removesuffix("]")) for label in labels[:-1])
    except ValueError:
        return ()
    return cuts if all(map(isfinite, cuts)) and interval_labels(cuts) == tuple(labels) else ()


def _number_text(number: float, digits: int) -> str:
    """A number with at most that many significant digits, written out unless it is very large or very small."""
    size = abs(number)
    if size and not 1e-5 <= size < 1e15:
        return f"{number:.{digits}g}"
    before_point = int(f"{size:.16e}".partition("e")[2]) + 1
    text = f"{number:.{max(digits - before_point, 1)}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
