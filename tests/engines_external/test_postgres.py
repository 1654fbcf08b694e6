"""Rows that stay in PostgreSQL: the same statistics and models as in memory, in one read-only transaction."""

import numpy as np
import psycopg
import pyarrow as pa
import pytest
from psycopg import sql
from tests.engines.sql.asked import MODELS, WANTED, check_cuts, check_gaps, check_model, check_statistic, hard_table
from tests.engines.sql.same import assert_same

import merula as mr
from merula.data.schema import Column, Schema
from merula.engines import Source, collect, describe
from merula.engines.sql import postgres_table
from merula.stats import LevelCounts, Moments, PatternMoments, ValueCounts, Wanted

TABLE = hard_table()
TYPES = {pa.float64(): "float8", pa.float32(): "float4", pa.int32(): "int4", pa.int64(): "int8", pa.string(): "text", pa.bool_(): "bool", pa.date32(): "date", pa.timestamp("us"): "timestamp"}  # fmt: skip
NUMERIC = Schema((Column("wing", "numeric"),))


def write(connection, table, name, schema="public"):
    """A table of PostgreSQL with these rows."""
    columns = [sql.SQL("{} {}").format(sql.Identifier(f.name), sql.SQL(TYPES[f.type])) for f in table.schema]
    where = sql.Identifier(schema, name)
    connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
    connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(where))
    connection.execute(sql.SQL("CREATE TABLE {} ({})").format(where, sql.SQL(", ").join(columns)))
    with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(where)) as copy:
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
            copy.write_row(row)


@pytest.fixture(scope="module")
def connection(postgres):
    with psycopg.connect(postgres, autocommit=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def remote(connection):
    write(connection, TABLE, 'birds"; --', "größe")
    return postgres_table(connection, 'birds"; --', schema="größe")


@pytest.mark.parametrize("weight", ["often", None], ids=["weights", "no weights"])
@pytest.mark.parametrize("what", WANTED)
def test_every_statistic_is_that_of_memory(remote, what, weight):
    remote.said.clear()
    check_statistic(TABLE, remote, what, weight)


@pytest.mark.filterwarnings("ignore:.* rows have no 'class'")
def test_intervals_are_those_of_memory(remote):
    check_cuts(TABLE, remote)


def test_words_that_mean_nothing_are_those_of_memory(connection):
    def written(table):
        write(connection, table, "gaps")
        return postgres_table(connection, "gaps")

    check_gaps(written)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", MODELS)
def test_every_model_answers_as_one_learned_in_memory(remote, what):
    check_model(TABLE, remote, what)


def test_a_url_and_a_query_are_the_same_rows_and_nothing_can_be_written(postgres, connection):
    write(connection, pa.table({"wing": [4.9, 5.1, 12.8], "bird": ["wren", "wren", "tit"]}), "birds")
    table = postgres_table(postgres, query="WITH w AS (SELECT * FROM birds) SELECT wing, bird FROM w WHERE wing > 0")
    found = collect(Source(table, "bird"), NUMERIC, [Wanted(Moments, ("wing",))])
    np.testing.assert_allclose(found.blocks[0].mean.ravel(), [12.8, 5.0], rtol=1e-15)
    with table.runner.snapshot(), pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        table.runner.connection.execute("CREATE TABLE x (i int)")
    table.runner.close()
    assert table.runner.connection.closed
    assert not connection.closed


def test_rows_that_change_during_a_fit_are_not_seen(postgres, connection):
    write(
        connection, pa.table({"beak": ["a", "b"] * 50, "wing": np.arange(100.0), "bird": ["tit", "wren"] * 50}), "birds"
    )
    table = postgres_table(postgres, "birds")
    fetch = table.runner.fetch

    def writing(query, types):
        found = fetch(query, types)
        connection.execute("INSERT INTO birds VALUES ('c', 9.0, 'owl')")
        return found

    object.__setattr__(table.runner, "fetch", writing)
    schema = Schema((Column("beak", "categorical"), Column("wing", "numeric")))
    found = collect(Source(table, "bird"), schema, [Wanted(LevelCounts, ("beak",)), Wanted(ValueCounts, ("wing",))])
    assert found.class_counts.weight.tolist() == [50.0, 50.0]
    assert [part.sum() for part in (found.blocks[0].counts[0], found.blocks[1].counts[0])] == [100.0, 100.0]
    table.runner.close()


def test_a_transaction_of_the_user_stays_theirs(postgres, connection):
    write(connection, pa.table({"wing": [4.9, 12.8], "bird": ["wren", "tit"]}), "birds")
    with psycopg.connect(postgres) as own:
        own.execute("INSERT INTO birds VALUES (5.0, 'wren')")
        found = collect(Source(postgres_table(own, "birds"), "bird"), NUMERIC, [Wanted(Moments, ("wing",))])
        assert found.class_counts.weight.tolist() == [1.0, 2.0]
        own.rollback()
        table = postgres_table(own, "birds")
        assert own.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        table.engine.sample(Source(table, "bird"), 1)
        assert own.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        own.execute("INSERT INTO birds VALUES (5.0, 'wren')")  # is not read only afterwards
        own.rollback()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1e300, -1e300, 3.0], "column 'wing' holds values as large as 1e.300, whose squares overflow; rescale it"),
        ([1.0, float("inf"), 3.0], "column 'wing' contains infinity"),
    ],
)
@pytest.mark.parametrize("statistic", [Moments, PatternMoments])
def test_numbers_without_squares_are_errors_as_in_memory(connection, values, message, statistic):
    write(connection, pa.table({"wing": values, "bird": ["a", "a", "b"]}), "wide")
    with pytest.raises(mr.InputError, match=message):
        collect(Source(postgres_table(connection, "wide"), "bird"), NUMERIC, [Wanted(statistic, ("wing",))])


def test_numbers_whose_squares_vanish_are_those_of_memory(connection):
    values = [0.0, 1e-200, 3e-200, 5e-324, 2.5]
    write(connection, pa.table({"wing": values, "bird": ["a", "a", "a", "b", "b"]}), "narrow")
    wanted = [Wanted(Moments, ("wing",)), Wanted(PatternMoments, ("wing",))]
    mine = collect(Source(postgres_table(connection, "narrow"), "bird"), NUMERIC, wanted)
    theirs = collect(Source(pa.table({"wing": values}), ["a", "a", "a", "b", "b"]), NUMERIC, wanted)
    assert_same(mine, theirs, {"wing": 1.0})


def test_types_that_postgres_has_are_read(connection):
    connection.execute(
        "DROP TABLE IF EXISTS kinds; DROP TYPE IF EXISTS color; CREATE TYPE color AS ENUM ('red', 'blue')"
    )
    connection.execute(
        "CREATE TABLE kinds AS SELECT (i % 7)::numeric(9, 2) / 4 AS price, (i % 3)::numeric(4, 1) AS grade, (i % 5)::smallint AS legs,"
        " CASE WHEN i % 3 > 0 THEN (ARRAY['red', 'blue'])[i % 2 + 1]::color END AS beak, 'pad'::char(7) AS pad, i % 2 = 0 AS bird,"
        " timestamptz '2020-01-01 00:00:00+02' + i * interval '1 hour' AS seen, gen_random_uuid() AS ring FROM generate_series(1, 1000) i"
    )
    table = postgres_table(connection, "kinds")
    kinds = {"legs": "categorical", "ring": "ignore", "grade": "categorical"}
    schema, _ = describe(Source(table, "bird"), kinds)
    assert [column.kind for column in schema.columns] == ["numeric", "categorical", "categorical", "categorical", "categorical", "datetime", "ignore"]  # fmt: skip
    wanted = [Wanted(LevelCounts, ("legs", "beak", "pad", "grade")), Wanted(Moments, ("price", "seen"))]
    found = collect(Source(table, "bird"), schema, wanted)
    some = table.engine.sample(Source(table, "bird"), 5_000)
    theirs = collect(Source(some.drop_columns(["bird"]), some["bird"]), schema, wanted)
    assert_same(found, theirs, {"price": 1.0, "seen": 1e12})
    assert sorted(map(str, found.blocks[0].labels[1])) == ["blue", "red"]
    connection.execute("CREATE TABLE IF NOT EXISTS odd AS SELECT '{}'::jsonb AS remarks, 1 AS bird")
    with pytest.raises(mr.InputError, match="column 'remarks' holds .*cannot read"):
        describe(Source(postgres_table(connection, "odd"), "bird"))


def test_a_sample_is_spread_over_the_table_and_always_the_same(connection):
    connection.execute("DROP TABLE IF EXISTS long; CREATE TABLE long AS SELECT i AS place, i % 2 AS bird FROM generate_series(0, 99999) i")  # fmt: skip
    table = postgres_table(connection, "long")
    some = table.engine.sample(Source(table, "bird"), 1_000)
    assert 950 <= some.num_rows <= 1_000
    assert some.equals(table.engine.sample(Source(table, "bird"), 1_000))
    assert np.histogram(some["place"].to_numpy(), bins=10, range=(0, 100_000))[0].min() > 80


def test_a_server_that_ends_the_connection_is_one_clear_error(postgres, connection):
    write(connection, pa.table({"wing": [4.9, 12.8], "beak": ["a", "b"], "bird": ["wren", "tit"]}), "birds")
    table = postgres_table(postgres, "birds")
    fetch, asked = table.runner.fetch, []

    def ending(query, types):
        asked.append(query)
        if len(asked) == 3:
            connection.execute("SELECT pg_terminate_backend(%s)", [table.runner.connection.info.backend_pid])
        return fetch(query, types)

    object.__setattr__(table.runner, "fetch", ending)
    with pytest.raises(mr.InputError, match="the PostgreSQL table 'birds' went away while it was read .*nothing was written"):  # fmt: skip
        mr.NaiveBayesClassifier().fit_table(table, target="bird")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c, url: postgres_table(c, "brids"), "the PostgreSQL table 'brids' did not answer .*does not exist"),
        (lambda c, url: postgres_table(c, query="DELETE FROM birds"), "expected one SELECT"),
        (lambda c, url: postgres_table(7, "birds"), "expected a psycopg connection, or a URL"),
        (
            lambda c, url: postgres_table("postgresql://127.0.0.1:1/x", "birds"),
            "the PostgreSQL database cannot be reached",
        ),
    ],
)
def test_what_is_no_table_is_told(connection, postgres, call, message):
    with pytest.raises(mr.InputError, match=message):
        call(connection, postgres)
