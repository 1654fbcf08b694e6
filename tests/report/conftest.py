"""Tables of several kinds, their reports, and a browser to look at them."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.report import findings_html, write_html
from merula.report.findings import collect_findings

PENGUINS = Path(__file__).parents[2] / "src/merula/data/penguins.csv"
HOSTILE = "<script>window.ran = true</script>"
COSTS = {"treat": {"healthy": 1, "ill": 0}, "wait": {"healthy": 0, "ill": 5}}


def _penguins():
    birds = pd.read_csv(PENGUINS)
    return mr.NaiveBayesClassifier(distributions="auto"), birds.drop(columns="species"), birds["species"], {}


def _patients():
    rng = np.random.default_rng(7)
    ill = rng.random(240) < 0.3
    table = pd.DataFrame(
        {
            "blood pressure": np.where(ill, rng.normal(150, 14, 240), rng.normal(125, 12, 240)).round(),
            "visits": rng.poisson(np.where(ill, 4, 1)),
            "smoker": np.where(rng.random(240) < np.where(ill, 0.6, 0.3), "yes", "no"),
            "seen on": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 240) + 60 * ill, unit="D"),
        }
    )
    models = {
        "naive": mr.NaiveBayesClassifier(kinds={"visits": "count"}),
        "jointly": mr.BayesClassifier(kinds={"seen on": "ignore"}),
    }
    return models, table, np.where(ill, "ill", "healthy"), {"costs": COSTS}


def _letters():
    words = {"spam": ["win cash prize now", "free entry claim today"], "ham": ["see you at lunch", "call me tomorrow"]}
    texts = [f"{text} {extra}" for text in words["spam"] + words["ham"] for extra in "abcdefgh"]
    labels = [label for label, some in words.items() for _ in some for _ in "abcdefgh"]
    return mr.NaiveBayesClassifier(kinds="text"), pd.DataFrame({"letter": texts}), labels, {}


def _melons():
    rng = np.random.default_rng(3)
    good = rng.random(80) < 0.5
    table = pd.DataFrame(
        {
            "色泽": np.where(rng.random(80) < np.where(good, 0.8, 0.3), "乌黑", "浅白"),
            "根蒂": rng.choice(["蜷缩", "稍蜷", "硬挺"], 80),
            "含糖率": rng.normal(np.where(good, 0.3, 0.15), 0.08),
        }
    )
    return mr.NaiveBayesClassifier(), table, np.where(good, "是", "否"), {}


def _sensors():
    rng = np.random.default_rng(11)
    labels = np.array(["cold", "mild", "warm", "hot", "very hot indeed", "scorching", "arctic"])
    truth = rng.integers(0, len(labels), 280)
    columns = {f"sensor number {k} of the north wing": rng.normal(truth * (k % 4), 2.0) for k in range(38)}
    columns |= {"sky": rng.choice(list("abcdefghijklmn"), 280), "empty": np.full(280, np.nan)}
    return mr.NaiveBayesClassifier(), pd.DataFrame(columns), labels[truth], {}


def _hostile():
    rng = np.random.default_rng(5)
    flips = rng.random(60) < 0.5
    names = np.where(flips, HOSTILE, "</script><b onclick='alert(1)'>&amp;\"")
    table = pd.DataFrame(
        {
            f"size {HOSTILE}": rng.normal(flips * 2.0, 1.0),
            "a.b[0]'\"\\": np.where(rng.random(60) < np.where(flips, 0.8, 0.2), "<img src=x onerror=alert(2)>", "-->"),
        }
    )
    return mr.NaiveBayesClassifier(), table, names, {"title": f"All about {HOSTILE}", "target": HOSTILE}


TABLES = {
    "penguins": _penguins,
    "patients": _patients,
    "letters": _letters,
    "melons": _melons,
    "sensors": _sensors,
    "hostile": _hostile,
}


@pytest.fixture(scope="session")
def reported(tmp_path_factory):
    """`reported("penguins")` has the findings, the page and the file it was written to; each is made once."""
    folder = tmp_path_factory.mktemp("reports")

    @cache
    def report(name):
        model, table, classes, options = TABLES[name]()
        found = collect_findings(model, table, classes, cv=3, repeats=1, progress=False, **options)
        page, path = findings_html(found), folder / f"{name}.html"
        write_html(page, path)
        return SimpleNamespace(model=model, X=table, y=classes, options=options, found=found, page=page, path=path)

    return report


@pytest.fixture(scope="session")
def browser():
    """A real browser without a window; skipped where there is none."""
    driver = shutil.which("chromedriver")
    if driver is None or shutil.which("chromium") is None:
        pytest.skip("no browser: apt-get install chromium chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for word in (
        "headless",
        "no-sandbox",
        "disable-gpu",
        "disable-dev-shm-usage",
        "disable-quic",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
    ):
        options.add_argument(f"--{word}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=driver))
    chrome.set_page_load_timeout(120)
    yield chrome
    chrome.quit()
