"""Intermediate columns by name, each computed from those before it, and the stages in which a statement computes them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from merula.core import InputError
from merula.engines.dialects import Dialect, Expression, any_of, column, identifier, sqlglot, text, when

Named = tuple[str, Expression]


@dataclass(frozen=True, eq=False)
class Join:
    """A relation that the stage of a `level` is joined with: common table expressions made from the stage before, the last one named ``alias``.

    Rows meet where ``own``, a column of the stage before, equals ``other`` of the relation; those that meet none stay.
    """

    level: int
    alias: str
    own: str
    other: str
    relations: Callable[[str], list[Named]]
    reads: tuple[Expression, ...] = ()  # what relations take of the stage before


@dataclass(eq=False)
class Script:
    """The columns of a statement that is being written, by the level at which each can be computed."""

    dialect: Dialect
    taken: frozenset[str]  # names that columns of the table may have
    lines: dict[str, tuple[int, Expression]] = field(default_factory=dict)
    joins: list[Join] = field(default_factory=list)
    problems: list[tuple[Expression, str]] = field(default_factory=list)
    made: dict[Any, Expression] = field(default_factory=dict)

    @cached_property
    def prefix(self) -> str:
        """What names of intermediate columns begin with: no column of the model does, and hardly one of any table, which may have others."""
        found = f"~{hashlib.sha256(repr(sorted(self.taken)).encode()).hexdigest()[:6]} "
        while any(name.startswith(found) for name in self.taken):
            found = f"~{found}"
        return found

    @property
    def record(self) -> str:
        """What the table is called in a statement, and a whole row of it."""
        return f"{self.prefix}row"

    def let(self, key: Any, make: Callable[[], Expression], least: int = 1) -> Expression:
        """The column that holds what `make` gives, written once for every `key`; computed at the `least` level or later."""
        if key not in self.made:
            expression = make()
            name = f"{self.prefix}{len(self.lines)}"
            self.lines[name] = max(least, self.level_of(expression)), expression
            self.made[key] = column(name)
        return self.made[key]

    def level_of(self, expression: Expression) -> int:
        """The first level at which all that an expression refers to is there."""
        of_joins, found = {join.alias: join.level for join in self.joins}, 1
        for one in expression.find_all(sqlglot().exp.Column):
            if one.table in of_joins:
                found = max(found, of_joins[one.table])
            elif one.name in self.lines:
                found = max(found, self.lines[one.name][0] + 1)
        return found

    def join(
        self,
        alias: str,
        own: Expression,
        other: str,
        relations: Callable[[str], list[Named]],
        reads: Sequence[Expression] = (),
    ) -> None:
        """Join a relation to rows, once the column `own` is there and all that the relation reads."""
        level = max(self.level_of(one) for one in (own, *reads))
        self.joins.append(Join(level, alias, own.name, other, relations, tuple(reads)))

    def problem(self, condition: Expression, reason: str) -> None:
        """Leave rows without an answer where the condition holds, and tell the reason."""
        self.problems.append((condition, reason))

    def reason(self) -> Expression:
        """Why a row has no answer; NULL where it has one."""
        exp = sqlglot().exp
        gathered: dict[str, list[Expression]] = {}
        for condition, reason in self.problems:
            gathered.setdefault(reason, []).append(condition)
        if not gathered:
            return exp.cast(exp.Null(), "text")
        return when((any_of(some), text(reason, self.dialect)) for reason, some in gathered.items())

    # ------------------------------------------------------------------------------------------------ the statement

    def statement(self, source: Expression, keys: Sequence[str] | None, answers: Sequence[Named]) -> Expression:
        """SELECT keys, answers: one stage after the other; without keys, all columns of the table where the dialect can say so."""
        layout = _Layout(self, keys, [expression for _, expression in answers])
        last = max([level for level, _ in self.lines.values()], default=0)
        query, stage = None, None
        relations: list[Named] = []
        for level in range(1, last + 1):
            name = f"{self.prefix}stage {level}"
            for join in self.joins:
                if join.level == level and stage is not None:
                    relations += join.relations(stage)
            relations.append((name, layout.stage(level, source, stage)))
            stage = name
        query = layout.final(source, stage, answers)
        # rows that are numbered must be numbered once
        once = self.dialect.keeps or (self.dialect.name == "duckdb" and any(join.reads for join in self.joins))
        for name, select in relations:
            query = query.with_(identifier(name), as_=select, materialized=once or None, copy=False)
        return query


class _Layout:
    """Which columns each stage of a script passes on."""

    def __init__(self, script: Script, keys: Sequence[str] | None, answers: Sequence[Expression]) -> None:
        self.script, self.dialect = script, script.dialect
        self.whole = keys is None
        self.keys = list(keys or ())
        self.record = script.record
        self.last_use = self._last_uses(answers)

    def _last_uses(self, answers: Sequence[Expression]) -> dict[str, float]:
        """The last level at which each intermediate column is read."""
        exp, found = sqlglot().exp, dict[str, float]()
        for level, expression in [*self.script.lines.values(), *((float("inf"), one) for one in answers)]:
            for one in expression.find_all(exp.Column):
                if one.name in self.script.lines:
                    found[one.name] = max(found.get(one.name, 0), level)
        for join in self.script.joins:
            for one in (column(join.own), *(read for part in join.reads for read in part.find_all(exp.Column))):
                found[one.name] = max(found.get(one.name, 0), join.level)
        return found

    def stage(self, level: int, source: Expression, before: str | None) -> Expression:
        exp = sqlglot().exp
        new = [
            exp.Alias(this=one, alias=identifier(name)) for name, (at, one) in self.script.lines.items() if at == level
        ]
        passed = self._passed(level, before)
        self._refuse_width(len(passed) + len(new))
        start = before or self.record
        select = exp.Select(expressions=[*passed, *new]).from_(_aliased(source, start) if before is None else exp.Table(this=identifier(before)), copy=False)  # fmt: skip
        for join in self.script.joins:
            if join.level == level:
                on = exp.EQ(this=column(join.own, start), expression=column(join.other, join.alias))
                select = select.join(exp.Table(this=identifier(join.alias)), on=on, join_type="left", copy=False)
        return select

    def _passed(self, level: int, before: str | None) -> list[Expression]:
        """What a stage passes on of the one before: all, or the keys and what is still read."""
        exp, start = sqlglot().exp, before or self.record
        if self.whole and self.dialect.star == "except":
            return [exp.Column(this=exp.Star(), table=identifier(start))]
        kept = [column(name, start) for name, (at, _) in self.script.lines.items() if at < level <= self.last_use.get(name, 0) - (self.last_use.get(name, 0) == level)]  # fmt: skip
        if self.whole and self.dialect.star == "record":
            row = column(self.record) if before is None else column(self.record, start)
            return [exp.Alias(this=row, alias=identifier(self.record)), *kept]
        return [*self._own(start), *kept]

    def _own(self, start: str) -> list[Expression]:
        """The keys for the next stage, under names of ours: SQLite would not know a column called true in a stage."""
        exp = sqlglot().exp
        if start != self.record:
            return [column(self._key(k), start) for k in range(len(self.keys))]
        return [exp.Alias(this=column(name, start), alias=identifier(self._key(k))) for k, name in enumerate(self.keys)]

    def _key(self, k: int) -> str:
        return f"{self.script.prefix}key {k}"

    def _named(self, stage: str | None) -> list[Expression]:
        """The keys under their own names."""
        exp = sqlglot().exp
        held = [column(self._key(k), stage) if stage else column(name, self.record) for k, name in enumerate(self.keys)]
        return [exp.Alias(this=one, alias=identifier(name)) for one, name in zip(held, self.keys, strict=True)]

    def final(self, source: Expression, stage: str | None, answers: Sequence[Named]) -> Expression:
        exp = sqlglot().exp
        start = stage or self.record
        told = [exp.Alias(this=one, alias=identifier(name)) for name, one in answers]
        self._refuse_width(len(self.keys) + len(told))
        if not self.whole:
            keys: list[Expression] = self._named(stage)
        elif self.dialect.star == "record":
            keys = [exp.Dot(this=exp.Paren(this=column(self.record)), expression=exp.Star())] if stage else [exp.Star()]
        else:
            hidden = [identifier(name) for name in self.script.lines]
            keys = [exp.Star(except_=hidden) if hidden else exp.Star()]
        table = exp.Table(this=identifier(stage)) if stage else _aliased(source, start)
        return exp.Select(expressions=[*keys, *told]).from_(table, copy=False)

    def _refuse_width(self, count: int) -> None:
        widest = self.dialect.widest
        if widest is not None and count > widest:
            raise InputError.at(
                "the statement",
                f"would have {count:,} columns at once, and {self.dialect.name} allows {widest:,}",
                remedy="name fewer keys, leave terms out, or fit a model of fewer columns",
            )


def _aliased(source: Expression, name: str) -> Expression:
    """The table under another name."""
    exp = sqlglot().exp
    copy = source.copy()
    copy.set("alias", exp.TableAlias(this=identifier(name)))
    return copy
