"""`merula monitor`: what has changed, on standard output, as JSON, as a page, and as an exit code."""

import json

import numpy as np
import pandas as pd
import pytest

import merula as mr

from .test_bad_input import BAD_INPUT

CHANGED = 3


def table(rows, seed, higher=0.0):
    rng = np.random.default_rng(seed)
    ill = rng.random(rows) < 0.4
    held = {
        "blood pressure": rng.normal(120 + 25 * ill + higher, 12).round(1),
        "größe": rng.choice(["klein", "groß"], rows),
    }
    return pd.DataFrame({**held, "diagnosis": np.where(ill, "ill", "well")})


@pytest.fixture
def model(merula, folder):
    """A model of patients, and other tables of such: the same sort, another, and one without classes."""
    table(400, 0).to_csv("then.csv", index=False)
    table(300, 1).to_csv("same.csv", index=False)
    table(300, 2, 15).to_csv("other.csv", index=False)
    table(300, 2, 15).drop(columns="diagnosis").to_csv("unlabelled.csv", index=False)
    table(300, 3).replace({"diagnosis": {"ill": "Ill"}}).to_csv("spelled.csv", index=False)
    result = merula("fit", "then.csv", "-t", "diagnosis", "-m", "naive", "--reference", "-o", "model.merula", "-q")
    assert result.exit_code == 0, result.stderr
    return "model.merula"


def test_nothing_has_changed(merula, model):
    result = merula("monitor", model, "same.csv")
    assert result.exit_code == 0
    assert result.stdout.startswith("Nothing has changed beyond chance")
    assert "the column 'diagnosis' of same.csv holds the classes" in result.stderr


def test_something_has_changed(merula, model, folder):
    result = merula("monitor", model, "unlabelled.csv", "-o", "page.html", "-q")
    assert result.exit_code == CHANGED
    assert "'blood pressure':" in result.stdout
    assert result.stderr == ""
    assert "Changed: blood pressure" in (folder / "page.html").read_text(encoding="utf-8")


def test_json_is_what_the_library_says(merula, model):
    result = merula("monitor", model, "other.csv", "--json", "-q")
    assert result.exit_code == CHANGED
    told = json.loads(result.stdout)
    frame = pd.read_csv("other.csv")
    classes = frame.pop("diagnosis")
    found = mr.monitor(mr.load(model), frame, classes)
    assert told["verdict"] == found.verdict
    assert told["tests"] == pytest.approx(dict(found.tests))
    assert told["labelled"] == 300
    assert {one["column"]: one["compared"] for one in told["columns"]} == {
        "blood pressure": "numbers",
        "größe": "levels",
    }


def test_rows_of_before_and_weights(merula, model):
    told = json.loads(merula("monitor", model, "same.csv", "--before", "spelled.csv", "--json", "-q").stdout)
    assert told["loss"]["standard"] == "rows before"
    assert "evidence" in told["tests"]
    pd.read_csv("same.csv").assign(often=2).to_csv("weighted.csv", index=False)
    twice = json.loads(merula("monitor", model, "weighted.csv", "--weight", "often", "--json", "-q").stdout)
    assert (twice["rows"], twice["labelled"]) == (600, 600)


def test_classes_that_differ_in_case_are_those_learned(merula, model):
    result = merula("monitor", model, "spelled.csv", "-t", "diagnosis")
    assert result.exit_code == 0
    assert "differ only in case" in result.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("same.csv", "-t", "diagnose"),
            "--target is 'diagnose', which same.csv does not have; did you mean 'diagnosis'",
        ),
        (("same.csv", "--weight", "often"), "--weight is 'often', which same.csv does not have"),
        (("nowhere.csv",), "nowhere.csv"),
        (("same.csv", "--false-alarms", "2"), "--false-alarms"),
        (("same.csv", "--false-alarms", "0"), "expected a number between 0 and 1"),
        (("same.csv", "-o", "same.csv"), "same.csv"),
        (("same.csv", "--before", "nowhere.csv"), "nowhere.csv"),
    ],
)
def test_bad_input_is_one_line(merula, model, words, told):
    result = merula("monitor", model, *words)
    assert result.exit_code == BAD_INPUT
    assert told in result.stderr.splitlines()[-1]


def test_what_to_do_is_said_as_it_is_typed(merula, folder):
    """Also where the model keeps mean and variance alone, and where rows of before would tell."""
    table(400, 0).to_csv("then.csv", index=False)
    table(300, 2, 25).drop(columns="diagnosis").to_csv("unlabelled.csv", index=False)
    assert merula("fit", "then.csv", "-t", "diagnosis", "-m", "naive", "-o", "model.merula", "-q").exit_code == 0
    said = merula("monitor", "model.merula", "unlabelled.csv", "-q").stdout
    assert "merula fit … --reference keeps the whole distribution" in said and "(--before)" in said
    assert not any(word in said for word in ("reference=", "before=", "model."))
    found = mr.monitor(mr.load("model.merula"), pd.read_csv("unlabelled.csv"))
    assert "fit(…, reference=True) keeps the whole distribution" in str(found) and "(before=)" in str(found)
