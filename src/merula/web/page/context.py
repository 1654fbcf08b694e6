"""What a part of the page's data is told: how many classes there are, which column has which index, and the levels of its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from merula.data.encode import level_positions
from merula.data.schema import Label, Schema
from merula.distributions import Distribution


@dataclass(frozen=True, eq=False)
class Context:
    """The columns of a page as its parts refer to them; `notes` gathers what the page must say of its own arithmetic."""

    classes: int
    schema: Schema
    level_sets: Mapping[str, tuple[Label, ...]]
    unseen: str = "missing"
    notes: list[str] = field(default_factory=list)

    def index(self, name: str) -> int:
        """Where a column stands among the page's columns."""
        return self.schema.names.index(name)

    def indices(self, names: Sequence[str]) -> list[int]:
        """Where columns stand among the page's columns."""
        return [self.index(name) for name in names]

    def levels(self, name: str) -> tuple[Label, ...]:
        """A column's levels in the order of its cells' codes, missing not among them."""
        return self.level_sets.get(name, ())

    def places(self, name: str, levels: tuple[Label, ...]) -> list[int]:
        """Where each of the page's levels stands among a part's own, then a missing cell, then one never seen.

        As `level_positions` says: behind m levels stand m for missing, where that is none of them, and m + 1 for unseen.
        """
        found: list[int] = level_positions((*self.levels(name), None), levels).tolist()
        return found

    def factors_of(self, part: Distribution) -> list[dict[str, Any]]:
        """The finest parts of a distribution, by the indices of their columns."""
        return [{"columns": self.indices(one.columns), "parents": self.indices(one.parents)} for one in part.factors()]

    def reading(self, levels: Mapping[str, tuple[Label, ...]]) -> Context:
        """The same with other levels for some columns, as a part sees them that reads numbers as intervals."""
        return replace(self, level_sets={**self.level_sets, **levels})


def page_levels(schema: Schema, parts: Sequence[Distribution]) -> dict[str, tuple[Label, ...]]:
    """The levels of each column of words: those of its schema, then those that only some part knows; never missing."""
    found: dict[str, dict[Label, None]] = {
        column.name: dict.fromkeys(column.levels or ()) for column in schema.columns if column.kind == "categorical"
    }
    for part in parts:
        for name, known in part.levels.items():
            if name in found and schema[name].cuts is None:
                found[name].update(dict.fromkeys(known))
    return {name: tuple(label for label in known if label is not None) for name, known in found.items()}
