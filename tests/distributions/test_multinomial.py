"""Text by the word: equal to scikit-learn's three naive Bayes models, with weights, missing texts, batches and files."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

import merula as mr
from merula.data.encode.tokens import tokenise, words

LETTERS = [
    ("Win a free prize now, call now!", "spam"),
    ("free entry: win cash, text WIN to 80086", "spam"),
    ("are we meeting for lunch tomorrow?", "ham"),
    ("call me when you are free, lunch is on me", "ham"),
    ("prize prize PRIZE", "spam"),
    ("größe und straße: see you at lunch", "ham"),
]
TEXTS, KINDS = [text for text, _ in LETTERS], [kind for _, kind in LETTERS]
PEERS = {"multinomial": MultinomialNB, "complement": ComplementNB, "bernoulli": BernoulliNB}


def counted():
    vectorizer = CountVectorizer()
    return vectorizer, vectorizer.fit_transform(TEXTS)


@pytest.mark.parametrize("variant", PEERS)
@pytest.mark.parametrize("alpha", [1.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_to_scikit_learn(variant, alpha, weighted):
    vectorizer, X = counted()
    weights = np.array([1.0, 2.0, 0.5, 3.0, 1.0, 1.5]) if weighted else None
    options = {} if variant == "complement" else {"fit_prior": False}
    peer = PEERS[variant](alpha=alpha, **options).fit(X, KINDS, sample_weight=weights)
    family = mr.Multinomial(variant, smoothing=alpha)
    strangers = ["free lunch", "cash prize lunch lunch", "nothing known here", ""]
    expected = peer.predict_proba(vectorizer.transform(strangers))
    model = mr.NaiveBayesClassifier(kinds="text", class_prior="uniform", distributions={"text": family})
    from_text = model.fit([[text] for text in TEXTS], KINDS, sample_weight=weights).predict_proba(
        [[t] for t in strangers]
    )
    np.testing.assert_allclose(from_text, expected, rtol=1e-9)
    from_counts = model.fit(X, KINDS, sample_weight=weights).predict_proba(vectorizer.transform(strangers))
    np.testing.assert_allclose(from_counts, expected, rtol=1e-9)


def test_log_joint_equals_scikit_learn_with_its_prior():
    _, X = counted()
    ours = mr.NaiveBayesClassifier(kinds="text").fit(X, KINDS)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(X), MultinomialNB().fit(X, KINDS).predict_joint_log_proba(X), rtol=1e-12
    )
    assert ours.n_features_in_ == X.shape[1]


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.coo_matrix, sp.csr_matrix])
def test_every_form_of_sparse_matrix_counts_the_same(form):
    _, X = counted()
    reference = mr.NaiveBayesClassifier(kinds="text").fit(X, KINDS).predict_proba(X)
    again = mr.NaiveBayesClassifier(kinds="text").fit(form(X), KINDS).predict_proba(form(X))
    np.testing.assert_allclose(again, reference, rtol=1e-12)


def test_words_are_scikit_learns_except_that_ideographs_stand_alone():
    analyse = CountVectorizer().build_analyzer()
    for text in [*TEXTS, "it's 5 o'clock_sharp — naïve café 12.5%", "X"]:
        assert words(text) == analyse(text)
    assert words("色泽 青绿, size XL") == ["色", "泽", "青", "绿", "size", "xl"]


def test_text_numbers_and_categories_stand_in_one_model():
    frame = pd.DataFrame({"message": TEXTS, "length": [31.0, 39, 34, np.nan, 17, 34], "sender": list("ababba")})
    kinds = {"message": "text"}
    together = mr.NaiveBayesClassifier(kinds=kinds, class_prior="uniform").fit(frame, KINDS)
    apart = [
        mr.NaiveBayesClassifier(kinds=kinds, class_prior="uniform").fit(frame[["message"]], KINDS),
        mr.NaiveBayesClassifier(class_prior="uniform").fit(frame[["length", "sender"]], KINDS),
    ]
    logs = apart[0].predict_log_proba(frame[["message"]]) + apart[1].predict_log_proba(frame[["length", "sender"]])
    expected = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    np.testing.assert_allclose(together.predict_proba(frame), expected, rtol=1e-9)
    assert "free" in str(mr.explain(together, frame.iloc[0]))


def test_a_missing_text_says_nothing_an_empty_one_is_known():
    frame = pd.DataFrame({"message": [*TEXTS, None, None]})
    target = [*KINDS, "ham", "ham"]
    model = mr.NaiveBayesClassifier(kinds="text").fit(frame, target)
    prior = np.array([5 / 8, 3 / 8])
    np.testing.assert_allclose(model.predict_proba(frame[7:])[0], prior, rtol=1e-12)
    alone = mr.NaiveBayesClassifier(kinds="text", class_prior="uniform").fit(frame[:6], KINDS)
    uniform = mr.NaiveBayesClassifier(kinds="text", class_prior="uniform").fit(frame, target)
    np.testing.assert_allclose(uniform.predict_proba(frame[:6]), alone.predict_proba(frame[:6]), rtol=1e-12)
    informative = mr.NaiveBayesClassifier(kinds="text", missing="level").fit(frame, target)
    # missing: 2 of 5 ham and 0 of 3 spam, one pseudo-count each way; prior 5/8 and 3/8
    ham, spam = 5 / 8 * (2 + 1) / (5 + 2), 3 / 8 * (0 + 1) / (3 + 2)
    np.testing.assert_allclose(
        informative.predict_proba(frame[7:])[0], [ham / (ham + spam), spam / (ham + spam)], rtol=1e-12
    )


@pytest.mark.parametrize("variant", PEERS)
def test_batches_merges_and_files_give_the_same_model(variant, tmp_path):
    frame = pd.DataFrame({"message": TEXTS})
    make = lambda: mr.NaiveBayesClassifier(kinds="text", distributions={"text": mr.Multinomial(variant)})  # noqa: E731
    whole = make().fit(frame, KINDS)
    stream = make()
    for index in (0, 2, 4):
        stream.partial_fit(frame[index : index + 2], KINDS[index : index + 2])
    merged = make().partial_fit(frame[3:], KINDS[3:]) + make().partial_fit(frame[:3], KINDS[:3])
    for other in (stream, merged):
        np.testing.assert_allclose(other.predict_proba(frame), whole.predict_proba(frame), rtol=1e-12)
    whole.save(tmp_path / "letters.merula")
    loaded = mr.load(tmp_path / "letters.merula")
    assert (loaded.predict_proba(frame) == whole.predict_proba(frame)).all()
    np.testing.assert_allclose((loaded + stream).predict_proba(frame), (whole + whole).predict_proba(frame), rtol=1e-12)


@given(st.lists(st.tuples(st.text("ab 色é", max_size=12), st.sampled_from(["ja", "nein"])), min_size=2, max_size=12))
def test_counting_equals_counting_word_by_word(rows):
    rows = [*rows, ("ab ab ba", "ja"), ("ba", "nein")]
    texts, labels = [text for text, _ in rows], [label for _, label in rows]
    model = mr.NaiveBayesClassifier(kinds="text").fit([[text] for text in texts], labels)
    vocabulary = sorted({word for text in texts for word in words(text)})
    counts = {c: {w: sum(words(t).count(w) for t, k in rows if k == c) for w in vocabulary} for c in ("ja", "nein")}
    query = "ab ba ba 色 unknownword"
    expected = []
    for c in ("ja", "nein"):
        total = sum(counts[c].values()) + len(vocabulary)
        logs = [np.log((counts[c][w] + 1) / total) for w in words(query) if w in vocabulary]
        expected.append(np.log(labels.count(c) / len(labels)) + sum(logs))
    np.testing.assert_allclose(model.predict_joint_log_proba([[query]])[0], expected, rtol=1e-12)


def test_sentences_are_recognised_as_text_and_said_so():
    rng = np.random.default_rng(5)
    vocabulary = [f"wort{k}" for k in range(50)]
    texts = [" ".join(rng.choice(vocabulary, 6)) for _ in range(60)]
    frame = pl.DataFrame({"bericht": texts, "blood type": ["A", "B", "0"] * 20})
    with pytest.warns(mr.GuessedKindWarning, match="'bericht' looks like text .*60 different values.*say kinds="):
        model = mr.NaiveBayesClassifier().fit(frame, ["ja", "nein"] * 30)
    assert [column.kind for column in model.schema_.columns] == ["text", "categorical"]
    mr.NaiveBayesClassifier(kinds={"bericht": "categorical"}).fit(frame, ["ja", "nein"] * 30)  # said: no warning


def test_the_guess_does_not_depend_on_the_order_of_rows():
    names = [f"{name} von und zu {k}" for k, name in enumerate(["Amsel"] * 40)]
    frame = pd.DataFrame({"name": names + ["Amsel"] * 20})
    for rows in (frame, frame[::-1]):
        with pytest.warns(mr.GuessedKindWarning):
            assert mr.NaiveBayesClassifier().fit(rows, ["ja", "nein"] * 30).schema_["name"].kind == "text"


def test_tokens_taken_row_by_row_are_the_texts_tokens():
    tokens = tokenise(TEXTS)
    some = tokens.take(np.array([4, 0, 4]))
    again = tokenise([TEXTS[4], TEXTS[0], TEXTS[4]])
    for row in range(3):
        part, other = slice(*some.starts[row : row + 2]), slice(*again.starts[row : row + 2])
        assert {some.labels[k]: n for k, n in zip(some.codes[part], some.counts[part], strict=True)} == {
            again.labels[k]: n for k, n in zip(again.codes[other], again.counts[other], strict=True)
        }


@pytest.mark.parametrize("count", [-1.0, np.nan, np.inf])
def test_what_is_no_count_is_refused_at_fit_and_at_predict(count):
    _, X = counted()
    model = mr.NaiveBayesClassifier(kinds="text").fit(X, KINDS)
    bad = X.astype(float)
    bad.data[3] = count
    for ask in (lambda: model.predict_proba(bad), lambda: mr.NaiveBayesClassifier(kinds="text").fit(bad, KINDS)):
        with pytest.raises(ValueError, match="negative or infinite count or NaN"):
            ask()


def test_errors_say_what_to_do():
    _, X = counted()
    with pytest.raises(TypeError, match="kinds='text'"):
        mr.NaiveBayesClassifier().fit(X, KINDS)
    model = mr.NaiveBayesClassifier(kinds="text").fit(X, KINDS)
    with pytest.raises(ValueError, match="X has 3 features, but this model is expecting"):
        model.predict_proba(X[:, :3])
    with pytest.raises(ValueError, match="was fitted on a matrix of counted words"):
        model.predict_proba([["win"] * X.shape[1]])
    with pytest.raises(TypeError, match="Sparse data was passed"):
        mr.NaiveBayesClassifier(kinds="text").fit([[text] for text in TEXTS], KINDS).predict(X)
    with pytest.raises(ValueError, match="variant is 'complementary'.*did you mean 'complement'"):
        mr.NaiveBayesClassifier(kinds="text", distributions={"text": mr.Multinomial("complementary")}).fit(X, KINDS)
    for variant in ("complement", "bernoulli"):
        family = mr.Multinomial(variant, smoothing=0)
        with pytest.raises(ValueError, match="use smoothing > 0"):
            mr.NaiveBayesClassifier(kinds="text", distributions={"text": family}).fit(X, KINDS)
    with pytest.raises(ValueError, match="cannot be sampled"):
        model.sample(2)


@pytest.mark.parametrize("alpha", [0, 1])
@pytest.mark.parametrize("variant", ["multinomial", "complement", "bernoulli"])
@pytest.mark.parametrize("texts", [["!", "?", ""], [None, None, None]], ids=["wordless", "missing"])
def test_a_column_without_any_word_says_nothing(texts, variant, alpha):
    family = mr.Multinomial(variant, smoothing=alpha)
    model = mr.NaiveBayesClassifier(kinds={"bericht": "text"}, distributions={"text": family})
    model.fit(pd.DataFrame({"bericht": pd.Series(texts, dtype=object)}), ["ja", "nein", "nein"])
    asked = pd.DataFrame({"bericht": ["gut", "", None]})
    np.testing.assert_allclose(model.predict_proba(asked), [[1 / 3, 2 / 3]] * 3, rtol=1e-12)
    empty = sp.csr_array((3, 4))
    model = mr.NaiveBayesClassifier(kinds="text", distributions={"text": family}).fit(empty, ["ja", "nein", "nein"])
    np.testing.assert_allclose(model.predict_proba(empty), [[1 / 3, 2 / 3]] * 3, rtol=1e-12)
