"""The Bayesian Interchange Format: ``variable``, ``probability`` and their braces.

Read: rows in any order with the parents' states named; ``table`` of a node with parents (the node's own states slowest,
the last parent fastest); ``default``; commas or blanks; comments; properties; names and labels quoted or not.

Written: rows with named states, which pgmpy, pyAgrum and bnlearn read alike. Labels that one of them cannot read become
safe identifiers; ``property merula_levels`` and ``merula_name`` keep the originals, percent-encoded, and `parse` restores them.
``property merula_cuts`` keeps the exact cuts of intervals, whose labels are rounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

import numpy as np

from merula.core import Array, InputError, fields_of, located, nearest
from merula.graphs.formats.braced_text import (
    QUOTED,
    QUOTED_OR_BARE,
    QUOTED_TO_END,
    SLASHED,
    Misread,
    at_commas,
    known_words,
    label_list,
    numbers,
    statements,
    unquoted,
    without_comments,
)
from merula.graphs.formats.checks import (
    MOST_PARENTS,
    Levels,
    check_sizes,
    declared,
    filled,
    finished,
    probability_node,
    row_name,
    table_shape,
    writable,
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
from merula.graphs.network.node import AnyNode, Node

COMMENT = re.compile(rf"{QUOTED_TO_END}|{SLASHED}", re.DOTALL)
BLOCK = re.compile(
    rf"\s*+(?:(?P<kind>network|variable)\b\s*+(?P<name>{QUOTED}|[^{{\"]*+)|(?P<probability>probability)\s*\((?P<header>.*?)\))\s*\{{",
    re.DOTALL,
)
TYPE = re.compile(r"type\s+(?P<kind>[\w-]+)\s*(?:\[\s*(?P<count>\d{1,18})\s*\])?\s*(?:\{(?P<labels>.*)\})?", re.DOTALL)
KEPT = re.compile(r"property\s+(?P<what>merula_name|merula_levels|merula_cuts)\s*=\s*(?P<words>\S+)")
WHOLE = re.compile(r"(?P<what>table|default)\b(?P<numbers>.*)", re.DOTALL)
KEYWORDS = {"network", "variable", "probability", "property", "type", "discrete", "table", "default"}
SAFE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
SAFE_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|\d+|\d+[A-DF-Za-df-z_][A-Za-z0-9_]*")


@dataclass
class Block:
    """One pair of braces: what it is about, and its statements with their places in the text."""

    kind: str
    about: str
    offset: int
    statements: list[tuple[int, str]] = field(default_factory=list)


def parse(text: str) -> list[Node]:
    """The nodes of a network in BIF.

    Examples
    --------
    >>> nodes = parse('''
    ... network example { }
    ... variable smoke { type discrete [ 2 ] { yes, no }; }
    ... variable lung { type discrete [ 2 ] { yes, no }; }
    ... probability ( smoke ) { table 0.3, 0.7; }
    ... probability ( lung | smoke ) { (no) 0.01 0.99; (yes) 0.1 0.9; }
    ... ''')
    >>> nodes[1].parents, nodes[1].table.tolist()
    (('smoke',), [[0.1, 0.9], [0.01, 0.99]])
    """
    return parse_all(text)[0]


def parse_all(text: str) -> tuple[list[Node], Any]:
    """The nodes, and the plain data of what else the file keeps of the network: the exact cuts of intervals, or None."""
    if "//" in text or "/*" in text:
        text = without_comments(text, COMMENT)
    try:
        blocks = list(_blocks(text))
        variables = [block for block in blocks if block.kind == "variable"]
        levels = declared((block.about, _states(block)) for block in variables)
        families = [(block, *_family(block, levels)) for block in blocks if block.kind == "probability"]
        check_sizes(((name, parents) for _, name, parents in families), levels)
        nodes = [_node(*family, levels) for family in families]
    except Misread as error:
        raise error.at_line(text) from None
    kept = [(block.about, KEPT.match(statement)) for block in variables for _, statement in block.statements]
    found, cuts = with_originals(
        finished(levels, nodes), ((name, said["what"], said["words"]) for name, said in kept if said)
    )
    return found, kept_of(cuts)


def _blocks(text: str) -> Iterator[Block]:
    offset, end = 0, len(text.rstrip())
    while offset < end:
        found = BLOCK.match(text, offset)
        if found is None:
            met = text[offset:].split(None, 1)[0][:40]
            raise Misread(
                f"expected 'network', 'variable' or 'probability' and an opening brace, got {met!r}",
                offset + len(text[offset:]) - len(text[offset:].lstrip()),
            )
        kind = found["kind"] or found["probability"]
        block = Block(
            kind,
            found["header"] if found["probability"] else unquoted(found["name"]),
            found.start(kind if kind == "probability" else "kind"),
        )
        offset = found.end()
        for index, statement in statements(text, offset, f"{kind} {block.about.strip()!r}"):
            offset = index
            if statement:
                block.statements.append((index, statement))
        yield block


def _states(block: Block) -> list[str]:
    """The states that a variable block declares."""
    types = [(index, TYPE.fullmatch(text)) for index, text in block.statements if text.startswith("type")]
    if len(types) != 1:
        raise Misread(f"variable {block.about!r} has {len(types)} 'type' statements", block.offset, where=f"variable {block.about!r}", expected="one")  # fmt: skip
    index, found = types[0]
    if found is None or found["kind"] != "discrete" or found["labels"] is None:
        raise Misread(f"variable {block.about!r} is not declared as 'type discrete [ n ] {{ … }}'", index, where=f"variable {block.about!r}", remedy="only discrete variables are read")  # fmt: skip
    count = None if found["count"] is None else int(found["count"])
    labels = label_list(found["labels"], count)
    if count is not None and len(labels) != count:
        raise Misread(
            f"variable {block.about!r} declares {count} levels and lists {len(labels)}: {', '.join(labels)}",
            index,
            where=f"variable {block.about!r}",
            remedy="correct the count, or put labels with commas or spaces in quotes",
        )
    return labels


def _family(block: Block, levels: Levels) -> tuple[str, list[str]]:
    """The variable and the parents of a probability block, whose table must not be too large."""
    try:
        name, *parents = _header(block.about, levels)
        table_shape(name, parents, levels)
    except ValueError as error:
        raise Misread(**fields_of(error), offset=block.offset) from None
    return name, parents


def _node(block: Block, name: str, parents: Sequence[str], levels: Levels) -> Node:
    """The node of a probability block."""
    try:
        return probability_node(name, parents, levels, _table(block, name, parents, levels))
    except Misread:  # of a statement, whose place is known better
        raise
    except ValueError as error:
        raise Misread(**fields_of(error), offset=block.offset) from None


def _header(header: str, levels: Levels) -> list[str]:
    """The variable and its parents, from what stands in the parentheses after ``probability``."""
    if unquoted(header) in levels:
        return [unquoted(header)]
    left, bar, right = header.partition("|")
    words = [unquoted(word) for word in [left, *at_commas(right)]] if bar else [unquoted(left)]
    if bar and not right.strip():
        words = words[:1]
    if all(word in levels for word in words):
        return words
    bare = [unquoted(word) for word in QUOTED_OR_BARE.findall(header)]
    if bare and all(word in levels for word in bare):
        return bare
    folded = {name.casefold(): name for name in levels}
    if len(folded) == len(levels) and all(word.casefold() in folded for word in words):
        return [folded[word.casefold()] for word in words]
    for name in sorted(levels, key=len, reverse=True):  # a bar, a comma or a parenthesis inside a name
        rest = header.strip().removeprefix(name)
        if rest != header.strip() and rest.lstrip().startswith("|"):
            for count in range(1, min(rest.count(",") + 1, MOST_PARENTS) + 1):
                parents = known_words(rest.lstrip()[1:], [levels] * count)
                if parents:
                    return [name, *parents]
    unknown = next(word for word in words if word not in levels)
    role = "gives probabilities for" if unknown == words[0] else f"gives {words[0]!r} the parent"
    raise InputError(
        f"a probability block {role} {unknown!r}, which no variable block declares{nearest(unknown, levels)}"
    )


def _table(block: Block, name: str, parents: Sequence[str], levels: Levels) -> Array:
    """P(name given parents) from the rows, the ``table`` and the ``default`` of a block."""
    size, shape = len(levels[name]), table_shape(name, parents, levels)
    whole: Array | None = None
    rows: list[tuple[int, str]] = []
    for index, statement in block.statements:
        if statement.startswith("("):
            rows.append((index, statement))
        elif (found := WHOLE.match(statement)) and whole is not None:
            raise Misread(
                f"the probability block of {name!r} has two tables or defaults", index, remedy="keep one of them"
            )
        elif found:
            whole = _whole(found, index, name, parents, levels)
        elif not statement.startswith("property"):
            raise Misread(f"expected a row, 'table', 'default' or 'property', got {statement[:40]!r}", index)
    if whole is None and not rows:
        raise Misread(
            f"the probability block of {name!r} holds no probabilities",
            block.offset,
            where=f"the probability block of {name!r}",
        )
    table = np.full((int(np.prod(shape[:-1])), size), np.nan) if whole is None else whole.reshape(-1, size)
    indices, values = _rows(rows, name, parents, levels)
    table[indices] = values
    if whole is None and len(indices) < len(table):
        met = np.zeros(len(table), dtype=bool)
        met[indices] = True
        missing = np.unravel_index(int(np.argmin(met)), shape[:-1])
        raise Misread(
            f"{row_name(name, parents, levels, [int(code) for code in missing])} is missing",
            block.offset,
            expected="a row for every combination of parents' states, or a 'default'",
        )
    return table.reshape(shape)


def _whole(found: re.Match[str], index: int, name: str, parents: Sequence[str], levels: Levels) -> Array:
    """A table from ``table`` (own states slowest, last parent fastest) or ``default`` (one row for all; or, as some write, the table)."""
    shape = table_shape(name, parents, levels)
    try:
        values = numbers(found["numbers"].replace(",", " ").split())
        if found["what"] == "default" and not (parents and values.size == prod(shape)):
            return np.broadcast_to(filled(name, (), levels, values), shape).copy()
        filled(name, parents, levels, values)
    except ValueError as error:
        raise Misread(**fields_of(located(error, f"in the {found['what']} of {name!r}")), offset=index) from None
    return np.ascontiguousarray(np.moveaxis(values.reshape(shape[-1:] + shape[:-1]), 0, -1))


def _rows(
    rows: Sequence[tuple[int, str]], name: str, parents: Sequence[str], levels: Levels
) -> tuple[list[int], Array]:
    """Which row of the table each row of the file is, and the numbers of all of them at once."""
    size, step = len(levels[name]), 1
    steps: list[dict[str, int]] = []
    for parent in reversed(parents):
        steps.insert(0, {label: code * step for code, label in enumerate(levels[parent])})
        step *= len(levels[parent])
    indices: dict[int, int] = {}
    words: list[str] = []
    for offset, row in rows:
        labels, _, tail = row.rpartition(")")
        if indices.setdefault(_index(labels[1:], steps, offset, name, parents), offset) != offset:
            raise Misread(
                f"the row {labels}) of {name!r} is given twice", offset, where=f"the row {labels}) of {name!r}"
            )
        new = tail.replace(",", " ").split()
        if len(new) != size:
            raise Misread(
                f"the row {labels}) of {name!r} has {len(new)} probabilities",
                offset,
                where=f"the row {labels}) of {name!r}",
                expected=f"{size}, then ';'",
            )
        words += new
    try:
        return list(indices), numbers(words).reshape(-1, size)
    except ValueError as error:
        raise Misread(f"in the rows of {name!r}: {error}", rows[0][0], remedy="is a ';' missing?") from None


def _index(text: str, steps: Sequence[dict[str, int]], offset: int, name: str, parents: Sequence[str]) -> int:
    """The number of the row whose parents' states are named in a text."""
    try:
        return sum([step[word.strip()] for step, word in zip(steps, text.split(","), strict=True)])
    except (KeyError, ValueError):
        pass
    if not steps and not text.strip():
        return 0
    for reading in (label_list(text, len(steps)), known_words(text, steps)):
        if reading and len(reading) == len(steps) and all(map(dict.__contains__, steps, reading)):
            return sum(step[word] for step, word in zip(steps, reading, strict=True))
    labels = label_list(text, len(steps))
    if len(labels) != len(steps):
        met = " ".join(text.split())
        raise Misread(
            f"a row of {name!r} names {len(labels)} states ({met:.60})",
            offset,
            where=f"a row of {name!r}",
            expected=f"one for each of its parents {list(parents)}: is a ';' missing?",
        )
    label, parent, step = next(met for met in zip(labels, parents, steps, strict=True) if met[0] not in met[2])
    raise Misread(
        f"a row of {name!r} names the level {label!r} of {parent!r}, whose levels are {', '.join(step)}{nearest(label, step)}",
        offset,
        where=f"a row of {name!r}",
    )


def dump(nodes: Sequence[AnyNode], name: str = "unknown", kept: Any = None) -> str:
    """A network in BIF, as pgmpy, pyAgrum and bnlearn read it.

    Examples
    --------
    >>> import numpy as np
    >>> print(dump([Node("income", ("<=50K", ">50K"), (), np.array([0.75, 0.25]))]))
    network unknown {
    }
    variable income {
      type discrete [ 2 ] { le_50K, gt_50K };
      property merula_levels = %3C%3D50K,%3E50K;
    }
    probability ( income ) {
      table 0.75, 0.25;
    }
    <BLANKLINE>
    """
    tables, cuts = writable(nodes), exact_cuts(nodes, kept)
    identifier = identifiers_of(tables, SAFE_NAME, KEYWORDS, case_matters=False)
    states = {node.name: safe_identifiers(level_texts(node), SAFE_LABEL, KEYWORDS, stem="state") for node in tables}
    lines = [f"network {safe_identifiers([name], SAFE_NAME, KEYWORDS)[0]} {{", "}"]
    lines += [
        line
        for node in tables
        for line in _variable_lines(node, identifier[node.name], states[node.name], cuts.get(node.name, ()))
    ]
    lines += [line for node in tables for line in _probability_lines(node, identifier, states)]
    return "\n".join(lines) + "\n"


def _variable_lines(node: Node, identifier: str, states: Sequence[str], cuts: Sequence[float]) -> list[str]:
    lines = [f"variable {identifier} {{", f"  type discrete [ {len(states)} ] {{ {', '.join(states)} }};"]
    kept = kept_originals(node.name, level_texts(node), identifier, states, cuts)
    return [*lines, *(f"  property {what} = {words};" for what, words in kept.items()), "}"]


def _probability_lines(node: Node, identifier: Mapping[str, str], states: Mapping[str, Sequence[str]]) -> list[str]:
    if not node.parents:
        return [f"probability ( {identifier[node.name]} ) {{", f"  table {_numbers(node.table.tolist())};", "}"]
    header = f"{identifier[node.name]} | {', '.join(identifier[parent] for parent in node.parents)}"
    given = product(*(states[parent] for parent in node.parents))
    rows = node.table.reshape(-1, len(node.levels)).tolist()
    lines = [f"  ({', '.join(labels)}) {_numbers(row)};" for labels, row in zip(given, rows, strict=True)]
    return [f"probability ( {header} ) {{", *lines, "}"]


def _numbers(row: Sequence[float]) -> str:
    return ", ".join(map(repr, row))
