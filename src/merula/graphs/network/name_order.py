"""The cells of a table in an order of their own, parents by name and levels by label, so that what is drawn for them does not depend on how arcs and levels were stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.data.schema import Label, label_order


@dataclass(frozen=True, eq=False)
class NameOrder:
    """Where each cell, in the order of names and labels, stands in a table with an axis for each parent and its variable's levels last.

    Examples
    --------
    >>> wet = NameOrder.of({"season": ("wet", "dry"), "rain": ("no", "yes")}, ("yes", "no"))
    >>> table = np.array([[[0.8, 0.2], [0.9, 0.1]], [[0.3, 0.7], [0.4, 0.6]]])  # by season, rain
    >>> wet.ordered(table).tolist()  # by rain, season
    [[[0.7, 0.3], [0.2, 0.8]], [[0.6, 0.4], [0.1, 0.9]]]
    >>> np.array_equal(wet.restored(wet.ordered(table)[None]), table[None])
    True
    """

    cells: NDArray[np.intp]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, parents: Mapping[str, Sequence[Label]], own: Sequence[Label] | None = None) -> NameOrder:
        """The order of a table of these levels; without levels of its `own`, of the configurations of the parents alone."""
        names = list(parents)
        axes = sorted(range(len(names)), key=names.__getitem__) + ([] if own is None else [len(names)])
        known = [*parents.values(), *([] if own is None else [own])]
        shape = tuple(map(len, known))
        turned = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape).transpose(axes)
        return cls(turned[np.ix_(*(label_order(known[axis]) for axis in axes))] if axes else turned, shape)

    def ordered(self, table: Array) -> Array:
        """The table with parents by name and levels by label."""
        return table.reshape(-1)[self.cells]

    def restored(self, drawn: Array) -> Array:
        """Tables that were drawn in this order, one behind the other, as the network has them."""
        found = np.empty((len(drawn), self.cells.size))
        found[:, self.cells.reshape(-1)] = drawn.reshape(len(drawn), -1)
        return found.reshape(len(drawn), *self.shape)
