"""What the page on serving tells the reader to type is answered: its curl and its JavaScript, by a service that runs here."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import merula as mr
from merula.cli.app import app

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "howto" / "serve.md").read_text(encoding="utf-8")
TEXTS = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A folder with a model and its table, and the port of a service."""
    import pandas as pd

    folder = tmp_path_factory.mktemp("served")
    shutil.copy(Path(mr.__file__).parent / "data" / "penguins.csv", folder)
    table = pd.read_csv(folder / "penguins.csv")
    mr.NaiveBayesClassifier().fit(table.drop(columns="species"), table["species"]).save(folder / "penguins.merula")
    command = [sys.executable, "-m", "merula", "serve", str(folder / "penguins.merula"), "--port", "0", "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    yield folder, process.stdout.readline().strip().rpartition(":")[2]
    process.terminate()
    assert process.wait(30) == 0
    process.stdout.close()


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_curl(served):
    folder, port = served
    lines = [line for text in TEXTS for line in text.splitlines() if line.startswith("curl localhost:8000")]
    assert len(lines) == 4
    helped = [line.strip() for line in CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200"}).stdout.splitlines()]  # fmt: skip
    lines += [line for line in helped if line.startswith("curl")]
    assert len(lines) == 5
    for line in lines:
        command = line.replace("localhost:8000", f"localhost:{port}") + " --silent --fail-with-body"
        done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Chinstrap" in done.stdout


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_javascript(served):
    _, port = served
    (script,) = [text for text in TEXTS if "await fetch" in text]
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script.replace("localhost:8000", f"127.0.0.1:{port}")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == "Chinstrap 0.5481 0", done.stdout + done.stderr


def test_every_option_of_the_command_that_the_page_names_is_one():
    from typer.main import get_command

    from merula.cli.app import app

    options = {name for parameter in get_command(app).commands["serve"].params for name in parameter.opts}
    named = set(re.findall(r"(?<![\w-])--[a-z][\w-]+", PAGE)) - {"--data-binary", "--costs", "--target"}
    assert named <= options, named - options
