"""The page's engine answers as Python does: posteriors, terms, explanations and decisions of random rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import merula as mr

KINDS = {"ring": "categorical"}
EXTREMES = (1e300, -1e300, 0.0, -0.0, 5e-324, 1e-300, np.nan)


def birds(rows: int = 200, seed: int = 0) -> tuple[pd.DataFrame, list[str]]:
    """A table of words and numbers with gaps, and its classes."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(["merle", "pie", "étourneau"], rows, p=[0.5, 0.3, 0.2])
    where = np.where(kind == "pie", 2.0, np.where(kind == "merle", 0.0, 1.0))
    table = pd.DataFrame(
        {
            "plumage 色泽": rng.choice(["black", "brown", "bunt"], rows),
            "wing mm": 130 + 3 * where + rng.normal(0, 2.5, rows),
            "mass g": np.exp(4 + 0.3 * where + rng.normal(0, 0.2, rows)),
            "ring": rng.choice([1, 2, 3], rows),
            "tame": rng.choice([True, False], rows),
        }
    ).astype({"ring": object, "tame": object})
    return table.mask(rng.random(table.shape) < 0.1), kind.tolist()


def cases_of(table: pd.DataFrame, count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Random rows: cells of the table, gaps, levels never seen, and numbers far out."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        row = {name: table[name].iloc[rng.integers(len(table))] for name in table.columns}
        for name in table.columns:
            chance = rng.random()
            is_number = table[name].dtype.kind == "f"
            if chance < 0.15:
                row[name] = None
            elif chance < 0.25:
                row[name] = rng.choice(EXTREMES) if is_number else "never met"
        found.append({name: plain(value) for name, value in row.items()})
    return found


def plain(value: Any) -> Any:
    """A cell as JSON holds it."""
    if isinstance(value, float) and np.isnan(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def python_answers(model: Any, cases: list[dict[str, Any]]) -> list[Any]:
    """Posterior and components of each case, as Python gives them for a row stated by itself."""
    from merula.classify.single_row import encode_row

    found = []
    for case in cases:
        rows = encode_row(model, case)
        posterior, _ = model.fitted_.score(rows, None, 1)
        mr.core.logspace.to_posterior(posterior, model.fitted_.log_prior)
        found.append((posterior[0], model.fitted_.unsummed(rows)))
    return found


def check_answers(model: Any, cases: list[dict[str, Any]], ask_engine: Any) -> None:
    """The engine's posteriors to 1e-9 absolute and its terms to 1e-9 relative."""
    said = ask_engine(model, cases, [{"ask": "answer"}])
    for case, (answer,), (posterior, components) in zip(cases, said, python_answers(model, cases), strict=True):
        assert "error" not in answer, (case, answer)
        np.testing.assert_allclose(answer["posterior"], posterior, rtol=0, atol=1e-9, err_msg=str(case))
        for mine, theirs in zip(answer["components"], components, strict=True):
            keys = [(tuple(term["columns"]), tuple(term["parents"])) for term in mine["terms"]]
            assert keys == [(term.part.columns, term.part.parents) for term in theirs.terms]
            for own, term in zip(mine["terms"], theirs.terms, strict=True):
                np.testing.assert_allclose(own["values"], term.values[0], rtol=1e-9, atol=1e-12, err_msg=f"{case} {term.key}")  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"missing": "level"}, {"unseen": "smooth"}, {"smoothing": 0}])
def test_naive_models_answer_alike(ask_engine: Any, options: dict[str, Any]) -> None:
    table, kind = birds()
    model = mr.NaiveBayesClassifier(kinds=KINDS, **options).fit(table, kind)
    check_answers(model, cases_of(table, 60), ask_engine)


def test_explanations_are_those_of_python(ask_engine: Any) -> None:
    table, kind = birds()
    model = mr.NaiveBayesClassifier(kinds=KINDS, smoothing=0).fit(table, kind)
    cases = cases_of(table, 25)
    asks = [{"ask": "explain", "label": label, "against": rival} for label in range(3) for rival in (None, 0, 1, 2) if rival != label]  # fmt: skip
    for case, told in zip(cases, ask_engine(model, cases, asks), strict=True):
        for ask, mine in zip(asks, told, strict=True):
            labels = [None if k is None else model.classes_[k] for k in (ask["label"], ask["against"])]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = mr.explain(model, case, *labels).derivations[0]
            np.testing.assert_allclose([mine["start"], mine["total"]], [theirs.prior_log_odds, theirs.log_odds], rtol=1e-9, atol=1e-9)  # fmt: skip
            assert [tuple(one["columns"]) for one in mine["reasons"]] == [one.columns for one in theirs.reasons]
            assert [one["known"] for one in mine["reasons"]] == [one.known for one in theirs.reasons]
            np.testing.assert_allclose([one["evidence"] for one in mine["reasons"]], [one.evidence for one in theirs.reasons], rtol=1e-9, atol=1e-9)  # fmt: skip


def test_decisions_are_those_of_python(ask_engine: Any) -> None:
    table, kind = birds()
    model = mr.NaiveBayesClassifier(kinds=KINDS).fit(table, kind)
    cases = cases_of(table, 40)
    costs = [[0.0, 3.0, 5.0], [2.0, 0.0, 1.0], [1.0, 1.0, 1.2], [4.0, 1.0, 0.0]]
    told = {"actions": ["ring", "wait", "call", "free"], "table": costs}
    said = ask_engine(model, cases, [{"ask": "decide", "costs": told, "reject": reject} for reject in (None, 0.7)])
    posterior = np.array([one for one, _ in python_answers(model, cases)])
    for k, reject in enumerate((None, 0.7)):
        chosen = mr.decide(posterior, costs, reject)
        assert [answers[k]["action"] for answers in said] == chosen.tolist()
        np.testing.assert_allclose([answers[k]["risks"] for answers in said], mr.conditional_risk(posterior, costs), atol=1e-9)  # fmt: skip


def test_what_is_never_seen_is_said_and_refused_where_asked(ask_engine: Any) -> None:
    table, kind = birds()
    case = {"plumage 色泽": "mauve"}
    ((answer,),) = ask_engine(mr.NaiveBayesClassifier(kinds=KINDS).fit(table, kind), [case], [{"ask": "answer"}])
    assert answer["notes"] == [{"kind": "unseen", "column": "plumage 色泽", "text": "mauve"}]
    ((refused,),) = ask_engine(
        mr.NaiveBayesClassifier(kinds=KINDS, unseen="error").fit(table, kind), [case], [{"ask": "answer"}]
    )
    assert "never seen" in refused["error"]


def test_a_row_impossible_under_every_class_gets_the_prior(ask_engine: Any) -> None:
    rows, truth = [["red", "small"], ["blue", "small"], ["blue", "large"]], ["apple", "plum", "plum"]
    model = mr.NaiveBayesClassifier(smoothing=0, levels={"x0": ["red", "blue", "green"]}).fit(rows, truth)
    ((answer,),) = ask_engine(model, [{"x0": "green"}], [{"ask": "answer"}])
    assert answer["impossible"]
    assert [note["kind"] for note in answer["notes"]] == ["impossible"]
    np.testing.assert_allclose(answer["posterior"], np.exp(model.class_log_prior_), rtol=1e-12)
