"""What a distribution says, term by term: an expression for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from merula.classify.sql.cells import Cells
from merula.engines.dialects import Dialect, Expression, number, times


@dataclass(frozen=True, eq=False)
class Said:
    """The log term of some columns given others, one expression for each class.

    What is only shown is not summed, and the other way round.
    """

    columns: tuple[str, ...]
    parents: tuple[str, ...]
    by_class: tuple[Expression, ...]
    is_shown: bool = True
    is_summed: bool = True

    @property
    def key(self) -> Any:
        """As `Term.key`."""
        columns, parents = self.columns, self.parents
        return (columns, parents) if parents else columns[0] if len(columns) == 1 else columns


@dataclass(frozen=True, eq=False)
class Task:
    """What is asked of the terms of one distribution: its cells, the number of classes, and whether terms are to be shown."""

    cells: Cells
    classes: int
    shows: bool

    @property
    def dialect(self) -> Dialect:
        """What the database speaks."""
        return self.cells.script.dialect


def scaled(weight: float, expression: Expression, dialect: Dialect) -> Expression:
    """weight · expression."""
    return expression if weight == 1 else times(number(weight, dialect), expression)
