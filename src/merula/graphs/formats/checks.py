"""What every format asks of a network: known parents, whole tables, rows that sum to 1, no cycle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import prod
from typing import TypeVar

from merula.core import Array, InputError, check_probabilities, nearest
from merula.core.limits import check_cells
from merula.data.schema import Label
from merula.graphs.network.node import AnyNode, GaussianNode, Node, NoisyNode
from merula.graphs.structure.graph import find_cycle

EXACT = 1e-12  # a row this near to 1 is kept bit for bit
TOLERANCE = 1e-6  # a row this near to 1 is normalised
SIXTH_DIGIT = 5e-7  # what rounding to six digits, as pyAgrum writes, may add per level
LARGEST_TABLE = 2**24  # cells; 134 MB
LARGEST_NETWORK = 2**26  # cells of all tables together; 537 MB
MOST_PARENTS = 63  # an array has at most 64 axes

Levels = Mapping[str, tuple[Label, ...]]
Kind = TypeVar("Kind", bound=Node | NoisyNode | GaussianNode)


def declared(variables: Iterable[tuple[str, Sequence[Label]]]) -> dict[str, tuple[Label, ...]]:
    """The levels of each variable, in the order of the file; an error for a name or a level met twice."""
    levels: dict[str, tuple[Label, ...]] = {}
    for name, labels in variables:
        if not name:
            raise InputError("a variable is called ''", got=name, expected="a name of at least one letter")
        if name in levels:
            raise InputError.at(
                f"variable {name!r}", "is declared twice", remedy="give every variable a name of its own"
            )
        if not labels:
            raise InputError.at(f"variable {name!r}", "has no level", expected="at least one")
        twice = [label for label, count in Counter(labels).items() if count > 1]
        if twice:
            raise InputError.at(f"variable {name!r}", f"has the level {twice[0]!r} twice", remedy="levels must differ")
        levels[name] = tuple(labels)
    if not levels:
        raise InputError("no variable was found", expected="at least one")
    return levels


def table_shape(name: str, parents: Sequence[str], levels: Levels) -> tuple[int, ...]:
    """The shape of P(name given parents): one axis per parent, the variable's own levels last."""
    if name not in levels:
        raise InputError(
            f"probabilities are given for {name!r}, which is not a declared variable{nearest(name, levels)}"
        )
    for parent in parents:
        if parent not in levels:
            raise InputError.at(f"variable {name!r}", f"has the unknown parent {parent!r}{nearest(parent, levels)}")
    if len({name, *parents}) <= len(parents):
        raise InputError.at(f"variable {name!r}", f"has the parents {list(parents)}", got=list(parents), expected="each once, and not itself")  # fmt: skip
    if len(parents) > MOST_PARENTS:
        raise InputError.at(
            f"variable {name!r}", f"has {len(parents)} parents", remedy=f"at most {MOST_PARENTS} are possible"
        )
    shape = tuple(len(levels[variable]) for variable in (*parents, name))
    remedy = "give it fewer parents (.json and .xdsl hold a NoisyOr or NoisyMax by its few numbers)"
    check_cells(prod(shape), LARGEST_TABLE, f"the table of {name!r} given {len(parents)} parents", remedy)
    return shape


def check_sizes(families: Iterable[tuple[str, Sequence[str]]], levels: Levels) -> None:
    """Refuse tables that are too large, each or together, before memory is taken: (variable, its parents) of each table."""
    total = 0
    for name, parents in families:
        total += prod(table_shape(name, parents, levels))
        remedy = "give its variables fewer parents or levels"
        check_cells(total, LARGEST_NETWORK, f"the tables up to that of {name!r}", remedy)


def filled(name: str, parents: Sequence[str], levels: Levels, numbers: Array) -> Array:
    """The numbers as P(name given parents), first parent slowest, the variable's own levels fastest."""
    shape = table_shape(name, parents, levels)
    if numbers.size != prod(shape):
        raise InputError.at(
            f"variable {name!r}",
            f"has {numbers.size} probabilities",
            expected=f"{' × '.join(map(str, shape))} = {prod(shape)}",
        )
    return numbers.reshape(shape)


def probability_node(name: str, parents: Sequence[str], levels: Levels, table: Array) -> Node:
    """The node of a table whose rows sum to 1; rows off by less than 1e-6 are normalised.

    Six printed digits may miss 1 by more where there are many levels, so the tolerance is max(1e-6, 5e-7 × levels).
    """
    allowed = max(TOLERANCE, SIXTH_DIGIT * table.shape[-1]) + EXACT
    table = check_probabilities(
        table,
        lambda index: row_name(name, parents, levels, index),
        tolerance=allowed,
        kept=EXACT,
        remedy="correct its numbers",
    )
    return Node(name, levels[name], tuple(parents), table)


def row_name(name: str, parents: Sequence[str], levels: Levels, index: Sequence[int]) -> str:
    """A row of a table, or a cell of it, as people write it.

    Examples
    --------
    >>> known = {"smoke": ("yes", "no"), "lung": ("yes", "no")}
    >>> row_name("lung", ["smoke"], known, [1]), row_name("lung", ["smoke"], known, [1, 0])
    ('P(lung given smoke = no)', 'P(lung = yes given smoke = no)')
    """
    given = ", ".join(f"{parent} = {levels[parent][code]}" for parent, code in zip(parents, index, strict=False))
    what = name if len(index) == len(parents) else f"{name} = {levels[name][index[-1]]}"
    return f"P({what} given {given})" if given else f"P({what})"


def finished(names: Iterable[str], nodes: Sequence[Kind]) -> list[Kind]:
    """The nodes in the order their variables were declared, one each, without a cycle."""
    names = list(names)
    of = {node.name: node for node in nodes}
    if len(of) < len(nodes):
        name = next(name for name, count in Counter(node.name for node in nodes).items() if count > 1)
        raise InputError.at(f"variable {name!r}", "is given probabilities twice", expected="them once")
    for name in names:
        if name not in of:
            raise InputError.at(f"variable {name!r}", "has no probabilities", expected="a table for every variable")
    refuse_cycle({node.name: node.parents for node in nodes})
    return [of[name] for name in names]


def refuse_cycle(parents: Mapping[str, Collection[str]]) -> None:
    """Raise, with the cycle, where following parents leads back to the start."""
    cycle = find_cycle(parents)
    if cycle:
        raise InputError(f"the arcs form a cycle: {' → '.join(cycle)}", remedy="take one of them out")


def writable(nodes: Sequence[AnyNode]) -> list[Node]:
    """The nodes of a network about to be written, each with its full table; numbers and broken networks are refused."""
    levels = discrete_levels(nodes)
    return [full_table(node, levels) for node in nodes]


def discrete_levels(nodes: Sequence[AnyNode]) -> dict[str, tuple[Label, ...]]:
    """The levels of each variable of a network that must be discrete, with known parents and without a cycle."""
    for node in nodes:
        if isinstance(node, GaussianNode):
            raise InputError.at(
                f"variable {node.name!r}",
                "is a number, and this format holds discrete variables alone",
                remedy="write merula's own .json, or discretise it",
            )
    levels = declared((node.name, node.levels) for node in nodes)
    for node in nodes:
        for parent in node.parents:
            table_shape(node.name, [parent], levels)
    refuse_cycle({node.name: node.parents for node in nodes})
    return levels


def full_table(node: AnyNode, levels: Levels) -> Node:
    """The node with its table written out, which must have the right shape and rows that sum to 1."""
    assert not isinstance(node, GaussianNode)
    shape = table_shape(node.name, node.parents, levels)
    if node.table.shape != shape:
        raise InputError.at(
            f"the table of {node.name!r}",
            f"has the shape {node.table.shape}",
            got=node.table.shape,
            expected=f"{shape}",
        )
    return probability_node(node.name, node.parents, levels, node.table)
