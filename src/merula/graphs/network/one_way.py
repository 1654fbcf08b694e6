"""An answer of a network as a function of one of its numbers, and what that number would have to be for the answer to be another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from merula.core import Array, InputError
from merula.graphs.network.parameters import Parameter
from merula.show.numbers import fixed

IMPOSSIBLE = 1e-13  # of P(findings): what is left of it where they have become impossible, but for rounding


@dataclass(frozen=True)
class OneWay:
    """The answer as a function of one number of the network: (p + a · (t − θ)) / (1 + b · (t − θ)).

    Examples
    --------
    >>> import merula as mr
    >>> network = mr.BayesianNetwork().add("flu", ["yes", "no"], [0.1, 0.9])
    >>> network = network.add("cough", ["yes", "no"], [[0.8, 0.2], [0.3, 0.7]], parents=["flu"])
    >>> found = network.sensitivity("flu", "yes", given={"cough": "yes"})
    >>> cough = found.function("cough", "yes", {"flu": "yes"})
    >>> round(cough(0.8), 4), round(cough(0.4), 4)
    (0.2286, 0.129)
    """

    parameter: Parameter
    answer: float
    numerator: float
    denominator: float

    def __call__(self, value: Any) -> Any:
        """The answer if the number were this; where the findings are then impossible, what the answer tends to."""
        t = np.asarray(value, dtype=np.float64)
        if not ((t >= 0) & (t <= 1)).all():
            raise InputError.of("the number", value, "a probability from 0 to 1")
        found = self._at(t - self.parameter.value)
        return float(found) if found.ndim == 0 else found

    def _at(self, step: Array) -> Array:
        below = 1 + self.denominator * step
        possible = below > IMPOSSIBLE
        ratio = (self.answer + self.numerator * step) / np.where(possible, below, 1.0)
        return np.clip(np.where(possible, ratio, self.answer), 0.0, 1.0)

    @property
    def derivative(self) -> float:
        """How fast the answer changes with the number; at 0 and at 1 from the one side that there is."""
        return self.numerator - self.answer * self.denominator

    def reaching(self, bound: float) -> float | None:
        """The number nearest to the present one at which the answer is `bound`; None where no number from 0 to 1 does."""
        # p + a·s = bound · (1 + b·s): linear in the step s
        slope = self.numerator - bound * self.denominator
        if abs(slope) <= IMPOSSIBLE:
            return None
        t = self.parameter.value + (bound - self.answer) / slope
        inside = -IMPOSSIBLE <= t <= 1 + IMPOSSIBLE and 1 + self.denominator * (t - self.parameter.value) > IMPOSSIBLE
        return float(min(1.0, max(0.0, t))) if inside else None


@dataclass(frozen=True)
class Change:
    """One number changed so far that the answer is what it should be: the number, what it becomes, what the answer becomes."""

    parameter: Parameter
    value: float
    answer: float

    def __str__(self) -> str:
        return f"{self.parameter}: {fixed(self.parameter.value)} → {fixed(self.value)}"


@dataclass(frozen=True)
class Swing:
    """What the answer becomes when a number is made smaller and larger by the same share of itself."""

    parameter: Parameter
    less: float
    more: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """How far apart the two answers are."""
        return abs(self.high - self.low)


def constraint(at_least: float | None, at_most: float | None, answer: float) -> tuple[float, bool]:
    """The bound that is asked for, and whether it is met already."""
    if (at_least is None) == (at_most is None):
        raise InputError("a constraint says at_least= or at_most=", remedy="give one of the two")
    bound = at_least if at_least is not None else at_most
    if not isinstance(bound, int | float) or not 0 <= bound <= 1:
        raise InputError.of("the bound", bound, "a probability from 0 to 1")
    return float(bound), answer >= bound if at_least is not None else answer <= bound


def log_odds_step(change: Change) -> float:
    """How far the log-odds of a number move; infinite where it was, or becomes, 0 or 1."""
    before, after = change.parameter.value, change.value
    if min(before, after) <= 0 or max(before, after) >= 1:
        return np.inf
    return abs(float(np.log(after / (1 - after)) - np.log(before / (1 - before))))
