"""One request and its answer: headers, a body that is not too large and not too slow, and what is sent, counted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from time import perf_counter
from typing import Any

from merula.web.service.refusals import DroppedError, RefusedError
from merula.web.service.settings import Settings
from merula.web.service.work import Deadline, Work

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
JSON = b"application/json"
NOTHING = 204  # the status of an answer without a body, of which nothing may be said (RFC 9110, section 8.6)
DROPPED = 499  # the status, for who counts, of a request whose sender has gone
COMMON = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
)


class Exchange:
    """What is known of one request while it is answered."""

    __slots__ = (
        "_headers", "_listener", "begun", "cors", "deadline", "error", "hash", "held", "method", "model", "notes", "path", "read", "receive",
        "route", "rows", "scope", "send", "sent", "settings", "status", "values", "work",
    )  # fmt: skip

    def __init__(self, scope: Any, receive: Receive, send: Send, settings: Settings, work: Work) -> None:
        self.scope, self.receive, self.send, self.settings, self.work = scope, receive, send, settings, work
        self.method, self.path, self.begun = scope["method"], scope["path"], perf_counter()
        self.deadline = Deadline(settings.timeout)
        self.status = self.read = self.sent = self.rows = self.notes = self.held = 0
        self.route, self.model, self.hash, self.error, self.values = "other", "", "", "", b""
        self.cors: tuple[tuple[bytes, bytes], ...] = ()
        self._headers: dict[bytes, bytes] | None = None
        self._listener: asyncio.Task[Any] | None = None

    def header(self, name: bytes) -> bytes:
        """One header, empty where it is not there."""
        if self._headers is None:
            self._headers = dict(self.scope["headers"])
        return self._headers.get(name, b"")

    @property
    def packed(self) -> bytes:
        """How the body is packed; empty where it is not."""
        return self.header(b"content-encoding").strip().lower()

    async def body(self) -> bytes:
        """The whole body; a refusal where it is larger or slower than it may be."""
        most = self.settings.max_body
        declared = self.header(b"content-length")
        if declared.isdigit() and int(declared) > most:
            raise _too_large(most)
        try:
            async with asyncio.timeout(self.settings.timeout):
                return await self._whole(most)
        except TimeoutError:
            raise RefusedError(408, f"the body did not come within {self.settings.timeout:g} seconds") from None

    async def _whole(self, most: int) -> bytes:
        parts = []
        while True:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise DroppedError
            parts.append(self._part(message, most))
            if not message.get("more_body"):
                return parts[0] if len(parts) == 1 else b"".join(parts)

    def _part(self, message: Message, most: int) -> bytes:
        part: bytes = message.get("body", b"")
        self.read += len(part)
        if self.read > most:
            raise _too_large(most)
        self.work.hold(len(part))
        self.held += len(part)
        return part

    def let_go(self) -> None:
        """Give back what the request held."""
        self.work.held -= self.held
        self.held = 0
        if self._listener is not None:
            self._listener.cancel()

    # ------------------------------------------------------------------------------------------------ answering

    async def answer(self, status: int, media: bytes, body: bytes, *headers: tuple[bytes, bytes]) -> None:
        """Answer with the whole body at once."""
        self.status = status
        content = ((b"content-type", media), (b"content-length", str(len(body)).encode()))
        told = [*(() if status == NOTHING else content), *COMMON, *self.cors, *headers]
        await self.send({"type": "http.response.start", "status": status, "headers": told})
        self.sent += len(body)
        await self.send({"type": "http.response.body", "body": body})

    async def begin(self, media: bytes, *headers: tuple[bytes, bytes]) -> None:
        """Begin an answer that comes in pieces, and listen whether it is still wanted."""
        self.status = 200
        told = [(b"content-type", media), *COMMON, *self.cors, *headers]
        await self.send({"type": "http.response.start", "status": 200, "headers": told})
        self._listener = asyncio.create_task(self.receive())  # type: ignore[arg-type]

    async def piece(self, body: bytes, more: bool = True) -> None:
        """Send a piece; an error where it is not taken in time, or nobody is there."""
        if self._listener is not None and self._listener.done() and more:
            raise DroppedError
        try:
            async with asyncio.timeout(self.settings.timeout):
                await self.send({"type": "http.response.body", "body": body, "more_body": more})
        except TimeoutError:
            raise DroppedError from None
        self.sent += len(body)

    async def refuse(self, refusal: RefusedError) -> None:
        """Say why there is no answer; one that was begun is broken off, so that nobody takes it for whole."""
        self.error = refusal.told.error
        if self.status:
            raise ConnectionAbortedError
        await self.answer(refusal.status, JSON, refusal.body, *refusal.headers)


def _too_large(most: int) -> RefusedError:
    return RefusedError(413, f"the body is larger than {most:,} bytes, the most that is taken", remedy="send fewer rows at a time")  # fmt: skip
