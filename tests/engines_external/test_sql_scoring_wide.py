"""AODE of 500 columns, scored in DuckDB and SQLite: a statement of 40 MB."""

from __future__ import annotations

import pytest
from tests.classify.sql.scored import ENGINES, check_scores, numbered, wide, with_gaps

import merula as mr

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def model_and_rows():
    rows, y = wide(300, 500, True)
    return mr.AODEClassifier().fit(rows, y), numbered(with_gaps(rows.head(10), 3))


@pytest.mark.parametrize("dialect", ENGINES)
def test_aode_of_500_columns(dialect, model_and_rows):
    check_scores(*model_and_rows, dialect, ENGINES[dialect])
