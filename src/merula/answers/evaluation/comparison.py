"""Is one model better than another on the same folds? The difference of a figure, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from merula.answers.evaluation.figure import Figure, Fold, corrected_standard_error, row_standard_error
from merula.answers.evaluation.metrics import RowValues


@dataclass(frozen=True)
class Comparison:
    """How two models differ in a figure: `difference` is the first's less the second's; None where it is undefined.

    `t` is also None where the difference is the same in every fold and not 0; then `p_value` is 0.

    Examples
    --------
    >>> from merula.answers.evaluation import Comparison
    >>> print(Comparison("log_loss", "naive", "tree", 0.05, 0.02, 2.5, 0.0339))
    log_loss: naive − tree = 0.0500 ± 0.0200 (p = 0.034)
    """

    figure: str
    first: str
    second: str
    difference: float | None
    standard_error: float | None
    t: float | None
    p_value: float | None

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


def row_difference(first: RowValues, second: RowValues) -> Difference:
    """The mean difference over the rows of one split, with the paired t-test on rows."""
    rows = RowValues(first.values - second.values, first.weights)
    count = len(rows.values) if rows.weights is None else float(rows.weights.sum())
    return _tested(float(np.average(rows.values, weights=rows.weights)), row_standard_error(rows), count - 1)


def _tested(difference: float, error: float | None, freedom: float) -> Difference:
    """The difference with its t statistic and p-value; equal everywhere and 0 is no evidence at all."""
    if error is None:
        return Difference(difference)
    if error == 0:
        return Difference(difference, 0.0, 0.0, 1.0) if difference == 0 else Difference(difference, 0.0, None, 0.0)
    statistic = difference / error
    return Difference(difference, error, statistic, float(2 * student.sf(abs(statistic), freedom)))
