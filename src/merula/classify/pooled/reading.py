"""A distribution that does not read numbers as the table holds them: it is asked of them cut into intervals, or held within bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from merula.classify.pooled.pairs import GainDistribution
from merula.classify.pooled.tails import StudentTails
from merula.core import Array
from merula.core.sound import are_cuts, is_number
from merula.data.encode import Coded, Encoded
from merula.data.intervals import assign, interval_labels
from merula.data.schema import Column, Label
from merula.distributions import DISTRIBUTIONS, Distribution
from merula.distributions.base import Added
from merula.distributions.lookups import Axis, Lookup

READ = DISTRIBUTIONS | {one.__name__: one for one in (GainDistribution, StudentTails)}  # what may be read so
FARTHEST = 1e300  # a number that bounds may be
NUMBERS = ("numeric", "count", "datetime")  # kinds of columns that may be cut
Bounds = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Reading:
    """Which columns of numbers are cut where, and which are held between two bounds."""

    cuts: Mapping[str, tuple[float, ...]]
    bounds: Mapping[str, Bounds]

    def of(self, rows: Encoded, columns: Sequence[str] | None = None) -> Encoded:
        """A tile of rows, read so: all of their columns, or some."""
        here = slice(rows.start, rows.stop)
        names = (*rows.numeric, *rows.coded, *rows.texts) if columns is None else columns
        numeric = {name: self._within(name, rows.numeric[name][here]) for name in names if name in rows.numeric and name not in self.cuts}  # fmt: skip
        coded = {name: replace(rows.coded[name], codes=rows.coded[name].codes[here]) for name in names if name in rows.coded}  # fmt: skip
        coded |= {name: self._in_intervals(name, rows.values((name,))[:, 0]) for name in names if name in self.cuts}
        texts = {name: rows.tokens(name) for name in names if name in rows.texts}
        # the reading is kept with what is remembered for it, so that no other has its id
        memo: dict[Any, Any] = rows.remember(("read as", id(self)), lambda: (self, {}))[1]
        return Encoded(0, len(rows), numeric, coded, texts=texts, unseen_hits=rows.unseen_hits, _memo=memo)

    def axis(self, axis: Axis) -> Axis:
        """An axis of a table, as the rows hold its column: numbers by cuts where it has levels of intervals."""
        cuts = self.cuts.get(axis.column)
        return axis if cuts is None else Axis(axis.column, np.array(cuts), axis.by(self.intervals[axis.column]))

    def _within(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        return np.clip(values, *self.bounds[name]) if name in self.bounds else values

    def _in_intervals(self, name: str, values: NDArray[Any]) -> Coded:
        cuts = self.cuts[name]
        # as levels of few words are coded, so that loops are compiled for these alone
        kind = np.int8 if len(cuts) < 126 else np.int32
        return Coded(assign(values, cuts).astype(kind), (None, *self.intervals[name]), -1)

    @cached_property
    def intervals(self) -> dict[str, tuple[str, ...]]:
        """What the intervals of each column that is cut are called."""
        return {name: interval_labels(cuts) for name, cuts in self.cuts.items()}


@dataclass(frozen=True, eq=False, repr=False)
class ReadAs(Distribution):
    """What `part` says of rows whose numbers are read as the `reading` says."""

    part: Distribution
    reading: Reading

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.part.columns

    @property
    def parents(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.part.parents

    @property
    def looks_at(self) -> tuple[str, ...] | None:
        # of those that may be read so, none asks others for a parent that is missing
        return (*self.columns, *self.parents) if type(self.part) in READ.values() else self.part.looks_at

    @property
    def read_part(self) -> Distribution:
        return self.part

    @property
    def read_cuts(self) -> Mapping[str, tuple[float, ...]]:
        return {**self.part.read_cuts, **_some(self.reading.cuts, (*self.columns, *self.parents))}

    @property
    def read_bounds(self) -> Mapping[str, Bounds]:
        return _some(self.reading.bounds, self.columns)

    def log_prob(self, rows: Encoded) -> Array:
        return self.part.log_prob(self.reading.of(rows, self.looks_at))

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        self.part.add_log_prob(self.reading.of(rows, self.looks_at), out)

    def factors(self) -> tuple[Distribution, ...]:
        return tuple(replace(self, part=one) for one in self.part.factors())

    @property
    def factors_count(self) -> int:
        return self.part.factors_count

    def weighted(self, weights: Sequence[float]) -> Added:
        return AddedAs(self.part.weighted(weights), self.reading, self.looks_at)

    @property
    def looked_up(self) -> bool:  # type: ignore[override]
        return self.part.looked_up

    def split(self, weights: Sequence[float]) -> tuple[tuple[Lookup, ...], tuple[Added, ...]]:
        tables, others = self.part.split(weights)
        read = (replace(table, axes=tuple(map(self.reading.axis, table.axes))) for table in tables)
        return tuple(read), tuple(AddedAs(other, self.reading, self.looks_at) for other in others)

    @property
    def parameters_count(self) -> int:
        return self.part.parameters_count

    @property
    def no_density(self) -> str:
        return self.part.no_density

    @property
    def levels(self) -> Mapping[str, tuple[Label, ...]]:
        return {name: known for name, known in self.part.levels.items() if name not in self.reading.cuts}

    def quantiles(self, column: str, probabilities: Array, classes: int) -> Array:
        if column in self.reading.cuts:
            cuts = np.array(self.reading.cuts[column] or (0.0,))
            return np.repeat(np.quantile(cuts, probabilities)[:, None], classes, axis=1)
        return self.part.quantiles(column, probabilities, classes)

    def fits(self, classes: int) -> bool:
        cut = all(are_cuts(cuts) for cuts in self.reading.cuts.values())
        bound = all(len(pair) == 2 and all(is_number(end, -FARTHEST, FARTHEST) for end in pair) and pair[0] <= pair[1] for pair in self.reading.bounds.values())  # fmt: skip
        return cut and bound and self._intervals_fit() and self.part.fits(classes)

    def _intervals_fit(self) -> bool:
        """True when what it says of a column that is cut is said of its intervals."""
        known = self.part.levels
        return all(set(known[name]) - {None} == set(labels) for name, labels in self.reading.intervals.items() if name in known)  # fmt: skip

    def reads(self, column: Column) -> bool:
        if column.name in self.reading.cuts:
            return column.kind in NUMBERS and column.cuts is None
        return self.part.reads(column)

    def state(self) -> dict[str, Any]:
        return {
            "part": {"name": type(self.part).__name__, "state": self.part.state()},
            "cuts": {name: list(cuts) for name, cuts in self.reading.cuts.items()},
            "bounds": {name: list(pair) for name, pair in self.reading.bounds.items()},
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        part = READ[state["part"]["name"]].from_state(state["part"]["state"])
        cuts = {name: tuple(found) for name, found in state["cuts"].items()}
        return cls(part, Reading(cuts, {name: tuple(pair) for name, pair in state["bounds"].items()}))


@dataclass(frozen=True, eq=False)
class AddedAs:
    """Weighted terms of rows whose numbers are read as the `reading` says."""

    part: Added
    reading: Reading
    looks_at: tuple[str, ...] | None

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        """See `Distribution.add_log_prob`."""
        self.part.add_log_prob(self.reading.of(rows, self.looks_at), out)


def _some(told: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """What is told of these columns."""
    return {name: told[name] for name in names if name in told}
