"""A discretised column is explained by the interval its value lies in; the schema holds its cuts, and models of different cuts stay apart."""

import numpy as np
import pandas as pd
import pytest

import merula as mr

WINGS = pd.DataFrame({"Flügel in mm": [50.0, 52, 54, 56, 90, 92, 94, 96, 128, 130, 132, 134] * 3})
SPECIES = np.array((["Zaunkönig"] * 4 + ["Star"] * 4 + ["Amsel"] * 4) * 3)
CUTS = (73.0, 112.0)  # half-way between 56 and 90, and between 96 and 128
NAMES = {
    40.0: "Flügel in mm ≤ 73",
    73.0: "Flügel in mm ≤ 73",
    93.0: "Flügel in mm in (73, 112]",
    500.0: "Flügel in mm > 112",
}


def discretized(**options):
    return mr.NaiveBayesClassifier(distributions={"numeric": mr.Discretized(**options)})


@pytest.fixture(params=[{}, {"cuts": CUTS}, {"cuts": np.array([73, 112])}], ids=["mdl", "stated", "array"])
def model(request):
    return discretized(**request.param).fit(WINGS, SPECIES)


def test_the_schema_holds_the_cuts_in_use(model, tmp_path):
    assert model.schema_["Flügel in mm"].cuts == CUTS
    model.save(tmp_path / "birds.merula")
    assert mr.load(tmp_path / "birds.merula").schema_ == model.schema_


@pytest.mark.parametrize("wing", NAMES)
def test_every_form_of_an_explanation_names_the_interval(model, wing):
    explanation = mr.explain(model, {"Flügel in mm": wing})
    assert explanation.reasons[0].label == NAMES[wing]
    assert NAMES[wing] in str(explanation)
    assert NAMES[wing].replace(">", "&gt;") in explanation._repr_html_()
    assert NAMES[wing] in [text.get_text() for text in explanation.plot().get_yticklabels()]
    assert explanation.to_dict()["derivations"][0]["reasons"][0]["values"] == [
        NAMES[wing][len("Flügel in mm ") :].removeprefix("in ")
    ]


def test_latex_writes_the_relation(model):
    assert r"P(\text{Flügel in mm}\ \text{$\le$ 73} \mid" in mr.explain(model, [50.0]).to_latex()
    assert r"P(\text{Flügel in mm} \in \text{(73, 112]} \mid" in mr.explain(model, [90.0]).to_latex()
    assert r"P(\text{Flügel in mm}\ \text{\textgreater{} 112} \mid" in mr.explain(model, [130.0]).to_latex()


def test_a_missing_value_is_missing_and_a_column_without_cuts_keeps_its_number(model):
    assert mr.explain(model, [None]).reasons[0].label == "Flügel in mm = missing"
    noise = discretized().fit(WINGS, np.tile(["ja", "nein"], 18))
    assert noise.schema_["Flügel in mm"].cuts == ()
    assert mr.explain(noise, [50.0]).reasons[0].label == "Flügel in mm = 50"


def test_times_are_shown_as_times():
    days = pd.DataFrame({"admitted": pd.date_range("2024-02-20", periods=40).astype("datetime64[s]")})
    outcome = np.repeat(["home", "ward"], 20)
    model = mr.NaiveBayesClassifier(distributions={"datetime": mr.Discretized()}).fit(days, outcome)
    label = mr.explain(model, days[:1]).reasons[0].label
    assert label.startswith("admitted ≤ 2024-03-10 12:00")  # half-way between the 10th and the 11th


def test_found_cuts_are_found_anew_when_models_are_merged():
    half = len(SPECIES) // 2
    one, two = discretized().fit(WINGS[:half], SPECIES[:half]), discretized().fit(WINGS[half:] + 1, SPECIES[half:])
    both = discretized().fit(pd.concat([WINGS[:half], WINGS[half:] + 1]), SPECIES)
    assert one.schema_ != two.schema_
    assert (one + two).schema_ == both.schema_


def test_models_of_different_stated_cuts_are_not_merged():
    one, two = discretized(cuts=CUTS).fit(WINGS, SPECIES), discretized(cuts=(60, 100)).fit(WINGS, SPECIES)
    with pytest.raises(ValueError, match=r"cannot be merged.*73\.0.*60"):
        one + two
    same = one + discretized(cuts=list(CUTS)).fit(WINGS, SPECIES)
    assert same.schema_ == one.schema_


@pytest.mark.parametrize("options", [{"method": "width"}, {"method": "quantile", "bins": 4}])
def test_stated_cuts_leave_nothing_to_find(options):
    with pytest.raises(ValueError, match="cuts are stated.*leave out method= and bins="):
        discretized(cuts=CUTS, **options).fit(WINGS, SPECIES)


@pytest.mark.parametrize("cuts", [(3, 2), (1, 1), "mdl", (1, np.nan), [[1]], 5, ("a", "b")])
def test_cuts_that_are_none_are_refused(cuts):
    with pytest.raises(ValueError, match="cuts is .*expected numbers that ascend"):
        discretized(cuts=cuts).fit(WINGS, SPECIES)
