"""The protocol every statistic follows: start at zero, update with rows, add, re-order classes, become plain data.

What is to be counted is plain data too: an engine may count it without ever seeing a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
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
        """The same statistic with class k moved to ``indices[k]`` among `count` classes; −1 leaves a class out that has no weight."""
        ...

    def with_columns(self, columns: Sequence[str]) -> Self:
        """The same statistic with its columns in this order."""
        ...

    def state(self) -> dict[str, Any]:
        """Plain data: numbers, words, lists, arrays."""
        ...

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The statistic that `state` describes; whether it makes sense, its ``fits(classes)`` says, if it has one."""
        ...


class OfColumns(PlainFields):
    """What statistics share that count single columns: lists with an entry for each column, arrays of classes × columns."""

    columns: tuple[str, ...]

    def with_classes(self, indices: NDArray[np.int64], count: int) -> Self:

        def change(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(change(part) if isinstance(part, np.ndarray) else part for part in value)
            return moved(value, indices, count) if np.ndim(value) > 1 else value

        return self._changed(change)

    def with_columns(self, columns: Sequence[str]) -> Self:
        order = [self.columns.index(name) for name in columns]

        def change(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(value[index] for index in order)
            return np.take(value, order, axis=1) if np.ndim(value) > 1 else value

        return self._changed(change)

    def _changed(self, change: Callable[[Any], Any]) -> Self:
        """The same statistic with every field changed."""
        return replace(self, **{field.name: change(getattr(self, field.name)) for field in fields(self)})  # type: ignore[type-var, arg-type]


def moved_groups(indices: NDArray[np.int64], classes: int, cells: int) -> NDArray[np.int64]:
    """Where the groups of each class, so many cells in each, stand when class k moves to ``indices[k]``; −1 for a class left out."""
    grid = np.arange(classes * cells).reshape(classes, cells)
    return np.where(indices[:, None] >= 0, grid[indices], -1).ravel()


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
    return x[kept], target.take(kept)


def moved(array: Array, indices: NDArray[np.int64], count: int, fill: float = 0.0) -> Array:
    """An array whose first axis is the class, with class k moved to ``indices[k]`` among `count` classes, or left out (−1)."""
    result = np.full((count, *array.shape[1:]), fill, dtype=array.dtype)
    kept = indices >= 0
    result[indices[kept]] = array[kept]
    return result


@dataclass(frozen=True)
class Wanted:
    """One statistic that is asked for: of which columns, given which parents and, where the source has a target, the class.

    ``options`` are the statistic's own, such as ``binary`` of `TokenCounts`.

    Examples
    --------
    >>> from merula.stats import LevelCounts, Wanted
    >>> Wanted(LevelCounts, ("sky", "rain")).state()
    {'statistic': 'LevelCounts', 'columns': ['sky', 'rain'], 'parents': [], 'options': {}}
    """

    statistic: type[Statistic]
    columns: Sequence[str]
    parents: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def zero(self, classes: int) -> Statistic:
        """The statistic with nothing counted yet."""
        start: Callable[..., Statistic] = self.statistic.zero
        parents = {"parents": self.parents} if self.parents else {}
        return start(self.columns, classes, **parents, **self.options)

    def state(self) -> dict[str, Any]:
        """Plain data: the statistic by its name."""
        return {
            "statistic": self.statistic.__name__,
            "columns": list(self.columns),
            "parents": list(self.parents),
            "options": dict(self.options),
        }
