"""The page itself: figures, validity, nothing from outside, labels escaped, a table for every chart."""

import json
import re
import warnings
from html.parser import HTMLParser

import html5lib
import numpy as np
import pandas as pd
import pytest
from altair.utils.schemapi import validate_jsonschema
from altair.vegalite.v6.schema import load_schema
from sklearn.dummy import DummyClassifier

import merula as mr
from merula.report import findings_html
from merula.report.data_charts import story_chart
from merula.report.findings import Findings, RowStory
from merula.report.findings.collect import collect_findings

TABLES = ("penguins", "patients", "letters", "melons", "sensors", "hostile")


class Reader(HTMLParser):
    """The page as a list of tags, of figures with all their digits, of specifications and of visible text."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.exact, self.specs, self.text, self._inside = [], [], [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.tags.append((tag, named))
        self.exact += [float(named["data-value"])] if "data-value" in named else []
        self._inside = named.get("class") if tag == "script" else tag

    def handle_endtag(self, tag):
        self._inside = None if tag in ("script", "style") else self._inside

    def handle_data(self, data):
        if self._inside == "spec":
            self.specs.append(json.loads(data))
        elif self._inside not in (None, "style"):
            self.text.append(data)


@pytest.fixture
def read(reported):
    return lambda name: Reader(reported(name).page)


@pytest.mark.parametrize("table", ["penguins", "patients"])
def test_figures_are_those_of_evaluate(reported, read, table):
    report = reported(table)
    models = report.model if isinstance(report.model, dict) else {type(report.model).__name__: report.model}
    costs = report.options.get("costs")
    found = mr.evaluate(
        {**models, "as given": DummyClassifier()}, report.X, report.y, cv=3, repeats=1, costs=costs, progress=False
    )  # a dummy stands where the class frequencies do
    values = [model.figures[name].value for name in found.models[0].figures for model in found.models]
    page = read(table)
    assert page.exact[: len(values)] == values
    for model in found.models:
        for figure in model.figures.values():
            assert f">{figure}<" in report.page


@pytest.mark.parametrize("table", TABLES)
def test_the_verdict_is_that_of_evaluate(reported, read, table):
    text = "".join(read(table).text)
    evaluation = reported(table).found.evaluation
    for sentences in evaluation.sentences("the model" if len(evaluation.models) == 1 else ""):
        assert len(sentences) == (3 if "costs" in reported(table).options else 2)
        assert " ".join(sentences) in text


@pytest.mark.parametrize("table", TABLES)
def test_html_is_valid(reported, table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        html5lib.HTMLParser(strict=True).parse(reported(table).page)


@pytest.mark.parametrize("table", TABLES)
def test_nothing_comes_from_outside(read, table):
    for tag, attributes in read(table).tags:
        assert "src" not in attributes
        assert tag not in ("link", "iframe", "img", "object", "embed")
        assert attributes.get("href", "#").startswith("#")
        assert "url(" not in attributes.get("style", "")


@pytest.mark.parametrize("table", TABLES)
def test_specifications_are_those_of_vega_lite(read, table):
    """The page is written without this check, which would take a third of its time."""
    specs = read(table).specs
    assert specs
    for spec in specs:
        validate_jsonschema(spec, load_schema())


@pytest.mark.parametrize("table", TABLES)
def test_every_chart_has_its_figures_as_a_table_and_a_name(read, table):
    page = read(table)
    figures = sum(tag == "figure" for tag, _ in page.tags)
    charts = [named for _, named in page.tags if named.get("role") == "img"]
    assert len(page.specs) == len(charts) == figures == sum(tag == "details" for tag, _ in page.tags)
    assert all(named["aria-label"] for named in charts)
    keys = [named["id"] for tag, named in page.tags if tag == "figure"]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("table", TABLES)
def test_links_within_the_page_lead_somewhere(read, table):
    tags = read(table).tags
    indices = {named["id"] for _, named in tags if "id" in named}
    assert {named["href"][1:] for tag, named in tags if tag == "a"} <= indices


def test_the_drawing_library_stands_once(reported):
    page = reported("penguins").page
    assert page.count("window.vegaEmbed=") == 1
    assert len(page.encode()) < 2_000_000


def test_hostile_labels_are_escaped_everywhere(reported, read):
    report = reported("hostile")
    body = re.sub(r"<script.*?</script>", "", report.page, flags=re.DOTALL)
    assert "<script>window.ran" not in report.page
    assert "<img" not in body
    assert "&lt;script&gt;window.ran = true&lt;/script&gt;" in body
    assert any("<script>" in json.dumps(spec) for spec in read("hostile").specs)


def test_chinese_labels_stand_as_they_are(reported):
    page = reported("melons").page
    assert "色泽" in page
    assert "是" in page


def test_many_columns_are_listed_and_the_most_helpful_drawn(reported, read):
    text = "".join(read("sensors").text)
    for name in reported("sensors").X.columns:
        assert name in text
    assert "40 columns" in text
    assert "not drawn" in text


def test_what_was_pointed_out_is_said(reported):
    assert "Column “empty” holds nothing." in reported("sensors").page


def test_costs_lead_to_actions(reported, read):
    text = "".join(read("patients").text)
    assert "What to do under these costs" in text
    assert "Cost curve" in text
    assert "best where P(ill) is" in text
    assert "16.7 %" in text  # 1 / (1 + 5): from there on treating costs less


def test_without_costs_the_whole_range_is_shown(read):
    text = "".join(read("melons").text)
    assert "No costs were given" in text


def test_how_to_repeat_it_is_said(reported, read):
    text = "".join(read("penguins").text)
    assert "mr.NaiveBayesClassifier(distributions='auto')" in text
    assert "random_state=0" in text
    assert reported("penguins").found.data.fingerprint in text
    assert f"numpy {np.__version__}" in text


@pytest.mark.parametrize(("count", "told"), [(3, False), (12, True)])
def test_a_chart_of_some_classes_says_of_how_many(count, told):
    labels = np.array([f"class {k}" for k in np.arange(20 * count) % count])
    wing = np.random.default_rng(2).normal(np.arange(20 * count) % count, 1.0)
    found = collect_findings(mr.NaiveBayesClassifier(), pd.DataFrame({"wing": wing}), labels, cv=2, repeats=1, learning_curve=False, progress=False)  # fmt: skip
    captions = re.findall(r'id="chart-(roc|precision)">.*?<figcaption>(.*?)</figcaption>', findings_html(found), re.DOTALL)  # fmt: skip
    legend = re.findall(r'id="chart-(?:roc|precision)">(.*?)</figure>', findings_html(found), re.DOTALL)
    drawn = {len(set(re.findall(r"class \d+", one))) for one in legend}
    assert len(drawn) == 1 and [name for name, _ in captions] == ["roc", "precision"]
    said = f" {drawn.pop()} of the {count} classes are drawn."
    assert [caption.endswith(said) for _, caption in captions] == [told, told]


def test_an_evaluation_alone_is_written_too(tmp_path):
    rows, birds = [[4.9], [5.1], [5.0], [9.8], [9.5], [9.6]], ["wren"] * 3 + ["tit"] * 3
    found = mr.evaluate(mr.NaiveBayesClassifier(), rows, birds, cv=3, repeats=1)
    found.to_html(tmp_path / "birds.html")
    page = Reader((tmp_path / "birds.html").read_text(encoding="utf-8"))
    figures = [model.figures[name].value for name in found.baseline.figures for model in found.beside_baseline]
    assert page.exact == [*figures, 3, 1, 1, 3, 1, 1]  # then each class: its rows, recall and precision
    assert "How good are the probabilities?" in "".join(page.text)
    assert " ".join(found.sentences("the model")[0]) in "".join(page.text)


def test_a_model_that_is_not_made_of_terms_is_reported_without_reasons(tmp_path):
    from sklearn.neighbors import KNeighborsClassifier

    rows, birds = np.r_[np.arange(20.0), np.arange(30.0, 50.0)][:, None], ["wren"] * 20 + ["tit"] * 20
    found = mr.write_report(
        KNeighborsClassifier(), rows, birds, tmp_path / "birds.html", cv=2, repeats=1, progress=False
    )
    assert found.contributions == found.rows == ()
    assert "is not explained" in (tmp_path / "birds.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", TABLES)
def test_findings_survive_json_and_say_the_same(reported, table):
    report = reported(table)
    text = json.dumps(report.found.to_dict(), allow_nan=False)
    again = Findings.from_dict(json.loads(text))
    assert findings_html(again) == report.page
    assert json.dumps(again.to_dict(), allow_nan=False) == text


def inside(value):
    """Everything that findings hold."""
    yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    for part in (*parts, *(vars(value).values() if hasattr(value, "__dict__") else ())):
        yield from inside(part)


@pytest.mark.parametrize("table", ["penguins", "patients"])
def test_findings_hold_no_model(reported, table):
    assert not any(hasattr(part, "fit") or hasattr(part, "predict") for part in inside(reported(table).found))


@pytest.mark.parametrize("table", ["penguins", "melons"])
def test_a_row_is_told_as_explain_tells_it(reported, read, table):
    """Factors and evidence stand in the report as in the text of the explanation."""
    text = "".join(read(table).text)
    for story in reported(table).found.rows:
        for line in str(story.explanation).splitlines()[1:]:
            if "─" not in line:
                assert line.split()[-1] in text


@pytest.mark.filterwarnings("ignore::merula.UnseenLevelWarning")
def test_the_bars_of_a_row_add_up_to_what_it_is_given():
    """What is too small for a bar of its own is one bar, and the allowance comes last."""
    birds = pd.read_csv(mr.__path__[0] + "/data/penguins.csv")
    species = birds.pop("species")
    model = mr.AutoBayesClassifier(2, max_rounds=20).fit(birds, species)
    found = mr.explain(model, birds.iloc[[0]])
    chart = story_chart(RowStory(1, "least certain", species[0], found), 0)
    drawn = [(bar["reason"], float(bar["weight of evidence"].replace(",", ""))) for bar in values_of(chart)]
    others = len(drawn) - 2
    assert drawn[others][0] == f"{sum(bool(one.columns) and one.known for one in found.reasons) - 10} other effects"
    assert drawn[-1][0] == "allowance for odd rows"
    assert sum(weight for _, weight in drawn) == pytest.approx(found.derivations[0].log_odds, abs=0.01)


def values_of(chart):
    """The data of a chart of bars."""
    ((data,),) = (chart.spec["datasets"].values(),)
    return data
