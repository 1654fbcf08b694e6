"""What is believed of a numeric variable's line: normal–inverse-gamma, with the flat prior p(intercept, slopes, σ²) ∝ 1 / σ².

Given n rows of a configuration with centred sums of squares S, k slopes and RSS, the residual sum of squares (Gelman et al. 2013,
"Bayesian data analysis", section 14.2):

σ² ~ RSS / χ²(n − k − 1), slopes ~ N(fitted, σ² · S⁻¹), mean at the parents' means ~ N(fitted, σ² / n), independent given σ²

A configuration whose rows leave no degree of freedom (or whose parents do not vary) has, with its own mean, in each draw σ² and the slopes
of another one that is drawn at random: of all configurations together where none tells its own. One that no row shows has no posterior under a flat prior, and is refused where an answer needs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError
from merula.graphs.factors.names import Levels, cell_text
from merula.graphs.network.name_order import NameOrder
from merula.graphs.network.node import GaussianNode
from merula.graphs.network.statistic import FamilyStatistic
from merula.graphs.structure.family_scores import ROWS_PER_PARAMETER, in_units, regressions, spread, typical_floor

LINES = "of numbers: flat in their lines and in log σ (Jeffreys)"
DRAW = ""  # the variable whose levels are the draws; it stands before all others
SINGULAR = 1e-9  # of the largest eigenvalue of the parents' sums of squares in units of their own


@dataclass(frozen=True, eq=False)
class _Fit:
    """A regression: its slopes, a root of the inverse of its sums of squares, its degrees of freedom and residual sum of squares.

    No variance that is drawn goes below the `floor`.
    """

    slopes: Array
    root: Array
    freedom: float
    rest: float
    floor: float

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Slopes and variances, `n` of each; a variance has the floor that fits have."""
        variance = np.maximum(self.rest / rng.chisquare(self.freedom, n), self.floor)
        slopes = self.slopes + np.sqrt(variance)[:, None] * (rng.standard_normal((n, len(self.slopes))) @ self.root.T)
        return slopes, variance


@dataclass(frozen=True, eq=False)
class NumericBelief:
    """What is believed of a variable's line in each configuration of its discrete parents, in units of the columns."""

    node: GaussianNode
    levels: Levels  # of the discrete parents
    mass: Array
    means: Array  # configurations × columns: numeric parents as in `order`, the variable last
    lost: Array  # what rounding cut off them
    units: Array
    order: tuple[int, ...]  # where each numeric parent of the node stands among the columns
    own: Mapping[int, _Fit]
    shared: _Fit | None

    def check(self, needed: NDArray[np.int64]) -> None:
        """An error if one of these configurations has no posterior."""
        name = self.node.name
        for group in needed.tolist():
            if not self.mass[group] > 0:
                at = np.unravel_index(group, self.node.intercept.shape)
                raise InputError(f"no row shows {name!r} where {cell_text(self.levels, at)}, so that nothing is known of it there", where=f"variable {name!r}", remedy="fit on more rows, or merge levels")  # fmt: skip
            if group not in self.own and self.shared is None:
                raise InputError(f"too few rows show {name!r} together with {list(self.node.parents)}, or numeric parents repeat one another, so that its line can be anything", where=f"variable {name!r}", remedy="fit on more rows, or remove an arc")  # fmt: skip

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Intercepts, slopes and variances: `n` draws × configurations (× slopes). What has no posterior is as it was fitted."""
        groups, width = len(self.mass), len(self.order)
        shape = (n, groups)
        intercepts, variances = np.empty(shape), np.empty(shape)
        slopes = np.empty((*shape, width))
        scale = self.units[-1]
        for group in NameOrder.of(self.levels).cells.ravel().tolist():
            found = None
            if self.mass[group] > 0:
                found = self.own[group].draw(n, rng) if group in self.own else self._of_another(n, rng)
            if found is None:
                intercepts[:, group] = self.node.intercept.reshape(-1)[group]
                slopes[:, group] = self.node.slopes.reshape(groups, width)[group]
                variances[:, group] = self.node.variance.reshape(-1)[group]
                continue
            drawn, variance = found[0] * (scale / self.units[:-1]), found[1] * scale**2
            apart = self.lost[group, -1] + np.sqrt(variance / self.mass[group]) * rng.standard_normal(n)
            # from its own means, not from those of another: what lies near 0 loses no digits to what lies far off
            intercepts[:, group] = apart - drawn @ self.lost[group, :-1] + (self.means[group, -1] - drawn @ self.means[group, :-1])  # fmt: skip
            slopes[:, group], variances[:, group] = drawn[:, self.order], variance
        return intercepts, slopes, variances

    def _of_another(self, n: int, rng: np.random.Generator) -> tuple[Array, Array] | None:
        """Slopes and variances of configurations that do not tell their own: in each draw those of one that does, or of all together."""
        if not self._able:
            return None if self.shared is None else self.shared.draw(n, rng)
        slopes, variances, chosen = np.empty((n, len(self.order))), np.empty(n), rng.integers(len(self._able), size=n)
        for k in np.unique(chosen).tolist():
            some = np.flatnonzero(chosen == k)
            slopes[some], variances[some] = self._able[k].draw(len(some), rng)
        return slopes, variances

    @cached_property
    def _able(self) -> list[_Fit]:
        """The configurations that tell their own line."""
        return [self.own[group] for group in NameOrder.of(self.levels).cells.ravel().tolist() if group in self.own]

    def lines(self, n: int, rng: np.random.Generator) -> GaussianNode:
        """The variable with drawn numbers, `n` times: a line for each level of a first parent, the `DRAW`."""
        shape, width = self.node.intercept.shape, len(self.order)
        intercepts, slopes, variances = self.draw(n, rng)
        return GaussianNode(
            self.node.name,
            (DRAW, *self.node.discrete),
            self.node.numeric,
            intercepts.reshape(n, *shape),
            slopes.reshape(n, *shape, width),
            variances.reshape(n, *shape),
        )


def numeric_belief(statistic: FamilyStatistic, node: GaussianNode) -> NumericBelief:
    """What the moments of its family say of a numeric variable.

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> network = mr.BayesianNetwork({"dose": []}).fit(pd.DataFrame({"dose": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}))
    >>> found = numeric_belief(network._learned.statistic, network.distribution("dose"))
    >>> found.mass.tolist(), [one[0].shape for one in found.draw(3, np.random.default_rng(0))]
    ([6.0], [(1,), (1, 0), (1,)])
    """
    name, part = node.name, statistic.moments.part(node.name)
    alone = statistic.columns.with_columns(part.columns)
    each = zip(alone.columns, alone.weight[0].tolist(), alone.mean[0].tolist(), alone.squares[0].tolist(), strict=True)
    of = {column[0]: spread(*column) for column in each}
    found = part.with_columns([*sorted(part.columns[:-1]), name])
    scatter, units = in_units(found.scatter, [of[column] for column in found.columns])
    mass, width = np.asarray(found.weight, dtype=np.float64), len(found.columns)
    floor = typical_floor(mass, found.mean[:, -1], scatter[:, -1, -1], units[-1])
    fits = _fits(scatter, mass - width, floor)
    own = {group: fit for group, fit in enumerate(fits) if fit is not None}
    spare = float(mass.sum() - (mass > 0).sum() - (width - 1))
    (shared,) = _fits(scatter.sum(axis=0, keepdims=True), np.array([spare]), floor)
    lost = np.broadcast_to(found.rest, found.mean.shape)
    order = tuple(found.columns.index(parent) for parent in node.numeric)
    levels = {parent: statistic.known(parent) for parent in node.discrete}
    return NumericBelief(node, levels, mass, found.mean, lost, units, order, own, shared)


def _fits(scatter: Array, freedom: Array, floor: float) -> list[_Fit | None]:
    """A regression for each sum of squares, whatever its rows; none without a degree of freedom, or where slopes can be anything."""
    enough = np.full(len(scatter), ROWS_PER_PARAMETER * (scatter.shape[1] + 1.0))  # none is thin here
    slopes, _, left = regressions(enough, scatter, floor)
    found: list[_Fit | None] = []
    for group, spare in enumerate(freedom.tolist()):
        values, vectors = np.linalg.eigh(scatter[group, :-1, :-1])
        sure = not len(values) or values[0] > SINGULAR * values[-1]
        root = vectors / np.sqrt(values) if sure else vectors
        fit = _Fit(np.array(slopes[group]), root, spare, float(left[group]), floor)
        found.append(fit if sure and spare >= 1 else None)
    return found
