"""Weights by conditional likelihood: derivatives, the optimum, what weights of 1 are, and what weights are good for."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import Bounds, check_grad, minimize
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss

import merula as mr
from merula.classify import term_weights
from merula.classify.fitted import combined
from merula.classify.folds import Folds, some_of_each
from merula.classify.left_out import LeftOutTerms
from merula.classify.term_weights import ConditionalLikelihood, best_ridge, fit_weights

WORDS = ("色泽", "cough", "blood type", "smoker")


def patients(n=200, seed=0, lost=0.1):
    """Columns of words that hang together, a number, and the diagnosis."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["gesund", "krank", "unklar"], n, p=[0.5, 0.3, 0.2])
    ill, hidden = (y == "krank") + 2 * (y == "unklar"), rng.integers(0, 3, n)
    columns = {
        name: np.array(list("abcd"))[(hidden * rng.integers(0, 2, n) + ill * (rng.random(n) < 0.5)) % size]
        for name, size in zip(WORDS, (3, 4, 3, 2), strict=True)
    }
    frame = pd.DataFrame(columns | {"blood pressure": rng.normal(120, 10, n) + 6 * ill})
    return frame.mask(rng.random(frame.shape) < lost), y


def problem(n=60, factors=5, classes=3, seed=0):
    """Terms drawn at random, which say something of the class, with their weights and folds."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, classes, n)
    values = rng.normal(-2, 1, (factors, n, classes))
    values[:2, np.arange(n), codes] += 1.0
    values[2:4] = values[:1] + rng.normal(0, 0.1, (2, n, classes))  # columns that say the same again
    found = LeftOutTerms(values, codes, rng.integers(1, 3, n).astype(float), np.arange(n) % 5)
    return found, np.log(rng.dirichlet(np.ones(classes) * 5))


# -------------------------------------------------------------------------------------------------------- optimisation


@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_derivatives_are_those_of_central_differences(ridge):
    found, log_prior = problem()
    likelihood = ConditionalLikelihood.of(found, log_prior)
    rng = np.random.default_rng(1)
    for _ in range(3):
        w = rng.uniform(0, 2, len(found.values))

        def value(at):
            return likelihood.objective(at, found.weights, ridge)[0]

        def slope(at):
            return likelihood.objective(at, found.weights, ridge)[1]

        steps = 1e-5 * np.eye(len(w))
        central = [(value(w + step) - value(w - step)) / 2e-5 for step in steps]
        np.testing.assert_allclose(slope(w), central, rtol=1e-6, atol=1e-6)
        assert check_grad(value, slope, w) < 1e-3
        curves = [(slope(w + step) - slope(w - step)) / 2e-5 for step in steps]
        np.testing.assert_allclose(likelihood.curvature(w, found.weights, ridge), curves, rtol=1e-5, atol=1e-5)


def test_the_value_is_the_definition():
    found, log_prior = problem()
    w = np.linspace(0, 2, len(found.values))
    scores = np.exp(log_prior + np.einsum("f,frc->rc", w, found.values))
    own = scores[np.arange(len(scores)), found.codes] / scores.sum(axis=1)
    expected = -(found.weights @ np.log(own)) + 3 * ((w - 1) ** 2).sum() / 2
    value, _ = ConditionalLikelihood.of(found, log_prior).objective(w, found.weights, 3.0)
    assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_optimum_is_that_of_another_optimiser(seed):
    found, log_prior = problem(seed=seed)
    likelihood = ConditionalLikelihood.of(found, log_prior)
    weights, ridge = fit_weights(found, log_prior)
    other = minimize(
        lambda w: likelihood.objective(w, found.weights, ridge)[0],
        np.full(len(weights), 0.5),
        jac=lambda w: likelihood.objective(w, found.weights, ridge)[1],
        method="trust-constr",
        bounds=Bounds(0, np.inf),
        options={"gtol": 1e-10, "xtol": 1e-12, "maxiter": 3000},
    )
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights, other.x, atol=2e-4)
    mine, theirs = (likelihood.objective(w, found.weights, ridge)[0] for w in (weights, other.x))
    assert mine <= theirs + 1e-9 * abs(theirs)
    slope = likelihood.objective(weights, found.weights, ridge)[1]
    assert np.abs(slope[weights > 0]).max() < 1e-5 and (slope[weights == 0] >= 0).all()


def test_a_strong_ridge_holds_weights_at_one(monkeypatch):
    monkeypatch.setattr(term_weights, "RIDGES", np.array([1e12]))
    frame, y = patients()
    weighted = mr.NaiveBayesClassifier(weights="conditional").fit(frame, y)
    assert weighted.ridge_ == 1e12
    plain = mr.NaiveBayesClassifier().fit(frame, y)
    np.testing.assert_allclose(weighted.predict_proba(frame), plain.predict_proba(frame), atol=1e-8)


def test_equal_ridges_give_way_to_the_strongest():
    found, log_prior = problem()
    nothing = LeftOutTerms(np.zeros_like(found.values), found.codes, found.weights, found.folds)
    assert best_ridge(ConditionalLikelihood.of(nothing, log_prior), found.weights, found.folds) == term_weights.RIDGES.max()  # fmt: skip


def test_the_ridge_is_the_best_out_of_fold():
    found, log_prior = problem(n=100)
    likelihood = ConditionalLikelihood.of(found, log_prior)
    losses = []
    for ridge in term_weights.RIDGES:
        total = 0.0
        for fold in range(5):
            own = found.folds == fold
            some = LeftOutTerms(found.values[:, ~own], found.codes[~own], found.weights[~own], found.folds[~own])
            rest = ConditionalLikelihood.of(some, log_prior)
            w = minimize(rest.objective, np.ones(5), (some.weights, ridge), "trust-constr", jac=True, bounds=Bounds(0, np.inf), options={"gtol": 1e-9}).x  # fmt: skip
            total += found.weights[own] @ likelihood.losses(w)[own]
        losses.append(total)
    assert best_ridge(likelihood, found.weights, found.folds) == term_weights.RIDGES[np.argmin(losses)]


def test_large_tables_are_sampled_by_content():
    rng = np.random.default_rng(0)
    shares = np.eye(5)[np.arange(1000) % 5] * rng.integers(1, 3, 1000)[:, None]
    order = rng.permutation(1000)
    some = some_of_each(Folds(shares), order, 150)
    assert 100 < sum(len(one.indices) for one in some) <= 160
    assert sum(one.weights.sum() for one in some) == pytest.approx(shares.sum() / np.ceil(shares.sum() / 150), abs=5)
    where = np.argsort(order)
    moved = some_of_each(Folds(shares[order]), np.arange(1000), 150)
    for one, other in zip(some, moved, strict=True):
        assert sorted(where[one.indices]) == sorted(other.indices)
    for one, fold in zip(some_of_each(Folds(shares), order, 10**6), shares.T, strict=True):
        np.testing.assert_array_equal(one.weights, fold[fold > 0])


# ------------------------------------------------------------------------------------------------------------- models

MODELS = {
    "naive": mr.NaiveBayesClassifier(weights="conditional"),
    "naive-level": mr.NaiveBayesClassifier(weights="conditional", missing="level", unseen="smooth"),
    "naive-kernel": mr.NaiveBayesClassifier(weights="conditional", distributions={"numeric": "kernel"}),
    "tan": mr.TANClassifier(weights="conditional"),
    "tan-laplace": mr.TANClassifier(weights="conditional", smoothing=1, distributions={"numeric": "gaussian"}),
    "kdb": mr.KDBClassifier(2, weights="conditional", numeric="quantile", bins=3),
    "kdb-smooth": mr.KDBClassifier(2, weights="conditional", unseen="smooth", missing="level"),
}


@pytest.fixture(scope="module", params=MODELS)
def weighted(request):
    frame, y = patients()
    return MODELS[request.param].fit(frame, y), frame, y


def odd(frame):
    """The rows, and some with a level never seen and with nothing known."""
    more = frame[:6].copy()
    more.loc[:2, "cough"] = "never heard"
    more.loc[3, :] = np.nan
    return pd.concat([frame, more], ignore_index=True)


@pytest.mark.filterwarnings("ignore::merula.UnseenLevelWarning")
def test_the_fast_way_is_the_generic_way(weighted):
    model, frame, _ = weighted
    assert model.fitted_.is_conditional
    rows = model._encoded(odd(frame))
    expected = combined(model.fitted_.unsummed(rows))
    np.testing.assert_allclose(model.fitted_.log_joint(rows), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore::merula.UnseenLevelWarning")
def test_weights_of_one_are_the_generative_model(weighted):
    model, frame, y = weighted
    rows = odd(frame)
    cut = (
        {"numeric": "quantile"} if "numeric" in model.get_params() else {}
    )  # without the class, as where rows are left out
    plain = type(model)(**(model.get_params(deep=False) | {"weights": None} | cut)).fit(frame, y)
    (component,) = model.fitted_.components
    ones = model.fitted_.with_weights([1.0] * len(component.factors))
    assert ones.is_plain_sum
    expected = plain.predict_joint_log_proba(rows)
    np.testing.assert_array_equal(ones.log_joint(model._encoded(rows)), expected)
    np.testing.assert_allclose(combined(ones.unsummed(model._encoded(rows))), expected, rtol=1e-12, atol=1e-12)


def test_weights_are_told_by_column_and_depth(weighted):
    model, frame, _ = weighted
    assert sorted(model.weights_) == sorted(frame.columns)
    parents = getattr(model, "parents_", dict.fromkeys(frame.columns, ()))
    for name, own in model.weights_.items():
        depths = own if isinstance(own, tuple) else (own,)
        assert len(depths) == len(parents[name]) + 1
        assert all(weight >= 0 for weight in depths)
    assert model.ridge_ in term_weights.RIDGES
    reasons = mr.explain(model, frame.iloc[0].to_dict()).reasons
    own = {name: [one.weight for one in reasons if one.columns == (name,)] for name in frame.columns}
    assert {name: tuple(some) if len(some) > 1 else some[0] for name, some in own.items()} == model.weights_


def test_a_weighted_model_is_saved_and_loaded(weighted, tmp_path):
    model, frame, _ = weighted
    model.save(tmp_path / "weighted.merula")
    again = mr.load(tmp_path / "weighted.merula")
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert again.weights_ == model.weights_ and again.ridge_ == model.ridge_
    assert not hasattr(again, "sample")


def test_a_column_repeated_is_believed_once():
    frame, y = patients(600, seed=3)
    for copy in range(5):
        frame[f"cough {copy}"] = frame["cough"]
    fresh, truth = patients(3000, seed=4)
    for copy in range(5):
        fresh[f"cough {copy}"] = fresh["cough"]
    losses = {}
    for weights in (None, "conditional"):
        model = mr.NaiveBayesClassifier(weights=weights).fit(frame, y)
        losses[weights] = log_loss(truth, model.predict_proba(fresh))
    assert losses["conditional"] < losses[None] - 0.05
    repeated = [model.weights_[f"cough {copy}"] for copy in range(5)]
    assert max(repeated) < 0.5 and np.ptp(repeated) < 1e-7


def test_a_row_of_which_nothing_is_known_gets_the_prior(weighted):
    model, frame, _ = weighted
    if model.missing == "marginalise":
        nothing = frame[:1].mask(np.ones((1, frame.shape[1]), dtype=bool))
        np.testing.assert_allclose(model.predict_log_proba(nothing), [model.class_log_prior_], rtol=1e-14)


ABSENT = ("log_evidence", "log_likelihood", "aic", "bic", "sample", "partial_fit")


@pytest.mark.parametrize("name", ABSENT)
def test_what_a_conditional_model_lacks_is_hidden_and_explained(name):
    frame, y = patients(60)
    model = mr.NaiveBayesClassifier(weights="conditional")
    for one in (model, model.fit(frame, y)):
        assert not hasattr(one, name)
        with pytest.raises(AttributeError) as refusal:
            getattr(one, name)
        assert "gives P(class given row) and no P(row); weights=None has it" in str(refusal.value)
    assert hasattr(mr.NaiveBayesClassifier().fit(frame, y), name)


def test_weighted_models_do_not_merge():
    frame, y = patients(60)
    model = mr.TANClassifier(weights="conditional").fit(frame, y)
    with pytest.raises(
        ValueError, match="models cannot be merged: its terms are weighted.*fit one on the rows of both"
    ):
        model + model


def test_another_word_is_refused():
    with pytest.raises(ValueError, match="weights.*'equal'.*None or 'conditional'"):
        mr.TANClassifier(weights="equal").fit([["red"], ["blue"]], [0, 1])


def test_unsmoothed_zeros_do_not_break_the_fit():
    frame, y = patients(80, seed=5)
    model = mr.NaiveBayesClassifier(weights="conditional", smoothing=0).fit(frame, y)
    assert np.isfinite(model.predict_proba(frame)).all()


def test_decisions_and_evaluation_take_weighted_models():
    frame, y = patients(150)
    frame = frame.replace({"cough": {"d": "c"}})  # too rare to be in every fold
    model = mr.KDBClassifier(1, weights="conditional")
    costs = {"treat": {"gesund": 1, "krank": 0, "unklar": 0}, "wait": {"gesund": 0, "krank": 5, "unklar": 1}}
    decided = mr.DecisionClassifier(model, costs=costs).fit(frame, y)
    assert set(decided.predict(frame)) <= {"treat", "wait"}
    assert mr.explain(decided, frame.iloc[0].to_dict()).posterior == pytest.approx(decided.predict_proba(frame[:1])[0])
    found = mr.evaluate({"plain": mr.KDBClassifier(1), "weighted": model}, frame, y, cv=3, repeats=1)
    assert np.isfinite(found["weighted"]["log_loss"].value)
    frozen = mr.evaluate(FrozenEstimator(model.fit(frame, y)), frame, y, cv=3, repeats=1)
    assert np.isfinite(frozen["log_loss"].value)
