"""Tries in child processes that may die, hang or take too much memory without harm to the one that counts them."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import resource
import traceback
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic
from typing import Any

# What the libraries take is taken before a child is forked and its memory limited.
import pyarrow.parquet  # noqa: F401
from tests.attack.readers import SOUND, attempt

import merula.classify
import merula.cli.jobs.models
import merula.graphs.formats
import merula.web.service  # noqa: F401

ARENAS = -8  # M_ARENA_MAX of glibc
MEMORY = 1_500_000_000  # bytes of address space that a try may take beside what the libraries took
MOST_RESIDENT = 750_000_000  # bytes in memory, likewise: the process that is forked may itself hold much
SECONDS = 30.0
Try = tuple[str, Path]  # a reader and the file it is given
_fork = multiprocessing.get_context("fork")


def outcomes(tries: Iterable[Try], workers: int = 2) -> Iterator[tuple[Try, str, int]]:
    """Each try with how it ended and the bytes that were in memory at most; words of `readers`, or what failed."""
    waiting = iter(tries)
    pool = [_Child() for _ in range(workers)]
    try:
        busy = [child for child in pool if child.give(next(waiting, None))]
        while busy:
            wait([child.ear for child in busy], timeout=1.0)
            for child in list(busy):
                ended = child.ended()
                if ended is not None:
                    if ended[0] not in SOUND:
                        child.stop()  # what a failure left behind is not the next try's
                    yield child.task, *ended
                    if not child.give(next(waiting, None)):
                        busy.remove(child)
    finally:
        for child in pool:
            child.stop()


class _Child:
    """A forked process that makes one try after another; it is replaced when it dies."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self.ear, theirs = _fork.Pipe()
        self.process = _fork.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()

    def give(self, task: Try | None) -> bool:
        if task is None:
            return False
        if not self.process.is_alive():
            self._start()
        self.task, self.since = task, monotonic()
        self.ear.send(task)
        return True

    def ended(self) -> tuple[str, int] | None:
        try:
            if self.ear.poll():
                return self.ear.recv()
        except (EOFError, OSError):
            self.process.join()
            return f"the process died ({self.process.exitcode})", 0
        if monotonic() - self.since > SECONDS:
            self.stop()
            return f"no answer after {SECONDS:g} s", 0
        return None

    def stop(self) -> None:
        self.process.kill()
        self.process.join()


def _serve(pipe: Connection) -> None:
    os.nice(5)
    ctypes.CDLL(None).mallopt(ARENAS, 1)  # else each thread sets address space aside that is never used
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    held = _peak()
    while True:
        reader, path = pipe.recv()
        _forget_peak()
        try:
            ended = attempt(reader, path)
        except BaseException as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            ended = f"{type(error).__name__}: {str(error)[:200]!r} at {Path(where.filename).name}:{where.lineno}"
        peak = _peak()
        if peak - held > MOST_RESIDENT:
            ended = f"{(peak - held) / 1e6:.0f} MB in memory ({ended})"
        pipe.send((ended, peak))


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    status: Any = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return int(status["VmHWM"].split()[0]) * 1024
