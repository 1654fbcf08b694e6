"""A schema ⇄ a JSON file, so that tables in different places are read alike."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from merula.core import InputError, bounded
from merula.core.atomic_file import atomic_write
from merula.data.schema import Schema

FORMAT, VERSION = "merula schema", 1
WRONG = (ValueError, TypeError, AttributeError, LookupError, RecursionError)


def write_schema(path: str | os.PathLike[str], schema: Schema) -> None:
    """Write a schema into a JSON file: kinds, levels, cuts, units and how words are read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from merula.data.schema import Column, Schema
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "schema.json"
    >>> write_schema(path, Schema((Column("age", "numeric"),)))
    >>> read_schema(path)
    Schema('age': numeric)
    """
    head = {"format": FORMAT, "version": VERSION, **schema.state()}
    try:
        body = json.dumps(head, ensure_ascii=False, indent=1).encode()
    except (UnicodeEncodeError, TypeError) as error:
        raise InputError.at(f"{path}", f"cannot hold this schema ({error!s:.200})") from None
    with atomic_write(path) as file:
        file.write(body + b"\n")


def read_schema(path: str | os.PathLike[str]) -> Schema:
    """The schema in a JSON file; an `InputError` where there is none."""
    data = Path(path).read_bytes()
    try:
        head: Any = bounded.parsed_json(data, bounded.allowed(len(data)))
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise InputError("it does not say that it is one")
        if head.get("version") != VERSION:
            raise InputError(f"it has format version {head.get('version')!r}, this merula reads {VERSION}")
        return Schema.from_state({"columns": head["columns"]})
    except WRONG as error:
        raise InputError.at(f"{path}", f"is no schema ({error!s:.200})", remedy="write it again: merula count --schema-out, or mr.count(…).schema.save(path)") from None  # fmt: skip
