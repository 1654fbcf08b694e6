"""The names and levels of a distribution's variables: looked up, written down, and what to say when they are unknown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from merula.core import Array, InputError, check_probabilities, nearest, one_of
from merula.data.schema import Label
from merula.data.table import plain_label

Levels = Mapping[str, tuple[Label, ...]]
MOST_NAMED = 20  # levels that an error lists


def title(variables: Iterable[str], given: Iterable[str] = ()) -> str:
    """``P(color, shape)`` or ``P(category given color, shape)``."""
    condition = ", ".join(given)
    return f"P({', '.join(variables)}{' given ' + condition if condition else ''})"


def cell_text(levels: Levels, index: Sequence[Any]) -> str:
    """``color = 'red', shape = 'circle'`` for the cell at these places, or for the row of the first variables alone."""
    return ", ".join(
        f"{name} = {labels[int(rank)]!r}" for (name, labels), rank in zip(levels.items(), index, strict=False)
    )


def checked_rows(levels: Levels, given: int, values: Array, **options: Any) -> Array:
    """P(variables given the first of them), rows brought to sums of 1; `options` are those of `check_probabilities`."""
    names, axes = list(levels), tuple(range(given, values.ndim))
    heading = title(names[given:], names[:given])
    return check_probabilities(values, heading, axes, at=lambda index: cell_text(levels, index), **options)


def chosen(names: Any, variables: Iterable[str], what: str = "a variable") -> tuple[str, ...]:
    """One name or several, every one among the variables and none twice."""
    if not isinstance(names, Iterable):
        raise InputError.of(what, names, "a name or several")
    found = tuple(one_of(name, variables, what) for name in ([names] if isinstance(names, str) else names))
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        raise InputError.at(what, f"is named more than once: {twice!r} in {list(found)}")
    return found


def rank_of(level: Any, name: str, levels: Sequence[Label]) -> int:
    """The index of a level among those of its variable, or a ValueError that suggests the nearest."""
    try:
        return levels.index(plain_label(level))
    except (ValueError, TypeError):
        words = {str(label): repr(label) for label in levels}
        hint = nearest(str(level), words, show=words.__getitem__)
        listed = ", ".join(map(repr, levels[:MOST_NAMED])) + (", …" if len(levels) > MOST_NAMED else "")
        raise InputError(
            f"{name!r} has no level {level!r}", where=f"variable {name!r}", expected=f"one of {listed}{hint}"
        ) from None


def set_frozen(instance: Any, **fields: Any) -> None:
    """Set the fields of a frozen instance, once; arrays become views that cannot be written to."""
    for name, value in fields.items():
        if isinstance(value, np.ndarray):
            value = value.view()
            value.flags.writeable = False
        object.__setattr__(instance, name, value)


def key_of(levels: tuple[Label, ...]) -> Any:
    """How a cell is named: by the tuple of its levels, by the level itself where there is one variable."""
    return levels[0] if len(levels) == 1 else levels


def levels_of(key: Any) -> tuple[Any, ...]:
    """The levels that name a cell, whichever way `key_of` may have written them."""
    return key if isinstance(key, tuple) else (key,)
