"""Kernel naive Bayes: densities by brute force, every class and column its own bandwidth, missing cells, files."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import merula as mr

KERNELS = {
    "gaussian": lambda u: np.exp(-u * u / 2) / np.sqrt(2 * np.pi),
    "box": lambda u: 0.5 * (np.abs(u) <= 1),
    "epanechnikov": lambda u: 0.75 * np.clip(1 - u * u, 0, None),
}


def rule(values):
    """Silverman's rule in plain arithmetic: (4/3)^(1/5) σ n^(−1/5)."""
    return (4 / 3) ** 0.2 * np.std(values) * len(values) ** -0.2


@pytest.fixture
def birds():
    rng = np.random.default_rng(11)
    species = np.repeat(["amsel", "drossel", "star"], [40, 25, 30])
    frame = pd.DataFrame(
        {
            "flügel": np.where(species == "amsel", rng.choice([9.0, 13.0], 95), 11.0) + rng.normal(0, 0.4, 95),
            "mass": rng.normal(1e9, 1.0, 95) + 2 * (species == "star"),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.1), species


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_log_joint_is_the_sum_of_kernels(birds, kernel):
    frame, species = birds
    model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Kernel(kernel)}).fit(frame, species)
    queries = pd.DataFrame({"flügel": [9.1, 11.0, np.nan, 30.0], "mass": [1e9 + 1, np.nan, 1e9 + 2.5, 1e9]})
    expected = np.zeros((4, 3))
    for index, label in enumerate(["amsel", "drossel", "star"]):
        expected[:, index] = np.log((species == label).mean())
        for name in frame:
            values = frame.loc[(species == label), name].dropna().to_numpy()
            h = rule(values)
            for row, x in enumerate(queries[name]):
                with np.errstate(divide="ignore"):
                    expected[row, index] += 0 if np.isnan(x) else np.log(KERNELS[kernel]((x - values) / h).mean() / h)
    got = model.predict_joint_log_proba(queries)
    if kernel == "gaussian":  # the sum underflows far out, the log does not
        underflown = np.isneginf(expected)
        assert np.isfinite(got).all()
        expected, got = expected[~underflown], got[~underflown]
    np.testing.assert_allclose(got, expected, rtol=1e-8)


def test_w7_a_box_kernel_out_of_reach_of_everything_answers_the_prior():
    rows, fruit = [[1.0], [1.2], [3.0], [3.1], [3.2]], ["banana", "banana", "apple", "apple", "apple"]
    model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Kernel("box", bandwidth=0.5)}).fit(rows, fruit)
    with pytest.warns(mr.ZeroEvidenceWarning):
        np.testing.assert_allclose(model.predict_proba([[100.0]]), [[3 / 5, 2 / 5]], rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba([[3.1]]), [[1.0, 0.0]])


@pytest.mark.parametrize("bandwidth", ["silverman", "scott", "isj", "cv", 0.7])
@pytest.mark.parametrize("kernel", KERNELS)
def test_densities_integrate_to_one(birds, kernel, bandwidth):
    frame, species = birds
    values = frame["flügel"].dropna()
    model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Kernel(kernel, bandwidth)})
    model.fit(values.to_frame(), species[values.index])
    density = model.distributions_[0]

    own, h = density.values[0][density.counts[0][1] > 0], density.bandwidth[1, 0]
    # between these edges the density is smooth (a constant, a parabola, or nearly so): Gauss's three points are exact
    edges = np.unique(np.concatenate([own - h, own + h, np.arange(own.min() - 10 * h, own.max() + 10 * h, h / 20)]))
    nodes, weights = np.polynomial.legendre.leggauss(3)
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    x = (middle[:, None] + half[:, None] * nodes).ravel()
    values_there = np.exp(model.terms(pd.DataFrame({"flügel": x}))["flügel"][:, 1]).reshape(-1, 3)
    assert (values_there @ weights * half).sum() == pytest.approx(1, abs=1e-9)


def test_the_scale_of_the_data_does_not_matter(birds):
    frame, species = birds
    for bandwidth in ("silverman", "scott", "isj", "cv"):
        model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Kernel(bandwidth=bandwidth)})
        before = model.fit(frame[["flügel"]], species).predict_proba(frame[["flügel"]])
        after = model.fit(1000 * frame[["flügel"]], species).predict_proba(1000 * frame[["flügel"]])
        np.testing.assert_allclose(after, before, rtol=1e-6, atol=1e-12)


def test_far_out_the_nearer_class_wins_and_nothing_overflows():
    rows, label = [[0.0], [1.0], [0.5], [10.0], [11.0], [12.0]], ["nah"] * 3 + ["fern"] * 3
    model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Kernel(bandwidth=1.0)}).fit(rows, label)
    assert model.predict([[1e6], [-1e6]]).tolist() == ["fern", "nah"]
    assert np.isfinite(model.predict_joint_log_proba([[1e6]])).all()


def test_a_class_without_values_takes_everyones_and_a_single_value_the_spread_within_classes():
    frame = pd.DataFrame({"größe": [1.0, 2.0, 3.0, 4.0, 9.0, np.nan]})
    target = ["a", "a", "a", "a", "one", "none"]
    model = mr.NaiveBayesClassifier(class_prior="uniform", distributions={"numeric": "kernel"}).fit(frame, target)
    terms = np.exp(model.terms(pd.DataFrame({"größe": [2.5]}))["größe"][0])
    everyone = np.array([1.0, 2, 3, 4, 9])
    h = rule(everyone)
    assert terms[1] == pytest.approx(norm.pdf(2.5, everyone, h).mean(), rel=1e-8)
    within = np.sqrt((4 * np.var([1.0, 2, 3, 4]) + 0) / 5)
    assert terms[2] == pytest.approx(norm.pdf(2.5, 9, (4 / 3) ** 0.2 * within), rel=1e-8)


def test_a_constant_column_says_nothing(birds):
    frame, species = birds
    model = mr.NaiveBayesClassifier(distributions={"numeric": "kernel"})
    plain = model.fit(frame, species).predict_proba(frame)
    padded = frame.assign(constant=3.0)
    np.testing.assert_allclose(model.fit(padded, species).predict_proba(padded), plain, rtol=1e-12)


def test_weights_batches_merges_and_files(birds, tmp_path):
    frame, species = birds
    make = lambda: mr.NaiveBayesClassifier(distributions={"numeric": mr.Kernel(bandwidth="cv")})  # noqa: E731
    whole = make().fit(frame, species)
    doubled = make().fit(frame, species, sample_weight=np.full(95, 2.0))
    repeated = make().fit(pd.concat([frame, frame]), np.tile(species, 2))
    np.testing.assert_allclose(doubled.predict_proba(frame), repeated.predict_proba(frame), rtol=1e-9)
    merged = make().partial_fit(frame[::2], species[::2]) + make().partial_fit(frame[1::2], species[1::2])
    np.testing.assert_allclose(merged.predict_proba(frame), whole.predict_proba(frame), rtol=1e-12)
    whole.save(tmp_path / "birds.merula")
    loaded = mr.load(tmp_path / "birds.merula")
    assert (loaded.predict_proba(frame) == whole.predict_proba(frame)).all()
    assert (tmp_path / "birds.merula").stat().st_size < 12_000  # 190 numbers and their counts, written once


@pytest.mark.parametrize("kernel", KERNELS)
def test_samples_follow_the_density(birds, kernel):
    frame, species = birds
    model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Kernel(kernel)}).fit(frame, species)
    drawn, labels = model.sample(60_000, random_state=3)
    values = frame.loc[species == "drossel", "flügel"].dropna().to_numpy()
    spread = {"gaussian": 1.0, "box": 1 / 3, "epanechnikov": 1 / 5}[kernel]
    own = drawn.loc[labels == "drossel", "flügel"]
    variance = np.var(values) + spread * rule(values) ** 2
    assert own.mean() == pytest.approx(values.mean(), abs=5 * np.sqrt(variance / len(own)))
    assert own.var() == pytest.approx(variance, rel=0.05)


@pytest.mark.parametrize(
    ("family", "words"),
    [
        (mr.Kernel("gausian"), "kernel is 'gausian'.*did you mean 'gaussian'"),
        (mr.Kernel(bandwidth="silvermann"), "bandwidth is 'silvermann'.*did you mean 'silverman'"),
        (mr.Kernel(bandwidth=0), "bandwidth is 0, expected a number above 0"),
        (mr.Kernel(bandwidth=True), "bandwidth is True, expected a number above 0"),
    ],
)
def test_bad_options_are_said(birds, family, words):
    frame, species = birds
    with pytest.raises(ValueError, match=words):
        mr.NaiveBayesClassifier(distributions={"numeric": family}).fit(frame, species)


def test_infinity_is_an_error_naming_the_column(birds):
    frame, species = birds
    model = mr.NaiveBayesClassifier(distributions={"numeric": "kernel"}).fit(frame, species)
    with pytest.raises(ValueError, match="column 'flügel' contains infinity"):
        model.predict(frame.assign(flügel=np.inf))
    with pytest.raises(ValueError, match="column 'mass' contains infinity"):
        model.fit(frame.assign(mass=-np.inf), species)
