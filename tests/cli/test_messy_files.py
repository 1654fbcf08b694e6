"""`merula fit` on the clean file, `merula predict` on one that was damaged: the answers are the same to the last byte."""

import csv
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

MESSY = Path(__file__).parents[1] / "data" / "messy"
SPEC = spec_from_file_location("make_messy", MESSY / "make.py")
MAKE = module_from_spec(SPEC)
SPEC.loader.exec_module(MAKE)
MEANT = MAKE.damaged()
UNDONE = [
    "blanks-in-cells",
    "blanks-in-header",
    "invisible",
    "money-accounting",
    "money-swiss",
    "units-spaced",
    "decimal-comma",
    "semicolons-groups",
    "date-dmy-slash",
    "date-chinese",
    "hour-am-pm",
    "coded-utf-16",
    "title-lines",
    "gaps-1",
    "together-4",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model that the command fitted on the clean file."""
    from typer.testing import CliRunner

    from merula.cli.app import app

    path = tmp_path_factory.mktemp("models") / "clean.merula"
    words = ["fit", str(MESSY / "clean.csv"), "--target", "species", "--model", "naive", "-o", str(path)]
    result = CliRunner().invoke(app, words)
    assert (result.exit_code, result.stderr) == (0, "")
    return path


def answers(merula, folder, model, table, *more):
    """The columns that were answered, as they are written."""
    result = merula("predict", model, table, "-o", "answers.csv", *more)
    assert result.exit_code == 0, result.stderr
    with (folder / "answers.csv").open(encoding="utf-8", newline="") as file:
        return [row[-4:] for row in csv.reader(file)]


def test_every_row_of_the_clean_file_is_answered(merula, folder, model):
    header, *rows = answers(merula, folder, model, MESSY / "clean.csv")
    assert header == ["class", "P(Adelie)", "P(Chinstrap)", "P(Gentoo)"]
    assert len(rows) == MAKE.ROWS


@pytest.mark.parametrize("name", UNDONE)
def test_damage_that_is_always_undone_changes_no_byte(merula, folder, model, name):
    (folder / "meant.csv").write_text(MAKE.written(MEANT[name][1]), encoding="utf-8")
    wanted = answers(merula, folder, model, "meant.csv")
    assert answers(merula, folder, model, MESSY / f"{name}.csv") == wanted
    assert answers(merula, folder, model, MESSY / f"{name}.csv", "--append") == wanted


LEARNED_FROM = [
    "blanks-in-cells",
    "date-day-month-name",
    "date-chinese",
    "date-month-name-first",
    "decimal-comma",
    "hour-am-pm",
    "money-accounting",
    "units-spaced",
]  # none of which removes a cell


@pytest.mark.parametrize("damage", LEARNED_FROM)
def test_what_is_learned_from_a_damaged_file_is_saved_and_answers_alike(merula, folder, model, damage):
    words = ["fit", MESSY / f"{damage}.csv", "--target", "species", "--model", "naive", "-o", "damaged.merula"]
    fitted = merula(*words)
    assert fitted.exit_code == 0, fitted.stderr
    clean = answers(merula, folder, model, MESSY / "clean.csv")
    assert answers(merula, folder, "damaged.merula", MESSY / f"{damage}.csv") == clean
    assert answers(merula, folder, "damaged.merula", MESSY / "clean.csv") == clean


@pytest.mark.parametrize("damage", ["date-day-month-name", "money-accounting"])
def test_a_damaged_file_is_reported_as_the_clean_one(merula, folder, damage):
    words = ["--target", "species", "--model", "naive", "--cv", 2, "--no-learning-curve"]
    for path, page in ((MESSY / "clean.csv", "clean.html"), (MESSY / f"{damage}.csv", "damaged.html")):
        result = merula("report", path, *words, "-o", page)
        assert result.exit_code == 0, result.stderr
    exact = [re.findall(r'data-value="([^"]*)"', (folder / page).read_text(encoding="utf-8")) for page in ("clean.html", "damaged.html")]  # fmt: skip
    assert exact[0] and exact[0] == exact[1]


def test_points_between_thousands_are_read_so_in_new_files_where_all_have_one(merula, folder):
    visitors = [997, 850, 1005, 912, 12300, 2010, 640, 1100] * 5
    rows = "".join(f"{value:,};{'ja' if value > 1000 else 'nein'}\n".replace(",", ".") for value in visitors)
    (folder / "learned.csv").write_text(f"Besucher;voll\n{rows}", encoding="utf-8")
    fitted = merula("fit", "learned.csv", "--target", "voll", "--model", "naive", "-o", "learned.merula")
    assert fitted.exit_code == 0 and "'Besucher' (decimal ',', groups by '.')" in fitted.stderr
    (folder / "points.csv").write_text("Besucher\n1.005\n12.300\n2.010\n", encoding="utf-8")
    (folder / "plain.csv").write_text("Besucher\n1005\n12300\n2010\n", encoding="utf-8")
    assert answers(merula, folder, "learned.merula", "points.csv") == answers(merula, folder, "learned.merula", "plain.csv")  # fmt: skip


def test_limits_and_strays_are_told_at_fit(merula, folder):
    lead = [f"{0.5 + k / 10:.1f}" for k in range(40)] + ["<0.5"] * 4 + ["not measured"] * 3
    rows = "".join(f"{value},{'ill' if k % 2 else 'well'}\n" for k, value in enumerate(lead))
    (folder / "lab.csv").write_text(f"lead,state\n{rows}")
    result = merula("fit", "lab.csv", "--target", "state", "--model", "naive", "-o", "lab.merula")
    assert "column 'lead': '<0.5' and the like count as the limits that they name" in result.stderr
    assert "column 'lead' holds numbers and 'not measured', read as missing" in result.stderr


def test_strays_among_days_and_years_far_in_the_future_are_told(merula, folder):
    born = [f"{1 + k % 12:02d}/{1 + k % 28:02d}/{45 + k:02d}" for k in range(48)] + ["refused"] * 3
    rows = "".join(f"{day},{'ill' if k % 2 else 'well'}\n" for k, day in enumerate(born))
    (folder / "born.csv").write_text(f"born,state\n{rows}")
    said = merula("fit", "born.csv", "--target", "state", "--model", "naive", "-o", "born.merula").stderr
    assert "column 'born' holds dates and 'refused', read as missing; --kinds 'born=categorical' keeps all as words" in said  # fmt: skip
    assert "column 'born' holds dates: '01/01/45' is taken for 2045: write years in full where that is wrong" in said
    assert "'01/01/45' is taken for 2045" in " ".join(merula("look", "born.csv").stdout.split())


def test_classes_of_yes_and_no_in_several_spellings_are_two(merula, folder):
    rows = "".join(f"{k},{('No', 'no', 'No', 'Yes', 'YES', 'Yes')[k % 6]}\n" for k in range(120))
    (folder / "churn.csv").write_text(f"tenure,Churn\n{rows}")
    result = merula("fit", "churn.csv", "--target", "Churn", "--model", "naive", "-o", "churn.merula", "--kinds", "tenure=numeric")  # fmt: skip
    assert "spellings of 'Churn' that differ only in case are read as one: 'no' (20) as 'No'" in result.stderr
    assert "predicts Churn: No 50 %, Yes 50 %" in merula("info", "churn.merula").stdout
