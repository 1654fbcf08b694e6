"""A record that is only ever added to: lines of JSON, each bound by a hash to the line before it.

    line = {"previous": hash of the line before, …what is recorded…, "hash": SHA-256 of all that stands before it in the line}

Several processes may add to one file: each holds its lock while it reads the last hash and writes. Nothing is written over. Whoever
is stopped in the middle of a line leaves a broken one, which is told and passed over; the next line begins behind it. A line that was
altered, removed or put in breaks the chain at its place, but for the last lines: what is cut off at the end leaves a shorter whole chain.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import IO, Any

from merula.core.atomic_file import check_folder
from merula.core.errors import InputError

BEGIN = b'{"previous":"'
END = re.compile(rb',"hash":"([0-9a-f]{64})"\}$')
OPENED = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
PRIVATE = 0o600  # it holds what rows hold
BLOCK = 65_536
CUT_SHORT = "is cut short: whoever wrote it was stopped"


@dataclass(frozen=True)
class Entry:
    """One line of a record: what it says, and what is wrong with it; one that is only cut short is no sign of a forger."""

    line: int
    told: Mapping[str, Any] | None
    hash: str = ""
    broken: str = ""
    is_cut: bool = False


class Journal:
    """A file that entries are added to.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "answers.log"
    >>> journal = Journal(path)
    >>> journal.append({"bird": "wren"})
    >>> journal.append({"bird": "tit"})
    >>> [(entry.line, entry.told["bird"], entry.broken) for entry in read_journal(path)]
    [(1, 'wren', ''), (2, 'tit', '')]
    """

    def __init__(self, path: str | os.PathLike[str], synced: bool = True) -> None:
        self.path, self._synced, self._lock = Path(path), synced, Lock()
        check_folder(path)
        if self.path.exists():
            _check_kind(self.path)
        os.close(os.open(self.path, OPENED, PRIVATE))  # what cannot be written to is told now

    def append(self, told: Mapping[str, Any]) -> None:
        """Add one entry of plain data, whole before this returns."""
        inner = _written(told)[1:]
        with self._lock:
            handle = os.open(self.path, OPENED, PRIVATE)
            try:
                with _alone(handle):
                    previous, gap = _last(handle)
                    body = BEGIN + previous.encode() + b'"' + (b"" if inner == b"}" else b",") + inner[:-1]
                    _write_all(handle, gap + body + b',"hash":"' + sha256(body).hexdigest().encode() + b'"}\n')
                    if self._synced:
                        os.fsync(handle)
            finally:
                os.close(handle)


def read_journal(path: str | os.PathLike[str]) -> Iterator[Entry]:
    """The lines of a record, one by one, each compared with its hash and with that of the line before."""
    _check_kind(Path(path))
    with open(path, "rb") as file:
        previous = ""
        for number, line in enumerate(file, 1):
            entry = _entry(number, line, previous)
            previous = entry.hash or previous
            yield entry


def _entry(number: int, line: bytes, previous: str) -> Entry:
    """One line as it stands in the file, after the line with this hash."""
    whole = line.rstrip(b"\r\n")
    end = END.search(whole)
    try:
        told = json.loads(whole) if end else None
    except (ValueError, RecursionError):
        told = None
    if end is None or not isinstance(told, dict):
        return Entry(number, None, broken=CUT_SHORT, is_cut=True)
    own = end[1].decode()
    broken = ""
    if sha256(whole[: end.start()]).hexdigest() != own:
        broken = "was altered: it does not match its own hash"
    elif told.get("previous") != previous:
        broken = "does not follow the line before it: lines were removed, altered or put in"
    return Entry(number, told, own, broken)


def _check_kind(path: Path) -> None:
    """An error unless the file is a record, or empty."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it")
    if not path.exists():
        raise FileNotFoundError(f"there is no record of answers {path}")
    if not path.is_file():
        raise InputError.at(f"{path}", "is no plain file, as a record of answers is", remedy="name a file")
    with path.open("rb") as file:
        first = file.read(len(BEGIN))
    if first and not BEGIN.startswith(first):
        raise InputError.at(f"{path}", "is no record of answers, and is left as it is", remedy="name a file that --log began, or a new one")  # fmt: skip


def _written(told: Mapping[str, Any]) -> bytes:
    """Plain data as JSON on one line; a half of a sign, which UTF-8 does not hold, is written by its number."""
    try:
        return json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(told, allow_nan=False, separators=(",", ":")).encode()


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _last(handle: int) -> tuple[str, bytes]:
    """The hash of the last whole line, and what must stand before the next one: a line break, where the last line has none."""
    size = os.fstat(handle).st_size
    if not size:
        return "", b""
    with os.fdopen(os.dup(handle), "rb") as file:
        file.seek(size - 1)
        gap = b"" if file.read(1) == b"\n" else b"\n"
        for line in _backwards(file, size):
            end = END.search(line)
            if end is not None:
                return end[1].decode(), gap
    return "", gap


def _backwards(file: IO[bytes], size: int) -> Iterator[bytes]:
    """The last lines of a file, the last one first: of each line its end, as much as holds the hash."""
    rest, start = b"", size
    while start:
        step = min(BLOCK, start)
        start -= step
        file.seek(start)
        parts = (file.read(step) + rest).split(b"\n")
        yield from (part for part in reversed(parts[1:]) if part)
        rest = parts[0][-BLOCK:]
    yield rest


if sys.platform == "win32":
    import msvcrt

    @contextmanager
    def _alone(handle: int) -> Iterator[None]:
        """While it is open, no other process adds to the file."""
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
        try:
            yield
        finally:
            os.lseek(handle, 0, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    @contextmanager
    def _alone(handle: int) -> Iterator[None]:
        """While it is open, no other process adds to the file."""
        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)
