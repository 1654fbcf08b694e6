"""Plain data ⇄ one file: a zip of JSON and arrays, versioned and sealed, that never runs anything when read.

Plain data are None, booleans, numbers, words, lists, dicts with word keys, and arrays. The file is written under a
temporary name, flushed and renamed, so that a crash leaves the old file or the new one, never half of one.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core.atomic_file import atomic_write
from merula.core.errors import InputError

FORMAT = "merula model"
VERSION = 1
ENTRY = "merula.json"
EPOCH = (1980, 1, 1, 0, 0, 0)


UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    KeyError,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    json.JSONDecodeError,
    UnicodeDecodeError,
)


class NotAnArchiveError(ValueError):
    """The file is no archive: something else than a model, or a model cut short."""


def write_state(path: str | os.PathLike[str], state: dict[str, Any]) -> None:
    """Write plain data to a file, whole or not at all."""
    arrays: dict[int, tuple[int, NDArray[Any]]] = {}
    body = json.dumps(_to_plain(state, arrays), ensure_ascii=False, sort_keys=True).encode()
    members = [(f"{index}.npy", _array_bytes(array)) for index, array in arrays.values()]
    head = {"format": FORMAT, "version": VERSION, "seal": _seal(VERSION, body, members), "state": json.loads(body)}
    with atomic_write(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in [(ENTRY, json.dumps(head, ensure_ascii=False, sort_keys=True).encode()), *members]:
            archive.writestr(zipfile.ZipInfo(name, EPOCH), data, zipfile.ZIP_DEFLATED)


def read_state(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The plain data in a file; a ValueError that says what is wrong with it, if anything is."""
    try:
        with zipfile.ZipFile(path) as archive:
            if ENTRY not in archive.namelist():
                raise InputError.at(f"{path}", "is not a merula model: it is an archive of something else")
            head = json.loads(archive.read(ENTRY))
            _check_head(path, head)
            members = [
                (name, archive.read(name)) for name in (f"{index}.npy" for index in range(len(archive.namelist()) - 1))
            ]
    except FileNotFoundError:
        raise
    except UNREADABLE as error:
        kind = NotAnArchiveError if isinstance(error, zipfile.BadZipFile) else ValueError
        raise kind(
            f"{path} cannot be read as a merula model ({error}): it is cut short, damaged or another kind of file; save the model again"
        ) from None
    body = json.dumps(head["state"], ensure_ascii=False, sort_keys=True).encode()
    if _seal(head["version"], body, members) != head.get("seal"):
        raise InputError.at(
            f"{path}",
            "was changed after it was saved: its contents do not match its seal",
            remedy="save the model again",
        )
    try:
        arrays = [np.lib.format.read_array(io.BytesIO(data), allow_pickle=False) for _, data in members]
        state: dict[str, Any] = _from_plain(head["state"], arrays)
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise InputError.at(
            f"{path}", f"holds no data that merula can read ({error})", remedy="save the model again"
        ) from None
    return state


def _check_head(path: Any, head: Any) -> None:
    if not isinstance(head, dict) or head.get("format") != FORMAT or "state" not in head:
        raise InputError.at(f"{path}", f"is not a merula model: its {ENTRY} describes something else")
    if not isinstance(head.get("version"), int) or head["version"] > VERSION:
        raise InputError.at(
            f"{path}",
            f"has format version {head.get('version')}, this merula reads up to {VERSION}",
            remedy="update merula to open it",
        )


def _to_plain(value: Any, arrays: dict[int, tuple[int, NDArray[Any]]]) -> Any:
    """The value with every array moved to `arrays` and named by its place there."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O":
            return {"objects": [_to_plain(item, arrays) for item in value.tolist()]}
        index, _ = arrays.setdefault(id(value), (len(arrays), value))  # an array held twice is written once
        return {"array": index}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        if any(isinstance(key, tuple) for key in value):
            raise InputError(
                "a model file holds plain data only", remedy=f"the key {next(iter(value))!r} cannot be saved"
            )
        if not all(isinstance(key, str) for key in value):
            return {"pairs": [[_to_plain(key, arrays), _to_plain(item, arrays)] for key, item in value.items()]}
        return {"dict": {key: _to_plain(item, arrays) for key, item in value.items()}}
    if isinstance(value, list | tuple):
        return [_to_plain(item, arrays) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InputError("a model file holds plain data only", remedy=f"{type(value).__name__} {value!r} cannot be saved")


def _from_plain(value: Any, arrays: list[NDArray[Any]]) -> Any:
    if isinstance(value, list):
        return [_from_plain(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        if value["array"] < 0:
            raise IndexError(f"array {value['array']}")
        return arrays[value["array"]]
    if "objects" in value:
        return np.array([_from_plain(item, arrays) for item in value["objects"]], dtype=object)
    if "pairs" in value:
        return {_from_plain(key, arrays): _from_plain(item, arrays) for key, item in value["pairs"]}
    return {key: _from_plain(item, arrays) for key, item in value["dict"].items()}


def _array_bytes(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asanyarray(array, order="C"), allow_pickle=False)
    return buffer.getvalue()


def _seal(version: int, body: bytes, members: list[tuple[str, bytes]]) -> str:
    digest = hashlib.sha256(f"{FORMAT} {version} ".encode() + body)
    for name, data in members:
        digest.update(name.encode())
        digest.update(data)
    return digest.hexdigest()
