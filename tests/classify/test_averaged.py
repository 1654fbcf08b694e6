"""AODE's options: cells that others imply, and what each super-parent is worth out of fold."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import log_softmax, logsumexp
from tests.classify.test_dependent import known, patients

import merula as mr
from merula.classify.mixture_weights import PRIOR, Unseen, best_log_weights, loss, out_of_fold
from merula.data.table import open_table
from merula.engines import Source


def families(n=400, seed=3, lost=0.0):
    """Columns of which some levels say others: pregnant says female, a province says its country."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["female", "male"], n)
    pregnant = np.where((sex == "female") & (rng.random(n) < 0.5), "yes", "no")
    country = rng.choice(["Österreich", "中国"], n)
    province = np.where(country == "中国", rng.choice(["四川", "广东"], n), rng.choice(["Tirol", "Wien"], n))
    ill = np.where(rng.random(n) < np.where(pregnant == "yes", 0.7, 0.3), "anaemic", "well")
    frame = pd.DataFrame({"sex": sex, "pregnant": pregnant, "country": country, "province": province}, dtype=object)
    return frame.mask(rng.random(frame.shape) < lost, None), ill


def without_implied(frame, learned, fewest):
    """The rows of a table without the cells that others of the same row imply in the rows learned from, by the definition."""
    names = sorted(frame.columns)

    def says(one, level, other, its):
        own = (learned[one] == level) & learned[other].map(known)
        return own.sum() >= fewest and bool((learned.loc[own, other] == its).all())

    resolved = frame.copy()
    for i, row in frame.iterrows():
        met = {name: row[name] for name in names if known(row[name])}
        for name in sorted(met, reverse=True):
            if any(other != name and says(other, its, name, met[name]) for other, its in met.items()):
                del met[name]
                resolved.loc[i, name] = None
    return resolved


@pytest.mark.parametrize("lost", [0.0, 0.15])
@pytest.mark.parametrize("fewest", [1, 40, 10**6])
def test_cells_that_others_imply_are_left_out(lost, fewest):
    frame, ill = families(lost=lost)
    some = frame.iloc[:60]
    expected = mr.AODEClassifier().fit(frame, ill).predict_proba(without_implied(some, frame, fewest))
    model = mr.AODEClassifier(subsumption=fewest).fit(frame, ill)
    np.testing.assert_array_equal(model.predict_proba(some), expected)
    assert (not np.array_equal(expected, mr.AODEClassifier().fit(frame, ill).predict_proba(some))) == (fewest < 10**6)


def test_of_two_columns_that_say_each_other_one_is_kept():
    frame, ill = families()
    twice = frame.assign(geschlecht=frame["sex"].map({"female": "weiblich", "male": "männlich"}))
    once = mr.AODEClassifier(subsumption=1).fit(frame, ill).predict_proba(frame)
    doubled = mr.AODEClassifier(subsumption=1).fit(twice, ill).predict_proba(twice)
    np.testing.assert_allclose(doubled, once, rtol=0, atol=1e-12)


def test_of_cells_that_imply_each_other_in_a_circle_one_is_kept():
    """Where cells are missing, what implies what is counted pair by pair, and may lead round."""
    pairs = [("1", "1", None), ("0", "1", None), (None, "1", "1"), (None, "0", "1"), ("1", None, "1"), ("1", None, "0")]
    frame = pd.DataFrame(pairs * 20, columns=["fever", "rash", "cough"])
    y = np.where(np.arange(120) % 7 < 3, "krank", "gesund")
    model, row = mr.AODEClassifier(subsumption=5).fit(frame, y), pd.DataFrame([("1", "1", "1")], columns=frame.columns)
    alone = [row.assign(**dict.fromkeys(set(frame.columns) - {name})) for name in frame.columns]
    kept = [mr.AODEClassifier().fit(frame, y).predict_proba(one) for one in alone]
    assert any(np.array_equal(model.predict_proba(row), one) for one in kept)


@pytest.mark.filterwarnings("ignore::merula.UnseenLevelWarning")
def test_a_level_never_met_is_below_others_and_above_none():
    frame = pd.DataFrame({"rain": ["no", "yes", None] * 10, "wet": ["no", "yes", "yes", "no", None] * 6})
    model = mr.AODEClassifier(missing="level").fit(frame, ["a", "b", "b", "a", "b", "a"] * 5)
    row = pd.DataFrame({"rain": ["yes"], "wet": ["nie gesehen"]})
    np.testing.assert_allclose(mr.explain(model, row.iloc[0]).posterior, model.predict_proba(row)[0], rtol=1e-12)


def test_levels_never_met_imply_nothing():
    frame, ill = families()
    model = mr.AODEClassifier(subsumption=1, unseen="smooth").fit(frame, ill)
    new = pd.DataFrame({"sex": ["female"], "pregnant": ["yes"], "country": ["Österreich"], "province": ["Graz"]})
    with pytest.warns(mr.UnseenLevelWarning, match="Graz"):
        found = model.predict_proba(new)
    with pytest.warns(mr.UnseenLevelWarning):
        expected = mr.AODEClassifier(unseen="smooth").fit(frame, ill).predict_proba(new.assign(sex=None))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_subsumption_needs_missing_cells_to_be_left_out():
    frame, ill = families()
    with pytest.raises(ValueError, match="subsumption leaves cells out"):
        mr.AODEClassifier(subsumption=10, missing="level").fit(frame, ill)


@pytest.mark.parametrize("wrong", [{"subsumption": 0}, {"subsumption": "all"}, {"weights": "equal"}, {"min_count": -1}])
def test_options_that_are_none(wrong):
    frame, ill = families()
    with pytest.raises(ValueError, match=next(iter(wrong))):
        mr.AODEClassifier(**wrong).fit(frame, ill)


# ---------------------------------------------------------------------------------------------------- weights


def test_the_mixture_is_that_of_its_weights():
    frame, y = patients(n=120, lost=0.0)
    plain, weighed = mr.AODEClassifier().fit(frame, y), mr.AODEClassifier(weights="out-of-fold").fit(frame, y)
    shares = weighed.super_parents_
    parts = [one for one in plain.components(frame) if one.name in shares]
    joint = sum(shares[one.name] * np.exp(one.log_joint()) for one in parts)
    np.testing.assert_allclose(weighed.predict_proba(frame), joint / joint.sum(axis=1, keepdims=True), rtol=1e-12)
    assert sum(shares.values()) == pytest.approx(1) and len(set(shares.values())) > 1


def scores(seed=0, n=80, m=4, classes=3):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    joint = rng.normal(size=(n, m, classes))
    joint[np.arange(n), 1, labels] += 2.0  # the second component knows more
    joint[rng.random((n, m)) < 0.2] = -np.inf
    return Unseen(joint, labels, rng.gamma(2.0, 1.0, n))


def objective(log_w, found):
    """−Σ weight · log P(class given row) − Σ log w, by its definition."""
    joint = logsumexp(log_w[:, None] + found.log_joint, axis=1)
    posterior = log_softmax(joint[np.isfinite(joint).any(axis=1)], axis=1)
    kept = np.isfinite(joint).any(axis=1)
    return -found.weights[kept] @ posterior[np.arange(kept.sum()), found.classes[kept]] - PRIOR * log_w.sum()


def test_the_gradient_is_that_of_central_differences():
    rng = np.random.default_rng(1)
    own, each = rng.normal(size=(30, 3)), rng.normal(size=(30, 3)) + 1.0
    weights, free = rng.gamma(1.0, 1.0, 30), rng.normal(size=3)
    approximate = approx_fprime(free, lambda at: loss(at, own, each, weights)[0], 1e-7)
    np.testing.assert_allclose(loss(free, own, each, weights)[1], approximate, rtol=1e-5, atol=1e-5)


def test_the_weights_are_those_of_another_optimiser():
    found = scores()
    ours = best_log_weights(found)
    other = minimize(
        lambda free: objective(log_softmax(free), found), np.zeros(4), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 20_000, "maxfev": 20_000}
    )  # fmt: skip
    assert objective(ours, found) <= other.fun + 1e-8
    np.testing.assert_allclose(np.exp(ours), np.exp(log_softmax(other.x)), atol=1e-4)
    assert np.argmax(ours) == 1


def test_rows_are_asked_of_models_that_have_not_seen_them():
    frame, y = patients(n=60, lost=0.1)
    model = mr.AODEClassifier(weights="out-of-fold").fit(frame, y)
    found = out_of_fold(model, Source(open_table(frame), y), list(model.super_parents_))
    assert found.log_joint.shape == (60, 5, 2) and found.weights.sum() == 60
    whole = mr.AODEClassifier().fit(frame, y)
    seen = [one.log_joint() for one in whole.components(frame) if one.name in model.super_parents_]
    codes = np.searchsorted(whole.classes_, y)
    assert _told(found.log_joint, found.classes) < _told(
        np.stack(seen, axis=1), codes
    )  # they know their rows less well


def _told(joint, labels):
    """The sum of what components say of the rows' own classes, those that a row does not admit left out."""
    return np.where(np.isneginf(joint), 0.0, joint)[np.arange(len(labels)), :, labels].sum()


def test_a_useless_column_counts_less():
    rng = np.random.default_rng(5)
    n = 2_000
    cause, y = rng.choice(["a", "b", "c"], n), rng.choice(["ja", "nein"], n)
    agrees = np.where(
        y == "ja", cause, rng.choice(["a", "b", "c"], n)
    )  # with the cause it tells the class, alone nothing
    noise = [rng.choice(list("uvwxyz"), n) for _ in range(6)]
    frame = pd.DataFrame(
        {"Ursache": cause, "Folge": agrees, **{f"Rauschen {k}": cells for k, cells in enumerate(noise)}}
    )
    weighed = mr.AODEClassifier(weights="out-of-fold").fit(frame, y)
    shares = weighed.super_parents_
    assert min(shares["Ursache"], shares["Folge"]) > max(v for k, v in shares.items() if k.startswith("R"))


def test_weighed_models_do_not_add_up():
    frame, y = patients(n=60)
    model = mr.AODEClassifier(weights="out-of-fold").fit(frame, y)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError) as raised:
        _ = model.partial_fit
    assert "weights=None takes" in str(raised.value)
    with pytest.raises(ValueError, match="cannot be merged"):
        _ = model + model


@pytest.mark.parametrize("order", [slice(None, None, -1), np.random.default_rng(3).permutation(60)])
def test_the_order_of_rows_does_not_matter_where_numbers_are_cut(order):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    frame = pd.DataFrame({"blood pressure": rng.normal(size=60) + 2 * y, "pulse": rng.normal(size=60) + 2 * y})
    one, other = mr.AODEClassifier(weights="out-of-fold"), mr.AODEClassifier(weights="out-of-fold")
    assert one.fit(frame, y).super_parents_ == other.fit(frame.iloc[order], y[order]).super_parents_


def test_a_class_that_some_folds_lack_may_have_a_stated_prior():
    frame, y = patients(n=60)
    y = y.astype(object)
    y[0] = "unklar"
    prior = {"gesund": 0.5, "krank": 0.4, "unklar": 0.1}
    model = mr.AODEClassifier(weights="out-of-fold", class_prior=prior).fit(frame, y)
    assert model.calibrated(frame, y).temperature_ > 0


def test_a_column_may_be_called_naive_bayes():
    frame, y = patients(n=100)
    named = mr.AODEClassifier(weights="out-of-fold").fit(frame.rename(columns={"smoker": "naive Bayes"}), y)
    plain = mr.AODEClassifier(weights="out-of-fold").fit(frame.rename(columns={"smoker": "naive Bayez"}), y)
    assert list(named.super_parents_.values()) == pytest.approx(list(plain.super_parents_.values()), rel=1e-6)


def test_one_row_of_each_class_has_no_folds_to_weigh_by():
    frame = pd.DataFrame({"Ursache": ["a", "b"], "Folge": ["u", "v"]})
    model = mr.AODEClassifier(weights="out-of-fold").fit(frame, ["ja", "nein"])
    assert model.super_parents_ == {"Ursache": 0.5, "Folge": 0.5}
