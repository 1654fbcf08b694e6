"""AutoBayesClassifier as a stranger meets it: odd tables, odd labels, and what it does not do."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import merula as mr
from merula.classify.pooled.similar import SimilarRows
from merula.classify.sentinels import SentinelWarning

FAST = {"max_rounds": 5}


def birds(n=40, seed=0):
    """Two numbers and a word, and two species that they tell apart more or less."""
    rng = np.random.default_rng(seed)
    wren = np.arange(n) % 2 == 0
    words = np.array(["u", "v", "w"])[(rng.integers(0, 2, n) + wren) % 3]
    frame = pd.DataFrame({"wing": rng.normal(1.5 * wren), "beak": rng.normal(size=n), "colour": words})
    return frame, np.where(wren, "wren", "tit")


def proper(model, *tables):
    """Probabilities that add up to 1, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in tables:
            found = model.predict_proba(rows)
            assert np.isfinite(found).all()
            assert (found >= 0).all()
            np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-9)
            np.testing.assert_array_equal(model.predict(rows), model.classes_[found.argmax(axis=1)])
    assert np.isfinite([*model.weights_.values(), model.slip_]).all()
    assert np.isfinite([*model.out_of_fold_.values()]).all()
    return model


def odd(**changes):
    frame, species = birds()
    return frame.assign(**changes), species


RNG = np.random.default_rng(1)
ODD_TABLES = {
    "plain": odd(),
    "heavy tails": odd(wing=RNG.standard_cauchy(40) * 1e3),
    "forty orders of magnitude": odd(wing=np.exp(20 * RNG.normal(size=40))),
    "sentinels": odd(wing=np.where(RNG.random(40) < 0.3, -999, RNG.normal(size=40))),
    "far from zero": odd(wing=birds()[0]["wing"] + 1e9),
    "farther than digits": odd(wing=birds()[0]["wing"] + 1e16),
    "tiny": odd(wing=birds()[0]["wing"] * 1e-150),
    "a column twice": odd(again=birds()[0]["wing"], nearly=birds()[0]["wing"] * (1 + 1e-12)),
    "a level for each row": odd(name=[f"bird {k}" for k in range(40)]),
    "only names": (pd.DataFrame({"name": [f"bird {k}" for k in range(40)]}), birds()[1]),
    "no column varies": (pd.DataFrame({"wing": [1.0] * 40, "colour": ["u"] * 40}), birds()[1]),
    "a value and nothing else": odd(rare=[3.0] + [np.nan] * 39, word=["z"] + [None] * 39),
    "a column of gaps": odd(nothing=np.nan, word=None),
    "only gaps": (pd.DataFrame({"nothing": [np.nan] * 40}), birds()[1]),
    "zeros of both signs": odd(wing=np.where(RNG.random(40) < 0.5, -0.0, 0.0)),
    "the same row with both classes": (
        pd.DataFrame({"wing": [1.0, 2.0] * 20, "colour": ["u"] * 40}),
        np.repeat(["wren", "tit"], 20),
    ),
    "told apart for certain": odd(wing=np.where(birds()[1] == "wren", 1e6, 0.0)),
    "truth values": odd(seen=RNG.random(40) < 0.5),
    "dates with gaps": odd(
        day=pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(40), unit="D")).where(RNG.random(40) < 0.7)
    ),
}


@pytest.mark.parametrize("name", ODD_TABLES)
def test_odd_tables_have_proper_answers(name, tmp_path):
    frame, species = ODD_TABLES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SentinelWarning)
        warnings.filterwarnings("ignore", ".*looks like an identifier")
        model = mr.AutoBayesClassifier(**FAST).fit(frame, species)
    nothing = pd.DataFrame({column: [None] for column in frame}).astype(dict.fromkeys(frame.select_dtypes("number"), float))  # fmt: skip
    proper(model, frame, nothing)
    proper(model.portable(), frame, nothing)
    model.save(tmp_path / "odd.merula")
    np.testing.assert_array_equal(mr.load(tmp_path / "odd.merula").predict_proba(frame), model.predict_proba(frame))
    shown = mr.explain(model, frame.iloc[[0]])
    np.testing.assert_allclose(shown.posterior, model.predict_proba(frame.iloc[[0]])[0], rtol=1e-9)


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 60)), np.arange(30) % 2
    model = proper(mr.AutoBayesClassifier(**FAST).fit(x, y), x)
    assert model.out_of_fold_["pool"][0] < model.out_of_fold_["prior"][0] + 0.2  # there is nothing to find


def test_noise_is_not_believed():
    rng = np.random.default_rng(2)
    x, y, new = rng.normal(size=(300, 4)), rng.integers(0, 2, 300), rng.normal(size=(300, 4))
    model = mr.AutoBayesClassifier(max_rounds=20).fit(x, y)
    assert np.abs(model.predict_proba(new)[:, 1] - y.mean()).mean() < 0.12


@pytest.mark.parametrize("where", ["learning", "answering"])
def test_infinity_is_named(where):
    frame, species = birds()
    endless = frame.assign(wing=np.inf)
    with pytest.raises(mr.InputError, match="'wing' contains infinity"):
        mr.AutoBayesClassifier(**FAST).fit(endless if where == "learning" else frame, species).predict(endless)


@pytest.mark.parametrize("labels", [["a", "b", "a"], [True, False, True], [7, -3, 7]])
def test_three_rows(labels):
    frame = birds()[0].head(3)
    model = proper(mr.AutoBayesClassifier(**FAST).fit(frame, labels), frame)
    assert model.classes_.tolist() == sorted(set(labels))


def test_labels_of_other_kinds_are_the_same_model():
    frame, species = birds()
    expected = mr.AutoBayesClassifier(**FAST).fit(frame, species).predict_proba(frame)
    for own in (species == "wren", np.where(species == "wren", 4, -1)):
        np.testing.assert_allclose(mr.AutoBayesClassifier(**FAST).fit(frame, own).predict_proba(frame), expected)


def test_a_class_of_one_row():
    frame, species = birds()
    species = species.astype(object)
    species[0] = "owl"
    model = proper(mr.AutoBayesClassifier(**FAST).fit(frame, species), frame)
    assert model.predict_proba(frame)[:, 0].mean() < 0.15


def test_thirty_classes():
    frame = birds(90)[0]
    model = proper(mr.AutoBayesClassifier(**FAST).fit(frame, np.arange(90) % 30), frame)
    assert model.out_of_fold_["pool"][0] < np.log(30) + 0.1


def test_a_class_without_weight_is_left_out():
    frame, species = birds()
    owls = np.where(np.arange(40) < 6, "owl", species)
    weights = (owls != "owl").astype(float)
    model = proper(mr.AutoBayesClassifier(**FAST).fit(frame, owls, weights), frame)
    other = mr.AutoBayesClassifier(**FAST).fit(frame[6:], species[6:])
    assert model.classes_.tolist() == ["tit", "wren"]
    np.testing.assert_allclose(model.predict_proba(frame), other.predict_proba(frame), rtol=1e-6)


@pytest.mark.parametrize("weight", [0.01, 0.3, 1e6])
def test_weights_of_any_size(weight):
    frame, species = birds()
    model = proper(mr.AutoBayesClassifier(**FAST).fit(frame, species, np.full(40, weight)), frame)
    assert model.out_of_fold_["pool"][0] < model.out_of_fold_["prior"][0] + 0.05


PRIORS = ["empirical", "laplace", "uniform", {"tit": 0.9, "wren": 0.1}, [0.25, 0.75]]


@pytest.mark.parametrize(("prior", "missing"), [(prior, "auto") for prior in PRIORS] + [("uniform", "marginalise"), ("uniform", "level")])  # fmt: skip
def test_a_row_of_which_nothing_is_known_has_the_prior(prior, missing):
    frame, species = birds()
    model = mr.AutoBayesClassifier(class_prior=prior, missing=missing, **FAST).fit(frame, species)
    stated = {"empirical": [0.5, 0.5], "laplace": [0.5, 0.5], "uniform": [0.5, 0.5]}
    expected = list(prior.values()) if isinstance(prior, dict) else prior if isinstance(prior, list) else stated[prior]
    nothing = pd.DataFrame({"wing": [np.nan], "beak": [np.nan], "colour": [None]})
    np.testing.assert_allclose(model.predict_proba(nothing), [expected], rtol=1e-9)
    moved = model.with_class_prior({"tit": 0.3, "wren": 0.7})
    np.testing.assert_allclose(moved.predict_proba(nothing), [[0.3, 0.7]], rtol=1e-9)


def test_another_prior_is_the_model_fitted_with_it():
    frame, species = birds()
    stated = {"tit": 0.3, "wren": 0.7}
    moved = mr.AutoBayesClassifier(**FAST).fit(frame, species).with_class_prior(stated)
    again = mr.AutoBayesClassifier(class_prior=stated, **FAST).fit(frame, species)
    np.testing.assert_allclose(moved.predict_proba(frame), again.predict_proba(frame), rtol=1e-9)


@pytest.mark.parametrize("order", [1, 2])
def test_terms_have_no_more_columns_than_the_order(order, table, classes):
    model = mr.AutoBayesClassifier(order, kinds={"visits": "count", "remark": "text"}, max_rounds=20).fit(table, classes)  # fmt: skip
    normal = 0
    for part, weight in model.fitted_.components[0].factors:
        if weight == 0:
            continue
        name = type(getattr(part, "part", part)).__name__
        if order == 2 and name == "MultivariateGaussianDistribution":  # a sum over pairs
            normal += 1
            continue
        assert len({*part.columns, *part.parents}) <= order, name
    assert normal == order - 1
    assert not any(isinstance(part, SimilarRows) for part in model.distributions_)


def test_a_term_of_order_one_depends_on_its_column_alone(table, classes):
    """Whatever the other columns hold: the posterior's log-odds are a sum of functions of one column each."""
    numbers = table[["größe", "smoker"]]
    model = mr.AutoBayesClassifier(1, **FAST).fit(numbers, classes)
    grid = pd.DataFrame({"größe": [1.6, 1.6, 1.8, 1.8], "smoker": ["no", "yes", "no", "yes"]})
    first = model.components(grid)[0]
    scores = sum(term.values for term in first.terms)
    odds = scores[:, 1] - scores[:, 0]
    assert odds[3] - odds[2] == pytest.approx(odds[1] - odds[0], abs=1e-9)


def test_without_kept_rows_there_are_none(table, classes):
    model = mr.AutoBayesClassifier(keep_rows=False, kinds={"remark": "text"}, **FAST).fit(table, classes)
    assert "similar rows" not in model.parts_
    assert not any(isinstance(part, SimilarRows) for part in model.distributions_)


def test_every_kind_of_column_has_a_part(pool):
    assert set(pool.parts_) == {"pairs", "tables", "twin", "texts", "gaussians", "similar rows"}
    assert set(pool.out_of_fold_) == {*pool.parts_, "prior", "pool", "portable", "joint"}
    assert pool.out_of_fold_["pool"][0] < pool.out_of_fold_["prior"][0]
    used = {name for part in pool.distributions_ for name in (*part.columns, *part.parents)}
    assert used == set(pool.feature_names_in_)


def test_texts_alone(table, classes):
    model = proper(mr.AutoBayesClassifier(kinds="text", **FAST).fit(table[["remark"]], classes), table[["remark"]])
    assert model.parts_ == ("texts",)


def test_it_is_the_same_each_time_and_for_any_number_of_threads(table, classes):
    options = {"kinds": {"remark": "text"}, **FAST}
    one = mr.AutoBayesClassifier(n_jobs=1, **options).fit(table, classes)
    two = mr.AutoBayesClassifier(n_jobs=2, **options).fit(table, classes)
    np.testing.assert_array_equal(one.predict_proba(table), two.predict_proba(table))
    np.testing.assert_array_equal(clone(one).fit(table, classes).predict_proba(table), one.predict_proba(table))


# ---------------------------------------------------------------------------------------------------------------------
# What it does not do, and what goes around it


def test_what_needs_the_probability_of_rows_says_what_to_use_instead(pool, table, classes):
    with pytest.raises(mr.InputError, match="NaiveBayesClassifier"):
        pool + pool
    for name in ("log_evidence", "sample", "bic", "partial_fit"):
        assert not hasattr(pool, name)
        with pytest.raises(
            AttributeError, match="NaiveBayesClassifier" if name == "partial_fit" else "ask joint_, its joint part"
        ):
            getattr(pool, name)


def test_a_calibrated_pool_is_the_pool_with_terms_divided(pool, calm, table):
    first, before = calm.components(table)[0], pool.components(table)[0]
    for one, other in zip(first.terms, before.terms, strict=True):
        np.testing.assert_allclose(one.values, other.values / calm.temperature_, rtol=1e-9, atol=1e-12)
    proper(calm, table)


def test_decisions_and_evaluations_go_around_it(table, classes):
    model = mr.AutoBayesClassifier(kinds={"remark": "text"}, **FAST)
    costs = {"healthy": {"healthy": 0.0, "ill": 9.0}, "ill": {"healthy": 1.0, "ill": 0.0}}
    decided = mr.DecisionClassifier(model, costs=costs).fit(table, classes)
    p = decided.predict_proba(table)
    np.testing.assert_array_equal(decided.predict(table), np.where(9 * p[:, 1] > p[:, 0], "ill", "healthy"))
    found = mr.evaluate(mr.AutoBayesClassifier(1, max_rounds=2), table[["pressure", "smoker"]], classes, cv=3)
    assert "log loss" in str(found)
