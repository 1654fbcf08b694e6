"""The array types that signatures name, and whole numbers as the floats that arrays hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def as_float(count: float) -> float:
    """A whole number as a float, infinite beyond its range."""
    return float(count) if abs(count) < 10**300 else np.inf
