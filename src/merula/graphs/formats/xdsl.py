"""GeNIe's XDSL: ``<cpt>``, ``<noisymax>`` and ``<deterministic>`` nodes.

Numbers come as SMILE documents its arrays: the first parent is the most significant (slowest), the node's own states are
fastest. pgmpy does the same. pyAgrum 3.3.1 writes and reads the first parent fastest; its files name aGrUM as their
``app`` and are read in its order, but it misreads everybody else's files in which a node has several parents.

A noisy-MAX lists a distribution for each parent and each of its states in the order of ``<strengths>``, then the leak; the
child's states run from the strongest to the one that means nothing happens. It is read as a `NoisyNode`, whose levels run
the other way, and written again where each parent has a state that does nothing, as SMILE demands; else as its table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from merula.core import Array, InputError, located, nearest
from merula.graphs.formats.braced_text import numbers
from merula.graphs.formats.checks import (
    Levels,
    check_sizes,
    declared,
    discrete_levels,
    filled,
    finished,
    full_table,
    probability_node,
    table_shape,
)
from merula.graphs.formats.identifiers import (
    exact_cuts,
    identifiers_of,
    kept_of,
    kept_originals,
    level_texts,
    safe_identifiers,
    with_originals,
)
from merula.graphs.formats.safe_xml import escaped, only, text_of, tree
from merula.graphs.network.node import AnyNode, Node, NoisyNode

READ = ("cpt", "noisymax", "deterministic")
SAFE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def parse(text: str) -> list[Node | NoisyNode]:
    """The nodes of a network in GeNIe's XDSL.

    Decisions, utilities and equations are refused.

    Examples
    --------
    >>> nodes = parse('''<smile version="1.0" id="example"><nodes>
    ... <cpt id="smoke"><state id="yes"/><state id="no"/><probabilities>0.3 0.7</probabilities></cpt>
    ... <noisymax id="cough"><state id="yes"/><state id="no"/><parents>smoke</parents><strengths>0 1</strengths>
    ...   <parameters>0.5 0.5 0 1 0.1 0.9</parameters></noisymax>
    ... </nodes></smile>''')
    >>> nodes[1].levels, nodes[1].table.round(2).tolist()
    (('no', 'yes'), [[0.45, 0.55], [0.9, 0.1]])
    """
    return parse_all(text)[0]


def parse_all(text: str) -> tuple[list[Node | NoisyNode], Any]:
    """The nodes, and the plain data of what else the file keeps of the network: the exact cuts of intervals, or None."""
    root = tree(text)
    parts = root.find("nodes")
    if root.tag != "smile" or parts is None:
        raise InputError(f"expected XDSL with <smile> and <nodes>, got XML that begins with <{root.tag}>")
    if root.find("dynamic") is not None:
        raise InputError("the network is dynamic (unrolled over time), which merula does not read")
    for element in parts:
        if element.tag not in READ:
            raise InputError(
                f"node {element.get('id')!r} is <{element.tag}>",
                remedy=f"merula reads networks of discrete chance nodes ({', '.join(READ)}) alone: take it out of the file",
            )
    levels = declared((element.get("id", ""), _states(element)) for element in parts)
    check_sizes(((element.get("id", ""), _parents(element)) for element in parts if element.tag != "noisymax"), levels)
    by_agrum = any("agrum" in genie.get("app", "").casefold() for genie in root.iter("genie"))
    nodes: list[Node | NoisyNode] = finished(levels, [_node(element, levels, by_agrum) for element in parts])
    restored, cuts = with_originals(
        nodes, ((element.get("id", ""), *kept) for element in parts for kept in _properties(element))
    )
    return restored, kept_of(cuts)


def _properties(element: Element) -> list[tuple[str | None, str]]:
    """What each property of a node is called, and its words; those of a noisy-MAX turned round, as its levels are."""
    step = -1 if element.tag == "noisymax" else 1
    return [(entry.get("id"), ",".join(text_of(entry).split(",")[::step])) for entry in element.iter("property")]


def _states(element: Element) -> list[str]:
    return [state.get("id", "") for state in element.iter("state")]


def _parents(element: Element) -> list[str]:
    return text_of(only(element.findall("parents"), f"node {element.get('id')!r}")).split()


def _node(element: Element, levels: Levels, by_agrum: bool) -> Node | NoisyNode:
    name, parents = element.get("id", ""), _parents(element)
    try:
        if element.tag == "noisymax":
            return _noisy(element, name, parents, levels)
        if element.tag == "deterministic":
            values = _certain(text_of(only(element.findall("resultingstates"), "it")).split(), name, parents, levels)
        else:
            values = _numbers(element, "probabilities")
    except ValueError as error:
        raise located(error, f"in node {name!r}") from None
    table = (_first_parent_fastest if by_agrum else filled)(name, parents, levels, values)
    return probability_node(name, parents, levels, table)


def _numbers(element: Element, tag: str) -> Array:
    return numbers(text_of(only(element.findall(tag), "it")).replace(",", " ").split())


def _first_parent_fastest(name: str, parents: Sequence[str], levels: Levels, values: Array) -> Array:
    return filled(name, parents[::-1], levels, values).transpose([*range(len(parents))[::-1], len(parents)])


def _certain(words: Sequence[str], name: str, parents: Sequence[str], levels: Levels) -> Array:
    """The table of a deterministic node: one state for each combination of the parents' states."""
    states, count = levels[name], prod(table_shape(name, parents, levels)[:-1])
    if len(words) != count:
        raise InputError(f"{len(words)} resulting states", expected=f"{count}, one for each combination of its parents' states")  # fmt: skip
    for word in words:
        if word not in states:
            raise InputError.at(f"the state {word!r}", f"is not one of {', '.join(states)}{nearest(word, states)}")
    rank = {state: index for index, state in enumerate(states)}
    table = np.zeros((count, len(states)))
    table[np.arange(count), [rank[word] for word in words]] = 1.0
    return table.ravel()


def _noisy(element: Element, name: str, parents: Sequence[str], levels: Levels) -> NoisyNode:
    """A noisy-MAX; SMILE lists the strongest state of the child first, so states and columns are turned round."""
    for parent in parents:
        table_shape(name, [parent], levels)  # raises for a parent that is unknown, or the node itself
    own, sizes = len(levels[name]), [len(levels[parent]) for parent in parents]
    values = _numbers(element, "parameters")
    if values.size != own * (sum(sizes) + 1):
        raise InputError(
            f"{values.size} noisy-MAX parameters",
            expected=f"{own} states × ({' + '.join(map(str, sizes)) or 0} parents' states + 1 leak) = {own * (sum(sizes) + 1)}",
        )
    rows = _distributions(values.reshape(-1, own)[:, ::-1])
    effects, start = [], 0
    for size, states in zip(sizes, _strengths(element, sizes), strict=True):
        effect = np.empty((size, own))
        effect[states] = rows[start : start + size]  # column k belongs to the parent's state states[k]
        effects.append(effect)
        start += size
    return NoisyNode(name, levels[name][::-1], tuple(parents), tuple(effects), rows[-1])


def _distributions(rows: Array) -> Array:
    """The rows, each a distribution, as `probability_node` brings them to sum 1."""
    known = {"column": tuple(range(len(rows))), "child": tuple(range(rows.shape[1]))}
    return probability_node("child", ["column"], known, rows).table


def _strengths(element: Element, sizes: Sequence[int]) -> list[list[int]]:
    """For each parent, which of its states each column of the parameters is about."""
    words = text_of(only(element.findall("strengths"), "it")).split()
    if not words:
        return [list(range(size)) for size in sizes]
    flat = [int(word) if word.isdecimal() and len(word) < 10 else -1 for word in words]
    order: list[list[int]] = []
    for size in sizes:
        taken, flat = flat[:size], flat[size:]
        order.append(taken)
    if flat or any(sorted(taken) != list(range(size)) for taken, size in zip(order, sizes, strict=True)):
        raise InputError(
            f"the strengths are {' '.join(words):.60}", expected="for each parent its states' numbers, each once"
        )
    return order


def dump(nodes: Sequence[AnyNode], name: str = "unknown", kept: Any = None) -> str:
    """A network in XDSL, as GeNIe, SMILE and pgmpy read it: the first parent is the most significant.

    Parents stand before children. Identifiers are what GeNIe allows (a letter, then letters, digits and underscores);
    properties keep the original names, levels and cuts, and `parse` restores them.

    Examples
    --------
    >>> import numpy as np
    >>> print(dump([Node("income", ("low", ">50K"), (), np.array([0.75, 0.25]))]))
    <?xml version="1.0" encoding="UTF-8"?>
    <smile version="1.0" id="unknown" numsamples="10000" discsamples="10000">
      <nodes>
        <cpt id="income">
          <state id="low" />
          <state id="gt_50K" />
          <probabilities>0.75 0.25</probabilities>
          <property id="merula_levels">low,%3E50K</property>
        </cpt>
      </nodes>
      <extensions>
        <genie version="1.0" app="merula" name="unknown">
          <node id="income">
            <name>income</name>
          </node>
        </genie>
      </extensions>
    </smile>
    <BLANKLINE>
    """
    levels, cuts = discrete_levels(nodes), exact_cuts(nodes, kept)
    identifier = identifiers_of(nodes, SAFE)
    network = safe_identifiers([name], SAFE)[0]
    opening = f'<smile version="1.0" id="{network}" numsamples="10000" discsamples="10000">'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', opening, "  <nodes>"]
    for node in _parents_first(nodes):
        noisy = node if isinstance(node, NoisyNode) and all(map(_has_silent_state, node.strengths)) else None
        lines += _node_lines(noisy or full_table(node, levels), identifier, cuts.get(node.name, ()))
    lines += ["  </nodes>", "  <extensions>", f'    <genie version="1.0" app="merula" name="{network}">']
    for node in nodes:
        shown = escaped(" ".join(re.sub(r"[^\w\s!-~]", "_", node.name).split()))
        lines += [f'      <node id="{identifier[node.name]}">', f"        <name>{shown}</name>", "      </node>"]
    return "\n".join([*lines, "    </genie>", "  </extensions>", "</smile>"]) + "\n"


def _parents_first(nodes: Sequence[AnyNode]) -> list[AnyNode]:
    """The nodes so that SMILE knows every parent when it meets a child; else in their own order."""
    placed: dict[str, AnyNode] = {}
    waiting = list(nodes)
    while waiting:
        for node in waiting:
            if all(parent in placed for parent in node.parents):
                placed[node.name] = node
        waiting = [node for node in waiting if node.name not in placed]
    return list(placed.values())


def _node_lines(node: Node | NoisyNode, identifier: Mapping[str, str], cuts: Sequence[float]) -> list[str]:
    """The element of a node: its states, its parents, its numbers, what it was called."""
    if isinstance(node, NoisyNode):
        tag, texts, numbered = "noisymax", level_texts(node)[::-1], _noisy_lines(node)
        cuts = cuts[::-1]
    else:
        tag, texts, numbered = "cpt", level_texts(node), [_numbers_line("probabilities", node.table)]
    states = safe_identifiers(texts, SAFE, stem="state")
    lines = [f'    <{tag} id="{identifier[node.name]}">', *(f'      <state id="{state}" />' for state in states)]
    if node.parents:
        lines.append(f"      <parents>{' '.join(identifier[parent] for parent in node.parents)}</parents>")
    kept = kept_originals(node.name, texts, identifier[node.name], states, cuts)
    properties = (f'      <property id="{what}">{words}</property>' for what, words in kept.items())
    return [*lines, *numbered, *properties, f"    </{tag}>"]


def _noisy_lines(node: NoisyNode) -> list[str]:
    """The numbers of a noisy-MAX as SMILE has them: for each parent, the state that does nothing comes last."""
    orders, rows = [], []
    for effect in node.strengths:
        silent = len(effect) - 1 - int(np.argmax(effect[::-1, 0] == 1))
        order = [*(state for state in range(len(effect)) if state != silent), silent]
        orders += order
        rows.append(effect[order])
    strengths = [f"      <strengths>{' '.join(map(str, orders))}</strengths>"] if orders else []
    return [*strengths, _numbers_line("parameters", np.vstack([*rows, node.leak])[:, ::-1])]


def _has_silent_state(effect: Array) -> bool:
    return bool((effect[:, 0] == 1).any())


def _numbers_line(tag: str, table: Array) -> str:
    return f"      <{tag}>{' '.join(map(repr, table.ravel().tolist()))}</{tag}>"
