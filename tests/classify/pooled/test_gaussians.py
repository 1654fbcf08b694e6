"""Blended normal distributions against SciPy, with covariances and folds written out."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, multivariate_t

from merula.classify.folds import deal
from merula.classify.pooled.gaussians import (  # fmt: skip
    BLENDS,
    FACTORS,
    HEAVIER,
    LEAST,
    Normals,
    Table,
    fitted_gaussians,
    level_terms,
    normal_terms,
)
from merula.classify.pooled.tails import StudentTails
from merula.data.encode import Target, encode_cells
from merula.data.schema import Column, Schema

SCHEMA = Schema((Column("wing", "numeric"), Column("größe", "numeric"), Column("beak", "numeric"), Column("色泽", "categorical")))  # fmt: skip
NUMBERS, LEVELS = ("wing", "größe", "beak"), ("blass", "gelb", "rot")


def birds(n=45, classes=3, seed=0, gaps=0.0, spread="normal"):
    """Encoded rows of three numbers and a word, their classes and weights, and the numbers themselves."""
    rng = np.random.default_rng(seed)
    label = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    drawn = rng.normal(size=(n, 3)) if spread == "normal" else rng.standard_t(2.5, (n, 3))
    x = drawn @ np.array([[1, 0.6, 0], [0, 1, 0.3], [0, 0, 1]]) + label[:, None]
    x = np.where(rng.random(x.shape) < gaps, np.nan, x * [1, 20, 300] + [0, 5, 1e6])
    words = np.array(LEVELS, dtype=object)[(label + rng.integers(0, 2, n)) % 3]
    words = np.where(rng.random(n) < gaps, None, words)
    rows = encode_cells(SCHEMA, {**dict(zip(NUMBERS, x.T, strict=True)), "色泽": words.tolist()}, n)
    return rows, Target(label, np.arange(classes), rng.choice([1.0, 2.0], n)), x, words


def table_of(rows, target):
    return Table.of(rows, target, NUMBERS, ("色泽",), (LEVELS,))


def standard(x, weights):
    """Numbers in units of the weighted deviation from the weighted mean, known cells alone."""
    out = np.empty_like(x)
    for j, column in enumerate(x.T):
        known = ~np.isnan(column)
        mean = np.average(column[known], weights=weights[known])
        out[:, j] = (column - mean) / np.sqrt(np.average((column[known] - mean) ** 2, weights=weights[known]))
    farthest = np.sqrt(2 * np.log(weights.sum()))
    return np.clip(out, -farthest, farthest)


def covariances(z, codes, weights, classes, blend):
    """Means and covariances as the formula says, cell by cell."""
    p, (alpha, beta) = z.shape[1], blend
    nu = p + 2
    known = ~np.isnan(z)
    overall = np.array([np.average(z[known[:, j], j], weights=weights[known[:, j]]) for j in range(p)])
    mean, scatter, counts = np.zeros((classes, p)), np.zeros((classes, p, p)), np.zeros((classes, p))
    for c in range(classes):
        for j in range(p):
            some = known[:, j] & (codes == c) & (weights > 0)
            counts[c, j] = weights[some].sum()
            mean[c, j] = np.average(z[some, j], weights=weights[some]) if counts[c, j] > 0 else overall[j]
        for i, j in itertools.product(range(p), repeat=2):
            both = known[:, i] & known[:, j] & (codes == c)
            scatter[c, i, j] = (weights[both] * (z[both, i] - mean[c, i]) * (z[both, j] - mean[c, j])).sum()
    free = np.maximum((counts - (counts > 0)).sum(axis=0), 1)
    pooled = scatter.sum(axis=0) / np.sqrt(np.outer(free, free))
    found = []
    for c in range(classes):
        own = (scatter[c] + nu * pooled) / np.sqrt(np.outer(counts[c] + nu, counts[c] + nu))
        own = (1 - alpha) * own + alpha * pooled
        own = (1 - beta) * own + beta * np.diag(np.diag(own)) + LEAST * np.eye(p)
        unsure = np.sqrt(1 + 1 / np.maximum(counts[c], 1))
        found.append(own * np.outer(unsure, unsure))
    return mean, np.array(found), counts.mean(axis=1) + p + 4


def densities(z, units, mean, covariance, freedom=None):
    """log density of known cells, by SciPy, of the numbers in their own units: normal, or t of this covariance."""
    out = np.zeros((len(z), len(mean)))
    for i, row in enumerate(z):
        known = ~np.isnan(row)
        for c in range(len(mean) if known.any() else 0):
            m, shape = mean[c, known], covariance[c][np.ix_(known, known)]
            if freedom is None:
                out[i, c] = multivariate_normal.logpdf(row[known], m, shape)
            else:
                scale = shape * (freedom[c] - 2) / freedom[c]
                out[i, c] = multivariate_t.logpdf(row[known], m, scale, df=freedom[c])
        out[i] -= np.log(units[known]).sum()
    return out


@pytest.mark.parametrize("blend", BLENDS)
@pytest.mark.parametrize("gaps", [0.0, 0.25])
def test_densities_are_scipys(blend, gaps):
    rows, target, x, _ = birds(gaps=gaps)
    table = table_of(rows, target)
    z = standard(x, target.weights)
    np.testing.assert_allclose(table.z, z, rtol=1e-9, atol=1e-9)
    mean, covariance, freedom = covariances(z, target.codes, target.weights, 3, blend)
    normals = Normals.of(table, target.weights)
    found = normal_terms(table, normals, blend)
    np.testing.assert_allclose(found.log_prob(rows), densities(z, table.unit, mean, covariance), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(normals.freedom, freedom, rtol=1e-12)
    student = found.log_prob(rows) + StudentTails.of(found, normals.freedom).log_prob(rows)
    np.testing.assert_allclose(student, densities(z, table.unit, mean, covariance, freedom), rtol=1e-8, atol=1e-8)


def test_a_class_without_rows_has_the_mean_of_all_and_the_pooled_covariance():
    rows, target, x, _ = birds()
    weights = np.where(target.codes == 2, 0.0, target.weights)
    table = table_of(rows, target)
    found = Normals.of(table, weights)
    np.testing.assert_allclose(found.mean[2], np.average(table.z, axis=0, weights=weights))
    np.testing.assert_allclose(found.blended(0.0, 0.0)[2], 2 * (found.pooled + LEAST * np.eye(3)), rtol=1e-12)
    mean, covariance, _ = covariances(standard(x, target.weights), target.codes, weights, 3, (0.3, 0.1))
    np.testing.assert_allclose(found.blended(0.3, 0.1), covariance, rtol=1e-9)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-9, atol=1e-12)


def shares(words, codes, weights, classes):
    """P(level given class) with two rows of what all classes say, half a row for each level."""
    found = np.zeros((len(LEVELS), classes))
    for level, c, w in zip(words, codes, weights, strict=True):
        if level is not None:
            found[LEVELS.index(level), c] += w
    overall = (found.sum(axis=1) + 0.5) / (found.sum() + 0.5 * len(LEVELS))
    return (found + 2 * overall[:, None]) / (found.sum(axis=0) + 2)


def test_levels_are_drawn_to_the_share_of_all():
    rows, target, _, words = birds(gaps=0.2)
    found = level_terms(table_of(rows, target), target.weights).log_prob(rows)
    logs = np.log(shares(words, target.codes, target.weights, 3))
    expected = [np.zeros(3) if word is None else logs[LEVELS.index(word)] for word in words]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("tails", [False, True])
@pytest.mark.parametrize("spread", ["normal", "heavy"])
def test_terms_are_by_models_that_have_not_seen_the_row(tails, spread):
    rows, target, x, words = birds(gaps=0.2, spread=spread, seed=1)
    table, weights = table_of(rows, target), target.weights
    folds = deal(rows, target, SCHEMA, 5)
    log_prior = np.log(np.bincount(target.codes, weights) / weights.sum())

    def loss(terms):
        scores = log_prior + terms
        return float(weights @ (logsumexp(scores, axis=1) - scores[np.arange(len(scores)), target.codes]))

    def worded(train):
        logs = np.log(shares(words, target.codes, train, 3))
        return np.array([np.zeros(3) if word is None else logs[LEVELS.index(word)] for word in words])

    found = fitted_gaussians(rows, table, folds, loss, tails)
    z = standard(x, weights)
    every = {}
    for blend, heavier in itertools.product(BLENDS, [False, True]):
        terms = np.zeros((len(rows), 3))
        for fold in range(5):
            held = folds.shares[:, fold]
            mean, covariance, freedom = covariances(z, target.codes, weights - held, 3, blend)
            said = densities(z, table.unit, mean, covariance, freedom if heavier else None)
            terms += (held / weights)[:, None] * (said + worded(weights - held))
        every |= {(heavier, blend, factor): factor * terms for factor in FACTORS}
    losses = {key: loss(terms) for key, terms in every.items()}
    best = {kind: min(own for key, own in losses.items() if key[0] == kind) for kind in (False, True)}
    assert found.heavier == (tails and best[False] - best[True] > HEAVIER * weights.sum())
    assert found.heavier == (tails and spread == "heavy")
    chosen = (found.heavier, found.blend, found.factor)
    assert losses[chosen] == pytest.approx(best[found.heavier], rel=1e-9)
    np.testing.assert_allclose(found.terms, every[chosen], rtol=1e-7, atol=1e-7)
    whole = sum(part.log_prob(rows) for part in found.parts)
    mean, covariance, freedom = covariances(z, target.codes, weights, 3, found.blend)
    said = densities(z, table.unit, mean, covariance, freedom if found.heavier else None)
    np.testing.assert_allclose(whole, said + worded(weights), rtol=1e-7, atol=1e-7)


def test_numbers_beyond_the_farthest_that_so_many_reach_are_taken_for_these():
    rows, target, _, _ = birds()
    table = table_of(rows, target)
    folds = deal(rows, target, SCHEMA, 5)
    part = fitted_gaussians(rows, table, folds, lambda terms: float(np.abs(terms).sum())).parts[0]
    ends = table.centre + np.sqrt(2 * np.log(target.weights.sum())) * table.unit
    far, edge, within = (encode_cells(SCHEMA, {**{name: [value] for name, value in zip(NUMBERS, values, strict=True)}, "色泽": [None]}, 1) for values in (ends * 1e6, ends, ends - 0.1 * table.unit))  # fmt: skip
    np.testing.assert_allclose(part.log_prob(far), part.log_prob(edge), rtol=1e-12)
    assert (part.log_prob(within) != part.log_prob(edge)).all()


def test_weights_whose_differences_leave_a_trace_of_rounding():
    """Rows that lie in one fold all together: nothing is left to learn from, so nothing is said of classes."""
    rows, target, _, _ = birds()
    target = Target(target.codes, target.classes, np.full(len(rows), 0.1) / len(rows) * 3)
    folds = deal(rows, target, SCHEMA, 5)
    found = fitted_gaussians(rows, table_of(rows, target), folds, lambda terms: float(np.abs(terms).sum()))
    assert np.ptp(found.terms, axis=1).max() < 1e-9
