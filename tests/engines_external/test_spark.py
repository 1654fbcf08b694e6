"""Rows that stay on a Spark cluster: the same statistics and models as in memory; only groups and sums reach the driver."""

import numpy as np
import pyarrow as pa
import pytest
from tests.engines.sql.asked import MODELS, WANTED, check_cuts, check_gaps, check_model, check_statistic, hard_table

import merula as mr
from merula.data.schema import Column, Schema
from merula.engines import Source, collect
from merula.engines.sql import spark_table
from merula.stats import LevelCounts, Moments, PatternMoments, Wanted

TABLE = hard_table()
FEW_MODELS = ("naive", "full", "tree of numbers", "k-dependence", "network")


@pytest.fixture(scope="module")
def remote(spark):
    return spark_table(spark.createDataFrame(TABLE).repartition(3).cache())


@pytest.mark.parametrize("what", WANTED)
def test_every_statistic_is_that_of_memory(remote, what):
    remote.said.clear()
    check_statistic(TABLE, remote, what, "often")


@pytest.mark.parametrize("what", ["moments", "words and numbers", "moments by pattern"])
def test_statistics_without_weights_are_those_of_memory(remote, what):
    remote.said.clear()
    check_statistic(TABLE, remote, what, None)


@pytest.mark.filterwarnings("ignore:.* rows have no 'class'")
def test_intervals_are_those_of_memory(remote):
    check_cuts(TABLE, remote)


def test_words_that_mean_nothing_are_those_of_memory(spark):
    check_gaps(lambda table: spark_table(spark.createDataFrame(table)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", FEW_MODELS)
def test_models_answer_as_those_learned_in_memory(remote, what):
    assert what in MODELS
    check_model(TABLE, remote, what)


def test_only_groups_and_sums_reach_the_driver_and_nothing_is_left(spark):
    rng = np.random.default_rng(0)
    rows = pa.table({"wing": rng.random(20_000), "tail": rng.random(20_000), "beak": rng.choice(list("abcde"), 20_000), "legs": rng.integers(0, 3, 20_000), "bird": rng.choice(["wren", "tit"], 20_000)})  # fmt: skip
    table = spark_table(spark.createDataFrame(rows))
    schema = Schema((Column("wing", "numeric"), Column("tail", "numeric"), Column("beak", "categorical"), Column("legs", "categorical")))  # fmt: skip
    reached = []
    fetch = table.runner.fetch
    object.__setattr__(table.runner, "fetch", lambda query, types: reached.append(fetch(query, types)) or reached[-1])
    found = collect(Source(table, "bird"), schema, [Wanted(Moments, ("wing", "tail")), Wanted(LevelCounts, ("beak", "legs"))])  # fmt: skip
    assert found.class_counts.weight.sum() == 20_000
    assert [part.num_rows for part in reached] == [
        1,
        2,
        30,
    ]  # a look; moments of 2 classes; 2 classes · 5 beaks · 3 numbers of legs
    assert table.fetched == {"rows": 33, "queries": 3}
    some = table.engine.sample(Source(table, "bird"), 500)
    assert 400 <= some.num_rows <= 500
    assert table.fetched["rows"] == 33 + 1 + some.num_rows
    assert some.equals(table.engine.sample(Source(table, "bird"), 500))
    assert spark.catalog.listTables() == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1e300, -1e300, 3.0], "column 'wing' holds values as large as 1e.300, whose squares overflow; rescale it"),
        ([1.0, float("inf"), 3.0], "column 'wing' contains infinity"),
    ],
)
def test_numbers_without_squares_are_errors_as_in_memory(spark, values, message):
    table = spark_table(spark.createDataFrame(pa.table({"wing": values, "bird": ["a", "a", "b"]})))
    with pytest.raises(mr.InputError, match=message):
        collect(Source(table, "bird"), Schema((Column("wing", "numeric"),)), [Wanted(PatternMoments, ("wing",))])


def test_what_is_no_table_is_told(spark):
    with pytest.raises(mr.InputError, match="expected a Spark DataFrame"):
        spark_table([1, 2])
    twice = spark.createDataFrame(pa.table({"wing": [1.0], "bird": ["a"]})).selectExpr("wing", "bird", "wing")
    with pytest.raises(mr.InputError, match="column name 'wing' stands more than once"):
        spark_table(twice)
    bad = spark_table(
        spark.range(10).selectExpr("id AS wing", "CAST(raise_error('the disk is gone') AS STRING) AS bird")
    )
    with pytest.raises(
        mr.InputError, match="the Spark DataFrame did not answer .*the disk is gone.*nothing was written"
    ):
        collect(Source(bad, "bird"), Schema((Column("wing", "numeric"),)), [Wanted(Moments, ("wing",))])
