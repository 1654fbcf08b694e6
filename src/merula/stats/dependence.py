"""What categorical columns tell of each other given the class: counts of all pairs and, once parents are chosen, of larger families."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError
from merula.data.encode import Encoded, Target
from merula.data.schema import Label
from merula.stats.families import Families, Family
from merula.stats.pairs import PairCounts

Parents = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class Dependence:
    """Counts of every pair of columns, and of each column with its first two, three, … parents; a missing cell is a label, None.

    Parents are chosen from the pairs, so that larger families are counted in a second pass.
    """

    pairs: PairCounts
    deeper: tuple[Families, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns, in order."""
        return self.pairs.columns

    def fits(self, classes: int) -> bool:
        """True when its parts fit together and this number of classes; a file from a stranger is asked before it is used."""
        known = set(self.columns)
        deep = all(part.fits(classes) and known.issuperset(part.labels) for part in self.deeper)
        ascending = all(len(f.discrete) == 3 + depth for depth, part in enumerate(self.deeper) for f in part.families)
        return self.pairs.fits(classes) and self.pairs.missing_is_label and deep and ascending

    def is_second(self, begun: Dependence, classes: int) -> bool:
        """True when it is what a second pass, `begun` for larger families alone, may have counted."""
        alike = [part.families for part in self.deeper] == [part.families for part in begun.deeper]
        sound = self.pairs.fits(classes) and all(part.fits(classes) for part in self.deeper)
        return alike and not self.columns and sound

    @classmethod
    def zero(
        cls, columns: Sequence[str], classes: int, /, chosen: Parents | None = None, only_deeper: bool = False
    ) -> Dependence:
        """Nothing counted yet; with `chosen` parents of columns, their families are counted too, or alone."""
        pairs = PairCounts.zero(() if only_deeper else columns, classes, missing_is_label=True)
        known = {name: tuple((chosen or {}).get(name, ())) for name in columns}
        deepest = max(map(len, known.values()), default=0)
        depths = [[Family((*known[n][:depth], n)) for n in columns if len(known[n]) >= depth] for depth in range(2, deepest + 1)]  # fmt: skip
        return cls(pairs, tuple(Families.of(families, classes, missing_is_label=True) for families in depths))

    def update(self, rows: Encoded, target: Target) -> Dependence:
        pairs = self.pairs.update(rows, target) if self.columns else self.pairs
        return Dependence(pairs, tuple(part.update(rows, target) for part in self.deeper))

    def __add__(self, other: Dependence) -> Dependence:
        self._refuse_others(other)
        deeper = tuple(mine + theirs for mine, theirs in zip(self.deeper, other.deeper, strict=True))
        return Dependence(self.pairs + other.pairs, deeper)

    def __sub__(self, other: Dependence) -> Dependence:
        self._refuse_others(other)
        deeper = tuple(mine - theirs for mine, theirs in zip(self.deeper, other.deeper, strict=True))
        return Dependence(self.pairs - other.pairs, deeper)

    def _refuse_others(self, other: Dependence) -> None:
        """An error where the two have counted different families."""
        strange = [name for name in {**self.parents, **other.parents} if self._counted_with(name) != other._counted_with(name)]  # fmt: skip
        if strange:
            name = strange[0]
            raise InputError(
                f"column {name!r} depends on {list(self.parents.get(name, ()))} in one part and on {list(other.parents.get(name, ()))} in the other: counts of different families cannot be added",
                where=f"column {name!r}",
                remedy="fit on all rows at once, or state the parents",
            )

    def with_deeper(self, second: Dependence) -> Dependence:
        """The same with the larger families that a second pass has counted."""
        return Dependence(self.pairs, second.deeper)

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """The parents of each column that was counted with more than one."""
        return {family.child: family.discrete[:-1] for part in self.deeper for family in part.families}

    def knows(self, name: str, parents: Sequence[str]) -> bool:
        """Whether a column was counted with the first two of these parents, the first three, …: in any order."""
        counted = self._counted_with(name)
        return all({*parents[:depth], name} in counted for depth in range(2, len(parents) + 1))

    def _counted_with(self, name: str) -> list[set[str]]:
        """The columns of each family that a column is the child of."""
        return [set(f.discrete) for part in self.deeper for f in part.families if f.child == name]

    def table(self, names: Sequence[str], levels: Mapping[str, tuple[Label, ...]]) -> Array:
        """The weight of each class and configuration of these columns, the child last, over these levels alone."""
        if len(names) <= 2:
            return self.pairs.table(names)
        part = self.deeper[len(names) - 3]
        table = part.table(names[-1])
        axes = next(family for family in part.families if family.child == names[-1])
        for axis, name in enumerate(axes.discrete, start=1):
            where = {label: k for k, label in enumerate(part.labels[name])}
            padded = np.concatenate([table, np.zeros_like(np.take(table, [0], axis=axis))], axis=axis) if table.shape[axis] else np.zeros((*table.shape[:axis], 1, *table.shape[axis + 1 :]))  # fmt: skip
            table = np.take(padded, [where.get(label, -1) for label in levels[name]], axis=axis)
        return table.transpose(0, *(1 + axes.discrete.index(name) for name in names))

    def scaled(self, factor: float) -> Dependence:
        return Dependence(self.pairs.scaled(factor), tuple(part.scaled(factor) for part in self.deeper))

    def with_classes(self, indices: NDArray[np.int64], count: int) -> Dependence:
        deeper = tuple(part.with_classes(indices, count) for part in self.deeper)
        return Dependence(self.pairs.with_classes(indices, count), deeper)

    def with_parents(self, parents: Parents) -> Dependence:
        """The counts of these columns alone, each with these parents: the first of those that it was counted with."""
        deep = {name: len(some) for name, some in parents.items()}
        children = [[f.child for f in part.families if deep.get(f.child, 0) >= depth] for depth, part in enumerate(self.deeper, 2)]  # fmt: skip
        deeper = tuple(part.with_columns(some) for part, some in zip(self.deeper, children, strict=True) if some)
        return Dependence(self.pairs.with_columns(list(parents)), deeper)

    def with_columns(self, columns: Sequence[str]) -> Dependence:
        ordered = [sorted((f.child for f in part.families), key=list(columns).index) for part in self.deeper]
        deeper = tuple(part.with_columns(names) for part, names in zip(self.deeper, ordered, strict=True))
        return Dependence(self.pairs.with_columns(columns), deeper)

    def state(self) -> dict[str, Any]:
        return {"pairs": self.pairs.state(), "deeper": [part.state() for part in self.deeper]}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Dependence:
        return cls(PairCounts.from_state(state["pairs"]), tuple(map(Families.from_state, state["deeper"])))
