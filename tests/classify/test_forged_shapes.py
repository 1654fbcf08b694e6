"""Forged mixtures, weights, units and options: each of these files once gave a model that failed when it was asked."""

import copy
import json
import math
import zipfile

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.classify.model_files import model_of
from merula.core.archive import ENTRY, _seal, read_state, write_state

TABLE = pd.DataFrame(
    {"size": [1.0, 2.0, 3.0, 4.0, 5.0, 7.0], "beak": ["red", "blue", "red", "blue", "red", "green"], "eggs": [0, 1, 2, 3, 0, 1]}
)  # fmt: skip
BIRDS = ["wren", "tit", "owl", "wren", "tit", "owl"]


def state_of(model, tmp_path):
    model.fit(TABLE, BIRDS).save(tmp_path / "model.merula")
    return read_state(tmp_path / "model.merula")


@pytest.fixture
def state(tmp_path):
    return state_of(mr.NaiveBayesClassifier(kinds={"eggs": "count"}), tmp_path)


def component(state, **changed):
    parts = list(range(len(state["distributions"])))
    whole = {"log_prior": state["log_prior"], "parts": parts, "weights": [], "log_weight": math.log(0.5)}
    return {**whole, "condition": None, "fallback": False, "name": "", **changed}


def refused(state, match="do not fit together"):
    with pytest.raises(mr.InputError, match=match):
        model_of(state, "forged.merula")


def test_a_mixture_that_fits_is_read(state):
    state["components"] = [component(state), component(state, weights=[1.0, 2.0, 0.5])]
    assert model_of(state, "mixture.merula").predict_proba(TABLE).sum(axis=1) == pytest.approx(np.ones(6))


@pytest.mark.parametrize("weights", [(-math.inf, -math.inf), (0.0, 0.0), (-1e300, -1e300), (-800.0, -900.0)])
def test_weights_of_a_mixture_add_up_to_one(state, weights):
    state["components"] = [component(state, log_weight=weight) for weight in weights]
    refused(state)


@pytest.mark.parametrize("column", ["size", "eggs", "feet"])
def test_a_condition_is_on_a_column_of_levels(state, column):
    condition = {"column": column, "levels": ["red"]}
    state["components"] = [component(state, condition=condition), component(state, fallback=True)]
    refused(state)


def test_a_fallback_has_no_condition_of_its_own(state):
    """Rows that met its condition alone were answered by nothing, with NaN."""
    first, second = ({"column": "beak", "levels": [level]} for level in ("red", "blue"))
    state["components"] = [component(state, condition=first), component(state, condition=second, fallback=True)]
    refused(state)


def test_a_condition_whose_component_has_no_weight_is_refused(state):
    condition = {"column": "beak", "levels": ["red"]}
    state["components"] = [
        component(state, condition=condition, log_weight=-math.inf),
        component(state, fallback=True),
    ]
    refused(state)


def test_a_component_has_parts(state):
    state["components"] = [component(state), component(state, parts=[])]
    refused(state)


def test_the_prior_of_a_plain_sum_is_the_model_s(state):
    state["components"] = [component(state, log_weight=0.0, log_prior=np.log([0.2, 0.2, 0.6]))]
    refused(state)


def test_an_explanation_of_enormous_weights_is_written(state):
    state["components"] = [component(state, log_weight=0.0, weights=[1e150, 1.0, 1.0])]
    lines = str(mr.explain(model_of(state, "heavy.merula"), TABLE.iloc[[5]])).splitlines()
    assert "< 1e-300" in "".join(lines) and max(map(len, lines)) < 100


def test_whitening_can_be_inverted(tmp_path):
    state = state_of(mr.BayesClassifier(kinds={"beak": "ignore"}), tmp_path)
    inner = state["distributions"][0]["state"]
    inner["whitening"] = np.full_like(inner["whitening"], 1e-3)
    refused(state)


def test_a_mean_of_minus_zero_is_zero(state):
    inner = next(part["state"] for part in state["distributions"] if "extra_zeros" in part["state"])
    inner["mean"][...], inner["size"][...] = -0.0, 2.0
    rows, _ = model_of(state, "zero.merula").sample(5, random_state=1)
    assert (rows["eggs"] == 0).all()


@pytest.mark.parametrize(
    "unit", ["datetime64[as]", "datetime64[fs]", "datetime64[Y]", "datetime64[M]", "datetime64[W]"]
)
def test_every_unit_of_time_is_answered_for(state, unit):
    column = next(column for column in state["schema"]["columns"] if column["name"] == "size")
    column["kind"], column["unit"] = "datetime", unit
    model = model_of(state, "times.merula")
    times = TABLE.assign(
        size=pd.to_datetime(["2024-01-01", "1970-01-01", None, "2261-01-01", "1700-01-01", "2000-01-01"])
    )
    assert model.predict_proba(times).sum(axis=1) == pytest.approx(np.ones(6))
    assert model._repr_html_()


@pytest.mark.parametrize(("column", "cuts"), [("beak", [1.0]), ("beak", [1.0, 2.0, 3.0, 4.0])])
def test_a_column_of_intervals_has_a_level_for_each(state, column, cuts):
    next(one for one in state["schema"]["columns"] if one["name"] == column)["cuts"] = cuts
    refused(state, "not described as columns are")


def test_text_is_not_cut(tmp_path):
    state = state_of(mr.NaiveBayesClassifier(kinds={"beak": "text"}), tmp_path)
    next(one for one in state["schema"]["columns"] if one["name"] == "beak")["cuts"] = [0, 1.5]
    refused(state, "not described as columns are")


def test_words_in_a_column_with_a_unit_are_shown_as_they_are(state):
    next(one for one in state["schema"]["columns"] if one["name"] == "beak")["unit"] = "datetime64[ns]"
    assert "beak = red" in str(mr.explain(model_of(state, "unit.merula"), {"beak": "red"}))


def test_a_threshold_model_is_shown_in_a_notebook():
    model = mr.NaiveBayesClassifier(distributions={"size": mr.Bernoulli(threshold=3)}).fit(TABLE[["size"]], BIRDS)
    assert "≤ 3" in model._repr_html_()


def test_a_threshold_model_with_missing_as_a_level_is_loaded(tmp_path):
    gaps = TABLE[["size"]].where(TABLE["size"] != 4)
    model = mr.NaiveBayesClassifier(missing="level", distributions={"size": mr.Bernoulli(threshold=3)}).fit(gaps, BIRDS)
    model.save(tmp_path / "model.merula")
    np.testing.assert_array_equal(mr.load(tmp_path / "model.merula").predict_proba(gaps), model.predict_proba(gaps))


@pytest.mark.parametrize(
    "model",
    [
        mr.NearestNeighborsClassifier(neighbors=10**400),
        mr.NaiveBayesClassifier(smoothing=10**400),
        mr.NaiveBayesClassifier(class_prior=[10**400, 1, 1]),
        mr.NaiveBayesClassifier(distributions={"size": mr.GaussianMixture(components=10**400)}),
        mr.NaiveBayesClassifier(distributions={"size": mr.Histogram(bins=10**400)}),
        mr.NaiveBayesClassifier(distributions={"size": mr.Histogram(bins=10**12)}),
        mr.NaiveBayesClassifier(distributions={"size": mr.Discretized("width", bins=10**12)}),
        mr.NaiveBayesClassifier(distributions={"size": mr.Kernel(bandwidth=10**400)}),
        mr.KernelBayesClassifier(bandwidth=10**400),
    ],
    ids=str,
)
def test_options_too_large_for_arithmetic_are_refused(model):
    with pytest.raises(mr.InputError):
        model.fit(TABLE, BIRDS)


def test_a_number_of_neighbours_in_a_file_is_one(tmp_path):
    state = state_of(mr.NearestNeighborsClassifier(neighbors=3), tmp_path)
    state["distributions"][0]["state"]["neighbors"] = 10**400
    refused(state)


def test_labels_of_many_digits_and_words_are_not_learned_together(state):
    large = np.array([10**30, 10**31, 10**32], dtype=object)
    state["classes"] = state["collected"]["classes"] = large
    model = model_of(state, "large.merula")
    with pytest.raises(mr.InputError, match="of different types"):
        copy.deepcopy(model).partial_fit(TABLE, BIRDS)
    assert len(model.partial_fit(TABLE, [10**31, 10**32, 10**33] * 2).classes_) == 4


def rewritten(path, change):
    """A file whose description was changed, as text, and sealed anew."""
    with zipfile.ZipFile(path) as archive:
        head, arrays = json.loads(archive.read(ENTRY)), [(name, archive.read(name)) for name in archive.namelist()[1:]]
    head = change(head)
    body = json.dumps(head["state"], ensure_ascii=False, sort_keys=True).encode(errors="replace")
    head["seal"] = _seal(head["version"], body, arrays)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in [(ENTRY, json.dumps(head).encode()), *arrays]:
            archive.writestr(name, data)


def test_half_a_character_in_a_file_is_refused(tmp_path, state):
    write_state(tmp_path / "half.merula", state)
    rewritten(tmp_path / "half.merula", lambda head: json.loads(json.dumps(head).replace('"beak"', '"\\ud800"')))
    with pytest.raises(mr.InputError, match=r"half\.merula.*half a character"):
        mr.load(tmp_path / "half.merula")


def test_half_a_character_cannot_be_saved(tmp_path):
    model = mr.NaiveBayesClassifier().fit([["red\ud800"], ["blue"]], ["yes", "no"])
    with pytest.raises(mr.InputError, match="half a character"):
        model.save(tmp_path / "half.merula")
    assert list(tmp_path.iterdir()) == []
