"""Exact answers about a product of tables, by messages in a junction tree.

A question goes through four stages. First the factors are multiplied into the tables of the cliques, each into the smallest
clique that holds its variables (`fill`), and the likelihood of every known variable into that variable's clique
(`_entered`). From then on the product of all clique tables is the joint distribution with the evidence in it.

Then messages are collected (`_collect`): from the leaves to the roots, every clique sums its table over what its parent does not
have, and the parent multiplies these sums in. A root then holds the sum over everything else, so that its own sum is the
probability of the evidence. The product of all factors need not sum to 1: what it sums to is that probability. Each message is
brought to sum 1 before it is sent, and the logarithms of what was divided out add up to the log evidence.

A question about variables that share the root ends here. For all posteriors, messages are then distributed (`_distribute`): from the
roots to the leaves, every clique is multiplied by what its parent now says about the variables they share, divided by the message
the clique itself had sent. Every table is then the posterior of its clique, and a variable's posterior is read from its home.

Plain probabilities are fast but vanish where the log evidence falls below −600. Such questions are asked again with
logarithms, where a sum is a log-sum-exp. The most probable explanation takes the largest entry instead of the sum on the way
to the roots, and on the way back chooses each clique's best levels given those its parent has chosen.

Rows of a table are many questions with the same tree. They go through the loops of `_row_kernels` in blocks of rows, several
threads at a time, and their expected counts are added in the order of the blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.logspace import safe_log
from merula.core.threads import for_each_block
from merula.graphs.factors import _kernels as kernels, _log_kernels as log_kernels, _row_kernels as row_kernels
from merula.graphs.factors.errors import TooWideError
from merula.graphs.factors.junction_tree import JunctionTree, Views, build_tree

Integers = NDArray[np.int64]
Codes = NDArray[Any]  # one row of levels for each row, −1 for unknown; columns of int32 are read without a copy
Likelihoods = Mapping[int, Array]
NOTHING: Likelihoods = {}
LOW = -600.0  # the log evidence below which some state may have vanished from plain probabilities
ROWS = 2_048  # rows asked about at once: few enough that no thread waits long for the last
ENTRIES = 2**22  # entries of row factors at once
BLOCK = 16_384  # rows whose expected counts are added as one, whatever the number of threads


@dataclass(frozen=True, eq=False)
class Filled:
    """Fresh tables, and their logarithms: for factors whose product is beyond the range of floats."""

    plain: Callable[[], Array]
    logarithms: Callable[[], Array]


@dataclass(frozen=True, eq=False)
class RowFactors:
    """Further factors that differ from row to row, over the last `count` scopes of a tree.

    ``logs(part)`` gives, for a slice of the rows, the logarithms of these factors (a row for each row, one factor behind the
    other, each with its largest entry that agrees with the row at 0), and what was taken off them.
    """

    count: int
    width: int
    logs: Callable[[slice], tuple[Array, Array]]


NO_FACTORS = RowFactors(0, 0, lambda _: (np.empty((0, 0)), np.empty(0)))


@dataclass(frozen=True, eq=False)
class _Collected:
    """What a pass towards the roots left; tables and messages are logarithms where probabilities would have vanished."""

    log: float
    tables: Array
    messages: Array
    scales: Array
    logarithms: bool


class Propagation:
    """A junction tree of tables over some scopes, laid out for the compiled loops; `together` are asked for jointly.

    Nothing is allocated when the tables would have more than `limit` entries: that is a `TooWideError`. Tables are made by
    `fill`; a question uses them up, so it is given a function that makes fresh ones.
    """

    def __init__(
        self,
        cards: Sequence[int],
        scopes: Sequence[Sequence[int]],
        together: Sequence[int] = (),
        limit: float = np.inf,
    ) -> None:
        moving = [[v for v in scope if cards[v] > 1] for scope in (*scopes, together)]  # one level: nothing to sum
        self.tree: JunctionTree = build_tree(cards, moving[:-1], moving[-1], limit)
        if self.tree.entries > limit:
            raise TooWideError(self.tree.entries, limit)
        self.scopes = tuple(tuple(scope) for scope in scopes)
        self.together, self._asked = tuple(together), moving.pop()
        self._lay_out(moving)

    def _lay_out(self, scopes: Sequence[Sequence[int]]) -> None:
        tree, views = self.tree, Views()
        starts = np.concatenate(([0], np.cumsum(tree.sizes, dtype=np.int64)))
        self.cliques, self.room = np.zeros((len(tree.cliques), 7), np.int64), 0
        for k, clique in enumerate(tree.cliques):
            separator, parent = clique[: tree.separators[k]], tree.parents[k]
            width = tree.size(separator)
            mine = views.add(tree.shape(k), tree.strides(k, separator))
            theirs = views.add(tree.shape(parent), tree.strides(parent, separator)) if parent >= 0 else -1
            self.cliques[k] = starts[k], tree.sizes[k], parent, self.room, width, mine, theirs
            self.room += width
        self.homes = [tree.home(scope) for scope in scopes]
        self._scope_views = [
            views.add(tree.shape(k), tree.strides(k, scope)) for k, scope in zip(self.homes, scopes, strict=True)
        ]
        self.views = np.array(views.flat, np.int64)
        self._lay_out_variables(starts)
        self._lay_out_members()

    def _lay_out_variables(self, starts: Integers) -> None:
        """Where each variable is entered and read: its smallest clique, and how far its levels lie apart there."""
        tree, root = self.tree, len(self.tree.cliques) - 1
        self.entries = np.zeros((len(tree.cards), 6), np.int64)
        self.indices = np.concatenate(([0], np.cumsum(tree.cards, dtype=np.int64)))
        for v, card in enumerate(tree.cards):
            k = root if v in self._asked else tree.home((v,))
            after = tree.cliques[k][tree.cliques[k].index(v) + 1 :]
            self.entries[v] = starts[k], tree.sizes[k], tree.size(after), card, self.indices[v], k

    def _lay_out_members(self) -> None:
        """Which variables a clique has and shares with its parent: what rows leave open is found from these."""
        tree = self.tree
        self.members = np.zeros((len(tree.cliques), 4), np.int64)
        variables: list[int] = []
        shared: list[int] = []
        for k, clique in enumerate(tree.cliques):
            self.members[k] = len(variables), len(clique), tree.separators[k], len(shared)
            variables += clique
            if tree.parents[k] >= 0:
                separator = set(clique[: tree.separators[k]])
                shared += [int(v in separator) for v in tree.cliques[tree.parents[k]]]
        self.variables, self.shared = np.array(variables, np.int64), np.array(shared, np.int64)

    @property
    def cost(self) -> int:
        """The entries of all tables together."""
        return self.tree.entries

    def fill(self, factors: Sequence[Array]) -> Array:
        """The clique tables with every factor multiplied in: one array for each scope, its axes in the scope's order."""
        return self._merged(factors, np.ones(self.cost), kernels.multiply)

    def fill_logs(self, factors: Sequence[Array]) -> Array:
        """The logarithms of the clique tables, from the logarithms of the factors."""
        return self._merged(factors, np.zeros(self.cost), log_kernels.add)

    def _merged(self, factors: Sequence[Array], tables: Array, merge: Callable[..., Any]) -> Array:
        """The clique tables, in place, with every factor multiplied or added in."""
        counters = self._counters()
        for factor, k, view in zip(factors, self.homes, self._scope_views, strict=True):
            values = np.ascontiguousarray(factor).reshape(-1)
            merge(tables, *self.cliques[k, :2], values, 0, self.views, view, counters)
        return tables

    def filled(self, factors: Sequence[Array]) -> Filled:
        """Fresh tables of these factors, plain or as logarithms."""
        return Filled(lambda: self.fill(factors), lambda: self.fill_logs([safe_log(factor) for factor in factors]))

    def log_evidence(self, fresh: Filled, likelihoods: Likelihoods = NOTHING) -> float:
        """The logarithm of the sum of the product of all factors and likelihoods; `fresh` makes tables to use up."""
        return self._collect(fresh, likelihoods).log

    def joint(self, fresh: Filled, likelihoods: Likelihoods = NOTHING) -> tuple[float, Array]:
        """The log evidence, and the posterior table of the variables asked for together, in their order."""
        found = self._collect(fresh, likelihoods)
        if not found.log > -np.inf:
            return found.log, np.zeros([self.tree.cards[v] for v in self.together])
        clique, table = self.tree.cliques[-1], found.tables[self.cliques[-1, 0] :]
        if found.logarithms:
            table = np.exp(table - table.max())
        table = table.reshape(self.tree.shape(len(self.tree.cliques) - 1))
        others = tuple(axis for axis, v in enumerate(clique) if v not in self._asked)
        left = [v for v in clique if v in self._asked]
        if others:
            table = table.sum(axis=others)
        elif 2 * table.size < found.tables.size:
            table = table.copy()  # else the whole tree would stay in memory with the answer
        table /= table.sum()  # in place: the answer may be as large as all there is
        ordered = np.ascontiguousarray(table.transpose([left.index(v) for v in self._asked]))
        return found.log, ordered.reshape([self.tree.cards[v] for v in self.together])

    def posteriors(self, fresh: Filled, likelihoods: Likelihoods = NOTHING) -> tuple[float, Array]:
        """The log evidence, and the posteriors of all variables one behind the other (variable v from `indices[v]`)."""
        found = self._collect(fresh, likelihoods)
        answers = np.zeros(self.indices[-1])
        if found.log > -np.inf:
            self._distribute(found)
            kernels.read(found.tables, self.entries, answers)
        return found.log, answers

    def tables(self, fresh: Filled, likelihoods: Likelihoods = NOTHING) -> tuple[float, list[Array]]:
        """The log evidence, and the posterior table of every scope."""
        found = self._collect(fresh, likelihoods)
        if found.log > -np.inf:
            self._distribute(found)
        return found.log, self.sums_of(found.tables)

    def most_probable(self, fresh: Filled, likelihoods: Likelihoods = NOTHING) -> tuple[float, list[int]]:
        """The logarithm of the largest product of all factors and likelihoods, and the level of each variable in it."""
        found = self._collect(fresh, likelihoods, highest=True)
        levels = [0] * len(self.tree.cards)
        for k in reversed(range(len(self.cliques))) if found.log > -np.inf else ():
            clique, shared, shape = self.tree.cliques[k], self.tree.separators[k], self.tree.shape(k)
            row = int(np.ravel_multi_index([levels[v] for v in clique[:shared]], shape[:shared])) if shared else 0
            start, width = self.cliques[k, 0], self.tree.size(clique[shared:])
            run = found.tables[start + row * width : start + (row + 1) * width]
            for v, level in zip(clique[shared:], np.unravel_index(int(run.argmax()), shape[shared:]), strict=True):
                levels[v] = int(level)
        return found.log, levels

    def posteriors_of_rows(
        self,
        fresh: Filled,
        codes: Codes,
        target: int,
        n_jobs: int | None = None,
        factors: RowFactors = NO_FACTORS,
    ) -> tuple[Array, Array]:
        """For each row of codes (−1: unknown) the log evidence and the posterior of one variable that is at the root.

        What a row says of the target itself is not looked at. A row of probability 0 has the log −inf and zeros.
        """
        answers = np.empty((len(codes), self.tree.cards[target]))
        logs, constants = self._rows(fresh.plain(), codes, np.ones(0), target, factors, answers, np.empty(0), n_jobs)
        self._low_rows(fresh, codes, target, factors, answers, logs, n_jobs)
        logs += constants
        sums = answers.sum(axis=1, keepdims=True)
        answers /= np.where(sums > 0, sums, 1)
        return logs, answers

    def log_evidence_of_rows(
        self, fresh: Filled, codes: Codes, n_jobs: int | None = None, factors: RowFactors = NO_FACTORS
    ) -> Array:
        """The log evidence of each row of codes (−1: unknown)."""
        nothing, answers = np.empty(0), np.empty((len(codes), 0))
        logs, constants = self._rows(fresh.plain(), codes, nothing, -1, factors, answers, nothing, n_jobs)
        self._low_rows(fresh, codes, -1, factors, answers, logs, n_jobs)
        return logs + constants

    def _low_rows(
        self,
        fresh: Filled,
        codes: Codes,
        target: int,
        factors: RowFactors,
        answers: Array,
        logs: Array,
        n_jobs: int | None,
    ) -> None:
        """Once more with logarithms: the rows whose plain probabilities may have vanished."""
        low = np.flatnonzero(logs < LOW)
        if not len(low):
            return
        tables, columns = fresh.logarithms(), np.ascontiguousarray(codes.T, np.int32)

        def block(start: int) -> None:
            for rows in np.split(low[start : start + ROWS], len(low[start : start + ROWS])) if factors.count else [low[start : start + ROWS]]:  # fmt: skip
                own = self._row_logs(factors, int(rows[0])) if factors.count else 0.0
                log_kernels.rows(columns, rows, target, tables + own, self.cliques, self.views, self.entries, self.room, answers, logs)  # fmt: skip

        for_each_block(block, len(low), n_jobs, ROWS)

    def _row_logs(self, factors: RowFactors, row: int) -> Array:
        """The logarithms of the tables of one row's own factors."""
        logs = np.split(factors.logs(slice(row, row + 1))[0][0], np.cumsum(self._row_widths(factors))[:-1])
        return self.fill_logs([np.zeros(self.tree.size(scope)) for scope in self.scopes[: -factors.count]] + logs)

    def _row_widths(self, factors: RowFactors) -> list[int]:
        return [self.tree.size(scope) for scope in self.scopes[len(self.scopes) - factors.count :]]

    def expected_of_rows(
        self, fresh: Filled, codes: Codes, weights: Array, n_jobs: int | None = None
    ) -> tuple[Array, Array]:
        """The log evidence of each row, and the sum of all rows' clique posteriors, each times its weight."""
        expected, nothing = np.zeros(self.cost), np.empty((len(codes), 0))
        logs, _ = self._rows(fresh.plain(), codes, weights, -1, NO_FACTORS, nothing, expected, n_jobs)
        low = np.flatnonzero((logs < LOW) & (weights > 0))
        tables = fresh.logarithms() if len(low) else nothing
        for row in low:
            found = self._collect(Filled(tables.copy, tables.copy), _hard(codes[row], self.tree.cards), known_low=True)
            logs[row] = found.log
            if found.log > -np.inf:
                self._distribute(found)
                expected += weights[row] * found.tables
        return logs, expected

    def _rows(
        self,
        potentials: Array,
        codes: Codes,
        weights: Array,
        target: int,
        factors: RowFactors,
        answers: Array,
        expected: Array,
        n_jobs: int | None,
    ) -> tuple[Array, Array]:
        """The log evidence of rows, and what was taken off their own factors; expected counts are added in block order."""
        logs, constants = np.empty(len(codes)), np.zeros(len(codes))
        size = BLOCK if len(expected) else max(1, min(ROWS, ENTRIES // max(1, factors.width)))
        layout, columns = self._factor_layout(factors), np.ascontiguousarray(codes.T, np.int32)
        masses = np.ones(len(codes)) if len(weights) < len(codes) else weights

        def block(start: int) -> Array:
            sums, stop = np.zeros(len(expected)), min(start + size, len(codes))
            own = np.empty((0, 0))
            if factors is not NO_FACTORS:
                own, constants[start:stop] = factors.logs(slice(start, stop))
            row_kernels.rows(
                columns, start, stop, masses, target, layout, np.exp(own), potentials, self.cliques,
                self.members, self.variables, self.shared, self.entries, self.room, LOW, answers, sums, logs,
            )  # fmt: skip
            return sums

        for sums in for_each_block(block, len(codes), n_jobs, size):
            expected += sums
        return logs, constants

    def _factor_layout(self, factors: RowFactors) -> Integers:
        """For each row factor: its clique, where it begins in a row, and how it moves along each variable of the clique."""
        layout = np.zeros((factors.count, 2 + max(map(len, self.tree.cliques), default=0)), np.int64)
        starts = np.cumsum([0, *self._row_widths(factors)])
        for i, factor in enumerate(range(len(self.scopes) - factors.count, len(self.scopes))):
            scope, k = self.scopes[factor], self.homes[factor]
            layout[i, :2] = k, starts[i]
            layout[i, 2 : 2 + len(self.tree.cliques[k])] = self.tree.strides(k, scope)
        return layout

    def sums_of(self, expected: Array) -> list[Array]:
        """What clique tables add up to over each scope: the expected counts of every factor."""
        sums, counters = [], self._counters()
        for k, view, scope in zip(self.homes, self._scope_views, self.scopes, strict=True):
            found = np.zeros(self.tree.size(scope))
            start, size = self.cliques[k, :2]
            kernels.add_up(expected, start, size, found, 0, self.views, view, counters)
            sums.append(found.reshape([self.tree.cards[v] for v in scope]))
        return sums

    def _counters(self) -> Integers:
        return np.zeros(kernels.MOST_AXES, np.int64)

    def _entered(self, fresh: Filled, likelihoods: Likelihoods, logarithms: bool = False) -> Array:
        tables = fresh.logarithms() if logarithms else fresh.plain()
        if likelihoods:
            flat, known = np.ones(self.indices[-1]), np.array(list(likelihoods), np.int64)
            for v, likelihood in likelihoods.items():
                flat[self.indices[v] : self.indices[v + 1]] = likelihood
            if logarithms:
                log_kernels.enter(tables, safe_log(flat), known, self.entries)
            else:
                kernels.enter(tables, flat, known, self.entries)
        return tables

    def _collect(
        self, fresh: Filled, likelihoods: Likelihoods, highest: bool = False, known_low: bool = False
    ) -> _Collected:
        """One pass towards the roots; once more with logarithms where probabilities vanish."""
        messages, counters = np.empty(self.room), self._counters()
        if not known_low:
            tables, scales = self._entered(fresh, likelihoods), np.empty(len(self.cliques))
            log = kernels.collect(tables, messages, scales, self.cliques, self.views, counters, highest)
            if log >= LOW:
                return _Collected(float(log), tables, messages, scales, False)
        tables = self._entered(fresh, likelihoods, logarithms=True)
        log = log_kernels.collect(tables, messages, self.cliques, self.views, self._counters(), highest)
        return _Collected(float(log), tables, messages, messages, True)

    def _distribute(self, found: _Collected) -> None:
        """One pass away from the roots: tables become posteriors."""
        if found.logarithms:
            log_kernels.distribute(found.tables, found.messages, self.cliques, self.views, self._counters())
        else:
            sums = np.empty(self.cliques[:, 4].max(initial=1))
            kernels.distribute(found.tables, found.messages, found.scales, self.cliques, self.views, self._counters(), sums)  # fmt: skip


def _hard(codes: Codes, cards: Sequence[int]) -> dict[int, Array]:
    """The likelihoods that say what a row of codes says."""
    return {v: np.eye(cards[v])[code] for v, code in enumerate(codes) if code >= 0}
