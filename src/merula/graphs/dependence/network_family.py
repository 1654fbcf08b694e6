"""The family of columns that a Bayesian network joins with the class: arcs given, tables and regressions learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from merula.core import Array, InputError
from merula.core.logspace import safe_log
from merula.core.sound import are_names
from merula.data.schema import Label
from merula.distributions.base import BaseFamily, Distribution, Setting
from merula.distributions.priors import log_belief
from merula.graphs.dependence.network_columns import LIMIT, NetworkColumns
from merula.graphs.dependence.network_statistic import NetworkStatistic
from merula.graphs.network.building import read_structure
from merula.graphs.network.em import Steps
from merula.graphs.network.fitting import learned_from, read_options
from merula.graphs.network.node import AnyNode, GaussianNode
from merula.graphs.network.pseudo_counts import read_prior
from merula.graphs.structure.graph import Arc, arcs_of
from merula.stats import Statistic, Wanted


@dataclass(frozen=True)
class Network(BaseFamily):
    """Columns of words and numbers that depend on one another and on the class as the arcs of a network say.

    Parameters
    ----------
    arcs : sequence of (parent, child)
        The class goes by the name `target`.
    target : str
        What the class is called.
    numeric : sequence of str
        The columns of numbers, which are normal about a linear function of their numeric parents.
    smoothing : float or "bdeu"
        The pseudo-count of every cell of a table.
    missing : "marginalise" or "level"
        Whether a missing word is summed out, by expectation-maximisation, or a level of its own.
    tree : bool
        Whether arcs are those of the most probable tree of all columns and the class, found from counts of pairs.
    """

    arcs: Any = ()
    target: str = "class"
    numeric: Any = ()
    smoothing: Any = 1
    missing: str = "marginalise"
    tree: bool = False
    name: ClassVar[str] = "network"
    no_posterior: ClassVar[str] = (
        "sums missing cells out by expectation-maximisation, and its tables hold the class as well as the columns"
    )
    kinds: ClassVar[tuple[str, ...]] = ("categorical", "numeric")
    distribution: ClassVar[type[Distribution]] = NetworkColumns
    statistic: ClassVar[type[Statistic]] = NetworkStatistic

    def check(self) -> None:
        if isinstance(self.smoothing, Mapping):
            raise InputError.of("smoothing", self.smoothing, "a pseudo-count from 0, or 'bdeu'")
        read_prior(self.smoothing, None, None)

    def wanted(self, columns: Sequence[str]) -> Wanted:
        self.check()
        options = {
            "arcs": self._checked_arcs(columns),
            "target": self.target,
            "numeric": checked_numbers(self.numeric, columns),
            "missing_is_label": self.missing == "level",
            "pairs": self.tree,
        }
        return Wanted(NetworkStatistic, columns, options=options)

    def _checked_arcs(self, columns: Sequence[str]) -> list[Arc]:
        """The arcs; an error, as a file from a stranger may need, where they are none of these columns and the class."""
        graph = read_structure([tuple(arc) for arc in self.arcs])
        if not are_names((*columns, self.target)) or not set(graph) <= {*columns, self.target}:
            raise InputError.of("arcs", self.arcs, f"(parent, child) among the columns and the class, {self.target!r}")
        return arcs_of(graph)

    def build(self, statistic: NetworkStatistic, setting: Setting) -> NetworkColumns:
        declared = {column.name: column.levels for column in setting.columns if column.declared}
        levels = statistic.levels(declared)
        counted = statistic.settled(levels, len(setting.classes))
        options = read_options(
            read_prior(self.smoothing, None, None), "em", Steps(), self.target if self.tree else None
        )
        learned = learned_from(counted, options, {}, LIMIT, setting.n_jobs)
        centre, unit = statistic.units()
        return network_columns(statistic.columns, self.target, learned.nodes, levels, centre, unit)

    def log_belief(self, part: NetworkColumns, statistic: NetworkStatistic, setting: Setting) -> float:
        """log P(parameters) up to a constant, of the Dirichlet priors that pseudo-counts of columns with levels are."""
        tables = [table for levels, table in zip(part.level_sets, part.tables, strict=True) if levels]
        return sum(map(self.log_belief_in, tables))

    def log_belief_in(self, table: Array) -> float:
        """The same of one table, an axis for each parent, the levels last."""
        *above, levels = (tuple(range(size)) for size in table.shape)
        pseudo = read_prior(self.smoothing, None, None).of("", levels, {str(j): own for j, own in enumerate(above)})
        return log_belief(pseudo, safe_log(table))


def checked_numbers(numeric: Any, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns of numbers; an error, as a file from a stranger may need, where they are none of these columns."""
    if not are_names(numeric) or not set(numeric) <= set(columns):
        raise InputError.of("numeric", numeric, "names of columns")
    return tuple(numeric)


def network_columns(
    columns: Sequence[str],
    target: str,
    nodes: Mapping[str, AnyNode],
    levels: Mapping[str, tuple[Label, ...]],
    centre: Mapping[str, float],
    unit: Mapping[str, float],
) -> NetworkColumns:
    """The columns of a network given its variable `target`; those without a node say nothing."""
    own = nodes[target]
    return NetworkColumns(
        tuple(columns),
        target,
        tuple(levels.get(name) for name in columns),
        tuple(nodes[name].parents if name in nodes else () for name in columns),
        tuple(_table(nodes[name]) if name in nodes else np.zeros(0) for name in columns),
        own.parents,
        _table(own),
        np.array([centre.get(name, 0.0) for name in columns]),
        np.array([unit.get(name) or 1.0 for name in columns]),
    )


def _table(node: AnyNode) -> Array:
    """The numbers of a node in one array."""
    if not isinstance(node, GaussianNode):
        return np.ascontiguousarray(node.table)
    return np.concatenate([node.intercept[..., None], node.variance[..., None], node.slopes], axis=-1)
