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
from merula.data.schema import Schema
from merula.engines.stream.rows import Kept
from merula.stats import ClassCounts, Collected, Wanted

SECONDS = 120.0  # between two writings


@dataclass(frozen=True, eq=False)
class Counted:
    """The statistics of the first `pieces` of a stream, and how many rows these had."""

    total: Collected | None = None
    pieces: int = 0
    rows: int = 0
    without_class: int = 0

    def with_piece(self, found: Collected | None, kept: Kept) -> Counted:
        """The same with one more piece."""
        total = found if self.total is None else self.total if found is None else self.total + found
        return Counted(total, self.pieces + 1, self.rows + kept.rows, self.without_class + kept.without_class)


@dataclass(eq=False)
class Checkpoint:
    """A file that holds, for every pass over a stream, how far it has come."""

    path: str | os.PathLike[str]
    last: float = field(default_factory=time.monotonic)
    passes: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not Path(self.path).exists():
            return
        state = read_state(self.path)
        if state.get("kind") != "merula checkpoint" or not isinstance(state.get("passes"), dict):
            raise InputError.at(f"{self.path}", "is no checkpoint of a fit", remedy="name a file that does not exist yet, or the one that an interrupted fit left")  # fmt: skip
        self.passes = state["passes"]

    def found(self, schema: Schema, wanted: Sequence[Wanted], source: list[list[Any]]) -> Counted:
        """What was counted in this pass before; nothing where it had not begun, an error where the table is another."""
        held = self.passes.get(_key(schema, wanted))
        if held is None:
            return Counted()
        if held["source"] != source:
            raise InputError.at(f"{self.path}", "is of files that have changed since", remedy="remove it and start again")  # fmt: skip
        total = held["total"]
        return Counted(None if total is None else _collected(total, wanted), held["pieces"], held["rows"], held["without_class"])  # fmt: skip

    def keep(self, counted: Counted, schema: Schema, wanted: Sequence[Wanted], source: list[list[Any]]) -> None:
        """Write it down if the last time is long ago."""
        if time.monotonic() - self.last < SECONDS:
            return
        total = None if counted.total is None else counted.total.state()
        self.passes[_key(schema, wanted)] = {"total": total, "pieces": counted.pieces, "rows": counted.rows, "without_class": counted.without_class, "source": source}  # fmt: skip
        write_state(self.path, {"kind": "merula checkpoint", "passes": self.passes})
        self.last = time.monotonic()

    def remove(self) -> None:
        """The file is no longer needed."""
        Path(self.path).unlink(missing_ok=True)


def _key(schema: Schema, wanted: Sequence[Wanted]) -> str:
    """A word for what is counted in a pass."""
    plain = {"schema": schema.state(), "wanted": [one.state() for one in wanted]}
    return hashlib.sha256(json.dumps(plain, sort_keys=True, default=str).encode()).hexdigest()


def _collected(state: dict[str, Any], wanted: Sequence[Wanted]) -> Collected:
    parts = tuple(one.statistic.from_state(part) for one, part in zip(wanted, state["blocks"], strict=True))
    return Collected(state["classes"], ClassCounts.from_state(state["class_counts"]), parts)
