"""A command reads a file once, and looks at a table's columns once."""

import io
import json
from collections import Counter
from pathlib import Path

import pytest

import merula as mr
from merula.cli.jobs import task
from merula.report.findings import data

from .conftest import PENGUINS


@pytest.fixture
def opened(monkeypatch):
    """How often each file is opened for reading, by its name."""
    counted, plain = Counter(), io.open

    def counting(file, mode="r", *rest, **options):
        if "r" in mode and not isinstance(file, int):
            counted[Path(file).name] += 1
        return plain(file, mode, *rest, **options)

    monkeypatch.setattr(io, "open", counting)
    return counted


@pytest.fixture
def inferred(monkeypatch):
    """The names of the columns that were looked at outside fits, one list for each time."""
    seen, plain = [], task.infer_schema

    def noting(table, *rest, **options):
        seen.append(list(table.names))
        return plain(table, *rest, **options)

    for module in (task, data):
        monkeypatch.setattr(module, "infer_schema", noting)
    return seen


@pytest.fixture
def table(folder):
    (folder / "birds.csv").write_bytes(PENGUINS.read_bytes())
    return "birds.csv"


def test_a_prediction_reads_each_file_once(merula, model, table, costs, opened):
    assert merula("predict", model, table, "--costs", costs, "-o", "answers.csv").exit_code == 0
    assert [opened[name] for name in (model, table, costs)] == [1, 1, 1]


def test_python_reads_a_model_file_once(model, opened):
    assert mr.load(model).predict_proba(mr.read_table(PENGUINS)).shape == (344, 3)
    assert opened[model] == 1


def test_a_merged_model_is_described_without_being_opened_again(merula, model, opened):
    assert merula("merge", model, model, "-o", "both.merula").exit_code == 0
    assert opened["both.merula"] == 0


@pytest.mark.parametrize("command", ["fit", "evaluate", "report"])
def test_what_learns_looks_at_a_table_once(merula, table, opened, inferred, command):
    folds = [] if command == "fit" else ["--cv", "2"]
    assert merula(command, table, "-t", "species", "-m", "naive", *folds).exit_code == 0
    assert opened[table] == 1
    assert len(inferred) == 1


def test_the_demo_reads_a_table_once_so_that_it_may_come_through_a_pipe(merula, folder, inferred):
    result = merula("demo", "-", "--target", "species", "--json", typed=PENGUINS.read_text(encoding="utf-8"))
    assert result.exit_code == 0, result.stderr
    notes = json.loads(result.stdout, parse_constant=pytest.fail)["notes"]
    assert [f"note: {note}" for note in notes] == result.stderr.splitlines()
    assert (folder / "merula-demo/table.html").stat().st_size > 10_000
    assert len(inferred) == 1


def test_a_report_remarks_on_a_column_whose_kind_was_stated(merula, folder):
    """Who reads the report did not state it."""
    rows = [f"{1000 + i},{4.9 + i % 7 / 10},{'wren' if i % 2 else 'tit'}" for i in range(60)]
    (folder / "rings.csv").write_text("\n".join(["ring,wing,bird", *rows]) + "\n", encoding="utf-8")
    result = merula("report", "rings.csv", "-t", "bird", "-m", "naive", "--cv", "2", "--kinds", "ring=numeric")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "looks like an identifier (60 different values in 60 rows)" in (folder / "report.html").read_text("utf-8")
