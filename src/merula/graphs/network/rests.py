"""What an answer of a network rests on: how many rows, and the row of a table that gives most of its variance.

To first order the answer moves by its derivative times what a parameter moves by, and rows of tables move independently, so that the
variance of the answer is the sum of what each row of each table gives (the delta method; Spiegelhalter & Lauritzen 1990, "Sequential
updating of conditional probabilities on directed graphical structures").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from merula.core import Array
from merula.graphs.factors.errors import TooWideError
from merula.graphs.factors.joint import JointDistribution
from merula.graphs.factors.names import title
from merula.graphs.network.beliefs import Beliefs
from merula.graphs.network.evidence import Evidence
from merula.graphs.network.node import Node
from merula.graphs.network.sensitivity import COPIES
from merula.show.numbers import percent, several
from merula.show.text import shortened

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork

LONGEST = 60


def rests_on(
    network: BayesianNetwork, beliefs: Beliefs, answer: JointDistribution, draws: Array, evidence: Evidence
) -> str:
    """The rows an answer was learned from and, where several rows of tables have a say, that which gives most of the variance."""
    whole = several(beliefs.rows, "row") if beliefs.rows else "stated tables alone"
    level = int(draws.std(axis=0).argmax())
    try:
        shares = {} if evidence.numbers else variances(network, beliefs, answer.variables[0], level, evidence)
    except TooWideError:  # derivatives keep more tables at once than an answer does
        shares = {}
    if len(shares) < 2:
        return whole
    name, at = max(shares, key=lambda row: shares[row])
    node = beliefs.nodes[name]
    given = [f"{parent} = {beliefs.nodes[parent].levels[k]}" for parent, k in zip(node.parents, at, strict=True)]
    told = several(float((beliefs.counts if beliefs.rows else beliefs.pseudo_counts)[name][at].sum()), "row")
    share = percent(shares[name, at] / sum(shares.values()))
    return f"{whole}; {share} of its variance comes from {shortened(title([name], given), LONGEST)}: {told}"


def variances(
    network: BayesianNetwork, beliefs: Beliefs, target: str, level: int, evidence: Evidence
) -> dict[tuple[str, tuple[int, ...]], float]:
    """What each row of each table gives to the variance of P(target = level given evidence), to first order.

    Var = Σ_rows (Σ_k p_k g_k² − (Σ_k p_k g_k)²) / (α + 1) with g the derivatives of the answer and α the sum of the parameters
    """
    inference = network._inference
    pieces, found = inference.derivatives(target, level, evidence, network.limit / COPIES)
    below, above = found.values
    shares: dict[tuple[str, tuple[int, ...]], float] = {}
    if not below > 0:  # findings that plain probabilities cannot tell from impossible ones
        return shares
    for piece, gains in zip(pieces, found.tables[: len(pieces)], strict=True):
        name = inference.names[piece.owner]
        node = beliefs.nodes[name]
        if not isinstance(node, Node):
            continue
        slopes = (gains[1] - above / below * gains[0]) / below
        mean = (node.table * slopes).sum(axis=-1)
        spread = (node.table * slopes**2).sum(axis=-1) - mean**2
        given = np.maximum(spread, 0.0) / (beliefs.concentration(name).sum(axis=-1) + 1)
        shares |= {(name, at): float(given[at]) for at in np.ndindex(given.shape) if given[at] > 0}
    return shares
