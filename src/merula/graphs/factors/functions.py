"""Functions of random variables: evaluated once for every combination of the levels they ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.graphs.factors.names import Levels, chosen, levels_of, rank_of

Objects = NDArray[Any]
Caller = Callable[[tuple[Any, ...]], Any]


def evaluated(function: Any, levels: Levels, of: Any = None) -> tuple[tuple[str, ...], Objects]:
    """The variables that a function asks for, and its value at each combination of their levels, one axis for each.

    A function asks by the names of its arguments; ``outcome`` (or ``**outcome``) is the dict of all variables. `of` names
    the variables to pass by position instead. A mapping is a function of `of`, or of all variables.
    """
    if isinstance(function, Mapping):
        names = tuple(levels) if of is None else chosen(of, levels, "of")
        call: Caller = _looked_up(function, {name: levels[name] for name in names})
    elif callable(function):
        names, call = _by_position(function, chosen(of, levels, "of")) if of is not None else _by_name(function, levels)
    else:
        raise ValueError(f"got {function!r}, expected a function of the variables {list(levels)} or a mapping of their levels")  # fmt: skip
    sets = [levels[name] for name in names]
    values = np.empty(tuple(len(labels) for labels in sets), dtype=object)
    for index, cell in zip(np.ndindex(values.shape), product(*sets), strict=True):
        values[index] = call(cell)
    return names, values


def _by_position(function: Callable[..., Any], names: tuple[str, ...]) -> tuple[tuple[str, ...], Caller]:
    return names, lambda cell: function(*cell)


def _by_name(function: Callable[..., Any], levels: Levels) -> tuple[tuple[str, ...], Caller]:
    """What the names of a function's arguments ask for, and how to call it."""
    everything = tuple(levels)
    arguments = _arguments(function)
    if arguments is None or (len(levels) == 1 and _takes_one(arguments)):
        if len(levels) == 1:
            return _by_position(function, everything)
        raise ValueError(f"{function!r} does not say the names of its arguments; name the variables to pass with of=[…]")  # fmt: skip
    if any(argument.kind is Parameter.VAR_KEYWORD for argument in arguments):
        return everything, lambda cell: function(**dict(zip(everything, cell, strict=True)))
    asked = tuple(argument.name for argument in arguments if argument.name in levels)
    needed = [argument.name for argument in arguments if argument.name not in levels and _is_needed(argument)]
    if needed == ["outcome"] and not asked:
        return everything, lambda cell: function(dict(zip(everything, cell, strict=True)))
    if needed or not asked:
        raise ValueError(
            f"the function's arguments are {[argument.name for argument in arguments]}, expected names of variables: {list(levels)}; or one argument called 'outcome' for the dict of all, or of=[…] to pass by position"
        )
    return asked, lambda cell: function(**dict(zip(asked, cell, strict=True)))


def _arguments(function: Callable[..., Any]) -> list[Parameter] | None:
    try:
        return list(signature(function).parameters.values())
    except (TypeError, ValueError):  # some built-in functions do not say
        return None


def _is_needed(argument: Parameter) -> bool:
    return argument.default is Parameter.empty and argument.kind not in (
        Parameter.VAR_POSITIONAL,
        Parameter.VAR_KEYWORD,
    )


def _takes_one(arguments: Sequence[Parameter]) -> bool:
    """True if a function of one argument, which is not called ``outcome``, can only mean the one variable there is."""
    needed = [argument for argument in arguments if _is_needed(argument)]
    by_position = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return len(needed) == 1 and needed[0].kind in by_position and needed[0].name != "outcome"


def _looked_up(mapping: Mapping[Any, Any], levels: Levels) -> Caller:
    """A mapping of levels, or of tuples of levels, as a function; every key must name a combination, and every one be named."""
    entries = {}
    for key, value in mapping.items():
        cell = levels_of(key)
        if len(cell) != len(levels):
            raise ValueError(f"the mapping's key {key!r} does not name one level for each of {list(levels)}")
        indices = tuple(
            rank_of(level, name, labels) for level, (name, labels) in zip(cell, levels.items(), strict=True)
        )
        entries[tuple(labels[index] for labels, index in zip(levels.values(), indices, strict=True))] = value

    def look_up(cell: tuple[Any, ...]) -> Any:
        if cell not in entries:
            named = ", ".join(f"{name} = {level!r}" for name, level in zip(levels, cell, strict=True))
            raise ValueError(f"the mapping says nothing for {named}; give it a value for every combination of levels")
        return entries[cell]

    return look_up


def spread(values: NDArray[Any], names: Sequence[str], variables: Sequence[str]) -> NDArray[Any]:
    """The array over `names` with an axis for every variable, of length 1 for those that are not named."""
    order = sorted(range(len(names)), key=lambda axis: variables.index(names[axis]))
    sizes = dict(zip(names, values.shape, strict=True))
    return values.transpose(order).reshape([sizes.get(name, 1) for name in variables])


def as_truths(values: Objects, what: str) -> NDArray[np.bool_]:
    """The values of a predicate, every one True or False."""
    for value in values.flat:
        if not isinstance(value, bool | np.bool_ | int | np.integer) or value not in (0, 1):
            raise ValueError(f"{what} answered {value!r}, expected True or False; compare, as in face % 2 == 1")
    return values.astype(bool)


def as_numbers(values: Objects, what: str) -> NDArray[np.float64]:
    """The values of a function, every one a number."""
    for value in values.flat:
        if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
            raise ValueError(f"{what} has the value {value!r}, expected a number")
    return values.astype(np.float64)
