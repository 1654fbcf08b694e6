"""An explanation is laid out once: text, notebook and LaTeX say the same of each line."""

from __future__ import annotations

import re
from html import unescape

import pytest

import merula as mr
from merula.answers.explanation.layout import lay_out

FRUIT = {
    "color": {"apple": {"red": 0.5, "green": 0.5}, "cherry": {"red": 1.0, "green": 0.0}},
    "größe": {"apple": {"klein": 0.25, "groß": 0.75}, "cherry": {"klein": 0.875, "groß": 0.125}},
}
ROWS = [{"color": "red"}, {"color": "green", "größe": "klein"}, {"größe": "groß"}, {}]


@pytest.fixture
def model():
    return mr.NaiveBayesClassifier.from_tables({"apple": 0.75, "cherry": 0.25}, FRUIT)


@pytest.mark.parametrize("row", ROWS)
def test_lines_are_the_models_own_terms(model, row):
    layout = lay_out(mr.explain(model, row))
    (part,) = layout.parts
    assert part.prior.factors == ("0.75", "0.25")
    for line in part.reasons:
        ((column, relation, value),) = line.parts
        known = row.get(column)
        expected = [FRUIT[column][name][known] for name in layout.classes] if known else []
        assert relation == " = "
        assert (line.weight is None) == (known is None)
        assert line.factors == (tuple(f"{p:g}" if p else "impossible" for p in expected) if known else ("–", "–"))
        assert value == (known or "missing")


@pytest.mark.parametrize("row", ROWS)
def test_text_and_notebook_show_the_same_cells(model, row):
    found = mr.explain(model, row)
    text = [re.split(r" {2,}", line) for line in str(found).splitlines() if "─" not in line]
    rows = re.findall(r"<tr.*?</tr>", found._repr_html_())
    cells = [
        [unescape(re.sub(r"<[^>]*>", "", cell)) for cell in re.findall(r"<t[hd].*?</t[hd]>", line)] for line in rows
    ]
    assert [[cell for cell in line if cell] for line in cells] == text


def test_latex_multiplies_the_same_factors(model):
    latex = mr.explain(model, {"color": "green", "größe": "klein"}).to_latex()
    assert r"0.75 \times 0.5 \times 0.25" in latex
    assert r"0.25 \times 0 \times 0.875" in latex


def test_classes_beyond_those_shown_are_counted():
    prior = {f"species {k}": (k + 1) / 45 for k in range(9)}
    model = mr.NaiveBayesClassifier.from_tables(prior, {"beak": {name: {"red": 0.5, "blue": 0.5} for name in prior}})
    layout = lay_out(mr.explain(model, {"beak": "red"}, "species 0"), most=3)
    assert layout.classes == ("species 0", "species 7", "species 8")
    assert layout.hidden == 6
