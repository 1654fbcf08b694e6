"""All that one fit counted: the classes by label, and one statistic for each block of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import InputError, Option
from merula.stats.base import Statistic
from merula.stats.counts import ClassCounts


@dataclass(frozen=True, eq=False)
class Collected:
    """Statistics of the same rows; `+` aligns classes by label."""

    classes: NDArray[Any]
    class_counts: ClassCounts
    blocks: tuple[Statistic, ...]

    def __add__(self, other: Collected) -> Collected:
        mine, theirs = self.classes, other.classes
        if _sort_of_label(mine) != _sort_of_label(theirs):
            raise InputError.at(
                f"classes {mine.tolist()[:3]} and {theirs.tolist()[:3]}", "are of different types and cannot be merged"
            )
        if len(mine) == len(theirs) and (mine == theirs).all():
            return Collected(
                mine,
                self.class_counts + other.class_counts,
                tuple(a + b for a, b in zip(self.blocks, other.blocks, strict=True)),
            )
        classes = np.unique(np.concatenate([mine, theirs]))
        return self.with_classes(classes) + other.with_classes(classes)

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
        indices = np.searchsorted(classes, self.classes)
        moved = tuple(block.with_classes(indices, len(classes)) for block in self.blocks)
        return Collected(classes, self.class_counts.with_classes(indices, len(classes)), moved)

    def with_blocks(self, blocks: Sequence[tuple[int, Sequence[str]]]) -> Collected:
        """The same statistics with the blocks at these positions, their columns in this order."""
        return Collected(
            self.classes, self.class_counts, tuple(self.blocks[k].with_columns(names) for k, names in blocks)
        )

    def state(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "classes": self.classes,
            "class_counts": self.class_counts.state(),
            "blocks": [block.state() for block in self.blocks],
        }


def _sort_of_label(classes: NDArray[Any]) -> str:
    """Which labels can stand in one sorted list: words, times, or numbers."""
    kind = classes.dtype.kind
    if kind == "O":  # words, or whole numbers of more than 64 bits
        return "words" if all(isinstance(label, str) for label in classes.tolist()) else "numbers"
    return "words" if kind in "US" else kind if kind in "Mm" else "numbers"
