"""Pages hold no block of Python that is not executed, and their own links lead to files."""

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
PICTURES = runpy.run_path(str(DOCS / "hooks" / "pictures.py"))["PICTURES"]
GENERATED = {"reference/commands.md", *(f"pictures/{name}.svg" for name in PICTURES)}
KNOWN = {"pycon", "text", "sh", "python", "math"}


def blocks(page):
    """(language, content) of each fenced block."""
    return re.findall(r"^```(\S*)[^\n]*\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_every_block_of_python_is_executed(page):
    for language, content in blocks(page):
        assert language in KNOWN, language
        if language == "pycon":
            assert content.startswith(">>> ") and content.endswith("\n\n"), (
                content
            )  # a blank line ends what is expected
        if language == "python":
            assert re.fullmatch(r'--8<-- "examples/\w+\.py"\n', content), content  # run by test_examples


@pytest.mark.parametrize("page", sorted((DOCS / "models").glob("*.md")), ids=lambda page: page.stem)
def test_page_of_a_model_is_complete(page):
    """Its formula first, then what it assumes, an example, what it costs and where it fails."""
    text = page.read_text(encoding="utf-8")
    assert blocks(page)[0][0] == "math"
    indices = [
        text.find(f"\n## {part}\n") for part in ("What it assumes", "An example", "What it costs", "Where it fails")
    ]
    assert -1 not in indices and indices == sorted(indices)


WITH_FORMULAS = [page for page in PAGES if "math" in dict(blocks(page))]


@pytest.mark.parametrize("page", WITH_FORMULAS, ids=lambda page: str(page.relative_to(DOCS)))
def test_formulas_are_typeset_as_mathml(page):
    """By the hook of the site: every line is well-formed MathML, in which no command of LaTeX is left as it was written."""
    hook = runpy.run_path(str(DOCS / "hooks" / "formulas.py"))
    written = [content for language, content in blocks(page) if language == "math"]
    built = hook["on_page_markdown"](page.read_text(encoding="utf-8"))
    assert "```math" not in built
    found = [
        ElementTree.fromstring(block) for block in re.findall(r'^<div class="formula">.*</div>$', built, re.MULTILINE)
    ]
    assert [len(block) for block in found] == [len(content.splitlines()) for content in written]
    for block in found:
        assert all(line.tag.endswith("}math") for line in block)
        assert "\\" not in "".join(block.itertext())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_links_lead_to_files(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for address in re.findall(r"\]\(([^)#\s]+)", re.sub(r"`[^`]*`", "", text)):
        target = (page.parent / address).resolve()
        assert target.exists() or str(target.relative_to(DOCS)) in GENERATED, address
