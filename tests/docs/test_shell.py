"""What the pages tell the reader to type into a shell works, in the order of the page, and prints what stands below it.

A page's blocks of shell run one after the other in one folder that is empty but for the tables a reader would bring.
A block of text directly below a block of shell is what the block prints; `…` stands for anything. A command ends with 0
unless a comment behind it says otherwise (`# exit code 2`).
"""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer
from typer.testing import CliRunner

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
STATED = re.compile(r"\s+# exit code (\d+)$")
BROUGHT = {"patients.csv": "diagnosis", "new.csv": None, "my.csv": "outcome"}  # the reader's tables, and their target


def blocks(page):
    """(lines typed, what is shown below them or None) of each block that calls merula."""
    for language, content, shown in FENCE.findall(page.read_text(encoding="utf-8")):
        if language in ("", "sh") and re.search(r"^merula ", content, re.MULTILINE):
            lines = content.replace("\\\n", " ").splitlines()
            yield [line for line in lines if line and not line.startswith(("#", "make "))], shown or None


def bring_tables(folder):
    """Biopsies of real patients, under the names that the pages use for a table of one's own."""
    cells = load_breast_cancer(as_frame=True)
    rows = cells.frame.iloc[::4, :4].round(3)
    outcome = cells.target[::4].map(dict(enumerate(cells.target_names)))
    for name, target in BROUGHT.items():
        (rows if target is None else rows.assign(**{target: outcome})).to_csv(folder / name, index=False)


def typed(line):
    """What a line prints; its `merula` runs in this process, what it is piped into in a shell."""
    from merula.cli.app import app

    expected, line = int((STATED.search(line) or [0, 0])[1]), STATED.sub("", line)
    if not line.startswith("merula "):
        return piped(line, "")
    command, *rest = re.split(r" (?=[|>] )", line, maxsplit=1)
    result = CliRunner().invoke(app, shlex.split(command, comments=True)[1:])
    assert result.exit_code == expected, (line, result.output)
    return result.stderr + (piped(f"cat {rest[0]}", result.stdout) if rest else result.stdout)


def piped(line, text):
    done = subprocess.run(["bash", "-c", line], input=text, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def agrees(printed, shown):
    """Whether what was printed is what is shown, where `…` is anything and columns may be wider: their digits differ by machine."""
    pattern = ".*?".join(map(re.escape, _narrow(shown.rstrip()).split("…")))
    return re.fullmatch(pattern, _narrow(printed.strip("\n")), re.DOTALL) is not None


def _narrow(text):
    return "\n".join(re.sub(r"(?<=\S) +", " ", line.rstrip()) for line in text.splitlines())


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(blocks(page))], ids=lambda page: str(page.relative_to(ROOT))
)
def test_what_the_page_types_works_and_prints_what_it_shows(page, tmp_path, monkeypatch):
    bring_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    for lines, shown in blocks(page):
        printed = "".join(map(typed, lines))
        assert shown is None or agrees(printed, shown), f"{lines} prints\n{printed}\nand not\n{shown}"


def test_ellipsis_stands_for_anything_and_nothing_else_does():
    assert agrees("344 rows\nwritten\n", "344 rows\nwritten\n")
    assert agrees("344 rows\nAdelie\nGentoo\nwritten\n", "344 …\n…\nwritten\n")
    assert not agrees("344 rows\nwritten\n", "345 rows\nwritten\n")
    assert not agrees("344 rows\nwritten\n", "344 rows\n")
