"""HTTP as it comes from the network: heads that are too large or too slow, and more connections than there may be, are refused."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from merula.web.service.exchange import JSON
from merula.web.service.metrics import Metrics
from merula.web.service.refusals import RefusedError, busy
from merula.web.service.settings import Settings
from merula.web.service.work import HELD

WORDS = {400: b"Bad Request", 408: b"Request Timeout", 431: b"Request Header Fields Too Large", 503: b"Service Unavailable"}  # fmt: skip
LINGER = 2.0  # seconds for which the rest of a body is taken that was answered before it came
HEAD_SECONDS = 10.0


class Pieces:
    """A body as it comes, joined once."""

    __slots__ = ("_parts", "_size")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def append(self, part: bytes) -> None:
        """Take one more piece."""
        self._parts.append(part)
        self._size += len(part)

    def __len__(self) -> int:
        return self._size

    def __bytes__(self) -> bytes:
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)


class LimitedProtocol(HttpToolsProtocol):
    """One connection; whoever says nothing, or too much, is sent away."""

    settings: ClassVar[Settings]
    metrics: ClassVar[Metrics]
    ahead: ClassVar[int]  # bytes of each body, before who reads it is told

    _timer: asyncio.TimerHandle | None = None
    _head = 0
    _in_head = True
    _in_body = False

    def connection_made(self, transport: Any) -> None:
        """Take a connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.settings.connections:
            self._refuse(busy("there are too many connections; come again"))
        else:
            self._watch(HEAD_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._unwatch()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what came; a head is read up to its limit."""
        if self.transport.is_closing():
            return
        self._head += len(data)
        super().data_received(data)
        if self._in_head and self._head > self.settings.max_header and not self.transport.is_closing():
            self._refuse(_head_too_large())

    def on_message_begin(self) -> None:
        """A head begins."""
        self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """A head has come, whole."""
        self._unwatch()
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        self._in_head, self._in_body = False, True
        if size > self.settings.max_header:
            self._refuse(_head_too_large())
            return
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of a body came; who reads it is told when there is much of it, or all."""
        if self.cycle is None or self.cycle.response_complete:
            return
        cycle: Any = self.cycle  # its body is made bytes when it is read, whatever holds it
        if not isinstance(cycle.body, Pieces):
            cycle.body = Pieces()
        cycle.body.append(body)
        if len(cycle.body) > self.ahead:
            self.flow.pause_reading()
            self.cycle.message_event.set()

    def on_message_complete(self) -> None:
        """A request has come, whole; the next begins with a head."""
        self._in_body, self._in_head, self._head = False, True, 0
        if self.cycle is not None:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """An answer is sent: what is still to come of the body is waited for a short while."""
        super().on_response_complete()
        if self._in_body:
            self._watch(LINGER, quietly=True)

    def send_400_response(self, msg: str) -> None:
        """Say that this is no HTTP."""
        self._refuse(RefusedError(400, "this is not HTTP as it is understood"))

    def _watch(self, seconds: float, quietly: bool = False) -> None:
        self._unwatch()
        self._timer = self.loop.call_later(seconds, self._late, quietly)

    def _unwatch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self, quietly: bool) -> None:
        if quietly or not self._head:
            self.transport.close()  # who never asked anything is owed no answer
        else:
            self._refuse(RefusedError(408, f"the head did not come within {HEAD_SECONDS:g} seconds"))

    def _refuse(self, refusal: RefusedError) -> None:
        """Answer without asking the application, count it, and close."""
        if self.transport.is_closing():
            return
        self.metrics.requests["protocol", refusal.status] += 1
        body, status = refusal.body, refusal.status
        extra = b"".join(name + b": " + value + b"\r\n" for name, value in refusal.headers)
        self.transport.write(
            b"HTTP/1.1 %d %s\r\ncontent-type: %s\r\ncontent-length: %d\r\nconnection: close\r\n%s\r\n"
            % (status, WORDS[status], JSON, len(body), extra)
            + body
        )
        self.transport.close()


def protocol_of(settings: Settings, metrics: Metrics) -> type[HttpToolsProtocol]:
    """The protocol of a service with these limits."""
    ahead = HELD * settings.max_body // settings.connections
    return type("Protocol", (LimitedProtocol,), {"settings": settings, "metrics": metrics, "ahead": ahead})


def _head_too_large() -> RefusedError:
    return RefusedError(431, "the head of the request is too large", remedy="send fewer and shorter headers")
