"""Histograms: masses by NumPy's own counts, integrals by quadrature, the number of bins, what lies beyond, and the laws."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import special

import merula as mr
from merula.data.schema import Column
from merula.distributions.discretize import mdl_cuts, quantile_cuts
from merula.distributions.histogram import automatic_bins

RNG = np.random.default_rng(17)
N = 300
Y = RNG.choice(["gesund", "krank", "unklar"], N)
LABELS = np.unique(Y)
ILL = Y == "krank"
FRAME = pd.DataFrame(
    {
        "blood pressure": RNG.normal(120, 12, N) + 20 * ILL,
        "größe": RNG.normal(171, 9, N).round(),
        "色深": RNG.exponential(np.where(ILL, 3e-6, 1e-6)),
    }
)
HOLEY = FRAME.mask(RNG.random(FRAME.shape) < 0.15)
WEIGHTS = RNG.integers(0, 4, N).astype(float)
FAMILIES = [
    mr.Histogram(),
    mr.Histogram(bins=7),
    mr.Histogram(bins=5, method="quantile"),
    mr.Histogram(bins="mdl"),
]
IDS = ["auto", "seven", "quantile", "mdl"]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=IDS)


def expected_density(x, train, y, weights, edges, alpha):
    """mass / width within the edges by np.histogram, and the tail beyond; rows × classes."""
    bins, unit = len(edges) - 1, (edges[-1] - edges[0]) / (len(edges) - 1)
    known = ~np.isnan(train) & (weights > 0)
    result = np.zeros((len(x), len(np.unique(y))))
    for c, label in enumerate(np.unique(y)):
        own = known & (y == label)
        # np.histogram closes bins on the left: mirrored, on the right
        counts = np.histogram(-train[own], -edges[::-1], weights=weights[own])[0][::-1]
        total = weights[own].sum() + alpha * (bins + 2)
        index = np.clip(np.searchsorted(edges, x) - 1, 0, bins - 1)
        inside = (counts[index] + alpha) / total / np.diff(edges)[index]
        away = np.maximum(edges[0] - x, x - edges[-1])
        with np.errstate(invalid="ignore", divide="ignore"):
            beyond = alpha / total * 3 / unit * (1 + away / unit) ** -4
        result[:, c] = np.where(away > 0, beyond, inside)
    return result


def edges_of(values, weights, family):
    values, weights = np.asarray(values), np.asarray(weights)
    if family.method == "quantile":
        cuts = quantile_cuts(values, weights[None], family.bins)
        return np.array([values[0], *cuts, values[-1]])
    return np.linspace(values[0], values[-1], family.bins + 1)


@pytest.mark.parametrize("weights", [np.ones(N), WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("alpha", [0.5, 1.0])
@pytest.mark.parametrize("family", [mr.Histogram(bins=7), mr.Histogram(bins=5, method="quantile")], ids=IDS[1:3])
def test_log_prob_is_the_mass_over_the_width(build, read, family, alpha, weights):
    for name in ("blood pressure", "色深"):
        column = HOLEY[name].to_numpy()
        found = build(family, HOLEY[[name]], Y, weights, smoothing=alpha)
        known = ~np.isnan(column) & (weights > 0)
        values, indices = np.unique(column[known], return_inverse=True)
        edges = edges_of(values, np.bincount(indices, weights[known]), family)
        span = edges[-1] - edges[0]
        x = np.concatenate([column[~np.isnan(column)], edges[0] - span * np.array([1e-9, 0.1, 5]), edges[-1] + [span]])
        expected = expected_density(x, column, Y, weights, edges, alpha)
        np.testing.assert_allclose(
            found.log_prob(read(found, pd.DataFrame({name: x}))), np.log(expected), rtol=1e-9, atol=1e-9
        )


def test_mdl_bins_are_those_of_the_cuts(build, read):
    found = build(mr.Histogram(bins="mdl"), FRAME[["blood pressure"]], Y)
    values, indices = np.unique(FRAME["blood pressure"], return_inverse=True)
    counts = np.stack([np.bincount(indices, label == Y, len(values)) for label in LABELS])
    cuts = mdl_cuts(values, counts)
    assert cuts
    expected = expected_density(
        values, FRAME["blood pressure"].to_numpy(), Y, np.ones(N), np.array([values[0], *cuts, values[-1]]), 1.0
    )
    np.testing.assert_allclose(
        found.log_prob(read(found, pd.DataFrame({"blood pressure": values}))), np.log(expected), rtol=1e-10
    )


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@every_family
def test_the_density_integrates_to_one(build, read, family, alpha):
    for part in build(family, HOLEY, Y, smoothing=alpha).factors():
        (edges,), (name,) = part.edges, part.columns
        span = edges[-1] - edges[0]

        def density(x, part=part, name=name):
            return np.exp(part.log_prob(read(part, pd.DataFrame({name: x}))))

        # constant between edges: half-way between them is enough
        inside = np.diff(edges) @ density((edges[:-1] + edges[1:]) / 2)
        # beyond, at a distance of (1/t − 1) ranges, t from 0 to 1
        t, weights = special.roots_legendre(60)
        t, weights = (t + 1) / 2, weights / 2
        away, stretch = span * (1 / t - 1), span / t**2
        below, above = ((weights * stretch) @ density(x) for x in (edges[0] - away, edges[-1] + away))
        np.testing.assert_allclose(inside + below + above, 1.0, rtol=1e-9)
        assert ((below > 0) == (alpha > 0)).all()
        assert ((above > 0) == (alpha > 0)).all()


# ---------------------------------------------------------------------------------------------------------------------
# How many bins


@pytest.mark.parametrize("n", [30, 100, 1_000, 20_000])
@pytest.mark.parametrize("draw", ["normal", "uniform", "logistic"])
def test_automatic_bins_are_numpys(draw, n):
    x = getattr(np.random.default_rng(n), draw)(size=n)
    values, counts = np.unique(x, return_counts=True)
    sturges, diaconis = (len(np.histogram_bin_edges(x, rule)) - 1 for rule in ("sturges", "fd"))
    assert automatic_bins(values, counts.astype(float)) == max(sturges, min(diaconis, math.ceil(math.sqrt(n))))


def test_far_values_do_not_make_thousands_of_bins():
    x = np.append(np.random.default_rng(0).normal(size=399), 1e9)
    assert len(np.histogram_bin_edges(x, "sturges")) - 1 == 10
    assert automatic_bins(np.unique(x), np.ones(400)) == 20


def test_no_more_bins_than_values():
    assert automatic_bins(np.array([0.0, 1.0]), np.array([500.0, 500.0])) == 2
    assert automatic_bins(np.array([3.0]), np.array([500.0])) == 1


def test_a_weight_of_three_is_the_row_three_times():
    x = np.random.default_rng(2).normal(size=200)
    repeats = np.random.default_rng(3).integers(1, 4, 200)
    values, indices = np.unique(x, return_inverse=True)
    repeated = np.repeat(x, repeats)
    sturges, diaconis = (len(np.histogram_bin_edges(repeated, rule)) - 1 for rule in ("sturges", "fd"))
    expected = max(sturges, min(diaconis, math.ceil(math.sqrt(len(repeated)))))
    assert automatic_bins(values, np.bincount(indices, repeats)) == expected


def test_a_value_on_a_cut_stays_in_its_bin_when_the_column_is_shifted(build):
    """0.875 lies exactly on the first of the cuts at 0.375 + k/2; in binary, sevenths of the range are rounded."""
    on_grid = pd.DataFrame({"größe": [0.375, 0.375, 0.875, 1.375, 3.875]})
    masses = [
        build(mr.Histogram(bins=7), on_grid * scale + shift, list("ABABA")).log_mass[0].tolist()
        for scale, shift in [(1, 0), (1, 1), (1, 1000), (3, 0), (0.1, 0.3), (1e-9, 0), (1, 123456)]
    ]
    assert all(mass == masses[0] for mass in masses)


@pytest.mark.parametrize("bins", [7, "mdl"])
def test_a_value_met_later_on_a_cut_goes_to_the_lower_bin_in_any_unit(build, read, bins):
    """Cuts lie at 0.375 + k/2, or half-way between the classes at 1.375; only later cells lie on them."""
    met = pd.DataFrame({"größe": [0.375, 0.5, 0.75, 2.0, 3.0, 3.875] * 4})
    later = pd.DataFrame({"größe": [0.875, 1.375, 1.875]})
    answers = []
    for scale, shift in [(1, 0), (1, 1000), (3, 0.1), (0.1, 0.3), (1e-9, 0)]:
        found = build(mr.Histogram(bins=bins), met * scale + shift, list("AAABBB") * 4)
        answers.append(found.log_prob(read(found, later * scale + shift)) + np.log(scale))
        below = found.log_prob(read(found, (later - 0.01) * scale + shift))
        np.testing.assert_array_equal(answers[-1], below + np.log(scale))
    np.testing.assert_allclose(answers, np.broadcast_to(answers[0], np.shape(answers)), rtol=1e-9)


# ---------------------------------------------------------------------------------------------------------------------
# Too little to go by, and too far


@every_family
def test_beyond_the_range_nothing_is_impossible(build, read, family):
    found = build(family, FRAME, Y)
    far = pd.DataFrame({name: [-1.7e308, -1e30, 1e30, 1.7e308] for name in FRAME})
    log_prob = found.log_prob(read(found, far))
    assert np.isfinite(log_prob).all()
    apart = log_prob[:, 0] - log_prob[:, 1]
    np.testing.assert_allclose(apart, apart[0], atol=1e-10)  # how far does not matter to the classes


def test_without_smoothing_what_was_never_seen_is_impossible(build, read):
    found = build(mr.Histogram(bins=7), FRAME[["blood pressure"]], Y, smoothing=0.0)
    values = FRAME["blood pressure"]
    outside = pd.DataFrame({"blood pressure": [values.min() - 1e-9, values.max() + 1e-9]})
    assert np.isneginf(found.log_prob(read(found, outside))).all()
    inside = found.log_prob(read(found, FRAME[["blood pressure"]]))
    own = inside[np.arange(N), np.searchsorted(LABELS, Y)]
    assert np.isfinite(own).all()


@every_family
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_class_without_values_is_like_all(build, read, family, alpha):
    lacking = FRAME.mask(np.repeat(ILL[:, None], 3, axis=1))
    found = build(family, lacking, Y, smoothing=alpha)
    position = LABELS.tolist().index("krank")
    log_prob = found.log_prob(read(found, lacking[~ILL]))
    assert np.isfinite(log_prob[:, position]).all()
    for part in found.factors():
        (edges,), x = part.edges, lacking.loc[~ILL, part.columns[0]].to_numpy()
        pooled = expected_density(x, x, np.zeros(len(x)), np.ones(len(x)), edges, alpha)
        own = part.log_prob(read(part, pd.DataFrame({part.columns[0]: x})))[:, position]
        np.testing.assert_allclose(own, np.log(pooled[:, 0]), rtol=1e-9)


def test_two_neighbouring_numbers_make_one_bin(build, read):
    x = np.repeat([1.0, np.nextafter(1.0, 2.0)], 50)
    for family in FAMILIES:
        found = build(family, pd.DataFrame({"blood pressure": x}), np.repeat(["gesund", "krank"], 50))
        assert np.isfinite(found.log_prob(read(found, pd.DataFrame({"blood pressure": x})))).all()


def test_infinity_and_ranges_that_overflow_are_errors_that_name_the_column(build, read):
    found = build(mr.Histogram(), FRAME, Y)
    with pytest.raises(ValueError, match="column 'größe' contains infinity"):
        found.log_prob(read(found, FRAME.assign(größe=np.inf)))
    with pytest.raises(ValueError, match=r"column 'größe' holds values so far apart"):
        build(mr.Histogram(), FRAME.assign(größe=np.where(ILL, 1e308, -1e308)), Y)


def test_ranges_that_vanish_are_errors_that_name_the_column(build):
    for size in (5e-324, 1e-200):
        with pytest.raises(ValueError, match=r"column 'größe' holds values so close together"):
            build(mr.Histogram(), FRAME.assign(größe=np.where(np.arange(N) % 2, size, 0.0)), Y)


def test_options_and_kinds_are_checked(build):
    for family, message in [
        (mr.Histogram(bins="otto"), "bins is 'otto', expected one of 'auto', 'mdl'; did you mean 'auto'"),
        (mr.Histogram(bins=1), "bins is 1, expected a whole number of intervals from 2"),
        (mr.Histogram(method="mdl"), "method is 'mdl', expected one of 'width', 'quantile'"),
        (mr.Histogram(bins="mdl", method="quantile"), "bins='mdl' finds its own cuts"),
        (mr.Histogram(smoothing=mr.MEstimate(2, 0.5)), "numbers have no levels for p"),
    ]:
        with pytest.raises(ValueError, match=message):
            build(family, FRAME, Y)
    with pytest.raises(ValueError, match="column '色泽' is categorical, but the histogram distribution is for"):
        mr.Histogram().encodes(Column("色泽", "categorical"))
    assert mr.Histogram(5).get_params() == {"bins": 5, "method": "width", "smoothing": None}
    even = build(mr.Histogram(bins=7, smoothing=mr.MEstimate(9)), FRAME, Y)
    assert even.log_mass[0].tolist() == build(mr.Histogram(bins=7, smoothing=1), FRAME, Y).log_mass[0].tolist()


# ---------------------------------------------------------------------------------------------------------------------
# Missing cells, parts, samples, quantiles, files


def test_parameters_are_the_masses_but_one(build):
    assert build(mr.Histogram(bins=7), FRAME[["blood pressure", "色深"]], Y).parameters_count == 2 * 3 * 6


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@every_family
def test_samples_and_quantiles_agree_with_the_masses(build, family, alpha):
    found, n = build(family, FRAME, Y, smoothing=alpha), 30_000
    classes = np.repeat([0, 1, 2], n)
    drawn = found.sample(classes, np.random.default_rng(4))
    shares = np.array([0.001, 0.02, 0.3, 0.5, 0.81, 0.995])
    for j, name in enumerate(FRAME):
        quantiles = found.quantiles(name, shares, 3)
        for c in range(3):
            own, edges = drawn[name][classes == c], found.edges[j]
            counts = np.bincount(np.searchsorted(edges, own), minlength=len(edges) + 1)
            mass = np.exp(found.log_mass[j][:, c])
            assert (np.abs(counts / n - mass) < 5 * np.sqrt(mass * (1 - mass) / n) + 1e-12).all()
            below = (own[:, None] <= quantiles[:, c]).mean(axis=0)
            assert (np.abs(below - shares) < 5 * np.sqrt(shares * (1 - shares) / n)).all()


def test_far_quantiles_hold_what_the_tail_holds(build):
    found = build(mr.Histogram(bins=7), FRAME[["blood pressure"]], Y)
    (edges,), mass, unit = found.edges, np.exp(found.log_mass[0]), np.diff(found.edges[0]).mean()
    shares = np.array([1e-9, 1e-5])
    beyond = edges[0] - found.quantiles("blood pressure", shares, 3)
    np.testing.assert_allclose(mass[0] * (1 + beyond / unit) ** -3, np.repeat(shares[:, None], 3, axis=1), rtol=1e-9)
    above = found.quantiles("blood pressure", 1 - shares, 3) - edges[-1]
    np.testing.assert_allclose(mass[-1] * (1 + above / unit) ** -3, np.repeat(shares[:, None], 3, axis=1), rtol=1e-6)
