"""How frequent the classes are among rows whose classes are not known, from the model's posteriors (Saerens, Latinne & Decaestecker 2002).

Where the densities given the class are as they were, the rows' likelihood is Σ_row log Σ_c π_c · r_c with r_c = P(c given row) / P(c).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2

from merula.classify.fitted import FittedModel
from merula.core import Array
from merula.core.logspace import to_posterior
from merula.data.encode import Encoded

STEPS, CLOSE = 5_000, 1e-10  # of EM; nats per step at which it has arrived
FINE, LEFT = (
    1e-9,
    1e-3,
)  # nats of a step, and of all steps to come, at which EM is near enough for what is compared with 1.92
PROFILED = 3_000_000  # ratios, beyond which intervals are normal ones of the log-odds
LEVEL = 0.95
EDGE = 1e-9  # of a share: 0 and 1 themselves have no likelihood


@dataclass(frozen=True)
class Share:
    """How frequent a class is: when the model learned, now, and the ends of the 95 % interval of that."""

    then: float
    now: float
    low: float
    high: float


def ratios(posterior: Array, prior: Array) -> Array:
    """P(row given class) / P(row) as the model has it: rows × classes; 0 of a class that it rules out from the start."""
    return np.asarray(np.divide(posterior, prior, out=np.zeros_like(posterior), where=prior > 0))


def shares_of(found: Array, counts: Array | None = None, start: Array | None = None) -> tuple[Array, float]:
    """The prevalences of most likelihood by EM, and its logarithm; together with `counts` of rows whose classes are known.

    π_c ← (n_c + Σ_row π_c·r_c / Σ_k π_k·r_k) / (n + rows)

    Examples
    --------
    >>> posterior = np.array([[0.9, 0.1]] * 3 + [[0.1, 0.9]])
    >>> shares_of(ratios(posterior, np.array([0.5, 0.5])))[0].round(3).tolist()
    [0.812, 0.188]
    """
    known = np.zeros(found.shape[1]) if counts is None else counts
    shares = np.where(found.any(axis=0) | (known > 0), 1.0, 0.0) if start is None else start
    shares, before, step = shares / shares.sum(), -np.inf, 0
    while step < STEPS:
        likely = found @ shares
        value = float(np.log(np.maximum(likely, 1e-300)).sum()) + _log_counts(known, shares)
        if value - before <= CLOSE * max(1.0, len(found)) * 1e-3:
            return shares, value
        before, step = value, step + 1
        weights = np.divide(1.0, likely, out=np.zeros_like(likely), where=likely > 0)
        shares = known + shares * (weights @ found)
        shares = shares / shares.sum()
    return shares, before


def drawn_shares(models: Iterable[FittedModel], read: Encoded, near: Array) -> Array:
    """The prevalences of most likelihood of the same rows under each of some models: models × classes."""
    return np.array([_nearly(0.0, _asked(model, read), near)[1] for model in models])


def _asked(model: FittedModel, read: Encoded) -> Array:
    """The ratios of each row that the model does not rule out."""
    posterior = np.empty((len(read), len(model.classes)))
    model.write_log_joint(read.apart(), posterior)
    to_posterior(posterior, model.log_prior)
    found = ratios(posterior, np.exp(model.log_prior))
    return found[(found > 0).any(axis=1)]


def widened(ends: tuple[float, float], share: float, drawn: Array) -> tuple[float, float]:
    """Both ends, further off by how far the shares differ between models that are drawn: squares of reaches add.

    On the scale arcsin √share, on which 0 and 1 are as near as any other share; each side by itself.

    Examples
    --------
    >>> [round(end, 3) for end in widened((0.2, 0.4), 0.3, np.array([0.3, 0.3, 0.3]))]
    [0.2, 0.4]
    >>> [round(end, 3) for end in widened((0.2, 0.4), 0.3, np.array([0.25, 0.3, 0.35]))]
    [0.167, 0.445]
    """
    low, own, high = np.arcsin(np.sqrt(np.clip([ends[0], share, ends[1]], 0.0, 1.0)))
    more = float(np.sqrt(chi2.ppf(LEVEL, 1))) * float(np.std(np.arcsin(np.sqrt(np.clip(drawn, 0.0, 1.0))), ddof=1))
    below, above = max(0.0, own - np.hypot(own - low, more)), min(0.5 * np.pi, own + np.hypot(high - own, more))
    return float(np.sin(below) ** 2), float(np.sin(above) ** 2)


def _log_counts(counts: Array, shares: Array) -> float:
    met = counts > 0
    return float(counts[met] @ np.log(np.maximum(shares[met], 1e-300)))


def interval(found: Array, shares: Array, best: float, index: int) -> tuple[float, float]:
    """The shares of one class at which twice the log likelihood, the other shares as likely as can be, falls by no more than chance has it."""
    if found.size > PROFILED:
        return _normal_interval(found, shares, index)
    others = [k for k in range(len(shares)) if k != index]
    allowed = float(chi2.ppf(LEVEL, 1))

    def lacks(share: float) -> float:
        return 2 * (best - _profiled(found, shares, index, others, share)) - allowed

    own = float(np.clip(shares[index], EDGE, 1 - EDGE))
    low = brentq(lacks, EDGE, own, xtol=1e-6) if lacks(EDGE) > 0 > lacks(own) else 0.0
    high = brentq(lacks, own, 1 - EDGE, xtol=1e-6) if lacks(1 - EDGE) > 0 > lacks(own) else 1.0
    return float(low), float(high)


def _profiled(found: Array, shares: Array, index: int, others: list[int], share: float) -> float:
    """The log likelihood where one class has this share, and the others share the rest as is most likely."""
    own, rest = share * found[:, index], (1 - share) * found[:, others]
    if len(others) == 1:
        return float(np.log(np.maximum(own + rest[:, 0], 1e-300)).sum())
    return _nearly(own, rest, shares[others])[0]


def _nearly(given: Array | float, found: Array, near: Array) -> tuple[float, Array]:
    """The largest Σ_row log(given + Σ_c π_c·found_c), as near as it is compared by, and its π."""
    # half of it equal shares: from a share of nearly 0, EM leaves so slowly that it would seem to have arrived
    shares = 0.5 * near / max(float(near.sum()), 1e-300) + 0.5 / len(near)
    value = gain = -np.inf
    for step in range(STEPS):
        likely = np.maximum(given + found @ shares, 1e-300)
        before, earlier, value = value, gain, float(np.log(likely).sum())
        gain = value - before
        # Aitken: once there are two gains, what is left of their geometric series
        if step > 1 and (gain <= FINE or gain * gain <= LEFT * (earlier - gain)):
            break
        shares = shares * ((1 / likely) @ found)
        shares = shares / shares.sum()
    return value, shares


def _normal_interval(found: Array, shares: Array, index: int) -> tuple[float, float]:
    """From the observed information Σ_row (r_c − r_K)(r_d − r_K) / P(row)², on the log-odds of the share."""
    free = [k for k in range(len(shares)) if shares[k] > EDGE]
    if index not in free or len(free) < 2:
        return (float(shares[index]),) * 2
    last = next(k for k in reversed(free) if k != index)
    some = [k for k in free if k != last]
    slopes = (found[:, some] - found[:, [last]]) / np.maximum(found @ shares, 1e-300)[:, None]
    variance = float(np.linalg.pinv(slopes.T @ slopes)[some.index(index), some.index(index)])
    own = float(shares[index])
    reach = float(np.sqrt(chi2.ppf(LEVEL, 1) * variance)) / (own * (1 - own))
    odds = np.log(own / (1 - own)) + np.array([-reach, reach])
    low, high = 1 / (1 + np.exp(-odds))
    return float(low), float(high)


def changed(found: Array, counts: Array | None, stated: Array) -> float:
    """The likelihood-ratio test that prevalences are what they were: those of the rows that were counted, or those stated.

    2·(max log L(rows counted) + max log L(new rows) − max log L(both together)), which has a χ² distribution.
    """
    _, own = shares_of(found)
    met = stated > 0 if counts is None else counts > 0
    freedom = int(met.sum()) - 1
    if freedom < 1:
        return 1.0
    if counts is None:
        together, before = float(np.log(np.maximum(found @ stated, 1e-300)).sum()), 0.0
    else:
        before = _log_counts(counts, counts / counts.sum())
        _, together = shares_of(found, counts, counts / counts.sum())
    return float(chi2.sf(max(0.0, 2 * (own + before - together)), freedom))
