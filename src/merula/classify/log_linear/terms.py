"""What conditional log-linear models are made of: terms of sets of columns that tell classes apart and describe no rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from merula.classify.log_linear import _kernels as kernels
from merula.classify.log_linear._answers import add_tables
from merula.core import Array, InputError
from merula.core.sound import HEAVIEST, ROUNDING, all_shaped, are_codes, are_labels, are_positive, is_number, within
from merula.data.encode import Encoded
from merula.data.schema import Label
from merula.distributions._lookups import count_below
from merula.distributions.base import Added, Distribution
from merula.distributions.lookups import LARGEST, Axis, Lookup, level_axis, padded
from merula.distributions.mixed_cells import read_cells, refuse_infinite

CONDITIONAL = "its terms were fitted to P(class given row) alone, and say nothing of P(row)"
Levels = tuple[tuple[Label, ...] | None, ...]
LOST = float(np.finfo(np.float64).min)  # below every number: what a missing cell is where that is an answer
MOST_QUESTIONS = 6
GRID = 2.0**30  # steps between two standard deviations: so rounded, a number is the same in every unit
FARTHEST = 5.0  # standard deviations from the mean: numbers beyond are taken for these
ROWS_AT_ONCE = 4_096  # so that their codes stay in the cache
MARGIN, USUAL = 0.05, 3.0  # of the range of a column's cuts, beside them; standard deviations on both sides of a mean
INSTEAD = "NaiveBayesClassifier and BayesClassifier can"


class ConditionalTerms(Distribution):
    """Terms of sets of columns: 0 in all where the columns of the set are missing and being missing is no answer.

    ``gaps[j]`` says whether being missing is an answer of column j.
    """

    level_sets: Levels
    gaps: tuple[bool, ...]
    log_loss: float
    discrete: ClassVar[bool] = True  # a term is no density

    @property
    def no_density(self) -> str:
        return CONDITIONAL

    def log_prob(self, rows: Encoded) -> Array:
        out = np.zeros((len(rows), self.class_count))
        self.add_log_prob(rows, out)
        return out

    @property
    def class_count(self) -> int:
        """The number of classes."""
        raise TypeError(f"{type(self).__name__} must say how many classes it has")

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        raise InputError(f"rows cannot be drawn: {CONDITIONAL}", remedy=INSTEAD)

    def quantiles(self, column: str, probabilities: Array, classes: int) -> Array:
        """Shares of the range over which its terms change, the same for each class: where rows lie, it does not know."""
        low, high = self.reach(self.columns.index(column))
        return np.repeat((low + (high - low) * probabilities)[:, None], classes, axis=1)

    def reach(self, j: int) -> tuple[float, float]:
        """From where to where the terms of a column of numbers change."""
        raise TypeError(f"{type(self).__name__} must say where its terms change")

    def fits(self, classes: int) -> bool:
        d = len(self.columns)
        told = len(self.level_sets) == len(self.gaps) == d and all(type(gap) is bool for gap in self.gaps)
        labelled = all(known is None or are_labels(known) for known in self.level_sets)
        return super().fits(classes) and told and labelled and is_number(self.log_loss, 0.0, HEAVIEST)


@dataclass(frozen=True, eq=False)
class TableTerms(ConditionalTerms):
    """Tables of log terms over yes/no questions.

    Question q asks column ``asked[q]`` whether ``signs · x ≤ bounds[q]``, or whether it is level ``bounds[q]`` (one more than the
    last: whether it is missing). Table t asks ``tables[t]`` (−1: no more questions); its answers, as binary digits, are the row
    of ``values[t]`` (cells × classes) that is added.

    ``shares[q]`` is the share of yes to question q among rows that know the answer. By these, missing columns are averaged out of a
    table, each by itself, and of the table's mean over all answers their share of its columns is taken away, so that what is not
    known at all says nothing. Files of before have no shares: there a table says nothing where any of its columns is missing.
    """

    columns: tuple[str, ...]
    level_sets: Levels
    gaps: tuple[bool, ...]
    signs: Array
    asked: NDArray[np.int32]
    bounds: Array
    tables: NDArray[np.int32]
    values: Array
    rounds: int
    log_loss: float
    shares: Array | None = None

    looked_up: ClassVar[bool] = True
    rows_at_once: ClassVar[int] = ROWS_AT_ONCE

    @property
    def class_count(self) -> int:
        return int(self.values.shape[2])

    @property
    def parameters_count(self) -> int:
        """Tables × cells × (classes − 1)."""
        cells = int((1 << self._depths.astype(np.int64)).sum())
        return cells * (self.class_count - 1)

    def reach(self, j: int) -> tuple[float, float]:
        cuts = self.signs[j] * self.bounds[(self.asked == j) & (self.bounds > LOST)]
        if not len(cuts):
            return 0.0, 0.0
        beside = MARGIN * float(np.ptp(cuts)) or 1.0
        return float(cuts.min()) - beside, float(cuts.max()) + beside

    @cached_property
    def _depths(self) -> NDArray[np.int32]:
        return np.asarray((self.tables >= 0).sum(axis=1), dtype=np.int32)

    @cached_property
    def _searched(self) -> list[Array]:
        """The bounds of each column, as they are searched."""
        return [padded(self.bounds[self.asked == j]) for j in range(len(self.columns))]

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        """The code that each question compares with: which of its column's cuts it is, or which level."""
        first = np.searchsorted(self.asked, np.arange(len(self.columns)))
        is_cut = np.array([known is None for known in self.level_sets], dtype=np.bool_)[self.asked]
        return np.where(is_cut, np.arange(len(self.asked)) - first[self.asked], self.bounds).astype(np.int32)

    def codes(self, rows: Encoded) -> NDArray[np.int32]:
        """For each column and row how many of its cuts lie below, or its level; −1 where nothing is known."""
        cells = read_cells(rows, self.columns, self.level_sets).T
        codes = np.empty(cells.shape, dtype=np.int32)
        for j, own in enumerate(cells):
            codes[j] = self.codes_of(j, own)
        return codes

    def codes_of(self, j: int, cells: Array) -> NDArray[Any]:
        """The codes of one column, from its cells as `read_cells` gives them."""
        known, lost = self.level_sets[j], np.isnan(cells)
        if known is not None:
            return np.where(lost, len(known) if self.gaps[j] else -1, cells).astype(np.int64)
        found = np.empty(len(cells), dtype=np.int32)
        count_below(np.where(lost, LOST, self.signs[j] * cells), self._searched[j], found)
        return found if self.gaps[j] else np.where(lost, -1, found)

    @cached_property
    def _is_word(self) -> NDArray[np.bool_]:
        return np.array([known is not None for known in self.level_sets], dtype=np.bool_)

    def told(self, tables: NDArray[Any]) -> Array:
        """The share of yes to each question of some tables; nothing where there are no shares."""
        return np.zeros((0, 0)) if self.shares is None else self.shares[tables]

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        asked, places, told = self.asked[self.tables], self._places[self.tables], self.told(self.tables)
        add_tables(self.codes(rows), asked, places, self._depths, self.values, told, self._is_word, out)

    def weighted(self, weights: Sequence[float]) -> TableTerms:
        own = np.zeros((len(self.tables), 1, 1))
        for (_, tables), weight in zip(self.column_sets, weights, strict=True):
            own[tables] = weight
        return replace(self, values=own * self.values)

    def split(self, weights: Sequence[float]) -> tuple[tuple[Lookup, ...], tuple[Added, ...]]:
        own, found, alone = self.weighted(weights), list[Lookup](), [np.zeros(0, dtype=np.int64)]
        for (columns, tables), weight in zip(self.column_sets, weights, strict=True):
            if weight and len(tables) >= max(1, len(columns) - 1):
                found += own._lookups(columns, tables)
            elif weight:  # so few tables of so many columns take no longer than what they would be summed up to
                alone.append(tables)
        rest = np.concatenate(alone)
        others = (replace(own, tables=own.tables[rest], values=own.values[rest]),) if len(rest) else ()
        return tuple(found), others

    def _lookups(self, columns: tuple[int, ...], tables: NDArray[np.int64]) -> list[Lookup]:
        """The sum of tables over one set of columns as one table over all of their answers; as several where it would be too large."""
        some, depths = self.tables[tables], self._depths[tables]
        used = np.unique(some[some >= 0])
        place = np.searchsorted(columns, self.asked[used])
        counts = np.bincount(place, minlength=len(columns))
        sizes = counts + np.array([1 + self._is_averaged(j) for j in columns])
        if np.prod(sizes.astype(np.float64)) * self.class_count > LARGEST and len(tables) > 1:
            return [one for half in np.array_split(tables, 2) for one in self._lookups(columns, half)]
        rank = np.arange(len(used)) - (np.cumsum(counts) - counts)[place]
        at = np.searchsorted(used, some).astype(np.int32)
        cells = np.indices(sizes.tolist(), dtype=np.int32).reshape(len(columns), -1)
        cells[cells > counts[:, None]] = -1  # where the column is not known
        found = np.zeros((cells.shape[1], self.class_count))
        add_tables(cells, place.astype(np.int32)[at], rank.astype(np.int32)[at], depths, self.values[tables], self.told(some), self._is_word[list(columns)], found)  # fmt: skip
        axes = tuple(self._axis(j, self.bounds[used[place == k]]) for k, j in enumerate(columns))
        return [Lookup(axes, found.reshape(*sizes, -1))]

    def _is_averaged(self, j: int) -> bool:
        """Whether a column is averaged out where it is missing."""
        return self.shares is not None and not self.gaps[j]

    def _axis(self, j: int, bounds: Array) -> Axis:
        """The answers of a column to some of its questions, as cells: how many bounds lie below, or which level was asked for, or none; and not known."""
        known, q = self.level_sets[j], len(bounds)
        nothing = q + 1 if self._is_averaged(j) else -1
        if known is None:
            lost, cells, rising = 0 if self.gaps[j] else nothing, np.arange(q + 1), self.signs[j] > 0
            # −x ≤ b is x ≥ −b, which no number just below −b is
            cuts = bounds if rising else np.nextafter(-bounds, -np.inf)[::-1]
            return Axis(self.columns[j], cuts, np.append(cells if rising else cells[::-1], [lost, lost]))
        cells = np.full(len(known) + 2, q)
        cells[bounds.astype(np.int64)] = np.arange(q)
        cells[-2:] = cells[-2] if self.gaps[j] else nothing
        return Axis(self.columns[j], known, cells)

    @cached_property
    def column_sets(self) -> list[tuple[tuple[int, ...], NDArray[np.int64]]]:
        """The sets of columns that are asked together, each with its tables; columns that are never asked, each by itself."""
        sets: dict[tuple[int, ...], list[int]] = {}
        for t, questions in enumerate(self.tables):
            sets.setdefault(tuple(np.unique(self.asked[questions[questions >= 0]]).tolist()), []).append(t)
        silent = set(range(len(self.columns))) - {j for some in sets for j in some}
        sets |= {(j,): [] for j in silent}
        return [(some, np.array(sets[some], dtype=np.int64)) for some in sorted(sets, key=lambda some: (len(some), some))]  # fmt: skip

    @property
    def factors_count(self) -> int:
        return len(self.column_sets)

    def factors(self) -> tuple[Distribution, ...]:
        return tuple(self._part(columns, tables) for columns, tables in self.column_sets)

    def _part(self, columns: tuple[int, ...], tables: NDArray[np.int64]) -> TableTerms:
        """The tables over one set of columns, as a model of these columns alone."""
        some = self.tables[tables]
        used = np.unique(some[some >= 0])
        renumbered = np.full(len(self.asked) + 1, -1, dtype=np.int32)
        renumbered[used] = np.arange(len(used))
        return replace(
            self,
            columns=tuple(self.columns[j] for j in columns),
            level_sets=tuple(self.level_sets[j] for j in columns),
            gaps=tuple(self.gaps[j] for j in columns),
            signs=self.signs[list(columns)],
            asked=np.searchsorted(columns, self.asked[used]).astype(np.int32),
            bounds=self.bounds[used],
            tables=renumbered[some],
            values=self.values[tables],
            shares=None if self.shares is None else self.shares[used],
        )

    def fits(self, classes: int) -> bool:
        q, d = len(self.bounds), len(self.columns)
        if not super().fits(classes) or not is_number(self.rounds, 0, 2**53) or type(self.rounds) is not int:
            return False
        if not all_shaped((d,), self.signs) or not (np.abs(self.signs) == 1).all():
            return False
        asked = all_shaped((q,), self.bounds) and are_codes(self.asked, (q,), np.int32, 0, d) and self._are_questions()
        return asked and self._are_tables(classes) and (self.shares is None or self._are_shares(self.shares))

    def _are_shares(self, shares: Array) -> bool:
        """True when the shares of yes rise with the cut, and those of a column's levels make no more than a whole."""
        if not all_shaped((len(self.asked),), shares) or not within(0.0, 1.0, shares):
            return False
        is_cut = ~self._is_word[self.asked]
        whole = np.bincount(self.asked[~is_cut], shares[~is_cut], minlength=1).max() <= 1.0 + ROUNDING
        return bool(whole and (np.diff(shares)[is_cut[1:] & (np.diff(self.asked) == 0)] >= 0).all())

    def _are_questions(self) -> bool:
        """True when questions stand in the order of columns and bounds, and ask for numbers, or for levels that there are."""
        if not within(LOST, -LOST, self.bounds):
            return False
        ahead = (np.diff(self.asked) > 0) | ((np.diff(self.asked) == 0) & (np.diff(self.bounds) > 0))
        sizes = [len(known) + gap if known is not None else 0 for known, gap in zip(self.level_sets, self.gaps, strict=True)]  # fmt: skip
        is_word = self._is_word[self.asked]
        levels = self.bounds[is_word]
        known = (levels >= 0) & (levels < np.array(sizes)[self.asked[is_word]]) & (levels == np.floor(levels))
        return bool(ahead.all() and known.all())

    def _are_tables(self, classes: int) -> bool:
        """True when every table asks questions that there are, one at least, and has a value for each cell and class."""
        if not isinstance(self.tables, np.ndarray) or self.tables.ndim != 2:
            return False
        count, order = self.tables.shape
        if not 1 <= order <= MOST_QUESTIONS or not are_codes(
            self.tables, (count, order), np.int32, -1, len(self.asked)
        ):
            return False
        shaped = all_shaped((count, 2**order, classes), self.values) and within(-HEAVIEST, HEAVIEST, self.values)
        no_gaps = (np.diff((self.tables >= 0).astype(np.int8), axis=1) <= 0).all() and (self.tables[:, 0] >= 0).all()
        return shaped and bool(no_gaps)


def standardised(cells: Array, center: Array, scale: Array) -> Array:
    """(x − center) / scale between −5 and 5, rounded so that it is the same in every unit; missing stays NaN."""
    with np.errstate(over="ignore"):
        z = np.clip((cells - center) / scale, -FARTHEST, FARTHEST)
    return np.rint(z * GRID) / GRID


@dataclass(frozen=True, eq=False)
class QuadraticTerms(ConditionalTerms):
    """A weight for each class of every number, its square and its product with others, and of every level.

    z is x in standard deviations. A column of numbers adds constant + linear·z + square·z², or constant + `missing`; a column of
    words constant + the row of its ``level_weights`` (one more than the last: missing); a pair of columns ``products`` · (z_i·z_j −
    ``middle``).
    """

    columns: tuple[str, ...]
    level_sets: Levels
    gaps: tuple[bool, ...]
    center: Array
    scale: Array
    constant: Array
    linear: Array
    square: Array
    missing: Array
    level_weights: tuple[Array, ...]
    pairs: NDArray[np.int32]
    middle: Array
    products: Array
    ridge: float
    log_loss: float

    @property
    def class_count(self) -> int:
        return int(self.constant.shape[1])

    @property
    def parameters_count(self) -> int:
        """The weights that are not 0, and the constants together as one, for each class but one."""
        arrays = (self.linear, self.square, self.missing, self.products, *self.level_weights)
        weights = sum(int(array.any(axis=1).sum()) for array in arrays) + bool(self.constant.any())
        return weights * (self.class_count - 1)

    def reach(self, j: int) -> tuple[float, float]:
        beside = USUAL * abs(float(self.scale[j]))
        return float(self.center[j]) - beside, float(self.center[j]) + beside

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        names = [self.columns[j] for j in self._numbers]
        if names:
            infinite = kernels.add_quadratic(rows.values(names), self._quadratic, FARTHEST, GRID, out)
            refuse_infinite(names, infinite)
        if self._words:
            words = tuple(self._words)
            cells = read_cells(rows, [self.columns[j] for j in words], [self.level_sets[j] for j in words])
            for own, table in zip(cells.T, self._words.values(), strict=True):
                out += table[np.where(np.isnan(own), -1, own).astype(np.int64)]

    @cached_property
    def _numbers(self) -> list[int]:
        """Which columns hold numbers."""
        return [j for j, known in enumerate(self.level_sets) if known is None]

    @cached_property
    def _words(self) -> dict[int, Array]:
        """What each level of each column of words adds in all, and a missing one at the end."""
        found = {j: self.constant[j] + weights for j, weights in enumerate(self.level_weights) if self.level_sets[j] is not None}  # fmt: skip
        for j, table in found.items():
            table[-1] = self.level_weights[j][-1] + (self.constant[j] if self.gaps[j] else 0.0)
        return found

    @cached_property
    def _quadratic(self) -> kernels.Quadratic:
        numbers = self._numbers
        center, scale, constant, linear, square, missing = (getattr(self, name)[numbers] for name in ("center", "scale", "constant", "linear", "square", "missing"))  # fmt: skip
        known = np.where(np.array(self.gaps, dtype=np.bool_)[numbers, None], 0.0, constant)
        pairs = np.searchsorted(numbers, self.pairs).astype(np.int32)
        total = constant.sum(axis=0) - self.middle @ self.products
        return kernels.Quadratic(
            center, scale, known, linear, square, missing, pairs, self.middle, self.products, total
        )

    def weighted(self, weights: Sequence[float]) -> QuadraticTerms:
        alone, together = np.split(np.array(weights)[:, None], [len(self.columns)])
        scaled = {name: alone * getattr(self, name) for name in ("constant", "linear", "square", "missing")}
        level_weights = tuple(weight * table for weight, table in zip(alone, self.level_weights, strict=True))
        return replace(self, **scaled, level_weights=level_weights, products=together * self.products)

    def split(self, weights: Sequence[float]) -> tuple[tuple[Lookup, ...], tuple[Added, ...]]:
        own = self.weighted(weights)
        words = ((level_axis(own.columns[j], own.level_sets[j] or (), len(table) - 1, len(table) - 1), table) for j, table in own._words.items())  # fmt: skip
        numbers = (own._part(self._numbers, np.arange(len(self.pairs))),) if self._numbers else ()
        return tuple(Lookup((axis,), table) for axis, table in words), numbers

    @property
    def factors_count(self) -> int:
        return len(self.columns) + len(self.pairs)

    def factors(self) -> tuple[Distribution, ...]:
        singles = [self._part([j], np.zeros(0, dtype=np.int64)) for j in range(len(self.columns))]
        pairs = [self._part(pair, np.array([k]), alone=False) for k, pair in enumerate(self.pairs.tolist())]
        return (*singles, *pairs)

    def _part(self, some: list[int], pairs: NDArray[np.int64], alone: bool = True) -> QuadraticTerms:
        """What some columns add and some pairs of them; or these pairs besides what columns add alone."""
        return replace(
            self,
            columns=tuple(self.columns[j] for j in some),
            level_sets=tuple(self.level_sets[j] for j in some),
            gaps=tuple(self.gaps[j] for j in some),
            center=self.center[some],
            scale=self.scale[some],
            **{name: getattr(self, name)[some] * alone for name in ("constant", "linear", "square", "missing")},
            level_weights=tuple(self.level_weights[j] for j in some),
            pairs=np.searchsorted(some, self.pairs[pairs]).astype(np.int32).reshape(-1, 2),
            middle=self.middle[pairs],
            products=self.products[pairs],
        )

    def fits(self, classes: int) -> bool:
        d, m = len(self.columns), len(self.middle)
        if not (
            super().fits(classes) and is_number(self.ridge, 0.0, HEAVIEST) and all_shaped((d,), self.center, self.scale)
        ):
            return False
        weights = (self.constant, self.linear, self.square, self.missing)
        shaped = (
            all_shaped((d, classes), *weights)
            and all_shaped((m,), self.middle)
            and all_shaped((m, classes), self.products)
        )
        if not shaped or not are_codes(self.pairs, (m, 2), np.int32, 0, d) or len(self.level_weights) != d:
            return False
        sizes = [0 if known is None else len(known) + 1 for known in self.level_sets]
        words = all(all_shaped((size, classes), table) for size, table in zip(sizes, self.level_weights, strict=True))
        sound = words and within(
            -HEAVIEST, HEAVIEST, self.center, self.middle, self.products, *weights, *self.level_weights
        )
        numbers = all(self.level_sets[j] is None for j in np.unique(self.pairs).tolist())
        return sound and are_positive(np.abs(self.scale)) and numbers and self._silent_gaps()

    def _silent_gaps(self) -> bool:
        """True when a missing cell says something only where that is an answer; of words, in their own table."""
        tables = [table[-1:] if len(table) else self.missing[[j]] for j, table in enumerate(self.level_weights)]
        silent = all(gap or not table.any() for gap, table in zip(self.gaps, tables, strict=True))
        return silent and not self.missing[list(self._words)].any()
