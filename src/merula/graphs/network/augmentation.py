"""Tables drawn from their posterior where rows lack cells: cells and tables in turn, by data augmentation.

Given the tables, every incomplete row is completed by one exact draw from its posterior (all its open cells together, by one junction
tree for all rows); given the completed rows, every row of every table is a draw from its Dirichlet distribution. In the long run the tables
are draws from their posterior given what the rows know (Tanner & Wong 1987, "The calculation of posterior distributions by data
augmentation"). The chain begins at the tables that `fit` found, near the top of the posterior. It runs over variables, rows and levels in the
order of their names, so that the same draws come of the same rows however they were stated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError, Option
from merula.core.limits import CELL, TooLargeError, most_bytes
from merula.graphs.factors import _row_draws as kernels
from merula.graphs.factors.propagation import Filled, Propagation
from merula.graphs.factors.tree_draws import draw_states
from merula.graphs.network.dirichlet import log_dirichlet_rows
from merula.graphs.network.em import ExpectedRows, expected_rows
from merula.graphs.network.name_order import NameOrder
from merula.graphs.network.statistic import FamilyStatistic

BLOCK = 65_536  # rows that are completed at once
LEAST_BURN_IN = 100  # draws that are not used: the chain still remembers where it began


@dataclass(frozen=True, eq=False)
class Completed:
    """Incomplete rows, each as often as it was met, and the share of one row that each of them counts for.

    A weight of 2.5 is three rows that count 5/6 each.
    """

    rows: ExpectedRows
    codes: NDArray[np.int32]
    weights: Array

    def counts(self, tables: Mapping[str, Array], rng: np.random.Generator) -> dict[str, Array]:
        """The counts of every family in one completion of all rows."""
        families, tree = self.rows.families, self.rows.tree
        found, fresh = {name: np.zeros(tables[name].size) for name in families}, tree.filled([tables[name] for name in families])  # fmt: skip
        for start in range(0, len(self.codes), BLOCK):
            drawn = _completed(tree, fresh, self.codes[start : start + BLOCK], rng)
            for name, scope in zip(families, tree.scopes, strict=True):
                cells = np.ravel_multi_index(tuple(drawn[:, v] for v in scope), tables[name].shape)
                found[name] += np.bincount(cells, self.weights[start : start + BLOCK], tables[name].size)
        return {name: counted.reshape(tables[name].shape) for name, counted in found.items()}


def completed(statistic: FamilyStatistic, limit: float) -> Completed:
    """The distinct incomplete rows of a statistic, ready to be completed."""
    cells, weights = statistic.rows.cells.astype(np.int64), statistic.rows.weight[:, 0].copy()
    rows = expected_rows(statistic, statistic.discrete, cells, weights, limit, None)
    codes = np.where(np.array(rows.tree.tree.cards) == 1, 0, rows.codes)  # one level: there is nothing to draw
    _check_copies(float(np.ceil(weights).sum()), codes.shape[1])
    times = np.ceil(weights).astype(np.int64)
    return Completed(rows, np.repeat(codes.astype(np.int32), times, axis=0), np.repeat(weights / times, times))


def _check_copies(copies: float, columns: int) -> None:
    """An error where so many rows, each drawn by itself, would take more memory than allowed."""
    needed = copies * (4 * columns + CELL)
    if needed > most_bytes():
        raise TooLargeError(f"incomplete rows that count for {copies:,.0f} are completed one by one and need memory", needed, most_bytes(), ("fit with ", Option('missing', 'available'), " or with smaller ", Option('weights')))  # fmt: skip


def augmented_tables(
    statistic: FamilyStatistic,
    orders: Mapping[str, NameOrder],
    pseudo_counts: Mapping[str, Array],
    start: Mapping[str, Array],
    kept: Sequence[str],
    draws: int,
    limit: float,
    rng: np.random.Generator,
) -> Iterator[dict[str, Array]]:
    """The logarithms of the tables that are kept, draw by draw, cells in the `orders` of names; the chain needs all tables."""
    hidden = statistic.never_observed()
    if hidden:
        raise InputError(f"no row knows {hidden[0]!r}: its levels could change places with one another, so that an interval of theirs says nothing", where=f"variable {hidden[0]!r}", remedy="ask for intervals of networks whose variables were all observed")  # fmt: skip
    counted = statistic.in_name_order()
    rows = completed(counted, limit)
    whole = {name: orders[name].ordered(pseudo_counts[name]) + found for name, found in counted.counts.items()}
    flat = np.concatenate([table.reshape(-1) for table in whole.values()])
    sizes = np.concatenate([np.full(table.size // table.shape[-1], table.shape[-1]) for table in whole.values()])
    tables = {name: orders[name].ordered(start[name]) for name in whole}
    unused = max(LEAST_BURN_IN, draws // 5)
    for step in range(unused + draws):
        found = rows.counts(tables, rng)
        more = np.concatenate([found[name].reshape(-1) for name in whole])
        logs = log_dirichlet_rows(rng, flat + more, sizes)
        tables = _apart(np.exp(logs), whole)
        if step >= unused:
            drawn = _apart(logs, whole)
            yield {name: drawn[name] for name in kept}


def _apart(flat: Array, like: Mapping[str, Array]) -> dict[str, Array]:
    """The tables that stand one behind the other."""
    found, start = {}, 0
    for name, table in like.items():
        found[name] = flat[start : start + table.size].reshape(table.shape)
        start += table.size
    return found


def _completed(
    tree: Propagation, fresh: Filled, codes: NDArray[np.int32], rng: np.random.Generator
) -> NDArray[np.int32]:
    """The rows with their open cells drawn from their posterior; once more by logarithms where probabilities vanish."""
    drawn, logs, columns = codes.copy(), np.empty(len(codes)), np.ascontiguousarray(codes.T)
    uniforms = rng.random((len(codes), len(tree.cliques)))
    kernels.draw_rows(
        columns,
        uniforms,
        fresh.plain(),
        tree.cliques,
        tree.members,
        tree.variables,
        tree.shared,
        tree.entries,
        tree.room,
        drawn,
        logs,
    )
    for row in np.flatnonzero(~(logs > -np.inf)).tolist():
        known = {v: np.eye(tree.tree.cards[v])[code] for v, code in enumerate(codes[row].tolist()) if code >= 0}
        log, levels = draw_states(tree, fresh, 1, rng, known)
        if not log > -np.inf:
            raise InputError("a row that lacks cells is impossible under the pseudo-counts of 0 that were stated, so that it cannot be completed", where="pseudo_counts", remedy="state pseudo-counts above 0")  # fmt: skip
        drawn[row] = levels[:, 0]
    return drawn
