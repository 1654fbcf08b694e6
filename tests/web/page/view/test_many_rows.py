"""Random rows through the page itself: gaps, levels never seen, numbers far out; a thousand for each of ten models where asked for."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.web.page.view.conftest import EVERY, Page

import merula as mr
from merula.classify.single_row import encode_row
from merula.core.logspace import to_posterior

CLOSE = 1e-9
EXTREMES = (1e300, -1e300, 0.0, 5e-324, 1e9)
COSTS = {"keep": {"merle": 0, "pie": 3, "étourneau": 1}, "free": {"merle": 2, "pie": 0, "étourneau": 1.5}}
FAMILIES = {"wing mm": "mixture", "mass g": "histogram", "eggs": mr.ZeroInflated(mr.Gaussian()), "song s": "kernel"}
MODELS = {
    "naive": mr.NaiveBayesClassifier(),
    "every family": mr.NaiveBayesClassifier(distributions=FAMILIES, unseen="smooth"),
    "missing as a level": mr.NaiveBayesClassifier(missing="level", smoothing=0),
    "weighted": mr.NaiveBayesClassifier(weights="conditional"),
    "tan": mr.TANClassifier(),
    "aode": mr.AODEClassifier(),
    "kdb": mr.KDBClassifier(),
    "network": mr.BayesianNetworkClassifier(),
    "log-linear": mr.LogLinearClassifier(),
    "pool": mr.AutoBayesClassifier(),
}
ASKED = """
const [cases, done] = [arguments[0], arguments[1]];
const answer = () => [
  [...document.querySelectorAll("#posterior .bar-row")].map(row => row.querySelector("data").value),
  [...document.querySelectorAll(".risks data")].map(one => one.value),
  document.querySelector(".verdict").textContent,
  ["tbody tr:first-child", "tbody tr:last-child"].map(row => document.querySelector("#evidence " + row + " data").value),
];
const pause = () => new Promise(resolve => setTimeout(resolve));
const until = async (selector, there) => { while ((document.querySelector(selector) !== null) !== there) await pause(); };
(async () => {
  const found = [];
  for (const text of cases) {
    [...document.querySelectorAll(".case-bar button")].find(one => one.textContent === "As JSON").click();
    await until("dialog textarea", true);
    document.querySelector("dialog textarea").value = text;
    document.querySelector("dialog .row .primary").click();
    await until("dialog", false);
    found.push(answer());
  }
  done(found);
})();
"""


def birds(rows=240, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.choice(["merle", "pie", "étourneau"], rows, p=[0.5, 0.3, 0.2])
    where = np.where(kind == "pie", 2.0, np.where(kind == "merle", 0.0, 1.0))
    table = pd.DataFrame({
        "plumage 色泽": np.where(rng.random(rows) < 0.4, np.array(["黑", "褐", "<b>"])[where.astype(int)], rng.choice(["黑", "褐", "<b>"], rows)),
        "wing mm": 130 + 3 * where + rng.normal(0, 2.5, rows),
        "mass g": np.exp(4 + 0.3 * where + rng.normal(0, 0.2, rows)),
        "eggs": rng.poisson(1 + where) * (rng.random(rows) < 0.8) + 0.0,
        "song s": rng.gamma(2, 1 + where),
        "__proto__": rng.choice(["constructor", "toString", "valueOf"], rows),
    })  # fmt: skip
    return table.mask(rng.random(table.shape) < 0.1), kind


def cases_of(table, count, seed=1):
    """Random rows as JSON states them: cells of the table, gaps, what was never met."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        row = table.iloc[rng.integers(len(table))].to_dict()
        for name in row:
            chance = rng.random()
            if chance < 0.15:
                row[name] = None
            elif chance < 0.22:
                row[name] = (
                    "never met" if not pd.api.types.is_numeric_dtype(table[name]) else float(rng.choice(EXTREMES))
                )
        found.append({name: value for name, value in row.items() if not pd.isna(value)})
    return found


@pytest.fixture(scope="module")
def page_of_model(browser, tmp_path_factory):
    def written(name):
        model = clone(MODELS[name])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(*birds())
            model = model.portable() if hasattr(model, "portable") else model
            path = tmp_path_factory.mktemp("many") / "page.html"
            mr.write_page(model, path, costs=COSTS)
        return Page(browser, path, model)

    return written


def python_posterior(model, case):
    rows = encode_row(model, {column.name: case.get(column.name) for column in model.schema_.columns})
    log_joint, _ = model.fitted_.score(rows, None, 1)
    to_posterior(log_joint, model.fitted_.log_prior)
    return log_joint[0]


@pytest.mark.parametrize("name", MODELS if EVERY else ("naive", "tan"))
def test_the_page_answers_as_python_does(page_of_model, name):
    page, cases = page_of_model(name), cases_of(birds()[0], 1000 if EVERY else 60)
    page.open()
    page.browser.set_script_timeout(300)
    told = page.browser.execute_async_script(ASKED, [json.dumps(case) for case in cases])
    assert page.said() == []
    for case, (shares, risks, action, odds) in zip(cases, told, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = python_posterior(page.model, case)
            risk = mr.conditional_risk([expected], COSTS, classes=page.model.classes_)[0]
        np.testing.assert_allclose(np.array(shares, float), expected, rtol=0, atol=CLOSE, err_msg=json.dumps(case))
        np.testing.assert_allclose(np.array(risks, float), risk, rtol=0, atol=1e-8, err_msg=json.dumps(case))
        assert action == list(COSTS)[int(np.argmin(risk))] or np.ptp(risk) < CLOSE, case
        assert len(odds) == 2


@pytest.mark.parametrize("name", ["naive", "pool", "tan"] if EVERY else ["naive"])
def test_the_page_asks_as_python_does(page_of_model, name):
    page = page_of_model(name)
    page.open()
    for case in cases_of(birds()[0], 20 if EVERY else 4, seed=2):
        if any(value == "never met" for value in case.values()):
            continue
        page.browser.execute_async_script(ASKED, [json.dumps(case)])
        page.settle()
        gains = page.run("return [...document.querySelectorAll('.question-head data')].map(one => +one.value)")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            asked = page.model.joint_ if hasattr(page.model, "joint_") else page.model
            expected = [question.gain for question in mr.next_question(asked, case, costs=COSTS)]
        assert gains == pytest.approx(expected[:5], abs=1e-8), case
