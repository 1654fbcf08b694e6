"""The probabilities of a variable given its parents, however they are written, as one checked array."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from merula.core.arrays import Array, as_float
from merula.core.checks import one_of
from merula.data.schema import Label
from merula.graphs.factors import ConditionalDistribution, JointDistribution
from merula.graphs.factors.names import Levels, cell_text, checked_rows, rank_of, title
from merula.graphs.factors.probability_tables import plain_columns

LARGEST = 2**28  # entries of one conditional table


def read_table(name: str, levels: Sequence[Label], parents: Levels, probabilities: Any) -> Array:
    """P(name given parents) with an axis for each parent, the levels last; every row checked and brought to sum 1."""
    shape = (*(len(known) for known in parents.values()), len(levels))
    if prod(shape) > LARGEST:
        raise ValueError(
            f"the table of {name!r} given {len(parents)} parents has {as_float(prod(shape)):.3g} entries, at most {LARGEST:.3g} are kept; give {name!r} fewer parents or levels, or state it by a NoisyOr or NoisyMax"
        )
    table = _read(name, tuple(levels), parents, probabilities, shape)
    table = checked_rows({**parents, name: tuple(levels)}, len(parents), table, remedy="correct that row")
    table.flags.writeable = False
    return table


def _read(name: str, levels: tuple[Label, ...], parents: Levels, stated: Any, shape: tuple[int, ...]) -> Array:
    if isinstance(stated, JointDistribution | ConditionalDistribution):
        return _from_distribution(name, levels, parents, stated)
    if isinstance(stated, Mapping):
        return _from_mapping(name, levels, parents, stated, shape)
    if hasattr(stated, "columns") or hasattr(stated, "column_names"):
        return _from_frame(name, levels, parents, stated, shape)
    try:
        array = np.asarray(stated, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{title([name], parents)} is {stated!r}, expected {{levels of the parents: {{level: probability}}}}, an array of shape {shape}, or a data frame"
        ) from None
    if array.shape not in (shape, (prod(shape[:-1]), shape[-1])) and not (len(shape) == 1 and array.size == shape[0]):
        raise ValueError(
            f"{title([name], parents)} has the shape {array.shape}, expected {shape}: an axis for each parent in the order {list(parents)}, then the {shape[-1]} levels of {name!r}"
        )
    return array.reshape(shape)


def _from_distribution(name: str, levels: tuple[Label, ...], parents: Levels, stated: Any) -> Array:
    if isinstance(stated, JointDistribution):
        stated = stated.conditional(name, given=tuple(parents)) if parents else stated.marginal(name)
    axes, known = (*parents, name), {**parents, name: levels}
    if set(stated.levels) != set(axes) or any(set(stated.levels[one]) != set(known[one]) for one in axes):
        raise ValueError(
            f"{title([name], parents)} was given a distribution over {dict(stated.levels)}, expected {dict(known)}"
        )
    order = list(stated.levels)
    values = np.asarray(stated.values).transpose([order.index(one) for one in axes])
    return values[np.ix_(*([stated.levels[one].index(level) for level in known[one]] for one in axes))]


def _from_mapping(name: str, levels: tuple[Label, ...], parents: Levels, stated: Any, shape: tuple[int, ...]) -> Array:
    table = np.zeros(shape)
    rows: dict[tuple[int, ...], Any] = {}
    _gather(name, list(parents.items()), stated, (), rows)
    for index, row in rows.items():
        table[index] = _row(name, levels, row)
    return _complete(name, parents, table, rows)


def _complete(name: str, parents: Levels, table: Array, rows: Container[tuple[int, ...]]) -> Array:
    """The table itself, if every combination of the parents has a row."""
    for index in np.ndindex(table.shape[:-1]):
        if index not in rows:
            raise ValueError(f"{title([name], parents)} has no row where {cell_text(parents, index)}; state it")
    return table


def _gather(
    name: str, left: list[tuple[str, Any]], stated: Any, index: tuple[int, ...], rows: dict[tuple[int, ...], Any]
) -> None:
    """Collect what is stated below one combination of the first parents: {level of the next: …}, or {all levels left: row}."""
    if not left:
        if index in rows:
            raise ValueError(f"a row of P({name}) is stated twice: {rows[index]!r} and {stated!r}; state each row once")
        rows[index] = stated
        return
    if not isinstance(stated, Mapping):
        raise ValueError(
            f"P({name}) is {stated!r} where it should say {{level of {left[0][0]!r}: …}}; nest one mapping per parent, or key it by tuples of levels"
        )
    for key, below in stated.items():
        several = isinstance(key, tuple) and len(key) == len(left) and len(left) > 1
        taken = left if several else left[:1]
        ranks = [
            rank_of(level, parent, known)
            for level, (parent, known) in zip(key if several else (key,), taken, strict=True)
        ]
        _gather(name, left[len(taken) :], below, (*index, *ranks), rows)


def _row(name: str, levels: tuple[Label, ...], stated: Any) -> Array:
    """The probabilities of all levels, from {level: probability} (levels not named have 0) or a sequence."""
    indices, values = list(range(len(levels))), stated
    if isinstance(stated, Mapping):
        indices, values = [rank_of(level, name, levels) for level in stated], list(stated.values())
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"a row of P({name}) is {stated!r}, expected numbers") from None
    if numbers.shape != (len(indices),):
        raise ValueError(f"a row of P({name}) is {stated!r}, expected the probabilities of {list(levels)}")
    row = np.zeros(len(levels))
    row[indices] = numbers
    return row


def _from_frame(name: str, levels: tuple[Label, ...], parents: Levels, stated: Any, shape: tuple[int, ...]) -> Array:
    """From a data frame: a row per combination of the parents with a column per level, or a row per cell."""
    index = getattr(stated, "index", None)
    if index is not None and all(parent in (index.names or ()) for parent in parents) and parents:
        stated = stated.reset_index()
    columns = plain_columns(stated)
    for parent in parents:
        one_of(parent, columns, f"a column of the table of P({name})")
    by_text = {str(level): level for level in levels}
    tidy = "probability" in columns and name in columns
    table, met = np.zeros(shape), set()
    for row in range(len(next(iter(columns.values()), ()))):
        position = tuple(rank_of(columns[parent][row], parent, known) for parent, known in parents.items())
        if tidy:
            found = {columns[name][row]: columns["probability"][row]}
        else:
            found = {by_text[c]: columns[c][row] for c in columns if c in by_text and c not in parents}
        cell = (*position, rank_of(columns[name][row], name, levels)) if tidy else position
        if cell in met:
            raise ValueError(f"row {row} of the table of P({name}) states again what an earlier row states: {cell_text({**parents, name: levels} if tidy else parents, cell) or found}; state it once")  # fmt: skip
        met.add(cell)
        table[position] += _row(name, levels, found)
    return _complete(name, parents, table, {cell[: len(parents)] for cell in met})
