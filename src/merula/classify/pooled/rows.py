"""What the parts of a pool are fitted to: distinct rows with their folds; of very many rows, some, chosen by their content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from merula.classify.folds import Folds, Some, canonical_order, in_turn, some_of_each, text_hashes
from merula.core import Array
from merula.core.logspace import log_sum_exp
from merula.data.encode import Encoded, Target
from merula.data.schema import Label, Schema
from merula.distributions.mixed_cells import read_cells
from merula.stats.distinct_rows import distinct_rows
from merula.stats.kept_rows import mixed

FOLDS = 5
DIGITS = 12  # losses are compared rounded to this many
FEWEST_MISSING, LEAST_MISSING = (
    10.0,
    0.03,
)  # rows, or the share of rows, that lack a cell where being missing is an answer
MOST_WORK = 2.0**24  # units of about 4 µs: a minute or so
WORK_OF_A_CELL = 4.0  # units, and one for each class
FEWEST_ROWS, FEWEST_OF_A_CLASS = 3_000, 30  # that are learned from, however much work they are, where there are so many
SAME = 1e-12  # of a column's mean: a deviation that is none
MOST_JUDGED = 20_000  # rows that the pool is judged by
LevelSets = Mapping[str, tuple[Label, ...] | None]


@dataclass(frozen=True, eq=False)
class Rows:
    """What parts are fitted to: rows, classes, the columns' levels (None for numbers), the schema, a canonical order, folds.

    ``places`` says where each row stands in the table. Of columns in `answered`, being missing is an answer. The pool is judged by the rows in `judged`; `told` says what was left out, and why.
    """

    rows: Encoded
    places: NDArray[np.int64]
    target: Target
    level_sets: Mapping[str, tuple[Label, ...] | None]
    schema: Schema
    order: NDArray[np.int64]
    folds: Folds
    log_prior: Array
    answered: frozenset[str]
    judged: Some
    told: Mapping[str, str]
    n_jobs: int | None

    @classmethod
    def of(
        cls,
        rows: Encoded,
        target: Target,
        level_sets: LevelSets,
        schema: Schema,
        missing: str,
        most: float,
        n_jobs: int | None,
    ) -> Rows:
        """The rows with their folds; equal rows as one of their weight, so that a weight of 2 equals the row twice.

        Of more rows than are worth `most` units of work, some are chosen, by their content.
        """
        weights = np.ones(len(rows)) if target.weights is None else target.weights
        shares = np.bincount(target.codes, weights, minlength=len(target.classes))
        answered = _answered(rows, level_sets, weights, missing)
        cells = {name: read_cells(rows, (name,), (known,))[weights > 0, 0] for name, known in level_sets.items()}
        level_sets = {name: known for name, known in level_sets.items() if _varies(cells[name], name in answered)}
        enough = max(FEWEST_ROWS, int(most / (max(1, len(level_sets)) * (WORK_OF_A_CELL + len(target.classes)))))
        told = {"rows": f"learned from {enough:,} of {len(rows):,} rows, chosen by their content"} if enough < len(rows) else {}  # fmt: skip
        places = np.arange(len(rows))
        if told:
            some = _sampled(rows, target, weights, schema, enough)
            places, rows, target, weights = some.indices, rows.take(some.indices), target.take(some.indices), some.weights  # fmt: skip
        first, together = _united(rows, target, weights, level_sets)
        places, rows, target = places[first], rows.take(first), Target(target.codes[first], target.classes, together)
        weights = np.asarray(target.weights)
        order = canonical_order(rows, target, schema)
        judged = some_of_each(Folds(weights[:, None]), order, MOST_JUDGED)[0]
        return cls(rows, places, target, level_sets, schema, order, in_turn(order, weights, FOLDS), np.log(shares / shares.sum()), answered, judged, told, n_jobs)  # fmt: skip

    @property
    def answers(self) -> dict[str, tuple[Label, ...] | None]:
        """The levels of each column, missing among them where it is an answer."""
        return {name: (*known, None) if known and name in self.answered else known for name, known in self.level_sets.items()}  # fmt: skip

    @property
    def weights(self) -> Array:
        """The rows' weights."""
        return np.asarray(self.target.weights)

    @property
    def own_log_prior(self) -> Array:
        """log P(class) among these rows; where they were chosen from many, not quite that of all."""
        shares = np.bincount(self.target.codes, self.weights, minlength=len(self.target.classes))
        return np.log(shares / shares.sum())  # type: ignore[no-any-return]

    def loss(self, terms: Array) -> float:
        """−Σ weight · log P(own class given row) by these terms, rounded so that equal losses are equal."""
        scores = self.log_prior + terms
        own = log_sum_exp(scores) - scores[np.arange(len(scores)), self.target.codes]
        return float(f"{float(self.weights @ own):.{DIGITS}g}")


def standard(cells: Array, weights: Array) -> tuple[Array, Array]:
    """The weighted mean and deviation of each column, NaN left out; the deviation is 0 where nothing varies."""
    known, filled = np.where(np.isnan(cells), 0.0, weights[:, None]), np.nan_to_num(cells)
    power = np.exp2(np.frexp(np.abs(filled).max(axis=0, initial=0.0))[1])  # squares of what is left are numbers
    filled, total = filled / power, np.maximum(known.sum(axis=0), 1e-300)
    centre = (known * filled).sum(axis=0) / total
    deviation = np.sqrt((known * (filled - centre) ** 2).sum(axis=0) / total)
    return power * centre, np.where(deviation > SAME * np.abs(centre), power * deviation, 0.0)


def _sampled(rows: Encoded, target: Target, weights: Array, schema: Schema, most: int) -> Some:
    """About so many rows: one in so many units of weight along a canonical order, but enough of each class; classes keep their share."""
    order, codes = canonical_order(rows, target, schema), np.asarray(target.codes, dtype=np.int64)
    some = some_of_each(Folds(weights[:, None]), order, most)[0]
    found = np.zeros(len(rows))
    found[some.indices] = some.weights
    shares = np.bincount(codes, weights) * (found.sum() / weights.sum())
    met = np.bincount(codes, found > 0)
    for label in np.flatnonzero(met < FEWEST_OF_A_CLASS).tolist():
        own = np.where(codes == label, weights, 0.0)
        more = some_of_each(Folds(own[:, None]), order, FEWEST_OF_A_CLASS)[0]
        found[codes == label] = 0.0
        found[more.indices] = more.weights * (shares[label] / more.weights.sum()) if len(more.indices) else 0.0
    indices = np.flatnonzero(found > 0)
    return Some(indices, found[indices])


def _united(rows: Encoded, target: Target, weights: Array, level_sets: LevelSets) -> tuple[NDArray[np.int64], Array]:
    """The first of each row that differs, those without weight left out; equal rows of a class have their weight together."""
    kept, names = np.flatnonzero(weights > 0), tuple(sorted(level_sets))
    cells = read_cells(rows, names, [level_sets[name] for name in names]) if names else np.zeros((len(rows), 0))
    cells = np.where(np.isnan(cells), np.nan, cells + 0.0)  # of NaN there are many, of one meaning
    keys = [np.asarray(target.codes, dtype=np.uint64)[:, None], np.ascontiguousarray(cells).view(np.uint64)]
    keys += [text_hashes(rows, name)[:, None] for name in rows.texts]
    first, of_row = _distinct(np.ascontiguousarray(np.hstack(keys)[kept]))
    together: Array = np.bincount(of_row, weights[kept], minlength=len(first)).astype(np.float64)
    return kept[first], together


def _distinct(bits: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first index of every distinct row, and for each row which of them it is."""
    hashes = np.zeros(len(bits), dtype=np.uint64)
    for column in bits.T:
        hashes = mixed(hashes + mixed(column))
    _, first, of_row = np.unique(hashes, return_index=True, return_inverse=True)
    alike = np.array_equal(bits[first[of_row]], bits)  # two rows of one hash are hardly ever met
    return (first, of_row) if alike else distinct_rows(bits.view(np.uint8))


def _varies(column: Array, answered: bool) -> bool:
    """Whether a column gives two different answers."""
    known = column[~np.isnan(column)]
    return bool(len(known)) and (bool((known != known[0]).any()) or (answered and len(known) < len(column)))


def _answered(rows: Encoded, level_sets: LevelSets, weights: Array, missing: str) -> frozenset[str]:
    """The columns of which being missing is an answer: all with ``missing="level"``, with "auto" those that miss it often enough to learn from."""
    if missing == "marginalise":
        return frozenset()
    names = tuple(sorted(level_sets))
    lost = (
        np.isnan(read_cells(rows, names, [level_sets[name] for name in names])) if names else np.zeros((len(rows), 0))
    )
    fewest = min(FEWEST_MISSING, LEAST_MISSING * float(weights.sum())) if missing == "auto" else 0.0
    return frozenset(name for name, weight in zip(names, (weights @ lost).tolist(), strict=True) if weight > 0 and weight >= fewest)  # fmt: skip
