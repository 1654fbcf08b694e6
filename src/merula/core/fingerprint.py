"""What a file is known by: the SHA-256 of its bytes."""

from __future__ import annotations

import os
from hashlib import file_digest
from pathlib import Path


def file_hash(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file's bytes, as ``sha256sum`` prints it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "empty"
    >>> path.touch()
    >>> file_hash(path)[:16]
    'e3b0c44298fc1c14'
    """
    with Path(path).open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
