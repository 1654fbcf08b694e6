"""Numbers cut into intervals: the same terms as the categorical family on the intervals' labels, and the laws."""

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.data.schema import Column
from merula.distributions.discretize import assign, cuts_for, interval_labels

RNG = np.random.default_rng(23)
N = 300
Y = RNG.choice(["gesund", "krank", "unklar"], N)
LABELS = np.unique(Y)
ILL = Y == "krank"
FRAME = pd.DataFrame(
    {
        "blood pressure": RNG.normal(120, 12, N) + 25 * ILL,
        "größe": RNG.normal(171, 9, N).round(),
        "色深": RNG.exponential(np.where(ILL, 9e-6, 1e-6)),
    }
)
HOLEY = FRAME.mask(RNG.random(FRAME.shape) < 0.15)
WEIGHTS = RNG.integers(0, 4, N).astype(float)
FAMILIES = [mr.Discretized(), mr.Discretized(method="quantile", bins=4), mr.Discretized(method="width", bins=5)]
IDS = ["mdl", "quantile", "width"]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=IDS)


def expected_cuts(column, weights, family):
    known = column.notna().to_numpy() & (weights > 0)
    values, indices = np.unique(column[known], return_inverse=True)
    counts = np.stack([np.bincount(indices, weights[known] * (Y[known] == label), len(values)) for label in LABELS])
    return cuts_for(family.method, values, counts, family.bins)


def in_words(frame, weights, family):
    """The frame with numbers replaced by interval labels, and the labels in order."""
    words, levels = {}, {}
    for name in frame:
        cuts = expected_cuts(frame[name], weights, family)
        labels = np.array([*interval_labels(cuts), None], dtype=object)
        words[name], levels[name] = labels[assign(frame[name], cuts)], list(labels[:-1])
    return pd.DataFrame(words), levels


@pytest.mark.parametrize("weights", [np.ones(N), WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@every_family
def test_log_prob_is_that_of_the_categorical_family_on_the_intervals(build, read, family, alpha, weights):
    found = build(family, HOLEY, Y, weights, smoothing=alpha)
    words, levels = in_words(HOLEY, weights, family)
    categorical = build(mr.Categorical(), words, Y, weights, smoothing=alpha, levels=levels)
    expected = categorical.log_prob(read(categorical, words))
    np.testing.assert_allclose(found.log_prob(read(found, HOLEY)), expected, rtol=1e-12, atol=1e-13)
    assert found.parameters_count == categorical.parameters_count
    for name in FRAME:
        assert found.intervals(name) == tuple(levels[name])
        np.testing.assert_allclose(found.probabilities(name), categorical.probabilities(name), rtol=1e-12)


def test_smoothing_by_an_m_estimate_is_the_categorical_familys(build, read):
    belief = mr.MEstimate(3)
    found = build(mr.Discretized(), FRAME, Y, smoothing=belief)
    words, levels = in_words(FRAME, np.ones(N), mr.Discretized())
    categorical = build(mr.Categorical(), words, Y, smoothing=belief, levels=levels)
    expected = categorical.log_prob(read(categorical, words))
    np.testing.assert_allclose(found.log_prob(read(found, FRAME)), expected, rtol=1e-12)
    own = build(mr.Discretized(smoothing=belief), FRAME, Y)
    np.testing.assert_array_equal(own.log_prob(read(own, FRAME)), found.log_prob(read(found, FRAME)))


def test_cuts_are_shown_by_column(build):
    found = build(mr.Discretized(), FRAME, Y)
    assert found.cuts == {name: expected_cuts(FRAME[name], np.ones(N), mr.Discretized()) for name in FRAME}
    assert len(found.cuts["blood pressure"]) >= 1
    assert found.cuts["größe"] == ()  # it says nothing about the diagnosis
    assert found.intervals("größe") == ("any",)


def test_one_interval_says_exactly_nothing(build, read):
    found = build(mr.Discretized(), FRAME, Y)
    (part,) = (part for part in found.factors() if part.columns == ("größe",))
    assert set(part.log_prob(read(part, FRAME[["größe"]])).ravel().tolist()) == {0.0}
    uneven = build(mr.Discretized(smoothing=0), FRAME[["größe"]].mask(ILL[:, None]), Y)
    assert set(uneven.log_prob(read(uneven, FRAME[["größe"]])).ravel().tolist()) == {0.0}


def test_values_beyond_the_range_belong_to_the_outermost_intervals(build, read):
    found = build(mr.Discretized(method="width", bins=5), FRAME[["blood pressure"]], Y)
    values = FRAME["blood pressure"]
    far = pd.DataFrame({"blood pressure": [values.min(), -1.7e308, values.max(), 1.7e308]})
    lowest, below, highest, above = found.log_prob(read(found, far)).tolist()
    assert lowest == below
    assert highest == above


@every_family
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_class_without_values_is_like_all(build, family, alpha):
    lacking = FRAME[["blood pressure"]].mask(ILL[:, None])
    found = build(family, lacking, Y, smoothing=alpha)
    position = LABELS.tolist().index("krank")
    own = found.probabilities("blood pressure")[:, position]
    cuts = found.cuts["blood pressure"]
    pooled = np.bincount(assign(lacking["blood pressure"].dropna(), cuts), minlength=len(cuts) + 1)
    np.testing.assert_allclose(own, (pooled + alpha) / (pooled + alpha).sum(), rtol=1e-12)


def test_infinity_is_an_error_that_names_the_column(build, read):
    found = build(mr.Discretized(), FRAME, Y)
    with pytest.raises(ValueError, match="column 'größe' contains infinity"):
        found.log_prob(read(found, FRAME.assign(größe=-np.inf)))


def test_options_and_kinds_are_checked(build):
    for family, message in [
        (
            mr.Discretized(method="mld"),
            "method is 'mld', expected one of 'mdl', 'quantile', 'width'; did you mean 'mdl'",
        ),
        (mr.Discretized("mdl", bins=4), "bins=4 does nothing with method='mdl'"),
        (mr.Discretized("width", bins=1), "bins is 1, expected a whole number of intervals from 2"),
        (mr.Discretized(smoothing="some"), "smoothing is 'some'"),
    ]:
        with pytest.raises(ValueError, match=message):
            build(family, FRAME, Y)
    with pytest.raises(ValueError, match="column '色泽' is categorical, but the discretized distribution is for"):
        mr.Discretized().encodes(Column("色泽", "categorical"))
    assert mr.Discretized().get_params() == {"method": "mdl", "bins": None, "cuts": None, "smoothing": None}


# ---------------------------------------------------------------------------------------------------------------------
# Missing cells, parts, samples, quantiles, files


@every_family
def test_samples_and_quantiles_agree_with_the_masses(build, family):
    found, n = build(family, FRAME, Y), 30_000
    classes = np.repeat([0, 1, 2], n)
    drawn = found.sample(classes, np.random.default_rng(4))
    shares = np.array([0.02, 0.3, 0.5, 0.81, 0.995])
    for name in FRAME:
        assert drawn[name].min() >= FRAME[name].min()
        assert drawn[name].max() <= FRAME[name].max()
        for c in range(3):
            own, mass = drawn[name][classes == c], found.probabilities(name)[:, c]
            counts = np.bincount(assign(own, found.cuts[name]), minlength=len(mass))
            assert (np.abs(counts / n - mass) < 5 * np.sqrt(mass * (1 - mass) / n) + 1e-12).all()
            below = (own[:, None] <= found.quantiles(name, shares, 3)[:, c]).mean(axis=0)
            assert (np.abs(below - shares) < 5 * np.sqrt(shares * (1 - shares) / n)).all()
