"""Rows of JSON whose numbers are numbers, decoded straight into columns; any other rows are left to who looks at every cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from merula.core.compiled import are_kept
from merula.data.schema import Schema
from merula.data.table.plain.json_numbers import json_columns
from merula.web.said.answers import Cell

Columns = dict[str, Any]


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

    def rows(self, body: bytes) -> Columns | None:
        """The columns of a list of objects; None where a name or a cell is not as expected."""
        try:
            rows: Sequence[Any] = self._rows.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        return {name: self._column(name, getter, rows) for name, getter in self._getters.items()}

    def _column(self, name: str, getter: Callable[[Any], Any], rows: Sequence[Any]) -> Any:
        if name not in self._numeric:
            return list(map(getter, rows))
        return _numbers(lambda: map(getter, rows), len(rows))

    def numbers(self, body: bytes) -> Columns | None:
        """The columns of rows that hold nothing but numbers, of columns that hold such; None of any other rows."""
        found = json_columns(body) if are_kept() else None  # to compile the loop takes longer than it saves
        return found if found is not None and self._numeric.issuperset(found) else None


def _numbers(cells: Callable[[], Any], count: int) -> NDArray[np.float64]:
    """Numbers, NaN where one is missing."""
    try:
        return np.fromiter(cells(), np.float64, count)
    except TypeError:  # null
        return np.array(list(cells()), dtype=np.float64)
