"""What a page holds of a model: labels, costs, pooled levels, the card; and what is refused."""

import json
import re
from fractions import Fraction
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import merula as mr
from merula.core import InputError
from merula.web.page.writing import page_data, page_html

COSTS = {"treat": {"ill": 0, "well": 1}, "wait": {"ill": 5, "well": 0}}


@pytest.fixture(scope="module")
def patients():
    rng = np.random.default_rng(3)
    ill = rng.random(200) < 0.4
    table = pd.DataFrame({
        "blood pressure": rng.normal(np.where(ill, 150, 125), 12),
        "ward": np.where(rng.random(200) < np.where(ill, 0.7, 0.2), "north", "south"),
        "tattoo": ["dragon" if i < 3 else "none" for i in range(200)],
    })  # fmt: skip
    return table, np.where(ill, "ill", "well")


@pytest.fixture(scope="module")
def model(patients):
    return mr.NaiveBayesClassifier().fit(*patients)


def facts(data):
    return {fact["says"]: fact["value"] for fact in data["card"]["facts"]}


def test_columns_have_the_labels_given(model):
    labels = {"ward": "Ward", "blood pressure": {"label": "Pressure", "unit": "mmHg", "description": "at rest"}}
    columns = {column["name"]: column for column in page_data(model, labels=labels)["columns"]}
    assert columns["ward"]["label"] == "Ward"
    told = columns["blood pressure"]
    assert (told["label"], told["shown_unit"], told["description"]) == ("Pressure", "mmHg", "at rest")
    assert "label" not in columns["tattoo"]


@pytest.mark.parametrize(
    "labels",
    [{"wards": "Ward"}, {"ward": 3}, {"ward": {"name": "Ward"}}, {"ward": {"unit": 3}}, ["ward"]],
    ids=["no column", "a number", "no field", "a number within", "a list"],
)
def test_labels_that_are_none_are_refused(model, labels):
    with pytest.raises(InputError, match="labels"):
        page_data(model, labels=labels)


def test_costs_stand_by_action_and_class(model):
    assert page_data(model, costs=COSTS)["costs"] == {"actions": ["treat", "wait"], "table": [[0.0, 1.0], [5.0, 0.0]], "reject": None}  # fmt: skip
    assert page_data(model)["costs"] is None


def test_a_decision_classifier_brings_its_costs(patients):
    model = mr.DecisionClassifier(mr.NaiveBayesClassifier(), costs=COSTS, reject_cost=0.2).fit(*patients)
    data = page_data(model)
    assert data["costs"]["reject"] == 0.2
    assert data["costs"]["actions"] == ["treat", "wait"]
    assert data["model"] == "NaiveBayesClassifier"


def test_rare_levels_are_pooled_and_said(model):
    data = page_data(model, min_cell=5)
    levels = next(column["levels"] for column in data["columns"] if column["name"] == "tattoo")
    assert "dragon" not in json.dumps(data)
    assert {level["text"] for level in levels} <= {"none", "(other)"}
    assert data["limits"][0] == {"says": "limit.pooled", "least": "5"}


def test_levels_on_few_rows_are_counted(model):
    assert page_data(model)["card"]["limits"] == [{"says": "card.few", "n": 1, "least": 5, "all": 4}]
    assert page_data(model, min_cell=5)["card"]["limits"][0]["says"] == "card.few.none"


MODELS = {
    "joint": mr.BayesClassifier(),
    "one parent": mr.SPODEClassifier(),
    "tree": mr.TANClassifier(),
    "tree of numbers": mr.TANClassifier(numeric="gaussian"),
    "averaged": mr.AODEClassifier(),
    "several parents": mr.KDBClassifier(),
    "network": mr.BayesianNetworkClassifier(),
    "weighted": mr.NaiveBayesClassifier(weights="conditional"),
    "log-linear": mr.LogLinearClassifier(),
    "pool": mr.AutoBayesClassifier(),
}


@pytest.mark.parametrize("name", MODELS)
def test_levels_on_few_rows_are_counted_of_every_model(patients, name):
    table, ill = patients
    table = table.assign(tattoo=table["tattoo"].where(np.arange(200) % 11 != 7))
    data = page_data(clone(MODELS[name]).fit(table, ill))
    for column in ("ward", "tattoo"):
        levels = next(one["levels"] for one in data["columns"] if one["name"] == column)
        assert {level["text"]: level["rows"] for level in levels} == table[column].value_counts().to_dict()
    (told,) = data["card"]["limits"]
    assert (told["says"], told["n"]) == ("card.few", 1)


def test_words_met_few_times_are_counted():
    texts = pd.DataFrame({"remark": ["rain and wind"] * 6 + ["sun and Ada Lovelace"] * 2})
    model = mr.NaiveBayesClassifier(kinds={"remark": "text"}).fit(texts, ["wet"] * 6 + ["dry"] * 2)
    words = " ".join(texts["remark"]).lower().split()
    assert page_data(model)["card"]["limits"] == [
        {"says": "card.few.words", "n": 3, "least": 5, "all": len(set(words))}
    ]
    often = mr.NaiveBayesClassifier(kinds={"remark": "text"}).fit(texts[:6], ["wet", "dry"] * 3)
    assert page_data(often)["card"]["limits"][0]["says"] == "card.few.words.none"


def test_what_cannot_be_pooled_is_refused_with_the_reason(patients):
    kernels = mr.NaiveBayesClassifier(distributions={"blood pressure": "kernel"}).fit(*patients)
    with pytest.raises(InputError, match="every distinct number"):
        page_data(kernels, min_cell=5)


def test_the_card_tells_rows_columns_and_the_hash_of_the_file(model, tmp_path):
    model.save(path := tmp_path / "patients.merula")
    told = facts(page_data(model, source=path))
    assert (told["card.rows"], told["card.columns"], told["card.classes"]) == (200.0, 3, 2)
    assert told["card.hash.file"] == sha256(path.read_bytes()).hexdigest()
    assert told["card.file"] == "patients.merula"
    assert re.fullmatch(r"merula \d.*", told["card.version"])


def test_the_card_tells_how_good_a_pool_was(patients):
    model = mr.AutoBayesClassifier().fit(*patients)
    told = facts(page_data(model))
    loss, error = model.out_of_fold_["portable"]
    assert told["card.loss"] == {"says": "card.loss.said", "loss": f"{loss:.4f}", "error": f"{error:.4f}"}
    assert told["card.loss.prior"] == f"{model.out_of_fold_['prior'][0]:.4f}"


def test_a_pool_that_keeps_rows_is_written_in_its_portable_form():
    rng = np.random.default_rng(0)
    away = np.hypot(*(rows := rng.normal(size=(600, 2))).T)
    model = mr.AutoBayesClassifier().fit(rows, np.where((away * 3).astype(int) % 2, "odd", "even"))
    assert "similar rows" in model.parts_, "the test needs a model that keeps rows"
    assert {"says": "limit.portable"} in page_data(model)["limits"]


def test_other_models_are_refused(patients):
    table, ill = patients
    with pytest.raises(InputError, match="LogisticRegression"):
        page_html(LogisticRegression().fit(table[["blood pressure"]], ill))
    with pytest.raises(Exception, match="not fitted"):
        page_html(mr.NaiveBayesClassifier())


def test_a_network_takes_no_costs():
    network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
    with pytest.raises(InputError, match="costs is for classifiers"):
        page_data(network, costs=COSTS)


@pytest.mark.parametrize("given", [[3, 1], [0], "0-5", [0, float("nan")], [0, "5"], {"low": 0}, [0, "x", 5], [0, 10**400], [-1e308, 1e308], [False, True]])  # fmt: skip
def test_a_range_is_two_numbers_the_lower_one_first(model, given):
    name = next(column.name for column in model.schema_.columns if column.kind == "numeric")
    with pytest.raises(InputError, match="two numbers, the lower one first"):
        page_data(model, labels={name: {"range": given}})


@pytest.mark.parametrize("kind", [np.array, pd.Series, lambda ends: [np.int64(ends[0]), np.float32(ends[1])], lambda ends: [Fraction(end) for end in ends]])  # fmt: skip
def test_a_range_may_be_numbers_of_any_kind(model, kind):
    """Such as the least and the greatest of a column."""
    page = page_html(model, labels={"blood pressure": {"range": kind([90, 180])}})
    [told] = [json.loads(text) for text in re.findall(r"(?s)<script[^>]*application/json[^>]*>(.*?)</script>", page) if "blood pressure" in text]  # fmt: skip
    [seen] = [column["seen"] for column in told["columns"] if column["name"] == "blood pressure"]
    assert (seen["low"], seen["high"]) == (90, 180)


@pytest.mark.parametrize("reference", [False, True])
def test_sliders_of_a_pool_end_where_numbers_were_met(reference):
    """Also where they are skewed, so that a normal distribution's tail would reach far below all of them."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"fare": np.exp(rng.normal(2.5, 1.2, 300)).round(2), "visits": rng.poisson(1.0, 300) + 0.5})
    label = np.where(np.log(frame["fare"]) + rng.normal(0, 1, 300) > 2.6, "yes", "no")
    model = mr.AutoBayesClassifier(2, max_rounds=20, kinds={"visits": "numeric"}).fit(frame, label, **({"reference": True} if reference else {}))  # fmt: skip
    for column in page_data(model)["columns"]:
        seen, met = column["seen"], frame[column["name"]]
        assert met.min() <= seen["low"] <= met.quantile(0.05)
        assert met.quantile(0.95) <= seen["high"] <= met.max()
        assert met.quantile(0.4) <= seen["middle"] <= met.quantile(0.6)
        if reference or column["name"] == "visits":
            assert (seen["low"], seen["high"], seen["exact"]) == (met.min(), met.max(), True)


def test_a_range_is_for_columns_of_numbers_alone(penguins):
    with pytest.raises(InputError, match="no column of numbers"):
        page_data(mr.NaiveBayesClassifier().fit(*penguins), labels={"island": {"range": [0, 1]}})


def test_a_page_is_written_whole_or_not_at_all(model, tmp_path):
    (path := tmp_path / "model.html").write_text("kept")
    with pytest.raises(InputError):
        mr.write_page(model, path, labels={"absent": "x"})
    assert path.read_text() == "kept"
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        mr.write_page(model, tmp_path / "absent" / "model.html")
    mr.write_page(model, path, name="Patients", costs=COSTS)
    assert "<title>Patients</title>" in path.read_text(encoding="utf-8")


def test_the_penguins_fit_into_150_kilobytes(penguins):
    assert len(page_html(mr.NaiveBayesClassifier().fit(*penguins)).encode()) <= 150_000
