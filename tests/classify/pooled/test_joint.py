"""The joint part of a pool: which model it is, what it is asked, and that it travels with the pool."""

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.classify.model_files import model_state
from merula.core.archive import write_state

FAST = {"max_rounds": 5}


def chained(n=240, seed=3):
    """Numbers that depend on one another given the class, in either class another way, and words."""
    rng = np.random.default_rng(seed)
    ill = rng.integers(0, 2, n)
    heat = rng.normal(0.2 * ill, 1.0)
    pulse = heat * np.where(ill, 1.0, -1.0) + rng.normal(0, 0.3, n)
    words = np.array(["no", "yes"])
    cough, throat = (words[(rng.random(n) < 0.4 + 0.2 * ill).astype(int)] for _ in range(2))
    return pd.DataFrame({"heat": heat, "pulse": pulse, "cough": cough, "throat": throat}), np.array(["well", "ill"])[
        ill
    ]


@pytest.fixture(scope="module")
def rows():
    return chained()


@pytest.fixture(scope="module")
def pool(rows):
    return mr.AutoBayesClassifier(**FAST).fit(*rows)


def together(covariance, **options):
    return mr.NaiveBayesClassifier(distributions={"numeric": mr.MultivariateGaussian(covariance)}, **options)


def test_it_is_the_model_that_such_rows_make(pool, rows):
    alone = together("full").fit(*rows)
    np.testing.assert_allclose(pool.joint_.log_evidence(rows[0]), alone.log_evidence(rows[0]), rtol=1e-9, atol=1e-9)


def test_it_is_the_one_that_predicts_other_rows_best(pool, rows):
    X, y = chained(4_000, seed=4)
    losses = {}
    for name, model in {
        "naive": mr.NaiveBayesClassifier(),
        "full": together("full"),
        "shared": together("shared"),
    }.items():
        p = model.fit(*rows).predict_proba(X)
        losses[name] = -np.log(p[np.arange(len(y)), (y == "well").astype(int)]).mean()
    assert min(losses, key=losses.get) == "full"
    assert pool.out_of_fold_["joint"][0] == pytest.approx(losses["full"], abs=4 * pool.out_of_fold_["joint"][1])


def test_questions_are_asked_of_it_and_say_so(pool, rows):
    row = {"heat": 0.4, "cough": "yes"}
    asked, directly = mr.next_question(pool, row), mr.next_question(pool.joint_, row)
    assert asked.risk == directly.risk
    assert asked.questions == directly.questions
    assert "NaiveBayesClassifier, the joint part of the pool" in str(asked)
    assert asked.to_dict()["asked"] == asked.asked
    assert directly.asked == ""
    assert "asked" not in directly.to_dict()


def test_it_travels_with_the_pool(pool, rows, tmp_path):
    pool.save(tmp_path / "pool.merula")
    for model in (mr.load(tmp_path / "pool.merula"), pool.portable()):
        np.testing.assert_array_equal(model.joint_.log_evidence(rows[0]), pool.joint_.log_evidence(rows[0]))


def test_it_has_the_prior_of_the_pool(pool, rows):
    prior = {"ill": 0.02, "well": 0.98}
    moved = pool.with_class_prior(prior)
    np.testing.assert_allclose(np.exp(moved.joint_.class_log_prior_), [0.02, 0.98])
    expected = together("full", class_prior=prior).fit(*rows)
    np.testing.assert_allclose(moved.joint_.predict_proba(rows[0]), expected.predict_proba(rows[0]), rtol=1e-8)


def test_where_no_column_depends_on_another_it_is_naive(rows):
    model = mr.AutoBayesClassifier(order=1, **FAST).fit(*rows)
    assert model.joint_.distributions is None


@pytest.mark.parametrize("rows", [2, 3, 5])
def test_of_very_few_rows_there_is_one_too(rows):
    X, y = pd.DataFrame({"a": range(rows), "b": list("xyxyx")[:rows]}), ["u", "v", "u", "v", "u"][:rows]
    model = mr.AutoBayesClassifier(**FAST).fit(X, y)
    assert np.isfinite(model.joint_.log_evidence(X)).all()
    assert "joint part" in str(mr.next_question(model, {}))


def test_the_joint_model_of_another_table_is_refused(pool, tmp_path):
    other = mr.NaiveBayesClassifier().fit([[1.0], [2.0]], ["ill", "well"])
    for joint in (other, pool):
        write_state(tmp_path / "forged.merula", {**model_state(pool), "joint": model_state(joint)})
        with pytest.raises(mr.InputError, match="the joint model of another"):
            mr.load(tmp_path / "forged.merula")


def test_a_pool_saved_before_there_were_joint_parts_has_none(pool, rows, tmp_path):
    write_state(tmp_path / "old.merula", {name: value for name, value in model_state(pool).items() if name != "joint"})
    model = mr.load(tmp_path / "old.merula")
    np.testing.assert_array_equal(model.predict_proba(rows[0]), pool.predict_proba(rows[0]))
    assert not hasattr(model, "joint_")
    with pytest.raises(mr.InputError, match=r"needs P\(row\)"):
        mr.next_question(model, {})


def test_a_class_that_a_fold_does_not_hold_costs_what_the_prior_says():
    """Of noise, no model is better than the class frequencies, however rare classes are."""
    rng = np.random.default_rng(0)
    y = np.array(["common"] * 92 + [f"rare {k}" for k in range(8)])
    model = mr.AutoBayesClassifier(**FAST).fit(rng.normal(size=(100, 3)), y)
    assert model.out_of_fold_["joint"][0] > model.out_of_fold_["prior"][0]
