"""A Spark cluster of separate executors: the same result, also where one of them dies in the middle."""

import contextlib
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from tests.engines.sql.same import assert_same
from tests.engines_external.java import session

import merula as mr
from merula.data.schema import Column, Schema
from merula.engines import Source, collect
from merula.engines.sql import spark_table
from merula.stats import LevelCounts, Moments, Wanted

SCHEMA = Schema((Column("wing", "numeric"), Column("beak", "categorical")))
WANTED = [Wanted(Moments, ("wing",)), Wanted(LevelCounts, ("beak",))]
ROWS = 200_000


@pytest.fixture(scope="module")
def cluster(java):
    """Two executors in processes of their own; one that is lost is replaced."""
    import pyspark

    os.environ["SPARK_HOME"] = os.path.dirname(pyspark.__file__)
    made = session("local-cluster[2,1,1024]", **{"spark.executor.memory": "1g", "spark.task.maxFailures": "8"})
    yield made
    made.stop()
    del os.environ["SPARK_HOME"]


def rows_of(cluster):
    """Rows made on the executors: wing = id mod 1000 / 7, beak one of five, two classes."""
    return cluster.range(0, ROWS, 1, 24).selectExpr(
        "CAST(id % 1000 AS DOUBLE) / 7 AS wing",
        "ELT(CAST(id % 5 AS INT) + 1, 'a', 'b', 'c', 'd', 'it''s') AS beak",
        "IF(id % 3 = 0, 'tit', 'wren') AS bird",
    )


def in_memory():
    import pyarrow as pa

    number = np.arange(ROWS)
    beak = np.array(["a", "b", "c", "d", "it's"])[number % 5]
    table = pa.table({"wing": number % 1000 / 7.0, "beak": beak})
    return collect(Source(table, np.where(number % 3 == 0, "tit", "wren").astype(object)), SCHEMA, WANTED)


def executors():
    """The processes of the executors of this test's own driver."""
    above, names = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # it may end meanwhile
                names[int(entry.name)] = (entry / "cmdline").read_bytes()
                above[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])

    def is_ours(pid):
        while pid in above and pid != os.getpid():
            pid = above[pid]
        return pid == os.getpid()

    return [pid for pid, name in names.items() if b"CoarseGrainedExecutorBackend" in name and is_ours(pid)]


def test_separate_executors_give_the_same(cluster):
    table = spark_table(rows_of(cluster))
    assert_same(collect(Source(table, "bird"), SCHEMA, WANTED), in_memory(), {"wing": 1.0})
    assert len(executors()) == 2
    assert table.fetched["rows"] == 1 + 2 + 10


def test_an_executor_that_is_killed_during_a_fit_changes_nothing(cluster):
    def slowly(batches):  # within the test: executors cannot import tests
        time.sleep(0.5)
        yield from batches

    rows = rows_of(cluster)
    slow = rows.mapInArrow(slowly, rows.schema)
    killed = []

    def kill():
        while not (running := executors()):
            time.sleep(0.5)
        time.sleep(3)  # by now it has some of the rows
        os.kill(running[0], signal.SIGKILL)
        killed.append(running[0])

    killer = threading.Thread(target=kill)
    table = spark_table(slow)
    killer.start()
    found = collect(Source(table, "bird"), SCHEMA, WANTED)
    killer.join()
    assert killed[0] not in executors()
    assert_same(found, in_memory(), {"wing": 1.0})


def test_a_session_that_stops_in_the_middle_is_one_clear_error(cluster):
    table = spark_table(rows_of(cluster))
    fetch, asked = table.runner.fetch, []

    def stopping(query, types):
        asked.append(query)
        if len(asked) == 2:
            cluster.stop()
        return fetch(query, types)

    object.__setattr__(table.runner, "fetch", stopping)
    with pytest.raises(mr.InputError, match="the Spark DataFrame went away while it was read .*nothing was written"):
        collect(Source(table, "bird"), SCHEMA, WANTED)
