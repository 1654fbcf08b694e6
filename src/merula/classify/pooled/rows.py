"""What the parts of a pool are fitted to: distinct rows with their folds; of very many rows, some, chosen by their content."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from merula.classify.folds import Folds, Some, canonical_order, in_turn, some_of_each, text_hashes
from merula.classify.log_linear.cases import varies
from merula.core import Array
from merula.core.logspace import log_sum_exp
from merula.data.encode import Encoded, Target
from merula.data.schema import Label, Schema
from merula.distributions.mixed_cells import read_cells
from merula.stats.distinct_rows import distinct_rows
from merula.stats.kept_rows import mixed

FOLDS = 5
DIGITS = 12  # losses are compared rounded to this many
# rows, or the share of rows, that lack a cell where being missing is an answer
FEWEST_MISSING, LEAST_MISSING = 10.0, 0.03
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

        Of more different rows than are worth `most` units of work, some are chosen, by their content.
        """
        weights = np.ones(len(rows)) if target.weights is None else target.weights
        shares = np.bincount(target.codes, weights, minlength=len(target.classes))
        answered, level_sets = _told_columns(rows, level_sets, weights, missing)
        places, weights = _united(rows, target, weights, level_sets)
        enough = max(FEWEST_ROWS, int(most / (max(1, len(level_sets)) * (WORK_OF_A_CELL + len(target.classes)))))
        told = {}
        if enough < len(places):
            different = len(places)
            places, weights = _sampled(rows, target, (places, weights), schema, enough)
            kind = "different rows" if different < len(rows) else "rows"
            told["rows"] = f"learned from {len(places):,} of {different:,} {kind}, chosen by their content"
        rows, target = rows.take(places), Target(target.codes[places], target.classes, weights)
        order = canonical_order(rows, target, schema)
        judged = some_of_each(Folds(weights[:, None]), order, MOST_JUDGED)[0]
        return cls(rows, places, target, level_sets, schema, order, in_turn(order, target.codes, weights, FOLDS), np.log(shares / shares.sum()), answered, judged, told, n_jobs)  # fmt: skip

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


def _sampled(rows: Encoded, target: Target, different: tuple[NDArray[np.int64], Array], schema: Schema, most: int) -> tuple[NDArray[np.int64], Array]:  # fmt: skip
    """About so many of the different rows, with weights: one in so many units of weight along a canonical order, but enough of each class; classes keep their share."""
    places, together = different
    weights = np.zeros(len(rows))
    weights[places] = together
    order = canonical_order(rows, Target(target.codes, target.classes, weights), schema)
    codes = np.asarray(target.codes, dtype=np.int64)
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
    kept = places[found[places] > 0]
    return kept, found[kept]


def _united(rows: Encoded, target: Target, weights: Array, level_sets: LevelSets) -> tuple[NDArray[np.int64], Array]:
    """The first of each row that differs, those without weight left out; equal rows of a class have their weight together."""
    kept = np.flatnonzero(weights > 0)

    def keys() -> Iterator[NDArray[np.uint64]]:
        yield np.asarray(target.codes, dtype=np.uint64)[kept]
        for name in sorted(level_sets):
            cells = read_cells(rows, (name,), (level_sets[name],))[kept, 0]
            yield np.where(np.isnan(cells), np.nan, cells + 0.0).view(
                np.uint64
            )  # of NaN there are many, of one meaning
        for name in rows.texts:
            yield text_hashes(rows, name)[kept]

    first, of_row = _distinct(keys)
    together: Array = np.bincount(of_row, weights[kept], minlength=len(first)).astype(np.float64)
    return kept[first], together


def _distinct(keys: Callable[[], Iterator[NDArray[np.uint64]]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first index of every row that differs, and for each row which of them it is; `keys` gives their columns, one after the other."""
    hashes = np.zeros(1, dtype=np.uint64)
    for column in keys():
        hashes = mixed(hashes + mixed(column))
    _, first, of_row = np.unique(hashes, return_index=True, return_inverse=True)
    if len(first) == len(hashes) or all(np.array_equal(column[first[of_row]], column) for column in keys()):
        return first, of_row
    return distinct_rows(
        np.ascontiguousarray(np.column_stack(list(keys()))).view(np.uint8)
    )  # two rows of one hash are hardly ever met


def _told_columns(rows: Encoded, level_sets: LevelSets, weights: Array, missing: str) -> tuple[frozenset[str], LevelSets]:  # fmt: skip
    """The columns of which being missing is an answer, and those that give two different answers, with their levels.

    It is one in all columns with ``missing="level"``, with "auto" in those that miss it often enough to learn from.
    """
    fewest = min(FEWEST_MISSING, LEAST_MISSING * float(weights.sum())) if missing == "auto" else 0.0
    answered, varying = set[str](), dict[str, tuple[Label, ...] | None]()
    for name, known in level_sets.items():
        cells = read_cells(rows, (name,), (known,))[:, 0]
        lost = float(weights @ np.isnan(cells)) if missing != "marginalise" else 0.0
        if lost > 0 and lost >= fewest:
            answered.add(name)
        if varies(cells[weights > 0], name in answered):
            varying[name] = known
    return frozenset(answered), varying
