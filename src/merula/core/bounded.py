"""How much memory a file may take: limits by declared size, ratio and total, asked before the memory is taken.

Every reader of packed or declared-size input asks here. One setting raises or lowers the limits: the environment variable
MERULA_MOST_BYTES, read at every use, so that ``os.environ["MERULA_MOST_BYTES"] = "32e9"`` works from Python as well.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Any

from merula.core.errors import InputError
from merula.core.limits import VARIABLE as VARIABLE, stated_bytes

SMALL = 2**26  # bytes that the smallest file may become
USUAL = 50  # times its size: what nearly all packed text stays below
RATIO = 300  # times its size: a table of rare events (1 in 1,000) packs 240 to 1, what packs 1,000 to 1 is padding
COLUMNAR = 10_000  # so for Parquet and Arrow, whose runs of one value take next to nothing
ITEM = 100  # bytes that an item of JSON takes in memory, at the most
CHUNK = 2**20
SHARE = 0.5  # of the machine's memory that one file may take
UNKNOWN_MEMORY = 2**33
CONTROL_GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
PACKED = b"\x1f\x8b"
TRUSTED = f"if you trust it, set the environment variable {VARIABLE} to the number of bytes it may take"


def most_bytes() -> int:
    """The bytes that one file may take in memory: MERULA_MOST_BYTES, else half of the memory this process may have.

    Examples
    --------
    >>> most_bytes() > 2**20
    True
    """
    return stated_bytes() or int(SHARE * min(_machine_memory(), _process_memory()))


def allowed(packed: int, ratio: int = RATIO) -> int:
    """The bytes that a packed file of this size may become; where MERULA_MOST_BYTES is set, it alone decides."""
    return stated_bytes() or min(most_bytes(), max(SMALL, ratio * packed))


def refuse_beyond(size: float, packed: int, ratio: int = RATIO) -> None:
    """An `InputError` where a file of `packed` bytes says that it becomes more than it may."""
    if size > allowed(packed, ratio):
        raise too_large(packed, ratio)


def too_large(packed: int, ratio: int = RATIO) -> InputError:
    """The error of a packed file that becomes more than it may."""
    whose = f"a file of {packed:,} bytes may" if stated_bytes() is None else f"{VARIABLE} allows"
    return InputError(
        f"becomes more than {allowed(packed, ratio):,} bytes in memory, the most that {whose}",
        got=packed,
        remedy=TRUSTED,
    )


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """While a file is read: what the system refuses is told with the file's name, and want of memory as bad input."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno:
            error.filename = os.fspath(path)
        raise
    except MemoryError as error:
        if isinstance(error, InputError):
            raise
        raise InputError.at(
            os.fspath(path), "does not fit into memory", remedy="read it where there is more, or make it smaller"
        ) from None


def read_whole(path: Path) -> bytes:
    """The bytes of a file that is not larger than it may be; a device without end is not read to the end."""
    with path.open("rb") as file, reading(path):
        found = os.fstat(file.fileno())
        if found.st_size > most_bytes():
            raise too_large(found.st_size)
        if stat.S_ISREG(found.st_mode):
            return file.read()
        # a device such as /dev/zero has no end
        return read_stream(file, SMALL if stat.S_ISCHR(found.st_mode) else None)


def read_stream(file: IO[bytes], most: int | None = None) -> bytes:
    """All that a stream holds, as long as it is not more than it may be."""
    limit, found = stated_bytes() or min(most_bytes(), most or most_bytes()), io.BytesIO()
    for chunk in iter(lambda: file.read(CHUNK), b""):
        if found.tell() + len(chunk) > limit:
            raise InputError(f"holds more than {limit:,} bytes, the most that is read of it", remedy=TRUSTED)
        found.write(chunk)
    return found.getvalue()


def unpacked(data: bytes) -> bytes:
    """What gzip packed, or the bytes themselves where it did not; never more than may be.

    Beyond the usual ratio the size is found first, without keeping anything.

    Examples
    --------
    >>> unpacked(gzip.compress(b"wren")), unpacked(b"wren")
    (b'wren', b'wren')
    """
    if data[:2] != PACKED:
        return data
    try:
        found = _inflated(data, min(max(SMALL, USUAL * len(data)), allowed(len(data))))
        if found is None and sum(map(len, _pieces(data, allowed(len(data))))) <= allowed(len(data)):
            found = _inflated(data, allowed(len(data)))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"is packed by gzip, but cut short or damaged ({error})", remedy="fetch it again") from None
    if found is None:
        raise too_large(len(data))
    return found


def _pieces(data: bytes, limit: int) -> Iterator[bytes]:
    """What gzip packed, piece by piece, until it is more than the limit."""
    size = 0
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        while size <= limit and (piece := file.read(CHUNK)):
            size += len(piece)
            yield piece


def _inflated(data: bytes, limit: int) -> bytes | None:
    """What gzip packed; None where it is more than the limit."""
    found = io.BytesIO()
    for piece in _pieces(data, limit):
        found.write(piece)
    return found.getvalue() if found.tell() <= limit else None


def parsed_json(data: bytes, limit: int) -> Any:
    """What JSON holds, each key of an object once; a ValueError where it is no JSON, too deep, or more than the limit.

    Examples
    --------
    >>> parsed_json(b'{"bird": ["wren", 1]}', 10_000)
    {'bird': ['wren', 1]}
    """
    items = sum(map(data.count, (b",", b"[", b"{")))
    if ITEM * items + len(data) > limit:
        raise InputError(
            f"holds {items:,} items, which take more than {limit:,} bytes in memory",
            remedy=TRUSTED,
        )
    try:
        return json.loads(data, object_pairs_hook=_once)
    except RecursionError:
        raise InputError("is nested too deeply") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for index, name in enumerate(names) if name in names[:index])
        raise InputError(f"holds the key {twice!r} twice", got=twice)
    return found


@cache
def _machine_memory() -> int:
    """The memory of this machine, or of the container it pretends to be."""
    try:
        found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, ValueError, OSError):  # not every system tells
        found = [UNKNOWN_MEMORY]
    for path in CONTROL_GROUPS:
        try:
            text = Path(path).read_text().strip()
        except OSError:
            continue
        found += [int(text)] if text.isdigit() else []
    return min(found)


def _process_memory() -> float:
    """The address space that this process may still take."""
    try:
        import resource
    except ImportError:  # there is none on Windows
        return float("inf")
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return float("inf")
    try:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:  # only Linux tells
        used = 0
    return max(limit - used, 0)
