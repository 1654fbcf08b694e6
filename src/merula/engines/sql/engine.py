"""The engine of rows that stay in a database or on a cluster: see `merula.engines.Engine`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from merula.core import InputError, Note
from merula.core.notes import mention
from merula.core.threads import thread_count
from merula.data.encode import infer_schema
from merula.data.schema import Schema
from merula.data.table import open_table
from merula.engines.base import Source
from merula.engines.sql.answers import answered
from merula.engines.sql.expressions import check_readable, holds_words
from merula.engines.sql.needs import Answers, Sums, needs_of
from merula.engines.sql.reading import COUNT, Reading, numbers_of
from merula.engines.sql.remote import RemoteTable, TooWideError
from merula.engines.sql.statements import grouped, projected, spread_rows
from merula.engines.sql.statistics import counted
from merula.stats import ClassCounts, Collected, Wanted

LOOKED_AT = 10_000  # rows of words that say what kind of column they are


def describe(
    source: Source, kinds: Any, levels: Any, more_to_come: bool, n_jobs: int | None
) -> tuple[Schema, tuple[Note, ...]]:
    """See `Engine.describe`: types tell what numbers and times are; of words, the first rows are looked at."""
    import pyarrow as pa

    table: RemoteTable = source.table
    names = [name for name in table.names if name not in (source.target, source.weight)]
    given = kinds if isinstance(kinds, dict) else dict.fromkeys(names, kinds)
    for name in names:
        if given.get(name) != "ignore":
            check_readable(name, table.type_of(name))
    words = [name for name in names if holds_words(table.type_of(name))]
    with table.runner.snapshot():
        some = _first(table, words) if words else None
    if some is not None:
        mention(f"the first {some.num_rows:,} rows of {table.place} were looked at to tell what its words are")
    rows = some.num_rows if some is not None and some.num_rows else 1
    held = {name: some[name] if name in words and some is not None and some.num_rows else pa.nulls(rows, _plain(table.types[name])) for name in names}  # fmt: skip
    return infer_schema(open_table(pa.table(held)), kinds, levels, more_to_come, thread_count(n_jobs))


def _plain(kind: Any) -> Any:
    """A type of which a column without cells can be made; what cannot be read is ignored."""
    import pyarrow as pa

    try:
        pa.nulls(1, kind)
        check_readable("", kind)
    except (ValueError, pa.ArrowException):
        return pa.string()
    return kind


def collect(source: Source, schema: Schema, wanted: Sequence[Wanted], n_jobs: int | None) -> Collected:
    """See `Engine.collect`: the database adds; groups and sums come back."""
    thread_count(n_jobs)
    table: RemoteTable = source.table
    begun = [(one, one.zero(1)) for one in wanted]
    needs = [need for one, statistic in begun for need in needs_of(statistic, one)]
    reading = Reading(table, schema, source.target, source.weight)
    try:
        with table.runner.snapshot():
            found = answered(reading, needs)
    except TooWideError:
        raise InputError.at(table.place, "holds numbers so large that their squares are no numbers", remedy="rescale the column, or leave it out") from None  # fmt: skip
    classes, weight = found.classes, ClassCounts(found.weight)
    answers: Answers = {**found.answers, Sums(()): weight}
    return Collected(classes, weight, tuple(counted(one.zero(len(classes)), answers) for one in wanted))


def sample(source: Source, rows: int) -> Any:
    """At most so many rows with all columns, as a pyarrow table: spread evenly over the table, always the same ones."""
    table: RemoteTable = source.table
    names = [name for name in table.names if name in (source.target, source.weight) or _is_readable(table, name)]
    with table.runner.snapshot():
        return _spread(table, names, rows)


def _is_readable(table: RemoteTable, name: str) -> bool:
    try:
        check_readable(name, table.types[name])
    except ValueError:
        return False
    return True


def _first(table: RemoteTable, names: Sequence[str]) -> Any:
    """The first rows, which do not take a pass over all."""
    listed = [exp.column(name, quoted=True) for name in names]
    with table.runner.in_order():
        return table.fetch(exp.select(*listed).from_(table.runner.source()).limit(LOOKED_AT), table.types)


def _spread(table: RemoteTable, names: Sequence[str], rows: int) -> Any:
    """Rows spread evenly over the table, never more than `rows`."""
    runner = table.runner
    count = grouped(projected(runner.source(), {"one": exp.Literal.number(1)}), [], {COUNT: exp.Count(this=exp.Star())})
    total = int(numbers_of(table.fetch(count, {}), COUNT)[0])
    with runner.in_order():
        return table.fetch(spread_rows(runner.source(), names, rows, total, runner.dialect), table.types)
