"""How sure an answer of a network is of itself: credible intervals from the posterior over its parameters.

Parameters are drawn from what the counts and the prior say of them, and the question is asked exactly under each draw: all draws go
through one junction tree, as rows of a table do. `query_interval` is a method of `BayesianNetwork`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from merula.core import Array, InputError
from merula.core.checks import checked_number, one_of
from merula.graphs.factors.credible import IntervalDistribution
from merula.graphs.network.beliefs import Beliefs, beliefs_of, refuse_unlearned
from merula.graphs.network.evidence import Evidence, check_possible, relevant
from merula.graphs.network.hybrid import evidence_pieces, log_densities
from merula.graphs.network.inference import Inference
from merula.graphs.network.linear_systems import components, points
from merula.graphs.network.node import AnyNode, GaussianNode, Node
from merula.graphs.network.numeric_beliefs import DRAW
from merula.graphs.network.parameter_draws import random_streams, table_draws
from merula.graphs.network.rests import rests_on

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork

LEAST_DRAWS, MOST_DRAWS = 100, 1_000_000
AT_ONCE = 2**20  # numbers of drawn lines that are weighed at once
Extra = list[tuple[tuple[int, ...], Array]]


def query_interval(
    network: BayesianNetwork,
    target: str,
    given: Any = None,
    *,
    level: float = 0.9,
    draws: int = 1000,
    equivalent_sample_size: float | None = None,
    random_state: Any = None,
    limit: float | None = None,
) -> IntervalDistribution:
    """The posterior of one variable with a credible interval for each probability: how sure the answer is of itself.

    The tables of a network are estimates from a finite number of rows. Given these rows (the kept counts; no row is read again) and the
    prior of `fit`, each row of each table has a Dirichlet distribution with the parameters count + pseudo-count, whose mean is the
    table in use. Parameters are drawn from it, the question is asked exactly under each draw, and the interval holds the middle of
    the answers.

    Parameters
    ----------
    target : str
        The variable asked for; one with levels.
    given : mapping, optional
        The findings, as for `query`.
    level : float
        How probable it is that an interval holds the probability.
    draws : int
        How many sets of parameters are drawn, 100 at least. The ends of intervals are themselves estimates from these.
    equivalent_sample_size : float, optional
        For a network that was stated: how many rows its tables are worth. Intervals are those of tables that were learned from so many
        rows, each as often as the network itself expects it.
    random_state : None, int or Generator
        The same draws for the same number, in whatever order variables, arcs, levels and rows came.
    limit : float, optional
        As for the network.

    Returns
    -------
    IntervalDistribution
        What `query` answers, with the ends of each interval (`lower`, `upper`, ``interval(level)``), the `prior` that was used, what the
        answer `rests_on`, and all `draws`.

    Notes
    -----
    Tables fitted with ``pseudo_counts=0`` have no prior, and a count of 0 in few rows is no certainty: intervals then take Jeffreys'
    prior, ½ in each cell, and say so. The answer is still that of `query`, which may lie at the end of the interval or beyond.

    Where rows lack cells and ``missing="em"``, the distinct incomplete rows are completed at random along with the tables (data
    augmentation), which costs a pass over them for each draw. Each draw then begins at the one before: where most rows lack
    cells, more draws are needed for ends as exact. With ``missing="available"`` each table has the counts it was made of.

    Numeric variables that are known, or tie known numbers to the target, have the posterior of a regression for each configuration of
    their discrete parents, by the prior that naive Bayes' normal columns have: lines lie about one line, worth 0.1 row to each, and
    variances about one, worth 3 degrees of freedom, so that configurations of few rows, or of none, lean on the others. That line and
    scale are flat, and drawn as well. The arcs, the cuts of intervals and the levels are taken as they are: how sure they are is not in the interval.

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> rows = pd.DataFrame({"rain": ["yes", "no", "no", "no"] * 10, "wet": ["yes", "no", "yes", "no"] * 10})
    >>> network = mr.BayesianNetwork([("rain", "wet")]).fit(rows)
    >>> found = network.query_interval("rain", given={"wet": "yes"}, draws=20_000, random_state=0)
    >>> round(found["yes"], 3), [round(end, 2) for end in found.interval("yes")]
    (0.486, [0.31, 0.66])
    >>> print(found.prior, "|", found.rests_on)
    Dirichlet, 1 imaginary row in each cell of every table | 40 rows; 65 % of its variance comes from P(rain): 40 rows
    """
    checked_number(level, "level", "a probability between 0 and 1", lambda share: 0 < share < 1)
    checked_number(draws, "draws", f"a whole number from {LEAST_DRAWS} to {MOST_DRAWS:,}", lambda n: LEAST_DRAWS <= n <= MOST_DRAWS, whole=True)  # fmt: skip
    nodes, most = network._stated(), network._limit(limit)
    if not isinstance(target, str):
        raise InputError.of("the variable asked for", target, "one name: an interval is that of one variable")
    if isinstance(nodes[one_of(target, nodes, "a variable asked for")], GaussianNode):
        raise InputError(f"{target!r} is numeric", where=f"variable {target!r}", expected="a variable with levels: intervals are those of their probabilities")  # fmt: skip
    beliefs = beliefs_of(network, equivalent_sample_size)
    answer = network.query(target, given)
    evidence = relevant(network.graph, [target], network._read(given))
    found = drawn_answers(network._inference, beliefs, target, evidence, draws, most, random_state)
    found = found[found.sum(axis=1) > 0]  # a draw under which the findings cannot be says nothing
    check_possible(0.0 if len(found) else -np.inf, evidence)
    prior = beliefs.described(bool(evidence.numbers))
    rests = rests_on(network, beliefs, answer, found, evidence)
    return IntervalDistribution.of_draws((target,), (nodes[target].levels,), answer.values, found, float(level), prior, rests)  # fmt: skip


def drawn_answers(
    inference: Inference,
    beliefs: Beliefs,
    target: str,
    evidence: Evidence,
    draws: int,
    limit: float,
    random_state: Any,
) -> Array:
    """The answers under `draws` sets of parameters: draws × levels of the target."""
    known = _numbers_with_a_say(beliefs.nodes, evidence)
    scopes = _scopes(inference, beliefs, evidence, limit)
    needed = inference.needed_tables(target, evidence, scopes)
    refuse_unlearned(beliefs, [*needed, *known])
    for name in known:
        beliefs.numbers[name].check()
    streams = random_streams(beliefs, random_state)
    lines = {name: beliefs.numbers[name].lines(draws, streams[name]) for name in known}
    found, start = [], 0
    for tables in table_draws(beliefs, needed, draws, limit, streams):
        count = len(next(iter(tables.values()))) if tables else draws
        extra = _weighed(inference, beliefs, lines, evidence, slice(start, start + count), limit)
        found.append(inference.of_draws(target, evidence, limit, tables, extra))
        start += count
    return np.concatenate(found)


# --------------------------------------------------------------------------------------------------------------- numbers


def _numbers_with_a_say(nodes: Mapping[str, AnyNode], evidence: Evidence) -> list[str]:
    """The numeric variables whose lines what is known of numbers depends on."""
    known = {**points(nodes), **evidence.numbers}
    return [name for component in components(nodes, known) for name in component.equations] if evidence.numbers else []


def _scopes(inference: Inference, beliefs: Beliefs, evidence: Evidence, limit: float) -> list[tuple[int, ...]]:
    """Over which variables known numbers speak."""
    if not evidence.numbers:
        return []
    return [piece.scope for piece in evidence_pieces(beliefs.nodes, inference, evidence, limit)[1]]


def _weighed(
    inference: Inference,
    beliefs: Beliefs,
    lines: Mapping[str, GaussianNode],
    evidence: Evidence,
    part: slice,
    limit: float,
) -> Extra:
    """What known numbers say under some draws of the lines they depend on: those of all draws are one system."""
    known = {**points(beliefs.nodes), **evidence.numbers}
    if not lines or any(known[name] != number for name, number in evidence.numbers.items()):
        return []
    size = max(1, AT_ONCE // sum(line.slopes.size // len(line.slopes) + line.intercept[0].size for line in lines.values()))  # fmt: skip
    found: dict[tuple[str, ...], list[Array]] = {}
    for start in range(part.start, part.stop, size):
        some = slice(start, min(start + size, part.stop))
        count = some.stop - some.start
        draw = Node(DRAW, tuple(range(count)), (), np.full(count, 1 / count))
        nodes = {**beliefs.nodes, DRAW: draw, **{name: _some(line, some) for name, line in lines.items()}}
        for scope, logs in log_densities(nodes, known, evidence.hard, limit * count).items():
            if len(scope) > 1:  # else levels have no say
                found.setdefault(scope[1:], []).append(logs.reshape(count, -1))
    return [_factor(inference, scope, np.concatenate(logs)) for scope, logs in found.items()]


def _some(line: GaussianNode, part: slice) -> GaussianNode:
    """The lines of some draws."""
    return replace(line, intercept=line.intercept[part], slopes=line.slopes[part], variance=line.variance[part])


def _factor(inference: Inference, scope: tuple[str, ...], logs: Array) -> tuple[tuple[int, ...], Array]:
    """Logarithms of densities by draw and configuration as a factor, the largest of each draw 1."""
    variables = tuple(inference.index[name] for name in scope)
    shape = [inference.cards[v] for v in variables]
    return variables, (logs - logs.max(axis=1, keepdims=True)).reshape(len(logs), *shape)
