"""Every public name stands in the reference, has a docstring, and an example that runs."""

import doctest
import inspect
import re
from pathlib import Path

import pytest

import merula as mr

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in REFERENCE.glob("*.md")}
DOCUMENTED = [name for text in PAGES.values() for name in re.findall(r"^::: merula\.(\w+)$", text, re.MULTILINE)]


@pytest.mark.parametrize("name", mr.__all__)
def test_public_name_is_in_the_reference_once(name):
    assert DOCUMENTED.count(name) == 1


def test_reference_names_nothing_else():
    assert set(DOCUMENTED) == set(mr.__all__)


@pytest.mark.parametrize("name", mr.__all__)
def test_index_of_the_reference_links_the_name(name):
    page = next(stem for stem, text in PAGES.items() if f"::: merula.{name}\n" in text + "\n")
    assert f"[`{name}`]({page}.md#merula.{name})" in PAGES["index"]


@pytest.mark.parametrize("name", mr.__all__)
def test_public_name_has_an_example(name):
    text = inspect.getdoc(getattr(mr, name)) or ""
    assert doctest.DocTestParser().get_examples(text), f"mr.{name} has no runnable example"
