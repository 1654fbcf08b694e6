"""A matrix of counts with kinds="text" is one text, whether it comes sparse, as an array or as a data frame."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

import merula as mr

RNG = np.random.default_rng(3)
WORDS = ["Husten", "Fieber", "müde", "咳嗽", "kein", "Tee"]
Y = np.repeat(["gesund", "krank", "unklar"], 12)
COUNTS = RNG.poisson(np.repeat([[1, 0.2, 2, 0.1, 3, 1], [3, 2, 1, 2, 0.3, 1], [1, 1, 1, 1, 1, 1]], 12, axis=0))
NEW = RNG.poisson(1.0, size=(7, 6))
FORMS = {
    "array": lambda x: x,
    "floats": lambda x: x.astype(float),
    "float32": lambda x: x.astype(np.float32),
    "small": lambda x: x.astype(np.uint8),
    "objects": lambda x: x.astype(object),
    "list": lambda x: x.tolist(),
    "column by column": np.asfortranarray,
    "pandas": lambda x: pd.DataFrame(x, columns=WORDS),
    "pandas, mixed": lambda x: pd.DataFrame(x, columns=WORDS).astype({"Tee": float}),
    "polars": lambda x: pl.DataFrame(dict(zip(WORDS, x.T, strict=True))),
    "pyarrow": lambda x: pa.table(dict(zip(WORDS, x.T, strict=True))),
    "masked": np.ma.array,
}
PEERS = {"multinomial": MultinomialNB(), "complement": ComplementNB(), "bernoulli": BernoulliNB()}
every_form = pytest.mark.parametrize("form", FORMS)


def classifier(variant="multinomial", **options):
    return mr.NaiveBayesClassifier(kinds="text", distributions={"text": mr.Multinomial(variant)}, **options)


@every_form
@pytest.mark.parametrize("variant", PEERS)
def test_equal_to_the_sparse_matrix_and_to_scikit_learn(form, variant):
    model = classifier(variant).fit(FORMS[form](COUNTS), Y)
    sparse = classifier(variant).fit(csr_matrix(COUNTS), Y)
    found = model.predict_proba(FORMS[form](NEW))
    assert found.tolist() == sparse.predict_proba(csr_matrix(NEW)).tolist()
    np.testing.assert_allclose(found, PEERS[variant].fit(COUNTS, Y).predict_proba(NEW), rtol=1e-10)
    assert model.n_features_in_ == 6


@every_form
def test_batches_weights_merges_and_files(form, tmp_path):
    make, weights = FORMS[form], RNG.integers(1, 4, len(Y)).astype(float)
    whole = classifier().fit(make(COUNTS), Y, weights)
    parts = [classifier().fit(make(COUNTS[part]), Y[part], weights[part]) for part in (slice(0, 17), slice(17, None))]
    batches = classifier().partial_fit(make(COUNTS[:5]), Y[:5], sample_weight=weights[:5])
    batches.partial_fit(make(COUNTS[5:]), Y[5:], sample_weight=weights[5:])
    whole.save(tmp_path / "model.merula")
    expected = MultinomialNB().fit(COUNTS, Y, weights).predict_proba(NEW)
    for model in (whole, parts[0] + parts[1], batches, mr.load(tmp_path / "model.merula")):
        np.testing.assert_allclose(model.predict_proba(make(NEW)), expected, rtol=1e-10)


def test_forms_may_be_mixed():
    model = classifier().fit(csr_matrix(COUNTS), Y)
    expected = model.predict_proba(csr_matrix(NEW))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names at fit, none at predict, or the other way round
        for make in FORMS.values():
            assert model.predict_proba(make(NEW)).tolist() == expected.tolist()
            assert classifier().fit(make(COUNTS), Y).predict_proba(csr_matrix(NEW)).tolist() == expected.tolist()


def test_columns_of_a_frame_are_words_and_matched_by_name():
    frame, new = pd.DataFrame(COUNTS, columns=WORDS), pd.DataFrame(NEW, columns=WORDS)
    model = classifier().fit(frame, Y)
    assert model.feature_names_in_.tolist() == WORDS
    assert model.predict_proba(new[WORDS[::-1]].assign(unasked=1)).tolist() == model.predict_proba(new).tolist()
    with pytest.raises(mr.InputError, match="column 'Tee' is missing from the table"):
        model.predict(new[WORDS[:-1]])


def test_kinds_for_every_column_say_the_same():
    frame = pd.DataFrame(COUNTS, columns=WORDS)
    model = mr.NaiveBayesClassifier(kinds=dict.fromkeys(WORDS, "text")).fit(frame, Y)
    assert model.predict_proba(frame).tolist() == classifier().fit(frame, Y).predict_proba(frame).tolist()


@pytest.mark.parametrize("row", [NEW[0], NEW[:1], NEW[0].tolist(), csr_matrix(NEW[:1]), pd.DataFrame(NEW[:1], columns=WORDS), dict(zip(WORDS, NEW[0].tolist(), strict=True))])  # fmt: skip
def test_explained(row):
    model = classifier().fit(pd.DataFrame(COUNTS, columns=WORDS), Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = mr.explain(model, row)
    expected = MultinomialNB().fit(COUNTS, Y).predict_proba(NEW[:1])
    np.testing.assert_allclose(found.posterior, expected[0], rtol=1e-10)
    (reason,) = found.reasons
    assert reason.known
    assert reason.values == (f"{NEW[0].sum()} counted words",)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_what_is_no_count_is_refused(bad):
    x = COUNTS.astype(float)
    x[3, 2] = bad
    with pytest.raises(mr.InputError, match="the matrix of counted words holds a negative or infinite count or NaN"):
        classifier().fit(x, Y)
    model = classifier().fit(COUNTS, Y)
    with pytest.raises(mr.InputError, match="counts of words are numbers from 0"):
        model.predict(x[:5])


def test_another_number_of_columns_is_refused():
    with pytest.raises(mr.InputError, match="X has 5 features, but this model is expecting 6 features"):
        classifier().fit(COUNTS, Y).predict(NEW[:, :5])


def test_numbers_among_texts_are_refused_in_one_sentence():
    frame = pd.DataFrame({"Befund": ["Husten und Fieber", "müde"] * 3, "Tage": range(6)})
    for kinds in ("text", {"Befund": "text", "Tage": "text"}, {"Tage": "text"}):
        with pytest.raises(mr.InputError) as error:
            mr.NaiveBayesClassifier(kinds=kinds).fit(frame, ["gesund", "krank"] * 3)
        assert str(error.value) == (
            "column 'Tage' holds numbers, which are counts of words only where every column is; "
            "say kinds={'Tage': 'count'} or 'numeric'"
        )


def test_words_after_counts_are_refused():
    with pytest.raises(mr.InputError, match="was fitted on a matrix of counted words"):
        classifier().fit(COUNTS, Y).predict(np.array([["Husten"] * 6]))


def test_choices_fixed_fit_again():
    model = classifier().fit(pd.DataFrame(COUNTS, columns=WORDS), Y).with_choices_fixed()
    assert model.kinds == "text"
    assert model.fit(COUNTS, Y).predict(NEW).tolist() == classifier().fit(COUNTS, Y).predict(NEW).tolist()
