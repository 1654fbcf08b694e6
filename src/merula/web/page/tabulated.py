"""Kernel densities as tables: Chebyshev pieces of the log density, halved until they are exact, and tails known in closed form.

A table holds no value of a class's sample but the lowest and the highest, which decide how the density falls far out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from merula.core import Array, InputError
from merula.core.logspace import log_sum_exp
from merula.distributions import KernelDistribution
from merula.distributions._kernel_sums import KernelSums
from merula.web.page.plain import array, integers, number

Curve = Callable[[Array], Array]
DEGREE = 18
NODES = chebyshev.chebpts1(DEGREE + 1)
BETWEEN, MEASURED = np.linspace(-1.0, 1.0, 37), np.linspace(-1.0, 1.0, 201)  # places at which a piece is looked at
EXACT = 5e-11  # of a log density; the sums themselves are exact to 1e-10 of a density
ROUNDING = 4e-15  # of the log density itself
SMALL = 1e-13  # a last coefficient that is no larger is left out
NARROWEST = 1e-9  # bandwidths: a piece so narrow is not halved again
FIRST_PIECES, MOST_PIECES = 500, 4_000  # to begin with, and of one curve
LARGEST = 1e-6  # error of a log density that a page may have
NEGLIGIBLE = 40.0  # −log of the share of a sum that says nothing
AT_ONCE = 2_000_000  # terms of sums


@dataclass(frozen=True, eq=False)
class Pieces:
    """A curve from piece to piece: where they begin and the last one ends, the coefficients of each, and the largest error measured."""

    ends: Array
    series: list[Array]
    error: float

    def data(self) -> dict[str, Any]:
        """As the page holds them."""
        starts = np.cumsum([0, *map(len, self.series)])
        return {"ends": array(self.ends), "starts": integers(starts), "series": array(np.concatenate(self.series))}


def tabulated(part: KernelDistribution) -> tuple[list[dict[str, Any]], float]:
    """Each class's curve of one column as data of the page, and the largest error of a log density that was measured."""
    if part.kernel != "gaussian":
        raise InputError.at(
            f"column {part.columns[0]!r}",
            f"cannot be on a page: it is a kernel density with the {part.kernel} kernel, which bends at every training value",
            remedy="use Kernel(kernel='gaussian')",
        )
    curves = [_curve(sums) for sums in part._sums[0]]
    error = max(error for _, error in curves)
    if error > LARGEST:
        raise InputError.at(
            f"column {part.columns[0]!r}",
            "cannot be on a page: its values lie so many bandwidths apart that no table of its kernel density is exact",
            remedy="use distributions='mixture' or 'histogram' for it",
        )
    return [data for data, _ in curves], error


def _curve(sums: KernelSums) -> tuple[dict[str, Any], float]:
    """One class: log density between the ends of its sample; beyond, what stands beside the square of the distance."""
    low, high, h = float(sums.points[0]), float(sums.points[-1]), sums.bandwidth
    parts = {"left": _tail((sums.points - low) / h, sums.weights), "right": _tail((high - sums.points)[::-1] / h, sums.weights[::-1])}  # fmt: skip
    if high > low:
        count = int(min(np.ceil((high - low) / (2 * h)), FIRST_PIECES))
        parts["body"] = pieces(sums.log_density, np.linspace(low, high, count + 1), NARROWEST * h)
    data = {name: part.data() for name, part in parts.items()}
    settled = {"left_end": float(np.log(sums.weights[0])), "right_end": float(np.log(sums.weights[-1]))}
    fields = {"low": number(low), "high": number(high), "bandwidth": number(h), "log_scale": number(sums.log_scale)}
    return {**fields, **settled, **data}, max(part.error for part in parts.values())


def _tail(away: Array, weights: Array) -> Pieces:
    """log Σ weight·exp(−½ away·(away + 2t)) for t from 0 to where only the outermost point is left; distances in bandwidths, from 0."""
    near = 0.5 * away * away < NEGLIGIBLE + np.log(weights.sum() / weights[0])
    away, weights = away[near], weights[near]

    def sums(t: Array) -> Array:
        logs = np.log(weights)
        parts = np.array_split(t, 1 + t.size * away.size // AT_ONCE)
        return np.concatenate([log_sum_exp(logs - 0.5 * away * (away + 2 * one[:, None])) for one in parts])

    last = (NEGLIGIBLE + np.log(weights.sum() / weights[0])) / away[1] if len(away) > 1 else 1.0
    doublings = max(1, int(np.ceil(np.log2(max(last, 1.0)))))
    return pieces(sums, np.concatenate([[0.0], 2.0 ** np.arange(doublings + 1)]), NARROWEST)


def pieces(curve: Curve, ends: Array, narrowest: float) -> Pieces:
    """The curve between these ends, pieces halved while they are not exact at places in between and there are not too many."""
    waiting = list(pairwise(ends.tolist()))
    found: list[tuple[float, float, Array]] = []
    while waiting:
        series = _series(curve, waiting)
        gaps = _gaps(curve, waiting, series, BETWEEN)
        full = len(found) + 2 * len(waiting) > MOST_PIECES
        halved: list[tuple[float, float]] = []
        for (low, high), own, gap in zip(waiting, series, gaps.tolist(), strict=True):
            middle = 0.5 * (low + high)
            if gap <= 0 or full or high - low <= narrowest or not low < middle < high:
                found.append((low, high, _shortened(own)))
            else:
                halved += [(low, middle), (middle, high)]
        waiting = halved
    found.sort(key=lambda piece: piece[0])
    spans, kept = [(low, high) for low, high, _ in found], [own for *_, own in found]
    error = max(
        0.0, float(_gaps(curve, spans, kept, MEASURED, exact=0.0).max())
    )  # beyond the rounding of the log density itself
    return Pieces(np.array([low for low, _ in spans] + [spans[-1][1]]), kept, error)


def _at(spans: list[tuple[float, float]], places: Array) -> tuple[Array, Array]:
    """Numbers within each span, spans × places, and where these lie between −1 and 1: not quite at the places, for they are rounded."""
    low, high = np.array(spans).T[:, :, None]
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    x = np.clip(middle + half * places, low, high)
    return x, (x - middle) / half


def _series(curve: Curve, spans: list[tuple[float, float]]) -> list[Array]:
    """Chebyshev coefficients of the curve on each span, from its values at the nodes."""
    x, places = _at(spans, NODES)
    values = curve(x.ravel()).reshape(x.shape)
    if len(np.unique(places[0])) < DEGREE + 1 or not (np.diff(places, axis=1) > 0).all():  # no room for so many numbers
        return [np.interp(NODES, own, value)[:1] for own, value in zip(places, values, strict=True)]
    return list(np.linalg.solve(chebyshev.chebvander(places, DEGREE), values[:, :, None])[:, :, 0])


def _gaps(
    curve: Curve, spans: list[tuple[float, float]], series: list[Array], places: Array, exact: float = EXACT, rounding: float = ROUNDING
) -> Array:  # fmt: skip
    """By how much the largest error of each piece exceeds what is allowed."""
    x, where = _at(spans, places)
    values = curve(x.ravel()).reshape(x.shape)
    told = np.array([chebyshev.chebval(own, coefficients) for own, coefficients in zip(where, series, strict=True)])
    return (np.abs(told - values) - exact - rounding * np.abs(values)).max(axis=1)  # type: ignore[no-any-return]


def _shortened(series: Array) -> Array:
    """The coefficients without the last that are too small to matter."""
    large = np.flatnonzero(np.abs(series) > SMALL)
    return series[: large[-1] + 1] if len(large) else series[:1]
