"""What statistics ask of a database: groups of equal rows, and sums of numbers within groups.

A statistic says what it needs and is made of the answers; the engine asks for all needs at once and knows no statistic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import InputError
from merula.data.encode import Encoded, Target
from merula.stats import FullMoments, Grid, Moments, Wanted
from merula.stats.base import Statistic


@dataclass(frozen=True)
class Counts:
    """The weight of each class and configuration of these columns, missing cells among them.

    Of the rows that lack none of the columns `known`; where there are any `lacking`, of those that lack one of them at least.
    """

    columns: tuple[str, ...]
    known: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True)
class Values:
    """The weight of each class at each number of one column."""

    column: str


@dataclass(frozen=True)
class InCells:
    """The weight of each class in each cell of a grid, and the lowest and the highest number in it, of one column."""

    column: str
    grid: Grid


@dataclass(frozen=True)
class Sums:
    """The moments of each of these numbers in each class, or in each class and configuration of the columns `within`."""

    columns: tuple[str, ...]
    within: tuple[str, ...] = ()


@dataclass(frozen=True)
class Products:
    """The moments of these numbers together, covariances too, of the rows that lack none of them and nothing `within`."""

    columns: tuple[str, ...]
    within: tuple[str, ...] = ()


@dataclass(frozen=True)
class Patterns:
    """The moments of these numbers together, for each class and pattern of missing cells."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class PairSums:
    """The moments of every pair of these numbers, in each class, of the rows that know both."""

    columns: tuple[str, ...]


Need = Counts | Values | InCells | Sums | Products | Patterns | PairSums
Answers = Mapping[Need, Any]


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """The answer to `Counts` and `Values`: each configuration once in each class, as a row that weighs what all of them do."""

    rows: Encoded
    target: Target


@dataclass(frozen=True, eq=False)
class GroupedMoments:
    """The answer to `Sums` and `Products`: what the rows of each group are, its class, and its moments: a class of theirs each."""

    rows: Encoded | None
    classes: NDArray[np.int64]
    moments: Moments | FullMoments


@singledispatch
def needs_of(_statistic: Any, wanted: Wanted) -> Sequence[Need]:
    """What a statistic that was just begun asks of a database; an `InputError` where no sums or counts would do."""
    raise refusal(wanted, "is counted row by row, and rows stay in the database")


@singledispatch
def counted(statistic: Any, _answers: Answers) -> Statistic:
    """The statistic made of the answers to what it needs."""
    raise TypeError(f"{type(statistic).__name__} is not made of counts and sums")


def refusal(wanted: Wanted, why: str) -> InputError:
    """The error that says which columns cannot be counted in a database, why, and what to do."""
    name = wanted.columns[0]
    return InputError.at(
        f"column {name!r}",
        f"{why}",
        remedy="choose another family for it, leave it out, or fit on a sample of the rows in memory",
    )
