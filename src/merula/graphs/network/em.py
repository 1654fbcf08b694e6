"""Expectation-maximisation: tables learned from rows with cells missing, each row shared out over all its completions.

Lauritzen (1995). The EM algorithm for graphical association models with missing data. Computational Statistics & Data
Analysis 19, 191–201. Every row is used; the expected counts are exact, from one junction tree for all distinct rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from merula.core import Array
from merula.graphs.factors.propagation import Propagation
from merula.graphs.network.statistic import FamilyStatistic
from merula.stats.distinct_rows import distinct_rows, sum_rows


@dataclass(frozen=True)
class Steps:
    """By which steps a likelihood is climbed, how long, and from where: `restarts` starts, all but the first at random."""

    max_iterations: int = 1000
    tolerance: float = 1e-8
    restarts: int = 1
    random_state: Any = 0
    method: str = "em"


@dataclass(frozen=True, eq=False)
class Climb:
    """Where one start led: the tables, the expected counts they are made from, and the height at each step.

    The height is log likelihood + log prior.
    """

    tables: dict[str, Array]
    counts: dict[str, Array]
    log: list[float]
    converged: bool


@dataclass(frozen=True, eq=False)
class ExpectedRows:
    """Rows with a weight each, and the junction tree of some families that says what tables expect in their missing cells."""

    tree: Propagation
    families: Sequence[str]
    members: Sequence[str]
    codes: NDArray[Any]
    weights: Array
    n_jobs: int | None

    def once(self) -> ExpectedRows:
        """Equal rows as one, with the weight of all."""
        first, which = distinct_rows(self.codes)
        return replace(self, codes=self.codes[first], weights=sum_rows(self.weights[:, None], which, len(first))[:, 0])

    def without(self, name: str) -> ExpectedRows:
        """The same rows if they did not know one variable."""
        return replace(self, codes=np.where(np.array(self.members) == name, -1, self.codes)).once()

    def expect(self, tables: Mapping[str, Array]) -> tuple[float, dict[str, Array]]:
        """Σ weight · log P(row), and the counts expected of all rows in each family."""
        fresh = self.tree.filled([tables[name] for name in self.families])
        logs, expected = self.tree.expected_of_rows(fresh, self.codes, self.weights, self.n_jobs)
        return float(self.weights @ logs), dict(zip(self.families, self.tree.sums_of(expected), strict=True))


@dataclass(frozen=True, eq=False)
class Climber:
    """Steps of EM for one statistic: the incomplete rows, what complete rows and the prior say of each family."""

    rows: ExpectedRows
    complete: Mapping[str, Array]
    prior: Mapping[str, Array]

    def climb(self, tables: dict[str, Array], steps: Steps) -> Climb:
        """Expected counts, tables from them, and so on until log likelihood + log prior rises by less than the tolerance."""
        counts, log = dict(self.complete), []
        for step in range(steps.max_iterations + 1):
            height, expected = self.expect(tables)
            log.append(height)
            if step and log[-1] - log[-2] <= steps.tolerance * abs(log[-1]):
                return Climb(tables, counts, log, True)
            if step < steps.max_iterations:
                counts = expected
                tables = {name: normalised(found + self.prior[name]) for name, found in counts.items()}
        return Climb(tables, counts, log, False)

    def expect(self, tables: dict[str, Array]) -> tuple[float, dict[str, Array]]:
        """log likelihood + log prior of these tables, and the counts they expect, those of complete rows among them.

        height = Σ_rows weight · log P(row) + Σ_cells pseudo-count · log P(cell)
        """
        height, expected = self.rows.expect(tables)
        for name, table in tables.items():
            height += float(xlogy(self.complete[name] + self.prior[name], table).sum())
        return height, {name: self.complete[name] + found for name, found in expected.items()}


def expected_rows(
    statistic: FamilyStatistic,
    families: Sequence[str],
    codes: NDArray[Any],
    weights: Array,
    limit: float,
    n_jobs: int | None,
) -> ExpectedRows:
    """Rows, a column of codes for each discrete variable, as the families of some of these variables see them."""
    members = [name for name in statistic.discrete if any(name in statistic.family(child) for child in families)]
    scopes = [[members.index(member) for member in statistic.family(name)] for name in families]
    tree = Propagation(statistic.shape(members), scopes, limit=limit)
    cells = codes[:, [statistic.index[name] for name in members]]
    return ExpectedRows(tree, families, members, cells, weights, n_jobs)


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
