"""Posteriors equal to scikit-learn's to 1e-9 where the two mean the same model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from sklearn.preprocessing import StandardScaler

import merula as mr

NO_WEIGHTS, WHOLE, FRACTIONAL = "no weights", "whole weights", "fractional weights"


def random_blobs():
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, 400)
    mixing = rng.normal(size=(3, 5, 5))
    X = np.stack([rng.normal(size=5) @ mixing[label] + label for label in y])
    return X, y


def well_scaled(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


TABLES = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "random": random_blobs,
}
# scikit-learn's own error on raw wine and breast cancer exceeds 1e-9 (condition numbers up to 1e12), so these come in standard units
SCALED_TABLES = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: well_scaled(load_wine),
    "breast cancer": lambda: well_scaled(load_breast_cancer),
    "random": random_blobs,
}


def weights_for(kind, rows):
    rng = np.random.default_rng(11)
    return {NO_WEIGHTS: None, WHOLE: rng.integers(0, 4, rows).astype(float), FRACTIONAL: rng.uniform(0.2, 3, rows)}[
        kind
    ]


def agree(model, peer, X, tolerance=1e-9):
    assert model.classes_.tolist() == peer.classes_.tolist()
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), rtol=0, atol=tolerance)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))


# --------------------------------------------------------------------------------------------------------------------
# Gaussian naive Bayes


@pytest.mark.parametrize("weighted", [NO_WEIGHTS, WHOLE, FRACTIONAL])
@pytest.mark.parametrize("name", TABLES)
def test_gaussian_naive_bayes(name, weighted):
    X, y = TABLES[name]()
    weights = weights_for(weighted, len(y))
    model = mr.NaiveBayesClassifier().fit(X, y, sample_weight=weights)
    peer = GaussianNB(var_smoothing=0).fit(X, y, sample_weight=weights)
    agree(model, peer, X)
    np.testing.assert_allclose(model.predict_log_proba(X), peer.predict_log_proba(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), peer.predict_joint_log_proba(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("prior", [[0.2, 0.5, 0.3], [0.0, 0.25, 0.75]])
def test_gaussian_naive_bayes_with_a_given_prior(prior):
    X, y = load_wine(return_X_y=True)
    with np.errstate(divide="ignore"):
        peer = GaussianNB(var_smoothing=0, priors=prior).fit(X, y)
        expected = peer.predict_proba(X)
    for option in (prior, dict(enumerate(prior)), np.array(prior)):
        np.testing.assert_allclose(
            mr.NaiveBayesClassifier(class_prior=option).fit(X, y).predict_proba(X), expected, rtol=0, atol=1e-9
        )


def test_gaussian_naive_bayes_with_a_uniform_prior():
    X, y = load_wine(return_X_y=True)
    agree(
        mr.NaiveBayesClassifier(class_prior="uniform").fit(X, y),
        GaussianNB(var_smoothing=0, priors=[1 / 3] * 3).fit(X, y),
        X,
    )


LAYOUTS = {
    "float32": lambda X: X.astype(np.float32),
    "Fortran order": np.asfortranarray,
    "float32 in Fortran order": lambda X: np.asfortranarray(X, dtype=np.float32),
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "reversed columns twice": lambda X: np.ascontiguousarray(X[:, ::-1])[:, ::-1],
    "big endian": lambda X: X.astype(">f8"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["iris", "random"])
def test_memory_layout_and_float32_do_not_matter(name, layout):
    X, y = TABLES[name]()
    stored = LAYOUTS[layout](X)
    plain = np.ascontiguousarray(stored, dtype=np.float64)
    agree(mr.NaiveBayesClassifier().fit(stored, y), GaussianNB(var_smoothing=0).fit(plain, y), plain)
    np.testing.assert_allclose(
        mr.NaiveBayesClassifier().fit(plain, y).predict_proba(stored),
        GaussianNB(var_smoothing=0).fit(plain, y).predict_proba(plain),
        rtol=0,
        atol=1e-9,
    )
    full = mr.BayesClassifier(shrinkage=0).fit(stored, y)
    peer = QuadraticDiscriminantAnalysis().fit(plain, y)
    np.testing.assert_allclose(full.predict_proba(stored), peer.predict_proba(plain), rtol=0, atol=1e-9)


def test_gaussian_naive_bayes_on_many_rows_in_batches():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 4, 150_000)
    X = rng.normal(size=(len(y), 3)) * [1, 20, 0.01] + y[:, None] * [1, 5, 0.002]
    peer = GaussianNB(var_smoothing=0).fit(X, y)
    agree(mr.NaiveBayesClassifier().fit(X, y), peer, X)
    streamed = mr.NaiveBayesClassifier()
    for start in range(0, len(y), 40_000):
        streamed.partial_fit(X[start : start + 40_000], y[start : start + 40_000])
    np.testing.assert_allclose(streamed.predict_proba(X), peer.predict_proba(X), rtol=0, atol=1e-9)


def test_named_numeric_columns_and_word_classes():
    data = load_iris(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    agree(mr.NaiveBayesClassifier().fit(X, y), GaussianNB(var_smoothing=0).fit(X, y), X)


# --------------------------------------------------------------------------------------------------------------------
# Categorical and Bernoulli naive Bayes


def random_codes(rows=500, sizes=(2, 3, 5, 9)):
    """Codes of four columns whose distribution depends on one of three classes; every code occurs."""
    rng = np.random.default_rng(5)
    y = np.array(["bream", "perch", "roach"])[rng.integers(0, 3, rows)]
    tables = {label: [rng.dirichlet(np.ones(size)) for size in sizes] for label in np.unique(y)}
    X = np.array([[rng.choice(len(p), p=p) for p in tables[label]] for label in y])
    for column, size in enumerate(sizes):
        X[:size, column] = np.arange(size)
    return X, y


@pytest.mark.parametrize("weighted", [NO_WEIGHTS, WHOLE, FRACTIONAL])
@pytest.mark.parametrize("alpha", [0.01, 0.5, 1, 10])
def test_categorical_naive_bayes(alpha, weighted):
    X, y = random_codes()
    weights = weights_for(weighted, len(y))
    if weights is not None:
        weights[:9] = 1
    peer = CategoricalNB(alpha=alpha).fit(X, y, sample_weight=weights)
    agree(mr.NaiveBayesClassifier(kinds="categorical", smoothing=alpha).fit(X, y, sample_weight=weights), peer, X)


@pytest.mark.parametrize("prior", [[0.2, 0.5, 0.3], [1 / 3, 1 / 3, 1 / 3]])
def test_categorical_naive_bayes_with_a_given_prior(prior):
    X, y = random_codes()
    agree(
        mr.NaiveBayesClassifier(kinds="categorical", class_prior=prior).fit(X, y),
        CategoricalNB(class_prior=prior).fit(X, y),
        X,
    )


@pytest.mark.parametrize(
    ("dtype", "order"),
    [(np.int8, "C"), (np.uint8, "F"), (np.int16, "C"), (np.uint32, "F"), (np.int64, "C"), (np.int64, "F"), (np.float32, "F"), (np.float64, "C")],
)  # fmt: skip
def test_categorical_naive_bayes_of_any_code_type(dtype, order):
    X, y = random_codes()
    stored = np.array(X, dtype=dtype, order=order)
    agree_codes(mr.NaiveBayesClassifier(kinds="categorical").fit(stored, y), CategoricalNB().fit(X, y), stored, X)


def agree_codes(model, peer, stored, codes):
    np.testing.assert_allclose(model.predict_proba(stored), peer.predict_proba(codes), rtol=0, atol=1e-9)


def test_categorical_naive_bayes_with_levels_that_never_occur():
    X, y = random_codes()
    levels = {column: list(range(12)) for column in range(X.shape[1])}
    model, peer = mr.NaiveBayesClassifier(levels=levels).fit(X, y), CategoricalNB(min_categories=12).fit(X, y)
    agree(model, peer, X)
    agree(model, peer, np.full((1, 4), 11))


def test_categorical_naive_bayes_of_words_equals_that_of_codes():
    X, y = random_codes()
    words = np.array(["淡", "mild", "großartig", "sehr, sehr scharf", "none", "<=50K", "(1,2]", "Ärger", "x y"])
    frame = pd.DataFrame(words[X], columns=["色泽", "blood pressure", "größe", "n-gram"])
    model = mr.NaiveBayesClassifier().fit(frame, y)
    agree_codes(model, CategoricalNB().fit(X, y), frame, X)
    agree_codes(model, CategoricalNB().fit(X, y), frame.astype("category"), X)


def test_categorical_naive_bayes_with_a_code_so_rare_that_a_sample_misses_it():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (50_000, 2)), rng.integers(0, 2, 50_000)
    X[31_337, 1] = 900
    X[:, 0] = np.where(y == 1, X[:, 0], rng.integers(0, 2, len(y)))
    X[0, 0] = 3
    levels = {1: [*range(901)]}  # CategoricalNB counts every code up to the largest as a level
    agree(mr.NaiveBayesClassifier(kinds="categorical", levels=levels).fit(X, y), CategoricalNB().fit(X, y), X)
    seen = {code: index for index, code in enumerate(np.unique(X[:, 1]))}
    dense = np.column_stack([X[:, 0], [seen[code] for code in X[:, 1].tolist()]])
    agree_codes(mr.NaiveBayesClassifier(kinds="categorical").fit(X, y), CategoricalNB().fit(dense, y), X, dense)


@pytest.mark.parametrize("weighted", [NO_WEIGHTS, WHOLE, FRACTIONAL])
@pytest.mark.parametrize("alpha", [0.01, 1, 3])
@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float64, bool])
def test_bernoulli_naive_bayes(dtype, alpha, weighted):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 300)
    X = (rng.random((300, 6)) < rng.random((3, 6))[y]).astype(dtype)
    X[:, 5] = 0  # never true: BernoulliNB still gives "true" its pseudo-count
    weights = weights_for(weighted, len(y))
    model = mr.NaiveBayesClassifier(
        smoothing=alpha, distributions={"numeric": "bernoulli", "categorical": "bernoulli"}
    ).fit(X, y, sample_weight=weights)
    peer = BernoulliNB(alpha=alpha).fit(X, y, sample_weight=weights)
    every = np.array(list(np.ndindex(*[2] * 6)), dtype=dtype)
    agree(model, peer, every)


def test_bernoulli_naive_bayes_with_a_given_prior():
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 2, (100, 4)), rng.integers(0, 2, 100)
    agree(
        mr.NaiveBayesClassifier(distributions={"numeric": "bernoulli"}, class_prior=[0.9, 0.1]).fit(X, y),
        BernoulliNB(class_prior=[0.9, 0.1]).fit(X, y),
        X,
    )


# --------------------------------------------------------------------------------------------------------------------
# Quadratic and linear discriminant analysis: since version 1.9 scikit-learn divides by n in every solver (its #33626)


class UnbiasedCovariance(BaseEstimator):
    """The covariance with 1/(n − 1), for QuadraticDiscriminantAnalysis(solver="eigen")."""

    def fit(self, X):
        self.covariance_ = np.cov(X, rowvar=False)
        return self


PRIORS = {"empirical": None, "given": [0.1, 0.6, 0.3], "uniform": [1 / 3, 1 / 3, 1 / 3]}
QUADRATIC = {
    "mle": lambda prior: QuadraticDiscriminantAnalysis(priors=prior, tol=1e-9),
    "unbiased": lambda prior: QuadraticDiscriminantAnalysis(
        priors=prior, tol=1e-9, solver="eigen", covariance_estimator=UnbiasedCovariance()
    ),
}


@pytest.mark.parametrize("variance", QUADRATIC)
@pytest.mark.parametrize("name", SCALED_TABLES)
def test_quadratic_discriminant_analysis(name, variance):
    X, y = SCALED_TABLES[name]()
    agree(mr.BayesClassifier(shrinkage=0, variance=variance).fit(X, y), QUADRATIC[variance](None).fit(X, y), X)


@pytest.mark.parametrize("variance", QUADRATIC)
@pytest.mark.parametrize("prior", ["given", "uniform"])
@pytest.mark.parametrize("name", ["iris", "wine", "random"])
def test_quadratic_discriminant_analysis_with_a_given_prior(name, prior, variance):
    X, y = SCALED_TABLES[name]()
    model = mr.BayesClassifier(shrinkage=0, variance=variance, class_prior=PRIORS[prior] if prior == "given" else prior)
    agree(model.fit(X, y), QUADRATIC[variance](PRIORS[prior]).fit(X, y), X)


@pytest.mark.parametrize("variance", QUADRATIC)
@pytest.mark.parametrize("name", ["iris", "random"])
def test_quadratic_discriminant_analysis_of_weighted_rows_equals_that_of_repeated_rows(name, variance):
    X, y = SCALED_TABLES[name]()
    weights = weights_for(WHOLE, len(y))
    repeated = np.repeat(np.arange(len(y)), weights.astype(int))
    model = mr.BayesClassifier(shrinkage=0, variance=variance).fit(X, y, sample_weight=weights)
    agree(model, QUADRATIC[variance](None).fit(X[repeated], y[repeated]), X)


@pytest.mark.parametrize("name", SCALED_TABLES)
@pytest.mark.parametrize("solver", ["lsqr", "svd"])
def test_linear_discriminant_analysis(name, solver):
    X, y = SCALED_TABLES[name]()
    agree(
        mr.BayesClassifier(covariance="shared", shrinkage=0).fit(X, y),
        LinearDiscriminantAnalysis(solver=solver).fit(X, y),
        X,
    )


@pytest.mark.parametrize("prior", ["given", "uniform"])
@pytest.mark.parametrize("name", ["iris", "wine", "random"])
def test_linear_discriminant_analysis_with_a_given_prior(name, prior):
    """Only solver="svd" estimates a covariance that does not depend on the given prior."""
    X, y = SCALED_TABLES[name]()
    model = mr.BayesClassifier(
        covariance="shared", shrinkage=0, class_prior=PRIORS[prior] if prior == "given" else prior
    )
    agree(model.fit(X, y), LinearDiscriminantAnalysis(solver="svd", priors=PRIORS[prior]).fit(X, y), X)


@pytest.mark.parametrize("solver", ["lsqr", "svd"])
@pytest.mark.parametrize("name", ["iris", "random"])
def test_linear_discriminant_analysis_of_weighted_rows_equals_that_of_repeated_rows(name, solver):
    X, y = SCALED_TABLES[name]()
    weights = weights_for(WHOLE, len(y))
    repeated = np.repeat(np.arange(len(y)), weights.astype(int))
    model = mr.BayesClassifier(covariance="shared", shrinkage=0).fit(X, y, sample_weight=weights)
    agree(model, LinearDiscriminantAnalysis(solver=solver).fit(X[repeated], y[repeated]), X)


@pytest.mark.parametrize("name", TABLES)
def test_diagonal_covariance_is_gaussian_naive_bayes(name):
    X, y = TABLES[name]()
    agree(mr.BayesClassifier(covariance="diagonal").fit(X, y), GaussianNB(var_smoothing=0).fit(X, y), X)
