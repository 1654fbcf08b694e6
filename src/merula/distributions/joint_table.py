"""All categorical columns jointly given the class: a sparse table of cells with a pseudo-count in every cell.

Cells that are not listed share one probability, so a table of 10³⁰ cells costs what was met. Missing cells at predict
are summed out; rows with missing cells at fit are shared out by EM (`joint_em`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log, prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError, as_float
from merula.core.logspace import safe_log
from merula.core.sound import all_shaped, are_codes, are_labels, are_log_shares, are_logs, is_one_of
from merula.data.encode import Encoded
from merula.data.schema import Label, label_order
from merula.data.table import label_array
from merula.distributions._kernels import write_levels
from merula.distributions.base import BaseFamily, Distribution, Setting
from merula.distributions.joint_em import CellTable, share_out
from merula.distributions.posteriors import Drawing, Posterior, log_shares
from merula.distributions.priors import LARGEST, MEstimate, Smoothing, checked_smoothing
from merula.stats import JointCounts, Statistic
from merula.stats.distinct_rows import MISSING, distinct_rows

Cells = NDArray[np.int32]
UNKNOWN = -2
UNSEEN = ("missing", "error", "smooth")
KEPT_PATTERNS = 256
LISTED = 1e-3  # of all cells: fewer leave too few digits to the share of the others

MOST_LISTED = 4_096  # cells of a table that is drawn cell by cell, met or not


def level_cells(
    rows: Encoded, columns: Sequence[str], level_sets: Sequence[tuple[Label, ...]], unseen: str = "smooth"
) -> Cells:
    """Each cell's index among the levels of its column; −1 for missing, −2 for a level that is not known, which is noted.

    Unless `unseen` gives such a level a probability of its own ("smooth"), it is as if the cell were missing.
    """
    tile = rows.codes(columns)

    def laid_out() -> tuple[Any, Cells]:
        positions = rows.level_table(columns, level_sets)
        beyond = np.repeat([len(levels) for levels in level_sets], tile.width + 1)
        return level_sets, np.where(positions < beyond, positions, beyond - positions - 1).astype(
            np.int32
        )  # m is −1, m + 1 is −2

    levels: Cells = rows.remember(("cells", tuple(columns), id(level_sets)), laid_out)[1]
    cells = np.empty(tile.codes.shape, dtype=np.int32)
    if write_levels(tile.codes, tile.shift, tile.width, tile.offsets, levels, cells):
        rows.note_unseen(columns, (cells == UNKNOWN).sum(axis=0))
        if unseen != "smooth":
            return unknown_as_missing(cells, level_sets)
    return cells


def unknown_as_missing(cells: Cells, level_sets: Sequence[tuple[Label, ...]]) -> Cells:
    """The cells with −1, or the level that being missing is, wherever a level is not known (−2)."""
    missing = [levels.index(None) if None in levels else MISSING for levels in level_sets]
    return np.where(cells == UNKNOWN, np.array(missing, dtype=np.int32), cells)


@dataclass(frozen=True, eq=False, repr=False)
class JointTable(Distribution):
    """``log_cell[r, c]`` = log P(cells[r] given class c); ``log_rest[c]`` = log P of each cell that is not listed.

    P(observed part given c) = Σ listed cells that agree + (number of other cells that agree) · P(rest).
    """

    columns: tuple[str, ...]
    level_sets: tuple[tuple[Label, ...], ...]
    cells: Cells
    log_cell: Array
    log_rest: Array
    unseen: str = "missing"

    def fits(self, classes: int) -> bool:
        d, k = len(self.columns), len(self.cells)
        if not (super().fits(classes) and len(self.level_sets) == d and all(are_labels(known, True) for known in self.level_sets)):  # fmt: skip
            return False
        shaped = all_shaped((k, classes), self.log_cell) and all_shaped((classes,), self.log_rest)
        sound = shaped and are_codes(self.cells, (k, d), np.int32, 0, self._sizes) and is_one_of(self.unseen, UNSEEN)
        return sound and self._adds_up()

    def _adds_up(self) -> bool:
        """True when the cells' probabilities, listed or not, add up to 1."""
        others = _log_less(float(np.log(self._sizes).sum()), np.full(1, float(len(self.cells))))
        rest = np.where(np.isneginf(others), -np.inf, others + self.log_rest)
        return are_logs(self.log_cell, self.log_rest) and are_log_shares(np.concatenate([self.log_cell, rest[None]]))

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        return np.array([max(1, len(levels)) for levels in self.level_sets], dtype=np.int64)

    def log_prob(self, rows: Encoded) -> Array:
        cells = self._cells_of(rows)
        observed = cells != MISSING
        first, groups = distinct_rows(observed.astype(np.int8))
        out = np.empty((len(cells), len(self.log_rest)))
        for index, pattern in enumerate(first.tolist()):
            chosen = groups == index
            out[chosen] = self._marginal(cells[chosen], observed[pattern])
        return out

    def _cells_of(self, rows: Encoded) -> Cells:
        """Each row's levels as indices into `level_sets`; −1 for missing, −2 for a level that is to match nothing."""
        return level_cells(rows, self.columns, self.level_sets, self.unseen)

    def _marginal(self, cells: Cells, observed: NDArray[np.bool_]) -> Array:
        """log P(observed columns given class) of rows that all miss the same columns."""
        if not observed.any():
            return np.zeros((len(cells), len(self.log_rest)))
        parts, total, counts = self._index(observed)
        index = parts.find(cells[:, observed])
        listed = np.where((index >= 0)[:, None], total[index], -np.inf)
        agreeing = np.where(index >= 0, counts[index], 0.0)
        rest = _log_less(float(np.log(self._sizes[~observed]).sum()), agreeing)[:, None] + self.log_rest
        return np.logaddexp(listed, np.where(np.isnan(rest), -np.inf, rest))

    def _index(self, observed: NDArray[np.bool_]) -> tuple[CellTable, Array, Array]:
        """The listed cells' observed parts, with their summed log probabilities and how many cells each holds."""
        known = self._indexes.get(observed.tobytes())
        if known is not None:
            return known
        part = self.cells[:, observed]
        first, groups = distinct_rows(part)
        counts = np.bincount(groups, minlength=len(first))
        starts, order = np.cumsum(counts) - counts, np.argsort(groups, kind="stable")
        total = np.logaddexp.reduceat(self.log_cell[order], starts, axis=0) if len(order) else self.log_cell
        index = CellTable(part[first]), total, counts.astype(np.float64)
        if len(self._indexes) < KEPT_PATTERNS:
            self._indexes[observed.tobytes()] = index
        return index

    @cached_property
    def _indexes(self) -> dict[bytes, tuple[CellTable, Array, Array]]:
        return {}

    @property
    def parameters_count(self) -> int:
        """Classes × (Π levels − 1)."""
        return len(self.log_rest) * (prod(self._sizes.tolist()) - 1)

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        cells = np.empty((len(classes), len(self.columns)), dtype=np.int64)
        for label in np.unique(classes).tolist():
            chosen = classes == label
            cells[chosen] = self._draw(int(chosen.sum()), label, rng)
        return {name: label_array(levels)[cells[:, j]] for j, (name, levels) in enumerate(self.levels.items())}

    def _draw(self, count: int, label: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Cells of one class: listed ones by their probability, the rest evenly."""
        listed = np.exp(self.log_cell[:, label])
        share = np.append(listed, max(0.0, 1.0 - listed.sum()) if np.isfinite(self.log_rest[label]) else 0.0)
        index = rng.choice(len(share), size=count, p=share / share.sum())
        cells = (
            np.concatenate([self.cells, self.cells[:1]]).astype(np.int64)[index]
            if len(self.cells)
            else np.zeros((count, len(self.columns)), dtype=np.int64)
        )
        outside = np.flatnonzero(index == len(listed))
        known = CellTable(self.cells)
        while len(outside):
            cells[outside] = rng.integers(0, self._sizes, size=(len(outside), len(self._sizes)))
            outside = outside[known.find(cells[outside]) >= 0]
        return cells


def _log_less(log_whole: float, part: Array) -> Array:
    """log(exp(log_whole) − part) where part is a whole number no larger; −inf where nothing is left."""
    if log_whole > 30:
        return np.full(len(part), log_whole)
    return safe_log(np.round(np.exp(log_whole)) - part)


@dataclass(frozen=True)
class JointCategorical(BaseFamily):
    """The family of jointly distributed categorical columns: f(v given c) = (n_c(v) + α) / (n_c + α·Π_j m_j).

    Parameters
    ----------
    smoothing : None, float or MEstimate
        The pseudo-count α of every cell; None takes the classifier's. ``MEstimate(m)`` is α = m / Π_j m_j.

    Examples
    --------
    >>> import merula as mr
    >>> rows = [["red", "circle"], ["red", "square"], ["blue", "circle"], ["blue", "square"]]
    >>> model = mr.BayesClassifier(distributions={"categorical": mr.JointCategorical(smoothing=0.5)})
    >>> model.fit(rows, ["yes", "no", "no", "yes"]).predict_proba([["red", "circle"]]).round(4).tolist()  # 0.5 to 1.5
    [[0.25, 0.75]]
    """

    smoothing: Any = None
    name: ClassVar[str] = "joint_categorical"
    kinds: ClassVar[tuple[str, ...]] = ("categorical",)
    distribution: ClassVar[type[Distribution]] = JointTable
    statistic: ClassVar[type[Statistic]] = JointCounts

    def build(self, statistic: JointCounts, setting: Setting) -> JointTable:
        ordered = statistic.ordered(
            [column.levels if column.declared else None for column in setting.columns],
            missing_is_level=setting.missing == "level",
        )
        sizes = np.array([max(1, len(levels)) for levels in ordered.labels], dtype=np.int64)
        size = prod(sizes.tolist())
        log_pseudo = _log_pseudo_count(
            setting.smoothing if self.smoothing is None else checked_smoothing(self.smoothing, statistic.columns), size
        )
        shared = [share_out(ordered.cells, weight, sizes, float(np.exp(log_pseudo))) for weight in ordered.weight.T]
        cells = np.concatenate([part.cells for part in shared])
        first, _ = distinct_rows(cells) if len(cells) else (np.zeros(0, dtype=np.int64), None)
        cells = cells[first]
        log_cell = np.empty((len(cells), len(shared)))
        log_rest = np.empty(len(shared))
        for label, part in enumerate(shared):
            log_cell[:, label], log_rest[label] = part.log_probabilities(cells, size, log_pseudo)
        return JointTable(
            statistic.columns,
            tuple(tuple(levels) for levels in ordered.labels),
            cells,
            log_cell,
            log_rest,
            setting.unseen,
        )

    def log_belief(self, part: JointTable, statistic: JointCounts, setting: Setting) -> float:
        """log P(parameters) up to a constant: α · Σ log(P(cell given c) · cells), over all cells of the table.

        Of a table of which few cells are listed, what the others lack of an even share is told by what the listed ones take.
        """
        size, listed = prod(part._sizes.tolist()), len(part.cells)
        smoothing = (
            setting.smoothing if self.smoothing is None else checked_smoothing(self.smoothing, statistic.columns)
        )
        pseudo = float(np.exp(_log_pseudo_count(smoothing, size)))
        if not pseudo:
            return 0.0
        others = as_float(size - listed)
        rest = part.log_rest + log(size)
        if listed < LISTED * others:
            rest = np.log1p(-np.exp(part.log_cell).sum(axis=0)) - np.log1p(-listed / as_float(size))
        return pseudo * float((part.log_cell + log(size)).sum() + (others * rest.sum() if others else 0.0))

    def predictive(self, statistic: JointCounts, setting: Setting) -> Distribution:
        self._refuse_incomplete(statistic, setting)
        own = self.smoothing if self.smoothing is not None else setting.smoothing
        none = not (own.m if isinstance(own, MEstimate) else own)
        return replace(self, smoothing=MEstimate(1) if none else self.smoothing).build(statistic, setting)

    def _refuse_incomplete(self, statistic: JointCounts, setting: Setting) -> None:
        missing = statistic.cells < 0
        if setting.missing != "level" and (missing.any(axis=1) & ~missing.all(axis=1)).any():
            raise self.unknown(setting, "shares rows with missing cells out by expectation-maximisation, which does not tell how sure the shares are")  # fmt: skip

    def posterior(self, statistic: JointCounts, setting: Setting) -> Posterior:
        self._refuse_incomplete(statistic, setting)
        built = self.build(statistic, setting)
        size = prod(built._sizes.tolist())
        smoothing = setting.smoothing if self.smoothing is None else checked_smoothing(self.smoothing, statistic.columns)  # fmt: skip
        log_pseudo = _log_pseudo_count(smoothing, size)
        why = ""
        if log_pseudo == -np.inf:
            log_pseudo, why = -log(size), " (Perks)"
        counts = _counts_of(built, statistic, setting)
        whole = _every_cell(built, counts) if size <= MOST_LISTED else (built.cells, counts)
        belief = JointBelief(built, *whole, log_pseudo, as_float(size - len(whole[0])))
        rows = np.exp(log_pseudo)
        told = f"Dirichlet with {rows:.3g} imaginary row{'' if rows <= 1 else 's'} in each of {as_float(size):,.6g} cells{why}"
        return Drawing(dict.fromkeys(built.columns, told), belief.draw)


@dataclass(frozen=True, eq=False)
class JointBelief:
    """A Dirichlet distribution over the listed cells and all others together, which share what they are drawn evenly."""

    built: JointTable
    cells: Cells
    counts: Array
    log_pseudo: float
    others: float

    def draw(self, rng: np.random.Generator) -> JointTable:
        """A joint table; cells are drawn in the order of what they hold."""
        pseudo = float(np.exp(self.log_pseudo))
        rest = np.full((1, self.counts.shape[1]), self.others * pseudo if self.others else 0.0)
        logs = log_shares(np.concatenate([self.counts[self._order] + pseudo, np.clip(rest, 0.0, LARGEST)]), rng, axis=0)
        log_rest = logs[-1] - (log(self.others) if self.others else 0.0)
        log_cell = np.empty_like(self.counts)
        log_cell[self._order] = logs[:-1]
        return replace(self.built, cells=self.cells, log_cell=log_cell, log_rest=log_rest)

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """The cells by what they hold: by the level of the column whose name comes first, then of the next."""
        columns = sorted(range(len(self.built.columns)), key=self.built.columns.__getitem__)
        ranks = [np.argsort(label_order(self.built.level_sets[j]))[self.cells[:, j]] for j in columns if self.built.level_sets[j]]  # fmt: skip
        return np.lexsort(ranks[::-1]) if ranks else np.arange(len(self.cells))


def _counts_of(built: JointTable, statistic: JointCounts, setting: Setting) -> Array:
    """The weight of each class in each of the table's cells."""
    declared = [column.levels if column.declared else None for column in setting.columns]
    ordered = statistic.ordered(declared, missing_is_level=setting.missing == "level")
    counts = np.zeros(built.log_cell.shape)
    where = CellTable(built.cells).find(ordered.cells)
    np.add.at(counts, where[where >= 0], ordered.weight[where >= 0])  # a row that knows nothing is in no cell
    return counts


def _every_cell(built: JointTable, counts: Array) -> tuple[Cells, Array]:
    """All cells there are, met or not, and their counts."""
    axes = np.meshgrid(*(np.arange(size, dtype=np.int32) for size in built._sizes), indexing="ij")
    cells = np.ascontiguousarray(np.stack([axis.ravel() for axis in axes], axis=1))
    found = np.zeros((len(cells), counts.shape[1]))
    found[CellTable(cells).find(built.cells)] = counts
    return cells, found


def _log_pseudo_count(smoothing: Smoothing, size: int) -> float:
    """log of what smoothing adds to every cell of a table with this many."""
    if not isinstance(smoothing, MEstimate):
        return float(safe_log(smoothing))
    if smoothing.p is not None:
        raise InputError("a joint table takes MEstimate(m) without p: its prior belief is the same in every cell")
    return float(safe_log(smoothing.m)) - log(size)
