"""Tables of log terms grown greedily by conditional likelihood, one model for each fold, averaged in log space.

score(class) = log P(class) + Σ_round value[answers to the round's questions, class]

Each round adds one table over a few yes/no questions (x ≤ cut, category = level), chosen one after the other by
Σ_cell Σ_class G² / (H + ridge), G = Σ (y − p), H = Σ p·(1 − p): the gain of a Newton step (Friedman, Hastie & Tibshirani 2000,
"Additive logistic regression", algorithm 6; the same questions in all branches as in Kohavi & Li 1995, "Oblivious decision trees").
Questions are chosen and cells filled by rows that know the answers; for the others a table is averaged over those they lack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.classify.log_linear import _kernels as kernels
from merula.classify.log_linear._answers import add_tables
from merula.classify.log_linear.cases import Cases, Variable, per_weight
from merula.core import Array
from merula.core.limits import at_once, check_bytes
from merula.core.threads import for_each_block, thread_count
from merula.stats.kept_rows import mixed

# bins of a column of numbers that questions are first looked for in: of fewer rows than MANY, and of more
COARSE = (32, 64)
MANY, FEW = 1_000, 500  # rows: from which on all of them take part in each round; below which the ridge stays as it is
ROW_SHARE = 0.8
LOWEST = 0.1  # of what it was at first, that the ridge falls to
MOST_ANSWERS, KEPT = (
    256,
    30,
)  # bins of a column, and how often tables are held: by up to 20 folds, and twice while they are put together
HEAVY = 0.25  # of a column's weight: a number that has so much is a bin of its own


@dataclass(frozen=True, eq=False)
class Grown:
    """Tables of all folds as one model: for each table the questions (column and code, by answer), its values, classes by rank.

    ``shares`` has the share of yes to each question among the cases that know the answer; ``scores`` are those of each case by the
    models that were grown without it; ``log_loss`` is their mean loss.
    """

    columns: NDArray[np.int32]
    cuts: NDArray[np.int32]
    depths: NDArray[np.int32]
    values: Array
    shares: Array
    rounds: int
    scores: Array
    log_loss: float


def repeats_of(weight: float) -> int:
    """How often rows are dealt to folds anew: the fewer there are, the more often."""
    return 4 if weight < 100 else 2 if weight < 6_000 else 1


def grown_tables(cases: Cases, shares: Array, order: int, rounds: int, seed: int, n_jobs: int | None) -> Grown:
    """Tables grown on every fold but one, as many rounds as are best for all folds together; `shares` is cases × folds."""
    total = float(cases.weight.sum())
    threads = _threads(cases, order, rounds, min(thread_count(n_jobs), shares.shape[1]))
    grid = _grid(cases, COARSE[total >= MANY])
    start = as_odds(cases.log_prior)
    drawn = _columns_drawn(cases, order)
    options = rounds, order, 1.0 if total >= MANY else ROW_SHARE, drawn, LOWEST if total >= FEW else 1.0

    def grow(fold: int) -> Any:
        held, scores = np.ascontiguousarray(shares[:, fold]), np.tile(start, (len(cases), 1))
        train = np.maximum((cases.weight - held).round(12), 0.0)
        chance: Any = np.uint64(mixed(np.uint64(mixed(np.uint64(seed))) ^ np.uint64(fold)))
        memory = kernels.memory_for(grid, len(start), order, drawn, chance)
        return kernels.grow(grid, cases.labels, cases.hashes, cases.weight, train, held, scores, memory, *options)

    folds: list[Any] = for_each_block(grow, shares.shape[1], threads, 1) if cases.variables else []
    return _averaged(cases, grid, shares, folds, start)


def _columns_drawn(cases: Cases, order: int) -> int:
    """Half of the columns, but as many as a table may ask, if there are."""
    count = len(cases.variables)
    return min(count, max(order, -(-count // 2)))


def as_odds(logs: Array) -> Array:
    """Of two classes, the log-odds of the second; of more, the logs themselves."""
    return logs[..., 1:] - logs[..., :1] if logs.shape[-1] == 2 else logs


def by_class(odds: Array) -> Array:
    """A term for each class from the log-odds of two, half of them each; of more classes, the terms as they are."""
    return np.concatenate([-0.5 * odds, 0.5 * odds], axis=-1) if odds.shape[-1] == 1 else odds


def _averaged(cases: Cases, grid: Any, shares: Array, folds: list[Any], start: Array) -> Grown:
    """The folds' models as one, cut off where their summed loss is least, and every case's score without it."""
    longest = max((len(loss) for *_, loss in folds), default=1)
    curves = [np.concatenate([loss, np.full(longest - len(loss), loss[-1])]) for *_, loss in folds]
    total = np.sum(curves, axis=0) if folds else np.array([kernels.loss_of(np.tile(start, (len(cases), 1)), cases.labels, shares.sum(axis=1))])  # fmt: skip
    rounds = int(np.argmin(total))
    kept = [tuple(part[:rounds] for part in fold[:4]) for fold in folds]
    scores = np.zeros((len(cases), len(start)))
    for fold, model in enumerate(kept):
        held = np.flatnonzero(shares[:, fold] > 0)
        found = np.zeros((len(held), len(start)))
        columns, cuts, depths, values = model
        told = _shares_of_yes(cases, columns, cuts)
        add_tables(np.ascontiguousarray(grid.codes[:, held]), columns, cuts, depths, values, told, grid.is_word, found)
        scores[held] += shares[held, fold, None] * found
    scores = cases.evened(by_class(per_weight(scores, shares)) + cases.log_prior)
    parts = [np.concatenate(part) for part in zip(*kept, strict=True)] if kept else _nothing(len(start))
    columns, cuts, depths, values = parts
    told = _shares_of_yes(cases, columns, cuts)
    return Grown(columns, cuts, depths, cases.evened(by_class(values / max(1, len(folds)))), told, rounds, scores, float(total[rounds] / shares.sum()))  # fmt: skip


def _shares_of_yes(cases: Cases, columns: NDArray[np.int32], cuts: NDArray[np.int32]) -> Array:
    """For each question the share of cases that answer yes, of those that know the answer."""
    found = np.zeros(columns.shape)
    for j, variable in enumerate(cases.variables):
        known = cases.codes[j] >= 0
        heavy = np.bincount(cases.codes[j][known], cases.weight[known], minlength=len(variable.met) + 1)
        reached = (heavy if variable.is_word else np.cumsum(heavy)) / heavy.sum()
        own = columns == j
        found[own] = np.minimum(reached.round(12), 1.0)[cuts[own]]
    return found


def _nothing(width: int) -> list[Any]:
    return [np.zeros((0, 1), np.int32), np.zeros((0, 1), np.int32), np.zeros(0, np.int32), np.zeros((0, 2, width))]


def _grid(cases: Cases, most: int) -> Any:
    """The codes of all columns and, for numbers, coarser ones: at most `most` bins of about equal weight."""
    bins, first, coarse = [], [], np.empty(cases.codes.shape, dtype=np.int16)
    for j, variable in enumerate(cases.variables):
        codes = cases.codes[j]
        starts = _starts(variable, codes, cases.weight, most)
        of_code = np.searchsorted(starts, np.arange(len(variable.met) + 1), side="right") - 1
        of_code[-1] = len(starts)  # of a level that is not asked for
        coarse[j] = np.where(codes < 0, -1, of_code[codes])
        bins.append(len(starts))
        first.append(np.append(starts, len(variable.met)))
    widest = max(map(len, first), default=1)
    table = np.zeros((len(first), widest), dtype=np.int64)
    for j, starts in enumerate(first):
        table[j, : len(starts)] = starts
    is_word = np.array([variable.is_word for variable in cases.variables], dtype=np.bool_)
    gaps: Any = (cases.codes < 0).any(axis=1)
    return kernels.Grid(cases.codes, coarse, np.array(bins, dtype=np.int64), table, is_word, gaps)


def _starts(variable: Variable, codes: NDArray[np.int32], weight: Array, most: int) -> NDArray[np.int64]:
    """The first code of each bin: each code its own, unless there are more than `most` of them."""
    count = len(variable.met)
    if variable.is_word or count <= most:
        return np.arange(count)
    heavy = np.bincount(codes[codes >= 0], weight[codes >= 0], minlength=count)
    alone = np.flatnonzero((heavy >= HEAVY * heavy.sum()) | np.isneginf(variable.met))
    heavy[alone] = 0.0
    reached = np.cumsum(heavy) / heavy.sum()
    parts = most - len(alone)
    ends = np.searchsorted(reached.round(12), (np.arange(1, parts) / parts).round(12))
    starts = np.unique(np.concatenate([[0], ends + 1, alone, alone + 1]))
    return starts[starts < count]


def _threads(cases: Cases, order: int, rounds: int, most: int) -> int:
    """On how many threads folds are grown: no more than memory has room for; an error where it has none for one."""
    width = len(cases.ranks) - (len(cases.ranks) == 2)
    answers = sum(sorted((min(len(variable.met), MOST_ANSWERS) for variable in cases.variables), reverse=True)[: _columns_drawn(cases, order)])  # fmt: skip
    each = len(cases) * (8.0 * 2 * width + 8.0 * width + 40) + answers * 2**order * 4.0 * (width + 1)
    tables = 8.0 * rounds * 2**order * width * KEPT
    codes = 6.0 * cases.codes.size
    what = f"{len(cases.variables):,} columns of {len(cases):,} different rows in {len(cases.ranks):,} classes need tables"  # fmt: skip
    check_bytes(each + tables + codes, what, "use fewer rows, fewer columns or a lower order")
    return at_once(tables + codes, each, most)
