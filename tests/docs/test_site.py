"""The site builds without a warning, fetches nothing, and its links lead somewhere."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

pytest.importorskip("mkdocs", reason="the site is built by mkdocs: pip install 'merula[docs]'")
pytest.importorskip("mkdocstrings", reason="the reference is written by mkdocstrings: pip install 'merula[docs]'")
pytest.importorskip("material", reason="the site's theme is mkdocs-material: pip install 'merula[docs]'")

ROOT = Path(__file__).parents[2]
FETCHED = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "object": "data",
}


class Page(HTMLParser):
    """What a page links to, what it fetches, and the places that can be linked to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.fetched, self.places = set(), set(), {""}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places.update(found[key] for key in ("id", "name") if found.get(key))
        if tag == "a" and found.get("href"):
            self.links.add(found["href"])
        if tag in FETCHED and found.get(FETCHED[tag]):
            self.fetched.add(found[FETCHED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site; a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_every_page_of_the_navigation_is_there(pages, site):
    written = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert written | {Path("reference/commands.html")} <= {path.relative_to(site) for path in pages}


def test_nothing_is_fetched_from_elsewhere(pages, site):
    outside = {(path.name, address) for path, page in pages.items() for address in page.fetched if _leaves(address)}
    assert not outside
    for sheet in site.rglob("*.css"):
        assert not re.findall(r"(?:url\(|@import)\s*['\"]?\s*(?:https?:)?//", sheet.read_text(encoding="utf-8")), sheet
    assert not any(
        'class="mermaid"' in path.read_text(encoding="utf-8") for path in pages
    )  # its script would be fetched


def test_internal_links_resolve(pages, site):
    broken = set()
    for path, page in pages.items():
        for link in page.links:
            address, place = urldefrag(link)
            if _leaves(link) or link.startswith("mailto:") or (path.name == "404.html"):
                continue
            target = (path.parent / unquote(address)).resolve() if address else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists() or (target in pages and unquote(place) not in pages[target].places):
                broken.add((str(path.relative_to(site)), link))
    assert not broken


def test_reference_holds_every_public_name(pages, site):
    import merula as mr

    places = set().union(*(page.places for path, page in pages.items() if path.parent.name == "reference"))
    assert {f"merula.{name}" for name in mr.__all__} <= places


def test_methods_of_the_main_classes_are_shown(pages, site):
    import merula as mr

    places = set().union(*(page.places for path, page in pages.items() if path.parent.name == "reference"))
    own = {
        f"merula.{name}.{method}"
        for name in ("BayesianNetwork", "JointDistribution", "NaiveBayesClassifier")
        for method, value in vars(getattr(mr, name)).items()
        if not method.startswith("_") and callable(getattr(value, "__func__", value))
    }
    assert own <= places


def _leaves(address):
    return bool(re.match(r"(?:[a-z]+:)?//", address))
