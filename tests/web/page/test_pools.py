"""Pools and conditional log-linear models on a page: the same posteriors, terms, purified effects and explanations as in Python."""

from __future__ import annotations

import json
import shutil
import subprocess
import warnings
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.classify.sql.scored import heavy_tailed
from tests.web.page.alike import check_terms, encoded
from tests.web.page.conftest import _number
from tests.web.page.test_engine import KINDS, birds, cases_of

import merula as mr
from merula.answers.explanation.by_effects import told_effects
from merula.classify.effects.subjects import Subject
from merula.classify.pooled.tails import StudentTails
from merula.web.page.classifier import classifier_data

RUNNER = Path(__file__).parent / "run_effects.mjs"
FAST: dict[str, Any] = {"max_rounds": 25, "kinds": KINDS}
Ask = Callable[[Any, Sequence[dict[str, Any]]], list[Any]]
pytestmark = pytest.mark.filterwarnings("ignore::merula.UnseenLevelWarning")


def counted_birds() -> tuple[pd.DataFrame, list[str]]:
    """A table with counts, many categories, a column that never varies, and gaps."""
    rng = np.random.default_rng(3)
    kind = rng.choice(["Amsel", "Elster"], 250)
    table = pd.DataFrame(
        {
            "eggs": rng.poisson(np.where(kind == "Amsel", 4.0, 6.0)).astype(float),
            "Gemeinde": rng.choice([f"Ort {k}" for k in range(70)], 250),
            "size": np.where(kind == "Amsel", 25.0, 46.0) + rng.normal(0, 8, 250),
            "flag": np.ones(250),
        }
    )
    return table.mask(rng.random(table.shape) < 0.15), kind.tolist()


def messages() -> tuple[pd.DataFrame, list[str]]:
    """Texts beside a number and a word."""
    rng = np.random.default_rng(4)
    words = {"spam": ["win", "cash", "free", "prize", "claim", "now"], "ham": ["lunch", "home", "monday", "call", "free", "late"]}  # fmt: skip
    sort = rng.choice(["spam", "ham"], 120)
    texts = [" ".join(rng.choice(words[one], 6)) for one in sort]
    hours = np.where(sort == "spam", 3.0, 14.0) + rng.normal(0, 5, 120)
    table = pd.DataFrame({"text": texts, "hour": hours, "known sender": rng.choice(["yes", "no"], 120)})
    return table.mask(rng.random(table.shape) < 0.1), sort.tolist()


def auto(order: int, **options: Any) -> Any:
    return mr.AutoBayesClassifier(order, **FAST | options)


POOLS: dict[str, Callable[[], Any]] = {
    "order 1": lambda: auto(1),
    "order 2": lambda: auto(2),
    "order 4": lambda: auto(4),
    "missing is an answer": lambda: auto(3, missing="level"),
    "missing says nothing": lambda: auto(2, missing="marginalise", class_prior="uniform"),
    "a class excluded": lambda: auto(2, class_prior={"merle": 0.4, "pie": 0.6, "étourneau": 0.0}),
    "tables": lambda: mr.LogLinearClassifier(order=3, **FAST),
    "tables of one question": lambda: mr.LogLinearClassifier(order=1, **FAST, missing="level"),
    "twin of Gaussian Bayes": lambda: mr.LogLinearClassifier(order="gaussian", kinds=KINDS),
    "twin with gaps": lambda: mr.LogLinearClassifier(order="gaussian", kinds=KINDS, missing="level"),
}


def of_before(model: Any) -> Any:
    """The model as files of before hold it: tables that say nothing where a cell is missing."""
    found, fitted = copy(model), model.fitted_
    parts = tuple(replace(part, shares=None) for part in fitted.components[0].parts)
    found._hold(replace(fitted, components=(replace(fitted.components[0], parts=parts),)))
    return found


def left(model: Any) -> Any:
    """The model that a page may hold."""
    return model.portable() if hasattr(model, "portable") else model


@pytest.fixture(scope="module")
def ask_effects() -> Ask:
    """The page's purified effects of cases: of each subject, what is told of them, and what belongs to no column."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")

    def ask(model: Any, cases: Sequence[dict[str, Any]]) -> list[Any]:
        job = json.dumps({"data": classifier_data(model), "cases": cases}, allow_nan=False)
        done = subprocess.run([node, str(RUNNER)], input=job + "\n", capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found: list[Any] = _number(json.loads(done.stdout))
        return found

    return ask


def check_effects(model: Any, cases: list[dict[str, Any]], ask_effects: Ask) -> None:
    """Subjects in the same order, their effects to 1e-9 relative, and what is told of rows that lack cells."""
    effects, names, found = model.fitted_.effects, model.schema_.names, ask_effects(model, cases)
    rows = encoded(model, cases)
    expected = effects.values(rows)
    for place, (subject, values) in enumerate(expected.items()):
        mine = [one["values"][place] for one in found]
        assert {(tuple(names[j] for j in one["columns"]), one["whole"]) for one in mine} == {(subject.columns, subject.whole)}  # fmt: skip
        np.testing.assert_allclose([one["values"] for one in mine], values, rtol=1e-9, atol=1e-12, err_msg=str(subject))
    assert {len(one["values"]) for one in found} == {len(expected)}
    np.testing.assert_allclose([one["intercept"] for one in found], effects.intercept(rows), rtol=1e-9, atol=1e-12)
    for own, _, told in told_effects(model, effects, rows):
        for row, k in enumerate(own.tolist()):
            mine = found[k]["told"]
            assert [tuple(names[j] for j in one["columns"]) for one in mine if not one["whole"]] == [one.columns for one in told if not one.whole]  # fmt: skip
            for one in mine:
                (values,) = [all_rows[row] for subject, all_rows in told.items() if said_of(subject) == (tuple(names[j] for j in one["columns"]), one["name"])]  # fmt: skip
                np.testing.assert_allclose(one["values"], values, rtol=1e-9, atol=1e-12)


def said_of(subject: Subject) -> tuple[tuple[str, ...], str]:
    """The columns of a subject, and its name where explanations have one."""
    return subject.columns, subject.whole if len(subject.columns) != 1 else ""


@pytest.mark.parametrize("name", POOLS)
def test_pools_answer_and_take_apart_alike(ask_engine: Any, ask_effects: Ask, name: str) -> None:
    table, kind = birds()
    model = left(POOLS[name]().fit(table, kind))
    cases = cases_of(table, 220)
    check_terms(model, cases, ask_engine)
    check_effects(model, cases, ask_effects)


def test_tables_of_files_of_before(ask_engine: Any, ask_effects: Ask) -> None:
    table, kind = birds()
    model = mr.LogLinearClassifier(order=3, **FAST).fit(table, kind)
    before, cases = of_before(model), cases_of(table, 220)
    rows = encoded(model, cases)
    assert (
        np.abs(before.fitted_.distributions[0].log_prob(rows) - model.fitted_.distributions[0].log_prob(rows)).max()
        > 0.1
    )
    check_terms(before, cases, ask_engine)
    check_effects(before, cases, ask_effects)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_counts_and_many_categories(ask_engine: Any, ask_effects: Ask, order: int) -> None:
    table, kind = counted_birds()
    model = mr.AutoBayesClassifier(order, max_rounds=20).fit(table, kind).portable()
    cases = cases_of(table, 200, seed=7)
    check_terms(model, cases, ask_engine)
    check_effects(model, cases, ask_effects)


def test_texts(ask_engine: Any, ask_effects: Ask) -> None:
    table, sort = messages()
    model = mr.AutoBayesClassifier(2, max_rounds=20, kinds={"text": "text"}).fit(table, sort).portable()
    cases = cases_of(table, 200, seed=8)
    check_terms(model, cases, ask_engine)
    check_effects(model, cases, ask_effects)


def test_a_temperature_divides_terms_and_effects(ask_engine: Any, ask_effects: Ask) -> None:
    table, kind = birds()
    model = auto(2).fit(table, kind).portable()
    cooled = model._hold(model.fitted_.with_temperature(1.7))
    cases = cases_of(table, 60)
    check_terms(cooled, cases, ask_engine)
    check_effects(cooled, cases, ask_effects)


def test_effects_of_factors_with_weights_of_their_own(ask_engine: Any, ask_effects: Ask) -> None:
    table, kind = birds()
    model = mr.LogLinearClassifier(order=2, **FAST).fit(table, kind)
    count = sum(part.factors_count for part in model.distributions_)
    weighted = model._hold(model.fitted_.with_weights(np.linspace(0.0, 1.5, count).tolist()))
    cases = cases_of(table, 40)
    check_terms(weighted, cases, ask_engine)
    check_effects(weighted, cases, ask_effects)


def check_explanations(model: Any, cases: list[dict[str, Any]], ask_engine: Any) -> None:
    """The same reasons in the same order, their evidence to 1e-9, for the first class and for the last against the second."""
    last = len(model.classes_) - 1
    asks = [{"ask": "explain", "label": 0, "against": None}, {"ask": "explain", "label": last, "against": last - 1}]
    for case, told in zip(cases, ask_engine(model, cases, asks), strict=True):
        for ask, mine in zip(asks, told, strict=True):
            labels = [None if k is None else model.classes_[k] for k in (ask["label"], ask["against"])]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                (theirs,) = mr.explain(model, case, *labels).derivations
            np.testing.assert_allclose([mine["start"], mine["total"]], [theirs.prior_log_odds, theirs.log_odds], rtol=1e-9, atol=1e-9)  # fmt: skip
            assert [(tuple(one["columns"]), one["name"]) for one in mine["reasons"]] == [(one.columns, one.name) for one in theirs.reasons]  # fmt: skip
            np.testing.assert_allclose([one["evidence"] for one in mine["reasons"]], [one.evidence for one in theirs.reasons], rtol=1e-9, atol=1e-9)  # fmt: skip


@pytest.mark.parametrize("name", ["order 4", "missing is an answer", "tables"])
def test_explanations_are_those_of_python(ask_engine: Any, name: str) -> None:
    table, kind = birds()
    model = left(POOLS[name]().fit(table, kind))
    check_explanations(model, cases_of(table, 40), ask_engine)


# --------------------------------------------------------------------------------------------------------- heavier tails


def tails_of(model: Any) -> list[StudentTails]:
    """The t distributions that have a weight in the pool."""
    weighted = [getattr(part, "part", part) for part, weight in model.fitted_.components[0].weighted_parts if weight]
    return [part for part in weighted if isinstance(part, StudentTails)]


def with_tails(model: Any, freedom: list[float], share: list[float], held: bool) -> Any:
    """The model with other t distributions, of numbers held between bounds or as they are."""
    found = {"freedom": np.array(freedom), "share": np.array(share)}

    def changed(part: Any) -> Any:
        if not isinstance(getattr(part, "part", part), StudentTails):
            return part
        other = replace(part.part, **found)
        return replace(part, part=other) if held else other

    pool, *others = model.fitted_.components
    again = replace(pool, parts=tuple(map(changed, pool.parts)))
    return copy(model)._hold(replace(model.fitted_, components=(again, *others)))


@pytest.fixture(scope="module")
def heavy() -> tuple[Any, pd.DataFrame]:
    table, kind = heavy_tailed()
    model = mr.AutoBayesClassifier(keep_rows=False, max_rounds=20).fit(table, kind)
    assert tails_of(model), "the table is made so that heavier tails are worth it"
    return model, table


def test_heavier_tails(ask_engine: Any, ask_effects: Ask, heavy: Any) -> None:
    model, table = heavy
    cases = [dict.fromkeys(table.columns), *cases_of(table, 220, seed=9)]
    check_terms(model, cases, ask_engine)
    check_effects(model, cases, ask_effects)
    check_explanations(model, cases[:60], ask_engine)
    assert "numbers far out" in [subject.whole for subject in model.fitted_.effects.subjects]


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("freedom", [[2.001, 1e12], [5.0, 700.0]])
def test_tails_of_few_and_of_many_degrees_of_freedom(ask_engine: Any, ask_effects: Ask, heavy: Any, freedom: list[float], held: bool) -> None:  # fmt: skip
    model = with_tails(heavy[0], freedom, [0.02, 1.0], held)
    cases = cases_of(heavy[1], 80, seed=10)
    check_terms(model, cases, ask_engine)
    check_effects(model, cases, ask_effects)


@pytest.mark.parametrize("missing", ["marginalise", "level"])
def test_tails_of_one_number_are_an_effect_of_it(ask_engine: Any, ask_effects: Ask, missing: str) -> None:
    table, kind = heavy_tailed(seed=2)
    model = mr.AutoBayesClassifier(keep_rows=False, max_rounds=20, missing=missing).fit(table[["a", "song"]], kind)
    assert [part.columns for part in tails_of(model)] == [("a",)]
    cases = cases_of(table[["a", "song"]], 200, seed=11)
    check_terms(model, cases, ask_engine)
    check_effects(model, cases, ask_effects)
    check_explanations(model, cases[:40], ask_engine)


def test_rows_that_were_kept_are_refused() -> None:
    table, kind = birds()
    model = auto(3).fit(table, kind)
    if "similar rows" not in model.parts_:
        model = mr.AutoBayesClassifier(3, max_rounds=2, kinds=KINDS).fit(table, kind)
    assert "similar rows" in model.parts_
    with pytest.raises(mr.core.InputError, match="training rows"):
        classifier_data(model)
