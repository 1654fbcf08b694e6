"""with_class_prior: the same model under other prevalences, as if fitted with them, without touching the original."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import merula as mr

STATED = {"gesund": 0.05, "krank": 0.15, "unklar": 0.8}
PRIORS = {
    "stated": STATED,
    "in the classes' order": [0.05, 0.15, 0.8],
    "array": np.array([0.05, 0.15, 0.8]),
    "uniform": "uniform",
    "laplace": "laplace",
    "empirical": "empirical",
    "a class that never occurs": {"gesund": 0.5, "krank": 0.5, "unklar": 0.0},
}
EVERY_PRIOR = pytest.mark.parametrize("prior", list(PRIORS.values()), ids=list(PRIORS))


def refitted(classifier, prior, frame, y):
    return clone(classifier).set_params(class_prior=prior).fit(frame, y)


def same_answers(one, two, frame):
    np.testing.assert_allclose(one.predict_proba(frame), two.predict_proba(frame), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(one.predict_joint_log_proba(frame), two.predict_joint_log_proba(frame), rtol=1e-12)
    np.testing.assert_array_equal(one.predict(frame), two.predict(frame))


@pytest.mark.generative
@EVERY_PRIOR
@pytest.mark.filterwarnings(
    "ignore::merula.core.logspace.ZeroEvidenceWarning"
)  # all neighbours in the class that never occurs
def test_another_prior_gives_the_refitted_model(classifier, patients, prior):
    frame, y = patients
    changed = clone(classifier).fit(frame, y).with_class_prior(prior)
    same_answers(changed, refitted(classifier, prior, frame, y), frame)
    assert changed.get_params()["class_prior"] is prior
    assert type(changed) is type(classifier)


@EVERY_PRIOR
def test_the_original_stays_as_it_was(classifier, patients, prior):
    frame, y = patients
    model = clone(classifier).fit(frame, y)
    before, asked = model.predict_proba(frame), model.class_prior
    changed = model.with_class_prior(prior)
    assert changed is not model
    assert model.class_prior is asked
    np.testing.assert_array_equal(model.predict_proba(frame), before)


def test_changing_the_prior_back_changes_nothing(classifier, patients):
    frame, y = patients
    model = clone(classifier).fit(frame, y)
    again = model.with_class_prior(STATED).with_class_prior(model.class_prior)
    rounding = (
        0 if len(model.fitted_.components) == 1 else 1e-12
    )  # priors of a mixture's own move along with the model's
    np.testing.assert_allclose(again.predict_proba(frame), model.predict_proba(frame), rtol=rounding, atol=0)


@pytest.mark.adds
def test_with_another_prior_it_learns_on(classifier, patients):
    frame, y = patients
    model = clone(classifier).fit(frame[:50], y[:50])
    changed = model.with_class_prior(STATED)
    before = model.predict_proba(frame[:50])
    changed.partial_fit(frame[50:], y[50:])
    whole = refitted(classifier, STATED, frame, y)
    np.testing.assert_allclose(changed.predict_proba(frame), whole.predict_proba(frame), rtol=1e-9, atol=1e-15)
    np.testing.assert_array_equal(model.predict_proba(frame[:50]), before)


@pytest.mark.adds
def test_with_another_prior_it_merges(classifier, patients):
    frame, y = patients
    north, south = (clone(classifier).fit(frame[part::2], y[part::2]).with_class_prior(STATED) for part in (0, 1))
    whole = refitted(classifier, STATED, frame, y)
    np.testing.assert_allclose((north + south).predict_proba(frame), whole.predict_proba(frame), rtol=1e-9, atol=1e-15)


@pytest.mark.generative
def test_models_of_different_priors_do_not_merge(classifier, patients):
    model = clone(classifier).fit(*patients)
    with pytest.raises(ValueError, match="cannot be merged: class_prior"):
        model + model.with_class_prior(STATED)


def test_with_another_prior_it_is_saved_and_loaded(classifier, patients, tmp_path):
    frame, y = patients
    changed = clone(classifier).fit(frame, y).with_class_prior(STATED)
    changed.save(tmp_path / "model.merula")
    again = mr.load(tmp_path / "model.merula")
    np.testing.assert_array_equal(again.predict_proba(frame), changed.predict_proba(frame))
    if hasattr(again, "partial_fit"):
        np.testing.assert_array_equal(again.partial_fit(frame, y).predict_proba(frame), changed.partial_fit(frame, y).predict_proba(frame))  # fmt: skip


def test_a_row_with_everything_missing_gets_the_new_prior(marginalising, patients):
    frame, y = patients
    changed = clone(marginalising).fit(frame, y).with_class_prior(STATED)
    nothing = pd.DataFrame({name: [None] for name in frame}).astype(frame.dtypes)
    np.testing.assert_allclose(changed.predict_proba(nothing)[0], list(STATED.values()), rtol=1e-14)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ({"gesund": 0.5, "krank": 0.5}, "class_prior gives no probability for class 'unklar'"),
        (STATED | {"tot": 0.1}, "class_prior names class 'tot'"),
        ({"gesund": 0.5, "krank": 0.5, "unklar": 0.5}, "class_prior sums to 1.5"),
        ({"gesund": np.nan, "krank": 0.5, "unklar": 0.5}, "class_prior holds"),
        ({"gesund": -0.5, "krank": 1.0, "unklar": 0.5}, "class_prior holds"),
        ([0.5, 0.5], "class_prior has 2 values, expected one for each of the 3 classes"),
        ([[0.2, 0.3, 0.5]], "class_prior has shape"),
        ("unifrom", "class_prior is 'unifrom'.*did you mean 'uniform'"),
        (None, "class_prior is None"),
        (0.5, "class_prior is 0.5"),
    ],
)
@pytest.mark.one_of_each
def test_a_bad_prior_is_named(classifier, patients, prior, message):
    model = clone(classifier).fit(*patients)
    with pytest.raises(ValueError, match=message):
        model.with_class_prior(prior)


@pytest.mark.one_of_each
def test_a_model_must_be_fitted_first(classifier):
    with pytest.raises(NotFittedError):
        clone(classifier).with_class_prior("uniform")


# --------------------------------------------------------------------------------------------------------------------
# Stated models have no counts, but their prior can change all the same

FORMS = {"pos": {"square": 0.05, "circle": 0.95}, "neg": {"square": 0.6, "circle": 0.4}}


def from_tables(prior):
    return mr.NaiveBayesClassifier.from_tables(prior, {"形状": FORMS})


def from_joint(prior):
    cells = [
        {"category": label, "形状": form, "probability": prior[label] * p}
        for label, row in FORMS.items()
        for form, p in row.items()
    ]
    return mr.BayesClassifier.from_joint(cells, target="category")


STATING = pytest.mark.parametrize("state", [from_tables, from_joint])


@STATING
@pytest.mark.parametrize("prior", [{"pos": 0.1, "neg": 0.9}, [0.9, 0.1], "uniform"], ids=str)
def test_a_stated_model_takes_another_prior(state, prior):
    changed = state({"pos": 0.7, "neg": 0.3}).with_class_prior(prior)
    new = {"neg": 0.5, "pos": 0.5} if prior == "uniform" else {"neg": 0.9, "pos": 0.1}
    for form in ("square", "circle"):
        joint = [new[label] * FORMS[label][form] for label in ("neg", "pos")]
        expected = np.array(joint) / sum(joint)
        np.testing.assert_allclose(changed.predict_proba(pd.DataFrame({"形状": [form]}))[0], expected, rtol=1e-12)
    np.testing.assert_allclose(np.exp(changed.class_log_prior_), [new["neg"], new["pos"]], rtol=1e-12)


@STATING
@pytest.mark.parametrize("prior", ["empirical", "laplace"])
def test_a_stated_model_has_nothing_counted_to_take_a_prior_from(state, prior):
    with pytest.raises(ValueError, match=f"class_prior='{prior}' needs counts.*stated"):
        state({"pos": 0.7, "neg": 0.3}).with_class_prior(prior)


@STATING
def test_a_bad_word_is_named_for_a_stated_model_too(state):
    with pytest.raises(ValueError, match="'unifrom'"):
        state({"pos": 0.7, "neg": 0.3}).with_class_prior("unifrom")


@STATING
def test_a_stated_model_with_another_prior_still_refuses_rows(state):
    with pytest.raises(ValueError, match="stated, not counted"):
        state({"pos": 0.7, "neg": 0.3}).with_class_prior("uniform").partial_fit(pd.DataFrame({"形状": ["circle"]}), ["pos"])  # fmt: skip
