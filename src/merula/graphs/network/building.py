"""Variables as they are stated: arcs, levels, probabilities however they are written, read and checked before use."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence, Set as AbstractSet
from math import prod
from typing import Any

import numpy as np

from merula.core import Array, InputError, Option
from merula.core.checks import checked_number, one_of
from merula.core.limits import check_cells
from merula.data.schema import Label
from merula.data.table import plain_label
from merula.graphs.factors import ConditionalDistribution, JointDistribution
from merula.graphs.factors.names import Levels, cell_text, checked_rows, chosen, rank_of, title
from merula.graphs.factors.probability_tables import MOST_CELLS, plain_columns
from merula.graphs.network.node import AnyNode, GaussianNode, Node, NoisyNode
from merula.graphs.network.parametric import LinearGaussian, NoisyMax, NoisyOr
from merula.graphs.structure.graph import AnyGraph, ancestors, children_of, find_cycle

SUM_TOLERANCE = 1e-6


def new_node(
    nodes: Mapping[str, AnyNode],
    graph: AnyGraph,
    name: str,
    levels: Any,
    probabilities: Any,
    parents: Sequence[str],
) -> AnyNode:
    """The variable that `BayesianNetwork.add` was asked for, its parents among those that are there."""
    stated = levels if isinstance(levels, LinearGaussian) else probabilities
    if isinstance(stated, LinearGaussian) and levels is not None and probabilities is not None:
        raise InputError(f"{name!r} has a LinearGaussian, so it is a number, and levels or probabilities besides", where=f"variable {name!r}", remedy="give one of the two")  # fmt: skip
    for parent in (parents,) if isinstance(parents, str) else parents:
        if parent in graph and parent not in nodes:
            raise InputError(f"a parent of {name!r}, {parent!r}, has no probabilities yet", remedy="state it first")
    named = chosen(parents, nodes, f"a parent of {name!r}")
    if isinstance(stated, NoisyOr | NoisyMax):
        if named and set(named) != set(stated.parents):
            raise InputError.at(f"variable {name!r}", ("has ", Option("parents", list(named)), f", but its {type(stated).__name__} names {list(stated.parents)}"), got=list(named), remedy=("leave ", Option("parents"), " out"))  # fmt: skip
        named = stated.parents
    for parent in named:
        one_of(parent, nodes, f"a parent of {name!r}")
    numeric = [parent for parent in named if isinstance(nodes[parent], GaussianNode)]
    known = {parent: nodes[parent].levels for parent in named if parent not in numeric}
    if isinstance(stated, LinearGaussian):
        return stated.node(name, known, numeric)
    if numeric:
        raise InputError(f"{name!r} has levels, so its parents must too", where=f"variable {name!r}", remedy=f"{numeric[0]!r} is numeric: turn the arc round, or discretise {numeric[0]!r}")  # fmt: skip
    found = checked_levels(name, levels)
    if isinstance(stated, NoisyOr | NoisyMax):
        return stated.node(name, found, known)
    if stated is None:
        raise InputError(f"{name!r} has no probabilities", where=f"variable {name!r}", remedy="state them, or give a structure to BayesianNetwork(arcs) and let fit learn them")  # fmt: skip
    return Node(name, found, tuple(known), read_table(name, found, known, stated))


def check_new(nodes: Mapping[str, AnyNode], graph: AnyGraph, node: AnyNode) -> None:
    """A variable stated anew must not close a cycle, nor change the levels its children were stated for."""
    if node.name in node.parents or node.name in ancestors(graph, node.parents):
        cycle = find_cycle({**graph, node.name: node.parents}) or ()
        raise InputError(f"{node.name!r} would close the cycle {' → '.join(cycle)}", where=f"variable {node.name!r}", remedy="a network has none")  # fmt: skip
    old = nodes.get(node.name)
    if old is not None and old.levels != node.levels:
        children = children_of(graph)[node.name]
        if children:
            raise InputError(f"{node.name!r} has the child {children[0]!r}, stated for its levels {list(old.levels)}", where=f"variable {node.name!r}", remedy="state it with the same levels")  # fmt: skip


def read_structure(arcs: Any) -> dict[str, tuple[str, ...]]:
    """The parents of each variable, from arcs or from a mapping."""
    if isinstance(arcs, Mapping):
        graph = {
            name: tuple([parents] if isinstance(parents, str) else _several(parents)) for name, parents in arcs.items()
        }
    else:
        graph = {}
        for arc in _several(arcs):
            if isinstance(arc, str) or len(_several(arc)) != 2:
                raise InputError.of("an arc", arc, "(parent, child)")
            parent, child = arc
            graph.setdefault(parent, ())
            graph[child] = (*graph.get(child, ()), parent)
    for parents in list(graph.values()):
        for parent in parents:
            graph.setdefault(parent, ())
    odd = [name for name in graph if not isinstance(name, str) or not name]
    if odd:
        raise InputError(f"a variable is called {odd[0]!r}", expected="a name of at least one letter")
    cycle = find_cycle(graph)
    if cycle:
        raise InputError(f"the arcs close the cycle {' → '.join(cycle)}", remedy="a network has none")
    twice = next((name for name, parents in graph.items() if len(set(parents)) < len(parents)), None)
    if twice is not None:
        raise InputError.at(f"an arc to {twice!r}", "is given twice", remedy="give each arc once")
    return graph


def _several(arcs: Any) -> list[Any]:
    if isinstance(arcs, str) or not isinstance(arcs, Iterable):
        raise InputError.at("arcs", f"are {arcs!r}", got=arcs, expected="a list of (parent, child), or {variable: its parents}")  # fmt: skip
    return list(arcs)


def checked_levels(name: str, levels: Any) -> tuple[Label, ...]:
    """The levels as plain labels: at least one, each once."""
    if isinstance(levels, str | Mapping | AbstractSet) or not isinstance(levels, Iterable):
        raise InputError.at(f"the levels of {name!r}", f"are {levels!r}", got=levels, expected="a list of at least one level, in order")  # fmt: skip
    found = tuple(plain_label(level) for level in levels)
    if not found or len(set(found)) < len(found):
        raise InputError.at(f"the levels of {name!r}", f"are {list(found)}: name at least one, and each once", got=list(found))  # fmt: skip
    return found


def free_parameters(node: AnyNode) -> int:
    """The free parameters of one conditional."""
    if isinstance(node, GaussianNode):
        return int(node.intercept.size) * (2 + int(node.slopes.shape[-1]))
    if isinstance(node, NoisyNode):
        moving = sum(int((rows != np.eye(rows.shape[1])[0]).any(axis=1).sum()) for rows in node.strengths)
        return (moving + 1) * (len(node.levels) - 1)
    return node.table.size // max(1, len(node.levels)) * (len(node.levels) - 1)


def checked_limit(limit: Any) -> float:
    """The most table entries that an exact answer may need."""
    return checked_number(limit, "limit", "a number of table entries above 0", lambda entries: entries > 0)


def refuse_numeric(nodes: Mapping[str, AnyNode], what: str, names: Iterable[str]) -> None:
    """An error naming the first of these variables that is a number."""
    numeric = [name for name in names if isinstance(nodes[name], GaussianNode)]
    if numeric:
        raise InputError.at(what, "needs levels", remedy=(f"{numeric[0]!r} is numeric: ask for discrete variables with ", Option('targets')))  # fmt: skip


def read_table(name: str, levels: Sequence[Label], parents: Levels, probabilities: Any) -> Array:
    """P(name given parents) with an axis for each parent, the levels last; every row checked and brought to sum 1."""
    shape = (*(len(known) for known in parents.values()), len(levels))
    remedy = "give it fewer parents or levels, or use a NoisyOr or NoisyMax"
    check_cells(prod(shape), MOST_CELLS, f"the table of {name!r} given {len(parents)} parents", remedy)
    table = _read(name, tuple(levels), parents, probabilities, shape)
    table = checked_rows({**parents, name: tuple(levels)}, len(parents), table, remedy="correct that row")
    table.flags.writeable = False
    return table


def _read(name: str, levels: tuple[Label, ...], parents: Levels, stated: Any, shape: tuple[int, ...]) -> Array:
    if isinstance(stated, JointDistribution | ConditionalDistribution):
        return _from_distribution(name, levels, parents, stated)
    if isinstance(stated, Mapping):
        return _from_mapping(name, levels, parents, stated, shape)
    if hasattr(stated, "columns") or hasattr(stated, "column_names"):
        return _from_frame(name, levels, parents, stated, shape)
    try:
        array = np.asarray(stated, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError.of(f"{title([name], parents)}", stated, f"{{levels of the parents: {{level: probability}}}}, an array of shape {shape}, or a data frame") from None  # fmt: skip
    if array.shape not in (shape, (prod(shape[:-1]), shape[-1])) and not (len(shape) == 1 and array.size == shape[0]):
        raise InputError.at(f"{title([name], parents)}", f"has the shape {array.shape}", got=array.shape, expected=f"{shape}: an axis for each parent in the order {list(parents)}, then the {shape[-1]} levels of {name!r}")  # fmt: skip
    return array.reshape(shape)


def _from_distribution(name: str, levels: tuple[Label, ...], parents: Levels, stated: Any) -> Array:
    if isinstance(stated, JointDistribution):
        stated = stated.conditional(name, given=tuple(parents)) if parents else stated.marginal(name)
    axes, known = (*parents, name), {**parents, name: levels}
    if set(stated.levels) != set(axes) or any(set(stated.levels[one]) != set(known[one]) for one in axes):
        raise InputError.at(f"{title([name], parents)}", f"was given a distribution over {dict(stated.levels)}", expected=f"{dict(known)}")  # fmt: skip
    order = list(stated.levels)
    values = np.asarray(stated.values).transpose([order.index(one) for one in axes])
    return values[np.ix_(*([stated.levels[one].index(level) for level in known[one]] for one in axes))]


def _from_mapping(name: str, levels: tuple[Label, ...], parents: Levels, stated: Any, shape: tuple[int, ...]) -> Array:
    table = np.zeros(shape)
    rows: dict[tuple[int, ...], Any] = {}
    _gather(name, list(parents.items()), stated, (), rows)
    for index, row in rows.items():
        table[index] = _row(name, levels, row)
    return _complete(name, parents, table, rows)


def _complete(name: str, parents: Levels, table: Array, rows: Container[tuple[int, ...]]) -> Array:
    """The table itself, if every combination of the parents has a row."""
    for index in np.ndindex(table.shape[:-1]):
        if index not in rows:
            raise InputError.at(f"{title([name], parents)}", f"has no row where {cell_text(parents, index)}", remedy="state it")  # fmt: skip
    return table


def _gather(
    name: str, left: list[tuple[str, Any]], stated: Any, index: tuple[int, ...], rows: dict[tuple[int, ...], Any]
) -> None:
    """Collect what is stated below one combination of the first parents: {level of the next: …}, or {all levels left: row}."""
    if not left:
        if index in rows:
            raise InputError.at(f"a row of P({name})", f"is stated twice: {rows[index]!r} and {stated!r}", remedy="state each row once")  # fmt: skip
        rows[index] = stated
        return
    if not isinstance(stated, Mapping):
        raise InputError.at(f"P({name})", f"is {stated!r} where it should say {{level of {left[0][0]!r}: …}}", got=stated, remedy="nest one mapping per parent, or key it by tuples of levels")  # fmt: skip
    for key, below in stated.items():
        several = isinstance(key, tuple) and len(key) == len(left) and len(left) > 1
        taken = left if several else left[:1]
        ranks = [
            rank_of(level, parent, known)
            for level, (parent, known) in zip(key if several else (key,), taken, strict=True)
        ]
        _gather(name, left[len(taken) :], below, (*index, *ranks), rows)


def _row(name: str, levels: tuple[Label, ...], stated: Any) -> Array:
    """The probabilities of all levels, from {level: probability} (levels not named have 0) or a sequence."""
    indices, values = list(range(len(levels))), stated
    if isinstance(stated, Mapping):
        indices, values = [rank_of(level, name, levels) for level in stated], list(stated.values())
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError.of(f"a row of P({name})", stated, "numbers") from None
    if numbers.shape != (len(indices),):
        raise InputError.of(f"a row of P({name})", stated, f"the probabilities of {list(levels)}")
    row = np.zeros(len(levels))
    row[indices] = numbers
    return row


def _from_frame(name: str, levels: tuple[Label, ...], parents: Levels, stated: Any, shape: tuple[int, ...]) -> Array:
    """From a data frame: a row per combination of the parents with a column per level, or a row per cell."""
    index = getattr(stated, "index", None)
    if index is not None and all(parent in (index.names or ()) for parent in parents) and parents:
        stated = stated.reset_index()
    columns = plain_columns(stated)
    for parent in parents:
        one_of(parent, columns, f"a column of the table of P({name})")
    by_text = {str(level): level for level in levels}
    tidy = "probability" in columns and name in columns
    table, met = np.zeros(shape), set()
    for row in range(len(next(iter(columns.values()), ()))):
        position = tuple(rank_of(columns[parent][row], parent, known) for parent, known in parents.items())
        if tidy:
            found = {columns[name][row]: columns["probability"][row]}
        else:
            found = {by_text[c]: columns[c][row] for c in columns if c in by_text and c not in parents}
        cell = (*position, rank_of(columns[name][row], name, levels)) if tidy else position
        if cell in met:
            raise InputError.at(f"row {row} of the table of P({name})", f"states again what an earlier row states: {cell_text({**parents, name: levels} if tidy else parents, cell) or found}", remedy="state it once")  # fmt: skip
        met.add(cell)
        table[position] += _row(name, levels, found)
    return _complete(name, parents, table, {cell[: len(parents)] for cell in met})
