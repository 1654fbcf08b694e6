"""Kernel sums against sums term by term in longer arithmetic, SciPy and scikit-learn; near, in gaps, and far out."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from decimal import MIN_EMIN, Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import gaussian_kde
from sklearn.neighbors import KernelDensity

from merula.distributions._kernel_sums import KERNELS, KernelSums

RNG = np.random.default_rng(53)
LONG = np.longdouble
SKLEARN_NAMES = {"gaussian": "gaussian", "box": "tophat", "epanechnikov": "epanechnikov"}


def exact_gaussian(points, weights, bandwidth, queries):
    """log density term by term, in extended precision."""
    points, weights, h = np.asarray(points, LONG), np.asarray(weights, LONG), LONG(bandwidth)
    scale = np.log(weights.sum()) + np.log(h) + np.log(2 * LONG(np.pi)) / 2
    result = []
    for q in np.asarray(queries, LONG):
        exponents = np.log(weights) - ((q - points) / h) ** 2 / 2
        peak = exponents.max()
        result.append(peak + np.log(np.exp(exponents - peak).sum()) - scale)
    return np.array(result)


def exact_compact(points, weights, bandwidth, queries, kernel):
    """The density, not its log, term by term, in extended precision."""
    away = np.abs(np.subtract.outer(np.asarray(queries), np.asarray(points)))  # inside or not as floats see it
    u = np.abs(np.subtract.outer(np.asarray(queries, LONG), np.asarray(points, LONG))) / LONG(bandwidth)
    values = np.full(u.shape, 0.5, LONG) if kernel == "box" else 0.75 * np.maximum(1 - u * u, 0)
    weights = np.asarray(weights, LONG)
    return (np.where(away <= bandwidth, values, 0) @ weights) / (LONG(bandwidth) * weights.sum())


def assert_exact(points, weights, bandwidth, queries):
    """Within 1e-9 of the density, and of a log density that is itself huge as near as floats come."""
    weights = np.ones(len(points)) if weights is None else weights
    got = KernelSums.build(points, weights, bandwidth).log_density(queries)
    expected = exact_gaussian(points, weights, bandwidth, queries)
    assert np.isfinite(got).all()
    assert (np.abs(got - expected) <= 1e-9 + 1e-14 * np.abs(expected)).all()


def around(points, bandwidth, reach=40):
    """Places within the sample, in its gaps and up to `reach` bandwidths outside."""
    low, high = points.min(), points.max()
    return np.concatenate(
        [
            RNG.choice(points, 60),
            RNG.choice(points, 60) + RNG.normal(size=60) * 3 * bandwidth,
            RNG.uniform(low, high, 60),
            (RNG.choice(points, 60) + RNG.choice(points, 60)) / 2,
            low - bandwidth * np.geomspace(0.01, reach, 40),
            high + bandwidth * np.geomspace(0.01, reach, 40),
        ]
    )


SAMPLES = {
    "flipper length": RNG.normal(200, 14, 4_000),
    "two clusters": np.concatenate([RNG.normal(0, 1, 2_000), RNG.normal(300, 0.5, 2_000)]),
    "uniform": RNG.uniform(-1, 1, 3_000),
    "heavy tails": RNG.standard_cauchy(3_000),
    "rounded": RNG.normal(0, 3, 4_000).round(1),
    "mostly zero": np.where(RNG.random(3_000) < 0.8, 0.0, RNG.exponential(5, 3_000)),
    "near 1e9": RNG.normal(1e9, 1, 3_000),
    "geometric": np.geomspace(1e-6, 1e6, 800),
    "one value": np.full(50, 37.2),
    "two values": np.array([0.0, 1.0]),
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("share_of_spread", [1e-6, 1e-3, 0.02, 0.3, 1, 1_000])
def test_gaussian_is_exact_wherever_it_is_asked(name, share_of_spread):
    points = SAMPLES[name]
    bandwidth = share_of_spread * (np.ptp(points) or 1)
    assert_exact(points, None, bandwidth, around(points, bandwidth))


@pytest.mark.parametrize("name", SAMPLES)
def test_gaussian_far_out_is_the_nearest_points(name):
    points = SAMPLES[name]
    for bandwidth in 0.05 * (np.ptp(points) or 1), 5 * (np.ptp(points) or 1):
        away = bandwidth * np.geomspace(1e2, 1e12, 60)
        assert_exact(points, None, bandwidth, np.concatenate([points.min() - away, points.max() + away]))


def test_a_million_bandwidths_away_to_the_last_digit():
    points, bandwidth = [1.25, 1.5, 1.5000001, 1.75], 0.0078125
    sums = KernelSums.build(np.array(points), None, bandwidth)
    with localcontext() as context:
        context.prec, context.Emin = 60, MIN_EMIN
        for q in (1.75 + 1e6 * bandwidth, 1.25 - 1e6 * bandwidth, 1.50000005):
            terms = [(-(((Decimal(q) - Decimal(x)) / Decimal(bandwidth)) ** 2) / 2).exp() for x in points]
            two_pi = Decimal("6.283185307179586476925286766559005768394338798750")
            expected = (sum(terms) / (4 * Decimal(bandwidth) * two_pi.sqrt())).ln()
            assert sums.log_density(np.array([q]))[0] == pytest.approx(float(expected), rel=4e-16, abs=1e-13)


@pytest.mark.parametrize("name", ["two clusters", "heavy tails", "near 1e9", "geometric"])
def test_weights_over_sixteen_orders(name):
    points = SAMPLES[name]
    weights = 10 ** RNG.uniform(-8, 8, len(points))
    for bandwidth in np.array([1e-5, 1e-2, 1]) * np.ptp(points):
        assert_exact(points, weights, bandwidth, around(points, bandwidth, reach=1e4))


def test_a_heavy_cluster_outshines_light_points_nearer_by():
    points = np.concatenate([RNG.normal(0, 1, 500), RNG.normal(20, 1, 500)])
    weights = np.where(points < 10, 1e8, 1e-8)
    assert_exact(points, weights, 0.8, np.linspace(-5, 40, 400))


def test_dense_clusters_far_apart_need_memory_as_the_points_do():
    points = np.add.outer(np.arange(300) * 1e4, 0.3 * RNG.normal(size=40)).ravel()
    sums = KernelSums.build(points, None, 1.0)
    assert sum(table.size for table in sums._pieces) < 50 * len(points)
    assert_exact(points, None, 1.0, RNG.uniform(points.min(), points.max(), 100))


@st.composite
def samples(draw):
    """Clusters of any width, apart by any distance, rounded or not, weighted or not, at an offset or not; places to ask."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    clusters = draw(
        st.lists(
            st.tuples(st.floats(-1e6, 1e6), st.integers(-6, 2), st.integers(1, 150)),
            min_size=1,
            max_size=5,
        )
    )
    points = np.concatenate([centre + 10.0**scale * rng.normal(size=size) for centre, scale, size in clusters])
    points = points.round(draw(st.sampled_from([0, 2, 12]))) + draw(st.sampled_from([0.0, 1e9]))
    weights = draw(
        st.sampled_from([np.ones(len(points)), rng.integers(1, 4, len(points)), 10 ** rng.uniform(-8, 8, len(points))])
    )
    bandwidth = (np.ptp(points) or 1.0) * 10 ** draw(st.floats(-6, 3))
    steps = np.array(draw(st.lists(st.floats(-1e7, 1e7) | st.floats(-10, 10), min_size=1, max_size=10)))
    return points, np.asarray(weights, float), bandwidth, rng.choice(points, len(steps)) + bandwidth * steps


@settings(deadline=None, max_examples=150)
@given(samples())
def test_gaussian_law(sample):
    assert_exact(*sample)


@settings(deadline=None, max_examples=150)
@given(samples(), st.sampled_from(["box", "epanechnikov"]))
def test_compact_law(sample, kernel):
    points, weights, bandwidth, queries = sample
    queries = np.concatenate([queries, points, points + bandwidth, points - bandwidth])
    got = np.exp(KernelSums.build(points, weights, bandwidth, kernel).log_density(queries))
    expected = exact_compact(points, weights, bandwidth, queries, kernel)
    np.testing.assert_allclose(got, expected.astype(float), rtol=1e-11, atol=1e-12 * float(expected.max()))


@pytest.mark.parametrize("kernel", KERNELS)
def test_agrees_with_scikit_learn(kernel):
    body_mass, weights = RNG.normal(4_200, 800, 600), RNG.integers(1, 5, 600).astype(float)
    model = KernelDensity(bandwidth=150.0, kernel=SKLEARN_NAMES[kernel]).fit(body_mass[:, None], sample_weight=weights)
    queries = np.linspace(1_500, 7_500, 301)
    expected = model.score_samples(queries[:, None])
    inside = np.isfinite(expected)
    got = KernelSums.build(body_mass, weights, 150.0, kernel).log_density(queries)
    assert (np.isfinite(got) == inside).all()
    np.testing.assert_allclose(got[inside], expected[inside], atol=1e-8)


def test_agrees_with_scipy():
    body_mass, weights = RNG.normal(4_200, 800, 600), RNG.integers(1, 5, 600).astype(float)
    model = gaussian_kde(body_mass, weights=weights)
    sums = KernelSums.build(body_mass, weights, float(np.sqrt(model.covariance[0, 0])))
    queries = np.linspace(1_500, 7_500, 301)
    np.testing.assert_allclose(sums.log_density(queries), model.logpdf(queries), atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["flipper length", "two clusters", "mostly zero"])
def test_density_has_the_integral_one(kernel, name):
    points, weights = SAMPLES[name], RNG.integers(1, 4, len(SAMPLES[name])).astype(float)
    bandwidth = 0.02 * np.ptp(points)
    sums = KernelSums.build(points, weights, bandwidth, kernel)
    reach = 10 * bandwidth
    middles = points.min() - reach + (np.ptp(points) + 2 * reach) / 400_000 * (np.arange(400_000) + 0.5)
    step = middles[1] - middles[0]
    assert np.exp(sums.log_density(middles)).sum() * step == pytest.approx(1, abs=1e-4 if kernel == "box" else 1e-8)


def test_box_counts_points_at_exactly_one_bandwidth():
    sums = KernelSums.build(np.array([10.0, 12.0, 16.0]), None, 2.0, "box")
    queries = np.array([8.0, np.nextafter(8.0, 0), 12.0, 14.0, 18.0, np.nextafter(18.0, 20)])
    count = np.array([1, 0, 2, 2, 1, 0])
    np.testing.assert_allclose(np.exp(sums.log_density(queries)), count * 0.5 / (2.0 * 3))
    assert sums.log_density(queries)[1] == -np.inf


def test_light_points_beside_heavy_ones_are_not_lost():
    points = np.arange(1_000) * 0.7
    weights = np.where(points < 350, 1e16, 1e-16)
    for kernel in "box", "epanechnikov":
        got = KernelSums.build(points, weights, 5.0, kernel).log_density(np.array([600.0, 690.3]))
        expected = exact_compact(points, weights, 5.0, [600.0, 690.3], kernel)
        np.testing.assert_allclose(got, np.log(expected).astype(float), atol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_epanechnikov_beside_the_peak_and_at_the_rim(offset):
    points = RNG.normal(offset, 1, 3_000)
    queries = np.concatenate([RNG.normal(offset, 1.3, 400), points.max() + 0.25 * (1 - np.geomspace(1e-6, 1, 50))])
    got = np.exp(KernelSums.build(points, None, 0.25, "epanechnikov").log_density(queries))
    expected = exact_compact(points, np.ones(3_000), 0.25, queries, "epanechnikov")
    np.testing.assert_allclose(got, expected.astype(float), rtol=1e-10, atol=1e-12 * float(expected.max()))


def test_epanechnikov_is_exact_where_all_points_lie_at_the_rim():
    ages, inside = np.array([0.0, 2.0**-33, 2.0**-32]), 2.0**-30
    got = KernelSums.build(ages, None, 1.0, "epanechnikov").log_density(np.array([1 - inside]))
    rim = inside + ages  # 1 − u of each point, exactly
    assert got[0] == pytest.approx(np.log(0.75 * np.mean(rim * (2 - rim))), rel=1e-15)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_weight_is_repeats_and_order_does_not_matter(kernel):
    points, weights = RNG.normal(size=300).round(1), RNG.integers(0, 4, 300)
    queries, order = np.linspace(-4, 4, 101), RNG.permutation(300)
    expected = KernelSums.build(np.repeat(points, weights), None, 0.3, kernel).log_density(queries)
    for rows in np.arange(300), order:
        got = KernelSums.build(points[rows], weights[rows].astype(float), 0.3, kernel).log_density(queries)
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("kernel", KERNELS)
def test_extreme_numbers_give_no_nan(kernel):
    far = np.array([0.0, 1e-300, 1e300, -1e308, np.inf, -np.inf])
    for spread in 1e-150, 1.0, 1e150:
        points = RNG.normal(size=200) * spread
        for bandwidth in 1e-150, 1e-20, 1.0, 1e20, 1e150:
            got = KernelSums.build(points, None, bandwidth, kernel).log_density(np.concatenate([points, far]))
            assert not np.isnan(got).any()
            assert np.isfinite(got[:200]).all()
            assert (got[-2:] == -np.inf).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_fields_are_all_there_is_to_keep(kernel):
    sums = KernelSums.build(SAMPLES["rounded"], None, 0.4, kernel)
    queries = np.linspace(-30, 30, 400).reshape(20, 20)
    again = KernelSums(**{field.name: getattr(sums, field.name) for field in fields(sums)})
    np.testing.assert_array_equal(again.log_density(queries), sums.log_density(queries))
    assert sums.log_density(queries).shape == (20, 20)
    assert sums.log_density(np.empty(0)).shape == (0,)
    assert len(sums.points) == len(np.unique(SAMPLES["rounded"]))


def test_threads_give_the_same_bits():
    sums, queries = KernelSums.build(SAMPLES["heavy tails"], None, 0.1), np.linspace(-50, 50, 20_000)
    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(sums.log_density, np.array_split(queries, 7)))
    np.testing.assert_array_equal(np.concatenate(parts), sums.log_density(queries))


@pytest.mark.parametrize(
    ("points", "weights", "bandwidth", "kernel", "message"),
    [
        ([1.0, 2.0], None, 0.0, "gaussian", "bandwidth=0.0"),
        ([1.0, 2.0], None, np.nan, "gaussian", "bandwidth=nan"),
        ([1.0, 2.0], None, 1.0, "triangle", "kernel='triangle' is not known; choose one of 'gaussian'"),
        ([], None, 1.0, "gaussian", "finite points"),
        ([1.0, np.nan], None, 1.0, "gaussian", "finite points"),
        ([1.0, 2.0], [0.0, 0.0], 1.0, "gaussian", "some positive"),
        ([1.0, 2.0], [1.0, -1.0], 1.0, "box", "none of them negative"),
        ([1.0, 2.0], [1.0, np.inf], 1.0, "box", "finite weights"),
    ],
)
def test_what_cannot_be_built(points, weights, bandwidth, kernel, message):
    with pytest.raises(ValueError, match=message):
        KernelSums.build(np.array(points), None if weights is None else np.array(weights), bandwidth, kernel)
