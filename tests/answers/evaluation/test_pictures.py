"""Evaluations as notebooks show them, and calibration drawn: figures as printed, points as scikit-learn has them."""

import io
import re

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

import merula as mr
from merula.answers.evaluation import ReliabilityCurve, evaluate

RNG = np.random.default_rng(9)
STATE = RNG.choice(["gesund", "krank", "unklar"], 240, p=[0.5, 0.3, 0.2])
PRESSURE = RNG.normal(120 + 12 * (STATE == "krank") + 6 * (STATE == "unklar"), 10)[:, None]
MODELS = {"naive": GaussianNB(), "prior <b>": DummyClassifier(), "Nächste": mr.NearestNeighborsClassifier()}


@pytest.fixture(scope="module")
def three():
    return evaluate(MODELS, PRESSURE, STATE, cv=4, repeats=1)


@pytest.fixture(scope="module")
def one():
    return evaluate(GaussianNB(), PRESSURE, STATE, cv=4, repeats=1)


def answers(evaluation, index):
    """Truth and probabilities of all tested rows."""
    rows = np.concatenate([fold.test for fold in evaluation.folds])
    return evaluation.truth[rows], np.concatenate(evaluation.models[index].probabilities)


def rows_of(html):
    """{title: cells} of the table, tags kept."""
    found = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", html)]
    return {cells[0]: cells[2:] for cells in found}


# ----------------------------------------------------------------------------------------------------------------- HTML


def test_the_figures_are_those_in_print(three):
    html, printed = three._repr_html_(), str(three)
    for title, cells in rows_of(html).items():
        if title:
            line = next(line for line in printed.splitlines() if line.startswith(title))
            plain = [re.sub("<.*?>", "", cell) for cell in cells]
            assert re.split(r"\s{2,}", line.lstrip(title).strip(" ↓↑")) == plain
    assert printed.splitlines()[0] in html


def test_the_best_of_each_figure_is_marked(three):
    rows = rows_of(three._repr_html_())
    for title, name, best in (("log loss", "log_loss", min), ("error", "error", min), ("AUC", "auc", max)):
        values = [model.figures[name].value for model in three.models]
        *cells, baseline = rows[title]
        assert ["<b>" in cell for cell in cells] == [value == best(values) for value in values]
        assert baseline == str(three.baseline.figures[name])


def test_one_model_is_not_the_best_of_anything(one):
    html = one._repr_html_()
    assert "<b>" not in html
    assert "log_loss:" not in html
    assert html.count("<polyline") == 1


def test_costs_that_are_neither_good_nor_bad_are_not_marked():
    found = evaluate(MODELS, PRESSURE, STATE, cv=4, repeats=1, costs=1 - np.eye(3), reject_cost=0.4)
    rows = rows_of(found._repr_html_())
    assert not any("<b>" in cell for title in ("coverage", "mean cost expected") for cell in rows[title])
    assert any("<b>" in cell for cell in rows["mean cost"])


def test_differences_of_every_pair_are_told(three):
    html = three._repr_html_()
    for difference in three.compare():
        assert str(difference).replace("<b>", "&lt;b&gt;") in html


def test_what_the_figures_mean_is_told(three):
    html = three._repr_html_()
    for sentences in three.verdicts.values():
        for sentence in sentences:
            assert sentence.replace("<b>", "&lt;b&gt;") in html


def test_many_pairs_are_abbreviated():
    found = evaluate({f"model {k}": DummyClassifier() for k in range(6)}, PRESSURE, STATE, cv=4, repeats=1)
    assert "… and 5 more pairs" in found._repr_html_()


def test_names_are_shown_and_never_run(three):
    html = three._repr_html_()
    assert "prior &lt;b&gt;" in html
    assert set(re.findall(r"<(\w+)", html)) <= {"div", "p", "br", "table", "thead", "tbody", "tr", "th", "td", "b", "span", "small", "svg", "path", "polyline", "circle", "text"}  # fmt: skip


def test_the_small_picture_holds_the_calibration_of_the_most_probable_class(one):
    truth, proba = answers(one, 0)
    observed, predicted = calibration_curve(proba.argmax(axis=1) == truth, proba.max(axis=1), n_bins=10)
    points = re.findall(r"<circle cx='([\d.]+)' cy='([\d.]+)'", one._repr_html_())
    expected = np.column_stack([150 * predicted, 150 * (1 - observed)])
    np.testing.assert_allclose(np.array(points, dtype=float), expected, atol=0.06)


# ---------------------------------------------------------------------------------------------------------------- plots


def drawn(ax):
    """Drawing it raises every warning about fonts and layout."""
    ax.figure.savefig(io.BytesIO(), format="png")


def curves(ax):
    """{name: (predicted, observed)}."""
    return {line.get_label(): line.get_data() for line in ax.get_lines() if not line.get_label().startswith("_")}


@pytest.mark.parametrize("label", [None, "krank"])
def test_curves_are_scikit_learns(three, pyplot, label):
    ax = three.plot(label=label)
    drawn(ax)
    assert list(curves(ax)) == list(MODELS)
    for index, found in enumerate(curves(ax).values()):
        truth, proba = answers(three, index)
        hit, p = (proba.argmax(axis=1) == truth, proba.max(axis=1)) if label is None else (truth == 1, proba[:, 1])
        observed, predicted = calibration_curve(hit, p, n_bins=10)
        np.testing.assert_allclose(found, [predicted, observed], atol=1e-12)
    assert label is None or ax.get_xlabel() == "probability of krank"


def test_larger_points_hold_more_rows(one, pyplot):
    (points,) = one.plot().collections
    count = np.array(one.models[0].confidence.count)
    expected = np.maximum(12.0, 150.0 * count / count.max())
    np.testing.assert_allclose(points.get_sizes(), expected)


def test_a_class_that_is_none_is_refused(one, pyplot):
    with pytest.raises(ValueError, match="expected one of the classes"):
        one.plot(label="sick")


def test_a_curve_draws_itself_and_others_in_the_same_axes(pyplot, chinese_font):
    first = ReliabilityCurve(predicted=(0.2, 0.9), observed=(0.25, 1.0), count=(8.0, 2.0))
    second = ReliabilityCurve(predicted=(0.1,), observed=(0.0,), count=(5.0,))
    ax = first.plot()
    assert ax.get_legend() is None
    assert second.plot(ax=ax, name="色泽 $x$", color="black") is ax
    diagonal, one, other = ax.get_lines()
    assert diagonal.get_xdata().tolist() == [0, 1]
    assert one.get_color() != other.get_color() == "black"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [r"色泽 \$x\$"]
    drawn(ax)


def test_an_empty_curve_is_no_trouble(pyplot):
    drawn(ReliabilityCurve((), (), ()).plot())
