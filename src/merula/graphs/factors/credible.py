"""Probabilities with a credible interval for each: how sure a posterior is of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError
from merula.data.schema import Label
from merula.graphs.factors.joint import JointDistribution
from merula.graphs.factors.joint_text import joint_parts
from merula.graphs.factors.names import rank_of, set_frozen
from merula.show.html import html_table
from merula.show.numbers import percent, short
from merula.show.text import text_table

ENDS = 3  # digits of the ends of intervals: drawn parameters tell no more


@dataclass(frozen=True, eq=False, init=False, repr=False, slots=True)
class IntervalDistribution(JointDistribution):
    """The posterior of one variable with a credible interval for each probability; otherwise a `JointDistribution`.

    Attributes
    ----------
    lower, upper : read-only array
        Where each interval begins and ends: as much of the posterior lies below as above it.
    level : float
        How probable it is that an interval holds the probability that more rows would tend to.
    draws : read-only array
        The answers under each drawn set of parameters: a row for each draw, a column for each level.
    prior : str
        What was believed of the parameters before any row.
    rests_on : str
        What the answer was learned from.

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> rows = pd.DataFrame({"rain": ["yes"] * 3 + ["no"] * 7})
    >>> rain = mr.BayesianNetwork({"rain": []}).fit(rows).query_interval("rain", random_state=0)
    >>> round(rain["yes"], 3), [round(end, 2) for end in rain.interval("yes")]
    (0.333, [0.13, 0.56])
    >>> print(rain.prior, "|", rain.rests_on)
    Dirichlet, 1 imaginary row in each cell of every table | 10 rows
    """

    lower: Array
    upper: Array
    level: float
    draws: Array
    prior: str
    rests_on: str

    @classmethod
    def of_draws(
        cls,
        variables: Sequence[str],
        levels: Mapping[str, tuple[Label, ...]] | Sequence[tuple[Label, ...]],
        values: Array,
        draws: Array,
        level: float,
        prior: str,
        rests_on: str,
    ) -> IntervalDistribution:
        """An answer with the central intervals of what it is under drawn parameters.

        Between the k-th and the l-th of n draws one more lies with probability (l − k) / (n + 1), as the method "weibull" has it.
        """
        self = cls._of(variables, levels, values)
        lower, upper = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0, method="weibull")
        told = {"level": float(level), "prior": prior, "rests_on": rests_on}
        set_frozen(self, lower=lower, upper=upper, draws=draws, **told)
        return self

    def interval(self, level: Any) -> tuple[float, float]:
        """Between which probabilities that of a level lies.

        Examples
        --------
        >>> import merula as mr, pandas as pd
        >>> network = mr.BayesianNetwork({"rain": []}).fit(pd.DataFrame({"rain": ["yes", "no"] * 500}))
        >>> [round(end, 2) for end in network.query_interval("rain", random_state=0).interval("yes")]
        [0.47, 0.53]
        """
        (name,) = self.variables
        rank = rank_of(level, name, self.levels[name])
        return float(self.lower[rank]), float(self.upper[rank])

    def _columns(self) -> dict[str, NDArray[Any]]:
        """The columns of `to_frame`."""
        clash = next((name for name in ("lower", "upper") if name in self.levels), None)
        if clash is not None:
            raise InputError(f"a variable is called {clash!r}, as is a column of the intervals", remedy="use lower, upper and levels")  # fmt: skip
        columns = JointDistribution._columns(self)
        return {**columns, "lower": np.array(self.lower), "upper": np.array(self.upper)}

    def _parts(self) -> tuple[str, list[list[str]], int, str]:
        """Heading, rows, how many cells of each are names, and the note that says what the intervals are."""
        heading, rows, names, left = joint_parts(self)
        rows[0] += ["from", "to"]
        for row, low, high in zip(rows[1:], self.lower.tolist(), self.upper.tolist(), strict=False):
            row += [short(low, ENDS), short(high, ENDS)]
        count = f"{percent(self.level)} credible intervals, from {len(self.draws):,} draws of the parameters"
        lines = [left, count, f"prior: {self.prior}", f"rests on: {self.rests_on}"]
        return heading, rows, names, "\n".join(line for line in lines if line)

    def __reduce__(self) -> tuple[Any, ...]:
        told = np.array(self.values), np.array(self.draws), self.level, self.prior, self.rests_on
        return IntervalDistribution.of_draws, (self.variables, dict(self.levels), *told)

    def __repr__(self) -> str:
        return text_table(*self._parts())

    def _repr_html_(self) -> str:
        return html_table(*self._parts())
