"""The same rows give the same model whichever way they come in: what a file tells of its words is told of its pieces, too."""

import json
import warnings
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest

import merula as mr
from merula.data.stream import lines

pytestmark = pytest.mark.filterwarnings("ignore")
WRITERS = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
    "arrow": lambda frame, path: pa.feather.write_feather(pa.Table.from_pandas(frame, preserve_index=False), path),
}


@pytest.fixture
def ages():
    return pd.DataFrame({"age": [30, 41, 52, 9999] * 30, "ill": ["ja", "nein", "nein", "ja"] * 30})


@pytest.mark.parametrize("kind", WRITERS)
def test_numbers_that_stand_for_none_do_so_in_pieces(ages, kind, tmp_path):
    path = tmp_path / f"ages.{kind}"
    WRITERS[kind](ages, path)
    at_once, in_pieces = (mr.NaiveBayesClassifier().fit_table(path, "ill", engine=one) for one in ("memory", "stream"))
    assert in_pieces.schema_["age"].reading.missing == ("9999",)
    rows = ages[["age"]]
    np.testing.assert_allclose(in_pieces.predict_proba(rows), at_once.predict_proba(rows), rtol=0, atol=1e-12)


@pytest.mark.parametrize("engine", ["memory", "stream"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_numbers_that_stand_for_none_do_so_in_datasets_and_lists_of_files(ages, kind, engine, tmp_path):
    for name in ("2019", "2020"):
        WRITERS[kind](ages, tmp_path / f"{name}.{kind}")
    files = sorted(map(str, tmp_path.iterdir()))
    for source in (files, *([pyarrow.dataset.dataset(files)] if kind == "parquet" else [])):
        assert mr.NaiveBayesClassifier().fit_table(source, "ill", engine=engine).schema_["age"].reading.missing == ("9999",)  # fmt: skip


@pytest.mark.parametrize("model", [mr.LogLinearClassifier(), mr.AutoBayesClassifier()])
def test_what_was_said_of_words_holds_for_rows_that_are_looked_at(model, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "stadt": rng.choice(["Ulm", "ULM", "ulm", "Bonn"], 200),
            "age": rng.choice([30, 41, 52, 9999], 200),
            "country": rng.choice(["NA", "DE", "FR"], 200),
            "ill": rng.choice(["ja", "nein"], 200),
        }
    )
    frame.to_csv(tmp_path / "patients.csv", index=False)
    said = {"fold_case": True, "keep": ["NA"]}
    at_once, in_pieces = (mr.load(_fitted(model, tmp_path, one, said)) for one in ("memory", "stream"))
    assert in_pieces.schema_["stadt"].levels == ("bonn", "ulm")
    assert in_pieces.schema_ == at_once.schema_
    rows = frame.drop(columns="ill")
    np.testing.assert_allclose(in_pieces.predict_proba(rows), at_once.predict_proba(rows), rtol=0, atol=1e-9)


def _fitted(model, folder, engine, said):
    path = folder / f"{engine}.merula"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit_table(folder / "patients.csv", "ill", engine=engine, **said).save(path)
    return path


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_fractions_may_follow_whole_numbers_of_which_some_stand_for_none(ages, kind, tmp_path, monkeypatch):
    ages = ages.astype({"age": object})
    ages.loc[100, "age"] = 7.5
    path = tmp_path / f"ages.{kind}"
    WRITERS[kind](ages, path)
    monkeypatch.setattr(lines, "BYTES", 400)
    at_once, in_pieces = (mr.NaiveBayesClassifier().fit_table(path, "ill", engine=one) for one in ("memory", "stream"))
    expected = at_once.predict_proba(mr.read_table(path))[:, 0]
    np.testing.assert_allclose(in_pieces.predict_proba(mr.read_table(path))[:, 0], expected, rtol=0, atol=1e-12)
    found = np.concatenate([answers["P(ja)"].to_numpy() for answers in in_pieces.predict_table(path)])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("kind", "later"), [("csv", False), ("csv", True), ("jsonl", False)])
@pytest.mark.parametrize("words", [["13%", "30%"], ["13 mm", "30 mm"], ["$13.00", "$30.00"]])
def test_numbers_with_signs_are_answered_for_in_pieces_as_at_once(words, later, kind, tmp_path, monkeypatch):
    wings = np.arange(40.0)
    model = mr.NaiveBayesClassifier().fit(pd.DataFrame({"wing": wings}), np.where(wings > 20, "tit", "wren"))
    expected = model.predict_proba(pd.DataFrame({"wing": [25.0] * 31 + [13.0, 30.0]}))[:, 0]
    cells = ["25"] * 31 + words if later else words  # in the second block of lines
    path = tmp_path / f"wings.{kind}"
    WRITERS[kind](pd.DataFrame({"wing": cells}), path)
    monkeypatch.setattr(lines, "BYTES", 98)
    found = np.concatenate([answers["P(tit)"].to_numpy() for answers in model.predict_table(path)])
    np.testing.assert_array_equal(found, expected[-len(cells) :])


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_words_that_were_kept_are_kept_in_new_files(engine, tmp_path):
    frame = pd.DataFrame({"country": ["NA", "DE", "FR", "NA"] * 20, "ill": ["ja", "nein", "nein", "ja"] * 20})
    path = tmp_path / "patients.csv"
    frame.to_csv(path, index=False)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = mr.NaiveBayesClassifier().fit_table(path, "ill", engine=engine, keep=["NA"])
    assert not said  # nothing is read as missing
    expected = model.predict_proba(frame[["country"]])[:, 1]
    assert expected[0] < 0.1
    for given in (path, [path], frame, [frame]):
        kind = None if isinstance(given[0] if isinstance(given, list) else given, pd.DataFrame) else engine
        found = np.concatenate([answers["P(nein)"].to_numpy() for answers in model.predict_table(given, engine=kind)])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    (answers,) = model.predict_table(path, keep=[], engine=engine)
    assert answers["P(nein)"][0].as_py() > 0.3
    counted = mr.count(path, target="ill", like=model).model()
    np.testing.assert_allclose(counted.predict_proba(frame[["country"]])[:, 1], expected, rtol=0, atol=1e-12)


def test_classes_that_are_times_are_times_whichever_way_they_come_in(tmp_path):
    frame = pd.DataFrame({"x": [1, 2] * 5, "seen": ["2020-01-01 10:00:00.5", "2021-01-01 00:00:00"] * 5})
    path = tmp_path / "sightings.csv"
    frame.to_csv(path, index=False)
    expected = [datetime(2020, 1, 1, 10, 0, 0, 500_000), datetime(2021, 1, 1)]
    in_pandas = frame.astype({"seen": "datetime64[ns]"})
    for source, engine in ((path, "memory"), (path, "stream"), (in_pandas, None), ([in_pandas], None)):
        model = mr.NaiveBayesClassifier().fit_table(source, "seen", engine=engine)
        assert model.classes_.tolist() == expected
        assert next(model.predict_table(frame[["x"]]))["class"].to_pylist() == [str(one) for one in expected * 5]
    lasted = mr.NaiveBayesClassifier().fit(frame[["x"]], pd.to_timedelta([1, 2] * 5, unit="h"))
    assert lasted.classes_.tolist() == [timedelta(hours=1), timedelta(hours=2)]


@pytest.mark.parametrize("later", ["2021-05-01 10:00:00.123456789", "9999-12-31 00:00:00.123456789"])
@pytest.mark.parametrize("first", ["2020-05-01 10:00:00", "2020-05-01 10:00:00.5", "2020-05-01 10:00:00.123456789"])
def test_times_may_have_any_fraction_in_pieces(first, later, tmp_path, monkeypatch):
    path = tmp_path / "calls.csv"
    rows = [f"{first},lang\n{later[:19]},kurz\n"] * 20 + [f"{later},kurz\n{first},lang\n"] * 20
    path.write_text("call,lasted\n" + "".join(rows))
    at_once = mr.NaiveBayesClassifier().fit(pd.DataFrame({"call": [first, later[:19]]}), ["lang", "kurz"])
    monkeypatch.setattr(lines, "BYTES", 600)
    model = mr.NaiveBayesClassifier().fit_table(path, "lasted")
    found = np.concatenate([answers["P(lang)"].to_numpy() for answers in model.predict_table(path)])
    assert model.schema_["call"].kind == at_once.schema_["call"].kind == "datetime"
    np.testing.assert_array_equal(found > 0.5, [True, False] * 20 + [False, True] * 20)


DAYS, TIMES = [datetime(2020, 1, 1), datetime(2021, 6, 1)] * 10, pa.timestamp("us")
ZONES = [pa.timestamp("us", zone) for zone in ("UTC", "Europe/Berlin")]
ALIKE = {
    "codes and words": (pa.array(["rot", "blau"] * 10).dictionary_encode(), pa.array(["rot", "blau"] * 10)),
    "days and times": (pa.array(DAYS).cast(pa.date32()), pa.array(DAYS, TIMES)),
    "times and days": (pa.array(DAYS, pa.timestamp("ns")), pa.array(DAYS).cast(pa.date32())),
    "two zones": (pa.array(DAYS, ZONES[0]), pa.array(DAYS, ZONES[1])),
}
UNLIKE = {
    "numbers and words": (pa.array([1.0, 2.0] * 10), pa.array(["rot", "blau"] * 10), "double in .* and string in"),
    "codes and numbers": (pa.array(["1", "2"] * 10).dictionary_encode(), pa.array([1, 2] * 10), "string in .* and int64 in"),
    "a zone and none": (pa.array(DAYS, ZONES[0]), pa.array(DAYS, TIMES), r"timestamp\[us, tz=UTC\] in .* and timestamp\[us\] in"),
}  # fmt: skip


def _two_tables(columns, kind, folder):
    tables = [pa.table({"farbe": column, "ill": ["ja", "nein"] * 10}) for column in columns]
    if kind == "batches":
        return tables
    for number, table in enumerate(tables):
        pyarrow.parquet.write_table(table, folder / f"{number}.parquet")
    return folder


@pytest.mark.parametrize("kind", ["batches", "parquet"])
@pytest.mark.parametrize("model", [mr.NaiveBayesClassifier(), mr.LogLinearClassifier()])
@pytest.mark.parametrize("columns", ALIKE.values(), ids=ALIKE)
def test_types_that_say_the_same_are_one(columns, model, kind, tmp_path):
    fitted = model.fit_table(_two_tables(columns, kind, tmp_path), "ill")
    alone = type(model)().fit_table([pa.table({"farbe": columns[1], "ill": ["ja", "nein"] * 10})] * 2, "ill")
    rows = pa.table({"farbe": columns[1]})
    np.testing.assert_allclose(fitted.predict_proba(rows), alone.predict_proba(rows), rtol=0, atol=1e-9)
    at_once = type(model)().fit_table(_two_tables(columns, kind, tmp_path), "ill", engine="memory") if kind == "batches" else alone  # fmt: skip
    np.testing.assert_allclose(fitted.predict_proba(rows), at_once.predict_proba(rows), rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["batches", "parquet"])
@pytest.mark.parametrize("model", [mr.NaiveBayesClassifier(), mr.LogLinearClassifier()])
@pytest.mark.parametrize(("first", "second", "told"), UNLIKE.values(), ids=UNLIKE)
def test_types_that_say_something_else_are_told_with_their_place(first, second, told, model, kind, tmp_path):
    places = {"batches": ("batch 1", "batch 2"), "parquet": ("0.parquet, row group 1", "1.parquet, row group 1")}[kind]
    with pytest.raises(mr.InputError, match=f"column 'farbe' holds .*{told}") as error:
        model.fit_table(_two_tables((first, second), kind, tmp_path), "ill")
    assert all(place in str(error.value) for place in places)


@pytest.mark.parametrize("wrapped", [False, True])
def test_whole_numbers_of_more_than_64_bits_are_answered_for(wrapped):
    frame = pd.DataFrame(
        {"masse": pd.Series([2**64 - 1, 3, None, 5, -(2**70)] * 4, dtype=object), "y": ["p", "q"] * 10}
    )
    source = [frame] if wrapped else frame
    model = mr.NaiveBayesClassifier().fit_table(source, "y")
    (answers,) = model.predict_table(source)
    expected = mr.NaiveBayesClassifier().fit(frame[["masse"]], frame["y"]).predict_proba(frame[["masse"]])
    np.testing.assert_allclose(answers["P(q)"].to_numpy(), expected[:, 1], rtol=0, atol=1e-12)
    assert answers["masse"].to_pylist()[:2] == [2.0**64, 3.0]


def test_cells_of_several_types_stand_beside_answers_but_make_no_batch():
    frame = pd.DataFrame({"länge": [1.0, 2.0], "ring": [7, "A7"]})
    model = mr.NaiveBayesClassifier().fit(frame[["länge"]], ["p", "q"])
    (answers,) = model.predict_table(frame, keys=["ring"])
    assert answers["ring"].to_pylist() == ["7", "A7"]
    with pytest.raises(mr.InputError, match=r"column 'ring' holds cells of several types \(int, str\)"):
        list(model.predict_table([frame]))
    with pytest.raises(mr.InputError, match="the table has no names"):
        model.predict_table(frame[["länge"]].to_numpy())


@pytest.mark.parametrize("kind", WRITERS)
def test_the_first_file_does_not_tell_alone_where_it_has_few_rows(kind, tmp_path):
    rng, ill = np.random.default_rng(0), ["ja", "nein"] * 200
    frame = pd.DataFrame(
        {
            "age": [30, 41, 52, 60, *rng.choice([35, 47, 9999], 396)],
            "farbe": [None] * 4 + rng.choice(["rot", "blau"], 396).tolist(),
            "befund": [f"die dritte Probe {k} war klar" for k in range(400)],
            "ill": ill,
        }
    )
    for number, (start, stop) in enumerate([(0, 4), (4, 10), (10, 400)]):
        WRITERS[kind](frame[start:stop].reset_index(drop=True), tmp_path / f"{number}.{kind}")
    model = mr.NaiveBayesClassifier().fit_table(tmp_path, "ill")
    assert model.schema_["age"].reading.missing == ("9999",)
    assert model.schema_["farbe"].levels == ("blau", "rot")
    assert model.schema_["befund"].kind == "text"


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([["7", "8"], ["A7", "B8"], ["9", "9"]], "categorical"),
        ([["07001", "07002"], ["10115", "10117"], ["80331", "80331"]], "categorical"),
        ([["1", "2"], ["2.5", "3"], ["n/a", "7"]], "numeric"),
        (
            [["2020-01-01", "2020-01-02"], ["2020-01-03 10:00:00", "2020-01-04 11:00:00"], ["2020-05-05", ""]],
            "datetime",
        ),
        ([["$5.00", "$7.50"], ["8", "9"], ["$1200.00", "$3.00"]], "numeric"),
        ([["", ""], ["4.5", "5"], ["", "7"]], "numeric"),
    ],
)
def test_small_files_in_pieces_are_read_as_at_once(cells, kind, tmp_path):
    for number, column in enumerate(cells):
        rows = "".join(f"{cell},{ill}\n" for cell, ill in zip(column * 10, ["ja", "nein"] * 10, strict=True))
        (tmp_path / f"{number}.csv").write_text("wert,ill\n" + rows)
    (tmp_path / "3.csv").write_text("wert,ill\n")  # no rows
    in_pieces = mr.NaiveBayesClassifier(distributions={"datetime": "gaussian"}).fit_table(tmp_path, "ill")
    table = mr.read_table(tmp_path / "[012].csv")
    at_once = mr.NaiveBayesClassifier(distributions={"datetime": "gaussian"}).fit_table(table, "ill")
    assert in_pieces.schema_["wert"].kind == at_once.schema_["wert"].kind == kind
    expected = at_once.predict_proba(table.select(["wert"]))
    np.testing.assert_allclose(in_pieces.predict_proba(table.select(["wert"])), expected, rtol=0, atol=1e-9)


def test_keys_of_later_small_files_are_columns(tmp_path):
    for number, rows in enumerate(([{"x": 1, "ill": "ja"}] * 2, [{"farbe": "rot", "x": 2.5, "ill": "nein"}] * 4)):
        (tmp_path / f"{number}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = mr.NaiveBayesClassifier().fit_table(tmp_path, "ill")
    assert model.schema_.names == ("x", "farbe")
    (tmp_path / "2.jsonl").write_text('{"x": "viel", "ill": "ja"}\n')
    with pytest.raises(mr.InputError, match=r"column 'x' holds int64 in .*0.jsonl and string in .*2.jsonl"):
        mr.NaiveBayesClassifier().fit_table(tmp_path, "ill")
