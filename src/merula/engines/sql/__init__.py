"""Rows that stay where they are: in a database, or on a cluster. Statistics are added there; groups and sums come back.

`engine` is what `merula.engines` calls; `duckdb_table`, `postgres_table` and `spark_table` open what it reads.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "RemoteTable": "remote",
    "duckdb_table": "duck",
    "open_remote": "opening",
    "postgres_table": "postgres",
    "spark_table": "spark",
}

__all__ = ["RemoteTable", "duckdb_table", "open_remote", "postgres_table", "spark_table"]


def __getattr__(name: str) -> Any:
    """What opens a table is loaded, with sqlglot, when it is first asked for."""
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
