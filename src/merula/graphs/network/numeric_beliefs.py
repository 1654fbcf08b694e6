"""What is believed of a numeric variable's line in each configuration of its discrete parents: normal–inverse-gamma, as of normal columns.

Lines lie about one line and variances about one scale, both flat, and drawn as well (see `line_chain`): what is usual is learned from all
configurations together, so that one of few rows, or of none, has a posterior too. A single configuration has that of a regression under
the flat prior p(line, σ²) ∝ 1 / σ².
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError
from merula.distributions.gaussian import PRIOR_FREEDOM, PRIOR_ROWS
from merula.graphs.factors.names import Levels
from merula.graphs.network.line_chain import LineChain, line_chain, parents_vary
from merula.graphs.network.name_order import NameOrder
from merula.graphs.network.node import GaussianNode
from merula.graphs.network.statistic import FamilyStatistic
from merula.graphs.structure.family_scores import in_units, spread, typical_floor

LINES = f"of numbers, normal–inverse-gamma: the lines of configurations lie about one line, worth {PRIOR_ROWS:g} row to each, and their variances about one, worth {PRIOR_FREEDOM:g} degrees of freedom; line and scale flat"
DRAW = ""  # the variable whose levels are the draws; it stands before all others


@dataclass(frozen=True, eq=False)
class NumericBelief:
    """What is believed of a variable's line in each configuration of its discrete parents."""

    node: GaussianNode
    levels: Levels  # of the discrete parents
    mass: Array
    means: Array  # configurations × columns of the chain, the variable last; of all rows where a configuration has none
    lost: Array  # what rounding cut off them
    units: Array
    order: tuple[int, ...]  # where each numeric parent of the node stands in the chain
    chain: LineChain | None

    def check(self) -> None:
        """An error if rows do not tell a line at all."""
        name = self.node.name
        if self.chain is None:
            raise InputError(f"too few rows show {name!r} together with {list(self.node.parents)}, or numeric parents do not vary or repeat one another, so that its line can be anything", where=f"variable {name!r}", remedy="fit on more rows, or remove an arc")  # fmt: skip

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Intercepts, slopes and variances: `n` draws × configurations (× slopes)."""
        assert self.chain is not None
        found = [self._everywhere(*drawn, rng) for drawn in self.chain.draws(n, rng)]
        levels, slopes, variances = (np.concatenate(part)[:n] for part in zip(*found, strict=True))
        slopes = slopes * (self.units[-1] / self.units[:-1])
        # from its own means, not from those of another: what lies near 0 loses no digits to what lies far off
        intercepts = self.units[-1] * levels + self.lost[:, -1] - (slopes * self.lost[:, :-1]).sum(axis=2)
        intercepts += self.means[:, -1] - (slopes * self.means[:, :-1]).sum(axis=2)
        return intercepts, slopes[:, :, self.order], variances * self.units[-1] ** 2

    def _everywhere(
        self, place: Array, scale: Array, variance: Array, level: Array, slope: Array, rng: np.random.Generator
    ) -> tuple[Array, Array, Array]:
        """Levels, slopes and variances of all configurations: those that no row shows lie about line₀ and s² of the same draw."""
        assert self.chain is not None
        shape = (chains, groups, width) = (len(place), len(self.mass), place.shape[1])
        ordered = _ordered(self.levels)
        shown, unseen = (ordered[which[ordered]] for which in (self.mass > 0, ~(self.mass > 0)))
        own = PRIOR_FREEDOM * scale[:, None] / rng.chisquare(PRIOR_FREEDOM, (chains, len(unseen)))
        variances, lines = np.empty((chains, groups)), np.empty(shape)
        variances[:, shown], variances[:, unseen] = variance, np.maximum(own, self.chain.floor)
        noise = rng.standard_normal((chains, len(unseen), width))
        about = place[:, None] + np.sqrt(variances[:, unseen])[:, :, None] * noise
        lines[:, unseen] = about @ self.chain.unwhiten
        lines[:, shown] = np.concatenate([level[:, :, None], slope], axis=2)
        return lines[:, :, 0], lines[:, :, 1:], variances

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
    >>> found.mass.tolist(), [part.shape for part in found.draw(3, np.random.default_rng(0))]
    ([6.0], [(3, 1), (3, 1, 0), (3, 1)])
    """
    name, part = node.name, statistic.moments.part(node.name)
    alone = statistic.columns.with_columns(part.columns)
    each = zip(alone.columns, alone.weight[0].tolist(), alone.mean[0].tolist(), alone.squares[0].tolist(), strict=True)
    of = {column[0]: spread(*column) for column in each}
    found = part.with_columns([*sorted(part.columns[:-1]), name])
    scatter, units = in_units(found.scatter, [of[column] for column in found.columns])
    mass = np.asarray(found.weight, dtype=np.float64)
    near = found.mean[np.argmax(mass)]
    apart = np.where(mass[:, None] > 0, (found.mean - near) + found.rest, 0.0)
    middle = mass @ apart / max(float(mass.sum()), 1e-300)
    levels = {parent: statistic.known(parent) for parent in node.discrete}
    shown = _ordered(levels)
    shown = shown[mass[shown] > 0]
    varies = parents_vary(mass[shown], found.mean[shown, :-1] / units[:-1], scatter[shown, :-1, :-1])
    floor = typical_floor(mass, found.mean[:, -1], scatter[:, -1, -1], units[-1])
    chain = line_chain(mass[shown], (apart[shown] - middle) / units, scatter[shown], varies, floor)
    order = tuple(found.columns.index(parent) for parent in node.numeric)
    means = np.where(mass[:, None] > 0, found.mean, near + middle)
    lost = np.where(mass[:, None] > 0, found.rest, 0.0)
    return NumericBelief(node, levels, mass, means, lost, units, order, chain)


def _ordered(levels: Levels) -> NDArray[np.intp]:
    """The configurations in the order of names and labels, in which they are drawn."""
    return NameOrder.of(levels).cells.ravel()
