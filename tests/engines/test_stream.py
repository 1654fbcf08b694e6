"""Tables read in pieces give the same model as in memory; what goes wrong on the way is told, and nothing half-done is left."""

import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import merula as mr
from merula.core.archive import read_state
from merula.data.stream import lines
from merula.engines.stream import checkpoint

MODELS = {
    "naive": lambda: mr.NaiveBayesClassifier(),
    "unbiased, missing a level": lambda: mr.NaiveBayesClassifier(variance="unbiased", missing="level"),
    "counted numbers": lambda: mr.NaiveBayesClassifier(distributions={"numeric": "histogram", "kinder": "poisson"}),
    "full": lambda: mr.BayesClassifier(),
    "spode": lambda: mr.SPODEClassifier(distributions={"numeric": "gaussian"}),
    "tan": lambda: mr.TANClassifier(distributions={"numeric": "gaussian"}),
    "tan of numbers": lambda: mr.TANClassifier(numeric="gaussian"),
    "aode": lambda: mr.AODEClassifier(distributions={"numeric": "gaussian"}),
    "kdb": lambda: mr.KDBClassifier(k=2, distributions={"numeric": "gaussian"}),
    "tree": lambda: mr.BayesianNetworkClassifier(method="chow-liu", distributions={"numeric": "gaussian"}),
}


def patients(n=3_000, seed=2):
    """Rows of mixed columns, some cells and classes missing, numbers far from zero, and names that mean something elsewhere."""
    rng = np.random.default_rng(seed)
    ill = rng.choice(["krank", "gesund", "色"], n, p=[0.3, 0.6, 0.1])
    shift = np.select([ill == "krank", ill == "gesund"], [1.0, 0.0], -1.0)
    frame = pd.DataFrame(
        {
            "größe": 1e9 + shift + rng.normal(size=n),
            "色泽": rng.choice(["青绿", "乌黑", "浅白"], n),
            'a"; drop table x; --': np.where(rng.random(n) < 0.4 + 0.3 * shift, "it's", 'say "no"'),
            "temperature": 37 + shift / 2 + rng.normal(size=n),
            "kinder": rng.poisson(1.5, n),
            "ill": ill,
            "times": rng.integers(0, 4, n),
        }
    )
    for k, name in enumerate(("größe", "色泽", "temperature", "ill")):
        frame.loc[k :: 11 + k, name] = None
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same rows in every kind of file."""
    where, frame = tmp_path_factory.mktemp("tables"), patients()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    frame.to_csv(where / "rows.csv", index=False)
    (where / "rows.csv.gz").write_bytes(gzip.compress((where / "rows.csv").read_bytes()))
    frame.to_json(where / "rows.jsonl", orient="records", lines=True, force_ascii=False, double_precision=15)
    pq.write_table(table, where / "rows.parquet", row_group_size=700)
    pyarrow.feather.write_feather(table, where / "rows.arrow", compression="uncompressed", chunksize=450)
    (where / "parts").mkdir()
    for k in range(4):
        pq.write_table(table.slice(k * 750, 750), where / "parts" / f"part-{k}.parquet")
        frame.iloc[k * 750 : (k + 1) * 750].to_csv(where / f"part-{k}.csv", index=False)
    return where


def sources(where):
    """What a table can be given as."""
    table = pq.read_table(where / "rows.parquet")
    batches = lambda: iter(table.to_batches(max_chunksize=800))  # noqa: E731
    return {
        "CSV": where / "rows.csv",
        "CSV, packed": where / "rows.csv.gz",
        "JSON lines": where / "rows.jsonl",
        "Parquet": where / "rows.parquet",
        "Arrow": str(where / "rows.arrow"),
        "a folder": where / "parts",
        "a pattern": str(where / "part-*.csv"),
        "a list of files": [where / "part-0.csv", where / "part-1.csv", where / "part-2.csv", where / "part-3.csv"],
        "a dataset": pyarrow.dataset.dataset(where / "parts"),
        "a lazy frame": pl.scan_parquet(where / "rows.parquet"),
        "a function": batches,
        "pandas": table.to_pandas(),
        "polars": pl.from_arrow(table),
        "a table": table,
        "a list of tables": [table.slice(0, 2_000), table.slice(2_000)],
        "batches of pandas": [table.slice(k, 500).to_pandas() for k in range(0, 3_000, 500)].__iter__,
    }


def in_memory(model, weight):
    rows = patients().dropna(subset=["ill"])
    X = rows.drop(columns=["ill", "times"])
    return model.fit(X, rows["ill"].to_numpy(object), rows["times"].to_numpy() if weight else None), X


@pytest.mark.filterwarnings("ignore:.*rows have no 'ill'", "ignore:column '色泽'")
@pytest.mark.parametrize("weight", [None, "times"])
@pytest.mark.parametrize("name", MODELS)
def test_the_same_model_from_every_source(folder, name, weight, monkeypatch):
    monkeypatch.setattr(lines, "BYTES", 20_000)
    expected, X = in_memory(MODELS[name](), weight)
    for called, source in sources(folder).items():
        ours = MODELS[name]()
        if weight is None:
            ours.set_params(kinds={"times": "ignore"})
        found = ours.fit_table(source, "ill", weight)
        asked = X.assign(times=0) if weight is None else X
        np.testing.assert_allclose(
            found.predict_proba(asked), expected.predict_proba(X), atol=1e-9, err_msg=f"{called}, {name}"
        )
        assert found.classes_.tolist() == expected.classes_.tolist()
        mine, theirs = found.fitted_.collected, expected.fitted_.collected
        assert mine.class_counts.weight.tolist() == theirs.class_counts.weight.tolist()


@pytest.mark.filterwarnings("ignore:.*rows have no 'ill'", "ignore:column '色泽'")
def test_moments_far_from_zero_are_those_of_memory(folder):
    expected, _ = in_memory(mr.NaiveBayesClassifier(), "times")
    found = mr.NaiveBayesClassifier().fit_table(folder / "rows.parquet", "ill", "times")
    for mine, theirs in zip(found.distributions_, expected.distributions_, strict=True):
        if hasattr(mine, "mean"):
            deviation = np.sqrt(theirs.variance)
            assert (np.abs(mine.mean - theirs.mean) <= 1e-9 * deviation).all()
            np.testing.assert_allclose(np.sqrt(mine.variance), deviation, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:.*rows have no 'ill'", "ignore:column '色泽'")
def test_any_number_of_threads_gives_the_same_bits(folder):
    models = [mr.NaiveBayesClassifier(n_jobs=jobs).fit_table(folder / "rows.parquet", "ill") for jobs in (1, 2, 5)]
    answers = [model.predict_proba(patients(50).drop(columns="ill")) for model in models]
    assert all((one == answers[0]).all() for one in answers)


@pytest.mark.filterwarnings("ignore:.*rows have no 'ill'", "ignore:column '色泽'")
def test_numbers_are_cut_on_a_grid_about_where_memory_cuts_them(folder):
    expected, _ = in_memory(mr.TANClassifier(), None)
    found = mr.TANClassifier(kinds={"times": "ignore"}).fit_table(folder / "rows.parquet", "ill")
    mine, theirs = (np.array(model.schema_["temperature"].cuts) for model in (found, expected))
    assert mine.shape == theirs.shape and len(mine)
    np.testing.assert_allclose(
        mine, theirs, atol=0.02
    )  # a few points of the grid: quartiles are 1.5 apart, points 0.0015


def test_what_looks_at_rows_says_from_how_many(folder):
    known = int(patients()["ill"].notna().sum())
    with pytest.warns(UserWarning) as said:
        model = mr.NaiveBayesClassifier(distributions="auto").fit_table(folder / "rows.parquet", "ill")
    notes = [str(one.message) for one in said if one.category is mr.SampleWarning]
    assert notes == [f"the distribution of each column was chosen from {known:,} rows of the table"]
    assert model.fitted_.collected.class_counts.weight.sum() == known


def test_rows_without_a_class_are_counted(folder):
    lost = int(patients()["ill"].isna().sum())
    with pytest.warns(UserWarning, match=f"{lost} of 3,000 rows have no 'ill' and are left out"):
        mr.NaiveBayesClassifier().fit_table(folder / "rows.parquet", "ill")


# ---------------------------------------------------------------------------------------------------------- what goes wrong


def write_lines(path, rows):
    path.write_text("wing,bird\n" + "".join(f"{row}\n" for row in rows))
    return path


GOOD = ["4.9,wren", "12.8,blackbird", "5.1,wren", "13.0,blackbird"] * 300


def test_a_line_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BYTES", 4_000)
    path = write_lines(tmp_path / "birds.csv", [*GOOD[:700], "far,wren", *GOOD[700:]])
    with pytest.raises(mr.InputError, match=r"birds.csv, line 702 holds 'far' in column 'wing', which holds numbers"):
        mr.NaiveBayesClassifier().fit_table(path, "bird")
    with pytest.warns(UserWarning, match="left out"):
        model = mr.NaiveBayesClassifier().fit_table(path, "bird", on_error="skip")
    whole = mr.NaiveBayesClassifier().fit_table(write_lines(tmp_path / "good.csv", GOOD), "bird")
    assert model.fitted_.collected.class_counts.weight.tolist() == whole.fitted_.collected.class_counts.weight.tolist()


def test_fractions_may_follow_whole_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BYTES", 4_000)
    path = write_lines(tmp_path / "birds.csv", ["5,wren", "13,blackbird"] * 400 + ["5.5,wren", "12.5,blackbird"] * 400)
    table = mr.read_table(path)
    expected = mr.NaiveBayesClassifier().fit(table.select(["wing"]), table["bird"])
    asked = pd.DataFrame({"wing": [8.0]})
    for model in (mr.NaiveBayesClassifier(), mr.NaiveBayesClassifier(distributions={"wing": "gaussian"})):
        found = model.fit_table(path, "bird")
        np.testing.assert_allclose(found.predict_proba(asked), expected.predict_proba(asked), rtol=1e-9)
    with pytest.warns(mr.SampleWarning):
        mr.NaiveBayesClassifier(distributions="auto").fit_table(path, "bird")


def test_a_row_of_too_many_cells_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BYTES", 4_000)
    path = write_lines(tmp_path / "birds.csv", [*GOOD[:900], "4.9,wren,7", *GOOD[900:]])
    with pytest.raises(mr.InputError, match=r"birds.csv, line 902 has 3 cells where the header has 2"):
        mr.NaiveBayesClassifier().fit_table(path, "bird")
    with pytest.warns(UserWarning, match="left out"):
        model = mr.NaiveBayesClassifier().fit_table(path, "bird", on_error="skip")
    assert model.fitted_.collected.class_counts.weight.sum() == len(GOOD)


def test_words_that_mean_missing_among_numbers_are_missing_in_later_pieces_too(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BYTES", 4_000)
    path = write_lines(tmp_path / "birds.csv", [*GOOD[:900], "unknown,wren", "NA,wren", ",wren", *GOOD[900:]])
    found = mr.NaiveBayesClassifier().fit_table(path, "bird")
    with pytest.warns(UserWarning, match="read as missing"):
        table = mr.read_table(path)
    expected = mr.NaiveBayesClassifier().fit(table.select(["wing"]), table["bird"])
    asked = pd.DataFrame({"wing": [6.0]})
    np.testing.assert_allclose(found.predict_proba(asked), expected.predict_proba(asked), rtol=1e-12)


def test_cells_may_hold_line_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BYTES", 1_000)
    cells = ['"a\nb"', '"say ""no"""', "plain", '"x,y"']
    rows = [f"{cells[k % 4]},{'wren' if k % 3 else 'tit'}" for k in range(900)]
    path = write_lines(tmp_path / "birds.csv", rows)
    model = mr.NaiveBayesClassifier().fit_table(path, "bird")
    table = mr.read_table(path)
    expected = mr.NaiveBayesClassifier().fit(table.select(["wing"]), table["bird"])
    assert model.schema_["wing"].levels == expected.schema_["wing"].levels and len(model.schema_["wing"].levels) == 4
    assert model.fitted_.collected.class_counts.weight.sum() == 900


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "gb18030"])
def test_other_encodings(tmp_path, monkeypatch, encoding):
    monkeypatch.setattr(lines, "BYTES", 3_000)
    word = "青绿" if encoding == "gb18030" else "größe"
    text = "farbe,vogel\n" + "".join(f"{word if k % 2 else 'rot'},{'amsel' if k % 3 else 'star'}\n" for k in range(900))
    path = tmp_path / "birds.csv"
    path.write_bytes(text.encode(encoding))
    model = mr.NaiveBayesClassifier().fit_table(path, "vogel", encoding=encoding)
    assert set(model.schema_["farbe"].levels) == {word, "rot"}


def test_batches_that_can_be_read_once_serve_models_that_read_them_once(folder):
    table = pq.read_table(folder / "rows.parquet").filter(pa.compute.field("ill").is_valid())
    once = lambda: iter(table.to_batches(max_chunksize=500))  # noqa: E731
    model = mr.NaiveBayesClassifier().fit_table(once(), "ill")
    assert model.fitted_.collected.class_counts.weight.sum() == table.num_rows
    with pytest.raises(mr.InputError, match="can be read only once.*begins anew"):
        mr.TANClassifier().fit_table(once(), "ill")


def test_files_of_other_columns_are_told(tmp_path):
    write_lines(tmp_path / "a.csv", GOOD)
    (tmp_path / "b.csv").write_text("wing,birds\n4.9,wren\n")
    with pytest.raises(mr.InputError, match=r"b.csv has other columns than .*a.csv: 'bird' is in"):
        mr.NaiveBayesClassifier().fit_table(str(tmp_path / "?.csv"), "bird")


def test_a_file_that_changes_or_vanishes_makes_no_model(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BYTES", 2_000)
    path = write_lines(tmp_path / "birds.csv", GOOD)
    model, counted = mr.NaiveBayesClassifier(n_jobs=1), []
    count = mr.engines.stream._count_piece

    def meddle(*args):
        counted.append(1)
        if len(counted) == 3:
            with path.open("a") as file:
                file.write("4.9,wren\n")
        return count(*args)

    monkeypatch.setattr("merula.engines.stream._count_piece", meddle)
    with pytest.raises(mr.InputError, match=r"birds.csv was changed while it was being read"):
        model.fit_table(path, "bird")
    assert not hasattr(model, "classes_")


def test_a_parquet_file_cut_short_is_told(folder, tmp_path):
    whole = (folder / "rows.parquet").read_bytes()
    path = tmp_path / "cut.parquet"
    for size in (10, len(whole) // 2, len(whole) - 3):
        path.write_bytes(whole[:size])
        with pytest.raises(mr.InputError, match=r"cut.parquet.*(damaged|cut short)"):
            mr.NaiveBayesClassifier().fit_table(path, "ill")


@pytest.mark.parametrize("asked, match", [({"target": "bird "}, "target"), ({"target": "bird", "weight": "bird"}, "itself"), ({"target": "bird", "engine": "spark2"}, "engine")])  # fmt: skip
def test_what_is_asked_wrongly(tmp_path, asked, match):
    path = write_lines(tmp_path / "birds.csv", GOOD)
    with pytest.raises(mr.InputError, match=match):
        mr.NaiveBayesClassifier().fit_table(path, **asked)


# ------------------------------------------------------------------------------------------------------------- going on


def test_an_interrupted_fit_goes_on_to_the_same_bits(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    table = pq.read_table(folder / "rows.parquet").filter(pa.compute.field("ill").is_valid())
    path, kept = tmp_path / "rows.parquet", tmp_path / "so-far"
    pq.write_table(table, path, row_group_size=300)
    expected = mr.TANClassifier().fit_table(path, "ill")
    count, counted = mr.engines.stream._count_piece, []

    def stop(*args):
        counted.append(1)
        if len(counted) in (4, 15):
            raise KeyboardInterrupt
        return count(*args)

    monkeypatch.setattr("merula.engines.stream._count_piece", stop)
    model = mr.TANClassifier(n_jobs=1)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            model.fit_table(path, "ill", resume=kept)
        assert kept.exists()
    model.fit_table(path, "ill", resume=kept)
    assert not kept.exists() and len(counted) < 4 + 15 + 2 * 10  # nothing was counted twice
    rows = patients(100).drop(columns="ill")
    assert (model.predict_proba(rows) == expected.predict_proba(rows)).all()


def test_a_checkpoint_of_other_files_is_refused(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    path, kept = write_lines(tmp_path / "birds.csv", GOOD), tmp_path / "so-far"
    monkeypatch.setattr(lines, "BYTES", 2_000)
    monkeypatch.setattr("merula.engines.stream.table.StreamedTable.finished", lambda self: None)
    mr.NaiveBayesClassifier().fit_table(path, "bird", resume=kept)
    write_lines(path, GOOD + GOOD)
    with pytest.raises(mr.InputError, match="files that have changed since"):
        mr.NaiveBayesClassifier().fit_table(path, "bird", resume=kept)
    kept.write_text("no checkpoint")
    with pytest.raises(mr.InputError, match="so-far"):
        mr.NaiveBayesClassifier().fit_table(path, "bird", resume=kept)


def test_a_process_that_is_killed_leaves_a_checkpoint_and_no_model(tmp_path, monkeypatch):
    path, kept, out = tmp_path / "birds.csv", tmp_path / "so-far", tmp_path / "birds.merula"
    write_lines(path, GOOD * 40)
    script = textwrap.dedent(f"""
        import time
        import merula as mr
        from merula.data.stream import lines
        from merula.engines.stream import checkpoint
        checkpoint.SECONDS = 0.0
        lines.BYTES = 20_000
        count = mr.engines.stream._count_piece
        def slowly(*args):
            time.sleep(0.1)
            return count(*args)
        mr.engines.stream._count_piece = slowly
        mr.NaiveBayesClassifier(n_jobs=1).fit_table({str(path)!r}, "bird", resume={str(kept)!r}).save({str(out)!r})
    """)
    child = subprocess.Popen([sys.executable, "-c", script], env={**os.environ})
    while child.poll() is None and not kept.exists():
        time.sleep(0.02)
    time.sleep(0.3)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert not out.exists()
    (held,) = read_state(kept)["passes"].values()
    assert 0 < held["pieces"] < 30
    model = mr.NaiveBayesClassifier().fit_table(path, "bird")
    monkeypatch.setattr(lines, "BYTES", 20_000)
    again = mr.NaiveBayesClassifier().fit_table(path, "bird", resume=kept)
    asked = pd.DataFrame({"wing": [6.0, None]})
    np.testing.assert_allclose(again.predict_proba(asked), model.predict_proba(asked), rtol=1e-12)


# ------------------------------------------------------------------------------------------------------------ answering


@pytest.mark.filterwarnings("ignore:.*rows have no 'ill'", "ignore:column '色泽'")
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow", ".jsonl"])
def test_answers_are_those_of_memory(folder, tmp_path, suffix):
    model = mr.NaiveBayesClassifier(kinds={"times": "ignore"}).fit_table(folder / "rows.parquet", "ill")
    out = tmp_path / f"answers{suffix}"
    rows = model.predict_table(folder / "rows.parquet", out, keys=["色泽", "times"])
    assert rows == 3_000
    answers = mr.read_table(out).to_pandas() if suffix != ".arrow" else pyarrow.feather.read_table(out).to_pandas()
    assert answers.columns.tolist() == ["色泽", "times", "class", *(f"P({label})" for label in model.classes_)]
    np.testing.assert_allclose(answers.iloc[:, 3:], model.predict_proba(patients()), rtol=1e-12)
    assert (answers["class"] == model.predict(patients())).all()


def test_answers_on_a_full_disk_leave_nothing(folder, tmp_path, monkeypatch):
    table = pq.read_table(folder / "rows.parquet").filter(pa.compute.field("ill").is_valid())
    model = mr.NaiveBayesClassifier().fit_table(table, "ill")
    out = tmp_path / "answers.parquet"
    out.write_text("what stood there before")

    class Full(pq.ParquetWriter):
        def write_table(self, table, *args):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "ParquetWriter", Full)
    with pytest.raises(OSError, match="No space left"):
        model.predict_table(folder / "rows.parquet", out)
    assert out.read_text() == "what stood there before" and len(list(tmp_path.iterdir())) == 1


# ---------------------------------------------------------------------------------------------------------- messy files

MESSY = pathlib.Path(__file__).parents[1] / "data" / "messy"
WIDE = ("coded-utf-16.csv", "coded-utf-32.csv")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("size", [10_000_000, 6_000])
@pytest.mark.parametrize("name", sorted(path.name for path in MESSY.glob("*.csv") if path.name not in WIDE))
def test_messy_files_are_read_in_pieces_as_they_are_at_once(name, size, monkeypatch):
    monkeypatch.setattr(lines, "BYTES", size)
    table = mr.read_table(MESSY / name)
    target = table.column_names[-1]
    known = table.filter(table[target].is_valid())
    expected = mr.NaiveBayesClassifier().fit(known.drop_columns([target]), known[target])
    found = mr.NaiveBayesClassifier().fit_table(MESSY / name, target)
    assert found.schema_.kinds == expected.schema_.kinds
    rows = known.drop_columns([target])
    np.testing.assert_allclose(found.predict_proba(rows), expected.predict_proba(rows), atol=1e-9)


@pytest.mark.parametrize("name", WIDE)
def test_encodings_whose_lines_cannot_be_told_apart_are_refused(name):
    with pytest.raises(mr.InputError, match="whose lines cannot be told apart piece by piece; save it as UTF-8"):
        mr.NaiveBayesClassifier().fit_table(MESSY / name, "sold")


# ------------------------------------------------------------------------------------------------ found by a hostile reader


def frame_of(n=600, shift=0.0, seed=0):
    rng = np.random.default_rng(seed)
    bird = rng.choice(["tit", "wren"], n)
    return pd.DataFrame({"wing": shift + (bird == "wren") + rng.normal(size=n), "sky": rng.choice(["blue", "grey"], n), "bird": bird})  # fmt: skip


def test_no_checkpoint_outlives_a_file_that_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    path, other, kept = tmp_path / "birds.parquet", tmp_path / "others.parquet", tmp_path / "so-far"
    pq.write_table(pa.Table.from_pandas(frame_of()), path, row_group_size=100)
    pq.write_table(pa.Table.from_pandas(frame_of(shift=100.0)), other, row_group_size=100)
    count, counted = mr.engines.stream._count_piece, []

    def meddle(*args):
        counted.append(1)
        if len(counted) == 3:
            os.replace(other, path)
        return count(*args)

    monkeypatch.setattr("merula.engines.stream._count_piece", meddle)
    for what in ("was changed", "of another table, or of files that have changed"):
        with pytest.raises(mr.InputError, match=what):
            mr.NaiveBayesClassifier(n_jobs=1).fit_table(path, "bird", resume=kept)


def test_a_file_replaced_between_two_passes_makes_no_model(tmp_path, monkeypatch):
    path, other = tmp_path / "birds.parquet", tmp_path / "others.parquet"
    pq.write_table(pa.Table.from_pandas(frame_of()), path)
    pq.write_table(pa.Table.from_pandas(frame_of(shift=100.0)), other)
    collect = mr.engines.stream.collect

    def meddle(*args):
        found = collect(*args)
        if other.exists():
            os.replace(other, path)
        return found

    monkeypatch.setattr("merula.engines.stream.collect", meddle)
    with pytest.raises(mr.InputError, match="was changed"):
        mr.TANClassifier().fit_table(path, "bird")


@pytest.mark.filterwarnings("ignore:column 'sky'")
def test_words_that_mean_missing_do_so_in_parquet_too(tmp_path):
    table = pa.table({"sky": ["NA", "yes", "no", "?", "", "null"] * 100, "bird": ["tit", "wren", "tit"] * 200})
    pq.write_table(table, tmp_path / "birds.parquet")
    expected = mr.NaiveBayesClassifier().fit_table(table, "bird")
    found = mr.NaiveBayesClassifier().fit_table(tmp_path / "birds.parquet", "bird")
    assert found.schema_["sky"].levels == expected.schema_["sky"].levels == ("no", "yes")


def test_categories_of_a_library_stay_categories(tmp_path):
    frame = frame_of().astype({"sky": "category"}).assign(sky=lambda f: f["sky"].cat.rename_categories({"blue": "NA"}))
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "birds.parquet")
    found = mr.NaiveBayesClassifier().fit_table(tmp_path / "birds.parquet", "bird")
    assert found.schema_["sky"].levels == mr.NaiveBayesClassifier().fit_table(frame, "bird").schema_["sky"].levels


@pytest.mark.filterwarnings("ignore:column 'amount'", "ignore:column 'day'")
@pytest.mark.parametrize(
    "name, first, later",
    [("amount", "1,{}00", "5,50"), ("amount", "1.{}00 €", "1.50 €"), ("day", "03/0{}/2020", "28/04/2020")],
)
def test_one_fit_reads_words_in_one_way(tmp_path, name, first, later):
    words = [first.format(k % 9 + 1) for k in range(120_000)] + [later] * 20_000
    table = pa.table({name: words, "bird": ["tit", "wren"] * 70_000})
    pq.write_table(table, tmp_path / "birds.parquet", row_group_size=20_000)
    with pytest.raises(mr.InputError, match="not written as in the first rows.*state how it is written"):
        mr.NaiveBayesClassifier().fit_table(tmp_path / "birds.parquet", "bird")


def test_answers_never_replace_the_table(tmp_path):
    path = tmp_path / "birds.csv"
    frame_of().to_csv(path, index=False)
    model, before = mr.NaiveBayesClassifier().fit_table(path, "bird"), path.read_bytes()
    with pytest.raises(mr.InputError, match="is the table itself"):
        model.predict_table(path, path)
    assert path.read_bytes() == before


def test_hidden_folders_are_not_read_and_partitions_are_columns(tmp_path):
    for part in ("region=eu", "region=us", "region=eu/_temporary", "region=us/.ipynb_checkpoints"):
        (tmp_path / part).mkdir()
        frame_of().to_parquet(tmp_path / part / "birds.parquet")
    model = mr.NaiveBayesClassifier().fit_table(tmp_path, "bird")
    assert model.fitted_.collected.class_counts.weight.sum() == 1_200
    assert model.schema_["region"].levels == ("eu", "us")


def test_the_index_of_pandas_is_no_column():
    frame = frame_of()
    model = mr.NaiveBayesClassifier().fit_table(iter([frame[frame["wing"] > 0], frame[frame["wing"] <= 0]]), "bird")
    assert model.schema_.names == ("wing", "sky")


def test_a_checkpoint_is_of_one_target_and_one_weight(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr("merula.engines.stream.table.StreamedTable.finished", lambda self: None)
    frame = frame_of().assign(bird=lambda f: (f["bird"] == "wren") + 1, times=np.arange(600) % 3 + 1)
    path, kept = tmp_path / "birds.parquet", tmp_path / "so-far"
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=100)
    mr.NaiveBayesClassifier().fit_table(path, "bird", "times", resume=kept)
    found = mr.NaiveBayesClassifier().fit_table(path, "times", "bird", resume=kept)
    expected = mr.NaiveBayesClassifier().fit_table(path, "times", "bird")
    assert (
        found.fitted_.collected.class_counts.weight.tolist() == expected.fitted_.collected.class_counts.weight.tolist()
    )


def test_a_column_empty_at_first_asks_for_its_kind(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BYTES", 4_000)
    path = tmp_path / "birds.csv"
    path.write_text("wing,mass,bird\n" + "4.9,,wren\n9.8,,tit\n" * 300 + "4.9,9.5,wren\n9.8,18,tit\n" * 300)
    with pytest.raises(mr.InputError, match=r"column 'mass' is empty in the first rows and holds '9.5' later.*kinds="):
        mr.NaiveBayesClassifier().fit_table(path, "bird")
    model = mr.NaiveBayesClassifier(kinds={"mass": "numeric"}).fit_table(path, "bird")
    assert model.distributions_[0].mean.ravel().round(6).tolist() == [9.8, 18.0, 4.9, 9.5]


@pytest.mark.parametrize("outlier", [15.0, 1e9, 1e300])
def test_cuts_of_a_column_that_is_mostly_zero(tmp_path, outlier):
    rng = np.random.default_rng(1)
    amount = np.where(rng.random(4_000) < 0.8, 0.0, rng.uniform(0, 15, 4_000))
    bird = np.where((amount > 5) & (amount < 10), "tit", "wren")
    amount[7] = outlier
    frame = pd.DataFrame({"amount": amount, "bird": bird})
    frame.to_parquet(tmp_path / "birds.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mr.SentinelWarning)
        found = mr.TANClassifier().fit_table(tmp_path / "birds.parquet", "bird").schema_["amount"].cuts
        expected = mr.TANClassifier().fit(frame[["amount"]], bird).schema_["amount"].cuts
    assert len(found) == len(expected) >= 2
    np.testing.assert_allclose(found, expected, atol=0.05)


@pytest.mark.filterwarnings("ignore:column 'mass'")
def test_options_are_heeded_or_refused(tmp_path):
    table = pa.table({"mass": [9.5, -9.0, 18.0, 18.5] * 100, "bird": ["wren", "wren", "tit", "tit"] * 100})
    pq.write_table(table, tmp_path / "birds.parquet")
    model = mr.NaiveBayesClassifier().fit_table(tmp_path / "birds.parquet", "bird", missing=["-9"])
    assert model.distributions_[0].mean.ravel().tolist() == [18.25, 9.5]
    for option in ({"encoding": "cp1252"}, {"on_error": "skip"}, {"sheet": 2}):
        with pytest.raises(mr.InputError, match=next(iter(option)).replace("_", ".")):
            mr.NaiveBayesClassifier().fit_table(tmp_path / "birds.parquet", "bird", **option)
    with pytest.raises(mr.InputError, match="missing is stated, but the table is no file"):
        mr.NaiveBayesClassifier().fit_table(table, "bird", missing=["-9"])
    with pytest.raises(mr.InputError, match="resume is for models that count all rows"):
        mr.LogLinearClassifier().fit_table(tmp_path / "birds.parquet", "bird", resume=tmp_path / "so-far")


def test_a_mark_for_inches_ends_no_row(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BYTES", 2_000)
    cells = ['5" pipe', '"a, ""b""\nc"', "plain", 'half 3" or so']
    path = write_lines(tmp_path / "pipes.csv", [f"{cells[k % 4]},{'wren' if k % 3 else 'tit'}" for k in range(900)])
    model = mr.NaiveBayesClassifier().fit_table(path, "bird")
    assert len(model.schema_["wing"].levels) == 4 and model.fitted_.collected.class_counts.weight.sum() == 900


def test_json_that_is_no_lines_is_read_at_once(tmp_path):
    rows = frame_of(40).to_dict("records")
    (tmp_path / "list.json").write_text(json.dumps(rows))
    (tmp_path / "columns.json").write_text(
        json.dumps({name: [row[name] for row in rows] for name in rows[0]}, indent=1)
    )
    for name in ("list.json", "columns.json"):
        assert mr.NaiveBayesClassifier().fit_table(tmp_path / name, "bird").schema_.names == ("wing", "sky")


def test_json_lines_that_are_no_rows_may_be_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BYTES", 4_000)
    good = [json.dumps(row) for row in frame_of(300).to_dict("records")]
    path = tmp_path / "birds.jsonl"
    path.write_text("\n".join([*good[:200], "{broken", *good[200:]]) + "\n")
    with pytest.raises(mr.InputError, match=r"birds.jsonl, from line"):
        mr.NaiveBayesClassifier().fit_table(path, "bird")
    with pytest.warns(UserWarning) as said:
        model = mr.NaiveBayesClassifier().fit_table(path, "bird", on_error="skip")
    assert "first line 201" in str(said[0].message) and "1 row that could not be read" in str(said[1].message)
    assert model.fitted_.collected.class_counts.weight.sum() == 300
    path.write_text("\n".join([*good, json.dumps({**json.loads(good[0]), "mass": 9.5})]) + "\n")
    with pytest.raises(mr.InputError, match="unexpected field"):
        mr.NaiveBayesClassifier().fit_table(path, "bird")


def test_memory_takes_what_streams_take(folder):
    table = pq.read_table(folder / "rows.parquet").filter(pa.compute.field("ill").is_valid())
    expected = mr.NaiveBayesClassifier().fit_table(table, "ill")
    dataset = pyarrow.dataset.dataset(table)
    sources = [dataset, dataset.scanner(), dataset.filter(pa.compute.field("kinder") >= 0), table.to_reader(), table.to_batches(), lambda: iter(table.to_batches())]  # fmt: skip
    for source in sources:
        found = mr.NaiveBayesClassifier().fit_table(source, "ill", engine="memory")
        assert found.class_log_prior_.tolist() == expected.class_log_prior_.tolist()
    for source in (dataset.scanner(), dataset.filter(pa.compute.field("kinder") >= 0), table.to_reader()):
        found = mr.NaiveBayesClassifier().fit_table(source, "ill")
        assert found.class_log_prior_.tolist() == expected.class_log_prior_.tolist()


def test_keys_are_written_as_they_stand(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BYTES", 1_000)
    path = tmp_path / "birds.csv"
    path.write_text(
        "ring,wing,class\n" + "".join(f"{k},{4 + k % 2 * 5},{'ab'[k % 2]}\n" for k in range(300)) + "007,4,a\n"
    )
    model = mr.NaiveBayesClassifier(kinds={"ring": "ignore"}).fit_table(path, "class", words=["ring"])
    model.predict_table(path, tmp_path / "out.csv", keys=["ring", "class"])
    written = (tmp_path / "out.csv").read_text().splitlines()
    assert written[-1].startswith("007,a,a,") and written[0] == "ring,class,predicted class,P(a),P(b)"


def test_new_files_whose_cells_are_unlike_those_learned_from(tmp_path):
    """They are answered for where they are said to be words, or left out, even where no row of a file is like the others."""
    wings = np.arange(40.0)
    model = mr.NaiveBayesClassifier().fit(pd.DataFrame({"wing": wings}), np.where(wings > 20, "tit", "wren"))
    for name, cells in (("a.csv", ["13", "30"]), ("b.csv", ["13 oder mehr", "30"]), ("c.csv", ["25"])):
        (tmp_path / name).write_text("wing\n" + "".join(f"{cell}\n" for cell in cells))
    with pytest.raises(mr.InputError, match=r"line 2 holds '13 oder mehr' in column 'wing', which is read as numbers;"):
        list(model.predict_table(tmp_path / "b.csv"))
    with pytest.warns(UserWarning, match="b.csv: rows that cannot be read are left out"):
        found = list(model.predict_table(str(tmp_path / "?.csv"), on_error="skip"))
    assert [answers.num_rows for answers in found] == [2, 1, 1]


def test_each_file_has_its_encoding(tmp_path):
    for name, encoding in (("a.csv", "cp1252"), ("b.csv", "utf-8")):
        text = "farbe,vogel\n" + "größe,amsel\nrot,star\n" * 50
        (tmp_path / name).write_bytes(text.encode(encoding))
    with pytest.warns(UserWarning, match="Windows-1252"):
        model = mr.NaiveBayesClassifier().fit_table(str(tmp_path / "?.csv"), "vogel")
    assert model.schema_["farbe"].levels == ("größe", "rot")


def test_rows_left_out_are_counted_once_and_lines_are_those_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BYTES", 4_000)
    path = write_lines(tmp_path / "birds.csv", [*GOOD[:600], "", "4.9,wren,7", *GOOD[600:700], "far,wren", *GOOD[700:]])
    with pytest.warns(UserWarning) as said:
        mr.TANClassifier().fit_table(path, "bird", on_error="skip")
    assert [str(one.message) for one in said if "in all" in str(one.message)] == ["2 rows that could not be read are left out in all"]  # fmt: skip
    path = write_lines(tmp_path / "birds.csv", [*GOOD[:600], "", *GOOD[600:700], "far,wren", *GOOD[700:]])
    with pytest.raises(mr.InputError, match="birds.csv, line 703 holds 'far'"):
        mr.NaiveBayesClassifier().fit_table(path, "bird")


def test_pieces_may_be_light_beside_others():
    """Weights that fade with age leave pieces all of whose rows are next to nothing beside rows to come."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"temperature": rng.normal(37, 1, 120), "ill": rng.choice(["no", "yes"], 120)})
    frame["fades"] = np.where(np.arange(120) < 30, 1e-17, 1.0)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    model = mr.NaiveBayesClassifier()
    found = model.fit_table(lambda: iter(table.to_batches(max_chunksize=7)), target="ill", weight="fades")
    wanted = mr.NaiveBayesClassifier().fit(frame[["temperature"]], frame["ill"], sample_weight=frame["fades"])
    np.testing.assert_allclose(found.predict_proba(frame[["temperature"]]), wanted.predict_proba(frame[["temperature"]]), atol=1e-12)  # fmt: skip
    light = table.set_column(2, "fades", pa.array(np.full(120, 1e-20)))
    with pytest.raises(ValueError, match="the weight 'fades' holds no larger number than 1.2e-18"):
        mr.NaiveBayesClassifier().fit_table(
            lambda: iter(light.to_batches(max_chunksize=7)), target="ill", weight="fades"
        )


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_file_without_rows_is_told(tmp_path, suffix):
    path, empty = (
        tmp_path / f"rows.{suffix}",
        pa.table({"bird": pa.array([], pa.string()), "ill": pa.array([], pa.string())}),
    )
    if suffix == "parquet":
        pq.write_table(empty, path)
    else:
        pa.ipc.new_file(path, empty.schema).close()
    with pytest.raises(mr.InputError, match="no rows"):
        mr.NaiveBayesClassifier().fit_table(path, "ill", engine="stream")


def farben(n=300, last=b"rot"):
    rng = np.random.default_rng(4)
    labels = rng.choice(["größe", "klein"], n)
    colours = np.where((labels == "klein") & (rng.random(n) < 0.6), "grün", "rot")
    cells = [*(one.encode() for one in colours[:-1]), last]
    return pa.table(
        {
            "Farbe": pa.array(cells, pa.binary()),
            "Bild": pa.array([bytes([255, k % 256]) for k in range(n)]),
            "codes": pa.array(cells, pa.binary()).dictionary_encode(),
            "Länge": rng.normal(size=n),
            "Klasse": pa.array([one.encode() for one in labels], pa.large_binary()),
        }
    )


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "dataset"])
@pytest.mark.filterwarnings("ignore:column 'Bild' holds")
def test_bytes_that_are_text_are_words_as_in_a_file_read_whole(tmp_path, suffix):
    path = tmp_path / f"rows.{suffix}"
    if suffix == "arrow":
        with pa.ipc.new_file(path, farben().schema) as file:
            for batch in farben().to_batches(max_chunksize=70):
                file.write(batch)
    else:
        pq.write_table(farben(), path, row_group_size=70)
    source = pa.dataset.dataset(path, format="parquet") if suffix == "dataset" else path
    streamed = mr.NaiveBayesClassifier().fit_table(source, target="Klasse")
    whole = farben().drop_columns(["Bild", "Klasse"]).to_pandas()
    words = whole.assign(**{name: [cell.decode() for cell in whole[name]] for name in ("Farbe", "codes")})
    labels = [label.decode() for label in farben()["Klasse"].to_pylist()]
    model = mr.NaiveBayesClassifier().fit(words, labels)
    assert streamed.classes_.tolist() == ["größe", "klein"]
    answers = pa.concat_tables(streamed.predict_table(source))
    found = np.column_stack([answers[f"P({label})"] for label in streamed.classes_])
    np.testing.assert_allclose(found, model.predict_proba(words), atol=1e-12)


def test_bytes_that_are_no_text_below_words_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr("merula.data.stream.pieces.FIRST", 1_024)
    path = tmp_path / "rows.parquet"
    pq.write_table(farben(2_000, b"\xff\xfe"), path, row_group_size=500)
    told = r"rows.parquet, row group 4 holds bytes in column 'Farbe' that are no text.*leave the column out: kinds="
    with pytest.raises(mr.InputError, match=told):
        mr.NaiveBayesClassifier(kinds={"Bild": "ignore"}).fit_table(path, target="Klasse")
    left_out = dict.fromkeys(["Bild", "Farbe", "codes"], "ignore")
    assert mr.NaiveBayesClassifier(kinds=left_out).fit_table(path, target="Klasse").schema_["Farbe"].kind == "ignore"
