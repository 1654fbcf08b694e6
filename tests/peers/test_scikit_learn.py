"""What scikit-learn tests of its naive Bayes, discriminant analysis, neighbours and kernel densities, asked of merula.

Cases are restated in our own words; expected values are scikit-learn's own answers, or worked by hand. Not asked, and why:

| scikit-learn's case | here |
|---|---|
| an empty batch in `partial_fit` | refused, as scikit-learn's estimators refuse it (only an inner function of theirs does not) |
| one class alone, in `y` or left over by weights | refused: a classifier needs two; `partial_fit(…, classes=…)` takes it |
| a class whose rows all weigh 0 | does not exist; scikit-learn keeps it with a prior of 0 |
| `fit_prior`, `priors`, `class_prior` by position | `class_prior`, by name too; fitted attributes have other names |
| `alpha` as a vector, clipped at 1e-10 (`force_alpha`) | one pseudo-count or `MEstimate(m, p)`; 0 means 0 |
| `ComplementNB`'s prior, which it leaves out | counts as in every model; `class_prior="uniform"` is theirs |
| `ComplementNB(norm=True)`, `min_categories` | not offered; `levels={…}` |
| `CategoricalNB` meeting a new category: `IndexError` | treated as missing, with a warning |
| LDA as a transformer, its solvers, `coef_`, Ledoit–Wolf shrinkage | not offered: posteriors alone; OAS shrinkage of correlations |
| LDA `priors`, by which theirs also weighs the covariances of the classes | the covariance is counted; the prior is the prior |
| QDA `reg_param`, collinear columns in silence | `shrinkage`; singular covariances are refused or shrunk |
| other metrics, radius neighbours, graphs, regressors, several targets, sparse rows for neighbours | not offered |
| more neighbours than rows: an error | all rows are neighbours |
| neighbours equally far: the order of rows decides | shared |
| kernels exponential, linear, cosine; trees' tolerances | not offered; sums are exact |
| array API, metadata routing, `check_estimator` | tests/contract |
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KernelDensity, KNeighborsClassifier

import merula as mr

POINTS = np.array([[-2, -1], [-1, -1], [-1, -2], [1, 1], [1, 2], [2, 1]], dtype=float)
SIDES = np.array([1, 1, 1, 2, 2, 2])
RNG = np.random.default_rng(0)
COUNTS = RNG.integers(5, size=(12, 40))
TOPICS = np.array([1, 1, 2, 2, 3, 3] * 2)
IRIS = load_iris(return_X_y=True)


def words(variant):
    return mr.NaiveBayesClassifier(kinds="text", distributions={"text": mr.Multinomial(variant)})


# of each peer, the model that means the same, on counts
DISCRETE = {
    "multinomial": (MultinomialNB, words("multinomial")),
    "complement": (ComplementNB, words("complement")),
    "bernoulli": (BernoulliNB, words("bernoulli")),
    "bernoulli, above 2": (
        lambda **options: BernoulliNB(binarize=2.0, **options),
        mr.NaiveBayesClassifier(distributions={"numeric": mr.Bernoulli(threshold=2.0)}),
    ),
    "categorical": (CategoricalNB, mr.NaiveBayesClassifier(kinds="categorical", levels={f"x{j}": range(5) for j in range(40)})),
}  # fmt: skip
every_discrete = pytest.mark.parametrize("name", DISCRETE)


def peers(name, **options):
    theirs, ours = DISCRETE[name]
    if name == "categorical":
        options["min_categories"] = 5
    return theirs(**options), mr.NaiveBayesClassifier(**ours.get_params(deep=False))


def agree(ours, theirs, X, tolerance=1e-9):
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=tolerance, atol=1e-12)
    assert ours.predict(X).tolist() == theirs.predict(X).tolist()


# ---------------------------------------------------------------------------------------------------------------------
# Normal columns


def test_two_clouds_are_told_apart_and_logarithms_agree():
    model = mr.NaiveBayesClassifier().fit(POINTS, SIDES)
    assert model.predict(POINTS).tolist() == SIDES.tolist()
    np.testing.assert_allclose(np.log(model.predict_proba(POINTS)), model.predict_log_proba(POINTS), atol=1e-10)


@pytest.mark.parametrize("labels", [SIDES, np.array(["left", "right"])[SIDES - 1], SIDES.astype(float), SIDES == 2])
def test_classes_of_any_sort(labels):
    assert mr.NaiveBayesClassifier().fit(POINTS, labels).predict(POINTS).tolist() == labels.tolist()


def test_the_prior_is_how_often_classes_occur():
    model = mr.NaiveBayesClassifier().fit(POINTS, SIDES)
    np.testing.assert_allclose(np.exp(model.class_log_prior_), [0.5, 0.5])
    model = mr.NaiveBayesClassifier().fit(POINTS[:5], SIDES[:5])
    np.testing.assert_allclose(np.exp(model.class_log_prior_), [0.6, 0.4])


def test_weights_of_one_change_nothing_and_two_equals_twice():
    plain = mr.NaiveBayesClassifier().fit(POINTS, SIDES)
    ones = mr.NaiveBayesClassifier().fit(POINTS, SIDES, np.ones(6))
    assert ones.predict_proba(POINTS).tolist() == plain.predict_proba(POINTS).tolist()
    weights = np.array([1, 3, 2, 2, 1, 4])
    weighted = mr.NaiveBayesClassifier().fit(POINTS, SIDES, weights)
    repeated = mr.NaiveBayesClassifier().fit(np.repeat(POINTS, weights, axis=0), np.repeat(SIDES, weights))
    np.testing.assert_allclose(weighted.predict_proba(POINTS), repeated.predict_proba(POINTS), rtol=1e-10)
    agree(weighted, GaussianNB(var_smoothing=0).fit(POINTS, SIDES, weights), POINTS)


def test_two_batches_with_half_the_weight_are_one():
    once = mr.NaiveBayesClassifier().partial_fit(POINTS, SIDES, classes=[1, 2])
    halves = mr.NaiveBayesClassifier().partial_fit(POINTS, SIDES, [1, 2], np.full(6, 0.5))
    halves.partial_fit(POINTS, SIDES, sample_weight=np.full(6, 0.5))
    np.testing.assert_allclose(halves.predict_proba(POINTS), once.predict_proba(POINTS), rtol=1e-12)


@pytest.mark.parametrize(
    ("prior", "problem"),
    [
        ([-1.0, 2.0], "numbers from 0 to 1"),
        ([0.5, 0.25, 0.25], "has 3 values, expected one for each of the 2 classes"),
        ([2.0, 1.0], "sums to 3"),
        ([1.0], "has 1 values"),
    ],
)
def test_priors_that_are_none_are_refused(prior, problem):
    with pytest.raises(ValueError, match=problem):
        mr.NaiveBayesClassifier(class_prior=prior).fit(POINTS, SIDES)


def test_priors_that_sum_to_one_but_for_rounding_are_taken():
    prior = [0.08, 0.14, 0.03, 0.16, 0.11, 0.16, 0.07, 0.14, 0.11, 0.0]
    X, y = make_blobs(n_samples=100, centers=10, random_state=3)
    model = mr.NaiveBayesClassifier(class_prior=prior).fit(X, y)
    np.testing.assert_allclose(np.exp(model.class_log_prior_), prior, rtol=1e-12)


@pytest.mark.parametrize("prior", [[0.3, 0.7], [0.01, 0.99], [0.999, 0.001]])
def test_a_stated_prior(prior):
    model = mr.NaiveBayesClassifier(class_prior=prior).fit(POINTS, SIDES)
    agree(model, GaussianNB(priors=prior, var_smoothing=0).fit(POINTS, SIDES), [[-0.1, -0.1], [0.3, 0.0]])


def test_batches_are_one_table():
    whole = mr.NaiveBayesClassifier().fit(POINTS, SIDES)
    batches = mr.NaiveBayesClassifier().partial_fit(POINTS[::2], SIDES[::2], np.unique(SIDES))
    batches.partial_fit(POINTS[1::2], SIDES[1::2])
    np.testing.assert_allclose(batches.distributions_[0].mean, whole.distributions_[0].mean, rtol=1e-14)
    np.testing.assert_allclose(batches.distributions_[0].variance, whole.distributions_[0].variance, rtol=1e-14)


@pytest.mark.parametrize("scale", [1e-10, 1.0, 1e10])
def test_units_do_not_matter(scale):
    X, y = IRIS
    labels = mr.NaiveBayesClassifier().fit(X, y).predict(X)
    assert mr.NaiveBayesClassifier().fit(X * scale, y).predict(X * scale).tolist() == labels.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, int])
def test_numbers_of_any_precision(dtype):
    X = (10 * IRIS[0]).astype(dtype)
    agree(mr.NaiveBayesClassifier().fit(X, IRIS[1]), GaussianNB(var_smoothing=0).fit(X.astype(float), IRIS[1]), X)


def test_an_empty_batch_is_refused_by_both():
    for model in (GaussianNB(), mr.NaiveBayesClassifier()):
        with pytest.raises(ValueError, match="Found array with 0 sample"):
            model.partial_fit(np.empty((0, 2)), np.empty(0), classes=[1, 2])


def test_one_class_alone_waits_for_another():
    with pytest.raises(mr.InputError, match="holds one class only.*needs at least two classes"):
        mr.NaiveBayesClassifier().fit(POINTS, SIDES, [1, 1, 1, 0, 0, 0])
    weights = np.array([1.0, 1, 1, 0, 0, 0])
    model = mr.NaiveBayesClassifier().partial_fit(POINTS, SIDES, classes=[1, 2], sample_weight=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of theirs: log 0
        assert GaussianNB().fit(POINTS, SIDES, weights).predict(POINTS).tolist() == [1] * 6
    assert model.predict(POINTS).tolist() == [1] * 6
    np.testing.assert_allclose(model.predict_proba(POINTS), [[1.0, 0.0]] * 6)


# ---------------------------------------------------------------------------------------------------------------------
# Counts, words, levels


@every_discrete
@pytest.mark.parametrize("alpha", [1.0, 0.1, 10.0])
def test_posteriors(name, alpha):
    theirs, ours = peers(name, alpha=alpha)
    agree(ours.set_params(smoothing=alpha).fit(COUNTS, TOPICS), theirs.fit(COUNTS, TOPICS), COUNTS)


@every_discrete
def test_log_joint(name):
    theirs, ours = peers(name)
    theirs.fit(COUNTS, TOPICS)
    found = ours.fit(COUNTS, TOPICS).predict_joint_log_proba(COUNTS)
    if name == "complement":  # which leaves the prior out
        found = found - ours.class_log_prior_
    np.testing.assert_allclose(found, theirs.predict_joint_log_proba(COUNTS), rtol=1e-10)


@every_discrete
def test_rows_one_by_one_are_one_table(name):
    theirs, ours = peers(name)
    for row, topic in zip(COUNTS, TOPICS, strict=True):
        ours.partial_fit(row[None], [topic], classes=[1, 2, 3])
    agree(ours, theirs.fit(COUNTS, TOPICS), COUNTS)


@every_discrete
def test_the_first_batch_need_not_name_the_classes(name):
    _, ours = peers(name)
    ours.partial_fit(COUNTS[:2], TOPICS[:2]).partial_fit(COUNTS[2:], TOPICS[2:])
    assert ours.classes_.tolist() == [1, 2, 3]


@every_discrete
def test_a_uniform_prior(name):
    theirs, ours = peers(name, fit_prior=False)
    ours.set_params(class_prior="uniform").fit(COUNTS[:11], TOPICS[:11])
    np.testing.assert_allclose(np.exp(ours.class_log_prior_), 1 / 3)
    if name != "complement":
        agree(ours, theirs.fit(COUNTS[:11], TOPICS[:11]), COUNTS)


@every_discrete
def test_a_stated_prior_also_in_batches(name):
    prior = [0.2, 0.3, 0.5]
    theirs, ours = peers(name, class_prior=prior)
    ours.set_params(class_prior=dict(zip([1, 2, 3], prior, strict=True)))
    ours.partial_fit(COUNTS[:4], TOPICS[:4], classes=[1, 2, 3]).partial_fit(COUNTS[4:], TOPICS[4:])
    np.testing.assert_allclose(np.exp(ours.class_log_prior_), prior)
    if name != "complement":
        agree(ours, theirs.fit(COUNTS, TOPICS), COUNTS)
    with pytest.raises(ValueError, match="class_prior"):
        ours.set_params(class_prior=[0.5, 0.5]).fit(COUNTS, TOPICS)


@every_discrete
def test_weights_are_frequencies(name):
    theirs, ours = peers(name)
    weights = RNG.integers(1, 5, len(TOPICS))
    ours.fit(COUNTS, TOPICS, weights)
    compared = ours.with_class_prior("uniform") if name == "complement" else ours  # theirs leaves the prior out
    agree(compared, theirs.fit(COUNTS, TOPICS, weights), COUNTS)
    again = peers(name)[1].fit(np.repeat(COUNTS, weights, axis=0), np.repeat(TOPICS, weights))
    np.testing.assert_allclose(again.predict_proba(COUNTS), ours.predict_proba(COUNTS), rtol=1e-10)


@every_discrete
def test_other_columns_than_at_fit_are_refused(name):
    with pytest.raises(ValueError, match="39 features"):
        peers(name)[1].fit(COUNTS, TOPICS).predict(COUNTS[:, :-1])


@pytest.mark.parametrize("variant", ["multinomial", "complement", "bernoulli"])
def test_sparse_and_dense_counts_are_the_same(variant):
    dense, sparse = words(variant).fit(COUNTS, TOPICS), words(variant).fit(csr_matrix(COUNTS), TOPICS)
    assert dense.predict_proba(COUNTS).tolist() == sparse.predict_proba(csr_matrix(COUNTS)).tolist()


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="counts of words are numbers from 0"):
        words("multinomial").fit(-COUNTS, TOPICS)


def test_a_class_still_to_come_has_prior_zero():
    model = words("multinomial").partial_fit([[0, 1], [1, 0]], [0, 1], classes=[0, 1, 2])
    assert model.predict([[0, 1], [1, 0], [1, 1]]).tolist() == [0, 1, 0]
    model.partial_fit([[1, 1]], [2])
    assert model.predict([[0, 1], [1, 0], [1, 1]]).tolist() == [0, 1, 2]


def test_chinese_documents_of_manning_and_others():
    """Manning, Raghavan and Schütze 2008, section 13.3: P(yes, d) = 0.005, P(no, d) = 0.022, as the book rounds them."""
    # Beijing, Chinese, Japan, Macao, Shanghai, Tokyo
    documents = [[1, 1, 0, 0, 0, 0], [0, 1, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0], [0, 1, 1, 0, 0, 1]]
    for model in (words("bernoulli"), mr.NaiveBayesClassifier(distributions={"numeric": mr.Bernoulli()})):
        model.fit(documents, ["yes", "yes", "yes", "no"])
        joint = np.exp(model.predict_joint_log_proba([[0, 1, 1, 0, 0, 1]]))[0]
        np.testing.assert_allclose(joint.round(3), [0.022, 0.005])


def test_bernoulli_shares_by_hand():
    """One class holds (1,0,1), (0,1,0); the other (1,1,1), (0,1,1), (1,0,1): (n + 1) / (N + 2)."""
    X = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1]])
    model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Bernoulli()}).fit(X, [0, 0, 1, 1, 1])
    found = np.column_stack([model.distributions_[0].probabilities(f"x{j}")[1] for j in range(3)])
    np.testing.assert_allclose(found, [[2 / 4, 2 / 4, 2 / 4], [3 / 5, 3 / 5, 4 / 5]])


def test_categories_and_one_never_met():
    X = np.array([[0, 3], [0, 4], [1, 3], [2, 5]])
    ours = mr.NaiveBayesClassifier(kinds="categorical").fit(X, ["p", "p", "q", "q"])
    codes = X - [0, 3]
    np.testing.assert_allclose(
        ours.predict_proba(X), CategoricalNB().fit(codes, ["p", "p", "q", "q"]).predict_proba(codes)
    )
    with pytest.warns(mr.UnseenLevelWarning, match="holds level 9"):
        new = ours.predict_proba([[9, 3]])
    np.testing.assert_allclose(
        new, mr.NaiveBayesClassifier(kinds="categorical").fit(X[:, 1:], ["p", "p", "q", "q"]).predict_proba([[3]])
    )


@pytest.mark.parametrize("more", [3, 4, 6])
def test_categories_that_may_come(more):
    X, y = np.array([[0, 0], [0, 1], [1, 0], [2, 1]]), [1, 1, 2, 2]
    ours = mr.NaiveBayesClassifier(levels={"x0": range(more), "x1": range(2)}).fit(X, y)
    theirs = CategoricalNB(min_categories=[more, 2]).fit(X, y)
    agree(ours, theirs, [[more - 1, 0], [0, 1]])


@pytest.mark.parametrize("bad", [-0.1, np.nan, "laplace", True])
def test_pseudo_counts_that_are_none(bad):
    with pytest.raises(ValueError, match="smoothing is .*expected a pseudo-count from 0"):
        mr.NaiveBayesClassifier(smoothing=bad).fit(POINTS, SIDES)


@pytest.mark.parametrize(("name", "expected"), [("multinomial", [[2 / 3, 1 / 3], [0, 1]]), ("categorical", [[2 / 3, 1 / 3], [0, 1]])])  # fmt: skip
def test_without_smoothing_zeros_are_zeros(name, expected):
    X, y = np.array([[1, 0], [1, 1]]), [0, 1]
    model = words("multinomial") if name == "multinomial" else mr.NaiveBayesClassifier(kinds="categorical")
    model.set_params(smoothing=0).fit(X, y)
    found = model.predict_proba(X)
    np.testing.assert_allclose(found[1], expected[1])
    np.testing.assert_allclose(found[0], [2 / 3, 1 / 3] if name == "multinomial" else [1.0, 0.0])


@pytest.mark.parametrize("name", ["normal", "multinomial", "bernoulli, above 4"])
def test_digits(name):
    """The same labels as scikit-learn in three folds of scanned digits, hence the same share of right ones."""
    X, y = load_digits(return_X_y=True)
    ours, theirs = {
        "normal": (mr.NaiveBayesClassifier(), GaussianNB(var_smoothing=1e-9)),
        "multinomial": (words("multinomial"), MultinomialNB(alpha=1)),
        "bernoulli, above 4": (mr.NaiveBayesClassifier(distributions={"numeric": mr.Bernoulli(threshold=4)}), BernoulliNB(binarize=4)),
    }[name]  # fmt: skip
    found, expected = (cross_val_score(model, X, y, cv=3) for model in (ours, theirs))
    if name == "normal":  # pixels that are constant in a class: the floors differ, on purpose
        assert found.mean() > 0.72
    else:
        np.testing.assert_allclose(found, expected, atol=1e-12)


# ---------------------------------------------------------------------------------------------------------------------
# Discriminant analysis


@pytest.mark.parametrize("covariance", ["full", "shared"])
@pytest.mark.parametrize("prior", [None, [0.2, 0.3, 0.5]])
def test_discriminants_on_iris(covariance, prior):
    """P(c given x) ∝ P(c) · p(x given c), so that another prior moves their posterior too (iris has equal classes)."""
    X, y = IRIS
    ours = mr.BayesClassifier(covariance=covariance, shrinkage=0, class_prior=prior or "empirical").fit(X, y)
    theirs = QuadraticDiscriminantAnalysis() if covariance == "full" else LinearDiscriminantAnalysis("lsqr")
    moved = theirs.fit(X, y).predict_proba(X) * (prior or 1.0)
    np.testing.assert_allclose(ours.predict_proba(X), moved / moved.sum(axis=1, keepdims=True), atol=1e-6)


def test_discriminants_of_words_and_few_points():
    X = np.array([[-3, 0], [-2, 0], [-1, 0], [-1, 1], [0, 0], [1, 1], [1, 2], [2, 1], [3, 3], [2, 2.5]], dtype=float)
    y = np.array(["left"] * 5 + ["right"] * 5)
    for covariance in ("full", "shared"):
        model = mr.BayesClassifier(covariance=covariance).fit(X, y)
        assert model.score(X, y) == 1.0
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), rtol=1e-12)


def test_the_shared_covariance_is_the_pooled_one():
    X, y = make_blobs(n_samples=200, centers=[[0, 0, 0], [3, 1, -1]], cluster_std=[1.0, 2.0], random_state=1)
    model = mr.BayesClassifier(covariance="shared", shrinkage=0, variance="unbiased").fit(X, y)
    pooled = sum(np.cov(X[y == k].T) * (np.sum(y == k) - 1) for k in (0, 1)) / (200 - 2)
    np.testing.assert_allclose(model.distributions_[0].covariance[0], pooled, rtol=1e-9)


def test_the_covariances_of_classes_are_numpys():
    X, y = IRIS
    model = mr.BayesClassifier(shrinkage=0, variance="unbiased").fit(X, y)
    for k in range(3):
        np.testing.assert_allclose(model.distributions_[0].covariance[k], np.cov(X[y == k].T), rtol=1e-8)


def test_columns_that_determine_each_other_are_refused_or_shrunk():
    X = np.column_stack([POINTS, POINTS[:, 0]]) + 0.0
    y = SIDES
    with pytest.raises(ValueError, match="singular covariance.*shrinkage='auto'"):
        mr.BayesClassifier(shrinkage=0).fit(X, y)
    assert mr.BayesClassifier().fit(X, y).score(X, y) == 1.0


def test_a_column_that_never_varies_says_nothing():
    X, y = IRIS
    ours = mr.BayesClassifier(shrinkage=0).fit(np.column_stack([X, np.full(len(X), 3.0)]), y)
    expected = QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(ours.predict_proba(np.column_stack([X, np.full(len(X), 3.0)])), expected, atol=1e-6)


def test_rows_are_not_ordered():
    X, y = IRIS
    order = np.random.default_rng(4).permutation(len(y))
    one, two = mr.BayesClassifier().fit(X, y), mr.BayesClassifier().fit(X[order], y[order])
    np.testing.assert_allclose(two.predict_proba(X), one.predict_proba(X), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("units", [[1e-6, 1e6], [1.0, 1e-9]])
def test_discriminants_do_not_depend_on_units(units):
    one = mr.BayesClassifier().fit(POINTS, SIDES)
    two = mr.BayesClassifier().fit(POINTS * units, SIDES)
    np.testing.assert_allclose(two.predict_proba(POINTS * units), one.predict_proba(POINTS), rtol=1e-7)


# ---------------------------------------------------------------------------------------------------------------------
# Neighbours


@pytest.mark.parametrize("neighbors", [1, 3, 7, 15])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_neighbours_against_theirs(neighbors, weights):
    X = IRIS[0] + RNG.normal(scale=1e-4, size=IRIS[0].shape)  # no two equally far
    asked = X[::7] + RNG.normal(scale=0.1, size=X[::7].shape)
    ours = mr.NearestNeighborsClassifier(neighbors=neighbors, weights=weights, scale="none").fit(X, IRIS[1])
    agree(ours, KNeighborsClassifier(neighbors, weights=weights).fit(X, IRIS[1]), asked, 1e-7)


def test_shares_of_neighbours_by_hand():
    X, y = np.array([[0, 2, 0], [0, 2, 1], [2, 0, 0], [2, 2, 0], [0, 0, 2], [0, 0, 1]], dtype=float), [4, 4, 5, 5, 1, 1]
    ours = mr.NearestNeighborsClassifier(neighbors=3, scale="none").fit(X, y)
    asked = np.array([[0, 2, 0.2], [1.9, 2, 0]])
    np.testing.assert_allclose(ours.predict_proba(asked), KNeighborsClassifier(3).fit(X, y).predict_proba(asked))


@pytest.mark.parametrize("labels", [[0, 1, 1], ["wren", "tit", "tit"]])
def test_the_nearest_row_itself(labels):
    X = np.array([[0.0], [1.0], [2.0]])
    model = mr.NearestNeighborsClassifier(neighbors=1, scale="none").fit(X, labels)
    assert model.predict(X).tolist() == labels


def test_rows_at_distance_zero_count_alone():
    X, y = np.array([[0.0], [0.0], [1.0], [2.0]]), [0, 1, 1, 1]
    model = mr.NearestNeighborsClassifier(neighbors=3, weights="distance", scale="none").fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[0.0]]), KNeighborsClassifier(3, weights="distance").fit(X, y).predict_proba([[0.0]]))  # fmt: skip


def test_equal_distances_share():
    """The second of two neighbours is one of two rows equally far: half each, where scikit-learn takes the first."""
    model = mr.NearestNeighborsClassifier(neighbors=2, scale="none").fit([[0.0], [1.0], [-1.0]], ["a", "b", "c"])
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[0.5, 0.25, 0.25]])


def test_more_neighbours_than_rows_are_all_rows():
    model = mr.NearestNeighborsClassifier(neighbors=50, scale="none").fit(POINTS, SIDES)
    np.testing.assert_allclose(model.predict_proba([[9.0, 9.0]]), [[0.5, 0.5]])


@pytest.mark.parametrize("bad", [0, -1, 2.5, "many", True])
def test_numbers_of_neighbours_that_are_none(bad):
    with pytest.raises(ValueError, match="neighbors is .*whole number from 1"):
        mr.NearestNeighborsClassifier(neighbors=bad).fit(POINTS, SIDES)


def test_threads_do_not_matter():
    X, y = IRIS
    one, two = (mr.NearestNeighborsClassifier(n_jobs=jobs).fit(X, y).predict_proba(X).tolist() for jobs in (1, 2))
    assert one == two


def test_iris_by_neighbours():
    assert mr.NearestNeighborsClassifier(neighbors=9).fit(*IRIS).score(*IRIS) > 0.95


# ---------------------------------------------------------------------------------------------------------------------
# Kernel densities


@pytest.mark.parametrize(
    ("kernel", "theirs"), [("gaussian", "gaussian"), ("box", "tophat"), ("epanechnikov", "epanechnikov")]
)
@pytest.mark.parametrize("bandwidth", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_densities_of_one_column(kernel, theirs, bandwidth, weighted):
    x, asked = RNG.normal(size=(80, 1)), RNG.normal(size=(40, 1))
    weights, y = RNG.integers(1, 4, 80).astype(float) if weighted else None, np.arange(80) % 2
    model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Kernel(kernel, bandwidth)}).fit(x, y, weights)
    found = model.terms(asked)["x0"]
    for label in (0, 1):
        own = y == label
        density = KernelDensity(bandwidth=bandwidth, kernel=theirs, rtol=1e-12).fit(x[own], sample_weight=None if weights is None else weights[own])  # fmt: skip
        expected = density.score_samples(asked)
        reached = expected > -300 if kernel != "gaussian" else np.ones(40, dtype=bool)
        np.testing.assert_allclose(found[reached, label], expected[reached], rtol=1e-7, atol=1e-8)
        assert np.isneginf(found[~reached, label]).all()


@pytest.mark.parametrize("bandwidth", [0.1, 0.5])
def test_densities_of_three_columns(bandwidth):
    x, asked, y = RNG.normal(size=(60, 3)), RNG.normal(size=(20, 3)), np.arange(60) % 2
    (found,) = mr.KernelBayesClassifier(bandwidth=bandwidth).fit(x, y).terms(asked).values()
    for label in (0, 1):
        expected = KernelDensity(bandwidth=bandwidth, rtol=1e-12).fit(x[y == label]).score_samples(asked)
        np.testing.assert_allclose(found[:, label], expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("kernel", ["gaussian", "box", "epanechnikov"])
def test_densities_integrate_to_one(kernel):
    x, y = RNG.normal(size=(50, 1)), np.arange(50) % 2
    model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Kernel(kernel, 0.3)}).fit(x, y)
    grid = np.linspace(-8, 8, 20_001)
    np.testing.assert_allclose(np.trapezoid(np.exp(model.terms(grid[:, None])["x0"]), grid, axis=0), 1.0, atol=2e-4)


@pytest.mark.parametrize("bad", [0, -1.0, np.nan, "thumb"])
def test_bandwidths_that_are_none(bad):
    with pytest.raises(ValueError, match="bandwidth is"):
        mr.NaiveBayesClassifier(distributions={"numeric": mr.Kernel(bandwidth=bad)}).fit(POINTS, SIDES)


def test_kernels_that_are_none():
    with pytest.raises(ValueError, match="kernel is 'blah'"):
        mr.NaiveBayesClassifier(distributions={"numeric": mr.Kernel("blah")}).fit(POINTS, SIDES)


def test_rows_drawn_from_a_density_follow_it():
    x = np.concatenate([RNG.normal(-3, 0.2, 100), RNG.normal(3, 0.2, 100)])[:, None]
    model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Kernel(bandwidth=0.1)}).fit(x, np.repeat([0, 1], 100))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows, labels = model.sample(200, random_state=0)
    assert (np.sign(np.asarray(rows)[:, 0]) == np.where(labels == 1, 1, -1)).all()
