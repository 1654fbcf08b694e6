"""Junction trees: cliques of variables, joined so that messages between them answer every question.

A tree is built from scopes alone, so its cost is known before any table is allocated. `build_tree` takes three steps:

1. Variables are eliminated one by one in a good order (`order.eliminate`). Eliminating a variable means multiplying all tables
   that hold it and summing it out, so that each step makes a clique: the variable and all those it then meets.
2. Each step's clique hangs below the step that eliminates the next of its variables. That makes a tree in which any two cliques
   share only variables that all cliques between them hold as well (the running intersection property), which is why
   a message need only cover what two neighbours share. Cliques contained in a neighbour are merged with it (`_maximal`).
3. The tree is hung from a root (`_rooted`): the smallest clique that holds all variables asked for together, so that their
   joint table can be read there; where none are, the largest clique.

The result is laid out for the compiled loops: the tables of all cliques one behind the other, children before their parents;
each clique's separator from its parent comes first among its variables, so that a message is the sums of contiguous runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from merula.graphs.factors.order import eliminate

Integers = NDArray[np.int64]


@dataclass
class Views:
    """How sub-tables lie inside clique tables: runs of (size, stride), one behind the other for the compiled loops.

    A view is ``[number of axes, size, stride, size, stride, …]``; axes that move together in both tables are one axis.
    """

    flat: list[int] = field(default_factory=list)

    def add(self, shape: Sequence[int], strides: Sequence[int]) -> int:
        """Where the view begins that walks through a table of this shape while its sub-table moves by these strides."""
        axes: list[list[int]] = []
        for size, stride in zip(shape, strides, strict=True):
            if size == 1:
                continue
            if axes and axes[-1][1] == stride * size:
                axes[-1] = [axes[-1][0] * size, stride]
            else:
                axes.append([size, stride])
        start, axes = len(self.flat), axes or [[1, 0]]
        self.flat += [len(axes), *(number for axis in axes for number in axis)]
        return start


@dataclass(frozen=True, eq=False)
class JunctionTree:
    """Cliques in the order messages are collected; ``parents[k]`` is where clique k sends its own (−1: a root)."""

    cards: tuple[int, ...]
    cliques: tuple[tuple[int, ...], ...]
    parents: tuple[int, ...]
    separators: tuple[int, ...]  # how many of a clique's first variables it shares with its parent

    @property
    def entries(self) -> int:
        """The number of entries of all clique tables together."""
        return sum(self.size(clique) for clique in self.cliques)

    def size(self, variables: Sequence[int]) -> int:
        """The number of entries of a table over these variables."""
        return prod(self.cards[v] for v in variables)

    def home(self, scope: Sequence[int]) -> int:
        """The smallest clique that holds all of these variables."""
        among = min((self._holders[v] for v in scope), key=len, default=range(len(self.cliques)))
        needed = set(scope)
        return min((k for k in among if needed <= self._sets[k]), key=lambda k: (self.sizes[k], k))

    def strides(self, clique: int, scope: Sequence[int]) -> list[int]:
        """How a C-ordered table over `scope` moves along each variable of a clique."""
        step, steps = 1, {}
        for v in reversed(scope):
            steps[v] = step
            step *= self.cards[v]
        return [steps.get(v, 0) for v in self.cliques[clique]]

    def shape(self, clique: int) -> list[int]:
        """The cardinalities of a clique's variables."""
        return [self.cards[v] for v in self.cliques[clique]]

    def __post_init__(self) -> None:
        holders: list[list[int]] = [[] for _ in self.cards]
        for k, clique in enumerate(self.cliques):
            for v in clique:
                holders[v].append(k)
        object.__setattr__(self, "_holders", holders)
        object.__setattr__(self, "_sets", [set(clique) for clique in self.cliques])
        object.__setattr__(self, "sizes", [self.size(clique) for clique in self.cliques])

    _holders: list[list[int]] = field(init=False, repr=False)
    _sets: list[set[int]] = field(init=False, repr=False)
    sizes: list[int] = field(init=False, repr=False)


def build_tree(
    cards: Sequence[int], scopes: Sequence[Sequence[int]], together: Sequence[int] = (), limit: float = np.inf
) -> JunctionTree:
    """The junction tree of tables over these scopes; variables to be known `together` share the root.

    Examples
    --------
    >>> tree = build_tree([2, 3, 4], [(0, 1), (1, 2)])
    >>> tree.entries
    18
    >>> build_tree([2, 3, 4], [(0, 1), (1, 2)], together=(0, 2)).cliques
    ((0, 1, 2),)
    """
    cliques, edges = _maximal(eliminate(cards, [*scopes, together] if together else scopes, limit).cliques)
    needed, sizes = set(together), [prod(cards[v] for v in clique) for clique in cliques]
    holding = [k for k, clique in enumerate(cliques) if needed <= clique]
    root = min(holding, key=sizes.__getitem__) if together else max(holding, key=sizes.__getitem__, default=0)
    return _rooted(tuple(cards), cliques, edges, root)


def _maximal(steps: list[list[int]]) -> tuple[list[set[int]], list[list[tuple[int, set[int]]]]]:
    """The cliques no other contains, and for each its neighbours in the tree with the variables they share.

    Step i's clique is its variable and those still there around it; it hangs below the step that eliminates the first of
    these (Lauritzen & Spiegelhalter 1988). It contains its parent's clique exactly when it is larger by one.
    """
    rank = {clique[0]: i for i, clique in enumerate(steps)}
    above = [min((rank[v] for v in clique[1:]), default=-1) for clique in steps]
    stands, last = list(range(len(steps))), list(range(len(steps)))
    for i, p in enumerate(above):
        if p >= 0 and stands[p] == p and len(steps[i]) - 1 == len(steps[p]):
            stands[p] = stands[i]
            last[stands[i]] = p
    kept = [i for i in range(len(steps)) if stands[i] == i]
    index = {i: k for k, i in enumerate(kept)}
    edges: list[list[tuple[int, set[int]]]] = [[] for _ in kept]
    for k, i in enumerate(kept):
        p = above[last[i]]
        if p >= 0:
            shared, q = set(steps[last[i]][1:]), index[stands[p]]
            edges[k].append((q, shared))
            edges[q].append((k, shared))
    return [set(steps[i]) for i in kept], edges


def _rooted(
    cards: tuple[int, ...], cliques: list[set[int]], edges: list[list[tuple[int, set[int]]]], root: int
) -> JunctionTree:
    """The tree hung up at its root (every other component at its first clique), children before parents."""
    found: list[tuple[int, int, tuple[int, ...], int]] = []  # clique, parent, variables in order, how many are shared
    seen = [False] * len(cliques)
    for start in [root, *range(len(cliques))]:
        if not cliques or seen[start]:
            continue
        waiting = [(start, -1, tuple(sorted(cliques[start])), 0)]
        seen[start] = True
        while waiting:
            k, parent, variables, shared = waiting.pop()
            found.append((k, parent, variables, shared))
            for child, separator in edges[k]:
                if not seen[child]:
                    seen[child] = True
                    first = [v for v in variables if v in separator]
                    own = (*first, *sorted(cliques[child] - separator))
                    waiting.append((child, len(found) - 1, own, len(first)))
    back = len(found) - 1
    found.reverse()
    return JunctionTree(
        cards,
        tuple(variables for _, _, variables, _ in found),
        tuple(-1 if parent < 0 else back - parent for _, parent, _, _ in found),
        tuple(shared for _, _, _, shared in found),
    )
