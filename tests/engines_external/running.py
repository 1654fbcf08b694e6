"""Statements that score the table ``patients`` run in PostgreSQL and in Spark, as `in_duckdb` and `in_sqlite` do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from tests.classify.sql.scored import quoted

Run = Callable[[str, pd.DataFrame], pd.DataFrame]
TYPES = {"id": "bigint", "ok": "boolean", "when": "timestamp"}


def in_postgres(connection: Any) -> Run:
    """What a statement gives of rows, over a connection; nothing is left behind."""

    def run(statement: str, rows: pd.DataFrame) -> pd.DataFrame:
        types = {name: TYPES.get(name, "double precision" if rows[name].dtype.kind == "f" else "text") for name in rows}
        with connection.cursor() as cursor:
            cursor.execute("drop table if exists patients")
            cursor.execute(f"create table patients ({', '.join(f'{quoted(name)} {kind}' for name, kind in types.items())})")  # fmt: skip
            with cursor.copy("copy patients from stdin") as copy:
                for k, row in enumerate(rows.itertuples(index=False)):
                    copy.write_row([_cell_of_postgres(cell, k) for cell in row])
            cursor.execute(statement)
            names = [one.name for one in cursor.description]
            found = pd.DataFrame(cursor.fetchall(), columns=names)
        connection.rollback()
        return found

    return run


def _cell_of_postgres(cell: Any, k: int) -> Any:
    """A cell as PostgreSQL takes it: what is missing among numbers is NULL in one row and NaN in the next."""
    if isinstance(cell, float) and np.isnan(cell):
        return cell if k % 2 else None
    return bool(cell) if isinstance(cell, np.bool_) else None if cell is pd.NaT else cell


def in_spark(spark: Any) -> Run:
    """What a statement gives of rows, in a session."""
    from pyspark.sql import types

    def kind(name: str, column: Any) -> Any:
        if name in ("id", "ok"):
            return types.LongType() if name == "id" else types.BooleanType()
        if column.dtype.kind == "M":
            return types.TimestampType()
        return types.DoubleType() if column.dtype.kind == "f" else types.StringType()

    def run(statement: str, rows: pd.DataFrame) -> pd.DataFrame:
        fields = [types.StructField(name, kind(name, rows[name])) for name in rows.columns]
        cells = [[_cell_of_spark(cell) for cell in row] for row in rows.itertuples(index=False)]
        spark.createDataFrame(cells, types.StructType(fields)).createOrReplaceTempView("patients")
        found = spark.sql(statement)
        return pd.DataFrame([tuple(row) for row in found.collect()], columns=found.columns)

    return run


def _cell_of_spark(cell: Any) -> Any:
    if isinstance(cell, pd.Timestamp) or cell is pd.NaT:
        return None if cell is pd.NaT else cell.to_pydatetime()
    return cell.item() if isinstance(cell, np.generic) else cell
