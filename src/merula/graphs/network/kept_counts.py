"""Counts that a file brings: every number finite, every array of the shape that the graph and its levels demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from merula.core import Array, InputError
from merula.graphs.network.statistic import FamilyStatistic
from merula.stats import JointCounts, PairCounts

WEIGHTS = ("weight", "counts")  # numbers from 0


def check_statistic(statistic: FamilyStatistic) -> None:
    """An error unless the statistic is laid out as one of its graph and levels that has counted nothing yet."""
    empty = FamilyStatistic.zero(
        tuple(statistic.graph), 1, statistic.graph, statistic.levels, statistic.declared, statistic.pairs is not None
    )
    known = {name: levels for name, levels in statistic.levels.items() if levels is not None}
    _check_alike(statistic.families.state(), empty.families.over(known).state(), "families")
    _check_alike(statistic.moments.state(), empty.moments.over(known).state(), "moments")
    _check_alike(statistic.columns.state(), empty.columns.state(), "columns")
    sizes = [len(known[name]) for name in empty.rows.columns]
    _check_rows("rows", statistic.rows, empty.rows.columns, known)
    _check_range("rows", statistic.rows.cells, -1, sizes)
    if statistic.pairs is not None:
        _check_rows("pairs", statistic.pairs, empty.rows.columns, known)
        _check_pairs(statistic.pairs, np.array(sizes))


def check_counts(counts: Mapping[str, Any], like: Mapping[str, Array]) -> None:
    """An error unless these are weights of the same cells."""
    _check_alike(dict(counts), dict(like), "counts")


def _check_alike(found: Any, expected: Any, what: str) -> None:
    """Arrays must be finite and of the same shape and kind, everything else the same."""
    if isinstance(expected, Mapping):
        if not isinstance(found, Mapping) or found.keys() != expected.keys():
            raise _damaged(what)
        for name, part in expected.items():
            _check_alike(found[name], part, "counts" if what == "counts" else name)
    elif isinstance(expected, np.ndarray):
        _check_array(found, expected, what)
    elif isinstance(expected, list | tuple):
        if not isinstance(found, list | tuple) or len(found) != len(expected):
            raise _damaged(what)
        for part, other in zip(found, expected, strict=True):
            _check_alike(part, other, what)
    elif found != expected:
        raise _damaged(what)


def _check_array(found: Any, expected: Array, what: str) -> None:
    if what == "rest" and isinstance(found, int | float):  # as files of earlier versions have it
        found = np.full(expected.shape, float(found))
    fits = isinstance(found, np.ndarray) and found.shape == expected.shape and found.dtype == expected.dtype
    if not fits or not np.isfinite(found).all() or (what in WEIGHTS and (found < 0).any()):
        raise _damaged(what)


def _check_rows(
    what: str, found: JointCounts | PairCounts, columns: Sequence[str], known: Mapping[str, Sequence[Any]]
) -> None:
    """Rows of cells with a weight each, over these columns and, where there are any, their labels."""
    labels = [tuple(known[name]) for name in columns]
    own = [tuple(labels) for labels in found.labels]
    if tuple(found.columns) != tuple(columns) or (own != labels and (len(found.cells) or len(own) != len(labels))):
        raise _damaged(what)
    width = len(columns) if isinstance(found, JointCounts) else 3
    _check_array(found.cells, np.zeros((len(found.cells), width), np.int32), what)
    _check_array(found.weight, np.zeros((len(found.cells), 1)), "weight")


def _check_pairs(pairs: PairCounts, sizes: Any) -> None:
    """Every cell names a pair of columns, and a level of each."""
    first, second = np.triu_indices(len(sizes))
    _check_range("pairs", pairs.cells[:, :1], 0, [len(first)])
    if len(pairs.cells):
        numbers = pairs.cells[:, 0]
        _check_range("pairs", pairs.cells[:, 1:], 0, np.stack([sizes[first[numbers]], sizes[second[numbers]]], axis=1))


def _check_range(what: str, cells: Any, least: int, sizes: Any) -> None:
    if (cells < least).any() or (cells >= np.asarray(sizes)).any():
        raise _damaged(what)


def _damaged(what: str) -> InputError:
    return InputError.at(f"what is kept as {what!r}", "does not fit the graph, or holds numbers that are none")
