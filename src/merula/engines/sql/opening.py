"""Whatever names rows that stay where they are → the table of it: a DuckDB relation, connections, a Spark DataFrame, URLs."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from merula.core import InputError
from merula.engines.sql.remote import RemoteTable

OTHERS = ("sqlite", "mysql", "mariadb", "mssql", "oracle", "snowflake", "bigquery", "redshift")  # that people try
OURS = ("table", "schema", "query")  # the parts of a URL behind its ? that are not the database's
NEEDED = {
    "sqlglot": "queries are written by sqlglot, which is not installed: pip install 'merula[sql]'",
    "duckdb": "DuckDB is read by the package duckdb, which is not installed: pip install 'merula[duckdb,sql]'",
    "psycopg": "PostgreSQL is read by psycopg, which is not installed: pip install 'merula[postgres]'",
    "pyspark": "Spark is reached by pyspark, which is not installed: pip install 'merula[spark]'",
}


def open_remote(
    source: Any, table: str | None = None, query: str | None = None, schema: str | None = None
) -> RemoteTable | None:
    """The table whose rows stay where they are, as `source` names it; None where it names none such.

    Parameters
    ----------
    source
        A DuckDB relation or connection, a psycopg connection, a Spark DataFrame; or a URL: ``duckdb:///shop.db?table=orders``
        (``duckdb:////data/shop.db`` from the root), ``postgresql://user@host/shop?table=orders&schema=sales``, each with a
        ``query`` instead of a ``table`` if wanted.
    table, query, schema
        What of a database is meant, where the source does not say.

    Examples
    --------
    >>> import duckdb
    >>> open_remote(duckdb.connect().sql("SELECT 3 AS pieces")).names
    ('pieces',)
    >>> open_remote("birds.csv") is None
    True
    """
    try:
        return _opened(source, {"table": table, "query": query, "schema": schema})
    except ModuleNotFoundError as error:
        raise ImportError(NEEDED.get((error.name or "").partition(".")[0], str(error))) from error


def _opened(source: Any, said: dict[str, str | None]) -> RemoteTable | None:
    if isinstance(source, str):
        return _from_url(source, said)
    kind, library = type(source).__name__, type(source).__module__.partition(".")[0]
    if library in ("duckdb", "_duckdb") and kind in ("DuckDBPyRelation", "DuckDBPyConnection"):
        from merula.engines.sql.duck import duckdb_table

        return duckdb_table(source, **said)
    if library == "psycopg" and hasattr(source, "cursor"):
        from merula.engines.sql.postgres import postgres_table

        return postgres_table(source, **said)
    if library == "pyspark" and kind == "DataFrame":
        from merula.engines.sql.spark import spark_table

        return spark_table(source)
    return None


def _from_url(url: str, said: dict[str, str | None]) -> RemoteTable | None:
    """The table that a URL names; None where it is no URL of a database."""
    scheme = url.partition("://")[0].lower() if "://" in url else ""
    if scheme in OTHERS:
        raise InputError.at("the URL", f"is of {scheme}", got=url, expected="duckdb:///shop.db?table=orders or postgresql://user@host/shop?table=orders", remedy="read the rows by its own driver and give batches")  # fmt: skip
    if scheme not in ("duckdb", "postgresql", "postgres"):
        return None
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise InputError.at("the URL", f"cannot be read ({error})", got=url) from None
    given = parse_qsl(parts.query, keep_blank_values=True)
    said = {
        **{name: value for name, value in given if name in OURS},
        **{n: v for n, v in said.items() if v is not None},
    }
    if scheme != "duckdb":
        from merula.engines.sql.postgres import postgres_table

        rest = urlencode([pair for pair in given if pair[0] not in OURS], quote_via=quote)
        return postgres_table(url.partition("?")[0] + (f"?{rest}" if rest else ""), **said)
    strange = [name for name, _ in given if name not in OURS]
    if strange or parts.netloc:
        what = f"says {strange[0]!r}" if strange else f"names a host, {parts.netloc!r}"
        raise InputError.at("the URL", what, got=url, expected="duckdb:///shop.db?table=orders")
    from merula.engines.sql.duck import duckdb_table

    return duckdb_table(unquote(parts.path.removeprefix("/")), **said)
