"""The whole statement: for every row of a table its keys, the most probable class, the posterior, the action, the terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from merula.classify.fitted import FittedModel
from merula.classify.sql.cells import Cells
from merula.classify.sql.names import Names, key_name, refuse_alike
from merula.classify.sql.script import Named, Script
from merula.classify.sql.shapes import IMPOSSIBLE, log_joint
from merula.classify.sql.terms import Said, Task
from merula.core import Array, InputError
from merula.data.schema import Label
from merula.data.table import plain_label
from merula.engines.dialects import (
    Dialect,
    Expression,
    compare,
    exp_of,
    is_known,
    label,
    largest,
    minus,
    number,
    over,
    printed,
    sqlglot,
    table_named,
    times,
    total,
    when,
)

KEYS = "keys"
COMMON = ("class", "action", "risk", "problem")  # what columns of tables are called too


@dataclass(frozen=True, eq=False)
class Actions:
    """What each action costs under each class, and what it costs to reject a row and how that is called, if it may be."""

    table: Array
    labels: tuple[Label, ...]
    reject_cost: float | None = None
    reject_label: Label = None


@dataclass(frozen=True, eq=False)
class Wish:
    """What is asked for: of which table, which columns besides, whether terms, and an action."""

    table: Any
    keys: Sequence[str] | None = None
    terms: bool = False
    actions: Actions | None = None


def scoring_statement(model: FittedModel, unseen: str, dialect: Dialect, wish: Wish) -> str:
    """The SELECT that scores the rows of a table."""
    source, keys = table_named(wish.table, dialect), _keys(model, wish.keys, dialect)
    used = {column.name for column in model.schema.columns if column.kind != "ignore"}
    refuse_alike(model.schema.names, used, dialect)
    script = Script(dialect, frozenset({*model.schema.names, *(keys or ())}))
    task = Task(Cells(script, model.schema, unseen), len(model.classes), wish.terms)
    joint, said = log_joint(model, task)
    task.cells.tell_problems()
    reason = script.let(("problem",), script.reason)
    star = (
        COMMON if keys is None else ()
    )  # what else the table has is not known: its own class must not hide the answer
    answers = _Answers(model, task, reason, Names.besides({*(keys or ()), *used, *star}, dialect))
    found = [*answers.posterior(joint), *answers.action(wish.actions), (answers.names.free("problem"), reason)]
    found += answers.terms(said) if wish.terms else []
    return printed(script.statement(source, keys, found), dialect)


def _keys(model: FittedModel, keys: Sequence[str] | None, dialect: Dialect) -> list[str] | None:
    """The columns passed through; None for all of the table, which some dialects cannot say beside other columns."""
    if keys is None:
        asked = [column.name for column in model.schema.columns if column.kind != "ignore"]
        return asked if dialect.star == "listed" else None
    if isinstance(keys, str):
        return [keys]
    found = list(keys)
    if not all(isinstance(key, str) for key in found) or len(set(found)) < len(found):
        raise InputError.of(KEYS, keys, "names of columns, each once")
    return found


@dataclass(frozen=True, eq=False)
class _Answers:
    """Answers of rows that have one, NULL for the others; and what they are called."""

    model: FittedModel
    task: Task
    reason: Expression
    names: Names

    @property
    def dialect(self) -> Dialect:
        return self.task.dialect

    def _let(self, key: Any, expression: Expression) -> Expression:
        return self.task.cells.script.let(key, lambda: expression)

    def _unless_problem(self, cases: Sequence[tuple[Expression, Expression]], otherwise: Expression) -> Expression:
        return when([(is_known(self.reason), sqlglot().exp.Null()), *cases], otherwise)

    def posterior(self, joint: Sequence[Expression]) -> list[Named]:
        """The most probable class, then P(class given row) of each: exp(log joint − peak), normalised; the prior where all is impossible."""
        dialect, prior = self.dialect, self.model.log_prior
        labels = [plain_label(one) for one in self.model.classes.tolist()]
        peak = self._let("peak", largest(joint, dialect))
        impossible = compare("LT", peak, number(IMPOSSIBLE, dialect))
        shares = []
        for c, one in enumerate(joint):
            below = self._let(("below peak", c), when([(impossible, number(float(prior[c]), dialect))], minus(one, peak)))  # fmt: skip
            shares.append(self._let(("weight", c), exp_of(below, dialect)))
        whole = self._let("evidence", total(shares, dialect))
        found = [self._let(("posterior", c), self._unless_problem([], over(share, whole))) for c, share in enumerate(shares)]  # fmt: skip
        own = [(compare("EQ", one, peak), label(name, dialect)) for one, name in zip(joint[:-1], labels[:-1], strict=True)]  # fmt: skip
        first = [(impossible, label(labels[int(np.argmax(prior))], dialect)), *own]
        chosen = self._unless_problem(first, label(labels[-1], dialect))
        named = [(self.names.free(f"P({name})"), one) for name, one in zip(labels, found, strict=True)]
        return [(self.names.free("class"), chosen), *named]

    def action(self, actions: Actions | None) -> list[Named]:
        """The action of least risk, the first of equals, and what it is expected to cost."""
        if actions is None:
            return []
        dialect, made = self.dialect, self.task.cells.script.made
        chances = [made["posterior", c] for c in range(self.task.classes)]
        saving = actions.table.max(axis=0) - actions.table
        saved = [self._let(("saved", a), self._expected(row, chances)) for a, row in enumerate(saving)]
        most = self._let("most saved", largest(saved, dialect))
        best = [compare("EQ", one, most) for one in saved[:-1]]
        risks = [self._let(("risk", a), self._expected(row, chances)) for a, row in enumerate(actions.table)]
        risk = self._let("risk", when(zip(best, risks[:-1], strict=True), risks[-1]) if best else risks[-1])
        named = [*actions.labels, *([actions.reject_label] if actions.reject_cost is not None else [])]
        if len({type(name) for name in named}) > 1:  # a column holds one type
            named = [str(name) for name in named]
        words = [label(name, dialect) for name in named[: len(actions.labels)]]
        cases = list(zip(best, words[:-1], strict=True))
        if actions.reject_cost is not None:
            limit = number(actions.reject_cost, dialect)
            beyond = compare("GT", risk, limit)
            cases.insert(0, (beyond, label(named[-1], dialect)))
            risk = self._let("paid", when([(beyond, limit)], risk))
        chosen = self._unless_problem(cases, words[-1])
        return [(self.names.free("action"), chosen), (self.names.free("risk"), risk)]

    def _expected(self, costs: Array, chances: Sequence[Expression]) -> Expression:
        return total([times(number(float(cost), self.dialect), one) for cost, one in zip(costs, chances, strict=True)], self.dialect)  # fmt: skip

    def terms(self, said: Sequence[Said]) -> list[Named]:
        """Each term and class, by what it is of."""
        gathered: dict[Any, list[Said]] = {}
        for one in said:
            if one.is_shown:
                gathered.setdefault(one.key, []).append(one)
        labels = [plain_label(one) for one in self.model.classes.tolist()]
        found = []
        for key, some in gathered.items():
            for c, name in enumerate(labels):
                term = total([one.by_class[c] for one in some], self.dialect)
                called = self.names.free(f"log P({key_name(key)} | {name})")
                found.append((called, self._unless_problem([], term)))
        return found
