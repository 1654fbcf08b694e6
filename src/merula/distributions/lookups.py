"""Terms that depend on nothing but the cells that a row's columns lie in: for many rows, tables of them are looked up.

A column is read once for all tables: numbers by the cuts of all tables, words by all their levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.data.encode import Encoded
from merula.data.schema import OTHER, Label
from merula.distributions import _lookups as kernels
from merula.distributions.base import Added
from merula.distributions.joint_table import level_cells
from merula.distributions.mixed_cells import refuse_infinite

SMALL = 64  # cells of a table that is added to another
LARGEST = 10_000  # numbers of a table that others are added to, so that it stays in the cache
NOTHING = -(2**26)  # the place of a row that a table says nothing of, below 0 whatever other columns add
Parted = Array | tuple[Label, ...]
Cells = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Axis:
    """How a table parts one column: by ascending cuts of numbers, or by levels.

    ``cells`` has the cell of each interval (as many cuts lie below the number) or level, then of a missing one, then of a level that is
    not among these; −1 where the table says nothing of such rows.
    """

    column: str
    parted: Parted
    cells: Cells

    def by(self, parted: Parted) -> Cells:
        """The cells by finer cuts, or more levels."""
        if isinstance(self.parted, np.ndarray):
            places = np.searchsorted(self.parted, np.concatenate([[-np.inf], np.asarray(parted)]), side="right")
        else:
            known = {label: k for k, label in enumerate(self.parted)}
            places = np.array([known.get(label, -1) for label in parted], dtype=np.int64)
        return np.concatenate([self.cells[places], self.cells[-2:]])

    def met_by(self, other: Axis | None) -> tuple[Axis, Cells, Cells]:
        """An axis whose cells tell apart what both do, and for each of them the cell of either; another that is None has one cell."""
        parted = self.parted if other is None else _together([self.parted, other.parted])
        own = self.by(parted)
        theirs = np.zeros_like(own) if other is None else other.by(parted)
        met, cells = np.unique((own + 1) * (theirs.max() + 2) + theirs + 1, return_inverse=True)
        silent = int(met[0] == 0)  # where neither says anything
        mine, others = np.divmod(met[silent:], theirs.max() + 2)
        return Axis(self.column, parted, cells - silent), mine - 1, others - 1


@dataclass(frozen=True, eq=False)
class Lookup:
    """A table of terms: the cells of each axis × classes."""

    axes: tuple[Axis, ...]
    values: Array

    @property
    def columns(self) -> frozenset[str]:
        """Its columns."""
        return frozenset(axis.column for axis in self.axes)

    @property
    def size(self) -> int:
        """The number of its cells."""
        return prod(self.values.shape[:-1])

    def plus(self, other: Lookup) -> Lookup:
        """The sum of both; the columns of the other are among its own."""
        theirs = {axis.column: axis for axis in other.axes}
        met = {axis.column: axis.met_by(theirs.get(axis.column)) for axis in self.axes}
        places = np.ix_(*(own for _, own, _ in met.values())), np.ix_(*(others for _, _, others in met.values()))
        where = dict(zip(met, zip(*places, strict=True), strict=True))
        values = _with_zeros(self.values)[tuple(own for own, _ in where.values())]
        values = values + _with_zeros(other.values)[tuple(where[name][1] for name in theirs)]
        return Lookup(tuple(axis for axis, _, _ in met.values()), values)


def _with_zeros(values: Array) -> Array:
    """A table with zeros at the end of every axis of columns, where −1 points to."""
    return np.pad(values, [(0, 1)] * (values.ndim - 1) + [(0, 0)])


def _together(several: Sequence[Parted]) -> Parted:
    """All cuts, or all levels."""
    if isinstance(several[0], np.ndarray):
        return np.unique(np.concatenate([np.asarray(cuts) for cuts in several]))
    return tuple(dict.fromkeys(label for levels in several for label in levels))


def level_axis(column: str, levels: tuple[Label, ...], missing: int, unseen: int) -> Axis:
    """A cell for each level; being missing has that of None where it is a level, else `missing`; a level that is not known has `unseen`."""
    cells = {label: k for k, label in enumerate(levels)}
    lost, strange = cells.pop(None, missing), cells.get(OTHER, unseen)
    return Axis(column, tuple(cells), np.array([*cells.values(), lost, strange], dtype=np.int64))


def padded(cuts: Array) -> Array:
    """The cuts and as many infinities behind them as make 2ⁿ − 1, as `count_below` searches them."""
    return np.append(cuts, np.full((1 << len(cuts).bit_length()) - 1 - len(cuts), np.inf))


def gathered(tables: Sequence[Lookup]) -> tuple[Lookup, ...]:
    """The same sum of fewer tables: small ones are added to the smallest that has their columns, unless that becomes too large."""
    found = [(table.columns, table) for table in tables if table.size > SMALL]
    for table in sorted((table for table in tables if table.size <= SMALL), key=lambda one: -len(one.axes)):
        having = [k for k, (columns, _) in enumerate(found) if table.columns <= columns]
        k = min(having, key=lambda k: found[k][1].size, default=-1)
        together = found[k][1].plus(table) if having else table
        if having and together.values.size <= LARGEST:
            found[k] = (together.columns, together)
        else:
            found.append((table.columns, table))
    return tuple(table for _, table in found)


@dataclass(frozen=True, eq=False)
class Lookups:
    """The sum of tables, as it is added to many rows."""

    tables: tuple[Lookup, ...]

    @cached_property
    def _parted(self) -> dict[str, Parted]:
        """How columns are read: those of numbers by all their cuts, then those of words by all their levels."""
        found: dict[str, list[Parted]] = {}
        for axis in (axis for table in self.tables for axis in table.axes):
            found.setdefault(axis.column, []).append(axis.parted)
        ordered = sorted(found, key=lambda name: not isinstance(found[name][0], np.ndarray))
        return {name: _together(found[name]) for name in ordered}

    @cached_property
    def _numbers(self) -> dict[str, Array]:
        return {name: parted for name, parted in self._parted.items() if isinstance(parted, np.ndarray)}

    @cached_property
    def _words(self) -> tuple[tuple[str, ...], tuple[tuple[Label, ...], ...]]:
        """The columns of words and their levels: the same objects each time, by which they are known again."""
        found = {name: parted for name, parted in self._parted.items() if not isinstance(parted, np.ndarray)}
        return tuple(found), tuple(found.values())

    @cached_property
    def _searched(self) -> kernels.Cuts:
        """The cuts, laid out to be searched in as many steps for every number of a column."""
        searched = [padded(cuts) for cuts in self._numbers.values()]
        count = np.array([len(cuts) for cuts in self._numbers.values()], dtype=np.int64)
        return kernels.Cuts(count, np.cumsum([0, *map(len, searched)]), np.concatenate(searched))

    @cached_property
    def _laid_out(self) -> kernels.Tables:
        """The tables end to end, behind a cell that says nothing; and what every code of every axis adds to a place."""
        shape, where = (len(self.tables), max(len(table.axes) for table in self.tables)), list(self._parted)
        columns, starts = np.full(shape, -1, dtype=np.int32), np.zeros(shape, dtype=np.int64)
        places, reached, first = list[Cells](), 0, 1
        for t, table in enumerate(self.tables):
            step = table.size
            for k, axis in enumerate(table.axes):
                step //= table.values.shape[k]
                cells = axis.by(self._parted[axis.column])
                columns[t, k], starts[t, k] = where.index(axis.column), reached
                places.append(np.where(cells < 0, NOTHING, cells * step + (first if k == 0 else 0)))
                reached += len(cells)
            first += table.size
        classes = self.tables[0].values.shape[-1]
        values = [np.zeros((1, classes)), *(table.values.reshape(-1, classes) for table in self.tables)]
        return kernels.Tables(columns, starts, np.concatenate(places).astype(np.int32), np.concatenate(values))

    def codes(self, rows: Encoded) -> NDArray[np.int32]:
        """The interval or level of each column and row; then one for missing cells, and one for levels that are not known."""
        codes = np.empty((len(self._parted), len(rows)), dtype=np.int32)
        numbers, (names, known) = tuple(self._numbers), self._words
        if numbers:
            refuse_infinite(numbers, kernels.code_numbers(rows.values(numbers), self._searched, codes))
        if names:
            counts = np.array([len(levels) for levels in known], dtype=np.int64)
            kernels.code_levels(level_cells(rows, names, known), counts, codes[len(numbers) :])
        return codes

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        """See `Distribution.add_log_prob`."""
        kernels.add_lookups(self.codes(rows), self._laid_out, out)


def joined(split: Sequence[tuple[tuple[Lookup, ...], tuple[Added, ...]]]) -> tuple[Added, ...]:
    """What adds all that distributions were split into, their tables as one."""
    tables = gathered([table for some, _ in split for table in some])
    others = tuple(one for _, rest in split for one in rest)
    return (Lookups(tables), *others) if tables else others
