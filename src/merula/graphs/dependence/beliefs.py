"""What is believed of tables given class and parents: Dirichlet, or a chain of them, each drawn table the prior of the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from merula.core import Array
from merula.data.schema import Label
from merula.distributions.base import Setting
from merula.distributions.posteriors import JEFFREYS, Drawing, Posterior, dirichlet, log_shares
from merula.distributions.priors import Smoothing
from merula.graphs.dependence.columns import DependentColumns
from merula.graphs.dependence.estimates import BACKOFF, BDEU, checked, concentrations, imagined

CHAIN = "a chain of Dirichlet tables, each drawn one the prior of that with a parent more, worth as many rows as the model takes"


@dataclass(frozen=True, eq=False)
class TableBelief:
    """One column's table given class and parents: Dirichlet with what is counted and `imagined` in each cell."""

    cells: Array

    def draw(self, rng: np.random.Generator) -> Array:
        """Logarithms with an axis for the class, each parent and the levels."""
        return log_shares(self.cells, rng)


@dataclass(frozen=True, eq=False)
class ChainBelief:
    """The same where each table is the prior of the next: ``tables`` are P(level), given the class, one parent after the other.

    θ_d ~ Dirichlet(n_d + m_d · θ_d−1), θ_−1 even; `rows` are the m_d that the model takes.
    """

    tables: tuple[Array, ...]
    rows: tuple[float, ...]

    def draw(self, rng: np.random.Generator) -> Array:
        """See `TableBelief.draw`."""
        levels = self.tables[0].shape[-1]
        logs = np.full(levels, -np.log(max(1, levels)))
        for table, rows in zip(self.tables, self.rows, strict=True):
            above = logs[..., None, :] if table.ndim > 1 else logs
            logs = log_shares(table + rows * np.exp(above), rng)
        return logs


def dependent_posterior(
    built: DependentColumns, counts: dict[str, list[Array]], smoothing: Smoothing | str, setting: Setting
) -> Posterior:
    """What is believed of the tables of columns that depend on each other as those that were built do."""
    rule = checked(smoothing, built.columns)
    known = dict(zip(built.columns, built.level_sets, strict=True))
    beliefs = {name: table_belief(counts[name], rule, name, known[name], setting.classes) for name in sorted(built.columns) if len(known[name]) > 1}  # fmt: skip

    def drawn(rng: np.random.Generator) -> DependentColumns:
        tables = list(built.log_table)
        for name, belief in beliefs.items():
            j = built.columns.index(name)
            own = belief.draw(rng)
            own = own.transpose(*range(1, own.ndim), 0)  # as np.moveaxis, which takes as long as half a draw
            tables[j] = np.concatenate([own, tables[j][..., -1:, :]], axis=-2)
        return DependentColumns(built.columns, built.level_sets, built.parent_sets, tuple(tables), built.unseen)

    return Drawing(dict.fromkeys(built.columns, told_of(rule)), drawn)


def table_belief(
    counts: Sequence[Array], rule: Smoothing | str, name: str, levels: Sequence[Label], classes: Sequence[Label]
) -> TableBelief | ChainBelief:
    """What is believed of one column's table, given its counts with no parent, with one, with two and so on."""
    if rule == BACKOFF:
        return ChainBelief((counts[0].sum(axis=0), *counts), tuple(concentrations(counts)))
    more = imagined(counts[-1].shape, rule, name, levels, classes)
    return TableBelief(counts[-1] + (more if more.any() else JEFFREYS))


def told_of(rule: Smoothing | str) -> str:
    """The prior of tables that are estimated so, in words."""
    if isinstance(rule, str):
        return CHAIN if rule == BACKOFF else f"Dirichlet with 1 imaginary row spread over all cells ({BDEU})"
    return dirichlet(rule)
