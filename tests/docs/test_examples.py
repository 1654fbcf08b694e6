"""The gallery: every script runs, prints what its page shows, and stands on the page."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


def split(text):
    """The words of a text, and its numbers."""
    words = [re.sub(r"[\s─]+", " ", part) for part in NUMBER.split(text)]
    return words, [float(number.replace(",", "")) for number in NUMBER.findall(text)]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_prints_what_the_page_shows(script, capsys):
    runpy.run_path(str(script), run_name="__main__")
    words, numbers = split(capsys.readouterr().out)
    shown_words, shown_numbers = split(script.with_suffix(".txt").read_text(encoding="utf-8"))
    assert words == shown_words
    assert numbers == pytest.approx(shown_numbers, rel=0.02, abs=0.002)  # versions of SciPy differ in the last digits


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_stands_on_the_page(script):
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    assert f'--8<-- "examples/{script.name}"' in page
    assert f'--8<-- "examples/{script.stem}.txt"' in page
