"""Models whose columns depend on one another on a page: the same terms as in Python, missing parents summed out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.web.page.alike import check_terms, encoded, posteriors
from tests.web.page.test_engine import KINDS, birds, cases_of

import merula as mr
from merula.web.page import dependent_parts
from merula.web.page.classifier import classifier_data

pytestmark = pytest.mark.filterwarnings("ignore::merula.UnseenLevelWarning", "ignore::merula.ZeroEvidenceWarning")
FAR = 1e100
PARENTS = {"tame": ["ring", "plumage 色泽"], "ring": ["plumage 色泽"], "wing mm": ["mass g", "tame"]}

COUNTED: dict[str, Callable[[], Any]] = {
    "TAN": lambda: mr.TANClassifier(kinds=KINDS),
    "TAN, unseen levels smoothed": lambda: mr.TANClassifier(kinds=KINDS, unseen="smooth"),
    "TAN, missing is a level": lambda: mr.TANClassifier(kinds=KINDS, missing="level"),
    "TAN without smoothing": lambda: mr.TANClassifier(kinds=KINDS, smoothing=0, numeric="quantile", bins=4),
    "TAN, weighted": lambda: mr.TANClassifier(kinds=KINDS, weights="conditional", numeric="quantile", bins=4),
    "KDB": lambda: mr.KDBClassifier(k=2, kinds=KINDS, numeric="quantile", bins=5),
    "KDB, unseen levels smoothed": lambda: mr.KDBClassifier(k=2, kinds=KINDS, unseen="smooth", numeric="quantile"),
    "KDB, weighted": lambda: mr.KDBClassifier(k=2, kinds=KINDS, weights="conditional", numeric="quantile", bins=4),
    "KDB, weighted, without smoothing": lambda: mr.KDBClassifier(
        k=2, kinds=KINDS, weights="conditional", smoothing=0.01, unseen="smooth", numeric="quantile", bins=4
    ),
    "SPODE": lambda: mr.SPODEClassifier(kinds=KINDS, numeric="quantile", bins=4),
    "AODE": lambda: mr.AODEClassifier(kinds=KINDS, numeric="quantile", bins=4),
    "AODE, few rows of a level": lambda: mr.AODEClassifier(kinds=KINDS, min_count=45, numeric="quantile", bins=4),
    "AODE, unseen levels smoothed": lambda: mr.AODEClassifier(kinds=KINDS, unseen="smooth", missing="level"),
    "AODE beside normal numbers": lambda: mr.AODEClassifier(kinds=KINDS, distributions={"numeric": "gaussian"}),
    "AODE, weighted": lambda: mr.AODEClassifier(kinds=KINDS, weights="out-of-fold", numeric="quantile", bins=3),
    "network": lambda: mr.BayesianNetworkClassifier(kinds=KINDS),
}
NUMERIC: dict[str, Callable[[], Any]] = {
    "TAN of numbers": lambda: mr.TANClassifier(kinds=KINDS, numeric="gaussian"),
    "KDB of numbers": lambda: mr.KDBClassifier(k=2, kinds=KINDS, numeric="gaussian"),
    "stated parents": lambda: mr.KDBClassifier(k=2, kinds=KINDS, numeric="gaussian", parents=PARENTS),
    "SPODE of numbers": lambda: mr.SPODEClassifier(kinds=KINDS, numeric="gaussian", super_parent="mass g"),
}


@pytest.mark.parametrize("name", COUNTED)
def test_counted_columns_answer_alike(ask_engine: Any, name: str) -> None:
    table, kind = birds()
    check_terms(COUNTED[name]().fit(table, kind), cases_of(table, 220), ask_engine)


@pytest.mark.parametrize("name", NUMERIC)
def test_networks_of_numbers_answer_alike(ask_engine: Any, name: str) -> None:
    table, kind = birds()
    model = NUMERIC[name]().fit(table, kind)
    cases = cases_of(table, 250)
    near = [case for case in cases if not any(isinstance(cell, float) and abs(cell) > FAR for cell in case.values())]
    assert len(near) >= 200
    check_terms(model, near, ask_engine)
    said = [
        told for (told,) in ask_engine(model, cases, [{"ask": "posterior"}])
    ]  # terms of numbers so far out are lost in rounding, here as there
    np.testing.assert_allclose(said, posteriors(model, encoded(model, cases)), rtol=0, atol=1e-9)


def pregnancies() -> tuple[pd.DataFrame, list[str]]:
    """A table in which one level implies another."""
    rng = np.random.default_rng(5)
    sex = rng.choice(["male", "female"], 300)
    state = np.where((sex == "female") & (rng.random(300) < 0.5), "pregnant", "not pregnant")
    ill = np.where(rng.random(300) < np.where(state == "pregnant", 0.7, 0.3), "ill", "well")
    table = pd.DataFrame({"sex": sex, "state": state, "smokes": rng.choice(["yes", "no", "once"], 300)})
    return table.mask(rng.random(table.shape) < 0.05), ill.tolist()


def test_cells_that_others_imply_are_left_out(ask_engine: Any) -> None:
    table, ill = pregnancies()
    model: Any = mr.AODEClassifier(subsumption=20).fit(table, ill)
    assert len(model.fitted_.implications.cells)
    check_terms(model, cases_of(table, 200), ask_engine)


def chain(rows: int = 300) -> tuple[pd.DataFrame, list[str]]:
    """A table in which the class has a parent, and a column lies outside its Markov blanket."""
    rng = np.random.default_rng(6)
    rain = rng.choice(["rain", "dry"], rows)
    wet = np.where(rng.random(rows) < np.where(rain == "rain", 0.9, 0.2), "wet", "not wet")
    slips = np.where(rng.random(rows) < np.where(wet == "wet", 0.6, 0.1), "yes", "no")
    month = np.where(rain == "rain", rng.choice(["May", "Nov"], rows), rng.choice(["May", "Aug"], rows))
    table = pd.DataFrame({"rain": rain, "slips": slips, "month": month, "depth mm": rng.normal(0, 1, rows) + 3.0 * (wet == "wet")})  # fmt: skip
    return table.mask(rng.random(table.shape) < 0.1), wet.tolist()


def test_a_class_with_parents(ask_engine: Any) -> None:
    table, wet = chain()
    arcs = [("month", "rain"), ("rain", "class"), ("class", "slips"), ("class", "depth mm"), ("rain", "depth mm")]
    model = mr.BayesianNetworkClassifier(network=arcs, numeric="gaussian").fit(table, wet)
    cases = [{**case, "depth mm": None if abs(case["depth mm"] or 0) > FAR else case["depth mm"]} for case in cases_of(table, 220)]  # fmt: skip
    check_terms(model, cases, ask_engine)


def test_models_too_wide_to_be_summed_out_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from merula.graphs.dependence import columns

    table, kind = birds()
    for module in (columns, dependent_parts):
        monkeypatch.setattr(module, "WIDEST", 2)
    for model in (COUNTED["KDB"]().fit(table, kind), NUMERIC["KDB of numbers"]().fit(table, kind)):
        with pytest.raises(mr.core.InputError, match="missing cells"):
            classifier_data(model)
