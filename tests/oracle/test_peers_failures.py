"""Where other libraries were measured to fail (research/peers.md, section 1c): merula does the right thing."""

from math import log, pi

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import merula as mr

BOTH = pytest.mark.parametrize("classifier", [mr.NaiveBayesClassifier, mr.BayesClassifier])


def two_classes(rng, rows=2_000):
    return rng.integers(0, 2, rows)


def check_probabilities(found):
    assert np.isfinite(found).all()
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=0, atol=1e-12)


# --------------------------------------------------------------------------------------------------------------------
# 1 · scikit-learn GaussianNB: one variance floor for all columns


@BOTH
@pytest.mark.parametrize("noise", [1e3, 1e9])
def test_01_a_noisy_column_does_not_silence_one_of_tiny_scale(classifier, noise):
    rng = np.random.default_rng(1)
    y = two_classes(rng)
    x = np.column_stack([rng.normal(6e-6 * y, 1e-6), rng.normal(0, noise, len(y))])
    alone = classifier().fit(x[:, :1], y)
    both = classifier().fit(x, y)
    assert alone.score(x[:, :1], y) >= 0.99
    assert both.score(x, y) >= 0.99


# --------------------------------------------------------------------------------------------------------------------
# 2 · scikit-learn GaussianNB: constant columns and huge values give NaN


@BOTH
@pytest.mark.parametrize("value", [0.0, 3.7, 1e9, 0.1])
def test_02_constant_columns_leave_the_prior(classifier, value):
    x, y = np.full((10, 3), value), np.array(["ill"] * 3 + ["healthy"] * 7)
    np.testing.assert_allclose(classifier().fit(x, y).predict_proba(x[:2]), [[0.7, 0.3]] * 2, rtol=0, atol=1e-12)
    np.testing.assert_allclose(classifier().fit(x, y).predict_proba(x[:2] + 1), [[0.7, 0.3]] * 2, rtol=0, atol=1e-12)


@BOTH
def test_02_constant_columns_say_nothing_beside_one_that_varies(classifier):
    rng = np.random.default_rng(2)
    y = two_classes(rng, 100)
    x = rng.normal(y, 1.0)[:, None]
    padded = np.column_stack([np.full(100, 7.0), x, np.zeros(100)])
    np.testing.assert_allclose(
        classifier().fit(padded, y).predict_proba(padded), classifier().fit(x, y).predict_proba(x), rtol=0, atol=1e-12
    )


@BOTH
@pytest.mark.parametrize("unit", [1.0, 1e-4, 1e4])
@pytest.mark.parametrize(
    "far",
    [1e3, 1e50, 1e99, 1e101, 1e120, 1e148, 1e149, 1e150, 1e151, 1e152, 1e153, 1e154, 1e155, 1e160, 1e200, 1.7e308],
)
def test_02_huge_values_at_predict_are_finite_and_of_the_wider_class(classifier, far, unit):
    """Class 0 is narrow, class 1 ten times as wide: anything far away is of class 1, on either side."""
    rng = np.random.default_rng(3)
    y = two_classes(rng, 400)
    model = classifier().fit(rng.normal(0, unit * np.where(y == 1, 10.0, 1.0))[:, None], y)
    outliers = [[-far], [far]] if far > 1e4 else [[-far * unit], [far * unit]]
    check_probabilities(model.predict_proba(outliers))
    assert model.predict(outliers).tolist() == [1, 1]
    assert np.isfinite(model.predict_joint_log_proba(outliers)).all()


@BOTH
def test_02_a_huge_value_beside_others_is_finite(classifier):
    rng = np.random.default_rng(4)
    y = two_classes(rng, 400)
    model = classifier().fit(np.column_stack([rng.normal(0, 1, 400), rng.normal(10 * y, 1)]), y)
    check_probabilities(
        model.predict_proba([[1e160, 0.0], [-1e160, 10.0], [1e160, 1e160], [np.nan, 1e160], [1e160, np.nan]])
    )


@BOTH
@pytest.mark.parametrize("missing", [False, True])
def test_02_huge_values_at_fit_are_a_clear_error(classifier, missing):
    frame = pd.DataFrame(
        {"blood pressure": [120.0, 130.0, 1e160, 125.0], "größe": [1.7, np.nan if missing else 1.8, 1.6, 1.9]}
    )
    with pytest.raises(ValueError, match=r"'blood pressure'.*overflow.*rescale"):
        classifier().fit(frame, ["ill", "ill", "healthy", "healthy"])


@BOTH
def test_02_infinite_values_are_a_clear_error(classifier):
    frame = pd.DataFrame({"blood pressure": [120.0, 130.0, 140.0, 125.0], "größe": [1.7, 1.8, 1.6, 1.9]})
    y = ["ill", "ill", "healthy", "healthy"]
    broken = frame.assign(größe=[1.7, np.inf, 1.6, 1.9])
    with pytest.raises(ValueError, match=r"'größe' contains infinity"):
        classifier().fit(broken, y)
    with pytest.raises(ValueError, match=r"'größe' contains infinity"):
        classifier().fit(frame, y).predict(broken)


# --------------------------------------------------------------------------------------------------------------------
# 3 · scikit-learn CategoricalNB: unseen codes, words and vectors of pseudo-counts


@BOTH
def test_03_an_unseen_code_is_averaged_out_with_one_warning(classifier):
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 4, (100, 2)), two_classes(rng, 100)
    model = classifier(kinds="categorical").fit(x, y)
    with pytest.warns(mr.UnseenLevelWarning, match="7") as caught:
        found = model.predict_proba(np.array([[7, 2]]))
    assert len(caught) == 1
    np.testing.assert_allclose(found, model.predict_proba(np.array([[None, 2]], dtype=object)), rtol=0, atol=1e-12)


@BOTH
def test_03_words_are_levels(classifier):
    frame = pd.DataFrame({"色泽": ["青绿", "青绿", "浅白", "浅白"]})
    model = classifier(smoothing=1).fit(frame, ["是", "是", "否", "否"])
    np.testing.assert_allclose(model.predict_proba(frame[:1]), [[1 / 4, 3 / 4]], rtol=0, atol=1e-12)
    with pytest.warns(mr.UnseenLevelWarning, match="乌黑"):
        np.testing.assert_allclose(
            model.predict_proba(pd.DataFrame({"色泽": ["乌黑"]})), [[0.5, 0.5]], rtol=0, atol=1e-12
        )


def test_03_pseudo_counts_may_be_a_vector():
    """Pseudo-counts 0.5, 1 and 2.5 for three levels: m = 4 imaginary rows."""
    x, y = np.array([["rot"], ["rot"], ["grün"], ["blau"]], dtype=object), np.array([0, 0, 0, 1])
    smoothing = mr.MEstimate(4, {"blau": 0.5 / 4, "grün": 1 / 4, "rot": 2.5 / 4})
    term = (
        mr.NaiveBayesClassifier(smoothing=smoothing)
        .fit(x, y)
        .terms(np.array([["blau"], ["grün"], ["rot"]], dtype=object))["x0"]
    )
    np.testing.assert_allclose(np.exp(term), [[0.5 / 7, 1.5 / 5], [2 / 7, 1 / 5], [4.5 / 7, 2.5 / 5]], rtol=1e-12)


# --------------------------------------------------------------------------------------------------------------------
# 5 · scikit-learn QDA: collinear columns and classes of one row


@pytest.mark.parametrize("covariance", ["full", "shared"])
@pytest.mark.parametrize("missing", [0.0, 0.05, 0.3])
def test_05_a_collinear_column_is_fine_by_default_and_named_when_refused(missing, covariance):
    rng = np.random.default_rng(6)
    y = two_classes(rng, 300)
    height = rng.normal(170 + 30 * y, 5)
    frame = pd.DataFrame(
        {"height (cm)": height, "waist": rng.normal(90 + 30 * y, 5, 300), "height (in)": height / 2.54}
    )
    frame = frame.mask((rng.random(frame.shape) < missing) & (np.arange(300) > 2)[:, None])
    model = mr.BayesClassifier(covariance=covariance).fit(frame, y)
    check_probabilities(model.predict_proba(frame))
    assert model.score(frame, y) >= 0.95
    with pytest.raises(ValueError, match=r"singular.*height \(.*height \(.*shrinkage"):
        mr.BayesClassifier(covariance=covariance, shrinkage=0).fit(frame, y)


@pytest.mark.parametrize("covariance", ["full", "shared", "diagonal"])
def test_05_a_class_of_one_row_is_fine_by_default(covariance):
    rng = np.random.default_rng(7)
    x = np.concatenate([rng.normal(0, 1, (50, 3)), rng.normal(8, 1, (50, 3)), [[-9.0, 9.0, -9.0]]])
    y = np.repeat(["common", "frequent", "single"], [50, 50, 1])
    model = mr.BayesClassifier(covariance=covariance).fit(x, y)
    check_probabilities(model.predict_proba(x))
    assert model.predict(x).tolist() == y.tolist()


FEW_ROWS = {
    "one row": [[9.0, 9.0, 9.0]],
    "one incomplete row": [[9.0, np.nan, 9.0]],
    "three rows in three columns": [[9.0, 8.0, 9.0], [8.0, 9.5, 9.0], [9.0, 9.0, 7.0]],
    "three rows in three columns, one incomplete": [[9.0, 8.0, 9.0], [8.0, 9.5, 9.0], [9.0, np.nan, 7.0]],
    "a constant column, one row incomplete": [
        [9.0, 8.0, 9.0],
        [9.0, 9.5, 9.0],
        [9.0, np.nan, 7.0],
        [9.0, 6.0, 5.0],
        [9.0, 5.0, 7.0],
    ],
}


@pytest.mark.parametrize("few", FEW_ROWS)
def test_05_a_class_of_too_few_rows_is_named_when_refused(few):
    rows = np.array(FEW_ROWS[few])
    x, y = (
        np.concatenate([np.random.default_rng(7).normal(0, 1, (50, 3)), rows]),
        np.repeat(["common", "small"], [50, len(rows)]),
    )
    check_probabilities(mr.BayesClassifier().fit(x, y).predict_proba(x))
    with pytest.raises(ValueError, match=r"'small'.*singular.*shrinkage"):
        mr.BayesClassifier(shrinkage=0).fit(x, y)


@BOTH
@pytest.mark.parametrize("options", [{}, {"missing": "level"}, {"variance": "unbiased"}], ids=str)
def test_05_a_class_without_any_value_in_a_column(classifier, options):
    """It takes the column's mean and within-class variance, and the other column still decides."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {"blood pressure": rng.normal(120, 10, 90), "größe": np.repeat([1.5, 1.7, 1.9], 30) + rng.normal(0, 0.01, 90)}
    )
    y = np.repeat(["child", "woman", "man"], 30)
    frame.loc[y == "child", "blood pressure"] = np.nan
    model = classifier(**options).fit(frame, y)
    check_probabilities(model.predict_proba(frame))
    assert model.score(frame, y) >= 0.99
    check_probabilities(model.predict_proba(pd.DataFrame({"blood pressure": [125.0, 1e6], "größe": [np.nan, np.nan]})))


def test_05_a_class_without_any_value_takes_the_pooled_mean_and_within_class_variance():
    x = np.array([[1.0], [3.0], [10.0], [14.0], [np.nan], [np.nan]])
    term = mr.NaiveBayesClassifier().fit(x, ["low", "low", "high", "high", "silent", "silent"]).terms([[5.0]])["x0"][0]
    within = (1 + 1 + 4 + 4) / 4
    assert term[2] == pytest.approx(-0.5 * log(2 * pi * within) - (5 - 7) ** 2 / (2 * within), rel=1e-12)


@pytest.mark.parametrize(
    "classifier",
    [
        mr.NaiveBayesClassifier(missing="level", smoothing=0),
        mr.BayesClassifier(missing="level", smoothing=0, covariance="diagonal"),
        mr.BayesClassifier(missing="level", smoothing=0),
    ],
    ids=str,
)
def test_05_a_class_without_any_value_where_being_missing_is_evidence(classifier):
    """Unsmoothed, the silent class never shows a value and the loud class always does: certainty, not NaN."""
    model = classifier.fit(np.array([[np.nan], [np.nan], [1.0], [2.0]]), ["silent", "silent", "loud", "loud"])
    np.testing.assert_array_equal(model.predict_proba([[np.nan], [1.5]]), [[0.0, 1.0], [1.0, 0.0]])


# --------------------------------------------------------------------------------------------------------------------
# 8, 9, 14 · river, e1071, mixed-naive-bayes: densities floored, so that far points are 50/50, flip or become NaN

PAIR = np.array([[-1.0], [1.0], [1.0], [3.0]])  # classes N(0, 1) and N(2, 1)
PAIR_CLASSES = np.array([0, 0, 1, 1])


@BOTH
@pytest.mark.parametrize("z", [-60.0, -20.0, 20.0, 60.0])
def test_08_14_far_away_is_still_decisive_and_exact(classifier, z):
    """log-odds of N(2, 1) against N(0, 1) at z: (z² − (z − 2)²) / 2 = 2z − 2."""
    model = classifier(**({"shrinkage": 0} if classifier is mr.BayesClassifier else {})).fit(PAIR, PAIR_CLASSES)
    log_joint = model.predict_joint_log_proba([[z]])[0]
    expected = [log(0.5) - 0.5 * log(2 * pi) - z**2 / 2, log(0.5) - 0.5 * log(2 * pi) - (z - 2) ** 2 / 2]
    np.testing.assert_allclose(log_joint, expected, rtol=1e-12)
    np.testing.assert_allclose(
        model.predict_proba([[z]])[0], [expit(2 - 2 * z), expit(2 * z - 2)], rtol=1e-10, atol=1e-300
    )
    assert model.predict([[z]]).tolist() == [int(z > 1)]


def test_08_a_missing_value_while_learning_changes_nothing_but_the_prior():
    rng = np.random.default_rng(9)
    x, y = rng.normal(PAIR_CLASSES.repeat(50) * 4.0, 1.0)[:, None], PAIR_CLASSES.repeat(50)
    model = mr.NaiveBayesClassifier(class_prior="uniform").fit(x, y)
    before = model.predict_proba([[0.0], [4.0]])
    after = model.partial_fit([[np.nan]], [1]).predict_proba([[0.0], [4.0]])
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-12)
    assert before[0, 0] > 0.99


@BOTH
def test_09_log_densities_fall_without_end(classifier):
    model = classifier(**({"shrinkage": 0} if classifier is mr.BayesClassifier else {})).fit(PAIR, PAIR_CLASSES)
    z = np.array([0.0, 1, 10, 37, 38, 39, 40, 100, 1e3, 1e8])
    (density,) = model.terms(z[:, None]).values()
    np.testing.assert_allclose(density[:, 0], -0.5 * np.log(2 * np.pi) - z**2 / 2, rtol=1e-12)
    assert (np.diff(density[:, 0]) < 0).all()
    assert model.predict(z[:, None]).tolist() == [0, 0, *[1] * 8]


@BOTH
def test_09_log_densities_never_rise_on_the_way_out(classifier):
    """Values are clipped at 1e100 standard deviations, so that densities are flat there, and no class sees another value."""
    model = classifier(**({"shrinkage": 0} if classifier is mr.BayesClassifier else {})).fit(PAIR, PAIR_CLASSES)
    z = 10.0 ** np.array([8, 50, 99, 100, 101, 120, 150, 153, 154, 155, 160, 200, 300])
    (density,) = model.terms(z[:, None]).values()
    assert np.isfinite(density).all()
    assert (np.diff(density, axis=0) <= 0).all()
    assert (density[5:] == density[5]).all()


# --------------------------------------------------------------------------------------------------------------------
# 10, 11 · Spark, pomegranate: variance as E[x²] − mean²


def class_variances(model, centre):
    """The variances behind the classes' densities: log N(c + 1) − 2·log N(c) + log N(c − 1) = −1 / variance, for any mean."""
    (term,) = model.terms(np.array([[centre - 1], [centre], [centre + 1]])).values()
    return -1 / (term[0] - 2 * term[1] + term[2])


@BOTH
@pytest.mark.parametrize(
    ("centre", "dtype"),
    [(1e4, np.float32), (1e4, np.float64), (1e8, np.float64), (1e9, np.float64), (-1e12, np.float64)],
)
@pytest.mark.parametrize("batches", [1, 7])
def test_10_11_variance_far_from_zero(classifier, centre, dtype, batches):
    rng = np.random.default_rng(10)
    y = two_classes(rng, 200_000)
    x = rng.normal(centre, 1, (len(y), 1)).astype(dtype)
    model = classifier()
    for part in np.array_split(np.arange(len(y)), batches):
        model.partial_fit(x[part], y[part])
    exact = [np.var(x[y == label].astype(np.float64) - centre) for label in (0, 1)]
    np.testing.assert_allclose(class_variances(model, centre), exact, rtol=1e-6)
    np.testing.assert_allclose(class_variances(model, centre), 1, rtol=0.01)


@BOTH
@pytest.mark.parametrize("centre", [1e4, 1e8, 1e9, 3e9])
@pytest.mark.parametrize("seed", range(3))
def test_10_a_row_of_weight_zero_does_not_spoil_the_variance(classifier, centre, seed):
    """A first row at 0 that does not count: a sum of squares about it would lose the variance of the rest."""
    rng = np.random.default_rng(seed)
    x, y = np.concatenate([[0.0, 0.0], rng.normal(centre, 1, 2_000)])[:, None], np.arange(2_002) % 2
    weights = np.where(np.arange(2_002) < 2, 0.0, 1.0)
    exact = [np.var(x[2:][y[2:] == label] - centre) for label in (0, 1)]
    np.testing.assert_allclose(class_variances(classifier().fit(x, y, sample_weight=weights), centre), exact, rtol=1e-6)


# --------------------------------------------------------------------------------------------------------------------
# 12 · Orange: exp of summed log ratios


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("columns", [100, 1_000])
def test_12_log_ratios_beyond_800_are_no_nan(columns, sign):
    """Each column's ratio is 9 : 1, so that 1,000 columns have a log-ratio of ±2197."""
    table = {"pos": {"yes": 0.9, "no": 0.1}, "neg": {"yes": 0.1, "no": 0.9}}
    names = [f"symptom {index}" for index in range(columns)]
    model = mr.NaiveBayesClassifier.from_tables({"neg": 0.5, "pos": 0.5}, dict.fromkeys(names, table))
    row = pd.DataFrame([["yes" if sign > 0 else "no"] * columns], columns=names)
    ratio = sign * columns * log(9)
    found = model.predict_log_proba(row)[0]
    assert found[1] - found[0] == pytest.approx(ratio, rel=1e-12)
    assert found[0 if ratio > 0 else 1] == pytest.approx(-abs(ratio), rel=1e-12)
    check_probabilities(model.predict_proba(row))
    assert model.predict(row).tolist() == ["pos" if sign > 0 else "neg"]


@BOTH
@pytest.mark.parametrize("z", [-401.0, 401.0])
def test_12_log_ratio_of_800_from_a_number(classifier, z):
    model = classifier(**({"shrinkage": 0} if classifier is mr.BayesClassifier else {})).fit(PAIR, PAIR_CLASSES)
    found = model.predict_log_proba([[z]])[0]
    assert found[1] - found[0] == pytest.approx(2 * z - 2, rel=1e-12)
    check_probabilities(model.predict_proba([[z]]))


# --------------------------------------------------------------------------------------------------------------------
# 14 · mixed-naive-bayes: a NaN category is an IndexError

GAPS = {
    "float codes": lambda: np.array([[0.0], [1.0], [np.nan], [1.0]]),
    "objects": lambda: np.array([["rot"], ["blau"], [np.nan], ["blau"]], dtype=object),
    "None": lambda: np.array([["rot"], ["blau"], [None], ["blau"]], dtype=object),
    "pandas strings": lambda: pd.DataFrame({"色泽": ["rot", "blau", None, "blau"]}),
    "pandas.NA": lambda: pd.DataFrame({"色泽": pd.array(["rot", "blau", pd.NA, "blau"], dtype="string")}),
    "pandas categories": lambda: pd.DataFrame({"色泽": pd.Categorical(["rot", "blau", None, "blau"])}),
    "nullable integers": lambda: pd.DataFrame({"色泽": pd.array([0, 1, None, 1], dtype="Int64")}),
}


@BOTH
@pytest.mark.parametrize("kind", GAPS)
def test_14_a_missing_category_is_averaged_out_or_a_level(classifier, kind):
    """Classes: one red and one blue row; a gap and a blue row."""
    x, y = GAPS[kind](), np.array(["pos", "pos", "neg", "neg"])
    averaged = classifier(kinds="categorical").fit(x, y).predict_proba(x)
    red, blue = (
        [(1 / 3) / (1 / 3 + 1 / 2), (1 / 2) / (1 / 3 + 1 / 2)],
        [(2 / 3) / (2 / 3 + 1 / 2), (1 / 2) / (2 / 3 + 1 / 2)],
    )
    np.testing.assert_allclose(averaged, [red, blue, [0.5, 0.5], blue], rtol=0, atol=1e-12)
    level = classifier(kinds="categorical", missing="level").fit(x, y).predict_proba(x)
    np.testing.assert_allclose(level, [[1 / 3, 2 / 3], [0.5, 0.5], [2 / 3, 1 / 3], [0.5, 0.5]], rtol=0, atol=1e-12)
