"""Explanations that tell how sure they are, and what each estimate rests on."""

import numpy as np
import pandas as pd
import pytest

import merula as mr


@pytest.fixture(scope="module")
def birds():
    frame = pd.DataFrame(
        {"Schnabel": ["gelb"] * 5 + ["braun"] * 4 + [None], "länge": [25.0, 26, None, 24, 25, 14, 15, None, 13, 14]}
    )
    return frame, ["Amsel"] * 5 + ["Spatz"] * 5


def test_the_interval_is_that_of_predict_interval(birds):
    model = mr.NaiveBayesClassifier().fit(*birds)
    row = {"Schnabel": "gelb", "länge": 20.0}
    told = mr.explain(model, row, interval=True, level=0.8, draws=200, random_state=4)
    expected = model.predict_interval(pd.DataFrame([row]), 0.8, draws=200, random_state=4)[0]
    assert (told.interval == expected).all() and told.level == 0.8
    assert told.to_dict()["interval"] == expected.tolist()
    assert "80 % interval" in str(told) and "80 % interval" in told._repr_html_()
    assert mr.explain(model, row).interval is None and "interval" not in str(mr.explain(model, row))


def test_estimates_rest_on_the_rows_that_know_their_cells(birds):
    told = mr.explain(mr.NaiveBayesClassifier().fit(*birds), {"Schnabel": "gelb", "länge": 20.0}, interval=True)
    assert {one.columns[0]: one.rests_on.tolist() for one in told.reasons} == {"Schnabel": [5, 4], "länge": [4, 4]}
    assert told.derivations[0].rests_on.tolist() == [5, 5]
    lines = str(told).splitlines()
    assert lines[0].endswith("rests on rows") and lines[1].endswith("5 / 5") and "5 / 4" in str(told)
    plain = told.to_dict()["derivations"][0]
    assert plain["rests_on"] == [5, 5] and plain["reasons"][0]["rests_on"] == [5, 4]


def test_a_term_with_a_parent_rests_on_the_rows_that_hold_the_parent(birds):
    rows = [["sonnig", "heiß"], ["sonnig", "mild"], ["Regen", "mild"], ["Regen", "kühl"]] * 3
    model = mr.SPODEClassifier(super_parent="x0").fit(rows, ["nein", "ja", "ja", "nein"] * 3)
    told = mr.explain(model, ["sonnig", "mild"], interval=True)
    assert [one.rests_on.tolist() for one in told.reasons] == [[6, 6], [3, 3]]
    unknown = mr.explain(model, [None, "mild"], interval=True)
    assert not unknown.reasons[0].known and unknown.reasons[0].rests_on is None


@pytest.mark.parametrize("model", [mr.AODEClassifier(), mr.NaiveBayesClassifier(class_prior="uniform")], ids=["mixture", "uniform"])  # fmt: skip
def test_mixtures_and_stated_priors(birds, model):
    told = mr.explain(model.fit(*birds), {"Schnabel": "gelb"}, interval=True)
    low, high = told.interval.T
    assert ((low <= told.posterior) & (told.posterior <= high)).all()
    assert (told.derivations[0].rests_on is None) == (model.class_prior == "uniform")


def test_joint_blocks_rest_on_rows_that_know_any_of_their_columns():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(12, 2)), columns=["größe", "Gewicht"])
    told = mr.explain(mr.BayesClassifier().fit(frame, [0, 1] * 6), {"größe": 0.5}, interval=True)
    assert [one.rests_on.tolist() for one in told.reasons] == [[6, 6]]


def test_what_cannot_be_is_one_error(birds):
    model = mr.NaiveBayesClassifier(distributions={"numeric": "kernel"}).fit(*birds)
    with pytest.raises(mr.InputError, match="'länge'.*no posterior"):
        mr.explain(model, {"Schnabel": "gelb"}, interval=True)
    with pytest.raises(mr.InputError, match="interval is 0.9"):
        mr.explain(model, {"Schnabel": "gelb"}, interval=0.9)


@pytest.mark.parametrize("option", [{"level": 0.5}, {"draws": 50}, {"random_state": 7}])
def test_options_of_intervals_do_nothing_without_one_and_are_refused(birds, option):
    model = mr.NaiveBayesClassifier().fit(*birds)
    (name,) = option
    with pytest.raises(
        mr.InputError, match=f"{name}= does nothing without interval=True; leave it out, or say interval=True"
    ):
        mr.explain(model, {"Schnabel": "gelb"}, **option)
