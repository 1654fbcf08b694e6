"""Words that Arrow holds as views, as polars writes them to files by default, are words wherever rows are taken out of a table."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import merula as mr
from merula.core import InputError
from merula.data.table.views import without_views


@pytest.fixture
def birds():
    rng = np.random.default_rng(4)
    bird = rng.choice(["tit", "wren"], 200)
    ring = np.where(rng.random(200) < 0.8, bird == "tit", bird == "wren")
    return pa.table({"größe": rng.normal(size=200), "ring": [None if k % 9 == 0 else "red" if one else "grey" for k, one in enumerate(ring)], "bird": [None if k % 20 == 0 else str(one) for k, one in enumerate(bird)]})  # fmt: skip


@pytest.fixture
def views(birds):
    return birds.cast(pa.schema([("größe", pa.float64()), ("ring", pa.string_view()), ("bird", pa.string_view())]))


@pytest.mark.parametrize("source", ["table", "batches", "file", "file in memory"])
@pytest.mark.filterwarnings("ignore:10 of 200 rows have no 'bird'")
def test_a_model_learns_from_views_what_it_learns_from_words(birds, views, tmp_path, source):
    path = tmp_path / "birds.arrow"
    pl.from_arrow(birds).write_ipc(path)
    assert pa.types.is_string_view(pa.ipc.open_file(path).schema.field("ring").type)
    given = {"table": views, "batches": lambda: iter([views]), "file": path, "file in memory": path}[source]
    engine = "memory" if source == "file in memory" else None
    model = mr.NaiveBayesClassifier().fit_table(given, target="bird", engine=engine)
    expected = mr.NaiveBayesClassifier().fit_table(birds, target="bird").predict_proba(birds)
    np.testing.assert_allclose(model.predict_proba(views), expected, rtol=0, atol=1e-12)


def test_rows_of_views_are_left_out_and_answered(birds, views, tmp_path):
    known = birds.drop_null()
    again = known.cast(views.schema)
    rows, bird = again.drop_columns("bird"), again["bird"].to_pylist()
    found = mr.evaluate(mr.NaiveBayesClassifier(), rows, bird, cv=3, repeats=1)
    expected = mr.evaluate(mr.NaiveBayesClassifier(), known.drop_columns("bird"), bird, cv=3, repeats=1)
    assert str(found) == str(expected)
    model = mr.NaiveBayesClassifier().fit(rows, bird)
    assert model.predict_table(rows, tmp_path / "answers.csv") == len(bird)


def test_views_within_lists_records_and_codes_are_written_out():
    codes = pa.DictionaryArray.from_arrays(pa.array([1, None, 0], pa.int8()), pa.array(["tit", "wren"], pa.string_view()))  # fmt: skip
    table = pa.table({
        "calls": pa.array([["see", "so"], None, []], pa.list_(pa.string_view())),
        "nest": pa.array([{"tree": "oak"}, None, {"tree": None}], pa.struct([("tree", pa.string_view())])),
        "bird": codes,
        "photo": pa.array([b"\xff", None, b""], pa.binary_view()),
    })  # fmt: skip
    plain = without_views(table)
    assert plain.to_pylist() == table.to_pylist()
    assert plain.take([2, 0]).to_pylist() == [table.to_pylist()[row] for row in (2, 0)]


def test_one_long_word_in_many_views_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setenv("MERULA_MOST_BYTES", "1e6")
    word = pa.array(["wren" * 500], pa.string_view())
    many = pa.Array.from_buffers(pa.string_view(), 1000, [None, pa.py_buffer(word.buffers()[1].to_pybytes()[:16] * 1000), word.buffers()[2]])  # fmt: skip
    with pytest.raises(InputError, match="take more than 1,000,000 bytes in memory"):
        without_views(pa.table({"song": many}))
