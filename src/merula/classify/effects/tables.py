"""Tables of questions, purified: one more answer to every question, *not asked*, holds what is left when its column is averaged out.

A table that asks columns D has effects of all sets U ⊆ D: Π_{j∈U} (1 − E_j) · Π_{j∈D∖U} E_j applied to its values, E_j the mean over
column j. Where a column is missing that has no such answer, a table says E_j of its values, so effects of this column are 0 there, and
lacks the column's part of its mean over all answers: that a column is known has an effect too, of the column alone. In files of before,
a table says 0 there, so (1 − E_j) gives −E_j: the cell of *not asked*, its sign turned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.classify.effects import _kernels as kernels
from merula.classify.effects.marginals import Marginals
from merula.classify.effects.subjects import AT_ONCE, Places, Subject
from merula.classify.log_linear._answers import shares_of_answers
from merula.classify.log_linear.fitting import numbered
from merula.classify.log_linear.terms import LOST, TableTerms
from merula.core import Array
from merula.core.limits import CELL, most_bytes
from merula.data.encode import Encoded

NOT_NAMED = 2**30  # a level that no question asks for
AT_A_TIME = 2**20  # numbers that are worked on at once
PURIFIED_AT_ONCE = 2**24  # numbers of purified tables, where all of them are too many to be kept
Questions = NDArray[np.int32]


def table_cuts(terms: TableTerms) -> dict[str, Array]:
    """The cuts between numbers to which tables answer differently: x ≤ cut."""
    found = {}
    for j, known in enumerate(terms.level_sets):
        bounds = terms.bounds[(terms.asked == j) & (terms.bounds > LOST)]
        if known is None:  # −x ≤ b is x ≥ −b, which no number just below −b is
            found[terms.columns[j]] = bounds if terms.signs[j] > 0 else np.nextafter(-bounds, -np.inf)
    return found


@dataclass(frozen=True, eq=False)
class TableEffects:
    """The effects of tables: ``sets`` has, for each table and the bits of its questions, the subject that they are of, −1 for none.

    ``alone`` is the subject of each column by itself.
    """

    terms: TableTerms
    weight: float
    answers: _Answers
    subjects: tuple[Subject, ...]
    sets: kernels.Codes
    alone: Places
    rows_at_once: int = AT_ONCE

    @classmethod
    def of(cls, terms: TableTerms, weight: float, marginals: Marginals) -> TableEffects:
        """The tables of this part, times its weight."""
        sets = [one for own, blocks in _alike(terms) for one in _column_sets(own, terms.asked[terms.tables[own]], blocks)]  # fmt: skip
        subjects, told = _subjects(sets, terms, marginals)
        alone = np.array([subjects.index(Subject((name,))) for name in terms.columns], dtype=np.int64)
        return cls(terms, weight, _Answers.of(terms, marginals), subjects, told, alone)

    def _tables(self) -> Iterator[tuple[slice, kernels.Tables]]:
        """The tables, purified: all of them are kept, unless that takes more memory than a model may; then some at a time are worked out anew."""
        count, size = len(self.terms.tables), _purified_size(self.terms)
        if count * size * CELL <= most_bytes():
            yield slice(0, count), self._kept
            return
        most = max(1, PURIFIED_AT_ONCE // size)
        for start in range(0, count, most):
            some = slice(start, start + most)
            yield some, self._worked_out(some)

    @cached_property
    def _kept(self) -> kernels.Tables:
        return self._worked_out(slice(None))

    def _worked_out(self, some: slice) -> kernels.Tables:
        """Some of the tables, purified."""
        terms = replace(self.terms, tables=self.terms.tables[some], values=self.terms.values[some])
        depths, order = terms._depths, terms.tables.shape[1]
        values, leads = np.zeros((len(depths), 3**order, terms.class_count)), np.zeros(len(depths), dtype=np.int32)
        for own, blocks in _alike(terms):
            depth = sum(map(len, blocks))
            cells = self.weight * terms.values[own, : 1 << depth]
            values[own, : 3**depth] = _purified(cells, terms.tables[own], blocks, self.answers)
            leads[own] = sum(1 << block[0] for block in blocks)
        asked, places = terms.asked[terms.tables], self.terms._places[terms.tables]
        lost = -1.0 if terms.shares is None else 0.0
        return kernels.Tables(asked, places, depths, leads, values, self.answers.is_word, lost)

    def read(self, rows: Encoded) -> kernels.Codes:
        """The rows' codes."""
        return self.terms.codes(rows)

    @cached_property
    def _averages(self) -> tuple[Array, Array]:
        """What tables say on average, and what it adds that a column is known (columns × classes)."""
        means, known = list[Array](), np.zeros((len(self.terms.columns), self.terms.class_count))
        for _, tables in self._tables():
            means.append(_means(tables))
            if self.terms.shares is not None:
                _add_known(tables, means[-1], known)
        return np.concatenate(means).sum(axis=0), known

    @cached_property
    def _intercept(self) -> Array:
        """What tables say on average, less what rows lack of it whose columns are missing."""
        mean, known = self._averages
        return mean - self.answers.missing @ known

    def add_intercept(self, read: kernels.Codes, out: Array) -> None:
        """See `PartEffects.add_intercept`."""
        out += self._intercept

    def add(self, read: kernels.Codes, wanted: Places, out: Array) -> None:
        """See `PartEffects.add`."""
        if not len(self.subjects):
            return
        places, (_, known) = np.append(wanted, -1)[self.sets].astype(np.int32), self._averages
        for some, tables in self._tables():
            kernels.add_effects(read, tables, places[some], out)
        for j in np.flatnonzero(known.any(axis=1) & (wanted[self.alone] >= 0)).tolist():
            out[wanted[self.alone[j]]] += ((read[j] >= 0) - (1.0 - self.answers.missing[j]))[:, None] * known[j]


def _means(tables: kernels.Tables) -> Array:
    """The mean of each table: the cell in which nothing is asked."""
    nothing = 3 ** tables.depths.astype(np.int64) - 1
    return tables.values[np.arange(len(nothing)), nothing]


def _add_known(tables: kernels.Tables, means: Array, out: Array) -> None:
    """Add to each column what it adds that it is known: of the mean of each table that asks it, its share of the columns that are asked."""
    bits = 1 << np.arange(tables.columns.shape[1])
    leads = (tables.leads[:, None] & bits) > 0
    parts = means / np.maximum(leads.sum(axis=1), 1)[:, None]
    tables_asking, places = np.nonzero(leads)
    np.add.at(out, tables.columns[tables_asking, places], parts[tables_asking])


@dataclass(frozen=True, eq=False)
class _Answers:
    """What a part makes of the states of each column: its codes and their shares, both columns × states; and the share of yes to each question, if known."""

    codes: kernels.Codes
    shares: Array
    yes: Array | None
    asked: Questions
    places: Questions
    is_word: NDArray[np.bool_]

    @classmethod
    def of(cls, terms: TableTerms, marginals: Marginals) -> _Answers:
        """Every column's states side by side, read as the part reads rows."""
        found = [cls._met(terms, j, marginals) for j in range(len(terms.columns))]
        most = max(len(codes) for codes, _ in found)
        codes = np.array([np.pad(own, (0, most - len(own)), constant_values=-1) for own, _ in found], dtype=np.int32)
        shares = np.array([np.pad(own, (0, most - len(own))) for _, own in found])
        is_word = np.array([known is not None for known in terms.level_sets])
        return cls(codes, shares, terms.shares, terms.asked, terms._places, is_word)

    @property
    def missing(self) -> Array:
        """The share of rows in which each column is not known."""
        return (self.shares * (self.codes < 0)).sum(axis=1)  # type: ignore[no-any-return]

    @staticmethod
    def _met(terms: TableTerms, j: int, marginals: Marginals) -> tuple[NDArray[np.int64], Array]:
        """The codes of one column and their shares; those that no question names are one."""
        name = terms.columns[j]
        codes = terms.codes_of(j, marginals.cells(name, terms.level_sets[j]))
        if terms.level_sets[j] is not None:
            codes = np.where((codes < 0) | np.isin(codes, terms.bounds[terms.asked == j]), codes, NOT_NAMED)
        met, place = np.unique(codes, return_inverse=True)
        return met, np.bincount(place, marginals.weights(name), len(met)).astype(np.float64)

    def joint(self, questions: Questions) -> Array:
        """The share of rows that answer so to questions of one column each: sets of questions × answers as binary digits."""
        place = numbered(questions)
        met = questions[np.unique(place, return_index=True)[1]]
        step = max(1, AT_A_TIME // self.shares.shape[1])
        found = [self._joint(met[start : start + step]) for start in range(0, len(met), step)]
        return np.concatenate(found)[place]

    def _joint(self, questions: Questions) -> Array:
        columns = self.asked[questions[:, 0]]
        if self.yes is not None:
            told: Array = shares_of_answers(self.places[questions], self.yes[questions], self.is_word[columns])
            return told
        codes, shares = self.codes[columns], self.shares[columns] * (self.codes[columns] >= 0)
        cell = np.zeros(codes.shape, dtype=np.int64)
        for question in questions.T:
            place = self.places[question][:, None]
            cell = 2 * cell + np.where(self.is_word[columns][:, None], codes == place, codes <= place)
        return np.stack([(shares * (cell == one)).sum(axis=1) for one in range(1 << questions.shape[1])], axis=1)


def _purified_size(terms: TableTerms) -> int:
    """The numbers that one table has when it is purified."""
    return int(3 ** terms.tables.shape[1] * terms.class_count)


def _alike(terms: TableTerms) -> Iterator[tuple[NDArray[np.int64], list[list[int]]]]:
    """Tables whose questions are of one column in the same places, not too many at once: which they are, and the places of each column's questions."""
    asked = np.where(terms.tables >= 0, terms.asked[terms.tables], -1 - np.arange(terms.tables.shape[1]))
    first = (asked[:, :, None] == asked[:, None, :]).argmax(axis=2)  # the first place that asks the same column
    depths = terms._depths
    kinds = numbered(np.column_stack([depths, first]))
    most = max(1, AT_A_TIME // _purified_size(terms))
    for kind in np.split(np.argsort(kinds, kind="stable"), np.cumsum(np.bincount(kinds))[:-1]):
        for start in range(0, len(kind), most):
            own = kind[start : start + most]
            places = first[own[0], : depths[own[0]]].tolist()
            yield own, [[k for k, lead in enumerate(places) if lead == block] for block in sorted(set(places))]


def _purified(cells: Array, questions: Questions, blocks: list[list[int]], answers: _Answers) -> Array:
    """Tables × 3^questions × classes, from tables × 2^questions × classes."""
    count, classes, depth = len(cells), cells.shape[2], sum(map(len, blocks))
    found = cells.reshape(count, *(2,) * depth, classes)
    for block in blocks:
        axes = [1 + k for k in block]
        front = np.moveaxis(found, axes, range(1, 1 + len(block)))
        found = np.moveaxis(
            _averaged(front, len(block), answers.joint(questions[:, block])), range(1, 1 + len(block)), axes
        )
    return found.reshape(count, 3**depth, classes)


def _averaged(values: Array, width: int, shares: Array) -> Array:
    """The first `width` axes after that of tables with *not asked* as a third answer: there the mean, elsewhere what is left of it."""
    count, rest = len(values), values.shape[1 + width :]
    flat = values.reshape(count, 1 << width, -1)
    mean = np.einsum("ta,tar->tr", shares, flat)
    found = np.zeros((count, *(3,) * width, flat.shape[2]))
    asked: Any = (slice(None), *(slice(0, 2),) * width)
    found[asked] = (flat - mean[:, None]).reshape(count, *(2,) * width, -1)
    absent: Any = (slice(None), *(kernels.ABSENT,) * width)
    found[absent] = mean
    return found.reshape(count, *(3,) * width, *rest)


def _column_sets(own: NDArray[np.int64], columns: Questions, blocks: list[list[int]]) -> Iterator[tuple[Any, ...]]:
    """For each set of blocks: the tables, their columns in these blocks, and the bits of the questions there."""
    for size in range(1, len(blocks) + 1):
        for some in combinations(blocks, size):
            yield own, columns[:, [block[0] for block in some]], sum(1 << k for block in some for k in block)


def _subjects(
    sets: list[tuple[Any, ...]], terms: TableTerms, marginals: Marginals
) -> tuple[tuple[Subject, ...], kernels.Codes]:
    """All sets of columns, each in the order of the marginals, and which of them each table's sets of questions are."""
    count, order = terms.tables.shape
    found = np.full((count, 1 << order), -1, dtype=np.int32)
    if not sets:
        return tuple(Subject((name,)) for name in terms.columns), found
    ranks = np.array([marginals.places[name] for name in terms.columns])
    called = dict(zip(ranks.tolist(), terms.columns, strict=True))
    keys = np.concatenate([np.pad(np.sort(ranks[columns], axis=1), ((0, 0), (0, order - columns.shape[1])), constant_values=-1) for _, columns, _ in sets])  # fmt: skip
    numbers = numbered(keys)
    tables = np.concatenate([own for own, _, _ in sets])
    found[tables, np.repeat([mask for _, _, mask in sets], [len(own) for own, _, _ in sets])] = numbers
    first = np.unique(numbers, return_index=True)[1]
    subjects = [Subject(tuple(called[rank] for rank in key if rank >= 0)) for key in keys[first].tolist()]
    silent = set(terms.columns) - {name for subject in subjects for name in subject.columns}
    return (*subjects, *(Subject((name,)) for name in sorted(silent))), found
