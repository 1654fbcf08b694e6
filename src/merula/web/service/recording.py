"""What was asked of a service and what it answered, to the byte, written down before it is sent; and worked out again."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from merula.core.journal import Journal
from merula.core.notes import silenced
from merula.core.recording import entry_of
from merula.web.service.asking import query_answer
from merula.web.service.exchange import Exchange
from merula.web.service.inference_protocol import inferred
from merula.web.service.models import Served

UNLIMITED = 2**62  # rows: what was once answered is answered again
Body = str | dict[str, str]


class Recording:
    """Where answers are recorded; nowhere, unless a file is named."""

    def __init__(self, path: str | None) -> None:
        self._journal = None if path is None else Journal(path, synced=False)

    @property
    def is_wanted(self) -> bool:
        """Whether answers are recorded."""
        return self._journal is not None

    async def keep(self, exchange: Exchange, served: Served, verb: str, body: bytes, answer: bytes, **stated: str) -> None:  # fmt: skip
        """Record one request and its answer, if that is wanted; `stated` is what was stated of the body and of the answer."""
        if self._journal is None:
            return
        asked = {"by": "serve", "verb": verb, **stated, "body": _text(body)}
        entry = entry_of({"name": served.name, "hash": served.hash}, asked, _text(answer))
        await exchange.work.run(exchange.deadline, self._journal.append, entry, begun=True)


def answered_again(served: Served, asked: Mapping[str, Any]) -> Body:
    """What a model answers to a request that was recorded, as it is recorded."""
    from merula.web.service.rows_asked import begin, stated_in

    verb, body = asked["verb"], _bytes(asked["body"])
    with silenced():
        if verb == "query":
            return _text(query_answer(served, body))
        if verb == "infer":
            return _text(inferred(served, body, UNLIMITED)[0])
        stated = stated_in(asked["query"].encode("latin-1"))
        packed = asked["content_encoding"].encode("latin-1")
        begun = begin(served, body, asked["content_type"], packed, UNLIMITED, verb, asked["accept"], stated)
        return _text(begun.first + b"".join(begun.more or ()))


def _text(data: bytes) -> Body:
    """Bytes as text, where they are such."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode()}


def _bytes(told: Body) -> bytes:
    return told.encode() if isinstance(told, str) else b64decode(told["base64"])
