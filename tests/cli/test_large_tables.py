"""Commands on tables that are read in pieces: the same answers as on a table that is read at once."""

import gzip

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import merula as mr
from merula.cli.app import app
from merula.data.stream import lines
from merula.engines import Source
from merula.engines.opening import VARIABLE


@pytest.fixture
def penguins(tmp_path, monkeypatch):
    """The penguins as a file that counts as large."""
    table = mr.read_table("src/merula/data/penguins.csv").to_pandas()
    table.to_csv(tmp_path / "penguins.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lines, "BYTES", 3_000)
    return tmp_path


def run(*words):
    found = CliRunner().invoke(app, [str(word) for word in words])
    assert found.exit_code == 0, found.output
    return found.output


@pytest.mark.parametrize("model", ["naive", "tan"])
def test_fit_and_predict_as_if_read_at_once(penguins, monkeypatch, model):
    options = ["--target", "species", "--model", model, "--kinds", "year=numeric"]
    run("fit", "penguins.csv", *options, "-o", "whole.merula")
    run("predict", "whole.merula", "penguins.csv", "-o", "whole.csv")
    monkeypatch.setenv(VARIABLE, "1000")
    told = run("fit", "penguins.csv", *options, "-o", "pieces.merula")
    assert "344 rows" in told
    run("predict", "pieces.merula", "penguins.csv", "-o", "pieces.csv", "--append")
    whole, pieces = pd.read_csv("whole.csv"), pd.read_csv("pieces.csv")
    assert pieces.columns[:3].tolist() == ["species", "island", "bill_length_mm"]
    names = [name for name in whole if name.startswith("P(")]
    if model == "tan":  # of which cuts are told by other values: the intervals of the pieces, counted at once
        fitted = mr.load("pieces.merula")
        table = mr.read_table("penguins.csv")
        plan = fitted.fitted_.plan
        rows = Source(table.drop_columns(["species"]), table["species"], None, True)
        again = fitted._hold(fitted._build(plan, fitted._count(plan, rows)))
        whole[names] = again.predict_proba(table)
        whole["class"] = again.predict(table)
    np.testing.assert_allclose(pieces[names], whole[names], rtol=1e-9)
    likely = np.sort(whole[names].to_numpy(), axis=1)
    clear = likely[:, -1] - likely[:, -2] > 1e-9
    assert clear.all() and (whole["class"] == pieces["class"]).all()


def test_a_folder_is_read_in_pieces(penguins):
    table = pd.read_csv("penguins.csv")
    (penguins / "parts").mkdir()
    for k in range(3):
        part = table.iloc[k::3].to_csv(index=False).encode()
        (penguins / "parts" / f"{k}.csv.gz").write_bytes(gzip.compress(part))
    assert "344 rows" in run("fit", "parts", "--target", "species", "--model", "naive", "-o", "parts.merula")
    assert "Adelie" in run("info", "parts.merula")


def test_other_commands_see_some_rows_and_say_so(penguins, monkeypatch):
    monkeypatch.setenv(VARIABLE, "1000")
    found = CliRunner().invoke(
        app, ["evaluate", "penguins.csv", "--target", "species", "--model", "naive", "--cv", "3"]
    )
    assert found.exit_code == 0 and "what follows is told from 344 rows of the table" in found.stderr
    told = run("look", "penguins.csv")
    assert "island" in told


@pytest.mark.parametrize(
    "words, match",
    [
        (["fit", "penguins.csv", "-t", "species", "--calibrate", "-o", "x.merula"], "--calibrate is for tables that are read at once"),
        (["fit", "penguins.csv", "-t", "spices", "-o", "x.merula"], "spices"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_in_pieces_is_told(penguins, monkeypatch, words, match):
    monkeypatch.setenv(VARIABLE, "1000")
    found = CliRunner().invoke(app, words)
    assert found.exit_code == 2 and match in found.stderr and not (penguins / "x.merula").exists()


def test_resume_is_for_tables_in_pieces(penguins):
    found = CliRunner().invoke(app, ["fit", "penguins.csv", "-t", "species", "--resume", "so-far", "-o", "x.merula"])
    assert found.exit_code == 2 and "--resume is for tables that are read in pieces" in found.stderr


def test_statistics_of_a_large_table_are_those_of_all_its_rows(penguins, monkeypatch):
    run("count", "penguins.csv", "--target", "species", "--kinds", "year=numeric", "-o", "whole.counts")
    monkeypatch.setenv(VARIABLE, "1000")
    monkeypatch.setattr("merula.cli.jobs.large.SAMPLED", 50)
    run("count", "penguins.csv", "--target", "species", "--kinds", "year=numeric", "-o", "pieces.counts")
    whole, pieces = mr.load("whole.counts"), mr.load("pieces.counts")
    assert pieces.weight == whole.weight == 344
    table = pd.read_csv("penguins.csv")
    np.testing.assert_allclose(pieces.model().predict_proba(table), whole.model().predict_proba(table), atol=1e-9)


def test_a_database_by_its_address(penguins):
    import duckdb

    with duckdb.connect("birds.db") as connection:
        connection.execute("CREATE TABLE birds AS SELECT * FROM read_csv('penguins.csv', nullstr='NA')")
    address = "duckdb:///birds.db?table=birds"
    assert "344 rows" in run("fit", address, "--target", "species", "--model", "naive", "-o", "birds.merula")
    assert "island" in run("look", address)
    assert "Adelie" in run("info", "birds.merula")
