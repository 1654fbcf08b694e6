"""Sums in the database: w·(x − s) and w·(x − s)(y − s) by class, for a number s near each column's, so that N(10⁹, 1) loses nothing.

s is written into the query, the same for all classes; where a class lies far from it, beside its own spread, each class has its own,
its mean, which the database finds by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from merula.core import Array, InputError
from merula.engines.sql.expressions import is_known, minus, number, times
from merula.engines.sql.reading import CLASS, COUNT, WEIGHT, Reading, infinity, numbers_of
from merula.engines.sql.remote import TooWideError
from merula.engines.sql.statements import grouped

MOST_SUMS = {"duckdb": 1_500, "postgres": 1_500, "spark": 400}  # in one query: PostgreSQL takes 1,664 columns


@dataclass(frozen=True, eq=False)
class Origins:
    """A number near each column's numbers; `own` says that each class needs one of its own; `whole` columns lack no cell."""

    near: Mapping[str, float]
    own: bool = False
    whole: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Found:
    """What a query added up, a number for each group; `keys` is the answer itself, in which the keys of the groups stand."""

    keys: Any
    sums: Mapping[str, Array]
    origin: Array = field(default_factory=lambda: np.zeros((0, 0)))  # groups × columns

    def stacked(self, stem: str, count: int) -> Array:
        """The sums stem0, stem1, … side by side: groups × columns."""
        if not count:
            return np.zeros((self.keys.num_rows, 0))
        return np.stack([self.sums[f"{stem}{place}"] for place in range(count)], axis=1)


@dataclass(frozen=True, eq=False)
class Question:
    """Numbers to be added up: of which columns, within which further keys of groups, of which rows."""

    reading: Reading
    columns: tuple[str, ...]
    keys: Mapping[str, exp.Expression] = field(default_factory=dict)
    where: Sequence[exp.Expression] = ()
    all_classes: bool = False

    def x(self, place: int) -> exp.Expression:
        """The number of the column at a place."""
        return exp.column(f"x{place}")

    def z(self, place: int, origins: Origins) -> exp.Expression:
        """The number less its origin."""
        from_where = exp.column(f"o{place}") if origins.own else number(origins.near[self.columns[place]])
        return minus(self.x(place), from_where)

    def weighed(self, value: exp.Expression) -> exp.Expression:
        """Σ w · value."""
        if self.reading.mass is None:
            return exp.Sum(this=value)
        return exp.Sum(this=times(exp.column(WEIGHT), value, self.reading.dialect))

    def known(self, place: int) -> exp.Expression:
        """Σ w of the known cells of the column at a place."""
        if self.reading.mass is None:
            return exp.Count(this=self.x(place))
        return self.reading.weight_of(is_known(self.x(place)))

    def rows(self, origins: Origins) -> Any:
        """The rows, with the origins of their class where each has its own, as something to select from."""
        numbers = {f"x{place}": self.reading.number(name) for place, name in enumerate(self.columns)}
        rows = self.reading.rows({**self.keys, **numbers}, self.where, self.all_classes)
        if not origins.own:
            return rows
        found = grouped(rows, self.reading.keys, {f"o{place}": self._mean(place, origins) for place in range(len(self.columns))})  # fmt: skip
        names = [*self.reading.keys, *([WEIGHT] if self.reading.mass is not None else []), *self.keys, *numbers]
        wide = exp.select(*(exp.column(name, table="read") for name in names), *(exp.column(f"o{place}", table="origin") for place in range(len(self.columns))))  # fmt: skip
        wide = wide.from_(rows.copy())
        same = exp.EQ(this=exp.column(CLASS, table="read"), expression=exp.column(CLASS, table="origin"))
        if not self.reading.keys:
            return wide.join(found.subquery("origin"), join_type="cross").subquery("near")
        return wide.join(found.subquery("origin"), on=same).subquery("near")

    def _mean(self, place: int, origins: Origins) -> exp.Expression:
        """The mean of a column, counted from a number near it: sums of numbers near 10³⁰⁰ are no numbers."""
        near = number(origins.near[self.columns[place]])
        mean = exp.Add(this=near.copy(), expression=exp.Avg(this=minus(self.x(place), near)))
        return exp.Coalesce(this=mean, expressions=[near.copy()])

    def ask(self, sums: Mapping[str, exp.Expression], origins: Origins, types: Mapping[str, Any], most: int | None = None) -> Found | None:  # fmt: skip
        """All sums, in as many queries as their number needs; None where there are more than `most` groups."""
        rows, keys = self.rows(origins), [*self.reading.keys, *self.keys]
        if origins.own:
            sums = {**sums, **{f"o{place}": exp.Min(this=exp.column(f"o{place}")) for place in range(len(self.columns))}}  # fmt: skip
        size, listed = MOST_SUMS[self.reading.dialect], list(sums.items())
        first, arrays = None, dict[str, Array]()
        for start in range(0, max(len(listed), 1), size):
            query = grouped(rows.copy(), keys, dict(listed[start : start + size]), None if most is None else most + 1)
            answer = self._fetch(query, types)
            if most is not None and answer.num_rows > most:
                return None
            order = _same_order(first, answer, keys)
            first = answer if first is None else first
            arrays |= {name: numbers_of(answer, name)[order] for name, _ in listed[start : start + size]}
        found = Found(first, arrays)
        near = np.array([origins.near[name] for name in self.columns])
        origin = found.stacked("o", len(self.columns)) if origins.own else np.broadcast_to(near, (first.num_rows, len(near)))  # type: ignore[union-attr]  # fmt: skip
        return Found(first, arrays, origin)

    def _fetch(self, query: Any, types: Mapping[str, Any]) -> Any:
        try:
            return self.reading.table.fetch(query, types)
        except TooWideError:
            raise self.too_wide() from None

    def too_wide(self) -> InputError:
        """The error that names the column whose numbers are too large for their squares: asked of the database once more."""
        with self.reading.table.runner.snapshot():
            ends = {f"{end}{place}": kind(this=self.x(place)) for place in range(len(self.columns)) for end, kind in (("a", exp.Min), ("b", exp.Max))}  # fmt: skip
            found = self.reading.table.fetch(grouped(self.rows(Origins({})), [], ends), {})
        low, high = (np.array([numbers_of(found, f"{end}{place}")[0] for place in range(len(self.columns))]) for end in "ab")  # fmt: skip
        return overflow(self.columns, np.fmax(np.abs(low), np.abs(high)))


def overflow(columns: Sequence[str], largest: Array) -> InputError:
    """The error of the column with the largest numbers, in the words of `refuse_overflow`."""
    place = int(np.nanargmax(largest))
    if np.isinf(largest[place]):
        return infinity(columns[place])
    return InputError.at(f"column {columns[place]!r}", f"holds values as large as {largest[place]:.3g}, whose squares overflow", remedy="rescale it")  # fmt: skip


def _same_order(first: Any, answer: Any, keys: Sequence[str]) -> NDArray[np.int64]:
    """Where each group of the first answer stands in another: databases keep no order."""
    if first is None or not keys:
        return np.arange(answer.num_rows)
    where = {key: place for place, key in enumerate(zip(*(answer[name].to_pylist() for name in keys), strict=True))}
    wanted = zip(*(first[name].to_pylist() for name in keys), strict=True)
    return np.array([where[key] for key in wanted], dtype=np.int64)


__all__ = ["COUNT", "Found", "Origins", "Question", "overflow"]
