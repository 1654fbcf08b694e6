"""One figure over all folds, its standard error, and whether it differs between two models on the same folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from merula.answers.evaluation.metrics import (
    Answers,
    RowValues,
    figures_of,
    paired_auc,
    pooled_calibration_error,
    row_values,
)
from merula.core import Array
from merula.data.table.frame import Rows
from merula.show.brief import brief
from merula.show.numbers import with_error

SIGMAS = 1.96  # standard errors to either side, which hold 95 %
UNBOUNDED = ("mean_cost", "mean_risk")  # costs may be gains
SHARES = ("error", "auc", "calibration_error", "impossible", "coverage", "error_accepted")
HIGHEST = {**dict.fromkeys(SHARES, 1.0), "brier": 2.0}
SURE = 2  # standard errors, beyond which a difference counts
ROUNDING = 1e-12  # of the values: what differs by no more is equal


@dataclass(frozen=True)
class Figure:
    """A figure, its standard error and its value in each fold; None where it is undefined.

    Examples
    --------
    >>> from merula.answers.evaluation import Figure
    >>> print(Figure(0.25, 0.0123, (0.2, 0.3)))
    0.2500 ± 0.0123
    >>> print(Figure(None, None, (None,)))
    –
    """

    value: float | None
    standard_error: float | None
    per_fold: tuple[float | None, ...]

    def __str__(self) -> str:
        return with_error(self.value, self.standard_error)


def interval_of(name: str, figure: Figure) -> tuple[float, float] | None:
    """The ends of the 95 % interval of a figure of this name, 1.96 standard errors to either side; None where the error is not known.

    Examples
    --------
    >>> interval_of("log_loss", Figure(0.5, 0.1, ())), interval_of("error", Figure(0.0, 0.1, ()))
    ((0.304, 0.696), (0.0, 0.196))
    """
    if figure.value is None or figure.standard_error is None:
        return None
    reach = SIGMAS * figure.standard_error
    low, high = (None, None) if name in UNBOUNDED else (0.0, HIGHEST.get(name))
    ends = figure.value - reach, figure.value + reach
    return ends[0] if low is None else max(low, ends[0]), ends[1] if high is None else min(high, ends[1])


@dataclass(frozen=True, eq=False)
class Fold:
    """One fold: the numbers of the rows it was tested on, their weight, and the weight of the rows learned from.

    Where these are not simply all others, their numbers are in ``train``.

    Examples
    --------
    >>> import numpy as np
    >>> from merula.answers.evaluation import Fold
    >>> Fold(test=np.array([0, 4]), test_weight=2.0, train_weight=8.0).ratio
    0.25
    """

    test: Rows
    test_weight: float
    train_weight: float
    train: Rows | None = None
    __repr__ = brief

    @property
    def ratio(self) -> float:
        """The weight tested on over the weight learned from."""
        return self.test_weight / self.train_weight


def corrected_standard_error(values: Sequence[float] | Array, ratio: float) -> float | None:
    """The standard error of a mean over folds whose training rows overlap; None for fewer than two folds.

    sqrt((1/J + ratio) · s²), ratio = tested rows / training rows (Nadeau and Bengio 2003, section 3); 0 for values that are
    equal but for rounding.
    """
    if len(values) < 2:
        return None
    if np.ptp(values) <= ROUNDING * np.abs(values).max():
        return 0.0
    return sqrt((1 / len(values) + ratio) * float(np.var(values, ddof=1)))


def row_standard_error(rows: RowValues) -> float | None:
    """The standard error of a mean over independent rows, s / √n; None unless there is more than one row.

    A weight of 2 equals the row twice: n = Σ weight.
    """
    weights = np.ones(len(rows.values)) if rows.weights is None else rows.weights
    count = float(weights.sum())
    if count <= 1:
        return None
    spread = rows.values - np.average(rows.values, weights=weights)
    return sqrt(float(weights @ spread**2) / (count - 1) / count)


def summarise(answers: Sequence[Answers], folds: Sequence[Fold]) -> dict[str, Figure]:
    """Every figure over all folds: its mean over the folds in which it is defined.

    An area that no fold defines is that of all pairs of rows tested in the same fold, without a standard error; so is the
    calibration error that of the answers of all folds together, of which a single fold has too few.
    """
    per_fold = [figures_of(fold) for fold in answers]
    if len(folds) == 1:
        rows = row_values(answers[0])
        errors = {name: row_standard_error(rows[name]) for name in rows}
        return {name: Figure(value, errors.get(name), (value,)) for name, value in per_fold[0].items()}
    values = {name: tuple(fold[name] for fold in per_fold) for name in per_fold[0]}
    together = {"auc": paired_auc(answers)} if set(values["auc"]) == {None} else {}
    together["calibration_error"] = pooled_calibration_error(answers, [fold.test for fold in folds])
    values["calibration_error"] = (None,) * len(folds)
    return {name: _over_folds(found, folds, together.get(name)) for name, found in values.items()}


def _over_folds(values: tuple[float | None, ...], folds: Sequence[Fold], together: float | None) -> Figure:
    """The mean over the folds that define a figure; `together`, that of all folds as one, where none does."""
    defined = [(value, fold.ratio) for value, fold in zip(values, folds, strict=True) if value is not None]
    if not defined:
        return Figure(together, None, values)
    known, ratios = np.array(defined).T
    return Figure(float(known.mean()), corrected_standard_error(known, float(ratios.mean())), values)


# ---------------------------------------------------------------------------------------------------------- comparisons


@dataclass(frozen=True)
class Comparison:
    """How two models differ in a figure: `difference` is the first's less the second's; None where it is undefined.

    `t` is also None where the difference is the same in every fold and not 0; then `p_value` is 0.

    Examples
    --------
    >>> from merula.answers.evaluation import Comparison
    >>> comparison = Comparison("log_loss", "naive", "tree", 0.05, 0.02, 2.5, 0.0339)
    >>> print(comparison)
    log_loss: naive − tree = 0.0500 ± 0.0200 (p = 0.034)
    >>> comparison.direction
    1
    """

    figure: str
    first: str
    second: str
    difference: float | None
    standard_error: float | None
    t: float | None
    p_value: float | None

    @property
    def direction(self) -> int:
        """1 where the first figure is higher by more than two standard errors, −1 where it is so much lower, else 0."""
        if self.difference is None or self.standard_error is None:
            return 0
        return int(np.sign(self.difference)) if abs(self.difference) > SURE * self.standard_error else 0

    def __str__(self) -> str:
        difference = Figure(self.difference, self.standard_error, ())
        sure = "" if self.p_value is None else f" (p = {self.p_value:.2g})"
        return f"{self.figure}: {self.first} − {self.second} = {difference}{sure}"


class Difference(NamedTuple):
    """A difference, its standard error, and the two-sided test that it is 0."""

    value: float | None
    standard_error: float | None = None
    t: float | None = None
    p_value: float | None = None


def fold_difference(first: Figure, second: Figure, folds: Sequence[Fold]) -> Difference:
    """The mean difference over the folds that define both figures, with the corrected resampled t-test.

    t = mean(d) / sqrt((1/J + ratio) · s²(d)) with J − 1 degrees of freedom (Nadeau and Bengio 2003, section 4)
    """
    pairs = [
        (one - other, fold.ratio)
        for one, other, fold in zip(first.per_fold, second.per_fold, folds, strict=True)
        if one is not None and other is not None
    ]
    if not pairs:
        undefined = first.value is None or second.value is None
        return Difference(None if undefined else first.value - second.value)  # type: ignore[operator]
    differences, ratios = np.array(pairs).T
    error = corrected_standard_error(differences, float(ratios.mean()))
    return _tested(float(differences.mean()), error, len(pairs) - 1)


def paired_difference(
    differences: Sequence[Array], folds: Sequence[Fold], weights: Array, groups: NDArray[np.int64] | None = None
) -> Difference:
    """The mean over folds of what differs in each tested row, with the paired t-test on rows.

    mᵢ = Σ over the folds that test row i of wᵢ / (J · weight tested), D = Σ mᵢ dᵢ, and with n = Σ w
    standard error² = n/(n−1) · Σ (mᵢ (dᵢ − D))² / wᵢ, which is s²/n where folds weigh the same. Rows of one of G groups are
    not independent: then it is G/(G−1) · Σ_group (Σ_i mᵢ (dᵢ − D))².
    """
    rows = np.concatenate([fold.test for fold in folds])
    tested = np.repeat([fold.test_weight * len(folds) for fold in folds], [len(fold.test) for fold in folds])
    values, share = np.concatenate(differences), weights[rows] / tested
    mass, moved = (np.bincount(rows, part, len(weights)) for part in (share, share * values))
    rounding = ROUNDING * float(np.abs(values).max())
    difference = _unless_rounding(float(moved.sum()), rounding)
    known = mass > 0
    spread = (moved - mass * difference)[known]
    count, squares = _squares(spread, weights[known], None if groups is None else groups[known])
    error = _unless_rounding(sqrt(count / (count - 1) * squares), rounding) if count > 1 else None
    return _tested(difference, error, count - 1)


def _unless_rounding(value: float, rounding: float) -> float:
    return 0.0 if abs(value) <= rounding else value


def _squares(spread: Array, weights: Array, groups: NDArray[np.int64] | None) -> tuple[float, float]:
    """The number of independent units, rows or groups, and the sum of the squares of what they add."""
    if groups is None:
        return float(weights.sum()), float((spread**2 / weights).sum())
    sums = np.bincount(groups, spread)
    return float(len(np.unique(groups))), float(sums @ sums)


def _tested(difference: float, error: float | None, freedom: float) -> Difference:
    """The difference with its t statistic and p-value; equal everywhere and 0 is no evidence at all."""
    if error is None:
        return Difference(difference)
    if error == 0:
        return Difference(difference, 0.0, 0.0, 1.0) if difference == 0 else Difference(difference, 0.0, None, 0.0)
    statistic = difference / error
    return Difference(difference, error, statistic, float(2 * student.sf(abs(statistic), freedom)))
