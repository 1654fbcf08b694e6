"""Tables of terms over the cells that columns lie in, looked up by the place of a row's cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from merula.classify.sql.terms import Task
from merula.core import Array
from merula.distributions.lookups import NOTHING, Axis, Lookup
from merula.engines.dialects import (
    Expression,
    compare,
    is_null,
    listed,
    number,
    parted,
    plus,
    sqlglot,
    times,
    when,
    whole,
)


def looked_up(table: Lookup, task: Task) -> tuple[Expression, ...]:
    """What a table adds for each class."""
    axis = table.axes[0]
    if len(table.axes) == 1 and not isinstance(axis.parted, np.ndarray):
        by_code = np.where((axis.cells >= 0)[:, None], table.values[axis.cells], 0.0)
        code = task.cells.code(axis.column, axis.parted)
        return tuple(listed(by_code[:, c].tolist(), code, task.dialect) for c in range(task.classes))
    return from_place(place_of(table.axes, table.values.shape[:-1], task), table.values.reshape(-1, task.classes), task)


def place_of(axes: Sequence[Axis], shape: Sequence[int], task: Task) -> Expression:
    """Where a row's cell stands in a table of this shape; below 0 where the table says nothing of it."""

    def made() -> Expression:
        step, parts = int(np.prod(shape)), list[Expression]()
        for axis, size in zip(axes, shape, strict=True):
            step //= size
            parts.append(_part(axis, step, task))
        found = parts[0]
        for part in parts[1:]:
            found = plus(found, part)
        return found

    key = tuple((axis.column, _frozen(axis.parted), tuple(axis.cells.tolist())) for axis in axes)
    return task.cells.script.let(("place", key, tuple(shape)), made)


def from_place(place: Expression, values: Array, task: Task) -> tuple[Expression, ...]:
    """The row of a table at a place, one expression for each class; 0 for places below 0."""
    none = compare("LT", place, whole(0))
    nothing = number(0.0, task.dialect)
    return tuple(when([(none, nothing)], listed(values[:, c].tolist(), place, task.dialect)) for c in range(task.classes))  # fmt: skip


def _part(axis: Axis, step: int, task: Task) -> Expression:
    """What the cell of one column adds to the place."""
    places = [int(cell) * step if cell >= 0 else NOTHING for cell in axis.cells.tolist()]
    if isinstance(axis.parted, np.ndarray):
        value = task.cells.number(axis.column)
        found = parted(value, axis.parted.tolist(), [whole(place) for place in places[:-2]], task.dialect)
        return when([(is_null(value), whole(places[-2]))], found)
    code = task.cells.code(axis.column, axis.parted)
    if places == [step * k for k in range(len(places))]:
        return times(whole(step), code) if step != 1 else code
    return as_whole(listed([float(place) for place in places], code, task.dialect))


def as_whole(one: Expression) -> Expression:
    """A float that is whole as a whole number."""
    return sqlglot().exp.cast(one, "bigint")


def _frozen(parted: Any) -> Any:
    return parted.tobytes() if isinstance(parted, np.ndarray) else tuple(parted)
