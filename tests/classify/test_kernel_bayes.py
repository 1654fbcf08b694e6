"""The multivariate kernel classifier: equal to the sum written out, for numbers, words, mixtures of both, and gaps."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

import merula as mr


@pytest.fixture
def patients():
    rng = np.random.default_rng(23)
    ill = rng.random(60) < 0.4
    frame = pd.DataFrame(
        {
            "blood pressure": rng.normal(120, 10, 60) + 12 * ill,
            "größe": rng.normal(1e9, 2.0, 60),
            "色泽": np.where(rng.random(60) < 0.3 + 0.4 * ill, "青绿", rng.choice(["乌黑", "浅白"], 60)),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.1), np.where(ill, "krank", "gesund")


def by_hand(frame, labels, row, label, alpha=1.0):
    """p(what is known of the row given the class), a Python loop over the rows of the class that hold as much."""
    known = [name for name in frame if not pd.isna(row[name])]
    numbers = [name for name in frame if frame[name].dtype.kind == "f"]
    own = frame[labels == label]
    asked = own.dropna(subset=known)
    d, total = len(numbers), 0.0
    for _, other in asked.iterrows():
        product = 1.0
        for name in known:
            values = own[name].dropna()
            if name in numbers:
                h = (4 / (d + 2)) ** (1 / (d + 4)) * np.std(values) * len(values) ** (-1 / (d + 4))
                product *= norm.pdf(row[name], other[name], h)
            else:
                m = frame[name].nunique()
                spread = alpha * (m - 1) / (len(values) + alpha * m)
                product *= 1 - spread if row[name] == other[name] else spread / (m - 1)
        total += product
    return total / len(asked)


def test_the_log_joint_is_the_mean_of_products_of_kernels(patients):
    frame, labels = patients
    model = mr.KernelBayesClassifier().fit(frame, labels)
    queries = frame.iloc[:25]
    expected = [
        [np.log((labels == label).mean()) + np.log(by_hand(frame, labels, row, label)) for label in ("gesund", "krank")]
        for _, row in queries.dropna(how="all").iterrows()
    ]
    np.testing.assert_allclose(model.predict_joint_log_proba(queries.dropna(how="all")), expected, rtol=1e-9)


def test_a_single_column_of_words_is_laplaces_rule(patients):
    frame, labels = patients
    words = frame[["色泽"]].dropna()
    y = labels[words.index]
    kernel = mr.KernelBayesClassifier(smoothing=0.7).fit(words, y)
    naive = mr.NaiveBayesClassifier(smoothing=0.7).fit(words, y)
    np.testing.assert_allclose(kernel.predict_proba(words), naive.predict_proba(words), rtol=1e-12)


def test_a_single_column_of_numbers_is_the_kernel_of_naive_bayes(patients):
    frame, labels = patients
    numbers = frame[["blood pressure"]]
    kernel = mr.KernelBayesClassifier().fit(numbers, labels)
    naive = mr.NaiveBayesClassifier(distributions={"numeric": "kernel"}).fit(numbers, labels)
    np.testing.assert_allclose(kernel.predict_proba(numbers), naive.predict_proba(numbers), rtol=1e-8)


def test_order_weights_batches_merges_and_files(patients, tmp_path):
    frame, labels = patients
    whole = mr.KernelBayesClassifier().fit(frame, labels)
    expected = whole.predict_proba(frame)
    backwards = mr.KernelBayesClassifier().fit(frame[::-1][frame.columns[::-1]], labels[::-1])
    np.testing.assert_allclose(backwards.predict_proba(frame), expected, rtol=1e-9)
    doubled = mr.KernelBayesClassifier().fit(frame, labels, sample_weight=np.full(60, 2.0)).predict_proba(frame)
    repeated = mr.KernelBayesClassifier().fit(pd.concat([frame, frame]), np.tile(labels, 2)).predict_proba(frame)
    np.testing.assert_allclose(doubled, repeated, rtol=1e-9)
    merged = mr.KernelBayesClassifier().partial_fit(frame[:20], labels[:20]) + mr.KernelBayesClassifier().partial_fit(
        frame[20:], labels[20:]
    )
    np.testing.assert_allclose(merged.predict_proba(frame), expected, rtol=1e-9)
    whole.save(tmp_path / "patients.merula")
    assert (mr.load(tmp_path / "patients.merula").predict_proba(frame) == expected).all()


def test_scale_shift_and_constant_columns_change_nothing(patients):
    frame, labels = patients
    expected = mr.KernelBayesClassifier().fit(frame, labels).predict_proba(frame)
    moved = frame.assign(**{"blood pressure": 1000 * frame["blood pressure"] - 7, "constant": 3.5, "same": "x"})
    np.testing.assert_allclose(mr.KernelBayesClassifier().fit(moved, labels).predict_proba(moved), expected, rtol=1e-9)


def test_nothing_known_is_the_prior_and_far_out_is_finite(patients):
    frame, labels = patients
    model = mr.KernelBayesClassifier().fit(frame, labels)
    nothing = pd.DataFrame({"blood pressure": [np.nan], "größe": [np.nan], "色泽": [None]})
    np.testing.assert_allclose(
        model.predict_proba(nothing)[0], [(labels == "gesund").mean(), (labels == "krank").mean()]
    )
    far = pd.DataFrame({"blood pressure": [1e7], "größe": [1e9], "色泽": ["青绿"]})
    assert np.isfinite(model.predict_joint_log_proba(far)).all()


def test_a_class_without_comparable_rows_takes_everyones():
    frame = pd.DataFrame({"größe": [1.0, 2.0, 3.0, np.nan], "mass": [1.0, 1.5, 2.5, 2.0]})
    model = mr.KernelBayesClassifier(class_prior="uniform").fit(frame, ["a", "a", "b", "c"])
    posterior = model.predict_proba(pd.DataFrame({"größe": [2.0], "mass": [np.nan]}))
    assert np.isfinite(posterior).all()
    assert posterior.sum() == pytest.approx(1)


def test_samples_come_from_the_kernels(patients):
    frame, labels = patients
    model = mr.KernelBayesClassifier().fit(frame, labels)
    drawn, classes = model.sample(40_000, random_state=1)
    own = frame.loc[labels == "krank", "blood pressure"].dropna()
    h = model.distributions_[0].bandwidth[1, 0]
    pressure = drawn.loc[classes == "krank", "blood pressure"].dropna()
    assert pressure.var() == pytest.approx(np.var(own) + h**2, rel=0.06)
    assert set(drawn["色泽"].dropna()) == {"青绿", "乌黑", "浅白"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"bandwidth": "silvermann"}, "bandwidth is 'silvermann'.*did you mean 'silverman'"),
        (
            {"bandwidth": "cv"},
            r"'cv', a rule for one column by itself; .* 'silverman', 'scott' or a number .*Kernel\(bandwidth='cv'",
        ),
        ({"bandwidth": "isj"}, "'isj', a rule for one column by itself"),
        ({"bandwidth": True}, "bandwidth is True, expected 'silverman', 'scott' or a number above 0"),
        ({"bandwidth": np.array([1.0, 2.0])}, "bandwidth is array.*expected 'silverman'"),
        ({"bandwidth": -1.0}, "bandwidth is -1.0, expected"),
        ({"unseen": "smooth"}, "unseen is 'smooth', expected one of 'missing', 'error'"),
    ],
)
def test_bad_options_are_said(patients, options, words):
    with pytest.raises(ValueError, match=words):
        mr.KernelBayesClassifier(**options).fit(*patients)


def test_sums_over_many_panels_are_exact_with_gaps_words_and_far_queries():
    """700 rows are three panels; the largest exponent comes late for some queries, early for others."""
    rng = np.random.default_rng(12)
    X = np.sort(rng.normal(size=(700, 2)) * [1, 30], axis=0)
    X[rng.random(X.shape) < 0.1] = np.nan
    words = rng.choice(["rot", "grün", "blau"], 700)
    y = np.arange(700) % 2
    frame = pd.DataFrame({"Länge": X[:, 0], "質量": X[:, 1], "Farbe": words})
    model = mr.KernelBayesClassifier(bandwidth=0.4).fit(frame, y)
    asked = pd.DataFrame(
        {"Länge": [-3.0, 3.0, 0.1, 60.0, np.nan], "質量": [-90.0, 90.0, np.nan, 2e3, 5.0], "Farbe": ["rot"] * 5}
    )
    (found,) = model.terms(asked).values()
    for label in (0, 1):
        own, n = frame[y == label], (y == label).sum()
        spread = 2 / (n + 3)  # λ = α·(m − 1) / (n + α·m)
        for row, (_, query) in enumerate(asked.iterrows()):
            known = [name for name in frame if pd.notna(query[name])]
            rows = own.dropna(subset=known)
            logs = np.where(rows["Farbe"] == query["Farbe"], np.log(1 - spread), np.log(spread / 2))
            for name in set(known) - {"Farbe"}:
                logs = logs + norm.logpdf(query[name], rows[name], 0.4)
            assert found[row, label] == pytest.approx(logsumexp(logs) - np.log(len(rows)), rel=1e-12)
