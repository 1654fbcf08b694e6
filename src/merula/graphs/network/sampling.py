"""Rows drawn from a network, and answers estimated from them: forward, likelihood weighting, Gibbs, and exact draws.

`sample` is a method of `BayesianNetwork`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError, Option
from merula.core.checks import checked_generator, checked_number, one_of
from merula.data.table import label_array
from merula.graphs.factors.errors import NoSampleError
from merula.graphs.factors.frames import build_table
from merula.graphs.factors.probability_tables import checked_size
from merula.graphs.factors.sampled import SampledDistribution, from_weighted_cells
from merula.graphs.network.evidence import NOTHING_KNOWN, Evidence, check_possible
from merula.graphs.network.node import AnyNode, GaussianNode
from merula.graphs.network.random_draws import Draws, State, draw_posterior, draw_weighted, needed_for, sweeps

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork

Nodes = Mapping[str, AnyNode]
METHODS = ("exact", "likelihood-weighting", "gibbs", "forward")
CHAINS = 100  # of Gibbs sampling, side by side
BURN_IN = 100  # sweeps whose states are not used
STARTS = 5_000  # rows drawn by likelihood weighting, from which the chains' first states are taken
TRIES = 100  # rows that rejection draws, for each one wanted, before it gives up


def checked_count(count: Any, what: str, least: int) -> int:
    """The number itself if it is one of rows."""
    return int(checked_number(count, what, f"a number of rows from {least}", lambda n: n >= least, whole=True))


# ------------------------------------------------------------------------------------------------------------- estimates


def estimated(
    nodes: Nodes, asked: Sequence[str], evidence: Evidence, method: str, samples: Any, random_state: Any
) -> SampledDistribution:
    """The posterior of some variables as frequencies of random draws; only their and the evidence's ancestors are drawn."""
    estimate = ESTIMATES[one_of(method, METHODS, "method")]
    numeric = next((name for name in asked if isinstance(nodes[name], GaussianNode)), None)
    if numeric is not None:
        raise InputError(f"{numeric!r} is numeric", where=f"variable {numeric!r}", remedy=(Option('method', method), " estimates probabilities of levels: ask with ", Option('method', 'exact'), ", or draw numbers with sample()"))  # fmt: skip
    checked_size({name: nodes[name].levels for name in asked})
    needed = needed_for(nodes, {*asked, *evidence.names})
    return estimate(needed, asked, evidence, checked_count(samples, "samples", 1), checked_generator(random_state))


def _by_weights(
    nodes: Nodes, asked: Sequence[str], evidence: Evidence, samples: int, rng: np.random.Generator
) -> SampledDistribution:
    drawn = _agreeing(draw_weighted(nodes, evidence, samples, rng), evidence)
    return from_weighted_cells(asked, _levels(nodes, asked), _cells(nodes, asked, drawn.state), drawn.weights)


def _by_rejection(
    nodes: Nodes, asked: Sequence[str], evidence: Evidence, samples: int, rng: np.random.Generator
) -> SampledDistribution:
    state, kept = _kept(nodes, evidence, samples, rng)
    if not kept.any():
        raise _none_left(evidence, samples, "likelihood-weighting")
    cells = _cells(nodes, asked, state)[kept]
    return from_weighted_cells(asked, _levels(nodes, asked), cells, np.ones(len(cells)))


def _by_chains(
    nodes: Nodes, asked: Sequence[str], evidence: Evidence, samples: int, rng: np.random.Generator
) -> SampledDistribution:
    """Frequencies over all chains; they are independent, so the spread of their own frequencies is an honest error."""
    chains = max(2, min(CHAINS, samples))
    levels, steps = _levels(nodes, asked), -(-samples // chains)
    counts = np.zeros((chains, int(np.prod([len(labels) for labels in levels]))))
    states = sweeps(nodes, evidence, _starts(nodes, evidence, chains, rng), BURN_IN, rng)
    for _, state in zip(range(steps), states, strict=False):
        counts[np.arange(chains), _cells(nodes, asked, state)] += 1
    shares = counts / steps
    p, variances = shares.mean(axis=0), shares.var(axis=0, ddof=1) / chains
    spread = float(variances.sum())
    size = min(float((p * (1 - p)).sum()) / spread, steps * chains) if spread > 0 else steps * chains
    shape = [len(labels) for labels in levels]
    return SampledDistribution.of_draws(asked, levels, p.reshape(shape), variances.reshape(shape), max(size, 1.0))


ESTIMATES: dict[str, Callable[..., SampledDistribution]] = {
    "likelihood-weighting": _by_weights,
    "gibbs": _by_chains,
    "forward": _by_rejection,
}


def _levels(nodes: Nodes, asked: Sequence[str]) -> list[tuple[Any, ...]]:
    return [nodes[name].levels for name in asked]


def _cells(nodes: Nodes, asked: Sequence[str], state: State) -> NDArray[np.int64]:
    """The cell of the asked variables' table that each draw falls into."""
    return np.ravel_multi_index(tuple(state[name] for name in asked), tuple(len(nodes[name].levels) for name in asked))


# ------------------------------------------------------------------------------------------------------------------ rows


def sample(
    network: BayesianNetwork,
    n: int = 1,
    given: Any = None,
    *,
    random_state: Any = None,
    method: str | None = None,
    limit: float | None = None,
) -> Any:
    """`n` rows drawn from the network, given what is known: a table with one column for each variable.

    Parameters
    ----------
    n : int
        The number of rows.
    given : mapping
        What is known, as for `query`.
    random_state : None, int or Generator
        The same rows for the same number.
    method : None, "exact", "likelihood-weighting", "gibbs" or "forward"
        By default rows are independent draws from the exact posterior, which must fit into the limit. The others are for what
        does not: rows chosen by their weights, states of chains (neighbours are alike), or rows kept because they agree with
        the evidence (exact, but slow where it is rare).
    limit : float, optional
        As for `query`.

    Examples
    --------
    >>> import merula as mr
    >>> network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
    >>> network = network.add("wet", ["no", "yes"], [[1.0, 0.0], [0.2, 0.8]], parents=["rain"])
    >>> network.sample(2, given={"wet": "yes"}, random_state=0)
      rain  wet
    0  yes  yes
    1  yes  yes
    """
    evidence, count, rng = network._read(given), checked_count(n, "n", 0), checked_generator(random_state)
    if method is not None:
        one_of(method, METHODS, "method")
    nodes = needed_for(network._nodes, network.variables)
    if not evidence.names and method != "gibbs":
        state = draw_weighted(nodes, evidence, count, rng).state
    elif method is None or method == "exact":
        log, state = draw_posterior(nodes, network._inference, evidence, count, rng, network._limit(limit))
        check_possible(log, evidence)
    else:
        state = DRAWERS[method](nodes, evidence, count, rng)
    return as_table(network._nodes, state)


def as_table(nodes: Nodes, state: State) -> Any:
    """Draws as a table: a column for each variable, labels for levels."""
    return build_table(
        {
            name: state[name] if isinstance(node, GaussianNode) else label_array(node.levels)[state[name]]
            for name, node in nodes.items()
        }
    )


def _resampled(nodes: Nodes, evidence: Evidence, n: int, rng: np.random.Generator) -> State:
    """Rows chosen by their weights from five times as many (sampling importance resampling, Rubin 1988)."""
    drawn = _agreeing(draw_weighted(nodes, evidence, max(5 * n, STARTS), rng), evidence)
    weights = drawn.weights
    return _picked(drawn.state, rng.choice(len(weights), size=n, p=weights / weights.sum()))


def _from_chains(nodes: Nodes, evidence: Evidence, n: int, rng: np.random.Generator) -> State:
    chains = max(1, min(CHAINS, n))
    states = sweeps(nodes, evidence, _starts(nodes, evidence, chains, rng), BURN_IN, rng)
    parts = [dict(state) for _, state in zip(range(-(-n // chains)), states, strict=False)]
    return {name: np.concatenate([part[name] for part in parts] or [np.zeros(0, np.int64)])[:n] for name in nodes}


def _accepted(nodes: Nodes, evidence: Evidence, n: int, rng: np.random.Generator) -> State:
    """Rows drawn without the evidence until enough of them agree with it."""
    parts: list[State] = []
    drawn = found = 0
    while found < n:
        size = max(n, STARTS)
        state, kept = _kept(nodes, evidence, size, rng)
        parts.append(_picked(state, kept))
        drawn, found = drawn + size, found + int(kept.sum())
        if found < n and drawn >= TRIES * size:
            raise NoSampleError(f"of {drawn:,} rows drawn, {found:,} agree with the evidence {evidence}, {n:,} are wanted", remedy=("use ", Option('method', ('exact', 'likelihood-weighting'))))  # fmt: skip
    return {name: np.concatenate([part[name] for part in parts])[:n] for name in nodes} if parts else draw_weighted(nodes, NOTHING_KNOWN, 0, rng).state  # fmt: skip


DRAWERS = {"likelihood-weighting": _resampled, "gibbs": _from_chains, "forward": _accepted}


def _picked(state: State, rows: Any) -> State:
    return {name: values[rows] for name, values in state.items()}


# -------------------------------------------------------------------------------------------------------------- evidence


def _agreeing(drawn: Draws, evidence: Evidence) -> Draws:
    if not drawn.weights.any():
        raise _none_left(evidence, len(drawn.log_weights), "exact")
    return drawn


def _none_left(evidence: Evidence, samples: int, better: str) -> NoSampleError:
    return NoSampleError(
        f"none of {samples:,} rows drawn agrees with the evidence {evidence}: it is impossible, or rare",
        where="samples",
        got=samples,
        remedy=("draw more with ", Option("samples"), ", or use ", Option("method", better)),
    )


def _kept(nodes: Nodes, evidence: Evidence, n: int, rng: np.random.Generator) -> tuple[State, NDArray[np.bool_]]:
    """Rows drawn without the evidence, and which of them agree: by a likelihood λ, with probability λ / max λ."""
    if evidence.numbers:
        raise InputError((Option('method', 'forward'), " keeps rows that equal the evidence, which no number drawn ever does"), where='method', got='forward', remedy=(f"{next(iter(evidence.numbers))!r} is numeric: use ", Option('method', ('exact', 'likelihood-weighting'))))  # fmt: skip
    state, kept = draw_weighted(nodes, NOTHING_KNOWN, n, rng).state, np.ones(n, np.bool_)
    for name, code in evidence.hard.items():
        kept &= state[name] == code
    for name, likelihood in evidence.soft.items():
        kept &= rng.random(n) < likelihood[state[name]] / likelihood.max()
    return state, kept


def _starts(nodes: Nodes, evidence: Evidence, chains: int, rng: np.random.Generator) -> State:
    """First states of the chains: rows that agree with the evidence, chosen by their weights."""
    numeric = next((name for name, node in nodes.items() if isinstance(node, GaussianNode)), None)
    if numeric is not None:
        raise InputError((Option('method', 'gibbs'), f" draws levels, but the question depends on {numeric!r}, which is numeric"), where='method', got='gibbs', remedy=("use ", Option('method', ('exact', 'likelihood-weighting'))))  # fmt: skip
    drawn = _agreeing(draw_weighted(nodes, evidence, STARTS, rng), evidence)
    weights: Array = drawn.weights
    return _picked(drawn.state, rng.choice(len(weights), size=chains, p=weights / weights.sum()))
