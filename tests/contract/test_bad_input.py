"""Bad input is one clear error (or warning) that names the column and says what to do; nothing learned before is lost."""

import copy
import io
import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError

import merula as mr

ASKING = ["predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba", "terms", "log_evidence"]


@pytest.fixture(scope="module")
def fitted_once(patients):
    """Each classifier fitted on the patients, and what it answers before and after one more batch."""
    frame, y = patients
    known = {}

    def model_and_answers(classifier):
        if id(classifier) not in known:
            model = clone(classifier).fit(frame, y)
            more = copy.deepcopy(model)
            if hasattr(more, "partial_fit"):
                more.partial_fit(frame[:30], y[:30])
            known[id(classifier)] = model, model.predict_proba(frame), more.predict_proba(frame)
        return known[id(classifier)]

    return model_and_answers


@pytest.fixture
def fitted(classifier, fitted_once):
    return copy.deepcopy(fitted_once(classifier)[0])


@pytest.fixture
def unharmed(classifier, fitted_once, patients):
    """Asserts that a model tells, answers and learns on as the one that met no error."""
    frame, y = patients

    def check(model):
        expected, answer, learned_on = fitted_once(classifier)
        assert vars(model).keys() == vars(expected).keys()
        for told in ("classes_", "feature_names_in_", "class_log_prior_"):
            np.testing.assert_array_equal(getattr(model, told), getattr(expected, told))
        assert (model.n_features_in_, model.schema_) == (expected.n_features_in_, expected.schema_)
        np.testing.assert_array_equal(model.predict_proba(frame), answer)
        if hasattr(model, "partial_fit"):
            np.testing.assert_array_equal(model.partial_fit(frame[:30], y[:30]).predict_proba(frame), learned_on)

    return check


@pytest.fixture
def learn(classifier, fitted, unharmed, patients):
    """Lets a fresh classifier learn, then a fitted one: both must refuse, and the fitted one must come to no harm."""
    frame, y = patients

    def both_refuse(error, words, X=frame, target=y, method="fit", params=None, **options):
        with pytest.raises(error, match=words):
            getattr(clone(classifier).set_params(**params or {}), method)(X, target, **options)
        if method == "partial_fit" and params:
            return  # what a parameter says of the columns was settled by the first batch
        model = copy.deepcopy(fitted).set_params(**params or {})
        with pytest.raises(error, match=words):
            getattr(model, method)(X, target, **options)
        unharmed(model.set_params(**classifier.get_params(deep=False)))

    return both_refuse


LEARNING = pytest.mark.parametrize("method", ["fit", "partial_fit"])


# ---------------------------------------------------------------------------------------------------------------------
# Shapes


@LEARNING
def test_no_rows(learn, patients, method):
    frame, y = patients
    learn(ValueError, "no rows", frame[:0], y[:0], method)


@LEARNING
@pytest.mark.parametrize(
    "table",
    [np.empty((5, 0)), pd.DataFrame(index=range(5)), pd.DataFrame(), pl.DataFrame()],
    ids=["array", "index-only", "empty-pandas", "empty-polars"],
)
def test_no_columns(plain_classifier, method, table):
    with pytest.raises(ValueError, match="no columns"):
        getattr(clone(plain_classifier), method)(table, ["krank"] * 5)


@LEARNING
def test_no_rows_of_an_array(plain_classifier, method):
    with pytest.raises(ValueError, match="no rows"):
        getattr(clone(plain_classifier), method)(np.empty((0, 3)), [])


def test_no_rows_at_predict(fitted, patients):
    with pytest.raises(ValueError, match="no rows"):
        fitted.predict(patients[0][:0])


@LEARNING
def test_no_rows_left(learn, patients, method):
    learn(ValueError, "no rows are left", method=method, sample_weight=np.zeros(len(patients[1])))


@pytest.mark.parametrize(
    "table",
    [np.arange(5.0), pd.Series(np.arange(5.0), name="größe"), pl.Series("größe", [1.0] * 5), list(range(5))],
    ids=["array", "pandas", "polars", "list"],
)
@LEARNING
def test_one_dimension(plain_classifier, method, table):
    with pytest.raises(ValueError, match=r"Expected 2D array, got 1D.*reshape"):
        getattr(clone(plain_classifier), method)(table, [0, 1, 0, 1, 0])


def test_one_dimension_at_predict(plain_classifier, measurements):
    model = clone(plain_classifier).fit(*measurements)
    with pytest.raises(ValueError, match=r"Expected 2D array, got 1D.*reshape"):
        model.predict(measurements[0][0])


@pytest.mark.parametrize(
    "table",
    [np.zeros((2, 3, 4)), np.float64(1.0), "patients.csv", {"größe": [1, 2]}, None, 5],
    ids=["three-dimensions", "scalar", "path", "dict", "none", "number"],
)
def test_not_a_table(plain_classifier, table):
    with pytest.raises((ValueError, TypeError), match="2D|table|array|frame"):
        clone(plain_classifier).fit(table, [0, 1])


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_array, sp.coo_array])
@LEARNING
def test_sparse(plain_classifier, method, form):
    with pytest.raises(TypeError, match=r"Sparse.*toarray"):
        getattr(clone(plain_classifier), method)(form(np.eye(4)), [0, 1, 0, 1])


def test_sparse_at_predict(plain_classifier, measurements):
    model = clone(plain_classifier).fit(*measurements)
    with pytest.raises(TypeError, match=r"Sparse.*toarray"):
        model.predict(sp.csr_array(measurements[0]))


@LEARNING
def test_complex_numbers(plain_classifier, method):
    with pytest.raises(ValueError, match="Complex data not supported"):
        getattr(clone(plain_classifier), method)(np.array([[1 + 2j], [3 - 1j]]), [0, 1])


@pytest.mark.one_of_each
@LEARNING
@pytest.mark.parametrize("column", [np.array([1 + 2j, 3 - 1j] * 45), [1j] * 90], ids=["complex", "objects"])
def test_complex_numbers_in_a_data_frame(learn, patients, method, column):
    frame, _ = patients
    learn(ValueError, "'größe'", frame.assign(größe=column), method=method)


COLLECTIONS = pytest.mark.parametrize("cell", [[1, 2], {"rot": 1}, {3}], ids=str)


@pytest.mark.one_of_each
@COLLECTIONS
def test_columns_of_collections_are_left_out_with_a_note(classifier, patients, cell):
    frame, y = patients
    odd = frame.assign(色泽=pd.Series([cell] * 90, dtype=object))
    with pytest.warns(
        UserWarning, match="column '色泽' holds lists, records or bytes, which no model reads: it is left"
    ):
        model = clone(classifier).fit(odd, y)
    without = frame.drop(columns="色泽")
    np.testing.assert_array_equal(model.predict_proba(odd), clone(classifier).fit(without, y).predict_proba(without))


@pytest.mark.one_of_each
@COLLECTIONS
def test_collections_where_words_were_learned_are_refused(fitted, unharmed, patients, cell):
    frame, y = patients
    odd = frame.assign(色泽=pd.Series([cell] * 90, dtype=object))
    for method in ("partial_fit", "predict_proba"):
        if hasattr(fitted, method):
            with pytest.raises((TypeError, ValueError), match="column '色泽' holds"):
                getattr(fitted, method)(odd, *[y] * (method == "partial_fit"))
    unharmed(fitted)


# ---------------------------------------------------------------------------------------------------------------------
# Columns


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("method", ASKING)
def test_wrong_number_of_columns(plain_classifier, measurements, width, method):
    model = clone(plain_classifier).fit(*measurements)
    with pytest.raises(ValueError, match=f"X has {width} features, but {type(model).__name__} is expecting 3"):
        getattr(model, method)(np.ones((2, width)))


@pytest.mark.generative
def test_wrong_number_of_columns_in_a_later_batch(plain_classifier, measurements):
    X, y = measurements
    model = clone(plain_classifier).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="X has 2 features, but .* is expecting 3"):
        model.partial_fit(X[:, :2], y)
    np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("method", ASKING)
def test_a_missing_column_is_named_with_what_to_do(fitted, patients, method):
    with pytest.raises(ValueError, match=r"'blood pressure' is missing.*give it empty"):
        getattr(fitted, method)(patients[0].drop(columns="blood pressure"))


@pytest.mark.generative
def test_a_missing_column_in_a_later_batch(fitted, unharmed, patients):
    frame, y = patients
    with pytest.raises(ValueError, match="'色泽' is missing"):
        fitted.partial_fit(frame.drop(columns="色泽"), y)
    unharmed(fitted)


@pytest.mark.parametrize("method", ASKING[:4])
def test_an_extra_column_is_ignored(fitted, patients, method):
    frame, _ = patients
    wider = frame.assign(comment=[{"no": "table"}] * len(frame), 身高=np.inf)
    np.testing.assert_array_equal(getattr(fitted, method)(wider), getattr(fitted, method)(frame))


@pytest.mark.generative
def test_an_extra_column_in_a_later_batch_is_ignored(classifier, patients):
    frame, y = patients
    model, wider = (
        clone(classifier).fit(frame, y).partial_fit(table, y) for table in (frame, frame.assign(身高=np.inf))
    )
    np.testing.assert_array_equal(wider.predict_proba(frame), model.predict_proba(frame))


@pytest.mark.one_of_each
@LEARNING
def test_duplicate_column_names(learn, patients, method):
    frame, _ = patients
    learn(ValueError, "'größe'.*more than once.*rename", pd.concat([frame, frame[["größe"]]], axis=1), method=method)


def test_duplicate_column_names_at_predict(fitted, patients):
    frame, _ = patients
    with pytest.raises(ValueError, match=r"'größe'.*more than once.*rename"):
        fitted.predict(pd.concat([frame, frame[["größe"]]], axis=1))


def test_duplicate_column_names_of_an_arrow_table(plain_classifier):
    table = pa.table([pa.array([1.0, 2.0]), pa.array([3.0, 1.0])], names=["größe", "größe"])
    with pytest.raises(ValueError, match=r"'größe'.*more than once.*rename"):
        clone(plain_classifier).fit(table, [0, 1])


@pytest.mark.one_of_each
@LEARNING
def test_column_names_of_mixed_types(learn, patients, method):
    frame, _ = patients
    learn(TypeError, "names are not strings; rename", frame.rename(columns={"größe": 7}), method=method)


def test_column_names_that_are_numbers_are_positions(plain_classifier, measurements):
    X, y = measurements
    model = clone(plain_classifier).fit(pd.DataFrame(X), y)
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_allclose(
        model.predict_proba(X), clone(plain_classifier).fit(X, y).predict_proba(X), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("method", ASKING)
def test_words_in_a_numeric_column_at_predict(fitted, patients, method):
    frame, _ = patients
    with pytest.raises(ValueError, match=r"'blood pressure' is numeric.*high.*kinds"):
        getattr(fitted, method)(frame.astype({"blood pressure": object}).assign(**{"blood pressure": "high"}))


@pytest.mark.one_of_each
@pytest.mark.parametrize("form", ["pandas-category", "polars", "pyarrow"])
def test_words_in_a_numeric_column_of_any_library(fitted, patients, form):
    words = patients[0].assign(**{"blood pressure": "high"})
    tables = {
        "pandas-category": words.astype({"blood pressure": "category"}),
        "polars": pl.from_pandas(words),
        "pyarrow": pa.Table.from_pandas(words),
    }
    with pytest.raises(ValueError, match=r"'blood pressure' is numeric.*high.*kinds"):
        fitted.predict(tables[form])


@pytest.mark.generative
def test_words_in_a_numeric_column_of_a_later_batch(fitted, unharmed, patients):
    frame, y = patients
    with pytest.raises(ValueError, match="'blood pressure' is numeric"):
        fitted.partial_fit(frame.assign(**{"blood pressure": "high"}), y)
    unharmed(fitted)


def test_words_in_an_array_of_numbers_at_predict(plain_classifier, measurements):
    model = clone(plain_classifier).fit(*measurements)
    for table in ([["1.0", "2.0", "long"]], np.array([["1.0", "2.0", "long"]])):
        with pytest.raises(ValueError, match="'x2' is numeric.*long"):
            model.predict(table)


def test_numbers_in_a_column_of_words_are_unseen_levels(fitted, patients):
    with pytest.warns(mr.UnseenLevelWarning, match="'blood type' holds level '?7"):
        answer = fitted.predict_proba(patients[0].assign(**{"blood type": 7}))
    assert np.isfinite(answer).all()


def test_times_where_numbers_were(fitted, patients):
    with pytest.raises(ValueError, match="'größe'"):
        fitted.predict(patients[0].assign(größe=pd.Timestamp("2024-02-29")))


def test_numbers_where_times_were(plain_classifier):
    frame = pd.DataFrame({"admitted on": pd.date_range("2024-01-01", periods=20)})
    model = clone(plain_classifier).fit(frame, [0, 1] * 10)
    with pytest.raises(ValueError, match="'admitted on'"):
        model.predict(frame.assign(**{"admitted on": np.arange(20.0)}))


# ---------------------------------------------------------------------------------------------------------------------
# Infinity


@LEARNING
@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 60, 89])
def test_infinity_at_fit(learn, patients, method, value, row):
    frame, _ = patients
    learn(
        ValueError,
        "'größe' contains infinity.*NaN",
        frame.assign(größe=frame["größe"].where(np.arange(90) != row, value)),
        method=method,
    )


@LEARNING
@pytest.mark.parametrize(
    "form",
    [np.ascontiguousarray, np.asfortranarray, lambda X: X.astype(np.float32), pd.DataFrame],
    ids=["c-order", "f-order", "float32", "pandas"],
)
def test_infinity_in_an_array_at_fit(plain_classifier, measurements, method, form):
    X, y = measurements
    X[40, 1] = np.inf
    with pytest.raises(ValueError, match=r"'x1' contains infinity.*NaN"):
        getattr(clone(plain_classifier), method)(form(X), y)


@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "with-gaps"])
def test_infinity_in_a_weighted_table(plain_classifier, measurements, gaps):
    X, y = measurements
    X[40, 1] = -np.inf
    if gaps:
        X[::7, 2] = np.nan
    with pytest.raises(ValueError, match=r"'x1' contains infinity.*NaN"):
        clone(plain_classifier).fit(X, y, np.full(len(y), 0.5))


@pytest.mark.parametrize("method", ASKING)
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_at_predict(fitted, patients, method, value):
    frame, _ = patients
    with pytest.raises(ValueError, match=r"'größe' contains infinity.*NaN"):
        getattr(fitted, method)(frame.assign(größe=frame["größe"].where(np.arange(90) != 77, value)))


@pytest.mark.parametrize("method", ASKING)
@pytest.mark.parametrize(
    "form",
    [np.ascontiguousarray, np.asfortranarray, lambda X: X.astype(np.float32)],
    ids=["c-order", "f-order", "float32"],
)
def test_infinity_in_an_array_at_predict(plain_classifier, measurements, method, form):
    X, y = measurements
    model = clone(plain_classifier).fit(X, y)
    X[88, 2] = np.inf
    with pytest.raises(ValueError, match=r"'x2' contains infinity.*NaN"):
        getattr(model, method)(form(X))


def test_infinity_in_a_constant_column_at_predict(plain_classifier, measurements):
    X, y = measurements
    X[:, 1] = 3.0
    model = clone(plain_classifier).fit(X, y)
    X[5, 1] = np.inf
    with pytest.raises(ValueError, match=r"'x1' contains infinity.*NaN"):
        model.predict(X)


@pytest.mark.squares
@LEARNING
def test_squares_that_overflow(learn, patients, method):
    frame, _ = patients
    learn(
        ValueError,
        "'größe'.*(1e\\+200|so far apart).*rescale",
        frame.assign(größe=np.where(np.arange(90) % 2, 1e200, -1e200)),
        method=method,
    )


# ---------------------------------------------------------------------------------------------------------------------
# Targets


@pytest.mark.one_of_each
@LEARNING
@pytest.mark.parametrize("gap", [np.nan, None, pd.NA, pd.NaT], ids=str)
def test_missing_targets(learn, patients, method, gap):
    _, y = patients
    learn(ValueError, "y contains NaN: 2 of 90 targets are missing; drop", target=[gap, gap, *y[2:]], method=method)


@LEARNING
def test_missing_numbers_as_targets(plain_classifier, measurements, method):
    X, _ = measurements
    with pytest.raises(ValueError, match=r"y contains NaN: 1 of 90 targets are missing; drop .*\(unlabelled=\)"):
        getattr(clone(plain_classifier), method)(X, [np.nan, *([0.0, 1.0] * 44), 1.0])


@pytest.mark.one_of_each
@LEARNING
def test_missing_targets_of_pandas_and_polars(learn, patients, method):
    _, y = patients
    for target in (
        y.mask(y == "krank"),
        y.astype("category").mask(y == "krank"),
        y.astype("string").mask(y == "krank"),
        pl.Series(y.tolist()).replace("krank", None),
    ):
        learn(ValueError, "y contains NaN.*targets are missing; drop", target=target, method=method)


@pytest.mark.one_of_each
@LEARNING
def test_continuous_targets(learn, method):
    learn(ValueError, "continuous.*classes", target=np.linspace(0, 1, 90), method=method)


@pytest.mark.one_of_each
@LEARNING
def test_infinite_targets(learn, method):
    learn(ValueError, "y contains infinity", target=np.array([np.inf, *range(89)]), method=method)


@pytest.mark.one_of_each
@LEARNING
def test_complex_targets(learn, method):
    learn(ValueError, "Complex", target=np.arange(90) % 2 * 1j, method=method)


@pytest.mark.one_of_each
@LEARNING
def test_no_target(learn, method):
    learn(ValueError, "requires y", target=None, method=method)


@pytest.mark.one_of_each
@LEARNING
@pytest.mark.parametrize("count", [89, 91, 1])
def test_targets_of_another_length(learn, method, count):
    learn(ValueError, f"X has 90 rows, y has {count}", target=np.resize(["gesund", "krank"], count), method=method)


@pytest.mark.one_of_each
@LEARNING
def test_targets_of_two_columns(learn, method):
    learn(ValueError, "y should be a 1d array", target=np.zeros((90, 2), dtype=int), method=method)


def test_a_target_that_is_a_column_is_read_with_a_warning(classifier, patients):
    frame, y = patients
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model = clone(classifier).fit(frame, y.to_numpy(dtype=str)[:, None])
    np.testing.assert_array_equal(model.predict(frame), clone(classifier).fit(frame, y).predict(frame))


@pytest.mark.one_of_each
@LEARNING
def test_targets_of_mixed_types(learn, patients, method):
    _, y = patients
    learn(ValueError, "y mixes labels", target=[0, *y[1:]], method=method)


def test_one_class(learn):
    learn(ValueError, "one class only \\('krank'\\).*two classes", target=["krank"] * 90)


def test_one_class_with_weight(learn, patients):
    _, y = patients
    learn(ValueError, "one class only \\('krank'\\).*two classes", sample_weight=(y == "krank").astype(float))


@pytest.mark.generative
def test_words_after_numbers_as_targets(classifier, patients):
    frame, y = patients
    model = clone(classifier).fit(frame, (y == "krank").astype(int))
    before = model.predict_proba(frame)
    with pytest.raises(ValueError, match="different types"):
        model.partial_fit(frame, y)
    np.testing.assert_array_equal(model.predict_proba(frame), before)


@pytest.mark.generative
def test_a_class_that_classes_does_not_name(learn):
    learn(ValueError, "'unklar', which classes= does not name", method="partial_fit", classes=["gesund", "krank"])


@pytest.mark.generative
def test_likelihood_of_a_class_the_model_does_not_know(fitted, patients):
    with pytest.raises(ValueError, match="'tot', which the model does not know"):
        fitted.log_likelihood(patients[0], ["tot"] * 90)


# ---------------------------------------------------------------------------------------------------------------------
# Weights


@pytest.mark.one_of_each
@LEARNING
@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (np.where(np.arange(90) == 7, -2.0, 1.0), "sample_weight holds a negative value \\(-2, row 7\\)"),
        (np.where(np.arange(90) == 7, np.nan, 1.0), "sample_weight holds NaN"),
        (np.where(np.arange(90) == 7, np.inf, 1.0), "sample_weight holds NaN or infinite"),
        (np.ones(89), "sample_weight.*expected \\(90,\\)"),
        (np.ones((90, 1)), "weights must be 1D"),
        (np.ones((90, 2)), "weights must be 1D"),
        (-1, "sample_weight holds a negative value"),
        (["heavy"] * 90, "sample_weight"),
        ([None] * 90, "sample_weight holds NaN"),
    ],
    ids=["negative", "nan", "infinite", "short", "column", "two-columns", "negative-number", "words", "none"],
)
def test_bad_weights(learn, method, weight, words):
    learn(ValueError, words, method=method, sample_weight=weight)


# ---------------------------------------------------------------------------------------------------------------------
# Option words, with the nearest one suggested


@pytest.mark.one_of_each
@LEARNING
@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"class_prior": "empircal"}, "class_prior is 'empircal'.*did you mean 'empirical'"),
        ({"class_prior": "unifrom"}, "class_prior is 'unifrom'.*did you mean 'uniform'"),
        ({"missing": "marginalize"}, "missing is 'marginalize'.*did you mean 'marginalise'"),
        ({"missing": "levels"}, "missing is 'levels'.*did you mean 'level'"),
        ({"unseen": "mising"}, "unseen is 'mising'.*did you mean 'missing'"),
        pytest.param(
            {"unseen": "smoothing"},
            "unseen is 'smoothing'.*did you mean 'smooth'",
            marks=pytest.mark.needs(
                "missing", "variance"
            ),  # who compares rows, or joins them with the class, has no "smooth"
        ),
        ({"variance": "unbaised"}, "variance is 'unbaised'.*did you mean 'unbiased'"),
        ({"kinds": "categoric"}, "kinds is 'categoric'.*did you mean 'categorical'"),
        ({"kinds": {"größe": "numerical"}}, "kinds\\['größe'\\] is 'numerical'.*did you mean 'numeric'"),
        ({"kinds": {"größen": "numeric"}}, "key of kinds= is 'größen'.*did you mean 'größe'"),
        ({"levels": {"blood typ": ["A"]}}, "key of levels= is 'blood typ'.*did you mean 'blood type'"),
        ({"distributions": {"größe": "gausian"}}, "value of distributions= is 'gausian'.*did you mean 'gaussian'"),
        ({"distributions": {"numerics": "gaussian"}}, "key of distributions= is 'numerics'.*did you mean 'numeric'"),
        (
            {"distributions": {"blood presure": "gaussian"}},
            "key of distributions= is 'blood presure'.*did you mean 'blood pressure'",
        ),
        (
            {"distributions": {"größe": mr.Gaussian(variance="unbaised")}},
            "variance is 'unbaised'.*did you mean 'unbiased'",
        ),
        ({"distributions": {"色泽": mr.Categorical(smoothing=-1)}}, "smoothing is -1"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_an_unknown_word_is_answered_with_the_nearest(learn, method, params, words):
    learn(ValueError, words, method=method, params=params)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"covariance": "diag"}, "covariance is 'diag'.*did you mean 'diagonal'"),
        ({"covariance": "share"}, "covariance is 'share'.*did you mean 'shared'"),
        ({"shrinkage": "Auto"}, "shrinkage is 'Auto'.*did you mean 'auto'"),
    ],
)
def test_an_unknown_covariance_is_answered_with_the_nearest(patients, params, words):
    with pytest.raises(ValueError, match=words):
        mr.BayesClassifier(**params).fit(*patients)


# ---------------------------------------------------------------------------------------------------------------------
# Probabilities that are stated


@pytest.mark.one_of_each
@LEARNING
@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ({"gesund": 0.5, "krank": 0.3, "unklar": 0.1}, "class_prior sums to 0.9, expected 1"),
        ({"gesund": 0.5, "krank": 0.5}, "class_prior gives no probability for class 'unklar'"),
        ({"gesund": 1.5, "krank": -0.5, "unklar": 0.0}, "class_prior holds.*from 0 to 1"),
        ({"gesund": np.nan, "krank": 0.5, "unklar": 0.5}, "class_prior holds.*from 0 to 1"),
        ([0.5, 0.5], "class_prior has 2 values.*3 classes"),
        ([0.5, 0.3, 0.1], "class_prior sums to 0.9, expected 1"),
        (np.array([0.5, 0.3, 0.1]), "class_prior sums to 0.9, expected 1"),
        ({"gesund": "half", "krank": 0.3, "unklar": 0.2}, "class_prior"),
    ],
    ids=str,
)
def test_a_class_prior_that_is_none(learn, method, prior, words):
    learn(ValueError, words, method=method, params={"class_prior": prior})


FOUR_CLASSES = {"gesund": 0.4, "krank": 0.3, "tot": 0.1, "unklar": 0.2}


def test_a_class_prior_that_names_a_class_without_rows(learn):
    learn(ValueError, "class_prior names class 'tot'", params={"class_prior": FOUR_CLASSES})


@pytest.mark.generative
def test_a_class_prior_may_name_a_class_to_come(marginalising, patients):
    """partial_fit, unlike fit, may meet the class later: until then its probability is the stated one."""
    frame, y = patients
    model = clone(marginalising).set_params(class_prior=FOUR_CLASSES).partial_fit(frame, y)
    nothing_known = frame[:1].mask(np.ones((1, frame.shape[1]), dtype=bool))
    assert model.classes_.tolist() == list(FOUR_CLASSES)
    np.testing.assert_allclose(model.predict_proba(nothing_known), [list(FOUR_CLASSES.values())], rtol=1e-15)


@pytest.mark.generative
def test_a_class_that_the_stated_prior_does_not_know_comes_later(classifier, patients):
    frame, y = patients
    known = (y != "unklar").to_numpy()
    model = clone(classifier).set_params(class_prior={"gesund": 0.5, "krank": 0.5}).fit(frame[known], y[known])
    before = model.predict_proba(frame)
    with pytest.raises(ValueError, match="no probability for class 'unklar'"):
        model.partial_fit(frame, y)
    np.testing.assert_array_equal(model.predict_proba(frame), before)


FRUIT = {"apple": {"red": 0.5, "green": 0.4, "yellow": 0.1}, "cherry": {"red": 0.95, "green": 0.0, "yellow": 0.05}}


@pytest.mark.parametrize(
    ("prior", "tables", "words"),
    [
        (
            {"apple": 0.5, "cherry": 0.5},
            {"色泽": {**FRUIT, "cherry": {"red": 0.9}}},
            r"tables\['色泽'\]\['cherry'\] sums to 0.9, expected 1",
        ),
        (
            {"apple": 0.5, "cherry": 0.5},
            {"色泽": {"apple": FRUIT["apple"]}},
            r"tables\['色泽'\] has no row for class 'cherry'",
        ),
        (
            {"apple": 0.5, "cherry": 0.5},
            {"色泽": {**FRUIT, "cherry": {"red": 1.5, "green": -0.5}}},
            r"tables\['色泽'\]\['cherry'\] holds.*from 0 to 1",
        ),
        ({"apple": 0.5, "cherry": 0.5}, {"色泽": {**FRUIT, "chery": FRUIT["cherry"]}}, r"tables\['色泽'\].*'chery'"),
        ({"apple": 0.5, "cherry": 0.4}, {"色泽": FRUIT}, "class_prior sums to 0.9, expected 1"),
        ({"apple": 0.5, "cherry": 0.5}, {}, "tables"),
        ({}, {"色泽": FRUIT}, "class_prior"),
    ],
    ids=["sum", "class-without-row", "negative", "row-without-class", "prior-sum", "no-table", "no-class"],
)
def test_stated_tables_that_are_none(prior, tables, words):
    with pytest.raises(ValueError, match=words):
        mr.NaiveBayesClassifier.from_tables(prior, tables)


JOINT = [
    {"farbe": "rot", "form": "Kreis", "art": "gut", "probability": 0.4},
    {"farbe": "blau", "form": "Kreis", "art": "schlecht", "probability": 0.6},
]


@pytest.mark.parametrize(
    ("joint", "target", "words"),
    [
        ([JOINT[0], {**JOINT[1], "probability": 0.5}], "art", "joint distribution sums to 0.9, expected 1"),
        (
            [{**JOINT[0], "probability": 1.4}, {**JOINT[1], "probability": -0.4}],
            "art",
            "joint distribution holds.*from 0 to 1",
        ),
        ([{name: row[name] for name in ("farbe", "art")} for row in JOINT], "art", "'probability'"),
        (JOINT, "größe", "'größe'"),
        ([], "art", "joint"),
        ([JOINT[0], {"farbe": "blau", "art": "schlecht", "probability": 0.6}], "art", "'form'"),
        ([{"art": "gut", "probability": 0.4}, {"art": "schlecht", "probability": 0.6}], "art", "column|variable"),
    ],
    ids=["sum", "negative", "no-probability", "no-target", "empty", "cell-without-value", "nothing-but-the-target"],
)
def test_a_stated_joint_that_is_none(joint, target, words):
    with pytest.raises(ValueError, match=words):
        mr.BayesClassifier.from_joint(joint, target=target)


@pytest.mark.parametrize(
    "model",
    [
        lambda: mr.NaiveBayesClassifier.from_tables({"apple": 0.5, "cherry": 0.5}, {"色泽": FRUIT}),
        lambda: mr.BayesClassifier.from_joint(JOINT, target="art"),
    ],
    ids=["tables", "joint"],
)
def test_a_stated_model_has_nothing_to_add_to(model):
    table = pd.DataFrame({"色泽": ["red", "red"], "farbe": ["rot", "blau"], "form": "Kreis"})
    with pytest.raises(ValueError, match="stated, not counted"):
        model().partial_fit(table, ["apple", "cherry"])
    with pytest.raises(ValueError, match="stated, not counted"):
        model() + model()


@pytest.mark.parametrize(
    ("smoothing", "words"),
    [
        (mr.MEstimate(2, 0.5), "p over the 3 levels of column '色泽' sums to 1.5"),
        (mr.MEstimate(2, {"色泽": [0.5, 0.5]}), "p has shape .2,. for column '色泽'"),
        (mr.MEstimate(2, {"色泽": {"purple": 1.0}}), "p names 'purple', which is .*level of column '色泽'"),
        (mr.MEstimate(2, {"色泽": {"krank": {"pink": 1.0}}}), "column '色泽' no probabilities for class 'gesund'"),
    ],
    ids=["sum", "shape", "level", "class"],
)
def test_an_m_estimate_that_is_none(patients, smoothing, words):
    frame, y = patients
    with pytest.raises(ValueError, match=words):
        mr.NaiveBayesClassifier(smoothing=smoothing).fit(frame[["色泽"]], y)


@pytest.mark.parametrize("m", [-1, np.nan, np.inf, "two", None], ids=str)
def test_a_weight_of_belief_that_is_none(m):
    with pytest.raises(ValueError, match="m is .*imaginary rows"):
        mr.MEstimate(m)


# ---------------------------------------------------------------------------------------------------------------------
# Levels, families, covariances


@LEARNING
def test_a_level_that_was_not_declared(learn, method):
    learn(
        ValueError,
        "'色泽' holds 'yellow', which its levels .* do not name; add it to its levels",
        method=method,
        params={"levels": {"色泽": ["pink", "white"]}},
    )


@pytest.mark.generative
def test_a_level_that_was_not_declared_in_a_later_batch(classifier, patients):
    frame, y = patients
    strict = clone(classifier).set_params(levels={**(classifier.levels or {}), "色泽": ["pink", "white"]})
    known = (frame["色泽"] != "yellow").to_numpy()
    model = clone(strict).fit(frame[known], y[known])
    before = model.predict_proba(frame[known])
    with pytest.raises(ValueError, match="'色泽' holds 'yellow'"):
        model.partial_fit(frame, y)
    np.testing.assert_array_equal(model.predict_proba(frame[known]), before)


@pytest.mark.one_of_each
@LEARNING
@pytest.mark.parametrize(
    ("levels", "words"), [(["pink", "pink"], "'色泽'.*each level once"), ([], "'色泽'.*each level once")], ids=str
)
def test_levels_that_are_none(learn, method, levels, words):
    learn(ValueError, words, method=method, params={"levels": {"色泽": levels}})


@pytest.mark.one_of_each
@LEARNING
def test_levels_of_a_numeric_column(learn, method):
    learn(
        ValueError,
        "levels= declares levels for column 'größe'.*'numeric'",
        method=method,
        params={"levels": {"größe": [1, 2]}, "kinds": {"größe": "numeric"}},
    )


@pytest.mark.one_of_each
@LEARNING
def test_words_that_are_called_numbers(learn, method):
    learn(ValueError, "'色泽' is numeric.*kinds", method=method, params={"kinds": {"色泽": "numeric"}})


@pytest.mark.one_of_each
@LEARNING
def test_numbers_that_are_called_times(learn, method):
    learn(ValueError, "'größe' a datetime.*convert", method=method, params={"kinds": {"größe": "datetime"}})


@pytest.mark.one_of_each
@LEARNING
def test_every_column_ignored(learn, classifier, method):
    options = {"kinds": "ignore", "levels": None, "distributions": None}
    learn(
        ValueError,
        "no column is left.*kinds",
        method=method,
        params={name: value for name, value in options.items() if name in classifier.get_params()},
    )


@pytest.mark.needs("distributions")
@pytest.mark.one_of_each
@LEARNING
@pytest.mark.parametrize(
    ("column", "family"),
    [
        ("色泽", "gaussian"),
        ("größe", "categorical"),
        ("色泽", mr.MultivariateGaussian()),
        ("größe", "joint_categorical"),
    ],
    ids=str,
)
def test_a_family_that_does_not_suit_its_column(learn, method, column, family):
    learn(
        ValueError,
        f"'{column}' is .*change kinds= or distributions=",
        method=method,
        params={"distributions": {column: family}},
    )


def test_a_bernoulli_column_with_a_third_value(patients):
    frame, y = patients
    with pytest.raises(ValueError, match="'smoker' holds 2"):
        mr.NaiveBayesClassifier(distributions={"smoker": "bernoulli"}).fit(frame.assign(smoker=2.0), y)
    with pytest.raises(ValueError, match="'色泽' has levels .*exactly two"):
        mr.NaiveBayesClassifier(distributions={"色泽": "bernoulli"}, levels={"色泽": ["pink", "white", "yellow"]}).fit(
            frame, y
        )


@pytest.mark.parametrize("method", ASKING)
def test_an_unseen_level_is_an_error_where_that_was_asked_for(classifier, patients, method):
    frame, y = patients
    model = clone(classifier).set_params(unseen="error").fit(frame, y)
    with pytest.raises(ValueError, match="'色泽' holds level 'purple', never seen at fit.*levels=.*unseen="):
        getattr(model, method)(frame.assign(色泽="purple"))


@pytest.mark.parametrize("method", ASKING)
def test_an_unseen_level_is_one_warning(fitted, patients, method):
    frame, _ = patients
    strange = frame.assign(色泽=["purple", "green"] * 45, **{"blood type": "C"})
    with pytest.warns(mr.UnseenLevelWarning) as caught:
        getattr(fitted, method)(strange)
    assert len(caught) == 1
    assert all(word in str(caught[0].message) for word in ("'色泽'", "'green'", "'purple'", "never seen at fit"))


@pytest.mark.one_of_each
@pytest.mark.parametrize("method", ASKING)
def test_a_warning_points_at_the_line_that_asked(fitted, patients, method):
    with pytest.warns(mr.UnseenLevelWarning) as caught:
        getattr(fitted, method)(patients[0].assign(色泽="purple"))
    assert caught[0].filename == __file__


def test_an_unseen_level_counts_as_missing_by_default(marginalising, patients):
    frame, y = patients
    model = clone(marginalising).set_params(unseen="missing").fit(frame, y)
    with pytest.warns(mr.UnseenLevelWarning, match="treated as missing"):
        answer = model.predict_proba(frame.assign(色泽="purple"))
    np.testing.assert_array_equal(
        answer, model.predict_proba(frame.assign(色泽=pd.Series([None] * 90, dtype=frame["色泽"].dtype)))
    )


def test_an_impossible_row_is_one_warning_and_the_prior():
    frame = pd.DataFrame({"色泽": ["pink", "white"], "blood type": ["A", "B"]})
    model = mr.NaiveBayesClassifier(smoothing=0, class_prior={"krank": 0.75, "gesund": 0.25}).fit(
        frame, ["krank", "gesund"]
    )
    with pytest.warns(mr.ZeroEvidenceWarning, match="1 row has probability 0.*prior.*smoothing") as caught:
        answer = model.predict_proba(pd.DataFrame({"色泽": ["pink", "pink"], "blood type": ["B", "A"]}))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    np.testing.assert_allclose(answer, [[0.25, 0.75], [0.0, 1.0]], rtol=1e-15)


@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_a_singular_covariance(patients, covariance):
    frame, y = patients
    twin = frame[["blood pressure", "größe"]].dropna().assign(**{"Größe in m": lambda table: table["größe"] / 100})
    whose = "gesund" if covariance == "full" else ""
    with pytest.raises(ValueError, match=f"{whose}.*singular.*'größe'.*shrinkage=") as caught:
        mr.BayesClassifier(covariance=covariance, shrinkage=0).fit(twin, y[twin.index])
    assert "'Größe in m'" in str(caught.value)
    assert "'blood pressure'" not in str(caught.value)


def test_a_class_of_too_few_rows_is_named(measurements):
    X, y = measurements
    frame = pd.DataFrame(X[:62], columns=["Schnabel", "größe", "翅长"])
    with pytest.raises(ValueError, match="class 'star'.*singular.*column.*shrinkage="):
        mr.BayesClassifier(shrinkage=0).fit(frame, y[:62])
    assert mr.BayesClassifier().fit(frame, y[:62]).score(frame, y[:62]) > 0.9


def test_a_column_constant_within_one_class_is_named(measurements):
    X, y = measurements
    frame = pd.DataFrame(X, columns=["Schnabel", "größe", "翅长"])
    frame.loc[y == "drossel", "größe"] = 80.0
    with pytest.raises(ValueError, match="class 'drossel'.*singular.*'größe'.*shrinkage="):
        mr.BayesClassifier(shrinkage=0).fit(frame, y)


def test_a_singular_batch_leaves_the_model_as_it_was(measurements):
    X, y = measurements
    model = mr.BayesClassifier(shrinkage=0).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="class 'uhu'.*singular.*shrinkage="):
        model.partial_fit(X[:1], ["uhu"])
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.classes_.tolist() == ["amsel", "drossel", "star"]


# ---------------------------------------------------------------------------------------------------------------------
# Too early, or not to be merged


@pytest.mark.one_of_each
@pytest.mark.parametrize(
    "ask", [*ASKING, "save", "sample", "parameters_count", "score", "log_likelihood", "aic", "bic"]
)
def test_before_fit(classifier, patients, ask, tmp_path):
    frame, y = patients
    model = clone(classifier)
    arguments = {"save": (tmp_path / "model.merula",), "sample": (3,)}.get(
        ask, (frame, y) if ask in ("score", "log_likelihood", "aic", "bic") else (frame,)
    )
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.parameters_count if ask == "parameters_count" else getattr(model, ask)(*arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.generative
def test_merging_with_an_unfitted_model(fitted, classifier):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        fitted + clone(classifier)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        clone(classifier) + fitted


@pytest.mark.needs("smoothing")
def test_merging_models_of_other_parameters(fitted, classifier, patients):
    with pytest.raises(ValueError, match="cannot be merged: smoothing is .* in one and 7 in the other"):
        fitted + clone(classifier).set_params(smoothing=7).fit(*patients)


@pytest.mark.generative
def test_merging_models_of_other_columns(fitted, classifier, patients):
    frame, y = patients
    with pytest.raises(ValueError, match="cannot be merged.*'größe'"):
        fitted + clone(classifier).fit(frame.drop(columns="größe"), y)


@pytest.mark.generative
def test_merging_models_of_other_kinds_of_columns(fitted, classifier, patients):
    frame, y = patients
    with pytest.raises(ValueError, match="merged.*'größe'|'größe'.*merged"):
        fitted + clone(classifier).fit(frame.assign(größe="tall"), y)


def test_merging_with_something_else(fitted):
    with pytest.raises(TypeError, match="unsupported operand"):
        fitted + 1


@pytest.mark.adds
def test_merging_models_of_other_kinds_of_classes(fitted, classifier, patients):
    frame, y = patients
    with pytest.raises(ValueError, match="different types"):
        fitted + clone(classifier).fit(frame, (y == "krank").astype(int))


@pytest.mark.generative
def test_merging_models_of_arrays_of_other_widths(plain_classifier, measurements):
    X, y = measurements
    with pytest.raises(ValueError, match="cannot be merged.*'x2'"):
        clone(plain_classifier).fit(X, y) + clone(plain_classifier).fit(X[:, :2], y)


# ---------------------------------------------------------------------------------------------------------------------
# Model files


@pytest.fixture
def saved(patients, tmp_path):
    path = tmp_path / "modèle.merula"
    mr.BayesClassifier().fit(*patients).save(path)
    return path


def rewritten(path, change):
    """The file with its description passed through `change`, everything else as it was."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members = change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def with_head(**changes):
    return lambda members: members | {"merula.json": json.dumps(json.loads(members["merula.json"]) | changes).encode()}


def test_no_such_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.merula"):
        mr.load(tmp_path / "nowhere.merula")


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(ValueError, match="merula model"):
        mr.load(tmp_path)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.5, 0.9, 0.999])
def test_a_truncated_file(saved, share):
    data = saved.read_bytes()
    saved.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(ValueError, match=r"modèle.merula.*(cut short|damaged).*save the model again"):
        mr.load(saved)


@pytest.mark.parametrize(
    "content",
    [b"", b"blood pressure;diagnosis\n120;krank\n", b"PK\x03\x04 not really", pickle.dumps({"model": 1})],
    ids=["empty", "csv", "almost", "pickle"],
)
def test_a_foreign_file(tmp_path, content):
    path = tmp_path / "patients.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"patients.csv.*merula model"):
        mr.load(path)


def test_a_foreign_archive(tmp_path):
    path = tmp_path / "letters.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("letter.txt", "Liebe Amsel")
    with pytest.raises(ValueError, match=r"letters.zip is not a merula model"):
        mr.load(path)


@pytest.mark.parametrize(
    "head",
    [
        b"[]",
        b"3",
        b"{}",
        b'{"format": "merula model"}',
        b'{"format": "other", "version": 1, "state": {}}',
        b"{",
        b"\xff\xfe",
    ],
    ids=str,
)
def test_a_foreign_description(saved, head):
    with pytest.raises(ValueError, match=r"modèle.merula.*merula model"):
        mr.load(rewritten(saved, lambda members: members | {"merula.json": head}))


@pytest.mark.parametrize("version", [2, 99])
def test_a_newer_version(saved, version):
    with pytest.raises(ValueError, match=f"version {version}.*update merula"):
        mr.load(rewritten(saved, with_head(version=version)))


@pytest.mark.parametrize("version", [None, "1", 1.5, 0, -1, True], ids=str)
def test_a_version_that_is_none(saved, version):
    with pytest.raises(ValueError, match="modèle.merula"):
        mr.load(rewritten(saved, with_head(version=version)))


def edited_text(members):
    return members | {
        "merula.json": members["merula.json"]
        .replace(b"unklar", b"gesund")
        .replace(b"blood pressure", b"blood pleasure")
    }


def edited_array(members):
    name = next(name for name in members if name.endswith(".npy"))
    return members | {name: members[name][:-1] + bytes([members[name][-1] ^ 1])}


def swapped_arrays(members):
    return members | {"0.npy": members["1.npy"], "1.npy": members["0.npy"]}


def without_array(members):
    return {name: data for name, data in members.items() if name != "0.npy"}


@pytest.mark.parametrize(
    "change",
    [edited_text, edited_array, swapped_arrays, with_head(seal=None), with_head(seal="0" * 64)],
    ids=["text", "array", "swapped", "no-seal", "other-seal"],
)
def test_a_hand_edited_file(saved, change):
    with pytest.raises(ValueError, match=r"modèle.merula was changed after it was saved.*save the model again"):
        mr.load(rewritten(saved, change))


def test_an_array_taken_away(saved):
    with pytest.raises(ValueError, match=r"modèle.merula"):
        mr.load(rewritten(saved, without_array))


def test_any_flipped_byte_is_noticed_or_harmless(saved, patients):
    """Never another model, never another kind of error: 400 bytes spread over the file, one flipped at a time."""
    data, expected = saved.read_bytes(), mr.load(saved).predict_proba(patients[0])
    for index in np.linspace(0, len(data) - 1, 400).astype(int).tolist():
        saved.write_bytes(data[:index] + bytes([data[index] ^ 0x55]) + data[index + 1 :])
        try:
            answer = mr.load(saved).predict_proba(patients[0])
        except ValueError as error:
            assert "modèle.merula" in str(error), index
        else:
            np.testing.assert_array_equal(answer, expected)


class Intruder:
    """What a pickle would run when it is opened."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return type(self.path).touch, (self.path,)


def test_loading_runs_nothing(saved, tmp_path, monkeypatch):
    """An array of pickled objects is refused, not opened, even where the seal is right."""
    pickled = io.BytesIO()
    np.save(pickled, np.array([Intruder(tmp_path / "hello")], dtype=object), allow_pickle=True)
    rewritten(saved, lambda members: with_head(seal="right")(members) | {"0.npy": pickled.getvalue()})
    monkeypatch.setattr("merula.core.archive._seal", lambda *parts: "right")
    with pytest.raises(ValueError, match="modèle.merula"):
        mr.load(saved)
    assert not (tmp_path / "hello").exists()


def test_a_failed_save_leaves_the_old_file(saved, patients, monkeypatch):
    before = saved.read_bytes()
    monkeypatch.setattr("os.replace", lambda *paths: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        mr.NaiveBayesClassifier().fit(*patients).save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_saving_into_a_folder_that_is_not_there(fitted, tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        fitted.save(tmp_path / "nowhere" / "model.merula")


def test_a_family_the_file_cannot_bring(patients, tmp_path):
    class Rounded(mr.Gaussian):
        name = "rounded"

    mr.NaiveBayesClassifier(distributions={"numeric": Rounded()}).fit(*patients).save(tmp_path / "own.merula")
    with pytest.raises(ValueError, match=r"own.merula uses the distribution 'rounded'.*families="):
        mr.load(tmp_path / "own.merula")
    assert mr.load(tmp_path / "own.merula", families=[Rounded]).predict(patients[0][:1]).shape == (1,)
