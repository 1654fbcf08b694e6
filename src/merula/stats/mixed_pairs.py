"""What words and numbers tell of each other given the class: counts of pairs of words, moments of numbers beside each other and beside words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import add, sub
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import InputError
from merula.core.sound import are_names
from merula.data.encode import Encoded, Target
from merula.stats.dependence import Dependence, Parents
from merula.stats.distinct_rows import met_rows
from merula.stats.families import Families, Family
from merula.stats.moments import FullMoments
from merula.stats.pair_moments import LabelMoments, PairMoments


@dataclass(frozen=True, eq=False)
class MixedPairs:
    """The statistics of every pair of columns and, once parents are chosen, of numbers with several of them.

    ``words`` has the counts of pairs of words, ``numbers`` the moments of pairs of numbers, ``beside_words`` for each word the
    moments of all numbers within its labels: by class, of the rows that know both. ``deeper`` has the families of numbers with
    two parents or more.
    """

    columns: tuple[str, ...]
    words: Dependence
    numbers: PairMoments
    beside_words: tuple[LabelMoments, ...]
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
        deep = [Family.of((*above[name], name), numeric) for name in sorted(numeric) if name in above]
        return cls(
            tuple(columns),
            Dependence.zero(words, classes, {name: above[name] for name in words if name in above}, only_deeper),
            PairMoments.zero(values, classes),
            tuple(LabelMoments.zero(word, values, classes) for word in words),
            Families.of(deep, classes),
        )

    @property
    def numeric(self) -> tuple[str, ...]:
        """The columns of numbers, by name."""
        return self.numbers.columns

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """The parents of each column that was counted with more than one."""
        of_numbers = {f.child: (*f.discrete, *f.numeric[:-1]) for f in self.deeper.families}
        return {**self.words.parents, **of_numbers}

    def knows(self, name: str, parents: Sequence[str]) -> bool:
        """Whether a column was counted with these parents, in any order."""
        if name in self.words.columns:
            return self.words.knows(name, parents)
        return len(parents) < 2 or {*parents, name} in self._counted_with(name)

    def _counted_with(self, name: str) -> list[set[str]]:
        """The columns of each family that a number is the child of."""
        return [{*f.discrete, *f.numeric} for f in self.deeper.families if f.child == name]

    def update(self, rows: Encoded, target: Target) -> MixedPairs:
        if target.weights is not None and not target.weights.all():
            rows, target = rows.take(np.flatnonzero(target.weights > 0)), target.take(target.weights > 0)
        known = {name for family in self.deeper.families for name in (*family.discrete, *family.numeric)}
        found = met_rows(rows, sorted({*self.words.columns, *(known & rows.coded.keys())}), sorted({*self.numeric, *(known & rows.numeric.keys())}))  # fmt: skip
        words = self.words.update(rows, target) if self.words.columns or self.words.deeper else self.words
        numbers = self.numbers.update(found, target)
        beside = tuple(part.update(found, target) for part in self.beside_words)
        deeper = self.deeper.update(found, target) if known else self.deeper
        return replace(self, words=words, numbers=numbers, beside_words=beside, deeper=deeper)

    def __add__(self, other: MixedPairs) -> MixedPairs:
        return self._together(other, add)

    def __sub__(self, other: MixedPairs) -> MixedPairs:
        return self._together(other, sub)

    def _together(self, other: MixedPairs, join: Callable[[Any, Any], Any]) -> MixedPairs:
        """Both as one, their parts joined one by one; an error where they are of different columns."""
        if self.numeric != other.numeric or self.words.columns != other.words.columns:
            raise InputError("statistics of different columns cannot be added", remedy="fit on all rows at once")
        if any(self._counted_with(name) != other._counted_with(name) for name in self.numeric):
            raise InputError(
                "columns of numbers depend on different others in the two parts: moments of different families cannot be added",
                remedy="fit on all rows at once, or state the parents",
            )
        return replace(
            self,
            words=join(self.words, other.words),
            numbers=join(self.numbers, other.numbers),
            beside_words=tuple(map(join, self.beside_words, other.beside_words)),
            deeper=join(self.deeper, other.deeper),
        )

    def with_deeper(self, second: MixedPairs) -> MixedPairs:
        """The same with the larger families that a second pass has counted."""
        return replace(self, words=replace(self.words, deeper=second.words.deeper), deeper=second.deeper)

    def scaled(self, factor: float) -> MixedPairs:
        return replace(
            self,
            words=self.words.scaled(factor),
            numbers=self.numbers.scaled(factor),
            beside_words=tuple(part.scaled(factor) for part in self.beside_words),
            deeper=self.deeper.scaled(factor),
        )

    def with_classes(self, indices: NDArray[np.int64], count: int) -> MixedPairs:
        return replace(
            self,
            words=self.words.with_classes(indices, count),
            numbers=self.numbers.with_classes(indices, count),
            beside_words=tuple(part.with_classes(indices, count) for part in self.beside_words),
            deeper=self.deeper.with_classes(indices, count),
        )

    def with_columns(self, columns: Sequence[str]) -> MixedPairs:
        return replace(self, columns=tuple(columns))

    def beside(self, word: str, name: str, levels: Mapping[str, Sequence[Any]]) -> FullMoments:
        """The moments of one number: a group for each class and level of a word."""
        return self.beside_words[self.words.columns.index(word)].over(levels[word]).part(name)

    def fits(self, classes: int) -> bool:
        """True when its parts fit together and this number of classes; a file from a stranger is asked before it is used."""
        numeric = self.numeric
        if not are_names(self.columns) or not are_names(numeric) or not set(numeric) <= set(self.columns):
            return False
        if not self.words.fits(classes) or not set(self.words.columns) <= set(self.columns) - set(numeric):
            return False
        known = {name for family in self.deeper.families for name in (*family.discrete, *family.numeric)}
        if not known <= set(self.columns) or len(self.words.columns) + len(numeric) != len(self.columns):
            return False
        like = self.zero(self.columns, classes, numeric, self.parents)
        if numeric != like.numeric or self.deeper.families != like.deeper.families or self.words.columns != like.words.columns:  # fmt: skip
            return False
        if [(part.word, part.moments.columns) for part in self.beside_words] != [(word, numeric) for word in self.words.columns]:  # fmt: skip
            return False
        parts: tuple[Any, ...] = (self.numbers, *self.beside_words, self.deeper)
        sound = all(part.fits(classes) for part in parts)
        labels = {**self.deeper.labels, **{part.word: part.labels for part in self.beside_words}}
        return sound and self._knows(self.deeper.labels) and self._knows(labels)

    def is_second(self, begun: MixedPairs, classes: int) -> bool:
        """True when it is what a second pass, `begun` for larger families alone, may have counted."""
        told, expected = ((one.columns, one.numeric, one.deeper.families, [(part.word, part.moments.columns) for part in one.beside_words]) for one in (self, begun))  # fmt: skip
        parts: tuple[Any, ...] = (self.numbers, *self.beside_words, self.deeper)
        return told == expected and self.words.is_second(begun.words, classes) and all(part.fits(classes) for part in parts)  # fmt: skip

    def _knows(self, labels: Mapping[str, Sequence[Any]]) -> bool:
        """Whether these labels are among those that the pairs of words have met."""
        pairs = self.words.pairs
        met = dict(zip(pairs.columns, pairs.ordered([None] * len(pairs.columns)).labels, strict=True)) if labels else {}
        return all(set(known) <= set(met.get(name, ())) for name, known in labels.items())

    def state(self) -> dict[str, Any]:
        return {
            "columns": list(self.columns),
            "words": self.words.state(),
            "numbers": self.numbers.state(),
            "beside_words": [part.state() for part in self.beside_words],
            "deeper": self.deeper.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> MixedPairs:
        return cls(
            tuple(state["columns"]),
            Dependence.from_state(state["words"]),
            PairMoments.from_state(state["numbers"]),
            tuple(map(LabelMoments.from_state, state["beside_words"])),
            Families.from_state(state["deeper"]),
        )
