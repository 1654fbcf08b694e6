"""How files are damaged: bytes flipped, cut, spliced, numbers and tokens changed, sizes made huge, models forged and sealed anew."""

from __future__ import annotations

import io
import json
import random
import re
import zipfile
from typing import Any

import numpy as np

NUMBERS = ["0", "-1", "1e308", "-1e400", "nan", "inf", "9" * 40, "1e-320", "2147483648", "-9223372036854775809", "0x10", "1_0", ".", "٣", "true", "null", '""', "[]"]  # fmt: skip
SIZES = [0, 1, 0x7F, 0xFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 1]
TOKENS = re.compile(rb"[A-Za-z_]+|\d+(?:\.\d+)?|[{}\[\]()<>,;:|=\"'/&]")
NUMBER = re.compile(rb"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def mutated(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """The file after one to four kinds of damage."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        data = rng.choice(DAMAGES)(rng, data, others)
    return data[: 4 << 20]


def _flips(rng: random.Random, data: bytes, _: Any) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8, 64])):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(rng: random.Random, data: bytes, _: Any) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _left_out(rng: random.Random, data: bytes, _: Any) -> bytes:
    start = rng.randrange(len(data) + 1)
    return data[:start] + data[start + rng.choice([1, 2, 16, 256]) :]


def _spliced(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    other = rng.choice(others)
    a, b = rng.randrange(len(data) + 1), rng.randrange(len(other) + 1)
    return data[:a] + other[b:] if rng.random() < 0.5 else data[:a] + other[b : b + 64] + data[a:]


def _repeated(rng: random.Random, data: bytes, _: Any) -> bytes:
    start = rng.randrange(len(data) + 1)
    return data[:start] + data[start : start + rng.choice([1, 8, 64])] * rng.choice([2, 50, 5_000]) + data[start:]


def _number(rng: random.Random, data: bytes, _: Any) -> bytes:
    return _replaced(rng, data, NUMBER, lambda _: rng.choice(NUMBERS).encode())


def _tokens(rng: random.Random, data: bytes, _: Any) -> bytes:
    found = [match[0] for match in TOKENS.finditer(data)] or [b""]
    return _replaced(rng, data, TOKENS, lambda token: rng.choice([rng.choice(found), b"", token * 2]))


def _replaced(rng: random.Random, data: bytes, pattern: re.Pattern[bytes], by: Any) -> bytes:
    found = list(pattern.finditer(data))
    for match in sorted(rng.sample(found, min(len(found), rng.choice([1, 1, 3]))), key=lambda m: -m.start()):
        data = data[: match.start()] + by(match[0]) + data[match.end() :]
    return data


def _size(rng: random.Random, data: bytes, _: Any) -> bytes:
    """A size field, wherever it may be, says something else."""
    width = rng.choice([1, 2, 4, 8])
    place = rng.randrange(max(1, len(data) - width))
    return (
        data[:place]
        + (rng.choice(SIZES) % (1 << 8 * width)).to_bytes(width, rng.choice(["little", "big"]))
        + data[place + width :]
    )


def _inserted(rng: random.Random, data: bytes, _: Any) -> bytes:
    place = rng.randrange(len(data) + 1)
    piece = rng.choice(
        [
            b"\x00",
            b"\xff\xfe",
            b"\xed\xa0\x80",
            b"[" * 100_000,
            b'{"a":' * 50_000,
            b"\n" * 1_000,
            b"<!ENTITY x 'y'>",
            b"\x1f\x8b",
        ]
    )
    return data[:place] + piece + data[place:]


DAMAGES = [_flips, _cut, _left_out, _spliced, _repeated, _number, _tokens, _size, _inserted]


# --------------------------------------------------------------------------------------------------------- forged models

WRONG = [None, True, -1, 0, 5, 1e308, -0.5, 10**40, "", "nan", "x", [], {}, [[]], {"dict": {}}, {"dict": 5}, {"array": 0}, {"array": -1}, {"array": 999}, {"objects": 5}, {"pairs": [1]}, float("nan"), float("inf")]  # fmt: skip


def forged(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A model file whose contents were changed and then sealed anew, as if merula had written it."""
    from merula.core.archive import ENTRY, EPOCH, FORMAT, _seal

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        head = json.loads(archive.read(ENTRY))
        arrays = [archive.read(f"{k}.npy") for k in range(len(archive.namelist()) - 1)]
    changes = rng.choice([1, 1, 1, 2, 3])
    for index in rng.sample(range(len(arrays)), min(changes, len(arrays)) if rng.random() < 0.6 else 0):
        arrays[index] = _forged_array(rng, arrays[index])
    for _ in range(changes if rng.random() < 0.5 else 0):
        _forge_state(rng, head["state"])
    head["format"] = FORMAT
    members = [(f"{k}.npy", array) for k, array in enumerate(arrays)]
    head["seal"] = _seal(
        head["version"], json.dumps(head["state"], ensure_ascii=False, sort_keys=True).encode(), members
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in [(ENTRY, json.dumps(head, ensure_ascii=False, sort_keys=True).encode()), *members]:
            archive.writestr(zipfile.ZipInfo(name, EPOCH), part)
    return out.getvalue()


def _forged_array(rng: random.Random, member: bytes) -> bytes:
    """An array with other numbers, shape, type or order; now and then one whose header is a lie."""
    array = np.lib.format.read_array(io.BytesIO(member))
    if rng.random() < 0.15:
        return rng.choice(
            [
                lambda: member[: rng.randrange(len(member))],
                lambda: _number(rng, member, None),
                lambda: _size(rng, member, None),
            ]
        )()
    changed = rng.choice(ARRAYS)(rng, array)
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(changed), allow_pickle=False)
    return out.getvalue()


def _one_cell(rng: random.Random, array: Any) -> Any:
    changed = array.copy()
    if changed.size and changed.dtype.kind in "fiu":
        value = rng.choice([np.nan, np.inf, -np.inf, -1, 0, 1e308, -1e308, 5, 0.5, 1e-320])
        if changed.dtype.kind != "f":
            value = rng.choice([0, 1, 100, np.iinfo(changed.dtype).max, np.iinfo(changed.dtype).min])
        changed.flat[rng.randrange(changed.size)] = value
    return changed


ARRAYS = [
    _one_cell, _one_cell, _one_cell,
    lambda rng, array: -array if array.dtype.kind in "fiu" else array,
    lambda rng, array: array + array if array.dtype.kind in "fiu" else array,
    lambda rng, array: np.zeros_like(array),
    lambda rng, array: array.astype(rng.choice(["f4", "i8", "c16", "U8", "bool", "u1", "M8[s]"])) if array.dtype.kind in "fiub" else array,
    lambda rng, array: array[::-1],
    lambda rng, array: array[:-1] if array.ndim else array,
    lambda rng, array: np.concatenate([array, array]) if array.ndim else array,
    lambda rng, array: array.ravel(),
    lambda rng, array: array[None],
    lambda rng, array: array.T,
    lambda rng, array: np.empty((0, *array.shape[1:]), array.dtype),
]  # fmt: skip


def _forge_state(rng: random.Random, state: Any) -> None:
    """One value, somewhere in the plain data, replaced, left out or swapped with another."""
    places = []

    def walk(value: Any) -> None:
        for key in value if isinstance(value, dict) else range(len(value)):
            places.append((value, key))
            if isinstance(value[key], dict | list):
                walk(value[key])

    walk(state)
    if not places:  # all of it was taken away before
        return
    value, key = rng.choice(places)
    other, other_key = rng.choice(places)
    how = rng.random()
    if how < 0.6:
        value[key] = json.loads(json.dumps(rng.choice(WRONG)))
    elif how < 0.8:
        value[key] = json.loads(json.dumps(other[other_key]))
    elif isinstance(value, dict):
        del value[key]
    else:
        value.append(json.loads(json.dumps(value[key])))
