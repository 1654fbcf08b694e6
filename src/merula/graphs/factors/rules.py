"""Rules that decide one variable from the others, and how often they err; the Bayes rule errs least."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.core.checks import one_of
from merula.data.schema import Label
from merula.graphs.factors.functions import evaluated, spread
from merula.graphs.factors.names import Levels, key_of, rank_of

if TYPE_CHECKING:
    from merula.graphs.factors.joint import JointDistribution

TIE = 1e-12  # probabilities this close, relative to the larger, are taken for equal


def first_largest(values: Array) -> NDArray[np.int64]:
    """The place of the largest value along the last axis, the first of those that are equal but for rounding."""
    close = values >= values.max(axis=-1, keepdims=True) * (1 - TIE)
    return np.asarray(close.argmax(axis=-1))


def target_last(joint: JointDistribution, target: str) -> tuple[Levels, Array]:
    """The other variables' levels, and the table with the target's axis last."""
    axis = joint.variables.index(one_of(target, joint.variables, "target"))
    others = {name: labels for name, labels in joint.levels.items() if name != target}
    return others, np.moveaxis(joint.values, axis, -1)


def bayes_rule(joint: JointDistribution, target: str) -> dict[Any, Label]:
    """The most probable level of the target for every combination of the other variables' levels."""
    others, values = target_last(joint, target)
    decisions = first_largest(values).reshape(-1).tolist()
    labels = joint.levels[target]
    return {key_of(cell): labels[index] for cell, index in zip(product(*others.values()), decisions, strict=True)}


def bayes_error(joint: JointDistribution, target: str) -> float:
    """1 − Σ_x max_c P(c, x)."""
    _, values = target_last(joint, target)
    return max(0.0, 1.0 - float(values.max(axis=-1).sum()))


def error_of(joint: JointDistribution, rule: Any, target: str) -> float:
    """Σ_x Σ_{c ≠ rule(x)} P(c, x)."""
    others, values = target_last(joint, target)
    names, answers = evaluated(rule, others)
    labels = joint.levels[target]
    indices = np.empty(answers.shape, dtype=np.int64)
    for cell in np.ndindex(answers.shape):
        indices[cell] = rank_of(answers[cell], target, labels)
    decided = spread(indices, names, tuple(others))[..., None] == np.arange(len(labels))
    return float(np.where(decided, 0.0, values).sum())
