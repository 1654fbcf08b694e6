"""The laws on tables that hold text beside numbers and words; the tables of `test_laws` have none."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import merula as mr

WORDS = ["Husten", "Fieber", "müde", "sehr", "咳嗽", "kein"]
VARIANTS = ["multinomial", "complement", "bernoulli"]
every_variant = pytest.mark.parametrize("variant", VARIANTS)
FEW = settings(deadline=None, max_examples=12)


def classifier(variant, **options):
    kinds = {"Befund": "text", "temperature": "numeric", "色泽": "categorical"}
    return mr.NaiveBayesClassifier(kinds=kinds, distributions={"text": mr.Multinomial(variant)}, **options)


@st.composite
def reports(draw):
    """Sentences, some missing, some empty; numbers on a grid of eighths; words; whole weights, the first four rows' above 0."""
    n = draw(st.integers(6, 16))
    sentence = st.one_of(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), st.none())
    frame = pd.DataFrame(
        {
            "Befund": pd.Series(draw(st.lists(sentence, min_size=n, max_size=n)), dtype=object),
            "temperature": np.array(draw(st.lists(st.integers(280, 330), min_size=n, max_size=n))) / 8,
            "色泽": draw(st.lists(st.sampled_from(["yellow", "pink"]), min_size=n, max_size=n)),
        }
    )
    frame.loc[:1, "Befund"] = ["kein Husten", "Fieber"]
    y = np.array(draw(st.lists(st.sampled_from(["gesund", "krank"]), min_size=n, max_size=n)))
    y[:4] = ["gesund", "krank", "krank", "gesund"]
    weight = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    weight[:4] = np.maximum(weight[:4], 1)
    return frame, y, weight


def same(one, two, frame, other=None):
    np.testing.assert_allclose(
        one.predict_joint_log_proba(frame), two.predict_joint_log_proba(frame if other is None else other), rtol=1e-9
    )


@every_variant
@FEW
@given(data=st.data(), table=reports())
def test_order_repeats_batches_and_merges_do_not_matter(variant, data, table):
    frame, y, weight = table
    whole = classifier(variant).fit(frame, y, weight)
    known = frame[weight > 0]
    order = np.array(data.draw(st.permutations(np.repeat(np.arange(len(y)), weight).tolist())))
    same(whole, classifier(variant).fit(frame.iloc[order], y[order]), known)
    same(whole, classifier(variant).fit(frame[frame.columns[::-1]], y, weight), known)
    cut = data.draw(st.integers(1, 3))
    parts = [slice(0, cut), slice(cut, None)]
    batched = classifier(variant)
    for part in parts:
        batched.partial_fit(frame[part], y[part], sample_weight=weight[part])
    same(whole, batched, known)
    one, two = (classifier(variant).partial_fit(frame[part], y[part], sample_weight=weight[part]) for part in parts)
    same(whole, one + two, known)
    same(whole, two + one, known)


@every_variant
@FEW
@given(table=reports(), scale=st.sampled_from([2.0**-20, -3.0, 1e6]))
def test_units_and_constant_columns_do_not_matter(variant, table, scale):
    frame, y, weight = table
    model, known = classifier(variant).fit(frame, y, weight), frame[weight > 0]
    other = frame.assign(temperature=frame["temperature"] * scale, Einwilligung="ja")
    posterior = classifier(variant).fit(other, y, weight).predict_log_proba(other[weight > 0])
    np.testing.assert_allclose(posterior, model.predict_log_proba(known), rtol=1e-9, atol=1e-9)


@every_variant
@FEW
@given(table=reports())
def test_probabilities_sum_to_one_gaps_give_the_prior_and_files_keep_every_bit(variant, tmp_path_factory, table):
    frame, y, weight = table
    model = classifier(variant).fit(frame, y, weight)
    answer = model.predict_proba(frame[weight > 0])
    assert np.isfinite(answer).all()
    np.testing.assert_allclose(answer.sum(axis=1), 1, rtol=0, atol=1e-12)
    nothing = model.predict_proba(pd.DataFrame([dict.fromkeys(frame)]))
    np.testing.assert_allclose(nothing[0], np.exp(model.class_log_prior_), rtol=1e-12)
    path = tmp_path_factory.mktemp("texts") / "Befunde.merula"
    model.save(path)
    np.testing.assert_array_equal(mr.load(path).predict_proba(frame[weight > 0]), answer)


def test_auto_leaves_text_to_its_one_family():
    rng = np.random.default_rng(5)
    y = np.repeat(["gesund", "krank"], 40)
    frame = pd.DataFrame(
        {
            "Befund": ["kein Husten" if label == "gesund" else "Fieber und Husten" for label in y],
            "temperature": rng.normal(37, 1, 80) + 2 * (y == "krank"),
        }
    )
    model = mr.NaiveBayesClassifier(kinds={"Befund": "text"}, distributions="auto").fit(frame, y)
    assert list(model.distribution_scores_) == ["temperature"]
    assert model.score(frame, y) == 1.0
