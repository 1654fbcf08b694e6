"""Places for work: so many requests are worked on at a time, some wait, and beyond that they are told to come again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any, TypeVar

from merula.web.service.refusals import RefusedError, busy

Result = TypeVar("Result")
HELD = 4  # times the largest body: what all bodies together may hold of memory


class Deadline:
    """The seconds that the work of one request may take; the time it takes to send what was found does not count."""

    __slots__ = ("left", "limit")

    def __init__(self, seconds: float) -> None:
        self.left = self.limit = seconds

    def late(self) -> RefusedError:
        """The refusal of work that takes longer."""
        return RefusedError(
            504, f"the work takes longer than {self.limit:g} seconds", remedy="send fewer rows at a time"
        )


class Work:
    """Threads, and the places that requests have on them."""

    def __init__(self, places: int, waiting: int, max_body: int) -> None:
        self.places, self.most_waiting, self.most_held = places, waiting, HELD * max_body
        self.waiting = self.busy = self.held = 0
        self._slots = asyncio.Semaphore(places)
        self._pool = ThreadPoolExecutor(places, thread_name_prefix="answering")

    async def run(
        self, deadline: Deadline, function: Callable[..., Result], *given: Any, begun: bool = False
    ) -> Result:
        """What a function gives, worked out by a thread; work that has `begun` waits however many do."""
        started = monotonic()
        await self._place(deadline, begun)
        future = self._pool.submit(function, *given)
        self.busy += 1
        waited = asyncio.wrap_future(future)
        waited.add_done_callback(self._done)
        try:
            async with asyncio.timeout(max(deadline.left - (monotonic() - started), 0.001)):
                return await asyncio.shield(waited)
        except TimeoutError:
            if waited.done() and not waited.cancelled():  # the function's own
                return waited.result()
            raise deadline.late() from None
        finally:
            deadline.left -= monotonic() - started

    async def _place(self, deadline: Deadline, begun: bool) -> None:
        if self._slots.locked() and not begun and self.waiting >= self.most_waiting:
            raise busy(f"{self.places} requests are worked on and {self.waiting} wait, which is the most; ask again")
        self.waiting += 1
        try:
            async with asyncio.timeout(max(deadline.left, 0.001)):
                await self._slots.acquire()
        except TimeoutError:
            raise busy("no place for the work came free in time; ask again") from None
        finally:
            self.waiting -= 1

    def _done(self, future: asyncio.Future[Any]) -> None:
        """Give the place back once the thread is done, also where nobody waited for it."""
        self.busy -= 1
        self._slots.release()
        if not future.cancelled():
            future.exception()

    def hold(self, size: int) -> None:
        """Take memory for a part of a body."""
        if self.held + size > self.most_held:
            raise busy("so much is being sent at this moment that there is no memory for more; ask again")
        self.held += size

    def close(self) -> None:
        """End the threads once they are done."""
        self._pool.shutdown(wait=False, cancel_futures=True)
