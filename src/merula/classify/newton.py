"""Where a function of weights is least, to all digits: Newton's steps, some weights held at 0 or above."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from merula.core import Array

MOST_STEPS, MOST_HALVED = 50, 30
SAME = 1e-13  # of the value: what rounding makes of no difference
LAST = 1e-15  # of the value: a step that gains no more is the last one, for what is left is about its square


def least(
    objective: Callable[[Array], tuple[float, Array]],
    curvature: Callable[[Array], Array],
    start: Array,
    held: NDArray[np.bool_],
) -> Array:
    """Where the objective, which comes with its slopes, is least; weights that are `held` do not fall below 0.

    Each step is Newton's among the weights that do not stay at 0, halved until it leads down (Bertsekas 1982, "Projected Newton methods").
    """
    v = start
    value, slope = objective(v)
    for _ in range(MOST_STEPS):
        step = _step(curvature(v), slope, held & (v <= 0))
        for _ in range(MOST_HALVED):
            moved = np.where(held, np.maximum(v - step, 0.0), v - step)
            lower, sloped = objective(moved)
            if lower <= value + SAME * abs(value):
                break
            step *= 0.5
        else:
            break
        last = float(slope @ step) <= LAST * abs(value)
        v, value, slope = moved, lower, sloped
        if last:
            break
    return v


def _step(curved: Array, slope: Array, at_zero: NDArray[np.bool_]) -> Array:
    """Newton's step, to be subtracted; weights at 0 stay there unless they rise."""
    free, step = ~at_zero | (slope < 0), np.zeros_like(slope)
    while free.any():
        step[:] = 0.0
        step[free] = _downwards(curved[np.ix_(free, free)], slope[free])
        falling = at_zero & (step > 0)
        if not falling.any():
            break
        free &= ~falling
    return step


def _downwards(curved: Array, slope: Array) -> Array:
    """Newton's step; where the curvature allows none that leads down, one along the slope."""
    try:
        step = np.asarray(np.linalg.solve(curved, slope), dtype=np.float64)
    except np.linalg.LinAlgError:
        step = -slope
    steepest = max(float(np.abs(slope).max()), float(np.abs(np.diagonal(curved)).max()), 1e-300)
    return step if slope @ step >= 0 else slope / steepest
