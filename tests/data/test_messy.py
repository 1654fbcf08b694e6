"""Messy files are read as the clean ones they were: column by column, the kind and every value."""

import io
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import merula as mr
from merula.cli.console import Console
from merula.cli.jobs.answering import predict_file
from merula.cli.jobs.learning import fit_file
from merula.cli.jobs.task import Asked, read_task
from merula.data.encode import encode, infer_schema
from merula.data.table import FileOptions

HERE = Path(__file__).parent / "messy"
SPEC = spec_from_file_location("make_messy_tables", HERE / "make.py")
MAKE = module_from_spec(SPEC)
SPEC.loader.exec_module(MAKE)
EXPECTED = MAKE.damaged()
TARGET = "species"
# what is not read right, and why a person would not be sure of it either
UNSURE: set[tuple[str, str]] = set()


def columns_read(path):
    """{column: (kind, values)} with only the target stated, as the command reads it; the classes under the target's name."""
    task = read_task(Asked(str(path), TARGET), Console(quiet=True))
    schema, _ = infer_schema(task.table, task.kinds)
    rows = encode(task.table, schema, range(len(schema.columns)))
    found = {name: ("numbers", rows.values((name,))[:, 0]) for name in rows.numeric}
    for name, coded in rows.coded.items():
        found[name] = "categories", np.array([coded.label(code) for code in coded.codes.tolist()], dtype=object)
    return found | {TARGET: ("class", task.target.classes[task.target.codes].astype(object))}


def as_files(table, tmp_path):
    path = tmp_path / "expected.csv"
    path.write_text(MAKE.written(table), encoding="utf-8")
    return columns_read(path)


def same(found, wanted):
    if found is None or found[0] != wanted[0]:
        return False
    if found[0] == "numbers":
        return np.array_equal(found[1], wanted[1], equal_nan=True)
    return found[1].tolist() == wanted[1].tolist()


def wrong_columns(name, tmp_path):
    wanted, found = as_files(EXPECTED[name][1], tmp_path), columns_read(HERE / f"{name}.csv")
    return [column for column in wanted if not same(found.get(column), wanted[column])], len(wanted)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_messy_file_is_read_as_it_was_meant(name, tmp_path):
    wrong, _ = wrong_columns(name, tmp_path)
    assert {(name, column) for column in wrong} == {pair for pair in UNSURE if pair[0] == name}


def test_enough_columns_are_read_and_the_exceptions_are_few():
    columns = sum(len(table) for _, table in EXPECTED.values())
    assert columns >= 400
    assert len(UNSURE) <= 0.05 * columns


def test_the_files_are_those_that_the_script_makes():
    made = {name: content for name, (content, _) in EXPECTED.items()}
    assert made == {name: (HERE / f"{name}.csv").read_bytes() for name in made}


def test_the_clean_file_is_read_as_its_cells_say(tmp_path):
    import csv

    cells = list(csv.DictReader(io.StringIO((HERE / "clean.csv").read_text(encoding="utf-8"))))
    found = columns_read(HERE / "clean.csv")
    for name in ("bill", "mass", "price", "fat"):
        assert found[name][1].tolist() == [float(row[name]) for row in cells]
    for name in ("island", "sex", "ring", "tagged", TARGET):
        assert found[name][1].tolist() == [row[name] for row in cells]
    days = np.array([row["seen"] for row in cells], dtype="datetime64[ms]").astype(np.int64)
    assert found["seen"][1].tolist() == days.tolist()
    assert found["hour"][1].tolist() == [int(row["hour"][:2]) * 3600 + int(row["hour"][3:]) * 60 for row in cells]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Models fitted on the clean file, by the command; and the folder they are in."""
    folder = tmp_path_factory.mktemp("models")
    for name in ("auto", "naive"):
        fit_file(Asked(str(HERE / "clean.csv"), TARGET), name, str(folder / f"{name}.merula"), Console(quiet=True))
    return folder


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_new_rows_are_answered_as_if_they_were_clean(name, models, tmp_path):
    clean = tmp_path / "expected.csv"
    clean.write_text(MAKE.written(EXPECTED[name][1]), encoding="utf-8")
    for sort in ("auto", "naive"):
        model = mr.load(models / f"{sort}.merula")
        wanted, found = (model.predict_proba(mr.read_table(path)) for path in (clean, HERE / f"{name}.csv"))
        np.testing.assert_array_equal(found, wanted)
        texts = mr.read_table(HERE / f"{name}.csv", words=list(EXPECTED[name][1]))  # as a data frame of words has them
        np.testing.assert_array_equal(model.predict_proba(texts), wanted)


@pytest.mark.parametrize("name", ["together-1", "money-euro-behind", "date-month-name-first"])
def test_the_command_answers_messy_rows_as_if_they_were_clean(name, models, tmp_path):
    clean = tmp_path / "expected.csv"
    clean.write_text(MAKE.written(EXPECTED[name][1]), encoding="utf-8")
    answers = []
    for table in (clean, HERE / f"{name}.csv"):
        predict_file(str(models / "auto.merula"), str(table), str(tmp_path / "answers.csv"), Console(quiet=True))
        answers.append((tmp_path / "answers.csv").read_text(encoding="utf-8"))
    assert answers[0] == answers[1]


def test_what_fit_learned_of_a_messy_file_is_kept_in_the_model(tmp_path):
    """A model of messy rows answers messy and clean ones alike, and merges with one of clean rows."""
    path = tmp_path / "model.merula"
    fit_file(Asked(str(HERE / "money-euro-behind.csv"), TARGET), "naive", str(path), Console(quiet=True))
    model = mr.load(path)
    assert (model.schema_["price"].reading.decimal, model.schema_["price"].reading.unit) == (",", "€")
    clean, messy = (mr.read_table(HERE / f"{name}.csv") for name in ("clean", "money-euro-behind"))
    np.testing.assert_array_equal(model.predict_proba(clean), model.predict_proba(messy))
    other = tmp_path / "other.merula"
    fit_file(Asked(str(HERE / "clean.csv"), TARGET), "naive", str(other), Console(quiet=True))
    both = model + mr.load(other)
    np.testing.assert_array_equal(both.predict_proba(clean), (mr.load(other) + model).predict_proba(messy))


def test_what_is_to_be_kept_is_kept_in_the_model(tmp_path):
    path, model = tmp_path / "lands.csv", tmp_path / "lands.merula"
    path.write_text("land,species\n" + "NA,wren\nNA,wren\nDE,tit\nDE,wren\n" * 5, encoding="utf-8")
    fit_file(Asked(str(path), TARGET, file=FileOptions(keep=["NA"])), "naive", str(model), Console(quiet=True))
    learned = mr.load(model)
    assert learned.schema_["land"].levels == ("DE", "NA")
    tit, wren = 5 / 20 * 1 / 7, 15 / 20 * 11 / 17  # prior, and the smoothed share of NA
    np.testing.assert_allclose(learned.predict_proba(mr.read_table(path, keep=["NA"]))[0, 0], tit / (tit + wren))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("column", ["seen", "price", "hour", "island", "tagged"])
def test_new_rows_in_which_a_column_is_empty(column, models, tmp_path):
    """The file's column has no type then, whatever it was at fit."""
    model = mr.load(models / "naive.merula")
    table = mr.read_table(HERE / "clean.csv").slice(0, 3)
    path = tmp_path / "new.csv"
    rows = table.to_pandas().assign(**{column: None})
    rows.to_csv(path, index=False)
    np.testing.assert_array_equal(model.predict_proba(mr.read_table(path)), model.predict_proba(rows))
    np.testing.assert_array_equal(model.terms(mr.read_table(path))[column], 0.0)
