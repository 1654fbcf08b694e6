"""Expectation-maximisation: tables learned from rows with cells missing, each row shared out over all its completions.

Lauritzen (1995). The EM algorithm for graphical association models with missing data. Computational Statistics & Data
Analysis 19, 191–201. Every row is used; the expected counts are exact, from one junction tree for all distinct rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from sklearn.exceptions import ConvergenceWarning

from merula.core import Array, warn_user
from merula.graphs.factors.propagation import Propagation
from merula.graphs.network.statistic import FamilyStatistic


@dataclass(frozen=True)
class Steps:
    """How long expectation-maximisation goes on, and from where: `restarts` starts, all but the first drawn at random."""

    max_iterations: int = 1000
    tolerance: float = 1e-8
    restarts: int = 1
    random_state: Any = 0


@dataclass(frozen=True, eq=False)
class Climb:
    """Where one start led: the tables, the expected counts they are made from, and log likelihood + log prior at each step."""

    tables: dict[str, Array]
    counts: dict[str, Array]
    log: list[float]
    converged: bool


@dataclass(frozen=True, eq=False)
class Climber:
    """Steps of EM for one statistic: the tree, the incomplete rows, what complete rows and the prior say of each family."""

    tree: Propagation
    codes: NDArray[np.int64]
    weights: Array
    complete: Mapping[str, Array]
    prior: Mapping[str, Array]
    n_jobs: int | None

    def climb(self, tables: dict[str, Array], steps: Steps) -> Climb:
        """Expected counts, tables from them, and so on until log likelihood + log prior rises by less than the tolerance."""
        counts, log = dict(self.complete), []
        for step in range(steps.max_iterations + 1):
            height, expected = self._expect(tables)
            log.append(height)
            if step and log[-1] - log[-2] <= steps.tolerance * abs(log[-1]):
                return Climb(tables, counts, log, True)
            if step < steps.max_iterations:
                counts = {name: self.complete[name] + found for name, found in expected.items()}
                tables = {name: normalised(found + self.prior[name]) for name, found in counts.items()}
        return Climb(tables, counts, log, False)

    def _expect(self, tables: dict[str, Array]) -> tuple[float, dict[str, Array]]:
        """log likelihood + log prior of these tables, and what they expect incomplete rows to add to each count.

        height = Σ_rows weight · log P(row) + Σ_cells pseudo-count · log P(cell)
        """
        fresh = self.tree.filled(list(tables.values()))
        logs, expected = self.tree.expected_of_rows(fresh, self.codes, self.weights, self.n_jobs)
        height = float(self.weights @ logs)
        for name, table in tables.items():
            height += float(xlogy(self.complete[name] + self.prior[name], table).sum())
        return height, dict(zip(tables, self.tree.sums_of(expected), strict=True))


def maximise(
    statistic: FamilyStatistic, prior: Mapping[str, Array], steps: Steps, limit: float, n_jobs: int | None
) -> Climb:
    """The best of several climbs; one that has not converged is said in a warning."""
    scopes = [[statistic.index[member] for member in statistic.family(name)] for name in statistic.discrete]
    tree = Propagation(statistic.shape(statistic.discrete), scopes, limit=limit)
    codes, weights = statistic.rows.cells.astype(np.int64), statistic.rows.weight[:, 0].copy()
    climber = Climber(tree, codes, weights, statistic.counts, prior, n_jobs)
    rng = np.random.default_rng(steps.random_state)
    climbs = [climber.climb(start(statistic, prior, rng, again=turn > 0), steps) for turn in range(steps.restarts)]
    best = max(climbs, key=lambda found: found.log[-1])
    if not best.converged:
        rise = best.log[-1] - best.log[-2]
        warn_user(f"EM stopped after {steps.max_iterations} iterations while log likelihood + log prior still rose by {rise:.3g}; raise max_iterations or tolerance", ConvergenceWarning)  # fmt: skip
    return best


def start(
    statistic: FamilyStatistic, prior: Mapping[str, Array], rng: np.random.Generator, again: bool = False
) -> dict[str, Array]:
    """Tables to begin with: what rows complete in each family say, plus the prior, plus one row in every cell.

    No cell is 0, so no row is impossible, whatever the prior rules out. A family with a variable that is never observed
    takes the counts of its other members; then every cell is multiplied by a random number near 1, for equal levels would
    stay equal for ever. Families are drawn at random too when the climb is begun `again`.
    """
    hidden, tables = set(statistic.never_observed()), {}
    for name in statistic.discrete:
        family = statistic.family(name)
        seen = [member for member in family if member not in hidden]
        spread = [1 if member in hidden else len(statistic.known(member)) for member in family]
        found = statistic.available(seen).reshape(spread) + prior[name] + 1.0
        if again or len(seen) < len(family):
            found = found * np.exp(rng.standard_normal(found.shape))
        tables[name] = normalised(found)
    return tables


def normalised(counts: Array) -> Array:
    """Rows that sum to 1; a row of zeros is taken as even."""
    sums = counts.sum(axis=-1, keepdims=True)
    return np.where(sums > 0, counts / np.where(sums > 0, sums, 1.0), 1.0 / counts.shape[-1])
