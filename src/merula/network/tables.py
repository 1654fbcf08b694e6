"""The probabilities of a variable given its parents, however they are written, as one checked array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from merula.factors import ConditionalDistribution, JointDistribution
from merula.factors.names import Levels, cell_text, rank_of, title
from merula.logspace import Array
from merula.schema import Label, one_of
from merula.table import open_table

SUM_TOLERANCE = 1e-6
LARGEST = 2**28  # entries of one conditional table


def read_table(name: str, levels: Sequence[Label], parents: Levels, probabilities: Any) -> Array:
    """P(name given parents) with an axis for each parent, the levels last; every row checked and brought to sum 1."""
    shape = (*(len(known) for known in parents.values()), len(levels))
    if prod(shape) > LARGEST:
        raise ValueError(
            f"{title([name], parents)} has {prod(shape):.3g} entries, at most {LARGEST:.3g} are kept; give {name!r} fewer parents or levels, or state it by a NoisyOr or NoisyMax"
        )
    return checked_rows(name, levels, parents, _read(name, tuple(levels), parents, probabilities, shape))


def checked_rows(name: str, levels: Sequence[Label], parents: Levels, table: Array) -> Array:
    """The table with rows that sum to exactly 1; an error names the first row that does not, within 1e-6."""
    heading = title([name], parents)
    bad = ~((table >= 0) & (table < np.inf))
    if bad.any():
        place = tuple(int(axis[0]) for axis in np.nonzero(bad))
        raise ValueError(
            f"{heading} holds {table[place]:g} at {cell_text({**parents, name: tuple(levels)}, place)}; probabilities are numbers from 0 to 1"
        )
    sums = table.sum(axis=-1)
    wrong = np.abs(sums - 1) > SUM_TOLERANCE
    if wrong.any():
        place = tuple(int(axis[0]) for axis in np.nonzero(wrong))
        where = f" where {cell_text(parents, place)}" if parents else ""
        raise ValueError(f"{heading} sums to {sums[place]:.9g}{where}, expected 1; correct that row")
    table = table / sums[..., np.newaxis]
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
    table = np.full(shape, np.nan)
    _fill(table, name, levels, list(parents.items()), stated, ())
    lacking = np.isnan(table).any(axis=-1)
    if lacking.any():
        place = tuple(int(axis[0]) for axis in np.nonzero(lacking))
        raise ValueError(f"{title([name], parents)} has no row where {cell_text(parents, place)}; state it")
    return table


def _fill(
    table: Array, name: str, levels: tuple[Label, ...], left: list[tuple[str, Any]], stated: Any, place: tuple[int, ...]
) -> None:
    """Write what is stated below one combination of the first parents: {level of the next: …}, or {all levels left: row}."""
    if not left:
        table[place] = _row(name, levels, stated)
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
        _fill(table, name, levels, left[len(taken) :], below, (*place, *ranks))


def _row(name: str, levels: tuple[Label, ...], stated: Any) -> Array:
    """The probabilities of all levels, from {level: probability} (levels not named have 0) or a sequence."""
    if not isinstance(stated, Mapping):
        row = np.asarray(stated, dtype=np.float64)
        if row.shape != (len(levels),):
            raise ValueError(f"a row of P({name}) is {stated!r}, expected the probabilities of {list(levels)}")
        return row
    row = np.zeros(len(levels))
    for level, probability in stated.items():
        row[rank_of(level, name, levels)] = probability
    return row


def _from_frame(name: str, levels: tuple[Label, ...], parents: Levels, stated: Any, shape: tuple[int, ...]) -> Array:
    """From a data frame: a row per combination of the parents with a column per level, or a row per cell."""
    index = getattr(stated, "index", None)
    if index is not None and all(parent in (index.names or ()) for parent in parents) and parents:
        stated = stated.reset_index()
    frame = open_table(stated)
    for parent in parents:
        one_of(parent, frame.names, f"a column of the table of P({name})")
    columns = {column: list(stated[column]) for column in frame.names}
    by_text = {str(level): rank for rank, level in enumerate(levels)}
    tidy = "probability" in columns and name in columns
    cells: dict[tuple[Label, ...], dict[Any, Any]] = {}
    for row in range(frame.rows):
        key = tuple(columns[parent][row] for parent in parents)
        found = cells.setdefault(key, {})
        if tidy:
            found[columns[name][row]] = columns["probability"][row]
        else:
            found.update({levels[by_text[c]]: columns[c][row] for c in columns if c in by_text and c not in parents})
    if not parents:
        return _row(name, levels, cells.get((), {}))
    return _from_mapping(name, levels, parents, {k[0] if len(k) == 1 else k: v for k, v in cells.items()}, shape)


def combinations(parents: Levels) -> list[tuple[Label, ...]]:
    """All combinations of the parents' levels, the first parent slowest: the order of a table's rows."""
    return list(product(*parents.values()))
