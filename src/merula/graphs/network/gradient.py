"""Tables learned by the gradient: L-BFGS on softmax parameters, whose derivatives are the junction tree's expected counts.

Binder, Koller, Russell & Kanazawa (1997). Adaptive probabilistic networks with hidden variables. Machine Learning 29, 213–244.
Greiner, Su, Shen & Zhou (2005). Structural extension to logistic regression: discriminative parameter learning of belief net
classifiers. Machine Learning 59, 297–322: the same for the conditional likelihood of one variable.

Tables are what they were at the start, tilted: P(level given parents) = start · exp(tilt) / Σ_levels start · exp(tilt). With
`count` the derivative of a log likelihood by the logarithm of a cell, each taken as free, the derivative by the cell's tilt is
count − P · Σ_levels count. For log P(row) the count is the one expected in that cell; for log P(target given row) it is what
the row with its target expects less what the row without it expects. A cell that is 0 stays so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.limits import check_bytes
from merula.graphs.network.em import Climb, Climber, ExpectedRows, Steps, expected_rows
from merula.graphs.network.statistic import FamilyStatistic

Tables = dict[str, Array]
Expect = Callable[[Tables], tuple[float, Tables]]
FAR = 50.0  # the largest tilt: e⁵⁰ times the odds of the start, beyond which no row tells the difference
FIRM = 0.01  # pseudo-counts that keep every cell from 0
CALM = 3  # steps that together rise by less than the tolerance before it stops: one of L-BFGS may be short by chance
MEMORY = 10  # steps by which L-BFGS knows the curvature
NUMBERS = 2 * MEMORY + 16  # that it keeps for each cell, our own arrays among them


@dataclass(frozen=True, eq=False)
class Slope:
    """A height above all tables that are tilted from `start`, and how it rises; held near the start by a ridge.

    height = expect(tables) − ½ · ridge · Σ_cells tilt²

    The optimiser sees each tilt times its `scale`, the root of how the height is thought to curve: then it begins with a step
    of the right length in every direction.
    """

    expect: Expect
    start: Tables
    scale: Array
    ridge: float = 0.0

    def tables(self, point: Array) -> Tables:
        """The tables that a point of the optimiser stands for."""
        tilts, found = self._apart(point / self.scale), {}
        for name, table in self.start.items():
            tilted = table * np.exp(tilts[name])
            found[name] = tilted / tilted.sum(axis=-1, keepdims=True)
        return found

    def __call__(self, point: Array) -> tuple[float, Array]:
        """The height and its derivatives, both with their signs turned, for an optimiser that goes down."""
        tables, tilt = self.tables(point), point / self.scale
        height, counts = self.expect(tables)
        slopes = [(counts[name] - table * counts[name].sum(axis=-1, keepdims=True)).ravel() for name, table in tables.items()]  # fmt: skip
        return 0.5 * self.ridge * float(tilt @ tilt) - height, (self.ridge * tilt - np.concatenate(slopes)) / self.scale

    def _apart(self, values: Array) -> Tables:
        """A vector over all cells, table by table."""
        ends = np.cumsum([table.size for table in self.start.values()])[:-1]
        parts = zip(self.start.items(), np.split(values, ends), strict=True)
        return {name: part.reshape(table.shape) for (name, table), part in parts}


def ascend(slope: Slope, steps: Steps) -> tuple[Tables, list[float], bool]:
    """The highest tables that L-BFGS finds, the height at each step, and whether it stopped by itself."""
    from scipy.optimize import Bounds, minimize  # slow to load, and few networks need it

    cells = len(slope.scale)
    check_bytes(8.0 * NUMBERS * cells, f"{cells:,} cells of tables need for their gradient memory", "give variables fewer parents, or merge levels")  # fmt: skip
    origin = np.zeros(cells)
    log = [-slope(origin)[0]]

    def step(intermediate_result: Any) -> None:
        log.append(-float(intermediate_result.fun))
        if len(log) > CALM and log[-1] - log[-1 - CALM] <= steps.tolerance * abs(log[-1]):
            raise StopIteration

    found = minimize(
        slope,
        origin,
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(-FAR * slope.scale, FAR * slope.scale),
        callback=step,
        options={"maxcor": MEMORY, "maxiter": steps.max_iterations, "maxfun": np.inf, "ftol": 0.0, "gtol": 0.0},
    )
    return slope.tables(found.x), log, found.status != 1


def climb(climber: Climber, tables: Tables, steps: Steps) -> Climb:
    """As high as the gradient leads, and on by EM until its steps, too, rise by less than the tolerance: mostly by one.

    Such a step never falls. It makes the tables those of the expected counts, and takes cells to 0 where softmax never arrives.
    Cells with hardly any pseudo-counts may be taken for 0 too early, where all derivatives vanish: then EM climbs from the
    start as well, and the higher of the two is kept.
    """
    found = _climb(climber, tables, steps)
    if all((believed >= FIRM).all() for believed in climber.prior.values()):
        return found
    return max(found, climber.climb(tables, steps), key=lambda climb: climb.log[-1])


def _climb(climber: Climber, tables: Tables, steps: Steps) -> Climb:
    def expect(tables: Tables) -> tuple[float, Tables]:
        height, counts = climber.expect(tables)
        return height, {name: found + climber.prior[name] for name, found in counts.items()}

    # a likelihood curves as the weight in each cell, so that the first step is about that of EM
    masses = np.concatenate([np.maximum(found, 1.0).ravel() for found in expect(tables)[1].values()])
    highest, log, _ = ascend(Slope(expect, tables, np.sqrt(masses)), steps)
    left = max(1, steps.max_iterations - len(log) + 1)
    last = climber.climb(highest, replace(steps, max_iterations=left))
    return Climb(last.tables, last.counts, log[:-1] + last.log, last.converged)


@dataclass(frozen=True, eq=False)
class Conditional:
    """The rows that know a target: with it, and without it. Equal ones are one."""

    parts: Sequence[tuple[ExpectedRows, ExpectedRows]]

    def expect(self, tables: Tables) -> tuple[float, Tables]:
        """Σ weight · log P(target given row), and its derivatives by the logarithms of all cells."""
        height, counts = 0.0, {name: np.zeros(table.shape) for name, table in tables.items()}
        for sign, rows in ((sign, rows) for part in self.parts for sign, rows in zip((1, -1), part, strict=True)):
            log, found = rows.expect(tables)
            height += sign * log
            for name, expected in found.items():
                counts[name] += sign * expected
        return height, counts


def conditional(
    statistic: FamilyStatistic, codes: NDArray[Any], weights: Array, target: str, limit: float, n_jobs: int | None
) -> Conditional:
    """What rows, a column of codes for each discrete variable, say of a target given all else that they know.

    Where they know its Markov blanket, only the families of the target and of its children have a say.
    """
    known = (codes[:, statistic.index[target]] >= 0) & (weights > 0)
    near = [name for name in statistic.discrete if target in statistic.family(name)]
    blanket = sorted({statistic.index[member] for name in near for member in statistic.family(name)})
    whole = np.all(codes[:, blanket] >= 0, axis=1)

    parts = []
    for families, kept in ((near, known & whole), (statistic.discrete, known & ~whole)):
        if kept.any():
            rows = expected_rows(statistic, families, codes[kept], weights[kept], limit, n_jobs).once()
            parts.append((rows, rows.without(target)))
    return Conditional(parts)


def climb_conditional(
    rows: Conditional, tables: Tables, ridge: float, steps: Steps
) -> tuple[Tables, list[float], bool]:
    """Tables under which the target is more probable given the rest of each row, held near these; else as for `ascend`.

    height = Σ weight · log P(target given row) − ½ · ridge · Σ_cells tilt²
    """
    cells = sum(table.size for table in tables.values())
    return ascend(Slope(rows.expect, tables, np.full(cells, np.sqrt(ridge)), ridge), steps)
