"""A level that fit never saw is treated as missing: exactly so, also where being missing is a level of its own."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import merula as mr

TESTS = pd.DataFrame(
    {
        "lactate": ["high", None, None, "high", "low", None, "low", None],
        "ward": ["north", "south", None, "north", None, "north", "south", "south"],
    }
)
OUTCOME = ["ill", "well", "well", "ill", "ill", "well", "ill", "well"]
MODELS = {
    "naive": mr.NaiveBayesClassifier(missing="level"),
    "naive, unsmoothed": mr.NaiveBayesClassifier(missing="level", smoothing=0.1),
    "joint": mr.BayesClassifier(missing="level"),
    "naive, averaged": mr.NaiveBayesClassifier(),
    "joint, averaged": mr.BayesClassifier(),
    "kernel": mr.KernelBayesClassifier(),
    "neighbours": mr.NearestNeighborsClassifier(neighbors=3),
}


def asked(model, rows):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        return model.predict_proba(rows), [str(warning.message) for warning in said]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("other", ["north", None])
def test_an_unseen_level_gets_what_a_missing_cell_gets(name, other, tmp_path):
    model = MODELS[name].fit(TESTS, OUTCOME)
    unseen, said = asked(model, pd.DataFrame({"lactate": ["medium"], "ward": [other]}))
    missing, _ = asked(model, pd.DataFrame({"lactate": [None], "ward": [other]}))
    np.testing.assert_allclose(unseen, missing, rtol=1e-14)
    assert said == ["column 'lactate' holds level 'medium', never seen at fit; treated as missing"]
    model.save(tmp_path / "model.merula")
    again, _ = asked(mr.load(tmp_path / "model.merula"), pd.DataFrame({"lactate": ["medium"], "ward": [other]}))
    assert again.tolist() == unseen.tolist()


def test_several_unseen_levels_are_told_as_several():
    rows = pd.DataFrame({"lactate": ["medium", "none at all"], "ward": ["north", "south"]})
    _, said = asked(mr.NaiveBayesClassifier().fit(TESTS, OUTCOME), rows)
    assert said == ["column 'lactate' holds levels 'medium', 'none at all', never seen at fit; treated as missing"]


def test_the_missing_levels_probability_by_hand():
    """lactate is missing in 4 of 4 well rows and in none of 4 ill ones; 3 levels with it: (0 + 1) / 7 against (4 + 1) / 7."""
    model = mr.NaiveBayesClassifier(missing="level").fit(TESTS[["lactate"]], OUTCOME)
    found, _ = asked(model, pd.DataFrame({"lactate": ["medium"]}))
    np.testing.assert_allclose(found, [[1 / 6, 5 / 6]], rtol=1e-12)


@pytest.mark.parametrize("model", [mr.NaiveBayesClassifier(missing="level"), mr.BayesClassifier(missing="level")])
def test_where_no_cell_was_missing_at_fit_an_unseen_level_is_averaged_out(model):
    model.fit(pd.DataFrame({"lactate": ["high", "low", "low"]}), ["ill", "well", "well"])
    for cell in ("medium", None):
        found, _ = asked(model, pd.DataFrame({"lactate": [cell]}))
        np.testing.assert_allclose(found, [[1 / 3, 2 / 3]], rtol=1e-12)


def test_a_number_that_is_neither_of_two_levels_is_missing_too():
    model = mr.NaiveBayesClassifier(missing="level", distributions={"numeric": "bernoulli"})
    model.fit([[1.0], [0.0], [np.nan], [np.nan], [1.0]], ["ill", "ill", "well", "well", "well"])
    np.testing.assert_allclose(asked(model, [[7.0]])[0], asked(model, [[np.nan]])[0], rtol=1e-14)
    assert asked(model, [[7.0]])[0][0, 1] > 0.7


@pytest.mark.parametrize("model", [mr.NaiveBayesClassifier, mr.BayesClassifier])
def test_a_smoothed_unseen_level_is_not_missing(model):
    """unseen="smooth" goes on giving α / (n_c + α·m), the missing level being one of the m."""
    found, _ = asked(
        model(missing="level", unseen="smooth").fit(TESTS[["lactate"]], OUTCOME), pd.DataFrame({"lactate": ["medium"]})
    )
    np.testing.assert_allclose(found, [[0.5, 0.5]], rtol=1e-12)


@pytest.mark.parametrize("model", [mr.NaiveBayesClassifier(missing="level"), mr.BayesClassifier(missing="level")])
def test_explained_like_a_missing_cell(model):
    model.fit(TESTS[["lactate"]], OUTCOME)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        unseen, missing = (mr.explain(model, {"lactate": cell}) for cell in ("medium", None))
    assert unseen.reasons[0].log_terms.tolist() == missing.reasons[0].log_terms.tolist()
    assert unseen.reasons[0].evidence == missing.reasons[0].evidence


@pytest.mark.parametrize("model", [mr.NaiveBayesClassifier, mr.BayesClassifier, mr.KernelBayesClassifier])
def test_missing_is_no_level_to_declare(model):
    """It would stand there beside the level that missing="level" makes of it, without a count."""
    with pytest.raises(mr.InputError, match="levels\\['lactate'\\] names None; leave it out; missing='level' makes"):
        model(levels={"lactate": ["high", "low", None]}).fit(TESTS[["lactate"]], OUTCOME)
