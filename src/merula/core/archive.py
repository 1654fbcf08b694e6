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
from errno import EINVAL
from functools import lru_cache
from math import prod
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from merula.core import bounded
from merula.core.atomic_file import atomic_write, check_named
from merula.core.errors import InputError, located

FORMAT = "merula model"
VERSION = 1
ENTRY = "merula.json"
EPOCH = (1980, 1, 1, 0, 0, 0)
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}

UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    KeyError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OSError,
)
WAYS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # of packing, whose size is known beforehand
NO_ARRAY = (ValueError, SyntaxError, TypeError, KeyError, MemoryError, OverflowError, RecursionError, TokenError)


class NotAnArchiveError(InputError):
    """The file is no archive: something else than a model, or a model cut short."""


def write_state(path: str | os.PathLike[str], state: dict[str, Any]) -> None:
    """Write plain data to a file, whole or not at all."""
    arrays: dict[int, tuple[int, NDArray[Any]]] = {}
    body = _body(_to_plain(state, arrays), "the model")
    members = [(f"{index}.npy", _array_bytes(array)) for index, array in arrays.values()]
    head = {"format": FORMAT, "version": VERSION, "seal": _seal(VERSION, body, members), "state": json.loads(body)}
    described = [(ENTRY, json.dumps(head, ensure_ascii=False, sort_keys=True).encode()), *members]
    with atomic_write(path) as file:
        if not _write_members(file, described, zipfile.ZIP_DEFLATED):
            file.seek(0)  # what packs so well that it could not be told from a bomb is written as it is
            file.truncate()
            _write_members(file, described, zipfile.ZIP_STORED)


def _body(plain: Any, where: str) -> bytes:
    """Plain data as a file holds them; an `InputError` where a word is no text, or they are nested too deeply."""
    try:
        return json.dumps(plain, ensure_ascii=False, sort_keys=True).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise InputError.at(
            where, f"holds half a character ({half!r}), which no file can hold as text", got=half
        ) from None
    except RecursionError:
        raise InputError.at(where, "is nested too deeply") from None


def _write_members(file: IO[bytes], members: list[tuple[str, bytes]], way: int) -> bool:
    """Write the members of an archive; False where they are packed more than a reader allows."""
    with zipfile.ZipFile(file, "w", way) as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name, EPOCH), data, way)
        packed = sum(info.compress_size for info in archive.infolist())
    return sum(len(data) for _, data in members) <= max(bounded.SMALL, bounded.RATIO * packed)


def read_state(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The plain data in a file; a ValueError that says what is wrong with it, if anything is."""
    check_named(path)
    if os.path.isdir(path):
        raise NotAnArchiveError.at(f"{path}", "is a folder, not a merula model", remedy="name a file in it")
    if os.path.exists(path) and not os.path.isfile(
        path
    ):  # a device may have no end, a pipe has no directory to look up
        raise NotAnArchiveError.at(f"{path}", "is no plain file, as a merula model is", remedy="copy it into one")
    try:
        with Path(path).open("rb") as file:
            head, members = _read_members(file)
    except InputError as error:
        raise located(error, f"{path}", " ") from None
    except UNREADABLE as error:
        if (
            isinstance(error, OSError) and error.errno != EINVAL
        ):  # the system refuses; a place before the file's beginning is damage
            raise
        kind = NotAnArchiveError if isinstance(error, zipfile.BadZipFile) else InputError
        told = f"cannot be read as a merula model ({error!s:.200}): it is cut short, damaged or another kind of file"
        raise kind.at(f"{path}", told, remedy="save the model again") from None
    body = _body(head["state"], f"{path}")
    if _seal(head["version"], body, members) != head.get("seal"):
        raise InputError.at(
            f"{path}",
            "was changed after it was saved: its contents do not match its seal",
            remedy="save the model again",
        )
    try:
        state: dict[str, Any] = _from_plain(head["state"], [_array(data) for _, data in members])
        if not isinstance(state, dict):
            raise TypeError(f"a {type(state).__name__} where a dict belongs")
    except (*NO_ARRAY, AttributeError, IndexError) as error:
        raise InputError.at(
            f"{path}", f"holds no data that merula can read ({error!s:.200})", remedy="save the model again"
        ) from None
    return state


def _read_members(file: IO[bytes]) -> tuple[dict[str, Any], list[tuple[str, bytes]]]:
    """The description in an archive and the bytes of its arrays, once they are known not to be too many."""
    with zipfile.ZipFile(file) as archive:
        known = {info.filename: info for info in archive.infolist()}
        if ENTRY not in known:
            raise InputError("is not a merula model: it is an archive of something else")
        limit = _checked_sizes(archive, os.fstat(file.fileno()).st_size)
        head = bounded.parsed_json(_member(archive, known[ENTRY]), limit)
        _check_head(head)
        names = [f"{index}.npy" for index in range(len(known) - 1)]
        return head, [(name, _member(archive, known[name])) for name in names]


def _checked_sizes(archive: zipfile.ZipFile, packed: int) -> int:
    """The bytes that an archive may become; an `InputError` where it declares more, or packs in a way whose size is not known."""
    members, limit = archive.infolist(), bounded.allowed(packed)
    bounded.refuse_beyond(sum(info.file_size for info in members), packed)
    if len(set(archive.namelist())) < len(members) or any(info.compress_type not in WAYS for info in members):
        raise InputError("is not a merula model: it is packed as none is", remedy="save the model again")
    return limit


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """The bytes of a member, as many as it declares and no more."""
    with archive.open(info) as file:
        return file.read(info.file_size)


def _check_head(head: Any) -> None:
    if not isinstance(head, dict) or head.get("format") != FORMAT or "state" not in head:
        raise InputError(f"is not a merula model: its {ENTRY} describes something else")
    version = head.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        newer = type(version) is int and version > VERSION
        raise InputError(
            f"has format version {version!r}, this merula reads up to {VERSION}",
            got=version,
            remedy="update merula to open it" if newer else "save the model again",
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
        nested = not {list, dict}.isdisjoint(map(type, value))
        return [_from_plain(item, arrays) for item in value] if nested else value
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise KeyError(f"{len(value)} words where one of array, objects, pairs, dict belongs")
    if "array" in value:
        if type(value["array"]) is not int or value["array"] < 0:
            raise IndexError(f"array {value['array']!r}")
        return arrays[value["array"]]
    if "objects" in value:
        return np.array([_from_plain(item, arrays) for item in value["objects"]], dtype=object)
    if "pairs" in value:
        return {_from_plain(key, arrays): _from_plain(item, arrays) for key, item in value["pairs"]}
    return {key: _from_plain(item, arrays) for key, item in value["dict"].items()}


def _array(data: bytes) -> NDArray[Any]:
    """The array that `_array_bytes` wrote; its size is compared with that of the data before memory is taken for it."""
    start = (
        12 + int.from_bytes(data[8:12], "little") if data[6:7] == b"\x02" else 10 + int.from_bytes(data[8:10], "little")
    )
    shape, by_columns, dtype = _header(data[:start])
    count, size = prod(shape), len(data) - start
    if count * dtype.itemsize != size or count > size:
        raise InputError(f"an array of shape {shape} in {size:,} bytes")
    array = np.frombuffer(data, dtype, count, start) if count else np.empty(0, dtype)
    return array.reshape(shape, order="F" if by_columns else "C").copy("K")  # to be written to, unlike the data


@lru_cache(maxsize=1_000)
def _header(data: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """The shape, the order and the type that the beginning of an array's data tells; arrays of one file are often alike."""
    file = io.BytesIO(data)
    shape, by_columns, dtype = HEADERS[np.lib.format.read_magic(file)](file)
    if dtype.hasobject or dtype.names or dtype.subdtype or min(shape, default=0) < 0:
        raise TypeError(f"an array of {dtype}")
    return shape, by_columns, dtype


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
