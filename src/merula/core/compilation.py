"""When loops are compiled rather than found compiled on disk: who asks is told, and how long it took is counted apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter


@dataclass(eq=False)
class Compilation:
    """How many loops were compiled meanwhile, how many seconds that took, and whether they are kept for the next run."""

    begun: Callable[[bool], None] | None = None
    loops: int = 0
    seconds: float = 0.0
    kept: bool = True
    _within: int = 0  # loops that wait for one that they call
    _since: float = 0.0

    def starts(self, kept: bool) -> None:
        """A loop is about to be compiled."""
        self.kept = kept
        if not self.loops and self.begun is not None:
            self.begun(kept)
        if not self._within:
            self._since = perf_counter()
        self.loops += 1
        self._within += 1

    def ends(self) -> None:
        """A loop was compiled."""
        if self._within:  # else it began before this was open
            self._within -= 1
            self.seconds += 0.0 if self._within else perf_counter() - self._since


WATCHING: list[Compilation] = []


@contextmanager
def watched_compilation(begun: Callable[[bool], None] | None = None) -> Iterator[Compilation]:
    """What is compiled meanwhile; `begun` is called before the first loop, and told whether loops can be kept for the next run.

    Examples
    --------
    >>> import time
    >>> from merula.core.compilation import watched_compilation
    >>> with watched_compilation() as compiled:
    ...     start = time.perf_counter()
    ...     work = sum(range(1000))
    >>> time.perf_counter() - start - compiled.seconds > 0, compiled.loops
    (True, 0)
    """
    found = Compilation(begun)
    WATCHING.append(found)
    try:
        yield found
    finally:
        WATCHING.remove(found)
