"""The parts of a pool: each gives the terms of rows that it has not seen, and the distributions that all rows made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from merula.classify.left_out import Held, left_out_terms
from merula.classify.log_linear.fitting import GAUSSIAN, Wish, fit_terms
from merula.classify.pooled.gaussians import FACTORS, Table, fitted_gaussians
from merula.classify.pooled.pairs import Cells, fitted_pairs
from merula.classify.pooled.reading import ReadAs, Reading
from merula.classify.pooled.rows import Rows
from merula.classify.pooled.similar import FEWEST_KEPT, fitted_similar, most_kept
from merula.core import Array
from merula.core.limits import TooLargeError, most_bytes
from merula.core.threads import side_by_side, thread_count
from merula.data.intervals import interval_labels
from merula.distributions import Distribution
from merula.distributions.discretize.methods import cuts_for
from merula.show.progress import name_part

# what is left out where there are too many
PAIRS, SINGLE, GAUSSIANS, SIMILAR = "pairs of columns", "columns by themselves", "gaussians", "similar rows"
BINS = 5  # intervals of numbers for what depends on one other column
MOST_CODES, PRIOR_ROWS = 250, 2.0  # different numbers that may be codes; rows that say what all do
SURE, PAID = 5.0, 0.5  # nats that codes must gain, and so many more for each share that they are told by
MOST_PAIRED = 2.0**31  # rows × pairs of columns × classes that are counted
MOST_WEIGHED = 2.0**36  # factors² × rows × classes whose products are taken
BLENDED = 240.0  # bytes of a row and class while blends of normal distributions are compared
TERM = 34.0  # bytes of a term while weights are found: it is held four times
MOST_MULTIPLIED = 2.0**32  # rows × pairs of columns of numbers × classes whose products are taken


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


def table_part(table: Rows, wanted: Wanted) -> Part:
    """Tables of questions, grown by conditional likelihood."""
    return _log_linear("tables", table, Wish(wanted.order, wanted.rounds, table.answered, wanted.seed, table.n_jobs))


def twin_part(table: Rows, crossed: bool) -> Part:
    """The twin of Gaussian Bayes, with products of numbers or without."""
    return _log_linear("twin", table, Wish(GAUSSIAN, missing=table.answered, n_jobs=table.n_jobs, crossed=crossed))


def _log_linear(name: str, table: Rows, wish: Wish) -> Part:
    name_part(name)
    scores, terms = fit_terms(table.rows, table.target, dict(table.level_sets), wish)
    return Part(name, scores - table.own_log_prior, (terms,), (1.0,) * terms.factors_count)


def gaussian_part(table: Rows, tails: bool = True) -> Part | None:
    """One normal distribution for each class, with heavier tails where these are wanted and worth it; None where no number varies."""
    name_part(GAUSSIANS)
    numbers = [name for name, known in table.level_sets.items() if known is None]
    words = [name for name, known in table.answers.items() if known]
    standard = Table.of(table.rows, table.target, numbers, words, [table.answers[name] or () for name in words])
    if not standard.columns:
        return None
    found = fitted_gaussians(table.rows, standard, table.folds, table.loss, tails)
    factors = sum(part.factors_count for part in found.parts)
    return Part(GAUSSIANS, found.terms, found.parts, (found.factor,) * factors)


def similar_part(table: Rows) -> Part:
    """Similar rows."""
    name_part(SIMILAR)
    terms, model = fitted_similar(
        table.rows, table.target, table.answers, table.order, table.folds, table.judged.indices, table.n_jobs
    )
    return Part(SIMILAR, terms, (model,), (1.0,), keeps_rows=True)


def pair_part(table: Rows, dependent: bool) -> Part | None:
    """Each column given the class, and what one other adds; numbers in intervals. None where no column varies."""
    name_part("pairs")
    cuts = {name: _cuts(table, name) for name, known in table.level_sets.items() if known is None}
    gap = {name: (None,) if name in table.answered else () for name in table.level_sets}
    level_sets = {name: (*(interval_labels(cuts[name]) if known is None else known), *gap[name]) for name, known in sorted(table.level_sets.items())}  # fmt: skip
    rows = Reading(cuts, {}).of(table.rows)
    labels = np.asarray(table.target.codes, dtype=np.int64)
    cells = Cells.of(rows, level_sets, labels, table.weights, len(table.target.classes))
    if not cells.columns:
        return None
    found = fitted_pairs(cells, table.folds, table.log_prior, table.judged.indices, dependent)
    return Part("pairs", found.terms, tuple(_reading(part, cuts) for part in found.distributions), found.weights)


def _cuts(table: Rows, name: str) -> tuple[float, ...]:
    """Where a column of numbers is cut: into equal shares, or between all its numbers where these tell more of rows left out."""
    values = table.rows.values((name,))[:, 0].astype(np.float64)
    known = ~np.isnan(values) & (table.weights > 0)
    met, indices = np.unique(values[known] + 0.0, return_inverse=True)
    if len(met) < 2:
        return ()
    heavy = np.bincount(indices, table.weights[known])
    shares = cuts_for("quantile", met, heavy[None], BINS)
    if not len(shares) + 1 < len(met) <= MOST_CODES:
        return shares
    classes = len(table.target.classes)
    cells = indices * classes + np.asarray(table.target.codes, dtype=np.int64)[known]
    counts: Array = np.bincount(cells, table.weights[known], len(met) * classes).reshape(-1, classes).astype(np.float64)
    within = np.zeros((len(shares) + 1, classes))
    np.add.at(within, np.searchsorted(np.array(shares), met, side="left"), counts)
    every = cuts_for("quantile", met, np.ones((1, len(met))), len(met))
    more = (len(every) - len(shares)) * (classes - 1)
    return every if _told_by(counts) > _told_by(within) + SURE + PAID * more else shares


def _told_by(counts: Array) -> float:
    """How probable the classes of rows are by the other rows of their interval (intervals × classes), in nats."""
    counts = counts[:, counts.sum(axis=0) > 0]
    share = counts.sum(axis=0) / counts.sum()
    others = np.maximum(counts - 1.0, 0.0) + PRIOR_ROWS * share
    total = np.maximum(counts.sum(axis=1, keepdims=True) - 1.0, 0.0) + PRIOR_ROWS
    return float(f"{float((counts * np.log(others / total)).sum()):.12g}")


def _reading(part: Distribution, cuts: Mapping[str, tuple[float, ...]]) -> Distribution:
    """A distribution of the table's own columns: what was cut for it is cut on the way."""
    own = {name: cuts[name] for name in (*part.columns, *part.parents) if name in cuts}
    return ReadAs(part, Reading(own, {})) if own else part


def text_part(table: Rows, texts: Sequence[Held]) -> Part:
    """Words of texts given the class, their terms multiplied by the factor under which rows of other folds are most probable."""
    name_part("texts")
    some = [left_out for _, left_out in table.folds]
    found = left_out_terms(texts, table.rows, table.target, table.schema, table.folds, some)
    terms = np.zeros((len(table.rows), len(table.target.classes)))
    indices = np.concatenate([one.indices for one in some])
    np.add.at(terms, indices, (found.weights / table.weights[indices])[:, None] * found.values.sum(axis=0))
    losses = {factor: table.loss(factor * terms) for factor in FACTORS}
    factor = min(losses, key=lambda key: losses[key])
    parts = tuple(held.part for held in texts)
    return Part("texts", factor * terms, parts, (factor,) * sum(part.factors_count for part in parts))


def fitted_parts(table: Rows, texts: Sequence[Held], wanted: Wanted) -> tuple[list[Part], dict[str, str]]:
    """The parts that suit a table, as they are wanted, fitted side by side; and what was left out for being too much work, or too large."""
    left_out = dict(table.told) | _too_much(table, wanted)
    threads = thread_count(table.n_jobs)
    table = replace(table, n_jobs=threads)  # a thread does not know whether it is within a worker of joblib
    tasks: dict[str, Callable[[], Part | None]] = {}
    if table.level_sets:
        if SINGLE not in left_out:
            tasks[SINGLE] = lambda: pair_part(table, wanted.order > 1 and PAIRS not in left_out)
        tasks["yes/no questions"] = lambda: table_part(table, wanted)
        tasks["logistic regression"] = lambda: twin_part(table, wanted.order > 1)
    if texts:
        tasks["texts"] = lambda: text_part(table, texts)
    if None in table.level_sets.values() and wanted.order > 1 and GAUSSIANS not in left_out:
        tasks[GAUSSIANS] = lambda: gaussian_part(table, wanted.order > 2)  # heavier tails are no sum of pairs
    if table.level_sets and wanted.order > 2 and wanted.keep_rows and SIMILAR not in left_out:
        tasks[SIMILAR] = lambda: similar_part(table)
    found = side_by_side([_unless_too_large(task) for task in tasks.values()], threads)
    refused = {name: one for name, one in zip(tasks, found, strict=True) if isinstance(one, TooLargeError)}
    parts = [part for part in found if isinstance(part, Part)]
    if refused and not parts:
        raise next(iter(refused.values()))
    return parts, left_out | {name: str(error.problem) for name, error in refused.items()}


def _unless_too_large(fit: Callable[[], Part | None]) -> Callable[[], Part | TooLargeError | None]:
    """The same task, which gives the error where it would take more memory than is allowed."""

    def tried() -> Part | TooLargeError | None:
        try:
            return fit()
        except TooLargeError as error:
            return error

    return tried


def _too_much(table: Rows, wanted: Wanted) -> dict[str, str]:
    """The parts that would take too long on so many columns, each with why."""
    columns, classes = len(table.level_sets), len(table.target.classes)
    numbers = sum(known is None for known in table.level_sets.values())
    judged = len(table.judged.indices)
    found = {}
    paired = wanted.order > 1 and len(table.rows) * columns**2 * classes <= MOST_PAIRED
    if wanted.order > 1 and not (paired and _can_be_weighed(2 * columns, judged, classes)):
        found[PAIRS] = f"{columns:,} columns in {classes:,} classes have too many pairs to be counted"
    if not _can_be_weighed(columns, judged, classes):
        found[SINGLE] = f"{columns:,} columns in {classes:,} classes have too many terms to be weighed"
    if wanted.order > 1 and (len(table.rows) + numbers) * numbers**2 * classes > MOST_MULTIPLIED:
        found[GAUSSIANS] = f"{numbers:,} columns of numbers in {classes:,} classes have too many products to be taken"
    elif BLENDED * len(table.rows) * classes > most_bytes():
        found[GAUSSIANS] = f"{len(table.rows):,} rows in {classes:,} classes have too many densities to be compared"
    if wanted.order > 2 and wanted.keep_rows and most_kept(columns) < min(FEWEST_KEPT, len(table.rows)):
        found[SIMILAR] = f"{columns:,} columns are too many to compare rows by"
    return found


def _can_be_weighed(factors: int, rows: int, classes: int) -> bool:
    """Whether weights of so many factors can be found: their terms, held several times, have room, and their products take no hours."""
    cells = float(factors) * rows * classes
    return TERM * cells <= most_bytes() and factors * cells <= MOST_WEIGHED
