"""scikit-learn's own checks on every classifier, and merula's rule where it departs from scikit-learn's on purpose."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks, get_tags

import merula as mr

# No check is expected to fail. The one left out of this process runs in `test_array_api_dispatch_...` below.


def test_scikit_learn_check(estimator, check):
    check(estimator)


IN_ANOTHER_PROCESS = """
import pickle, sys
from sklearn.utils.estimator_checks import check_array_api_input
for classifier in pickle.load(sys.stdin.buffer):
    check_array_api_input(type(classifier).__name__, classifier, array_namespace="numpy", expect_only_array_outputs=False)
"""


def test_array_api_dispatch_leaves_numpy_alone(plain_classifiers):
    """check_array_api_input on NumPy arrays: needs SCIPY_ARRAY_API=1 before SciPy is imported, hence another process."""
    result = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS],
        input=pickle.dumps(plain_classifiers),
        capture_output=True,
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
        check=False,
    )
    assert result.returncode == 0, result.stderr.decode()


@pytest.mark.parametrize("tag", ["non_deterministic", "no_validation", "_skip_test"])
def test_no_tag_excuses_the_classifier_from_checks(plain_classifier, tag):
    assert getattr(get_tags(plain_classifier), tag) is False


def test_tags_tell_the_truth(plain_classifier):
    tags = get_tags(plain_classifier)
    assert tags.classifier_tags.poor_score is False
    assert tags.classifier_tags.multi_class is True
    assert tags.estimator_type == "classifier"
    assert tags.target_tags.required is True
    assert (tags.input_tags.allow_nan, tags.input_tags.string, tags.input_tags.categorical, tags.input_tags.sparse) == (
        True,
        True,
        True,
        False,
    )


# Checks that scikit-learn's own suite runs (sklearn/tests/test_common.py) but `check_estimator` does not, or not on every tag


@pytest.mark.parametrize(
    "name",
    [
        "check_inplace_ensure_writeable",
        "check_all_zero_sample_weights_error",
        "check_n_features_in",
        "check_n_features_in_after_fitting",
        "check_get_feature_names_out_error",
    ],
)
def test_further_scikit_learn_check(plain_classifier, name):
    if name == "check_get_feature_names_out_error":
        assert not hasattr(plain_classifier, "get_feature_names_out")
    else:
        getattr(estimator_checks, name)(type(plain_classifier).__name__, clone(plain_classifier))


# Column names: matched by name, not by order (a documented departure from check_dataframe_column_names_consistency)


@pytest.fixture
def birds():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(150, 4)), columns=["wing span", "größe", "weight in g", "喙长"])
    return frame, np.where(frame["größe"] + rng.normal(size=150) > 0, "merula", "pilaris")


def test_fit_keeps_the_names(plain_classifier, birds):
    frame, species = birds
    names = clone(plain_classifier).fit(frame, species).feature_names_in_
    assert isinstance(names, np.ndarray)
    assert names.dtype == object
    assert names.tolist() == list(frame.columns)


def test_fit_without_names_keeps_none(plain_classifier, birds):
    frame, species = birds
    model = clone(plain_classifier).fit(frame, species).fit(frame.to_numpy(), species)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 4


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba", "log_evidence"]
)
def test_columns_are_matched_by_name(plain_classifier, birds, method):
    frame, species = birds
    answer = getattr(clone(plain_classifier).fit(frame, species), method)
    np.testing.assert_array_equal(answer(frame[frame.columns[::-1]]), answer(frame))


def test_score_matches_columns_by_name(plain_classifier, birds):
    frame, species = birds
    model = clone(plain_classifier).fit(frame, species)
    assert model.score(frame[frame.columns[::-1]], species) == model.score(frame, species)


@pytest.mark.generative
def test_partial_fit_matches_columns_by_name(plain_classifier, birds):
    frame, species = birds
    first, second = frame[:80], frame[80:]
    straight = clone(plain_classifier).partial_fit(first, species[:80]).partial_fit(second, species[80:])
    turned = (
        clone(plain_classifier).partial_fit(first, species[:80]).partial_fit(second[second.columns[::-1]], species[80:])
    )
    np.testing.assert_array_equal(turned.predict_proba(frame), straight.predict_proba(frame))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "score", "partial_fit"])
def test_a_missing_column_is_named(plain_classifier, birds, method):
    frame, species = birds
    model = clone(plain_classifier).fit(frame, species)
    rest = (species,) if method in ("score", "partial_fit") else ()
    with pytest.raises(ValueError, match="'größe' is missing"):
        getattr(model, method)(frame.drop(columns="größe"), *rest)
    with pytest.raises(ValueError, match="'wing span' is missing"):
        getattr(model, method)(frame.add_prefix("another "), *rest)


def test_names_at_predict_only_are_warned_about(plain_classifier, birds):
    frame, species = birds
    model = clone(plain_classifier).fit(frame.to_numpy(), species)
    with pytest.warns(UserWarning, match="X has feature names, but .* was fitted without feature names"):
        model.predict(frame)


def test_names_at_fit_only_are_warned_about(plain_classifier, birds):
    frame, species = birds
    model = clone(plain_classifier).fit(frame, species)
    with pytest.warns(UserWarning, match="X does not have valid feature names, but .* was fitted with feature names"):
        model.predict(frame.to_numpy())


def test_a_new_fit_forgets_the_old_table(plain_classifier, birds):
    """A second fit on other columns, classes and levels is a first fit."""
    frame, species = birds
    other = frame.rename(columns={"größe": "farbe"}).assign(
        farbe=np.where(frame["größe"] > 0, "schwarz", "braun"), 喙色="gelb"
    )
    labels = np.where(frame["喙长"] > 0, 1, 0)
    again, fresh = (
        clone(plain_classifier).fit(frame, species).fit(other, labels),
        clone(plain_classifier).fit(other, labels),
    )
    assert again.feature_names_in_.tolist() == list(other.columns)
    assert again.n_features_in_ == 5
    np.testing.assert_array_equal(again.predict_proba(other), fresh.predict_proba(other))


# Parameters (check_param_validation needs scikit-learn's private constraints; this is the same question)


def bad_values():
    common = {
        "kinds": [3, "numerc", {"wing span": 5}, ["numeric"]],
        "levels": [3, "small", {"größe": 4}, ["small"]],
        "distributions": [3, "gaussian", {"größe": 5}, {"größe": mr.Gaussian}],
        "class_prior": [object(), 3, None, "flat", [0.5]],
        "smoothing": [object(), -1, "laplace", None, float("nan"), True],
        "variance": [object(), None, "biased", 1],
        "missing": [object(), None, "drop", 1],
        "unseen": [object(), None, "ignore", 1],
        "n_jobs": [object(), 0, "all", 1.5],
    }
    estimates = {"estimate": [object(), None, "median", 1]}
    only_naive = estimates | {"weights": [object(), "equal", 1, [1, 2]]}
    only_bayes = estimates | {
        "covariance": [object(), None, "tied", 1],
        "shrinkage": [object(), None, "oas", -0.1, 1.1, float("nan")],
    }
    only_neighbors = {name: common[name] for name in ("kinds", "levels", "class_prior", "unseen", "n_jobs")} | {
        "neighbors": [object(), None, 0, -1, 2.5, True, "many", float("nan")],
        "weights": [object(), None, "inverse", 1, [1, 2]],
        "scale": [object(), None, "minmax", 1],
    }
    only_log_linear = {
        name: common[name] for name in ("kinds", "levels", "class_prior", "missing", "unseen", "n_jobs")
    } | {
        "order": [object(), None, 0, 7, 1.5, True, "normal"],
        "max_rounds": [object(), 0, -1, 2.5, True],
        "random_state": [object(), -1, 0.5, "chance"],
    }
    only_pool = only_log_linear | {
        "order": [object(), None, 0, 7, 1.5, True, "gaussian"],
        "keep_rows": [object(), None, 1, "no"],
        "effort": [object(), None, 0, -1, 1000, "much", float("nan"), True],
    }
    kinds = (
        (mr.LogLinearClassifier, only_log_linear),
        (mr.AutoBayesClassifier, only_pool),
        (mr.NaiveBayesClassifier, common | only_naive),
        (mr.BayesClassifier, common | only_bayes),
        (mr.NearestNeighborsClassifier, only_neighbors),
    )
    return [
        pytest.param(
            kind, name, value, id=f"{kind.__name__}-{name}={type(value).__name__ if type(value) is object else value}"
        )
        for kind, options in kinds
        for name, values in options.items()
        for value in values
    ]


@pytest.mark.parametrize(("kind", "name", "value"), bad_values())
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_bad_parameter_is_named(birds, kind, name, value, method):
    frame, species = birds
    if not hasattr(kind(), method):
        return
    with pytest.raises((ValueError, TypeError), match=name):
        getattr(kind(**{name: value}), method)(frame, species)


@pytest.mark.parametrize("name", ["covariance", "shrinkage"])
def test_a_bad_parameter_is_named_even_where_no_column_needs_it(birds, name):
    frame, species = birds
    words = pd.DataFrame({"farbe": np.where(frame["größe"] > 0, "schwarz", "braun")})
    with pytest.raises(ValueError, match=name):
        mr.BayesClassifier(**{name: "tied"}).fit(words, species)


def test_every_parameter_is_covered():
    tried = {(param.values[0], param.values[1]) for param in bad_values()}
    assert tried == {(kind, name) for kind in {kind for kind, _ in tried} for name in kind().get_params()}
