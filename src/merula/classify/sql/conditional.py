"""What terms say that were fitted to tell classes apart: tables of questions, quadratics of numbers, gains, corrections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from merula.classify.log_linear.terms import FARTHEST, GRID, QuadraticTerms, TableTerms
from merula.classify.pooled.known import KnownCells
from merula.classify.pooled.pairs import GainDistribution
from merula.classify.pooled.reading import ReadAs
from merula.classify.pooled.tails import StudentTails
from merula.classify.sql.lookups import looked_up
from merula.classify.sql.normals import normals, tails
from merula.classify.sql.terms import Said, Task
from merula.core import InputError
from merula.distributions import MultivariateGaussianDistribution
from merula.distributions.lookups import Lookup, level_axis
from merula.engines.dialects import (
    Expression,
    any_of,
    is_null,
    minus,
    number,
    over,
    plus,
    sqlglot,
    times,
    when,
)

MOST_NUMBERS = 2_000_000  # that tables of questions may hold
REACH = 6.0  # standard deviations: beyond 5 all numbers are one


def tables_of_questions(part: TableTerms, weights: Sequence[float], task: Task) -> list[Said]:
    """The tables over each set of columns, summed up to one table of all of their answers."""
    own, found, size = part.weighted(weights), [], 0
    for (columns, some), weight in zip(own.column_sets, weights, strict=True):
        names = tuple(own.columns[j] for j in columns)
        for table in own._lookups(columns, some) if weight and len(some) else ():
            size += table.values.size
            _refuse_size(size)
            found.append(Said(names, (), looked_up(table, task)))
    return found


def _refuse_size(size: int) -> None:
    if size > MOST_NUMBERS:
        raise InputError.at("its tables", f"hold more than {MOST_NUMBERS:,} numbers, too many for a statement", remedy="fit with a lower order, such as order=2")  # fmt: skip


def quadratic(part: QuadraticTerms, weights: Sequence[float], task: Task) -> list[Said]:
    """constant + linear·z + square·z² of each number, products of pairs, and levels."""
    own, dialect, found = part.weighted(weights), task.dialect, []
    for j, name in enumerate(own.columns):
        if own.level_sets[j] is not None:
            table = own._words[j]
            axis = level_axis(name, own.level_sets[j] or (), len(table) - 1, len(table) - 1)
            found.append(Said((name,), (), looked_up(Lookup((axis,), table), task)))
            continue
        z, by_class = _z(own, j, task), []
        for c in range(task.classes):
            known = plus(number(float(own.constant[j, c]), dialect), times(z, plus(number(float(own.linear[j, c]), dialect), times(number(float(own.square[j, c]), dialect), z))))  # fmt: skip
            lost = float(own.constant[j, c] + own.missing[j, c]) if own.gaps[j] else 0.0
            by_class.append(when([(is_null(z), number(lost, dialect))], known))
        found.append(Said((name,), (), tuple(by_class)))
    for (i, j), middle, products in zip(own.pairs.tolist(), own.middle.tolist(), own.products, strict=True):
        one, two = _z(own, i, task), _z(own, j, task)
        together = minus(times(one, two), number(middle, dialect))
        lost = any_of([is_null(one), is_null(two)])
        by_class = [when([(lost, number(0.0, dialect))], times(number(float(product), dialect), together)) for product in products]  # fmt: skip
        found.append(Said((own.columns[i], own.columns[j]), (), tuple(by_class)))
    return found


def _z(part: QuadraticTerms, j: int, task: Task) -> Expression:
    """A number in standard deviations, held within 5 of them and rounded as the model rounds it."""
    name, center, scale, dialect = part.columns[j], float(part.center[j]), float(part.scale[j]), task.dialect
    x = task.cells.clipped(name, center - REACH * abs(scale), center + REACH * abs(scale))

    def made() -> Expression:
        away = over(minus(x, number(center, dialect)), number(scale, dialect))
        grid = number(GRID, dialect)
        exp = sqlglot().exp
        rounded = over(exp.Round(this=times(away, grid)), grid)
        low, high = number(-FARTHEST, dialect), number(FARTHEST, dialect)
        return when([(exp.LT(this=rounded, expression=low), low), (exp.GT(this=rounded, expression=high), high)], rounded)  # fmt: skip

    return task.cells.script.let(("z", name, center, scale), made)


def gains(part: GainDistribution, weights: Sequence[float], task: Task) -> list[Said]:
    """What one column more adds to what is said of another."""
    found, _ = part.split(weights)
    named = [((name,), (giver,)) for name, giver, weight in zip(part.columns, part.givers, weights, strict=True) if weight]  # fmt: skip
    return [Said(*of, looked_up(table, task)) for of, table in zip(named, found, strict=True)]


def known_cells(part: KnownCells, weights: Sequence[float], task: Task) -> list[Said]:
    """What it says that a cell is known."""
    found, _ = part.split(weights)
    return [Said((name,), (), looked_up(table, task)) for name, table in zip(part.columns, found, strict=True)]


def read_as(part: ReadAs, weights: Sequence[float], task: Task) -> list[Said]:
    """What a distribution says of numbers that are cut, or held within bounds, on the way."""
    if isinstance(part.part, MultivariateGaussianDistribution):
        return normals(part.part, weights, task, part.reading.bounds)
    if isinstance(part.part, StudentTails):
        return tails(part.part, weights, task, part.reading.bounds)
    found, others = part.split(weights)
    if others:
        raise InputError.at("the model", f"holds {type(part.part).__name__} of numbers that are read another way, which SQL cannot say")  # fmt: skip
    inner: Any = part.part
    named: list[tuple[tuple[str, ...], tuple[str, ...]]]
    if isinstance(inner, GainDistribution):
        named = [((name,), (giver,)) for name, giver, weight in zip(inner.columns, inner.givers, weights, strict=True) if weight]  # fmt: skip
    else:
        named = [((name,), ()) for name in inner.columns]
    return [Said(*of, looked_up(table, task)) for of, table in zip(named, found, strict=True)]
