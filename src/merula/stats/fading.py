"""Rows that fade: what was met stays met, however little it counts.

A stream that fades for years would else take what it has not met again to weights that no file holds, and at last to 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from merula.core import Array, InputError
from merula.core.checks import checked_number
from merula.core.sound import LEAST_WEIGHT

LEAST_LEFT = 1e-100  # that all rows together may weigh in the end: beside it the lightest of them do not matter


def checked_factor(factor: Any, rows: float) -> float:
    """The factor by which rows of this weight together may fade.

    Examples
    --------
    >>> checked_factor(0.5, 200.0)
    0.5
    """
    expected = "a number above 0, at most 1"
    found = float(checked_number(factor, "factor", expected, lambda value: 0 < value <= 1))
    if not found * rows >= LEAST_LEFT:
        raise InputError(f"rows that count for {rows:,.6g} fade by {found:g} to next to nothing", where="factor", got=factor, expected=f"a factor that leaves them {LEAST_LEFT:g} or more", remedy="begin anew with the rows that are to count")  # fmt: skip
    return found


def faded_weights(weight: Array, factor: float) -> Array:
    """Weights so often; one above 0 goes no lower than a file holds.

    Examples
    --------
    >>> faded_weights(np.array([4.0, 1e-149, 0.0]), 0.01).tolist()
    [0.04, 1e-150, 0.0]
    """
    return np.asarray(np.where(weight > 0, np.maximum(weight * factor, LEAST_WEIGHT), 0.0))


def shares_left(weight: Array, factor: float) -> Array:
    """What squares of rows of these weights are multiplied by: as their weights are, so that variances stay.

    Examples
    --------
    >>> shares_left(np.array([4.0, 1e-149, 0.0]), 0.01).tolist()
    [0.01, 0.1, 0.01]
    """
    light = (weight > 0) & (weight * factor < LEAST_WEIGHT)
    return np.asarray(np.where(light, np.minimum(LEAST_WEIGHT / np.where(light, weight, 1.0), 1.0), factor))
