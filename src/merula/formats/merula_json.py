"""merula's own format: JSON with a version, every label with its kind, every number with all its digits.

``{"format": "merula network", "version": 1, "nodes": [{"name", "kind", "levels", "parents", "probabilities"}, …]}``. The
kind of every node is ``"table"`` so far; ``probabilities`` nests one list per parent, in their order, the node's own levels
innermost. Further kinds bring their own keys; unknown keys are left alone, unknown kinds are refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from merula.formats.checks import declared, filled, finished, probability_node, table_shape, writable
from merula.network.node import Node
from merula.schema import Label

FORMAT = "merula network"
VERSION = 1
KIND = "table"


def parse(text: str) -> list[Node]:
    """The nodes of a network in merula's JSON, exactly as they were written.

    Parameters
    ----------
    text : str
        What a ``.json`` file holds.

    Returns
    -------
    list of Node
        One node per variable; labels keep their kinds (integer, number, boolean, word).

    Examples
    --------
    >>> nodes = parse('''{"format": "merula network", "version": 1, "nodes": [
    ...   {"name": "dice", "kind": "table", "levels": [1, 2], "parents": [], "probabilities": [0.5, 0.5]}]}''')
    >>> nodes[0].levels, nodes[0].table.tolist()
    ((1, 2), [0.5, 0.5])
    """
    entries = _entries(_loaded(text))
    levels = declared((entry["name"], entry["levels"]) for entry in entries)
    return finished(levels, [_node(entry, levels) for entry in entries])


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"line {error.lineno}: the JSON is cut short or malformed ({error.msg}); save the file again"
        ) from None
    except RecursionError:
        raise ValueError("the JSON nests too deeply; no network does") from None


def _entries(content: Any) -> list[dict[str, Any]]:
    """The nodes as plain data, each with a name, a known kind, levels and parents."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f'expected JSON with "format": "{FORMAT}"; this file holds something else')
    version = content.get("version")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        raise ValueError(
            f"the file has format version {version!r}, this merula reads up to {VERSION}; update merula to open it"
        )
    entries = content.get("nodes")
    if not isinstance(entries, list):
        raise ValueError('expected a list under "nodes"; the file is not whole: save it again')
    for place, entry in enumerate(entries):
        _check_entry(place, entry)
    return entries


def _check_entry(place: int, entry: Any) -> None:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise ValueError(f'node {place} has no "name"; expected a word')
    name = entry["name"]
    if entry.get("kind") != KIND:
        raise ValueError(
            f"variable {name!r} is of the kind {entry.get('kind')!r}, this merula reads {KIND!r}; update merula to open it"
        )
    levels, parents = entry.get("levels"), entry.get("parents")
    if not isinstance(levels, list) or any(isinstance(level, list | dict) for level in levels):
        raise ValueError(f'variable {name!r} has "levels": {levels!r:.60}; expected a list of labels')
    if not isinstance(parents, list) or not all(isinstance(parent, str) for parent in parents):
        raise ValueError(f'variable {name!r} has "parents": {parents!r:.60}; expected a list of names')


def _node(entry: Mapping[str, Any], levels: Mapping[str, tuple[Label, ...]]) -> Node:
    name, parents = entry["name"], entry["parents"]
    shape = table_shape(name, parents, levels)
    try:
        table = np.asarray(entry.get("probabilities"))
    except ValueError:
        table = np.asarray(None)
    if table.dtype.kind not in "iuf":
        raise ValueError(
            f"the probabilities of {name!r} are not numbers in lists of equal length; expected the shape {shape}"
        )
    if table.shape != shape:
        filled(name, parents, levels, table.ravel().astype(np.float64))  # raises where the count is wrong
        raise ValueError(f"the probabilities of {name!r} have the shape {table.shape}; expected {shape}")
    return probability_node(name, parents, levels, table.astype(np.float64))


def dump(nodes: Sequence[Node], name: str = "unknown") -> str:
    """A network in merula's JSON, which keeps everything exactly.

    Parameters
    ----------
    nodes : sequence of Node
        One node per variable; labels are words, numbers, booleans or None.
    name : str
        The network's name.

    Returns
    -------
    str
        The text of a ``.json`` file, one line per node.

    Examples
    --------
    >>> import numpy as np
    >>> print(dump([Node("dice", (1, 2), (), np.array([0.5, 0.5]))]))
    {"format": "merula network", "version": 1, "name": "unknown", "nodes": [
    {"name": "dice", "kind": "table", "levels": [1, 2], "parents": [], "probabilities": [0.5, 0.5]}
    ]}
    <BLANKLINE>
    """
    writable(nodes)
    lines = ",\n".join(_line(node) for node in nodes)
    head = json.dumps({"format": FORMAT, "version": VERSION, "name": name}, ensure_ascii=False)
    return f'{head[:-1]}, "nodes": [\n{lines}\n]}}\n'


def _line(node: Node) -> str:
    entry = {
        "name": node.name,
        "kind": KIND,
        "levels": [_plain(level, node.name) for level in node.levels],
        "parents": list(node.parents),
        "probabilities": node.table.tolist(),
    }
    return json.dumps(entry, ensure_ascii=False, allow_nan=False)


def _plain(level: Label, name: str) -> Any:
    plain = level.item() if isinstance(level, np.generic) else level
    if isinstance(plain, float) and not isfinite(plain):
        raise ValueError(f"variable {name!r} has the level {plain}, which JSON cannot hold; use a word for it")
    if plain is None or isinstance(plain, bool | int | float | str):
        return plain
    raise ValueError(
        f"variable {name!r} has the level {plain!r} ({type(plain).__name__}); a file holds words, numbers and booleans: turn it into one of them"
    )
