"""The weight of the known cells of each column, whatever counted them, against pandas."""

import numpy as np
import pandas as pd
import pytest

from merula.stats import JointCounts, LevelCounts, Moments, PatternMoments, Rows, TokenCounts, ValueCounts, known_weight

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
