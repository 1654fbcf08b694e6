"""Numeric children: against least squares; weights, floors, few rows, copies of a column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from merula.data.encode import code_columns
from merula.graphs.structure import build_scorer


def patients(seed=0, rows=300):
    rng = np.random.default_rng(seed)
    smoker, sex = rng.choice(["yes", "no"], rows), rng.choice(["f", "m"], rows)
    age = rng.normal(50, 15, rows)
    weight = rng.normal(70, 10, rows) + 0.3 * age
    pressure = 100 + 0.5 * age * (smoker == "yes") + 0.2 * weight + rng.normal(0, 5 + 5 * (sex == "m"), rows)
    return pd.DataFrame({"smoker": smoker, "sex": sex, "age": age, "weight": weight, "blood pressure": pressure})


def local(table, child, parents, score="log-likelihood", weights=None):
    rows = code_columns(table, weights=weights)
    return build_scorer(rows, score).local(rows.positions[child], [rows.positions[parent] for parent in parents])


def least_squares(table, child, numeric, discrete):
    """Σ log N(y; fitted, mean square of the rest), configuration by configuration, with numpy and SciPy."""
    total = 0.0
    groups = table.groupby(discrete) if discrete else [((), table)]
    for _, part in groups:
        design = np.column_stack([np.ones(len(part)), *(part[name] for name in numeric)])
        fitted = design @ np.linalg.lstsq(design, part[child], rcond=None)[0]
        total += norm.logpdf(part[child], fitted, np.sqrt(np.mean((part[child] - fitted) ** 2))).sum()
    return total


@pytest.mark.parametrize(
    ("numeric", "discrete"),
    [([], []), (["age"], []), ([], ["smoker"]), (["age", "weight"], ["smoker", "sex"])],
)
def test_log_likelihood_equals_least_squares(numeric, discrete):
    table = patients()
    expected = least_squares(table, "blood pressure", numeric, discrete)
    assert local(table, "blood pressure", [*numeric, *discrete]) == pytest.approx(expected, rel=1e-10)
    parameters = 2 ** len(discrete) * (len(numeric) + 2)  # slopes, intercept, variance
    bic = expected - 0.5 * np.log(len(table)) * parameters
    assert local(table, "blood pressure", [*discrete, *numeric], "bic") == pytest.approx(bic, rel=1e-10)


def test_a_weight_equals_repeats():
    table = patients(1)
    weights = np.random.default_rng(1).integers(0, 3, len(table))
    repeated = table.loc[table.index.repeat(weights)]
    parents = ["smoker", "age"]
    assert local(table, "blood pressure", parents, weights=weights) == pytest.approx(
        local(repeated, "blood pressure", parents), rel=1e-10
    )


def test_shift_and_scale_change_the_likelihood_by_the_unit_alone():
    table = patients(2)
    moved = table.assign(**{"blood pressure": 1e9 + 1e-3 * table["blood pressure"], "age": 1e6 + table["age"]})
    gain = local(table, "blood pressure", ["age"]) - local(table, "blood pressure", [])
    assert local(moved, "blood pressure", ["age"]) - local(moved, "blood pressure", []) == pytest.approx(gain, rel=1e-4)


def test_missing_numbers_are_averaged_over_complete_rows():
    table = patients(3)
    table.loc[::7, "age"] = np.nan
    table.loc[::5, "blood pressure"] = np.nan
    complete = table.dropna(subset=["age", "blood pressure"])
    expected = least_squares(complete, "blood pressure", ["age"], []) * len(table) / len(complete)
    assert local(table, "blood pressure", ["age"]) == pytest.approx(expected, rel=1e-10)


def test_copies_of_a_parent_add_nothing():
    table = patients(4).assign(**{"age in months": lambda frame: 12 * frame["age"], "one": 1.0})
    once = local(table, "blood pressure", ["age"])
    assert local(table, "blood pressure", ["age", "age in months", "one"]) == pytest.approx(once, rel=1e-10)


def test_an_exact_relation_is_very_likely_but_not_infinitely_so():
    table = patients(5).assign(**{"blood pressure": lambda frame: 2 * frame["age"]})
    value = local(table, "blood pressure", ["age"])
    floor = 1e-9 * np.var(table["blood pressure"])
    assert value == pytest.approx(norm.logpdf(0, 0, np.sqrt(floor)) * len(table), rel=1e-6)


@pytest.mark.parametrize("rows", [2, 3, 5, 8, 20])
def test_few_rows_never_reward_a_perfect_fit(rows):
    table = patients(6, rows)
    table["id"] = [f"patient {index}" for index in range(rows)]
    for parents in (["id"], ["id", "age", "weight"], ["smoker", "sex", "age", "weight"]):
        value = local(table, "blood pressure", parents, "bic")
        assert np.isfinite(value)
    for parents in (["id"], ["id", "age", "weight"]) if rows > 2 else ():
        assert local(table, "blood pressure", parents, "bic") < local(table, "blood pressure", [], "bic")


def test_a_constant_and_an_empty_numeric_column_have_a_score():
    table = patients(7).assign(constant=1e8 + 0.1, empty=np.nan)
    for child, parents in [("constant", ["age"]), ("empty", ["age"]), ("age", ["constant"]), ("age", ["empty"])]:
        assert np.isfinite(local(table, child, parents, "bic"))
    assert local(table, "age", ["constant"]) == pytest.approx(local(table, "age", []), rel=1e-12)
    assert local(table, "age", ["empty"]) == pytest.approx(local(table, "age", []), rel=1e-12)


def test_a_parent_with_missing_cells_gains_on_the_rows_that_have_it():
    table = patients(8)
    table.loc[::3, "age"] = np.nan
    part = table.dropna()
    gain = least_squares(part, "blood pressure", ["weight", "age"], []) - least_squares(
        part, "blood pressure", ["weight"], []
    )
    expected = gain * len(table) / len(part) - 0.5 * np.log(len(table))
    rows = code_columns(table)
    child, weight, age = (rows.positions[name] for name in ("blood pressure", "weight", "age"))
    assert build_scorer(rows).gains(child, [weight], [age]) == pytest.approx([expected], rel=1e-9)
    assert build_scorer(rows).loss(child, [age, weight], age) == pytest.approx(-expected, rel=1e-9)
