"""Pages of classifiers of many kinds, opened in a browser and used as a person uses them."""

from __future__ import annotations

import json
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import merula as mr

EVERY = os.environ.get("MERULA_PAGE") == "every"
HOSTILE = ["__proto__", "constructor", "<script>window.ran = 1</script>", "\u202etxet\u202c", "x" * 10_000, "\"quotes' & <b>", "</script><img src=x onerror='window.ran = 2'>"]  # fmt: skip
LABELS = {
    "bill_length_mm": {"label": "Bill length", "unit": "mm", "description": "From the tip to the base."},
    "island": "Island",
}
COSTS = {
    "ring it": {"Adelie": 0, "Chinstrap": 4, "Gentoo": 1},
    "look again": {"Adelie": 1, "Chinstrap": 1, "Gentoo": 1},
}


def _penguins(penguins):
    return mr.NaiveBayesClassifier().fit(*penguins), {"name": "Penguins", "labels": LABELS, "costs": COSTS}


def _patients(_):
    rng = np.random.default_rng(7)
    ill = rng.random(240) < 0.3
    table = pd.DataFrame({
        "blood pressure": np.where(ill, rng.normal(150, 14, 240), rng.normal(125, 12, 240)).round(),
        "visits": rng.poisson(np.where(ill, 4, 1)),
        "smoker": np.where(rng.random(240) < np.where(ill, 0.6, 0.3), "yes", "no"),
        "seen on": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 240) + 60 * ill, unit="D"),
        "town": rng.choice([f"town {k}" for k in range(40)], 240),
        "remarks": np.where(ill, "coughs at night", "sleeps well at night"),
    })  # fmt: skip
    kinds = {"visits": "count", "remarks": "text", "town": "categorical"}
    model = mr.NaiveBayesClassifier(kinds=kinds, distributions={"blood pressure": "histogram"})
    return model.fit(table, np.where(ill, "ill", "healthy")), {"name": "Patients"}


def _melons(_):
    rng = np.random.default_rng(3)
    good = rng.random(80) < 0.5
    table = pd.DataFrame({
        "色泽": np.where(rng.random(80) < np.where(good, 0.8, 0.3), "乌黑", "浅白"),
        "根蒂": rng.choice(["蜷缩", "稍蜷", "硬挺"], 80),
        "含糖率": rng.normal(np.where(good, 0.3, 0.15), 0.08),
    })  # fmt: skip
    return mr.TANClassifier().fit(table, np.where(good, "是", "否")), {"name": "西瓜", "language": "zh"}


def _clinic(_):
    rng = np.random.default_rng(9)
    admitted = rng.random(160) < 0.4
    minutes = np.where(admitted, rng.normal(90, 20, 160), rng.normal(40, 10, 160)).round()
    table = pd.DataFrame({
        "waited": pd.to_timedelta(minutes, unit="min"),
        "came at": [f"{hour}:{minute:02}" for hour, minute in zip(rng.integers(8, 18, 160) + admitted, rng.integers(0, 60, 160), strict=True)],
        "bill": [f"${amount:,.2f}" for amount in np.where(admitted, rng.normal(2400, 300, 160), rng.normal(1300, 200, 160))],
        "weight": rng.normal(70, 9, 160).round(1),
    })  # fmt: skip
    model = mr.NaiveBayesClassifier(kinds={"came at": "numeric", "bill": "numeric"})
    labels = {"weight": {"range": [40, 120], "unit": "kg"}}
    costs = {"keep": {"admitted": 0, "sent home": 1}, "send home": {"admitted": 1_000_000, "sent home": 0}}
    return model.fit(table, np.where(admitted, "admitted", "sent home")), {"name": "Clinic", "labels": labels, "costs": costs}  # fmt: skip


def _hostile(_):
    rng = np.random.default_rng(5)
    rows = [[HOSTILE[(i + j) % 7] if rng.random() < 0.8 else "n" for j in range(7)] for i in range(140)]
    model = mr.NaiveBayesClassifier(kinds="categorical").fit(pd.DataFrame(rows, columns=HOSTILE), [HOSTILE[i % 7] for i in range(140)])  # fmt: skip
    told = {"label": HOSTILE[2], "description": HOSTILE[4], "unit": HOSTILE[6]}
    costs = {action: {label: float(action != label) for label in HOSTILE} for action in HOSTILE}
    return model, {
        "name": HOSTILE[2] + HOSTILE[4],
        "labels": {HOSTILE[0]: told, HOSTILE[1]: HOSTILE[3]},
        "costs": costs,
    }


def _sensors(_):
    rng = np.random.default_rng(11)
    labels = np.array(["cold", "mild", "warm", "hot", "very hot indeed", "scorching", "arctic", "dry", "wet", "foggy"])
    truth = rng.integers(0, len(labels), 400)
    columns = {f"sensor number {k} of the north wing": rng.normal(truth * (k % 4), 2.0) for k in range(38)}
    columns |= {"sky": rng.choice(list("abcdefghijklmn"), 400)}
    return mr.NaiveBayesClassifier().fit(pd.DataFrame(columns), labels[truth]), {"name": "Sensors"}


def _strict(_):
    rng = np.random.default_rng(13)
    table = pd.DataFrame({"town": rng.choice([f"town {k}" for k in range(30)], 120), "smoker": rng.choice(["yes", "no"], 120)})  # fmt: skip
    return mr.NaiveBayesClassifier(unseen="error").fit(table, rng.choice(["ill", "healthy"], 120)), {"name": "Strict"}


def _alike(_):
    rng = np.random.default_rng(17)
    table = pd.DataFrame({"country": ["Antarctica"] * 80, "wing": rng.normal(size=80)})
    return mr.AutoBayesClassifier(1).fit(table, np.where(table["wing"] > 0, "wren", "tit")), {"name": "Alike"}


def _pool(penguins):
    return mr.AutoBayesClassifier().fit(*penguins), {"name": "A pool"}


TABLES = {"penguins": _penguins, "patients": _patients, "melons": _melons, "clinic": _clinic, "hostile": _hostile, "sensors": _sensors, "strict": _strict, "alike": _alike, "pool": _pool}  # fmt: skip


class Page:
    """A page in a browser: what a person does with it, and what they see."""

    def __init__(self, browser, path, model):
        self.browser, self.path, self.model = browser, path, model

    def open(self, width=1400, fragment="", theme="light"):
        """Load the page anew, as wide as this."""
        sizes = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        scheme = [{"name": "prefers-color-scheme", "value": theme}]
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", sizes)
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
        self.browser.get("about:blank")
        self.browser.get_log("browser"), self.browser.get_log("performance")
        self.browser.get(self.path.as_uri() + fragment)
        self.wait("return document.querySelector('#page main') !== null")
        self.settle()

    def wait(self, script, seconds=30):
        """What the script returns, once that is something."""
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.browser, seconds, 0.02).until(lambda page: page.execute_script(script))

    def settle(self):
        """Wait until the questions are worked out."""
        self.wait("return document.querySelector('[aria-busy=true]') === null")

    def run(self, script, *given):
        return self.browser.execute_script(script, *given)

    def all(self, selector):
        from selenium.webdriver.common.by import By

        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.all(selector)[0]

    def field(self, name):
        """The selector of a column's field."""
        return f"#field-{[column.name for column in self.model.schema_.columns].index(name)}"

    def press(self, words, within="body"):
        """Press the button that says this, or that is called so."""
        self.settle()
        found = self.run(
            "const named = [...document.querySelectorAll(arguments[0] + ' button')].find(one =>"
            " [one.textContent.trim(), one.getAttribute('aria-label')].includes(arguments[1]));"
            "named?.scrollIntoView({block: 'center'}); return named;",
            within,
            words,
        )
        assert found, f"there is no button {words!r}"
        found.click()

    def type(self, selector, text):
        """Type into a box, in place of what was there."""
        from selenium.webdriver.common.keys import Keys

        self.one(selector).send_keys(Keys.CONTROL, "a")
        self.one(selector).send_keys(text)

    def posterior(self, scenario=0):
        """P(class), in the order of the classes, to the last bit."""
        shares = self.run(
            "return [...document.querySelectorAll('#posterior .bar-row')].map(row => "
            "[row.querySelector('.bar-name').textContent, [...row.querySelectorAll('data')].map(one => one.value)])"
        )
        by_name = {name: float(values[scenario]) for name, values in shares}
        return [by_name[str(label)] for label in self.model.classes_]

    def announced(self):
        return self.run("return document.getElementById('announced').textContent")

    def said(self):
        """What the console says."""
        return [entry["message"] for entry in self.browser.get_log("browser")]

    def asked_for(self):
        """The addresses that were asked for, but for the page itself."""
        events = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        urls = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith(("data:", "about:", self.path.as_uri()))]


@pytest.fixture(scope="session")
def page_of(browser, penguins, tmp_path_factory):
    """`page_of("patients")` is a page of that table's model; each is written once."""
    folder = tmp_path_factory.mktemp("pages")

    @cache
    def written(name):
        model, options = TABLES[name](penguins)
        path = folder / f"{name}.html"
        mr.write_page(model, path, **options)
        return Page(browser, path, model)

    return written


@pytest.fixture(scope="session")
def axe():
    """The script of axe-core, as a package of the tests carries it."""
    found = find_spec("axe_playwright_python")
    if found is None:
        pytest.skip("no axe-core: pip install axe-playwright-python")
    return (Path(found.submodule_search_locations[0]) / "axe.min.js").read_text(encoding="utf-8")
