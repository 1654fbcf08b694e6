"""Are two columns independent given others? χ² and G² tests on stratified tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from merula.core.arrays import Array
from merula.core.checks import one_of
from merula.core.compiled import kernel
from merula.data.encode import CodedColumns
from merula.graphs.structure.configurations import configurations
from merula.stats.configurations import count_cells, count_table, extended, most_cells

TESTS = ("chi2", "g2")


@dataclass(frozen=True)
class IndependenceTest:
    """A test statistic, its degrees of freedom, and the probability of one at least as large under independence."""

    statistic: float
    degrees: float
    p_value: float


def independence_test(
    rows: CodedColumns, one: str, other: str, given: Sequence[str] = (), test: str = "g2"
) -> IndependenceTest:
    """A test that two columns are independent given others, on the rows complete in all of them.

    Per stratum (configuration of `given`), with E = row sum × column sum / stratum sum: chi2 = Σ (O − E)² / E,
    g2 = 2 Σ O log(O / E). Its degrees of freedom are (rows − 1)(columns − 1) counted over the rows and columns that are
    not empty in this stratum, summed over strata: an empty one cannot deviate. Without any degree of freedom the
    p-value is 1.

    Examples
    --------
    >>> import pandas as pd
    >>> from merula.data.encode import code_columns
    >>> rows = code_columns(pd.DataFrame({"smoker": ["yes"] * 20 + ["no"] * 20, "cough": ["y"] * 15 + ["n"] * 25}))
    >>> found = independence_test(rows, "smoker", "cough", test="chi2")
    >>> found.statistic, found.degrees, found.p_value < 0.001
    (24.0, 1.0, True)
    """
    one_of(test, TESTS, "test")
    for name in (one, other, *given):
        one_of(name, rows.names, "a column of the test")
        if rows.is_numeric(name):
            raise ValueError(
                f"column {name!r} is numeric, which test={test!r} cannot count; discretise it or leave it out"
            )
    if len({one, other, *given}) < len(given) + 2:
        raise ValueError(f"a test of {one!r} and {other!r} given {list(given)} names a column twice; name each once")
    indices = rows.positions
    return deviation(rows, indices[one], indices[other], [indices[name] for name in given], test)


def deviation(rows: CodedColumns, one: int, other: int, given: Sequence[int], test: str) -> IndependenceTest:
    """The same for columns named by their positions, unchecked."""
    strata = configurations(rows, given)
    base = extended(strata, rows.codes[one], int(rows.cardinalities[one]))
    width = int(rows.cardinalities[other])
    if base.size == strata.size * rows.cardinalities[one] and 0 < base.size * width <= most_cells(rows.count):
        complete = not rows.incomplete[[one, other, *given]].any()
        table = count_table(base, rows.codes[other], width, rows.weights, complete).ravel()
        chi2, g2, degrees = _dense_test(table, strata.size, int(rows.cardinalities[one]), width)
    else:
        chi2, g2, degrees = _sparse_test(rows, one, other, given)
    statistic = float(chi2 if test == "chi2" else g2)
    return IndependenceTest(statistic, float(degrees), float(chdtrc(degrees, statistic)) if degrees > 0 else 1.0)


@kernel
def _dense_test(table: Array, strata: int, left: int, right: int) -> tuple[float, float, float]:
    """chi2, g2 and the degrees of freedom of a table strata × left × right."""
    ones, others = np.empty(left), np.empty(right)
    chi2, g2, degrees = 0.0, 0.0, 0.0
    for stratum in range(strata):
        ones[:] = 0.0
        others[:] = 0.0
        start = stratum * left * right
        for one in range(left):
            for other in range(right):
                ones[one] += table[start + one * right + other]
                others[other] += table[start + one * right + other]
        mass = ones.sum()
        for one in range(left):
            for other in range(right):
                expected = ones[one] * others[other] / mass if mass > 0 else 0.0
                count = table[start + one * right + other]
                if expected > 0:
                    chi2 += (count - expected) ** 2 / expected
                    g2 += 2 * count * np.log(count / expected) if count > 0 else 0.0
        degrees += max((ones > 0).sum() - 1, 0) * max((others > 0).sum() - 1, 0)
    return chi2, max(g2, 0.0), degrees


def _sparse_test(rows: CodedColumns, one: int, other: int, given: Sequence[int]) -> tuple[float, float, float]:
    """The same from the cells that occur: Σ (O − E)² / E = Σ O² / E − n, since E sums to n like O."""
    strata = configurations(rows, given)
    left, right = configurations(rows, [*given, one]), configurations(rows, [*given, other])
    cells = count_cells(left, right.index, right.size, rows.weights)
    stratum_of = np.zeros(left.size, dtype=np.int64)
    known = left.index >= 0
    stratum_of[left.index[known]] = strata.index[known]
    stratum = stratum_of[cells.left]
    ones, others = np.bincount(cells.left, cells.counts), np.bincount(cells.right, cells.counts)
    masses = np.bincount(stratum, cells.counts)
    expected = ones[cells.left] * others[cells.right] / masses[stratum]
    chi2 = float((cells.counts**2 / expected).sum() - cells.counts.sum())
    g2 = float(2 * (cells.counts * np.log(cells.counts / expected)).sum())
    met_ones = np.bincount(stratum[np.unique(cells.left, return_index=True)[1]], minlength=len(masses))
    met_others = np.bincount(stratum[np.unique(cells.right, return_index=True)[1]], minlength=len(masses))
    return max(chi2, 0.0), max(g2, 0.0), float((np.maximum(met_ones - 1, 0) * np.maximum(met_others - 1, 0)).sum())
