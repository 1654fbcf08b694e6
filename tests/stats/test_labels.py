"""How many rows each label rests on, whichever statistic it is asked of."""

import pandas as pd
import pytest

import merula as mr
from merula.stats.labels import rows_of_levels

TABLE = pd.DataFrame({
    "größe": ["klein", "groß", None, "klein", "klein", "groß"],
    "色泽": ["青绿", "青绿", "乌黑", None, "乌黑", "青绿"],
})  # fmt: skip
TRUTH, WEIGHTS = ["good", "bad", "good", "bad", "good", "good"], [2.0, 1.0, 1.0, 0.5, 3.0, 1.0]
MODELS = [mr.NaiveBayesClassifier(), mr.BayesClassifier(), mr.TANClassifier(), mr.BayesianNetworkClassifier()]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_rows_of_each_label_by_weight(model):
    model.fit(TABLE, TRUTH, sample_weight=WEIGHTS)
    found = {}
    for block in model.fitted_.collected.blocks:
        found |= rows_of_levels(block)
    for name, cells in TABLE.items():
        held = pd.Series(WEIGHTS).groupby(cells).sum().to_dict()
        assert {label: weight for label, weight in found[name].items() if label is not None} == held
