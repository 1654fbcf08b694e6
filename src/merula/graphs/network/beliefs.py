"""What is believed of a network's parameters once rows are counted: from the statistics and the prior alone, no row is read again.

For each row of a discrete variable's table a Dirichlet distribution with the parameters count + pseudo-count; for the lines of a numeric
variable normal–inverse-gamma distributions about one line and scale (see `numeric_beliefs`). Where rows lack cells these hold given the
cells, which are drawn with them (see `augmentation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from merula.core import Array, InputError, Option
from merula.core.checks import checked_number
from merula.graphs.network.evidence import NOTHING_KNOWN
from merula.graphs.network.fitting import Learned
from merula.graphs.network.name_order import NameOrder
from merula.graphs.network.node import AnyNode, GaussianNode, Node, NoisyNode
from merula.graphs.network.numeric_beliefs import LINES, NumericBelief, numeric_belief
from merula.graphs.network.pseudo_counts import BDeu, Expert, PerVariable, Prior
from merula.graphs.network.statistic import FamilyStatistic
from merula.show.numbers import several, short

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork

MOST_WORTH = 10**15  # rows, that stated tables may be taken for
JEFFREYS = 0.5  # the pseudo-count of every cell of a row of which a prior of 0 says nothing


@dataclass(frozen=True, eq=False)
class Beliefs:
    """The posterior over the parameters of a network, and in words what it was made of.

    ``pseudo_counts`` and ``counts`` have an array for each discrete variable, like its table: Dirichlet parameters are their sums.
    ``rows`` is the weight of all rows, ``statistic`` what they were counted into (none of a network that was stated). Where the distinct
    rows that lack cells have a say, it is `augmented`: ``counts`` are then expected ones.
    """

    nodes: Mapping[str, AnyNode]
    pseudo_counts: Mapping[str, Array]
    counts: Mapping[str, Array]
    prior: str
    rows: float
    statistic: FamilyStatistic | None = None
    augmented: bool = False

    def concentration(self, name: str) -> Array:
        """The Dirichlet parameters of a variable's table."""
        return self.counts[name] + self.pseudo_counts[name]

    def order(self, name: str) -> NameOrder:
        """The order in which the cells of a variable's table are drawn."""
        node = self.nodes[name]
        return NameOrder.of({parent: self.nodes[parent].levels for parent in node.parents}, node.levels)

    @cached_property
    def numbers(self) -> dict[str, NumericBelief]:
        """What is believed of each numeric variable."""
        assert self.statistic is not None
        lines = [node for node in self.nodes.values() if isinstance(node, GaussianNode)]
        return {node.name: numeric_belief(self.statistic, node) for node in lines}

    def described(self, with_numbers: bool) -> str:
        """The prior, with that of numeric variables where they have a say."""
        return f"{self.prior}; {LINES}" if with_numbers else self.prior


def beliefs_of(network: BayesianNetwork, equivalent_sample_size: float | None) -> Beliefs:
    """What is believed of a network's parameters: of one that was fitted from its counts, of one that was stated by the weight it is given.

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> found = beliefs_of(mr.BayesianNetwork({"rain": []}).fit(pd.DataFrame({"rain": ["yes", "no", "no"]})), None)
    >>> found.concentration("rain").tolist(), found.prior
    ([3.0, 2.0], 'Dirichlet, 1 imaginary row in each cell of every table')
    """
    learned, size = network._learned, equivalent_sample_size
    if learned is None:
        return _stated(network, size)
    if size is not None:
        raise InputError((Option('equivalent_sample_size'), f" is {size!r}, but the network has counts of rows, which say how sure it is"), where='equivalent_sample_size', got=size, remedy="leave it out")  # fmt: skip
    if learned.options.target is not None:
        raise InputError.at("an interval", (f"needs counts, but tables fitted to tell {learned.options.target!r} (", Option('target'), ") are made of no counts"), remedy=("fit without ", Option('target')))  # fmt: skip
    return _learned_beliefs(learned)


def _stated(network: BayesianNetwork, size: float | None) -> Beliefs:
    """As if the stated tables had been learned from so many rows: size · P(parents, variable) in each cell."""
    nodes = network._stated()
    if size is None:
        raise InputError.at("an interval", "needs counts of rows, and this network was stated, or read from a file without them", remedy=("call fit or partial_fit on a table (", Option('expert'), " makes stated probabilities its prior), or say with ", Option('equivalent_sample_size'), " how many rows the stated tables are worth"))  # fmt: skip
    checked_number(
        size, "equivalent_sample_size", f"a number above 0, up to {MOST_WORTH:,}", lambda rows: 0 < rows <= MOST_WORTH
    )
    stated = {name: node for name, node in nodes.items() if isinstance(node, Node)}
    families = [(*node.parents, name) for name, node in stated.items()]
    _, shares = network._inference.tables(families, NOTHING_KNOWN, network.limit)  # all by one junction tree
    worth = {name: float(size) * share for name, share in zip(stated, shares, strict=True)}
    prior = f"Dirichlet, as if the stated tables had been learned from {several(float(size), 'row')}"
    nothing = {name: np.zeros_like(found) for name, found in worth.items()}
    return Beliefs(nodes, {name: _never(stated[name], found) for name, found in worth.items()}, nothing, prior, 0.0)


def _never(node: Node, found: Array) -> Array:
    """Where the parents never have these levels the row as it is stated: it has no say in any answer."""
    return np.where(found.sum(axis=-1, keepdims=True) > 0, found, node.table)


def _learned_beliefs(learned: Learned) -> Beliefs:
    statistic, prior = learned.statistic, learned.options.prior
    raw = {name: _believed(statistic, prior, name) for name in statistic.discrete}
    silent = {name: found.sum(axis=-1, keepdims=True) == 0 for name, found in raw.items()}
    pseudo = {name: np.where(silent[name], JEFFREYS, found) for name, found in raw.items()}
    incomplete = learned.options.missing == "em" and len(statistic.rows.cells) > 0
    found = [rows.ravel() for rows in silent.values()]
    words = _prior_words(prior, np.concatenate([np.zeros(0, np.bool_), *found]))
    return Beliefs(learned.nodes, pseudo, learned.counts, words, statistic.weight, statistic, incomplete)


def _believed(statistic: FamilyStatistic, prior: Prior, name: str) -> Array:
    return prior.of(name, statistic.known(name), {parent: statistic.known(parent) for parent in statistic.graph[name]})


def _prior_words(prior: Prior, silent: Any) -> str:
    """The prior in words; where it says nothing of rows of tables (`silent`), what stands for it."""
    half = "Dirichlet, ½ in each cell (Jeffreys)"
    if silent.all() and len(silent):
        return f"{half}: the tables were fitted with pseudo_counts=0, which is no prior"
    more = "; ½ in each cell (Jeffreys) of rows of which it says nothing" if silent.any() else ""
    if isinstance(prior, Expert):
        return f"Dirichlet, an expert's network worth {several(prior.size, 'row')}{more}"
    if isinstance(prior, BDeu):
        return (
            f"Dirichlet, {several(prior.size, 'imaginary row')} shared alike by the cells of every table (BDeu){more}"
        )
    if isinstance(prior, PerVariable):
        return f"Dirichlet, the pseudo-counts stated for {', '.join(map(repr, prior.stated))}{more}"
    count: float = getattr(prior, "count")  # noqa: B009 - the one prior left
    return f"Dirichlet, {short(count)} imaginary row{'' if count == 1 else 's'} in each cell of every table"


def refuse_unlearned(beliefs: Beliefs, names: Any) -> None:
    """An error for variables that have a say in an answer, and of whose numbers nothing is believed."""
    for name in names:
        node = beliefs.nodes[name]
        if isinstance(node, NoisyNode):
            raise InputError(f"{name!r} is a noisy-OR or noisy-MAX, whose few numbers are no counts of rows", where=f"variable {name!r}", remedy=f"state it as a full table: network.add({name!r}, {list(node.levels)}, network.distribution({name!r}), parents={list(node.parents)})")  # fmt: skip
        if isinstance(node, GaussianNode) and beliefs.statistic is None:
            raise InputError(f"{name!r} is numeric and was stated: how many rows its numbers are worth cannot be told from its line", where=f"variable {name!r}", remedy="fit the network on a table, or leave the number out of what is known")  # fmt: skip
