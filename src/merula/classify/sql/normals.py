"""What jointly normal columns say: one column after the other, each given those before it that a row knows.

Where column j is known, log N(z_j; m_j, S_jj) is added, and the others' means and covariances are those given it; where it is
missing, nothing changes. So what is missing is averaged out, whichever columns these are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from merula.classify.sql.terms import Said, Task, scaled
from merula.core import Array
from merula.distributions.gaussian import FARTHEST, LOG_TWO_PI
from merula.engines.dialects import (
    Expression,
    any_of,
    is_known,
    is_null,
    ln_of,
    minus,
    number,
    over,
    plus,
    square,
    times,
    total,
    when,
)

MOST_KEPT = 500  # means and covariances in one stage
INCOMPLETE = "a number is missing among those that are jointly normal"


def normals(part: Any, weights: Sequence[float], task: Task, bounds: Any = None) -> list[Said]:
    """weight · log N(x; mean, Σ) of what a row knows; of many columns, rows that lack one have no answer."""
    (weight,), d = set(weights), len(part.kept)
    z = [_standard(part, int(j), task, bounds) for j in part.kept]
    cells = [task.cells.number(name) for name in part.columns]
    kept = d * (d + 3) // 2 * task.classes
    logs = _eliminated(part, z, task) if kept <= MOST_KEPT else _whitened(part, z, cells, task)
    found = [plus(_present(part, c, cells, task), log) for c, log in enumerate(logs)]
    return [Said(tuple(part.columns), (), tuple(scaled(weight, one, task.dialect) for one in found))]


def _standard(part: Any, j: int, task: Task, bounds: Any) -> Expression:
    """A column in standard units, NULL where missing, no farther out than squares can go."""
    name, centre, unit = part.columns[j], float(part.centre[j]), float(part.unit[j])
    low, high = centre - FARTHEST * unit, centre + FARTHEST * unit
    if bounds and name in bounds:
        low, high = max(low, bounds[name][0]), min(high, bounds[name][1])
    x, dialect = task.cells.clipped(name, low, high), task.dialect
    key = ("standard", name, centre, unit, low, high)
    return task.cells.script.let(key, lambda: over(minus(x, number(centre, dialect)), number(unit, dialect)))


def _present(part: Any, c: int, cells: Sequence[Expression], task: Task) -> Expression:
    """What cells being known or missing adds; the unit of each that is known is taken from the density."""
    found = []
    log_unit = np.zeros(len(part.columns))
    log_unit[part.kept] = np.log(part.unit[part.kept]) + 0.5 * LOG_TWO_PI
    for j, cell in enumerate(cells):
        known, lost = float(part.log_present[c, j] - log_unit[j]), float(part.log_missing[c, j])
        found.append(when([(is_null(cell), number(lost, task.dialect))], number(known, task.dialect)))
    return total(found, task.dialect)


def _covariances(part: Any) -> Array:
    inverse = np.linalg.inv(part.whitening)
    return np.einsum("gka,gkb->gab", inverse, inverse)  # type: ignore[no-any-return]


def _eliminated(part: Any, z: Sequence[Expression], task: Task) -> list[Expression]:
    """log density of what is known but for units, by the chain rule."""
    dialect, script, d = task.dialect, task.cells.script, len(z)
    shapes = _covariances(part)
    logs: list[list[Expression]] = [[] for _ in range(task.classes)]
    groups = [range(task.classes)] if len(shapes) == 1 else [[c] for c in range(task.classes)]
    for g, group in enumerate(groups):
        cov = {(k, i): number(float(shapes[g, k, i]), dialect) for k in range(d) for i in range(k + 1)}
        mean = {c: [number(float(one), dialect) for one in part.mean[c]] for c in group}
        for j in range(d):
            known, spread = is_known(z[j]), cov[j, j]
            for c in group:
                away = minus(z[j], mean[c][j])
                fit = over(square(away, dialect), spread)
                density = times(number(-0.5, dialect), plus(ln_of(spread), fit))
                logs[c].append(when([(known, density)], number(0.0, dialect)))
                for k in range(j + 1, d):
                    moved = plus(mean[c][k], times(over(cov[k, j], spread), away))
                    mean[c][k] = script.let(("mean", id(part), g, c, j, k), _chosen(known, moved, mean[c][k]))
            for k in range(j + 1, d):
                for i in range(j + 1, k + 1):
                    less = minus(cov[k, i], over(times(cov[k, j], cov[i, j]), spread))
                    cov[k, i] = script.let(("covariance", id(part), g, j, k, i), _chosen(known, less, cov[k, i]))
    return [total(found, dialect) for found in logs]


def _chosen(known: Expression, one: Expression, other: Expression) -> Any:
    return lambda: when([(known, one)], other)


def _whitened(part: Any, z: Sequence[Expression], cells: Sequence[Expression], task: Task) -> list[Expression]:
    """−½ |(z − mean) · W|² + log |W| of rows that know all."""
    dialect = task.dialect
    task.cells.script.problem(any_of([is_null(cells[int(j)]) for j in part.kept]), INCOMPLETE)
    found = []
    for c in range(task.classes):
        root = part.whitening[c if len(part.whitening) > 1 else 0]
        offsets = part.mean[c] @ root
        squares = []
        for k in range(len(z)):
            parts = [times(number(float(root[j, k]), dialect), z[j]) for j in range(len(z)) if root[j, k]]
            length = minus(total(parts, dialect), number(float(offsets[k]), dialect))
            squares.append(square(length, dialect))
        fixed = number(float(part._half_log_det[c]), dialect)
        found.append(minus(fixed, times(number(0.5, dialect), total(squares, dialect))))
    return found
