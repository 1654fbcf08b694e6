"""Lines of configurations, drawn given their rows and a prior that has neither place nor scale of its own.

What `NormalChain` is to normal columns given the class, with slopes: a configuration is a class, and its line a mean that moves with the parents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.distributions.gaussian import PRIOR_FREEDOM, PRIOR_ROWS, ROUNDING, UNTOLD, usual_of
from merula.graphs.structure.family_scores import ROWS_PER_PARAMETER, regressions

SINGULAR = 1e-9  # the least eigenvalue of the parents' correlations within configurations
RIDGE = 1e-12  # of a precision: rounding makes none negative
CHAINS, ROOM = 200, 2**22  # that go side by side, and the numbers that they hold at once


@dataclass(frozen=True, eq=False)
class LineChain:
    """Lines and variances of configurations g given their rows, X̃ = [1, x − x₀] and y, and a prior like that of `NormalChain`.

    σ²_g = ν₀·s² / χ²(ν₀), line_g ~ N(line₀, σ²_g·P⁻¹), P = κ₀·diag(1, V), with line₀ and log s flat

    V is the scatter of the numeric parents within configurations per row, and x₀ their mean, so that line₀ is worth κ₀ rows to each. In
    coordinates in which P = 1 (`unwhiten` leads back), with M = X̃'X̃, A = M·(1 + M)⁻¹, a line `fitted` by least squares that leaves
    RSS, and rest_g(line) = RSS_g + (fitted_g − line)'·A_g·(fitted_g − line), drawn in turn, lines being averaged out:

    s² ~ Gamma(G·ν₀ / 2, 2 / (ν₀·Σ_g 1/σ²_g)),  σ²_g = (ν₀·s² + rest_g(line₀)) / χ²(ν₀ + n_g)
    all σ²_g times Σ_g rest_g(middle)/σ²_g / χ²(n − k − 1), then line₀ ~ N(middle, (Σ_g A_g/σ²_g)⁻¹), `middle` minimising that sum
    line_g ~ N(line₀ + A_g·(fitted_g − line₀), σ²_g·(1 + M_g)⁻¹)

    The third moves all scales together (Liu & Sabatti 2000, "Generalised Gibbs sampler and multigrid Monte Carlo"), so that one
    configuration has its posterior under the flat prior at once: σ² = RSS / χ²(n − k − 1). Those without a row tell nothing, and are left out.
    """

    rows: Array
    fitted: Array
    slopes: Array  # the same, not in these coordinates
    rest: Array
    roots: Array  # of A: A = root'·root
    spreads: Array  # R⁻¹, with R'·R = 1 + M
    at_means: Array  # [1, x̄_g − x₀] in these coordinates, times R⁻¹
    unwhiten: Array
    floor: float  # of a variance
    start: float  # a usual σ²
    told: bool  # whether rows tell of the scale; else it stays where it starts

    @property
    def width(self) -> int:
        """The coefficients of a line."""
        return self.fitted.shape[1]

    @cached_property
    def _about(self) -> Array:
        """A: what rows of a configuration tell of line₀."""
        return self.roots.transpose(0, 2, 1) @ self.roots

    @cached_property
    def _pull(self) -> Array:
        return np.einsum("gij,gj->gi", self._about, self.fitted)

    @cached_property
    def _seen(self) -> Array:
        return np.einsum("gij,gj->gi", self.roots, self.fitted).ravel()

    def draws(self, n: int, rng: np.random.Generator) -> Iterator[tuple[Array, Array, Array, Array, Array]]:
        """Draws of line₀, s², and of each configuration's variance, mean where its rows are, and slopes, until there are `n`.

        Many chains go side by side. A mean is told from the mean of the configuration's rows.
        """
        chains = max(1, min(n, CHAINS, ROOM // self.fitted.size))
        begin = (PRIOR_FREEDOM * self.start + self.rest) / (PRIOR_FREEDOM + self.rows)
        variance, place = self._placed(np.broadcast_to(np.maximum(begin, self.floor), (chains, len(self.rows))), rng)
        for step in range(UNTOLD + -(-n // chains)):
            scale = self._scale(variance, rng)
            squares = PRIOR_FREEDOM * scale[:, None] + self._left(place)
            variance = np.maximum(squares / rng.chisquare(PRIOR_FREEDOM + self.rows, squares.shape), self.floor)
            variance, place = self._placed(variance, rng)
            if step >= UNTOLD:
                yield place, self._scale(variance, rng), variance, *self._lines(place, variance, rng)

    def _left(self, place: Array) -> Array:
        """rest_g of lines: chains × configurations."""
        groups, width = self.fitted.shape
        away = self._seen - place @ self.roots.reshape(-1, width).T
        away = away.reshape(-1, groups, width)
        return self.rest + np.einsum("cgi,cgi->cg", away, away)

    def _scale(self, variance: Array, rng: np.random.Generator) -> Array:
        """s² given variances."""
        chains, groups = variance.shape
        if not self.told:
            return np.full(chains, self.start)
        rate = 0.5 * PRIOR_FREEDOM * (1 / variance).sum(axis=1)
        return np.maximum(rng.standard_gamma(0.5 * PRIOR_FREEDOM * groups, chains) / rate, self.floor)

    def _placed(self, variance: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """Variances as they are among one another, all scaled anew, and line₀."""
        chains, width = len(variance), self.width
        total = (1 / variance @ self._about.reshape(-1, width**2)).reshape(chains, width, width)
        total[:, range(width), range(width)] *= 1 + RIDGE
        pull = 1 / variance @ self._pull
        middle: NDArray[Any] = np.linalg.solve(total, pull[:, :, None])[:, :, 0]
        if self.told:
            change = (self._left(middle) / variance).sum(axis=1) / rng.chisquare(self.rows.sum() - width, chains)
            free = np.minimum(variance, variance * change[:, None]).min(axis=1) > self.floor
            change = np.where(free, change, 1.0)  # not all scales move together where the floor holds one
        else:
            change = np.ones(chains)
        root = np.linalg.cholesky(total).transpose(0, 2, 1)
        noise = np.linalg.solve(root, rng.standard_normal((chains, width, 1)))[:, :, 0]
        return variance * change[:, None], middle + np.sqrt(change)[:, None] * noise

    def _lines(self, place: Array, variance: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """Each configuration's mean where its rows are and slopes: as they were fitted, and what is drawn beside that.

        So lines near 0 lose no digits to others that lie far off: line_g = fitted_g + R⁻¹·(R'⁻¹·(line₀ − fitted_g) + σ_g·N(0, 1)).
        """
        noise = rng.standard_normal((*variance.shape, self.width))
        away = np.einsum("gji,cgj->cgi", self.spreads, place[:, None] - self.fitted)
        away += np.sqrt(variance)[:, :, None] * noise
        moved = np.einsum("gij,cgj->cgi", self.spreads, away) @ self.unwhiten[:, 1:]
        return np.einsum("gi,cgi->cg", self.at_means, away), self.slopes + moved


def line_chain(rows: Array, means: Array, scatter: Array, varies: bool, floor: float) -> LineChain | None:
    """The chain of configurations that have rows, or None where these do not tell line₀ and a scale.

    `means` are those of the parents, from x₀ on, and of the variable; `scatter` is about them, and `varies` says whether
    each parent varies in some configuration. All are in units of the columns, and so is the `floor` of variances.

    Examples
    --------
    >>> rows, means = np.array([3.0, 5.0]), np.array([[0.5, 1.0], [-0.3, 0.0]])
    >>> chain = line_chain(rows, means, np.array([[[2.0, 1.0], [1.0, 1.0]], [[3.0, 2.0], [2.0, 4.0]]]), True, 1e-9)
    >>> chain.told, [part.shape for part in next(chain.draws(100, np.random.default_rng(0)))]
    (True, [(100, 2), (100,), (100, 2), (100, 2), (100, 2, 1)])
    >>> line_chain(rows, means, np.zeros((2, 2, 2)), False, 1e-9) is None  # the parent does not vary
    True
    """
    total, width = float(rows.sum()), means.shape[1]
    if not varies or not total - width >= 1:
        return None
    root = _prior_root(scatter[:, :-1, :-1].sum(axis=0) / total)
    if root is None:
        return None
    enough = np.full(len(rows), ROWS_PER_PARAMETER * (width + 1.0))  # none is thin here
    slopes, _, rest = regressions(enough, scatter, floor)
    levels = means[:, -1] - (slopes * means[:, :-1]).sum(axis=1)
    fitted = np.column_stack([levels, slopes]) @ root
    unwhiten: NDArray[Any] = np.linalg.inv(root)
    told = float(np.maximum(rows - 1, 0.0).sum()) > width - 1  # or nothing but the spread of levels tells of the scale
    start = _usual(rows, means, scatter, rest, told, floor)
    return LineChain(rows, fitted, slopes, rest, *_roots(rows, means, scatter, unwhiten), unwhiten, floor, start, told)


def parents_vary(rows: Array, means: Array, scatter: Array) -> bool:
    """Whether each numeric parent varies in some configuration by more than the rounding of its mean; all in units of the columns."""
    variance = np.diagonal(scatter, axis1=1, axis2=2) / rows[:, None]
    return bool((variance > (ROUNDING * means) ** 2).any(axis=0).all())


def _prior_root(scatter: Array) -> NDArray[Any] | None:
    """C with C·C' = κ₀·diag(1, V), or None where parents repeat one another."""
    deviation = np.sqrt(np.diag(scatter))
    alike = scatter / deviation / deviation[:, None]
    if len(alike) and not np.linalg.eigvalsh(alike)[0] > SINGULAR:
        return None
    root = np.eye(len(scatter) + 1)
    root[1:, 1:] = deviation[:, None] * np.linalg.cholesky(alike)
    return np.sqrt(PRIOR_ROWS) * root


def _roots(
    rows: Array, means: Array, scatter: Array, unwhiten: Array
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Roots of A, R⁻¹ and [1, x̄ − x₀]·R⁻¹, by QR alone, so that places far from x₀ lose no more digits than they must.

    With M = B'·B: A = B'·(1 + B·B')⁻¹·B.
    """
    values, vectors = np.linalg.eigh(scatter[:, :-1, :-1])
    design = np.zeros((len(rows), means.shape[1], means.shape[1]))
    design[:, 0, 0] = np.sqrt(rows)
    design[:, 0, 1:] = np.sqrt(rows)[:, None] * means[:, :-1]
    design[:, 1:, 1:] = np.sqrt(np.maximum(values, 0.0))[:, :, None] * vectors.transpose(0, 2, 1)
    design = design @ unwhiten.T
    outer = _one_and(design.transpose(0, 2, 1))[1].transpose(0, 2, 1)
    turned, root = _one_and(design)
    return np.linalg.solve(outer, design), np.linalg.inv(root), turned[:, 0] / np.sqrt(rows)[:, None]


def _one_and(factor: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """factor·R⁻¹, and the upper triangle R with a positive diagonal and R'·R = 1 + factor'·factor, of each."""
    one = np.broadcast_to(np.eye(factor.shape[2]), factor.shape)
    turned, root = np.linalg.qr(np.concatenate([factor, one], axis=1))
    signs = np.where(np.diagonal(root, axis1=1, axis2=2) < 0, -1.0, 1.0)
    return turned[:, : factor.shape[1]] * signs[:, None, :], root * signs[:, :, None]


def _usual(rows: Array, means: Array, scatter: Array, rest: Array, told: bool, floor: float) -> float:
    """A variance that is usual within configurations; that of all rows where they tell none."""
    total, width = rows.sum(), means.shape[1]
    freedom = np.maximum(rows - width, 0.0)
    if told and (freedom > 0).any():
        first = np.array([rest[freedom > 0].sum() / freedom.sum()])
        return float(usual_of(freedom[:, None], rest[:, None], first, np.array([floor]))[0])
    apart = means[:, -1] - rows @ means[:, -1] / total
    return max(float(scatter[:, -1, -1].sum() + rows @ apart**2) / float(total), floor)
