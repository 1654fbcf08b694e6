"""Cut points against the definitions written out slowly, the laws they obey, and a peer."""

import os
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import log2, nextafter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from merula.distributions.discretize import (
    Discretizer,
    assign,
    cuts_for,
    cuts_said,
    equal_width_cuts,
    interval_labels,
    mdl,
    mdl_cuts,
    quantile_cuts,
)

DATA = Path(os.environ.get("MERULA_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
TIE = 1e-12

# ---------------------------------------------------------------------------------------------------------------------
# Fayyad & Irani's definitions, on rows (value, class, weight), one by one


def paper_cuts(rows, candidates=None, first_is_free=False):
    """All cuts of a set of rows: the best boundary point, if the criterion takes it, and the cuts of both sides."""
    found = [
        (split_entropy(rows, cut), cut) for cut in boundary_points(rows) if candidates is None or cut in candidates
    ]
    if not found:
        return []
    least = min(score for score, _ in found)
    cut = min(cut for score, cut in found if score <= least + TIE)
    if not (first_is_free or is_accepted(rows, cut)):
        return []
    below, above = divided(rows, cut)
    return [*paper_cuts(below, candidates), cut, *paper_cuts(above, candidates)]


def boundary_points(rows):
    """Definition 2: T between two examples of different class, with no example's value in between."""
    classes = {}
    for value, label, _ in rows:
        classes.setdefault(value, set()).add(label)
    return [
        (low + high) / 2
        for low, high in pairwise(sorted(classes))
        if any(one != two for one in classes[low] for two in classes[high])
    ]


def divided(rows, cut):
    return [row for row in rows if row[0] < cut], [row for row in rows if row[0] > cut]


def total(rows):
    return sum(weight for *_, weight in rows)


def entropy(rows):
    weights = Counter()
    for _, label, weight in rows:
        weights[label] += weight
    shares = [weight / total(rows) for weight in weights.values()]
    return -sum(share * log2(share) for share in shares)


def split_entropy(rows, cut):
    return sum(total(part) / total(rows) * entropy(part) for part in divided(rows, cut))


def is_accepted(rows, cut):
    """Equation 3: Gain > log2(N − 1)/N + Δ/N."""
    n, parts = total(rows), divided(rows, cut)
    k, k1, k2 = (len({label for _, label, _ in part}) for part in (rows, *parts))
    delta = log2(3**k - 2) - (k * entropy(rows) - k1 * entropy(parts[0]) - k2 * entropy(parts[1]))
    return entropy(rows) - split_entropy(rows, cut) - (log2(n - 1) + delta) / n > TIE


def rows_of(values, weights):
    return [
        (value, label, weight)
        for label, own in enumerate(weights)
        for value, weight in zip(values, own, strict=True)
        if weight > 0
    ]


def table_of(x, y, weights=None):
    """Distinct values and the weight of each class at each, by NumPy."""
    weights = np.ones(len(x)) if weights is None else np.asarray(weights)
    kept = ~np.isnan(x)
    values, indices = np.unique(x[kept], return_inverse=True)
    own = [np.bincount(indices, weights[kept] * (y[kept] == label), minlength=len(values)) for label in np.unique(y)]
    return values, np.array(own)


@st.composite
def tables(draw, heavy=20):
    """Up to 20 values of up to four classes, many cells empty and some heavy, so that cuts pay."""
    classes = draw(st.integers(1, 4))
    cells = st.sampled_from([0, 0, 0, 1, 2, 5, heavy])
    column = st.lists(cells, min_size=classes, max_size=classes).filter(any)
    weights = draw(st.lists(column, min_size=1, max_size=20))
    size = len(weights)
    values = draw(st.lists(st.integers(-50, 50), min_size=size, max_size=size, unique=True))
    return np.array(sorted(values), dtype=float), np.array(weights, dtype=float).T


@settings(deadline=None, max_examples=300)
@given(tables(), st.sampled_from([1.0, 0.1, 1e-3, 1e9]))
def test_mdl_cuts_are_those_of_the_paper(table, unit):
    values, weights = table[0] * unit, table[1]
    assert list(mdl_cuts(values, weights)) == pytest.approx(paper_cuts(rows_of(values, weights)), rel=1e-15)


@settings(deadline=None)
@given(tables(), st.floats(0.5, 3.0))
def test_mdl_cuts_with_fractional_weights(table, unit):
    values, weights = table[0], table[1] * unit
    if weights.sum() >= 2:  # below, the paper's log2(N − 1) is negative or nothing
        assert list(mdl_cuts(values, weights)) == paper_cuts(rows_of(values, weights))


@settings(deadline=None)
@given(tables())
def test_the_best_of_all_cuts_is_a_boundary_point(table):
    """Theorem 1: no cut point whatever has a lower entropy."""
    rows = rows_of(*table)
    middles = [(low + high) / 2 for low, high in pairwise(table[0])]
    if boundary_points(rows):
        best = min(split_entropy(rows, cut) for cut in boundary_points(rows))
        assert best == pytest.approx(min(split_entropy(rows, cut) for cut in middles), abs=TIE)


def test_ties_go_to_the_lowest_cut():
    """A column that reads the same from both ends: its two best first cuts are equally good, and the choice shows."""
    values, weights = np.arange(5.0), np.array([[8, 3, 0, 3, 8], [0, 2, 20, 2, 0]])
    rows = rows_of(values, weights)
    scores = {cut: split_entropy(rows, cut) for cut in boundary_points(rows)}
    best = [cut for cut, score in scores.items() if score <= min(scores.values()) + TIE]
    assert best == [0.5, 3.5]
    cuts = list(mdl_cuts(values, weights))
    below, above = divided(rows, 0.5)
    assert cuts == [*paper_cuts(below), 0.5, *paper_cuts(above)]
    assert cuts != [4 - cut for cut in reversed(cuts)]


def test_weights_that_sum_to_next_to_nothing_are_never_cut():
    for scale in (1e-300, 1e-3, 0.4):
        assert mdl_cuts([0, 1], np.eye(2) * scale) == ()


def real_columns(name, target):
    """(column, values, classes) of every numeric column of a table in the data folder; missing cells are left out."""
    if not (DATA / f"{name}.csv").exists():
        pytest.skip(f"no {name}.csv in {DATA}; MERULA_DATA names the folder that holds it")
    frame = pd.read_csv(DATA / f"{name}.csv")
    y = frame.pop(target).to_numpy()
    numeric = frame.select_dtypes("number")
    return [(column, x[~np.isnan(x)], y[~np.isnan(x)]) for column, x in numeric.astype(float).items()]


REAL = {
    "iris": "class",
    "wine": "class",
    "penguins": "species",
    "watermelon3": "好瓜",
    "glass": "Type",
    "horse-colic": "surgical_lesion",
    "heart-cleveland": "num",
    "diabetes": "class",
}


@pytest.mark.parametrize("name", REAL)
def test_mdl_cuts_of_real_tables_are_those_of_the_paper(name):
    for column, x, y in real_columns(name, REAL[name]):
        rows = [(value, label, count) for (value, label), count in Counter(zip(x, y, strict=True)).items()]
        assert list(mdl_cuts(*table_of(x, y))) == paper_cuts(rows), column


def agrum_cuts(x, y):
    """pyAgrum's MDLP cuts of one column, two classes."""
    from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor

    processor = DiscreteTypeProcessor(defaultDiscretizationMethod="MDLP", discretizationThreshold=2)
    template = processor.discretizedTemplate(pd.DataFrame({"value": x}), y)  # must outlive the variable it lends
    return list(template.variable("value").ticks())[1:-1]


@pytest.mark.parametrize("name", ["iris", "penguins", "diabetes", "breast-w", "hepatitis", "ionosphere"])
@pytest.mark.filterwarnings("default")
def test_mdl_cuts_are_those_of_pyagrum(name):
    """pyAgrum 3.3.1 departs from the paper in one respect: it makes the first cut of a column without asking the criterion
    (`_divideIntervalMDLP`: ``gain > … or len(Class0ByLargeInterval) == 1``), perhaps because its variables need two
    intervals. Everything after that is the paper's, so the cuts are equal wherever the paper makes any; where it makes
    none, pyAgrum's are those of the paper with the first cut for free. It knows two classes only: each against the rest.
    """
    for column, x, y in real_columns(name, REAL.get(name, "class" if name == "ionosphere" else "Class")):
        for label in np.unique(y)[: None if len(set(y)) > 2 else 1]:
            own = (y == label).astype(int)
            if len(np.unique(x)) <= 2:  # pyAgrum does not discretise these
                continue
            ours, theirs = list(mdl_cuts(*table_of(x, own))), agrum_cuts(x, own)
            rows = [(value, one, count) for (value, one), count in Counter(zip(x, own, strict=True)).items()]
            assert theirs == paper_cuts(rows, first_is_free=True), column
            assert ours in (theirs, []), column


# ---------------------------------------------------------------------------------------------------------------------
# Too many boundary points: the grid


def quantile_candidates(rows, count):
    """The last boundary point before each of `count` quantiles of the weight."""
    last = {}
    for cut in boundary_points(rows):
        share = Fraction(total(divided(rows, cut)[0])) / Fraction(total(rows))
        last[-(-share * count // 1)] = cut
    return set(last.values())


@settings(deadline=None)
@given(tables(), st.integers(1, 8))
def test_the_grid_is_made_of_quantiles(table, count):
    values, weights = table
    rows = rows_of(values, weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mdl, "MOST_CANDIDATES", count)
        found = list(mdl_cuts(values, weights))
    few = len(boundary_points(rows)) <= count
    assert found == paper_cuts(rows, None if few else quantile_candidates(rows, count))


def binary_entropy(share):
    return -share * log2(share) - (1 - share) * log2(1 - share)


def gains(values, weights):
    """The gain of every cut of the whole column, by NumPy."""
    below = np.cumsum(weights, axis=1)[:, :-1]
    above = weights.sum(axis=1, keepdims=True) - below

    def bits(part):
        shares = part / part.sum(axis=0)
        return part.sum(axis=0) * -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=0)

    return (bits(weights.sum(axis=1, keepdims=True)) - bits(below) - bits(above)) / weights.sum()


@pytest.mark.parametrize("seed", range(3))
def test_what_the_grid_guarantees(seed):
    """With 250,000 distinct values, the best cut's gain is met within h(1e-5) bits, and every cut made pays."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 250_000)
    x = rng.normal(y * [0.8, 0.1, 0.0][seed], 1)
    values, weights = table_of(x, y)
    cuts = mdl_cuts(values, weights)
    indices = np.searchsorted(values, cuts) - 1
    gain = gains(values, weights)
    if len(cuts):
        assert gain[indices].max() >= gain.max() - binary_entropy(1e-5)
        assert gain[indices].max() > log2(len(x) - 1) / len(x)
    assert bool(cuts) == (seed < 2)
    assert all((values != cut).all() for cut in cuts)


def test_many_values_with_few_boundary_points_are_cut_exactly():
    values = np.arange(300_000.0)
    weights = np.array([values < 123_456, values >= 123_456])
    assert mdl_cuts(values, weights) == (123_455.5,)


def test_very_many_cuts_need_no_recursion():
    """A staircase of 3,000 classes: one cut beside the other."""
    classes = 3_000
    cuts = mdl_cuts(np.arange(classes), np.eye(classes) * 20)
    assert cuts == tuple(np.arange(classes - 1) + 0.5)


# ---------------------------------------------------------------------------------------------------------------------
# Equal weight, equal width


def brute_quantile_cuts(values, weights, bins):
    """Between the two neighbouring values where the rows below come nearest to n·k/bins; the lower ones of a tie."""
    rows = sorted(value for value, own in zip(values, weights.sum(axis=0), strict=True) for _ in range(int(own)))
    gaps = list(pairwise(sorted(set(rows))))
    cuts = set()
    for k in range(1, bins) if gaps else ():
        wanted = Fraction(len(rows) * k, bins)
        low, high = min(gaps, key=lambda gap: (abs(sum(row <= gap[0] for row in rows) - wanted), gap))
        cuts.add((low + high) / 2)
    return sorted(cuts)


@settings(deadline=None)
@given(tables(), st.integers(2, 12))
def test_quantile_cuts(table, bins):
    assert list(quantile_cuts(*table, bins)) == brute_quantile_cuts(*table, bins)


@pytest.mark.parametrize("bins", [2, 3, 4, 7, 10])
def test_distinct_values_are_shared_out_evenly(bins):
    values = np.random.default_rng(0).normal(size=840 + 1)[1:]
    codes = assign(values, quantile_cuts(np.sort(values), np.ones((1, 840)), bins))
    assert np.bincount(codes).tolist() == [840 // bins] * bins


@settings(deadline=None)
@given(tables(), st.integers(2, 12))
def test_equal_width_cuts(table, bins):
    values, weights = table
    cuts = equal_width_cuts(values, weights, bins)
    low, high = values[0], values[-1]
    expected = [low + k * (high - low) / bins for k in range(1, bins)] if low < high else []
    assert cuts == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("method", ["mdl", "quantile", "width"])
def test_values_at_the_limits_of_floating_point(method):
    eps = nextafter(1.0, 2.0)
    far = 1.7e308
    for low, high in ((1.0, eps), (eps, nextafter(eps, 2.0)), (-far, far), (0.9 * far, far), (0.0, 5e-324)):
        cuts = cuts_for(method, [low, high], np.eye(2) * 50, 2)
        assert len(cuts) == 1
        assert low <= cuts[0] < high
        assert assign([low, high], cuts).tolist() == [0, 1]


@pytest.mark.parametrize("method", ["mdl", "quantile", "width"])
@pytest.mark.parametrize("values", [[], [7.0]])
def test_a_column_of_at_most_one_value_has_no_cuts(method, values):
    assert cuts_for(method, values, np.ones((2, len(values))), 10) == ()


@pytest.mark.parametrize("method", ["mdl", "quantile", "width"])
def test_values_of_weight_0_do_not_count(method):
    weights = np.array([[0, 9, 9, 0, 0, 0], [0, 0, 0, 0, 9, 0]])
    kept = [1, 2, 4]
    values = np.arange(6.0)
    assert cuts_for(method, values, weights, 3) == cuts_for(method, values[kept], weights[:, kept], 3)


# ---------------------------------------------------------------------------------------------------------------------
# The laws of all methods


METHODS = st.sampled_from(["mdl", "quantile", "width"])


@settings(deadline=None)
@given(METHODS, tables(), st.integers(-3, 3), st.integers(-1000, 1000))
def test_scaling_and_shifting_a_column_scales_and_shifts_the_cuts(method, table, power, shift):
    values, weights = table
    moved = cuts_for(method, values * 2.0**power + shift, weights, 5)
    expected = [cut * 2.0**power + shift for cut in cuts_for(method, values, weights, 5)]
    assert moved == pytest.approx(expected, rel=1e-12, abs=1e-12 if method == "width" else 0)


@settings(deadline=None)
@given(METHODS, tables(heavy=7), st.randoms(use_true_random=False))
def test_a_weight_equals_repeats_in_any_order(method, table, random):
    rows = rows_of(*table)
    repeated = [row for row in rows for _ in range(int(row[2]))]
    random.shuffle(repeated)

    def cuts(rows, weights):
        x, y = np.array([[row[0]] for row in rows]), np.array([row[1] for row in rows])
        bins = None if method == "mdl" else 4
        return Discretizer(method=method, bins=bins).fit(x, y, sample_weight=weights).cuts_

    assert cuts(rows, [row[2] for row in rows]) == cuts(repeated, None)


@settings(deadline=None)
@given(METHODS, tables())
def test_no_value_sits_on_a_cut_and_cuts_ascend(method, table):
    cuts = cuts_for(method, *table, 6)
    assert all(low < high for low, high in pairwise(cuts))
    assert all(table[0][0] <= cut < table[0][-1] for cut in cuts)
    if method != "width":
        assert not set(cuts) & set(table[0])


@settings(deadline=None)
@given(METHODS, tables())
def test_the_order_of_classes_does_not_matter(method, table):
    values, weights = table
    assert cuts_for(method, values, weights[::-1], 5) == cuts_for(method, values, weights, 5)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="method is 'quantil', .*did you mean 'quantile'"):
        cuts_for("quantil", [1], [[1]], 3)
    for bins in (1, 0, 2.5, "ten", True):
        for method in ("quantile", "width"):
            with pytest.raises(ValueError, match=f"bins is {bins!r}, expected a whole number"):
                cuts_for(method, [1], [[1]], bins)
    for weights in ([1, 1], [[1]], [[1, 1, 1]]):
        with pytest.raises(ValueError, match=r"weights has shape .*, expected \(classes, 2\)"):
            mdl_cuts([1, 2], weights)
    for values in ([2, 1], [1, 1], [1, np.nan], [-np.inf, 1]):
        with pytest.raises(ValueError, match="values must be finite and ascend"):
            quantile_cuts(values, [[1, 1]], 2)


# ---------------------------------------------------------------------------------------------------------------------
# Intervals


@settings(deadline=None)
@given(
    st.lists(st.floats(allow_infinity=True), max_size=30),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8, unique=True).map(sorted),
)
def test_assign_counts_the_cuts_below(values, cuts):
    codes = assign(np.array(values, dtype=float), tuple(cuts))
    assert codes.tolist() == [-1 if value != value else sum(cut < value for cut in cuts) for value in values]


@pytest.mark.parametrize(
    ("cuts", "labels"),
    [
        ((), ("any",)),
        ((2.45,), ("≤ 2.45", "> 2.45")),
        ((2.45, 4.75), ("≤ 2.45", "(2.45, 4.75]", "> 4.75")),
        ((-1.0, 0.0), ("≤ -1", "(-1, 0]", "> 0")),
        ((-0.0,), ("≤ 0", "> 0")),
        ((2.6500000000000004,), ("≤ 2.65", "> 2.65")),
        ((206.5, 3549.5), ("≤ 206.5", "(206.5, 3549.5]", "> 3549.5")),
        ((12345678.5,), ("≤ 12345678.5", "> 12345678.5")),
        ((0.00012345678,), ("≤ 0.000123457", "> 0.000123457")),
        ((1.0000001, 1.0000002), ("≤ 1.0000001", "(1.0000001, 1.0000002]", "> 1.0000002")),
        ((1e-20, 2.5e300), ("≤ 1e-20", "(1e-20, 2.5e+300]", "> 2.5e+300")),
    ],
)
def test_labels(cuts, labels):
    assert interval_labels(cuts) == labels


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8, unique=True).map(sorted))
def test_labels_are_distinct_and_near_the_cuts(cuts):
    labels = interval_labels(cuts)
    assert len(set(labels)) == len(cuts) + 1
    texts = [label.rstrip("]").split()[-1] for label in labels[:-1]]
    assert [float(text) for text in texts] == pytest.approx(cuts, rel=1e-5, abs=0)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_labels_of_neighbouring_numbers_are_distinct(cut):
    above = nextafter(cut, np.inf)
    if above < np.inf:
        assert len(set(interval_labels((cut, above)))) == 3


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=6, unique=True).map(sorted))
def test_labels_say_their_cuts(cuts):
    labels = interval_labels(cuts)
    assert interval_labels(cuts_said(labels)) == labels
    np.testing.assert_allclose(cuts_said(labels), cuts, rtol=1e-5, atol=1e-300)


@pytest.mark.parametrize(
    "labels",
    [(), ("any",), ("≤ 1",), ("≤ 2", "> 1"), ("≤ 2", "(1, 2]", "> 2"), ("≤ nan", "> nan"), (1, 2), ("no", "yes")],
)
def test_other_labels_say_no_cuts(labels):
    assert cuts_said(labels) == ()
