"""The page asks next what Python asks next, with the same gains."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import merula as mr

COSTS = [[0.0, 3.0, 5.0], [2.0, 0.0, 1.0], [1.0, 1.0, 1.2], [4.0, 1.0, 0.0]]


def table_of(rows: int = 200) -> tuple[pd.DataFrame, Any]:
    """Words, numbers and counts."""
    rng = np.random.default_rng(6)
    kind = rng.choice(["merle", "pie", "étourneau"], rows)
    where = np.where(kind == "pie", 2.0, np.where(kind == "merle", 0.0, 1.0))
    return pd.DataFrame(
        {
            "plumage 色泽": np.where(rng.random(rows) < 0.3 + where / 5, "black", "bunt"),
            "wing mm": 130 + 3 * where + rng.normal(0, 2.5, rows),
            "rain": np.where(rng.random(rows) < 0.4, 0, rng.gamma(2 + where, 1, rows)),
            "eggs": rng.poisson(3 + where) * 1.0,
            "always": 1.0,
        }
    ), kind


CASES: list[dict[str, Any]] = [
    {},
    {"plumage 色泽": "black"},
    {"wing mm": 133.0, "eggs": 4.0},
    {"rain": 0.0, "plumage 色泽": "mauve"},
    {"wing mm": 160.0},
    {"eggs": 40.0, "rain": 25.0, "wing mm": 90.0},
]


@pytest.mark.parametrize("family", ["gaussian", "mixture", "histogram", "discretized", "kernel", mr.ZeroInflated()], ids=str)  # fmt: skip
def test_questions_are_those_of_python(ask_engine: Any, family: Any) -> None:
    table, kind = table_of()
    model = mr.NaiveBayesClassifier(kinds={"eggs": "count"}, distributions={"numeric": family}).fit(table, kind)
    prices = {"wing mm": 0.01, "eggs": 0.02}
    asks = [{"ask": "questions"}, {"ask": "questions", "costs": {"actions": list("abcd"), "table": COSTS}, "prices": prices, "reject": 1.1}]  # fmt: skip
    for case, told in zip(CASES, ask_engine(model, CASES, asks), strict=True):
        for mine, options in zip(told, ({}, {"costs": COSTS, "prices": prices, "reject_cost": 1.1}), strict=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", mr.UnseenLevelWarning)
                theirs = mr.next_question(model, case, **options)  # type: ignore[arg-type]
            assert abs(mine["risk"] - theirs.risk) < 1e-9
            assert [one["column"] for one in mine["questions"]] == [one.column for one in theirs]
            for own, other in zip(mine["questions"], theirs, strict=True):
                for field in ("gain", "reduction", "price", "information", "error"):
                    assert abs(own[field] - getattr(other, field)) < 1e-9, (case, other, own)


def test_the_work_on_one_column_of_numbers_comes_in_steps(ask_engine: Any) -> None:
    """So that a person is heard between them, however long a column takes."""
    table, kind = table_of()
    model = mr.NaiveBayesClassifier(kinds={"eggs": "count"}).fit(table, kind)
    known = {"eggs": 4.0, "rain": 0.0, "always": 1.0}
    ((both, plumage),) = ask_engine(model, [known], [{"ask": "steps"}, {"ask": "steps"}])
    assert both == plumage
    assert both == sorted(both, reverse=True)
    assert {left: both.count(left) > 8 for left in set(both)} == {2: False, 1: True}  # words first, then numbers


def test_what_each_answer_would_do_adds_up(ask_engine: Any) -> None:
    table, kind = table_of()
    model = mr.NaiveBayesClassifier(kinds={"eggs": "count"}).fit(table, kind)
    case = {"plumage 色泽": "black"}
    asks = [{"ask": "outcomes", "column": name} for name in ("plumage 色泽", "wing mm", "eggs")]
    ((plumage, wing, eggs),) = ask_engine(model, [case], asks)
    assert sum(one["probability"] for one in plumage) == pytest.approx(1.0, abs=1e-12)
    assert sum(one["probability"] for one in wing) == pytest.approx(
        1.0, abs=0.01
    )  # what lies beyond the range is left out
    assert sum(one["probability"] for one in eggs) == pytest.approx(1.0, abs=0.01)
    for one in (*wing, *eggs):
        name = "wing mm" if one in wing else "eggs"
        expected = model.predict_proba(pd.DataFrame([{**dict.fromkeys(table), **case, name: one["value"]}]).astype({"wing mm": float, "rain": float, "eggs": float, "always": float}))  # fmt: skip
        np.testing.assert_allclose(one["posterior"], expected[0], atol=1e-9)


def test_why_a_model_cannot_be_asked_is_said(ask_engine: Any) -> None:
    table, kind = table_of()
    ((told,),) = ask_engine(mr.NaiveBayesClassifier(missing="level").fit(table, kind), [{}], [{"ask": "questions"}])
    assert told["questions"] == []
    assert told["why"] == {"says": "question.level"}
    ((told,),) = ask_engine(mr.AODEClassifier(kinds={"eggs": "count"}).fit(table, kind), [{}], [{"ask": "questions"}])
    assert (told["questions"], told["why"]) == ([], {"says": "question.none"})
