"""The evaluation as text, as plain data, and by key; the progress bar."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from merula.answers.evaluation import evaluate
from merula.show.text import display_width


@pytest.fixture
def two_models(patients):
    models = {"朴素贝叶斯": GaussianNB(), "geglättet": GaussianNB(var_smoothing=0.5)}
    return evaluate(models, patients.X, patients.y, cv=3, repeats=1, reject_cost=0.4)


def test_columns_stand_under_one_another(two_models):
    title, head, *lines = str(two_models).splitlines()
    lines, legend, told = lines[:10], lines[10], lines[11:]
    assert title == "3 folds, 120 rows tested, 3 classes"
    assert legend == "↓ lower is better, ↑ higher is better"
    assert told == [sentence for sentences in two_models.verdicts.values() for sentence in sentences]
    starts = [display_width(head[: head.index(name)]) for name in ("朴素贝叶斯", "geglättet", "class frequencies")]
    for line, name in zip(lines, two_models.baseline.figures, strict=True):
        known = [model.figures[name].standard_error is not None for model in two_models.beside_baseline]
        assert [position for position, sign in enumerate(line) if sign == "±"] == (np.array(starts) + 7)[known].tolist()
        error = name != "calibration_error"  # of all folds together
        assert known == [error, error, error and name != "error_accepted"]  # the frequencies reject every row
        assert all(line[start - 2 : start] == "  " for start in starts)
        assert all(line[start] != " " for start, is_known in zip(starts, known, strict=True) if is_known)
    assert lines[0].startswith("log loss") and " ↓ " in lines[0]
    assert lines[3].startswith("AUC") and " ↑ " in lines[3]


def test_figures_are_printed_with_their_standard_errors(two_models):
    figure = two_models["geglättet"]["log_loss"]
    assert str(figure) == f"{figure.value:.4f} ± {figure.standard_error:.4f}"
    assert str(figure) in str(two_models).splitlines()[2]


def test_a_figure_by_its_name(patients):
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=3, repeats=1)
    assert found["brier"] is found.models[0].figures["brier"]
    with pytest.raises(KeyError, match="no figure 'bryer'; there are 'log_loss', 'brier'"):
        found["bryer"]


def test_a_model_by_its_name(two_models):
    assert two_models["geglättet"] == two_models.figures["geglättet"]
    with pytest.raises(KeyError, match="no model 'log_loss'; there are '朴素贝叶斯', 'geglättet'"):
        two_models["log_loss"]


def test_comparing_needs_two_models_and_a_known_figure(patients, two_models):
    with pytest.raises(ValueError, match="figure is 'logloss', expected one of .*; did you mean 'log_loss'"):
        two_models.compare("logloss")
    with pytest.raises(ValueError, match="one model has nothing to be compared with"):
        evaluate(GaussianNB(), patients.X, patients.y, cv=3, repeats=1).compare()


@pytest.mark.parametrize("labels", [["gesund", "krank", "色泽"], [1, 2, 3]])
def test_plain_data_survives_json(patients, labels):
    y = np.array(labels)[np.unique(patients.y, return_inverse=True)[1]]
    found = evaluate(GaussianNB(), patients.X, y, cv=3, repeats=1, reject_cost=0.3, sample_weight=patients.weights)
    state = found.to_dict(rows=True)
    assert json.loads(json.dumps(state, allow_nan=False)) == state
    assert state["classes"] == state["costs"]["actions"] == labels
    model = state["models"][0]
    assert model["figures"]["auc"]["per_fold"] == list(found["auc"].per_fold)
    assert [curve["class"] for curve in model["reliability"]] == labels
    assert np.array(model["confusion"]).sum() == pytest.approx(patients.weights.sum())
    assert sorted(row for fold in state["folds"] for row in fold["test"]) == list(range(120))
    assert [np.shape(part) for part in model["probabilities"]] == [(40, 3)] * 3


def test_plain_data_without_rows_is_short(two_models):
    state = two_models.to_dict()
    assert "probabilities" not in state["models"][0]
    assert "probabilities" not in state["baseline"]
    assert state["folds"][0] == {"test_weight": 40.0, "train_weight": 80.0}
    assert state["costs"]["table"] == [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]


def test_undefined_figures_are_null(stated_probability):
    found = evaluate(stated_probability(), [[0.2], [0.7], [0.9]], ["healthy", "ill", "ill"], cv=([0, 1], [2]))
    figure = found.to_dict()["models"][0]["figures"]["auc"]
    assert figure == {"value": None, "standard_error": None, "per_fold": [None], "interval": None}
    assert next(line for line in str(found).splitlines() if line.startswith("AUC")).endswith("–")


def test_it_is_short_in_a_list(two_models):
    assert repr(two_models) == "Evaluation(models=['朴素贝叶斯', 'geglättet'], folds=3)"


# ------------------------------------------------------------------------------------------------------------- progress


def test_no_bar_where_no_terminal_watches(patients, capsys):
    evaluate(GaussianNB(), patients.X, patients.y, cv=3)
    assert capsys.readouterr() == ("", "")


def test_a_bar_on_standard_error_when_asked(patients, capsys):
    evaluate(GaussianNB(), patients.X, patients.y, cv=3, progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "GaussianNB, fold 9 of 9" in shown.err
    assert "100%" in shown.err


def test_a_bar_without_rich_says_what_to_install(patients, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(ImportError, match=r"pip install 'merula\[cli\]'"):
        evaluate(GaussianNB(), patients.X, patients.y, cv=3, progress=True)
    evaluate(GaussianNB(), patients.X, patients.y, cv=3, repeats=1)


def test_a_terminal_without_rich_shows_nothing(patients, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setitem(sys.modules, "rich", None)
    evaluate(GaussianNB(), patients.X, patients.y, cv=3, repeats=1)
    assert capsys.readouterr().err == ""
