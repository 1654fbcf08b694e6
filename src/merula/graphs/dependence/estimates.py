"""P(level given class and parents) from counts: pseudo-counts, or each estimate the prior of the one with a parent more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from merula.core import Array, InputError
from merula.data.schema import Label
from merula.distributions.priors import MEstimate, Smoothing, checked_smoothing, pseudo_counts

BACKOFF, BDEU = "backoff", "bdeu"
CONCENTRATIONS = 2.0 ** np.arange(-3, 13)  # imaginary rows that the estimate with fewer parents may be worth
DIGITS = 12  # likelihoods per row are compared rounded to this many decimals
BDEU_SIZE = 1.0  # imaginary rows in all


@dataclass(frozen=True, eq=False)
class Estimate:
    """P(level given class and parents), an axis for the class, each parent and the levels; and that of a level never met."""

    known: Array
    unseen: Array


def checked(smoothing: Any, columns: Sequence[str]) -> Smoothing | str:
    """The option itself if it is one of these ways, else a ValueError."""
    if isinstance(smoothing, str):
        if smoothing not in (BACKOFF, BDEU):
            raise InputError.of("smoothing", smoothing, "'backoff', 'bdeu', a pseudo-count from 0 or MEstimate(m, p)")
        return smoothing
    return checked_smoothing(smoothing, columns)


def estimate(
    counts: Sequence[Array], smoothing: Smoothing | str, column: str, levels: Sequence[Label], classes: Sequence[Label]
) -> Estimate:
    """The estimate from the counts given no parent, one, two, …: each has an axis for the class, its parents, the levels."""
    if smoothing == BACKOFF:
        return backed_off(counts)
    more = imagined(counts[-1].shape, smoothing, column, levels, classes)
    total = (counts[-1] + more).sum(axis=-1, keepdims=True)
    fewer = estimate(counts[:-1], smoothing, column, levels, classes) if len(counts) > 1 else _pooled(counts[0])
    empty = total[..., 0] <= 0  # nothing seen and nothing imagined: as with a parent fewer
    known = np.where(total > 0, (counts[-1] + more) / np.where(total > 0, total, 1.0), fewer.known[..., None, :] if len(counts) > 1 else fewer.known)  # fmt: skip
    share = more.sum(axis=-1) / max(1, more.shape[-1]) / np.where(empty, 1.0, total[..., 0])
    return Estimate(known, np.where(empty, fewer.unseen[..., None] if len(counts) > 1 else fewer.unseen, share))


def imagined(
    shape: tuple[int, ...], smoothing: Smoothing | str, column: str, levels: Sequence[Label], classes: Sequence[Label]
) -> Array:
    """The rows imagined in every cell."""
    if smoothing == BDEU:
        return np.full(shape, BDEU_SIZE / max(1, prod(shape)))
    assert isinstance(smoothing, float | MEstimate)
    of_class = pseudo_counts(smoothing, column, levels, classes)
    return np.broadcast_to(of_class.reshape(shape[0], *(1,) * (len(shape) - 2), shape[-1]), shape)


def _pooled(counts: Array) -> Estimate:
    """The shares of all classes together, for those of which nothing is known."""
    total = counts.sum(axis=0)
    shares = total / total.sum() if total.any() else np.full(len(total), 1 / max(1, len(total)))
    return Estimate(np.broadcast_to(shares, counts.shape), np.zeros(len(counts)))


def backed_off(counts: Sequence[Array], rows: float | None = None) -> Estimate:
    """Estimates along a chain, each the prior of the next: uniform, P(level), given the class, given one parent after the other.

    P(v given s) = (n_sv + m · P(v given s without its last parent)) / (n_s + m). Of each step, m is the stated number of `rows`, or the
    one under which rows, each left out of all counts in turn, are most probable; that takes no more than the counts.
    """
    levels = counts[0].shape[-1]
    whole, unseen = np.full(levels, 1 / max(1, levels)), np.full((), 1 / max(1, levels))
    for table, m in zip([counts[0].sum(axis=0), *counts], concentrations(counts, rows), strict=True):
        if table.ndim > 1:
            whole, unseen = whole[..., None, :], unseen[..., None]
        total = table.sum(axis=-1, keepdims=True)
        whole, unseen = (table + m * whole) / (total + m), m * unseen / (total[..., 0] + m)
    return Estimate(whole, np.broadcast_to(unseen, whole.shape[:-1]))


def concentrations(counts: Sequence[Array], rows: float | None = None) -> list[float]:
    """How many rows each estimate along the chain of `backed_off` is worth to the next, the first for P(level)."""
    levels = counts[0].shape[-1]
    left_out, found = np.full(levels, 1 / max(1, levels)), list[float]()
    for table in [counts[0].sum(axis=0), *counts]:
        if table.ndim > 1:
            left_out = left_out[..., None, :]
        total = table.sum(axis=-1, keepdims=True)
        found.append(_best_concentration(table, total, left_out) if rows is None else rows)
        left_out = _leaving_one_out(table, total, left_out, found[-1])
    return found


def _leaving_one_out(table: Array, total: Array, prior: Array, m: float) -> Array:
    """The estimate for each cell without one of its own rows."""
    return (np.maximum(table - 1, 0.0) + m * prior) / (np.maximum(total - 1, 0.0) + m)


def _best_concentration(table: Array, total: Array, prior: Array) -> float:
    met = table > 0
    mass = max(float(table.sum()), 1.0)
    scores = [
        (table[met] * np.log(_leaving_one_out(table, total, prior, m)[met])).sum() / mass
        for m in CONCENTRATIONS.tolist()
    ]
    rounded = np.round(scores, DIGITS)
    return float(CONCENTRATIONS[len(rounded) - 1 - int(np.argmax(rounded[::-1]))])  # of equal ones the largest


@dataclass(frozen=True, eq=False)
class LeftOut:
    """P(level given class and parents) without one row of that level and those parents: of its `own` class, of the `other` ones.

    Other classes change as well where estimates share what they back off to.
    """

    own: Array
    other: Array


def left_out(
    counts: Sequence[Array], smoothing: Smoothing | str, column: str, levels: Sequence[Label], classes: Sequence[Label]
) -> list[LeftOut]:
    """For each depth the estimates without one row, in closed form: levels stay, and so do concentrations."""
    if smoothing == BACKOFF:
        return without_one(counts)
    found = [_pooled_without_one(counts[0])]
    for depth, table in enumerate(counts):
        fewer = found[-1] if not depth else LeftOut(found[-1].own[..., None, :], found[-1].other[..., None, :])
        one = np.minimum(table, 1.0)
        more = table + imagined(table.shape, smoothing, column, levels, classes)
        total = more.sum(axis=-1, keepdims=True)
        found.append(LeftOut(_share(more - one, total - one, fewer.own), _share(more, total, fewer.other)))
    return found[1:]


def _pooled_without_one(counts: Array) -> LeftOut:
    """The shares of all classes together, without one row."""
    total = counts.sum(axis=0)
    one = np.minimum(total, 1.0)
    shares = np.broadcast_to(_share(total - one, total.sum() - one, np.full(total.shape, 1 / max(1, len(total)))), counts.shape)  # fmt: skip
    return LeftOut(shares, shares)


def _share(part: Array, whole: Array, otherwise: Array) -> Array:
    """part / whole; where there is nothing, as otherwise."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), otherwise)


def without_one(counts: Sequence[Array], rows: float | None = None) -> list[LeftOut]:
    """The chain of `backed_off` without one row; what all classes back off to, P(level), lost it too."""
    levels = counts[0].shape[-1]
    own = other = np.full(levels, 1 / max(1, levels))
    found = []
    for table in [counts[0].sum(axis=0), *counts]:
        if table.ndim > 1:
            own, other = own[..., None, :], other[..., None, :]
        total = table.sum(axis=-1, keepdims=True)
        m = _best_concentration(table, total, own) if rows is None else rows
        own = _leaving_one_out(table, total, own, m)
        other = (table + m * other) / (total + m) if table.ndim > 1 else own
        found.append(LeftOut(own, other))
    return found[1:]
