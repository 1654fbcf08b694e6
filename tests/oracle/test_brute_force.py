"""merula against plain loops: naive Bayes cell by cell, joint tables by enumeration and dense EM."""

from itertools import product
from math import inf, isnan, log, pi

import numpy as np
import pandas as pd
import pytest

import merula as mr

CATEGORICAL, NUMERIC = ("色泽", "größe"), ("blood pressure", "waiting time")
LEVELS = {"色泽": ("乌黑", "浅白", "青绿"), "größe": ("groß", "klein", "mittel")}
CLASSES = ("healthy", "ill", "rare")


def patients(seed, rows=70, missing=0.25):
    """A mixed table with missing cells in every column, three classes, one of them with two rows, and weights."""
    rng = np.random.default_rng(seed)
    y = np.array([*["rare"] * 2, *rng.choice(["healthy", "ill"], rows - 2)])
    frame = pd.DataFrame(
        {name: rng.choice(levels, rows, p=rng.dirichlet([2, 2, 2])) for name, levels in LEVELS.items()}, dtype=object
    )
    frame["blood pressure"] = rng.normal(np.where(y == "ill", 150, 120), 15)
    frame["waiting time"] = rng.exponential(np.where(y == "ill", 0.02, 0.01))
    frame = frame[["色泽", "blood pressure", "größe", "waiting time"]]
    lost = rng.random(frame.shape) < missing
    lost[2:5] = False
    for index, level in enumerate(LEVELS["色泽"]):
        frame.loc[2 + index, "色泽"], frame.loc[2 + index, "größe"] = level, LEVELS["größe"][index]
    return frame.mask(lost), y, rng.integers(1, 4, rows).astype(float)


# --------------------------------------------------------------------------------------------------------------------
# Naive Bayes, one cell at a time


def is_gap(cell):
    return cell is None or (isinstance(cell, float) and isnan(cell))


def level_term(cells, y, weights, label, cell, pseudo, missing, unseen):
    """log P(cell given label) of a categorical column: (n_v + a_v) / Σ (n + a)."""
    levels = sorted({value for value in cells if not is_gap(value)})
    if missing == "level" and any(is_gap(value) for value in cells):
        levels.append(None)
    counts = {
        level: sum(
            w
            for value, c, w in zip(cells, y, weights, strict=True)
            if c == label and (None if is_gap(value) else value) == level
        )
        for level in levels
    }
    added = {level: pseudo(label, level, len(levels)) for level in levels}
    total = sum(counts.values()) + sum(added.values())
    wanted = None if is_gap(cell) else cell
    if wanted not in counts and unseen == "missing":
        wanted = None
    if wanted in counts:
        return log((counts[wanted] + added[wanted]) / total) if counts[wanted] + added[wanted] else -inf
    if wanted is None or unseen == "missing":
        return 0.0
    return log(sum(added.values()) / len(levels) / total)


def weighted_moments(pairs):
    """Weight, mean and Σ w·(x − mean)²."""
    n = sum(w for _, w in pairs)
    mean = sum(w * x for x, w in pairs) / n if n else 0.0
    return n, mean, sum(w * (x - mean) ** 2 for x, w in pairs)


def usual_variance(by_class, overall):
    """The lower median of the classes' variances that are not 0 but for rounding; the overall one where all are."""
    held = [(squares / n, mean) for n, mean, squares in by_class.values() if n]
    variances = sorted(spread for spread, mean in held if spread > (16 * 2**-52 * mean) ** 2)
    return variances[(len(variances) - 1) // 2] if variances else overall


def normal_term(cells, y, weights, label, cell, variance, missing, pseudo):
    """log p(cell given label) of a numeric column; a class lacking values takes the pooled mean or variance."""
    rows = [(x, c, w) for x, c, w in zip(cells, y, weights, strict=True) if not isnan(x)]
    by_class = {c: weighted_moments([(x, w) for x, owner, w in rows if owner == c]) for c in CLASSES}
    n_all, mean_all, squares_all = weighted_moments([(x, w) for x, _, w in rows])
    unbiased = variance == "unbiased"
    n, mean, squares = by_class[label]
    within = sum(part[2] for part in by_class.values()) / (
        n_all - unbiased * sum(part[0] > 0 for part in by_class.values())
    )
    spread = max(squares / (n - unbiased) if n > 1 else within, 1e-9 * usual_variance(by_class, squares_all / n_all))
    if not n:
        mean = mean_all
    presence = 0.0
    total = sum(w for c, w in zip(y, weights, strict=True) if c == label)
    if missing == "level" and len(rows) < len(cells):
        presence = log(((total - n if isnan(cell) else n) + pseudo) / (total + 2 * pseudo))
    return presence if isnan(cell) else presence - 0.5 * log(2 * pi * spread) - (cell - mean) ** 2 / (2 * spread)


def naive_log_joint(
    frame,
    y,
    weights,
    queries,
    prior,
    pseudo,
    variance="mle",
    missing="marginalise",
    unseen="missing",
    missing_pseudo=1.0,
):
    """log P(class, row) for every row and class, in loops."""
    result = []
    for query in queries.to_dict("records"):
        row = []
        for label in CLASSES:
            total = log(prior[label])
            for name in CATEGORICAL:
                total += level_term(
                    frame[name].tolist(),
                    y,
                    weights,
                    label,
                    query[name],
                    lambda c, v, m, name=name: pseudo(name, c, v, m),
                    missing,
                    unseen,
                )
            for name in NUMERIC:
                total += normal_term(
                    frame[name].tolist(), y, weights, label, query[name], variance, missing, missing_pseudo
                )
            row.append(total)
        result.append(row)
    return np.array(result)


def empirical(y, weights, extra=0.0):
    mass = {label: sum(w for c, w in zip(y, weights, strict=True) if c == label) + extra for label in CLASSES}
    return {label: value / sum(mass.values()) for label, value in mass.items()}


def check_naive(seed, options, pseudo, prior=None, weighted=False, queries=None, **reference):
    frame, y, weights = patients(seed)
    used = weights if weighted else np.ones(len(y))
    queries = patients(seed + 100, rows=12)[0] if queries is None else queries
    expected = naive_log_joint(frame, y, used, queries, prior or empirical(y, used), pseudo, **reference)
    model = mr.NaiveBayesClassifier(**options).fit(frame, y, sample_weight=weights if weighted else None)
    assert model.classes_.tolist() == list(CLASSES)
    np.testing.assert_allclose(model.predict_joint_log_proba(queries), expected, rtol=1e-11, atol=1e-11)
    posterior = np.exp(expected - expected.max(axis=1, keepdims=True))
    np.testing.assert_allclose(
        model.predict_proba(queries), posterior / posterior.sum(axis=1, keepdims=True), rtol=0, atol=1e-11
    )


def constant(alpha):
    return lambda name, label, level, m: alpha


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("variance", ["mle", "unbiased"])
@pytest.mark.parametrize("missing", ["marginalise", "level"])
def test_naive_bayes_on_a_mixed_table_with_missing_cells(seed, weighted, variance, missing):
    check_naive(
        seed,
        {"variance": variance, "missing": missing},
        constant(1),
        weighted=weighted,
        variance=variance,
        missing=missing,
    )


@pytest.mark.parametrize("alpha", [0.01, 0.5, 7])
@pytest.mark.parametrize("missing", ["marginalise", "level"])
def test_naive_bayes_with_any_pseudo_count(alpha, missing):
    check_naive(4, {"smoothing": alpha, "missing": missing}, constant(alpha), missing=missing, missing_pseudo=alpha)


BY_LEVEL = {"色泽": {"乌黑": 0.5, "浅白": 0.2, "青绿": 0.3}, "größe": {"groß": 0.1, "klein": 0.1, "mittel": 0.8}}
BY_CLASS = {
    "色泽": {
        "healthy": {"乌黑": 0.5, "浅白": 0.2, "青绿": 0.3},
        "ill": {"乌黑": 0.1, "浅白": 0.1, "青绿": 0.8},
        "rare": {"浅白": 1.0},
    },
    "größe": {
        "healthy": {"groß": 1.0},
        "ill": {"klein": 0.25, "groß": 0.75},
        "rare": {"groß": 0.3, "klein": 0.3, "mittel": 0.4},
    },
}


def array_of(table):
    """Beliefs of one column as an array, classes × levels."""
    return {
        name: [[table[name][label].get(level, 0.0) for level in LEVELS[name]] for label in CLASSES]
        for name in CATEGORICAL
    }


M_ESTIMATES = {
    "no p": (mr.MEstimate(3), lambda name, label, level, m: 3 / m),
    "one number": (mr.MEstimate(3, 1 / 3), lambda name, label, level, m: 3 / 3),
    "one vector for all columns": (
        mr.MEstimate(4, [0.5, 0.125, 0.375]),
        lambda name, label, level, m: 4 * [0.5, 0.125, 0.375][LEVELS[name].index(level)],
    ),
    "by level": (mr.MEstimate(2.5, BY_LEVEL), lambda name, label, level, m: 2.5 * BY_LEVEL[name][level]),
    "by level, one column": (
        mr.MEstimate(2.5, {"色泽": BY_LEVEL["色泽"]}),
        lambda name, label, level, m: 2.5 * (BY_LEVEL[name][level] if name == "色泽" else 1 / m),
    ),
    "by class and level": (
        mr.MEstimate(0.7, BY_CLASS),
        lambda name, label, level, m: 0.7 * BY_CLASS[name][label].get(level, 0.0),
    ),
    "by class and level, arrays": (
        mr.MEstimate(0.7, array_of(BY_CLASS)),
        lambda name, label, level, m: 0.7 * BY_CLASS[name][label].get(level, 0.0),
    ),
}


@pytest.mark.parametrize("form", M_ESTIMATES)
def test_naive_bayes_with_every_form_of_m_estimate(form):
    smoothing, pseudo = M_ESTIMATES[form]
    check_naive(5, {"smoothing": smoothing}, pseudo)


def test_naive_bayes_with_an_m_estimate_and_missing_as_a_level():
    check_naive(
        6,
        {"smoothing": mr.MEstimate(3), "missing": "level"},
        lambda name, label, level, m: 3 / m,
        missing="level",
        missing_pseudo=1.5,
    )


PRIORS = {
    "empirical": lambda y: empirical(y, np.ones(len(y))),
    "laplace": lambda y: empirical(y, np.ones(len(y)), 1.0),
    "uniform": lambda y: dict.fromkeys(CLASSES, 1 / 3),
}


@pytest.mark.parametrize("word", PRIORS)
def test_naive_bayes_with_class_priors_by_word(word):
    check_naive(7, {"class_prior": word}, constant(1), prior=PRIORS[word](patients(7)[1]))


@pytest.mark.parametrize(
    "option",
    [{"rare": 0.2, "ill": 0.5, "healthy": 0.3}, [0.3, 0.5, 0.2], (0.3, 0.5, 0.2), np.array([0.3, 0.5, 0.2])],
    ids=["dict", "list", "tuple", "array"],
)
def test_naive_bayes_with_given_class_priors(option):
    check_naive(8, {"class_prior": option}, constant(1), prior={"healthy": 0.3, "ill": 0.5, "rare": 0.2})


@pytest.mark.parametrize("missing", ["marginalise", "level"])
@pytest.mark.parametrize("unseen", ["missing", "smooth"])
@pytest.mark.parametrize(
    ("smoothing", "pseudo"),
    [(0.5, constant(0.5)), (mr.MEstimate(3), lambda name, label, level, m: 3 / m)],
    ids=["Lidstone", "m-estimate"],
)
def test_naive_bayes_with_levels_never_seen_at_fit(smoothing, pseudo, unseen, missing):
    queries = patients(200, rows=12)[0]
    queries.loc[3, "色泽"], queries.loc[5, "größe"] = "ultraviolet", "riesig"
    half = 1.5 if isinstance(smoothing, mr.MEstimate) else 0.5
    with pytest.warns(mr.UnseenLevelWarning, match="ultraviolet"):
        check_naive(
            9,
            {"smoothing": smoothing, "unseen": unseen, "missing": missing},
            pseudo,
            queries=queries,
            unseen=unseen,
            missing=missing,
            missing_pseudo=half,
        )


def test_a_level_never_seen_is_an_error_if_wanted():
    frame, y, _ = patients(9)
    queries = frame.iloc[:2].copy()
    queries.loc[1, "größe"] = "riesig"
    with pytest.raises(ValueError, match=r"größe.*riesig"):
        mr.NaiveBayesClassifier(unseen="error").fit(frame, y).predict(queries)


def test_naive_bayes_without_smoothing_has_log_zero_where_a_level_was_not_met():
    frame, y, _ = patients(10)
    complete = pd.DataFrame([dict(zip(LEVELS, cells, strict=True)) for cells in product(*LEVELS.values())]).assign(
        **{"blood pressure": 120.0, "waiting time": 0.01}
    )
    expected = naive_log_joint(frame, y, np.ones(len(y)), complete, empirical(y, np.ones(len(y))), constant(0))
    assert np.isneginf(expected).any()
    np.testing.assert_allclose(
        mr.NaiveBayesClassifier(smoothing=0).fit(frame, y).predict_joint_log_proba(complete),
        expected,
        rtol=1e-11,
        atol=1e-11,
    )


# --------------------------------------------------------------------------------------------------------------------
# Joint tables, cell by cell

SIZES = (2, 3, 4)
SHELF = ("色泽", "größe", "Wohnort")


def shelf(seed, rows, missing, classes=2):
    """Three categorical columns of 2, 3 and 4 levels with missing cells, every level met in row 0 to 3."""
    rng = np.random.default_rng(seed)
    tables = rng.dirichlet(np.full(np.prod(SIZES), 0.3), size=classes)
    y = rng.integers(0, classes, rows)
    cells = np.stack([np.unravel_index(rng.choice(tables.shape[1], p=tables[label]), SIZES) for label in y])
    cells = np.where(rng.random(cells.shape) < missing, -1, cells)
    cells[:4] = np.stack([np.arange(4) % size for size in SIZES], axis=1)
    return cells, y


def as_words(cells):
    """Codes as words, −1 as missing."""
    words = [["neu", "alt"], ["S", "M", "XL"], ["Ulm", "Köln", "北京", "São Paulo"]]
    return pd.DataFrame(
        {
            name: [None if code < 0 else known[code] for code in column]
            for name, known, column in zip(SHELF, words, np.asarray(cells).T, strict=True)
        },
        dtype=object,
    )


def agreeing(cell):
    """An index of the dense table that picks the cells an incomplete row may be."""
    return tuple(slice(None) if code < 0 else int(code) for code in cell)


ALL_QUERIES = np.array(list(product(*[range(-1, size) for size in SIZES])))


@pytest.mark.parametrize("smoothing", [0, 0.5, 1, mr.MEstimate(6)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_joint_table_with_missing_cells_at_predict_equals_enumeration(smoothing, weighted):
    cells, y = shelf(1, 60, 0.0)
    weights = np.random.default_rng(0).uniform(0.1, 3, len(y)) if weighted else np.ones(len(y))
    model = mr.BayesClassifier(smoothing=smoothing).fit(as_words(cells), y, sample_weight=weights if weighted else None)
    alpha = smoothing.m / np.prod(SIZES) if isinstance(smoothing, mr.MEstimate) else smoothing
    (terms,) = model.terms(as_words(ALL_QUERIES)).values()
    for label in (0, 1):
        dense = np.full(SIZES, float(alpha))
        for cell, owner, weight in zip(cells.tolist(), y, weights, strict=True):
            dense[tuple(cell)] += weight * (owner == label)
        dense /= dense.sum()
        expected = [dense[agreeing(query)].sum() for query in ALL_QUERIES]
        np.testing.assert_allclose(np.exp(terms[:, label]), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("alpha", [0, 0.5, 1])
@pytest.mark.parametrize("levels", [(2,), (3,), (5,), (7,), (2, 3), (3, 3), (3, 5), (2, 3, 4)], ids=str)
def test_joint_table_whose_every_cell_was_met(levels, alpha):
    cells = np.array(list(product(*[range(m) for m in levels])) * 3)
    y = np.repeat(["neu", "alt", "alt"], len(cells) // 3)
    model = mr.BayesClassifier(kinds="categorical", smoothing=alpha).fit(cells, y)
    (terms,) = model.terms(cells).values()
    np.testing.assert_allclose(np.exp(terms), 1 / np.prod(levels), rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(cells), np.tile([2 / 3, 1 / 3], (len(cells), 1)), rtol=0, atol=1e-12)


def test_joint_table_with_a_level_never_seen():
    cells, y = shelf(1, 60, 0.0)
    query = as_words([[0, 1, -1]])
    query["größe"] = "XXL"
    count = [
        sum(1 for cell, owner in zip(cells.tolist(), y, strict=True) if owner == label and cell[0] == 0)
        for label in (0, 1)
    ]
    with pytest.warns(mr.UnseenLevelWarning, match="XXL"):
        (as_missing,) = mr.BayesClassifier().fit(as_words(cells), y).terms(query).values()
    np.testing.assert_allclose(
        np.exp(as_missing[0]), [(count[label] + 12) / (sum(y == label) + 24) for label in (0, 1)], rtol=1e-12
    )
    with pytest.warns(mr.UnseenLevelWarning, match="XXL"):
        (smooth,) = mr.BayesClassifier(unseen="smooth").fit(as_words(cells), y).terms(query).values()
    np.testing.assert_allclose(np.exp(smooth[0]), [4 / (sum(y == label) + 24) for label in (0, 1)], rtol=1e-12)


def test_joint_table_with_missing_as_a_level():
    cells, y = shelf(2, 80, 0.2)
    (terms,) = mr.BayesClassifier(missing="level").fit(as_words(cells), y).terms(as_words(ALL_QUERIES)).values()
    for label in (0, 1):
        own = [tuple(cell) for cell, owner in zip(cells.tolist(), y, strict=True) if owner == label]
        expected = [(own.count(tuple(query)) + 1) / (len(own) + 3 * 4 * 5) for query in ALL_QUERIES.tolist()]
        np.testing.assert_allclose(np.exp(terms[:, label]), expected, rtol=1e-12)


def dense_em(cells, weights, alpha, steps=20_000):
    """θ of every cell by EM over all cells, from a uniform start."""
    theta = np.full(SIZES, 1 / np.prod(SIZES))
    for _ in range(steps):
        before, counts = theta, np.full(SIZES, float(alpha))
        for cell, weight in zip(cells, weights, strict=True):
            part = agreeing(cell)
            counts[part] += weight * theta[part] / theta[part].sum()
        theta = counts / counts.sum()
        if np.abs(theta - before).max() < 1e-15:
            break
    return theta


def fitted_tables(cells, y, alpha, weights=None):
    """merula's probability of every complete cell, one dense table per class."""
    complete = ALL_QUERIES[(ALL_QUERIES >= 0).all(axis=1)]
    (terms,) = (
        mr.BayesClassifier(smoothing=alpha)
        .fit(as_words(cells), y, sample_weight=weights)
        .terms(as_words(complete))
        .values()
    )
    return np.exp(terms.T).reshape(-1, *SIZES)


@pytest.mark.parametrize("alpha", [0.5, 1])
@pytest.mark.parametrize("seed", range(4))
def test_joint_table_fitted_with_missing_cells_equals_dense_em(seed, alpha):
    cells, y = shelf(seed, 50, 0.3)
    for label, table in enumerate(fitted_tables(cells, y, alpha)):
        own = cells[y == label]
        np.testing.assert_allclose(table, dense_em(own, np.ones(len(own)), alpha), rtol=0, atol=1e-9)


def test_joint_table_fitted_with_missing_cells_and_weights_equals_dense_em():
    cells, y = shelf(11, 50, 0.3)
    weights = np.random.default_rng(0).uniform(0, 3, len(y))
    for label, table in enumerate(fitted_tables(cells, y, 1, weights)):
        np.testing.assert_allclose(table, dense_em(cells[y == label], weights[y == label], 1), rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_joint_table_fitted_with_missing_cells_and_no_smoothing_is_the_most_likely(seed):
    """The most likely table need not be unique; but no table is more likely, by the gradient bound for mixtures.

    log L(best) − log L(θ) ≤ max over cells of Σ_rows [row agrees with cell] / P(row) − n (Lindsay 1983, theorem 4.1).
    """
    cells, y = shelf(seed, 50, 0.3)
    for label, table in enumerate(fitted_tables(cells, y, 0)):
        assert table.sum() == pytest.approx(1, abs=1e-12)
        own = [cell for cell in cells[y == label] if (cell >= 0).any()]
        gradient = np.zeros(SIZES)
        for cell in own:
            gradient[agreeing(cell)] += 1 / table[agreeing(cell)].sum()
        assert gradient.max() - len(own) < 1e-6
