"""Counts of whole rows against a dictionary of tuples."""

from collections import defaultdict

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from merula.stats import JointCounts
from merula.stats.distinct_rows import distinct_rows

RNG = np.random.default_rng(13)
N = 400
COLUMNS = {
    "色泽": RNG.choice(np.array(["乌黑", "浅白", None]), N).tolist(),
    "größe": RNG.choice(np.array(["klein", "groß", None]), N).tolist(),
    "nests": RNG.choice(np.array([True, False, None]), N).tolist(),
}
SPECIES = RNG.choice(["amsel", "drossel"], N)
WEIGHTS = {"unweighted": None, "whole": RNG.integers(0, 3, N).astype(float), "fractions": RNG.random(N)}
SOURCES = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas category": lambda: pd.DataFrame(COLUMNS).astype("category"),
    "polars": lambda: pl.DataFrame(COLUMNS),
}


def by_loop(columns, y, weights):
    """{row: weight per class} of the rows with any weight."""
    classes = sorted(set(np.asarray(y).tolist()))
    found = defaultdict(lambda: np.zeros(len(classes)))
    weights = np.ones(len(y)) if weights is None else weights
    for row, label, weight in zip(zip(*columns.values(), strict=True), np.asarray(y).tolist(), weights, strict=True):
        if weight > 0:
            found[row][classes.index(label)] += weight
    return dict(found)


def as_dict(statistic):
    rows = [
        tuple(None if index < 0 else statistic.labels[j][index] for j, index in enumerate(row))
        for row in statistic.cells.tolist()
    ]
    assert len(set(rows)) == len(rows)
    return dict(zip(rows, statistic.weight, strict=True))


def assert_same(found, expected, exact=True):
    assert found.keys() == expected.keys()
    for row, weight in expected.items():
        np.testing.assert_allclose(found[row], weight, rtol=0 if exact else 1e-12, atol=0)


@pytest.mark.parametrize("cuts", [(), (200,), (1, 2, 17, 17)])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("source", SOURCES)
def test_joint_counts_in_any_batching(collected, source, weights, cuts):
    found = collected(JointCounts.zero(list(COLUMNS), 2), SOURCES[source](), SPECIES, WEIGHTS[weights], cuts=cuts)
    assert_same(as_dict(found), by_loop(COLUMNS, SPECIES, WEIGHTS[weights]), exact=weights != "fractions")


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64, np.float64, bool])
def test_joint_counts_of_number_matrices(collected, dtype):
    matrix = RNG.integers(0, 2 if dtype is bool else 4, (N, 3)).astype(dtype)
    found = collected(JointCounts.zero(["x0", "x1", "x2"], 2), matrix, SPECIES, kinds="categorical", cuts=(100,))
    assert_same(as_dict(found), by_loop(dict(enumerate(matrix.T.tolist())), SPECIES, None))


def test_whole_numbers_that_leave_the_sampled_range(collected):
    matrix = np.stack([np.arange(20_000) % 3, np.arange(20_000) % 2], axis=1)
    matrix[11_111, 0], matrix[19_999, 1] = 900, -(2**63)
    y = np.arange(20_000) % 2
    found = collected(JointCounts.zero(["x0", "x1"], 2), matrix, y, kinds="categorical")
    assert_same(as_dict(found), by_loop(dict(enumerate(matrix.T.tolist())), y, None))


@pytest.mark.parametrize("columns", [25, 60])
def test_more_combinations_than_an_integer_counts(collected, columns):
    matrix = RNG.integers(0, 10, (200, columns))
    matrix = np.concatenate([matrix, matrix[::2]])
    y = np.arange(300) % 2
    assert 10**columns > 2**62
    for cuts in ((), (150,)):
        found = collected(
            JointCounts.zero([f"x{j}" for j in range(columns)], 2), matrix, y, kinds="categorical", cuts=cuts
        )
        assert_same(as_dict(found), by_loop(dict(enumerate(matrix.T.tolist())), y, None))


def parts(collected):
    zero = JointCounts.zero(list(COLUMNS), 2)
    one = collected(zero, pd.DataFrame({name: cells[:150] for name, cells in COLUMNS.items()}), SPECIES[:150])
    return one, collected(zero, pl.DataFrame({name: cells[150:] for name, cells in COLUMNS.items()}), SPECIES[150:])


def test_parts_from_different_libraries_add_by_label(collected):
    one, two = parts(collected)
    expected = by_loop(COLUMNS, SPECIES, None)
    assert_same(as_dict(one + two), expected)
    assert_same(as_dict(two + one), expected)


def test_zero_is_the_identity(collected):
    one, _ = parts(collected)
    zero = JointCounts.zero(list(COLUMNS), 2)
    assert_same(as_dict(one + zero), as_dict(one))
    assert_same(as_dict(zero + one), as_dict(one))
    assert as_dict(zero + zero) == {}


def test_classes_move_to_their_places(collected):
    one, _ = parts(collected)
    wide = one.with_classes(np.array([2, 0]), 3)
    assert_same(as_dict(wide), {row: np.array([weight[1], 0.0, weight[0]]) for row, weight in as_dict(one).items()})


def test_state_round_trip(collected, through_a_file, same_bits):
    one, two = parts(collected)
    for statistic in (one, one + two, JointCounts.zero(["größe"], 2)):
        again = JointCounts.from_state(through_a_file(statistic.state()))
        assert same_bits(again, statistic)
        assert_same(as_dict(again + statistic), as_dict(statistic + statistic))


def test_ordered_rows_and_levels(collected):
    one, two = parts(collected)
    for statistic in (one + two, two + one):
        ordered = statistic.ordered([None] * 3)
        assert ordered.labels == (("乌黑", "浅白"), ("groß", "klein"), (False, True))
        assert ordered.cells.tolist() == sorted(ordered.cells.tolist())
        assert_same(as_dict(ordered), by_loop(COLUMNS, SPECIES, None))


def test_missing_as_a_level(collected):
    ordered = sum(parts(collected)[1:], parts(collected)[0]).ordered([None] * 3, missing_is_level=True)
    assert [labels[-1] for labels in ordered.labels] == [None] * 3
    assert (ordered.cells >= 0).all()
    assert_same(as_dict(ordered), by_loop(COLUMNS, SPECIES, None))


def test_missing_is_no_level_where_nothing_is_missing(collected):
    statistic = collected(JointCounts.zero(["x0", "x1"], 2), [["klein", None], ["groß", "乌黑"]], [0, 1])
    assert statistic.ordered([None, None], missing_is_level=True).labels == (("groß", "klein"), ("乌黑", None))


def test_levels_without_weight_do_not_exist(collected):
    frame = pd.DataFrame({"größe": pd.Categorical(["klein", "groß", "mittel"], ["riesig", "mittel", "klein", "groß"])})
    ordered = collected(JointCounts.zero(["größe"], 2), frame, [0, 1, 1], [1.0, 1.0, 0.0]).ordered([None])
    assert ordered.labels == (("groß", "klein"),)


def test_declared_levels(collected):
    statistic = collected(JointCounts.zero(["größe"], 2), pd.DataFrame({"größe": ["klein", "groß"]}), [0, 1])
    assert statistic.ordered([("klein", "mittel", "groß")]).cells.tolist() == [[0], [2]]
    with pytest.raises(ValueError, match="column 'größe' holds 'groß', which its levels"):
        statistic.ordered([("klein", "mittel")])


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 2**31 - 1), st.integers(-1, 3), st.integers(0, 2**31 - 1)), max_size=30))
def test_distinct_rows(rows):
    cells = np.array(rows, dtype=np.int32).reshape(-1, 3)
    first, groups = distinct_rows(cells)
    assert [tuple(row) for row in cells[first].tolist()] == sorted(set(rows))
    assert [tuple(row) for row in cells[first][groups].tolist()] == rows
