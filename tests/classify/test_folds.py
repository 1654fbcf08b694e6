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


@pytest.mark.parametrize("weighted", [False, True])
def test_copies_are_spread_as_chance_spreads_them(weighted):
    """Dealt round, each of 200 rows would have 10 of its 50 copies in every fold, and folds would confirm what chance did."""
    songs = [f"song {k}" for k in range(200)]
    if weighted:
        shares = dealt(pd.DataFrame({"song": songs}), ["wren"] * 200, np.full(200, 50.0)).shares
    else:
        shares = dealt(pd.DataFrame({"song": songs * 50}), ["wren"] * 10_000).shares.reshape(50, 200, FOLDS).sum(axis=0)
    assert np.array_equal(shares.sum(axis=1), np.full(200, 50.0))
    assert np.ptp(shares.sum(axis=0)) <= 1
    by_chance = 50 * 0.2 * 0.8 * (1 - 50 / 10_000)
    assert shares.var(axis=0).mean() == pytest.approx(by_chance, rel=0.15)


def test_copies_of_one_row_go_to_all_folds():
    shares = dealt(pd.DataFrame({"song": ["trill"] * 10 + ["flute"]}), ["wren"] * 11).shares
    assert shares.sum(axis=0).max() <= 3 and (shares[:10].sum(axis=0) > 0).all()


def test_rows_with_missing_cells_are_copies_too():
    table = pd.DataFrame({"song": ["trill", None, "flute"] * 40, "wing length": [60.0, np.nan, 61.0] * 40})
    repeated, weights = dealt(table, ["wren"] * 120).shares, dealt(table[:3], ["wren"] * 3, np.full(3, 40.0)).shares
    assert np.array_equal(repeated.reshape(40, 3, FOLDS).sum(axis=0), weights)


def test_rows_without_weight_do_not_change_folds(birds):
    table, y = birds
    both = pd.concat([table, table.assign(song="hiss")], ignore_index=True)
    weights = np.concatenate([np.random.default_rng(3).integers(1, 6, N), np.zeros(N)]).astype(float)
    assert np.array_equal(dealt(both, np.tile(y, 2), weights).shares[:N], dealt(table, y, weights[:N]).shares)


def test_more_weight_than_units_is_dealt_too():
    shares = dealt(pd.DataFrame({"song": ["trill", "flute", "hiss"]}), ["wren"] * 3, np.array([3e9, 1e9, 5.0])).shares
    np.testing.assert_allclose(shares.sum(axis=1), [3e9, 1e9, 5.0], rtol=1e-12)
    np.testing.assert_allclose(shares[:2], np.array([[0.6e9], [0.2e9]]) * np.ones(FOLDS), rtol=0.01)


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
