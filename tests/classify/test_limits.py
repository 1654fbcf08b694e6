"""Costs are known before memory is taken: what is too large is refused at once, in one sentence that says what to change."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

import merula as mr

CLASSES = np.arange(1_000)
MODEST = 200 * 2**20  # bytes that a refusal may take


@pytest.fixture
def peak():
    """The largest number of bytes in use at once since it was asked for."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


def refused(model, X, y):
    with pytest.raises(mr.TooLargeError) as error:
        model.fit(X, y)
    assert isinstance(error.value, mr.InputError)
    assert isinstance(error.value, MemoryError)
    assert error.value.needed > error.value.limit == 2 * 2**30
    assert "set MERULA_MOST_BYTES" in str(error.value)
    return str(error.value)


def test_many_levels_in_many_classes(peak):
    codes = pd.DataFrame({"Postleitzahl": np.arange(100_000).astype(str)})
    said = refused(mr.NaiveBayesClassifier(kinds="categorical"), codes, np.arange(100_000) % 1_000)
    assert said.startswith("column 'Postleitzahl' has 100,00")
    assert "levels in 1,000 classes, which need tables of 4.8 GB, the limit is 2.15 GB; leave it out" in said
    assert peak() < MODEST


def test_many_words_in_many_classes(peak):
    counts = csr_matrix((np.ones(1_000), (CLASSES, CLASSES)), shape=(1_000, 200_000))
    said = refused(mr.NaiveBayesClassifier(kinds="text"), counts, CLASSES)
    assert "column 'text' has 200,000 words in 1,000 classes" in said
    assert peak() < MODEST


@pytest.mark.parametrize("family", ["kernel", "mixture", "histogram", "poisson"])
def test_many_values_in_many_classes(family):
    rows = pd.DataFrame({"größe": np.arange(60_000)})
    model = mr.NaiveBayesClassifier(distributions={"numeric": family}, kinds={"größe": "count"} if family == "poisson" else None)  # fmt: skip
    if family == "poisson":
        model.set_params(distributions={"count": family})
    said = refused(model, rows, np.arange(60_000) % 1_000)
    assert "column 'größe' has 60,000 different values in 1,000 classes" in said


def test_many_columns_of_a_full_covariance(peak):
    rows = np.zeros((4, 5_000))
    for covariance in ("full", "shared"):
        said = refused(mr.BayesClassifier(covariance=covariance), rows, [0, 1, 0, 1])
        assert said.startswith("5,000 numeric columns in 2 classes need covariances of 2.4 GB, the limit is 2.15 GB; ")
        assert "use covariance='diagonal' or fewer columns" in said
    assert peak() < MODEST
    assert mr.BayesClassifier(covariance="diagonal").fit(rows + np.arange(4)[:, None], [0, 1, 0, 1]).predict(
        rows
    ).shape == (4,)


def test_many_rows_of_a_joint_table_in_many_classes():
    rows = pd.DataFrame({"Ort": np.arange(65_536).astype(str), "Farbe": "rot"})
    said = refused(mr.BayesClassifier(kinds="categorical"), rows, np.arange(65_536) % 2_000)
    assert "65,536 distinct rows of 2 columns in 2,000 classes need a joint table" in said


def test_few_distinct_rows_of_many_rows_in_many_classes(peak):
    y = np.arange(65_536) % 1_500
    rows = pd.DataFrame({"Farbe": np.where(y % 2, "rot", "blau"), "Ort": np.where(y % 3, "Ulm", "Bonn")})
    model = mr.BayesClassifier().fit(rows, y)
    assert peak() < 2 * MODEST
    assert np.count_nonzero(model.predict_proba(rows.iloc[:1])[0] > 0.5 / 250) == 250  # one in six classes has this row


@pytest.mark.parametrize("model", [mr.BayesClassifier(kinds="categorical"), mr.NaiveBayesClassifier(distributions={"numeric": "kernel"}), mr.NaiveBayesClassifier(kinds="categorical"), mr.NaiveBayesClassifier(kinds="text")])  # fmt: skip
@pytest.mark.parametrize("batches", [False, True])
def test_what_grows_too_large_by_many_blocks_of_rows(monkeypatch, model, batches):
    numbers = np.arange(200_000)
    rows = pd.DataFrame({"Maß": numbers.astype(float)}) if model.distributions else pd.DataFrame({"Ort": numbers.astype(str)})  # fmt: skip
    monkeypatch.setenv("MERULA_MOST_BYTES", "15e6")  # a block of 65,536 rows needs 6.3 MB
    if isinstance(model, mr.BayesClassifier):
        rows["Farbe"] = np.where(numbers % 2, "rot", "blau")
    with pytest.raises(mr.TooLargeError, match="in 2 classes,? (which )?needs? "):
        if not batches:
            model.fit(rows, numbers % 2)
        for start in range(0, len(rows), 25_000):
            model.partial_fit(rows[start : start + 25_000], numbers[start : start + 25_000] % 2)


def test_levels_are_counted_of_the_column_that_is_named():
    rows = np.column_stack([np.arange(60_000) % 30_000, np.arange(60_000) % 29_000, np.arange(60_000) % 5])
    said = refused(mr.NaiveBayesClassifier(kinds="categorical"), rows, np.arange(60_000) % 1_000)
    found = re.match(r"column 'x0' has ([\d,]+) levels \(all 3 columns: ([\d,]+)\) in 1,000 classes", said)
    assert found
    assert [round(int(number.replace(",", "")), -3) for number in found.groups()] == [30_000, 59_000]


def test_the_limit_is_stated_in_the_environment(monkeypatch):
    rows, y = np.random.default_rng(0).normal(size=(40, 30)), np.arange(40) % 2
    monkeypatch.setenv("MERULA_MOST_BYTES", "50e3")
    with pytest.raises(
        mr.TooLargeError, match="30 numeric columns in 2 classes need covariances of 86.4 kB, the limit is 50 kB"
    ):
        mr.BayesClassifier().fit(rows, y)
    monkeypatch.setenv("MERULA_MOST_BYTES", "1e6")
    mr.BayesClassifier().fit(rows, y)
    for bad in ("much", "-1", "nan"):
        monkeypatch.setenv("MERULA_MOST_BYTES", bad)
        with pytest.raises(
            mr.InputError, match="MERULA_MOST_BYTES is '.*', expected a number of bytes from 1, such as 32e9"
        ):
            mr.BayesClassifier().fit(rows, y)


def test_batches_that_grow_too_large_are_refused_and_the_model_stays(monkeypatch):
    monkeypatch.setenv("MERULA_MOST_BYTES", "100e3")
    model = mr.NaiveBayesClassifier().partial_fit([[f"wren {k}"] for k in range(800)], np.arange(800) % 2)
    before = model.predict_proba([["wren 3"]])
    with pytest.raises(mr.TooLargeError, match="levels in 2 classes"):
        model.partial_fit([[f"tit {k}"] for k in range(1_200)], np.arange(1_200) % 2)
    assert model.predict_proba([["wren 3"]]).tolist() == before.tolist()
