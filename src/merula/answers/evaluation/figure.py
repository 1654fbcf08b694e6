"""One figure over all folds, and its standard error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from merula.answers.evaluation.metrics import Answers, RowValues, figures_of, pooled, row_values
from merula.core.arrays import Array
from merula.data.table.subset import Rows
from merula.show.numbers import fixed

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
        value = fixed(self.value)
        return value if self.standard_error is None else f"{value} ± {fixed(self.standard_error)}"


@dataclass(frozen=True, eq=False)
class Fold:
    """One fold: the numbers of the rows it was tested on, their weight, and the weight of the rows learned from.

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

    If no fold defines it, it is that of all tested rows together, without a standard error.
    """
    per_fold = [figures_of(fold) for fold in answers]
    if len(folds) == 1:
        rows = row_values(answers[0])
        errors = {name: row_standard_error(rows[name]) for name in rows}
        return {name: Figure(value, errors.get(name), (value,)) for name, value in per_fold[0].items()}
    together: dict[str, float | None] = {}
    figures = {}
    for name in per_fold[0]:
        values = tuple(fold[name] for fold in per_fold)
        defined = [(value, fold.ratio) for value, fold in zip(values, folds, strict=True) if value is not None]
        if not defined:
            together = together or figures_of(pooled(list(answers)))
            figures[name] = Figure(together[name], None, values)
            continue
        known, ratios = np.array(defined).T
        figures[name] = Figure(float(known.mean()), corrected_standard_error(known, float(ratios.mean())), values)
    return figures
