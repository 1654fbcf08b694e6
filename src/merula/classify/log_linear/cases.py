"""Distinct rows in an order of their own: what is learned from them depends on nothing but what rows hold.

Neither the order of rows, columns, levels and classes matters, nor what columns are called, nor the unit of a number or which
way it counts: classes, columns and rows are put in an order of their content, and each column of numbers is turned the way
its content says. A row of weight 2 and the row twice are the same case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.classify.folds import in_turn, label_hash, number_hashes
from merula.core import Array
from merula.data.encode import Target
from merula.data.schema import Label
from merula.stats.kept_rows import mixed

Codes = NDArray[np.int32]
Hashes = NDArray[np.uint64]
MISSING = -1  # the code of a cell that says nothing
MOST_LEVELS = 250  # of a column that are asked for, the most frequent ones
MIDDLE = 1e-9  # of half a range: values so near to the middle of their column are on neither side of it
BELOW, ABOVE = 0, 2  # the middle of a column
FOLDS = 5


@dataclass(frozen=True, eq=False)
class Variable:
    """One column as questions are asked of it; ``place`` is where it stands among all columns of the model.

    ``met`` are its numbers, ascending and multiplied by ``sign``, with −inf for missing where that is an answer; or its levels as
    indices, the most frequent first, with −1 for missing where that is an answer. A case's code is an index of ``met``, one
    more than the last for a rare level, `MISSING` where nothing is known. ``gaps`` says whether being missing is an answer.
    """

    place: int
    is_word: bool
    met: Array
    sign: float
    gaps: bool


@dataclass(frozen=True, eq=False)
class Cases:
    """Distinct rows: codes (columns × cases), classes by rank, weights; ``ranks[r]`` is the class of rank r, ``of_row`` the case of each row.

    ``hashes`` depend on what a case holds besides its class. Classes of one number in ``alike`` hold the same, so that they have the same
    folds, and terms.
    """

    variables: tuple[Variable, ...]
    codes: Codes
    labels: NDArray[np.int64]
    weight: Array
    hashes: Hashes
    ranks: NDArray[np.int64]
    alike: NDArray[np.int64]
    of_row: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def log_prior(self) -> Array:
        """log P(class) by rank, as counted."""
        counts = np.bincount(self.labels, self.weight, minlength=len(self.ranks))
        return np.log(counts / counts.sum())  # type: ignore[no-any-return]

    def shares(self, repeats: int) -> Array:
        """How much of each case's weight lies in each fold, cases × (repeats · folds): each repeat deals all cases anew."""
        folds = int(np.clip(np.ceil(self.weight.sum()), 2, FOLDS))
        return np.hstack([self._dealt(folds, repeat).round(12) for repeat in range(repeats)])

    def _dealt(self, folds: int, repeat: int) -> Array:
        """Each class dealt round by itself, in an order that the repeat decides."""
        shares, order = np.zeros((len(self), folds)), np.argsort(mixed(self.hashes + np.uint64(repeat)), kind="stable")
        for label, first in enumerate(self.alike.tolist()):
            own = order[self.labels[order] == label]
            dealt = in_turn(np.arange(len(own)), np.zeros(len(own)), self.weight[own], folds, (first << 8) + repeat).shares  # fmt: skip
            shares[own] = np.roll(dealt, first + repeat, axis=1)
        return shares

    def evened(self, values: Array) -> Array:
        """Numbers by class (their last axis), where classes that are alike have their mean: what rounding leaves between them is no difference."""
        same = (self.alike[:, None] == self.alike).astype(np.float64)
        return values if same.sum() == len(same) else values @ (same / same.sum(axis=0))

    def shares_of(self, shares: Array) -> Array:
        """The same for folds that rows were dealt to by others: rows × folds."""
        known = self.of_row >= 0
        columns = [np.bincount(self.of_row[known], column[known], minlength=len(self)) for column in shares.T]
        return np.column_stack(columns).astype(np.float64).round(12)

    def of_rows(self, scores: Array) -> Array:
        """What is known of each case and class by rank, for each row and class; 0 where a row has no weight."""
        found = np.zeros((len(self.of_row), len(self.ranks)))
        known = self.of_row >= 0
        found[np.ix_(known, self.ranks)] = scores[self.of_row[known]]
        return found


def per_weight(scores: Array, shares: Array) -> Array:
    """Scores that folds have added up by their shares of each case, per weight; 0 where hardly any weight was dealt."""
    dealt = shares.sum(axis=1, keepdims=True)
    found: Array = np.divide(scores, dealt, out=np.zeros_like(scores), where=dealt > 0)
    return found


def distinct_cases(
    cells: Array, level_sets: Sequence[tuple[Label, ...] | None], target: Target, gaps: Sequence[bool]
) -> Cases:
    """The cases that rows make up; cells are as `read_cells` gives them, columns that do not vary are left out.

    ``gaps`` says of which columns being missing is an answer.
    """
    weights = np.ones(len(cells)) if target.weights is None else target.weights
    kept = np.flatnonzero(weights > 0)
    cells, weights, codes = cells[kept], weights[kept], np.asarray(target.codes)[kept].astype(np.int64)
    varying = [j for j in range(cells.shape[1]) if varies(cells[:, j], gaps[j])]
    hashed = {j: _cell_hashes(cells[:, j], level_sets[j], weights) for j in varying}
    heavy = np.bincount(codes, weights, minlength=len(target.classes)).astype(np.float64)
    sizes = np.unique([float(f"{-weight:.12g}") for weight in heavy], return_inverse=True)[1]  # 0 for the heaviest
    total = mixed(sizes[codes].astype(np.uint64))  # classes of equal weight are not told apart before rows are
    for hashes in hashed.values():
        total = total + hashes
    variables, answers = _variables(cells, level_sets, hashed, total, weights, gaps)
    hashes = np.zeros(len(cells), dtype=np.uint64)
    for j, column in enumerate(answers):
        hashes = hashes + mixed((column.astype(np.int64) + 1).astype(np.uint64) + mixed(np.uint64(j)))
    tallies = [_tally(hashes[codes == label], weights[codes == label]) for label in range(len(heavy))]
    ranks = np.array(sorted(range(len(heavy)), key=lambda label: (sizes[label], tallies[label])), dtype=np.int64)
    alike = np.unique([tallies[label] for label in ranks], return_inverse=True)[1]
    labels = np.argsort(ranks)[codes]
    return _united(variables, answers, hashes, labels, weights, (ranks, alike), kept, len(target.codes))


def varies(column: Array, gaps: bool) -> bool:
    """Whether a column gives two different answers."""
    known = column[~np.isnan(column)]
    return bool(len(known)) and (bool((known != known[0]).any()) or (gaps and len(known) < len(column)))


def _cell_hashes(column: Array, levels: tuple[Label, ...] | None, weights: Array) -> Hashes:
    """A number for each cell, the same in every unit, whichever way a number counts and whatever order levels have."""
    if levels is None:
        hashes = number_hashes(column, np.ones(len(column), dtype=np.bool_))
        more, side = _sides(column, weights)
        return np.asarray(mixed(hashes + side)) if more else hashes
    words = np.array([label_hash(label) for label in (None, *levels)], dtype=np.uint64)
    return np.asarray(mixed(words[np.where(np.isnan(column), -1, column).astype(np.int64) + 1]))


def _tally(hashes: Hashes, weights: Array) -> int:
    """A number for a set of hashes with their weights, in any order, split or not."""
    met, indices = np.unique(hashes, return_inverse=True)
    total = np.bincount(indices, weights, minlength=len(met)).astype(np.float32).view(np.uint32).astype(np.uint64)
    return int(mixed(met ^ mixed(total)).sum(dtype=np.uint64))


def _variables(
    cells: Array,
    level_sets: Sequence[tuple[Label, ...] | None],
    hashed: dict[int, Hashes],
    total: Hashes,
    weights: Array,
    gaps: Sequence[bool],
) -> tuple[tuple[Variable, ...], list[Codes]]:
    """The columns in an order of their content, and each one's codes; numbers turned one after the other."""
    rows = mixed(total)
    keys = {j: int(np.unique(mixed(rows + hashes)).sum(dtype=np.uint64)) for j, hashes in hashed.items()}
    variables, answers = [], []
    for j in sorted(hashed, key=lambda j: (keys[j], j)):
        words = level_sets[j]
        if words is None:
            sign, side = _turned(cells[:, j], total, weights)
            total = total + mixed(hashed[j] + side)
            met, codes = _number_codes(sign * cells[:, j], gaps[j])
        else:
            sign, (met, codes) = 1.0, _level_codes(cells[:, j], len(words), weights, gaps[j])
        answered = gaps[j] and bool(np.isnan(cells[:, j]).any())
        variables.append(Variable(j, words is not None, met, sign, answered))
        answers.append(codes)
    return tuple(variables), answers


def _turned(column: Array, total: Hashes, weights: Array) -> tuple[float, Hashes]:
    """1 or −1, so that more lies above the middle than below; and on which side each cell is then. Ties go by what rows hold besides."""
    more, side = _sides(column, weights)
    if not more:
        above, below = side == ABOVE, side == BELOW
        more = 1.0 if _tally(total[above], weights[above]) >= _tally(total[below], weights[below]) else -1.0
        side = side if more > 0 else np.where(side == 1, 1, ABOVE - side).astype(np.uint64)
    return more, side


def _sides(column: Array, weights: Array) -> tuple[float, Hashes]:
    """1 or −1, so that more lies above the middle of a column than below, 0 for as much; and for each cell 2 above it, 0 below, else 1."""
    known = ~np.isnan(column)
    low, high = column[known].min(), column[known].max()
    half = 0.5 * high - 0.5 * low
    away = np.where(known, (0.5 * column - 0.25 * low - 0.25 * high) / (half or 1.0), 0.0)
    above, below = away > MIDDLE, away < -MIDDLE
    more = float(weights[above].sum() - weights[below].sum())
    sign = 0.0 if abs(more) <= MIDDLE * float(weights.sum()) else float(np.sign(more))
    return sign, np.where(above, 1 + (sign or 1.0), np.where(below, 1 - (sign or 1.0), 1)).astype(np.uint64)


def _number_codes(values: Array, gaps: bool) -> tuple[Array, Codes]:
    """Numbers by rank; missing is the least of them where it is an answer."""
    lost = np.isnan(values)
    if gaps and lost.any():
        values, lost = np.where(lost, -np.inf, values), np.zeros_like(lost)
    met, ranks = np.unique(values[~lost] + 0.0, return_inverse=True)
    codes = np.full(len(values), MISSING, dtype=np.int32)
    codes[~lost] = ranks
    return met, codes


def _level_codes(column: Array, count: int, weights: Array, gaps: bool) -> tuple[Array, Codes]:
    """Levels by how frequent they are; missing is one of them, the last, where it is an answer."""
    lost = np.isnan(column)
    levels = np.where(lost, count, column).astype(np.int64)
    heavy = np.bincount(levels, weights, minlength=count + 1)
    heavy[count] *= gaps
    order = sorted(np.flatnonzero(heavy).tolist(), key=lambda level: (-float(f"{heavy[level]:.12g}"), level))
    asked = order[:MOST_LEVELS]
    places = np.full(count + 1, len(asked), dtype=np.int32)
    places[asked] = np.arange(len(asked))
    if not gaps:
        places[count] = MISSING
    return np.array([-1 if level == count else level for level in asked], dtype=np.float64), places[levels]


def _united(
    variables: tuple[Variable, ...],
    answers: Sequence[Codes],
    hashes: Hashes,
    labels: NDArray[np.int64],
    weights: Array,
    of_classes: tuple[NDArray[np.int64], NDArray[np.int64]],
    kept: NDArray[np.int64],
    count: int,
) -> Cases:
    """Equal rows of a class as one case of their weight, cases in the order of classes and hashes."""
    order = np.lexsort((hashes, labels))
    sorted_codes = np.array([codes[order] for codes in answers], dtype=np.int32).reshape(len(answers), len(order))
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (labels[order][1:] != labels[order][:-1]) | (sorted_codes[:, 1:] != sorted_codes[:, :-1]).any(axis=0)
    first = np.flatnonzero(new)
    of_row: NDArray[Any] = np.full(count, -1, dtype=np.int64)
    of_row[kept[order]] = np.cumsum(new) - 1
    weight = np.add.reduceat(weights[order], first)
    codes = np.ascontiguousarray(sorted_codes[:, first])
    return Cases(variables, codes, labels[order][first], weight, hashes[order][first], *of_classes, of_row)
