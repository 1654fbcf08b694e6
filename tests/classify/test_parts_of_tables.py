"""Rows of a fold mean what they mean in their table: which fold the one telling cell is in changes nothing."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import merula as mr

ROWS = 120


def patients(told: str) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """A table whose words one cell explains, the same table in plain numbers or days, and the class of each row."""
    chance = np.random.default_rng(3)
    outcome = np.where(chance.random(ROWS) < 0.5, "alive", "dead")
    sick = outcome == "dead"
    if told == "a word among numbers":
        sizes = chance.normal(25, 4, ROWS).round(1) + 3 * sick
        words, plain = [f"{size:.1f}" for size in sizes], sizes.round(1)
        words[7], plain[7] = "ERR", np.nan
    elif told == "a decimal comma":
        grams = chance.integers(1000, 9999, ROWS) + 2000 * sick
        words, plain = [f"{gram // 1000},{gram % 1000:03d}" for gram in grams], grams / 1000
        words[5], plain[5] = "2,5", 2.5
    else:
        days = [pd.Timestamp(2023, *map(int, pair)) for pair in zip(chance.integers(1, 13, ROWS), chance.integers(1, 13, ROWS), strict=True)]  # fmt: skip
        days[5] = pd.Timestamp(2023, 3, 25)
        words, plain = [f"{day:%d/%m/%Y}" for day in days], pd.Series(days).astype("datetime64[ms]")
    age = chance.integers(20, 80, ROWS)
    return pd.DataFrame({"BMI": words, "age": age}), pd.DataFrame({"BMI": plain, "age": age}), outcome


TOLD = ["a word among numbers", "a decimal comma", "the order of days"]
quiet = pytest.mark.filterwarnings("ignore::merula.GuessedKindWarning")


@quiet
@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("model", [mr.NaiveBayesClassifier(), mr.NaiveBayesClassifier(kinds={"age": "numeric"})])
def test_folds_are_read_as_their_table(told: str, model: mr.NaiveBayesClassifier) -> None:
    worded, plain, outcome = patients(told)
    found = mr.evaluate(model, worded, outcome, cv=4, repeats=1)
    assert found["log_loss"].per_fold == mr.evaluate(model, plain, outcome, cv=4, repeats=1)["log_loss"].per_fold


def test_what_words_are_read_as_is_said_once() -> None:
    worded, _, outcome = patients("a decimal comma")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        mr.evaluate(mr.NaiveBayesClassifier(), worded, outcome, cv=4, repeats=1)
    assert len({str(one.message) for one in said}) == 1


@quiet
@pytest.mark.parametrize("told", TOLD)
def test_folds_of_a_calibration_are_read_as_their_table(told: str) -> None:
    worded, plain, outcome = patients(told)
    warm = [mr.NaiveBayesClassifier().fit(X, outcome).calibrated(X, outcome, cv=4).predict_proba(X) for X in (worded, plain)]  # fmt: skip
    assert np.array_equal(*warm)


@quiet
@pytest.mark.parametrize("told", TOLD)
def test_folds_within_a_model_are_read_as_its_table(told: str) -> None:
    worded, plain, outcome = patients(told)
    pools = [mr.AutoBayesClassifier(order=1).fit(X, outcome) for X in (worded, plain)]
    assert np.array_equal(*(pool.predict_proba(X) for pool, X in zip(pools, (worded, plain), strict=True)))
    assert np.array_equal(*(pool.joint_.predict_proba(X) for pool, X in zip(pools, (worded, plain), strict=True)))


@quiet
def test_a_pipeline_that_makes_other_columns_is_left_alone() -> None:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    worded, _, outcome = patients("the order of days")
    coded = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    steps = make_pipeline(coded.set_output(transform="pandas"), mr.NaiveBayesClassifier())
    assert mr.evaluate(steps, worded, outcome, cv=4, repeats=1)["error"].value <= 1
