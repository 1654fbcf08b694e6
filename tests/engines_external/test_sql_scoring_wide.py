"""AODE of 500 columns, scored in DuckDB and SQLite: a statement of 40 MB. See `make test-wide` for 10,000 rows in all engines."""

from __future__ import annotations

import pytest
from tests.classify.sql.scored import ENGINES, check_scores, uncertain_average

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def model_and_rows():
    return uncertain_average(500, 10)


@pytest.mark.parametrize("dialect", ENGINES)
def test_aode_of_500_columns(dialect, model_and_rows):
    check_scores(*model_and_rows, dialect, ENGINES[dialect])
