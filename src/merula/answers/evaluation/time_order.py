"""Folds in time order: each learns from earlier rows alone and is tested on the rows that come next; rows of one time stay together."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError, Option
from merula.data.table import is_missing, object_numbers
from merula.data.table.cell_values import object_kind
from merula.data.table.frame import Rows

EXPECTED = "a number or a time for each row, or words such as 2024-12-31"
FIRST_YEAR, LAST_YEAR = "1500", "2999"  # of words that begin with a year
Pair = tuple[Rows, Rows]


def checked_times(times: Any, rows: int) -> NDArray[np.int64]:
    """The rank of each row in time, rows of one time alike; a ValueError where times are missing or have no order.

    Words have one where all are written alike and begin with the year: 2024-03, 2024-12-31T09:30, 2024Q1.

    Examples
    --------
    >>> checked_times(["2024-03", "2023-12", "2024-03"], 3).tolist()
    [1, 0, 1]
    """
    values = np.asarray(times)
    if values.shape != (rows,):
        raise InputError.at(
            "times", f"has shape {values.shape}", got=values.shape, expected=f"({rows},): one time per row of X"
        )
    cells = values if values.dtype.kind in "biufmM" else np.array(times, dtype=object)
    missing = int(sum(map(is_missing, cells.tolist())) if cells.dtype == object else np.count_nonzero(cells != cells))
    missing += int(np.count_nonzero(np.isnat(cells))) if cells.dtype.kind in "mM" else 0
    if missing:
        raise InputError.at("times", f"is missing for {missing:,} of {rows:,} rows", remedy="leave these rows out")
    ranks: NDArray[np.int64] = np.unique(_in_order(cells), return_inverse=True)[1]
    return ranks


def _in_order(cells: NDArray[Any]) -> NDArray[Any]:
    """Cells that sort as the times do."""
    if cells.dtype != object:
        return cells
    kind, unit = object_kind(cells, "times")
    if kind in ("numeric", "datetime"):
        return object_numbers(cells, "times", unit)
    words = [str(cell) for cell in cells.tolist()]
    alike = len({re.sub(r"[0-9]", "0", word) for word in words}) == 1
    if not alike or not all(re.match("[0-9]{4}", word) and FIRST_YEAR <= word[:4] <= LAST_YEAR for word in words):
        shown = ", ".join(map(repr, list(dict.fromkeys(words))[:3]))
        raise InputError.at("times", f"holds words whose order in time is not known ({shown})", expected=EXPECTED)
    return np.array(words)


def time_folds(ranks: NDArray[np.int64], folds: int, weights: Array | None) -> list[Pair]:
    """The pairs (earlier rows, rows of the time that comes next) of so many folds.

    The times are cut into folds + 1 spans of about equal weight; fold k learns from the first k and is tested on the next.

    Examples
    --------
    >>> [(train.tolist(), test.tolist()) for train, test in time_folds(np.array([2, 0, 0, 1, 2, 3]), 2, None)]
    [([1, 2], [3]), ([1, 2, 3], [0, 4, 5])]
    """
    if folds < 2:
        raise InputError.of("cv", folds, "a number of folds from 2")
    count = int(ranks.max()) + 1
    if count <= folds:
        raise InputError.at(
            "times",
            (f"holds {count} different times, too few for ", Option("cv", folds), " folds in time order"),
            got=count,
            remedy=("use ", Option("cv", count - 1), " or fewer") if count > 2 else "name another column",
        )
    order, cuts = np.argsort(ranks, kind="stable"), _cuts(ranks, folds, weights)
    places = np.searchsorted(ranks[order], cuts)
    return [(order[:begin], order[begin:end]) for begin, end in pairwise(places.tolist())]


def _cuts(ranks: NDArray[np.int64], folds: int, weights: Array | None) -> list[int]:
    """The first rank of each span but the earliest, and the end: spans of about equal weight, none of them empty."""
    passed = np.cumsum(np.bincount(ranks, weights))  # the weight up to each time
    times, cuts = len(passed), list[int]()
    for number in range(1, folds + 1):
        first, last = (cuts[-1] if cuts else 0) + 1, times - (folds - number) - 1
        wanted = passed[-1] * number / (folds + 1)
        cuts.append(first + int(np.abs(passed[first - 1 : last] - wanted).argmin()))
    return [*cuts, times]
