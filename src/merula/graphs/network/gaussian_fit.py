"""Numeric variables learned: one weighted least-squares regression for each configuration of the discrete parents."""

from __future__ import annotations

import numpy as np

from merula.graphs.network.node import GaussianNode
from merula.graphs.network.statistic import FamilyStatistic
from merula.graphs.structure.gaussian_score import in_units, regressions, spread
from merula.stats import FullMoments


def fit_gaussian(statistic: FamilyStatistic, name: str) -> GaussianNode:
    """The conditional linear-Gaussian distribution of largest likelihood, given the rows complete in its family.

    intercept = mean(y) − slopes · mean(x), with the `regressions` by which structures are scored: for each configuration of
    the discrete parents. One with fewer than two rows per parameter keeps its own means, but takes the slopes and the
    variance of all together; one without rows takes all means too.

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
    part: FullMoments = statistic.moments.part(name)
    numeric, mass = part.columns[:-1], part.weight
    if not mass.sum() > 0:
        raise ValueError(
            f"no row knows {name!r} and all of its parents {list(statistic.graph[name])} together; its distribution cannot be learned: complete some rows, or remove an arc"
        )
    found = part.with_columns([*sorted(numeric), name])
    alone = statistic.columns.with_columns(found.columns)
    spreads = [
        spread(*map(float, column)) for column in zip(alone.weight[0], alone.mean[0], alone.squares[0], strict=True)
    ]
    scatter, units = in_units(found.scatter, spreads)
    slopes, variance, _ = regressions(mass, scatter)
    slopes *= units[-1] / units[:-1]
    origin = found.mean[np.argmax(mass)]
    drift = (found.mean - origin) + found.rest
    drift[mass == 0] = mass @ drift / mass.sum()
    # y − slopes · x of what lies near the origin first: far from 0 they lose fewer digits
    intercept = drift[:, -1] - (slopes * drift[:, :-1]).sum(axis=1) + (origin[-1] - slopes @ origin[:-1])
    slopes = slopes[:, [found.columns.index(parent) for parent in numeric]]
    shape = statistic.shape(statistic.discrete_parents(name))
    return GaussianNode(
        name,
        statistic.discrete_parents(name),
        numeric,
        intercept.reshape(shape),
        slopes.reshape(*shape, len(numeric)),
        (variance * units[-1] ** 2).reshape(shape),
    )


def unobserved_configurations(statistic: FamilyStatistic, name: str) -> int:
    """How many configurations of the discrete parents no row shows."""
    return int((statistic.moments.part(name).weight == 0).sum())
