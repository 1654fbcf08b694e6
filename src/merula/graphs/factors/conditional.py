"""Conditional distributions: a distribution of some variables for each combination of the levels of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError
from merula.data.schema import Label
from merula.graphs.factors.errors import ImpossibleEvidenceError
from merula.graphs.factors.events import joined, spread
from merula.graphs.factors.frames import build_table, cell_columns
from merula.graphs.factors.joint_text import conditional_parts
from merula.graphs.factors.names import Levels, cell_text, checked_rows, chosen, key_of, rank_of, set_frozen, title
from merula.graphs.factors.probability_tables import (
    cell_columns as read_cells,
    checked_size,
    declared_levels,
    placed,
    read_array,
    read_variables,
)
from merula.show.html import html_table
from merula.show.text import text_table

if TYPE_CHECKING:
    from merula.graphs.factors.joint import JointDistribution


@dataclass(frozen=True, eq=False, init=False, repr=False, slots=True)
class ConditionalDistribution:
    """P(variables given parents): one distribution for each combination of the parents' levels.

    Parameters
    ----------
    variables, given : str, sequence of str, or mapping
        The names of the variables and of their parents, or ``{name: levels}``.
    probabilities : mapping or array
        ``{levels of the parents: {levels of the variables: probability}}``, or an array with the parents' axes first. Every
        row must sum to 1 within 1e-6. Rows that are not listed, or hold zeros alone, are undefined.

    Attributes
    ----------
    variables, parents : tuple of str
        The names.
    levels : mapping
        The levels of the parents and of the variables, in the order of the axes.
    values : read-only array
        The probabilities; an undefined row holds zeros.
    defined : read-only array
        True where a row is a distribution, one axis for each parent.

    Examples
    --------
    >>> import merula as mr
    >>> mr.ConditionalDistribution("ball", "box", {"B1": {"white": 2 / 3, "black": 1 / 3}, "B2": {"white": 1 / 2, "black": 1 / 2}})
    P(ball given box)
    box     white     black
    B1   0.666667  0.333333
    B2        0.5       0.5
    """

    variables: tuple[str, ...]
    parents: tuple[str, ...]
    levels: Mapping[str, tuple[Label, ...]]
    values: Array
    defined: NDArray[np.bool_]

    def __init__(self, variables: Any, given: Any, probabilities: Any) -> None:
        (targets, stated), (parents, known) = read_variables(variables), read_variables(given)
        if not targets or not parents or set(targets) & set(parents):
            raise InputError.at(f"{title(targets or (), parents or ())}", "needs variables and, apart from these, what they are given", remedy="state a JointDistribution where nothing is given")  # fmt: skip
        levels, values = _read(targets, parents, {**(known or {}), **(stated or {})}, probabilities)
        self._become(targets, parents, levels, checked_rows(levels, len(parents), values, or_zero=True))

    @classmethod
    def _of(cls, variables: tuple[str, ...], parents: tuple[str, ...], levels: Levels, values: Array) -> Self:
        """The conditional of an array whose rows are known to sum to 1, or to 0 where undefined."""
        self = cls.__new__(cls)
        self._become(variables, parents, levels, values)
        return self

    def _become(self, variables: tuple[str, ...], parents: tuple[str, ...], levels: Levels, values: Array) -> None:
        defined, known = values.any(axis=tuple(range(len(parents), values.ndim))), MappingProxyType(dict(levels))
        set_frozen(self, variables=variables, parents=parents, levels=known, values=values, defined=defined)

    def given(self, parents: Any = None, /, **levels: Any) -> JointDistribution:
        """P(variables) where every parent is at one level; an undefined row raises `ImpossibleEvidenceError`.

        Examples
        --------
        >>> import merula as mr
        >>> ball = mr.ConditionalDistribution("ball", "box", {"B1": {"white": 0.75, "black": 0.25}})
        >>> ball.given(box="B1")["white"]
        0.75
        """
        from merula.graphs.factors.joint import JointDistribution

        wanted = joined(parents, levels)
        if not isinstance(wanted, Mapping) or set(chosen(wanted, self.parents, "a parent")) != set(self.parents):
            raise InputError(f"got {wanted!r}", expected=f"one level for each of {list(self.parents)}")
        index = tuple(rank_of(wanted[name], name, self.levels[name]) for name in self.parents)
        if not self.defined[index]:
            raise ImpossibleEvidenceError(f"{self.title} is undefined where {cell_text(self._parent_levels(), index)}: that has probability 0 or was not stated", where=self.title)  # fmt: skip
        return JointDistribution._of(self.variables, [self.levels[name] for name in self.variables], self.values[index])

    def times(self, prior: JointDistribution) -> JointDistribution:
        """P(prior's variables, variables) = P(variables given parents)·P(prior): the product rule.

        Variables of the prior that are no parents are taken to tell nothing more, as in a Bayesian network.

        Examples
        --------
        >>> import merula as mr
        >>> rain = mr.ConditionalDistribution("rain", "sky", {"grey": {"yes": 0.5, "no": 0.5}, "clear": {"no": 1.0}})
        >>> round((rain * mr.JointDistribution("sky", {"grey": 0.4, "clear": 0.6})).probability(rain="no"), 12)
        0.8
        """
        from merula.graphs.factors.joint import JointDistribution

        if not isinstance(prior, JointDistribution):
            raise TypeError(f"got {prior!r}, expected a JointDistribution of {list(self.parents)}")
        missing = next((name for name in self.parents if name not in prior.levels), None)
        shared = next((name for name in self.variables if name in prior.levels), None)
        if missing is not None or shared is not None:
            raise InputError.at(self.title, f"cannot be multiplied by {title(prior.variables)}: expected {list(self.parents)} in it and {list(self.variables)} not")  # fmt: skip
        levels = {**prior.levels, **{name: self.levels[name] for name in self.variables}}
        checked_size(levels)
        rows = spread(self._rows_for(prior), self.parents + self.variables, tuple(levels))
        return JointDistribution._of(tuple(levels), levels, prior.values.reshape(prior.values.shape + (1,) * len(self.variables)) * rows)  # fmt: skip

    def _rows_for(self, prior: JointDistribution) -> Array:
        """The probabilities in the order of the prior's levels; every row that the prior allows must be defined."""
        values, defined = self.values, self.defined
        for axis, name in enumerate(self.parents):
            indices = [rank_of(level, name, self.levels[name]) for level in prior.levels[name]]
            values, defined = values.take(indices, axis=axis), defined.take(indices, axis=axis)
        weight = prior.marginal(self.parents)
        lacking = (weight.values > 0) & ~defined
        if lacking.any():
            index = tuple(int(axis[0]) for axis in np.nonzero(lacking))
            raise InputError.at(self.title, f"is undefined where {cell_text(weight.levels, index)}, which has probability {weight.values[index]:g}", remedy="state that row")  # fmt: skip
        return values

    @property
    def title(self) -> str:
        """``P(category given color, shape)``."""
        return title(self.variables, self.parents)

    def _parent_levels(self) -> dict[str, tuple[Label, ...]]:
        return {name: self.levels[name] for name in self.parents}

    def __iter__(self) -> Iterator[tuple[Any, JointDistribution | None]]:
        """Each combination of the parents' levels with its distribution, None where it is undefined."""
        from merula.graphs.factors.joint import JointDistribution

        own = [self.levels[name] for name in self.variables]
        for index, cell in zip(np.ndindex(self.defined.shape), product(*self._parent_levels().values()), strict=True):
            yield (
                key_of(cell),
                JointDistribution._of(self.variables, own, self.values[index]) if self.defined[index] else None,
            )

    def to_dict(self) -> dict[Any, dict[Any, float] | None]:
        """``{levels of the parents: {levels of the variables: probability}}``, None where a row is undefined.

        Examples
        --------
        >>> import merula as mr
        >>> mr.ConditionalDistribution("ball", {"box": ["B1", "B2"]}, {"B1": {"white": 0.75, "black": 0.25}}).to_dict()
        {'B1': {'white': 0.75, 'black': 0.25}, 'B2': None}
        """
        return {key: None if row is None else row.to_dict() for key, row in self}

    def to_frame(self) -> Any:
        """A table with one column for each parent and variable and a column "probability"; undefined rows are left out.

        Examples
        --------
        >>> import merula as mr
        >>> mr.ConditionalDistribution("ball", "box", {"B1": {"white": 0.75, "black": 0.25}}).to_frame()
          box   ball  probability
        0  B1  white         0.75
        1  B1  black         0.25
        """
        defined = np.broadcast_to(spread(self.defined, self.parents, tuple(self.levels)), self.values.shape)
        cells = np.flatnonzero(defined)
        return build_table({**cell_columns(self.levels, cells), "probability": self.values.reshape(-1)[cells]})

    def __reduce__(self) -> tuple[Any, ...]:
        return ConditionalDistribution._of, (self.variables, self.parents, dict(self.levels), np.array(self.values))

    def __repr__(self) -> str:
        return text_table(*conditional_parts(self))

    def _repr_html_(self) -> str:
        return html_table(*conditional_parts(self))


def _read(
    targets: tuple[str, ...], parents: tuple[str, ...], declared: Levels, probabilities: Any
) -> tuple[Levels, Array]:
    """The levels of parents and variables, and the array of probabilities with the parents' axes first."""
    if not isinstance(probabilities, Mapping):
        complete = declared if len(declared) == len(parents + targets) else None
        return read_array(parents + targets, complete, probabilities)
    outer, rows = read_cells(parents, probabilities)
    columns: dict[str, list[Label]] = {name: [] for name in parents + targets}
    numbers: list[Any] = []
    for index, (key, row) in enumerate(zip(probabilities, rows, strict=True)):
        if not isinstance(row, Mapping):
            raise InputError.of(f"the row of {title(targets, parents)} at {key!r}", row, "{levels: probability}")
        inner, found = read_cells(targets, row)
        for name in parents:
            columns[name] += [outer[name][index]] * len(found)
        for name in targets:
            columns[name] += inner[name]
        numbers += found
    levels = {name: declared_levels(name, values, declared.get(name)) for name, values in columns.items()}
    return levels, placed(levels, columns, numbers)
