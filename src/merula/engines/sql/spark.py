"""Spark: a DataFrame, classic or over Spark Connect; only answers come to the driver."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import uuid4

from sqlglot import exp

from merula.core import InputError
from merula.engines.sql.remote import RemoteTable, lost, refused


@dataclass(frozen=True, eq=False)
class SparkRunner:
    """Runs queries over a DataFrame in its own session."""

    frame: Any
    token: str  # what stands for the DataFrame in a query: no column can be called so, since nobody knows it before
    place: str = "the Spark DataFrame"
    dialect: ClassVar[str] = "spark"

    def source(self) -> Any:
        """See `Runner.source`."""
        return exp.to_table(self.token)

    def fetch(self, query: Any, _types: Mapping[str, Any]) -> Any:
        """See `Runner.fetch`."""
        from py4j.protocol import Py4JError, Py4JNetworkError
        from pyspark.errors import PySparkException

        text = query.sql(dialect=self.dialect).replace("{", "{{").replace("}", "}}").replace(self.token, "{rows}")
        try:
            return self.frame.sparkSession.sql(text, rows=self.frame).toArrow()
        except (Py4JNetworkError, ConnectionError) as error:
            raise lost(self.place, error) from error
        except (Py4JError, PySparkException, AttributeError) as error:  # a stopped session has lost what it calls
            raise (lost if self._is_stopped() else refused)(self.place, error) from error

    def _is_stopped(self) -> bool:
        """Whether the session of the DataFrame has ended; Spark Connect tells by its errors alone."""
        try:
            context = self.frame.sparkSession.sparkContext
        except Exception:
            return False
        try:
            return context._jsc is None or bool(context._jsc.sc().isStopped())
        except Exception:  # not even that is answered
            return True

    def snapshot(self) -> Any:
        """Spark's tables are what its files were when the DataFrame was made; it knows no transactions."""
        return nullcontext()

    def in_order(self) -> Any:
        """Rows have their order within each part of a DataFrame."""
        return nullcontext()

    def close(self) -> None:
        """The session is not ours to stop."""


def spark_table(frame: Any) -> RemoteTable:
    """A Spark DataFrame, of which no row is read yet; no table and no view is left behind.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The rows. Cache it where it is costly to make: it is gone through a few times.

    Examples
    --------
    >>> spark_table([1, 2])
    Traceback (most recent call last):
        ...
    merula.core.errors.InputError: source is [1, 2], expected a Spark DataFrame
    """
    if not hasattr(frame, "sparkSession") or not hasattr(frame, "toArrow"):
        raise InputError.of("source", frame, "a Spark DataFrame")
    if len(set(frame.columns)) < len(frame.columns):
        twice = min(name for name in frame.columns if frame.columns.count(name) > 1)
        raise InputError.at(f"column name {twice!r}", "stands more than once", remedy="rename so that every column has its own name")  # fmt: skip
    runner = SparkRunner(frame, f"rows_{uuid4().hex}")
    nothing = exp.select("*").from_(runner.source()).limit(0)
    types = {field.name: field.type for field in runner.fetch(nothing, {}).schema}
    return RemoteTable(runner, types, runner.place)
