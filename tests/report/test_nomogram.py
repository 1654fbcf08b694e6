"""The nomogram read off the page's own numbers, as a reader with a ruler would: it gives the probabilities of the model it draws."""

import json
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.report import findings_html
from merula.report.findings import collect_findings

FIGURE = re.compile(
    r'<figure id="chart-(points\d+|total)">\s*<h4>(.*?)</h4>.*?<script type="application/json" class="spec">(.*?)</script>', re.DOTALL
)  # fmt: skip


def values_of(data, spec):
    """The values of a layer, which may stand under a name."""
    return data["values"] if "values" in data else spec["datasets"][data["name"]]


class Ruler:
    """What stands in the JSON of a page: points along each scale, of a value that is not known, and the probability by total."""

    def __init__(self, page):
        self.scales = {}
        for key, title, text in FIGURE.findall(page):
            spec = json.loads(text)
            if key == "total":
                curve = values_of(spec["data"], spec)
                self.total, self.chance = ([one[field] for one in curve] for field in ("total", "p"))
            elif "layer" in spec:
                unknown, line = (values_of(layer["data"], spec) for layer in spec["layer"])
                values = [one["value"] for one in line]
                places = [pd.Timestamp(one).value for one in values] if isinstance(values[0], str) else values
                self.scales[unescape(title)] = (
                    unknown[0]["points"],
                    np.array(places, float),
                    [one["points"] for one in line],
                )
            else:
                marks = {one["value"]: one["points"] for one in values_of(spec["data"], spec)}
                self.scales[unescape(title)] = marks.pop("(unknown)"), marks, None

    def points(self, column, cells):
        missing, places, along = self.scales[column]
        if along is None:
            return np.array([missing if pd.isna(cell) else places.get(str(cell), missing) for cell in cells])
        numbers = np.array([np.nan if pd.isna(one) else one.value if isinstance(one, pd.Timestamp) else float(one) for one in cells])  # fmt: skip
        return np.where(np.isnan(numbers), missing, np.interp(numbers, places, along))

    def read(self, table):
        total = sum(self.points(column, table[column].tolist()) for column in self.scales)
        return np.interp(total, self.total, self.chance)


def of_the_two(model, table, points):
    """P(label given that it is one of the two classes)."""
    classes, proba = model.classes_.tolist(), model.predict_proba(table)
    own, other = (proba[:, classes.index(label)] for label in (points.label, points.against))
    return own / np.maximum(own + other, 1e-300)


@pytest.mark.parametrize("name", ["penguins", "patients", "melons"])
def test_a_model_of_one_column_at_a_time_is_drawn_itself(reported, name):
    report = reported(name)
    points = report.found.nomogram
    model = next(iter(report.model.values())) if isinstance(report.model, dict) else report.model
    model = model.fit(report.X, report.y)
    assert points.own and not points.left_out
    told = of_the_two(model, report.X, points)
    assert np.abs(Ruler(report.page).read(report.X) - told).max() < 0.01
    first = report.found.evaluation.models[0]
    assert f"It draws {first.name} itself, whose log loss on unseen rows is {first.figures['log_loss']}." in report.page


@pytest.fixture(scope="module")
def customers():
    """Customers who leave, for reasons that act together; some cells are missing."""
    rng = np.random.default_rng(8)
    n = 500
    table = pd.DataFrame(
        {
            "monthly charge": rng.gamma(9, 8, n).round(2),
            "months": rng.integers(1, 72, n),
            "contract": rng.choice(["month", "year", "two years"], n, p=[0.5, 0.3, 0.2]),
            "pays by": rng.choice(["card", "bank", "cheque"], n),
            "since": pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 1500, n), unit="D"),
        }
    )
    score = 0.03 * table["monthly charge"] - 0.05 * table["months"] + (table["contract"] == "month") * 1.2 - 1.5
    leaves = rng.random(n) < 1 / (1 + np.exp(-score))
    table.loc[::13, "monthly charge"] = np.nan
    table.loc[::17, "contract"] = None
    return table, np.where(leaves, "yes", "no")


@pytest.fixture(scope="module")
def beside(customers):
    """The report on a model in which columns speak together."""
    found = collect_findings(mr.BayesClassifier(), *customers, cv=4, repeats=1, learning_curve=False, progress=False)
    return found, findings_html(found)


def test_a_simpler_model_is_drawn_in_the_place_of_one_that_cannot_be(beside, customers):
    found, page = beside
    table, leaves = customers
    simpler = mr.LogLinearClassifier(order=1).fit(table, leaves)
    assert not found.nomogram.own
    ruler = Ruler(page)
    assert set(ruler.scales) | set(found.nomogram.silent) == set(table)
    assert np.abs(ruler.read(table) - of_the_two(simpler, table, found.nomogram)).max() < 0.01
    fresh = table.iloc[::-1].assign(months=table["months"])  # rows that were not learned from
    assert np.abs(ruler.read(fresh) - of_the_two(simpler, fresh, found.nomogram)).max() < 0.01


def test_its_title_and_both_losses_say_which_model_it_is(beside, customers):
    found, page = beside
    simpler = mr.evaluate(
        mr.LogLinearClassifier(order=1), *customers, cv=4, repeats=1, progress=False
    )  # the same folds: they depend on the classes and the seed alone
    own = found.evaluation.models[0].figures["log_loss"]
    assert found.nomogram.log_loss == str(simpler["log_loss"])
    assert "Nomogram of a simpler model, one column at a time: yes against no" in page
    assert (
        f"On unseen rows its log loss is {simpler['log_loss']}, that of {found.evaluation.models[0].name} {own}."
        in page
    )


def test_what_only_pairs_tell_has_no_nomogram():
    """Of two columns whose product is the class, each by itself says nothing."""
    rng = np.random.default_rng(2)
    left, right = rng.choice(["up", "down"], 300), rng.choice(["up", "down"], 300)
    table = pd.DataFrame({"left switch": left, "right switch": right})
    labels = np.where(left == right, "on", "off")
    found = collect_findings(mr.LogLinearClassifier(order=2), table, labels, cv=3, repeats=1, progress=False)
    assert found.nomogram is None
    assert "No nomogram: a model that takes one column at a time" in found.notes["nomogram"]
    assert found.notes["nomogram"] in findings_html(found)


@pytest.fixture(scope="module")
def wide():
    """Seventy columns, all of which count a little."""
    rng = np.random.default_rng(5)
    ill = rng.random(400) < 0.5
    return pd.DataFrame({f"blood value {k}": rng.normal(ill * 0.15, 1.0) for k in range(70)}), np.where(ill, "ill", "well")  # fmt: skip


def test_no_column_is_left_out_of_the_total_silently(wide):
    table, labels = wide
    model = mr.NaiveBayesClassifier()
    found = collect_findings(model, table, labels, cv=3, repeats=1, learning_curve=False, progress=False)
    points, page = found.nomogram, findings_html(found)
    drawn = [scale.column for scale in points.scales]
    assert sorted([*drawn, *points.left_out, *points.silent]) == sorted(table)
    away = np.abs(Ruler(page).read(table) - of_the_two(model.fit(table, labels), table, points))
    assert points.left_out and away.max() < points.error + 0.01
    assert f"{len(points.left_out)} columns with shorter scales" in page
    assert f"with their average, {points.average:.0f} points" in page


def test_up_to_sixty_columns_are_all_drawn_where_the_others_would_matter(reported):
    report = reported("sensors")
    points = report.found.nomogram
    assert not points.left_out or points.error <= 0.02
    told = of_the_two(report.model.fit(report.X, report.y), report.X, points)
    pair = np.isin(report.y, [points.label, points.against])
    away = np.abs(Ruler(report.page).read(report.X) - told)[pair]
    assert away.max() < points.error + 0.01
    assert set(points.silent) == {"empty"} - {scale.column for scale in points.scales}


def test_classes_that_are_never_confused_have_a_nomogram():
    """Of three classes told apart without error, the two are drawn of which one gets most of the other's probability."""
    kinds = np.repeat(["wren", "tit", "owl"], 30)
    wing = np.random.default_rng(0).normal(np.repeat([0.0, 6.0, 30.0], 30), 1.0)
    model = mr.NaiveBayesClassifier()
    found = collect_findings(model, pd.DataFrame({"wing": wing}), kinds, cv=3, repeats=1, progress=False)
    assert found.evaluation.figures["NaiveBayesClassifier"]["error"].value == 0
    assert {found.nomogram.label, found.nomogram.against} == {"wren", "tit"}


def test_durations_and_times_of_day_stand_on_scales_in_units_that_people_use():
    rng = np.random.default_rng(9)
    kept = rng.random(160) < 0.4
    minutes = rng.permutation(np.repeat(np.arange(10, 170, 2), 2)) + 90 * kept
    clock = rng.integers(8 * 60, 16 * 60, 160) + 60 * kept
    table = pd.DataFrame(
        {
            "waited": pd.to_timedelta(minutes, unit="min"),
            "came at": [f"{minute // 60}:{minute % 60:02}" for minute in clock],
            "bill": [f"${amount:.2f}" for amount in rng.normal(1300 + 300 * kept, 200)],
        }
    )
    model = mr.NaiveBayesClassifier(kinds={"came at": "numeric", "bill": "numeric"})
    labels = np.where(kept, "kept", "sent home")
    page = findings_html(collect_findings(model, table, labels, cv=3, repeats=1, learning_curve=False, progress=False))
    ruler = Ruler(page)
    hours = {"waited": minutes / 60, "came at": clock / 60}
    for column, values in hours.items():
        places = ruler.scales[column][1]
        assert places.min() <= values.min() and values.max() <= places.max() < 3 * values.max()
    units = re.findall(r"<figure id=\"chart-points\d+\">\s*<h4>(.*?)</h4>.*?(In [^<]*?\.)", page, re.DOTALL)
    assert dict(units) == {"waited": "In hours.", "came at": "In hours since midnight.", "bill": "In $."}
    told = model.fit(table, labels).predict_proba(table)[:, 1]
    read = ruler.read(table.assign(**hours, bill=[float(cell[1:]) for cell in table["bill"]]))
    assert np.abs(read - told).max() < 0.01 or np.abs(1 - read - told).max() < 0.01


PLACES = """
return Object.fromEntries(Array.from(document.querySelectorAll("figure[id^='chart-points']")).map(figure => [figure.id,
  Array.from(figure.querySelectorAll(".chart svg .mark-symbol path")).map(
    mark => { const box = mark.getBoundingClientRect(); return (box.left + box.right) / 2; })]));
"""


AXES = """
return Array.from(document.querySelectorAll("figure[id^='chart-points']")).map(figure => Array.from(
  figure.querySelectorAll("g[aria-label^='X-axis'] .role-axis-label text")).filter(
    text => text.getAttribute("opacity") !== "0").map(
      text => { const box = text.getBoundingClientRect(); return [text.textContent, (box.left + box.right) / 2]; }));
"""


@pytest.mark.parametrize("width", [390, 1200])
def test_points_of_every_column_lie_on_one_ruler(reported, browser, width):
    """Equal points stand above one another in all scales: a place on the screen is start + step · points, whichever the column."""
    from tests.report.test_browser import show

    report = reported("melons")
    show(browser, report.path, width)
    places = browser.execute_script(PLACES)
    drawn = [
        (places[f"chart-{key}"], [one["points"] for one in values_of(spec["data"], spec)])
        for key, _, text in FIGURE.findall(report.page)
        for spec in [json.loads(text)]
        if key != "total" and "layer" not in spec
    ]
    pixels, points = (np.concatenate([pair[side] for pair in drawn]) for side in (0, 1))
    assert len(drawn) >= 2 and np.ptp(points) > 10
    step, start = np.polyfit(points, pixels, 1)
    assert step > 0
    np.testing.assert_allclose(start + step * points, pixels, atol=1.0)  # pixels
    axes = browser.execute_script(AXES)
    assert len(axes) == len(report.found.nomogram.scales) > len(drawn)  # those of numbers too
    for axis in axes:
        assert len(axis) >= 3
        np.testing.assert_allclose(
            [start + step * float(text) for text, _ in axis], [place for _, place in axis], atol=1.0
        )
