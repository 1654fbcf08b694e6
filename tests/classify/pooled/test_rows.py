"""The rows that parts are fitted to: which are one, in which units numbers are compared, and what small weights do."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.classify.folds import text_hashes
from merula.classify.pooled.rows import standard
from merula.data.encode import Target, encode_rows
from merula.data.schema import Column, Schema
from merula.data.table import open_table


def birds(n=60, seed=1):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return np.column_stack([rng.normal(size=n) + 1.5 * y, rng.normal(size=n) - y]), y


def test_different_texts_are_different_rows_whatever_their_hashes_look_like():
    """Some 64-bit hashes have the bits of a NaN, of which there are many with one meaning."""
    from merula.classify.pooled import rows as module

    texts = [f"wren{i} song{i % 50}" for i in range(8_000)]
    schema = Schema((Column("remark", "text"),))
    rows = encode_rows(open_table(pd.DataFrame({"remark": texts})), schema, True, "pool")
    assert np.isnan(text_hashes(rows, "remark").view(np.float64)).any()
    first, together = module._united(rows, Target(np.zeros(8_000, np.int64), np.array(["wren"])), np.ones(8_000), {})
    assert len(first) == 8_000
    assert (together == 1).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-165, 1.0, 1e150])
def test_means_and_deviations_are_those_of_numpy_in_every_unit(scale):
    rng = np.random.default_rng(0)
    cells, weights = rng.normal(3, 2, size=(40, 3)), rng.uniform(0.5, 2, 40)
    cells[::7, 1] = np.nan
    cells[:, 2] = 5.0
    mean, deviation = standard(scale * cells, weights)
    for j in range(2):
        known = ~np.isnan(cells[:, j])
        expected = np.average(cells[known, j], weights=weights[known])
        spread = np.sqrt(np.average((cells[known, j] - expected) ** 2, weights=weights[known]))
        assert mean[j] == pytest.approx(scale * expected, rel=1e-13)
        assert deviation[j] == pytest.approx(scale * spread, rel=1e-13)
    assert deviation[2] == 0


def test_a_column_of_very_small_numbers_counts_as_in_any_other_unit():
    X, y = birds()
    expected = mr.AutoBayesClassifier(max_rounds=60).fit(X, y).predict_proba(X)
    found = mr.AutoBayesClassifier(max_rounds=60).fit(X * [1e-200, 1], y).predict_proba(X * [1e-200, 1])
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("weight", [1e-17, 1e-200])
def test_rows_of_hardly_any_weight_are_no_reason_to_warn(weight):
    X, y = birds()
    light = np.arange(60) % 7 == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = mr.AutoBayesClassifier(max_rounds=10).fit(X, y, np.where(light, weight, 1.0))
    np.testing.assert_allclose(found.predict_proba(X).sum(axis=1), 1, atol=1e-12)


def test_fits_in_several_threads_leave_warnings_as_they_are():
    X, y = birds(40)
    before = list(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: mr.AutoBayesClassifier(order=1, max_rounds=5, n_jobs=1).fit(X, y), range(12)))
    assert warnings.filters == before
