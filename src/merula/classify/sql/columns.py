"""What distributions of single columns of numbers say, given the class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from merula.classify.sql.lookups import looked_up
from merula.classify.sql.terms import Said, Task, scaled
from merula.core import InputError
from merula.distributions import CategoricalDistribution
from merula.distributions.columnwise import FARTHEST as RANGES
from merula.distributions.histogram import TAIL, inner_ends
from merula.distributions.lookups import Axis, Lookup
from merula.distributions.poisson import FARTHEST as MOST_COUNTED, HALF_LOG_TWO_PI, stirling_error
from merula.engines.dialects import (
    Expression,
    compare,
    is_null,
    listed,
    ln_of,
    log_sum_exp,
    minus,
    number,
    over,
    plus,
    sqlglot,
    square,
    times,
    total,
    when,
    whole,
)

WHOLE_FROM = 2.0**53  # floats from here on are whole numbers
COUNTED = 64  # counts whose log probabilities are listed; beyond, Stirling's series is exact
FARTHEST = 8e307  # a number from which another such is subtracted without overflow
CLOSE = 0.01  # ratios so close to 1 have their logarithm by a series
Of = Callable[[Any, int, float, Task], list[Expression]]


def categorical(part: CategoricalDistribution, weights: Sequence[float], task: Task) -> list[Said]:
    """Levels of columns: a table for each."""
    found, _ = part.split(weights)
    return [Said((name,), (), looked_up(table, task)) for name, table in zip(part.columns, found, strict=True)]


def by_column(present: Of) -> Callable[[Any, Sequence[float], Task], list[Said]]:
    """Terms of independent columns of numbers, from what a value that is known adds for each class."""

    def say(part: Any, weights: Sequence[float], task: Task) -> list[Said]:
        found = []
        for j, (name, weight) in enumerate(zip(part.columns, weights, strict=True)):
            if weight:
                missing = [number(weight * float(one), task.dialect) for one in part.log_missing[:, j]]
                known = present(part, j, weight, task)
                lost = is_null(task.cells.read(name))
                by_class = tuple(when([(lost, gap)], value) for gap, value in zip(missing, known, strict=True))
                found.append(Said((name,), (), by_class))
        return found

    return say


def student(part: Any, j: int, weight: float, task: Task) -> list[Expression]:
    """weight · (log t(x; mean, scale) + log present)."""
    lowest, highest = part.bounds
    found = []
    for c in range(task.classes):
        height, nu = number(weight * float(part.heights[c, j]), task.dialect), float(part.freedom[c, j])
        if np.isinf(part.scale[c, j]):
            found.append(height)
            continue
        x = task.cells.clipped(part.columns[j], float(lowest[j]), float(highest[j]))
        unit = float(1 / np.sqrt(nu * part.scale[c, j]))
        away = times(minus(x, number(float(part.mean[c, j]), task.dialect)), number(unit, task.dialect))
        bent = ln_of(plus(number(1.0, task.dialect), square(away, task.dialect)))
        found.append(minus(height, times(number(0.5 * weight * (nu + 1), task.dialect), bent)))
    return found


def gaussian(part: Any, j: int, weight: float, task: Task) -> list[Expression]:
    """weight · log N(x; mean, variance) + log present."""
    _, _, present, lowest, highest = part._constants
    found = []
    for c in range(task.classes):
        height = number(weight * float(present[c, j]), task.dialect)
        if np.isinf(part.variance[c, j]):
            found.append(height)
            continue
        x = task.cells.clipped(part.columns[j], float(lowest[j]), float(highest[j]))
        scale = float(np.sqrt(0.5 * weight / part.variance[c, j]))
        away = times(minus(x, number(float(part.mean[c, j]), task.dialect)), number(scale, task.dialect))
        found.append(minus(height, square(away, task.dialect)))
    return found


def _varying(say: Callable[[Any, int, Task], list[Expression]]) -> Of:
    """What a column adds that may never have varied: then it says nothing but that it is there."""

    def present(part: Any, j: int, weight: float, task: Task) -> list[Expression]:
        there = [number(float(one), task.dialect) for one in part.log_present[:, j]]
        if part.varies[j]:
            said = say(part, j, task)
            there = [plus(one, own) if part.log_present[c, j] else own for c, (one, own) in enumerate(zip(there, said, strict=True))]  # fmt: skip
        return [scaled(weight, one, task.dialect) for one in there]

    return present


def _near(part: Any, j: int, task: Task) -> Expression:
    reach = RANGES * (part.highest[j] - part.lowest[j])
    return task.cells.clipped(part.columns[j], float(part.lowest[j] - reach), float(part.highest[j] + reach))


@_varying
def mixture(part: Any, j: int, task: Task) -> list[Expression]:
    """log Σ_k weight_k · N(x; mean_k, deviation_k²)."""
    x, found = _near(part, j, task), []
    for c in range(task.classes):
        logs = []
        for k in np.flatnonzero(part.weight[c, j] > 0).tolist():
            scale = float(np.sqrt(0.5) / part.deviation[c, j, k])
            away = times(minus(x, number(float(part.mean[c, j, k]), task.dialect)), number(scale, task.dialect))
            logs.append(minus(number(float(part._log_heights[c, j, k]), task.dialect), square(away, task.dialect)))
        found.append(log_sum_exp(logs, task.dialect))
    return found


@_varying
def histogram(part: Any, j: int, task: Task) -> list[Expression]:
    """The log density of the bin that a value lies in; beyond the range, less with the fourth power of the distance."""
    ends, unit, name, dialect = part.edges[j], part._units[j], part.columns[j], task.dialect
    cuts = np.concatenate([[np.nextafter(ends[0], -np.inf)], np.minimum(inner_ends(ends), ends[-1]), [ends[-1]]])
    x = task.cells.clipped(name, -FARTHEST, FARTHEST)
    table = Lookup((Axis(name, cuts, np.append(np.arange(len(cuts) + 1), [-1, -1])),), part._log_heights[j])
    low, high = number(float(ends[0]), dialect), number(float(ends[-1]), dialect)
    sides = [(compare("LT", x, low), minus(low, x)), (compare("GT", x, high), minus(x, high))]

    def made() -> Expression:
        log_unit = float(np.log(unit))
        tails = [(condition, times(number(TAIL + 1, dialect), minus(ln_of(plus(number(unit, dialect), beyond)), number(log_unit, dialect)))) for condition, beyond in sides]  # fmt: skip
        return when(tails, number(0.0, dialect))

    tail = task.cells.script.let(("tail", name, float(unit)), made)
    return [minus(height, tail) for height in looked_up(table, task)]


@_varying
def discretized(part: Any, j: int, task: Task) -> list[Expression]:
    """The log mass of the interval that a value lies in."""
    cuts = np.array(part.cut_sets[j], dtype=np.float64)
    axis = Axis(part.columns[j], cuts, np.append(np.arange(len(cuts) + 1), [-1, -1]))
    return list(looked_up(Lookup((axis,), part.log_table[j]), task))


@_varying
def zero_inflated(part: Any, j: int, task: Task) -> list[Expression]:
    """The log mass of 0; elsewhere what the base says."""
    from merula.classify.sql.parts import present_of

    if part.base.factors_count != len(part.columns):
        raise InputError.at(f"column {part.columns[j]!r}", "has a base that takes several columns together", remedy="use Gaussian, GaussianMixture, Histogram or Discretized as its base")  # fmt: skip
    x = task.cells.number(part.columns[j])
    base = present_of(part.base)(part.base, j, 1.0, task)
    is_zero = compare("EQ", x, number(0.0, task.dialect))
    return [
        when(
            [(is_zero, number(float(part.log_zero[c, j]), task.dialect))],
            plus(number(float(part.log_other[c, j]), task.dialect), base[c]),
        )
        for c in range(task.classes)
    ]


# ------------------------------------------------------------------------------------------------------- counts


@_varying
def counts(part: Any, j: int, task: Task) -> list[Expression]:
    """log P(count): listed up to 63; beyond, by Stirling's series, which is exact there, so that no log-gamma is needed."""
    name, dialect, exp = part.columns[j], task.dialect, sqlglot().exp
    x = task.cells.number(name)
    key = ("whole", name)
    if key not in task.cells.script.made:
        held = task.cells.clipped(
            name, 0.0, WHOLE_FROM
        )  # Spark's floor is a whole number, which 1e300 is too large for
        odd = compare("NEQ", held, exp.Floor(this=held))
        task.cells.script.problem(compare("LT", x, number(0.0, dialect)), f"no count: {name}")
        task.cells.script.problem(odd, f"no count: {name}")
    few = compare("LT", x, number(float(COUNTED), dialect))
    place = task.cells.script.let(key, lambda: when([(few, exp.cast(x, "bigint"))], whole(0)))
    far = task.cells.clipped(name, 1.0, MOST_COUNTED)
    first = part._log_prob(j, np.arange(float(COUNTED)))
    found = []
    for c in range(task.classes):
        near = listed(first[:, c].tolist(), place, dialect)
        found.append(when([(few, near)], _beyond(part, j, c, far, task)))
    return found


def _beyond(part: Any, j: int, c: int, x: Expression, task: Task) -> Expression:
    """log P of a count of 64 or more; see `merula.distributions.poisson.log_count`."""
    mean, size, extra = float(part.mean[c, j]), float(part.size[c, j]), float(part.extra_zeros[c, j])
    dialect = task.dialect
    if mean == 0 or extra == 1:
        return number(float("-inf"), dialect)
    own = _overdispersed(x, mean, size, task) if np.isfinite(size) else _poisson(x, mean, task)
    fixed = float(np.log1p(-extra)) - HALF_LOG_TWO_PI
    falling = plus(_stirling(x, task), times(number(0.5, dialect), ln_of(x)))
    return plus(number(fixed, dialect), minus(own, falling))


def _poisson(x: Expression, mean: float, task: Task) -> Expression:
    """(x − mean) − x·log(x / mean)."""
    away = minus(x, number(mean, task.dialect))
    ratio = _log_ratio(over(x, number(mean, task.dialect)), over(away, number(mean, task.dialect)), task)
    return minus(away, times(x, ratio))


def _overdispersed(x: Expression, mean: float, size: float, task: Task) -> Expression:
    """s(x + r) − s(r) − ½ log(1 + x/r) − r·log((r + mean)/(r + x)) − x·log(x(r + mean) / (mean(r + x)))."""
    dialect = task.dialect
    r, m, sum_ = number(size, dialect), number(mean, dialect), plus(x, number(size, dialect))
    away = minus(x, m)
    first = _log_ratio(over(number(size + mean, dialect), sum_), over(minus(m, x), sum_), task)
    second = _log_ratio(over(times(x, number(1 + size / mean, dialect)), sum_), over(times(number(size / mean, dialect), away), sum_), task)  # fmt: skip
    spread = times(number(0.5, dialect), ln_of(plus(number(1.0, dialect), over(x, r))))
    fixed = number(-float(stirling_error(np.array([size]))[0]), dialect)
    gains = [fixed, _stirling(sum_, task)]
    losses = [spread, times(r, first), times(x, second)]
    return minus(total(gains, dialect), total(losses, dialect))


def _log_ratio(ratio: Expression, share: Expression, task: Task) -> Expression:
    """log(ratio) = log(1 + share), by the series of 2·artanh(share / (2 + share)) where the share is small."""
    dialect, exp = task.dialect, sqlglot().exp
    close = compare("LT", exp.Abs(this=share), number(CLOSE, dialect))
    z = over(share, plus(number(2.0, dialect), share))
    q = times(z, z)
    series = number(1 / 7, dialect)
    for power in (5, 3, 1):
        series = plus(number(1 / power, dialect), times(q, series))
    return when([(close, times(number(2.0, dialect), times(z, series)))], ln_of(ratio))


def _stirling(x: Expression, task: Task) -> Expression:
    """Stirling's error of a number from 16 on, by its series."""
    dialect = task.dialect
    far = over(number(1.0, dialect), x)
    q = times(far, far)
    series = number(1 / 1188, dialect)
    for above in (1680, 1260, 360, 12):
        series = minus(number(1 / above, dialect), times(q, series))
    return times(far, series)
