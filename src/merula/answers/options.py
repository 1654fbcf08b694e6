"""What a cell may be changed to, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from merula.classify.base import BayesianClassifier
from merula.classify.conditionals import atoms, quantiles
from merula.classify.readable import shown
from merula.core import Array, InputError, one_of
from merula.data.schema import Column, Label
from merula.data.table import plain_label
from merula.distributions.discretize import assign, interval_labels
from merula.distributions.neighbors import NeighborDistribution

PLACES = 101  # of a number that are tried
ENDS = np.array([0.005, 0.995])  # shares of a number's mass between which it may be changed by default
Prices = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Change:
    """One cell that changes: what it is, what it would have to be, and what that costs."""

    column: str
    before: Label
    after: Label
    before_text: str
    after_text: str
    price: float


@dataclass(frozen=True, eq=False)
class Option:
    """One cell changed to one value: its price, and what it adds to the log joint of each class.

    ``read`` is the value as the model reads it: of a column that is cut, the interval.
    """

    column: str
    value: Any
    read: Any
    price: float
    is_number: bool
    whole: bool = False
    gain: Array = field(default_factory=lambda: np.zeros(0))

    def rounded(self, value: float) -> float:
        """The value, or the whole number nearest to it where the column is counted."""
        return float(round(value)) if self.whole else value

    def at(self, value: float, prices: Prices, before: Label) -> Option:
        """The same cell changed to another number."""
        return replace(self, value=value, read=value, price=price_of(prices, self.column, before, value))

    def change(self, model: BayesianClassifier, before: Label) -> Change:
        """In words."""
        column = model.schema_[self.column]
        after = plain_label(self.value)
        return Change(self.column, before, after, shown(column, before), shown(column, after), self.price)


def stated_cells(model: BayesianClassifier, row: Any, cells: Mapping[str, Label]) -> dict[str, Label]:
    """The cells of a row as they were stated: numbers of columns that the model cuts, which it reads as intervals."""
    cut = [one.name for one in model.schema_.columns if one.cuts is not None and one.kind == "categorical"]
    return {**cells, **{name: number for name in cut if (number := _number(model, row, name)) is not None}}


def _number(model: BayesianClassifier, row: Any, name: str) -> float | None:
    try:
        if isinstance(row, Mapping) or hasattr(row, "columns") or hasattr(row, "index"):
            found = np.ravel(row[name])[0]
        else:
            found = np.ravel(np.asarray(row, dtype=object))[model.schema_.names.index(name)]
        return float(found) if np.isfinite(float(found)) else None
    except (KeyError, TypeError, ValueError, IndexError):
        return None


def price_of(prices: Prices, column: str, before: Label, after: Label) -> float:
    """What it costs to change a cell so."""
    cell, unit = prices[column]
    return cell + (unit * abs(float(after) - float(before)) if unit else 0.0)


def read_prices(prices: Any, names: Sequence[str]) -> Prices:
    """{column: (price of a change, price of a unit of it)}, checked."""
    if prices is None or isinstance(prices, int | float | np.number):
        prices = dict.fromkeys(names, 1.0 if prices is None else prices)
    if not isinstance(prices, Mapping):
        raise InputError.of("prices", prices, "one price for all columns, or {column: price}")
    for name in prices:
        one_of(name, names, "a key of prices=")
    return {name: _price(name, prices.get(name, 1.0)) for name in names}


def _price(name: str, price: Any) -> tuple[float, float]:
    told = price if isinstance(price, Mapping) else {"cell": price}
    for word in told:
        one_of(word, ("cell", "unit"), f"a key of the price of {name!r}")
    cell, unit = told.get("cell", 0.0), told.get("unit", 0.0)
    if not all(isinstance(one, int | float | np.number) and 0 <= one < np.inf for one in (cell, unit)):
        raise InputError.of(f"the price of {name!r}", price, 'a number from 0, or {"cell": number, "unit": number}')
    return float(cell), float(unit)


def read_allowed(allowed: Any, model: BayesianClassifier, cells: Mapping[str, Label]) -> dict[str, Any]:
    """{column: levels, (low, high) or None} of the known cells that may change, checked."""
    names = [column.name for column in model.schema_.columns if column.kind not in ("ignore", "text")]
    known = [name for name in names if cells[name] is not None]
    if allowed is None:
        return dict.fromkeys(known)
    told = dict(allowed) if isinstance(allowed, Mapping) else dict.fromkeys([allowed] if isinstance(allowed, str) else allowed)  # fmt: skip
    for name in told:
        one_of(name, names, "a column of allowed=")
    return {name: limits for name, limits in told.items() if name in known}


def options_of(model: BayesianClassifier, name: str, before: Label, limits: Any, prices: Prices) -> list[Option]:
    """Every value that the cell may be changed to."""
    column = model.schema_[name]
    if column.cuts is not None and column.kind == "categorical" and isinstance(before, float):
        return _intervals(column, before, limits, prices)
    if column.kind != "categorical":
        return _numbers(model, column, float(before), limits, prices)
    if prices[name][1]:
        raise InputError(f"the price of {name!r} is by unit, but the column holds words", where="prices", remedy="give one price for a change")  # fmt: skip
    levels = [level for level in _levels(column, limits) if level != before]
    return [Option(name, level, level, price_of(prices, name, before, level), False) for level in levels]


def _intervals(column: Column, before: float, limits: Any, prices: Prices) -> list[Option]:
    """Of a number that is cut: the nearest number in each of the other intervals."""
    cuts = np.asarray(column.cuts)
    low, high = (-np.inf, np.inf) if limits is None else _range(column, limits)
    beyond = (
        1e-3 * (float(np.ptp(cuts)) or abs(float(cuts[0])) or 1.0) if len(cuts) else 0.0
    )  # just above a cut, in few digits
    labels, own = interval_labels(column.cuts or ()), int(assign([before], column.cuts or ())[0])
    found = []
    for k, label in enumerate(labels):
        value = (
            float(cuts[k])
            if k < own
            else float(cuts[k - 1]) + min(beyond, 0.5 * _width(cuts, k))
            if k > own
            else before
        )
        if k != own and low <= value <= high and label in (column.levels or ()):
            found.append(Option(column.name, value, label, price_of(prices, column.name, before, value), False))
    return found


def _width(cuts: Array, k: int) -> float:
    """How wide the interval above cut k − 1 is."""
    return float(cuts[k] - cuts[k - 1]) if k < len(cuts) else np.inf


def _levels(column: Column, limits: Any) -> list[Label]:
    """The levels that were seen, or those of them that are allowed."""
    seen = [level for level in column.levels or () if level is not None]
    if limits is None:
        return seen
    if isinstance(limits, str) or not isinstance(limits, Sequence | set | frozenset):
        raise InputError.at(f"allowed[{column.name!r}]", f"is {limits!r}", expected="a list of levels")
    for level in limits:
        one_of(plain_label(level), seen, f"a level of allowed[{column.name!r}]")
    return [level for level in seen if level in {plain_label(one) for one in limits}]


def _numbers(model: BayesianClassifier, column: Column, before: float, limits: Any, prices: Prices) -> list[Option]:
    """Places between the ends of the range; whole numbers where the column is counted."""
    low, high = _ends(model, column) if limits is None else _range(column, limits)
    whole = column.kind == "count"
    places = np.unique(np.round(np.linspace(low, high, PLACES)) if whole else np.linspace(low, high, PLACES))
    values = [value for value in places.tolist() if value != before and low <= value <= high]
    return [
        Option(column.name, value, value, price_of(prices, column.name, before, value), True, whole) for value in values
    ]


def _range(column: Column, limits: Any) -> tuple[float, float]:
    ends = tuple(limits) if isinstance(limits, Sequence) and not isinstance(limits, str) else ()
    numbers = len(ends) == 2 and all(isinstance(one, int | float | np.number) and np.isfinite(one) for one in ends)
    if not numbers or ends[0] > ends[1]:
        raise InputError.at(f"allowed[{column.name!r}]", f"is {limits!r}", expected="(lowest, highest)")
    return float(ends[0]), float(ends[1])


def _ends(model: BayesianClassifier, column: Column) -> tuple[float, float]:
    """Where nearly all numbers of the column lie, in some class."""
    told = vars(model).get("joint_", model)
    near = [part for part in told.fitted_.factors_of(column.name) if isinstance(part, NeighborDistribution)]
    if near:  # neighbours tell classes apart, and of numbers what the rows hold
        found = np.concatenate([_ends_of_rows(part, column.name) for part in near])
    else:
        found = quantiles(told, column.name, ENDS)
        found = np.concatenate([found[np.isfinite(found)], atoms(told, column.name)])
    return (float(found.min()), float(found.max())) if len(found) else (0.0, 0.0)


def _ends_of_rows(part: NeighborDistribution, name: str) -> Array:
    """Between which numbers nearly all of each class's kept rows lie."""
    values = part.cells[:, part.columns.index(name)]
    known = [values[(part.labels == label) & ~np.isnan(values)] for label in np.unique(part.labels)]
    return np.concatenate([np.quantile(some, ENDS) for some in known if len(some)] or [np.zeros(0)])
