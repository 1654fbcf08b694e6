"""Kept rows against a plain list of them: any batching, any library, any order."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from merula.stats import Rows

RNG = np.random.default_rng(17)
N = 300
COLUMNS = {
    "größe": RNG.choice([1.5, -0.0, 0.0, 3.25, np.nan], N).tolist(),
    "色泽": RNG.choice(np.array(["乌黑", "浅白", None]), N).tolist(),
    "wing span": RNG.choice([20.0, 21.0], N).tolist(),
    "nests": RNG.choice(np.array([True, False, None]), N).tolist(),
}
SPECIES = RNG.choice(["amsel", "drossel"], N)
WEIGHTS = {"unweighted": None, "whole": RNG.integers(0, 3, N).astype(float), "quarters": RNG.integers(0, 9, N) / 4}
SOURCES = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas category": lambda: pd.DataFrame(COLUMNS).astype({"色泽": "category", "nests": "category"}),
    "polars": lambda: pl.DataFrame(COLUMNS),
}


def plain(value):
    return None if value is None or value != value else value + 0.0 if isinstance(value, float) else value


def by_loop(columns, y, weights):
    """{(class, cells): weight} of the rows with any weight."""
    found, classes = Counter(), sorted(set(np.asarray(y).tolist()))
    weights = np.ones(len(y)) if weights is None else weights
    for row, label, weight in zip(zip(*columns.values(), strict=True), np.asarray(y).tolist(), weights, strict=True):
        if weight > 0:
            found[classes.index(label), tuple(map(plain, row))] += weight
    return dict(found)


def as_dict(statistic):
    found = Counter()
    for row, label, weight in zip(statistic.cells.tolist(), statistic.classes.tolist(), statistic.weight, strict=True):
        cells = zip(row, statistic.labels, strict=True)
        named = tuple(
            None if np.isnan(cell) else cell if labels is None else labels[int(cell)] for cell, labels in cells
        )
        found[label, named] += weight
    return dict(found)


@pytest.mark.parametrize("cuts", [(), (200,), (1, 2, 17, 17)])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("source", SOURCES)
def test_rows_in_any_batching(collected, source, weights, cuts):
    found = collected(Rows.zero(list(COLUMNS), 2), SOURCES[source](), SPECIES, WEIGHTS[weights], cuts=cuts)
    assert as_dict(found) == by_loop(COLUMNS, SPECIES, WEIGHTS[weights])
    assert [labels is None for labels in found.labels] == [True, False, True, False]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_rows_of_a_matrix(collected, dtype):
    matrix = RNG.integers(-3, 4, (N, 3)).astype(dtype)
    found = collected(Rows.zero(["x0", "x1", "x2"], 2), matrix, SPECIES, cuts=(100,))
    assert as_dict(found) == by_loop(dict(enumerate(matrix.T.astype(float).tolist())), SPECIES, None)
    assert found.cells.dtype == np.float64


def parts(collected):
    zero = Rows.zero(list(COLUMNS), 2)
    one = collected(zero, pd.DataFrame({name: cells[:150] for name, cells in COLUMNS.items()}), SPECIES[:150])
    return one, collected(zero, pl.DataFrame({name: cells[150:] for name, cells in COLUMNS.items()}), SPECIES[150:])


def test_parts_from_different_libraries_add_by_label(collected):
    one, two = parts(collected)
    assert as_dict(one + two) == as_dict(two + one) == by_loop(COLUMNS, SPECIES, None)


def test_adding_leaves_both_parts_as_they_were(collected, same_bits):
    one, two = parts(collected)
    again_one, again_two = parts(collected)
    assert (one + two) is not (two + one)
    assert same_bits(one, again_one)
    assert same_bits(two, again_two)


def test_zero_is_the_identity(collected):
    one, _ = parts(collected)
    zero = Rows.zero(list(COLUMNS), 2)
    assert as_dict(one + zero) == as_dict(zero + one) == as_dict(one)
    assert as_dict(zero + zero) == {}


def test_classes_move_to_their_places(collected):
    one, _ = parts(collected)
    moved = one.with_classes(np.array([2, 0]), 3)
    assert as_dict(moved) == {(2 - 2 * label, row): weight for (label, row), weight in as_dict(one).items()}


def test_columns_move_by_name(collected):
    one, _ = parts(collected)
    turned = one.with_columns(["nests", "größe", "色泽", "wing span"])
    assert as_dict(turned) == {(label, (d, a, b, c)): weight for (label, (a, b, c, d)), weight in as_dict(one).items()}
    np.testing.assert_array_equal(turned.hashes(), one.hashes())


def test_state_round_trip(collected, through_a_file, same_bits):
    one, two = parts(collected)
    for statistic in (one, one + two, Rows.zero(["größe"], 2)):
        again = Rows.from_state(through_a_file(statistic.state()))
        assert same_bits(again, statistic)
        assert as_dict(again + statistic) == as_dict(statistic + statistic)


def test_ordered_rows_are_the_same_in_any_order(collected, same_bits):
    one, two = parts(collected)
    ordered = (one + two).ordered([None] * 4)
    assert same_bits(ordered, (two + one).ordered([None] * 4))
    assert ordered.labels == (None, ("乌黑", "浅白"), None, (False, True))
    assert as_dict(ordered) == by_loop(COLUMNS, SPECIES, None)
    assert len(ordered.weight) == len(by_loop(COLUMNS, SPECIES, None))


def test_columns_in_another_order_give_the_same_order_of_rows(collected):
    one, two = parts(collected)
    names = ["nests", "größe", "色泽", "wing span"]
    straight, turned = (one + two).ordered([None] * 4), (one + two).with_columns(names).ordered([None] * 4)
    np.testing.assert_array_equal(turned.with_columns(list(COLUMNS)).cells, straight.cells)
    np.testing.assert_array_equal(turned.weight, straight.weight)


def test_levels_without_weight_do_not_exist(collected):
    frame = pd.DataFrame({"größe": pd.Categorical(["klein", "groß", "mittel"], ["riesig", "mittel", "klein", "groß"])})
    ordered = collected(Rows.zero(["größe"], 2), frame, [0, 1, 1], [1.0, 1.0, 0.0]).ordered([None])
    assert ordered.labels == (("groß", "klein"),)


def test_declared_levels(collected):
    statistic = collected(Rows.zero(["größe"], 2), pd.DataFrame({"größe": ["klein", "groß"]}), [0, 1])
    assert as_dict(statistic.ordered([("klein", "mittel", "groß")])) == {(0, ("klein",)): 1, (1, ("groß",)): 1}
    with pytest.raises(ValueError, match="column 'größe' holds 'groß', which its levels"):
        statistic.ordered([("klein", "mittel")])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_infinity_names_its_column_unless_the_row_has_no_weight(collected, dtype):
    frame = pd.DataFrame({"wing span": [20.0, 21.0], "größe": [1.0, -np.inf]}, dtype=dtype)
    with pytest.raises(ValueError, match="column 'größe' contains infinity.*NaN"):
        collected(Rows.zero(["wing span", "größe"], 2), frame, [0, 1])
    assert len(collected(Rows.zero(["wing span", "größe"], 2), frame, [0, 1], [1.0, 0.0]).weight) == 1


def test_squares_that_overflow_name_their_column(collected):
    with pytest.raises(ValueError, match="column 'größe' holds values as large as 3e\\+200.*rescale"):
        collected(Rows.zero(["größe"], 2), pd.DataFrame({"größe": [1.0, -3e200]}), [0, 1])


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 1.0, 2.5, np.nan]), st.sampled_from([0.0, 7.0]), st.integers(0, 1)),
        min_size=1,
        max_size=40,
    ),
    st.randoms(),
)
def test_equal_rows_of_a_class_are_one_row_of_their_weight(rows, random):
    def ordered(rows):
        cells, classes = np.array([row[:2] for row in rows]), np.array([row[2] for row in rows], dtype=np.int32)
        return Rows(("größe", "wing span"), (None, None), cells, classes, np.ones(len(rows))).ordered([None, None])

    expected = Counter((label, (plain(size), span)) for size, span, label in rows)
    shuffled = random.sample(rows, len(rows))
    one, two = ordered(rows), ordered(shuffled)
    assert as_dict(one) == expected
    assert len(one.weight) == len(expected)
    for mine, theirs in zip((one.cells, one.classes, one.weight), (two.cells, two.classes, two.weight), strict=True):
        np.testing.assert_array_equal(mine, theirs)
