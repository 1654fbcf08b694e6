"""Why a request is refused: a status, one sentence, and what belongs to it; never a path of this machine."""

from __future__ import annotations

from typing import Any

import msgspec

from merula.core import InputError
from merula.core.errors import InPython, Option
from merula.core.limits import TooLargeError
from merula.web.said.service import Error

LONGEST = 1_000


class RefusedError(Exception):
    """A request that is not answered, and the answer that says why."""

    def __init__(self, status: int, error: str, headers: tuple[tuple[bytes, bytes], ...] = (), **parts: Any) -> None:
        super().__init__(error)
        self.status, self.headers = status, headers
        self.told = Error(error=_shortened(error), status=status, **parts)

    @property
    def body(self) -> bytes:
        """The answer, as JSON."""
        return msgspec.json.encode(self.told)


class DroppedError(Exception):
    """Who asked has gone."""


def busy(sentence: str, seconds: int = 1) -> RefusedError:
    """The refusal of one request too many."""
    return RefusedError(503, sentence, ((b"retry-after", str(seconds).encode()),))


def not_found(what: str) -> RefusedError:
    """The refusal of what is not there."""
    return RefusedError(404, what, remedy="GET /v1/models lists what is served")


def of_error(error: Exception) -> RefusedError:
    """The refusal that an error of the library means: bad rows, or more than memory may hold."""
    if isinstance(error, InputError):
        told = {name: part and _shortened(_phrased(part)) for name, part in error.told.items()}
        status = 413 if isinstance(error, TooLargeError) else 422
        where = error.where and _shortened(error.where)
        return RefusedError(
            status, error.phrased(_written), where=where, expected=told["expected"], remedy=told["remedy"]
        )
    if isinstance(error, MemoryError):
        return RefusedError(413, "the rows take more memory than there is", remedy="send fewer rows at a time")
    return RefusedError(422, str(error))


def _phrased(message: Any) -> str:
    parts = (message,) if isinstance(message, str) else message
    return "".join(part if isinstance(part, str) else _written(part) for part in parts)


def _written(part: Option | InPython) -> str:
    """An option in plain words: what was chosen at fit cannot be changed by who asks."""
    if isinstance(part, InPython):
        return ""
    of = "" if part.column is None else f" of {part.column!r}"
    return f"{part.name.replace('_', ' ')}{of} {' or '.join(map(str, part.values))}".rstrip()


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
