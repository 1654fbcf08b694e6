"""The one door: options that do nothing, contradictions, odd tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from merula.data.encode import code_columns
from merula.graphs.structure import METHODS, learn


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    rain = rng.choice(["yes", "no"], 200)
    wet = np.where(rng.random(200) < 0.9, rain, "no")
    slip = np.where(rng.random(200) < 0.8, wet, "no")
    return code_columns(pd.DataFrame({"rain": rain, "wet": wet, "slip": slip, "hour": rng.normal(12, 3, 200)}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "climb"}, "method is 'climb', expected one of"),
        ({"score": "bci"}, "score is 'bci'.*did you mean 'bic'"),
        ({"required": [("rain", "snow")]}, "the child in required=\\('rain', 'snow'\\) is 'snow'"),
        ({"forbidden": [("snow", "rain")]}, "the parent in forbidden=\\('snow', 'rain'\\) is 'snow'"),
        ({"tiers": [["rain"], ["snow"]]}, "a column of tiers\\[1\\] is 'snow'"),
        ({"tiers": [["rain"], ["rain"]]}, "tiers names column 'rain' more than once"),
        ({"tiers": ["rain", "wet"]}, "tiers is .*expected lists of columns"),
        ({"tiers": "rain"}, "tiers is 'rain', expected lists of columns"),
        ({"required": "rain"}, "required is 'rain', expected a list of arcs"),
        ({"required": ["rain"]}, "required holds 'rain', expected pairs"),
        ({"required": [("rain", "wet", "slip")]}, "expected pairs"),
        ({"required": [("rain", "rain")]}, "required holds an arc from 'rain' to itself"),
        ({"required": [("rain", "wet"), ("wet", "rain")]}, "required= asks for a cycle: rain → wet → rain"),
        (
            {"required": [("rain", "wet")], "forbidden": [("rain", "wet")]},
            "'rain' → 'wet' is both required and forbidden",
        ),
        (
            {"required": [("wet", "rain")], "tiers": [["rain"], ["wet"]]},
            "'wet' → 'rain' leads from tier 1 back to tier 0",
        ),
        ({"required": [("hour", "rain")]}, "makes numeric column 'hour' a parent of categorical column 'rain'"),
        ({"required": [("rain", "wet")], "max_parents": 0}, "gives column 'wet' 1 parents, more than max_parents=0"),
        ({"max_parents": -1}, "max_parents is -1, expected a whole number from 0"),
        ({"max_parents": 1.5}, "max_parents is 1.5"),
        ({"max_parents": True}, "max_parents is True"),
        ({"start": {"snow": ()}}, "a column of start is 'snow'"),
        ({"start": {"wet": ("snow",)}}, "a parent in start\\['wet'\\] is 'snow'"),
        ({"start": {"wet": "rain"}}, "start\\['wet'\\] is 'rain', expected a tuple"),
        ({"start": [("rain", "wet")]}, "start is .*expected a graph"),
        ({"start": {"wet": ("rain",), "rain": ("wet",)}}, "holds a cycle: rain → wet → rain"),
        ({"start": {"wet": ("rain",)}, "required": [("wet", "rain")]}, "start with the required arcs holds a cycle"),
        (
            {"start": {"wet": ("rain",)}, "forbidden": [("rain", "wet")]},
            "start holds arc 'rain' → 'wet', which forbidden=",
        ),
        ({"start": {"rain": ("hour",)}}, "start holds arc 'hour' → 'rain', which"),
        ({"start": {"slip": ("rain", "wet")}, "max_parents": 1}, "start gives column 'slip' 2 parents"),
        ({"method": "tabu", "patience": 0}, "patience is 0, expected a whole number from 1"),
        ({"method": "tabu", "tabu_length": 2.5}, "tabu_length is 2.5"),
        ({"progress": "yes"}, "progress is 'yes', expected True, False, or None"),
        ({"n_jobs": 0}, "n_jobs is 0"),
    ],
)
def test_what_makes_no_sense_is_refused(rows, options, message):
    with pytest.raises(ValueError, match=message):
        learn(rows, **options)


VALUES = {
    "score": "bic", "required": [("rain", "wet")], "forbidden": [("wet", "rain")], "tiers": [["rain"], ["wet"]],
    "max_parents": 2, "start": {"wet": ("rain",)}, "equivalent_sample_size": 2.0, "tabu_length": 5, "patience": 5,
    "root": "wet", "test": "chi2", "significance": 0.1, "max_given": 2, "progress": False, "n_jobs": 1,
}  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("option", VALUES)
def test_an_option_is_heeded_or_refused(rows, method, option):
    discrete = rows.select(["rain", "wet", "slip"])
    options = {option: VALUES[option]} | ({"score": "bdeu"} if option == "equivalent_sample_size" else {})
    if option in METHODS[method].options:
        assert set(learn(discrete, method, **options)) == {"rain", "wet", "slip"}
    else:
        with pytest.raises(ValueError, match=f"= does nothing with method='{method}'; leave it out, or use method="):
            learn(discrete, method, **options)


@pytest.mark.parametrize("method", METHODS)
def test_one_column_stands_alone(method):
    rows = code_columns(pd.DataFrame({"smoker": ["yes", "no", "yes"]}))
    assert learn(rows, method) == {"smoker": ()}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("score", ["bic", "aic", "log-likelihood", "k2", "bdeu"])
def test_a_constant_column_stands_alone(method, score):
    same = ["yes", "no", "no", "yes"] * 10
    table = pd.DataFrame({"smoker": same, "planet": ["earth"] * 40, "cough": same})
    options = {"score": score} if "score" in METHODS[method].options else {}
    levels = {"planet": ["earth", "mars"]}
    for rows in (code_columns(table), code_columns(table, levels=levels)):
        assert learn(rows, method, **options) == {"smoker": ("cough",), "planet": (), "cough": ()}


@pytest.mark.parametrize("method", METHODS)
def test_a_column_that_is_missing_everywhere_stands_alone(method):
    same = ["yes", "no", "no", "yes"] * 10
    table = pd.DataFrame({"smoker": same, "empty": [None] * 40, "cough": same})
    for levels in (None, {"empty": ["a", "b"]}):
        rows = code_columns(table, levels=levels)
        assert learn(rows, method) == {"smoker": ("cough",), "empty": (), "cough": ()}
    if "required" in METHODS[method].options:
        found = learn(code_columns(table), method, required=[("empty", "smoker")])
        assert "empty" in found["smoker"]


def test_numeric_columns_without_spread_stand_alone():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"age": rng.normal(50, 10, 60), "constant": 1.1, "empty": np.nan, "sex": rng.choice(["f", "m"], 60)}
    )
    table["weight"] = 2 * table["age"] + rng.normal(0, 1, 60)
    for method in ("hill-climb", "tabu"):
        found = learn(code_columns(table), method)
        assert found["constant"] == found["empty"] == ()
        assert {"age": ("weight",)}.items() <= found.items() or found["weight"] == ("age",)


def test_log_likelihood_alone_fills_the_graph_up_to_max_parents(random_table):
    discrete = code_columns(random_table(0, cardinalities=(2, 3, 4)))
    full = learn(discrete, score="log-likelihood")
    assert sorted(map(len, full.values())) == [0, 1, 2]
    assert max(map(len, learn(discrete, score="log-likelihood", max_parents=1).values())) == 1
    assert set(learn(discrete, max_parents=0).values()) == {()}


def test_the_equivalent_sample_size_matters(rows):
    discrete = rows.select(["rain", "wet", "slip"])
    weak = learn(discrete, score="bdeu", equivalent_sample_size=1e-6)
    strong = learn(discrete, score="bdeu", equivalent_sample_size=500.0)
    assert sum(map(len, strong.values())) >= sum(map(len, weak.values()))


def test_a_bar_is_drawn_on_standard_error_only_when_asked_for(rows, capsys):
    learn(rows)
    assert capsys.readouterr() == ("", "")
    learn(rows, progress=True)
    out, err = capsys.readouterr()
    assert out == "" and "arcs" in err
