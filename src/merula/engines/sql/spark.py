"""Spark: a DataFrame, classic or over Spark Connect; only answers come to the driver."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, ClassVar
from uuid import uuid4

from sqlglot import exp

from merula.core import InputError
from merula.engines.sql.remote import RemoteTable, lost, refused


@dataclass(frozen=True, eq=False)
class SparkRunner:
    """Runs queries over a DataFrame in its own session."""

    frame: Any
    place: str = "the Spark DataFrame"
    token: str = field(
        default_factory=lambda: f"rows_{uuid4().hex}"
    )  # what the rows are called in a statement of one piece
    dialect: ClassVar[str] = "spark"

    def source(self) -> Any:
        """See `Runner.source`."""
        return exp.to_table("rows")

    def fetch(self, query: Any, _types: Mapping[str, Any]) -> Any:
        """See `Runner.fetch`."""
        from py4j.protocol import Py4JError, Py4JNetworkError
        from pyspark.errors import PySparkException

        try:
            return selected(query, self.frame).toArrow()
        except (Py4JNetworkError, ConnectionError) as error:
            raise lost(self.place, error) from error
        except (
            Py4JError,
            PySparkException,
            AttributeError,
            AssertionError,
        ) as error:  # a stopped session lacks what it calls
            if self._is_stopped():
                raise lost(self.place, RuntimeError("its session was stopped")) from error
            raise refused(self.place, error) from error

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

    def batches(self, _query: Any, _types: Mapping[str, Any], _rows: int) -> Any:
        """See `Runner.batches`: rows of a cluster are answered where they are."""
        raise InputError.at(self.place, "is not read row by row", remedy="predict_table gives a DataFrame of answers")

    def lazily(self, statement: str) -> Any:
        """The DataFrame of a statement over the rows, which stand in it as a table called by the token; nothing is run yet."""
        text = statement.replace("{", "{{").replace("}", "}}").replace(f"`{self.token}`", "{rows}")
        return self.frame.sparkSession.sql(text, rows=self.frame)

    def snapshot(self) -> Any:
        """Spark's tables are what its files were when the DataFrame was made; it knows no transactions."""
        return nullcontext()

    def in_order(self) -> Any:
        """Rows have their order within each part of a DataFrame."""
        return nullcontext()

    def close(self) -> None:
        """The session is not ours to stop."""


def selected(query: Any, rows: Any) -> Any:
    """What a query selects from `rows`, as a DataFrame: by the steps of the query itself, so that no view has to be made of the rows."""
    from pyspark.sql import functions

    def said(part: Any) -> Any:
        return functions.expr(part.sql(dialect=SparkRunner.dialect))

    frame = _source(query.find(exp.From).this, rows)
    for join in query.args.get("joins") or ():
        other, on = _source(join.this, rows), join.args.get("on")
        frame = frame.crossJoin(other) if on is None else frame.join(other, said(on))
    if query.args.get("where"):
        frame = frame.where(said(query.args["where"].this))
    keys = [key.sql(dialect=SparkRunner.dialect) for key in query.args["group"].expressions] if query.args.get("group") else []  # fmt: skip
    named = [part for part in query.expressions if part.sql(dialect=SparkRunner.dialect) not in keys]
    if keys or any(part.find(exp.AggFunc) for part in named):
        frame = frame.groupBy(*map(functions.expr, keys)).agg(*map(said, named))
    elif not query.is_star:
        frame = frame.select(*map(said, query.expressions))
    return frame if query.args.get("limit") is None else frame.limit(int(query.args["limit"].expression.this))


def _source(part: Any, rows: Any) -> Any:
    """What stands behind FROM or JOIN: the rows themselves, or what another query selects from them."""
    return selected(part.this, rows).alias(part.alias) if isinstance(part, exp.Subquery) else rows


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
    runner = SparkRunner(frame)
    nothing = exp.select("*").from_(runner.source()).limit(0)
    types = {field.name: field.type for field in runner.fetch(nothing, {}).schema}
    return RemoteTable(runner, types, runner.place)
