"""Table → codes column by column: one row of codes per categorical column, floats for the numeric ones, weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError, Note, Option, nearest, one_of
from merula.core.threads import thread_count
from merula.data.encode.encoded import Coded, encode
from merula.data.encode.kinds import infer_schema
from merula.data.encode.levels import level_positions, unseen_note
from merula.data.encode.target import checked_weights
from merula.data.intervals import assign, interval_labels
from merula.data.schema import Column, Label, Schema, resolve_levels, sort_labels
from merula.data.table import Table, open_table

Levels = tuple[Label, ...]
NUMBERS = ("numeric", "count")
LARGEST = 1e150  # a number whose square still is one


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """Columns as codes and numbers; ``codes[position]`` lies in one piece, −1 for missing.

    ``levels[position]`` names the codes; it is None for a numeric column, whose numbers stand in ``values`` under its
    name (NaN for missing) and whose row of codes is all −1. ``weights`` count rows; None when each counts once. ``notes``
    say which kinds were guessed and which levels are unseen.
    """

    names: tuple[str, ...]
    levels: tuple[Levels | None, ...]
    codes: NDArray[np.int32]
    values: Mapping[str, Array] = field(default_factory=dict)
    weights: Array | None = None
    notes: tuple[Note, ...] = ()

    @property
    def count(self) -> int:
        """The number of rows, each once."""
        return int(self.codes.shape[1])

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.count if self.weights is None else self.weights.sum())

    @cached_property
    def positions(self) -> dict[str, int]:
        """Where each column stands."""
        return {name: position for position, name in enumerate(self.names)}

    @cached_property
    def cardinalities(self) -> NDArray[np.int64]:
        """The number of levels of each column, 0 for a numeric one."""
        return np.array([0 if known is None else len(known) for known in self.levels], dtype=np.int64)

    @cached_property
    def incomplete(self) -> NDArray[np.bool_]:
        """For each column, whether any cell is missing."""
        return np.array([bool(np.any(self.missing(name))) for name in self.names], dtype=np.bool_)

    def is_numeric(self, name: str) -> bool:
        """True when the column holds numbers, not levels."""
        return self.levels[self.positions[name]] is None

    def missing(self, name: str) -> NDArray[np.bool_]:
        """Which rows lack a value in this column."""
        return np.isnan(self.values[name]) if self.is_numeric(name) else self.codes[self.positions[name]] < 0

    def take(self, indices: NDArray[Any]) -> CodedColumns:
        """Some rows in this order (or those that a mask keeps), copied."""
        return replace(
            self,
            codes=np.ascontiguousarray(self.codes[:, indices]),
            values={name: values[indices] for name, values in self.values.items()},
            weights=None if self.weights is None else self.weights[indices],
        )

    def select(self, names: Sequence[str]) -> CodedColumns:
        """Some columns in this order."""
        indices = [self.positions[name] for name in names]
        return replace(
            self,
            names=tuple(names),
            levels=tuple(self.levels[index] for index in indices),
            codes=np.ascontiguousarray(self.codes[indices]),
            values={name: self.values[name] for name in names if name in self.values},
        )


def code_columns(
    data: Any,
    names: Sequence[str] | None = None,
    levels: Mapping[str, Sequence[Label] | None] | None = None,
    kinds: Mapping[str, str] | str | None = None,
    weights: Any = None,
    unseen: str = "error",
    absent: str = "error",
    cuts: Mapping[str, Sequence[float]] | None = None,
) -> CodedColumns:
    """The rows of a pandas, polars or pyarrow table or an array, coded column by column.

    Columns of words, booleans and categories are categorical; **integers and floats are numeric**, as for the classifiers,
    unless `levels` names their levels or `kinds` calls them "categorical"; dates are seconds since 1970, durations seconds.

    Parameters
    ----------
    names
        The columns wanted, in this order; others are ignored. An array without names has them in this order. Default: all.
    levels
        ``{"size": ["small", "large"]}`` fixes levels and their order; ``{"length": None}`` says numeric. Levels not given
        are those the column holds with a weight above 0, sorted. None among the levels makes missing a level of its own.
    kinds
        "numeric" or "categorical" per column, or one word for all; "count" and "datetime" are read as numbers.
    weights
        One frequency weight per row: finite, from 0, not all 0.
    unseen
        What a label that the levels do not name is: "error", or "missing" (with a note that names it).
    absent
        What a column of `names` that the table lacks is: "error", or "missing" in every row.
    cuts
        ``{"age": (40, 60)}``: numbers of this column are read as the intervals between its cuts, whose labels are its levels.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = code_columns(pd.DataFrame({"sky": ["grey", "blue", None], "rain": [True, False, False]}))
    >>> rows.levels
    (('blue', 'grey'), (False, True))
    >>> rows.codes.tolist()
    [[1, 0, -1], [1, 0, 0]]
    """
    one_of(unseen, ("error", "missing"), "unseen")
    one_of(absent, ("error", "missing"), "absent")
    table = open_table(data)
    wanted = table.names if names is None else tuple(names)
    where = _find(table, wanted, absent)
    mass = checked_weights(weights, table.rows, "weights")
    cut = {name: cuts[name] for name, slot in zip(wanted, where, strict=True) if cuts and name in cuts and slot >= 0 and _holds_numbers(table, slot, name, kinds, cuts[name])}  # fmt: skip
    schema, notes = _schema(table, wanted, where, {**(levels or {}), **dict.fromkeys(cut)}, kinds)
    present = [(column, position) for column, position in zip(schema.columns, where, strict=True) if position >= 0]
    found = encode(table, Schema(tuple(c for c, _ in present)), [p for _, p in present], thread_count(None))
    codes = np.full((len(wanted), table.rows), -1, dtype=np.int32)
    known: list[Levels | None] = []
    values: dict[str, Array] = {}
    for name, column, row in zip(wanted, schema.columns, codes, strict=True):
        if column.kind != "categorical":
            values[name] = checked_numbers(name, found.numeric.get(name), table.rows)
            known.append(None)
        elif name in found.coded:
            own, noted = _fill(row, found.coded[name], column, mass, unseen)
            known.append(own)
            notes += noted
        else:
            known.append(column.levels or ())
    for name, edges in cut.items():
        codes[wanted.index(name)] = assign(values.pop(name), edges)
        known[wanted.index(name)] = interval_labels(edges)
    return CodedColumns(wanted, tuple(known), codes, values, mass, notes)


def _holds_numbers(
    table: Table, index: int, name: str, kinds: Mapping[str, str] | str | None, cuts: Sequence[float]
) -> bool:
    """Whether the cells of a column with cuts are to be cut: numbers, or words that are read as such, and no intervals yet."""
    stated = kinds if isinstance(kinds, str) else (kinds or {}).get(name)
    own = table.kind(index)[0]
    if stated in NUMBERS or own in NUMBERS:
        return True
    if stated is not None or own != "categorical" or not set(interval_labels(cuts)).isdisjoint(table.codes(index)[1]):
        return False
    others = {other: "ignore" for place, other in enumerate(table.names) if place != index}
    return infer_schema(table, others)[0].columns[index].kind in NUMBERS


def _find(table: Table, wanted: Sequence[str], absent: str) -> list[int]:
    """Where the wanted columns stand in the table, −1 for those it lacks; by position in an array without names."""
    for name in wanted:
        if list(wanted).count(name) > 1:
            raise InputError.at("names", f"asks for column {name!r} more than once", remedy="name each column once")
    if not table.named and len(table.names) == len(wanted):
        return list(range(len(wanted)))
    known = {name: position for position, name in enumerate(table.names)}
    lacking = [name for name in wanted if name not in known]
    if lacking and absent == "error":
        raise InputError.at(
            f"column {lacking[0]!r}",
            f"is missing from the table, which has {', '.join(map(repr, table.names[:8]))}{', …' if len(table.names) > 8 else ''}",
            remedy=f"add it, or leave it out{nearest(lacking[0], table.names)}",
        )
    return [known.get(name, -1) for name in wanted]


def _schema(
    table: Table,
    wanted: Sequence[str],
    where: Sequence[int],
    levels: Mapping[str, Sequence[Label] | None],
    kinds: Mapping[str, str] | str | None,
) -> tuple[Schema, tuple[Note, ...]]:
    """What each wanted column is, whether the table has it or not; text is refused."""
    stated = dict.fromkeys(wanted, kinds) if isinstance(kinds, str) else dict(kinds or {})
    for what, option in (("kinds", stated), ("levels", levels)):
        for name in option:
            one_of(name, wanted, f"a key of {what}=")
    stated |= {name: "numeric" for name, known in levels.items() if known is None}
    own = {table.names[position]: name for name, position in zip(wanted, where, strict=True) if position >= 0}
    asked = {name: stated.get(own[name]) if name in own else "ignore" for name in table.names}
    given = {name: kind for name, kind in asked.items() if kind is not None}
    declared = {name: levels[mine] for name, mine in own.items() if levels.get(mine) is not None}
    found, notes = infer_schema(table, given, declared, threads=thread_count(None))
    columns = tuple(
        _checked_column(replace(found.columns[position], name=name))
        if position >= 0
        else _absent_column(name, stated.get(name), levels.get(name))
        for name, position in zip(wanted, where, strict=True)
    )
    return Schema(columns), notes


def _checked_column(column: Column) -> Column:
    if column.kind in ("text", "ignore"):
        raise InputError.at(
            f"column {column.name!r}",
            f"is {'to be ignored' if column.kind == 'ignore' else 'text'}, which a network cannot hold",
            got="to be ignored" if column.kind == "ignore" else "text",
            remedy=(
                "leave it out of ",
                Option("names"),
                ", or say ",
                Option("kinds", "categorical", column=column.name),
            ),
        )
    # times are seconds: the same number whatever unit a table counts them in
    return column if column.unit is None else replace(column, unit=f"{column.unit.partition('[')[0]}[s]")


def _absent_column(name: str, kind: str | None, levels: Sequence[Label] | None) -> Column:
    if kind in (None, "categorical"):
        return Column(name, "categorical", None if levels is None else tuple(levels), declared=levels is not None)
    return Column(name, "numeric")


def checked_numbers(name: str, found: NDArray[Any] | None, rows: int) -> Array:
    """One numeric column as float64 in one piece; an error where a number is infinite or its square would be."""
    if found is None:
        return np.full(rows, np.nan)
    numbers = np.ascontiguousarray(found, dtype=np.float64)
    largest = np.nanmax(np.abs(numbers)) if not np.isnan(numbers).all() else 0.0
    if largest > LARGEST:
        raise InputError.at(
            f"column {name!r}",
            f"holds {largest:g}, whose square is no number",
            got=largest,
            remedy="rescale it, or drop the row",
        )
    return numbers


def _fill(
    codes: NDArray[np.int32], coded: Coded, column: Column, mass: Array | None, unseen: str
) -> tuple[Levels, tuple[Note, ...]]:
    """Write one column's codes; its levels (those declared, or those of rows that count, sorted), and a note of unseen ones."""
    slot, slots = coded.in_slots()
    levels, strange = column.levels if column.declared else None, []
    if levels is None or (level_positions(slots, levels)[:-1] > len(levels)).any():
        held = np.flatnonzero(np.bincount(slot, mass, minlength=len(slots)))
        met = sort_labels(slots[index] for index in held.tolist() if slots[index] is not None)
        levels = resolve_levels(column.name, met, levels) if levels is None or unseen == "error" else levels
        strange = [label for label in met if label not in levels]
    positions = level_positions(slots, levels)
    np.take(np.where(positions >= len(levels), -1, positions).astype(np.int32), slot, out=codes, mode="clip")
    if not strange:
        return levels, ()
    cells = int(np.count_nonzero(positions[slot] > len(levels)))
    where = f" in {cells} row{'s' if cells > 1 else ''}, which its levels do not name"
    return levels, (unseen_note(column.name, strange, where),)
