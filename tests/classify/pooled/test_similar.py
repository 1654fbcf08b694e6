"""Similar rows against plain loops over all pairs of rows."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from merula.classify.folds import canonical_order, deal
from merula.classify.pooled import _kernels as kernels
from merula.classify.pooled.similar import NEIGHBOURS, PRIOR_ROWS, WIDTHS, SimilarRows, _telling, _usual, fitted_similar
from merula.data.encode import Target, encode_cells, encode_target
from merula.data.schema import Column, Schema

SCHEMA = Schema((Column("wing", "numeric"), Column("größe", "numeric"), Column("色泽", "categorical")))
LEVELS = {"wing": None, "größe": None, "色泽": ("blass", "gelb", "rot")}
COLUMNS = tuple(sorted(LEVELS))


def birds(n=50, classes=3, seed=0, gaps=0.15):
    """Encoded rows with gaps, their classes and weights."""
    rng = np.random.default_rng(seed)
    label = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    wing, height = rng.normal(label).round(1), rng.normal(scale=40, size=n).round(1)
    words = np.array(["blass", "gelb", "rot"], dtype=object)[(label + rng.integers(0, 2, n)) % 3]
    wing, height = (np.where(rng.random(n) < gaps, np.nan, part) for part in (wing, height))
    words = np.where(rng.random(n) < gaps, None, words)
    rows = encode_cells(SCHEMA, {"wing": wing, "größe": height, "色泽": words.tolist()}, n)
    weights = rng.choice([0.5, 1.0, 3.0], n)
    cells = np.column_stack([{"wing": wing, "größe": height, "色泽": coded(words)}[name] for name in COLUMNS])
    return rows, Target(encode_target(label, n).codes, np.arange(classes), weights), cells


def coded(words):
    return np.array([np.nan if word is None else LEVELS["色泽"].index(word) for word in words])


def fitted(rows, target):
    order = canonical_order(rows, target, SCHEMA)
    return fitted_similar(rows, target, LEVELS, order, dealt(rows, target), np.arange(len(rows)), 1)


def dealt(rows, target):
    return deal(rows, target, SCHEMA, 5)


def by_others(model, rows, target, cells):
    """For each fold its share of every row's weight, and the model whose columns count by what the other folds tell."""
    folds, numbers = dealt(rows, target), [known is None for known in model.level_sets]
    for fold in range(5):
        others = sum(folds.shares[:, k] for k in range(5) if k != fold)
        scaled = replace(model, scale=_telling(cells, np.asarray(target.codes, dtype=np.int64), others, numbers))
        yield folds.shares[:, fold] / target.weights, replace(scaled, usual=_usual(scaled, cells, target.weights))


def distance(model, one, other):
    """d² of two rows: numbers in standard deviations, cut at 3; words 2 where they differ; what is usual where one is missing."""
    total = 0.0
    for j, known in enumerate(model.level_sets):
        if np.isnan(one[j]) or np.isnan(other[j]):
            total += model.usual[j]
        elif known is not None:
            total += 2 * model.scale[j] ** 2 * (one[j] != other[j])
        else:
            a, b = (np.clip((value[j] - model.centre[j]) / model.unit[j], -3, 3) for value in (one, other))
            total += (model.scale[j] * (a - b)) ** 2
    return total


def chances(model, row, own=-1):
    """P(c given x), row by row; one unit of the row itself left out."""
    weight = model.weight.copy()
    if own >= 0:
        weight[own] = max(weight[own] - 1, 0)
    apart = np.array([distance(model, row, other) for other in model.cells])
    reach = model.reach
    if model.own:
        near = np.argsort(apart, kind="stable")
        enough = np.flatnonzero(np.cumsum(weight[near]) >= NEIGHBOURS * (1 - 1e-12))
        reach = max(apart[near[enough[0]]] if len(enough) else apart.max(), 1e-6 * model.reach)
    mass = np.zeros(len(model.log_prior))
    for d, label, w in zip(apart, model.labels, weight, strict=True):
        mass[label] += w * np.exp(-d / (2 * (2 * model.breadth) ** 2 * reach))
    return (mass + PRIOR_ROWS * np.exp(model.log_prior)) / (mass.sum() + PRIOR_ROWS)


def places(model, cells, target):
    """Which kept row each row is itself, or one equal to it in every way."""
    kept = [(row.tobytes(), int(label), float(w)) for row, label, w in zip(model.cells, model.labels, model.weight, strict=True)]  # fmt: skip
    return np.array([kept.index((row.tobytes(), int(label), float(w))) for row, label, w in zip(cells, target.codes, target.weights, strict=True)])  # fmt: skip


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("breadth", [0.08, 0.5])
def test_chances_are_those_of_plain_loops(own, breadth):
    rows, target, cells = birds()
    model = replace(fitted(rows, target)[1], own=own, breadth=breadth)
    expected = np.log([chances(model, row) for row in cells]) - model.log_prior
    expected[np.isnan(cells).all(axis=1)] = 0.0
    np.testing.assert_allclose(model.log_prob(rows), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_rows_learned_from_are_left_out_of_their_own_chances(seed):
    rows, target, cells = birds(seed=seed)
    terms, model = fitted(rows, target)
    expected, own = np.zeros_like(terms), places(model, cells, target)
    for share, other in by_others(model, rows, target, cells):
        for k in np.flatnonzero(share):
            expected[k] += share[k] * (np.log(chances(other, cells[k], own[k])) - model.log_prior)
    np.testing.assert_allclose(terms, expected, rtol=1e-6, atol=1e-7)


def test_columns_of_noise_are_not_believed():
    """Were the columns weighed by a row's own class, fifty columns of noise would seem to tell it."""
    rng, n, names = np.random.default_rng(0), 50, [f"farbe {k}" for k in range(50)]
    schema = Schema(tuple(Column(name, "categorical") for name in names))
    losses = []
    for _ in range(4):
        rows = encode_cells(schema, {name: rng.choice(["blass", "gelb", "rot"], n).tolist() for name in names}, n)
        target = Target(encode_target(np.arange(n) % 2, n).codes, np.arange(2), np.ones(n))
        order = canonical_order(rows, target, schema)
        levels = dict.fromkeys(names, ("blass", "gelb", "rot"))
        terms, model = fitted_similar(rows, target, levels, order, deal(rows, target, SCHEMA, 5), np.arange(n), 1)
        scores = terms + model.log_prior
        losses.append((logsumexp(scores, axis=1) - scores[np.arange(n), target.codes]).mean())
    assert np.mean(losses) > 0.65  # of the classes' frequencies: 0.693; weighed by all rows: 0.55


def test_the_width_is_the_one_of_least_loss_by_rows_left_out():
    rows, target, cells = birds()
    terms, model = fitted(rows, target)

    def loss(some):
        return -(target.weights @ (some + model.log_prior)[np.arange(len(some)), target.codes])

    own, folds = places(model, cells, target), list(by_others(model, rows, target, cells))

    def with_width(width, locally):
        compared = [replace(other, breadth=width, own=locally).compared(cells, own) for _, other in folds]
        return [(share, found) for (share, _), found in zip(folds, compared, strict=True)]

    def split_loss(parts):  # of each row by each fold that holds some of it
        return sum(-(target.weights * share @ (found + model.log_prior)[np.arange(len(found)), target.codes]) for share, found in parts)  # fmt: skip

    losses = {(width, locally): split_loss(with_width(width, locally)) for width in WIDTHS for locally in (False, True)}
    assert losses[model.breadth, model.own] == pytest.approx(min(losses.values()), rel=1e-9)
    parts = with_width(model.breadth, model.own)
    assert loss(terms) == pytest.approx(loss(sum(share[:, None] * found for share, found in parts)), rel=1e-9)


def test_columns_are_in_standard_units_and_the_mean_of_squares_is_one():
    rows, target, cells = birds()
    _, model = fitted(rows, target)
    for j in range(2):
        known = ~np.isnan(cells[:, j])
        if model.level_sets[j] is None:
            mean = np.average(cells[known, j], weights=target.weights[known])
            spread = np.sqrt(np.average((cells[known, j] - mean) ** 2, weights=target.weights[known]))
            assert (model.centre[j], model.unit[j]) == pytest.approx((mean, spread))
    assert (model.scale**2).mean() == pytest.approx(1)
    assert model.scale[COLUMNS.index("wing")] > model.scale[COLUMNS.index("größe")]  # which tells nothing of the class


def test_what_is_usual_is_the_mean_over_all_pairs():
    rows, target, cells = birds(n=30)
    _, model = fitted(rows, target)
    for j, known in enumerate(model.level_sets):
        some = np.flatnonzero(~np.isnan(cells[:, j]))
        total, mass = 0.0, 0.0
        for i in some:
            for k in some:
                both = target.weights[i] * target.weights[k]
                if known is None:
                    a, b = (np.clip((cells[r, j] - model.centre[j]) / model.unit[j], -3, 3) for r in (i, k))
                    total += both * (model.scale[j] * (a - b)) ** 2
                else:
                    total += both * 2 * model.scale[j] ** 2 * (cells[i, j] != cells[k, j])
                mass += both
        assert model.usual[j] == pytest.approx(total / mass, rel=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_reached_is_what_sorting_finds(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    distances = rng.integers(0, 6, n) / 2 if seed % 2 else rng.random(n)
    weight = rng.choice([0.0, 0.25, 1.0, 4.0], n)
    mass = float(rng.choice([0.1, 1.0, 10.0, 30.0]))
    order = np.argsort(distances, kind="stable")
    enough = np.flatnonzero(np.cumsum(weight[order]) >= mass)
    expected = distances[order[enough[0]]] if len(enough) else distances.max()
    assert kernels._reached(distances, weight, mass, np.empty(n), np.empty(n)) == expected


def test_a_row_of_which_nothing_is_known_keeps_the_prior():
    rows, target, _ = birds()
    _, model = fitted(rows, target)
    nothing = encode_cells(SCHEMA, {"wing": [np.nan], "größe": [np.nan], "色泽": [None]}, 1)
    np.testing.assert_array_equal(model.log_prob(nothing), 0.0)


def test_a_weight_of_two_is_the_row_twice():
    rows, target, _ = birds()
    whole = Target(target.codes, target.classes, np.where(target.weights < 1, 1.0, 2.0))
    again = np.repeat(np.arange(50), whole.weights.astype(int))
    one = fitted(rows, whole)[1]
    other = fitted(rows.take(again), Target(target.codes[again], target.classes, np.ones(len(again))))[1]
    np.testing.assert_allclose(one.log_prob(rows), other.log_prob(rows), rtol=1e-9, atol=1e-10)


def test_a_class_of_one_row_and_columns_that_do_not_vary():
    rows = encode_cells(SCHEMA, {"wing": [1.0] * 4, "größe": [1.0, 2.0, 3.0, np.nan], "色泽": ["rot"] * 4}, 4)
    terms, model = fitted(rows, Target(np.array([0, 1, 1, 1]), np.arange(2), np.ones(4)))
    assert np.isfinite(terms).all()
    assert np.isfinite(model.log_prob(rows)).all()
    assert isinstance(model, SimilarRows)
    assert model.fits(2)
