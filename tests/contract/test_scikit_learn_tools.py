"""The classifiers inside scikit-learn's own tools: pipelines, searches, calibration, routing, copies."""

import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.stats import loguniform
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import merula as mr

FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


# ---------------------------------------------------------------------------------------------------------------------
# Parameters


def test_clone_has_equal_parameters_and_no_fit(classifier, patients):
    fitted = clone(classifier).fit(*patients)
    copied = clone(fitted)
    assert copied.get_params() == classifier.get_params()
    assert not hasattr(copied, "classes_")
    np.testing.assert_array_equal(copied.fit(*patients).predict_proba(patients[0]), fitted.predict_proba(patients[0]))


def test_get_params_and_set_params_make_a_round_trip(classifier):
    other = type(classifier)().set_params(**classifier.get_params(deep=False))
    assert other.get_params() == classifier.get_params()
    assert repr(other.set_params(**other.get_params())) == repr(classifier)


def test_set_params_returns_the_classifier_itself(classifier):
    model = clone(classifier)
    assert model.set_params(n_jobs=2) is model
    assert model.n_jobs == 2


def test_parameters_are_kept_as_given():
    distributions, levels = {"numeric": mr.Gaussian()}, {"größe": ["klein", "groß"]}
    model = mr.NaiveBayesClassifier(distributions=distributions, levels=levels)
    assert model.distributions is distributions
    assert model.levels is levels


def test_fit_changes_no_parameter(classifier, patients):
    model = clone(classifier)
    before = {name: id(value) for name, value in model.get_params(deep=False).items()}
    model.fit(*patients)
    if hasattr(model, "partial_fit"):
        model.partial_fit(*patients)
    assert {name: id(value) for name, value in model.get_params(deep=False).items()} == before


def test_repr_says_what_differs_from_the_defaults():
    assert repr(mr.NaiveBayesClassifier()) == "NaiveBayesClassifier()"
    assert (
        repr(mr.BayesClassifier(covariance="shared", smoothing=0.5))
        == "BayesClassifier(covariance='shared', smoothing=0.5)"
    )


def test_repr_can_be_typed_again(classifier):
    again = eval(repr(classifier), {name: getattr(mr, name) for name in mr.__all__})
    assert again.get_params() == classifier.get_params()


def test_notebooks_show_the_classifier(classifier, patients):
    assert type(classifier).__name__ in clone(classifier).fit(*patients)._repr_html_()


def test_a_family_is_set_by_its_path():
    model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Gaussian(), "色泽": mr.Categorical(smoothing=2)})
    assert model.get_params()["distributions__色泽__smoothing"] == 2
    model.set_params(distributions__numeric__variance="unbiased", distributions__色泽__smoothing=0.5)
    assert model.distributions == {"numeric": mr.Gaussian(variance="unbiased"), "色泽": mr.Categorical(smoothing=0.5)}


def test_setting_a_family_leaves_the_clones_origin_alone():
    families = {"numeric": mr.Gaussian()}
    model = mr.NaiveBayesClassifier(distributions=families)
    clone(model).set_params(distributions__numeric__variance="unbiased")
    model.set_params(distributions__numeric__variance="mle")
    assert families == {"numeric": mr.Gaussian()}


def test_distributions_and_a_part_of_it_are_set_at_once():
    model = mr.NaiveBayesClassifier().set_params(
        distributions={"numeric": mr.Gaussian()}, distributions__numeric__variance="unbiased"
    )
    assert model.distributions == {"numeric": mr.Gaussian(variance="unbiased")}


@pytest.mark.parametrize(
    "name", ["smothing", "distributions__numeric__varance", "distributions__größe__variance", "distributions__numeric"]
)
def test_an_unknown_parameter_is_refused_by_name(name):
    with pytest.raises(ValueError, match=name):
        mr.NaiveBayesClassifier(distributions={"numeric": mr.Gaussian()}).set_params(**{name: 1})


# ---------------------------------------------------------------------------------------------------------------------
# What a fitted classifier tells


def test_a_fitted_classifier_tells_its_columns(classifier, patients):
    frame, y = patients
    model = clone(classifier).fit(frame, y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.n_features_in_ == frame.shape[1]
    assert model.classes_.tolist() == sorted(set(y))
    assert list(model.schema_.names) == list(frame.columns)
    assert is_classifier(model)


def test_score_is_weighted_accuracy(classifier, patients):
    frame, y = patients
    model = clone(classifier).fit(frame, y)
    weight = np.arange(len(y)) % 4
    assert model.score(frame, y, sample_weight=weight) == accuracy_score(y, model.predict(frame), sample_weight=weight)


@pytest.mark.one_of_each
@pytest.mark.parametrize("labels", [["nein", "ja"], [0, 1], [-1, 1], [False, True], [2.0, 5.0], [3, 2**40]], ids=str)
def test_predictions_are_labels_of_the_targets_own_type(classifier, patients, labels):
    frame, y = patients
    target = np.array(labels)[(y == "krank").astype(int)]
    model = clone(classifier).fit(frame, target)
    assert model.classes_.dtype == target.dtype
    assert model.predict(frame).dtype == target.dtype
    assert model.classes_.tolist() == sorted(labels)


@pytest.mark.one_of_each
@pytest.mark.parametrize("kind", ["category", "string", object, "string[pyarrow]"], ids=str)
def test_targets_of_any_pandas_type_are_read(classifier, patients, kind):
    frame, y = patients
    model = clone(classifier).fit(frame, y.astype(kind))
    assert model.classes_.tolist() == ["gesund", "krank", "unklar"]
    np.testing.assert_array_equal(
        model.predict_proba(frame), clone(classifier).fit(frame, y.to_numpy(dtype=str)).predict_proba(frame)
    )


def test_targets_of_polars_and_arrow_are_read(classifier, patients):
    import polars as pl
    import pyarrow as pa

    frame, y = patients
    expected = clone(classifier).fit(frame, y).predict_proba(frame)
    for target in (pl.Series(y.tolist()), pa.array(y.tolist()), y.tolist(), tuple(y)):
        np.testing.assert_array_equal(clone(classifier).fit(frame, target).predict_proba(frame), expected)


# ---------------------------------------------------------------------------------------------------------------------
# Copies


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_copy_answers_the_same_and_learns_on(classifier, patients, copied):
    frame, y = patients
    model = clone(classifier).fit(frame, y)
    before = model.predict_proba(frame)
    other = copied(model)
    np.testing.assert_array_equal(other.predict_proba(frame), before)
    if not hasattr(model, "partial_fit"):
        return
    other.partial_fit(frame[:40], y[:40])
    np.testing.assert_array_equal(model.predict_proba(frame), before)
    np.testing.assert_array_equal(
        other.predict_proba(frame), model.partial_fit(frame[:40], y[:40]).predict_proba(frame)
    )


def test_joblib_keeps_every_bit(classifier, patients, tmp_path):
    frame, y = patients
    model = clone(classifier).fit(frame, y)
    joblib.dump(model, tmp_path / "model.joblib")
    again = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


# ---------------------------------------------------------------------------------------------------------------------
# Pipelines


def test_a_pipeline_of_arrays(plain_classifier, measurements):
    X, y = measurements
    pipeline = make_pipeline(StandardScaler(), clone(plain_classifier)).fit(X, y)
    np.testing.assert_allclose(
        pipeline.predict_proba(X), clone(plain_classifier).fit(X, y).predict_proba(X), rtol=0, atol=1e-9
    )
    assert pipeline.n_features_in_ == 3


def numbers_scaled():
    parts = [
        ("numbers", StandardScaler(), ["blood pressure", "größe"]),
        ("words", "passthrough", ["色泽", "blood type", "smoker"]),
    ]
    return ColumnTransformer(parts, verbose_feature_names_out=False)


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_a_pipeline_of_data_frames_keeps_names(classifier, patients, output):
    """Units do not matter, so scaling before changes nothing; what does is that words stay words and names stay names."""
    frame, y = patients
    pipeline = make_pipeline(numbers_scaled(), clone(classifier)).set_output(transform=output)
    if output == "polars":
        import polars as pl

        frame = pl.from_pandas(frame)
    pipeline.fit(frame, y)
    assert pipeline[-1].feature_names_in_.tolist() == ["blood pressure", "größe", "色泽", "blood type", "smoker"]
    np.testing.assert_allclose(
        pipeline.predict_proba(frame), clone(classifier).fit(frame, y).predict_proba(frame), rtol=0, atol=1e-9
    )


def test_a_pipeline_step_may_be_searched_by_its_path(patients):
    pipeline = make_pipeline(
        numbers_scaled(), mr.NaiveBayesClassifier(distributions={"numeric": mr.Gaussian()})
    ).set_output(transform="pandas")
    pipeline.set_params(naivebayesclassifier__distributions__numeric__variance="unbiased")
    assert pipeline[-1].distributions == {"numeric": mr.Gaussian(variance="unbiased")}
    assert set(pipeline.fit(*patients).predict(patients[0])) <= {"gesund", "krank", "unklar"}


def test_a_pipeline_may_drop_and_add_columns(classifier, patients):
    frame, y = patients
    pulse = FunctionTransformer(
        lambda table: table.assign(**{"pulse wave": table["blood pressure"] / table["größe"]}).drop(columns="größe")
    )
    pipeline = make_pipeline(pulse, clone(classifier)).fit(frame, y)
    assert "größe" not in pipeline[-1].feature_names_in_
    assert pipeline.predict_proba(frame).shape == (90, 3)


# ---------------------------------------------------------------------------------------------------------------------
# Searches and validation


@pytest.mark.needs("smoothing")
def test_grid_search_over_smoothing(classifier, patients):
    search = GridSearchCV(clone(classifier), {"smoothing": [0.1, 1, 10]}, scoring="neg_log_loss", cv=FOLDS).fit(
        *patients
    )
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    by_hand = cross_val_score(
        clone(classifier).set_params(smoothing=10), *patients, scoring="neg_log_loss", cv=FOLDS
    ).mean()
    assert search.cv_results_["mean_test_score"][2] == by_hand
    assert search.best_estimator_.smoothing == search.best_params_["smoothing"]


@pytest.mark.parametrize("kind", [mr.NaiveBayesClassifier, mr.BayesClassifier])
def test_grid_search_over_a_familys_parameter(patients, kind):
    grid = {"distributions__numeric__variance": ["mle", "unbiased"]}
    search = GridSearchCV(kind(distributions={"numeric": mr.Gaussian()}), grid, scoring="neg_log_loss", cv=FOLDS).fit(
        *patients
    )
    by_hand = [
        cross_val_score(
            kind(distributions={"numeric": mr.Gaussian(variance=word)}), *patients, scoring="neg_log_loss", cv=FOLDS
        ).mean()
        for word in ("mle", "unbiased")
    ]
    assert search.cv_results_["mean_test_score"].tolist() == by_hand
    assert by_hand[0] != by_hand[1]
    assert (
        search.best_estimator_.distributions["numeric"].variance
        == search.best_params_["distributions__numeric__variance"]
    )


def test_grid_search_over_whole_families(patients):
    grid = {"distributions": [None, {"numeric": mr.MultivariateGaussian()}, {"categorical": "joint_categorical"}]}
    search = GridSearchCV(mr.NaiveBayesClassifier(), grid, scoring="neg_log_loss", cv=FOLDS).fit(*patients)
    assert len(set(search.cv_results_["mean_test_score"])) == 3


@pytest.mark.one_of_each
@pytest.mark.needs("smoothing")
def test_randomized_search_over_smoothing(classifier, patients):
    search = RandomizedSearchCV(
        clone(classifier), {"smoothing": loguniform(0.01, 100)}, n_iter=4, cv=FOLDS, random_state=0, n_jobs=2
    ).fit(*patients)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert 0.01 <= search.best_estimator_.smoothing <= 100


def test_cross_validation_on_two_workers_gives_the_same_scores(classifier, patients):
    one, two = (
        cross_val_score(clone(classifier), *patients, scoring="neg_log_loss", cv=FOLDS, n_jobs=jobs) for jobs in (1, 2)
    )
    assert one.tolist() == two.tolist()


def test_cross_validation_scores_probabilities(classifier, patients):
    found = cross_validate(
        clone(classifier), *patients, scoring=["accuracy", "neg_log_loss", "roc_auc_ovr", "neg_brier_score"], cv=FOLDS
    )
    assert all(
        np.isfinite(found[f"test_{name}"]).all()
        for name in ("accuracy", "neg_log_loss", "roc_auc_ovr", "neg_brier_score")
    )


def test_cross_val_predict_gives_log_probabilities(classifier, patients):
    frame, y = patients
    logs = cross_val_predict(clone(classifier), frame, y, cv=FOLDS, method="predict_log_proba")
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1, rtol=0, atol=1e-12)


# ---------------------------------------------------------------------------------------------------------------------
# Around other estimators


@pytest.mark.parametrize("ensemble", [True, False])
def test_calibration_with_gaps_in_the_table(classifier, patients, ensemble):
    frame, y = patients
    assert frame.isna().any().all()
    calibrated = CalibratedClassifierCV(clone(classifier), cv=FOLDS, ensemble=ensemble).fit(frame, y)
    answer = calibrated.predict_proba(frame)
    np.testing.assert_allclose(answer.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert calibrated.classes_.tolist() == ["gesund", "krank", "unklar"]


def test_calibration_with_gaps_in_an_array(plain_classifier, measurements):
    X, y = measurements
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    assert CalibratedClassifierCV(clone(plain_classifier), cv=FOLDS).fit(X, y).score(X, y) > 0.8


def test_bagging_voting_and_stacking(plain_classifier, measurements):
    X, y = measurements
    bagged = BaggingClassifier(clone(plain_classifier), n_estimators=3, random_state=0)
    voted = VotingClassifier([("own", clone(plain_classifier)), ("naive", mr.NaiveBayesClassifier())], voting="soft")
    stacked = StackingClassifier([("own", clone(plain_classifier))], LogisticRegression(), cv=FOLDS)
    for model in (bagged, voted, stacked):
        assert model.fit(X, y).score(X, y) > 0.8


# ---------------------------------------------------------------------------------------------------------------------
# Metadata routing


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_a_pipeline_routes_weights_to_fit(routing, classifier, patients):
    frame, y = patients
    weight = np.arange(len(y)) % 3
    pipeline = make_pipeline(FunctionTransformer(), clone(classifier).set_fit_request(sample_weight=True))
    routed = pipeline.fit(frame, y, sample_weight=weight).predict_proba(frame)
    np.testing.assert_array_equal(routed, clone(classifier).fit(frame, y, weight).predict_proba(frame))
    assert np.abs(routed - clone(classifier).fit(frame, y).predict_proba(frame)).max() > 1e-3


def test_cross_validation_routes_weights(routing, classifier, patients):
    frame, y = patients
    weight = 1 + np.arange(len(y)) % 3
    model = clone(classifier).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    found = cross_validate(model, frame, y, cv=FOLDS, params={"sample_weight": weight})["test_score"]
    by_hand = [
        clone(classifier)
        .fit(frame.iloc[train], y.iloc[train], weight[train])
        .score(frame.iloc[test], y.iloc[test], weight[test])
        for train, test in FOLDS.split(frame, y)
    ]
    assert found.tolist() == by_hand


def test_weights_nobody_asked_for_are_refused(routing, classifier, patients):
    frame, y = patients
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
        cross_validate(clone(classifier), frame, y, cv=FOLDS, params={"sample_weight": np.ones(len(y))})


@pytest.mark.generative
def test_partial_fit_can_request_classes_and_weights(routing, classifier):
    requests = clone(classifier).set_partial_fit_request(classes=True, sample_weight=True).get_metadata_routing()
    assert {name for name, asked in requests.partial_fit.requests.items() if asked} == {"classes", "sample_weight"}


def test_output_of_predict_follows_rows_not_the_index(classifier, patients):
    frame, y = patients
    order = np.random.default_rng(5).permutation(len(y))
    model = clone(classifier).fit(frame.iloc[order], y.iloc[order])
    expected = clone(classifier).fit(frame.iloc[order].reset_index(drop=True), y.iloc[order].to_numpy())
    np.testing.assert_array_equal(model.predict(frame.iloc[order]), expected.predict(frame.iloc[order]))
    assert isinstance(model.predict(frame), np.ndarray)
    assert isinstance(frame, pd.DataFrame)
