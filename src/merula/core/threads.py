"""Threads: over fixed blocks of rows, the same blocks in the same order for any number of threads; and over tasks side by side.

However threads are nested, no more than `n_jobs` of them work at a time: one that waits for others lends its place to them.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from threading import Event, Lock, Semaphore
from typing import Any, TypeVar

import numpy as np

from merula.core.errors import InputError

Result = TypeVar("Result")
Item = TypeVar("Item")
BLOCK = 65_536  # rows whose statistics are added as one, whatever the number of threads
AWAKE = 0.1  # seconds after which a waiting thread looks whether the user has interrupted


class _Crew:
    """Threads that work on one call, perhaps for a thread of another crew: places for those that work at a time, shared by all of them."""

    def __init__(self, above: _Crew | None, places: int) -> None:
        self.above, self.stopped = above, Event()
        self.places: Semaphore = above.places if above else Semaphore(places)

    @property
    def is_stopped(self) -> bool:
        """Whether this crew is to stop, or one that it works for."""
        return self.stopped.is_set() or (self.above is not None and self.above.is_stopped)

    def begin(self, function: Callable[[int], Result], k: int) -> Result:
        """What the function gives, unless the crew is to stop."""
        if self.is_stopped:
            raise RuntimeError("another thread has failed")  # it is that one's error that is raised
        return function(k)

    def work(self, function: Callable[[int], Result], k: int) -> Result:
        """The same, once there is a place."""
        with self.places:
            return self.begin(function, k)

    def all_by_threads(self, function: Callable[[int], Result], count: int, threads: int) -> list[Result]:
        """`function(k)` for each k, while the calling thread waits: the user's interrupt would not reach it within a compiled loop."""
        with self._helpers(threads) as pool:
            begun = [pool.submit(self.work, function, k) for k in range(count)]
            # An interrupt that comes just before the calling thread begins to wait is raised when it wakes: it wakes often
            return [self._polled(future) for future in begun]

    def some_by_threads(self, function: Callable[[int], Result], count: int, threads: int) -> list[Result]:
        """The same by the calling thread, which has a place, from the last on; helpers begin with the first."""
        with self._helpers(threads - 1) as pool:
            begun = [pool.submit(self.work, function, k) for k in range(count)]
            found = [self.begin(function, k) if begun[k].cancel() else self._awaited(begun[k]) for k in reversed(range(count))]  # fmt: skip
        return found[::-1]

    @staticmethod
    def _polled(future: Future[Result]) -> Result:
        """What a helper gives, for the thread that interrupts are raised in."""
        while not wait([future], AWAKE).done:
            pass
        return future.result()

    def _awaited(self, future: Future[Result]) -> Result:
        """What a helper gives, which may have the waiting thread's place meanwhile."""
        self.places.release()
        try:
            return future.result()
        finally:
            self.places.acquire()

    @contextmanager
    def _helpers(self, threads: int) -> Iterator[ThreadPoolExecutor]:
        """So many threads; where one fails, or the user interrupts, the others begin nothing more."""
        pool = ThreadPoolExecutor(threads)
        try:
            yield pool
        except BaseException:
            self.stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        pool.shutdown()


_crew: ContextVar[_Crew | None] = ContextVar("the threads that this one works with", default=None)


def for_each_block(function: Callable[[int], Any], rows: int, n_jobs: int | None, size: int = BLOCK) -> list[Any]:
    """`function(start)` for each block of rows, in order, on as many threads as allowed, each in the caller's context."""
    starts = range(0, rows, size)
    allowed = thread_count(n_jobs)
    threads = min(len(starts), allowed)
    with single_blas_thread:
        if threads <= 1:
            return [_interruptible(function, start) for start in starts]
        outer = _crew.get()
        crew = _Crew(outer, allowed)
        contexts = [copy_context() for _ in starts]
        for context in contexts:
            context.run(_crew.set, crew)
        helped = crew.all_by_threads if outer is None else crew.some_by_threads
        return helped(lambda k: contexts[k].run(function, starts[k]), len(starts), threads)


def side_by_side(tasks: Sequence[Callable[[], Result]], n_jobs: int | None) -> list[Result]:
    """What each task gives, in order, on as many threads as allowed; tasks may use threads themselves."""
    return for_each_block(lambda task: tasks[task](), len(tasks), n_jobs, 1)


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None
) -> Iterator[tuple[Item, Result]]:
    """Every item with what the function gives for it, in order; some items are worked on ahead, no more than there are threads and one.

    Items are asked for by the calling thread, one after the other.
    """
    threads = thread_count(n_jobs)
    if threads <= 1:
        yield from ((item, function(item)) for item in items)
        return
    waiting: deque[tuple[Item, Future[Result]]] = deque()
    pool, crew = ThreadPoolExecutor(threads), _Crew(_crew.get(), threads)

    def work(item: Item) -> Result:
        _crew.set(crew)  # threads that the function uses itself share the places
        with crew.places:
            return function(item)

    try:
        for item in items:
            waiting.append((item, pool.submit(copy_context().run, work, item)))
            if len(waiting) > threads:
                first, future = waiting.popleft()
                yield first, _Crew._polled(future)
        while waiting:
            first, future = waiting.popleft()
            yield first, _Crew._polled(future)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _interruptible(function: Callable[[int], Result], start: int) -> Result:
    """What the function gives; an interrupt that comes within a compiled loop, which makes a SystemError of it, is one."""
    try:
        return function(start)
    except SystemError as error:
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise


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
