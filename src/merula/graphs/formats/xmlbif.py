"""XMLBIF 0.3: ``<VARIABLE>``, ``<DEFINITION>`` and ``<TABLE>``.

In a table the first ``<GIVEN>`` is slowest and the variable itself fastest. Labels are written as they are where XML and
pyAgrum allow; others become safe identifiers, and a ``<PROPERTY>`` keeps the originals, which `parse` restores,
and the exact cuts of intervals, whose labels are rounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from merula.core import InputError, located
from merula.graphs.formats.braced_text import numbers
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
from merula.graphs.formats.safe_xml import escaped, only, text_of, tree
from merula.graphs.network.node import AnyNode, Node

KEPT = re.compile(r"(?P<what>merula_name|merula_levels|merula_cuts)\s*=\s*(?P<words>\S+)")
SAFE = re.compile(r"(?!\s|.*\s\s)[ !-~\u00a1-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+(?<!\s)")  # no blank is lost


def parse(text: str) -> list[Node]:
    """The nodes of a network in XMLBIF.

    Decisions and utilities are refused.

    Examples
    --------
    >>> nodes = parse('''<BIF VERSION="0.3"><NETWORK><NAME>example</NAME>
    ... <VARIABLE TYPE="nature"><NAME>smoke</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
    ... <VARIABLE TYPE="nature"><NAME>lung</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
    ... <DEFINITION><FOR>smoke</FOR><TABLE>0.3 0.7</TABLE></DEFINITION>
    ... <DEFINITION><FOR>lung</FOR><GIVEN>smoke</GIVEN><TABLE>0.1 0.9 <!-- no: --> 0.01 0.99</TABLE></DEFINITION>
    ... </NETWORK></BIF>''')
    >>> nodes[1].parents, nodes[1].table.tolist()
    (('smoke',), [[0.1, 0.9], [0.01, 0.99]])
    """
    return parse_all(text)[0]


def parse_all(text: str) -> tuple[list[Node], Any]:
    """The nodes, and the plain data of what else the file keeps of the network: the exact cuts of intervals, or None."""
    root = tree(text)
    network = root if _is(root, "NETWORK") else next(_children(root, "NETWORK"), None)
    if network is None:
        raise InputError(f"expected XMLBIF with a <NETWORK>, got XML that begins with <{root.tag}>")
    variables = list(_children(network, "VARIABLE"))
    levels = declared((_name(variable), _outcomes(variable)) for variable in variables)
    definitions = _children(network, "DEFINITION", "PROBABILITY")
    nodes = finished(levels, [_node(definition, levels) for definition in definitions])
    kept = [
        (_name(variable), KEPT.fullmatch(text_of(entry)))
        for variable in variables
        for entry in _children(variable, "PROPERTY")
    ]
    restored, cuts = with_originals(nodes, ((name, said["what"], said["words"]) for name, said in kept if said))
    return restored, kept_of(cuts)


def _is(element: Element, *tags: str) -> bool:
    return element.tag.upper() in tags


def _children(element: Element, *tags: str) -> Iterator[Element]:
    return (child for child in element if _is(child, *tags))


def _name(variable: Element) -> str:
    return text_of(only(_children(variable, "NAME"), "a variable"))


def _outcomes(variable: Element) -> list[str]:
    kind = variable.get("TYPE", "nature")
    if kind != "nature":
        raise InputError(
            f"variable {_name(variable)!r} has the type {kind!r}",
            remedy="merula reads networks of chance variables (nature) alone: take it out of the file",
        )
    return [text_of(outcome) for outcome in _children(variable, "OUTCOME", "VALUE")]


def _node(definition: Element, levels: Levels) -> Node:
    """The node of a definition."""
    name = text_of(only(_children(definition, "FOR"), "a definition"))
    parents = [text_of(given) for given in _children(definition, "GIVEN")]
    try:
        values = numbers(text_of(only(_children(definition, "TABLE"), "it")).replace(",", " ").split())
    except ValueError as error:
        raise located(error, f"in the table of {name!r}") from None
    return probability_node(name, parents, levels, filled(name, parents, levels, values))


def dump(nodes: Sequence[AnyNode], name: str = "unknown", kept: Any = None) -> str:
    """A network in XMLBIF, as Weka, pgmpy and pyAgrum read it.

    Examples
    --------
    >>> import numpy as np
    >>> print(dump([Node("income", ("<=50K", ">50K"), (), np.array([0.75, 0.25]))]))
    <?xml version="1.0" encoding="UTF-8"?>
    <BIF VERSION="0.3">
    <NETWORK>
    <NAME>unknown</NAME>
    <VARIABLE TYPE="nature">
      <NAME>income</NAME>
      <OUTCOME>&lt;=50K</OUTCOME>
      <OUTCOME>&gt;50K</OUTCOME>
    </VARIABLE>
    <DEFINITION>
      <FOR>income</FOR>
      <TABLE>0.75 0.25</TABLE>
    </DEFINITION>
    </NETWORK>
    </BIF>
    <BLANKLINE>
    """
    tables, cuts = writable(nodes), exact_cuts(nodes, kept)
    identifier = identifiers_of(tables, SAFE)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>"]
    lines.append(_element("NAME", safe_identifiers([name], SAFE)[0]).strip())
    lines += [line for node in tables for line in _variable_lines(node, identifier[node.name], cuts.get(node.name, ()))]
    for node in tables:
        lines += ["<DEFINITION>", _element("FOR", identifier[node.name])]
        lines += [_element("GIVEN", identifier[parent]) for parent in node.parents]
        lines += [_element("TABLE", " ".join(map(repr, node.table.ravel().tolist()))), "</DEFINITION>"]
    return "\n".join([*lines, "</NETWORK>", "</BIF>"]) + "\n"


def _variable_lines(node: Node, identifier: str, cuts: Sequence[float]) -> list[str]:
    states = safe_identifiers(level_texts(node), SAFE, stem="state")
    lines = ['<VARIABLE TYPE="nature">', _element("NAME", identifier)]
    lines += [_element("OUTCOME", state) for state in states]
    kept = kept_originals(node.name, level_texts(node), identifier, states, cuts)
    return [*lines, *(_element("PROPERTY", f"{what} = {words}") for what, words in kept.items()), "</VARIABLE>"]


def _element(tag: str, text: str) -> str:
    return f"  <{tag}>{escaped(text)}</{tag}>"
