"""Columns given the class and one other column, against counting, leaving out and optimising by hand."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from merula.classify.folds import Folds
from merula.classify.pooled.pairs import RIDGE, SCALES, Cells, Dependence, GainDistribution, _weights, fitted_pairs
from merula.data.encode import encode_cells
from merula.data.schema import Column, Schema

SIZES = {"wing": 3, "größe": 2, "色泽": 3, "song": 2}
LABELS = {name: tuple(f"{name} {k}" for k in range(size)) for name, size in SIZES.items()}
SCHEMA = Schema(tuple(Column(name, "categorical") for name in SIZES))


def birds(n=60, classes=2, seed=0, gaps=0.1, heavy=False):
    """Rows of four words, of which some depend on each other; and the same as codes."""
    rng = np.random.default_rng(seed)
    label = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    wing = (label + (rng.random(n) < 0.3)) % 3
    height = np.where(rng.random(n) < 0.85, wing % 2, rng.integers(0, 2, n))
    colour = np.where(rng.random(n) < 0.7, (wing + 1) % 3, rng.integers(0, 3, n))
    codes = np.array([wing, height, colour, rng.integers(0, 2, n)], dtype=np.int32)
    codes[rng.random(codes.shape) < gaps] = -1
    words = {name: [None if k < 0 else LABELS[name][k] for k in own] for name, own in zip(SIZES, codes, strict=True)}
    weights = rng.integers(1, 4, n).astype(float) if heavy else np.ones(n)
    rows = encode_cells(SCHEMA, words, n)
    return rows, Cells.of(rows, LABELS, label, weights, classes)


def counted(cells, weights, j, i=None):
    """Counts of a column in each class, or with another one."""
    sizes = (cells.classes, *([] if i is None else [len(cells.level_sets[i])]), len(cells.level_sets[j]))
    table = np.zeros(sizes)
    for row, (c, w) in enumerate(zip(cells.labels, weights, strict=True)):
        at = [cells.codes[k, row] for k in ([j] if i is None else [i, j])]
        if min(at) >= 0:
            table[(c, *at)] += w
    return table


def estimates(cells, weights, j, i):
    """P(v given c) and P(v given c, parent), each backed off by two rows to the one before."""
    alone = counted(cells, weights, j)
    size = alone.shape[-1]
    overall = (alone.sum(axis=0) + 2 / size) / (alone.sum() + 2)
    given_class = (alone + 2 * overall) / (alone.sum(axis=1, keepdims=True) + 2)
    if i < 0:
        return given_class, None
    both = counted(cells, weights, j, i)
    return given_class, (both + 2 * given_class[:, None]) / (both.sum(axis=2, keepdims=True) + 2)


def written_terms(cells, weights, above, row):
    """The terms of one row: of columns alone, then what their parents add; 0 where a cell is missing."""
    alone, gains = [], []
    for j, i in enumerate(above):
        given_class, given_both = estimates(cells, weights, j, i)
        at = cells.codes[j, row]
        alone.append(np.zeros(cells.classes) if at < 0 else np.log(given_class[:, at]))
        if i >= 0:
            over = cells.codes[i, row]
            known = at >= 0 and over >= 0
            gains.append(np.log(given_both[:, over, at]) - alone[-1] if known else np.zeros(cells.classes))
    return np.array(alone + gains)


def test_cells_are_the_rows():
    rows, cells = birds()
    assert cells.columns == tuple(SIZES)
    assert cells.codes.shape == (4, 60)
    assert (cells.codes == -1).any()
    some = Cells.of(rows, {**LABELS, "song": ("song 0",)}, cells.labels, cells.weights, 2)
    assert "song" not in some.columns  # it has one level


@pytest.mark.parametrize("heavy", [False, True])
def test_terms_are_those_of_counts_by_hand(heavy):
    rows, cells = birds(heavy=heavy)
    model = Dependence.of(cells, cells.weights, True)
    assert max(model.above) >= 0
    expected = np.array([written_terms(cells, cells.weights, model.above, row) for row in range(60)]).swapaxes(0, 1)
    np.testing.assert_allclose(model.terms(cells, np.arange(60), left_out=False), expected, rtol=1e-9, atol=1e-9)
    factors = [one for part in model.distributions(cells) for one in part.factors()]
    np.testing.assert_allclose([one.log_prob(rows) for one in factors], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("heavy", [False, True])
def test_a_row_left_out_is_a_model_without_it(heavy):
    _, cells = birds(heavy=heavy)
    model = Dependence.of(cells, cells.weights, True)
    found = model.terms(cells, np.arange(60), left_out=True)
    for row in range(60):
        without = cells.weights - np.eye(60)[row]
        expected = written_terms(cells, without, model.above, row)
        np.testing.assert_allclose(found[:, row], expected, rtol=1e-9, atol=1e-9)


def information(cells, weights, i, j):
    """I(one; other given class) of rows that know both, less half a nat for each degree of freedom and row."""
    table = counted(cells, weights, j, i)
    total, n = 0.0, table.sum()
    for c in range(cells.classes):
        mass = table[c].sum()
        for a, b in itertools.product(*map(range, table[c].shape)):
            if table[c, a, b] > 0:
                total += table[c, a, b] / n * np.log(table[c, a, b] * mass / (table[c, a].sum() * table[c, :, b].sum()))
    freedom = cells.classes * (table.shape[1] - 1) * (table.shape[2] - 1)
    return total - 0.5 * freedom / max(n, 1.0)


def of_class(cells, weights, j):
    table = counted(cells, weights, j)
    n = table.sum()
    return sum(
        table[c, v] / n * np.log(table[c, v] * n / (table[c].sum() * table[:, v].sum()))
        for c, v in itertools.product(*map(range, table.shape))
        if table[c, v] > 0
    )


@pytest.mark.parametrize("seed", range(8))
def test_parents_tell_most_of_a_column_among_those_that_tell_more_of_the_class(seed):
    _, cells = birds(seed=seed, heavy=seed % 2 == 1, classes=2 + seed % 2)
    order = sorted(range(4), key=lambda j: -of_class(cells, cells.weights, j))
    expected = [-1] * 4
    for position, j in enumerate(order[1:], start=1):
        told = {i: information(cells, cells.weights, i, j) for i in order[:position]}
        best = max(told, key=lambda i: told[i])
        expected[j] = best if told[best] > 0 else -1
    assert Dependence.of(cells, cells.weights, True).above == tuple(expected)
    assert Dependence.of(cells, cells.weights, False).above == (-1,) * 4


def test_weights_are_no_worse_than_those_of_another_optimiser():
    _, cells = birds(heavy=True)
    model = Dependence.of(cells, cells.weights, True)
    log_prior = np.log(np.bincount(cells.labels, cells.weights) / cells.weights.sum())
    terms = model.terms(cells, np.arange(60), left_out=True)

    def losses(w):
        scores = log_prior + np.tensordot(w, terms, 1)
        return cells.weights @ (logsumexp(scores, axis=1) - scores[np.arange(60), cells.labels])

    scale = min(SCALES, key=lambda s: losses(np.full(len(terms), s)))

    def objective(w):
        return losses(w) + RIDGE / 2 * ((w - scale) ** 2).sum()

    found = _weights(model, cells, cells.weights, log_prior)
    other = minimize(objective, np.ones(len(terms)), method="SLSQP", bounds=[(0, None)] * len(terms), options={"maxiter": 500, "ftol": 1e-12})  # fmt: skip
    assert (found >= 0).all()
    assert objective(found) <= other.fun + 1e-6
    np.testing.assert_allclose(found, other.x, atol=1e-3)


def test_terms_out_of_fold_are_by_models_that_have_not_seen_the_row():
    _, cells = birds()
    folds = Folds(np.eye(5)[np.random.default_rng(0).integers(0, 5, 60)])
    log_prior = np.log(np.bincount(cells.labels) / 60)
    found = fitted_pairs(cells, folds, log_prior, np.arange(60))
    for fold in range(5):
        train, rest = 1 - folds.shares[:, fold], np.flatnonzero(folds.shares[:, fold])
        model = Dependence.of(cells, train, True)
        weights = _weights(model, cells, train, log_prior)
        for row in rest:
            expected = weights @ written_terms(cells, train, model.above, row)
            np.testing.assert_allclose(found.terms[row], expected, rtol=1e-9, atol=1e-9)


def test_a_gain_is_zero_where_a_cell_is_missing_or_not_known():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(2, 3, 2))
    gain = GainDistribution(("wing",), ("größe",), (LABELS["wing"],), (LABELS["größe"],), (table,))
    cells = {"wing": [None, "wing 0", "wing 2", "wing 7", "wing 0", None], "größe": ["größe 0", None, "größe 1", "größe 0", "größe 9", None]}  # fmt: skip
    rows = encode_cells(SCHEMA, {**cells, "色泽": [None] * 6, "song": [None] * 6}, 6)
    found = gain.log_prob(rows)
    np.testing.assert_array_equal(found[[0, 1, 3, 4, 5]], 0.0)
    np.testing.assert_array_equal(found[2], table[1, 2])
    assert (gain.columns, gain.parents) == (("wing",), ("größe",))


def test_where_missing_is_a_level_the_gain_has_it():
    table = np.random.default_rng(0).normal(size=(3, 3, 2))
    gain = GainDistribution(("wing",), ("größe",), (LABELS["wing"],), ((*LABELS["größe"], None),), (table,))
    rows = encode_cells(SCHEMA, {"wing": ["wing 1"], "größe": [None], "色泽": [None], "song": [None]}, 1)
    np.testing.assert_array_equal(gain.log_prob(rows), table[2, 1][None])
    assert gain.fits(2)
    assert not gain.fits(3)
    again = GainDistribution.from_state(gain.state())
    np.testing.assert_array_equal(again.log_prob(rows), gain.log_prob(rows))
