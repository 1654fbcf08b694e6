"""Tables of questions, purified: one more answer to every question, *not asked*, holds what is left when its column is averaged out.

A table that asks columns D has effects of all sets U ⊆ D: Π_{j∈U} (1 − E_j) · Π_{j∈D∖U} E_j applied to its values, E_j the mean over
column j. A table says 0 where a column is missing that has no such answer, so (1 − E_j) gives −E_j there: the cell of *not asked*,
its sign turned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from merula.classify.effects import _kernels as kernels
from merula.classify.effects.marginals import MISSING, Marginals
from merula.classify.effects.subjects import AT_ONCE, Subject
from merula.classify.log_linear.terms import LOST, TableTerms
from merula.core import Array
from merula.data.encode import Encoded

AT_A_TIME = 2**20  # states that questions are asked of at once
Questions = NDArray[np.int32]
Members = tuple[kernels.Codes, kernels.Codes]


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
    """The effects of tables, looked up table by table."""

    terms: TableTerms
    tables: kernels.Tables
    members: dict[Subject, Members]

    rows_at_once: ClassVar[int] = AT_ONCE

    @classmethod
    def of(cls, terms: TableTerms, weight: float, marginals: Marginals) -> TableEffects:
        """The tables of this part, times its weight."""
        answers = _Answers.of(terms, marginals)
        depths = (terms.tables >= 0).sum(axis=1).astype(np.int32)
        order, classes = terms.tables.shape[1], terms.class_count
        values, leads = np.zeros((len(depths), 3**order, classes)), np.zeros(len(depths), dtype=np.int32)
        sets = list[tuple[Any, ...]]()
        for own, blocks in _alike(terms, depths):
            depth = sum(map(len, blocks))
            cells = weight * terms.values[own, : 1 << depth]
            values[own, : 3**depth] = _purified(cells, terms.tables[own], blocks, answers)
            leads[own] = sum(1 << block[0] for block in blocks)
            sets += _column_sets(own, terms.asked[terms.tables[own]], blocks)
        tables = kernels.Tables(terms.asked[terms.tables], terms._places[terms.tables], depths, leads, values, answers.is_word)  # fmt: skip
        return cls(terms, tables, _by_subject(sets, terms.columns, order, marginals))

    @property
    def subjects(self) -> Iterable[Subject]:
        """See `PartEffects.subjects`."""
        return self.members

    def read(self, rows: Encoded) -> Any:
        """The rows' codes."""
        return self.terms.codes(rows)

    @cached_property
    def _intercept(self) -> Array:
        """What tables say on average: the cell in which nothing is asked."""
        nothing = 3 ** self.tables.depths.astype(np.int64) - 1
        return self.tables.values[np.arange(len(nothing)), nothing].sum(axis=0)  # type: ignore[no-any-return]

    def add_intercept(self, read: Any, out: Array) -> None:
        """See `PartEffects.add_intercept`."""
        out += self._intercept

    def add(self, subject: Subject, read: Any, out: Array) -> None:
        """See `PartEffects.add`."""
        kernels.add_effect(read, self.tables, *self.members[subject], out)


@dataclass(frozen=True, eq=False)
class _Answers:
    """What a part makes of the states of each column: its codes and their shares, both columns × states."""

    codes: kernels.Codes
    shares: Array
    asked: Questions
    places: Questions
    is_word: NDArray[np.bool_]

    @classmethod
    def of(cls, terms: TableTerms, marginals: Marginals) -> _Answers:
        """Every column's states side by side, read as the part reads rows."""
        weights = {name: marginals.weights(name) for name in terms.columns}
        most = max(map(len, weights.values()))
        shares = np.array([np.pad(own, (most - len(own), 0)) for own in weights.values()])
        states = {name: np.pad(marginals.all_states(name), (most - len(own), 0), constant_values=MISSING) for name, own in weights.items()}  # fmt: skip
        codes = terms.codes(marginals.rows(states, most))
        is_word = np.array([known is not None for known in terms.level_sets])
        return cls(codes, shares, terms.asked, terms._places, is_word)

    def joint(self, questions: Questions) -> Array:
        """The share of rows that answer so to questions of one column each: sets of questions × answers as binary digits."""
        met, place = np.unique(questions, axis=0, return_inverse=True)
        step = max(1, AT_A_TIME // self.shares.shape[1])
        found = [self._joint(met[start : start + step]) for start in range(0, len(met), step)]
        return np.concatenate(found)[place.ravel()]

    def _joint(self, questions: Questions) -> Array:
        columns = self.asked[questions[:, 0]]
        codes, shares = self.codes[columns], self.shares[columns] * (self.codes[columns] >= 0)
        cell = np.zeros(codes.shape, dtype=np.int64)
        for question in questions.T:
            place = self.places[question][:, None]
            cell = 2 * cell + np.where(self.is_word[columns][:, None], codes == place, codes <= place)
        return np.stack([(shares * (cell == one)).sum(axis=1) for one in range(1 << questions.shape[1])], axis=1)


def _alike(terms: TableTerms, depths: kernels.Codes) -> Iterator[tuple[NDArray[np.int64], list[list[int]]]]:
    """Tables whose questions are of one column in the same places: which they are, and the places of each column's questions."""
    asked = np.where(terms.tables >= 0, terms.asked[terms.tables], -1 - np.arange(terms.tables.shape[1]))
    first = (asked[:, :, None] == asked[:, None, :]).argmax(axis=2)  # the first place that asks the same column
    kinds, inverse = np.unique(np.column_stack([depths, first]), axis=0, return_inverse=True)
    for kind, (depth, *places) in enumerate(kinds.tolist()):
        blocks = [[k for k in range(depth) if places[k] == lead] for lead in sorted(set(places[:depth]))]
        yield np.flatnonzero(inverse.ravel() == kind), blocks


def _purified(cells: Array, questions: Questions, blocks: list[list[int]], answers: _Answers) -> Array:
    """Tables × 3^questions × classes, from tables × 2^questions × classes."""
    count, classes, depth = len(cells), cells.shape[2], sum(map(len, blocks))
    found = cells.reshape(count, *(2,) * depth, classes)
    for block in blocks:
        axes = [1 + k for k in block]
        front = np.moveaxis(found, axes, range(1, 1 + len(block)))
        found = np.moveaxis(_averaged(front, len(block), answers.joint(questions[:, block])), range(1, 1 + len(block)), axes)
    return found.reshape(count, 3**depth, classes)


def _averaged(values: Array, width: int, shares: Array) -> Array:
    """The first `width` axes after that of tables with *not asked* as a third answer: there the mean, elsewhere what is left of it."""
    count, rest = len(values), values.shape[1 + width :]
    flat = values.reshape(count, 1 << width, -1)
    mean = np.einsum("ta,tar->tr", shares, flat)
    found = np.zeros((count, *(3,) * width, flat.shape[2]))
    asked = (slice(None), *(slice(0, 2),) * width)
    found[asked] = (flat - mean[:, None]).reshape(count, *(2,) * width, -1)
    found[(slice(None), *(kernels.ABSENT,) * width)] = mean
    return found.reshape(count, *(3,) * width, *rest)


def _column_sets(own: NDArray[np.int64], columns: Questions, blocks: list[list[int]]) -> Iterator[tuple[Any, ...]]:
    """For each set of blocks: the tables, their columns in these blocks, and the bits of the questions there."""
    for size in range(1, len(blocks) + 1):
        for some in combinations(blocks, size):
            yield own, columns[:, [block[0] for block in some]], sum(1 << k for block in some for k in block)


def _by_subject(sets: list[tuple[Any, ...]], names: tuple[str, ...], order: int, marginals: Marginals) -> dict[Subject, Members]:
    """The tables and masks of each set of columns, whose columns stand in the order of the marginals."""
    if not sets:
        return {}
    ranks = np.array([marginals.places[name] for name in names])
    called = {rank: name for rank, name in zip(ranks.tolist(), names, strict=True)}
    keys = [np.pad(np.sort(ranks[columns], axis=1), ((0, 0), (0, order - columns.shape[1])), constant_values=-1) for _, columns, _ in sets]  # fmt: skip
    tables = np.concatenate([own for own, _, _ in sets]).astype(np.int32)
    masks = np.concatenate([np.full(len(own), mask) for own, _, mask in sets]).astype(np.int32)
    met, inverse = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
    by_set = np.argsort(inverse.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(inverse.ravel()))
    parts = np.split(by_set, ends[:-1])
    return {
        Subject(tuple(called[rank] for rank in key if rank >= 0)): (tables[own], masks[own])
        for key, own in zip(met.tolist(), parts, strict=True)
    }
