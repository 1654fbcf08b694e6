"""What each column holds, whatever counted it, against pandas: the weight of known cells, the one value of a class."""

import numpy as np
import pandas as pd
import pytest

from merula.stats import (
    JointCounts,
    LevelCounts,
    Moments,
    PatternMoments,
    Rows,
    TokenCounts,
    ValueCounts,
    known_weight,
    sole_values,
)

RNG = np.random.default_rng(2)
WARDS = RNG.choice(["Innere", "儿科"], 60)
NUMBERS = pd.DataFrame(RNG.normal(120, 10, (60, 2)), columns=["blood pressure", "größe"]).mask(
    RNG.random((60, 2)) < 0.2
)
WORDS = pd.DataFrame(RNG.choice(["mild", "stark"], (60, 2)), columns=["pain", "色泽"]).mask(RNG.random((60, 2)) < 0.3)
WEIGHTS = RNG.integers(0, 3, 60).astype(float)
CASES = {
    "moments": (Moments.zero(NUMBERS.columns, 2), NUMBERS, None),
    "values": (ValueCounts.zero(NUMBERS.columns, 2), NUMBERS, None),
    "patterns": (PatternMoments.zero(NUMBERS.columns, 2), NUMBERS, None),
    "rows": (Rows.zero(NUMBERS.columns, 2), NUMBERS, None),
    "levels": (LevelCounts.zero(WORDS.columns, 2), WORDS, None),
    "joint": (JointCounts.zero(WORDS.columns, 2), WORDS, None),
    "rows-of-words": (Rows.zero(WORDS.columns, 2), WORDS, None),
    "tokens": (TokenCounts.zero(WORDS.columns, 2), WORDS, "text"),
}


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["rows", "weighted"])
@pytest.mark.parametrize(("zero", "table", "kinds"), CASES.values(), ids=CASES)
def test_known_weight_is_that_of_the_cells_that_are_not_missing(collected, zero, table, kinds, weights):
    found = known_weight(collected(zero, table, WARDS, weights, kinds))
    mass = np.ones(60) if weights is None else weights
    np.testing.assert_allclose(found, mass @ table.notna().to_numpy())


def test_a_statistic_of_someone_elses_does_not_tell():
    assert known_weight(object()) is None


SOLE_NUMBERS = pd.DataFrame({"class": [0.0, 1, 1, 0], "half": [3.0, 3, 3, 4], "gap": [0.0, 1, np.nan, 0]})
SOLE_WORDS = pd.DataFrame({"class": list("abba"), "half": list("xxxy"), "gap": ["a", "b", None, "a"]})
SOLE = {
    **{
        kind.__name__ + " of numbers": (kind, SOLE_NUMBERS, [0.0, 1.0], 3.0)
        for kind in (Moments, ValueCounts, PatternMoments, Rows)
    },
    **{kind.__name__: (kind, SOLE_WORDS, ["a", "b"], "x") for kind in (LevelCounts, JointCounts, Rows)},
}


@pytest.mark.parametrize(("kind", "table", "labels", "half"), SOLE.values(), ids=SOLE)
def test_sole_values_are_those_that_all_rows_of_a_class_hold(collected, kind, table, labels, half):
    found = [
        [None if value is None or value != value else value for value in column]
        for column in sole_values(
            collected(kind.zero(table.columns, 2), table, ["tit", "wren", "wren", "tit"]), np.array([2.0, 2.0])
        )
    ]
    assert found[:2] == [labels, [None, half]]
    assert found[2] == [None if kind is PatternMoments else labels[0], None]


def test_texts_have_no_sole_values(collected):
    assert sole_values(collected(TokenCounts.zero(["pain"], 2), WORDS, WARDS, kinds="text"), np.ones(2)) == []
