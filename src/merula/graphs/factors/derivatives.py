"""How the probability of the evidence changes with every entry of every table, by one pass up and one down a junction tree.

P(evidence) is a sum of products with one entry of each table, so it is linear in the entries of any one of them. Its derivative by an
entry is the sum of all products that hold the entry, without the entry itself: what the rest of the tree sends to the table
(Darwiche 2003, "A differential approach to inference in Bayesian networks", section 4.2). Nothing is divided by an entry, so that
entries of 0 have their derivative as any others do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from merula.core import Array
from merula.graphs.factors.propagation import Propagation


@dataclass(frozen=True, eq=False)
class Derivatives:
    """P(evidence) of several pieces of evidence, and its derivative by every table, all in units of exp(log_scale).

    ``values`` has an entry for each piece of evidence, ``tables`` for each factor an array with these along its first axis.
    """

    log_scale: float
    values: Array
    tables: list[Array]


@dataclass(eq=False)
class _Item:
    """One of the arrays whose product is a clique's table: its variables, and the array with an axis for the evidence first.

    ``gain`` is the derivative of P(evidence) by it, once that is known; ``scale`` what it was divided by.
    """

    scope: tuple[int, ...]
    values: Array
    scale: float = 1.0
    gain: Array | None = None


def derivatives(plan: Propagation, factors: Sequence[Array], likelihoods: Sequence[Mapping[int, Array]]) -> Derivatives:
    """P(evidence) and its derivatives by all factors, for each of several sets of likelihoods at once.

    Examples
    --------
    >>> plan = Propagation([2, 2], [(0,), (0, 1)])
    >>> rain, wet = np.array([0.8, 0.2]), np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> found = derivatives(plan, [rain, wet], [{1: np.array([0.0, 1.0])}])
    >>> scale = np.exp(found.log_scale)
    >>> (scale * found.values).round(4).tolist(), (scale * found.tables[0]).round(4).tolist()
    ([0.24], [[0.1, 0.8]])
    """
    tables = [_factor(plan, scope, factor) for scope, factor in zip(plan.scopes, factors, strict=True)]
    items: list[list[_Item]] = [[] for _ in plan.tree.cliques]
    for k, table in zip(plan.homes, tables, strict=True):
        items[k].append(table)
    for v in sorted({v for one in likelihoods for v in one}):
        nothing = np.ones(plan.tree.cards[v])
        said = np.stack([np.asarray(one.get(v, nothing), dtype=np.float64) for one in likelihoods])
        items[plan.entries[v, 5]].append(_Item((v,), said))
    messages = _collect(plan, items)
    log_scale, values = _finish(plan, messages, len(likelihoods))
    for k in reversed(range(len(messages))):
        _share_out(plan.tree.cliques[k], plan.tree.shape(k), messages[k], items[k])
    found = [_as_wide(table, factor, len(likelihoods)) for table, factor in zip(tables, factors, strict=True)]
    return Derivatives(log_scale, values, found)


def _factor(plan: Propagation, scope: Sequence[int], factor: Array) -> _Item:
    """A factor over those of its variables that have more than one level: the others are in no clique."""
    moving = tuple(v for v in scope if plan.tree.cards[v] > 1)
    return _Item(moving, np.reshape(factor, (1, *(plan.tree.cards[v] for v in moving))))


def _collect(plan: Propagation, items: list[list[_Item]]) -> list[_Item]:
    """The message of every clique to its parent, each divided by its largest entry; children come first."""
    tree, messages = plan.tree, list[_Item]()
    for k, clique in enumerate(tree.cliques):
        shared = clique[: tree.separators[k]]
        table = np.ones((1,) * (1 + len(clique)))
        for item in items[k]:
            table = table * _aligned(clique, item.scope, item.values)
        sent = _summed(table, clique, tree.shape(k), shared)
        scale = float(sent.max(initial=0.0)) or 1.0
        messages.append(_Item(shared, sent / scale, scale))
        if tree.parents[k] >= 0:
            items[tree.parents[k]].append(messages[-1])
    return messages


def _finish(plan: Propagation, messages: Sequence[_Item], count: int) -> tuple[float, Array]:
    """log of all scales, and P(evidence) in these units: the product of what the roots send. Each root's gain is that of the others."""
    roots = [message for message, parent in zip(messages, plan.tree.parents, strict=True) if parent < 0]
    for root, others in zip(roots, products_of_others([root.values for root in roots]), strict=True):
        root.gain = others
    values = np.ones(count)
    for root in roots:
        values = values * root.values
    return float(sum(np.log(message.scale) for message in messages)), values


def _share_out(clique: Sequence[int], shape: Sequence[int], message: _Item, items: Sequence[_Item]) -> None:
    """What P(evidence) gains by each item of a clique, from what it gains by the message that they make together.

    All gains are of P(evidence) in units of the product of all scales, and a message is what its items make, divided by its scale.
    """
    assert message.gain is not None
    incoming = _aligned(clique, message.scope, message.gain)
    lined = [_aligned(clique, item.scope, item.values) for item in items]
    for item, others in zip(items, products_of_others([incoming, *lined])[1:], strict=True):
        item.gain = _summed(others, clique, shape, item.scope) / message.scale


def _aligned(clique: Sequence[int], scope: Sequence[int], values: Array) -> Array:
    """An array over some variables of a clique with an axis for each of the clique's variables, in their order."""
    order = sorted(range(len(scope)), key=lambda axis: clique.index(scope[axis]))
    sizes = dict(zip(scope, values.shape[1:], strict=True))
    moved = values.transpose(0, *(1 + axis for axis in order))
    return moved.reshape(len(values), *(sizes.get(v, 1) for v in clique))


def _summed(table: Array, clique: Sequence[int], shape: Sequence[int], scope: Sequence[int]) -> Array:
    """A table that spreads over a clique, summed over all variables but those of the scope, whose order it then has."""
    others = tuple(1 + axis for axis, v in enumerate(clique) if v not in scope)
    left = [v for v in clique if v in scope]
    found = np.broadcast_to(table, (len(table), *shape)).sum(axis=others)
    return found.transpose(0, *(1 + left.index(v) for v in scope))


def products_of_others(arrays: Sequence[Array]) -> list[Array]:
    """For each array the product of all the others, without a division: what stands before it times what stands behind it.

    Examples
    --------
    >>> [one.tolist() for one in products_of_others([np.array([0.0]), np.array([2.0]), np.array([3.0])])]
    [[6.0], [0.0], [0.0]]
    """
    before, behind = [np.ones(1)], [np.ones(1)]
    for left, right in zip(arrays[:-1], arrays[:0:-1], strict=True):
        before.append(before[-1] * left)
        behind.append(behind[-1] * right)
    return [left * right for left, right in zip(before, reversed(behind), strict=True)]


def _as_wide(table: _Item, factor: Array, count: int) -> Array:
    """The gains of a factor in its own shape, for each piece of evidence."""
    assert table.gain is not None
    return np.broadcast_to(table.gain, (count, *table.gain.shape[1:])).reshape(count, *np.shape(factor))
