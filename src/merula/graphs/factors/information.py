"""Entropy, mutual information and independence of the variables of a joint distribution, in bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from merula.core.arrays import Array
from merula.graphs.factors.names import chosen

if TYPE_CHECKING:
    from merula.graphs.factors.joint import JointDistribution

Names = tuple[str, ...]


def bits(values: Array) -> float:
    """H = −Σ p·log2 p, with 0·log 0 = 0."""
    positive = values[values > 0]
    return max(0.0, -float((positive * np.log2(positive)).sum()))


def entropy(joint: JointDistribution, variables: Names, given: Names) -> float:
    """H(variables given given) = H(variables, given) − H(given)."""
    return max(0.0, bits(joint.marginal(variables + given).values) - bits(joint.marginal(given).values))


def mutual_information(joint: JointDistribution, first: Names, second: Names, given: Names) -> float:
    """I(first; second given given) = H(first, given) + H(second, given) − H(first, second, given) − H(given)."""
    alone = [bits(joint.marginal(names + given).values) for names in (first, second)]
    together = bits(joint.marginal(first + second + given).values)
    return max(0.0, sum(alone) - together - bits(joint.marginal(given).values))


def largest_dependence(joint: JointDistribution, first: Names, second: Names, given: Names) -> float:
    """max |P(first, second given g) − P(first given g)·P(second given g)| over every g that can happen."""
    groups = [int(np.prod([len(joint.levels[name]) for name in names])) for names in (given, first, second)]
    cells = joint.marginal(given + first + second).values.reshape(groups)
    weight = cells.sum(axis=(1, 2))
    possible = cells[weight > 0] / weight[weight > 0][:, None, None]
    product = possible.sum(axis=2)[:, :, None] * possible.sum(axis=1)[:, None, :]
    return float(np.abs(possible - product).max())


def apart(first: Any, second: Any, given: Any, variables: Names) -> tuple[Names, Names, Names]:
    """Three groups of variables, none of them in two."""
    groups = tuple(chosen(names, variables) for names in (first, second, given))
    together = [name for group in groups for name in group]
    twice = next((name for name in together if together.count(name) > 1), None)
    if twice is not None:
        raise ValueError(
            f"variable {twice!r} stands in two of the groups {[list(group) for group in groups]}; name it once"
        )
    if not groups[0] or not groups[1]:
        raise ValueError("a group of variables is empty; name at least one variable on either side")
    return groups  # type: ignore[return-value]
