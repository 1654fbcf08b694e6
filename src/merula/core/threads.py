"""Threads over fixed blocks of rows: the same blocks, in the same order, for any number of threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

import numpy as np

from merula.core.errors import InputError

BLOCK = 65_536  # rows whose statistics are added as one, whatever the number of threads


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
        raise InputError.of("n_jobs", n_jobs, "None, a number of threads from 1, or −1 for all cores")
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
