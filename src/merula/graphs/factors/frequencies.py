"""Relative frequencies: the share of a table's rows in each cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.core.checks import one_of
from merula.data.schema import Label, sort_labels
from merula.data.table import codes_of_labels, open_table
from merula.graphs.factors.names import Levels
from merula.graphs.factors.probability_tables import (
    checked_size,
    declared_levels,
    numbers_of,
    plain_columns,
    read_variables,
)

Coded = tuple[NDArray[Any], Sequence[Label]]


def count_rows(data: Any, variables: Any, weights: Any, missing: str) -> tuple[Levels, Array]:
    """The levels met in a table's columns, and the share of the rows in each cell."""
    names, declared = read_variables(variables)
    known, column, rows = _open(data, names)
    if isinstance(weights, str):
        names = tuple(name for name in names or known if name != one_of(weights, known, "weights"))
        weights = _weight_column(weights, *column(weights))
    columns = {name: column(one_of(name, known, "a variable")) for name in names or known}
    weight = _checked_weights(weights, rows)
    used = (weight > 0) & _complete(columns, missing)
    if not used.any():
        raise ValueError(f"no rows are left to count of {rows}: every one has weight 0 or a missing cell")
    levels, indices = {}, []
    for name, (codes, labels) in columns.items():
        levels[name], index = _levels_met(name, codes[used], labels, (declared or {}).get(name))
        indices.append(index)
    shape = checked_size(levels)
    cells = np.ravel_multi_index(tuple(indices), shape)
    counts = np.bincount(cells, weights=weight[used], minlength=prod(shape)).reshape(shape)
    return levels, counts / counts.sum()


def _open(data: Any, names: Sequence[str] | None) -> tuple[Sequence[str], Callable[[str], Coded], int]:
    """The names of a table's columns, a reader of their codes (−1 for missing) with labels, and the number of rows."""
    if isinstance(data, list) and data and isinstance(data[0], Mapping):
        data = plain_columns(data)
    if isinstance(data, Mapping):
        lengths = {name: len(values) for name, values in data.items()}
        if len(set(lengths.values())) != 1 or 0 in lengths.values():
            raise ValueError(f"the columns have {lengths} values, expected rows: the same number, at least 1, in each")
        return tuple(data), lambda name: codes_of_labels(data[name]), next(iter(lengths.values()))
    table = open_table(data)
    called: Sequence[str] = table.names
    if not table.named and names is not None:
        called = names
        if len(names) != len(table.names):
            raise ValueError(f"the table has {len(table.names)} columns, expected one for each of {list(names)}")
    return called, lambda name: table.codes(called.index(name)), table.rows


def _weight_column(name: str, codes: NDArray[Any], labels: Sequence[Label]) -> Array:
    """A column's numbers, from its codes."""
    word = next((label for label in labels if isinstance(label, str)), None)
    if word is not None:
        raise ValueError(f"column {name!r} holds {word!r}, which is not a number; weights count rows")
    return np.asarray(np.array([*labels, np.nan], dtype=np.float64)[codes])


def _checked_weights(weights: Any, rows: int) -> Array:
    """One frequency weight for each row: finite, not negative."""
    if weights is None:
        return np.ones(rows)
    array = numbers_of(weights)
    if array.shape != (rows,):
        raise ValueError(f"weights has shape {array.shape}, expected ({rows},): one weight for each row")
    if not ((array >= 0) & (array < np.inf)).all():
        raise ValueError(f"weights holds {array.min():g} … {array.max():g}; weights count rows: finite numbers from 0")
    return array


def _complete(columns: Mapping[str, tuple[Any, Sequence[Label]]], missing: str) -> NDArray[np.bool_]:
    """Which rows to count, as `missing` says."""
    one_of(missing, ("error", "drop", "level"), "missing")
    known = np.logical_and.reduce([codes >= 0 for codes, _ in columns.values()])
    if missing == "level":
        return np.ones_like(known)
    if missing == "error" and not known.all():
        name = next(name for name, (codes, _) in columns.items() if (codes < 0).any())
        count = int((columns[name][0] < 0).sum())
        raise ValueError(
            f"column {name!r} has {count} missing cells; say missing='drop' to count complete rows, or missing='level' to make it a level of its own"
        )
    return np.asarray(known)


def _levels_met(
    name: str, codes: NDArray[Any], labels: Sequence[Label], declared: tuple[Label, ...] | None
) -> tuple[tuple[Label, ...], NDArray[np.int64]]:
    """The labels that these codes mean (None for −1), sorted or as declared, and each row's place among them."""
    found, inverse = np.unique(codes, return_inverse=True)
    met = [None if code < 0 else labels[code] for code in found.tolist()]
    levels = declared_levels(name, sort_labels(met), declared)
    rank = {label: index for index, label in enumerate(levels)}
    return levels, np.array([rank[label] for label in met], dtype=np.int64)[inverse]
