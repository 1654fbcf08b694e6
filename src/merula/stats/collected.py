"""All that one fit counted: the classes by label, and one statistic for each block of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import sub
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import InputError, Option
from merula.stats.base import Statistic
from merula.stats.counts import ClassCounts
from merula.stats.removal import NEVER, left_over
from merula.stats.rounded import RoundedCounts


@dataclass(frozen=True, eq=False)
class Collected:
    """Statistics of the same rows; `+` aligns classes by label.

    ``shared`` is the weight of those rows that had no class and were shared out among all, as probable as each was.
    The ``reference`` is no part of a model: it is what was kept of the rows so that others can be compared with them, if that was asked.
    """

    classes: NDArray[Any]
    class_counts: ClassCounts
    blocks: tuple[Statistic, ...]
    shared: float = 0.0
    reference: RoundedCounts | None = None

    def __add__(self, other: Collected) -> Collected:
        self._refuse_other_labels(other)
        self._refuse_other_reference(other)
        mine, theirs = self.classes, other.classes
        if len(mine) == len(theirs) and (mine == theirs).all():
            return Collected(
                mine,
                self.class_counts + other.class_counts,
                tuple(a + b for a, b in zip(self.blocks, other.blocks, strict=True)),
                self.shared + other.shared,
                self.reference and other.reference and self.reference + other.reference,
            )
        classes = np.unique(np.concatenate([mine, theirs]))
        return self.with_classes(classes) + other.with_classes(classes)

    def __sub__(self, other: Collected) -> Collected:
        """What is left without the rows of a part; classes of which nothing is left are gone."""
        for block in self.blocks:
            _refuse_what_stays_whole(block)
        self._refuse_other_labels(other)
        self._refuse_other_reference(other)
        mine, theirs = self.classes.tolist(), other.classes.tolist()
        known = {label: place for place, label in enumerate(mine)}
        places = np.array([known.get(label, -1) for label in theirs], dtype=np.int64)
        met = zip(theirs, places.tolist(), other.class_counts.weight.tolist(), strict=True)
        for label in (label for label, place, weight in met if place < 0 and weight > 0):
            raise InputError.at(f"class {label!r}", "is in the part but not in the whole: the part was never in the whole", remedy=NEVER)  # fmt: skip
        part = other._moved(self.classes, places)
        weight = left_over(self.class_counts.weight, part.class_counts.weight, lambda index: f"class {mine[index[0]]!r}")  # fmt: skip
        if not weight.any():
            raise InputError("nothing is left: the part holds all rows of the whole", remedy="keep some of them")
        blocks: Any = tuple(map(sub, self.blocks, part.blocks))
        shared = max(self.shared - other.shared, 0.0)
        reference = self.reference and part.reference and self.reference - part.reference
        left, kept = Collected(self.classes, ClassCounts(weight), blocks, shared, reference), weight > 0
        return left if kept.all() else left._moved(self.classes[kept], np.where(kept, np.cumsum(kept) - 1, -1))

    def scaled(self, factor: float) -> Collected:
        """The same statistics as if every row had counted so often."""
        for block in self.blocks:
            if not hasattr(block, "scaled"):
                named = ", ".join(map(repr, getattr(block, "columns", ())))
                raise InputError(f"the statistic of {named} ({type(block).__name__}) does not fade: it has no method scaled(factor)", remedy="define it, or fit on all rows with their weights")  # fmt: skip
        blocks: Any = tuple(block.scaled(factor) for block in self.blocks)  # type: ignore[attr-defined]
        reference = self.reference and self.reference.scaled(factor)
        return Collected(self.classes, self.class_counts.scaled(factor), blocks, self.shared * factor, reference)

    def with_reference(self, blocks: int) -> Collected:
        """The same with what was counted behind the first blocks, so many, as the reference."""
        *_, reference = self.blocks
        assert len(self.blocks) == blocks + 1 and isinstance(reference, RoundedCounts)
        return replace(self, blocks=self.blocks[:blocks], reference=reference)

    def _refuse_other_reference(self, other: Collected) -> None:
        mine, theirs = (one.reference is not None for one in (self, other))
        if mine != theirs:
            raise InputError("only one of the two keeps the numbers that later rows are compared with", where="reference", remedy=("fit both with ", Option("reference", True), ", or both without"))  # fmt: skip

    def _refuse_other_labels(self, other: Collected) -> None:
        mine, theirs = self.classes, other.classes
        if _sort_of_label(mine) != _sort_of_label(theirs):
            raise InputError.at(
                f"classes {mine.tolist()[:3]} and {theirs.tolist()[:3]}", "are of different types and cannot be merged"
            )

    def within(self, classes: NDArray[Any]) -> Collected:
        """The same statistics among all of these classes, sorted; a ValueError if it counted another."""
        named = set(classes.tolist())
        stray = [label for label in self.classes.tolist() if label not in named]
        if stray:
            raise InputError.at(
                "y",
                (f"holds class {stray[0]!r}, which ", Option("classes"), f" does not name: {classes.tolist()}"),
                got=stray[0],
            )
        return self.with_classes(classes)

    def with_classes(self, classes: NDArray[Any]) -> Collected:
        """The same statistics among these classes, which include its own, in sorted order."""
        return self._moved(classes, np.searchsorted(classes, self.classes))

    def _moved(self, classes: NDArray[Any], indices: NDArray[np.int64]) -> Collected:
        """The same statistics among these classes, each at its new place; −1 for one that has no weight and is left out."""
        moved = tuple(block.with_classes(indices, len(classes)) for block in self.blocks)
        reference = self.reference and self.reference.with_classes(indices, len(classes))
        return Collected(classes, self.class_counts.with_classes(indices, len(classes)), moved, self.shared, reference)

    def with_blocks(self, blocks: Sequence[tuple[int, Sequence[str]]]) -> Collected:
        """The same statistics with the blocks at these positions, their columns in this order."""
        return replace(self, blocks=tuple(self.blocks[k].with_columns(names) for k, names in blocks))

    def state(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "classes": self.classes,
            "class_counts": self.class_counts.state(),
            "blocks": [block.state() for block in self.blocks],
            **({"shared": self.shared} if self.shared else {}),
            **({} if self.reference is None else {"reference": self.reference.state()}),
        }


def _refuse_what_stays_whole(whole: Statistic) -> None:
    """An error where a statistic cannot be taken apart."""
    if not hasattr(type(whole), "__sub__"):
        named = ", ".join(map(repr, getattr(whole, "columns", ())))
        raise InputError(f"the statistic of {named} ({type(whole).__name__}) cannot be taken apart: kept rows, sketches and extremes do not tell whose they are", remedy="fit on the rows that stay")  # fmt: skip


def _sort_of_label(classes: NDArray[Any]) -> str:
    """Which labels can stand in one sorted list: words, times, or numbers."""
    kind = classes.dtype.kind
    if kind == "O":  # words, or whole numbers of more than 64 bits
        return "words" if all(isinstance(label, str) for label in classes.tolist()) else "numbers"
    return "words" if kind in "US" else kind if kind in "Mm" else "numbers"
