"""What has changed in each column: how it is known by the model, how new rows hold it, and whether chance would do that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import log, sqrt
from typing import Any

import numpy as np

from merula.answers.monitoring.chance import (
    equal_parts,
    fisher,
    homogeneity,
    mean_differs,
    parts_for,
    spread_differs,
    summed,
)
from merula.classify.readable import is_of_the_day, shown, unit_of
from merula.core import Array, InPython
from merula.core.errors import phrase
from merula.data.encode import Encoded, Target
from merula.data.intervals import interval_labels
from merula.data.schema import Column, Label
from merula.stats import Collected, LevelCounts, ValueCounts
from merula.stats.marginals import Marginal, marginals
from merula.stats.rounded import EXACT, rounded_down

LEVELS, NUMBERS, MOMENTS, CELLS, NOTHING = "levels", "numbers", "mean and variance", "missing cells", "nothing"
PSEUDO = 0.5  # rows in every cell of the stability index, so that it is a number
FARTHEST = 1e60  # deviations from a mean, beyond which it does not matter how far
MOST_SHARES = 50  # levels that are told one by one
MOMENTS_ALONE = ("mean and variance alone are kept: ", InPython("fit(…, reference=True)", "merula fit … --reference"), " keeps the whole distribution")  # fmt: skip


@dataclass(frozen=True)
class Test:
    """One test: of what, its p-value, that value adjusted for all tests of the call, and whether it shows a change."""

    of: str
    p: float
    adjusted: float = 1.0
    changed: bool = False


@dataclass(frozen=True)
class Numbers:
    """The mean and the standard deviation of the known cells of a column."""

    mean: float
    deviation: float


@dataclass(frozen=True, eq=False)
class ColumnChange:
    """One column then and now.

    Attributes
    ----------
    column, kind : str
    compared : str
        "levels", "numbers" (their whole distribution), "mean and variance", "missing cells" or "nothing".
    known_then, known_now : float
        Rows that know it.
    missing_then, missing_now : float or None
        The share of rows that lack it.
    numbers_then, numbers_now : Numbers or None
    shares : {level or interval: (share then, share now)}
        Of the rows that know it; of numbers, in intervals that had equal shares then. Of very many levels, those that moved most.
    psi : float or None
        The population stability index Σ (now − then)·log(now / then) over these shares.
    step : float
        How far off the numbers kept may be.
    unseen : {level: rows}
        Levels that the model never saw.
    tests : tuple of Test
    remark : str
        What could not be told, and why.
    """

    column: str
    kind: str
    compared: str
    known_then: float
    known_now: float
    missing_then: float | None = None
    missing_now: float | None = None
    numbers_then: Numbers | None = None
    numbers_now: Numbers | None = None
    shares: Mapping[Label, tuple[float, float]] = field(default_factory=dict)
    psi: float | None = None
    step: float = 0.0
    unseen: Mapping[Label, float] = field(default_factory=dict)
    tests: tuple[Test, ...] = ()
    remark: str = ""


def kept_marginals(collected: Collected) -> dict[str, Marginal]:
    """What the model keeps of each column, the finest there is."""
    found: dict[str, Marginal] = {}
    for block in collected.blocks:
        found |= marginals(block)
    if collected.reference is not None:
        found |= {name: one for name, one in marginals(collected.reference).items() if getattr(found.get(name), "values", None) is None}  # fmt: skip
    return found


def marginals_of(rows: Encoded, columns: Sequence[Column]) -> dict[str, Marginal]:
    """What these rows hold in each column."""
    one = Target(np.zeros(len(rows), dtype=np.uint8), np.zeros(1, dtype=np.int8), None)
    words = tuple(column.name for column in columns if column.kind == "categorical")
    numbers = tuple(column.name for column in columns if column.kind not in ("categorical", "text", "ignore"))
    found = marginals(LevelCounts.zero(words, 1).update(rows, one)) if words else {}
    found |= marginals(ValueCounts.zero(numbers, 1).update(rows, one)) if numbers else {}
    for column in columns:
        if column.kind == "text":
            found[column.name] = Marginal(float((~np.asarray(rows.tokens(column.name).absent)).sum()))
    return found


def compared(
    column: Column, then: Marginal | None, now: Marginal, rows_then: float, rows_now: float, rng: np.random.Generator
) -> ColumnChange:
    """One column of so many rows then and now."""
    if then is None:
        lost = None if not rows_now else 1 - now.known / rows_now
        return ColumnChange(column.name, column.kind, NOTHING, 0.0, now.known, None, lost, numbers_now=_numbers(now), remark="the model keeps nothing of it to compare with")  # fmt: skip
    how, shares, psi, tests, remark = _held(column, then, now, rng)
    lost_then, lost_now = (max(rows - one.known, 0.0) for rows, one in ((rows_then, then), (rows_now, now)))
    lost_then = 0.0 if lost_then < 1e-9 * rows_then else lost_then
    missing = fisher_or_more(rows_then - lost_then, lost_then, rows_now - lost_now, lost_now, rng)
    tests += [] if missing is None else [Test("missing", missing)]
    unseen = {} if then.levels is None or now.levels is None else {label: rows for label, rows in now.levels.items() if label not in then.levels}  # fmt: skip
    step = 0.0 if then.power <= EXACT else float(np.ldexp(1.0, then.power))
    return ColumnChange(
        column.name, column.kind, how, then.known, now.known, lost_then / rows_then if rows_then else None, lost_now / rows_now if rows_now else None,
        _numbers(then), _numbers(now), shares, psi, step, unseen, tuple(tests), remark,
    )  # fmt: skip


def fisher_or_more(
    kept: float, lost: float, kept_now: float, lost_now: float, rng: np.random.Generator
) -> float | None:
    """The test that the share of missing cells is as it was; None where none ever were."""
    if lost + lost_now <= 0 or kept + kept_now <= 0:
        return None
    return homogeneity(np.array([kept, lost]), np.array([kept_now, lost_now]), rng)


def _numbers(one: Marginal) -> Numbers | None:
    if one.mean is None or one.squares is None or not one.known > 0:
        return None
    return Numbers(one.mean, sqrt(max(one.squares, 0.0) / one.known))


Held = tuple[str, dict[Label, tuple[float, float]], float | None, list[Test], str]


def _held(column: Column, then: Marginal, now: Marginal, rng: np.random.Generator) -> Held:
    """How what the known cells hold was compared: in what, in which shares, their index, the tests, and what cannot be told."""
    if column.kind == "text":
        return CELLS, {}, None, [], "words of one text hang together: how often each is used is not tested"
    if not then.known > 0 or not now.known > 0:
        return CELLS, {}, None, [], f"no row knows it {'now' if then.known > 0 else 'of those it learned from'}"
    if then.levels is not None and now.levels is not None:
        return _levels(then.levels, now.levels, rng)
    if then.values is not None and now.values is not None:
        return _values(column, then, now, rng)
    return _moments(then, now)


def _levels(then: Mapping[Label, float], now: Mapping[Label, float], rng: np.random.Generator) -> Held:
    labels = sorted({**then, **now}, key=lambda label: (type(label).__name__, str(label)))
    counts = np.array([[one.get(label, 0.0) for label in labels] for one in (then, now)])
    p = homogeneity(counts[0], counts[1], rng)
    shares = counts / counts.sum(axis=1, keepdims=True)
    most = sorted(range(len(labels)), key=lambda k: -abs(shares[1, k] - shares[0, k]))[:MOST_SHARES]
    told = {labels[k]: (float(shares[0, k]), float(shares[1, k])) for k in sorted(most)}
    return LEVELS, told, stability(counts[0], counts[1]), [] if p is None else [Test(LEVELS, p)], ""


def _values(column: Column, then: Marginal, now: Marginal, rng: np.random.Generator) -> Held:
    """Numbers in intervals that hold equal shares of both samples together; their shares are told in those that did then."""
    assert then.values is not None and then.weights is not None and now.values is not None and now.weights is not None
    rounded = rounded_down(now.values, then.power)
    values = np.union1d(then.values, rounded)
    counts = np.stack([np.bincount(np.searchsorted(values, held), weight, minlength=len(values)) for held, weight in ((then.values, then.weights), (rounded, now.weights))])  # fmt: skip
    parts = parts_for(*counts.sum(axis=1))
    together = summed(counts, equal_parts(counts.sum(axis=0), parts))
    p = homogeneity(together[0], together[1], rng)
    own = equal_parts(counts[0], parts)
    cells = summed(counts, own)
    return NUMBERS, _told(column, values, own, cells, then.power), stability(cells[0], cells[1]), [] if p is None else [Test(NUMBERS, p)], ""  # fmt: skip


def _told(column: Column, values: Array, cells: Any, counts: Array, power: int) -> dict[Label, tuple[float, float]]:
    """The share of each interval, by its name."""
    last = np.flatnonzero(np.diff(cells))
    ends = values[last] if power > EXACT else values[last] / 2 + values[last + 1] / 2
    ends = ends + (np.ldexp(1.0, power) if power > EXACT else 0.0)
    names = _interval_names(column, ends.tolist())
    shares = counts / counts.sum(axis=1, keepdims=True)
    return {name: (float(a), float(b)) for name, a, b in zip(names, *shares, strict=True)}


def _interval_names(column: Column, cuts: list[float]) -> tuple[str, ...]:
    """The intervals between cuts, times written as such."""
    if not cuts or (column.unit is None and not is_of_the_day(column)):
        return tuple(f"{name} {unit_of(column)}".rstrip() for name in interval_labels(tuple(cuts)))
    texts = [shown(column, cut) for cut in cuts]
    inner = [f"({low}, {high}]" for low, high in pairwise(texts)]
    return tuple(f"{name} ({k})" if k and name in inner[: k - 1] else name for k, name in enumerate([f"≤ {texts[0]}", *inner, f"> {texts[-1]}"]))  # fmt: skip


def _moments(then: Marginal, now: Marginal) -> Held:
    """Numbers of which the model keeps mean and variance alone."""
    if then.mean is None or then.squares is None or now.values is None or now.weights is None or now.mean is None:
        return CELLS, {}, None, [], "the model keeps nothing else of it"
    variance = then.squares / then.known
    if not variance > 0:
        return _constant(then.mean, then.known, now)
    with np.errstate(over="ignore"):  # in deviations from the mean as they were: no square overflows
        held = np.clip((now.values - then.mean) / np.sqrt(variance), -FARTHEST, FARTHEST)
    own = float(now.weights @ held) / now.known
    spread, fourth = (float(now.weights @ (held - own) ** power) / now.known for power in (2, 4))
    kurtosis = fourth / spread**2 if spread > 0 else np.inf
    mean = mean_differs((then.known, 0.0, 1.0), (now.known, own, spread))
    wide = spread_differs((then.known, 1.0), (now.known, spread), kurtosis)
    tests = [Test(of, p) for of, p in (("mean", mean), ("spread", wide)) if p is not None]
    remark = phrase(MOMENTS_ALONE)
    few = "" if wide is not None else "; the variance is not compared, tails are too heavy or rows too few for that"
    return MOMENTS, {}, None, tests, remark + few


def _constant(value: float, known: float, now: Marginal) -> Held:
    """Numbers that never varied."""
    assert now.values is not None and now.weights is not None
    other = float(now.weights[~np.isclose(now.values, value, rtol=1e-9, atol=0.0)].sum())
    p = fisher(np.rint(np.array([[known, 0.0], [now.known - other, other]])))
    return MOMENTS, {}, None, [] if p is None else [Test("mean", p)], f"it was {value:g} in every row"


def stability(then: Array, now: Array) -> float:
    """The population stability index of two samples, Σ (q − p)·log(q / p), with half a row more in every cell.

    Examples
    --------
    >>> round(stability(np.array([500.0, 500.0]), np.array([800.0, 200.0])), 2)
    0.41
    """
    shares = [(one + PSEUDO) / (one + PSEUDO).sum() for one in (then, now)]
    return float(sum((q - p) * log(q / p) for p, q in zip(*(one.tolist() for one in shares), strict=True)))
