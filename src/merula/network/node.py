"""One variable of a Bayesian network as plain data: its levels, its parents, and its table given them."""

from __future__ import annotations

from dataclasses import dataclass

from merula.logspace import Array
from merula.schema import Label


@dataclass(frozen=True, eq=False)
class Node:
    """A variable and P(variable given parents): one axis of `table` per parent, in their order, the levels last."""

    name: str
    levels: tuple[Label, ...]
    parents: tuple[str, ...]
    table: Array
