"""The models that are served: each under its name and the hash of its file, loaded whole, never changed once it is there."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from time import thread_time
from typing import Any

import numpy as np

from merula.classify.saved import SavedModel, describe, open_model
from merula.core import InputError
from merula.core.compiled import are_kept
from merula.core.fingerprint import file_hash
from merula.core.logspace import to_posterior
from merula.core.notes import kept_back
from merula.core.plain import to_plain
from merula.data.encode import is_counted
from merula.data.encode.plain_rows import PlainRows
from merula.data.table.plain.json_numbers import json_columns
from merula.data.table.plain.shortest import rows_of_shares
from merula.graphs.formats import names_network
from merula.graphs.network.plain_answers import outline_of
from merula.web.said.answers import Label
from merula.web.service.typed_rows import TypedRows

LIGHT = 0.002  # seconds of the processor: work that is done at once, without another thread
ATTEMPTS = 3
Signature = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Served:
    """One model as it is asked: a classifier with what its file knew besides, or a network."""

    name: str
    hash: str
    model: Any
    saved: SavedModel | None
    loaded: str
    is_light: bool = False
    pages: dict[str, str] = field(default_factory=dict)  # the page, made when it is first asked for

    @property
    def kind(self) -> str:
        """What it is."""
        return "network" if self.saved is None else "classifier"

    @cached_property
    def reader(self) -> PlainRows | None:
        """How rows of plain cells are encoded; None for a matrix of counted words."""
        return None if is_counted(self.model.schema_) else PlainRows(self.model.schema_)

    @cached_property
    def typed(self) -> TypedRows | None:
        """How many rows of JSON are decoded where they are as expected."""
        return None if self.reader is None else TypedRows(self.model.schema_)

    @cached_property
    def classes(self) -> list[Label]:
        """The classes, as plain labels."""
        return [] if self.saved is None else self.saved.classes

    @cached_property
    def labels(self) -> dict[str, Label]:
        """Each class by its text."""
        return {str(label): label for label in self.classes}

    @cached_property
    def about(self) -> dict[str, Any]:
        """What the model holds, as plain data."""
        if self.saved is None:
            return to_plain({**outline_of(self.model), "model": type(self.model).__name__})  # type: ignore[no-any-return]
        told = describe(self.saved)
        del told["file"]
        costs = self.saved.costs
        for column, known in zip(told["columns"], self.model.schema_.columns, strict=True):
            column |= {"values": None if known.levels is None else list(known.levels), "unit": known.unit}
        return to_plain({**told, "costs": costs and costs.table})  # type: ignore[no-any-return]


def load_served(name: str, path: Path) -> tuple[Served, Signature]:
    """The model in a file, with the hash of the very bytes that it was read from; one error that tells no path."""
    for _ in range(ATTEMPTS):
        try:
            before, digest = signature(path), file_hash(path)
            found = _open(name, path, digest)
            if signature(path) == before and file_hash(path) == digest:
                return found, before
        except FileNotFoundError:
            raise InputError("the file is gone") from None
        except OSError as error:
            raise InputError(f"the file cannot be read: {(error.strerror or 'it is refused').lower()}") from None
        except ValueError as error:
            raise InputError(_without_path(str(error), path)) from None
    raise InputError("the file changes while it is read", remedy="write it under another name, and rename it")


def _open(name: str, path: Path, digest: str) -> Served:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    if names_network(path):
        from merula.graphs.formats import read_network

        return Served(name, digest, read_network(path), None, now)
    saved = open_model(str(path))
    return _warmed(Served(name, digest, saved.model, saved, now))


def _warmed(served: Served) -> Served:
    """The model after it has answered once, so that no request waits for loops to be compiled; whether it is light."""
    if served.reader is None:
        return served
    with kept_back():
        times = []
        for _ in range(3):
            begun = thread_time()
            rows = served.reader.one({})
            to_posterior(served.model.fitted_.log_joint(rows), served.model.class_log_prior_)
            times.append(thread_time() - begun)
        served.model.fitted_.score(served.reader.many({}, 2), to_posterior, None)
        for shape in (b'[{"x": 1}]', b'{"x": [1]}') if are_kept() else ():
            json_columns(shape)
        if are_kept():
            rows_of_shares(np.ones((1, 1)))
    return replace(served, is_light=min(times) < LIGHT)


def signature(path: Path) -> Signature:
    """What changes when a file is written anew."""
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino


def _without_path(text: str, path: Path) -> str:
    """A sentence in which the file is called the file."""
    for known in sorted({str(path), str(path.absolute()), os.path.realpath(path), str(path.parent.absolute())}, key=len, reverse=True):  # fmt: skip
        text = text.replace(known, "the file") if len(known) > 1 else text
    return text


def named_files(given: Iterable[str]) -> dict[str, Path]:
    """The files to serve by name: ``NAME=FILE``, or a file, which is called as it is without its suffix."""
    found: dict[str, Path] = {}
    for word in given:
        name, equals, file = word.partition("=")
        if not equals or Path(word).exists():
            name, file = _stem(word), word
        if not name or name in (".", "..") or any(sign in name for sign in "/\\?#%") or not name.isprintable():
            raise InputError.of("the name of a model", name, "a word without / \\ ? # %", "name it: NAME=FILE")
        if name in found:
            raise InputError(f"two models are called {name!r}", remedy="give one another name: NAME=FILE")
        found[name] = Path(file)
    if not found:
        raise InputError("there is no model to serve", remedy="name a file that merula fit wrote")
    return found


def _stem(file: str) -> str:
    name = Path(file).name.removesuffix(".gz")
    return name.rpartition(".")[0] or name
