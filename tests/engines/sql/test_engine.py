"""The engine of databases at its edges: odd tables, odd types, limits, faults. DuckDB answers; every database is asked the same way."""

import datetime as dt

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.engines.sql.same import HOSTILE, assert_same, same

import merula as mr
from merula.core.limits import TooLargeError
from merula.core.notes import kept_back
from merula.data.encode import GuessedKindWarning
from merula.data.schema import Column, Schema
from merula.engines import Source, collect, describe
from merula.engines.sql import duckdb_table
from merula.stats import CellCounts, Grid, LevelCounts, Moments, PatternMoments, Rows, TokenCounts, ValueCounts, Wanted
from merula.stats.dependence import Dependence

NUMERIC = Schema((Column("wing", "numeric"),))


@pytest.fixture
def connection():
    opened = duckdb.connect()
    yield opened
    opened.close()


def remote(connection, **columns):
    """A table of DuckDB with these columns."""
    connection.register("given", pa.table(columns))
    connection.execute("CREATE OR REPLACE TABLE birds AS SELECT * FROM given")
    connection.unregister("given")
    return duckdb_table(connection, "birds")


def counted(table, wanted, schema=None, target="bird", weight=None, kinds=None):
    source = Source(table, target, weight)
    return collect(source, schema or describe(source, kinds)[0], [wanted]).blocks[0]


# ------------------------------------------------------------------------------------------------------------- sources


def test_a_table_a_query_a_relation_and_a_file_are_the_same_rows(connection, tmp_path):
    rows = remote(connection, wing=[4.9, 5.1, 12.8], bird=["wren", "wren", "tit"])
    path = tmp_path / "shop's birds.db"
    with duckdb.connect(str(path)) as file:
        file.register("given", pa.table({"wing": [4.9, 5.1, 12.8], "bird": ["wren", "wren", "tit"]}))
        file.execute('CREATE SCHEMA "s; --"; CREATE TABLE "s; --"."b""irds" AS SELECT * FROM given')
    opened = duckdb_table(path, 'b"irds', schema="s; --")
    others = [
        duckdb_table(connection, query="WITH w AS (SELECT * FROM birds WHERE wing > 0) SELECT wing, bird FROM w"),
        duckdb_table(connection.sql("SELECT * FROM birds ORDER BY wing")),
        opened,
        duckdb_table(str(path), query='SELECT * FROM "s; --"."b""irds"'),
    ]
    first = counted(rows, Wanted(Moments, ("wing",)))
    np.testing.assert_allclose(first.mean.ravel(), [12.8, 5.0], rtol=1e-15)
    for other in others:
        same(counted(other, Wanted(Moments, ("wing",))), first, {"wing": 1.0})
    with pytest.raises(duckdb.InvalidInputException, match="read-only"):
        opened.runner.connection.execute("CREATE TABLE x AS SELECT 1")
    opened.close()
    assert connection.execute("SELECT 1").fetchall() == [(1,)]  # what was given is not closed


def test_nothing_is_created_and_no_transaction_stays_open(connection):
    table = remote(connection, wing=[4.9, 5.1, 12.8], color=["a", "b", "a"], bird=["wren", "wren", "tit"])
    relation = duckdb_table(connection.sql("SELECT * FROM birds"))

    def everything():
        listed = "SELECT 'table', table_name FROM duckdb_tables() UNION SELECT 'view', view_name FROM duckdb_views() UNION SELECT 'function', function_name FROM duckdb_functions()"  # fmt: skip
        return sorted(connection.execute(listed).fetchall())

    before = everything()
    for some in (table, relation):
        mr.TANClassifier().fit_table(some, target="bird")
    assert everything() == before
    connection.begin()  # would raise within a transaction
    connection.rollback()


def test_a_transaction_of_the_user_stays_theirs(connection):
    table = remote(connection, wing=[4.9, 5.1, 12.8], bird=["wren", "wren", "tit"])
    connection.begin()
    connection.execute("INSERT INTO birds VALUES (13.0, 'tit')")
    assert counted(table, Wanted(Moments, ("wing",))).weight.ravel().tolist() == [2.0, 2.0]
    connection.rollback()
    assert counted(table, Wanted(Moments, ("wing",))).weight.ravel().tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: duckdb_table(c), "name one table=, or give one query="),
        (lambda c: duckdb_table(c, "birds", query="SELECT 1"), "name one table=, or give one query="),
        (lambda c: duckdb_table(c, query="DROP TABLE birds"), "expected one SELECT; rows are only read"),
        (lambda c: duckdb_table(c, query="SELECT 1; SELECT 2"), "expected one SELECT"),
        (lambda c: duckdb_table(c, query="SELEC 1"), "query cannot be read"),
        (lambda c: duckdb_table(c, "brids"), "the DuckDB table 'brids' did not answer .*birds"),
        (lambda c: duckdb_table(c.sql("SELECT 1"), "birds"), "a relation is a table itself"),
        (lambda c: duckdb_table("nowhere.db", "birds"), "nowhere.db is no file"),
        (lambda c: duckdb_table(7, "birds"), "expected a DuckDB connection"),
    ],
)
def test_what_is_no_table_is_told(connection, call, message):
    remote(connection, wing=[1.0])
    with pytest.raises(mr.InputError, match=message):
        call(connection)


def test_a_target_that_is_not_there_is_told_with_the_nearest_name(connection):
    table = remote(connection, wing=[4.9], bird=["wren"])
    with pytest.raises(mr.InputError, match=r"the target 'brid' is not in the DuckDB table 'birds', which has 'wing', 'bird'; .*'bird'"):  # fmt: skip
        counted(table, Wanted(Moments, ("wing",)), NUMERIC, target="brid")


# ------------------------------------------------------------------------------------------------------ classes, weights


@pytest.mark.parametrize(
    "labels",
    [
        [3, 1, 1, 2],
        [True, False, False, True],
        [1.0, -0.0, 0.0, 1.0],
        [dt.date(2020, 1, 2), dt.date(2019, 1, 2), dt.date(2019, 1, 2), dt.date(2020, 1, 2)],
        ["b ", "b", "", HOSTILE],
        pa.array(["b", "a", "b", "c"]).dictionary_encode(),
    ],
    ids=["integers", "booleans", "whole floats", "dates", "words", "categories"],
)
def test_classes_are_those_of_memory(connection, labels):
    table = remote(connection, wing=[1.0, 2.0, 3.0, 5.0], bird=pa.array(labels))
    held = connection.sql("SELECT * FROM birds").to_arrow_table()
    theirs = collect(Source(held.select(["wing"]), held["bird"]), NUMERIC, [Wanted(Moments, ("wing",))])
    mine = collect(Source(table, "bird"), NUMERIC, [Wanted(Moments, ("wing",))])
    assert mine.classes.dtype == theirs.classes.dtype
    assert_same(mine, theirs, {"wing": 1.0})


def test_rows_without_a_class_are_left_out_and_counted_once(connection):
    table = remote(connection, wing=[1.0, 2.0, 3.0], bird=pa.array([1.0, None, float("nan")]))
    with pytest.warns(UserWarning, match="2 of 3 rows have no 'bird' and are left out"):  # fmt: skip
        assert counted(table, Wanted(Moments, ("wing",))).weight.tolist() == [[1.0]]
    assert counted(table, Wanted(Moments, ("wing",))).weight.tolist() == [[1.0]]  # a second warning would be an error
    for empty in ([None, None, None], []):
        nothing = remote(connection, wing=pa.array([1.0] * len(empty)), bird=pa.array(empty, pa.string()))
        with pytest.raises(mr.InputError, match="holds no row whose 'bird' is known"):
            counted(nothing, Wanted(Moments, ("wing",)), NUMERIC)


def test_without_a_target_all_rows_are_of_one_class(connection):
    table = remote(connection, wing=[1.0, 2.0, 4.0], often=[1, 2, 0])
    found = collect(Source(table, None, "often"), NUMERIC, [Wanted(Moments, ("wing",)), Wanted(ValueCounts, ("wing",))])
    assert found.classes.tolist() == [0]
    assert found.class_counts.weight.tolist() == [3.0]
    np.testing.assert_allclose(found.blocks[0].mean, [[5 / 3]], rtol=1e-15)
    assert found.blocks[1].values[0].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, -2.0, 1.0], "the weight 'often' is negative in 1 rows"),
        ([1.0, None, 1.0], "missing, NaN or infinite in 1 rows"),
        ([1.0, float("nan"), float("inf")], "missing, NaN or infinite in 2 rows"),
        ([0.0, 0.0, 0.0], "zero in every row"),
        ([1e20, 1.0, 1.0], "expected a largest weight from 1e-15 to 1e.15"),
    ],
)
def test_weights_that_count_no_rows_are_errors(connection, weights, message):
    table = remote(connection, wing=[1.0, 2.0, 3.0], bird=["a", "b", "a"], often=pa.array(weights, pa.float64()))
    with pytest.raises(mr.InputError, match=message):
        counted(table, Wanted(Moments, ("wing",)), NUMERIC, weight="often")


def test_columns_may_be_called_as_they_are_in_queries(connection):
    rng = np.random.default_rng(8)
    numbers = {name: rng.normal(k * 1e6, 1e-3, 400) for k, name in enumerate(["x0", "o0", "n", "read", "s0"])}
    words = {name: rng.choice(["a", "b"], 400) for name in ("k0", "w", "origin", "rows", "select")}
    columns = {**numbers, **words, "t": rng.choice([1, 2], 400), "v": rng.integers(1, 3, 400)}
    columns["x0"] = np.where(columns["t"] == 1, 5e7, 0.0) + columns["x0"]  # each class needs an origin of its own
    schema = Schema((*(Column(name, "numeric") for name in numbers), *(Column(name, "categorical") for name in words)))
    wanted = [Wanted(PatternMoments, tuple(numbers)), Wanted(Moments, tuple(numbers)), Wanted(LevelCounts, tuple(words)), Wanted(ValueCounts, ("n",)), Wanted(Dependence, tuple(words))]  # fmt: skip
    held = pa.table(columns)
    mine = collect(Source(remote(connection, **columns), "t", "v"), schema, wanted)
    theirs = collect(Source(held.drop_columns(["t", "v"]), columns["t"], columns["v"].astype(float)), schema, wanted)
    assert_same(mine, theirs, dict.fromkeys(numbers, 1e-3))


# ----------------------------------------------------------------------------------------------------------- numbers


def test_numbers_far_from_zero_keep_their_spread(connection):
    rng = np.random.default_rng(1)
    wing = rng.normal(1e9, 1.0, 200_000)
    table = remote(connection, wing=wing, bird=pa.array(["a"] * len(wing)))
    found = counted(table, Wanted(Moments, ("wing",)))
    exact = np.sort(wing - 1e9)  # exactly representable differences, added up with no rounding to speak of
    from math import fsum

    mean = fsum(exact) / len(exact)
    variance = fsum((exact - mean) ** 2) / len(exact)
    assert abs((found.mean[0, 0] - 1e9) + found.rest[0, 0] - mean) < 1e-12
    assert abs(found.squares[0, 0] / len(wing) - variance) < 1e-12


def test_a_class_far_from_the_others_and_a_table_in_order_keep_their_spread(connection):
    rng = np.random.default_rng(2)
    far = np.concatenate([rng.normal(0, 1e-3, 20_000), rng.normal(1e8, 1e-3, 20_000)])
    labels = pa.array(["a"] * 20_000 + ["b"] * 20_000)
    table = remote(connection, wing=far, tail=-far, bird=labels)
    schema = Schema((Column("wing", "numeric"), Column("tail", "numeric")))
    wanted = [Wanted(Moments, ("wing",)), Wanted(PatternMoments, ("wing", "tail"))]
    mine = collect(Source(table, "bird"), schema, wanted)
    theirs = collect(Source(pa.table({"wing": far, "tail": -far}), labels), schema, wanted)
    assert_same(mine, theirs, {"wing": 1e-3, "tail": 1e-3})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1e300, -1e300, 3.0], "column 'wing' holds values as large as 1e.300, whose squares overflow; rescale it"),
        ([1.0, float("inf"), 3.0], "column 'wing' contains infinity"),
        ([1.0, 2.0, float("-inf")], "column 'wing' contains infinity"),
    ],
)
@pytest.mark.parametrize("statistic", [Moments, PatternMoments])
def test_numbers_without_squares_are_errors_as_in_memory(connection, values, message, statistic):
    table = remote(connection, wing=values, bird=["a", "a", "b"])
    for source in (Source(table, "bird"), Source(pa.table({"wing": values}), ["a", "a", "b"])):
        with pytest.raises(mr.InputError, match=message):
            collect(source, NUMERIC, [Wanted(statistic, ("wing",))])


def test_constants_are_constant_however_large(connection):
    table = remote(connection, wing=[1e300, 1e300, 0.1, 0.1], bird=["a", "a", "b", "b"])
    found = counted(table, Wanted(Moments, ("wing",)))
    assert found.mean.tolist() == [[1e300], [0.1]]
    assert found.squares.tolist() == [[0.0], [0.0]]


def test_more_sums_than_one_query_takes_are_asked_in_several(connection):
    rng = np.random.default_rng(9)
    values = rng.normal(50.0, 2.0, (400, 60)) @ (np.eye(60) + 0.1)
    values[::7, 3], values[::11, 55] = np.nan, np.nan
    columns = {f"wing {j}": values[:, j] for j in range(60)}
    labels = rng.choice(["wren", "tit"], 400)
    table = remote(connection, **columns, bird=labels)
    schema, wanted = (
        Schema(tuple(Column(name, "numeric") for name in columns)),
        [Wanted(PatternMoments, tuple(columns))],
    )
    mine = collect(Source(table, "bird"), schema, wanted)
    assert table.fetched["queries"] == 4  # a look, the classes, and 60 · 61 / 2 products in two
    assert_same(mine, collect(Source(pa.table(columns), labels.astype(object)), schema, wanted), dict.fromkeys(columns, 2.0))  # fmt: skip


def test_infinity_is_an_error_among_intervals_and_values_too(connection):
    table = remote(connection, wing=[1.0, float("inf"), 3.0], bird=["a", "a", "b"])
    cut = Schema((Column("wing", "categorical", ("≤ 2", "> 2"), (2.0,), declared=True),))
    for schema, wanted in ((cut, Wanted(LevelCounts, ("wing",))), (NUMERIC, Wanted(ValueCounts, ("wing",))), (NUMERIC, Wanted(CellCounts, ("wing",)))):  # fmt: skip
        with pytest.raises(mr.InputError, match="column 'wing' contains infinity"):
            counted(table, wanted, schema)


def test_words_that_mean_numbers_are_read_word_by_word(connection):
    rng = np.random.default_rng(5)
    numbers = rng.integers(0, 4_000, 3_000) / 100
    words = [f"{number:.2f} €".replace(".", ",") for number in numbers]
    words[7], words[11] = "unknown", None
    columns = {"price": pa.array(words), "bird": pa.array(rng.choice(["a", "b"], 3_000).tolist())}
    table, held = remote(connection, **columns), pa.table(columns)
    with kept_back() as notes:
        schema, said = describe(Source(table, "bird"))
    assert schema["price"].kind == "numeric"
    assert said[0].category is GuessedKindWarning
    assert "the first 3,000 rows of the DuckDB table 'birds' were looked at" in str(notes[0])
    theirs = Source(held.select(["price"]), held["bird"])
    assert schema == describe(theirs)[0]
    wanted = [Wanted(Moments, ("price",)), Wanted(ValueCounts, ("price",)), Wanted(CellCounts, ("price",), options={"grids": (Grid(((20.0, 5.0),)),)})]  # fmt: skip
    assert_same(collect(Source(table, "bird"), schema, wanted), collect(theirs, schema, wanted), {"price": 10.0})
    with pytest.raises(mr.InputError, match="column 'price' holds numbers as words in the DuckDB table 'birds'"):
        collect(Source(table, "bird"), schema, [Wanted(PatternMoments, ("price",))])


def test_numbers_that_mean_nothing_are_missing(connection):
    from merula.data.schema import Reading

    schema = Schema((Column("wing", "numeric", reading=Reading(missing=("-9",))),))
    columns = {"wing": [1.0, -9.0, 3.0, -9.0], "bird": ["a", "a", "b", "b"]}
    found = counted(remote(connection, **columns), Wanted(Moments, ("wing",)), schema)
    assert found.weight.tolist() == [[1.0], [1.0]]


def test_types_that_databases_have_are_read_as_in_memory(connection):
    connection.execute(
        "CREATE TABLE birds AS SELECT CAST(i % 7 AS DECIMAL(9, 2)) / 4 AS price, CAST(i AS HUGEINT) % 11 AS eggs,"
        " CAST(CASE i % 3 WHEN 0 THEN 'a' WHEN 1 THEN 'b' END AS ENUM ('b', 'a', 'never')) AS ring, i % 2 = 0 AS bird,"
        " TIMESTAMPTZ '2020-01-01 00:00:00+02' + INTERVAL (i) HOUR AS seen, CAST(i % 5 AS UTINYINT) AS legs,"
        " TIMESTAMP_NS '2020-01-01 00:00:00.123456789' AS nanos FROM range(1000) r(i)"
    )
    table = duckdb_table(connection, "birds")
    held = connection.sql("SELECT * FROM birds").to_arrow_table()
    theirs = Source(held.drop_columns(["bird"]), held["bird"])
    schema, _ = describe(Source(table, "bird"), {"legs": "categorical"})
    assert schema == describe(theirs, {"legs": "categorical"})[0]
    numbers = [column.name for column in schema.columns if column.kind != "categorical"]
    assert "price" in numbers
    wanted = [Wanted(LevelCounts, ("ring", "legs")), Wanted(Moments, numbers), Wanted(ValueCounts, numbers)]
    assert_same(collect(Source(table, "bird"), schema, wanted), collect(theirs, schema, wanted), dict.fromkeys(numbers, 1.0) | {"seen": 1e12})  # fmt: skip


def test_a_type_that_is_nothing_for_a_table_is_told_and_may_be_ignored(connection):
    connection.execute("CREATE TABLE birds AS SELECT [1, 2] AS list, INTERVAL 3 DAY AS age, 'a' AS bird, 1.5 AS wing")
    table = duckdb_table(connection, "birds")
    with pytest.raises(mr.InputError, match="column 'list' holds list.*cannot read; convert it or say kinds={'list': 'ignore'}"):  # fmt: skip
        describe(Source(table, "bird"))
    schema, _ = describe(Source(table, "bird"), {"list": "ignore", "age": "ignore"})
    assert [column.kind for column in schema.columns] == ["ignore", "ignore", "numeric"]


# ------------------------------------------------------------------------------------------------------ limits, refusals


@pytest.mark.parametrize("statistic", [Rows, TokenCounts])
def test_what_needs_rows_is_refused_in_one_sentence(connection, statistic):
    table = remote(connection, wing=[1.0], bird=["a"])
    with pytest.raises(mr.InputError, match="column 'wing' .*stay in the database|column 'wing' is text") as told:
        counted(table, Wanted(statistic, ("wing",)), NUMERIC)
    assert "fit on a sample of the rows in memory" in str(told.value)


def test_more_groups_than_may_come_here_are_refused_by_name(connection, monkeypatch):
    table = remote(connection, ring=[f"r{i}" for i in range(2_000)], wing=np.arange(2_000.0), bird=["a", "b"] * 1_000)
    schema = Schema((Column("ring", "categorical"), Column("wing", "numeric")))
    monkeypatch.setenv("MERULA_MOST_BYTES", "100000")
    for wanted, name in ((Wanted(LevelCounts, ("ring",)), "ring"), (Wanted(ValueCounts, ("wing",)), "wing")):
        table.fetched["rows"] = 0
        with pytest.raises(TooLargeError, match=f"column '{name}' has more than 333 different values in 2 classes"):
            counted(table, wanted, schema)
        assert table.fetched["rows"] <= 340


def test_columns_that_are_too_many_together_are_counted_one_by_one(connection, monkeypatch):
    rng = np.random.default_rng(0)
    columns = {name: rng.choice([f"{name}{i}" for i in range(40)], 5_000) for name in ("beak", "tail")}
    table = remote(connection, **columns, bird=["a", "b"] * 2_500)
    schema = Schema(tuple(Column(name, "categorical") for name in columns))
    monkeypatch.setenv("MERULA_MOST_BYTES", "100000")
    found = counted(table, Wanted(LevelCounts, ("beak", "tail")), schema)
    assert [len(known) for known in found.labels] == [40, 40]
    assert sum(part.sum() for part in found.counts) == 10_000


# ------------------------------------------------------------------------------------------------------- sample, faults


def test_a_sample_is_spread_over_the_table_and_always_the_same(connection):
    order = np.arange(100_000)
    table = remote(connection, place=order, bird=np.where(order % 2 == 0, "even", "odd"))
    source = Source(table, "bird")
    some = table.engine.sample(source, 1_000)
    assert 950 <= some.num_rows <= 1_000
    assert some.equals(table.engine.sample(source, 1_000))
    places = some["place"].to_numpy()
    assert np.histogram(places, bins=10, range=(0, 100_000))[0].min() > 80  # not the first rows alone
    assert 0.4 < np.mean(places % 2) < 0.6  # nor every second one
    assert table.fetched["rows"] == 2 * (some.num_rows + 1)
    assert table.engine.sample(source, 200_000).num_rows == 100_000


def test_only_groups_and_sums_come_back(connection):
    rng = np.random.default_rng(0)
    table = remote(connection, wing=rng.random(50_000), tail=rng.random(50_000), beak=rng.choice(list("abcde"), 50_000), legs=rng.integers(0, 3, 50_000), bird=rng.choice(["wren", "tit"], 50_000))  # fmt: skip
    schema = Schema((Column("wing", "numeric"), Column("tail", "numeric"), Column("beak", "categorical"), Column("legs", "categorical")))  # fmt: skip
    collect(Source(table, "bird"), schema, [Wanted(Moments, ("wing", "tail")), Wanted(LevelCounts, ("beak", "legs"))])
    # a look (1 row), the classes with all moments (2), and class × beak × legs (2 · 5 · 3)
    assert table.fetched == {"rows": 1 + 2 + 30, "queries": 3}


def test_a_connection_that_closes_in_the_middle_is_one_clear_error(connection):
    table = remote(connection, wing=[1.0, 2.0], bird=["a", "b"])
    fetch = table.runner.fetch
    asked = []

    def closing(query, types):
        asked.append(query)
        if len(asked) == 2:
            connection.close()
        return fetch(query, types)

    object.__setattr__(table.runner, "fetch", closing)
    with pytest.raises(mr.InputError, match="the DuckDB table 'birds' went away while it was read .*; nothing was written, neither there nor here"):  # fmt: skip
        mr.NaiveBayesClassifier().fit_table(table, target="bird")


def test_rows_that_change_during_a_fit_are_not_seen(tmp_path):
    path = tmp_path / "birds.db"
    writer = duckdb.connect(str(path))
    writer.execute("CREATE TABLE birds AS SELECT i % 5 AS beak, i * 1.0 AS wing, i % 2 AS bird FROM range(100) r(i)")
    reader = writer.cursor()
    table = duckdb_table(reader, "birds")
    fetch = table.runner.fetch

    def writing(query, types):
        writer.execute("INSERT INTO birds VALUES (9, 9.0, 9)")
        return fetch(query, types)

    object.__setattr__(table.runner, "fetch", writing)
    schema = Schema((Column("beak", "categorical"), Column("wing", "numeric")))
    found = collect(Source(table, "bird"), schema, [Wanted(LevelCounts, ("beak",)), Wanted(Moments, ("wing",))])
    assert found.class_counts.weight.sum() == found.blocks[0].counts[0].sum()
    writer.close()


@pytest.mark.filterwarnings("ignore::merula.GuessedKindWarning")
def test_what_looks_at_rows_says_how_many_came(connection):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"wing": rng.gamma(2, 2, 500), "bird": rng.choice(["wren", "tit"], 500)})
    connection.register("frame", frame)
    table = duckdb_table(connection, "frame")
    with pytest.warns(mr.SampleWarning, match="500 rows of the table"):
        mr.NaiveBayesClassifier(distributions="auto").fit_table(table, target="bird")
    with pytest.raises(mr.InputError, match="column 'wing' belongs to a model that keeps the rows themselves"):
        mr.NearestNeighborsClassifier().fit_table(table, target="bird")
