"""Numeric variables learned: one weighted least-squares regression for each configuration of the discrete parents."""

from __future__ import annotations

import numpy as np

from merula.core.arrays import Array
from merula.graphs.network.moments import GroupMoments
from merula.graphs.network.node import GaussianNode
from merula.graphs.network.statistic import FamilyStatistic
from merula.graphs.structure.gaussian_score import FLOOR, ROWS_PER_PARAMETER


def fit_gaussian(statistic: FamilyStatistic, name: str) -> GaussianNode:
    """The conditional linear-Gaussian distribution of largest likelihood, given the rows complete in its family.

    slopes = argmin RSS, intercept = mean(y) − slopes · mean(x), variance = max(RSS / n, 1e-9 · overall variance), for each
    configuration of the discrete parents. One with fewer than two rows per parameter keeps its own means, but takes the
    slopes of all together and their variance, RSS over the degrees of freedom left; one without rows takes all means too.

    Examples
    --------
    >>> import pandas as pd
    >>> from merula.graphs.network.statistic import count_families
    >>> from merula.data.encode.columns import code_columns
    >>> rows = code_columns(pd.DataFrame({"dose": [0.0, 1, 2, 3, 4, 5], "effect": [1.0, 3, 5, 7, 9, 11]}))
    >>> node = fit_gaussian(count_families({"dose": (), "effect": ("dose",)}, rows, ()), "effect")
    >>> float(node.intercept.round(6)), node.slopes.round(6).tolist()
    (1.0, [2.0])
    """
    discrete, numeric = statistic.discrete_parents(name), statistic.numeric_parents(name)
    scales = np.array([_scale(statistic.columns[one]) for one in (*numeric, name)])
    found = _in_units(statistic.moments[name], scales)
    if not found.mass.sum() > 0:
        raise ValueError(
            f"no row knows {name!r} and all of its parents {list(statistic.graph[name])} together; its distribution cannot be learned: complete some rows, or remove an arc"
        )
    together, spare = found.pooled(), _spare(found)
    shared = _slopes(together.scatter)
    left = _residual(together.scatter, shared)
    shared_variance = max(left / spare, FLOOR) if spare >= 1 else 1.0
    shape, width = found.mass.shape, len(numeric)
    intercept, slopes, variance = np.empty(shape), np.empty((*shape, width)), np.empty(shape)
    for index in np.ndindex(shape):
        own, spread, of_mean = shared, shared_variance, found.mean[index] if found.mass[index] > 0 else together.mean
        if found.mass[index] >= ROWS_PER_PARAMETER * (width + 2):
            own = _slopes(found.scatter[index])
            spread = max(_residual(found.scatter[index], own) / float(found.mass[index]), FLOOR)
        slopes[index], variance[index] = own, spread
        intercept[index] = of_mean[-1] - own @ of_mean[:-1]
    unit = scales[-1]
    return GaussianNode(name, discrete, numeric, intercept * unit, slopes * unit / scales[:-1], variance * unit**2)


def unobserved_configurations(statistic: FamilyStatistic, name: str) -> int:
    """How many configurations of the discrete parents no row shows."""
    return int((statistic.moments[name].mass == 0).sum())


def _in_units(moments: GroupMoments, scales: Array) -> GroupMoments:
    """The moments of the numbers in units of their own spread, so that no column's scale decides what is small."""
    return GroupMoments(moments.mass, moments.mean / scales, moments.scatter / np.outer(scales, scales))


def _scale(column: GroupMoments) -> float:
    """The standard deviation of a whole column; 1 for a constant one, whose spread is but rounding."""
    mass = float(column.mass)
    deviation = float(np.sqrt(column.scatter[0, 0] / mass)) if mass > 0 else 0.0
    return deviation if deviation > 1e-14 * abs(float(column.mean[0])) else 1.0


def _spare(found: GroupMoments) -> float:
    """The degrees of freedom that the means of all configurations and the shared slopes leave."""
    return float(found.mass.sum() - (found.mass > 0).sum() - (found.mean.shape[-1] - 1))


def _slopes(scatter: Array) -> Array:
    """Least squares of the last number on the others; directions with less than 1e-9 of the spread are not followed."""
    if len(scatter) == 1:
        return np.zeros(0)
    return np.asarray(np.linalg.lstsq(scatter[:-1, :-1], scatter[:-1, -1], rcond=FLOOR)[0], dtype=np.float64)


def _residual(scatter: Array, slopes: Array) -> float:
    """What of the last number's scatter the others leave unexplained."""
    direction = np.append(-slopes, 1.0)
    return max(float(direction @ scatter @ direction), 0.0)
