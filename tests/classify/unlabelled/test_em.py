"""Rows without a class: one step against EM by hand, the objective against its definition, and what must not matter."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import logsumexp
from scipy.stats import norm

import merula as mr
from merula.classify.model_files import model_state

COLOURS, SHAPES = ["red", "green", "blue"], ["round", "flat"]


def fruit(rows: int, seed: int, missing: float = 0.0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, rows)
    colour = np.where(rng.random(rows) < 0.6, kind, rng.integers(0, 3, rows))
    shape = np.where(rng.random(rows) < 0.7, kind % 2, rng.integers(0, 2, rows))
    table = pd.DataFrame(
        {
            "größe": rng.normal(kind * 1.5, 1.0),
            "blood pressure": rng.normal(kind, 2.0) * 10,
            "color": np.array(COLOURS, dtype=object)[colour],
            "shape": np.array(SHAPES, dtype=object)[shape],
            "visits": rng.poisson(1 + 2 * kind),
        }
    )
    hidden = rng.random(table.shape) < missing
    tastes = rng.random(rows)
    hidden[: 9 if missing else 0] = False
    kinds = np.array(["apple", "cherry", "plum"])[kind]
    kinds[:9] = ["apple", "cherry", "plum"] * 3
    table = table.astype({"visits": float}).mask(hidden)
    return table.assign(taste=np.where(tastes < 0.2 + 0.3 * kind, "sweet", "sour")), kinds


NUMBERS, WORDS = ["größe", "blood pressure"], ["color", "shape"]


def test_steps_are_those_of_em_written_by_hand() -> None:
    colour = ["red", "red", "blue", "blue", "green"]
    fruits = np.array(["apple", "cherry", "cherry", "apple", "cherry"])
    others, weight = ["red", "blue", "green", "blue", "blue"], 0.7
    size, other_size = np.array([1.0, 2.0, 3.5, 1.2, 4.0]), np.array([1.1, 3.0, np.nan, 3.6, 0.5])
    levels = ["blue", "green", "red"]
    own = np.array([[name == "apple", name == "cherry"] for name in fruits], dtype=float)
    codes, other_codes = ([levels.index(one) for one in some] for some in (colour, others))

    def maximised(shares):  # the weight of every row in both classes → log P(class, row) of any rows
        mass, rows = np.concatenate([own, weight * shares]), np.concatenate([size, other_size])
        counts = np.stack([mass[np.array([*codes, *other_codes]) == k].sum(axis=0) for k in range(3)])
        table = (counts + 2.0) / (counts + 2.0).sum(axis=0)
        known = ~np.isnan(rows)
        mean = (mass[known] * rows[known, None]).sum(axis=0) / mass[known].sum(axis=0)
        variance = (mass[known] * (rows[known, None] - mean) ** 2).sum(axis=0) / mass[known].sum(axis=0)
        prior = (mass.sum(axis=0) + 1) / (mass.sum() + 2)

        def joint(some, cells):
            density = norm.logpdf(np.array(cells)[:, None], mean, np.sqrt(variance))
            return np.log(prior) + np.log(table[some]) + np.where(np.isnan(density), 0.0, density)

        belief = 2.0 * np.log(table).sum() + np.log(prior).sum()
        return joint, belief

    model = mr.NaiveBayesClassifier(smoothing=2, class_prior="laplace")
    rows = pd.DataFrame({"color": colour, "size": size})
    model.fit(rows, fruits, unlabelled=pd.DataFrame({"color": others, "size": other_size}), unlabelled_weight=weight)
    heights = []
    joint, _ = maximised(np.zeros((5, 2)))
    for _ in model.unlabelled_.objective:
        found = joint(other_codes, other_size)
        joint, belief = maximised(np.exp(found - logsumexp(found, axis=1, keepdims=True)))
        labelled = (own * joint(codes, size)).sum()
        heights.append(labelled + weight * logsumexp(joint(other_codes, other_size), axis=1).sum() + belief)
    np.testing.assert_allclose(model.unlabelled_.objective, heights, rtol=1e-11)
    np.testing.assert_allclose(model.predict_joint_log_proba(rows), joint(codes, size), rtol=1e-10)
    assert model.unlabelled_.ended == "settled" and len(heights) >= 3


EXACT = {
    "words": (mr.NaiveBayesClassifier(), WORDS),
    "words, unsmoothed": (mr.NaiveBayesClassifier(smoothing=0), WORDS),
    "words, m-estimate": (mr.NaiveBayesClassifier(smoothing=mr.MEstimate(3)), WORDS),
    "missing is a level": (mr.NaiveBayesClassifier(missing="level", class_prior="laplace"), [*WORDS, *NUMBERS]),
    "numbers": (mr.NaiveBayesClassifier(), NUMBERS),
    "both, uniform prior": (mr.NaiveBayesClassifier(class_prior="uniform"), [*NUMBERS, *WORDS]),
    "counts": (mr.NaiveBayesClassifier(kinds={"visits": "count"}), ["visits", "color"]),
    "poisson": (mr.NaiveBayesClassifier(distributions={"visits": "poisson"}), ["visits"]),
    "joint table": (mr.BayesClassifier(), WORDS),
}
COMPLETE = {
    "normal": (mr.BayesClassifier(shrinkage=0), NUMBERS),
    "shared normal": (mr.BayesClassifier(shrinkage=0, covariance="shared"), NUMBERS),
    "tree": (mr.TANClassifier(smoothing=0), [*WORDS, "taste"]),
    "stated parents": (mr.KDBClassifier(parents={"color": ["shape"]}, smoothing=1), WORDS),
    "network": (
        mr.BayesianNetworkClassifier(network=[("class", "color"), ("class", "shape"), ("color", "shape")]),
        WORDS,
    ),
    "class below": (mr.BayesianNetworkClassifier(network=[("color", "class"), ("class", "shape")]), WORDS),
    "network of numbers": (
        mr.BayesianNetworkClassifier(
            network=[("class", "größe"), ("class", "blood pressure"), ("größe", "blood pressure")], numeric="gaussian"
        ),
        NUMBERS,
    ),
    "class prior of its own": (
        mr.BayesianNetworkClassifier(network=[("class", "color"), ("color", "shape")], class_prior="laplace"),
        WORDS,
    ),
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", [*EXACT, *COMPLETE])
def test_the_objective_rises_at_every_step_to_where_it_settles(name, seed) -> None:
    """Also where cells are missing, but for estimates that leave rows out that lack some of them."""
    model, columns = (EXACT | COMPLETE)[name]
    count = 60 if name == "network of numbers" else 18  # a class of few rows would borrow slopes
    table, kinds = fruit(72 + count, seed, missing=0.15 if name in EXACT else 0.0)
    known, others = table[columns][:count], table[columns][count:]
    fitted = model.fit(known, kinds[:count], unlabelled=others, unlabelled_weight=[1.0, 0.3, 0.05, 2.0][seed])
    told = fitted.unlabelled_
    assert told.ended in ("settled", "stopped"), told
    assert (np.diff(told.objective) >= 0).all() and told.objective[-1] > told.objective[0]


@pytest.mark.parametrize("name", ["words", "numbers", "counts", "normal", "network of numbers", "joint table"])
def test_the_objective_is_likelihood_evidence_and_prior(name) -> None:
    model, columns = (EXACT | COMPLETE)[name]
    table, kinds = fruit(60, 7)
    known, others = table[columns][:18], table[columns][18:]
    model = model.fit(known, kinds[:18], unlabelled=others, unlabelled_weight=0.4)
    height = model.log_likelihood(known, kinds[:18]) + 0.4 * model.log_evidence(others).sum()
    if name == "words":
        height += sum(np.log(model.distributions_[0].probabilities(column)).sum() for column in WORDS)
    if name == "joint table":
        cells = pd.DataFrame([(colour, shape) for colour in COLOURS for shape in SHAPES], columns=WORDS)
        height += (model.terms(cells)["color", "shape"] + np.log(6)).sum()
    if name == "counts":  # one imaginary row in every class, as all rows together
        pooled = pd.concat([known, others])
        shares = np.r_[np.ones(18), np.full(42, 0.4)] / (18 + 0.4 * 42)
        height += (shares[:, None] * model.terms(pooled)["visits"]).sum()
        height += np.log(model.distributions_[1].probabilities("color")).sum()
    if name == "network of numbers":  # a row is imagined in every class
        height += model.class_log_prior_.sum()
    np.testing.assert_allclose(model.unlabelled_.objective[-1], height, rtol=1e-10)


def test_what_is_shrunk_or_backed_off_ends_before_the_objective_falls() -> None:
    ended = set()
    for seed in range(6):
        table, kinds = fruit(80, seed)
        for model, columns in (
            (mr.TANClassifier(), WORDS),
            (mr.BayesClassifier(shrinkage=0.5, variance="unbiased"), NUMBERS),
        ):
            told = model.fit(
                table[columns][:15], kinds[:15], unlabelled=table[columns][15:], unlabelled_weight=1
            ).unlabelled_
            assert (np.diff(told.objective) >= 0).all()
            ended.add(told.ended)
    assert "fell" in ended


def test_levels_that_only_rows_without_a_class_hold_exist() -> None:
    known, kinds = pd.DataFrame({"color": ["red", "red", "blue"]}), ["apple", "apple", "plum"]
    others = pd.DataFrame({"color": ["violet", "blue", "red", None]})
    model = mr.NaiveBayesClassifier(unseen="error").fit(known, kinds, unlabelled=others, unlabelled_weight=1)
    assert model.schema_["color"].levels == ("blue", "red", "violet")
    assert np.isfinite(model.predict_proba(others)).all()
    left_out = mr.NaiveBayesClassifier().fit(known, kinds, unlabelled=others, unlabelled_weight=0)
    assert left_out.schema_["color"].levels == ("blue", "red")


def test_unsmoothed_rows_that_no_class_explains_are_learned_from() -> None:
    known, kinds = pd.DataFrame({"color": ["red", "blue"], "shape": ["flat", "round"]}), ["apple", "plum"]
    others = pd.DataFrame({"color": ["red", "blue"], "shape": ["round", "flat"]})
    model = mr.NaiveBayesClassifier(smoothing=0).fit(known, kinds, unlabelled=others, unlabelled_weight=1)
    assert np.isfinite(model.unlabelled_.objective).all()
    np.testing.assert_allclose(model.predict_proba(others), 0.5)


@pytest.mark.parametrize("name", ["missing is a level", "counts", "joint table", "normal", "tree", "network"])
def test_order_of_rows_and_threads_do_not_matter(name) -> None:
    model, columns = (EXACT | COMPLETE)[name]
    table, kinds = fruit(120, 3, missing=0.1 if name in EXACT else 0.0)
    known, others = table[columns][:18], table[columns][18:]
    one = model.fit(known, kinds[:18], unlabelled=others, unlabelled_weight=0.5).predict_proba(table[columns])
    turned = others.sample(frac=1, random_state=5)[columns[::-1]]
    other = model.set_params(n_jobs=2).fit(known[::-1], kinds[:18][::-1], unlabelled=turned, unlabelled_weight=0.5)
    np.testing.assert_allclose(other.predict_proba(table[columns]), one, rtol=0, atol=1e-12)
    model.set_params(n_jobs=None)


@pytest.mark.parametrize("name", ["missing is a level", "counts", "normal", "tree", "network"])
def test_a_weight_of_two_is_the_row_twice(name) -> None:
    model, columns = (EXACT | COMPLETE)[name]
    table, kinds = fruit(60, 4)
    known, others, twice = table[columns][:18], table[columns][18:], np.r_[np.full(5, 2.0), np.ones(13)]
    one = model.fit(known, kinds[:18], sample_weight=twice, unlabelled=others, unlabelled_weight=1.0)
    one, probe = one.predict_proba(table[columns]), table[columns]
    rows = np.r_[0:5, 0:18]
    other = model.fit(known.iloc[rows], kinds[rows], unlabelled=pd.concat([others, others]), unlabelled_weight=0.5)
    np.testing.assert_allclose(other.predict_proba(probe), one, rtol=0, atol=1e-9)


def texts(rows: int, seed: int) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    spam = rng.random(rows) < 0.5
    words = [["win", "cash", "prize", "now", "call"], ["lunch", "see", "you", "now", "home"]]
    written = [" ".join(rng.choice(words[0 if one ^ (rng.random() < 0.02) else 1], 6)) for one in spam]
    return written, ["spam" if one else "ham" for one in spam]


@pytest.mark.parametrize("variant", ["multinomial", "bernoulli"])
def test_texts_as_strings_and_as_counts_give_the_same_model(variant) -> None:
    written, kinds = texts(80, 1)
    vocabulary = sorted({word for text in written for word in text.split()})
    counts = np.array([[text.split().count(word) for word in vocabulary] for text in written])
    models = []
    for rows in (np.array(written, dtype=object)[:, None], sparse.csr_matrix(counts)):
        model = mr.NaiveBayesClassifier(kinds="text", distributions={"text": mr.Multinomial(variant)})
        models.append(model.fit(rows[:12], kinds[:12], unlabelled=rows[12:], unlabelled_weight=1).predict_proba(rows))
        told = model.unlabelled_
        assert told.ended == "settled" and told.objective[-1] > told.objective[0]
    np.testing.assert_allclose(models[0], models[1], atol=1e-10)
    assert (np.array(["ham", "spam"])[models[0].argmax(axis=1)] == kinds).mean() > 0.9


def bits(value):
    """Plain data with every number to its last bit."""
    if isinstance(value, dict):
        return {key: bits(part) for key, part in value.items() if key != "unlabelled"}
    if isinstance(value, list | tuple):
        return [bits(part) for part in value]
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    return value.hex() if isinstance(value, float) else repr(value)


@pytest.mark.parametrize("name", [*EXACT, *COMPLETE])
def test_without_such_rows_or_with_weight_0_the_model_is_that_of_labelled_rows_to_the_bit(name) -> None:
    model, columns = (EXACT | COMPLETE)[name]
    table, kinds = fruit(40, 6)
    alone = bits(model_state(model.fit(table[columns][:20], kinds[:20])))
    for options in ({"unlabelled": table[columns][:0]}, {"unlabelled": table[columns][20:], "unlabelled_weight": 0}):
        model.fit(table[columns][:20], kinds[:20], **options)
        assert model.unlabelled_.weight == 0 and not model.unlabelled_.objective
        assert bits(model_state(model)) == alone
