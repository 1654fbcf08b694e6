"""The protocol every statistic follows: start at zero, update with rows, add, re-order classes, become plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.core.plain_fields import PlainFields
from merula.data.encode import Encoded, Target


class Statistic(Protocol):
    """Something counted over rows. It holds no smoothing, no prior, no parameter."""

    @classmethod
    def zero(cls, columns: Sequence[str], classes: int, /) -> Self:
        """The statistic of these columns with nothing counted yet: what an engine starts with."""
        ...

    def update(self, rows: Encoded, target: Target) -> Self:
        """The statistic of what was counted so far and of these rows."""
        ...

    def __add__(self, other: Self) -> Self:
        """The statistic of both parts together."""
        ...

    def with_classes(self, indices: NDArray[np.int64], count: int) -> Self:
        """The same statistic with class k moved to ``places[k]`` among `count` classes."""
        ...

    def with_columns(self, columns: Sequence[str]) -> Self:
        """The same statistic with its columns in this order."""
        ...

    def state(self) -> dict[str, Any]:
        """Plain data: numbers, words, lists, arrays."""
        ...

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The statistic that `state` describes."""
        ...


class OfColumns(PlainFields):
    """What statistics share that count single columns: lists with an entry for each column, arrays of classes × columns."""

    columns: tuple[str, ...]

    def with_classes(self, indices: NDArray[np.int64], count: int) -> Self:
        """See `Statistic.with_classes`."""

        def change(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(change(part) if isinstance(part, np.ndarray) else part for part in value)
            return moved(value, indices, count) if np.ndim(value) > 1 else value

        return self._changed(change)

    def with_columns(self, columns: Sequence[str]) -> Self:
        """See `Statistic.with_columns`."""
        order = [self.columns.index(name) for name in columns]

        def change(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(value[index] for index in order)
            return np.take(value, order, axis=1) if np.ndim(value) > 1 else value

        return self._changed(change)

    def _changed(self, change: Callable[[Any], Any]) -> Self:
        """The same statistic with every field changed."""
        return replace(self, **{field.name: change(getattr(self, field.name)) for field in fields(self)})  # type: ignore[type-var, arg-type]


Part = TypeVar("Part")


def added(parts: list[Part]) -> Part:
    """All parts together, neighbours first: a statistic that grows with its rows is then merged few times, not over and over."""
    while len(parts) > 1:
        pairs = [first + second for first, second in zip(parts[::2], parts[1::2], strict=False)]  # type: ignore[operator]
        parts = pairs + parts[2 * len(pairs) :]
    return parts[0]


def with_weight(x: NDArray[Any], target: Target) -> tuple[NDArray[Any], Target]:
    """The rows that count: those of weight 0 may hold anything."""
    if target.weights is None or target.weights.all():
        return x, target
    kept = target.weights > 0
    return x[kept], Target(target.codes[kept], target.classes, target.weights[kept])


def moved(array: Array, indices: NDArray[np.int64], count: int, fill: float = 0.0) -> Array:
    """An array whose first axis is the class, with class k moved to ``places[k]`` among `count` classes."""
    result = np.full((count, *array.shape[1:]), fill, dtype=array.dtype)
    result[indices] = array
    return result
