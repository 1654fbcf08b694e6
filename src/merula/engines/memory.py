"""This machine: threads over fixed blocks of rows, added in the order of the blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from merula.core.threads import BLOCK, for_each_block
from merula.data.encode import Encoded, Target
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


def _tiles(rows: Encoded, start: int) -> Iterator[tuple[int, int]]:
    """First and last row of each tile within the block that begins at `start`."""
    stop = min(start + BLOCK, len(rows))
    return ((first, min(first + rows.tile_rows, stop)) for first in range(start, stop, rows.tile_rows))
