"""merula's own format: JSON with a version, every label with its kind, every number with all its digits.

``{"format": "merula network", "version": 2, "nodes": [{"name", "kind", "levels", "parents", …}, …]}``. By ``kind``:

- ``table``: ``probabilities`` nests one list per parent, in their order, the node's own levels innermost;
- ``noisy-max``: ``effects``, one list of rows per parent, and ``leak``; levels from the lowest to the highest;
- ``linear-gaussian``: ``levels`` is null; ``numeric_parents`` names which parents are numbers; ``intercept``, ``slopes`` and
  ``variance`` nest one list per discrete parent, ``slopes`` one more, for the numeric ones.

Further kinds bring their own keys. Unknown keys are left alone, unknown kinds are refused. Since version 2, ``kept`` may hold
what a network learned from, and how, so that it goes on learning: lists and words as they are, ``{"dict": …}``, ``{"array":
[dtype, shape, numbers]}``, and ``{"nodes": […]}`` for a network within (an expert).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from merula.core import Array, InputError, check_probabilities
from merula.data.schema import Label
from merula.graphs.formats.checks import declared, finished, probability_node, table_shape
from merula.graphs.network.node import AnyNode, GaussianNode, Node, NoisyNode

FORMAT = "merula network"
VERSION = 2
DTYPES = ("<f8", "<i4", "<i8")  # of arrays

Levels = Mapping[str, tuple[Label, ...]]


def parse(text: str) -> list[AnyNode]:
    """The nodes of a network in merula's JSON, exactly as they were written.

    Parameters
    ----------
    text : str
        What a ``.json`` file holds.

    Returns
    -------
    list of Node, NoisyNode or GaussianNode
        One node per variable; labels keep their kinds (integer, number, boolean, word).

    Examples
    --------
    >>> nodes = parse('''{"format": "merula network", "version": 1, "nodes": [
    ...   {"name": "dice", "kind": "table", "levels": [1, 2], "parents": [], "probabilities": [0.5, 0.5]}]}''')
    >>> nodes[0].levels, nodes[0].table.tolist()
    ((1, 2), [0.5, 0.5])
    """
    return parse_all(text)[0]


def parse_all(text: str) -> tuple[list[AnyNode], Any]:
    """The nodes, and the plain data of what else the file keeps of the network, or None."""
    content = _loaded(text)
    nodes = _nodes(_entries(content))
    try:
        return nodes, _unpacked(content.get("kept"))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OverflowError) as error:
        raise InputError(
            f'what "kept" holds cannot be read ({error!r:.120})', remedy="save the network again"
        ) from None


def _nodes(entries: Sequence[Mapping[str, Any]]) -> list[AnyNode]:
    """The nodes that plain data describe, which must be a whole network."""
    numeric = {entry["name"] for entry in entries if entry["kind"] == "linear-gaussian"}
    everything = declared((entry["name"], _levels(entry)) for entry in entries)
    levels = {name: known for name, known in everything.items() if name not in numeric}
    nodes: list[AnyNode] = []
    for entry in entries:
        _check_parents(entry, numeric)
        nodes.append(READERS[entry["kind"]](entry, levels))
    return finished(everything, nodes)


def _levels(entry: Mapping[str, Any]) -> Sequence[Label]:
    """The levels of an entry; a number has none, and its own name in their place."""
    return (entry["name"],) if entry["kind"] == "linear-gaussian" else entry["levels"]


def _loaded(text: str) -> Any:
    try:
        content = json.loads(text, object_pairs_hook=_once)
        if "\\u" in text:  # half a character is no text: no other format could hold it, and no terminal show it
            json.dumps(content, ensure_ascii=False).encode()
        return content
    except json.JSONDecodeError as error:
        raise InputError(
            f"line {error.lineno}: the JSON is cut short or malformed ({error.msg})",
            where=f"line {error.lineno}",
            remedy="save the file again",
        ) from None
    except RecursionError:
        raise InputError("the JSON nests too deeply", remedy="no network does") from None
    except InputError:
        raise
    except UnicodeEncodeError as error:
        raise InputError(
            f"the JSON holds half a character ({error.object[error.start]!r})", remedy="no text does"
        ) from None
    except ValueError:  # of a whole number that Python does not read
        raise InputError("the JSON holds a number of thousands of digits", remedy="no network does") from None


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object of the file, whose keys must differ: programs do not agree on which of two counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise InputError(f"the key {twice!r:.60} stands twice in one object", remedy="keep one of them")
    return found


def _entries(content: Any) -> list[dict[str, Any]]:
    """The nodes as plain data, each with a name, a known kind, levels and parents."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f'expected JSON with "format": "{FORMAT}"', remedy="this file holds something else")
    version = content.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise InputError(
            f"the file has format version {version!r}, this merula reads up to {VERSION}",
            remedy="update merula to open it",
        )
    entries = content.get("nodes")
    if not isinstance(entries, list):
        raise InputError('expected a list under "nodes"', remedy="the file is not whole: save it again")
    for index, entry in enumerate(entries):
        _check_entry(index, entry)
    return entries


def _check_entry(index: int, entry: Any) -> None:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise InputError.at(f"node {index}", 'has no "name"', expected="a word")
    name, kind = entry["name"], entry.get("kind")
    if not isinstance(kind, str) or kind not in READERS:
        raise InputError.at(
            f"variable {name!r}",
            f"is of the kind {kind!r}, this merula reads {', '.join(READERS)}",
            remedy="update merula to open it",
        )
    levels, parents = entry.get("levels"), entry.get("parents")
    if kind != "linear-gaussian" and (not isinstance(levels, list) or not all(map(_is_label, levels))):
        raise InputError.at(f"variable {name!r}", f'has "levels": {levels!r:.60}', expected="a list of labels")
    if not isinstance(parents, list) or not all(isinstance(parent, str) for parent in parents):
        raise InputError.at(f"variable {name!r}", f'has "parents": {parents!r:.60}', expected="a list of names")


def _is_label(level: Any) -> bool:
    return not isinstance(level, list | dict) and not (isinstance(level, float) and not isfinite(level))


def _check_parents(entry: Mapping[str, Any], numeric: Collection[str]) -> None:
    """Numbers may have parents of both kinds, and say which are numbers; discrete variables have discrete parents."""
    name, parents = entry["name"], entry["parents"]
    numbers = [parent for parent in parents if parent in numeric]
    if entry["kind"] == "linear-gaussian":
        if entry.get("numeric_parents") != numbers:
            raise InputError.at(
                f"variable {name!r}",
                f'has "numeric_parents": {entry.get("numeric_parents")!r:.60}',
                expected=f"{numbers}",
            )
    elif numbers:
        raise InputError.at(
            f"variable {name!r}",
            f"has the numeric parent {numbers[0]!r}",
            got=numbers[0],
            remedy="a discrete variable has discrete parents alone",
        )


def _array(entry: Mapping[str, Any], value: Any, what: str, shape: tuple[int, ...]) -> Array:
    """Nested lists of numbers as an array of the shape expected."""
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError):
        array = np.asarray(None)
    if array.size and array.dtype.kind not in "iuf":
        raise InputError(
            f"variable {entry['name']!r}: {what} that are not numbers in lists of equal length",
            expected=f"the shape {shape}",
        )
    if array.shape != shape:
        raise InputError(f"variable {entry['name']!r}: {what} of the shape {array.shape}", expected=f"{shape}")
    return array.astype(np.float64)


def _table(entry: Mapping[str, Any], levels: Levels) -> Node:
    name, parents = entry["name"], entry["parents"]
    table = _array(entry, entry.get("probabilities"), "probabilities", table_shape(name, parents, levels))
    return probability_node(name, parents, levels, table)


def _noisy(entry: Mapping[str, Any], levels: Levels) -> NoisyNode:
    name, parents, effects = entry["name"], entry["parents"], entry.get("effects")
    if not isinstance(effects, list) or len(effects) != len(parents):
        raise InputError.at(
            f"variable {name!r}", f'has "effects": {effects!r:.60}', expected=f"one list of rows for each of {parents}"
        )
    own = len(levels[name])
    table_shape(name, parents[:0], levels)
    rows = [
        _array(entry, effect, f"effects of {parent!r}", (len(_known(name, parent, levels)), own))
        for parent, effect in zip(parents, effects, strict=True)
    ]
    leak = _array(entry, entry.get("leak"), "leak", (own,))
    for what, array in [*zip(parents, rows, strict=True), ("the leak", leak)]:
        check_probabilities(array, f"a row of {what} in the noisy-MAX of {name!r}")
    return NoisyNode(name, levels[name], tuple(parents), tuple(rows), leak)


def _known(name: str, parent: str, levels: Levels) -> tuple[Label, ...]:
    table_shape(name, [parent], levels)  # raises for a parent that is unknown, or the variable itself
    return levels[parent]


def _gaussian(entry: Mapping[str, Any], levels: Levels) -> GaussianNode:
    name, numeric = entry["name"], entry["numeric_parents"]
    discrete = [parent for parent in entry["parents"] if parent not in numeric]
    shape = table_shape(name, discrete, {**levels, name: (None,)})[:-1]
    if name in numeric or len(set(numeric)) < len(numeric):
        raise InputError.at(f"variable {name!r}", f"has the parents {entry['parents']}", got=entry['parents'], expected="each once, and not itself")  # fmt: skip
    intercept = _array(entry, entry.get("intercept"), "intercept", shape)
    slopes = _array(entry, entry.get("slopes"), "slopes", (*shape, len(numeric)))
    variance = _array(entry, entry.get("variance"), "variance", shape)
    for what, array in [("intercept", intercept), ("slope", slopes), ("variance", variance)]:
        if not np.isfinite(array).all() or (what == "variance" and (array < 0).any()):
            raise InputError.at(
                f"a {what} of {name!r}",
                f"is {array.min():g}",
                got=array.min(),
                expected="finite numbers, variances not below 0",
            )
    return GaussianNode(name, tuple(discrete), tuple(numeric), intercept, slopes, variance)


READERS: dict[str, Callable[[Mapping[str, Any], Levels], AnyNode]] = {
    "table": _table,
    "noisy-max": _noisy,
    "linear-gaussian": _gaussian,
}


def dump(nodes: Sequence[AnyNode], name: str = "unknown", kept: Any = None) -> str:
    """A network in merula's JSON, which keeps everything exactly.

    Parameters
    ----------
    nodes : sequence of Node, NoisyNode or GaussianNode
        One node per variable; labels are words, numbers, booleans or None.
    name : str
        The network's name.
    kept : plain data, optional
        What else to keep of the network: dicts, lists, words, numbers, arrays, lists of nodes.

    Returns
    -------
    str
        The text of a ``.json`` file, one line per node.

    Examples
    --------
    >>> print(dump([Node("dice", (1, 2), (), np.array([0.5, 0.5]))]))
    {"format": "merula network", "version": 2, "name": "unknown", "nodes": [
    {"name": "dice", "kind": "table", "levels": [1, 2], "parents": [], "probabilities": [0.5, 0.5]}
    ]}
    <BLANKLINE>
    """
    entries = [_entry(node) for node in nodes]
    _nodes(entries)  # what could not be read is not written
    lines = ",\n".join(_text(entry) for entry in entries)
    head = _text({"format": FORMAT, "version": VERSION, "name": name})
    more = "" if kept is None else f', "kept":\n{_text(_packed(kept))}'
    return f'{head[:-1]}, "nodes": [\n{lines}\n]{more}}}\n'


def _text(plain: Any) -> str:
    return json.dumps(plain, ensure_ascii=False, allow_nan=False)


def _packed(value: Any) -> Any:
    """Plain data with arrays, dicts and lists of nodes as what JSON can hold."""
    if isinstance(value, np.ndarray):
        return {"array": [value.dtype.str, list(value.shape), value.ravel().tolist()]}
    if isinstance(value, Mapping):
        return {"dict": {key: _packed(item) for key, item in value.items()}}
    if isinstance(value, list | tuple):
        if value and isinstance(value[0], AnyNode):
            return {"nodes": [_entry(node) for node in value]}
        return [_packed(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _unpacked(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpacked(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        dtype, shape, numbers = value["array"]
        return np.array(numbers, dtype=DTYPES[DTYPES.index(dtype)]).reshape(shape)
    if "nodes" in value:
        return _nodes(_entries({"format": FORMAT, "version": VERSION, **value}))
    return {key: _unpacked(item) for key, item in value["dict"].items()}


def _entry(node: AnyNode) -> dict[str, Any]:
    """A node as plain data."""
    if isinstance(node, GaussianNode):
        parents = {"levels": None, "parents": list(node.parents), "numeric_parents": list(node.numeric)}
        numbers = {"intercept": node.intercept, "slopes": node.slopes, "variance": node.variance}
        plain = {what: array.tolist() for what, array in numbers.items()}
        return {"name": node.name, "kind": "linear-gaussian", **parents, **plain}
    levels = [_plain(level, node.name) for level in node.levels]
    kind = "noisy-max" if isinstance(node, NoisyNode) else "table"
    entry = {"name": node.name, "kind": kind, "levels": levels, "parents": list(node.parents)}
    if isinstance(node, NoisyNode):
        return {**entry, "effects": [effect.tolist() for effect in node.strengths], "leak": node.leak.tolist()}
    return {**entry, "probabilities": node.table.tolist()}


def _plain(level: Label, name: str) -> Any:
    plain = level.item() if isinstance(level, np.generic) else level
    if isinstance(plain, float) and not isfinite(plain):
        raise InputError.at(
            f"variable {name!r}",
            f"has the level {plain}, which JSON cannot hold",
            got=plain,
            remedy="use a word for it",
        )
    if plain is None or isinstance(plain, bool | int | float | str):
        return plain
    raise InputError.at(
        f"variable {name!r}",
        f"has the level {plain!r} ({type(plain).__name__})",
        got=plain,
        remedy="a file holds words, numbers and booleans: turn it into one of them",
    )
