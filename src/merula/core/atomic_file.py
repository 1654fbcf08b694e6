"""Files that are written whole or not at all, and what a file may be called that is not there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO

from merula.core.checks import nearest
from merula.core.errors import InputError

NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to that takes the place of `path` when all is written; on an error `path` stays as it was.

    What is no plain file (``/dev/null``, a pipe) is written to as it is.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "birds.txt"
    >>> with atomic_write(path) as file:
    ...     _ = file.write(b"wren")
    >>> path.read_text()
    'wren'
    """
    check_folder(path)
    if Path(path).exists() and not Path(path).is_file():  # a device or a pipe is written to, never replaced
        with open(path, "wb") as file:
            yield file
        return
    target = Path(os.path.realpath(path))  # a link stays one
    before = target.stat() if target.exists() else None
    temporary = target.with_name(f".{token_hex(8)}.tmp")  # short, for the longest name of a target is a legal one
    handle = os.open(temporary, NEW, 0o666 if before is None else 0o600)  # less what the umask takes away
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if before is not None:
            _like(before, temporary)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _like(before: os.stat_result, path: Path) -> None:
    """Give a file the owner, where that is allowed, and the permissions of the one that it replaces."""
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(path, before.st_uid, before.st_gid)
    os.chmod(path, stat.S_IMODE(before.st_mode))


def check_folder(path: str | os.PathLike[str]) -> None:
    """An error if there is no folder to write a file in, or if the path is a folder itself."""
    target = Path(check_named(path))
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; name a file in it")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} in; make it first")


def check_named(path: str | os.PathLike[str]) -> str:
    """The path itself; an error if it is empty, which the system takes for the folder it is in."""
    if not os.fspath(path):
        raise InputError("the name of the file is empty", where="path", got="", remedy="name a file")
    return os.fspath(path)


def nearest_file(path: Path, suffix: str = "") -> str:
    """A hint at the file in the same folder, of this suffix, whose name is almost that of one that is not there; or nothing."""
    others = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
    alike = [name for name in others if name.endswith(suffix)]
    return nearest(path.name, alike, 0.8, lambda name: str(path.with_name(name)))
