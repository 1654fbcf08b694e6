"""Few groupings that answer for many: one GROUP BY over several columns holds the counts of each of them, and of each pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from merula.engines.sql.needs import Counts

MOST_GROUPS = 20_000  # that one grouping over several columns is expected to have: few beside the rows of a large table


def covering(
    needs: Iterable[Counts], sizes: Mapping[str, int], classes: int, most: int = MOST_GROUPS
) -> list[tuple[Counts, list[Counts]]]:
    """Groupings, each with the needs that it answers: every need stands at one of them that has all its columns.

    Each grouping starts with what is left and takes the columns that answer most of the rest, as long as it is expected to have
    few groups: eight columns of five levels in four classes have 28 pairs, which six groupings answer. Measured on two cores,
    2,000,000 rows: see `benchmarks/large.py`; GROUPING SETS made Spark expand every row, and were no faster in PostgreSQL.

    Examples
    --------
    >>> pairs = [Counts(pair) for pair in (("sky", "wind"), ("sky", "rain"), ("rain", "wind"))]
    >>> [(found.columns, len(own)) for found, own in covering(pairs, {"sky": 3, "wind": 4, "rain": 2}, 2)]
    [(('sky', 'wind', 'rain'), 3)]
    """
    left: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Counts]] = {}
    for need in dict.fromkeys(needs):
        left.setdefault((need.known, need.lacking), []).append(need)
    return [
        found
        for (known, lacking), some in left.items()
        for found in _cover(some, known, lacking, sizes, most / max(classes, 1))
    ]


def _cover(
    needs: list[Counts], known: tuple[str, ...], lacking: tuple[str, ...], sizes: Mapping[str, int], most: float
) -> list[tuple[Counts, list[Counts]]]:
    needs = sorted(needs, key=lambda need: -len(need.columns))  # large families first: they may answer for small ones
    left = {name: {need for need in needs if name in need.columns} for need in needs for name in need.columns}
    done: set[Counts] = set()
    found = []
    for first in needs:
        if first in done:
            continue
        columns = _grown(first, left, sizes, most)
        met = {need for name in columns for need in left[name] if set(need.columns) <= set(columns)} | {first}
        met |= {need for need in needs if not need.columns} - done  # the classes alone are in every grouping
        found.append((Counts(tuple(columns), known, lacking), [need for need in needs if need in met]))
        done |= met
        for need in met:
            for name in need.columns:
                left[name].discard(need)
    return found


def _grown(first: Counts, left: Mapping[str, set[Counts]], sizes: Mapping[str, int], most: float) -> list[str]:
    """The columns of the first need, and those that help most among the needs left."""
    columns = list(first.columns)
    room = most / prod(sizes[name] + 1 for name in columns)
    while fitting := [name for name in left if name not in columns and sizes[name] + 1 <= room]:
        gains = {name: _gain(left[name], {*columns, name}) for name in fitting}
        best = max(gains, key=lambda name: (gains[name], -sizes[name]))
        if not gains[best]:
            break
        columns.append(best)
        room /= sizes[best] + 1
    return columns


def _gain(needs: Iterable[Counts], columns: set[str]) -> int:
    """How many of these needs the columns answer."""
    return sum(columns.issuperset(need.columns) for need in needs)
