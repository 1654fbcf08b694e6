"""Similar rows: the classes of rows learned from, each weighed by how near it is.

P(c given x) = (Σ_{i of class c} w_i · K(x, x_i) + m · P(c)) / (Σ_i w_i · K(x, x_i) + m),  K = exp(−d² / 2b²),  b = 2 · breadth · reach

d² is the sum over columns of squared differences in standard deviations (words: 2 where they differ), each column counted by what it
tells of the class. The reach is the distance of the tenth neighbour, that of the row itself or the usual one. A cell that is missing
counts as usual, the same for all rows: nothing known leaves P(c).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from merula.classify.folds import Folds, Some, some_of_each
from merula.classify.pooled import _kernels as kernels
from merula.classify.pooled.rows import standard
from merula.core import Array, InputError
from merula.core.sound import all_shaped, are_log_shares, are_positive, are_weights, is_number
from merula.core.threads import for_each_block
from merula.data.encode import Encoded, Target
from merula.data.schema import Label
from merula.distributions.discretize.methods import cuts_for
from merula.distributions.kernel import weighted_quantiles
from merula.distributions.mixed_cells import KeptRowsDistribution, read_cells

# The widths that are tried, and the numbers below, were chosen on the tables of benchmarks/strength.py
WIDTHS = (0.08, 0.15, 0.25, 0.35, 0.5, 0.7, 1.0)
NEIGHBOURS = 10.0  # the distance of this neighbour is the unit of the width
PRIOR_ROWS = 0.05  # rows at no distance that say the class frequencies: one that is far from all rows has these
FARTHEST = 3.0  # standard deviations from the mean: numbers beyond are taken for these
GRID = 2.0**30  # steps in a standard deviation: so rounded, a number is the same in every unit
BINS = 6  # intervals of numbers whose information of the class is counted
LEAST_SHARE = 0.02  # of the most telling column: what each column counts at least
MOST_KEPT, MOST_TRIED = 4_000, 1_000  # rows kept, and rows that widths are tried with
MOST_CELLS, FEWEST_KEPT = 2**17, 500  # cells of kept rows, and rows that are worth keeping
ROWS_AT_ONCE = 256


@dataclass(frozen=True, eq=False, repr=False)
class SimilarRows(KeptRowsDistribution):
    """log P(c given x) − log P(c) by kept rows; cells as `read_cells` gives them, in the order of classes.

    ``centre`` and ``unit`` standardise numbers, ``scale`` is how much each column counts, ``usual`` what a missing cell does. ``reach`` is the
    usual squared distance of the tenth neighbour; b = 2 · breadth · √reach or, if ``own``, with the row's own distance in the place of √reach.
    """

    centre: Array
    unit: Array
    scale: Array
    usual: Array
    log_prior: Array
    reach: float
    breadth: float
    own: bool

    answers_missing: ClassVar[bool] = True
    discrete: ClassVar[bool] = True  # a term is no density
    rows_at_once: ClassVar[int] = ROWS_AT_ONCE

    @property
    def no_density(self) -> str:
        return "it compares rows, and says nothing of P(row)"

    @cached_property
    def _is_word(self) -> NDArray[np.bool_]:
        return np.array([known is not None for known in self.level_sets], dtype=np.bool_)

    def _scaled(self, cells: Array) -> Array:
        """Cells in the units that are compared: words as they are."""
        z = np.clip((cells - self.centre) / self.unit, -FARTHEST, FARTHEST)
        return np.where(self._is_word, cells, np.round(z * GRID) / GRID * self.scale)

    @cached_property
    def _kept(self) -> Any:
        starts = np.searchsorted(self.labels, np.arange(len(self.log_prior) + 1)).astype(np.int64)
        cells = np.ascontiguousarray(self._scaled(self.cells).T)
        return kernels.Kept(cells, self._is_word, 2 * self.scale**2, self.usual, self.weight, starts)

    def log_prob(self, rows: Encoded) -> Array:
        cells = read_cells(rows, self.columns, self.level_sets)
        found = self.compared(cells, np.full(len(cells), -1), None)
        found[np.isnan(cells).all(axis=1)] = 0.0
        return found

    def compared(self, cells: Array, own: NDArray[np.int64], n_jobs: int | None = 1) -> Array:
        """log P(c given x) − log P(c) for rows of cells; ``own`` says which kept row each of them is itself (−1: none)."""
        queries = self._scaled(cells)
        masses = self.masses(queries, own, self.reaches(queries, own, n_jobs) if self.own else np.full(len(cells), self.reach), [self.breadth], n_jobs)  # fmt: skip
        return self.log_ratio(masses[:, 0])

    def reaches(self, queries: Array, own: NDArray[np.int64], n_jobs: int | None = 1) -> Array:
        """The squared distance of each query's tenth neighbour, not far below the usual one."""
        out = np.empty(len(queries))

        def block(start: int) -> None:
            here = slice(start, start + ROWS_AT_ONCE)
            kernels.neighbour_distances(queries[here], self._kept, own[here], NEIGHBOURS, out[here])

        for_each_block(block, len(queries), n_jobs, ROWS_AT_ONCE)
        return np.maximum(out, kernels.NEAREST * self.reach)

    def masses(self, queries: Array, own: NDArray[np.int64], reach: Array, widths: Sequence[float], n_jobs: int | None = 1) -> Array:  # fmt: skip
        """Σ w · K of each query, width and class."""
        out = np.empty((len(queries), len(widths), len(self.log_prior)))
        squares = (2 * np.asarray(widths)) ** 2

        def block(start: int) -> None:
            here = slice(start, start + ROWS_AT_ONCE)
            kernels.similar_masses(queries[here], self._kept, own[here], reach[here], squares, out[here])

        for_each_block(block, len(queries), n_jobs, ROWS_AT_ONCE)
        return out

    def log_ratio(self, masses: Array) -> Array:
        """log P(c given x) − log P(c) from what rows of each class weigh."""
        prior = np.exp(self.log_prior)
        total = masses.sum(axis=-1, keepdims=True) + PRIOR_ROWS
        return np.log(masses / prior + PRIOR_ROWS) - np.log(total)  # type: ignore[no-any-return]

    @property
    def parameters_count(self) -> int:
        """The width, and how much each column counts (what the kept rows themselves say is not counted)."""
        return 1 + len(self.columns)

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        raise InputError("rows cannot be drawn from what compares rows", remedy="NaiveBayesClassifier and BayesClassifier can")  # fmt: skip

    def fits(self, classes: int) -> bool:
        d = len(self.columns)
        shaped = all_shaped((d,), self.centre, self.unit, self.scale, self.usual) and all_shaped((classes,), self.log_prior)  # fmt: skip
        sorted_ = shaped and super().fits(classes) and bool((np.diff(self.labels) >= 0).all())
        positive = sorted_ and are_positive(self.unit) and are_weights(self.scale, self.usual) and are_log_shares(self.log_prior) and bool(np.isfinite(self.log_prior).all())  # fmt: skip
        return positive and is_number(self.reach, 1e-300, 1e300) and is_number(self.breadth, 1e-6, 1e6) and type(self.own) is bool  # fmt: skip


def most_kept(columns: int) -> int:
    """How many rows of so many columns are kept."""
    return min(MOST_KEPT, MOST_CELLS // max(1, columns))


def fitted_similar(
    rows: Encoded,
    target: Target,
    level_sets: dict[str, tuple[Label, ...] | None],
    order: NDArray[np.int64],
    folds: Folds,
    judged: NDArray[np.int64],
    n_jobs: int | None,
) -> tuple[Array, SimilarRows]:
    """Terms of the `judged` rows by the other rows, 0 for those not judged, and the distribution; `order` is a canonical order of the rows.

    How much columns count is told by the other folds: by a row's own class, columns that tell nothing would seem to.
    """
    columns, weights = tuple(sorted(level_sets)), np.ones(len(rows)) if target.weights is None else target.weights
    cells, codes = read_cells(rows, columns, [level_sets[name] for name in columns]), np.asarray(target.codes, dtype=np.int64)  # fmt: skip
    base, own = _kept(cells, codes, weights, columns, level_sets, order, len(target.classes))

    def counted(some: Array) -> SimilarRows:
        scaled = replace(base, scale=_telling(cells, codes, some, [level_sets[name] is None for name in columns]))
        return replace(scaled, usual=_usual(scaled, cells, weights))

    by_others = [counted(folds.training(fold)) for fold in range(len(folds))]
    tried = some_of_each(Folds(weights[:, None]), order, MOST_TRIED)[0]
    chosen = _chosen(by_others, folds, cells, codes, own, tried, n_jobs)
    terms = np.zeros((len(rows), len(target.classes)))
    for fold, model in enumerate(by_others):
        some = judged[folds.shares[judged, fold] > 0]
        share = (folds.shares[some, fold] / weights[some])[:, None]
        terms[some] += share * replace(model, **chosen).compared(cells[some], own[some], n_jobs)
    return terms, replace(counted(weights), **chosen)


def _kept(cells: Array, codes: NDArray[np.int64], weights: Array, columns: tuple[str, ...], level_sets: Any, order: NDArray[np.int64], classes: int) -> tuple[SimilarRows, NDArray[np.int64]]:  # fmt: skip
    """The rows that are kept, all columns alike; and which of them each row is, −1 for none."""
    share = np.bincount(codes, weights, minlength=classes)
    kept = some_of_each(Folds(weights[:, None]), order, most_kept(len(columns)))[0]
    places = np.argsort(order, kind="stable")[kept.indices]
    by_class = np.lexsort((places, codes[kept.indices]))
    indices, own = kept.indices[by_class], np.full(len(cells), -1)
    own[indices] = np.arange(len(indices))
    known = tuple(level_sets[name] for name in columns)
    is_word = np.array([one is not None for one in known])
    middle, unit = standard(cells, weights)
    middle, unit = np.where(is_word, 0.0, middle), np.where(is_word | (unit == 0), 1.0, unit)
    heavy, same, nothing = kept.weights[by_class], np.ones(len(columns)), np.zeros(len(columns))
    logs = np.log(share / share.sum())
    return SimilarRows(columns, known, cells[indices], codes[indices].astype(np.int32), heavy, middle, unit, same, nothing, logs, 1.0, 1.0, False), own  # fmt: skip


def _telling(cells: Array, codes: NDArray[np.int64], weights: Array, numbers: Sequence[bool]) -> Array:
    """How much each column counts: the root of what it tells of the class, corrected for chance; 1 in the mean of squares."""
    told = np.array([_information(cells[:, j], codes, weights, number) for j, number in enumerate(numbers)])
    shares = np.sqrt(told + LEAST_SHARE * told.max(initial=0.0) + 1e-9)
    return shares / np.sqrt((shares**2).mean())  # type: ignore[no-any-return]


def _information(column: Array, codes: NDArray[np.int64], weights: Array, number: bool) -> float:
    """Mutual information of a column and the class, less what chance would make of it: half a nat for each degree of freedom."""
    known = ~np.isnan(column)
    classes = int(codes.max()) + 1
    if number and known.any():
        met, indices = np.unique(column[known], return_inverse=True)
        cuts = cuts_for("quantile", met, np.bincount(indices, weights[known])[None], BINS)
        column = np.where(known, np.searchsorted(np.asarray(cuts), column), np.nan)
    cell = np.where(known, column, -1).astype(np.int64) + 1
    table = np.bincount(cell * classes + codes, weights, minlength=(int(cell.max()) + 1) * classes).reshape(-1, classes)
    table = table[table.sum(axis=1) > 0]
    n = table.sum()
    if not n > 0:  # a fold may hold all there is
        return 0.0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / n
    gain = (table[table > 0] * np.log(table[table > 0] / expected[table > 0])).sum()
    return max(float(gain) - 0.5 * (len(table) - 1) * (classes - 1), 0.0) / float(n)


def _usual(model: SimilarRows, cells: Array, weights: Array) -> Array:
    """The mean squared difference of two rows in each column."""
    scaled, found = model._scaled(cells), np.zeros(cells.shape[1])
    for j, column in enumerate(scaled.T):
        known = ~np.isnan(column)
        total = weights[known].sum()
        if model.level_sets[j] is not None:
            shares = np.bincount(column[known].astype(np.int64), weights[known]) / max(total, 1e-300)
            found[j] = 2 * model.scale[j] ** 2 * (1 - (shares**2).sum()) if total > 0 else 0.0
        elif total > 0:
            mean = weights[known] @ column[known] / total
            found[j] = 2 * (weights[known] @ (column[known] - mean) ** 2) / total
    return np.maximum(found, 0.0)


def _chosen(models: Sequence[SimilarRows], folds: Folds, cells: Array, codes: NDArray[np.int64], own: NDArray[np.int64], tried: Some, n_jobs: int | None) -> dict[str, Any]:  # fmt: skip
    """The usual reach, and the width under which the classes of some rows left out are most probable, each by its fold's model."""
    asked = []
    for fold, model in enumerate(models):
        share = folds.shares[tried.indices, fold]
        held = share > 0
        some = tried.indices[held]
        heavy = tried.weights[held] * share[held] / folds.shares[some].sum(axis=1)
        queries = model._scaled(cells[some])
        asked.append((model, some, heavy, queries, replace(model, reach=1e-200).reaches(queries, own[some], n_jobs)))
    near, heavy = (np.concatenate([one[k] for one in asked]) for k in (4, 2))
    ascending = np.argsort(near, kind="stable")
    reach = max(float(weighted_quantiles(near[ascending], heavy[ascending], np.array([0.5]))[0]), 1e-12)
    losses = dict.fromkeys(itertools.product((False, True), WIDTHS), 0.0)
    for (model, some, heavy, queries, distances), locally in itertools.product(asked, (False, True)):
        from_here = np.maximum(distances, kernels.NEAREST * reach) if locally else np.full(len(some), reach)
        scores = model.log_ratio(model.masses(queries, own[some], from_here, WIDTHS, n_jobs)) + model.log_prior
        for width, logs in zip(WIDTHS, scores.transpose(1, 0, 2), strict=True):
            losses[locally, width] -= float(heavy @ logs[np.arange(len(logs)), codes[some]])
    locally, width = min(losses, key=lambda key: float(f"{losses[key]:.12g}"))
    return {"reach": reach, "breadth": width, "own": locally}
