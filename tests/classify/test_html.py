"""Fitted models as notebooks show them: figures against pandas, everything escaped, scikit-learn's switches respected."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import merula as mr


class Page(HTMLParser):
    """The texts of a table's cells, row by row, all other text, and the tags met."""

    def __init__(self, html):
        super().__init__()
        self.rows, self.beside, self.tags, self._cell = [], "", set(), False
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._cell = True

    def handle_endtag(self, tag):
        self._cell = self._cell and tag not in ("td", "th")

    def handle_data(self, data):
        if self._cell:
            self.rows[-1][-1] += data
        else:
            self.beside += data

    def line(self, name):
        """{heading: cell} of the row so called."""
        (row,) = (row for row in self.rows if row[0] == name)
        return dict(zip(self.rows[0], row, strict=True))


def page(model):
    return Page(model._repr_html_())


def pairs(cell):
    """{level: probability} of a cell."""
    return {name: float(p) for name, p in (part.rsplit(": ", 1) for part in cell.split(", "))}


FAMILIES = {
    "naive": mr.NaiveBayesClassifier(),
    "kernel": mr.NaiveBayesClassifier(distributions={"numeric": "kernel"}),
    "histogram": mr.NaiveBayesClassifier(distributions={"numeric": "histogram"}),
    "discretised": mr.NaiveBayesClassifier(distributions={"numeric": mr.Discretized("mdl")}),
    "mixture": mr.NaiveBayesClassifier(distributions={"numeric": "mixture"}),
    "zeros": mr.NaiveBayesClassifier(distributions={"numeric": "zero_inflated"}),
    "missing-is-a-level": mr.NaiveBayesClassifier(missing="level"),
    "full": mr.BayesClassifier(),
    "full-missing-is-a-level": mr.BayesClassifier(missing="level"),
    "product-kernel": mr.KernelBayesClassifier(),
    "neighbours": mr.NearestNeighborsClassifier(),
}


def test_the_prior_is_the_models(penguins):
    for prior in ("empirical", "uniform", {"Adelie": 0.7, "Gentoo": 0.2, "Chinstrap": 0.1}):
        model = mr.NaiveBayesClassifier(class_prior=prior).fit(*penguins)
        line = page(model).line("prior")
        assert [float(line[label]) for label in model.classes_] == pytest.approx(
            np.exp(model.class_log_prior_), rel=1e-3
        )


@pytest.mark.parametrize("kind", [mr.NaiveBayesClassifier, mr.BayesClassifier])
def test_normal_columns_show_mean_and_deviation(penguins, kind):
    table, species = penguins[0].select_dtypes("number").dropna(), penguins[1]
    species = species[table.index]
    shown = page(kind().fit(table, species))
    for name in table:
        for label, values in table[name].groupby(species):
            mean, deviation = map(float, shown.line(name)[label].split(" ± "))
            assert mean == pytest.approx(values.mean(), abs=0.01 * values.std())
            assert deviation == pytest.approx(values.std(ddof=0), rel=0.01)


def test_levels_show_their_smoothed_shares(penguins):
    table, species = penguins
    shown = page(mr.NaiveBayesClassifier().fit(table[["island"]], species)).line("island")
    for label, islands in table["island"].groupby(species):
        counts = islands.value_counts().reindex(table["island"].unique(), fill_value=0)
        expected = ((counts + 1) / (counts.sum() + 3)).to_dict()
        assert pairs(shown[label]) == pytest.approx(expected, rel=1e-2)


def test_the_share_missing_is_that_of_the_table(penguins):
    table, species = penguins
    for model in (mr.NaiveBayesClassifier(), mr.BayesClassifier(), mr.KernelBayesClassifier()):
        shown = page(model.fit(table, species))
        for name in table:
            share = shown.line(name)["missing"].rstrip("%")
            assert float(share or 0) / 100 == pytest.approx(table[name].isna().mean(), abs=0.005)


def test_nothing_missing_takes_no_column(penguins):
    table = penguins[0][["island", "year"]]
    assert "missing" not in page(mr.NaiveBayesClassifier().fit(table, penguins[1])).rows[0]


def test_counts_show_the_mean_of_each_class():
    visits, ward = np.array([0, 1, 5, 2, 9, 7, 8, 3]), np.array(["Innere", "儿科"] * 4)
    model = mr.NaiveBayesClassifier(kinds="count", distributions={"count": "poisson"}, smoothing=0).fit(
        pd.DataFrame({"visits": visits}), ward
    )
    for label in model.classes_:
        mean = visits[ward == label].mean()
        found = [float(part) for part in page(model).line("visits")[label].split(" ± ")]
        assert found == pytest.approx([mean, np.sqrt(mean)], abs=0.01)


def test_other_numbers_show_median_and_middle(penguins):
    table, species = penguins[0][["body_mass_g"]], penguins[1]
    model = mr.NaiveBayesClassifier(distributions={"numeric": "kernel"}).fit(table, species)
    for label in model.classes_:
        median, low, high = map(float, re.findall(r"[\d.]+", page(model).line("body_mass_g")[label]))
        values = table["body_mass_g"][species == label].dropna()
        assert median == pytest.approx(values.median(), rel=0.05)
        assert low < values.quantile(0.3) < values.quantile(0.7) < high


def test_times_are_shown_to_the_day():
    days = pd.date_range("2024-03-01", periods=20, freq="D")
    model = mr.NaiveBayesClassifier().fit(pd.DataFrame({"seen on": days}), ["ill", "healthy"] * 10)
    assert page(model).line("seen on")["ill"].startswith("2024-03-10 (2024-03-0")


def test_durations_are_shown_in_a_unit_that_suits_them():
    waited = np.array([30, 90, 150, 60, 120, 200])
    table = pd.DataFrame({"waited": pd.to_timedelta(waited, unit="min")})
    shown = page(mr.NaiveBayesClassifier().fit(table, ["ill", "ill", "ill", "healthy", "healthy", "healthy"]))
    mean, deviation = map(float, shown.line("waited")["ill"].removesuffix(" hours").split(" ± "))
    assert (mean, deviation) == pytest.approx((1.5, waited[:3].std() / 60), abs=0.01)


def test_texts_show_what_tells_each_class_apart():
    letters = ["win cash", "cash prize", "cash cash", "see you", "you there", "lunch you"] * 3
    table = pd.DataFrame({"letter": letters})
    model = mr.NaiveBayesClassifier(kinds="text").fit(table, ["spam", "spam", "spam", "ham", "ham", "ham"] * 3)
    line = page(model).line("letter")
    assert line["spam"].startswith("cash: 0.52")  # 12 of its 18 words, and 7 words each once more
    assert line["ham"].startswith("you: ")
    for variant in ("bernoulli", "complement"):
        model.set_params(distributions={"text": mr.Multinomial(variant)}).fit(table, ["spam", "ham"] * 9)
        assert page(model).line("letter")["ham"]


@pytest.mark.parametrize("model", FAMILIES.values(), ids=FAMILIES)
def test_every_model_says_what_it_is_and_names_its_columns(penguins, model):
    table, species = penguins
    found = page(sklearn.base.clone(model).fit(table, species))
    assert " ".join(repr(model).split()) in found.beside
    assert "learned from 344 rows; 7 columns, 3 classes" in found.beside
    assert [row[0] for row in found.rows] == ["column", "prior", *table.columns]


def test_weights_count_as_rows(penguins):
    table, species = penguins
    model = mr.NaiveBayesClassifier().fit(table, species, sample_weight=np.full(344, 3.0))
    assert "learned from 1,032 rows" in page(model).beside


def test_stated_models_have_no_rows():
    fruit = {"apple": {"red": 0.5, "green": 0.5}, "cherry": {"red": 1.0, "green": 0.0}}
    stated = mr.NaiveBayesClassifier.from_tables({"apple": 0.25, "cherry": 0.75}, {"color": fruit})
    joint = [{"color": "red", "fruit": "cherry", "probability": 0.75}]
    joint += [{"color": level, "fruit": "apple", "probability": 0.125} for level in ("red", "green")]
    for model in (stated, mr.BayesClassifier.from_joint(joint, target="fruit")):
        found = page(model)
        assert "stated, not learned" in found.beside
        assert found.line("prior")["cherry"] == "0.75"
        assert pairs(found.line("color")["apple"]) == {"red": 0.5, "green": 0.5}
        assert pairs(found.line("color")["cherry"]) == {"red": 1.0}


def test_labels_names_and_levels_are_shown_and_never_run():
    evil = "<script>alert(1)</script>"
    table = pd.DataFrame({f"{evil} & 'x'": [evil, "<b>", evil, "<b>"] * 3})
    html = mr.NaiveBayesClassifier().fit(table, [evil, "<img src=x>"] * 6)._repr_html_()
    found = Page(html)
    assert found.tags <= {"div", "p", "br", "code", "table", "thead", "tbody", "tr", "th", "td", "span"}
    assert f"{evil} & 'x'" in [row[0] for row in found.rows]
    assert evil in found.rows[0]


def test_many_columns_and_classes_are_abbreviated():
    rng = np.random.default_rng(3)
    labels = np.array([chr(65 + k) for k in range(26)])[np.minimum(rng.geometric(0.1, 800) - 1, 25)]
    table = pd.DataFrame(rng.normal(size=(800, 60)), columns=[f"größe {k}" for k in range(60)])
    model = mr.NaiveBayesClassifier().fit(table, labels)
    found = page(model)
    assert len(found.rows) == 2 + 20
    assert len(found.rows[0]) == 2 + 8
    assert "… and 40 more columns" in found.beside
    assert f"… and {len(model.classes_) - 8} less probable classes" in found.beside
    assert set(found.rows[0][2:]) == set(pd.Series(labels).value_counts().index[:8])


def test_columns_that_say_nothing_are_no_trouble():
    table = pd.DataFrame(
        {"编号": range(6), "empty": [np.nan] * 6, "constant": [3.0] * 6, "never": [None] * 6, "puls": range(60, 66)}
    )
    for model in (mr.NaiveBayesClassifier, mr.BayesClassifier, mr.KernelBayesClassifier):
        fitted = model(kinds={"编号": "ignore", "never": "categorical"}).fit(table, ["ill", "healthy"] * 3)
        found = page(fitted)
        assert found.line("编号")["ill"] == "–"
        assert found.line("empty")["ill"] == "–"
        assert found.line("never")["ill"] == "–"
        assert found.line("constant")["ill"].startswith("3")


def test_notebooks_get_the_same_from_the_mime_bundle(penguins):
    model = mr.NaiveBayesClassifier().fit(*penguins)
    bundle = model._repr_mimebundle_()
    assert bundle["text/html"] == model._repr_html_()
    assert bundle["text/plain"] == repr(model)


def test_text_stays_text_if_scikit_learn_is_told_so(penguins):
    model = mr.NaiveBayesClassifier().fit(*penguins)
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()


def test_what_is_not_fitted_or_in_a_pipeline_is_scikit_learns(penguins):
    assert "sk-top-container" in mr.NaiveBayesClassifier()._repr_html_()
    pipeline = make_pipeline(FunctionTransformer(), mr.NaiveBayesClassifier()).fit(*penguins)
    assert "sk-top-container" in pipeline._repr_html_()


def test_a_decision_shows_its_costs_and_the_model_it_asks(penguins):
    costs = {
        "ring <b>": {"Adelie": 0, "Chinstrap": 10, "Gentoo": 0.5},
        "leave": {"Adelie": 1, "Chinstrap": 0, "Gentoo": 2},
    }
    model = mr.DecisionClassifier(mr.NaiveBayesClassifier(), costs=costs, reject_cost=0.25)
    assert "sk-top-container" in model._repr_html_()
    html = model.fit(*penguins)._repr_html_()
    table = {row[0]: row[1:] for row in Page(html).rows[:4]}
    assert table["cost if the truth is"] == ["Adelie", "Chinstrap", "Gentoo"]
    assert [table[name] for name in ("ring <b>", "leave", "reject")] == [
        ["0", "10", "0.5"], ["1", "0", "2"], ["0.25"] * 3,
    ]  # fmt: skip
    assert html.endswith(model.estimator_._repr_html_())
