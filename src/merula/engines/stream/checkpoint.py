"""How far a stream has been counted, kept in a file every few minutes: a count that was interrupted goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from merula.core import InputError
from merula.core.archive import read_state, write_state
from merula.core.sound import are_classes
from merula.data.schema import Schema
from merula.engines.base import Source
from merula.engines.stream.rows import Kept
from merula.stats import ClassCounts, Collected, Wanted

SECONDS = 120.0  # between two writings
KIND = "merula checkpoint"
WRONG = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError)  # what data of another shape raise


@dataclass(frozen=True, eq=False)
class Counted:
    """The statistics of the first `pieces` of a stream, and how many rows these had.

    They are added as a tree whose shape depends on the number of pieces alone: each part holds those of 2^level pieces, so that a
    statistic that grows with its rows is merged few times, not once for each piece.
    """

    parts: tuple[tuple[int, Collected], ...] = ()
    pieces: int = 0
    rows: int = 0
    without_class: int = 0

    def with_piece(self, found: Collected | None, kept: Kept) -> Counted:
        """The same with one more piece."""
        parts = list(self.parts)
        if found is not None:
            parts.append((0, found))
        while len(parts) > 1 and parts[-1][0] == parts[-2][0]:
            (level, second), (_, first) = parts.pop(), parts.pop()
            parts.append((level + 1, first + second))
        return Counted(tuple(parts), self.pieces + 1, self.rows + kept.rows, self.without_class + kept.without_class)

    def total(self) -> Collected | None:
        """All of it, the small parts added first; None where nothing was counted."""
        total = None
        for _, part in reversed(self.parts):
            total = part if total is None else part + total
        return total


@dataclass(eq=False)
class Checkpoint:
    """A file that holds, for every pass over a stream, how far it has come."""

    path: str | os.PathLike[str]
    last: float = field(default_factory=time.monotonic)
    passes: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not Path(self.path).exists():
            return
        try:
            state = read_state(self.path)
            passes = state["passes"] if state["kind"] == KIND else None
        except (InputError, *WRONG):
            passes = None
        if not isinstance(passes, dict):
            raise self._damaged()
        self.passes = passes

    def _damaged(self) -> InputError:
        return InputError.at(f"{self.path}", "is no checkpoint of a fit, or a damaged one", remedy="name the file that an interrupted fit left, or one that does not exist")  # fmt: skip

    def found(self, source: Source, schema: Schema, wanted: Sequence[Wanted], known: list[Any]) -> Counted:
        """What was counted in this pass before; nothing where it had not begun, an error where the table is another."""
        held = self.passes.get(_key(source, schema, wanted))
        if held is None:
            return Counted()
        try:
            same, counted = held["source"] == known, _counted(held, wanted)
        except (InputError, *WRONG):
            raise self._damaged() from None
        if not same:
            raise InputError.at(f"{self.path}", "is of another table, or of files that have changed since", remedy="remove it and start again")  # fmt: skip
        if counted is None:
            raise self._damaged()
        return counted

    @property
    def is_due(self) -> bool:
        """Whether the last writing is long enough ago."""
        return time.monotonic() - self.last >= SECONDS

    def keep(
        self, counted: Counted, source: Source, schema: Schema, wanted: Sequence[Wanted], known: list[Any]
    ) -> None:
        """Write it down."""
        parts = [[level, part.state()] for level, part in counted.parts]
        self.passes[_key(source, schema, wanted)] = {"parts": parts, "pieces": counted.pieces, "rows": counted.rows, "without_class": counted.without_class, "source": known}  # fmt: skip
        write_state(self.path, {"kind": KIND, "passes": self.passes})
        self.last = time.monotonic()

    def remove(self) -> None:
        """The file is no longer needed."""
        Path(self.path).unlink(missing_ok=True)


def _key(source: Source, schema: Schema, wanted: Sequence[Wanted]) -> str:
    """A word for what is counted in a pass."""
    plain = {
        "target": source.target,
        "weight": source.weight,
        "schema": schema.state(),
        "wanted": [one.state() for one in wanted],
        "read": repr(getattr(source.table.stream, "options", None)),
    }
    return hashlib.sha256(json.dumps(plain, sort_keys=True, default=str).encode()).hexdigest()


def _counted(held: dict[str, Any], wanted: Sequence[Wanted]) -> Counted | None:
    """What a file says was counted; None where it is not what such a count could be."""
    numbers = [held["pieces"], held["rows"], held["without_class"], *(level for level, _ in held["parts"])]
    if any(type(one) is not int or one < 0 for one in numbers):
        return None
    parts = tuple((level, _collected(part, wanted)) for level, part in held["parts"])
    return Counted(parts, *numbers[:3]) if all(_fits(part, wanted) for _, part in parts) else None


def _fits(part: Collected, wanted: Sequence[Wanted]) -> bool:
    """Whether classes are labels, and statistics fit them and are of the columns wanted; one of your own may not tell."""
    if not are_classes(part.classes):
        return False
    count = len(part.classes)
    told: list[tuple[Wanted, Any]] = [
        (one, block) for one, block in zip(wanted, part.blocks, strict=True) if hasattr(block, "fits")
    ]
    return part.class_counts.fits(count) and all(_is_of(one, block, count) for one, block in told)


def _is_of(one: Wanted, block: Any, classes: int) -> bool:
    """Whether a statistic is one that is wanted; a second pass counts larger families alone."""
    if one.options.get("only_deeper"):
        return bool(block.is_second(one.zero(classes), classes))
    return tuple(block.columns) == tuple(one.columns) and bool(getattr(block, "is_sound", block.fits)(classes))


def _collected(state: dict[str, Any], wanted: Sequence[Wanted]) -> Collected:
    parts = tuple(one.statistic.from_state(part) for one, part in zip(wanted, state["blocks"], strict=True))
    return Collected(state["classes"], ClassCounts.from_state(state["class_counts"]), parts)
