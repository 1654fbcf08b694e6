"""Moments from sums: means, squares and covariances of groups, with what rounding cut off, as the statistics keep them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
from sqlglot import exp

from merula.core import Array
from merula.engines.sql.expressions import is_known, times
from merula.engines.sql.needs import GroupedMoments
from merula.engines.sql.reading import COUNT, Reading, infinity
from merula.engines.sql.sums import Found, Origins, Question, overflow
from merula.stats import FullMoments, Moments, PatternMoments
from merula.stats.moments import POOR_ORIGIN, TINY, exact_sum
from merula.stats.pair_moments import PairMoments
from merula.stats.patterns import Key, Partial, merge

MOST_FLAGS = 50  # that one CONCAT takes: PostgreSQL's functions have at most 100 arguments
SMALLEST_SHARE = 1e-15  # of the largest, that an eigenvalue of a scatter matrix may have before it is rounding


def single_sums(question: Question, origins: Origins, with_ends: bool = True) -> dict[str, exp.Expression]:
    """What the moments of columns by themselves are made of; the smallest and the largest number tell what is constant."""
    sums: dict[str, exp.Expression] = {COUNT: question.reading.weight_of()}
    for place in range(len(question.columns)):
        z = question.z(place, origins)
        sums |= {
            f"m{place}": question.known(place),
            f"s{place}": question.weighed(z),
            f"q{place}": question.weighed(times(z, z, question.reading.dialect)),
            **(ends(question, place) if with_ends else {}),
        }
    return sums


def ends(question: Question, place: int) -> dict[str, exp.Expression]:
    """The smallest and the largest number of a column."""
    return {f"a{place}": exp.Min(this=question.x(place)), f"b{place}": exp.Max(this=question.x(place))}


def rough_moments(columns: Sequence[str], found: Found) -> Moments:
    """The moments of each column in each group by its sums alone: constants are not told from what hardly varies.

    A mean is infinite where sums are no numbers; `lie_far` then names the column.
    """
    weight, sums, squares = (found.stacked(stem, len(columns)) for stem in "msq")
    weight = np.nan_to_num(weight)
    empty = weight == 0
    endless = ~empty & ~(np.isfinite(sums) & np.isfinite(squares))
    sums, squares = (np.where(empty | endless, 0.0, part) for part in (sums, squares))
    drift = np.divide(sums, weight, out=np.zeros_like(sums), where=~empty)
    mean, rest = exact_sum(found.origin.astype(np.float64), drift)
    mean, rest = np.where(endless, np.inf, np.where(empty, 0.0, mean)), np.where(empty, 0.0, rest)
    return Moments(tuple(columns), weight, mean, np.maximum(squares - sums * drift, 0.0), rest)


def moments_of(columns: Sequence[str], found: Found) -> Moments:
    """The moments of each column in each group, from its sums."""
    d = len(columns)
    weight, sums, squares, low, high = (np.nan_to_num(found.stacked(stem, d), nan=0.0, posinf=np.inf, neginf=-np.inf) for stem in "msqab")  # fmt: skip
    constant = (low == high) & (weight > 0) & np.isfinite(low)
    refuse_infinite(columns, low, high)
    _refuse_overflow(columns, np.isfinite(squares) | constant, low, high)
    with np.errstate(over="ignore", invalid="ignore"):
        drift = np.divide(sums, weight, out=np.zeros_like(sums), where=weight > 0)
        mean, rest = exact_sum(found.origin.astype(np.float64), drift)
        squares = np.maximum(squares - sums * drift, 0.0)
    squares = np.where((low != high) & (squares < TINY), TINY, squares)
    empty = weight == 0
    mean, rest = np.where(constant, low, mean), np.where(constant | empty, 0.0, rest)
    return Moments(tuple(columns), weight, np.where(empty, 0.0, mean), np.where(constant | empty, 0.0, squares), rest)


def refuse_infinite(columns: Sequence[str], low: Array, high: Array) -> None:
    """An error naming the first column that holds infinity."""
    endless = (np.isinf(low) | np.isinf(high)).any(axis=0)
    if endless.any():
        raise infinity(columns[int(np.flatnonzero(endless)[0])])


def _refuse_overflow(columns: Sequence[str], fine: Any, low: Array, high: Array) -> None:
    if not fine.all():
        bad = ~fine.all(axis=0)
        largest = np.where(bad, np.maximum(np.abs(low), np.abs(high)).max(axis=0), np.nan)
        raise overflow(columns, largest)


def lie_far(moments: Moments, near: Mapping[str, float], constants: bool = False) -> list[str]:
    """The columns of which a class lies so far from the origin, beside its own spread, that squares lose digits.

    With `constants`, those too of which a class does not vary at all beside its distance, so that it may be constant.
    """
    origin = np.array([near[name] for name in moments.columns])
    with np.errstate(over="ignore", invalid="ignore"):
        far = moments.weight * (moments.mean - origin) ** 2 > POOR_ORIGIN * moments.squares
        vanished = (moments.squares == 0) & (moments.weight > 0) & ((moments.mean != origin) | (moments.rest != 0))
    poor = (far & (moments.squares > 0)) | (vanished & constants)
    return [name for name, bad in zip(moments.columns, poor.any(axis=0), strict=True) if bad]


# ------------------------------------------------------------------------------------------------ columns together


def product_sums(question: Question, origins: Origins) -> dict[str, exp.Expression]:
    """What the moments of columns together are made of: of the rows of a group, which all know the same columns."""
    sums: dict[str, exp.Expression] = {COUNT: question.reading.weight_of()}
    d = len(question.columns)
    for place in range(d):
        sums |= {f"s{place}": question.weighed(question.z(place, origins)), **ends(question, place)}
    for one, other in combinations_with_replacement(range(d), 2):
        product = times(question.z(one, origins), question.z(other, origins), question.reading.dialect)
        sums[f"p{one}_{other}"] = question.weighed(product)
    return sums


def together(columns: Sequence[str], found: Found) -> FullMoments:
    """The moments of columns together in each group; those of columns that a group does not know are 0."""
    d, groups = len(columns), found.keys.num_rows
    weight = found.sums[COUNT] if groups else np.zeros(0)
    sums, low, high = (found.stacked(stem, d) for stem in "sab")
    unknown, constant = np.isnan(low), low == high
    refuse_infinite(columns, low, high)
    products = np.zeros((groups, d, d))
    for one, other in combinations_with_replacement(range(d), 2):
        products[:, one, other] = products[:, other, one] = found.sums[f"p{one}_{other}"]
    drift = np.divide(sums, weight[:, None], out=np.zeros_like(sums), where=weight[:, None] > 0)
    diagonal = np.einsum("gii->gi", products)
    _refuse_overflow(columns, np.isfinite(diagonal) | constant | unknown, np.nan_to_num(low), np.nan_to_num(high))
    with np.errstate(over="ignore", invalid="ignore"):
        scatter = products - sums[:, :, None] * drift[:, None, :]
        scatter = (scatter + scatter.swapaxes(1, 2)) / 2
        mean, rest = exact_sum(found.origin.astype(np.float64), drift)
    silent = unknown | constant
    scatter[silent[:, :, None] | silent[:, None, :]] = 0.0
    inner = np.einsum("gii->gi", scatter)
    inner[...] = np.where(~silent & (inner < TINY), TINY, inner)
    mean = np.where(constant, low, np.where(unknown, 0.0, mean))
    return FullMoments(tuple(columns), weight, mean, scatter, np.where(silent, 0.0, rest))


def products(reading: Reading, columns: tuple[str, ...], within: tuple[str, ...], origins: Origins) -> GroupedMoments:
    """See `Products`."""
    keys = {f"k{place}": name for place, name in enumerate(within)}
    where = [*(is_known(reading.number(name)) for name in columns), *(reading.known(name) for name in within)]
    question = Question(reading, columns, {alias: reading.key(name) for alias, name in keys.items()}, where)
    most = reading.most_groups(len(within) + len(columns) ** 2)
    found = question.ask(product_sums(question, origins), origins, reading.types(keys), most)
    if found is None:
        raise reading.too_many(within, most + 1)
    rows = reading.encoded(within, found.keys) if within else None
    return GroupedMoments(rows, reading.class_codes(found.keys), _of_rows(together(columns, found)))


def _of_rows(moments: FullMoments) -> FullMoments:
    """The moments of the groups that have rows: a sum over nothing is one group without any."""
    kept = moments.weight > 0
    if kept.all():
        return moments
    return FullMoments(moments.columns, np.nan_to_num(moments.weight), *(np.nan_to_num(part) for part in moments._parts[1:]))  # fmt: skip


def patterns(reading: Reading, columns: tuple[str, ...], origins: Origins) -> PatternMoments:
    """See `Patterns`."""
    import pyarrow as pa

    flags = [exp.Case().when(is_known(reading.number(name)), exp.Literal.string("1")).else_(exp.Literal.string("0")) for name in columns]  # fmt: skip
    question = Question(reading, columns, {"pattern": _joined(flags)})
    most = reading.most_groups(len(columns) ** 2 + len(columns))
    found = question.ask(product_sums(question, origins), origins, {**reading.types({}), "pattern": pa.string()}, most)
    if found is None:
        raise reading.too_many(columns, most + 1)
    classes, moments = reading.class_codes(found.keys), together(columns, found)
    complete, partial = FullMoments.zero(columns, len(reading.classes)), dict[Key, Partial]()
    for group, (label, pattern) in enumerate(zip(classes.tolist(), found.keys["pattern"].to_pylist(), strict=True)):
        if "0" not in pattern:
            complete = complete + _one(moments, group).with_classes(np.array([label]), len(reading.classes))
        elif "1" in pattern:
            observed = np.array([flag == "1" for flag in pattern])
            partial[label, observed.astype(np.uint8).tobytes()] = _partial(moments, group, observed)
    return PatternMoments(complete, merge({}, partial.items()))


def _joined(flags: Sequence[exp.Expression]) -> exp.Expression:
    """Words one behind the other."""
    while len(flags) > 1:
        flags = [exp.Concat(expressions=list(flags[start : start + MOST_FLAGS])) for start in range(0, len(flags), MOST_FLAGS)]  # fmt: skip
    return flags[0]


def _one(moments: FullMoments, group: int) -> FullMoments:
    return FullMoments(moments.columns, *(part[group : group + 1] for part in moments._parts))


def _partial(moments: FullMoments, group: int, observed: Any) -> Partial:
    """The moments of one pattern: the scatter as root vectors of what varies."""
    weight, mean, scatter, rest = (part[group] for part in moments._parts)
    scatter = scatter[np.ix_(observed, observed)]
    moving = np.flatnonzero(np.diagonal(scatter) > 0)
    root = np.zeros((0, int(observed.sum())))
    if len(moving):
        unit = np.sqrt(np.diagonal(scatter)[moving])
        values, vectors = np.linalg.eigh(scatter[np.ix_(moving, moving)] / np.outer(unit, unit))
        kept = values > SMALLEST_SHARE * values.max()
        root = np.zeros((int(kept.sum()), int(observed.sum())))
        root[:, moving] = np.sqrt(values[kept])[:, None] * vectors[:, kept].T * unit
    return Partial(float(weight), mean[observed], root, rest[observed])


# ----------------------------------------------------------------------------------------------------------- pairs


def pair_sums(reading: Reading, columns: tuple[str, ...], origins: Origins) -> PairMoments:
    """See `PairSums`."""
    question = Question(reading, columns)
    sums = single_sums(question, origins)
    pairs = list(combinations(range(len(columns)), 2))
    for one, other in pairs:
        sums |= _beside(question, origins, one, other)
    found = question.ask(sums, origins, reading.types({}))
    assert found is not None
    alone, d = moments_of(columns, found), len(columns)
    classes = reading.class_codes(found.keys)
    parts = {name: np.zeros((len(classes), d, d)) for name in ("weight", "sums", "squares", "products")}
    for place in range(d):
        parts["weight"][:, place, place] = found.sums[f"m{place}"]
        parts["sums"][:, place, place] = found.sums[f"s{place}"]
        parts["squares"][:, place, place] = parts["products"][:, place, place] = found.sums[f"q{place}"]
    for one, other in pairs:
        names = _names(question, origins, one, other)
        parts["weight"][:, one, other] = parts["weight"][:, other, one] = found.sums[names["weight"]]
        parts["products"][:, one, other] = parts["products"][:, other, one] = found.sums[names["product"]]
        for here, there, turn in ((one, other, "first"), (other, one, "second")):
            parts["sums"][:, here, there] = found.sums[names[f"{turn} sum"]]
            parts["squares"][:, here, there] = found.sums[names[f"{turn} squares"]]
    of_groups = _pairs({name: np.nan_to_num(part) for name, part in parts.items()}, found.origin, alone)
    return of_groups.with_classes(classes, len(reading.classes))


def _names(question: Question, origins: Origins, one: int, other: int) -> dict[str, str]:
    """What the sums of a pair are called: beside a column that lacks no cell, those of a column are its own."""
    whole = [question.columns[place] in origins.whole for place in (one, other)]
    product = f"p{one}_{other}"
    return {
        "weight": f"m{one}" if whole[1] else f"m{other}" if whole[0] else f"m{one}_{other}",
        "first sum": f"s{one}" if whole[1] else f"s{one}_{other}",
        "first squares": f"q{one}" if whole[1] else f"q{one}_{other}",
        "second sum": f"s{other}" if whole[0] else f"s{other}_{one}",
        "second squares": f"q{other}" if whole[0] else f"q{other}_{one}",
        "product": product,
    }


def _beside(question: Question, origins: Origins, one: int, other: int) -> dict[str, exp.Expression]:
    """The sums of two columns over the rows that know both, where those are others than the rows that know one."""
    first, second, dialect = question.z(one, origins), question.z(other, origins), question.reading.dialect
    names, both = _names(question, origins, one, other), exp.paren(exp.and_(is_known(question.x(one)), is_known(question.x(other))))  # fmt: skip

    def where_both(value: exp.Expression) -> exp.Expression:
        return question.weighed(exp.Case().when(both.copy(), value))

    asked = {
        names["weight"]: question.reading.weight_of(both),
        names["first sum"]: where_both(first),
        names["first squares"]: where_both(times(first, first, dialect)),
        names["second sum"]: where_both(second),
        names["second squares"]: where_both(times(second, second, dialect)),
        names["product"]: question.weighed(times(first, second, dialect)),
    }
    return {name: value for name, value in asked.items() if "_" in name}


def _pairs(parts: Mapping[str, Array], origin: Array, alone: Moments) -> PairMoments:
    """The moments of all pairs, from their sums: Σ w·(z_i − m_i)(z_j − m_j) = Σ w·z_i·z_j − Σ w·z_i · Σ w·z_j / Σ w."""
    weight, sums, d = parts["weight"], parts["sums"], len(alone.columns)
    met = weight > 0
    drift = np.divide(sums, weight, out=np.zeros_like(sums), where=met)
    mean, rest = exact_sum(np.broadcast_to(origin[:, :, None], drift.shape).astype(np.float64), drift)
    squares = np.maximum(parts["squares"] - sums * drift, 0.0)
    scatter = parts["products"] - drift * sums.swapaxes(1, 2)
    scatter = np.where(met, (scatter + scatter.swapaxes(1, 2)) / 2, 0.0)
    constant = (alone.squares == 0) & (alone.weight > 0)
    mean = np.where(constant[:, :, None], alone.mean[:, :, None], mean)
    rest = np.where(constant[:, :, None], 0.0, rest)
    squares = np.where(constant[:, :, None], 0.0, squares)
    scatter = np.where(constant[:, :, None] | constant[:, None, :], 0.0, scatter)
    inner = np.arange(d)
    squares[:, inner, inner] = alone.squares
    scatter[:, inner, inner] = alone.squares
    return PairMoments(alone.columns, weight, np.where(met, mean, 0.0), squares, scatter, np.where(met, rest, 0.0))
