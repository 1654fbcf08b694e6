"""Cells of a distribution as columns and tables."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.data.table import build_frame, label_array
from merula.graphs.factors.names import Levels

LIBRARIES = ("pandas", "polars", "pyarrow")


def cell_columns(levels: Levels, cells: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """The levels of these cells, counted in the order of the table, by variable."""
    indices = np.unravel_index(cells, [len(labels) for labels in levels.values()]) if levels else ()
    return {name: label_array(labels)[index] for (name, labels), index in zip(levels.items(), indices, strict=True)}


def build_table(columns: dict[str, NDArray[Any]]) -> Any:
    """The columns as a table of pandas (else polars, else pyarrow); side by side in an array if none is installed."""
    return build_frame(columns, next((library for library in LIBRARIES if find_spec(library)), "numpy"))
