"""Cells stated by value, several rows at once."""

import numpy as np
import pandas as pd

import merula as mr
from merula.data.encode import encode_cells


def test_numbers_beside_missing_ones_are_cut_where_missing_is_a_level():
    table = pd.read_csv("src/merula/data/penguins.csv")
    species, columns = table["species"], ["bill_length_mm", "sex"]
    model = mr.TANClassifier(missing="level").fit(table[columns], species)
    rows = pd.DataFrame({"bill_length_mm": [40.0, np.nan, 50.0], "sex": ["male", None, "female"]})
    cells = {"bill_length_mm": [40.0, None, 50.0], "sex": ["male", None, "female"]}
    found = model.fitted_.log_joint(encode_cells(model.schema_, cells, 3))
    np.testing.assert_allclose(found, model.predict_joint_log_proba(rows), rtol=1e-12)
