"""Relative frequencies: the share of a table's rows in each cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError, Option, one_of
from merula.data.encode import CodedColumns, checked_weights, code_columns
from merula.data.schema import Label
from merula.data.table import Table, open_table
from merula.graphs.factors.names import Levels, rank_of
from merula.graphs.factors.probability_tables import checked_size, plain_columns, read_variables


def count_rows(data: Any, variables: Any, weights: Any, missing: str) -> tuple[Levels, Array]:
    """The levels met in a table's columns, and the share of the rows in each cell."""
    one_of(missing, ("error", "drop", "level"), "missing")
    names, declared = read_variables(variables)
    if isinstance(data, list) and data and isinstance(data[0], Mapping):
        data = plain_columns(data)
    known, table = _open(data, names)
    if isinstance(weights, str):
        names = tuple(name for name in names or known if name != one_of(weights, known, "weights"))
        weights = data[weights] if isinstance(data, Mapping) else table.numbers(known.index(weights))
    names = tuple(one_of(name, known, "a variable") for name in names or known)
    mass = checked_weights(weights, table.rows, "weights")
    rows = code_columns(table, names if table.named else known, declared, "categorical", mass).select(names)
    used = _used(rows, missing)
    levels, indices = {}, []
    for name, codes, met in zip(names, rows.codes[:, used], rows.levels, strict=True):
        levels[name], index = _indices(name, codes, met or (), (declared or {}).get(name))
        indices.append(index)
    shape = checked_size(levels)
    cells = np.ravel_multi_index(tuple(indices), shape)
    weight = np.ones(len(cells)) if mass is None else mass[used]
    counts: Array = np.bincount(cells, weight, minlength=prod(shape)).astype(np.float64, copy=False)
    counts /= counts.sum()  # in place: the table may be half a gigabyte
    return levels, counts.reshape(shape)


def _open(data: Any, names: Sequence[str] | None) -> tuple[Sequence[str], Table]:
    """The names of a table's columns, and the table."""
    if not isinstance(data, Mapping):
        table = open_table(data)
        called = table.names if table.named or names is None else names
        if len(called) != len(table.names):
            raise InputError(f"the table has {len(table.names)} columns", expected=f"one for each of {list(called)}")
        return called, table
    lengths = {name: len(values) for name, values in data.items()}
    if len(set(lengths.values())) != 1 or 0 in lengths.values():
        raise InputError(f"the columns have {lengths} values", expected="rows: the same number, at least 1, in each")
    cells = [np.fromiter(values, dtype=object, count=lengths[name]) for name, values in data.items()]
    return tuple(data), open_table(np.column_stack(cells))


def _used(rows: CodedColumns, missing: str) -> NDArray[np.bool_]:
    """Which rows to count, as `missing` says."""
    counts = np.ones(rows.count, dtype=np.bool_) if rows.weights is None else rows.weights > 0
    lacking = (rows.codes < 0) & counts
    if missing == "level" or not lacking.any():
        return counts
    if missing == "error":
        position = int(lacking.any(axis=1).argmax())
        raise InputError.at(f"column {rows.names[position]!r}", f"has {int(lacking[position].sum())} missing cells", remedy=("say ", Option('missing', 'drop'), " to count complete rows, or ", Option('missing', 'level'), " to make it a level of its own"))  # fmt: skip
    used: NDArray[np.bool_] = counts & ~lacking.any(axis=0)
    if not used.any():
        raise InputError(f"no rows are left to count of {rows.count}: every one has weight 0 or a missing cell")
    return used


def _indices(
    name: str, codes: NDArray[np.int32], levels: tuple[Label, ...], declared: tuple[Label, ...] | None
) -> tuple[tuple[Label, ...], NDArray[Any]]:
    """The levels that these rows hold, with None last for missing, or those declared; and each row's index among them."""
    lacking = bool((codes < 0).any())
    if declared is not None:
        return declared, np.where(codes < 0, rank_of(None, name, declared), codes) if lacking else codes
    held, index = np.unique(codes, return_inverse=True)
    met = [levels[code] for code in held.tolist() if code >= 0]
    return (*met, None) if lacking else tuple(met), (index - lacking) % len(held)
