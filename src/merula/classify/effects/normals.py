"""The multivariate normal, purified for each pattern of what is known.

With u = z − its mean over the rows learned from, Λ the inverse covariance of what is known and δ that mean less the class's,
−½ (u + δ)ᵀ Λ (u + δ) = −½ Σ_j Λ_jj·u_j² − Σ_j (Λδ)_j·u_j − Σ_{i<j} Λ_ij·u_i·u_j − ½ δᵀΛδ; each square has its mean taken from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merula.classify.effects.marginals import Marginals
from merula.classify.effects.subjects import Places, Subject, asked_for
from merula.core import Array
from merula.data.encode import Encoded
from merula.distributions import MultivariateGaussianDistribution
from merula.distributions.gaussian import FARTHEST
from merula.stats.distinct_rows import distinct_rows

NUMBERS_AT_ONCE = 2**22  # in the matrices of all patterns
PATTERNS_KEPT = 128
Bounds = Mapping[str, tuple[float, float]]


class _Pattern(NamedTuple):
    """What a class says where some columns are known: Λ, Λδ (0 for the others), and what belongs to no column."""

    precision: Array
    slope: Array
    level: Array


@dataclass(frozen=True, eq=False)
class _Cells:
    """Of each row: u (0 where unknown), which columns are known, and the pattern, those of all rows stacked."""

    u: Array
    seen: NDArray[np.bool_]
    pattern: NDArray[np.int64]
    patterns: _Pattern


@dataclass(frozen=True, eq=False)
class NormalEffects:
    """The effects of a multivariate normal, whose numbers may be held between bounds.

    The mean of a square is that over rows in which its column is known; how telling it is that a column is missing, if it is,
    belongs to the column.
    """

    part: MultivariateGaussianDistribution
    weight: float
    bounds: Bounds
    mean: Array
    variance: Array
    known: Array
    subjects: tuple[Subject, ...]

    @classmethod
    def of(
        cls, part: MultivariateGaussianDistribution, weight: float, marginals: Marginals, bounds: Bounds
    ) -> NormalEffects:
        """The effects of this part, times its weight."""
        found = np.zeros((2, len(part.kept)))
        for k, j in enumerate(part.kept.tolist()):
            ends = bounds.get(part.columns[j], (-np.inf, np.inf))
            shares, z, spread = marginals.in_unit(part.columns[j], part.centre[j], part.unit[j], *ends)
            share = shares / max(float(shares.sum()), 1e-300)
            mean = share @ z
            found[:, k] = mean, share @ ((z - mean) ** 2 + spread)
        known = np.array([1 - marginals.missing[marginals.places[name]] for name in part.columns])
        pairs = combinations(sorted((part.columns[j] for j in part.kept), key=marginals.places.__getitem__), 2)
        subjects = (*(Subject((name,)) for name in part.columns), *map(Subject, pairs))
        return cls(part, weight, bounds, found[0], found[1], known, subjects)

    @property
    def rows_at_once(self) -> int:
        """So few that the matrices of their patterns fit."""
        return max(1, NUMBERS_AT_ONCE // max(1, self.part.class_count * len(self.part.kept) ** 2))

    @cached_property
    def _places(self) -> dict[str, int]:
        """Where the columns that vary stand among them."""
        return {self.part.columns[j]: k for k, j in enumerate(self.part.kept.tolist())}

    @cached_property
    def _precision(self) -> Array:
        """Λ of each class where all is known."""
        roots = self.part.whitening
        return np.broadcast_to(roots @ roots.transpose(0, 2, 1), (self.part.class_count, *roots.shape[1:]))

    @cached_property
    def _kept_patterns(self) -> dict[bytes, _Pattern]:
        return {}

    def _pattern(self, known: NDArray[np.bool_]) -> _Pattern:
        """What is said where these columns are known; kept, for rows that come later."""
        key, kept = known.tobytes(), self._kept_patterns
        found = kept.get(key)
        if found is None:
            found = self._worked_out(known)
            if len(kept) >= PATTERNS_KEPT:
                kept.clear()
            kept[key] = found
        return found

    def _worked_out(self, known: NDArray[np.bool_]) -> _Pattern:
        """Λ of what is known, Λ_PP − Λ_PM·Λ_MM⁻¹·Λ_MP, and log |Λ| of it as log |Λ_whole| − log |Λ_MM|."""
        here, lost = np.flatnonzero(known), np.flatnonzero(~known)
        whole = self._precision
        precision, level = np.zeros_like(whole), self.part._half_log_det.copy()
        inner = whole[:, here[:, None], here]
        if len(lost):
            across, gone = whole[:, lost[:, None], here], whole[:, lost[:, None], lost]
            inner = inner - across.transpose(0, 2, 1) @ np.linalg.solve(gone, across)
            level -= 0.5 * np.linalg.slogdet(gone)[1]
        precision[:, here[:, None], here] = inner
        delta = self.mean - self.part.mean
        slope = np.einsum("cij,cj->ci", precision, delta)
        squares = np.einsum("cii,i->c", precision, self.variance) + (slope * delta).sum(axis=1)
        return _Pattern(precision, slope, level - 0.5 * squares)

    def read(self, rows: Encoded) -> _Cells:
        """The rows' numbers about their means, and patterns."""
        part = self.part
        x = rows.values(part.columns).astype(np.float64)
        for name, ends in self.bounds.items():
            if name in part.columns:
                x[:, part.columns.index(name)] = np.clip(x[:, part.columns.index(name)], *ends)
        seen = ~np.isnan(x)
        with np.errstate(over="ignore"):
            z = np.clip((x - part.centre) / part.unit, -FARTHEST, FARTHEST)[:, part.kept]
        known = seen[:, part.kept]
        if not len(part.kept):
            first, pattern = np.zeros(1, dtype=np.int64), np.zeros(len(x), dtype=np.int64)
        else:
            first, pattern = distinct_rows(np.packbits(known, axis=1))
        patterns = [self._pattern(known[row]) for row in first.tolist()] if len(x) else []
        stacked = _Pattern(*(np.array(some) for some in zip(*patterns, strict=True))) if patterns else _Pattern(*[np.zeros(0)] * 3)  # fmt: skip
        return _Cells(np.where(known, z - self.mean, 0.0), seen, pattern, stacked)

    @cached_property
    def _presence(self) -> Array:
        """What a known and a missing cell of each column say on average: classes × columns."""
        return self.part.log_present * self.known + self.part.log_missing * (1 - self.known)

    def add_intercept(self, read: _Cells, out: Array) -> None:
        """See `PartEffects.add_intercept`."""
        if len(out):
            out += self.weight * (read.patterns.level[read.pattern] + self._presence.sum(axis=1))

    def add(self, read: _Cells, wanted: Places, out: Array) -> None:
        """See `PartEffects.add`."""
        if not len(read.u):
            return
        d = len(self.part.columns)
        for j, place in asked_for(wanted[:d]):
            out[place] += self.weight * self._single(self.part.columns[j], read)
        some = np.flatnonzero(wanted[d:] >= 0)
        one, two = self._pairs[some].T
        inverse = read.patterns.precision[:, :, one, two][read.pattern]
        product = self.weight * inverse * (read.u[:, one] * read.u[:, two])[:, None, :]
        out[wanted[d:][some]] -= product.transpose(2, 0, 1)

    @cached_property
    def _pairs(self) -> Places:
        """The two columns of each subject that has two, among those that vary."""
        pairs = [[self._places[name] for name in subject.columns] for subject in self.subjects[len(self.part.columns) :]]  # fmt: skip
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def _single(self, name: str, read: _Cells) -> Array:
        """What a column says by itself: by being known, and by its number."""
        j, part = self.part.columns.index(name), self.part
        found = np.where(read.seen[:, [j]], part.log_present[:, j], part.log_missing[:, j]) - self._presence[:, j]
        if name in self._places:
            k = self._places[name]
            u, known = read.u[:, [k]], read.seen[:, [j]]
            found -= 0.5 * read.patterns.precision[read.pattern, :, k, k] * np.where(known, u * u - self.variance[k], 0)
            found -= read.patterns.slope[read.pattern, :, k] * u
        return found
