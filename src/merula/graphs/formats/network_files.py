"""Files by suffix: which format, compressed or not, in which encoding."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merula.core import InputError, Option, bounded, located, nearest
from merula.core.atomic_file import atomic_write, check_folder, nearest_file
from merula.core.encodings import marked_encoding
from merula.graphs.formats import bif, merula_json, net, uai, xdsl, xmlbif
from merula.graphs.network.node import AnyNode

PathLike = str | os.PathLike[str]
XML_ENCODING = re.compile(rb"""\s*<\?xml[^>]*?\bencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]*)["']""")


@dataclass(frozen=True)
class Format:
    """How one format is read and written; `parse_all` also gives what else it keeps of a network."""

    parse: Callable[[str], Sequence[AnyNode]]
    dump: Callable[..., str]
    parse_all: Callable[[str], tuple[Sequence[AnyNode], Any]]


FORMATS = {
    ".bif": Format(bif.parse, bif.dump, bif.parse_all),
    ".xmlbif": Format(xmlbif.parse, xmlbif.dump, xmlbif.parse_all),
    ".bifxml": Format(xmlbif.parse, xmlbif.dump, xmlbif.parse_all),
    ".xml": Format(xmlbif.parse, xmlbif.dump, xmlbif.parse_all),
    ".net": Format(net.parse, net.dump, net.parse_all),
    ".xdsl": Format(xdsl.parse, xdsl.dump, xdsl.parse_all),
    ".uai": Format(uai.parse, uai.dump, uai.parse_all),
    ".json": Format(merula_json.parse, merula_json.dump, merula_json.parse_all),
}


def read_nodes(path: PathLike, encoding: str | None = None) -> list[AnyNode]:
    """The nodes of the network in a file, by its suffix.

    Parameters
    ----------
    path : path
        A file ending in ``.bif``, ``.xmlbif``, ``.bifxml``, ``.xml``, ``.net``, ``.xdsl``, ``.uai`` or ``.json``, each
        also with ``.gz``.
    encoding : str, optional
        The file's encoding. By default UTF-8, or what a byte-order mark or an XML declaration says.

    Returns
    -------
    list of Node
        One node per variable, in the order of the file; JSON and XDSL may also hold noisy-MAX nodes, JSON numbers. Rows of probabilities that miss 1 by at most 1e-6 are normalised.

    Raises
    ------
    ValueError
        With the file's name and one sentence on what is wrong in it.
    FileNotFoundError, IsADirectoryError
        Where there is no such file.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from merula.graphs.network.node import Node
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_nodes([Node("smoke", ("yes", "no"), (), np.array([0.3, 0.7]))], f"{folder}/smoke.bif.gz")
    ...     read_nodes(f"{folder}/smoke.bif.gz")[0].table.tolist()
    [0.3, 0.7]
    """
    return read_all(path, encoding)[0]


def read_all(path: PathLike, encoding: str | None = None) -> tuple[list[AnyNode], Any]:
    """The nodes of the network in a file, and the plain data of what else the file keeps of it, or None."""
    known = _format(path)
    try:
        text = _decoded(_content(Path(path)), encoding)
        nodes, kept = known.parse_all(text)
        return list(nodes), kept
    except ValueError as error:
        raise located(error, os.fspath(path)) from None


def write_nodes(nodes: Sequence[AnyNode], path: PathLike, kept: Any = None) -> None:
    """Write a network to a file, by its suffix, whole or not at all.

    Parameters
    ----------
    nodes : sequence of Node
        One node per variable.
    path : path
        A file ending in ``.bif``, ``.xmlbif``, ``.bifxml``, ``.xml``, ``.net``, ``.xdsl``, ``.uai`` or ``.json``, each
        also with ``.gz``. The network is named after it.
    kept : plain data, optional
        What else to keep of the network: JSON keeps all of it, the others the exact cuts of intervals.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from merula.graphs.network.node import Node
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_nodes([Node("smoke", ("yes", "no"), (), np.array([0.3, 0.7]))], f"{folder}/smoke.net")
    ...     print(Path(f"{folder}/smoke.net").read_text().splitlines()[1])
      name = "smoke";
    """
    known, target = _format(path), Path(path)
    check_folder(target)
    try:
        data = known.dump(nodes, name=target.name.partition(".")[0] or "unknown", kept=kept).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{target}: the sign {error.object[error.start]!r} cannot be written",
            where=f"{target}",
            remedy="rename what holds it",
        ) from None
    packed = gzip.compress(data, mtime=0) if target.suffix.lower() == ".gz" else data
    with atomic_write(target) as file:
        file.write(packed)


def names_network(path: PathLike) -> bool:
    """Whether a file is called as networks are."""
    return _suffix(path) in FORMATS


def _suffix(path: PathLike) -> str:
    return Path(Path(path).name.lower().removesuffix(".gz")).suffix


def _format(path: PathLike) -> Format:
    """The format that a file's suffix names."""
    suffix = _suffix(path)
    if suffix not in FORMATS:
        hint = nearest(suffix, FORMATS) if suffix else ""
        raise InputError(
            f"{os.fspath(path)}: {f'no network format has the suffix {suffix!r}' if suffix else 'the name has no suffix to tell the format'}",
            where=f"{os.fspath(path)}",
            expected=f"{', '.join(FORMATS)}, each also with .gz{hint}",
        )
    return FORMATS[suffix]


def _content(path: Path) -> bytes:
    """The bytes of a file, unpacked if it is packed, whatever its suffix."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}{nearest_file(path)}")
    try:
        return bounded.unpacked(bounded.read_whole(path))
    except InputError as error:
        raise located(error, "the file", " ") from None


def _decoded(data: bytes, encoding: str | None) -> str:
    """The text in the bytes, in the encoding stated, marked or declared, else UTF-8; lines end in a line feed."""
    chosen = encoding or marked_encoding(data)
    if chosen is None:
        found = XML_ENCODING.match(data[:200])
        chosen = found[1].decode() if found else "utf-8"
    try:
        text = data.decode(chosen)
    except LookupError:
        raise InputError(
            f"the encoding {chosen!r} is not known",
            where="encoding",
            got=chosen,
            remedy=("try ", Option("encoding", "utf-8"), " or ", Option("encoding", "latin-1")),
        ) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError.at(
            f"line {line}",
            f"holds the byte 0x{data[error.start]:02x}, which is not {chosen.upper()}",
            got=data[error.start],
            remedy=("say ", Option("encoding", "latin-1"), ", or whatever the file is in"),
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
