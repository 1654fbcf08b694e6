"""Tables larger than memory: merula's stream beside the bare read of the same file, a database's own aggregates, Khiops.

Run `python benchmarks/large.py [parquet csv duckdb khiops growth] [--rows 10000000] [--folder /tmp/large]`; the file is made once: 8 columns of
numbers, 8 of words with five levels, 4 classes, as Parquet and as CSV. Times are of the clock and of the processor, in a process of its own;
the peak of memory is that of the process less what it held before the call.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

GROUP = 1_000_000


def made(folder: Path, rows: int, suffix: str) -> Path:
    """The file of so many rows, made unless it is there."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    path = folder / f"rows-{rows}.{suffix}"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    rng, levels, writer = np.random.default_rng(0), np.array(["amsel", "drossel", "fink", "meise", "star"]), None
    part = path.with_suffix(".part")
    for start in range(0, rows, GROUP):
        n = min(GROUP, rows - start)
        target = rng.integers(0, 4, n)
        columns = {f"number {j}": rng.normal(target * 0.1 * j, 1, n) for j in range(8)}
        columns |= {f"word {j}": levels[np.minimum(rng.integers(0, 5 + j % 3, n) + target % 2, 4)] for j in range(8)}
        if suffix == "csv":
            columns = {
                name: values.round(4) if values.dtype.kind == "f" else values for name, values in columns.items()
            }
        table = pa.table({**columns, "class": np.array(["a", "b", "c", "d"])[target]})
        if writer is None:
            writer = pq.ParquetWriter(part, table.schema) if suffix == "parquet" else pyarrow.csv.CSVWriter(part, table.schema, write_options=pyarrow.csv.WriteOptions(quoting_style="none"))  # fmt: skip
        writer.write_table(table)
    writer.close()
    part.rename(path)
    return path


# ---------------------------------------------------------------------------------------------------------------- calls


def bare_read(path: Path) -> int:
    import pyarrow.parquet as pq

    words = [f"word {j}" for j in range(8)] + ["class"]
    return sum(batch.num_rows for batch in pq.ParquetFile(path, read_dictionary=words).iter_batches(65_536))


def naive(path: Path) -> int:
    import merula as mr

    return int(mr.NaiveBayesClassifier().fit_table(path, "class").fitted_.collected.class_counts.weight.sum())


def tan(path: Path) -> int:
    import merula as mr

    return int(mr.TANClassifier(distributions={"numeric": "gaussian"}).fit_table(path, "class").fitted_.collected.class_counts.weight.sum())  # fmt: skip


def duckdb_aggregates(path: Path) -> int:
    """Per-column aggregates of all 16 columns, as a data analyst would ask for them."""
    import duckdb

    numbers = ", ".join(f'avg("number {j}"), var_pop("number {j}")' for j in range(8))
    with duckdb.connect() as connection:
        connection.execute("SET threads = 2")
        source = f"read_csv('{path}')" if path.suffix == ".csv" else f"'{path}'"
        words = ", ".join(f'approx_count_distinct("word {j}")' for j in range(8))
        found = connection.sql(f'SELECT "class", count(*), {numbers}, {words} FROM {source} GROUP BY 1').fetchall()
    return sum(row[1] for row in found)


def naive_in_duckdb(path: Path) -> int:
    import duckdb

    import merula as mr

    with duckdb.connect() as connection:
        connection.execute("SET threads = 2")
        relation = connection.sql(f"SELECT * FROM '{path}'")
        return int(mr.NaiveBayesClassifier().fit_table(relation, "class").fitted_.collected.class_counts.weight.sum())


def pandas_naive(path: Path) -> int:
    import pyarrow.parquet as pq

    import merula as mr

    frame = pq.read_table(path).to_pandas()
    mr.NaiveBayesClassifier().fit(frame.drop(columns="class"), frame["class"])
    return len(frame)


def khiops(path: Path) -> int:
    import pyarrow.parquet as pq
    from khiops.sklearn import KhiopsClassifier

    frame = pq.read_table(path).to_pandas()
    KhiopsClassifier(n_trees=0, n_pairs=0, n_features=0).fit(frame.drop(columns="class"), frame["class"])
    return len(frame)


CALLS = {
    "bare read, dictionary-encoded": bare_read,
    "naive Bayes by stream": naive,
    "TAN by stream (numbers Gaussian)": tan,
    "DuckDB, aggregates of each column": duckdb_aggregates,
    "naive Bayes in DuckDB": naive_in_duckdb,
    "naive Bayes, read and fitted in memory": pandas_naive,
    "Khiops, no trees, no pairs": khiops,
}


# ------------------------------------------------------------------------------------------------------------ measuring


def measured(name: str, path: Path, warm: Path | None) -> tuple[float, float, float]:
    """Seconds of the clock and of the processor, and the peak of memory in GB, of one call in a process of its own."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=_call, args=(name, path, warm, theirs))
    child.start()
    found = ours.recv()
    child.join()
    return found


def _call(name: str, path: Path, warm: Path | None, pipe: Any) -> None:
    warnings.simplefilter("ignore")
    if warm is not None:
        CALLS[name](warm)  # libraries loaded, loops compiled
    before, peak, done = _held(), [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            peak[0] = max(peak[0], _held())

    thread = threading.Thread(target=watch)
    thread.start()
    used, start = _processor(), time.perf_counter()
    CALLS[name](path)
    clock, processor = time.perf_counter() - start, _processor() - used
    done.set()
    thread.join()
    pipe.send((clock, processor, max(0.0, peak[0] - before)))


def _held() -> float:
    """What the process holds of memory now, in GB; pages of files that are only mapped not counted."""
    with open("/proc/self/statm") as file:
        numbers = list(map(int, file.read().split()))
    return (numbers[1] - numbers[2]) * os.sysconf("SC_PAGE_SIZE") / 1e9


def _processor() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def shown(name: str, path: Path, warm: Path, peer: float | None = None) -> float:
    clock, processor, peak = min((measured(name, path, warm) for _ in range(3)), key=lambda found: found[0])
    ratio = f"{clock / peer:6.2f} ×" if peer else ""
    print(f"{path.name:<24}{name:<42}{clock:8.2f} s{processor:9.2f} s{peak:8.2f} GB  {ratio}", flush=True)
    return clock


def main(parts: list[str], rows: int, folder: Path) -> None:
    print(f"{'file':<24}{'work':<42}{'clock':>10}{'processor':>11}{'memory':>11}  of the first")
    small = {suffix: made(folder, 100_000, suffix) for suffix in ("parquet", "csv")}
    if "parquet" in parts:
        path = made(folder, rows, "parquet")
        bare = shown("bare read, dictionary-encoded", path, small["parquet"])
        for name in ("naive Bayes by stream", "TAN by stream (numbers Gaussian)"):
            shown(name, path, small["parquet"], bare)
    if "duckdb" in parts:
        path = made(folder, rows, "parquet")
        shown("naive Bayes in DuckDB", path, small["parquet"], shown("DuckDB, aggregates of each column", path, small["parquet"]))  # fmt: skip
    if "csv" in parts:
        path = made(folder, rows, "csv")
        shown("naive Bayes by stream", path, small["csv"], shown("DuckDB, aggregates of each column", path, small["csv"]))  # fmt: skip
    if "khiops" in parts:
        path = made(folder, 1_000_000, "parquet")
        ours = shown("naive Bayes, read and fitted in memory", path, small["parquet"])
        shown("Khiops, no trees, no pairs", path, small["parquet"], ours)
    if "growth" in parts:
        for size in (1_000_000, 10_000_000, 50_000_000):
            path = made(folder, size, "parquet")
            shown("naive Bayes by stream", path, small["parquet"], shown("bare read, dictionary-encoded", path, small["parquet"]))  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="merula on tables larger than memory")
    parser.add_argument("parts", nargs="*", default=["parquet", "csv", "duckdb"])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/large"))
    asked = parser.parse_args()
    main(asked.parts, asked.rows, asked.folder)
