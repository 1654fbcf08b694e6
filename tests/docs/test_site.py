"""The site builds without a warning, fetches nothing, and its links lead somewhere."""

import inspect
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import merula as mr

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
        self.links, self.fetched, self.indices = set(), set(), {""}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.indices.update(found[key] for key in ("id", "name") if found.get(key))
        if tag == "a" and found.get("href"):
            self.links.add(found["href"])
        if tag in FETCHED and found.get(FETCHED[tag]):
            self.fetched.add(found[FETCHED[tag]])


def test_site_builds_and_stands_alone(tmp_path):
    """One test, so that the site is built once however the tests are shared out."""
    _build(tmp_path)
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in tmp_path.rglob("*.html")}
    _check_every_page_is_there(pages, tmp_path)
    _check_nothing_is_fetched_from_elsewhere(pages, tmp_path)
    _check_internal_links_resolve(pages, tmp_path)
    _check_reference_is_complete(pages)


def _build(folder):
    """The site, without a warning."""
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert built.returncode == 0, built.stdout + built.stderr


def _check_every_page_is_there(pages, site):
    written = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert written | {Path("reference/commands.html")} <= {path.relative_to(site) for path in pages}


def _check_nothing_is_fetched_from_elsewhere(pages, site):
    assert not {(path.name, address) for path, page in pages.items() for address in page.fetched if _leaves(address)}
    for sheet in site.rglob("*.css"):
        assert not re.findall(r"(?:url\(|@import)\s*['\"]?\s*(?:https?:)?//", sheet.read_text(encoding="utf-8")), sheet
    assert not any(
        'class="mermaid"' in path.read_text(encoding="utf-8") for path in pages
    )  # its script would be fetched


def _check_internal_links_resolve(pages, site):
    broken = set()
    for path, page in pages.items():
        for link in page.links:
            address, index = urldefrag(link)
            if _leaves(link) or link.startswith("mailto:") or path.name == "404.html":
                continue
            target = (path.parent / unquote(address)).resolve() if address else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists() or (target in pages and unquote(index) not in pages[target].indices):
                broken.add((str(path.relative_to(site)), link))
    assert not broken


def _check_reference_is_complete(pages):
    """Every public name, and the methods of the classes that people use most."""
    indices = set().union(*(page.indices for path, page in pages.items() if path.parent.name == "reference"))
    assert {f"merula.{name}" for name in mr.__all__} <= indices
    own = {
        f"merula.{name}.{method}"
        for name in ("BayesianNetwork", "JointDistribution", "NaiveBayesClassifier")
        for method, value in inspect.getmembers(getattr(mr, name), callable)
        if not method.startswith("_") and value.__module__.startswith("merula")
    }
    assert own <= indices


def _leaves(address):
    return bool(re.match(r"(?:[a-z]+:)?//", address))
