"""A distribution known only from random draws: relative frequencies, and how far off they may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from merula.core import Array
from merula.data.schema import Label
from merula.graphs.factors.joint import JointDistribution
from merula.graphs.factors.names import set_frozen


@dataclass(frozen=True, eq=False, init=False, repr=False, slots=True)
class SampledDistribution(JointDistribution):
    """The relative frequencies of random draws, with the standard error of each; otherwise a `JointDistribution`.

    Attributes
    ----------
    standard_errors : read-only array
        One for each probability, on the same axes. A cell that was never drawn has one too, 1 / effective_sample_size.
    effective_sample_size : float
        How many independent draws from the distribution itself would tell as much.

    Examples
    --------
    >>> import merula as mr
    >>> network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
    >>> network = network.add("wet", ["no", "yes"], [[0.9, 0.1], [0.2, 0.8]], parents=["rain"])
    >>> rain = network.query("rain", given={"wet": "yes"}, method="likelihood-weighting", random_state=1)
    >>> bool(abs(rain["yes"] - 2 / 3) < 4 * rain.standard_errors[1])
    True
    """

    standard_errors: Array
    effective_sample_size: float

    @classmethod
    def of_draws(
        cls,
        variables: Sequence[str],
        levels: Mapping[str, tuple[Label, ...]] | Sequence[tuple[Label, ...]],
        frequencies: Array,
        variances: Array,
        size: float,
    ) -> SampledDistribution:
        """The frequencies with the square roots of their variances; none may be 0, as no number of draws shows all cells."""
        self = cls._of(variables, levels, frequencies)
        set_frozen(self, standard_errors=np.sqrt(variances + 1 / size**2), effective_sample_size=float(size))
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        variances = np.asarray(self.standard_errors**2 - 1 / self.effective_sample_size**2)
        return SampledDistribution.of_draws, (self.variables, dict(self.levels), np.array(self.values), variances, self.effective_sample_size)  # fmt: skip


def from_weighted_cells(
    variables: Sequence[str], levels: Sequence[tuple[Label, ...]], cells: Any, weights: Array
) -> SampledDistribution:
    """The weighted frequencies of drawn cells.

    p_k = Σ_{i in k} w_i / Σ_i w_i, variance Σ_i w_i²·([i in k] − p_k)² / (Σ_i w_i)², size (Σ_i w_i)² / Σ_i w_i²
    (Owen 2013, "Monte Carlo theory, methods and examples", equations 9.8 and 9.13)
    """
    shape = tuple(len(labels) for labels in levels)
    room = int(np.prod(shape))
    shares = weights / weights.sum()
    p: Array = np.bincount(cells, shares, room).astype(np.float64)
    squares: Array = np.bincount(cells, shares**2, room).astype(np.float64)
    every = float(squares.sum())
    variances = np.maximum((1 - 2 * p) * squares + p**2 * every, 0.0)
    return SampledDistribution.of_draws(variables, levels, p.reshape(shape), variances.reshape(shape), 1 / every)
