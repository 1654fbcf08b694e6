"""PostgreSQL: a connection or a URL, and a table or query; rows are read in one read-only transaction that sees the same rows throughout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar
from uuid import uuid4

from sqlglot import exp

from merula.core import InputError
from merula.engines.sql.remote import RemoteTable, TooWideError, lost, refused
from merula.engines.sql.statements import read_query, table_named

STRINGS = {18, 19, 25, 1042, 1043, 2950}  # "char", name, text, character, character varying, uuid
SAME_ROWS = "ISOLATION LEVEL REPEATABLE READ, READ ONLY"


@dataclass(frozen=True, eq=False)
class PostgresRunner:
    """Runs queries over a table or query by a psycopg connection."""

    connection: Any
    rows: Any
    place: str
    owned: bool = False
    depth: list[int] = field(default_factory=list)
    dialect: ClassVar[str] = "postgres"

    def source(self) -> Any:
        """See `Runner.source`."""
        return self.rows.copy()

    def fetch(self, query: Any, types: Mapping[str, Any]) -> Any:
        """See `Runner.fetch`."""
        import pyarrow as pa

        cursor = self._execute(query.sql(dialect=self.dialect))
        names = [column.name for column in cursor.description]
        cells = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(names)
        arrays = [_array(part, types.get(name)) for name, part in zip(names, cells, strict=True)]
        return pa.table(dict(zip(names, arrays, strict=True)))

    def batches(self, query: Any, types: Mapping[str, Any], rows: int) -> Iterator[Any]:
        """See `Runner.batches`: by a cursor of the server, so that no more rows come than are asked for."""
        import psycopg
        import pyarrow as pa

        try:
            with self.snapshot(), self.connection.cursor(name=f"merula_{uuid4().hex}") as cursor:
                cursor.execute(query.sql(dialect=self.dialect))
                names = [column.name for column in cursor.description]
                while found := cursor.fetchmany(rows):
                    cells = zip(*found, strict=True)
                    yield pa.table({name: _array(part, types.get(name)) for name, part in zip(names, cells, strict=True)})  # fmt: skip
        except psycopg.Error as error:
            raise (lost if self.connection.closed else refused)(self.place, error) from error

    def described(self) -> list[Any]:
        """The columns of the table, as psycopg describes them."""
        return list(self._execute(exp.select("*").from_(self.source()).limit(0).sql(dialect=self.dialect)).description)

    def enumerations(self, types: list[int]) -> set[int]:
        """Which of these types, by number, are enumerations."""
        listed = exp.In(this=exp.column("oid"), expressions=[exp.Literal.number(number) for number in types])
        found = exp.select("oid").from_("pg_type").where(exp.EQ(this=exp.column("typtype"), expression=exp.Literal.string("e")))  # fmt: skip
        found = found.where(listed)
        return {row[0] for row in self._execute(found.sql(dialect=self.dialect)).fetchall()} if types else set()

    def _execute(self, text: str) -> Any:
        import psycopg

        try:
            with self._undone():
                return self.connection.cursor().execute(text, prepare=False)
        except psycopg.errors.NumericValueOutOfRange as error:
            raise TooWideError(str(error)) from error
        except psycopg.Error as error:
            raise (lost if self.connection.closed else refused)(self.place, error) from error

    @contextmanager
    def _undone(self) -> Iterator[None]:
        """A query that fails within a transaction does not end it."""
        if self.connection.info.transaction_status != self._statuses().INTRANS:
            yield
            return
        self.connection.execute("SAVEPOINT merula")
        try:
            yield
        except Exception:
            with suppress(Exception):  # the connection may be gone
                self.connection.execute("ROLLBACK TO SAVEPOINT merula")
            raise
        self.connection.execute("RELEASE SAVEPOINT merula")

    @staticmethod
    def _statuses() -> Any:
        from psycopg.pq import TransactionStatus

        return TransactionStatus

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """See `Runner.snapshot`; who is in a transaction already stays in it, with its own isolation."""
        statuses = self._statuses()
        if self.depth or self.connection.info.transaction_status not in (statuses.IDLE, statuses.UNKNOWN):
            yield
            return
        self.depth.append(1)
        try:
            self._execute(f"{'BEGIN' if self.connection.autocommit else 'SET TRANSACTION'} {SAME_ROWS}")
            yield
        finally:
            self.depth.pop()
            with suppress(Exception):  # the connection may be gone
                self.connection.rollback()

    @contextmanager
    def in_order(self) -> Iterator[None]:
        """While it is open, rows come in the order in which they lie, each time the same."""
        settings = {"synchronize_seqscans": "off", "max_parallel_workers_per_gather": "0"}
        before = {name: self._execute(f"SHOW {name}").fetchone()[0] for name in settings}
        for name, value in settings.items():
            self._execute(f"SET LOCAL {name} = {value}")
        yield
        for name, value in before.items():
            self._execute(f"SET LOCAL {name} = {value}")

    def close(self) -> None:
        """Close the connection if it was opened for this table."""
        if self.owned:
            self.connection.close()


def postgres_table(source: Any, table: str | None = None, *, query: str | None = None, schema: str | None = None) -> RemoteTable:  # fmt: skip
    """A table of PostgreSQL, of which no row is read yet.

    Parameters
    ----------
    source : psycopg.Connection or str
        A connection, or a URL such as ``postgresql://user@host/shop``, whose connection is closed with ``table.runner.close()``.
        Rows are read in a transaction that is read only and sees the same rows throughout; who is in a transaction already stays in
        it, with its own isolation.
    table, schema : str
        The name of the table or view, and of its schema where it is not on the search path.
    query : str
        A SELECT instead of a table.

    Examples
    --------
    >>> postgres_table("postgresql://localhost/shop")
    Traceback (most recent call last):
        ...
    merula.core.errors.InputError: source is a PostgreSQL database; name one table=, or give one query=
    """
    if (table is None) == (query is None):
        raise InputError.at("source", "is a PostgreSQL database", remedy="name one table=, or give one query=")
    rows = table_named(table, schema) if table is not None else read_query(str(query), "postgres")
    place = f"the PostgreSQL table {table!r}" if table is not None else "the PostgreSQL query"
    connection = _connected(source) if isinstance(source, str) else source
    if not hasattr(connection, "cursor") or not hasattr(connection, "info"):
        raise InputError.of("source", source, "a psycopg connection, or a URL such as 'postgresql://user@host/shop'")
    runner = PostgresRunner(connection, rows, place, isinstance(source, str))
    with runner.snapshot():
        described = runner.described()
        enumerations = runner.enumerations(sorted({one.type_code for one in described if one.type_code >= 16_384}))
    types = {one.name: _type(one, enumerations) for one in described}
    return RemoteTable(runner, types, place)


def _connected(url: str) -> Any:
    import psycopg

    try:
        return psycopg.connect(url, autocommit=True)
    except psycopg.Error as error:
        raise InputError.at("the PostgreSQL database", f"cannot be reached ({str(error).splitlines()[0]})", remedy="see its URL") from error  # fmt: skip


def _type(described: Any, enumerations: set[int]) -> Any:
    """The type of a column, as pyarrow calls it; what is read as nothing else is told as PostgreSQL's own number."""
    import pyarrow as pa

    code = described.type_code
    plain = {16: pa.bool_(), 20: pa.int64(), 21: pa.int16(), 23: pa.int32(), 26: pa.int64(), 700: pa.float32(), 701: pa.float64(), 1082: pa.date32(), 1114: pa.timestamp("us"), 1184: pa.timestamp("us", tz="UTC")}  # fmt: skip
    if code in STRINGS or code in enumerations:
        return pa.string()
    if code == 1700:  # numeric
        fixed = described.precision is not None and 0 < described.precision <= 38
        return pa.decimal128(described.precision, max(described.scale or 0, 0)) if fixed else pa.float64()
    return plain.get(code, pa.binary())


def _array(cells: Any, kind: Any) -> Any:
    """One column of answers; words of types that psycopg makes objects of, such as UUID, as words."""
    import pyarrow as pa

    if kind is not None and pa.types.is_string(kind):
        cells = [None if cell is None else str(cell) for cell in cells]
    if kind is not None and pa.types.is_floating(kind):
        cells = [None if cell is None else float(cell) for cell in cells]
    if kind is not None and pa.types.is_decimal(kind):
        cells = [None if cell is None or cell.is_nan() else cell for cell in cells]
    return pa.array(cells, type=kind)
