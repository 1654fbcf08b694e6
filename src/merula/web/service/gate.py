"""The way that every request takes: it is admitted, answered or refused, counted and logged, whatever becomes of it."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

from merula.web.service.admission import HEALTH, Admission
from merula.web.service.asking import query_answer
from merula.web.service.exchange import DROPPED, JSON, Exchange, Message, Receive, Send
from merula.web.service.inference_protocol import inferred
from merula.web.service.log import Log
from merula.web.service.metrics import Metrics
from merula.web.service.models import Served
from merula.web.service.reading import unpacked
from merula.web.service.recording import Recording
from merula.web.service.refusals import DroppedError, RefusedError, busy, of_error
from merula.web.service.rows_asked import RowsAsked
from merula.web.service.settings import Settings
from merula.web.service.shelf import Shelf
from merula.web.service.work import Work
from merula.web.service.writing import OFFERED

VERBS = frozenset(OFFERED)
INFER = "infer"
Pages = Callable[[Any, Receive, Send], Awaitable[None]]
BAD_INPUT = (ValueError, MemoryError)


class Gate:
    """The service as an ASGI application: what is asked often is answered here, `pages` answer the rest."""

    def __init__(
        self,
        settings: Settings,
        shelf: Shelf,
        work: Work,
        metrics: Metrics,
        log: Log,
        recording: Recording,
        pages: Pages,
    ) -> None:
        self._settings, self._shelf, self._work, self._metrics, self._log = settings, shelf, work, metrics, log
        self._pages, self._admission, self._rows = pages, Admission(settings), RowsAsked(metrics, recording)
        self._recording = recording
        self.is_stopping = False
        self.open = 0

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        exchange = Exchange(scope, receive, send, self._settings, self._work)
        self.open += 1
        try:
            await self._answer(exchange)
        except DroppedError:
            exchange.status = DROPPED
            raise ConnectionAbortedError from None
        except asyncio.CancelledError:
            exchange.status = exchange.status or DROPPED
            raise
        finally:
            self.open -= 1
            exchange.let_go()
            self._metrics.count(exchange)
            self._log.request(exchange)

    async def _answer(self, exchange: Exchange) -> None:
        try:
            self._admission.check(exchange)
            if self.is_stopping and exchange.path not in HEALTH:
                raise busy("the service is stopping; ask again", 5)
            await self._route(exchange)
        except RefusedError as refusal:
            await exchange.refuse(refusal)
        except BAD_INPUT as error:
            await exchange.refuse(of_error(error))
        except (DroppedError, ConnectionError):
            raise
        except Exception as error:
            self._log.tell("error", route=exchange.route, kind=type(error).__name__, at=_places(error))
            await exchange.refuse(RefusedError(500, "something went wrong within the service; its log tells where"))

    async def _route(self, exchange: Exchange) -> None:
        if exchange.method == "OPTIONS":
            exchange.route = "options"
            return await exchange.answer(204, JSON, b"", (b"allow", b"GET, HEAD, POST, OPTIONS"))
        parts = exchange.path.split("/")
        if len(parts) == 5 and parts[1] == "v1" and parts[2] == "models" and parts[4] in VERBS | {"query"}:
            exchange.route = f"/v1/models/{{name}}/{parts[4]}"
            _refuse_other_methods(exchange)
            return await self._ask(exchange, self._found(exchange, parts[3]), parts[4])
        if parts[1:3] == ["v2", "models"] and parts[-1] == INFER and len(parts) in (5, 7):
            exchange.route = "/v2/models/{name}/infer"
            _refuse_other_methods(exchange)
            return await self._infer(exchange, self._found(exchange, parts[3]), parts[5] if len(parts) == 7 else "")
        return await self._pages({**exchange.scope, "exchange": exchange}, exchange.receive, _watched(exchange))

    def _found(self, exchange: Exchange, name: str) -> Served:
        served = self._shelf.get(name)
        exchange.model, exchange.hash = served.name, served.hash
        return served

    async def _ask(self, exchange: Exchange, served: Served, verb: str) -> None:
        if verb != "query":
            return await self._rows(exchange, served, verb)
        if served.saved is not None:
            raise RefusedError(422, "a classifier is asked about rows, not queried", remedy="ask it: POST …/predict")
        body = await exchange.body()
        exchange.values = body if exchange.settings.log_values else b""
        plain = await self._unpacked(exchange, body)
        answer = await exchange.work.run(exchange.deadline, query_answer, served, plain)
        exchange.rows = 1
        self._metrics.count_rows(served.name, verb, 1)
        await self._recording.keep(exchange, served, verb, plain, answer)
        return await exchange.answer(200, JSON, answer)

    async def _infer(self, exchange: Exchange, served: Served, version: str) -> None:
        if served.saved is None:
            raise RefusedError(422, "a network has no columns to infer from", remedy="ask it: POST /v1/models/…/query")
        if version and version != served.hash:
            raise RefusedError(404, "this version of the model is not served", expected=served.hash)
        body = await exchange.body()
        exchange.values = body if exchange.settings.log_values else b""
        plain = await self._unpacked(exchange, body)
        answer, rows = await exchange.work.run(exchange.deadline, inferred, served, plain, exchange.settings.max_rows)
        exchange.rows = len(rows)
        self._metrics.count_rows(served.name, INFER, len(rows))
        self._metrics.count_cells(served.name, rows.cells.missing, rows.cells.unseen)
        await self._recording.keep(exchange, served, INFER, plain, answer)
        return await exchange.answer(200, JSON, answer)

    @staticmethod
    async def _unpacked(exchange: Exchange, body: bytes) -> bytes:
        """The body as it was before it was packed, if it was."""
        return await exchange.work.run(exchange.deadline, unpacked, body, exchange.packed) if exchange.packed else body


def _refuse_other_methods(exchange: Exchange) -> None:
    """A refusal of all but POST, which a browser that is given the address does not know."""
    if exchange.method != "POST":
        raise RefusedError(405, "this address is asked by POST", ((b"allow", b"POST, OPTIONS"),), remedy="GET /docs tells how to ask")  # fmt: skip


def _watched(exchange: Exchange) -> Send:
    """How pages send: what they send is counted, and has the headers that every answer has."""
    from merula.web.service.exchange import COMMON

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            exchange.status = message["status"]
            message["headers"] = [*message.get("headers", ()), *COMMON, *exchange.cors]
        else:
            exchange.sent += len(message.get("body", b""))
        await exchange.send(message)

    return send


def _places(error: Exception) -> list[str]:
    """Where an error came from, by module and line: never what it says, which may hold cells."""
    return [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-6:]]
