"""For whom a model is good: subgroups beside the same figures of the subset by hand, decision curves beside their formula."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from sklearn.naive_bayes import GaussianNB

import merula as mr
from merula.answers.evaluation.reliability import wilson_interval
from merula.answers.evaluation.subgroups import wilson
from merula.core import InputError


@pytest.fixture(scope="module")
def patients():
    rng = np.random.default_rng(4)
    n = 400
    table = pd.DataFrame({"blood pressure": rng.normal(size=n), "größe": rng.normal(size=n), "sex": rng.choice(["f", "m"], n), "town": rng.choice(["north", "south", "east"], n, p=[0.6, 0.38, 0.02])})  # fmt: skip
    noise = np.where(table["sex"] == "f", 0.5, 3.0)
    ill = (table["blood pressure"] + noise * rng.normal(size=n) > 0).map({True: "ill", False: "well"})
    return table, ill


@pytest.fixture(scope="module")
def evaluation(patients):
    table, ill = patients
    by = table[["sex", "town"]]
    return mr.evaluate(GaussianNB(), table[["blood pressure", "größe"]], ill, cv=5, repeats=1, by={name: by[name] for name in by})  # fmt: skip


def by_hand(evaluation, inside):
    """Truth and probabilities of some rows, each tested once."""
    truth, proba = np.empty(len(evaluation.truth), int), np.empty((len(evaluation.truth), 2))
    for fold, answers in zip(evaluation.folds, evaluation.models[0].probabilities, strict=True):
        truth[fold.test], proba[fold.test] = evaluation.truth[fold.test], answers
    return truth[inside], proba[inside]


def test_figures_of_a_subgroup_are_those_of_its_rows(evaluation, patients):
    sex = patients[0]["sex"].to_numpy()
    found = evaluation.by(["sex"])
    for level in ("f", "m"):
        truth, proba = by_hand(evaluation, sex == level)
        group = found[f"sex = {level}"]
        assert group.rows == (sex == level).sum()
        assert group.figures["log_loss"].value == pytest.approx(log_loss(truth, proba))
        assert group.figures["brier"].value == pytest.approx(2 * brier_score_loss(truth, proba[:, 1]))
        assert group.figures["error"].value == pytest.approx((proba.argmax(axis=1) != truth).mean())
        losses = -np.log(proba[np.arange(len(truth)), truth])
        assert group.figures["log_loss"].standard_error == pytest.approx(losses.std(ddof=1) / np.sqrt(len(losses)))
        assert group.observed["well"].value == pytest.approx(truth.mean())
        assert group.expected["well"] == pytest.approx(proba[:, 1].mean())


def test_areas_compare_rows_of_one_fold(evaluation, patients):
    inside = patients[0]["sex"].to_numpy() == "f"
    areas, pairs = [], []
    for fold, proba in zip(evaluation.folds, evaluation.models[0].probabilities, strict=True):
        some = inside[fold.test]
        truth = evaluation.truth[fold.test][some]
        areas.append(roc_auc_score(truth, proba[some, 1]))
        pairs.append(truth.sum() * (1 - truth).sum())
    figure = evaluation.by(["sex"])["sex = f"].figures["auc"]
    assert figure.value == pytest.approx(np.average(areas, weights=pairs))
    assert figure.low < figure.value < figure.high


def test_a_difference_is_that_of_welchs_test(evaluation, patients):
    sex = patients[0]["sex"].to_numpy()
    losses = {}
    for level in ("f", "m"):
        truth, proba = by_hand(evaluation, sex == level)
        losses[level] = -np.log(proba[np.arange(len(truth)), truth])
    expected = ttest_ind(losses["m"], losses["f"], equal_var=False)
    found = evaluation.by(["sex"])["sex = m"].differences["log_loss"]
    assert (found.t, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    assert evaluation.by(["sex"]).worst[0][0].name == "sex = m"
    own, others = losses["m"].mean(), losses["f"].mean()
    error = np.sqrt(sum(some.var(ddof=1) / len(some) for some in losses.values()))
    assert evaluation.by(["sex"]).sentences()[1] == f"Log loss is worse where sex = m: {own:.4f}, {own - others:.4f} ± {error:.4f} higher than that of all other rows."  # fmt: skip


def test_intersections_and_small_cells(evaluation, patients):
    table = patients[0]
    found = evaluation.by()
    names = {group.name for group in found}
    assert "sex = f, town = north" in names and "sex = m" in names
    assert any("east" in name for name in found.too_few)
    for group in found:
        assert group.rows >= 10
    both = found["sex = f, town = north"]
    assert both.rows == ((table["sex"] == "f") & (table["town"] == "north")).sum()
    told = json.dumps(evaluation.to_dict())
    assert "subgroups" in told
    few = evaluation.by(["town"], min_rows=300)
    assert not few.groups and few.too_few and "No subgroup" in few.sentences()[0]
    assert not any(", " in group.name for group in evaluation.by(together=False))


def test_repeated_folds_weights_and_groups(patients):
    table, ill = patients
    features = table[["blood pressure", "größe"]]
    twice = mr.evaluate(GaussianNB(), features, ill, cv=4, repeats=2, by={"sex": table["sex"]})
    assert {group.rows for group in twice.by()} == set(table["sex"].value_counts())
    weights = np.where(np.arange(len(table)) % 2, 2, 1)
    weighted = mr.evaluate(GaussianNB(), features, ill, cv=4, repeats=1, sample_weight=weights, by={"sex": table["sex"]})  # fmt: skip
    group = weighted.by()["sex = f"]
    rows = [(fold.test, proba) for fold, proba in zip(weighted.folds, weighted.models[0].probabilities, strict=True)]
    at, proba = np.concatenate([test for test, _ in rows]), np.concatenate([answers for _, answers in rows])
    inside = (table["sex"].to_numpy() == "f")[at]
    expected = log_loss(weighted.truth[at][inside], proba[inside], sample_weight=weights[at][inside])
    assert group.figures["log_loss"].value == pytest.approx(expected)
    grouped = mr.evaluate(GaussianNB(), features, ill, cv=4, repeats=1, groups=np.arange(len(table)) // 4, by={"sex": table["sex"]})  # fmt: skip
    assert grouped.by()["sex = f"].figures["error"].standard_error > 0


def test_rows_tested_alone_are_parted(patients):
    table, ill = patients
    model = mr.NaiveBayesClassifier()
    found = mr.evaluate(model, table[:300], ill[:300], test=(table[300:], ill[300:]), by=["sex", "town"])
    assert sum(group.rows for group in found.by(["sex"])) == 100
    assert "by sex, town" in str(found)


def test_net_benefit_is_its_formula(evaluation, patients):
    curve = evaluation.decision_curve("ill", thresholds=[0.1, 0.3, 0.6])
    truth, proba = by_hand(evaluation, np.ones(len(patients[0]), bool))
    ill = truth == evaluation.classes.index("ill")
    for k, t in enumerate(curve.thresholds):
        acted = proba[:, 0] >= t
        right, wrong = (acted & ill).mean(), (acted & ~ill).mean()
        assert curve.models["GaussianNB"][k] == pytest.approx(right - wrong * t / (1 - t))
        assert curve.always[k] == pytest.approx(ill.mean() - (1 - ill.mean()) * t / (1 - t))
    assert set(curve.useful("GaussianNB")) <= {0.1, 0.3, 0.6}
    assert len(evaluation.decision_curve().thresholds) == 99


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda e: e.by({"sex": ["f"]}), "one for each of the 400 rows"),
        (lambda e: e.by(["age"]), "age"),
        (lambda e: e.by(["sex"], min_rows=1), "from 2"),
        (lambda e: e.by({"number": list(range(400))}), "at most 50"),
        (lambda e: e.by(3), "by is 3"),
        (lambda e: e.by({"sex": 3}), "the value 3, expected one label for each row"),
        (lambda e: e.by({"sex": np.zeros((400, 2))}), "2 dimensions, expected one label for each row"),
        (lambda e: e.by(["sex"], model="tree"), "tree"),
        (lambda e: e.decision_curve("dead"), "one of"),
        (lambda e: e.decision_curve("ill", [0.0, 0.5]), "neither of them included"),
    ],
)
def test_bad_input_is_one_sentence(evaluation, ask, message):
    with pytest.raises(InputError, match=message):
        ask(evaluation)


def test_an_empty_cell_is_no_label_that_is_called_missing(evaluation):
    town = ["missing"] * 150 + [None] * 150 + ["Köln"] * 100
    assert {group.name: group.rows for group in evaluation.by({"town": town})} == {"town = Köln": 100, "town = missing": 150, "town = (no value)": 150}  # fmt: skip
    assert [group.name for group in evaluation.by({"town": [None] * 200 + ["Ulm"] * 200})] == ["town = Ulm", "town = missing"]  # fmt: skip


def test_names_need_a_table_with_names(patients):
    with pytest.raises(InputError, match="the table has no names"):
        mr.evaluate(GaussianNB(), patients[0][["größe"]].to_numpy(), patients[1], cv=3, by=["sex"])


def test_intervals_of_shares_are_wilsons_and_losses_are_not_negative(evaluation):
    from scipy.stats import binomtest

    for group in evaluation.by():
        error = group.figures["error"]
        expected = binomtest(round(error.value * group.rows), group.rows).proportion_ci(method="wilson")
        assert (error.low, error.high) == pytest.approx((expected.low, expected.high))
        assert group.figures["log_loss"].low >= 0


@pytest.mark.parametrize("rows", range(1, 40))
def test_an_interval_of_none_begins_at_0_and_of_all_ends_at_1(rows):
    for interval in (wilson, wilson_interval):
        assert interval(0.0, rows)[0] == 0.0 and interval(1.0, rows)[1] == 1.0
