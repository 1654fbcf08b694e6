"""The parts of a pool: each gives the terms of rows that it has not seen, and the distributions that all rows made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.classify.folds import Folds, canonical_order, in_turn, text_hashes
from merula.classify.left_out import Held, left_out_terms
from merula.classify.log_linear.fitting import GAUSSIAN, Wish, fit_terms
from merula.classify.pooled.gaussians import FACTORS, Table, fitted_gaussians
from merula.classify.pooled.pairs import Cells, fitted_pairs
from merula.classify.pooled.reading import ReadAs, Reading
from merula.classify.pooled.similar import fitted_similar
from merula.core import Array
from merula.core.logspace import log_sum_exp
from merula.data.encode import Encoded, Target
from merula.data.intervals import interval_labels
from merula.data.schema import Label, Schema
from merula.distributions import Distribution
from merula.distributions.discretize.methods import cuts_for
from merula.distributions.mixed_cells import read_cells
from merula.stats.distinct_rows import distinct_rows
from merula.stats.kept_rows import mixed

FOLDS = 5
DIGITS = 12  # losses are compared rounded to this many
FEWEST_MISSING, LEAST_MISSING = (
    10.0,
    0.03,
)  # rows, or the share of rows, that lack a cell where being missing is an answer
BINS = 5  # intervals of numbers for what depends on one other column


@dataclass(frozen=True)
class Wanted:
    """What parts are wanted: of terms of how many columns, of how many rounds at most, by which chance, with kept rows or without."""

    order: int
    rounds: int
    seed: int
    keep_rows: bool


@dataclass(frozen=True, eq=False)
class Part:
    """One part of a pool: its name, its terms of rows left out (rows × classes), and distributions with a weight for each factor."""

    name: str
    terms: Array
    distributions: tuple[Distribution, ...]
    weights: tuple[float, ...]
    keeps_rows: bool = False


@dataclass(frozen=True, eq=False)
class Rows:
    """What parts are fitted to: rows, classes, the columns' levels (None for numbers), the schema, a canonical order, folds.

    Of columns in `answered`, being missing is an answer.
    """

    rows: Encoded
    target: Target
    level_sets: Mapping[str, tuple[Label, ...] | None]
    schema: Schema
    order: NDArray[np.int64]
    folds: Folds
    log_prior: Array
    answered: frozenset[str]
    n_jobs: int | None

    @classmethod
    def of(cls, rows: Encoded, target: Target, level_sets: Mapping[str, Any], schema: Schema, missing: str, n_jobs: int | None) -> Rows:  # fmt: skip
        """The rows with their folds; equal rows as one of their weight, so that a weight of 2 equals the row twice."""
        weights = np.ones(len(rows)) if target.weights is None else target.weights
        answered = _answered(rows, level_sets, weights, missing)
        cells = {name: read_cells(rows, (name,), (known,))[weights > 0, 0] for name, known in level_sets.items()}
        level_sets = {name: known for name, known in level_sets.items() if _varies(cells[name], name in answered)}
        rows, target = _united(rows, target, weights, level_sets)
        weights = np.asarray(target.weights)
        order = canonical_order(rows, target, schema)
        shares = np.bincount(target.codes, weights, minlength=len(target.classes))
        return cls(rows, target, level_sets, schema, order, in_turn(order, weights, FOLDS), np.log(shares / shares.sum()), answered, n_jobs)  # fmt: skip

    @property
    def answers(self) -> dict[str, tuple[Label, ...] | None]:
        """The levels of each column, missing among them where it is an answer."""
        return {name: (*known, None) if known and name in self.answered else known for name, known in self.level_sets.items()}  # fmt: skip

    @property
    def weights(self) -> Array:
        """The rows' weights."""
        return np.asarray(self.target.weights)

    def loss(self, terms: Array) -> float:
        """−Σ weight · log P(own class given row) by these terms, rounded so that equal losses are equal."""
        scores = self.log_prior + terms
        own = log_sum_exp(scores) - scores[np.arange(len(scores)), self.target.codes]
        return float(f"{float(self.weights @ own):.{DIGITS}g}")


def _united(rows: Encoded, target: Target, weights: Array, level_sets: Mapping[str, Any]) -> tuple[Encoded, Target]:
    """Rows that differ, those without weight left out; equal rows of a class have their weight together."""
    kept, names = np.flatnonzero(weights > 0), tuple(sorted(level_sets))
    keys = [np.asarray(target.codes, dtype=np.float64)[:, None]]
    keys += [read_cells(rows, names, [level_sets[name] for name in names]) + 0.0] if names else []
    keys += [text_hashes(rows, name)[:, None].view(np.float64) for name in rows.texts]
    whole = np.hstack(keys)[kept]
    whole[np.isnan(whole)] = np.nan  # of NaN there are many, of one meaning
    first, of_row = _distinct(np.ascontiguousarray(whole).view(np.uint64))
    together: Array = np.bincount(of_row, weights[kept], minlength=len(first)).astype(np.float64)
    chosen = kept[first]
    return rows.take(chosen), Target(target.codes[chosen], target.classes, together)


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


def _answered(rows: Encoded, level_sets: Mapping[str, Any], weights: Array, missing: str) -> frozenset[str]:
    """The columns of which being missing is an answer: all with ``missing="level"``, with "auto" those that miss it often enough to learn from."""
    if missing == "marginalise":
        return frozenset()
    names = tuple(sorted(level_sets))
    lost = (
        np.isnan(read_cells(rows, names, [level_sets[name] for name in names])) if names else np.zeros((len(rows), 0))
    )
    fewest = min(FEWEST_MISSING, LEAST_MISSING * float(weights.sum())) if missing == "auto" else 0.0
    return frozenset(name for name, weight in zip(names, (weights @ lost).tolist(), strict=True) if weight > 0 and weight >= fewest)  # fmt: skip


def table_part(table: Rows, wanted: Wanted) -> Part:
    """Tables of questions, grown by conditional likelihood."""
    return _log_linear("tables", table, Wish(wanted.order, wanted.rounds, table.answered, wanted.seed, table.n_jobs))


def twin_part(table: Rows) -> Part:
    """The twin of Gaussian Bayes."""
    return _log_linear("twin", table, Wish(GAUSSIAN, missing=table.answered, n_jobs=table.n_jobs))


def _log_linear(name: str, table: Rows, wish: Wish) -> Part:
    scores, terms = fit_terms(table.rows, table.target, dict(table.level_sets), wish)
    return Part(name, scores - table.log_prior, (terms,), (1.0,) * len(terms.factors()))


def gaussian_part(table: Rows) -> Part | None:
    """One normal distribution for each class; None where no number varies."""
    numbers = [name for name, known in table.level_sets.items() if known is None]
    words = [name for name, known in table.answers.items() if known]
    if not numbers:
        return None
    standard = Table.of(table.rows, table.target, numbers, words, [table.answers[name] or () for name in words])
    if not standard.columns:
        return None
    found = fitted_gaussians(table.rows, standard, table.folds, table.loss)
    factors = sum(len(part.factors()) for part in found.parts)
    return Part("gaussians", found.terms, found.parts, (found.factor,) * factors)


def similar_part(table: Rows) -> Part:
    """Similar rows."""
    terms, model = fitted_similar(table.rows, table.target, table.answers, table.order, table.n_jobs)
    return Part("similar rows", terms, (model,), (1.0,), keeps_rows=True)


def pair_part(table: Rows, dependent: bool) -> Part | None:
    """Each column given the class, and what one other adds; numbers in intervals. None where no column varies."""
    cuts = {name: _cuts(table, name) for name, known in table.level_sets.items() if known is None}
    gap = {name: (None,) if name in table.answered else () for name in table.level_sets}
    level_sets = {name: (*(interval_labels(cuts[name]) if known is None else known), *gap[name]) for name, known in sorted(table.level_sets.items())}  # fmt: skip
    rows = Reading(cuts, {}).of(table.rows)
    labels = np.asarray(table.target.codes, dtype=np.int64)
    cells = Cells.of(rows, level_sets, labels, table.weights, len(table.target.classes))
    if not cells.columns:
        return None
    found = fitted_pairs(cells, table.folds, table.log_prior, dependent)
    return Part("pairs", found.terms, tuple(_reading(part, cuts) for part in found.distributions), found.weights)


def _cuts(table: Rows, name: str) -> tuple[float, ...]:
    """Where a column of numbers is cut: into equal shares."""
    values = table.rows.values((name,))[:, 0].astype(np.float64)
    known = ~np.isnan(values) & (table.weights > 0)
    met, indices = np.unique(values[known] + 0.0, return_inverse=True)
    return cuts_for("quantile", met, np.bincount(indices, table.weights[known])[None], BINS) if len(met) > 1 else ()


def _reading(part: Distribution, cuts: Mapping[str, tuple[float, ...]]) -> Distribution:
    """A distribution of the table's own columns: what was cut for it is cut on the way."""
    own = {name: cuts[name] for name in (*part.columns, *part.parents) if name in cuts}
    return ReadAs(part, Reading(own, {})) if own else part


def text_part(table: Rows, texts: Sequence[Held]) -> Part:
    """Words of texts given the class, their terms multiplied by the factor under which rows of other folds are most probable."""
    some = [left_out for _, left_out in table.folds]
    found = left_out_terms(texts, table.rows, table.target, table.schema, table.folds, some)
    terms = np.zeros((len(table.rows), len(table.target.classes)))
    indices = np.concatenate([one.indices for one in some])
    np.add.at(terms, indices, (found.weights / table.weights[indices])[:, None] * found.values.sum(axis=0))
    losses = {factor: table.loss(factor * terms) for factor in FACTORS}
    factor = min(losses, key=lambda key: losses[key])
    parts = tuple(held.part for held in texts)
    return Part("texts", factor * terms, parts, (factor,) * sum(len(part.factors()) for part in parts))


def fitted_parts(table: Rows, texts: Sequence[Held], wanted: Wanted) -> tuple[list[Part], dict[str, str]]:
    """The parts that suit a table, as they are wanted; and those that do not, each with why."""
    telling, numbers = bool(table.level_sets), None in table.level_sets.values()
    left_out: dict[str, str] = {}
    found: list[Part | None] = []
    if telling:
        found += [pair_part(table, wanted.order > 1), table_part(table, wanted), twin_part(table)]
    if texts:
        found.append(text_part(table, texts))
    if numbers and wanted.order > 1:
        found.append(gaussian_part(table))
    if telling and wanted.order > 2 and wanted.keep_rows:
        found.append(similar_part(table))
    return [part for part in found if part is not None], left_out
