"""Folds by what rows hold: laws of the dealing."""

import numpy as np
import pandas as pd
import pytest

from merula.classify.folds import Folds, deal
from merula.data.encode import encode_rows, encode_target
from merula.data.table import open_table
from merula.engines import Source, describe

N, FOLDS = 60, 5


@pytest.fixture
def birds():
    rng = np.random.default_rng(4)
    table = pd.DataFrame(
        {"wing length": rng.normal(60, 5, N), "song": rng.choice(["trill", "flute"], N), "eggs": rng.integers(2, 6, N)}
    )
    return table, rng.choice(["blackbird", "wren", "tit"], N)


def dealt(table, y, weights=None) -> Folds:
    opened = open_table(table)
    schema, _ = describe(Source(opened), None, None)
    rows = encode_rows(opened, schema, opened.named, "test")
    return deal(rows, encode_target(y, len(rows), weights), schema, FOLDS)


def test_every_row_lies_in_one_fold_and_classes_are_spread(birds):
    table, y = birds
    shares = dealt(table, y).shares
    assert np.array_equal(shares.sum(axis=1), np.ones(N)) and np.isin(shares, (0, 1)).all()
    for label in np.unique(y):
        in_folds = shares[y == label].sum(axis=0)
        assert in_folds.max() - in_folds.min() <= 1


def test_the_order_of_rows_and_columns_does_not_matter(birds):
    table, y = birds
    order = np.random.default_rng(0).permutation(N)
    moved = table.iloc[order, [2, 0, 1]].reset_index(drop=True)
    assert np.array_equal(dealt(moved, y[order]).shares, dealt(table, y).shares[order])


def test_the_unit_of_a_number_does_not_matter(birds):
    table, y = birds
    in_inches = table.assign(**{"wing length": table["wing length"] / 25.4 + 7})
    assert np.array_equal(dealt(in_inches, y).shares, dealt(table, y).shares)


def test_a_weight_equals_repeats(birds):
    table, y = birds
    weights = np.random.default_rng(1).integers(0, 4, N)
    repeated = np.repeat(np.arange(N), weights)
    shares = dealt(table.iloc[repeated].reset_index(drop=True), y[repeated]).shares
    together = np.zeros((N, FOLDS))
    np.add.at(together, repeated, shares)
    assert np.array_equal(dealt(table, y, weights).shares, together)


def test_fractions_of_a_weight_are_shared_out(birds):
    table, y = birds
    weights = np.random.default_rng(2).gamma(1.0, 1.0, N)
    shares = dealt(table, y, weights).shares
    assert shares.min() >= 0 and np.allclose(shares.sum(axis=1), weights, rtol=1e-12)
    assert np.ptp(shares.sum(axis=0)) <= 1 + 1e-9


def test_equal_rows_go_to_different_folds():
    shares = dealt(pd.DataFrame({"song": ["trill"] * 10 + ["flute"] * 10}), ["wren"] * 20).shares
    assert np.array_equal(shares[:10].sum(axis=0), np.full(FOLDS, 2.0))


def test_what_is_left_out_and_what_is_learned_from_make_up_all(birds):
    table, y = birds
    folds = dealt(table, y)
    for learned, left_out in folds:
        assert len(np.intersect1d(learned.indices, left_out.indices)) == 0
        assert len(learned.indices) + len(left_out.indices) == N


def test_whole_numbers_with_gaps_are_the_same_in_every_library(birds):
    table, y = birds
    eggs = table["eggs"].where(table.index % 7 > 0).astype("Int64")
    as_floats = dealt(table.assign(eggs=eggs.astype(object)), y).shares
    assert np.array_equal(dealt(table.assign(eggs=eggs.astype(float).astype(object)), y).shares, as_floats)
