"""The tables of a network drawn from what is believed of them: many sets of parameters, from counts and a prior alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from merula.core import Array
from merula.core.checks import checked_generator
from merula.graphs.network.augmentation import augmented_tables
from merula.graphs.network.beliefs import Beliefs
from merula.graphs.network.dirichlet import log_dirichlet
from merula.graphs.network.node import Node

CELLS = 2**23  # of drawn tables that are held at once, 64 MiB
CHAIN = ""  # whose random numbers are those of the chain over all tables
Streams = Mapping[str, np.random.Generator]


def random_streams(beliefs: Beliefs, random_state: Any) -> Streams:
    """Random numbers for each variable by its name: the same question after the same seed has the same tables, whatever else was asked and in whatever order variables and arcs were stated."""
    seed = int(checked_generator(random_state).integers(2**63))
    return {name: np.random.default_rng([seed, len(name), *name.encode()]) for name in [*beliefs.nodes, CHAIN]}


def table_draws(
    beliefs: Beliefs, names: Sequence[str], draws: int, limit: float, streams: Streams
) -> Iterator[dict[str, Array]]:
    """The logarithms of the tables of some variables, draws along the first axis, as many draws at a time as memory likes.

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> from merula.graphs.network.beliefs import beliefs_of
    >>> found = beliefs_of(mr.BayesianNetwork({"rain": []}).fit(pd.DataFrame({"rain": ["yes", "no", "no"]})), None)
    >>> (tables,) = table_draws(found, ["rain"], 5, 1e6, random_streams(found, 0))
    >>> tables["rain"].shape, np.exp(tables["rain"]).sum(axis=1).round(12).tolist()
    ((5, 2), [1.0, 1.0, 1.0, 1.0, 1.0])
    """
    width = max(1, sum(beliefs.concentration(name).size for name in names))
    size = max(1, min(draws, CELLS // width))
    sizes = [min(size, draws - start) for start in range(0, draws, size)]
    if beliefs.augmented and beliefs.statistic is not None:
        start = {name: node.table for name, node in beliefs.nodes.items() if isinstance(node, Node)}
        orders = {name: beliefs.order(name) for name in start}
        chain = augmented_tables(beliefs.statistic, orders, beliefs.pseudo_counts, start, names, draws, limit, streams[CHAIN])  # fmt: skip
        for count in sizes:
            some = list(islice(chain, count))
            yield {name: orders[name].restored(np.stack([one[name] for one in some])) for name in names}
        return
    orders = {name: beliefs.order(name) for name in names}
    for count in sizes:
        yield {name: order.restored(log_dirichlet(streams[name], order.ordered(beliefs.concentration(name)), count)) for name, order in orders.items()}  # fmt: skip
