"""An answer of a network as a function of two of its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from merula.core import Array, InputError
from merula.graphs.network.one_way import IMPOSSIBLE
from merula.graphs.network.parameters import Parameter, with_number

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork
    from merula.graphs.network.sensitivity import Sensitivity


@dataclass(frozen=True, eq=False)
class TwoWay:
    """The answer as a function of two numbers: a ratio of bilinear functions of their steps (s, t) from what they are.

    (p + a·s + b·t + c·s·t) / (1 + d·s + e·t + f·s·t); `above` is (p, a, b, c), `below` (1, d, e, f).
    """

    first: Parameter
    second: Parameter
    above: Array
    below: Array

    def __call__(self, first: Any, second: Any) -> Any:
        """The answer if the two numbers were these."""
        s, t = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
        if not ((s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)).all():
            raise InputError.of("the numbers", (first, second), "probabilities from 0 to 1")
        steps = np.stack(np.broadcast_arrays(s - self.first.value, t - self.second.value))
        terms = np.stack([np.ones_like(steps[0]), steps[0], steps[1], steps[0] * steps[1]])
        below = np.tensordot(self.below, terms, 1)
        ratio = np.tensordot(self.above, terms, 1) / np.where(below > IMPOSSIBLE, below, 1.0)
        found = np.clip(np.where(below > IMPOSSIBLE, ratio, self.above[0]), 0.0, 1.0)
        return float(found) if found.ndim == 0 else found


def two_way(found: Sensitivity, first: Parameter, second: Parameter) -> TwoWay:
    """The answer by two numbers, from its derivatives by the second while the first is what it is, and while it is another."""
    if first.variable == second.variable and dict(first.given) == dict(second.given):
        raise InputError(f"{first} and {second} are of one row, which sums to 1", remedy="name numbers of two rows")
    one, other = (found.function(each.variable, each.level, each.given) for each in (first, second))
    step = 0.5 if first.value < 0.5 else -0.5
    target, level, given = found._asked
    moved = changed(found._network, {one.parameter: one.parameter.value + step})
    later = moved.sensitivity(target, level, given).function(second.variable, second.level, second.given)
    scale = 1 + one.denominator * step  # P(findings) there, in units of P(findings) here
    above = [found.answer, one.numerator, other.numerator, (scale * later.numerator - other.numerator) / step]
    below = [1.0, one.denominator, other.denominator, (scale * later.denominator - other.denominator) / step]
    return TwoWay(one.parameter, other.parameter, np.array(above), np.array(below))


def changed(network: BayesianNetwork, numbers: Mapping[Parameter, float]) -> BayesianNetwork:
    """The network with some of its numbers changed, the others of their rows in their proportions."""
    nodes = dict(network._stated())
    for parameter, value in numbers.items():
        node = nodes[parameter.variable]
        nodes[parameter.variable] = with_number(node, {name: nodes[name].levels for name in node.parents}, parameter, value)  # fmt: skip
    after = type(network)._of(nodes.values(), network.limit)
    after.discretizer_ = network.discretizer_
    return after
