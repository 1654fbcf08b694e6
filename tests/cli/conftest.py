"""The merula command run in this process, in a folder of its own."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

PENGUINS = Path(__file__).parents[2] / "src/merula/data/penguins.csv"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder that commands run in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def merula(folder):
    """Run a command: `merula("fit", "penguins", …)`; the result has exit_code, stdout, stderr."""

    def run(*words, typed=None):
        from merula.cli.app import app

        return CliRunner().invoke(app, [str(word) for word in words], input=typed)

    return run


@pytest.fixture
def model(merula):
    """A plain naive model of the penguins, saved."""
    result = merula("fit", "penguins", "--target", "species", "--model", "naive", "-o", "penguins.merula")
    assert result.exit_code == 0, result.stderr
    return "penguins.merula"


@pytest.fixture
def patients(folder):
    """A small table with an identifier, a constant, a leak, text, numbers in disguise and rows without a class."""
    complaints = [
        "cannot sleep at night {}",
        "pain in the left knee {}",
        "feels well after walk {}",
        "cough since last week {}",
    ]
    lines = ["patient id,hospital,outcome code,complaint,blood pressure,größe,diagnosis"]
    for i in range(60):
        ill = i % 3 == 0
        pressure = "unknown" if i == 7 else str(140 + i % 11 if ill else 110 + i % 13)
        complaint = complaints[i % 4].format(f"{i} times")
        diagnosis = "" if i in (5, 11) else ("ill" if ill else "healthy")
        lines.append(
            f"{1000 + i},north,{'x' if ill else 'y'},{complaint},{pressure},{'' if i == 9 else 1.5 + i % 7 / 10},{diagnosis}"
        )
    (folder / "patients.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return "patients.csv"


@pytest.fixture
def costs(folder):
    """Costs of two actions on three species."""
    (folder / "costs.csv").write_text("action,Adelie,Chinstrap,Gentoo\nrelease,0,5,5\nring,1,0,0\n")
    return "costs.csv"
