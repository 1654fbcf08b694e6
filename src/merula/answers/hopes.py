"""Answers to hope for: which values of a cell not yet known would lead to what is wanted, and how probable they are given what is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from merula.answers.question import LANDMARKS, askable, integrate, known_evidence
from merula.classify.base import BayesianClassifier
from merula.classify.conditionals import atoms, quantiles
from merula.classify.readable import shown
from merula.classify.single_row import cells_of
from merula.core import Array, InputError
from merula.core.logspace import log_sum_exp
from merula.data.encode import Encoded, with_cells
from merula.data.schema import Column, Label

PLACES = 401  # of a number, between which nothing is looked for
HALVINGS = 50
Met = Callable[[Array], Any]


@dataclass(frozen=True)
class Hope:
    """One answer that leads to what is wanted: a level, or numbers from `low` to `high`; and how probable it is."""

    column: str
    value: Label
    low: float | None
    high: float | None
    text: str
    probability: float


def hopes(model: BayesianClassifier, known: Encoded, met: Met) -> tuple[tuple[Hope, ...], str]:
    """The answers that lead to what is wanted, most probable first; or none, and why it cannot be told."""
    joint = vars(model).get("joint_", model)
    cells = cells_of(model, known)
    unknown = [c for c in model.schema_.columns if cells[c.name] is None and c.kind not in ("ignore", "text")]
    try:
        askable(joint)
        log_joint = joint.fitted_.log_joint(known)
        view = _Open(model, joint, known, known_evidence(log_joint), met)
        found = [hope for column in unknown for hope in view.of(column)]
    except InputError as error:
        return (), f"answers to hope for are not told: {error}"
    found.sort(key=lambda hope: (-round(hope.probability, 12), hope.column, hope.text))
    asked = "" if joint is model else f"probabilities as {type(joint).__name__}, the joint part of the pool, sees them"
    return tuple(found), asked if found else ""


@dataclass(frozen=True, eq=False)
class _Open:
    """A row with unknown cells: which answers lead to the goal, and their probability."""

    model: BayesianClassifier
    joint: BayesianClassifier
    known: Encoded
    log_evidence: float
    met: Met

    def of(self, column: Column) -> Iterator[Hope]:
        """The answers of one column that lead to the goal."""
        if column.kind == "categorical":
            yield from self._levels(column)
        elif self.joint.fitted_.factors_of(column.name):
            yield from self._numbers(column)

    def _levels(self, column: Column) -> Iterator[Hope]:
        levels = [level for level in column.levels or () if level is not None]
        if levels:
            for level, mass, leads in zip(levels, self._mass(column, levels), self._leads(column, levels), strict=True):
                if leads:
                    yield Hope(column.name, level, None, None, shown(column, level), float(mass))

    def _numbers(self, column: Column) -> Iterator[Hope]:
        edges = np.unique(quantiles(self.joint, column.name, LANDMARKS))
        edges = edges[np.isfinite(edges)]
        if len(edges) < 2:
            return
        inner = np.clip(quantiles(self.joint, column.name, np.array([1e-9, 1 - 1e-9])), edges[0], edges[-1])
        places = np.linspace(inner.min(), inner.max(), PLACES)
        leads = self._leads(column, places)
        starts = np.flatnonzero(leads & ~np.concatenate(([False], leads[:-1])))
        stops = np.flatnonzero(leads & ~np.concatenate((leads[1:], [False])))
        for start, stop in zip(starts, stops, strict=True):
            low = -np.inf if start == 0 else self._border(column, places[start - 1], places[start])
            high = np.inf if stop == PLACES - 1 else self._border(column, places[stop + 1], places[stop])
            mass = self._between(column, low, high, edges)
            yield Hope(column.name, None, *_ends(low, high), _interval(column, low, high), mass)

    def _leads(self, column: Column, values: Any) -> Any:
        rows = with_cells(self.known, column, values)
        return np.asarray(self.met(self.model.fitted_.score(rows, None, self.model.n_jobs)[0]))

    def _mass(self, column: Column, values: Any) -> Array:
        """P(value given what is known), or its density."""
        rows = with_cells(self.known, column, values)
        joint = self.joint.fitted_.score(rows, None, self.joint.n_jobs)[0]
        return np.exp(log_sum_exp(joint) - self.log_evidence)

    def _border(self, column: Column, outside: float, inside: float) -> float:
        """Where numbers begin to lead to the goal."""
        for _ in range(HALVINGS):
            middle = 0.5 * (outside + inside)
            outside, inside = (outside, middle) if self._leads(column, np.array([middle]))[0] else (middle, inside)
        return float(inside)

    def _between(self, column: Column, low: float, high: float, edges: Array) -> float:
        """P(low ≤ number ≤ high given what is known): single values that have a probability summed, the density integrated."""
        single = atoms(self.joint, column.name)
        single = single[(single >= low) & (single <= high)]
        total = float(self._mass(column, single).sum()) if len(single) else 0.0
        if all(part.discrete for part in self.joint.fitted_.factors_of(column.name)):
            return min(1.0, total)
        ends = np.clip([low, high], edges[0], edges[-1])
        within = np.unique(np.concatenate([ends, edges[(edges > ends[0]) & (edges < ends[1])]]))
        if len(within) > 1:
            total += float(integrate(lambda x: self._mass(column, x)[:, None], within)[0][0])
        return min(1.0, total)


def _ends(low: float, high: float) -> tuple[float | None, float | None]:
    return None if np.isinf(low) else low, None if np.isinf(high) else high


def _interval(column: Column, low: float, high: float) -> str:
    if np.isinf(low) and np.isinf(high):
        return "any"
    if np.isinf(low):
        return f"≤ {shown(column, high)}"
    return f"≥ {shown(column, low)}" if np.isinf(high) else f"{shown(column, low)} to {shown(column, high)}"
