"""A table of numbers over named variables: its cells, its other forms, how it is compared and shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError
from merula.core.checks import checked_generator
from merula.data.schema import Label
from merula.graphs.factors.frames import build_table, cell_columns
from merula.graphs.factors.joint_text import bars, joint_html, joint_parts
from merula.graphs.factors.names import key_of, levels_of, rank_of, set_frozen
from merula.show.text import text_table

TIE = 1e-12  # probabilities this close, relative to the larger, are taken for equal


@dataclass(frozen=True, eq=False, init=False, repr=False, slots=True)
class NamedTable:
    """One probability for each combination of the variables' levels: the data of a `JointDistribution`."""

    variables: tuple[str, ...]
    levels: Mapping[str, tuple[Label, ...]]
    values: Array

    @classmethod
    def _of(cls, variables: Sequence[str], levels: Any, values: Array) -> Self:
        """The distribution of an array that is known to be one, unchecked; `levels` by name, or in the variables' order."""
        self = cls.__new__(cls)
        self._become(tuple(variables), levels, values)
        return self

    def _become(self, variables: tuple[str, ...], levels: Any, values: Array) -> None:
        by_axis = [levels[name] for name in variables] if isinstance(levels, Mapping) else levels
        by_name = dict(zip(variables, by_axis, strict=True))
        set_frozen(self, variables=variables, levels=MappingProxyType(by_name), values=values)

    def __getitem__(self, key: Any) -> float:
        cell = levels_of(key)
        if len(cell) != len(self.variables):
            raise InputError.at(f"the cell {key!r}", f"does not name one level for each of {list(self.variables)}", remedy="use marginal() first, or probability()")  # fmt: skip
        index = (rank_of(level, name, self.levels[name]) for name, level in zip(self.variables, cell, strict=True))
        return float(self.values[tuple(index)])

    def __iter__(self) -> Iterator[tuple[Any, float]]:
        cells = product(*(self.levels[name] for name in self.variables))
        return ((key_of(cell), float(p)) for cell, p in zip(cells, self.values.flat, strict=True))

    def __len__(self) -> int:
        return int(self.values.size)

    def mode(self) -> dict[str, Label]:
        """The most probable cell as ``{variable: level}``; of equal ones the first.

        Examples
        --------
        >>> import merula as mr
        >>> mr.JointDistribution("coin", {"heads": 0.4, "tails": 0.6}).mode()
        {'coin': 'tails'}
        """
        index = np.unravel_index(first_largest(self.values.reshape(-1)), self.values.shape)
        return {name: self.levels[name][int(rank)] for name, rank in zip(self.variables, index, strict=True)}

    def sample(self, n: int = 1, random_state: Any = None) -> Any:
        """`n` rows drawn from the distribution: a table with one column for each variable.

        Examples
        --------
        >>> import merula as mr
        >>> mr.JointDistribution("coin", {"heads": 1.0, "tails": 0.0}).sample(2, random_state=0)
            coin
        0  heads
        1  heads
        """
        if not isinstance(n, int | np.integer) or n < 0:
            raise InputError.of("n", n, "a number of rows from 0")
        flat = self.values.reshape(-1)
        cells = checked_generator(random_state).choice(flat.size, size=n, p=flat / flat.sum())
        return build_table(cell_columns(self.levels, cells))

    def to_dict(self) -> dict[Any, float]:
        """``{levels: probability}``, every cell.

        Examples
        --------
        >>> import merula as mr
        >>> mr.JointDistribution("coin", {"heads": 0.5, "tails": 0.5}).to_dict()
        {'heads': 0.5, 'tails': 0.5}
        """
        return dict(iter(self))

    def to_frame(self) -> Any:
        """A table with one column for each variable and a column "probability", every cell a row.

        Examples
        --------
        >>> import merula as mr
        >>> mr.JointDistribution("coin", {"heads": 0.5, "tails": 0.5}).to_frame()
            coin  probability
        0  heads          0.5
        1  tails          0.5
        """
        return build_table(self._columns())

    def plot(self, ax: Any = None) -> Any:
        """The matplotlib axes with a bar for each level of the one variable; new ones unless given.

        Examples
        --------
        >>> import merula as mr
        >>> ax = mr.JointDistribution("coin", {"heads": 0.5, "tails": 0.5}).plot()
        >>> [float(bar.get_width()) for bar in ax.patches]
        [0.5, 0.5]
        """
        return bars(self, ax)

    def _columns(self) -> dict[str, NDArray[Any]]:
        """The columns of `to_frame`."""
        if "probability" in self.levels:
            raise InputError("a variable is called 'probability', as is the column of the probabilities", remedy="use to_dict()")  # fmt: skip
        return {**cell_columns(self.levels, np.arange(self.values.size)), "probability": self.values.reshape(-1)}

    def allclose(self, other: NamedTable, tolerance: float = 1e-9) -> bool:
        """True if both distribute the same variables alike, in whichever order they and their levels stand.

        Examples
        --------
        >>> import merula as mr
        >>> mr.JointDistribution("coin", {"heads": 0.1 + 0.2, "tails": 0.7}).allclose(mr.JointDistribution("coin", {"tails": 0.7, "heads": 0.3}))
        True
        """
        if {name: frozenset(labels) for name, labels in self.levels.items()} != {
            name: frozenset(labels) for name, labels in other.levels.items()
        }:
            return False
        values = self.values.transpose([self.variables.index(name) for name in other.variables])
        for axis, name in enumerate(other.variables):
            values = values.take([self.levels[name].index(label) for label in other.levels[name]], axis=axis)
        return bool((np.abs(values - other.values) <= tolerance).all())

    def __eq__(self, other: object) -> bool:
        return self.allclose(other, 0.0) if isinstance(other, NamedTable) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset((name, frozenset(labels)) for name, labels in self.levels.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._of, (self.variables, dict(self.levels), np.array(self.values))

    def __repr__(self) -> str:
        return text_table(*joint_parts(self))

    def _repr_html_(self) -> str:
        return joint_html(self)


def first_largest(values: Array) -> NDArray[np.int64]:
    """The index of the largest value along the last axis, the first of those that are equal but for rounding."""
    return np.asarray((values >= values.max(axis=-1, keepdims=True) * (1 - TIE)).argmax(axis=-1))
