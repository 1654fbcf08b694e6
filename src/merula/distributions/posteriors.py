"""What is believed of parameters once the rows are counted: posteriors, and the distributions that are drawn from them.

A family that has one says so in `posterior`: the drawn distribution is of the same kind and of the same columns as the one that it
builds, with other parameters, so that whatever asks the one can ask the other. Only what says something of a row is drawn, in the
order of the columns' names: neither the order of columns nor one that never varies changes what is drawn for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.data.schema import Label
from merula.distributions.base import Distribution, Setting, informative_missing
from merula.distributions.priors import MEstimate, Smoothing, pseudo_counts

JEFFREYS = 0.5  # imaginary rows in each cell of a table that is not smoothed


class Posterior(Protocol):
    """What is believed of the parameters of some columns given the rows that were counted.

    Examples
    --------
    >>> import merula as mr
    >>> model = mr.NaiveBayesClassifier().fit([["red"], ["red"], ["blue"]], ["ripe", "ripe", "unripe"])
    >>> model.parameter_priors()["x0"]
    'Dirichlet with 1 imaginary row in each cell'
    """

    @property
    def priors(self) -> Mapping[str, str]:
        """What was believed of each column before its rows."""

    def draws(self, rng: np.random.Generator) -> Iterator[Distribution]:
        """Distributions as probable as the rows and that belief make them, without end."""


def log_gammas(shape: Array, rng: np.random.Generator) -> Array:
    """Logarithms of Gamma draws of these shapes and scale 1, exact also where a draw itself is too small for a number.

    log G(a) = log G(a + 1) + log(U) / a; −inf where the shape is 0.
    """
    drawn = np.log(rng.standard_gamma(shape + 1.0))
    with np.errstate(divide="ignore", over="ignore"):
        drawn -= rng.standard_exponential(shape.shape) / shape
    return drawn


def log_shares(concentration: Array, rng: np.random.Generator, axis: int = -1) -> Array:
    """Logarithms of shares drawn from a Dirichlet distribution along one axis."""
    logs = log_gammas(concentration, rng)
    peak = logs.max(axis=axis, keepdims=True)
    logs -= peak
    logs -= np.log(np.exp(logs).sum(axis=axis, keepdims=True))
    return logs


def concentration(
    counts: Array, smoothing: Smoothing, column: str, levels: Sequence[Label], classes: Sequence[Label]
) -> Array:
    """What is counted and imagined in each cell, classes × levels: pseudo-counts are what is imagined, Jeffreys' ½ where there are none."""
    imagined = pseudo_counts(smoothing, column, levels, classes)
    return counts + (imagined if imagined.any() else JEFFREYS)


def averaged(smoothing: Any) -> Any:
    """The smoothing under which a smoothed table is the mean of what is believed of it: itself, Jeffreys' ½ in each cell where it is none."""
    none = (isinstance(smoothing, MEstimate) and not smoothing.m) or (isinstance(smoothing, int | float | np.number) and not smoothing)  # fmt: skip
    return JEFFREYS if none else smoothing


def dirichlet(smoothing: Smoothing) -> str:
    """The prior of a table that is smoothed so, in words."""
    if isinstance(smoothing, MEstimate) and smoothing.m:
        spread = "evenly over its cells" if smoothing.p is None else "over its cells as stated"
        return f"Dirichlet with {smoothing.m:g} imaginary row{'' if smoothing.m == 1 else 's'} spread {spread}"
    rows = 0.0 if isinstance(smoothing, MEstimate) else smoothing
    why = "" if rows else " (Jeffreys)"
    rows = rows or JEFFREYS
    return f"Dirichlet with {rows:g} imaginary row{'' if rows <= 1 else 's'} in each cell{why}"


@dataclass(frozen=True, eq=False)
class Tables:
    """Dirichlet posteriors of the tables of several columns, levels × classes, which are drawn together."""

    columns: tuple[str, ...]
    concentrations: tuple[Array, ...]

    @cached_property
    def _stacked(self) -> tuple[list[int], Array, NDArray[np.int64]]:
        """The columns that have a choice, in the order of their names; their tables end to end; where each begins."""
        telling = [j for j in np.argsort(np.array(self.columns, dtype=object), kind="stable").tolist() if len(self.concentrations[j]) > 1]  # fmt: skip
        tables = [self.concentrations[j] for j in telling]
        starts = np.cumsum([0, *map(len, tables)])
        return telling, np.concatenate(tables) if tables else np.zeros((0, 1)), starts

    def draw(self, rng: np.random.Generator) -> list[Array]:
        """The logarithms of one table for each column, levels × classes."""
        telling, stacked, starts = self._stacked
        found = [np.zeros_like(table) for table in self.concentrations]
        if telling:
            logs = log_gammas(stacked, rng)
            sizes = np.diff(starts)
            logs -= np.repeat(np.maximum.reduceat(logs, starts[:-1], axis=0), sizes, axis=0)
            logs -= np.repeat(np.log(np.add.reduceat(np.exp(logs), starts[:-1], axis=0)), sizes, axis=0)
            for j, start, stop in zip(telling, starts[:-1].tolist(), starts[1:].tolist(), strict=True):
                found[j] = logs[start:stop]
        return found


@dataclass(frozen=True, eq=False)
class MissingCells:
    """Beta posteriors of how often cells are missing, classes × columns; what is averaged out is not drawn."""

    present: Array
    missing: Array
    informative: NDArray[np.bool_]
    order: NDArray[np.int64]

    @classmethod
    def of(cls, columns: Sequence[str], present: Array, class_weight: Array, setting: Setting) -> MissingCells:
        """From the weight of the cells that are there, of columns whose being missing may speak."""
        lost, informative, pseudo = informative_missing(present, class_weight, setting)
        pseudo = pseudo or JEFFREYS
        order = np.argsort(np.array(columns, dtype=object), kind="stable")
        return cls(present + pseudo, lost + pseudo, informative, order[informative[order]])

    def draw(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """log P(cell present given class) and log P(cell missing given class)."""
        logs = np.zeros((2, *self.present.shape))
        if len(self.order):
            stacked = np.stack([self.present[:, self.order], self.missing[:, self.order]])
            logs[:, :, self.order] = log_shares(stacked, rng, axis=0)
        return logs[0], logs[1]


@dataclass(frozen=True, eq=False)
class Drawing:
    """A posterior as its priors and what draws from it once."""

    priors: Mapping[str, str]
    drawn: Callable[[np.random.Generator], Distribution]

    def draws(self, rng: np.random.Generator) -> Iterator[Distribution]:
        """See `Posterior.draws`."""
        while True:
            yield self.drawn(rng)
