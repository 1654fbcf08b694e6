"""A sentinel such as 10⁷ among the values of one class leaves the other classes as they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import merula as mr
from merula.classify.sentinels import sentinels

RNG = np.random.default_rng(12)
SPECIES = np.repeat(["Amsel", "Drossel", "Star"], 60)
WING = RNG.normal(np.repeat([12.0, 14.0, 11.0], 60), 0.4)
SPOILT = np.where(np.arange(180) % 60 == 7, np.where(SPECIES == "Star", 1e7, WING), WING)
FAMILIES = {
    "gaussian": mr.Gaussian(),
    "kernel": mr.Kernel(),
    "mixture": mr.GaussianMixture(),
    "mixture of one": mr.GaussianMixture(components=1),
    "multivariate": mr.MultivariateGaussian(shrinkage=0),
    "diagonal": mr.MultivariateGaussian(covariance="diagonal"),
    "product kernel": mr.ProductKernel(),
}


def frame(wing):
    return pd.DataFrame({"wing length": wing})


@pytest.mark.filterwarnings("ignore:column 'wing length' holds")
@pytest.mark.parametrize("family", FAMILIES)
def test_the_other_classes_terms_stay_as_they_were(family):
    """Of Amsel and Drossel nothing is known but their own values."""
    classifier = mr.BayesClassifier(distributions={"numeric": FAMILIES[family]})
    asked = frame(np.linspace(10, 16, 25))
    (clean,) = classifier.fit(frame(WING), SPECIES).terms(asked).values()
    (spoilt,) = classifier.fit(frame(SPOILT), SPECIES).terms(asked).values()
    np.testing.assert_allclose(spoilt[:, :2], clean[:, :2], rtol=1e-6, atol=1e-6)


@pytest.mark.filterwarnings("ignore:column 'wing length' holds")
@pytest.mark.parametrize("classes", [2, 3])
def test_gaussians_against_scipy(classes):
    keep = np.isin(SPECIES, ["Amsel", "Star"]) if classes == 2 else np.ones(180, dtype=bool)
    model = mr.NaiveBayesClassifier().fit(frame(SPOILT[keep]), SPECIES[keep])
    own = WING[SPECIES == "Amsel"]
    asked = np.array([11.0, 12.0, 13.5])
    expected = norm(own.mean(), own.std()).logpdf(asked)
    np.testing.assert_allclose(model.terms(frame(asked))["wing length"][:, 0], expected, rtol=1e-10)


def test_a_class_of_the_sentinel_alone_lifts_nothing():
    x = np.where(SPECIES == "Star", 1e7, WING)
    model = mr.NaiveBayesClassifier().fit(frame(x), SPECIES)
    variance = model.distributions_[0].variance[:, 0]
    np.testing.assert_allclose(variance[:2], [WING[label == SPECIES].var() for label in ("Amsel", "Drossel")])
    np.testing.assert_allclose(variance[2], 1e-9 * min(variance[:2]))


def test_values_equal_but_for_rounding_do_not_set_the_floor():
    """0.1 + 0.2 is not 0.3: a class of such values has the floor that the other classes set."""
    x = np.concatenate([[0.1 + 0.2, 0.3] * 10, RNG.normal(5, 2, 20), RNG.normal(9, 1, 20)])
    y = np.repeat(["Amsel", "Drossel", "Star"], 20)
    variance = mr.NaiveBayesClassifier().fit(frame(x), y).distributions_[0].variance[:, 0]
    np.testing.assert_allclose(variance[0], 1e-9 * min(variance[1:]))


@pytest.mark.filterwarnings("ignore:column 'wing length' holds")
@pytest.mark.parametrize("family", ["gaussian", "multivariate"])
def test_batches_and_merges_give_the_same(family):
    classifier = lambda: mr.BayesClassifier(distributions={"numeric": FAMILIES[family]})  # noqa: E731
    order = RNG.permutation(180)
    x, y = frame(SPOILT[order]), SPECIES[order]
    whole, batches = classifier().fit(x, y), classifier()
    for start in range(0, 180, 37):
        batches.partial_fit(x[start : start + 37], y[start : start + 37], classes=np.unique(SPECIES))
    merged = classifier().fit(x[:90], y[:90]) + classifier().fit(x[90:], y[90:])
    asked = frame(np.linspace(10, 16, 25))
    for other in (batches, merged):
        np.testing.assert_allclose(
            other.predict_joint_log_proba(asked), whole.predict_joint_log_proba(asked), rtol=1e-8
        )


@pytest.mark.parametrize("family", FAMILIES)
def test_a_note_names_column_value_and_count(family):
    x = np.where(np.arange(180) == 130, 1e7, SPOILT)
    with pytest.warns(mr.SentinelWarning) as said:
        mr.BayesClassifier(distributions={"numeric": FAMILIES[family]}).fit(frame(x), SPECIES)
    assert [str(warning.message) for warning in said] == [
        "column 'wing length' holds 10,000,000 (2 rows), far beyond all its other values; "
        "if it stands for a missing number, leave the cell empty"
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_no_note_of_heavy_tails(family):
    """A thousand draws of a lognormal and of a Cauchy's folded half are no sentinels (warnings are errors here)."""
    for x in (RNG.lognormal(0, 2, 1_000), np.abs(RNG.standard_t(1.5, 1_000)), np.where(np.arange(1_000) % 3, 0.0, 7.0)):
        mr.BayesClassifier(distributions={"numeric": FAMILIES[family]}).fit(frame(x), np.arange(1_000) % 2)


def only_nines(value):
    return value and abs(value) >= 99 and set(f"{abs(value):.10g}") <= {"9", "."}


def far_beyond(x):
    """The definition, written out: beyond 1,000 distances between the quartiles, and ten times as far as any other value; or nines."""
    low, high = np.quantile(x, [0.25, 0.75])
    distance = np.maximum(low - x, x - high)
    out = distance > 1_000 * (high - low)
    apart = high > low and out.any() and 10 * distance[~out].max() <= distance[out].min()
    if not apart:
        nines = np.array([bool(only_nines(value)) for value in x])
        others = x[~nines] if (~nines).sum() >= 10 else np.array([-np.inf, np.inf])
        reach = 5 * (others.max() - others.min())
        out = nines & ((x > others.max() + reach) | (x < others.min() - reach))
    return {v: int((x == v).sum()) for v in np.unique(x[out]).tolist()} if len(np.unique(x[out])) <= 3 else {}


@pytest.mark.parametrize(("missing", "low", "high"), [(9999, 1, 30), (-999, 0, 100), (9999, 950, 1050), (999, 18, 90), (99.9, 0, 12)])  # fmt: skip
def test_nines_that_many_rows_hold_are_told(missing, low, high):
    x = np.where(RNG.random(800) < 0.1, missing, RNG.uniform(low, high, 800).round(1))
    assert sentinels(x) == {float(missing): int((x == missing).sum())}


@pytest.mark.parametrize("x", [np.arange(50.0, 150), np.linspace(0, 9999, 200), np.r_[np.arange(60.0), 99], np.r_[np.linspace(0, 2, 50), 9.99]])  # fmt: skip
def test_nines_among_other_numbers_are_numbers(x):
    assert sentinels(x) == {}


def test_sentinels_are_those_of_the_definition():
    found = 0
    for _ in range(2_000):
        n = int(RNG.integers(10, 400))
        x = [RNG.normal(size=n), RNG.lognormal(0, 3, n), RNG.integers(0, 5, n) * 1.0][int(RNG.integers(3))]
        for value in RNG.choice([1e7, -1e7, 99_999, -999, 3e4], RNG.integers(0, 5)):
            x[RNG.random(n) < RNG.choice([0.01, 0.1, 0.24, 0.3])] = value
        assert sentinels(x) == far_beyond(x)
        found += bool(far_beyond(x))
    assert found > 200


def test_the_largest_numbers_are_looked_at_in_silence():
    assert sentinels(np.array([1e308, -1e308] * 10 + [1.0] * 3)) == {}  # warnings are errors here


@pytest.mark.filterwarnings("ignore:column 'wing length' holds")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_class_without_values_lifts_no_floor(family):
    """Amsel and Star, which has a sentinel, are what they are without a class of which no wing is known."""
    known = SPECIES != "Drossel"
    asked = frame(np.linspace(10, 16, 25))
    classifier = mr.BayesClassifier(distributions={"numeric": FAMILIES[family]})
    (two,) = classifier.fit(frame(SPOILT[known]), SPECIES[known]).terms(asked).values()
    (three,) = classifier.fit(frame(np.where(known, SPOILT, np.nan)), SPECIES).terms(asked).values()
    np.testing.assert_allclose(three[:, [0, 2]], two, rtol=1e-6)
