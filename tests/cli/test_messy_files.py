"""`merula fit` on the clean file, `merula predict` on one that was damaged: the answers are the same to the last byte."""

import csv
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
