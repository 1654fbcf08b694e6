"""One table of every kind of column with gaps, and pools fitted to it."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest

import merula as mr

KINDS = {"visits": "count", "remark": "text"}


@cache
def patients(n=70):
    """Numbers, words, counts, dates and texts, with gaps; and two classes that they tell of."""
    rng = np.random.default_rng(5)
    ill = np.arange(n) % 3 == 0
    remarks = [" ".join(rng.choice(["cough", "fever", "tired"] if one else ["well", "tired", "fine"], 3)) for one in ill]  # fmt: skip
    table = pd.DataFrame(
        {
            "pressure": np.where(rng.random(n) < 0.1, np.nan, rng.normal(120 + 15 * ill, 10)).round(1),
            "größe": 1.5
            + 0.1 * (2 * rng.integers(0, 4, n) + ill)
            + rng.normal(0, 0.01, n),  # stripes: similar rows tell most
            "色泽": np.where(rng.random(n) < 0.15 + 0.3 * ill, None, np.where(rng.random(n) < 0.7, "rot", "blass")),
            "smoker": np.where(rng.random(n) < 0.3 + 0.4 * ill, "yes", "no"),
            "visits": rng.poisson(1 + 2 * ill),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D"),
            "remark": remarks,
        }
    )
    return table, np.where(ill, "ill", "healthy")


@cache
def fitted(order=4, missing="auto", **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return mr.AutoBayesClassifier(order, max_rounds=5, missing=missing, kinds=KINDS, **options).fit(*patients())


@pytest.fixture
def table():
    return patients()[0]


@pytest.fixture
def classes():
    return patients()[1]


@pytest.fixture(params=[1, 2, 4])
def of_order(request):
    return fitted(request.param)


@pytest.fixture(params=["auto", "marginalise", "level"])
def with_missing(request):
    return fitted(missing=request.param)


@pytest.fixture
def pool():
    return fitted()


@cache
def calibrated():
    return fitted().calibrated(*patients(), cv=2)


@pytest.fixture
def calm():
    return calibrated()


@pytest.fixture
def odd_rows(table):
    """Rows with missing cells, levels never seen and numbers far away."""
    rows = table.head(12).copy()
    rows.loc[0, ["pressure", "größe"]] = np.nan
    rows.loc[1, "色泽"] = "violet"
    rows.loc[2, ["smoker", "色泽"]] = None
    rows.loc[3, "pressure"] = 1e30
    rows.loc[4, "größe"] = -1e300
    rows.loc[5, "seen"] = pd.NaT
    rows.loc[6, "remark"] = None
    rows.loc[7, "remark"] = "words never met"
    return rows
