"""The Hugin NET language: ``node``, ``potential`` and their braces.

The numbers of ``data`` are nested like an array of C: one level of parentheses per parent, in the order after the bar, the
node's own states innermost. Labels stand in quotes; those that pgmpy cannot read (spaces, commas, parentheses, accents)
become safe identifiers, and the attributes ``merula_levels`` and ``merula_name`` keep the originals, which `parse` restores;
``merula_cuts`` keeps the exact cuts of intervals, whose labels are rounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from merula.core import Array, fields_of
from merula.graphs.formats.braced_text import (
    QUOTED,
    QUOTED_OR_BARE,
    QUOTED_TO_END,
    SLASHED,
    Misread,
    numbers,
    statements,
    unquoted,
    without_comments,
)
from merula.graphs.formats.checks import Levels, declared, filled, finished, probability_node, writable
from merula.graphs.formats.identifiers import (
    exact_cuts,
    identifiers_of,
    kept_of,
    kept_originals,
    level_texts,
    safe_identifiers,
    with_originals,
)
from merula.graphs.network.node import AnyNode, Node

COMMENT = re.compile(
    rf"{QUOTED_TO_END}|%[^\n]*|{SLASHED}", re.DOTALL
)  # Hugin knows %, other programs write slashes too
BLOCK = re.compile(
    rf"\s*+(?P<words>[A-Za-z_]\w*(?:\s+[A-Za-z_]\w*)??)?(?P<about>\s*\([^(){{}}]*\)|\s+(?:{QUOTED}|[^\s{{}}()]+))?\s*\{{"
)
ATTRIBUTE = re.compile(r"(?P<key>[\w.-]+)\s*=\s*(?P<value>.*)", re.DOTALL)
ONCE = ("states", "state_values", "subtype", "data")  # attributes that must not be stated twice
REFUSED = {
    "decision": "a decision",
    "utility": "a utility",
    "function": "a function node",
    "class": "an object-oriented class",
    "continuous": "a continuous variable",
}
KEYWORDS = {"net", "node", "potential", "states", "data", "label", "discrete", *REFUSED}
SAFE_LABEL = re.compile(
    r"(?!.*/[/*])[!#$&'*+./0-9:<=>?@A-Z\[\]^_`a-z|~-]+"
)  # printable, without what breaks pgmpy's reader


@dataclass
class Block:
    """One pair of braces: its first words, what it is about, its place, its attributes."""

    kind: str
    about: str
    offset: int
    attributes: dict[str, str]


def parse(text: str) -> list[Node]:
    """The nodes of a network in Hugin's NET language.

    Decisions, utilities, functions, continuous variables and classes are refused.

    Examples
    --------
    >>> nodes = parse('''
    ... net { }
    ... node smoke { states = ("yes" "no"); }
    ... node lung { label = "Lung cancer"; states = ("yes" "no"); }
    ... potential ( smoke ) { data = ( 0.3 0.7 ); }
    ... potential ( lung | smoke ) { data = (( 0.1 0.9 )    % smoke = yes
    ...                                      ( 0.01 0.99 )); }
    ... ''')
    >>> nodes[1].parents, nodes[1].table.tolist()
    (('smoke',), [[0.1, 0.9], [0.01, 0.99]])
    """
    return parse_all(text)[0]


def parse_all(text: str) -> tuple[list[Node], Any]:
    """The nodes, and the plain data of what else the file keeps of the network: the exact cuts of intervals, or None."""
    text = without_comments(text, COMMENT)
    try:
        blocks = list(_blocks(text))
        variables = [block for block in blocks if block.kind.split()[-1:] == ["node"]]
        levels = declared((block.about, _states(block)) for block in variables)
        nodes = [_node(block, levels) for block in blocks if block.kind == "potential"]
    except Misread as error:
        raise error.at_line(text) from None
    kept = ((block.about, key, unquoted(value)) for block in variables for key, value in block.attributes.items())
    found, cuts = with_originals(finished(levels, nodes), kept)
    return found, kept_of(cuts)


def _blocks(text: str) -> Iterator[Block]:
    offset, end = 0, len(text.rstrip())
    while offset < end:
        found = BLOCK.match(text, offset)
        start = offset + len(text[offset:]) - len(text[offset:].lstrip())
        if found is None:
            raise Misread(
                f"expected 'net', 'node' or 'potential' and an opening brace, got {text[start:].split()[0][:40]!r}",
                start,
            )
        kind, about = " ".join((found["words"] or "").split()), (found["about"] or "").strip()
        _refuse(kind, about, start)
        block, offset = Block(kind, unquoted(about), start, {}), found.end()
        for index, statement in statements(text, offset, f"{kind} {about}".strip()):
            offset = index
            attribute = ATTRIBUTE.fullmatch(statement)
            if statement and attribute is None:
                raise Misread(f"expected 'attribute = value;', got {statement[:40]!r}", index)
            if attribute and attribute["key"] in block.attributes and attribute["key"] in ONCE:
                raise Misread(
                    f"{attribute['key']!r} stands twice in one pair of braces", index, remedy="keep one of them"
                )
            if attribute:
                block.attributes[attribute["key"]] = attribute["value"]
        yield block


def _refuse(kind: str, about: str, offset: int) -> None:
    for word in kind.split():
        if word in REFUSED:
            raise Misread(
                f"{about or 'the network'} is {REFUSED[word]}",
                offset,
                where=f"{about or 'the network'}",
                got=REFUSED[word],
                remedy="merula reads networks of discrete variables alone: take it out of the file",
            )
    if kind.split()[-1:] not in (["node"], ["potential"], ["net"]):
        raise Misread(f"expected 'net', 'node' or 'potential', got {kind or about!r}", offset)


def _states(block: Block) -> list[str]:
    """The states of a node: its labels, its numbers, or false and true."""
    subtype = block.attributes.get("subtype", "")
    listed = block.attributes.get("states") or (block.attributes.get("state_values") if subtype == "number" else None)
    if listed is None and subtype == "boolean":
        return ["false", "true"]
    if listed is None:
        raise Misread(
            f"node {block.about!r} has no 'states'",
            block.offset,
            where=f"node {block.about!r}",
            expected="a list of labels",
        )
    inside = listed.strip().removeprefix("(").removesuffix(")")
    return [unquoted(word) for word in QUOTED_OR_BARE.findall(inside)]


def _node(block: Block, levels: Levels) -> Node:
    """The node of a potential."""
    child, _, given = block.about.removeprefix("(").removesuffix(")").partition("|")
    names, parents = ([unquoted(word) for word in QUOTED_OR_BARE.findall(part)] for part in (child, given))
    if len(names) != 1:
        raise Misread(
            f"a potential is about {' and '.join(names) or 'nothing'}",
            block.offset,
            expected="one variable before the bar",
        )
    if "data" not in block.attributes:
        raise Misread(f"the potential of {names[0]!r} has no 'data'", block.offset, where=f"the potential of {names[0]!r}", remedy="tables given by expressions are not read: let Hugin save the table")  # fmt: skip
    try:
        values = numbers(re.sub(r"[(),]", " ", block.attributes["data"]).split())
        return probability_node(names[0], parents, levels, filled(names[0], parents, levels, values))
    except ValueError as error:
        raise Misread(**fields_of(error), offset=block.offset) from None


def dump(nodes: Sequence[AnyNode], name: str = "unknown", kept: Any = None) -> str:
    """A network in Hugin's NET language, as Hugin, GeNIe, pgmpy and pyAgrum read it.

    Examples
    --------
    >>> import numpy as np
    >>> print(dump([Node("income", ("<=50K", "(50, 90]"), (), np.array([0.75, 0.25]))]))
    net {
      name = "unknown";
    }
    node income {
      states = ("<=50K" "state_50_90");
      merula_levels = "%3C%3D50K,%2850%2C%2090%5D";
    }
    potential ( income ) {
      data = ( 0.75 0.25 );
    }
    <BLANKLINE>
    """
    tables, cuts = writable(nodes), exact_cuts(nodes, kept)
    identifier = identifiers_of(tables, reserved=KEYWORDS)
    lines = ["net {", f'  name = "{safe_identifiers([name])[0]}";', "}"]
    lines += [line for node in tables for line in _node_lines(node, identifier[node.name], cuts.get(node.name, ()))]
    for node in tables:
        bar = f" | {' '.join(identifier[parent] for parent in node.parents)}" if node.parents else ""
        lines += [f"potential ( {identifier[node.name]}{bar} ) {{", f"  data = {_nested(node.table)};", "}"]
    return "\n".join(lines) + "\n"


def _node_lines(node: Node, identifier: str, cuts: Sequence[float]) -> list[str]:
    states = safe_identifiers(level_texts(node), SAFE_LABEL, stem="state")
    quoted = " ".join(f'"{state}"' for state in states)
    lines = [f"node {identifier} {{", f"  states = ({quoted});"]
    kept = kept_originals(node.name, level_texts(node), identifier, states, cuts)
    return [*lines, *(f'  {what} = "{words}";' for what, words in kept.items()), "}"]


def _nested(table: Array) -> str:
    """The table in nested parentheses, as an array of C."""
    parts = [f"( {' '.join(map(repr, row))} )" for row in table.reshape(-1, table.shape[-1]).tolist()]
    for size in reversed(table.shape[:-1]):
        parts = [f"({' '.join(parts[start : start + size])})" for start in range(0, len(parts), size)]
    return parts[0]
