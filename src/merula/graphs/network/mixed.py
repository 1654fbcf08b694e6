"""Levels and numbers asked for together: how probable each combination of levels is, and the numbers where it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from merula.core import InputError
from merula.data.schema import Label
from merula.graphs.factors import ImpossibleEvidenceError, JointDistribution
from merula.graphs.factors.events import fixed_levels, joined
from merula.graphs.network.evidence import Evidence
from merula.graphs.network.normal_mixture import NormalMixture
from merula.show.html import html_table
from merula.show.text import text_table

Ask = Callable[[tuple[str, ...], Evidence, float], Any]


@dataclass(frozen=True, eq=False, repr=False)
class MixedDistribution:
    """P(levels) and, for each combination of levels that can be, p(numbers given the levels).

    p(levels, numbers) = P(levels) · p(numbers given levels)

    Attributes
    ----------
    levels : JointDistribution
        Of the discrete variables.
    parts : mapping
        From each possible combination of levels, as a tuple, to the `NormalMixture` of the numeric variables.

    Examples
    --------
    >>> import merula as mr
    >>> network = mr.BayesianNetwork().add("sex", ["f", "m"], [0.5, 0.5])
    >>> network = network.add("height", mr.LinearGaussian({"f": 165.0, "m": 178.0}, variance=49.0), parents=["sex"])
    >>> both = network.query(["sex", "height"])
    >>> both
    p(sex, height)
    sex  probability  mean of height  deviation
    f            0.5             165          7
    m            0.5             178          7
    >>> both.given(sex="m").mean
    178.0
    """

    levels: JointDistribution
    parts: Mapping[tuple[Label, ...], NormalMixture]
    variables: tuple[str, ...]

    def given(self, levels: Any = None, /, **by_name: Any) -> NormalMixture:
        """p(numbers given one level of every discrete variable)."""
        stated = joined(levels, by_name)
        indices = fixed_levels(stated, self.levels.levels)
        if not indices.keys() >= {*self.levels.variables} or len(indices) < len(stated):
            raise InputError(f"got {dict(stated)!r}", expected=f"one level of each of {list(self.levels.variables)}")
        cell = tuple(self.levels.levels[name][indices[name]] for name in self.levels.variables)
        if cell not in self.parts:
            raise ImpossibleEvidenceError(f"{dict(stated)!r} has probability 0", remedy="nothing can be said given what cannot happen")  # fmt: skip
        return self.parts[cell]

    def density(self, levels: Mapping[str, Any], numbers: Any) -> Any:
        """P(levels) · p(numbers given levels); numbers as for `NormalMixture.pdf`."""
        chance = self.levels.probability(levels)
        return chance * self.given(levels).pdf(numbers) if chance > 0 else np.zeros_like(self._any().pdf(numbers))

    def _any(self) -> NormalMixture:
        return next(iter(self.parts.values()))

    def _lines(self) -> tuple[str, list[list[str]], int]:
        numbers, levels = self._any().variables, self.levels.variables
        rows = [[*levels, "probability", *(word for name in numbers for word in (f"mean of {name}", "deviation"))]]
        for cell, part in self.parts.items():
            chance = self.levels[cell if len(cell) > 1 else cell[0]]
            singles = [part.marginal(name) for name in numbers]
            rows.append([*map(str, cell), f"{chance:.6g}", *(f"{value:.6g}" for one in singles for value in (one.mean, one.deviation))])  # fmt: skip
        return f"p({', '.join(self.variables)})", rows, len(levels)

    def __repr__(self) -> str:
        return text_table(*self._lines())

    def _repr_html_(self) -> str:
        return html_table(*self._lines())


def mixed_posterior(
    ask: Ask, asked: tuple[str, ...], numeric: tuple[str, ...], evidence: Evidence, limit: float
) -> MixedDistribution:
    """The joint posterior of levels and numbers, by the product rule: `ask` answers for levels and for numbers alone."""
    discrete = tuple(name for name in asked if name not in numeric)
    levels: JointDistribution = ask(discrete, evidence, limit)
    parts = {}
    for index in np.argwhere(levels.values > 0):
        known = dict(zip(discrete, index.tolist(), strict=True))
        soft = {name: likelihood for name, likelihood in evidence.soft.items() if name not in known}
        cell = tuple(levels.levels[name][rank] for name, rank in known.items())
        parts[cell] = ask(numeric, replace(evidence, hard={**evidence.hard, **known}, soft=soft), limit)
    return MixedDistribution(levels, parts, asked)
