"""Counts of classes and levels against loops over the rows."""

from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from merula.data.encode import encode, encode_target, infer_schema
from merula.data.table import open_table
from merula.stats import ClassCounts, LevelCounts

RNG = np.random.default_rng(11)
N = 400
COLUMNS = {
    "色泽": RNG.choice(np.array(["乌黑", "浅白", "青绿", None]), N).tolist(),
    "größe": RNG.choice(["klein", "groß"], N).tolist(),
    "eggs": RNG.integers(-2, 5, N).tolist(),
}
TABLE = pd.DataFrame(COLUMNS)
SPECIES = RNG.choice(["amsel", "drossel", "zaunkönig"], N)
WEIGHTS = {"unweighted": None, "whole": RNG.integers(0, 4, N).astype(float), "fractions": RNG.random(N)}
SOURCES = {
    "pandas": lambda: TABLE,
    "pandas category": lambda: TABLE.astype({"色泽": "category", "größe": "category"}),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "pyarrow": lambda: pa.table(COLUMNS),
    "numpy": lambda: TABLE.to_numpy(dtype=object),
}


def by_loop(columns, y, weights):
    """{column: {label: weight per class}}, None for missing; labels without weight are left out."""
    classes = sorted(set(np.asarray(y).tolist()))
    weights = np.ones(len(y)) if weights is None else weights
    result = {}
    for name, cells in columns.items():
        found = defaultdict(lambda: np.zeros(len(classes)))
        for cell, label, weight in zip(cells, np.asarray(y).tolist(), weights, strict=True):
            found[None if cell is None or cell != cell else cell][classes.index(label)] += weight
        result[name] = {label: weight for label, weight in found.items() if weight.any()}
    return result


def as_dict(statistic):
    """The same from a statistic."""
    result = {}
    for j, name in enumerate(statistic.columns):
        found = {label: statistic.counts[j][:, v] for v, label in enumerate(statistic.labels[j])}
        if statistic.missing[:, j].any():
            found[None] = statistic.missing[:, j]
        result[name] = {label: weight for label, weight in found.items() if weight.any()}
    return result


def assert_same(found, expected, exact):
    assert found.keys() == expected.keys()
    for name in expected:
        assert found[name].keys() == expected[name].keys()
        for label, weight in expected[name].items():
            np.testing.assert_allclose(found[name][label], weight, rtol=0 if exact else 1e-12, atol=0)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_class_counts(collected, weights):
    statistic = collected(ClassCounts.zero((), 3), TABLE, SPECIES, WEIGHTS[weights])
    w = np.ones(N) if WEIGHTS[weights] is None else WEIGHTS[weights]
    np.testing.assert_allclose(
        statistic.weight, [w[label == SPECIES].sum() for label in np.unique(SPECIES)], rtol=1e-14
    )


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("source", SOURCES)
def test_level_counts(collected, source, weights):
    table = SOURCES[source]()
    names = open_table(table).names
    statistic = collected(LevelCounts.zero(names, 3), table, SPECIES, WEIGHTS[weights], kinds="categorical")
    expected = dict(zip(names, by_loop(COLUMNS, SPECIES, WEIGHTS[weights]).values(), strict=True))
    assert_same(as_dict(statistic), expected, exact=weights != "fractions")


@pytest.mark.parametrize(
    "dtype", [np.int8, np.int16, np.int64, np.uint8, np.uint64, ">i4", ">u8", np.float32, np.float64, bool]
)
@pytest.mark.parametrize("weights", ["unweighted", "fractions"])
def test_level_counts_of_number_matrices(collected, dtype, weights):
    matrix = RNG.integers(0, 2 if dtype is bool else 6, (N, 2)).astype(dtype)
    statistic = collected(LevelCounts.zero(["x0", "x1"], 3), matrix, SPECIES, WEIGHTS[weights], kinds="categorical")
    expected = by_loop({"x0": matrix[:, 0].tolist(), "x1": matrix[:, 1].tolist()}, SPECIES, WEIGHTS[weights])
    assert_same(as_dict(statistic), expected, exact=weights == "unweighted")


def test_missing_numbers_are_counted_as_missing(collected):
    matrix = np.array([[1.0], [np.nan], [1.0], [2.0]])
    statistic = collected(LevelCounts.zero(["x0"], 2), matrix, [0, 0, 1, 1], kinds="categorical")
    assert as_dict(statistic)["x0"].keys() == {1.0, 2.0, None}
    assert statistic.missing.tolist() == [[1.0], [0.0]]


WIDE = {
    "late rows leave the sampled range": np.where(np.arange(20_000) == 11_111, 900, np.arange(20_000) % 5),
    "late rows below": np.where(np.arange(20_000) == 19_999, -70, 3),
    "far below": np.where(np.arange(20_000) == 19_999, -(2**63), 3),
    "far above": np.where(np.arange(20_000) == 19_999, 2**63 - 1, 3),
    "very wide": RNG.integers(-(2**62), 2**62, 300),
    "the widest": np.array([-(2**63), 2**63 - 1, 0, 0]),
    "far from zero": 2**61 + np.arange(50) % 7,
    "far from zero, unsigned": np.uint64(2**63) + np.arange(50, dtype=np.uint64) % np.uint64(7),
    "wide range, few levels": np.arange(1_000) % 2 * 10**9,
}


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("cuts", [(), (1, 30)])
def test_whole_numbers_of_any_range(collected, name, cuts):
    values = WIDE[name]
    y = np.arange(len(values)) % 2
    statistic = collected(
        LevelCounts.zero(["x0"], 2), values[:, None], y, kinds="categorical", cuts=cuts if len(values) > 30 else ()
    )
    assert_same(as_dict(statistic), by_loop({"x0": values.tolist()}, y, None), exact=True)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.booleans()), min_size=1, max_size=40),
    st.sampled_from([3, 1_000, 10**6, 2**63]),
)
def test_any_whole_numbers(pairs, modulus):
    values = np.array([number % modulus for number, _ in pairs], dtype=np.int64)
    y = np.array([truth for _, truth in pairs])
    table = open_table(values[:, None])
    target = encode_target(y, len(y))
    statistic = LevelCounts.zero(["x0"], len(target.classes)).update(
        encode(table, infer_schema(table, "categorical")[0], [0]), target
    )
    assert_same(as_dict(statistic), by_loop({"x0": values.tolist()}, y, None), exact=True)


def test_a_wide_column_beside_a_narrow_one(collected):
    matrix = np.stack([2**60 + np.arange(60) % 3, np.arange(60) % 5 * 10**12], axis=1)
    for dtype in (np.int64, np.uint64):
        statistic = collected(
            LevelCounts.zero(["x0", "x1"], 2), matrix.astype(dtype), np.arange(60) % 2, kinds="categorical"
        )
        assert_same(
            as_dict(statistic),
            by_loop({"x0": matrix[:, 0].tolist(), "x1": matrix[:, 1].tolist()}, np.arange(60) % 2, None),
            exact=True,
        )


# ---------------------------------------------------------------------------------------------------------------------
# The laws of addition


CUTS = [(200,), (1, 2, 3), (0, 17, 17, 390)]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("source", SOURCES)
def test_any_batching_counts_the_same(collected, source, cuts, weights):
    table = SOURCES[source]()
    zero = LevelCounts.zero(open_table(table).names, 3)
    whole = collected(zero, table, SPECIES, WEIGHTS[weights], kinds="categorical")
    parts = collected(zero, table, SPECIES, WEIGHTS[weights], kinds="categorical", cuts=cuts)
    assert_same(as_dict(parts), as_dict(whole), exact=weights != "fractions")


def halves(collected):
    zero = LevelCounts.zero(list(COLUMNS), 3)
    one = collected(zero, TABLE[:150], SPECIES[:150], kinds="categorical")
    two = collected(
        zero, pl.DataFrame({name: cells[150:] for name, cells in COLUMNS.items()}), SPECIES[150:], kinds="categorical"
    )
    return one, two


def test_parts_from_different_libraries_add_by_label(collected):
    one, two = halves(collected)
    expected = by_loop(COLUMNS, SPECIES, None)
    assert_same(as_dict(one + two), expected, exact=True)
    assert_same(as_dict(two + one), expected, exact=True)


def test_zero_is_the_identity(collected):
    one, _ = halves(collected)
    zero = LevelCounts.zero(list(COLUMNS), 3)
    assert_same(as_dict(zero + one), as_dict(one), exact=True)
    assert_same(as_dict(one + zero), as_dict(one), exact=True)
    assert as_dict(zero + zero) == {name: {} for name in COLUMNS}
    counts = ClassCounts(np.array([1.5, 0.0]))
    assert (counts + ClassCounts.zero((), 2)).weight.tolist() == [1.5, 0.0]


def test_updating_changes_nothing_that_was_counted_before(collected):
    one, two = halves(collected)
    before = as_dict(one)
    _ = one + two
    assert_same(as_dict(one), before, exact=True)


def test_addition_is_associative(collected):
    zero = LevelCounts.zero(list(COLUMNS), 3)
    parts = [
        collected(
            zero,
            TABLE[start : start + 100],
            np.concatenate([SPECIES[start : start + 97], ["amsel", "drossel", "zaunkönig"]]),
            kinds="categorical",
        )
        for start in (0, 100, 200)
    ]
    assert_same(as_dict((parts[0] + parts[1]) + parts[2]), as_dict(parts[0] + (parts[1] + parts[2])), exact=True)


def test_classes_move_to_their_places(collected):
    one, _ = halves(collected)
    wide = one.with_classes(np.array([4, 0, 2]), 5)
    for label, index in enumerate((4, 0, 2)):
        for mine, theirs in zip(one.counts, wide.counts, strict=True):
            assert theirs[index].tolist() == mine[label].tolist()
        assert wide.missing[index].tolist() == one.missing[label].tolist()
    assert all(part[[1, 3]].sum() == 0 for part in wide.counts)
    moved = ClassCounts(np.array([5.0, 7.0])).with_classes(np.array([2, 0]), 3)
    assert moved.weight.tolist() == [7.0, 0.0, 5.0]


def test_state_round_trip(collected, through_a_file, same_bits):
    one, two = halves(collected)
    for statistic in (
        one,
        one + two,
        LevelCounts.zero(["größe"], 2),
        collected(
            LevelCounts.zero(["x0"], 2), np.arange(10)[:, None], np.arange(10) % 2, [0.1] * 10, kinds="categorical"
        ),
    ):
        again = LevelCounts.from_state(through_a_file(statistic.state()))
        assert same_bits(again, statistic)
        assert_same(as_dict(again + statistic), as_dict(statistic + statistic), exact=True)
    counts = ClassCounts(np.array([0.1, 1e300, 5e-324]))
    assert same_bits(ClassCounts.from_state(through_a_file(counts.state())), counts)


# ---------------------------------------------------------------------------------------------------------------------
# Levels in order


def test_ordered_levels_are_sorted_and_those_without_weight_are_gone(collected):
    frame = pd.DataFrame(
        {"größe": pd.Categorical(["klein", "groß", "mittel", None], ["riesig", "mittel", "klein", "groß"])}
    )
    ordered = collected(LevelCounts.zero(["größe"], 2), frame, [0, 0, 1, 1], [1.0, 2.0, 0.0, 3.0]).ordered([None])
    assert ordered.labels == (("groß", "klein"),)
    assert ordered.counts[0].tolist() == [[2.0, 1.0], [0.0, 0.0]]
    assert ordered.missing.tolist() == [[0.0], [3.0]]


def test_declared_levels_keep_their_order_and_may_be_empty(collected):
    ordered = collected(LevelCounts.zero(["x0"], 2), [["klein"], ["groß"]], [0, 1]).ordered(
        [("klein", "mittel", "groß")]
    )
    assert ordered.labels == (("klein", "mittel", "groß"),)
    assert ordered.counts[0].tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]


def test_a_level_that_was_not_declared_is_named(collected):
    statistic = collected(LevelCounts.zero(["größe"], 2), pd.DataFrame({"größe": ["klein", "riesig"]}), [0, 1])
    with pytest.raises(ValueError, match="column 'größe' holds 'riesig', which its levels"):
        statistic.ordered([("klein", "groß")])


def test_an_undeclared_level_without_weight_is_no_error(collected):
    statistic = collected(LevelCounts.zero(["x0"], 1), [["klein"], ["riesig"]], [0, 0], [1.0, 0.0])
    assert statistic.ordered([("klein", "groß")]).counts[0].tolist() == [[1.0, 0.0]]


def test_the_order_of_rows_does_not_matter(collected):
    order = np.random.default_rng(2).permutation(N)
    zero = LevelCounts.zero(list(COLUMNS), 3)
    one = collected(zero, TABLE, SPECIES, kinds="categorical").ordered([None] * 3)
    two = collected(zero, TABLE.iloc[order], SPECIES[order], kinds="categorical").ordered([None] * 3)
    assert one.labels == two.labels
    assert all((a == b).all() for a, b in zip(one.counts, two.counts, strict=True))


def test_counts_agree_with_python_counter(collected):
    words = RNG.choice(["klein", "mittel", "groß"], 500)
    ordered = collected(LevelCounts.zero(["x0"], 1), words[:, None], np.zeros(500, int)).ordered([None])
    assert dict(zip(ordered.labels[0], ordered.counts[0][0].tolist(), strict=True)) == Counter(words.tolist())
