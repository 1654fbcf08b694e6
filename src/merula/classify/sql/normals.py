"""What jointly normal columns say: one column after the other, each given those before it that a row knows.

Where column j is known, log N(z_j; m_j, S_jj) is added, and the others' means and covariances are those given it; where it is
missing, nothing changes. So what is missing is averaged out, whichever columns these are. What t distributions say beside normal ones
is told by the same squares.
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
    compare,
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
    (weight,) = set(weights)
    cells = [task.cells.number(name) for name in part.columns]
    halved = number(-0.5, task.dialect)
    logs = [times(halved, plus(volume, length)) for volume, length in _squares(part, task, bounds)[1]]
    found = [plus(_present(part, c, cells, task), log) for c, log in enumerate(logs)]
    return [Said(tuple(part.columns), (), tuple(scaled(weight, one, task.dialect) for one in found))]


def tails(part: Any, weights: Sequence[float], task: Task, bounds: Any = None) -> list[Said]:
    """weight · what t distributions say beside normal ones; see `StudentTails`."""
    (weight,), dialect, script = set(weights), task.dialect, task.cells.script
    z, told = _squares(part.normal, task, bounds)
    ones = [when([(is_known(one), number(1.0, dialect))], number(0.0, dialect)) for one in z]
    known = script.let(("known", id(part)), lambda: total(ones, dialect))
    found = []
    for c, (_, summed) in enumerate(told):
        nu, share = float(part.freedom[c]), float(part.share[c])
        squares = script.let(("squares", id(part), c), _same(summed))
        ends = [(compare("EQ", known, number(float(d), dialect)), number(float(one), dialect)) for d, one in enumerate(part.constants[:, c])]  # fmt: skip
        bent = ln_of(plus(number(1.0, dialect), over(squares, number(nu - 2, dialect))))
        bent = times(times(number(0.5, dialect), plus(number(nu, dialect), known)), bent)
        one = plus(minus(when(ends), bent), times(number(0.5 * share, dialect), squares))
        found.append(scaled(weight, one, dialect))
    return [Said(tuple(part.columns), (), tuple(found))]


def students(part: Any, weights: Sequence[float], task: Task) -> list[Said]:
    """weight · log t of what a row knows; of many columns, rows that lack one have no answer."""
    (weight,), dialect, script = set(weights), task.dialect, task.cells.script
    z, told = _squares(part.normal, task, None)
    cells = [task.cells.number(name) for name in part.columns]
    ones = [when([(is_known(one), number(1.0, dialect))], number(0.0, dialect)) for one in z]
    known = script.let(("known", id(part)), lambda: total(ones, dialect))
    found = []
    for c, (volume, summed) in enumerate(told):
        nu = float(part.freedom[c])
        squares = script.let(("squares", id(part), c), _same(summed))
        ends = [(compare("EQ", known, number(float(d), dialect)), number(float(one), dialect)) for d, one in enumerate(part.constants[:, c])]  # fmt: skip
        bent = ln_of(plus(number(1.0, dialect), over(squares, number(nu, dialect))))
        bent = times(times(number(0.5, dialect), plus(number(nu, dialect), known)), bent)
        height = plus(_present(part, c, cells, task), times(number(-0.5, dialect), volume))
        found.append(scaled(weight, plus(height, minus(when(ends), bent)), dialect))
    return [Said(tuple(part.columns), (), tuple(found))]


def _same(one: Expression) -> Any:
    return lambda: one


def _squares(part: Any, task: Task, bounds: Any) -> tuple[list[Expression], list[tuple[Expression, Expression]]]:
    """Columns in standard units; and for each class log |Σ| of those that are known, and their squared distance from its mean."""
    d = len(part.kept)
    z = [_standard(part, int(j), task, bounds) for j in part.kept]
    cells = [task.cells.number(name) for name in part.columns]
    few = d * (d + 3) // 2 * task.classes <= MOST_KEPT
    return z, _eliminated(part, z, task) if few else _whitened(part, z, cells, task)


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


def _eliminated(part: Any, z: Sequence[Expression], task: Task) -> list[tuple[Expression, Expression]]:
    """log |Σ| and squared distance of what is known, by the chain rule."""
    dialect, script, d = task.dialect, task.cells.script, len(z)
    shapes, zero = _covariances(part), number(0.0, dialect)
    logs: list[list[Expression]] = [[] for _ in range(task.classes)]
    fits: list[list[Expression]] = [[] for _ in range(task.classes)]
    groups = [range(task.classes)] if len(shapes) == 1 else [[c] for c in range(task.classes)]
    for g, group in enumerate(groups):
        cov = {(k, i): number(float(shapes[g, k, i]), dialect) for k in range(d) for i in range(k + 1)}
        mean = {c: [number(float(one), dialect) for one in part.mean[c]] for c in group}
        for j in range(d):
            known, spread = is_known(z[j]), cov[j, j]
            for c in group:
                away = minus(z[j], mean[c][j])
                logs[c].append(when([(known, ln_of(spread))], zero))
                fits[c].append(when([(known, over(square(away, dialect), spread))], zero))
                for k in range(j + 1, d):
                    moved = plus(mean[c][k], times(over(cov[k, j], spread), away))
                    mean[c][k] = script.let(("mean", id(part), g, c, j, k), _chosen(known, moved, mean[c][k]))
            for k in range(j + 1, d):
                for i in range(j + 1, k + 1):
                    less = minus(cov[k, i], over(times(cov[k, j], cov[i, j]), spread))
                    cov[k, i] = script.let(("covariance", id(part), g, j, k, i), _chosen(known, less, cov[k, i]))
    return [(total(log, dialect), total(fit, dialect)) for log, fit in zip(logs, fits, strict=True)]


def _chosen(known: Expression, one: Expression, other: Expression) -> Any:
    return lambda: when([(known, one)], other)


def _whitened(part: Any, z: Sequence[Expression], cells: Sequence[Expression], task: Task) -> list[tuple[Expression, Expression]]:  # fmt: skip
    """−2 log |W| and |(z − mean) · W|² of rows that know all."""
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
        found.append((number(-2 * float(part._half_log_det[c]), dialect), total(squares, dialect)))
    return found
