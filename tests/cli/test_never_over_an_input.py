"""What a command writes never takes the place of what it reads, by whatever name, pattern or link."""

import os
import shutil

import pytest

COSTS = "action,Adelie,Chinstrap,Gentoo\nrelease,0,5,5\nring,1,0,0\n"


@pytest.fixture
def files(merula, model, folder):
    """A table, its copies, a model, a network and costs, all in the working folder."""
    penguins = os.path.join(os.path.dirname(__import__("merula").__file__), "data", "penguins.csv")
    for name in ("in.csv", "in2.csv", "table.merula", "table.html", "table.bif"):
        shutil.copy(penguins, folder / name)
    (folder / "costs.csv").write_text(COSTS)
    shutil.copy(folder / "costs.csv", folder / "costs.merula")
    shutil.copy(folder / "costs.csv", folder / "costs.html")
    shutil.copy(model, folder / "model.merula")
    shutil.copy(model, folder / "model.csv")
    shutil.copy(model, folder / "merged.merula")
    assert merula("network", "learn", "in.csv", "-o", "net.bif", "--ignore", "year").exit_code == 0
    os.symlink("in.csv", folder / "link.csv")
    os.link(folder / "in.csv", folder / "hard.csv")
    os.link(folder / "model.merula", folder / "hard.merula")
    os.link(folder / "in.csv", folder / "hard.bif")
    return folder


TARGET = ("--target", "species")
OVER = [
    ("predict", "model.merula", "in.csv", "-o", "in.csv"),
    ("predict", "model.merula", "in*.csv", "-o", "in.csv"),
    ("predict", "model.merula", "in*.csv", "-o", "in2.csv"),
    ("predict", "model.merula", "in*.csv", "-o", "./in2.csv"),
    ("predict", "model.merula", "in.csv", "-o", "link.csv"),
    ("predict", "model.merula", "link.csv", "-o", "in.csv"),
    ("predict", "model.merula", "in.csv", "-o", "hard.csv"),
    ("predict", "model.csv", "in.csv", "-o", "model.csv"),
    ("predict", "model.merula", "in.csv", "--costs", "costs.csv", "-o", "costs.csv"),
    ("fit", "table.merula", *TARGET, "-o", "table.merula"),
    ("fit", "in*.csv", *TARGET, "-o", "in2.csv"),
    ("fit", "in.csv", *TARGET, "--costs", "costs.merula", "-o", "costs.merula"),
    ("fit", "in.csv", *TARGET, "--like", "model.merula"),
    ("fit", "in.csv", *TARGET, "--like", "model.merula", "-o", "hard.merula"),
    ("report", "table.html", *TARGET, "-o", "table.html"),
    ("report", "in.csv", *TARGET, "--costs", "costs.html", "-o", "costs.html"),
    ("report", "in.csv", *TARGET, "-o", "link.csv"),
    ("merge", "merged.merula", "model.merula"),
    ("merge", "penguins.merula", "model.merula", "-o", "hard.merula"),
    ("network", "learn", "table.bif", "-o", "table.bif"),
    ("network", "learn", "in.csv", "-o", "hard.bif"),
    ("network", "convert", "net.bif", "net.bif"),
]


@pytest.mark.parametrize("words", OVER, ids=" ".join)
def test_no_command_writes_over_what_it_reads(merula, files, words):
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    result = merula(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "would be lost" in result.stderr
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


def test_a_link_is_told_by_the_name_it_hides(merula, files):
    told = merula("predict", "model.merula", "in.csv", "-o", "hard.csv").stderr
    assert told.startswith("error: hard.csv is the table itself (in.csv), which would be lost")


def test_a_merge_into_one_of_its_models_is_done_where_that_is_asked(merula, files):
    before = (files / "merged.merula").read_bytes()
    assert merula("merge", "merged.merula", "model.merula", "-o", "merged.merula").exit_code == 0
    assert (files / "merged.merula").read_bytes() != before


def test_other_files_and_devices_may_be_written(merula, files):
    assert merula("predict", "model.merula", "in*.csv", "-o", "answers.csv").exit_code == 0
    assert merula("predict", "model.merula", "in.csv", "-o", "answers.csv").exit_code == 0  # answers are written anew
    assert merula("fit", "in.csv", *TARGET, "-o", os.devnull).exit_code == 0
