"""Bandwidth rules against their formulas, SciPy, KDEpy and searches by brute force; and the laws each of them keeps."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from KDEpy.bw_selection import improved_sheather_jones
from scipy.optimize import bisect
from scipy.special import factorial2
from scipy.stats import gaussian_kde

from merula.distributions._kernel_sums import KernelSums
from merula.distributions.bandwidths import BANDWIDTHS, cv, isj, leave_one_out, scott, silverman

RNG = np.random.default_rng(59)
LONG = np.longdouble
FLIPPERS = RNG.normal(200, 14, 400)
TWO_SPECIES = np.concatenate([RNG.normal(38, 2.5, 500), RNG.normal(60, 0.5, 300)])
SKEWED = RNG.lognormal(0, 1, 600)
SAMPLES = {"flippers": FLIPPERS, "two species": TWO_SPECIES, "skewed": SKEWED}


def linear_bins(points, weights, grid):
    """Each point's share split between the two grid points around it, one point at a time."""
    bins, step = np.zeros(len(grid)), grid[1] - grid[0]
    for x, share in zip(points, weights / weights.sum(), strict=True):
        left = min(int((x - grid[0]) / step), len(grid) - 2)
        right_part = (x - grid[left]) / step
        bins[left] += share * (1 - right_part)
        bins[left + 1] += share * right_part
    return bins


def botev_bandwidth(points, weights):
    """√t·(width of the grid) at the smallest root of t = ξγ⁽⁵⁾(t), from cosines summed one by one."""
    spread = np.ptp(points)
    grid = np.linspace(points.min() - spread / 2, points.max() + spread / 2, 1024)
    k, j = np.arange(1, 1024), np.arange(1024)
    coefficients = 2 * np.cos(np.pi * np.outer(k, j + 0.5) / 1024) @ linear_bins(points, weights, grid)
    n = len(np.unique(points[weights > 0]))

    def norm(s, t):
        return 0.5 * np.sum((np.pi * k) ** (2.0 * s) * coefficients**2 * np.exp(-((np.pi * k) ** 2) * t))

    def gamma(t):
        for s in (6, 5, 4, 3, 2):
            constant = (1 + 0.5 ** (s + 0.5)) / 3 * 2 * factorial2(2 * s - 1) / np.sqrt(2 * np.pi)
            t = (constant / (n * norm(s + 1, t))) ** (2 / (3 + 2 * s))
        return (2 * n * np.sqrt(np.pi) * norm(2, t)) ** (-2 / 5)

    times = np.geomspace(1e-9, 0.1, 400)
    first = next(i for i, t in enumerate(times) if t > gamma(t))
    t = bisect(lambda t: t - gamma(t), times[first - 1], times[first], xtol=1e-16)
    return np.sqrt(t) * (grid[-1] - grid[0])


def brute_leave_one_out(points, weights, bandwidth):
    """Σ w_i log f₋ᵢ(x_i) over distinct points, the observation really left out, in extended precision."""
    total = LONG(0)
    for i, (x, weight) in enumerate(zip(points, weights, strict=True)):
        others = np.asarray(weights, LONG).copy()
        others[i] -= min(1.0, weight)
        kept = others > 0
        exponents = np.log(others[kept]) - ((LONG(x) - np.asarray(points, LONG)[kept]) / LONG(bandwidth)) ** 2 / 2
        peak = exponents.max()
        sums = peak + np.log(np.exp(exponents - peak).sum())
        total += weight * (sums - np.log(others.sum()) - np.log(LONG(bandwidth)) - np.log(2 * LONG(np.pi)) / 2)
    return float(total)


@pytest.mark.parametrize("name", SAMPLES)
def test_normal_reference_rules(name):
    points, weights = SAMPLES[name], RNG.integers(1, 4, len(SAMPLES[name]))
    repeated = np.repeat(points, weights)
    n, deviation = len(repeated), np.std(repeated)
    assert silverman(points, weights) == pytest.approx((4 / 3) ** 0.2 * deviation * n**-0.2, rel=1e-12)
    assert scott(points, weights) == pytest.approx(deviation * n**-0.2, rel=1e-12)
    scipy_bandwidth = np.sqrt(gaussian_kde(repeated, "scott").covariance[0, 0])
    assert scott(points, weights) == pytest.approx(scipy_bandwidth * np.sqrt((n - 1) / n), rel=1e-12)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("weighted", [False, True])
def test_isj_solves_the_fixed_point_equation(name, weighted):
    points = SAMPLES[name]
    weights = RNG.integers(0, 4, len(points)) if weighted else np.ones(len(points))
    kept = weights > 0
    assert isj(points, weights) == pytest.approx(botev_bandwidth(points[kept], weights[kept]), rel=1e-8)


@pytest.mark.parametrize("name", SAMPLES)
def test_isj_is_kdepys_rule_scaled_by_the_grid(name):
    """KDEpy finds the same t, but multiplies its root by the range of the data, half the width of its grid (KDEpy#199)."""
    points = SAMPLES[name] * 100 / np.std(SAMPLES[name])
    assert isj(points) == pytest.approx(2 * improved_sheather_jones(points[:, None]), rel=1e-6)


def test_isj_is_near_the_best_for_a_normal_sample():
    points = np.random.default_rng(61).normal(3, 2, 50_000)
    assert isj(points) == pytest.approx(silverman(points), rel=0.1)
    assert isj(TWO_SPECIES) < silverman(TWO_SPECIES) / 4  # which takes two narrow modes for a wide one


def test_isj_of_few_values_falls_back():
    assert isj(np.array([1.0, 2.0])) == silverman(np.array([1.0, 2.0]))


@pytest.mark.parametrize("bandwidth", [1e-4, 0.05, 0.5, 3.0, 100.0])
def test_leave_one_out_leaves_one_out(bandwidth):
    points = np.unique(np.concatenate([RNG.normal(0, 1, 80).round(2), [30.0, 31.5, 900.0]]))
    for weights in np.ones(len(points)), RNG.integers(1, 4, len(points)), RNG.uniform(0.2, 2.5, len(points)):
        weights = np.asarray(weights, float)
        got = leave_one_out(KernelSums.build(points, weights, bandwidth))
        assert got == pytest.approx(brute_leave_one_out(points, weights, bandwidth), rel=1e-8)


@pytest.mark.parametrize("name", SAMPLES)
def test_cv_is_the_best_of_all_bandwidths(name):
    points = np.sort(SAMPLES[name][::4])
    bandwidth, weights = cv(points), np.ones(len(points))
    best = brute_leave_one_out(points, weights, bandwidth)
    for other in bandwidth * np.geomspace(1e-2, 1e2, 25):
        assert brute_leave_one_out(points, weights, other) <= best + 1e-6
    for other in bandwidth * np.array([0.98, 1.02]):
        assert brute_leave_one_out(points, weights, other) < best


def test_cv_is_never_finer_than_rounding():
    for step in 0.1, 1.0, 5.0:
        rounded = step * np.round(RNG.normal(0, 3, 2_000) / step)
        assert cv(rounded) >= 0.999 * step
    assert cv(np.array([0.0, 1.0]), np.array([50.0, 50.0])) == pytest.approx(1.0)
    noise = np.array([0.1 + 0.2, 0.3, 0.1, 0.7, 0.1 + 0.7, 0.8])  # equal but for rounding errors
    assert cv(noise, np.full(6, 9.0)) > 0.09


def test_cv_of_two_values_is_their_distance():
    assert cv(np.array([181.0, 186.0])) == pytest.approx(5.0)


def test_cv_of_many_values_goes_through_the_fast_sums():
    points = np.random.default_rng(67).normal(size=30_000)
    bandwidth, weights = cv(points), np.ones(30_000)
    score = leave_one_out(KernelSums.build(points, weights, bandwidth))
    assert all(leave_one_out(KernelSums.build(points, weights, bandwidth * f)) < score for f in (0.5, 0.9, 1.1, 2.0))


@pytest.mark.parametrize("rule", BANDWIDTHS.values(), ids=BANDWIDTHS)
def test_nothing_to_go_by_gives_zero(rule):
    assert rule(np.full(20, 0.1), None) == 0
    assert rule(np.array([3.0]), np.array([8.0])) == 0
    assert rule(np.array([3.0, 4.0, 5.0]), np.array([1.0, 0.0, 0.0])) == 0
    assert rule(np.array([3.0, 4.0]), np.array([0.5, 0.5])) == 0


@st.composite
def columns(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = draw(st.integers(60, 300))
    modes = rng.normal(size=3) * draw(st.sampled_from([0, 3, 20]))
    points = modes[rng.integers(0, 3, size)] + rng.normal(size=size)
    return points.round(draw(st.sampled_from([1, 10]))), rng.integers(1, 4, size)


@settings(deadline=None, max_examples=40)
@given(columns(), st.sampled_from(sorted(BANDWIDTHS)), st.floats(-1e4, 1e4), st.integers(-9, 9))
def test_bandwidths_move_with_the_data(column, name, shift, exponent):
    (points, weights), rule = column, BANDWIDTHS[name]
    bandwidth = rule(points, weights)
    assert bandwidth > 0
    assert rule(points + shift, weights) == pytest.approx(bandwidth, rel=1e-4)
    assert rule(points * 10.0**exponent, weights) == pytest.approx(bandwidth * 10.0**exponent, rel=1e-4)
    assert rule(-points, weights) == pytest.approx(bandwidth, rel=1e-4)


@settings(deadline=None, max_examples=30)
@given(columns(), st.sampled_from(sorted(BANDWIDTHS)), st.randoms(use_true_random=False))
def test_a_weight_is_repeats_and_order_does_not_matter(column, name, random):
    points, weights = column
    order = random.sample(range(len(points)), len(points))
    repeated = BANDWIDTHS[name](np.repeat(points, weights), None)
    assert BANDWIDTHS[name](points[order], weights[order]) == pytest.approx(repeated, rel=1e-9)


def test_isj_of_three_values_overflows_nothing():
    """At one of the times tried, what is left of this sample's waves is 1e-310: its inverse is no number."""
    found = isj(np.array([-2.375, -0.75, 0.0]))
    assert 0 < found < 2.375
    assert isj(np.array([-2.375, -0.75, 0.0]), np.full(3, 12.0)) == pytest.approx(found, rel=0.5)
