"""One temperature for all terms: the optimum, what it leaves alone, its laws, and what it is good for."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold

import merula as mr
from merula.classify.calibration import Scored, best_temperature
from merula.classify.fitted import combined

MODELS = {
    "naive": mr.NaiveBayesClassifier(),
    "naive-level": mr.NaiveBayesClassifier(missing="level", class_prior="uniform"),
    "naive-weighted": mr.NaiveBayesClassifier(weights="conditional"),
    "full": mr.BayesClassifier(),
    "kernel": mr.KernelBayesClassifier(),
    "neighbors": mr.NearestNeighborsClassifier(neighbors=15),
    "tan": mr.TANClassifier(),
    "kdb": mr.KDBClassifier(2, numeric="quantile", bins=3),
    "aode": mr.AODEClassifier(numeric="quantile", bins=3),
    "aode-normal": mr.AODEClassifier(distributions={"numeric": "gaussian"}),
}


def patients(n=120, seed=0, copies=3):
    """A number, a word and the same word again and again: naive models are too certain of them."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    cough = np.where(rng.random(n) < 0.3 + 0.4 * ill, "wet", np.where(rng.random(n) < 0.5, "dry", "none"))
    frame = pd.DataFrame({"blood pressure": rng.normal(120, 10, n) + 5 * ill, "größe": rng.normal(170, 8, n).round()})
    for copy in range(copies):
        frame[f"cough {copy}"] = cough
    return frame.mask(rng.random(frame.shape) < 0.05), np.where(ill, "krank", "gesund")


@pytest.fixture(scope="module", params=MODELS)
def calibrated(request):
    frame, y = patients()
    model = clone(MODELS[request.param]).fit(frame, y)
    return model, model.calibrated(frame, y), frame, y


def divided(model, frame, temperature):
    """log P(class given row) by the definition, from the model's own terms."""
    found = [
        one.log_weight[:, None] + one.log_prior + sum(term.values for term in one.terms) / temperature
        for one in model.components(frame)
    ]
    joint = logsumexp(found, axis=0)
    return joint - logsumexp(joint, axis=1, keepdims=True)


def test_every_term_is_divided_by_the_temperature(calibrated):
    model, calm, frame, _ = calibrated
    assert type(calm) is type(model) and calm.get_params() == model.get_params()
    assert calm.temperature_ != 1
    expected = divided(model, frame, calm.temperature_)
    np.testing.assert_allclose(calm.predict_log_proba(frame), expected, rtol=1e-9, atol=1e-9)
    rows = calm._encoded(frame)
    np.testing.assert_allclose(calm.fitted_.log_joint(rows), combined(calm.fitted_.unsummed(rows)), rtol=1e-12, atol=1e-12)  # fmt: skip


def test_nothing_known_is_still_the_prior(calibrated):
    model, calm, frame, _ = calibrated
    nothing = frame[:1].mask(np.ones((1, frame.shape[1]), dtype=bool))
    if model.missing == "marginalise":
        np.testing.assert_allclose(calm.predict_log_proba(nothing), model.predict_log_proba(nothing), rtol=1e-12)


def test_it_is_explained_decided_with_saved_and_loaded(calibrated, tmp_path):
    model, calm, frame, y = calibrated
    row = frame.iloc[0].to_dict()
    np.testing.assert_allclose(mr.explain(calm, row).posterior, calm.predict_proba(frame[:1])[0], rtol=1e-12)
    decided = mr.DecisionClassifier(FrozenEstimator(calm), costs=[[0, 5], [1, 0]]).fit(frame, y)
    np.testing.assert_array_equal(decided.predict_proba(frame), calm.predict_proba(frame))
    calm.save(tmp_path / "calm.merula")
    again = mr.load(tmp_path / "calm.merula")
    assert again.temperature_ == calm.temperature_
    np.testing.assert_array_equal(again.predict_proba(frame), calm.predict_proba(frame))
    assert not hasattr(model, "temperature_")


def test_what_needs_the_probability_of_rows_is_left_to_the_model_it_came_from(calibrated):
    model, calm, frame, _ = calibrated
    for name in ("log_evidence", "log_likelihood", "aic", "bic", "sample", "partial_fit"):
        assert not hasattr(calm, name)
    with pytest.raises(AttributeError) as refusal:
        calm.sample(3)
    said = (
        "weights=None has it"
        if getattr(model, "weights", None) == "conditional"
        else "ask the model that was calibrated"
    )
    assert said in str(refusal.value)
    with pytest.raises(ValueError, match="models cannot be merged"):
        calm + calm
    assert calm.with_class_prior("uniform").predict_proba(frame).shape == (len(frame), 2)


def test_the_temperature_is_that_of_another_optimiser(calibrated):
    """On rows the model has not seen, from `predict_log_proba` of its terms divided by hand."""
    model, _, _, _ = calibrated
    frame, y = patients(200, seed=7)
    calm = model.calibrated(frame, y, cv="prefit")
    codes = np.searchsorted(model.classes_, y)

    def loss(log_temperature):
        own = divided(model, frame, np.exp(log_temperature))[np.arange(len(y)), codes]
        return -own[np.isfinite(own)].mean()

    found = minimize_scalar(loss, bounds=np.log([0.1, 100]), method="bounded", options={"xatol": 1e-10})
    assert loss(np.log(calm.temperature_)) <= found.fun + 1e-12
    assert calm.temperature_ == pytest.approx(np.exp(found.x), rel=1e-4)
    assert loss(np.log(calm.temperature_)) <= loss(0.0)


def test_out_of_fold_means_by_models_of_the_other_folds():
    frame, y = patients(90)
    model = mr.NaiveBayesClassifier().fit(frame, y)
    splitter = KFold(3)
    calm = model.calibrated(frame, y, cv=splitter)
    parts = [
        (mr.NaiveBayesClassifier().fit(frame.iloc[a], y[a]), frame.iloc[b], y[b]) for a, b in splitter.split(frame)
    ]

    def loss(temperature):
        logs = [divided(one, rows, temperature)[np.arange(len(own)), np.searchsorted(one.classes_, own)] for one, rows, own in parts]  # fmt: skip
        return -np.concatenate(logs).sum()

    found = minimize_scalar(loss, bounds=(0.1, 100), method="bounded", options={"xatol": 1e-9})
    assert calm.temperature_ == pytest.approx(found.x, rel=1e-5)
    assert loss(calm.temperature_) <= min(loss(1.0), found.fun + 1e-9)


@pytest.mark.parametrize("name", ["naive", "tan", "aode", "neighbors"])
def test_row_order_and_weights_as_repeats(name):
    frame, y = patients(60)
    model = MODELS[name].fit(frame, y)
    rng = np.random.default_rng(1)
    order, weights = rng.permutation(60), rng.integers(0, 3, 60)
    calm = model.calibrated(frame, y)
    assert model.calibrated(frame.iloc[order], y[order]).temperature_ == pytest.approx(calm.temperature_, rel=1e-7)
    repeated = np.repeat(np.arange(60), weights)
    heavy = model.calibrated(frame, y, weights.astype(float)).temperature_
    assert model.calibrated(frame.iloc[repeated], y[repeated]).temperature_ == pytest.approx(heavy, rel=1e-7)


def test_an_overconfident_model_improves_on_fresh_rows():
    frame, y = patients(400, copies=6)
    fresh, truth = patients(4000, seed=9, copies=6)
    model = mr.NaiveBayesClassifier().fit(frame, y)
    calm = model.calibrated(frame, y)
    assert calm.temperature_ > 2
    assert log_loss(truth, calm.predict_proba(fresh)) < log_loss(truth, model.predict_proba(fresh)) - 0.05
    by_evaluation = mr.evaluate(FrozenEstimator(calm), fresh, truth, cv=3, repeats=1)["log_loss"].value
    assert by_evaluation == pytest.approx(log_loss(truth, calm.predict_proba(fresh)), rel=1e-2)


def test_a_temperature_of_one_changes_nothing():
    frame, y = patients(60)
    for model in (mr.NaiveBayesClassifier().fit(frame, y), mr.AODEClassifier().fit(frame, y)):
        same = model.fitted_.with_temperature(1.0)
        assert not same.is_conditional
        rows = model._encoded(frame)
        np.testing.assert_array_equal(same.log_joint(rows), model.fitted_.log_joint(rows))


def test_columns_that_say_nothing_leave_the_temperature_at_one():
    rows, y = [["red"]] * 20, ["ripe", "unripe"] * 10
    model = mr.NaiveBayesClassifier().fit(rows, y)
    assert model.calibrated(rows, y).temperature_ == 1


def test_calibrated_again_is_calibrated_anew():
    frame, y = patients(100)
    fresh, truth = patients(100, seed=3)
    model = mr.NaiveBayesClassifier().fit(frame, y)
    calm = model.calibrated(frame, y)
    for cv in (5, "prefit"):
        once, twice = (one.calibrated(fresh, truth, cv=cv) for one in (model, calm))
        assert twice.temperature_ == pytest.approx(once.temperature_, rel=1e-7)
        np.testing.assert_allclose(twice.predict_proba(frame), once.predict_proba(frame), rtol=1e-6)


def test_temperatures_are_bounded():
    certain = Scored(np.zeros((4, 1, 2)), np.array([[[0.0, -1.0]]] * 4), np.zeros(4, dtype=np.int64), np.ones(4))
    wrong = Scored(np.zeros((4, 1, 2)), np.array([[[0.0, -1.0]]] * 4), np.ones(4, dtype=np.int64), np.ones(4))
    assert best_temperature([certain]) == pytest.approx(0.1)
    assert best_temperature([wrong]) == pytest.approx(100)


def test_folds_may_be_masks():
    frame, y = patients(40)
    model, mask = mr.NaiveBayesClassifier().fit(frame, y), np.arange(40) < 25
    numbers = model.calibrated(frame, y, cv=[(np.flatnonzero(mask), np.flatnonzero(~mask))])
    assert model.calibrated(frame, y, cv=[(mask, ~mask)]).temperature_ == numbers.temperature_


def test_what_cannot_be_calibrated_says_why():
    frame, y = patients(40)
    model = mr.NaiveBayesClassifier().fit(frame, y)
    with pytest.raises(ValueError, match="cv is 1, expected a number of folds from 2, a scikit-learn splitter"):
        model.calibrated(frame, y, cv=1)
    for odd, told in [
        ([3], "fold 1 of cv is of type int, expected a pair"),
        ([(np.arange(20), np.arange(20, 41))], "fold 1 of cv is an array of int64 of shape \\(21,\\) from 20 to 40"),
        ([(np.arange(20), np.ones(39, dtype=bool))], "expected row numbers from 0 to 39, or a mask of 40"),
        ([([1, [2, 3]], [1])], "fold 1 of cv holds lists of different lengths"),
        ([(np.arange(20), np.arange(19, 40))], "fold 1 of cv has row 19 both in train and in test"),
        (KFold, "cv is <class"),
        (3.5, "cv is 3.5"),
    ]:
        with pytest.raises(mr.InputError, match=told):
            model.calibrated(frame, y, cv=odd)
    with pytest.raises(ValueError, match="y holds.*'tot'.*the model does not know"):
        model.calibrated(frame, np.where(np.arange(40) == 3, "tot", y))
    fruit = {"apple": {"red": 0.5, "green": 0.5}, "cherry": {"red": 1.0, "green": 0.0}}
    stated = mr.NaiveBayesClassifier.from_tables({"apple": 0.5, "cherry": 0.5}, {"color": fruit})
    rows, classes = [["red"], ["green"], ["red"]] * 4, ["cherry", "apple", "apple"] * 4
    with pytest.raises(ValueError, match="were stated.*cv='prefit'"):
        stated.calibrated(rows, classes)
    assert stated.calibrated(rows, classes, cv="prefit").temperature_ > 0
    with pytest.raises(ValueError, match="no row can be scored"):
        mr.NaiveBayesClassifier().fit(frame[:2], ["gesund", "krank"]).calibrated(frame[:2], ["gesund", "krank"])
    with pytest.raises(NotFittedError):
        mr.NaiveBayesClassifier().calibrated(frame, y)


def test_columns_that_the_model_does_not_have_are_not_learned_from_in_the_folds():
    """Of a table that still holds the target, models of the folds would learn that alone, and be sure of everything."""
    frame, ill = patients()
    model = mr.NaiveBayesClassifier().fit(frame, ill)
    whole = frame.assign(diagnosis=ill)
    assert model.calibrated(whole, ill).temperature_ == model.calibrated(frame, ill).temperature_
