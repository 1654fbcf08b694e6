"""Conditional log-linear models against their definition in plain NumPy, scikit-learn and SciPy; and at their edges."""

import itertools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import merula as mr
from merula.classify.folds import deal
from merula.classify.log_linear import _kernels as kernels
from merula.classify.log_linear._answers import add_tables
from merula.classify.log_linear.cases import distinct_cases
from merula.classify.log_linear.fitting import Wish, fit_terms, quadratic_terms, table_terms
from merula.classify.log_linear.tables import _grid, as_odds, by_class, grown_tables
from merula.classify.log_linear.twin import fitted_weights, objective, quadratic_features, weighed_twin
from merula.classify.model_files import model_state
from merula.core.archive import write_state
from merula.data.encode import encode_cells, encode_target
from merula.data.schema import Column, Schema

SCHEMA = Schema((Column("wing", "numeric"), Column("größe", "numeric"), Column("色泽", "categorical")))
LEVELS = {"wing": None, "größe": None, "色泽": ("blass", "gelb", "rot")}


def birds(n=120, classes=3, gaps=0.1, seed=0):
    """Encoded rows of two numbers and a word that tell classes apart together, and their classes."""
    rng = np.random.default_rng(seed)
    wing, height = rng.normal(size=n).round(1), rng.normal(size=n).round(1)
    colour = rng.integers(0, 3, n)
    label = (2 * (wing * height > 0) + (colour == 1) + (rng.random(n) < 0.2)) % classes
    words = np.array(["blass", "gelb", "rot"], dtype=object)[colour]
    if gaps:
        wing, height = (np.where(rng.random(n) < gaps, np.nan, part) for part in (wing, height))
        words = np.where(rng.random(n) < gaps, None, words)
    rows = encode_cells(SCHEMA, {"wing": wing, "größe": height, "色泽": words.tolist()}, n)
    frame = pd.DataFrame({"wing": wing, "größe": height, "色泽": words})
    return rows, encode_target(label, n), frame, label


def cases_of(rows, target, missing="marginalise"):
    from merula.distributions.mixed_cells import read_cells

    names = tuple(sorted(LEVELS))
    levels = tuple(LEVELS[name] for name in names)
    return (
        distinct_cases(read_cells(rows, names, levels), levels, target, [missing == "level"] * len(names)),
        names,
        levels,
    )


# ---------------------------------------------------------------------------------------------------------------------
# Tables


def chances(scores):
    return softmax(by_class(scores), axis=1)


def derivatives(scores, labels, weight):
    """Slopes and curvatures of the log likelihood: rows × classes, or × 1 for the log-odds of two."""
    p = chances(scores)
    slope = np.eye(p.shape[1])[labels] - p
    curved = p * (1 - p)
    return (part[:, -scores.shape[1] :] * weight[:, None] for part in (slope, curved))


def answers(codes, column, cut, is_word):
    """1 or 0 for each case, −1 where it is not known."""
    own = codes[column]
    return np.where(own < 0, -1, own == cut if is_word[column] else own <= cut)


def cells_after(codes, questions, is_word):
    cell = np.zeros(codes.shape[1], dtype=int)
    for column, cut in questions:
        said = answers(codes, column, cut, is_word)
        cell = np.where((cell < 0) | (said < 0), -1, 2 * cell + said)
    return cell


def said(codes, questions, values, weight, is_word):
    """What a table adds to each case: the mean over the answers of columns that it does not know, by how often these are met in each
    column by itself; less the mean over all answers, in proportion to the columns that it does not know."""
    columns = sorted({column for column, _ in questions})
    told = {j: np.array([answers(codes, *one, is_word) for one in questions if one[0] == j]) for j in columns}
    met: dict = {j: {} for j in columns}
    for j, own in told.items():
        for given, heavy in zip(own.T.tolist(), weight, strict=True):
            if given[0] >= 0:
                met[j][tuple(given)] = met[j].get(tuple(given), 0.0) + heavy / weight[own[0] >= 0].sum()

    def mean(known):
        total = 0.0
        for some in itertools.product(*([(known[j], 1.0)] if j in known else met[j].items() for j in columns)):
            given = {j: iter(own) for j, (own, _) in zip(columns, some, strict=True)}
            cell = int("".join(str(next(given[j])) for j, _ in questions), 2)
            total = total + np.prod([share for _, share in some]) * values[cell]
        return total

    found = []
    for i in range(codes.shape[1]):
        known = {j: tuple(told[j][:, i]) for j in columns if told[j][0, i] >= 0}
        found.append(mean(known) - (1 - len(known) / len(columns)) * mean({}))
    return np.array(found)


def score_of(cell, slope, curved, ridge):
    """Σ_cell Σ_class G² / (H + ridge)."""
    total = 0.0
    for one in set(cell.tolist()) - {-1}:
        own = cell == one
        total += (slope[own].sum(axis=0) ** 2 / (curved[own].sum(axis=0) + ridge)).sum()
    return total


@pytest.mark.parametrize(("classes", "order", "lowest"), [(2, 1, 1.0), (2, 3, 0.1), (3, 2, 1.0), (3, 4, 0.1)])
@pytest.mark.parametrize("missing", ["marginalise", "level"])
def test_tables_are_what_their_definition_says(classes, order, lowest, missing):
    """Every question is the best within the noise, every cell G / (H + ridge), every loss that of the scores."""
    rows, target, _, _ = birds(classes=classes)
    cases, _, _ = cases_of(rows, target, missing)
    grid = _grid(cases, 8)
    rng = np.random.default_rng(1)
    train, held = rng.integers(0, 4, len(cases)) / 2, rng.random(len(cases)) * (rng.random(len(cases)) < 0.4)
    start = np.tile(as_odds(cases.log_prior), (len(cases), 1))
    columns = len(cases.variables)
    memory = kernels.memory_for(grid, start.shape[1], order, columns, 5)
    asked, cuts, depths, values, loss = kernels.grow(
        grid,
        cases.labels,
        cases.hashes,
        cases.weight,
        train,
        held,
        start.copy(),
        memory,
        30,
        order,
        1.0,
        columns,
        lowest,
    )
    scores, first = start, None
    for t in range(30):
        expected = -(held * log_softmax(by_class(scores), axis=1)[np.arange(len(cases)), cases.labels]).sum()
        np.testing.assert_allclose(loss[t], expected, rtol=1e-9)
        slope, curved = derivatives(scores, cases.labels, train)
        mean = curved.sum() / (train.sum() * curved.shape[1])
        first = first or mean
        ridge = max(mean / first, lowest) if lowest < 1 else 1.0
        flat = (
            curved if classes == 2 else np.repeat(mean * train[:, None], classes, axis=1)
        )  # in the choice of questions
        questions = list(zip(asked[t, : depths[t]].tolist(), cuts[t, : depths[t]].tolist(), strict=True))
        for d in range(depths[t]):
            gained = score_of(cells_after(cases.codes, questions[: d + 1], grid.is_word), slope, flat, ridge)
            rivals = [
                score_of(cells_after(cases.codes, [*questions[:d], (j, bound)], grid.is_word), slope, flat, ridge)
                for j in range(columns)
                for bound in coarse_bounds(grid, j)
            ]
            assert gained * (1 + kernels.NOISE) ** 2 >= max(rivals) * (1 - 1e-5)
        cell = cells_after(cases.codes, questions, grid.is_word)
        rate = kernels.RATE * min(1 + t / kernels.FASTER, kernels.FASTEST)
        for one in range(2 ** depths[t]):
            own = cell == one
            by_hand = rate * slope[own].sum(axis=0) / (curved[own].sum(axis=0) + ridge)
            np.testing.assert_allclose(values[t, one], by_hand, rtol=1e-4, atol=1e-6)  # sums are of single precision
        scores = scores + said(cases.codes, questions, values[t], cases.weight, grid.is_word)


def coarse_bounds(grid, j):
    """The answers that questions are first looked for among."""
    bins = grid.bins[j]
    return range(bins) if grid.is_word[j] else [grid.first[j, b + 1] - 1 for b in range(bins - 1)]


def test_one_cell_by_hand():
    """Eight rows, one yes/no column: p = ½, G = 3·½ − 1·½ = 1, H = 4·¼ = 1, ridge 1: 0.1 · 1 / 2 for the log-odds."""
    frame = pd.DataFrame({"flies": ["yes"] * 4 + ["no"] * 4})
    label = np.array([1, 1, 1, 0, 0, 0, 0, 1])
    cases = distinct_cases(frame["flies"].eq("yes").to_numpy(dtype=float)[:, None], (("no", "yes"),), encode_target(label, 8), [False])  # fmt: skip
    grid = _grid(cases, 32)
    memory, scores = kernels.memory_for(grid, 1, 1, 1, 0), np.zeros((len(cases), 1))
    _, _, _, values, _ = kernels.grow(grid, cases.labels, cases.hashes, cases.weight, cases.weight, np.zeros(len(cases)), scores, memory, 1, 1, 1.0, 1, 1.0)  # fmt: skip
    np.testing.assert_allclose(np.sort(values[0].ravel()), [-0.05, 0.05], rtol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("missing", ["marginalise", "level"])
def test_terms_are_the_mean_of_the_folds_models(classes, missing):
    """Table by table in log space, looked up by value and level instead of by code, rows with gaps included."""
    rows, target, _, _ = birds(classes=classes)
    cases, names, levels = cases_of(rows, target, missing)
    grown = grown_tables(cases, cases.shares(1), 3, 40, 7, 1)
    summed = np.zeros((len(cases), classes))
    is_word = np.array([variable.is_word for variable in cases.variables])
    for t, depth in enumerate(grown.depths):
        questions = list(zip(grown.columns[t, :depth].tolist(), grown.cuts[t, :depth].tolist(), strict=True))
        summed += said(cases.codes, questions, grown.values[t], cases.weight, is_word)
    terms = table_terms(cases, grown, names, levels)
    np.testing.assert_allclose(terms.log_prob(rows), cases.of_rows(summed), rtol=1e-9, atol=1e-12)
    parts = terms.factors()
    np.testing.assert_allclose(sum(part.log_prob(rows) for part in parts), terms.log_prob(rows), rtol=1e-9, atol=1e-12)
    assert len({part.columns for part in parts}) == len(parts)
    assert terms.fits(classes)
    assert all(part.fits(classes) for part in parts)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_terms_are_of_at_most_so_many_columns(order):
    _, _, frame, label = birds()
    model = mr.LogLinearClassifier(order, max_rounds=30).fit(frame, label)
    sizes = {1 if isinstance(key, str) else len(key) for key in model.terms(frame)}
    assert max(sizes) <= order
    assert {name for key in model.terms(frame) for name in ([key] if isinstance(key, str) else key)} == set(frame)


@pytest.mark.parametrize("gaps", [0, 0.3])
def test_scores_out_of_fold_are_by_models_that_have_not_seen_the_row(gaps):
    """Each fold's own model, grown here by itself, gives the scores of the rows left out of it."""
    rows, target, _, label = birds(90, gaps=gaps)
    folds = deal(rows, target, SCHEMA, 3)
    scores, terms = fit_terms(rows, target, LEVELS, Wish(2, 20), folds)
    cases, _, _ = cases_of(rows, target)
    shares, grid = cases.shares_of(folds.shares), _grid(cases, 32)
    grown = grown_tables(cases, shares, 2, 20, 0, 1)
    per_fold = len(grown.depths) // 3
    for fold in range(3):
        own = slice(fold * per_fold, (fold + 1) * per_fold)
        found = np.zeros((len(cases), 3))
        add_tables(cases.codes, grown.columns[own], grown.cuts[own], grown.depths[own], 3 * grown.values[own], grown.shares[own], grid.is_word, found)  # fmt: skip
        left_out = np.flatnonzero(folds.shares[:, fold] == 1)
        expected = log_softmax(cases.of_rows(found + cases.log_prior), axis=1)[left_out]
        alone = np.isclose(shares[cases.of_row[left_out]].max(axis=1), shares[cases.of_row[left_out]].sum(axis=1))
        np.testing.assert_allclose(log_softmax(scores, axis=1)[left_out][alone], expected[alone], rtol=1e-9)
    assert terms.log_loss == pytest.approx(
        log_loss(label, softmax(scores, axis=1)), abs=0.02
    )  # repeated rows: mean scores


def test_an_exclusive_or_takes_two_questions():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 2, (400, 3)), columns=["wing", "größe", "色泽"]).astype(float)
    label = (frame["wing"] != frame["größe"]).to_numpy()
    alone, pairs = (mr.LogLinearClassifier(order).fit(frame, label) for order in (1, 2))
    assert alone.out_of_fold_log_loss_ > 0.6
    assert pairs.out_of_fold_log_loss_ < 0.05
    assert next(iter(pairs.importances(frame))) == ("größe", "wing")


def test_noise_alone_gives_the_prior():
    rng = np.random.default_rng(4)
    model = mr.LogLinearClassifier(2).fit(rng.normal(size=(300, 3)), np.arange(300) % 3 == 0)
    assert model.rounds_ < 50
    np.testing.assert_allclose(model.predict_proba(rng.normal(size=(20, 3))), [[2 / 3, 1 / 3]] * 20, atol=0.15)


def test_a_rare_value_behind_a_sharp_threshold_is_found():
    """Cuts are looked for among all values, not only between coarse bins."""
    values = np.arange(5_000.0)
    model = mr.LogLinearClassifier(1, max_rounds=200).fit(values[:, None], values >= 4_993)
    answer = model.predict_proba([[4_990.0], [4_996.0]])[:, 1]
    assert answer[0] < 0.05 < 0.9 < answer[1]


def test_a_seed_gives_one_model_and_another_seed_another():
    _, _, frame, label = birds()
    one, again, other = (mr.LogLinearClassifier(random_state=seed).fit(frame, label).predict_proba(frame) for seed in (3, 3, 4))  # fmt: skip
    np.testing.assert_array_equal(one, again)
    assert np.abs(one - other).max() > 1e-6


def test_where_missing_is_an_answer_it_tells_classes_apart():
    rng = np.random.default_rng(5)
    label = rng.integers(0, 2, 300)
    frame = pd.DataFrame({"wing": np.where(label == 1, np.nan, rng.normal(size=300)), "größe": rng.normal(size=300)})
    for order in (1, "gaussian"):
        model = mr.LogLinearClassifier(order, missing="level").fit(frame, label)
        assert model.out_of_fold_log_loss_ < 0.1
        assert np.abs(model.terms(frame[label == 1][:1])["wing"]).max() > 1


# ---------------------------------------------------------------------------------------------------------------------
# The twin of Gaussian Bayes


@pytest.fixture(params=[2, 3])
def fitted_to(request):
    """Features, classes, weights, start and penalty of a small fit."""
    rows, target, _, _ = birds(80, request.param, seed=2)
    cases, _, _ = cases_of(rows, target, "level")
    features = quadratic_features(cases)
    weight = np.random.default_rng(0).integers(1, 4, len(cases)) / 2
    return features.matrix, cases.labels, weight, as_odds(cases.log_prior), 0.7 * features.penalty + 0.01


def test_derivatives_are_central_differences(fitted_to):
    function = objective(*fitted_to)
    rng = np.random.default_rng(1)
    at = rng.normal(size=len(fitted_to[3]) * fitted_to[0].shape[1])
    step = 1e-5
    numeric = [(function(at + step * unit)[0] - function(at - step * unit)[0]) / (2 * step) for unit in np.eye(len(at))]
    np.testing.assert_allclose(function(at)[1], numeric, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(approx_fprime(at, lambda x: function(x)[0]), numeric, rtol=1e-3, atol=1e-3)


def test_the_optimum_is_that_of_logistic_regression(fitted_to):
    """scikit-learn knows one penalty and no start: features are rescaled, and the start is 0."""
    features, labels, weight, start, penalty = fitted_to
    found = fitted_weights(features, labels, weight, 0 * start, penalty, tolerance=1e-14, iterations=5_000)
    peer = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-12, max_iter=20_000).fit(features / np.sqrt(penalty), labels, weight)  # fmt: skip
    np.testing.assert_allclose(found.T, peer.coef_ / np.sqrt(penalty), atol=2e-5)


@pytest.mark.parametrize("damage", [np.nan, np.inf])
def test_weights_without_a_finite_loss_are_an_error(fitted_to, damage):
    features, *others = fitted_to
    features = features.copy()
    features[3, 0] = damage
    with pytest.raises(mr.InputError, match="no finite loss"):
        fitted_weights(features, *others)


def test_the_optimum_is_that_of_another_optimiser(fitted_to):
    function = objective(*fitted_to)
    found = fitted_weights(*fitted_to, tolerance=1e-14, iterations=5_000)
    size = found.size
    peer = minimize(lambda x: function(x)[0], np.zeros(size), jac=lambda x: function(x)[1], method="CG", options={"maxiter": 20_000, "gtol": 1e-8})  # fmt: skip
    np.testing.assert_allclose(function(found.T.ravel())[0], peer.fun, rtol=1e-10)
    np.testing.assert_allclose(found.T.ravel(), peer.x, atol=1e-4)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("missing", ["marginalise", "level"])
def test_terms_of_the_twin_are_its_features_times_their_weights(classes, missing):
    rows, target, _, _ = birds(classes=classes)
    cases, names, levels = cases_of(rows, target, missing)
    weighed = weighed_twin(cases, cases.shares(2), 2, 1)
    terms = quadratic_terms(cases, weighed, names, levels)
    expected = cases.of_rows(weighed.features.matrix @ weighed.weights)
    np.testing.assert_allclose(terms.log_prob(rows), expected, rtol=1e-9, atol=1e-10)
    parts = terms.factors()
    np.testing.assert_allclose(sum(part.log_prob(rows) for part in parts), expected, rtol=1e-9, atol=1e-10)
    assert {part.columns for part in parts} == {("wing",), ("größe",), ("色泽",), ("größe", "wing")}
    assert terms.fits(classes)


def test_the_twin_finds_what_normal_classes_are():
    """Two normal classes: their log-odds is quadratic, and the twin's comes near to it."""
    rng = np.random.default_rng(6)
    label = np.repeat([0, 1], 4_000)
    rows = np.where(label[:, None] == 1, rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 8_000), rng.multivariate_normal([0.5, 0], [[1, -0.5], [-0.5, 1]], 8_000))  # fmt: skip
    twin = mr.LogLinearClassifier("gaussian").fit(rows, label)
    generative = mr.BayesClassifier(shrinkage=0).fit(rows, label)
    apart = np.abs(twin.predict_proba(rows) - generative.predict_proba(rows))
    assert apart.mean() < 0.015
    assert set(twin.terms(rows[:1])) == {"x0", "x1", ("x0", "x1")}


# ---------------------------------------------------------------------------------------------------------------------
# What a conditional model lacks, and refuses


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("partial_fit", "rows cannot be added bit by bit: its terms were fitted to P\\(class given row\\) alone"),
        ("log_evidence", "it needs P\\(row\\), which this model does not give.*NaiveBayesClassifier and BayesClassifier can"),
        ("log_likelihood", "it needs P\\(row\\), which this model does not give"),
        ("aic", "it needs P\\(row\\), which this model does not give"),
        ("bic", "it needs P\\(row\\), which this model does not give"),
        ("sample", "it needs P\\(row\\).*NaiveBayesClassifier"),
    ],
)  # fmt: skip
def test_what_it_lacks_is_not_there_and_says_why(name, why):
    _, _, frame, label = birds(60)
    model = mr.LogLinearClassifier(1, max_rounds=3).fit(frame, label)
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'") as refusal:
        getattr(model, name)
    assert re.search(why, str(refusal.value))


def test_it_does_not_merge():
    _, _, frame, label = birds(60)
    model = mr.LogLinearClassifier(1, max_rounds=3).fit(frame, label)
    with pytest.raises(mr.InputError, match="cannot be merged: its terms were fitted .* fit one on the rows of both"):
        model + model


def test_it_has_no_distribution_of_a_column():
    _, _, frame, label = birds(60)
    model = mr.LogLinearClassifier(1, max_rounds=3).fit(frame, label)
    assert model.plot("wing").get_title() == "wing"  # what it says of each class, not how it is distributed
    with pytest.raises(mr.InputError, match="its terms were fitted to"):
        mr.next_question(model, {"wing": 1.0})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"order": 0}, "order is 0.*from 1 to 6, or 'gaussian'"),
        ({"order": 7}, "order is 7"),
        ({"order": "gausian"}, "order is 'gausian'"),
        ({"order": True}, "order is True"),
        ({"max_rounds": 0}, "max_rounds is 0"),
        ({"order": "gaussian", "max_rounds": 5}, "max_rounds is given, but order='gaussian' has no rounds; leave out max_rounds="),
        ({"random_state": -1}, "random_state is -1"),
        ({"unseen": "smooth"}, "unseen is 'smooth'"),
    ],
)  # fmt: skip
def test_options_that_mean_nothing_are_refused(options, words):
    with pytest.raises(mr.InputError, match=words):
        mr.LogLinearClassifier(**options).fit([[1.0], [2.0], [3.0]], ["wren", "tit", "tit"])


@pytest.mark.parametrize("name", ["smoothing", "distributions", "variance"])
def test_options_of_other_models_are_not_accepted(name):
    with pytest.raises(TypeError, match=name):
        mr.LogLinearClassifier(**{name: 1})


@pytest.mark.parametrize("order", [2, "gaussian"])
def test_a_text_is_refused_with_what_to_do(order):
    letters = pd.DataFrame({"letter": ["Husten und Fieber", "alles gut", "sehr müde", "gute Reise"] * 3})
    with pytest.raises(mr.InputError, match="column 'letter' is text.*kinds=.'letter': 'categorical'"):
        mr.LogLinearClassifier(order, kinds={"letter": "text"}).fit(letters, ["krank", "gesund"] * 6)


def test_too_much_memory_is_refused_before_it_is_taken(monkeypatch):
    monkeypatch.setenv("MERULA_MOST_BYTES", "200000")
    rng = np.random.default_rng(0)
    rows, label = rng.normal(size=(500, 12)), rng.integers(0, 2, 500)
    with pytest.raises(mr.TooLargeError, match="12 columns of 500 different rows in 2 classes need tables of"):
        mr.LogLinearClassifier(6).fit(rows, label)
    with pytest.raises(mr.TooLargeError, match="features of 500 different rows need tables of"):
        mr.LogLinearClassifier("gaussian").fit(rows, label)


# ---------------------------------------------------------------------------------------------------------------------
# Edges


def edges():
    rng = np.random.default_rng(8)
    words = np.array([f"word {k}" for k in range(50_000)], dtype=object)
    yield "one column", pd.DataFrame({"wing": rng.normal(size=40)}), rng.integers(0, 2, 40)
    yield "words alone", pd.DataFrame({"色泽": rng.choice(["rot", "gelb"], 40), "größe": rng.choice(list("abc"), 40)}), rng.integers(0, 3, 40)  # fmt: skip
    yield "50,000 levels", pd.DataFrame({"plate": words, "wing": rng.normal(size=50_000)}), rng.integers(0, 2, 50_000)
    yield "500 columns", pd.DataFrame(rng.normal(size=(60, 500))).add_prefix("gene "), rng.integers(0, 2, 60)
    yield "10 rows", pd.DataFrame({"wing": np.arange(10.0), "色泽": list("abcdefghij")}), np.arange(10) % 2
    yield "one row per class", pd.DataFrame({"wing": [1.0, 2.0, 3.0]}), np.arange(3)
    yield "two rows", pd.DataFrame({"wing": [1.0, 2.0]}), np.arange(2)
    yield "nothing varies", pd.DataFrame({"wing": [1.0] * 6, "色泽": ["rot"] * 6}), np.arange(6) % 2
    yield "times", pd.DataFrame({"seen on": pd.date_range("2024-02-29", periods=30), "eggs": np.arange(30) % 4}), np.arange(30) // 15  # fmt: skip


EDGES = {name: (frame, label) for name, frame, label in edges()}


@pytest.mark.parametrize("order", [1, 4, "gaussian"])
@pytest.mark.parametrize("name", EDGES)
def test_odd_tables_are_learned_from(name, order):
    frame, label = EDGES[name]
    rounds = None if order == "gaussian" else 5
    model = mr.LogLinearClassifier(order, max_rounds=rounds, kinds={"eggs": "count"} if "eggs" in frame else None).fit(frame, label)  # fmt: skip
    answer = model.predict_proba(frame[:200])
    assert np.isfinite(answer).all()
    np.testing.assert_allclose(answer.sum(axis=1), 1)
    if name == "nothing varies":
        np.testing.assert_allclose(answer, 0.5)


def of_mean(model, frame, gone):
    """The scores of rows without some columns, by the terms of whole rows: their mean over what the columns hold, each by itself, less
    the mean over all in proportion to the columns that are gone."""
    count, total = len(frame), 0.0
    states = {name: frame[name].value_counts(normalize=True) for name in frame}
    for key, _ in model.terms(frame[:1]).items():
        columns = [key] if isinstance(key, str) else list(key)

        def mean(some, key=key):
            every = list(itertools.product(range(5), *(states[name].items() for name in some)))
            table = frame.iloc[[row for row, *_ in every]].reset_index(drop=True)
            table = table.assign(**{name: [one[k + 1][0] for one in every] for k, name in enumerate(some)})
            chance = np.array([np.prod([share for _, share in drawn]) for _, *drawn in every])
            return (chance[:, None] * model.terms(table)[key]).reshape(5, -1, 3).sum(axis=1)

        lost = [name for name in columns if name in gone]
        total = total + mean(lost) - len(lost) / len(columns) * mean(columns)
    assert count > 5
    return total


def test_every_subset_of_missing_columns_is_answered():
    """What is missing is averaged out of every term, as if columns were independent; a row of which nothing is known has the prior."""
    _, _, frame, label = birds(40, gaps=0)
    model = mr.LogLinearClassifier(3, max_rounds=40).fit(frame, label)
    assert max(len(key) for key in model.terms(frame[:1]) if not isinstance(key, str)) == 3
    for gone in itertools.chain.from_iterable(itertools.combinations(frame, size) for size in range(4)):
        asked = frame[:5].assign(**dict.fromkeys(gone)).astype(frame.dtypes)
        expected = softmax(of_mean(model, frame, gone) + model.class_log_prior_, axis=1)
        np.testing.assert_allclose(model.predict_proba(asked), expected, rtol=1e-9)
    np.testing.assert_allclose(
        model.predict_proba(asked), np.exp(model.class_log_prior_)[None].repeat(5, 0), rtol=1e-12
    )


def passengers(n=900, seed=0):
    """A strong column, and others that say something together with it."""
    rng = np.random.default_rng(seed)
    woman, first, fare = rng.random(n) < 0.4, rng.random(n) < 0.3, rng.normal(size=n).round(2)
    odds = np.where(woman, 1.2, -1.6) + np.where(first & woman, 2.0, 0.2) + 0.6 * fare * np.where(first, 1.0, -0.5)
    survived = rng.random(n) < 1 / (1 + np.exp(-odds))
    frame = pd.DataFrame({"gender": np.where(woman, "female", "male"), "class": np.where(first, "1st", "3rd"), "fare": fare})  # fmt: skip
    return frame, survived


@pytest.mark.parametrize("fit", [lambda: mr.LogLinearClassifier(2, max_rounds=150), lambda: mr.LogLinearClassifier(4, max_rounds=150), lambda: mr.AutoBayesClassifier(4, max_rounds=150, keep_rows=False)])  # fmt: skip
def test_partly_known_rows_are_answered_with_about_how_frequent_classes_are_among_them(fit):
    frame, survived = passengers()
    model = fit().fit(frame, survived)
    for known in ({"gender": "female"}, {"gender": "male"}, {"gender": "female", "class": "1st"}, {"class": "3rd"}):
        own = np.logical_and.reduce([frame[name] == value for name, value in known.items()])
        row = pd.DataFrame([dict.fromkeys(frame.columns) | known])
        found = model.predict_proba(row)[0]
        assert found[1] == pytest.approx(survived[own].mean(), abs=0.08)
        np.testing.assert_allclose(mr.explain(model, row).posterior, found, rtol=1e-9)
    nothing = pd.DataFrame([dict.fromkeys(frame.columns)])
    np.testing.assert_allclose(model.predict_proba(nothing)[0], np.exp(model.class_log_prior_), rtol=1e-12)


def test_in_files_of_before_a_term_counts_only_if_all_its_columns_are_known(tmp_path):
    _, _, frame, label = birds(150, gaps=0)
    model = mr.LogLinearClassifier(2, max_rounds=40).fit(frame, label)
    state = model_state(model)
    del state["distributions"][0]["state"]["shares"]
    write_state(tmp_path / "birds.merula", state)
    before, whole = mr.load(tmp_path / "birds.merula"), model.terms(frame[:5])
    before.save(tmp_path / "again.merula")
    before = mr.load(tmp_path / "again.merula")
    for gone in itertools.chain.from_iterable(itertools.combinations(frame, size) for size in range(4)):
        asked = frame[:5].assign(**dict.fromkeys(gone)).astype(frame.dtypes)
        kept = [values for key, values in whole.items() if not {key} & set(gone) and not set(gone) & set(key if isinstance(key, tuple) else ())]  # fmt: skip
        expected = softmax(sum(kept, np.zeros((5, 3)) + model.class_log_prior_), axis=1)
        np.testing.assert_allclose(before.predict_proba(asked), expected, rtol=1e-9)
        for row in range(5):
            np.testing.assert_allclose(mr.explain(before, asked.iloc[[row]]).posterior, expected[row], rtol=1e-9)


@pytest.mark.parametrize("order", [3, "gaussian"])
def test_what_was_learned_is_saved(order, tmp_path):
    _, _, frame, label = birds()
    model = mr.LogLinearClassifier(order).fit(frame, label)
    model.save(tmp_path / "birds.merula")
    again = mr.load(tmp_path / "birds.merula")
    assert again.out_of_fold_log_loss_ == model.out_of_fold_log_loss_
    name, other = ("rounds_", "ridge_") if order == 3 else ("ridge_", "rounds_")
    assert getattr(again, name) == getattr(model, name)
    assert not hasattr(model, other)


def test_an_explanation_names_pairs_of_columns():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 2, (200, 2)).astype(float), columns=["wing", "song"])
    model = mr.LogLinearClassifier(2).fit(frame, frame["wing"] != frame["song"])
    told = mr.explain(model, {"wing": 1.0, "song": 0.0})
    assert "song = 0, wing = 1" in [reason.label for reason in told.reasons]
    np.testing.assert_allclose(told.posterior, model.predict_proba(pd.DataFrame({"wing": [1.0], "song": [0.0]}))[0])


def test_a_model_of_single_columns_has_a_nomogram():
    _, _, frame, label = birds(200, classes=2, gaps=0)
    model = mr.LogLinearClassifier(1).fit(frame, label)
    drawn = mr.nomogram(model)
    rows = pd.DataFrame({scale.column.name: [scale.values[0], scale.values[-1]] for scale in drawn.scales})[
        frame.columns
    ]
    points = np.array([[scale.points[0], scale.points[-1]] for scale in drawn.scales]).sum(axis=0)
    log_odds = np.diff(model.predict_log_proba(rows), axis=1)[:, 0]
    np.testing.assert_allclose(drawn.base + drawn.unit * points, log_odds, rtol=1e-9)
    with pytest.raises(mr.InputError, match="modelled together"):
        mr.nomogram(mr.LogLinearClassifier(2).fit(frame, label))


@pytest.mark.parametrize("order", [2, "gaussian"])
def test_classes_that_hold_the_same_are_as_probable_as_each_other(order):
    """Whichever comes first, in folds, draws and sums."""
    rng = np.random.default_rng(9)
    some = pd.DataFrame({"wing": rng.normal(size=30).round(1), "色泽": rng.choice(["rot", "gelb"], 30)})
    frame = pd.concat([some, some, some.assign(wing=some["wing"] + 1)], ignore_index=True)
    model = mr.LogLinearClassifier(order).fit(frame, np.repeat(["tit", "wren", "robin"], 30))
    answer = dict(zip(model.classes_, model.predict_proba(frame).T, strict=True))
    np.testing.assert_allclose(answer["tit"], answer["wren"], rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2, "gaussian"])
def test_the_order_of_rows_does_not_matter_where_columns_share_their_levels(order):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 60)
    frame = pd.DataFrame(
        np.where(rng.random((60, 4)) < 0.5, "yes", "no"), columns=["Husten", "Fieber", "größe", "色泽"]
    )
    one, other = mr.LogLinearClassifier(order).fit(frame, y), mr.LogLinearClassifier(order).fit(frame[::-1], y[::-1])
    np.testing.assert_array_equal(one.predict_proba(frame), other.predict_proba(frame))


def test_the_twin_is_no_worse_than_the_prior_on_noise_with_a_rare_class():
    rng = np.random.default_rng(1)
    y = np.concatenate([[2], np.tile([0, 1], 50)])
    model = mr.LogLinearClassifier("gaussian").fit(rng.normal(size=(101, 3)), y)
    shares = np.bincount(y) / len(y)
    assert model.out_of_fold_log_loss_ < -(shares @ np.log(shares)) + 0.02


@pytest.mark.parametrize("order", [2, "gaussian"])
def test_a_row_of_hardly_any_weight_is_no_division_by_zero(order):
    *_, frame, label = birds(60, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = mr.LogLinearClassifier(order).fit(frame, label, np.where(np.arange(60) == 7, 1e-14, 1.0))
    assert np.isfinite(model.out_of_fold_log_loss_)
    np.testing.assert_allclose(model.predict_proba(frame).sum(axis=1), 1.0)


@pytest.mark.parametrize("order", [2, "gaussian"])
def test_weights_that_leave_no_rows_to_deal_are_refused(order):
    *_, frame, label = birds(60, 2)
    with pytest.raises(mr.InputError, match="sample_weight adds up to 6e-11 rows, too few to be dealt to folds"):
        mr.LogLinearClassifier(order).fit(frame, label, np.full(60, 1e-12))
