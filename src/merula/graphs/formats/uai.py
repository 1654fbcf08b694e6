"""The format of the UAI inference competitions: numbers alone, without names.

Each function lists its scope, the parents first and the child last; in its table the last variable of the scope is fastest.
The format has no names: a file of another program gives variables ``x0``, ``x1``, … with the levels 0, 1, …. Files of ours
name them in comments after the last table, where solvers have stopped reading. So that names cut off are missed, the
numbers of the first table stand behind blanks that nobody else writes.

Two peers deviate, and their files are told apart: pgmpy writes the *first* variable of the scope fastest, which shows since
its tables only sum to 1 that way; pyAgrum writes the first *parent* fastest and ends each scope with ``   # name``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from merula.core import Array, InputError, located
from merula.data.intervals import Cuts
from merula.data.schema import Label
from merula.graphs.formats.braced_text import numbers
from merula.graphs.formats.checks import (
    TOLERANCE,
    declared,
    finished,
    probability_node,
    table_shape,
    writable,
)
from merula.graphs.formats.identifiers import (
    decode_cuts,
    decode_words,
    encode_cuts,
    encode_words,
    exact_cuts,
    kept_of,
    level_texts,
)
from merula.graphs.network.node import AnyNode, Node

COMMENT = re.compile(r"#[^\n]*|^[ \t]*c(?:[ \t][^\n]*)?$", re.MULTILINE)
NAMED = re.compile(r"^# merula (?P<place>\d{1,18}) (?P<name>\S+) (?P<levels>\S+)$", re.MULTILINE)
CUT = re.compile(
    r"^# cuts (?P<place>\d{1,18}) (?P<cuts>\S+)$", re.MULTILINE
)  # before the names, so that none is lost unseen
MOST_DIGITS = 18  # of a whole number
MARK = "\t \t"  # before the numbers of the first table of ours
OURS = re.compile(
    rf"^(?:# (?:network \S+$|merula )|{MARK}\S)", re.MULTILINE
)  # the comments of ours, or what is left of them
OF_AGRUM = re.compile(r"^\d+(?: \d+)+   # (?P<name>.*)$", re.MULTILINE)


@dataclass
class Words:
    """The words of a file, taken one after the other, each knowing its line."""

    words: list[str]
    text: str
    index: int = 0

    def take(self, count: int, what: str) -> list[str]:
        """The next words."""
        taken = self.words[self.index : self.index + count]
        if len(taken) < count:
            line = self.text.rstrip().count("\n") + 1
            raise InputError(f"line {line}: the file ends within {what}", where=f"line {line}", expected=f"{count} numbers there, got {len(taken)}: it is cut short")  # fmt: skip
        self.index += count
        return taken

    def whole(self, count: int, what: str) -> list[int]:
        """The next words as whole numbers."""
        words = self.take(count, what)
        wrong = [word for word in words if not word.isdecimal() or len(word) > MOST_DIGITS]
        if wrong:
            raise InputError(f"expected whole numbers for {what}, got {wrong[0][:40]!r}")
        return [int(word) for word in words]


def parse(text: str) -> list[Node]:
    """The nodes of a network in the UAI format.

    ``MARKOV`` networks are refused. Variables are ``x0``, ``x1``, … with levels 0, 1, …, or have the names that merula or pyAgrum left in
    comments.

    Examples
    --------
    >>> nodes = parse("BAYES 2  2 2  2  1 0  2 0 1   2 0.3 0.7   4 0.1 0.9 0.01 0.99")
    >>> nodes[1].name, nodes[1].parents, nodes[1].levels, nodes[1].table.tolist()
    ('x1', ('x0',), (0, 1), [[0.1, 0.9], [0.01, 0.99]])
    """
    return parse_all(text)[0]


def parse_all(text: str) -> tuple[list[Node], Any]:
    """The nodes, and the plain data of what else the file keeps of the network: the exact cuts of intervals, or None."""
    words = Words(COMMENT.sub(" ", text).split(), text)
    if not words.words or words.take(1, "the preamble")[0].upper() != "BAYES":
        met = words.words[0][:40] if words.words else "nothing"
        raise InputError(f"expected a UAI file that begins with BAYES, got {met!r}", remedy="a Markov network has no conditional tables")  # fmt: skip
    count = words.whole(1, "the number of variables")[0]
    sizes = words.whole(count, "the numbers of levels")
    if 0 in sizes:
        raise InputError.at(f"variable {sizes.index(0)}", "has 0 levels", expected="at least one")
    scopes = _scopes(words, count)
    tables = [_values(words, scope, sizes) for scope in scopes]
    if words.index < len(words.words):
        raise InputError(f"expected the end of the file after the last table, got {words.words[words.index][:40]!r}")
    names, levels = _names(text, scopes, sizes)
    known = declared(zip(names, levels, strict=True))
    families = [(names[scope[-1]], [names[index] for index in scope[:-1]]) for scope in scopes]
    for name, parents in families:
        table_shape(name, parents, known)
    ordered = _in_order(text, scopes, tables, sizes)
    nodes = [probability_node(*family, known, table) for family, table in zip(families, ordered, strict=True)]
    return finished(known, nodes), kept_of(_cuts(text, names))


def _cuts(text: str, names: Sequence[str]) -> dict[str, Cuts]:
    """The exact cuts of intervals, from comments of merula."""
    found = [(int(said["place"]), said["cuts"]) for said in CUT.finditer(text)]
    return {names[index]: decode_cuts(cuts, names[index]) for index, cuts in found if index < len(names)}


def _scopes(words: Words, count: int) -> list[list[int]]:
    """The scope of each function, the child last."""
    functions = words.whole(1, "the number of functions")[0]
    if functions != count:
        raise InputError(f"the file has {functions} functions for {count} variables", remedy="a Bayesian network has one for each")  # fmt: skip
    scopes = []
    for index in range(functions):
        size = words.whole(1, f"the scope of function {index}")[0]
        scope = words.whole(size, f"the scope of function {index}")
        if not scope or max(scope) >= count:
            raise InputError.at(f"function {index}", f"has the scope {scope}", got=scope, expected=f"numbers of variables, 0 to {count - 1}")  # fmt: skip
        scopes.append(scope)
    lacking = set(range(count)) - {scope[-1] for scope in scopes}
    if lacking:
        raise InputError(f"variable {min(lacking)} is the last of no scope", expected="one function for each variable")
    return scopes


def _values(words: Words, scope: Sequence[int], sizes: Sequence[int]) -> Array:
    what = f"the table of variable {scope[-1]}"
    size = words.whole(1, what)[0]
    expected = prod(sizes[index] for index in scope)
    if size != expected:
        raise InputError.at(what, f"has {size} probabilities", expected=f"{' × '.join(str(sizes[index]) for index in scope)} = {expected}")  # fmt: skip
    try:
        return numbers(words.take(size, what))
    except ValueError as error:
        raise located(error, f"in {what}") from None


def _names(text: str, scopes: Sequence[Sequence[int]], sizes: Sequence[int]) -> tuple[list[str], list[Sequence[Label]]]:
    """Names and levels: from comments of merula or pyAgrum, else x0, x1, … and 0, 1, …."""
    names = [f"x{index}" for index in range(len(sizes))]
    levels: list[Sequence[Label]] = [range(size) for size in sizes]
    written = OF_AGRUM.findall(text)
    if len(written) == len(scopes):
        for scope, name in zip(scopes, written, strict=True):
            names[scope[-1]] = name.strip()
    named = set()
    for found in NAMED.finditer(text):
        index, labels = int(found["place"]), decode_words(found["levels"])
        if index < len(sizes) and len(labels) == sizes[index]:
            names[index], levels[index] = decode_words(found["name"])[0], labels
            named.add(index)
    if OURS.search(text) and (len(named) < len(sizes) or not text.endswith("\n")):
        raise InputError("the file ends within the names after its tables", remedy=f"{len(named)} of {len(sizes)} variables have theirs: it is cut short (without the tabs before the first table's numbers it is read without names)")  # fmt: skip
    return names, levels


def _in_order(text: str, scopes: Sequence[Sequence[int]], tables: Sequence[Array], sizes: Sequence[int]) -> list[Array]:
    """The tables with one axis per variable of the scope, whichever of the three orders the file has."""
    pairs = [(table, [sizes[index] for index in scope]) for table, scope in zip(tables, scopes, strict=True)]
    if len(OF_AGRUM.findall(text)) == len(scopes):
        return [_first_parent_fastest(values, shape) for values, shape in pairs]
    straight = [values.reshape(shape) for values, shape in pairs]
    backwards = [values.reshape(shape, order="F") for values, shape in pairs]
    return backwards if all(map(_sums_to_one, backwards)) and not all(map(_sums_to_one, straight)) else straight


def _first_parent_fastest(values: Array, shape: Sequence[int]) -> Array:
    parents = len(shape) - 1
    return values.reshape([*shape[:-1][::-1], shape[-1]]).transpose([*range(parents)[::-1], parents])


def _sums_to_one(table: Array) -> bool:
    return bool((np.abs(table.sum(axis=-1) - 1) <= TOLERANCE).all())


def dump(nodes: Sequence[AnyNode], name: str = "unknown", kept: Any = None) -> str:
    """A network in the UAI format: parents, then the child; the last variable of each scope fastest.

    Names and levels stand in comments after the last table; programs that do not know them see numbers.

    Examples
    --------
    >>> import numpy as np
    >>> print(dump([Node("smoke", ("yes", "no"), (), np.array([0.3, 0.7]))]).replace(MARK, ""))
    BAYES
    1
    2
    1
    1 0
    <BLANKLINE>
    2
    0.3 0.7
    # network unknown
    # merula 0 smoke yes,no
    <BLANKLINE>
    """
    tables = writable(nodes)
    index = {node.name: number for number, node in enumerate(tables)}
    lines = ["BAYES", str(len(tables)), " ".join(str(len(node.levels)) for node in tables), str(len(tables))]
    for node in tables:
        scope = [index[variable] for variable in (*node.parents, node.name)]
        lines.append(" ".join(map(str, [len(scope), *scope])))
    for node in tables:
        mark = MARK if node is tables[0] else ""
        lines += ["", str(node.table.size), mark + " ".join(map(repr, node.table.ravel().tolist()))]
    lines.append(f"# network {encode_words([name])}")
    cuts = exact_cuts(nodes, kept)
    lines += [f"# cuts {index[one]} {encode_cuts(some)}" for one, some in cuts.items()]
    lines += [
        f"# merula {number} {encode_words([node.name])} {encode_words(level_texts(node))}"
        for number, node in enumerate(tables)
    ]
    return "\n".join(lines) + "\n"
