"""Rows of JSON whose numbers are numbers, decoded straight into columns; any other rows are left to who looks at every cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from merula.data.schema import Schema
from merula.web.said.answers import Cell

Columns = dict[str, Any]
Numbers = list[float | None]


class Matrix(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """Rows as lists of numbers, with the names of their columns."""

    columns: list[str]
    rows: list[Numbers]


_matrix = msgspec.json.Decoder(Matrix)


class TypedRows:
    """What decodes the rows of one schema: an object for each row, whose fields are known."""

    def __init__(self, schema: Schema) -> None:
        known = [column for column in schema.columns if column.kind != "ignore"]
        self._numeric = frozenset(c.name for c in known if c.kind not in ("text", "categorical") and c.unit is None)
        fields: list[Any] = [
            (f"cell_{place}", float | None if column.name in self._numeric else Cell, None)
            for place, column in enumerate(known)
        ]
        rename = {f"cell_{place}": column.name for place, column in enumerate(known)}
        row = msgspec.defstruct("Row", fields, rename=rename.get, forbid_unknown_fields=True, gc=False)
        self._getters = {column.name: attrgetter(f"cell_{place}") for place, column in enumerate(known)}
        self._rows = msgspec.json.Decoder(list[row])  # type: ignore[valid-type]

    def rows(self, body: bytes) -> tuple[Columns, int] | None:
        """The columns of a list of objects, and how many these are; None where a name or a cell is not as expected."""
        try:
            rows: Sequence[Any] = self._rows.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        return {name: self._column(name, getter, rows) for name, getter in self._getters.items()}, len(rows)

    def _column(self, name: str, getter: Callable[[Any], Any], rows: Sequence[Any]) -> Any:
        if name not in self._numeric:
            return list(map(getter, rows))
        return _numbers(lambda: map(getter, rows), len(rows))

    def matrix(self, body: bytes) -> tuple[Columns, int] | None:
        """The columns of rows as lists; None where they are not all numbers of columns that hold such, or not even."""
        try:
            found = _matrix.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        names, rows, width = found.columns, found.rows, len(found.columns)
        if not self._numeric.issuperset(names) or len(set(names)) < width or set(map(len, rows)) != {width}:
            return None
        cells = _numbers(lambda: chain.from_iterable(rows), width * len(rows)).reshape(len(rows), width)
        return dict(zip(names, np.ascontiguousarray(cells.T), strict=True)), len(rows)


def _numbers(cells: Callable[[], Any], count: int) -> NDArray[np.float64]:
    """Numbers, NaN where one is missing."""
    try:
        return np.fromiter(cells(), np.float64, count)
    except TypeError:  # null
        return np.array(list(cells()), dtype=np.float64)
