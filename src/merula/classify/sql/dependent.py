"""What columns say that depend on others besides the class: looked up where all parents are known, messages along a tree where not.

A column whose parent is missing is summed over all that the parent may be: a message from each column tells its parent's levels how
probable what is known below them is (Pearl 1988, "Probabilistic reasoning in intelligent systems", §4.3, in logarithms).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from merula.classify.sql.lookups import looked_up
from merula.classify.sql.terms import Said, Task, scaled
from merula.core import Array
from merula.core.logspace import times as weighted
from merula.distributions.lookups import Lookup, level_axis
from merula.engines.dialects import (
    Expression,
    all_of,
    any_of,
    compare,
    exp_of,
    largest,
    listed,
    ln_of,
    log_sum_exp,
    matched,
    minus,
    number,
    plus,
    sqlglot,
    total,
    when,
    whole,
)
from merula.graphs.dependence.columns import DependentColumns
from merula.graphs.dependence.depths import DependentByDepth

MOST_MESSAGES = 600  # numbers that messages of a tree consist of
LACKING = "a column that others depend on is missing"
ENDLESS = float("-inf")


def dependent(part: DependentColumns, weights: Sequence[float], task: Task) -> list[Said]:
    """Every column given its parents: exact for trees; of others, rows that lack a parent have no answer."""
    if isinstance(part, DependentByDepth):
        return _by_depth(part, weights, task)
    tree = Tree(part, task)
    terms = [tree.term(j, weight) for j, weight in enumerate(weights)]
    alike = len(set(weights)) == 1
    if not any(part.parent_sets) or not alike or not tree.has_messages:
        tree.refuse_lacking()
        return terms
    shown = [Said(one.columns, one.parents, one.by_class, is_summed=False) for one in terms] if task.shows else []
    roots = [tree.message(j, None) for j, parents in enumerate(part.parent_sets) if not parents]
    sums = (total([root[c] for root in roots], task.dialect) for c in range(task.classes))
    whole_sum = tuple(scaled(weights[0], one, task.dialect) for one in sums)
    return [*shown, Said((), (), whole_sum, is_shown=False)]


def _by_depth(part: DependentByDepth, weights: Sequence[float], task: Task) -> list[Said]:
    """Columns whose further parents are weighted apart: one table for each where all parents are known."""
    tree, found, ends = Tree(part, task), [], np.cumsum([0, *(len(parents) + 1 for parents in part.parent_sets)])
    for j, name in enumerate(part.columns):
        own = weights[ends[j] : ends[j + 1]]
        table = sum((weighted(weight, part.step(j, depth)) for depth, weight in enumerate(own)), np.zeros_like(part.log_table[j]))  # fmt: skip
        found.append(Said((name,), part.parent_sets[j], tree.looked_up(j, table)))
    tree.refuse_lacking()
    return found


@dataclass(frozen=True, eq=False)
class Tree:
    """Columns that depend on others, as a statement reads them."""

    part: DependentColumns
    task: Task

    @cached_property
    def where(self) -> dict[str, int]:
        """The place of each column."""
        return {name: j for j, name in enumerate(self.part.columns)}

    @cached_property
    def children(self) -> list[list[int]]:
        """The columns that depend on each."""
        found: list[list[int]] = [[] for _ in self.part.columns]
        for j, parents in enumerate(self.part.parent_sets):
            for name in parents:
                found[self.where[name]].append(j)
        return found

    @property
    def has_messages(self) -> bool:
        """Whether each column has one parent at most, and messages are few enough to be written."""
        inner = sum(len(levels) for levels, below in zip(self.part.level_sets, self.children, strict=True) if below)
        return all(len(parents) < 2 for parents in self.part.parent_sets) and inner * self.task.classes <= MOST_MESSAGES

    # ------------------------------------------------------------------------------------------------ cells

    def code(self, j: int) -> Expression:
        """The level of a column, as a place among its levels but the one that being missing is."""
        return self.task.cells.code(self.part.columns[j], self.part.level_sets[j])

    def cells(self, j: int, above: bool = False) -> list[int]:
        """For each code where it stands in the column's own table, −1 for nowhere; as a parent, a level never met stands nowhere."""
        levels = self.part.level_sets[j]
        lost = levels.index(None) if None in levels else -1
        unseen = (-1 if above else len(levels)) if self.part.unseen == "smooth" else lost
        return level_axis("", levels, -1, unseen).cells.tolist()  # type: ignore[no-any-return]

    def is_code(self, j: int, codes: Sequence[int]) -> Expression:
        """Whether a column has one of these codes."""
        exp = sqlglot().exp
        if not codes:
            return exp.false()
        return any_of([compare("EQ", self.code(j), whole(code)) for code in codes])

    def has_no(self, j: int, above: bool) -> Expression:
        """Whether nothing is known of a column, of itself or as a parent."""
        return self.is_code(j, [code for code, cell in enumerate(self.cells(j, above)) if cell < 0])

    # ------------------------------------------------------------------------------------------------ complete rows

    def looked_up(self, j: int, table: Array) -> tuple[Expression, ...]:
        """What a table of a column says of rows that know its parents."""
        places = [*(self.where[name] for name in self.part.parent_sets[j]), j]
        axes = []
        for place in places:
            levels = self.part.level_sets[place]
            axis = level_axis(self.part.columns[place], levels, -1, self.cells(place, place != j)[-1])
            axes.append(axis)
        return looked_up(Lookup(tuple(axes), table), self.task)

    def term(self, j: int, weight: float) -> Said:
        """The term of one column given its parents; NULL where one of them is missing."""
        found = self.looked_up(j, weighted(weight, self.part.log_table[j]))
        if self.part.parent_sets[j] and self.task.shows:
            lacking, nothing = self._lacking(j), sqlglot().exp.Null()
            found = tuple(when([(lacking, nothing)], one) for one in found)
        return Said((self.part.columns[j],), self.part.parent_sets[j], found)

    def _lacking(self, j: int) -> Expression:
        """Whether a column is known and a parent of it is not."""
        parents = [self.has_no(self.where[name], above=True) for name in self.part.parent_sets[j]]
        known = sqlglot().exp.Not(this=sqlglot().exp.Paren(this=self.has_no(j, above=False)))
        return all_of([known, any_of(parents)])

    def refuse_lacking(self) -> None:
        """Leave rows that lack a parent without an answer."""
        for j, parents in enumerate(self.part.parent_sets):
            if parents:
                self.task.cells.script.problem(self._lacking(j), LACKING)

    # ------------------------------------------------------------------------------------------------ messages

    def message(self, j: int, level: int | None) -> tuple[Expression, ...]:
        """log P(all that is known of a column and below it), given a level of its parent; of a root, without one."""
        table = self.part.log_table[j] if level is None else self.part.log_table[j][level]
        own, cells = [], self.cells(j)
        for c in range(self.task.classes):
            logs = [float(table[cell, c]) if cell >= 0 else 0.0 for cell in cells]
            own.append(listed(logs, self.code(j), self.task.dialect))
        if not self.children[j]:
            return tuple(own)
        met = [code for code, cell in enumerate(cells) if 0 <= cell < len(table) - 1]
        found = []
        for c, log in enumerate(own):
            seen = plus(log, self._below(j, c))
            open_sum = plus(log, self._over_levels(j, c, table[:-1, c]))
            found.append(seen if len(met) == len(cells) else when([(self.is_code(j, met), seen)], open_sum))
        return tuple(found)

    def _at_level(self, j: int, level: int, c: int) -> Expression:
        """Σ of the messages of the columns below, given this level."""

        def made() -> Expression:
            return total([self.message(k, level)[c] for k in self.children[j]], self.task.dialect)

        return self.task.cells.script.let(("below", id(self.part), j, level, c), made)

    def _below(self, j: int, c: int) -> Expression:
        """The same, given the level that the row holds."""
        cells, count = self.cells(j), len(self.part.level_sets[j])
        cases = [(whole(code), self._at_level(j, cell, c)) for code, cell in enumerate(cells) if 0 <= cell < count]
        found = matched(self.code(j), cases, number(0.0, self.task.dialect))
        return self.task.cells.script.let(("met below", id(self.part), j, c), lambda: found)

    def _over_levels(self, j: int, c: int, logs: Array) -> Expression:
        """log Σ_level P(level) · P(what is known below given it)."""
        dialect, script = self.task.dialect, self.task.cells.script
        below = [self._at_level(j, level, c) for level in range(len(logs))]
        if not np.isfinite(logs).all():
            return log_sum_exp([plus(number(float(log), dialect), one) for log, one in zip(logs, below, strict=True)], dialect)  # fmt: skip
        peak = script.let(("peak below", id(self.part), j, c), lambda: largest(below, dialect))
        shares = [exp_of(plus(number(float(log), dialect), minus(one, peak)), dialect) for log, one in zip(logs, below, strict=True)]  # fmt: skip
        found = plus(peak, ln_of(total(shares, dialect)))
        return when([(compare("LT", peak, number(-1.7e308, dialect)), number(ENDLESS, dialect))], found)
