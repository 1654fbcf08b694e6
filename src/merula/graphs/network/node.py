"""One variable of a Bayesian network as plain data: its levels, its parents, and its distribution given them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from merula.core import Array
from merula.data.schema import Label
from merula.graphs.network.noisy import noisy_max


@dataclass(frozen=True, eq=False)
class Node:
    """A variable and P(variable given parents): one axis of `table` per parent, in their order, the levels last."""

    name: str
    levels: tuple[Label, ...]
    parents: tuple[str, ...]
    table: Array


@dataclass(frozen=True, eq=False)
class NoisyNode:
    """A variable that is the largest of what each parent alone would make of it, and of a leak.

    ``strengths[i][x]`` is the distribution over the ordered levels that parent i causes at its level x.
    """

    name: str
    levels: tuple[Label, ...]
    parents: tuple[str, ...]
    strengths: tuple[Array, ...]
    leak: Array

    @cached_property
    def table(self) -> Array:
        """The full table; it grows exponentially with the number of parents."""
        return noisy_max(self.strengths, self.leak)


@dataclass(frozen=True, eq=False)
class GaussianNode:
    """A number: normal about a linear function of its numeric parents, for each combination of its discrete ones.

    ``intercept`` and ``variance`` have an axis per discrete parent; ``slopes`` one more, for the numeric parents.
    """

    name: str
    discrete: tuple[str, ...]
    numeric: tuple[str, ...]
    intercept: Array
    slopes: Array
    variance: Array
    levels: tuple[Label, ...] = field(default=(), init=False)

    @property
    def parents(self) -> tuple[str, ...]:
        """All parents, the discrete ones first."""
        return self.discrete + self.numeric


AnyNode = Node | NoisyNode | GaussianNode
