"""Tables that are hard to read alike, and whether two engines counted the same of them: counts exactly, moments to 1e-9 of a standard deviation."""

from datetime import date, datetime, timedelta
from functools import singledispatch
from itertools import product

import numpy as np
import pyarrow as pa

from merula.engines import Source
from merula.graphs.dependence.network_statistic import NetworkStatistic
from merula.stats import (
    CellCounts,
    ClassCounts,
    Families,
    FullMoments,
    JointCounts,
    LevelCounts,
    Moments,
    PairCounts,
    PatternMoments,
    ValueCounts,
)
from merula.stats.dependence import Dependence
from merula.stats.mixed_pairs import MixedPairs

HOSTILE = 'a"; drop table x; --'
WORDS = ("色泽", HOSTILE, "it's {rows}")
NUMBERS = ("größe", "x`y", "tiny", "huge level")
CLOSE = 1e-9
FAR = 3e7  # where one class lies, of numbers that spread by 0.01 in each class


def holey(rng, values, share=0.1):
    """The values with some of them missing."""
    return [None if gone else value for gone, value in zip(rng.random(len(values)) < share, list(values), strict=True)]


def hard_table(rows=4_000, seed=7):
    """Columns of all kinds with missing cells, hostile names and labels, numbers far from 0, weights from 0 on, rows without a class."""
    rng = np.random.default_rng(seed)
    target = rng.choice(["no", "yes", 'it\'s "so"; --'], rows, p=[0.5, 0.3, 0.2])
    apart = np.where(target == "yes", 1.0, 0.0)
    nan = np.where(rng.random(rows) < 0.1, np.nan, rng.gamma(2.0, 3.0, rows) + apart)
    start = datetime(2020, 5, 17, 3, 4, 5, 678_000)
    return pa.table(
        {
            "größe": pa.array(holey(rng, rng.normal(1e9, 1.0, rows) + apart), pa.float64()),
            "色泽": holey(rng, rng.choice(["乌黑", "浅白", "o'hara", '\\ " ` ;--', "", " NA ", "青绿 "], rows)),
            HOSTILE: holey(rng, rng.choice(["a", "B", "b", "{x}", "'"], rows), 0.02),
            "it's {rows}": holey(rng, (rng.random(rows) < 0.3 + 0.4 * apart).tolist()),
            "x`y": pa.array(nan),
            "tiny": pa.array(holey(rng, rng.normal(0.0, 1e-6, rows) + 1e-6 * apart), pa.float64()),
            "huge level": pa.array(np.where(target == "no", FAR, -5.0) + rng.normal(0, 0.01, rows)),
            "pieces": pa.array(holey(rng, rng.integers(0, 6, rows).tolist()), pa.int32()),
            "whole": pa.array(rng.integers(-3, 4, rows).astype(np.float64) * 1.0),
            "single": pa.array(rng.normal(2.0, 1.0, rows).astype(np.float32)),
            "same": pa.array(np.full(rows, 0.1)),
            "day": pa.array(holey(rng, [date(2020, 1, 1) + timedelta(int(d)) for d in rng.integers(0, 900, rows)])),
            "moment": pa.array(
                holey(rng, [start + timedelta(microseconds=int(d)) for d in rng.integers(0, 10**15, rows)])
            ),
            "class": pa.array(holey(rng, target.tolist(), 0.02)),
            "often": pa.array(rng.integers(0, 4, rows).astype(np.float64)),
        }
    )


def in_memory(table, weight="often", target="class"):
    """The table as a source in memory; rows without a class are left out."""
    known = table.filter(table[target].is_valid())
    weights = None if weight is None else known[weight].to_numpy()
    aside = [target, *(["often"] if "often" in table.column_names else [])]
    return Source(known.drop_columns(aside), known[target], weights, True)


def assert_same(mine, theirs, sigma):
    """Both collected the same: classes, counts, and moments to 1e-9 of `sigma`, the standard deviation of each column."""
    assert mine.classes.tolist() == theirs.classes.tolist()
    np.testing.assert_array_equal(mine.class_counts.weight, theirs.class_counts.weight)
    assert len(mine.blocks) == len(theirs.blocks)
    for one, other in zip(mine.blocks, theirs.blocks, strict=True):
        assert type(one) is type(other)
        same(one, other, sigma)


def deviations(table):
    """The standard deviation of each column of numbers or times, in the units that the schema counts in (µs, ms)."""
    found = {}
    for name in table.column_names:
        column = table[name].drop_null()
        if pa.types.is_date(column.type):
            column = column.cast(pa.timestamp("ms")).cast(pa.int64())
        elif pa.types.is_timestamp(column.type):
            column = column.cast(pa.int64())
        if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
            values = column.to_numpy().astype(np.float64)
            found[name] = float(np.nanstd(values)) or 1.0
    return {**found, "huge level": 0.01}


@singledispatch
def same(one, other, sigma):
    raise TypeError(f"nothing compares {type(one).__name__}")


@same.register
def _(one: ClassCounts, other, sigma):
    np.testing.assert_array_equal(one.weight, other.weight)


@same.register
def _(one: LevelCounts, other, sigma):
    one, other = (part.ordered([None] * len(part.columns)) for part in (one, other))
    assert one.labels == other.labels
    assert [[type(label) for label in known] for known in one.labels] == [[type(label) for label in known] for known in other.labels]  # fmt: skip
    for mine, theirs in zip(one.counts, other.counts, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(one.missing, other.missing)


@same.register
def _(one: ValueCounts, other, sigma):
    for mine, theirs in zip((*one.values, *one.counts, one.missing), (*other.values, *other.counts, other.missing), strict=True):  # fmt: skip
        np.testing.assert_array_equal(mine, theirs)


@same.register
def _(one: CellCounts, other, sigma):
    assert one.grids == other.grids
    for mine, theirs in zip(zip(one.cells, one.lowest, one.highest, one.counts, strict=True), zip(other.cells, other.lowest, other.highest, other.counts, strict=True), strict=True):  # fmt: skip
        for part, expected in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(part, expected)
    np.testing.assert_array_equal(one.missing, other.missing)


@same.register
def _(one: JointCounts, other, sigma):
    one, other = (part.ordered([None] * len(part.columns)) for part in (one, other))
    assert one.labels == other.labels
    np.testing.assert_array_equal(one.cells, other.cells)
    np.testing.assert_array_equal(one.weight, other.weight)


@same.register
def _(one: PairCounts, other, sigma):
    assert one.missing_is_label == other.missing_is_label
    one, other = (part.ordered([None] * len(part.columns), part.missing_is_label) for part in (one, other))
    assert one.labels == other.labels
    np.testing.assert_array_equal(one.cells, other.cells)
    np.testing.assert_array_equal(one.weight, other.weight)


def close_moments(mine, theirs, sigma):
    """Weight, mean, rest and spread of arrays whose last axis is the column."""
    np.testing.assert_array_equal(mine[0], theirs[0])
    weight = np.where(mine[0] > 0, mine[0], 1.0)
    apart = (mine[1] - theirs[1]) + (mine[2] - theirs[2])
    assert (np.abs(apart) <= CLOSE * sigma).all(), np.abs(apart) / sigma
    spread = np.sqrt(np.abs(mine[3] - theirs[3]) / weight)  # |a − b| ≤ ε² where squares differ by ε² of the variance …
    by_deviation = np.abs(np.sqrt(mine[3] / weight) - np.sqrt(theirs[3] / weight))
    assert (np.minimum(spread, by_deviation) <= CLOSE * sigma).all(), by_deviation / sigma


@same.register
def _(one: Moments, other, sigma):
    scale = np.array([sigma[name] for name in one.columns])
    mine, theirs = ((part.weight, part.mean, np.asarray(part.rest), part.squares) for part in (one, other))
    close_moments(mine, theirs, scale)
    np.testing.assert_array_equal(one.squares == 0, other.squares == 0)


def close_scatter(one, other, weight, scale):
    limits = np.multiply.outer(scale, scale) * np.maximum(weight, 1.0)[..., None, None]
    assert (np.abs(one - other) <= CLOSE * limits).all(), (np.abs(one - other) / limits).max()


@same.register
def _(one: FullMoments, other, sigma):
    scale = np.array([sigma[name] for name in one.columns])
    np.testing.assert_array_equal(one.weight, other.weight)
    apart = (one.mean - other.mean) + (one.rest - other.rest)
    assert (np.abs(np.where(one.weight[:, None] > 0, apart, 0.0)) <= CLOSE * scale).all()
    close_scatter(one.scatter, other.scatter, one.weight, scale)


@same.register
def _(one: PatternMoments, other, sigma):
    same(one.complete, other.complete, sigma)
    assert one.partial.keys() == other.partial.keys()
    for (_, mask), mine in one.partial.items():
        theirs = other.partial[_, mask]
        scale = np.array([sigma[name] for name, seen in zip(one.columns, mask, strict=True) if seen])
        assert mine.weight == theirs.weight
        assert (np.abs((mine.mean - theirs.mean) + (mine.low - theirs.low)) <= CLOSE * scale).all()
        close_scatter(mine.root.T @ mine.root, theirs.root.T @ theirs.root, np.array(mine.weight), scale)


def cells(part):
    """What each family counted: {(class, label, …): weight, or weight, mean and scatter}, of the cells that have any."""
    found = {}
    for family, within in zip(part.families, part.within, strict=True):
        names = [range(part.classes), *(part.labels[name] for name in family.discrete)]
        groups = {}
        for place, key in enumerate(product(*names)):
            if within.weight[place] > 0:
                groups[key] = place
        found[family] = within, groups
    return found


@same.register
def _(one: Families, other, sigma):
    mine, theirs = cells(one), cells(other)
    assert mine.keys() == theirs.keys()
    for family, (within, groups) in mine.items():
        beside, others = theirs[family]
        assert groups.keys() == others.keys()
        here, there = (np.array([some[key] for key in groups], dtype=np.int64) for some in (groups, others))
        if isinstance(within, FullMoments):
            parts = [FullMoments(p.columns, *(a[where] for a in p._parts)) for p, where in ((within, here), (beside, there))]  # fmt: skip
            same(*parts, sigma)
        else:
            np.testing.assert_array_equal(within.weight[here], beside.weight[there])


@same.register
def _(one: Dependence, other, sigma):
    same(one.pairs, other.pairs, sigma)
    for mine, theirs in zip(one.deeper, other.deeper, strict=True):
        same(mine, theirs, sigma)


@same.register
def _(one: MixedPairs, other, sigma):
    same(one.words, other.words, sigma)
    same(one.deeper, other.deeper, sigma)
    scale = np.array([sigma[name] for name in one.numeric])
    mine, theirs = one.numbers, other.numbers
    np.testing.assert_array_equal(mine.weight, theirs.weight)
    assert (np.abs((mine.mean - theirs.mean) + (mine.rest - theirs.rest)) <= CLOSE * scale[:, None]).all()
    limits = np.maximum(mine.weight, 1.0) * CLOSE
    assert (np.abs(mine.squares - theirs.squares) <= limits * scale[:, None] ** 2).all()
    assert (np.abs(mine.scatter - theirs.scatter) <= limits * np.outer(scale, scale)).all()
    for here, there in zip(one.beside_words, other.beside_words, strict=True):
        labels = sorted({*here.labels, *there.labels}, key=str)
        same(here.over(labels).moments, there.over(labels).moments, sigma)


@same.register
def _(one: NetworkStatistic, other, sigma):
    mine, theirs = one.counted, other.counted
    same(mine.families, theirs.families, sigma)
    same(mine.moments, theirs.moments, sigma)
    if len(mine.rows.cells) or len(theirs.rows.cells):
        same(mine.rows, theirs.rows, sigma)
    if one.numeric:
        same(mine.columns, theirs.columns, sigma)
    assert (mine.pairs is None) == (theirs.pairs is None)
    if mine.pairs is not None:
        same(mine.pairs, theirs.pairs, sigma)
