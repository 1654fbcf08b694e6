"""This machine: threads over fixed blocks of rows, added in the order of the blocks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

import numpy as np

from merula.encode import BLOCK, Encoded, Target
from merula.stats.base import Statistic

SCORED = (
    16_384  # rows scored at once: few enough that no thread waits long for the last, and that answers stay in the cache
)


def collect(rows: Encoded, target: Target, wanted: Sequence[Statistic], n_jobs: int | None = None) -> list[Statistic]:
    """The wanted statistics of all rows: the same bits for any number of threads."""

    def block(start: int) -> list[Statistic]:
        found = list(wanted)
        for first, last in _tiles(rows, start):
            tile, labels = rows.tile(first, last), target.tile(first, last)
            found = [statistic.update(tile, labels) for statistic in found]
        return found

    blocks = for_each_block(block, len(rows), n_jobs)
    return [added(list(parts)) for parts in zip(*blocks, strict=True)]


def added(parts: list[Statistic]) -> Statistic:
    """All parts together, neighbours first: a statistic that grows with its rows is then merged few times, not over and over."""
    while len(parts) > 1:
        pairs = [first + second for first, second in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + parts[2 * len(pairs) :]
    return parts[0]


def score(
    rows: Encoded, function: Callable[[Encoded, int, int], Any], n_jobs: int | None = None, most: int = SCORED
) -> list[Any]:
    """What `function(tile, start, stop)` gives for every tile of rows, `most` at once, in order."""
    size = min(rows.tile_rows, most, SCORED)

    def tile(start: int) -> Any:
        stop = min(start + size, len(rows))
        return function(rows.tile(start, stop), start, stop)

    return for_each_block(tile, len(rows), n_jobs, size)


def for_each_block(function: Callable[[int], Any], rows: int, n_jobs: int | None, size: int = BLOCK) -> list[Any]:
    """`function(start)` for each block of rows, in order, on as many threads as allowed."""
    starts = range(0, rows, size)
    threads = min(len(starts), thread_count(n_jobs))
    with single_blas_thread:
        if threads <= 1:
            return [function(start) for start in starts]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(function, starts))


def thread_count(n_jobs: int | None) -> int:
    """How many threads to use: all cores, or `n_jobs` (−1 all, −2 all but one); one inside a joblib worker."""
    from joblib.parallel import get_active_backend

    if n_jobs is not None and (not isinstance(n_jobs, int | np.integer) or isinstance(n_jobs, bool) or n_jobs == 0):
        raise ValueError(f"n_jobs is {n_jobs!r}, expected None, a number of threads from 1, or −1 for all cores")
    if (get_active_backend()[0].nesting_level or 0) > 0:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


class _SingleBlasThread:
    """While anyone has entered it, matrix products run on the calling thread alone: the threads are ours."""

    def __init__(self) -> None:
        self._lock, self._entered = Lock(), 0
        self._controller: Any = None
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._controller is None:
                from threadpoolctl import ThreadpoolController

                self._controller = ThreadpoolController()
            if self._entered == 0:
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._entered += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._entered -= 1
            if self._entered == 0:
                self._limit.restore_original_limits()


single_blas_thread = _SingleBlasThread()


def _tiles(rows: Encoded, start: int) -> Iterator[tuple[int, int]]:
    """First and last row of each tile within the block that begins at `start`."""
    stop = min(start + BLOCK, len(rows))
    return ((first, min(first + rows.tile_rows, stop)) for first in range(start, stop, rows.tile_rows))
