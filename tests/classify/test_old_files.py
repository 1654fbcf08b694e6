"""Model files written by release 0.1.0, before the fitted model was a class of its own: they load, with its posteriors.

`old_files/<name>.json` holds rows and the posteriors that the release itself gave for them.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import merula as mr

FILES = sorted((Path(__file__).parent / "old_files").glob("*.merula"))


def read(path):
    told = json.loads(path.with_suffix(".json").read_text())
    rows = pd.DataFrame(told["rows"])
    if "admitted" in rows:
        rows["admitted"] = pd.to_datetime(rows["admitted"])
    return mr.load(path), rows, told


def test_there_are_old_files():
    assert len(FILES) == 8


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_old_file_gives_the_posteriors_of_its_release(path):
    model, rows, told = read(path)
    assert model.classes_.tolist() == told["classes"]
    np.testing.assert_allclose(model.predict_proba(rows), told["posterior"], rtol=1e-12)
    for k in range(len(rows)):
        np.testing.assert_allclose(mr.explain(model, rows.iloc[[k]]).posterior, told["posterior"][k], rtol=1e-12)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_old_file_goes_on_learning_where_it_was_counted(path):
    model, rows, _ = read(path)
    if model.fitted_.collected is None:
        with pytest.raises(ValueError, match="stated, not counted"):
            model + model
        return
    model = model.with_choices_fixed()
    twice = model + model
    assert twice.fitted_.collected.class_counts.weight.tolist() == [
        2 * weight for weight in model.fitted_.collected.class_counts.weight
    ]
    assert np.isfinite(twice.predict_proba(rows)).all()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_old_file_saved_again_changes_no_bit(path, tmp_path):
    model, rows, _ = read(path)
    model.save(tmp_path / "again.merula")
    np.testing.assert_array_equal(mr.load(tmp_path / "again.merula").predict_proba(rows), model.predict_proba(rows))
