"""What tests of pages and services share: node, a browser, the penguins."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

FLAGS = ("headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync")  # fmt: skip
PENGUINS = Path(__file__).parents[2] / "src/merula/data/penguins.csv"


@pytest.fixture(scope="session")
def node():
    """Where node is; skipped where there is none."""
    return shutil.which("node") or pytest.skip("node is not installed")


@pytest.fixture(scope="session")
def penguins():
    """The table and the species of the penguins."""
    birds = pd.read_csv(PENGUINS)
    return birds.drop(columns="species"), birds["species"]


@pytest.fixture(scope="session")
def browser():
    """A real browser without a window, which tells what is written to its console and what it asks for; skipped where there is none."""
    driver = shutil.which("chromedriver")
    if driver is None or shutil.which("chromium") is None:
        pytest.skip("no browser: apt-get install chromium chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for word in FLAGS:
        options.add_argument(f"--{word}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=driver))
    chrome.set_page_load_timeout(120)
    yield chrome
    chrome.quit()
