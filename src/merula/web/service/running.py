"""A service from its start to its end: models loaded, files watched, what was begun finished when it is to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import uvicorn

from merula.core import InputError, bounded
from merula.core.limits import VARIABLE
from merula.web.service.gate import Gate
from merula.web.service.log import Log, to_standard_error
from merula.web.service.memory import keep_freed_memory
from merula.web.service.metrics import Metrics
from merula.web.service.pages import Pages
from merula.web.service.protocol import protocol_of
from merula.web.service.recording import Recording
from merula.web.service.settings import Settings
from merula.web.service.shelf import Shelf
from merula.web.service.work import Work

KEPT_ALIVE = 30  # seconds for which a connection waits for the next request


class Service:
    """Models that are served, and all that belongs to it; `gate` is the ASGI application."""

    def __init__(
        self, files: Mapping[str, Path], settings: Settings, write: Callable[[str], Any] | None = None
    ) -> None:
        self.settings, self.metrics = settings, Metrics()
        self.log = Log(write, settings.log_values)
        self.shelf = Shelf(files, self.log.tell)
        self.shelf.load_all()
        self.work = Work(settings.places, settings.waiting, settings.max_body)
        pages = Pages(self.shelf, self.work, self.metrics, self._state).application()
        recording = Recording(settings.record)
        self.gate = Gate(settings, self.shelf, self.work, self.metrics, self.log, recording, pages)

    def _state(self) -> str:
        return "stopping" if self.gate.is_stopping else "ok"

    @contextlib.asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """While it is open, files are looked at; afterwards all that was counted or said is written."""
        watching = asyncio.create_task(self.shelf.watch(self.settings.poll))
        try:
            yield
        finally:
            watching.cancel()
            self.work.close()
            self.log.flush()


def configured(service: Service) -> uvicorn.Config:
    """How uvicorn runs a service; what uvicorn itself would write of requests, cells among it, is not written."""
    quiet = logging.getLogger("uvicorn.error")
    quiet.propagate, quiet.disabled = False, True
    return uvicorn.Config(
        service.gate, http=protocol_of(service.settings, service.metrics), lifespan="off", log_config=None, access_log=False,
        proxy_headers=False, server_header=False, timeout_keep_alive=KEPT_ALIVE, timeout_graceful_shutdown=max(1, round(service.settings.grace)), ws="none",
    )  # fmt: skip


class StoppingServer(uvicorn.Server):
    """uvicorn, which tells the service when it is to stop, so that what comes later is refused in words."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Stop taking requests; told twice to stop, do not wait for what was begun."""
        self.force_exit = self.should_exit
        self.should_exit = self._service.gate.is_stopping = True


def serve(
    files: Mapping[str, Path],
    settings: Settings | None = None,
    *,
    write: Callable[[str], Any] | None = to_standard_error,
    began: Callable[[str], Any] | None = None,
) -> None:
    """Serve models until the process is told to stop.

    Parameters
    ----------
    files : {name: path}
        Files that ``merula fit`` or `save` wrote, and files of networks.
    settings : Settings, optional
    write : function of a text, optional
        Where the lines of the log go; None for no log.
    began : function of an address, optional
        What is told once requests are taken.
    """
    settings = settings or Settings()
    keep_freed_memory()
    with _memory_shared(settings.places):
        service = Service(files, settings, write if settings.log else None)
        with _listening(settings) as listener:
            address = f"http://{_shown(settings.host)}:{listener.getsockname()[1]}"
            _run(configured(service), service, listener, address, began)


@contextlib.contextmanager
def _memory_shared(places: int) -> Iterator[None]:
    """While it is open, all places together stay within what one file may take, unless that was stated."""
    if os.environ.get(VARIABLE, "").strip():
        yield
        return
    os.environ[VARIABLE] = str(bounded.most_bytes() // (places + 1))
    try:
        yield
    finally:
        del os.environ[VARIABLE]


def _run(config: uvicorn.Config, service: Service, listener: socket.socket, address: str, began: Callable[[str], Any] | None) -> None:  # fmt: skip
    server = StoppingServer(config, service)

    async def run() -> None:
        async with service.watched():
            service.log.tell("began", address=address, models={name: one.hash for name, one in service.shelf.models.items()})  # fmt: skip
            if began is not None:
                began(address)
            await server.serve(sockets=[listener])
            service.log.tell("stopped")

    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(run())


def _listening(settings: Settings) -> socket.socket:
    """The socket that requests come to."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except (OSError, OverflowError) as error:
        listener.close()
        what = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{settings.host}:{settings.port} cannot be listened at: {what.lower()}", where="port", remedy="choose another port") from None  # fmt: skip
    listener.listen(2_048)
    return listener


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
