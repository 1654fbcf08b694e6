"""Weights of numbers, their squares and products and of levels, purified.

With a = z where it is known, else 0, and k = 1 where it is known, else 0, a product is e·(a_i·a_j − middle·k_i·k_j), and
a_i·a_j = (a_i − A_i)(a_j − A_j) + A_i(a_j − A_j) + A_j(a_i − A_i) + A_i·A_j, where A_j is the mean of a_j; k likewise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from merula.classify.effects.marginals import Marginals
from merula.classify.effects.subjects import AT_ONCE, Places, Subject, asked_for
from merula.classify.log_linear.terms import FARTHEST, QuadraticTerms, standardised
from merula.core import Array
from merula.data.encode import Encoded
from merula.distributions.mixed_cells import read_cells


def quadratic_cuts(terms: QuadraticTerms) -> dict[str, Array]:
    """Between which numbers z grows with x."""
    with np.errstate(over="ignore"):
        ends = terms.center[:, None] + np.outer(terms.scale, (-FARTHEST, FARTHEST))
    return {name: np.sort(ends[j]) for j, name in enumerate(terms.columns) if terms.level_sets[j] is None}


@dataclass(frozen=True, eq=False)
class _Means:
    """Of each column, the means of a, of a² and of k; all 0 for words.

    z is rounded (see `standardised`), and so is that of an interval's mean: where an interval holds several numbers, means are exact to 2⁻³¹.
    """

    a: Array
    square: Array
    known: Array

    @classmethod
    def of(cls, terms: QuadraticTerms, marginals: Marginals) -> _Means:
        found = np.zeros((3, len(terms.columns)))
        cuts = quadratic_cuts(terms)
        for j, name in enumerate(terms.columns):
            if terms.level_sets[j] is None:
                shares, z, spread = marginals.in_unit(name, terms.center[j], terms.scale[j], *cuts[name])
                z = standardised(z, np.zeros(1), np.ones(1))
                found[:, j] = shares @ z, shares @ (z * z + spread), shares.sum()
        return cls(*found)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Of each row and column: a, k, and the place of its level (the last for missing)."""

    a: Array
    known: Array
    levels: Places


@dataclass(frozen=True, eq=False)
class QuadraticEffects:
    """The effects of the twin of Gaussian Bayes: of columns linear·(a − A) + square·(a² − mean) + known·(k − mean), or of levels."""

    terms: QuadraticTerms
    weight: float
    means: _Means
    words: tuple[Array, ...]
    word_means: Array
    subjects: tuple[Subject, ...]
    rows_at_once: int = AT_ONCE

    @classmethod
    def of(cls, terms: QuadraticTerms, weight: float, marginals: Marginals) -> QuadraticEffects:
        """The terms of this part, times its weight."""
        words, means = zip(*(_level_terms(terms, j, marginals) for j in range(len(terms.columns))), strict=True)
        pairs = [sorted((terms.columns[i], terms.columns[j]), key=marginals.places.__getitem__) for i, j in terms.pairs.tolist()]  # fmt: skip
        subjects = (*(Subject((name,)) for name in terms.columns), *(Subject(tuple(pair)) for pair in pairs))
        return cls(terms, weight, _Means.of(terms, marginals), words, np.sum(means, axis=0), subjects)

    @cached_property
    def _linear(self) -> Array:
        """What a adds: its own weight, and that of its products with the means of others."""
        found = self.terms.linear.copy()
        for (i, j), weights in zip(self.terms.pairs.tolist(), self.terms.products, strict=True):
            found[i] += weights * self.means.a[j]
            found[j] += weights * self.means.a[i]
        return found

    @cached_property
    def _known(self) -> Array:
        """What being known adds."""
        terms = self.terms
        found: Array = terms.constant * ~np.array(terms.gaps)[:, None] - terms.missing
        for (i, j), weights, middle in zip(terms.pairs.tolist(), terms.products, terms.middle.tolist(), strict=True):
            found[i] -= weights * middle * self.means.known[j]
            found[j] -= weights * middle * self.means.known[i]
        return found

    @cached_property
    def _intercept(self) -> Array:
        terms, means = self.terms, self.means
        numbers = np.array([known is None for known in terms.level_sets])
        answered = np.where(np.array(terms.gaps), 1.0, means.known) * numbers
        single = answered @ terms.constant + means.a @ terms.linear + means.square @ terms.square
        single += (numbers * (1 - means.known)) @ terms.missing + self.word_means
        one, two = terms.pairs.T
        both = means.a[one] * means.a[two] - terms.middle * means.known[one] * means.known[two]
        return single + both @ terms.products  # type: ignore[no-any-return]

    def read(self, rows: Encoded) -> _Cells:
        """The rows' numbers in standard deviations, and levels."""
        terms = self.terms
        cells = read_cells(rows, terms.columns, terms.level_sets)
        lost = np.isnan(cells)
        sizes = np.array([len(table) for table in self.words])
        levels = np.where(lost | (sizes == 0), sizes - 1, cells).astype(np.int64)
        z = standardised(cells, terms.center, terms.scale)
        return _Cells(np.where(lost, 0.0, z), (~lost).astype(np.float64), levels)

    def add_intercept(self, read: _Cells, out: Array) -> None:
        """See `PartEffects.add_intercept`."""
        out += self.weight * self._intercept

    def add(self, read: _Cells, wanted: Places, out: Array) -> None:
        """See `PartEffects.add`."""
        d, means = len(self.terms.columns), self.means
        for j, place in asked_for(wanted[:d]):
            out[place] += self.weight * self._single(j, read)
        some = np.flatnonzero(wanted[d:] >= 0)
        one, two = self.terms.pairs[some].T
        both = (read.a[:, one] - means.a[one]) * (read.a[:, two] - means.a[two])
        known = (read.known[:, one] - means.known[one]) * (read.known[:, two] - means.known[two])
        product = (both - self.terms.middle[some] * known).T
        out[wanted[d:][some]] += product[:, :, None] * (self.weight * self.terms.products[some])[:, None, :]

    def _single(self, j: int, read: _Cells) -> Array:
        if self.terms.level_sets[j] is not None:
            return self.words[j][read.levels[:, j]]
        a, means = read.a[:, j], self.means
        found = np.outer(a - means.a[j], self._linear[j]) + np.outer(a * a - means.square[j], self.terms.square[j])
        return found + np.outer(read.known[:, j] - means.known[j], self._known[j])


def _level_terms(terms: QuadraticTerms, j: int, marginals: Marginals) -> tuple[Array, Array]:
    """What each level of a column of words adds, the last for missing, less its mean; and that mean. Empty for numbers."""
    known, name = terms.level_sets[j], terms.columns[j]
    if known is None:
        return terms.level_weights[j], np.zeros(terms.class_count)
    table = terms._words[j]
    cells = marginals.cells(name, known)
    mean = marginals.weights(name) @ table[np.where(np.isnan(cells), len(known), cells).astype(np.int64)]
    return table - mean, mean
