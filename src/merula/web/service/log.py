"""The access log: a line of JSON for each request, without what stood in cells unless that is asked for."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

import msgspec

from merula.web.service.exchange import Exchange

KEPT = 0.25  # seconds for which lines are kept before they are written together
LONGEST_PATH, LONGEST_VALUES = 200, 4_096
encode = msgspec.json.Encoder().encode


class Log:
    """Lines to be written; nothing is written where nobody wants it."""

    def __init__(self, write: Callable[[str], Any] | None, values: bool = False) -> None:
        self._write, self._values = write, values
        self._lines: list[bytes] = []
        self._waiting: asyncio.TimerHandle | None = None

    def tell(self, event: str, **fields: Any) -> None:
        """Write what happened to the service itself."""
        self._keep({"time": _now(), "event": event, **fields})

    def request(self, exchange: Exchange) -> None:
        """Write one request that has ended."""
        if self._write is None:
            return
        told: dict[str, Any] = {
            "time": _now(),
            "event": "request",
            "method": exchange.method[:20],
            "path": exchange.path[:LONGEST_PATH],
            "route": exchange.route,
            "status": exchange.status,
            "seconds": round(perf_counter() - exchange.begun, 6),
            "read": exchange.read,
            "sent": exchange.sent,
            "client": (exchange.scope.get("client") or ("",))[0],
        }
        if exchange.model:
            told |= {"model": exchange.model, "hash": exchange.hash, "rows": exchange.rows, "notes": exchange.notes}
        if self._values:
            told |= {"values": exchange.values[:LONGEST_VALUES].decode(errors="replace")} if exchange.values else {}
            told |= {"error": exchange.error} if exchange.error else {}
        self._keep(told)

    def _keep(self, told: dict[str, Any]) -> None:
        if self._write is None:
            return
        self._lines.append(encode(told))
        if self._waiting is None:
            try:
                self._waiting = asyncio.get_running_loop().call_later(KEPT, self.flush)
            except RuntimeError:  # before the service runs
                self.flush()

    def flush(self) -> None:
        """Write all lines that were kept."""
        self._waiting = None
        lines, self._lines = self._lines, []
        if lines and self._write is not None:
            self._write(b"\n".join([*lines, b""]).decode())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def to_standard_error(text: str) -> None:
    """Write lines to standard error at once."""
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()
