"""What words and numbers tell of each other given the class: counts of pairs of words, moments of numbers beside each other and beside words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import InputError
from merula.core.sound import are_names
from merula.data.encode import Encoded, Target
from merula.stats.dependence import Dependence, Parents
from merula.stats.distinct_rows import met_rows
from merula.stats.families import Families, Family


@dataclass(frozen=True, eq=False)
class MixedPairs:
    """The statistics of every pair of columns and, once parents are chosen, of numbers with several of them.

    ``words`` are the columns of words. ``numbers`` has the moments of each number by itself, then for each word those of every
    number within its labels, then for each number its own together with those of every later one: by class, of the rows that
    know both. ``deeper`` has the families of numbers with two parents or more.
    """

    columns: tuple[str, ...]
    words: Dependence
    numbers: tuple[Families, ...]
    deeper: Families

    @classmethod
    def zero(
        cls,
        columns: Sequence[str],
        classes: int,
        /,
        numeric: Collection[str] = (),
        chosen: Parents | None = None,
        only_deeper: bool = False,
    ) -> MixedPairs:
        """Nothing counted yet; with `chosen` parents of columns, their families are counted too, or alone."""
        words = sorted(name for name in columns if name not in numeric)
        values = [] if only_deeper else sorted(numeric)
        above = {name: tuple(parents) for name, parents in (chosen or {}).items() if len(parents) > 1}
        groups = [[Family((), (one,)) for one in values]]
        groups += [[Family((word,), (one,)) for one in values] for word in words if not only_deeper]
        groups += [[Family((), (one, other)) for other in values[k + 1 :]] for k, one in enumerate(values)]
        deep = [Family.of((*above[name], name), numeric) for name in sorted(numeric) if name in above]
        return cls(
            tuple(columns),
            Dependence.zero(words, classes, {name: above[name] for name in words if name in above}, only_deeper),
            tuple(Families.of(group, classes) for group in groups),
            Families.of(deep, classes),
        )

    @property
    def numeric(self) -> tuple[str, ...]:
        """The columns of numbers, by name."""
        return tuple(family.child for family in self.numbers[0].families)

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """The parents of each column that was counted with more than one."""
        of_numbers = {f.child: (*f.discrete, *f.numeric[:-1]) for f in self.deeper.families}
        return {**self.words.parents, **of_numbers}

    def update(self, rows: Encoded, target: Target) -> MixedPairs:
        if target.weights is not None and not target.weights.all():
            rows, target = rows.take(np.flatnonzero(target.weights > 0)), target.take(target.weights > 0)
        known = {name for family in self.deeper.families for name in (*family.discrete, *family.numeric)}
        found = met_rows(rows, sorted({*self.words.columns, *(known & rows.coded.keys())}), sorted({*self.numeric, *(known & rows.numeric.keys())}))  # fmt: skip
        words = self.words.update(rows, target) if self.words.columns or self.words.deeper else self.words
        numbers = tuple(part.update(found, target) if part.families else part for part in self.numbers)
        return replace(self, words=words, numbers=numbers, deeper=self.deeper.update(found, target) if known else self.deeper)  # fmt: skip

    def __add__(self, other: MixedPairs) -> MixedPairs:
        if self.numeric != other.numeric or self.words.columns != other.words.columns:
            raise InputError("statistics of different columns cannot be added", remedy="fit on all rows at once")
        if {f.child: f for f in self.deeper.families} != {f.child: f for f in other.deeper.families}:
            raise InputError(
                "columns of numbers depend on different others in the two parts: moments of different families cannot be added",
                remedy="fit on all rows at once, or state the parents",
            )
        numbers = tuple(mine + theirs for mine, theirs in zip(self.numbers, other.numbers, strict=True))
        return replace(self, words=self.words + other.words, numbers=numbers, deeper=self.deeper + other.deeper)

    def with_deeper(self, second: MixedPairs) -> MixedPairs:
        """The same with the larger families that a second pass has counted."""
        return replace(self, words=replace(self.words, deeper=second.words.deeper), deeper=second.deeper)

    def with_classes(self, indices: NDArray[np.int64], count: int) -> MixedPairs:
        return replace(
            self,
            words=self.words.with_classes(indices, count),
            numbers=tuple(part.with_classes(indices, count) for part in self.numbers),
            deeper=self.deeper.with_classes(indices, count),
        )

    def with_columns(self, columns: Sequence[str]) -> MixedPairs:
        return replace(self, columns=tuple(columns))

    def alone(self, name: str) -> Any:
        """The moments of one number: a group for each class."""
        return self.numbers[0].part(name)

    def beside(self, word: str, name: str, levels: Mapping[str, Sequence[Any]]) -> Any:
        """The moments of one number: a group for each class and level of a word."""
        part = self.numbers[1 + self.words.columns.index(word)]
        return part.over({word: levels[word]}).part(name)

    def both(self, one: str, other: str) -> Any:
        """The moments of two numbers, in this order, by class: of the rows that know both."""
        first, last = sorted((one, other))
        part = self.numbers[1 + len(self.words.columns) + self.numeric.index(first)]
        return part.part(last).with_columns((one, other))

    def fits(self, classes: int) -> bool:
        """True when its parts fit together and this number of classes; a file from a stranger is asked before it is used."""
        numeric = self.numeric if self.numbers else ()
        if not are_names(self.columns) or not are_names(numeric) or not set(numeric) <= set(self.columns):
            return False
        if not self.words.fits(classes) or not set(self.words.columns) <= set(self.columns) - set(numeric):
            return False
        known = {name for family in self.deeper.families for name in (*family.discrete, *family.numeric)}
        if not known <= set(self.columns) or len(self.words.columns) + len(numeric) != len(self.columns):
            return False
        like = self.zero(self.columns, classes, numeric, self.parents)
        same = [part.families for part in self.numbers] == [part.families for part in like.numbers]
        parts = (*self.numbers, self.deeper)
        sound = same and self.deeper.families == like.deeper.families and all(part.fits(classes) for part in parts)
        return sound and all(self._knows(part) for part in parts)

    def _knows(self, part: Families) -> bool:
        """Whether the labels of a part are among those that the pairs of words have met."""
        if not part.labels:
            return True
        pairs = self.words.pairs
        met = dict(zip(pairs.columns, pairs.ordered([None] * len(pairs.columns)).labels, strict=True))
        return all(set(labels) <= set(met[name]) for name, labels in part.labels.items())

    def state(self) -> dict[str, Any]:
        return {
            "columns": list(self.columns),
            "words": self.words.state(),
            "numbers": [part.state() for part in self.numbers],
            "deeper": self.deeper.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> MixedPairs:
        return cls(
            tuple(state["columns"]),
            Dependence.from_state(state["words"]),
            tuple(map(Families.from_state, state["numbers"])),
            Families.from_state(state["deeper"]),
        )
