"""Mixtures of normals beside SciPy's distributions and numerical integrals."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import integrate, stats

import merula as mr
from merula.graphs.network.normal_mixture import NormalMixture, normal_mixture, point

LAW = settings(max_examples=50, deadline=None)


@st.composite
def mixtures(draw, size=1):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cases = draw(st.integers(1, 4))
    weights = rng.dirichlet(np.ones(cases))
    roots = rng.normal(size=(cases, size, size)) + 2 * np.eye(size)
    names = ("blood pressure", "größe", "色泽")[:size]
    return NormalMixture(names, weights, rng.normal(0, 3, (cases, size)), roots)


@LAW
@given(mixture=mixtures(), x=st.floats(-20, 20))
def test_one_variable_is_scipys_mixture(mixture, x):
    parts = [stats.norm(mean[0], abs(root[0, 0])) for mean, root in zip(mixture.means, mixture.roots, strict=True)]
    assert mixture.pdf(x) == pytest.approx(
        sum(w * part.pdf(x) for w, part in zip(mixture.weights, parts, strict=True)), rel=1e-9
    )
    assert mixture.cdf(x) == pytest.approx(
        sum(w * part.cdf(x) for w, part in zip(mixture.weights, parts, strict=True)), rel=1e-9
    )
    mean = sum(w * part.mean() for w, part in zip(mixture.weights, parts, strict=True))
    square = sum(w * (part.var() + part.mean() ** 2) for w, part in zip(mixture.weights, parts, strict=True))
    assert mixture.mean == pytest.approx(mean)
    assert mixture.variance == pytest.approx(square - mean**2)
    assert mixture.deviation**2 == pytest.approx(mixture.variance)


@LAW
@given(mixture=mixtures(), p=st.floats(1e-12, 1 - 1e-12))
def test_quantiles_undo_the_distribution_function(mixture, p):
    assert mixture.cdf(mixture.quantile(p)) == pytest.approx(p, rel=1e-9)
    assert 1 - mixture.cdf(mixture.quantile(1 - 1e-9)) == pytest.approx(1e-9, rel=1e-4)


@LAW
@given(mixture=mixtures(size=3))
def test_several_variables_are_scipys_mixture(mixture):
    cases = list(zip(mixture.weights, mixture.means, mixture.roots @ mixture.roots.swapaxes(1, 2), strict=True))
    points = np.array([[0.0, 1.0, -1.0], [2.0, 2.0, 2.0]])
    expected = sum(w * stats.multivariate_normal(m, c, allow_singular=True).pdf(points) for w, m, c in cases)
    np.testing.assert_allclose(mixture.pdf(points), expected, rtol=1e-6, atol=1e-300)
    mean = sum(w * m for w, m, _ in cases)
    np.testing.assert_allclose(mixture.covariance, sum(w * (c + np.outer(m - mean, m - mean)) for w, m, c in cases))
    some = mixture.marginal("色泽", "blood pressure")
    assert some.variables == ("色泽", "blood pressure")
    np.testing.assert_allclose(some.mean, mean[[2, 0]])
    np.testing.assert_allclose(some.covariance, mixture.covariance[np.ix_([2, 0], [2, 0])], rtol=1e-9)


def test_the_density_integrates_to_one():
    mixture = NormalMixture(("height",), np.array([0.3, 0.7]), np.array([[0.0], [4.0]]), np.array([[[1.0]], [[0.2]]]))
    total, _ = integrate.quad(mixture.pdf, -10, 10, points=[0, 4])
    assert total == pytest.approx(1, abs=1e-9)
    low, high = mixture.interval(0.8)
    assert mixture.cdf(high) - mixture.cdf(low) == pytest.approx(0.8, abs=1e-12)
    assert (mixture.quantile(0), mixture.quantile(1)) == (-np.inf, np.inf)


def test_densities_far_in_the_tail_keep_their_logarithm():
    mixture = NormalMixture(("height",), np.array([0.5, 0.5]), np.zeros((2, 1)), np.array([[[1.0]], [[2.0]]]))
    assert mixture.log_pdf(60.0) == pytest.approx(np.log(0.5) + stats.norm(0, 2).logpdf(60), rel=1e-12)
    assert mixture.pdf(1e200) == 0
    assert mixture.log_pdf([]).shape == (0,)


def test_draws_have_the_moments():
    rng = np.random.default_rng(5)
    mixture = NormalMixture(("height", "weight"), np.array([0.4, 0.6]), rng.normal(size=(2, 2)), rng.normal(size=(2, 2, 2)))  # fmt: skip
    drawn = mixture.sample(200_000, random_state=1)
    assert list(drawn.columns) == ["height", "weight"]
    np.testing.assert_allclose(drawn.mean(), mixture.mean, atol=4 * mixture.deviation.max() / np.sqrt(200_000))
    np.testing.assert_allclose(drawn.cov(), mixture.covariance, rtol=0.03, atol=0.03)
    assert mixture.sample(3, random_state=2).equals(mixture.sample(3, random_state=2))
    assert len(mixture.sample(0)) == 0


def test_cases_of_weight_zero_are_left_out():
    mixture = normal_mixture(("height",), np.array([0.0, 2.0]), np.array([[1.0], [5.0]]), np.ones((2, 1, 1)))
    assert (mixture.weights.tolist(), mixture.mean) == ([1.0], 5.0)


def test_a_number_known_exactly():
    known = point(("height",), [180.0])
    assert (known.mean, known.variance, known.interval()) == (180.0, 0.0, (180.0, 180.0))
    assert known.cdf([179.9, 180.0]).tolist() == [0.0, 1.0]
    assert known.sample(2)["height"].tolist() == [180.0, 180.0]
    assert "known exactly" in repr(known)
    with pytest.raises(ValueError, match="'height' is known exactly, so it has no density"):
        known.pdf(180.0)


def test_known_and_unknown_numbers_together():
    network = mr.BayesianNetwork().add("height", mr.LinearGaussian(170.0, 100.0))
    network.add("weight", mr.LinearGaussian(-90.0, 25.0, {"height": 1.0}), parents=["height"])
    both = network.query(["weight", "height"], given={"height": 180.0})
    assert both.mean.tolist() == [90.0, 180.0]
    np.testing.assert_allclose(both.covariance, [[25.0, 0.0], [0.0, 0.0]])
    assert both.marginal("weight").pdf(90.0) == pytest.approx(stats.norm(90, 5).pdf(90))


def test_it_cannot_be_changed():
    known = point(("height",), [180.0])
    with pytest.raises(AttributeError):
        known.weights = np.ones(1)
    with pytest.raises(ValueError, match="read-only"):
        known.means[0, 0] = 3.0


def test_notebooks_show_names_escaped():
    name = "<b>height</b>"
    shown = mr.BayesianNetwork().add(name, mr.LinearGaussian(170.0, 100.0)).query(name)._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;height" in shown


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m: m.cdf(0.0), r"cdf is for one variable.*ask marginal\('height'\) first"),
        (lambda m: m.quantile(0.5), "quantile is for one variable"),
        (lambda m: m.marginal("height").quantile(1.5), "expected probabilities from 0 to 1"),
        (lambda m: m.marginal("height").interval(2), "expected a probability from 0 to 1"),
        (lambda m: m.log_pdf([1.0, 2.0, 3.0]), r"shape \(3,\), expected a number for each of \['height', 'weight'\]"),
        (lambda m: m.marginal("height").pdf(np.nan), "missing"),
        (lambda m: m.marginal("age"), "'age'"),
        (lambda m: m.sample(-1), "n is -1, expected a number of rows from 0"),
    ],
)
def test_errors_say_what_was_wrong(ask, message):
    mixture = NormalMixture(("height", "weight"), np.ones(1), np.zeros((1, 2)), np.eye(2)[None])
    with pytest.raises(ValueError, match=message):
        ask(mixture)


def test_the_curve_is_the_density_with_its_narrowest_peak():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    mixture = normal_mixture(
        ["größe"], np.array([0.5, 0.5]), np.array([[0.0], [50.0]]), np.array([[[10.0]], [[0.001]]])
    )
    ax = mixture.plot()
    x, height = ax.lines[0].get_data()
    np.testing.assert_allclose(height, mixture.pdf(x), rtol=1e-12)
    assert height.max() == pytest.approx(0.5 * stats.norm.pdf(0) / 0.001, rel=1e-3)
    assert np.trapezoid(height, x) == pytest.approx(1, abs=5e-3)
    _, given = pyplot.subplots()
    assert point(["größe"], [170.0]).plot(given) is given and list(given.lines[0].get_xdata()) == [170.0, 170.0]
    two = NormalMixture(("height", "weight"), np.ones(1), np.zeros((1, 2)), np.eye(2)[None])
    with pytest.raises(ValueError, match="plot is for one variable"):
        two.plot()
    pyplot.close("all")
