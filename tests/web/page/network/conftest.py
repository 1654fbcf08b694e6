"""Networks asked in the page's own script, through node, and what Python says to the same findings."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import merula as mr
from merula.web.page.network import level_texts, network_data

RUNNER = Path(__file__).parent / "run_network.mjs"
INFINITE = {"Infinity": np.inf, "-Infinity": -np.inf}


def _number(value):
    """Infinities as numbers, wherever they stand; "NaN" stays a text, so that no comparison passes it."""
    if isinstance(value, list):
        return [_number(one) for one in value]
    if isinstance(value, dict):
        return {key: _number(one) for key, one in value.items()}
    return INFINITE.get(value, value) if isinstance(value, str) else value


@pytest.fixture(scope="session")
def ask_page():
    """What the page answers to each of these [method, …arguments] about a network."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")

    def ask(network, asks):
        data = network if isinstance(network, dict) else network_data(network)
        job = json.dumps({"data": data, "asks": asks}, allow_nan=False)
        done = subprocess.run([node, str(RUNNER)], input=job + "\n", capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return _number(json.loads(done.stdout))

    return ask


@pytest.fixture(scope="session")
def read_network():
    """A published network by its name; the test is skipped when its file is nowhere."""

    def read(name):
        folder = Path(os.environ.get("MERULA_DATA", Path(__file__).parents[5] / "shared" / "data")) / "networks"
        pgmpy = find_spec("pgmpy")
        folders = [folder] + ([Path(pgmpy.origin).parent / "utils" / "example_models"] if pgmpy else [])
        for place in folders:
            for file in (place / f"{name}.bif", place / f"{name}.bif.gz"):
                if file.exists():
                    return mr.read_network(file)
        return pytest.skip(f"{name}.bif is neither in {folder} (set MERULA_DATA) nor in pgmpy's example models")

    return read


@pytest.fixture(scope="session")
def random_findings():
    """Random findings that can be, as the page takes them and as Python does: (for the page, actions, evidence)."""

    def draw(network, rng, most=8, actions=0):
        texts = {name: level_texts(levels) for name, levels in network.levels.items()}
        row = network.sample(1, random_state=rng).iloc[0]
        chosen = rng.permutation(np.array(network.variables, dtype=object))[: rng.integers(0, most + 1)].tolist()
        page, done, given = {}, {}, {}
        for number, name in enumerate(chosen):
            levels = network.levels[name]
            at = _index(levels, row[name])
            if number < actions:
                at = int(rng.integers(len(levels)))
                page[name], done[name] = {"do": texts[name][at]}, levels[at]
            else:
                page[name], given[name] = _finding(levels, texts[name], at, rng)
        return page, done, given

    return draw


def _index(levels, value):
    return next(k for k, level in enumerate(levels) if level == value or str(level) == str(value))


def _finding(levels, texts, at, rng):
    """A hard finding of the level at this index, or one that it agrees with."""
    kind = rng.choice(["is", "not", "likelihood"])
    if kind == "is" or len(levels) == 1:
        return {"is": texts[at]}, levels[at]
    if kind == "not":
        out = [k for k in range(len(levels)) if k != at and rng.random() < 0.5]
        return {"not": [texts[k] for k in out]}, {levels[k] for k in range(len(levels)) if k not in out}
    likelihood = (rng.random(len(levels)) * 3 + 1e-3).tolist()
    return {"likelihood": likelihood}, dict(zip(levels, likelihood, strict=True))


# ---------------------------------------------------------------------------------------------------------------- the browser


@pytest.fixture(scope="session")
def browser():
    """A real browser without a window; skipped where there is none."""
    driver = shutil.which("chromedriver")
    if driver is None or shutil.which("chromium") is None:
        pytest.skip("no browser: apt-get install chromium chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for word in ("headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync"):  # fmt: skip
        options.add_argument(f"--{word}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=driver))
    chrome.set_page_load_timeout(60)
    chrome.set_script_timeout(60)
    yield chrome
    chrome.quit()


class Page:
    """A page in the browser, used as a person uses it."""

    def __init__(self, browser, path):
        self.browser, self.path = browser, path

    def open(self, width=1400, fragment=""):
        height = {360: 800, 768: 1024}.get(width, 900)
        sizes = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", sizes)
        self.browser.get("about:blank")  # a new fragment alone would not load the page anew
        self.browser.get_log("browser")
        self.browser.get(self.path.as_uri() + fragment)
        self.wait("return document.querySelector('.network') !== null")
        return self

    def run(self, script, *given):
        return self.browser.execute_script(script, *given)

    def wait(self, script, *given):
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.browser, 20, 0.05).until(lambda _: self.run(script, *given))

    def find(self, selector):
        return self.browser.find_elements("css selector", selector)

    def box(self, name):
        """The box of a variable, brought into sight by its search."""
        (field,) = self.find(".network-search input")
        field.send_keys(name)
        field.send_keys("\ue007")  # Enter
        return self.find(f'.box[data-box="{self.index(name)}"]')[0]

    def index(self, name):
        columns = "JSON.parse(document.getElementById('data').textContent).columns"
        return self.run(f"return {columns}.findIndex(one => one.name === arguments[0])", name)

    def click_level(self, name, level):
        self.box(name).find_element("css selector", f'[data-level="{level}"]').click()

    def choose(self, selector, value):
        from selenium.webdriver.support.ui import Select

        Select(self.find(selector)[0]).select_by_value(value)

    def button(self, text):
        from selenium.webdriver.common.by import By

        return self.browser.find_element(By.XPATH, f"//button[normalize-space()='{text}']")

    def shares(self, name):
        """The probabilities that the open box of a variable shows, to the last digit."""
        rows = self.find(f'.box[data-box="{self.index(name)}"] [data-level]')
        return [float(row.get_attribute("data-share")) for row in rows]

    def said(self):
        """What the console says, and what was fetched: nothing of either."""
        fetched = self.run("return performance.getEntriesByType('resource').map(one => one.name)")
        return [line["message"] for line in self.browser.get_log("browser")] + fetched


@pytest.fixture(scope="session")
def page_of(browser, tmp_path_factory):
    """The page of a network, written into a file of its own."""
    folder = tmp_path_factory.mktemp("pages")

    def page(network, name, **options):
        path = folder / f"{name}.html"
        if not path.exists():
            mr.write_page(network, path, name=name, **options)
        return Page(browser, path)

    return page


@pytest.fixture(scope="session")
def axe():
    """The script of axe-core, as a package of the tests carries it."""
    found = find_spec("axe_playwright_python")
    if found is None:
        pytest.skip("no axe-core: pip install axe-playwright-python")
    return (Path(found.submodule_search_locations[0]) / "axe.min.js").read_text(encoding="utf-8")
