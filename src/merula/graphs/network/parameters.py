"""The numbers a network was stated by, one by one, and how P(evidence) changes with each when the rest of its row moves along.

A row of a table sums to 1. When one of its numbers changes from θ to t, the others keep their proportions: each is multiplied by
(1 − t) / (1 − θ). Where θ = 1 the others are 0 and have no proportions; then they share 1 − t alike. P(evidence) is linear in t:

∂P/∂t = D(level) − Σ_other θ(other) / (1 − θ) · D(other), D the derivative of P(evidence) by each entry of the row
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from merula.core import Array, InputError, one_of
from merula.data.schema import Label
from merula.graphs.network.inference import Piece, step_table
from merula.graphs.network.node import AnyNode, GaussianNode, Node, NoisyNode
from merula.graphs.network.noisy import noisy_max


@dataclass(frozen=True)
class Parameter:
    """One number of a network: P(variable = level given these levels of its parents).

    Of a noisy-OR or noisy-MAX it is what one parent by itself brings about, or the leak (`given` is then empty).
    """

    variable: str
    level: Label
    given: Mapping[str, Label]
    value: float

    def __str__(self) -> str:
        known = ", ".join(f"{name} = {level}" for name, level in self.given.items())
        return f"P({self.variable} = {self.level}{' given ' + known if known else ''})"

    def __hash__(self) -> int:
        return hash((self.variable, self.level, *self.given.items()))


@dataclass(frozen=True, eq=False)
class Rows:
    """Distributions over a variable's levels, one per row, and the derivatives of each P(evidence) by their entries.

    ``givens`` says of which levels of the parents each row is; ``gains`` is evidence × rows × levels.
    """

    variable: str
    levels: tuple[Label, ...]
    givens: list[dict[str, Label]]
    table: Array
    gains: Array

    def parameters(self) -> Iterator[Parameter]:
        """The numbers of all rows, one row after the other."""
        for given, row in zip(self.givens, self.table.tolist(), strict=True):
            for level, value in zip(self.levels, row, strict=True):
                yield Parameter(self.variable, level, given, value)

    def slopes(self) -> Array:
        """∂P/∂t of each number while the others of its row keep their proportions: evidence × numbers."""
        return np.stack([along_row(gain, self.table) for gain in self.gains]).reshape(len(self.gains), -1)


def along_row(gains: Array, table: Array) -> Array:
    """The derivative by each entry of a row while the others keep their proportions; rows × levels.

    Examples
    --------
    >>> along_row(np.array([[1.0, 3.0, 5.0]]), np.array([[0.5, 0.25, 0.25]])).round(4).tolist()
    [[-3.0, 0.6667, 3.3333]]
    >>> along_row(np.array([[1.0, 3.0, 5.0]]), np.array([[1.0, 0.0, 0.0]]))[0, 0].item()
    -3.0
    """
    levels = table.shape[1]
    apart = 1 - np.eye(levels)  # entry × the others
    weights = table[:, None, :] * apart
    rest = weights.sum(axis=2, keepdims=True)
    shares = np.where(rest > 0, weights / np.where(rest > 0, rest, 1.0), apart / max(1, levels - 1))
    return gains - np.einsum("rlo,ro->rl", shares, gains)


def moved(table: Array, row: int, level: int, value: float) -> Array:
    """The table with one number changed, the others of its row in their proportions.

    Examples
    --------
    >>> moved(np.array([[0.5, 0.25, 0.25]]), 0, 0, 0.8).round(6).tolist()
    [[0.8, 0.1, 0.1]]
    """
    after = table.copy()
    others = np.arange(table.shape[1]) != level
    rest = table[row, others]
    total = rest.sum()
    after[row, others] = (1 - value) * (rest / total if total > 0 else 1 / max(1, others.sum()))
    after[row, level] = value
    return after


def rows_of(nodes: Mapping[str, AnyNode], names: Sequence[str], pieces: Sequence[Piece], gains: Sequence[Array]) -> list[Rows]:  # fmt: skip
    """The rows of all tables with what P(evidence) gains by them; `gains` has an array (evidence × table) for each piece."""
    own: dict[str, list[Array]] = {}
    for piece, gain in zip(pieces, gains, strict=True):
        own.setdefault(names[piece.owner], []).append(gain)
    return [rows for name, found in own.items() for rows in _rows_of_node(nodes, nodes[name], found)]


def _rows_of_node(nodes: Mapping[str, AnyNode], node: AnyNode, gains: list[Array]) -> list[Rows]:
    if len(node.levels) < 2:
        return []
    if isinstance(node, Node):
        return [_table_rows(nodes, node, gains[0])]
    assert isinstance(node, NoisyNode)
    return _written_out_rows(nodes, node, gains[0]) if len(gains) == 1 else _chain_rows(nodes, node, gains)


def _table_rows(nodes: Mapping[str, AnyNode], node: Node, gains: Array) -> Rows:
    cards, width = node.table.shape[:-1], len(node.levels)
    givens = [
        {parent: nodes[parent].levels[k] for parent, k in zip(node.parents, at, strict=True)}
        for at in np.ndindex(cards)
    ]
    return Rows(node.name, node.levels, givens, node.table.reshape(-1, width), gains.reshape(len(gains), -1, width))


def _cause(nodes: Mapping[str, AnyNode], node: NoisyNode, i: int, gains: Array) -> Rows:
    """The rows of what parent i brings about by itself."""
    parent = node.parents[i]
    givens = [{parent: level} for level in nodes[parent].levels]
    return Rows(node.name, node.levels, givens, np.asarray(node.strengths[i], dtype=np.float64), gains)


def _leak(node: NoisyNode, gains: Array) -> Rows:
    return Rows(node.name, node.levels, [{}], np.asarray(node.leak, dtype=np.float64)[None], gains[:, None])


def _written_out_rows(nodes: Mapping[str, AnyNode], node: NoisyNode, gains: Array) -> list[Rows]:
    """A noisy table is linear in the rows of each cause: it is the average of the tables in which the cause brings about one level for sure."""
    width, found = len(node.levels), list[Rows]()
    for i, strength in enumerate(node.strengths):
        kept = tuple(a for a in range(len(node.parents) + 1) if a != i)
        sums = np.empty((len(gains), len(strength), width))
        for z in range(width):
            sure = [
                np.tile(np.eye(width)[z], (len(strength), 1)) if j == i else s for j, s in enumerate(node.strengths)
            ]
            sums[:, :, z] = (gains * noisy_max(sure, node.leak)).sum(axis=tuple(1 + a for a in kept))
        found.append(_cause(nodes, node, i, sums))
    every = tuple(range(1, gains.ndim))
    leaks = [(gains * noisy_max(node.strengths, np.eye(width)[z])).sum(axis=every) for z in range(width)]
    return [*found, _leak(node, np.stack(leaks, axis=1))]


def _chain_rows(nodes: Mapping[str, AnyNode], node: NoisyNode, gains: list[Array]) -> list[Rows]:
    """Each step of a chain is linear in the rows of its cause, the first one in the leak as well."""
    unit, first = step_table(np.eye(len(node.levels))), step_table(np.asarray(node.strengths[0], dtype=np.float64))
    by_first = np.einsum("exa,b,bza->exz", gains[0], node.leak, unit)
    by_later = [np.einsum("ebxa,bza->exz", gain, unit) for gain in gains[1:]]
    causes = [_cause(nodes, node, i, gain) for i, gain in enumerate([by_first, *by_later])]
    return [*causes, _leak(node, np.einsum("exa,bxa->eb", gains[0], first))]


def number_of(nodes: Mapping[str, AnyNode], variable: str, level: Label, given: Mapping[str, Label]) -> Parameter:
    """The number of this description, with its value; an error where there is none."""
    node = nodes[one_of(variable, nodes, "a variable")]
    if isinstance(node, GaussianNode):
        raise InputError(f"{variable!r} is numeric", remedy="name a variable that has levels")
    asked = Parameter(variable, level, dict(given), 0.0)
    if level in node.levels and all(
        known in nodes[name].levels for name, known in given.items() if name in node.parents
    ):
        table, row = _row_of(node, {name: nodes[name].levels for name in node.parents}, asked)
        if row is not None:
            return replace(asked, value=float(table[row, node.levels.index(level)]))
    raise InputError(f"the network has no {asked}", remedy=f"name one level of {variable!r}, and one of {'its' if isinstance(node, Node) else 'one of its'} parents {list(node.parents)}")  # fmt: skip


def _row_of(
    node: Node | NoisyNode, parents: Mapping[str, Sequence[Label]], asked: Parameter
) -> tuple[Array, int | None]:
    """The table that a number stands in, rows × levels, and its row; none where the parents named are not those of a row."""
    if isinstance(node, Node):
        at = [parents[name].index(asked.given[name]) for name in node.parents if name in asked.given]
        whole = len(at) == len(node.parents) == len(asked.given)
        row = (int(np.ravel_multi_index(at, node.table.shape[:-1])) if at else 0) if whole else None
        return node.table.reshape(-1, len(node.levels)), row
    if not asked.given:
        return np.asarray(node.leak, dtype=np.float64)[None], 0
    cause, known = next(iter(asked.given.items()))
    if len(asked.given) > 1 or cause not in node.parents:
        return np.zeros((1, 1)), None
    return np.asarray(node.strengths[node.parents.index(cause)], dtype=np.float64), parents[cause].index(known)


def with_number(node: AnyNode, parents: Mapping[str, Sequence[Label]], asked: Parameter, value: float) -> AnyNode:
    """The node with one of its numbers changed, the others of its row in their proportions."""
    assert not isinstance(node, GaussianNode)
    table, row = _row_of(node, parents, asked)
    assert row is not None
    after = moved(table, row, node.levels.index(asked.level), value)
    if isinstance(node, Node):
        return replace(node, table=after.reshape(node.table.shape))
    if not asked.given:
        return replace(node, leak=after[0])
    i = node.parents.index(next(iter(asked.given)))
    return replace(node, strengths=(*node.strengths[:i], after, *node.strengths[i + 1 :]))
