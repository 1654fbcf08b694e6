"""What results show of themselves in a notebook or a terminal: at most a screenful of a wide table; and as data frames."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import merula as mr

SCREEN = 75  # lines of a terminal, rows of a table
CLASSES, ROWS = 40, 2_400


@pytest.fixture(scope="module")
def wide():
    """200 columns and 40 classes."""
    rng = np.random.default_rng(0)
    codes = np.arange(ROWS) % CLASSES
    numbers = {f"sensor {k}": rng.normal(codes * 0.0005 * k, 1.0) for k in range(150)}
    levels = np.array([f"level {k}" for k in range(60)])
    words = {
        f"answer {k}": levels[np.where(rng.random(ROWS) < 0.3, codes, rng.integers(0, 60, ROWS))] for k in range(50)
    }
    table, labels = pd.DataFrame(numbers | words), np.array([f"kind {k}" for k in range(CLASSES)])[codes]
    return table, labels, mr.NaiveBayesClassifier().fit(table, labels)


@pytest.fixture(scope="module")
def shown(wide, tmp_path_factory):
    table, labels, model = wide
    explanation = mr.explain(model, table.iloc[0].to_dict())
    evaluation = mr.evaluate(mr.NaiveBayesClassifier(), table, labels, cv=2, progress=False)
    few = table.iloc[:, 147:153]
    path = tmp_path_factory.mktemp("report") / "report.html"
    return {
        "model": model,
        "fitted": model.fitted_,
        "schema": model.schema_,
        "column": model.schema_["answer 3"],
        "numbers": model.distributions_[0],
        "levels": model.distributions_[-1],
        "explanation": explanation,
        "derivation": explanation.derivations[0],
        "reason": explanation.reasons[0],
        "nomogram": mr.nomogram(model, "kind 1", "kind 2"),
        "scale": mr.nomogram(model, "kind 1", "kind 2").scales[0],
        "look": mr.look(table),
        "questions": mr.next_question(model, table.iloc[0, :195].to_dict()),
        "many questions": mr.next_question(model, table.iloc[0, :165].to_dict()),
        "evaluation": evaluation,
        "evaluated model": evaluation.models[0],
        "fold": evaluation.folds[0],
        "report": mr.write_report(mr.NaiveBayesClassifier(), few, labels, path, cv=2, repeats=1, learning_curve=False, progress=False),
    }  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["model", "fitted", "schema", "column", "numbers", "levels", "explanation", "derivation", "reason", "nomogram", "scale", "look", "questions", "many questions", "evaluation", "evaluated model", "fold", "report"],
)  # fmt: skip
def test_a_result_shows_itself_on_one_screen(shown, name):
    result = shown[name]
    assert len(repr(result).split("\n")) <= SCREEN
    assert len(repr(result)) < 10_000
    if hasattr(result, "_repr_html_"):
        html = result._repr_html_()
        assert 0 < html.count("<tr") <= SCREEN or "<p>" in html
        assert len(re.sub(r"<style.*?</style>|<[^>]*>", "", html, flags=re.DOTALL)) < 20_000


@pytest.mark.parametrize("name", ["nomogram", "look", "many questions"])
def test_what_is_left_out_is_said(shown, name):
    assert "to_frame()" in repr(shown[name])
    assert "to_frame()" in shown[name]._repr_html_()


def test_a_small_result_is_whole(wide):
    table, labels, _ = wide
    model = mr.NaiveBayesClassifier().fit(table[["sensor 149", "sensor 148"]], labels)
    assert "to_frame" not in repr(mr.nomogram(model, "kind 1", "kind 2"))
    assert "to_frame" not in repr(mr.next_question(model, {}))


def test_the_report_shows_its_verdict(shown):
    from merula.report.verdict import verdict_of

    verdict = verdict_of(shown["report"])
    assert verdict.headline in repr(shown["report"])
    assert verdict.headline in shown["report"]._repr_html_()


def test_an_explanation_as_a_frame_adds_up(shown, wide):
    explanation, model = shown["explanation"], wide[2]
    frame = explanation.to_frame()
    assert len(frame) == 201
    log_joint = np.array([frame[f"log term of {label}"].sum() for label in explanation.classes])
    posterior = np.exp(log_joint - np.logaddexp.reduce(log_joint))
    np.testing.assert_allclose(posterior, model.predict_proba(wide[0].iloc[:1])[0], atol=1e-9)


def test_the_evidence_of_a_frame_adds_up_to_the_log_odds(wide):
    model = wide[2]
    row = {"answer 3": "level 7", "sensor 20": 0.5}
    explanation = mr.explain(model, row)
    full = pd.DataFrame([row]).reindex(columns=wide[0].columns)
    p = model.predict_proba(full)[0][model.classes_.tolist().index(explanation.label)]
    assert explanation.to_frame()["evidence"].sum() == pytest.approx(np.log(p / (1 - p)), abs=1e-9)


def test_a_mixture_as_a_frame_names_its_parts(wide):
    table, labels, _ = wide
    model = mr.AODEClassifier().fit(table[["answer 1", "answer 2", "answer 3"]], labels)
    explanation = mr.explain(model, {"answer 1": "level 4", "answer 2": "level 5", "answer 3": "level 5"})
    frame = explanation.to_frame()
    assert frame["part"].unique().tolist() == [part.name for part in explanation.derivations]
    for part in explanation.derivations:
        own = frame[frame["part"] == part.name]
        np.testing.assert_allclose(
            [own[f"log term of {c}"].sum() for c in explanation.classes], part.log_joint, atol=1e-9
        )


def test_an_evaluation_as_a_frame_has_its_figures(shown):
    evaluation = shown["evaluation"]
    frame = evaluation.to_frame().set_index(["model", "figure"])
    assert frame.loc[("NaiveBayesClassifier", "error"), "value"] == evaluation["error"].value
    assert frame.loc[("class frequencies", "error"), "value"] == evaluation.baseline.figures["error"].value
    assert frame.loc[("NaiveBayesClassifier", "brier"), "standard_error"] == evaluation["brier"].standard_error


def test_a_nomogram_as_a_frame_has_every_scale(shown, wide):
    found = shown["nomogram"]
    frame = found.to_frame()
    assert frame["column"].unique().tolist() == wide[0].columns.tolist()
    own = frame[(frame["column"] == "answer 7") & (frame["value"] == "level 9")]["points"].item()
    assert own == pytest.approx(found.points(wide[2], {"answer 7": "level 9"})["answer 7"])


@pytest.mark.parametrize("name", ["explanation", "evaluation", "nomogram", "questions", "many questions", "look"])
def test_a_frame_is_of_the_library_asked_for(shown, name):
    frame = shown[name].to_frame("polars")
    assert isinstance(frame, pl.DataFrame)
    assert frame.to_dicts()[0].keys() == dict(shown[name].to_frame().iloc[0]).keys()
    assert len(frame) == len(shown[name].to_frame())


def test_questions_as_a_frame_are_in_their_order(shown):
    frame = shown["many questions"].to_frame()
    assert frame["column"].tolist() == [one.column for one in shown["many questions"]]
    assert (frame["gain"].diff().dropna() <= 1e-12).all()
