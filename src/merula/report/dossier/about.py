"""The short file of what only people know of a model, read as data alone: YAML, TOML or JSON, and nothing in it is run.

    purpose:
      use: Who is called first in a campaign
      population: [clients of the bank, adults]

Of YAML everything is a text: `no` is "no", 1.10 is "1.10"; aliases, tags and keys that stand twice are errors.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from merula.core import InputError, nearest
from merula.core.atomic_file import nearest_file
from merula.report.dossier.questions import PARTS

Answers = dict[str, dict[str, tuple[str, ...]]]
KNOWN = {part.name: [question.name for question in part.questions] for part in PARTS}
MOST_BYTES = 1_000_000
NEEDED = "about files in YAML need PyYAML: pip install 'merula[dossier]', or write TOML or JSON"
TEXT = "a text or a list of texts"
PLAIN_TAGS = ("str", "null", "bool", "int", "float", "timestamp", "map", "seq", "merge", "value")


class _Placed(dict[str, Any]):
    """A mapping read from YAML that knows on which line each of its keys stands."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}


def read_about(about: str | os.PathLike[str] | Mapping[str, Any] | None) -> Answers:
    """{group: {question: texts}} of a file, or of a mapping that holds the same; an `InputError` for what is none.

    Examples
    --------
    >>> read_about({"purpose": {"use": "Who is called first", "users": ["agents", "their managers"]}})
    {'purpose': {'use': ('Who is called first',), 'users': ('agents', 'their managers')}}
    >>> read_about({"purpos": {}})
    Traceback (most recent call last):
        ...
    merula.core.errors.InputError: about: 'purpos' is no part of it; did you mean 'purpose'?
    """
    if about is None:
        return {}
    where = "about" if isinstance(about, Mapping) else os.fspath(about)
    told = about if isinstance(about, Mapping) else _content(Path(about))
    if told is None:
        return {}
    if not isinstance(told, Mapping):
        raise InputError.at(where, f"holds {_kind(told)}", expected=f"groups of answers, such as purpose: {{use: …}}, of {', '.join(KNOWN)}")  # fmt: skip
    found: Answers = {}
    for name, group in told.items():
        at = _place(where, told, name)
        if name not in KNOWN:
            raise InputError(f"{at}: {name!r} is no part of it{_hint(name)}", where=at, got=name)
        found[name] = _group(where, name, group, at)
    return {name: group for name, group in found.items() if group}


def _group(where: str, name: str, group: Any, at: str) -> dict[str, tuple[str, ...]]:
    """The answers of one group; what is empty is not stated."""
    if group is None:
        return {}
    if not isinstance(group, Mapping):
        raise InputError(f"{at}: {name!r} is {_kind(group)}", where=at, got=group, expected=f"answers to {', '.join(KNOWN[name])}")  # fmt: skip
    found = {}
    for key, value in group.items():
        own = _place(where, group, key)
        if key not in KNOWN[name]:
            hint = nearest(key, KNOWN[name]) or _hint(key, f"; {name} has {', '.join(KNOWN[name])}")
            raise InputError(f"{own}: {name} has no question {key!r}{hint}", where=own, got=key)
        found[key] = _texts(value, f"{own}: {name}.{key}", own)
    return {key: texts for key, texts in found.items() if texts}


def _hint(name: Any, else_: str = "") -> str:
    """What was meant by a word that is no group: the nearest group, or the group that a question of this name belongs to."""
    owner = next((group for group, names in KNOWN.items() if name in names), None)
    if owner is not None:
        return f"; {name!r} belongs under {owner!r}"
    return nearest(name, KNOWN) or else_ or f"; it has {', '.join(KNOWN)}"


def _texts(value: Any, what: str, where: str) -> tuple[str, ...]:
    """An answer as texts, without blanks around them; numbers and dates as they are written."""
    listed = value if isinstance(value, list | tuple) else [] if value is None else [value]
    for one in listed:
        if isinstance(one, Mapping | list | tuple) or one is None:
            raise InputError(f"{what} is {_kind(value)}", where=where, got=value, expected=TEXT)
    return tuple(text for one in listed if (text := _written(one).strip()))


def _written(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _kind(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a group of answers"
    if isinstance(value, list | tuple):
        return "a list"
    return "nothing" if value is None else f"the text {str(value)[:40]!r}"


def _place(where: str, held: Mapping[str, Any], key: Any) -> str:
    """Where a key stands: the file, and the line where that is known."""
    line = held.lines.get(key) if isinstance(held, _Placed) else None
    return where if line is None else f"{where}, line {line}"


# ---------------------------------------------------------------------------------------------------------------- files


def _content(path: Path) -> Any:
    """What a file holds, by its suffix."""
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise InputError.at(f"{path}", "is no file of answers", expected=f"one of {', '.join(READERS)}")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}{nearest_file(path, suffix)}")
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InputError.at(f"{path}", f"is larger than {MOST_BYTES:,} bytes, which no short file of answers is")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError.at(f"{path}", "is not written in UTF-8", remedy="save it as UTF-8") from None
    return READERS[suffix](text, path) if text.strip() else None


def _of_json(text: str, path: Path) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise InputError.at(f"{path}", f"states {key!r} twice", got=key)
            found[key] = value
        return found

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise _misread(path, error.lineno, "JSON", error.msg) from None
    except RecursionError:
        raise InputError.at(f"{path}", "is nested too deeply") from None


def _of_toml(text: str, path: Path) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError.at(f"{path}", f"cannot be read as TOML: {error!s:.200}") from None
    except RecursionError:
        raise InputError.at(f"{path}", "is nested too deeply") from None


def _misread(path: Path, line: int, language: str, why: str) -> InputError:
    return InputError(f"{path}, line {line}: this cannot be read as {language} ({why:.200})", where=f"{path}, line {line}")  # fmt: skip


def _of_yaml(text: str, path: Path) -> Any:
    """What YAML holds, from the tree of its nodes: nothing is constructed, every scalar is a text."""
    try:
        import yaml
    except ImportError:
        raise ImportError(NEEDED) from None
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise InputError(f"{path}, line {event.start_mark.line + 1}: aliases are not read; write the text out", where=f"{path}, line {event.start_mark.line + 1}")  # fmt: skip
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        why = " ".join(filter(None, (error.context, error.problem)))
        raise _misread(path, 1 if mark is None else mark.line + 1, "YAML", why) from None
    except yaml.YAMLError as error:
        raise InputError.at(f"{path}", f"cannot be read as YAML ({' '.join(str(error).split())[:200]})") from None
    except RecursionError:
        raise InputError.at(f"{path}", "is nested too deeply") from None
    return None if node is None else _of_node(node, path)


def _of_node(node: Any, path: Path) -> Any:
    line, kind = node.start_mark.line + 1, str(node.tag).rpartition(":")[2]
    if kind not in PLAIN_TAGS or not node.tag.startswith("tag:yaml.org,2002:"):
        raise InputError(f"{path}, line {line}: the tag {node.tag!r} is not read", where=f"{path}, line {line}", expected=TEXT)  # fmt: skip
    if node.id == "scalar":
        return None if kind == "null" else node.value
    if node.id == "sequence":
        return [_of_node(one, path) for one in node.value]
    found = _Placed()
    for key, value in node.value:
        at = key.start_mark.line + 1
        if key.id != "scalar":
            raise InputError(f"{path}, line {at}: a key is no word", where=f"{path}, line {at}", expected="a word")
        if key.value in found:
            raise InputError(f"{path}, line {at}: {key.value!r} stands twice", where=f"{path}, line {at}", got=key.value)  # fmt: skip
        found[key.value], found.lines[key.value] = _of_node(value, path), at
    return found


READERS = {".yaml": _of_yaml, ".yml": _of_yaml, ".toml": _of_toml, ".json": _of_json}
