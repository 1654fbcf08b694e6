"""Rows drawn from a network, and answers estimated from them: forward, likelihood weighting, Gibbs, and exact draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.factors.cells import checked_size
from merula.factors.errors import NoSampleError
from merula.factors.frames import build_table
from merula.factors.sampled import SampledDistribution, from_weighted_cells
from merula.logspace import Array
from merula.network import gibbs
from merula.network.draws import Draws, State, draw_weighted, needed_for
from merula.network.evidence import Evidence
from merula.network.inference import Inference
from merula.network.node import AnyNode, GaussianNode
from merula.network.numeric_draws import draw_posterior
from merula.schema import one_of
from merula.table import label_array

Nodes = Mapping[str, AnyNode]
METHODS = ("exact", "likelihood-weighting", "gibbs", "forward")
NOTHING = Evidence({}, {}, {}, {})
CHAINS = 100  # of Gibbs sampling, side by side
BURN_IN = 100  # sweeps whose states are not used
STARTS = 5_000  # rows drawn by likelihood weighting, from which the chains' first states are taken
TRIES = 100  # rows that rejection draws, for each one wanted, before it gives up


def checked_count(count: Any, what: str, least: int) -> int:
    """The number itself if it is one of rows."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < least:
        raise ValueError(f"{what} is {count!r}, expected a number of rows from {least}")
    return int(count)


# ------------------------------------------------------------------------------------------------------------- estimates


def estimated(
    nodes: Nodes, asked: Sequence[str], evidence: Evidence, method: str, samples: Any, random_state: Any
) -> SampledDistribution:
    """The posterior of some variables as frequencies of random draws; only their and the evidence's ancestors are drawn."""
    estimate = ESTIMATES[one_of(method, METHODS, "method")]
    numeric = next((name for name in asked if isinstance(nodes[name], GaussianNode)), None)
    if numeric is not None:
        raise ValueError(f"{numeric!r} is numeric; method={method!r} estimates probabilities of levels: ask with method='exact', or draw numbers with sample()")  # fmt: skip
    checked_size({name: nodes[name].levels for name in asked})
    needed = needed_for(nodes, {*asked, *evidence.names})
    return estimate(needed, asked, evidence, checked_count(samples, "samples", 1), np.random.default_rng(random_state))


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
        raise NoSampleError(_none_left(evidence, samples, "likelihood-weighting"))
    cells = _cells(nodes, asked, state)[kept]
    return from_weighted_cells(asked, _levels(nodes, asked), cells, np.ones(len(cells)))


def _by_chains(
    nodes: Nodes, asked: Sequence[str], evidence: Evidence, samples: int, rng: np.random.Generator
) -> SampledDistribution:
    """Frequencies over all chains; they are independent, so the spread of their own frequencies is an honest error."""
    chains = max(2, min(CHAINS, samples))
    levels, steps = _levels(nodes, asked), -(-samples // chains)
    counts = np.zeros((chains, int(np.prod([len(labels) for labels in levels]))))
    states = gibbs.sweeps(nodes, evidence, _starts(nodes, evidence, chains, rng), BURN_IN, rng)
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
    shape = tuple(len(nodes[name].levels) for name in asked)
    return np.ravel_multi_index(tuple(state[name] for name in asked), shape)


# ------------------------------------------------------------------------------------------------------------------ rows


def sample(
    nodes: Nodes,
    inference: Callable[[], Inference],
    evidence: Evidence,
    n: int,
    random_state: Any,
    method: str | None,
    limit: float,
) -> tuple[float, State]:
    """The log probability of the evidence (0 where it is not computed), and `n` rows drawn given it."""
    rng, needed = np.random.default_rng(random_state), needed_for(nodes, nodes)
    if method is not None:
        one_of(method, METHODS, "method")
    if not evidence.names and method != "gibbs":
        return 0.0, draw_weighted(needed, evidence, n, rng).state
    if method is None or method == "exact":
        return draw_posterior(needed, inference(), evidence, n, rng, limit)
    return 0.0, DRAWERS[method](needed, evidence, n, rng)


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
    states = gibbs.sweeps(nodes, evidence, _starts(nodes, evidence, chains, rng), BURN_IN, rng)
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
            raise NoSampleError(f"of {drawn:,} rows drawn, {found:,} agree with the evidence {evidence}, {n:,} are wanted; use method='exact' or 'likelihood-weighting'")  # fmt: skip
    return {name: np.concatenate([part[name] for part in parts])[:n] for name in nodes} if parts else draw_weighted(nodes, NOTHING, 0, rng).state  # fmt: skip


DRAWERS = {"likelihood-weighting": _resampled, "gibbs": _from_chains, "forward": _accepted}


def _picked(state: State, rows: Any) -> State:
    return {name: values[rows] for name, values in state.items()}


# -------------------------------------------------------------------------------------------------------------- evidence


def _agreeing(drawn: Draws, evidence: Evidence) -> Draws:
    if not drawn.weights.any():
        raise NoSampleError(_none_left(evidence, len(drawn.log_weights), "exact"))
    return drawn


def _none_left(evidence: Evidence, samples: int, better: str) -> str:
    return f"none of {samples:,} rows drawn agrees with the evidence {evidence}: it is impossible, or rare; draw more with samples=, or use method={better!r}"


def _kept(nodes: Nodes, evidence: Evidence, n: int, rng: np.random.Generator) -> tuple[State, NDArray[np.bool_]]:
    """Rows drawn without the evidence, and which of them agree: by a likelihood λ, with probability λ / max λ."""
    if evidence.numbers:
        raise ValueError(f"method='forward' keeps rows that equal the evidence, which no number drawn ever does; {next(iter(evidence.numbers))!r} is numeric: use method='exact' or 'likelihood-weighting'")  # fmt: skip
    state, kept = draw_weighted(nodes, NOTHING, n, rng).state, np.ones(n, np.bool_)
    for name, code in evidence.hard.items():
        kept &= state[name] == code
    for name, likelihood in evidence.soft.items():
        kept &= rng.random(n) < likelihood[state[name]] / likelihood.max()
    return state, kept


def _starts(nodes: Nodes, evidence: Evidence, chains: int, rng: np.random.Generator) -> State:
    """First states of the chains: rows that agree with the evidence, chosen by their weights."""
    numeric = next((name for name, node in nodes.items() if isinstance(node, GaussianNode)), None)
    if numeric is not None:
        raise ValueError(f"method='gibbs' draws levels, but the question depends on {numeric!r}, which is numeric; use method='exact' or 'likelihood-weighting'")  # fmt: skip
    drawn = _agreeing(draw_weighted(nodes, evidence, STARTS, rng), evidence)
    weights: Array = drawn.weights
    return _picked(drawn.state, rng.choice(len(weights), size=chains, p=weights / weights.sum()))
