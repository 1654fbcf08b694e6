"""What every model derives from its terms: merging, likelihood, information criteria, samples."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

import merula as mr

SHADES, STEMS = np.array(["乌黑", "浅白", "青绿"]), np.array(["gerade", "krumm"])


def melons(seed=0, rows=300, missing=0.0):
    """A mixed table of two word columns and two number columns, three classes."""
    rng = np.random.default_rng(seed)
    y = np.array(["fade", "gut", "sehr gut"])[rng.choice(3, rows, p=[0.5, 0.3, 0.2])]
    index = np.unique(y, return_inverse=True)[1]
    frame = pd.DataFrame(
        {
            "色泽": SHADES[
                (rng.random(rows)[:, None] > np.array([[0.6, 0.8], [0.2, 0.5], [0.1, 0.2]])[index]).sum(axis=1)
            ],
            "Stiel": STEMS[rng.integers(0, 2, rows)],
        },
        dtype=object,
    )
    frame["sugar (%)"] = rng.normal(8 + index, 1 + 0.3 * index)
    frame["größe"] = 0.1 * frame["sugar (%)"] + rng.normal(0.2, 0.05, rows)
    return frame.mask(rng.random(frame.shape) < missing), y


WORDS, NUMBERS = ["色泽", "Stiel"], ["sugar (%)", "größe"]
MODELS = {
    "naive": mr.NaiveBayesClassifier(),
    "naive, missing as a level": mr.NaiveBayesClassifier(
        missing="level", smoothing=0.5, variance="unbiased", class_prior="laplace"
    ),
    "naive, m-estimate": mr.NaiveBayesClassifier(smoothing=mr.MEstimate(2)),
    "full": mr.BayesClassifier(),
    "full, textbook": mr.BayesClassifier(shrinkage=0, smoothing=0.5, variance="unbiased"),
    "full, missing as a level": mr.BayesClassifier(missing="level"),
    "shared": mr.BayesClassifier(covariance="shared", shrinkage=0.1),
    "diagonal": mr.BayesClassifier(covariance="diagonal"),
}


def unfitted(name):
    return MODELS[name].__class__(**MODELS[name].get_params(deep=False))


# --------------------------------------------------------------------------------------------------------------------
# Merging


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("name", MODELS)
def test_merged_models_equal_the_model_fitted_on_all_rows(name, missing):
    frame, y = melons(1, missing=missing)
    parts = [np.arange(len(y)) % 3 == remainder for remainder in range(3)]
    one, two, three = (unfitted(name).fit(frame[part], y[part]) for part in parts)
    whole = unfitted(name).fit(frame, y)
    expected = whole.predict_joint_log_proba(frame)
    for merged in ((one + two) + three, one + (two + three), three + one + two):
        np.testing.assert_allclose(merged.predict_joint_log_proba(frame), expected, rtol=1e-9, atol=1e-9)
        assert merged.parameters_count == whole.parameters_count


@pytest.mark.parametrize("name", MODELS)
def test_models_that_met_different_classes_and_levels_merge(name):
    frame, y = melons(2)
    here = (y != "gut") & (frame["色泽"] != "青绿").to_numpy()
    merged = unfitted(name).fit(frame[here], y[here]) + unfitted(name).fit(frame[~here], y[~here])
    whole = unfitted(name).fit(frame, y)
    assert merged.classes_.tolist() == whole.classes_.tolist()
    np.testing.assert_allclose(
        merged.predict_joint_log_proba(frame), whole.predict_joint_log_proba(frame), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("name", MODELS)
def test_weighted_parts_merge(name):
    frame, y = melons(3, missing=0.1)
    weights = np.random.default_rng(3).integers(0, 4, len(y)).astype(float)
    half = np.arange(len(y)) < 140
    merged = unfitted(name).fit(frame[half], y[half], sample_weight=weights[half]) + unfitted(name).fit(
        frame[~half], y[~half], sample_weight=weights[~half]
    )
    repeated = np.repeat(np.arange(len(y)), weights.astype(int))
    whole = unfitted(name).fit(frame.iloc[repeated], y[repeated])
    np.testing.assert_allclose(
        merged.predict_joint_log_proba(frame), whole.predict_joint_log_proba(frame), rtol=1e-9, atol=1e-9
    )


# --------------------------------------------------------------------------------------------------------------------
# Likelihood and information criteria


def naive_log_joint(frame, y, labels):
    """log P(class, row) with Laplace smoothing and 1/n variances, one column at a time."""
    result = np.empty((len(frame), len(labels)))
    for index, label in enumerate(labels):
        own = frame[y == label]
        result[:, index] = np.log(len(own) / len(frame))
        for name in WORDS:
            counts = own[name].value_counts().reindex(sorted(frame[name].unique()), fill_value=0)
            result[:, index] += np.log(frame[name].map((counts + 1) / (counts.sum() + len(counts)))).to_numpy(
                dtype=float
            )
        for name in NUMBERS:
            result[:, index] += norm(own[name].mean(), own[name].std(ddof=0)).logpdf(frame[name])
    return result


@pytest.mark.parametrize("weighted", [False, True])
def test_likelihood_evidence_aic_and_bic(weighted):
    frame, y = melons(4)
    weights = np.random.default_rng(4).uniform(0, 3, len(y)) if weighted else None
    mass = np.ones(len(y)) if weights is None else weights
    model = mr.NaiveBayesClassifier().fit(frame, y)
    log_joint = naive_log_joint(frame, y, np.unique(y))
    log_likelihood = float(mass @ log_joint[np.arange(len(y)), np.unique(y, return_inverse=True)[1]])
    parameters = 2 + 3 * (2 + 1) + 3 * 2 * 2
    np.testing.assert_allclose(model.log_evidence(frame), logsumexp(log_joint, axis=1), rtol=1e-12)
    assert model.parameters_count == parameters
    assert model.log_likelihood(frame, y, weights) == pytest.approx(log_likelihood, rel=1e-12)
    assert model.aic(frame, y, weights) == pytest.approx(log_likelihood - parameters, rel=1e-12)
    assert model.bic(frame, y, weights) == pytest.approx(
        log_likelihood - parameters / 2 * np.log(mass.sum()), rel=1e-12
    )


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (mr.NaiveBayesClassifier(class_prior="uniform"), 3 * (2 + 1) + 3 * 2 * 2),
        (mr.NaiveBayesClassifier(class_prior=[0.2, 0.3, 0.5]), 3 * (2 + 1) + 3 * 2 * 2),
        (mr.NaiveBayesClassifier(class_prior="laplace"), 2 + 3 * (2 + 1) + 3 * 2 * 2),
        (mr.BayesClassifier(), 2 + 3 * (3 * 2 - 1) + 3 * (2 + 3)),
        (mr.BayesClassifier(covariance="shared"), 2 + 3 * (3 * 2 - 1) + 3 * 2 + 3),
        (mr.BayesClassifier(covariance="diagonal"), 2 + 3 * (3 * 2 - 1) + 3 * 2 * 2),
    ],
    ids=str,
)
def test_free_parameters(model, expected):
    assert model.fit(*melons(5)).parameters_count == expected


def test_log_likelihood_of_an_impossible_row_is_minus_infinity():
    frame, y = melons(6, rows=40)
    frame.loc[y == "gut", "色泽"] = "乌黑"
    model = mr.NaiveBayesClassifier(smoothing=0).fit(frame, y)
    other = frame.iloc[[int(np.flatnonzero(frame["色泽"] != "乌黑")[0])]]
    assert model.log_likelihood(other, ["gut"]) == -np.inf


# --------------------------------------------------------------------------------------------------------------------
# Samples

DRAWS = 60_000


def within_five_standard_errors(found, expected, standard_error):
    assert np.all(np.abs(np.asarray(found) - expected) <= 5 * np.asarray(standard_error))


def check_frequencies(values, probabilities):
    """The share of every level, each a binomial proportion."""
    for level, p in probabilities.items():
        within_five_standard_errors(np.mean(np.asarray(values) == level), p, np.sqrt(p * (1 - p) / len(values)) + 1e-15)


def check_normal(x, mean, covariance):
    """Means and covariances; a sample covariance has variance (Σ_ii Σ_jj + Σ_ij²) / n."""
    n, spread = len(x), np.diag(covariance)
    within_five_standard_errors(x.mean(axis=0), mean, np.sqrt(spread / n))
    within_five_standard_errors(
        np.cov(x.T, bias=True), covariance, np.sqrt((np.outer(spread, spread) + covariance**2) / n)
    )


def test_sample_of_naive_bayes():
    frame, y = melons(7)
    drawn, classes = mr.NaiveBayesClassifier().fit(frame, y).sample(DRAWS, random_state=1)
    assert list(drawn.columns) == list(frame.columns)
    check_frequencies(classes, {label: np.mean(y == label) for label in np.unique(y)})
    for label in np.unique(y):
        own, seen = frame[y == label], drawn[classes == label]
        for name in WORDS:
            counts = own[name].value_counts().reindex(sorted(frame[name].unique()), fill_value=0)
            check_frequencies(seen[name], ((counts + 1) / (len(own) + len(counts))).to_dict())
        check_normal(
            seen[NUMBERS].to_numpy(dtype=float), own[NUMBERS].mean().to_numpy(), np.diag(own[NUMBERS].var(ddof=0))
        )


@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_sample_of_the_full_model(covariance):
    frame, y = melons(8)
    drawn, classes = mr.BayesClassifier(covariance=covariance, shrinkage=0).fit(frame, y).sample(DRAWS, random_state=2)
    centred = frame[NUMBERS] - frame[NUMBERS].groupby(y).transform("mean")
    for label in np.unique(y):
        own, seen = frame[y == label], drawn[classes == label]
        used = own[NUMBERS] if covariance == "full" else centred
        check_normal(seen[NUMBERS].to_numpy(dtype=float), own[NUMBERS].mean().to_numpy(), np.cov(used.T, bias=True))
        pairs = own["色泽"] + own["Stiel"]
        expected = {
            shade + stem: ((pairs == shade + stem).sum() + 1) / (len(own) + 6) for shade in SHADES for stem in STEMS
        }
        check_frequencies(seen["色泽"] + seen["Stiel"], expected)


def test_sample_of_a_wide_sparse_joint_table_reaches_cells_never_met():
    """Four columns of ten levels, 50 rows: 10,000 cells, nearly all of them unmet, each with its pseudo-count."""
    rng = np.random.default_rng(9)
    columns = ["Wohnort", "色泽", "Beruf", "größe"]
    frame = pd.DataFrame(rng.integers(0, 10, (50, 4)), columns=columns).astype(str)
    levels = {name: [str(digit) for digit in range(10)] for name in columns}
    y = np.where(np.arange(50) < 25, "links", "rechts")
    drawn, classes = mr.BayesClassifier(levels=levels, smoothing=0.01).fit(frame, y).sample(DRAWS, random_state=3)
    for label in ("links", "rechts"):
        met, seen = frame[columns][y == label].sum(axis=1), drawn[columns][classes == label].sum(axis=1)
        unmet = (10_000 - met.nunique()) * 0.01 / (25 + 100)
        check_frequencies(seen.isin(set(met)), {False: unmet})
        check_frequencies(
            drawn["Beruf"][classes == label],
            {digit: ((frame["Beruf"][y == label] == digit).sum() + 10) / 125 for digit in levels["Beruf"]},
        )


def test_sample_leaves_cells_missing_as_often_as_the_model_says():
    frame, y = melons(10, missing=0.2)
    drawn, classes = mr.NaiveBayesClassifier(missing="level", smoothing=1).fit(frame, y).sample(DRAWS, random_state=4)
    for label in np.unique(y):
        own, seen = frame[y == label], drawn[classes == label]
        for name in NUMBERS:
            check_frequencies(seen[name].isna(), {True: (own[name].isna().sum() + 1) / (len(own) + 2)})
        for name in WORDS:
            m = frame[name].nunique() + 1
            check_frequencies(seen[name].isna(), {True: (own[name].isna().sum() + 1) / (len(own) + m)})


@pytest.mark.parametrize("classifier", [mr.NaiveBayesClassifier, mr.BayesClassifier])
def test_sample_of_a_column_whose_levels_were_never_observed_is_missing(classifier):
    frame, y = melons(12, rows=50)
    frame["Sorte"] = pd.Series([None] * 50, dtype="str")
    drawn, _ = classifier().fit(frame, y).sample(20, random_state=7)
    assert drawn["Sorte"].isna().all()
    assert drawn[["色泽", "sugar (%)"]].notna().all(axis=None)


def test_sample_is_a_function_of_its_random_state():
    model = mr.BayesClassifier().fit(*melons(11))
    first, again, other = (model.sample(100, random_state=seed) for seed in (5, 5, 6))
    pd.testing.assert_frame_equal(first[0], again[0])
    assert first[1].tolist() == again[1].tolist()
    assert not first[0].equals(other[0])
