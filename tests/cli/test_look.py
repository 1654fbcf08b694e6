"""`merula look`: how a table is read, column by column, as the other commands read it."""

import json
from pathlib import Path

import numpy as np
import pytest

import merula as mr
from merula.show.text import display_width

from .conftest import PENGUINS
from .test_bad_input import BAD_INPUT, check

MESSY = Path(__file__).parents[1] / "data" / "messy"
TABLES = [PENGUINS, MESSY / "together-1.csv", MESSY / "target-case.csv", MESSY / "gaps-2.csv"]


@pytest.fixture
def looked(merula):
    """What the command says of each column, and what it decided of the file, in JSON."""

    def run(*words):
        result = merula("look", *words, "--json")
        assert (result.exit_code, result.stderr) == (0, ""), result.stderr
        found = json.loads(result.stdout)
        return {one["column"]: one for one in found["columns"]}, found["decided"]

    return run


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_the_command_python_and_a_fit_read_the_same_kinds(looked, merula, path):
    columns, _ = looked(path, "-t", "species")
    found = mr.look(mr.read_table(path) if path == PENGUINS else path, "species")
    assert {name: one["kind"] for name, one in columns.items() if one["kind"] != "class"} == found.kinds
    assert merula("fit", path, "-t", "species", "-m", "naive").exit_code == 0
    assert mr.load("model.merula").kinds == found.kinds


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("path", [PENGUINS, MESSY / "together-1.csv"], ids=lambda path: path.stem)
def test_python_with_these_kinds_answers_as_the_command_to_the_last_bit(merula, path):
    assert merula("fit", path, "-t", "species", "-m", "naive").exit_code == 0
    assert merula("predict", "model.merula", path, "-o", "answers.parquet").exit_code == 0
    answers = mr.read_table("answers.parquet")
    table = mr.read_table(path)
    rows, species = table.drop_columns("species"), table["species"].to_pylist()
    model = mr.NaiveBayesClassifier(kinds=mr.look(rows).kinds).fit(rows, species)
    wanted = np.column_stack([answers[f"P({label})"].to_numpy() for label in model.classes_])
    np.testing.assert_array_equal(model.predict_proba(rows), wanted)


def test_what_was_decided_of_the_file_stands_above_its_columns(merula, folder):
    rows = "".join(f"Müller {i % 3},{i / 4},{i % 5}\n" for i in range(30))
    text = "Birds of the river\n\nfarm,wing,wing\n" + rows + "Huber,unknown,3\n"
    (folder / "farms.csv").write_bytes(text.encode("cp1252"))
    result = merula("look", "farms.csv")
    assert (result.exit_code, result.stderr) == (0, "")
    head, _, columns = result.stdout.partition("\n\n")
    top = " ".join(head.split())
    assert top.startswith("31 rows, 3 columns (")
    for words in (
        "read as Windows-1252 (found by its bytes); --encoding NAME says another",
        "the first 2 lines are a title, not a header, and are skipped ('Birds of the river'); --skip-rows 0 keeps them",
        "the name 'wing' stands over several columns, which are called 'wing', 'wing 2'",
        "column 'wing' holds numbers and 'unknown', read as missing",
    ):
        assert words in top
    assert [line.split("  ")[0] for line in columns.splitlines()[:3]] == ["farm", "wing", "wing 2"]


def test_rows_left_out_are_counted(looked, folder):
    (folder / "ragged.csv").write_text("bird,wing\nwren,4.9,oops\ntit,6.1\nwren,5\n")
    _, decided = looked("ragged.csv", "--on-error", "skip")
    assert decided == ["1 row has more or fewer cells than the header and is left out (line 2)"]


def test_each_column_names_the_option_of_the_command_that_would_change_it(looked, patients):
    columns, _ = looked(patients, "-t", "diagnosis")
    assert columns["patient id"]["change"] == "--kinds 'patient id=numeric'"
    assert columns["patient id"]["kind"] == "ignore"
    assert columns["outcome code"]["change"] == "--kinds 'outcome code=ignore'"
    assert "alone predicts the class in 100 % of the rows" in columns["outcome code"]["why"]
    assert columns["complaint"]["change"] == "--kinds 'complaint=categorical' or 'complaint=ignore'"
    assert "such as 'cannot sleep at night 0 times'" in columns["complaint"]["why"]
    assert columns["hospital"]["change"] is None
    assert columns["diagnosis"]["why"] == "2 classes: healthy (38), ill (20); 2 missing, whose rows are left out"


def test_why_columns_that_are_nearly_numbers_are_left_out_is_said(looked, folder):
    rows = "".join(
        f"17-{i + 100:06d},{i % 9 + 1}/{i + 10},{i if i % 25 else f'c{i}'},{'mf'[i % 2]}\n" for i in range(60)
    )
    (folder / "books.csv").write_text("isbn,part,shelf,sex\n" + rows)
    columns, _ = looked("books.csv")
    for name in ("isbn", "part", "shelf"):
        assert columns[name]["kind"] == "ignore"
        assert "left out" in columns[name]["why"] and "differ" in columns[name]["why"]
        assert columns[name]["why"].count("such as") == 0  # its cells were shown


def test_the_options_that_are_named_do_what_is_said(looked, folder):
    days = "".join(f"{i % 12 + 1:02d}/{i % 11 + 1:02d}/2024,{'-' if i % 6 == 0 else 'mf'[i % 2]}\n" for i in range(60))
    (folder / "seen.csv").write_text("seen,sex\n" + days)
    columns, _ = looked("seen.csv")
    assert columns["seen"]["kind"] == "datetime"
    assert columns["seen"]["change"].startswith("--date-order dmy, or --kinds 'seen=categorical'")
    assert columns["sex"]["change"].startswith("--missing '-', or --kinds")
    columns, _ = looked("seen.csv", "--date-order", "dmy", "--missing", "-", "--kinds", "sex=categorical")
    assert "read as days, day before month" in columns["seen"]["why"]
    assert columns["sex"]["why"] == "as stated; 2 levels ('f', 'm'); 10 missing"


def test_a_flag_is_named_as_it_is_typed(looked, folder):
    (folder / "asked.csv").write_text("answer,bird\n" + "Agree,wren\nagree,tit\nDisagree,wren\n" * 10)
    columns, _ = looked("asked.csv")
    assert columns["answer"]["change"].startswith("--fold-case, or --kinds")
    columns, _ = looked("asked.csv", "--fold-case")
    assert "2 levels ('agree', 'disagree')" in columns["answer"]["why"]


def test_two_hundred_columns_in_any_script_fit_the_screen(merula, folder):
    names = [f"a measurement of the left wing in the morning, number {i}" for i in range(198)] + ["色泽" * 30, "bird"]
    rows = [[f"{(i * k) % 97 / 7}" for k in range(1, 199)] + ["青绿" if i % 3 else "乌黑", "wren"] for i in range(20)]
    cells = [[f'"{name}"' for name in names], *rows]
    (folder / "wide.csv").write_text("\n".join(map(",".join, cells)) + "\n", encoding="utf-8")
    lines = merula("look", "wide.csv").stdout.splitlines()
    assert max(map(display_width, lines)) <= 100
    assert 200 <= len(lines) <= 220


def test_mistakes(merula, folder):
    check(merula("look", "penguins", "-t", "specie"), BAD_INPUT, "--target is 'specie'", "did you mean 'species'?")
    check(merula("look", "penguins", "--kinds", "yaer=numeric"), BAD_INPUT, "--kinds is 'yaer'", "'year'")
    check(merula("look", "penguins", "-t", "species", "--kinds", "species=text"), BAD_INPUT, "--kinds is 'species'")
    check(merula("look", "penguins", "-t", "body_mass_g"), BAD_INPUT, "the target 'body_mass_g'")
    check(merula("look", "pinguins.csv"), BAD_INPUT, "there is no file pinguins.csv")
    (folder / "alone.csv").write_text("bird\nwren\ntit\n")
    check(merula("look", "alone.csv", "-t", "bird"), BAD_INPUT, "no column besides 'bird'")
    (folder / "empty.csv").write_text("bird,wing\n,4\n,5\n")
    check(merula("look", "empty.csv", "-t", "bird"), BAD_INPUT, "the target 'bird' is empty in every row")


def test_in_python_a_matrix_has_no_target():
    with pytest.raises(mr.InputError, match="a matrix does not have"):
        mr.look(np.eye(3), "x1")
    assert mr.look(np.eye(3), kinds="text").columns[0].why == "as stated; a matrix that counts words, a column for each"
    assert mr.look(np.eye(3) + 0.5, kinds="numeric").kinds == {"x0": "numeric", "x1": "numeric", "x2": "numeric"}


def test_a_notebook_shows_what_was_decided_of_the_file():
    found = mr.look(MESSY / "title-lines.csv", "species")
    assert "the first 3 lines are a title, not a header" in found._repr_html_()
    assert found.to_frame()["column"].tolist() == [one["column"] for one in found.to_dict()["columns"]]


def test_codes_and_telephones_are_neither_days_nor_sentences(merula, looked, tmp_path):
    a, b, c = np.random.default_rng(5).integers(40, 99, (3, 60))
    rows = [f"{x}-{y}-{z},{x}0-{y}-{z}12,+91 {x}{y}1 {z}{x}{i:02},\"{x},{y}{z % 10}\",{'ab'[i % 2]}" for i, (x, y, z) in enumerate(zip(a, b, c, strict=True))]  # fmt: skip
    path = tmp_path / "people.csv"
    path.write_text("sort code,insured,phone,steps,class\n" + "\n".join(rows) + "\n")
    columns, _ = looked(path, "--target", "class")
    for name in ("sort code", "insured", "phone"):
        assert "looks like an identifier" in columns[name]["why"]
    assert "--decimal ','" in " ".join(merula("look", path, "--target", "class").stdout.split())


def test_infinite_numbers_do_not_stop_look(merula, folder):
    rows = "".join(f"{k % 37 * 1.5},{'wren' if k % 2 else 'tit'}\n" for k in range(300))
    (folder / "birds.csv").write_text("wing,bird\n" + rows + "inf,wren\n-inf,tit\n")
    for more in ([], ["--target", "bird"]):
        said = merula("look", "birds.csv", *more)
        assert said.exit_code == 0, said.stderr
        words = " ".join(said.stdout.split())
        assert "holds 2 infinite numbers, first in row 301" in words and "from 0 to 54" in words
