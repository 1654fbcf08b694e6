"""Pools explained: what an explanation adds up to is what the model predicts, on real tables; nomograms where no column depends on another."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax
from tests.answers.explanation.test_nomogram import odd_rows

import merula as mr
from merula.classify.log_linear.terms import TableTerms

FAST = {"max_rounds": 20}
pytestmark = pytest.mark.filterwarnings("ignore::merula.UnseenLevelWarning")


def test_explanations_add_up_to_what_is_predicted(real_table):
    frame, y = real_table
    model = mr.AutoBayesClassifier(max_rounds=5).fit(frame, y)
    rows = pd.concat([odd_rows(frame, 3), frame.iloc[:2]], ignore_index=True)
    for k, proba in enumerate(model.predict_proba(rows)):
        found = mr.explain(model, rows.iloc[[k]])
        (part,) = found.derivations
        total = part.log_prior + sum(reason.log_terms for reason in part.reasons)
        np.testing.assert_allclose(softmax(total), proba, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.posterior, proba, rtol=0, atol=1e-9)
        odds = part.prior_log_odds + sum(reason.evidence for reason in part.reasons)
        own = float(proba[model.classes_.tolist().index(found.label)])
        assert expit(odds) == pytest.approx(own, abs=1e-9)


@pytest.mark.parametrize("order", [1, 4])
def test_a_class_that_the_prior_excludes_stays_impossible(penguins, order):
    prior = {"Adelie": 0.5, "Chinstrap": 0.5, "Gentoo": 0.0}
    model = mr.AutoBayesClassifier(order, class_prior=prior, **FAST).fit(*penguins)
    found = mr.explain(model, penguins[0].iloc[[3]])
    np.testing.assert_allclose(found.posterior, model.predict_proba(penguins[0].iloc[[3]])[0], atol=1e-12)
    assert found.posterior[2] == 0
    assert all(np.isfinite(reason.log_terms).all() for reason in found.derivations[0].reasons)
    assert "nan" not in str(found) and str(found).splitlines()[-2].endswith("impossible")


def test_the_first_line_is_the_probability_of_the_average_row(penguins):
    model = mr.AutoBayesClassifier(2, **FAST).fit(*penguins)
    found = mr.explain(model, penguins[0].iloc[[3]])
    lines = str(found).splitlines()
    assert sum(map(float, lines[1].split()[2:5])) == pytest.approx(1, abs=1e-3)
    assert lines[-2].split()[0] == "product"
    part, product = found.derivations[0], np.array(list(map(float, lines[-2].split()[1:4])))
    start = softmax(part.log_prior)
    np.testing.assert_allclose(product, start * np.exp(sum(reason.log_terms for reason in part.reasons)), rtol=1e-3)


# ---------------------------------------------------------------------------------------------------------------------
# Nomograms


@pytest.fixture(scope="module")
def patients():
    rng = np.random.default_rng(3)
    ill = rng.random(200) < 0.4
    frame = pd.DataFrame(
        {
            "blood pressure": rng.normal(125 + 20 * ill, 12).round(),
            "größe": np.where(rng.random(200) < np.where(ill, 0.7, 0.3), "klein", "groß"),
            "visits": rng.poisson(1 + 3 * ill),
            "色泽": rng.choice(["rot", "blass"], 200),
        }
    )
    frame.loc[rng.random(200) < np.where(ill, 0.4, 0.05), "blood pressure"] = np.nan  # being missing tells
    frame.loc[rng.random(200) < 0.2, "größe"] = None
    return frame, np.where(ill ^ (rng.random(200) < 0.1), "ill", "healthy")


MODELS = {
    "pool": lambda: mr.AutoBayesClassifier(1, kinds={"visits": "count"}, **FAST),
    "missing says nothing": lambda: mr.AutoBayesClassifier(1, missing="marginalise", **FAST),
    "missing is an answer": lambda: mr.AutoBayesClassifier(1, missing="level", class_prior="uniform", **FAST),
    "tables": lambda: mr.LogLinearClassifier(1, **FAST),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_points_of_a_row_lead_to_predict_proba(name, patients, tmp_path):
    """With the slip, and whether missing cells speak or not; a loaded model has the same points."""
    frame, y = patients
    model = MODELS[name]().fit(frame, y)
    picture = mr.nomogram(model)
    rows = odd_rows(frame, 25)
    totals = [sum(picture.points(model, rows.iloc[[k]]).values()) for k in range(len(rows))]
    np.testing.assert_allclose(picture.probability(totals), model.predict_proba(rows)[:, 1], rtol=0, atol=1e-9)
    model.save(tmp_path / "ill.merula")
    assert str(mr.nomogram(mr.load(tmp_path / "ill.merula"))) == str(picture)
    json.dumps(picture.to_dict(), allow_nan=False)


@pytest.mark.parametrize("name", MODELS)
def test_scales_have_the_points_of_rows_with_these_values(name, patients):
    frame, y = patients
    model = MODELS[name]().fit(frame, y)
    picture = mr.nomogram(model)
    assert [scale.column.name for scale in picture.scales] == list(frame)
    for scale in picture.scales:
        assert min([*scale.points, scale.missing]) == pytest.approx(0, abs=1e-9)
        for k in scale.ticks[:3]:
            row = frame.iloc[[5]].assign(**{scale.column.name: [scale.values[k]]})
            assert picture.points(model, row)[scale.column.name] == pytest.approx(scale.points[k], abs=1e-9)
    widest = max(max([*scale.points, scale.missing]) for scale in picture.scales)
    assert widest == pytest.approx(100)


def test_each_column_is_read_a_few_times_however_many_there_are(monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 12)), columns=[f"Stelle {k}" for k in range(12)])
    model = MODELS["tables"]().fit(frame, np.where(frame["Stelle 0"] + frame["Stelle 1"] > 0, "yes", "no"))
    read, codes = [], TableTerms.codes
    monkeypatch.setattr(TableTerms, "codes", lambda self, rows: (read.extend(self.columns), codes(self, rows))[1])
    mr.nomogram(model)
    assert max(map(read.count, frame)) <= 3


def test_the_slip_bounds_the_probability_and_is_told(patients):
    frame, y = patients
    model = MODELS["pool"]().fit(frame, y)
    picture = mr.nomogram(model)
    prior = np.exp(model.class_log_prior_[1])
    low, high = picture.probability(-1e6), picture.probability(1e6)
    assert (low, high) == pytest.approx((model.slip_ * prior, 1 - model.slip_ * (1 - prior)), rel=1e-9)
    assert picture.reach == pytest.approx((low, high))
    assert picture.total_points(low / 2) == -np.inf and picture.total_points((1 + high) / 2) == np.inf
    assert all(low < p < high and picture.probability(total) == pytest.approx(p) for p, total in picture.totals)
    assert picture.remark in str(picture) and picture.to_dict()["slip"] == pytest.approx(model.slip_)


def test_among_several_classes_the_slip_is_left_out_and_said_to_be(penguins):
    frame, y = penguins
    model = mr.AutoBayesClassifier(1, **FAST).fit(frame, y)
    picture = mr.nomogram(model, "Chinstrap", "Adelie")
    rows = odd_rows(frame, 20)
    first = model.components(rows)[0]
    scores = model.class_log_prior_ + sum(term.values for term in first.terms)
    totals = [sum(picture.points(model, rows.iloc[[k]]).values()) for k in range(len(rows))]
    np.testing.assert_allclose(picture.probability(totals), expit(scores[:, 1] - scores[:, 0]), rtol=0, atol=1e-9)
    assert picture.slip == 0 and "left out" in picture.remark


def test_it_is_drawn(patients, chinese_font, pyplot, outside):
    model = MODELS["pool"]().fit(*patients)
    assert not outside(mr.nomogram(model).plot())


def test_columns_that_depend_on_one_another_have_no_points(patients):
    with pytest.raises(mr.InputError, match=r"modelled together.*order=1"):
        mr.nomogram(mr.AutoBayesClassifier(2, **FAST).fit(*patients))
    texts = patients[0].assign(remark=["a few words more"] * 100 + ["some other words"] * 100)
    model = mr.AutoBayesClassifier(1, kinds={"remark": "text"}, **FAST).fit(texts, patients[1])
    with pytest.raises(mr.InputError, match="'remark' is a text"):
        mr.nomogram(model)


def test_scales_list_the_numbers_that_rows_have():
    """All where they are few and whole, and closer ones where most rows are; no points are almost nothing."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {"fare": np.exp(rng.normal(2.5, 1.3, 400)).round(2), "siblings": rng.choice([0, 1, 2, 3, 8], 400)}
    )
    score = 0.8 * np.log(frame["fare"]) - 0.5 * frame["siblings"]
    label = np.where(score + rng.normal(0, 1, 400) > 1.2, "yes", "no")
    model = mr.AutoBayesClassifier(1, kinds={"siblings": "numeric"}, **FAST).fit(frame, label)
    picture = mr.nomogram(model)
    fare, siblings = ([scale.values[k] for k in scale.ticks] for scale in picture.scales)
    assert siblings == [0, 1, 2, 3, 8]
    low, high = np.quantile(frame["fare"], [0.1, 0.9])
    assert sum(low <= value <= high for value in fare) >= 4
    assert max(fare) > 2 * high
    for k in range(100):
        assert all(points == 0 or abs(points) > 1e-9 for points in picture.points(model, frame.iloc[[k]]).values())
