"""Rows that stay in DuckDB: the same statistics and models as in memory."""

import duckdb
import pytest
from tests.engines.sql.asked import MODELS, WANTED, check_cuts, check_gaps, check_model, check_statistic, hard_table

from merula.engines.sql import duckdb_table

TABLE = hard_table()


@pytest.fixture(scope="module")
def remote():
    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    connection.register("given", TABLE)
    connection.execute('CREATE TABLE "birds; --" AS SELECT * FROM given')
    yield duckdb_table(connection, "birds; --")
    connection.close()


@pytest.mark.parametrize("weight", ["often", None], ids=["weights", "no weights"])
@pytest.mark.parametrize("what", WANTED)
def test_every_statistic_is_that_of_memory(remote, what, weight):
    remote.said.clear()
    check_statistic(TABLE, remote, what, weight)


@pytest.mark.filterwarnings("ignore:.* rows have no 'class'")
def test_intervals_are_those_of_memory(remote):
    check_cuts(TABLE, remote)


def test_words_that_mean_nothing_are_those_of_memory(remote):
    def written(table):
        remote.runner.connection.register("gaps", table)
        return duckdb_table(remote.runner.connection, "gaps")

    check_gaps(written)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", MODELS)
def test_every_model_answers_as_one_learned_in_memory(remote, what):
    check_model(TABLE, remote, what)
