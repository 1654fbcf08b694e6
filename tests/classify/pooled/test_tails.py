"""Student's t as a normal distribution and what is left, against SciPy; what is missing; files; effects; SQL."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.stats import multivariate_normal, multivariate_t
from tests.classify.sql.scored import ENGINES, check_scores, far_out, heavy_tailed

import merula as mr
from merula.classify.effects.purified import centred
from merula.classify.pooled.reading import ReadAs
from merula.classify.pooled.tails import StudentTails, nearest_share
from merula.classify.sql import normals
from merula.data.encode import encode_cells
from merula.data.schema import Column, Schema
from merula.distributions import MultivariateGaussianDistribution

NAMES = ("wing", "größe", "beak")
SCHEMA = Schema(tuple(Column(name, "numeric") for name in NAMES))
FREEDOM = np.array([7.5, 30.0, 1e9])


def normal():
    """Three classes' normal distributions of three columns, with their means and covariances in the columns' units."""
    rng = np.random.default_rng(0)
    roots = np.array([np.linalg.cholesky(np.cov(rng.normal(size=(3, 9)))) for _ in FREEDOM])
    mean, centre, unit = rng.normal(size=(3, 3)), np.array([0.0, 50.0, -3.0]), np.array([1.0, 20.0, 0.1])
    whitening = np.ascontiguousarray(np.linalg.inv(roots).transpose(0, 2, 1))
    nothing = np.zeros((3, 3))
    part = MultivariateGaussianDistribution(NAMES, np.arange(3), centre, unit, mean, whitening, nothing, nothing)
    return part, centre + unit * mean, part.covariance


def rows_of(x):
    return encode_cells(SCHEMA, dict(zip(NAMES, np.asarray(x, dtype=float).T, strict=True)), len(x))


def numbers(n=40, gaps=0.3):
    rng = np.random.default_rng(1)
    x = np.array([0.0, 50.0, -3.0]) + np.array([2.0, 40.0, 0.2]) * rng.standard_t(2, (n, 3))
    return np.where(rng.random(x.shape) < gaps, np.nan, x)


@pytest.mark.parametrize("share", [None, np.array([1.0, 0.3, 0.9])])
def test_a_normal_distribution_and_tails_are_scipys_t(share):
    part, mean, covariance = normal()
    tails = StudentTails.of(part, FREEDOM, share)
    own = np.ones(3) if share is None else share
    beside = replace(part, whitening=part.whitening * np.sqrt(own)[:, None, None])
    x = numbers()
    expected = np.zeros((len(x), 3))
    for i, row in enumerate(x):
        known = ~np.isnan(row)
        for c, nu in enumerate(FREEDOM if known.any() else ()):
            shape = covariance[c][np.ix_(known, known)]
            law = multivariate_t(mean[c, known], shape * (nu - 2) / nu, df=nu) if nu < 1e6 else multivariate_normal(mean[c, known], shape)  # fmt: skip
            expected[i, c] = law.logpdf(row[known])
    found = beside.log_prob(rows_of(x)) + tails.log_prob(rows_of(x))
    np.testing.assert_allclose(found[:, :2], expected[:, :2], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        found[:, 2], expected[:, 2], rtol=1e-5, atol=1e-5
    )  # SciPy's own t is normal in the limit alone


def test_what_is_missing_is_averaged_out():
    """The density of one column is the integral over the two others."""
    part, mean, covariance = normal()
    tails = StudentTails.of(part, np.array([4.0, 6.0, 8.0]))

    def density(x, c):
        rows = rows_of([x])
        return float(np.exp(part.log_prob(rows) + tails.log_prob(rows))[0, c])

    for c in range(3):
        spread = 40 * np.sqrt(np.diag(covariance[c]))
        at = mean[c] + np.array([0.7 * spread[0] / 40, 0.0, 0.0])
        ends = [(at[j] - spread[j], at[j] + spread[j]) for j in (1, 2)]
        whole = dblquad(lambda b, a, at=at, c=c: density([at[0], a, b], c), *ends[0], *ends[1], epsabs=1e-9, epsrel=1e-3)[0]  # fmt: skip
        assert density([at[0], np.nan, np.nan], c) == pytest.approx(whole, rel=5e-3)


def test_a_row_of_which_nothing_is_known_says_nothing():
    part, _, _ = normal()
    np.testing.assert_array_equal(StudentTails.of(part, FREEDOM).log_prob(rows_of(np.full((2, 3), np.nan))), 0.0)


def test_the_share_leaves_least_to_vary():
    part, _, _ = normal()
    x, weights = numbers(gaps=0.0), np.random.default_rng(2).random(40)
    freedom = np.array([7.5, 30.0, 300.0])
    share = nearest_share(part, freedom, rows_of(x), weights)

    def varies(own):
        left = StudentTails.of(part, freedom, own).log_prob(rows_of(x))
        return np.average((left - np.average(left, axis=0, weights=weights)) ** 2, axis=0, weights=weights)

    assert ((share > 0.02) & (share < 1)).all()
    assert (varies(share) <= varies(share * 0.98)).all()
    assert (varies(share) <= varies(share * 1.02)).all()


@pytest.mark.parametrize(
    "change",
    [
        {"freedom": np.array([2.0, 9.0, 9.0])},
        {"freedom": np.array([np.nan, 9.0, 9.0])},
        {"freedom": np.array([9.0, 9.0])},
        {"share": np.array([0.0, 1.0, 1.0])},
        {"share": np.array([1.0, 1.0, 1.5])},
        {"mean": np.zeros((3, 2))},
        {"whitening": np.zeros((3, 3, 3))},
        {"columns": ()},
    ],
)
def test_files_from_strangers_are_asked(change):
    part, _, _ = normal()
    tails = StudentTails.of(part, FREEDOM)
    assert tails.fits(3)
    assert not replace(tails, **change).fits(3)
    assert not tails.fits(2)


# ------------------------------------------------------------------------------------------------------- within a pool


@pytest.fixture(scope="module")
def pooled():
    X, y = heavy_tailed()
    model = mr.AutoBayesClassifier(keep_rows=False, max_rounds=60).fit(X, y)
    assert tails_of(model), "the table is made so that heavier tails are worth it"
    return model, X


def tails_of(model):
    return [part for part in model.distributions_ if isinstance(part, ReadAs) and isinstance(part.part, StudentTails)]


def test_effects_add_up_to_the_score(pooled):
    model, X = pooled
    rows, component = model._encoded(X), model.fitted_.components[0]
    effects = model.fitted_.effects
    score = np.zeros((len(X), 2))
    for part, weight in component.weighted_parts:
        score += weight * part.log_prob(rows)
    found = effects.values(rows)
    gap = effects.intercept(rows) + sum(found.values()) - centred(score)
    assert np.abs(gap).max() < 1e-10
    assert "numbers far out" in [subject.whole for subject in found]


def test_the_last_effects_of_an_explanation_name_them(pooled):
    model, X = pooled
    far = X.iloc[[0]].assign(a=1e4, b=-1e4, c=1e4, d=-1e4)
    told = mr.explain(model, far)
    assert "numbers far out" in f"{told}"
    np.testing.assert_allclose(model.predict_proba(far).sum(), 1.0)


def test_a_saved_model_answers_the_same_bits(pooled, tmp_path):
    model, X = pooled
    model.save(tmp_path / "pool.merula")
    again = mr.load(tmp_path / "pool.merula")
    assert tails_of(again)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("dialect", ENGINES)
def test_sql_answers_alike_with_gaps_and_far_out(pooled, dialect):
    model, X = pooled
    assert not check_scores(model, far_out(X), dialect, ENGINES[dialect]).any()


@pytest.mark.parametrize("dialect", ENGINES)
def test_of_many_columns_sql_answers_rows_that_know_all(pooled, dialect, monkeypatch):
    model, X = pooled
    monkeypatch.setattr(normals, "MOST_KEPT", 1)
    rows = far_out(X)
    flagged = check_scores(model, rows, dialect, ENGINES[dialect])
    np.testing.assert_array_equal(flagged, rows[["a", "b", "c", "d"]].isna().any(axis=1))


def test_pairs_only_have_no_tails():
    X, y = heavy_tailed()
    model = mr.AutoBayesClassifier(2, max_rounds=60).fit(X, y)
    assert not tails_of(model)
    assert "numbers far out" not in [subject.whole for subject in model.fitted_.effects.subjects]
