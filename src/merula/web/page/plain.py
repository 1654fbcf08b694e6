"""Arrays and numbers as the page's JSON holds them: short ones as lists, long ones in base64, infinities by name."""

from __future__ import annotations

from base64 import b64encode
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from merula.core import InputError

SHORT = 6  # numbers that are written out; a written number is about twice as long as one in base64


def number(value: float) -> float | str:
    """A number as JSON holds it; "inf" and "-inf" by name.

    Examples
    --------
    >>> number(0.5), number(float("-inf"))
    (0.5, '-inf')
    """
    if isnan(value):
        raise InputError("a number of the page is not a number", remedy="say what stands for missing")
    return value if abs(value) < float("inf") else "inf" if value > 0 else "-inf"


def array(values: ArrayLike) -> list[float | str] | dict[str, Any]:
    """An array of floats, flat: a list of numbers, or {"f8": base64 of little-endian float64, "shape"} where it is long.

    Examples
    --------
    >>> array([0.5, float("-inf")])
    [0.5, '-inf']
    >>> sorted(array(range(20)))
    ['f8', 'shape']
    """
    floats = np.ascontiguousarray(values, dtype="<f8")
    if np.isnan(floats).any():
        raise InputError("an array of the page holds what is not a number", remedy="say what stands for missing")
    if floats.size <= SHORT:
        return [number(value) for value in floats.ravel().tolist()]
    return {"f8": _base64(floats), "shape": list(floats.shape)}


def integers(values: ArrayLike) -> list[int] | dict[str, Any]:
    """An array of whole numbers below 2³¹, flat: a list, or {"i4": base64 of little-endian int32, "shape"} where that is shorter.

    Examples
    --------
    >>> integers([2, -1])
    [2, -1]
    """
    whole: NDArray[np.int64] = np.ascontiguousarray(values, dtype=np.int64)
    listed: list[int] = whole.ravel().tolist()
    if sum(len(str(value)) + 1 for value in listed) <= 6 * len(listed) + 40:
        return listed
    return {"i4": _base64(whole.astype("<i4")), "shape": list(whole.shape)}


def _base64(values: NDArray[Any]) -> str:
    return b64encode(values.tobytes()).decode()
