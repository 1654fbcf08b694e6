"""Events and functions of random variables: levels, sets of levels and predicates as arrays over combinations of levels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from inspect import Parameter, signature
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError, one_of
from merula.graphs.factors.names import Levels, chosen, levels_of, rank_of

Truths = NDArray[np.bool_]
Objects = NDArray[Any]
Caller = Callable[[tuple[Any, ...]], Any]


def joined(event: Any, keywords: Mapping[str, Any]) -> Any:
    """An event stated as a mapping, by keywords, or as both; a predicate stands alone."""
    if not keywords:
        return {} if event is None else event
    if event is None:
        return keywords
    if not isinstance(event, Mapping):
        raise InputError(f"got {event!r} and {dict(keywords)!r}", remedy="state one event, as a mapping or as a predicate")  # fmt: skip
    twice = next((name for name in keywords if name in event), None)
    if twice is not None:
        raise InputError(f"{twice!r} is stated twice: {event[twice]!r} and {keywords[twice]!r}", where=f"variable {twice!r}")  # fmt: skip
    return {**event, **keywords}


def constraints(event: Any, levels: Levels) -> list[Truths]:
    """What an event demands: arrays of True and False with an axis for each variable, of length 1 where it is free."""
    variables = tuple(levels)
    if callable(event):
        names, values = evaluated(event, levels)
        return [spread(as_truths(values, "the event's predicate"), names, variables)]
    if not isinstance(event, Mapping):
        raise InputError(f"the event is {event!r}", expected="{variable: level or set of levels} or a predicate")
    for name in event:
        one_of(name, variables, "a variable of the event")
    return [spread(allowed(demand, name, levels[name]), (name,), variables) for name, demand in event.items()]


def allowed(demand: Any, name: str, levels: tuple[Any, ...]) -> Truths:
    """Which of a variable's levels are meant by one level, by a set of them, or by a predicate."""
    if callable(demand):
        values = np.empty(len(levels), dtype=object)
        values[:] = [demand(level) for level in levels]
        return as_truths(values, f"the predicate of {name!r}")
    if isinstance(demand, Mapping):
        raise InputError(f"{name!r} is stated as {dict(demand)!r}", where=f"variable {name!r}", expected="a level or a set of levels", remedy="a likelihood for each level is evidence for a BayesianNetwork")  # fmt: skip
    truths = np.zeros(len(levels), dtype=bool)
    truths[[rank_of(level, name, levels) for level in (demand if is_set(demand) else [demand])]] = True
    return truths


def is_set(demand: Any) -> bool:
    """True if several levels may be meant, not one."""
    return isinstance(demand, Iterable) and not isinstance(demand, str | bytes) and getattr(demand, "ndim", 1) > 0


def restricted(values: Array, demands: list[Truths]) -> Array:
    """The probabilities of the outcomes that meet every demand, 0 for the others."""
    return reduce(np.multiply, demands, values)


def fixed_levels(event: Any, levels: Levels) -> dict[str, int]:
    """The variables that an event sets to one level, with its index."""
    if not isinstance(event, Mapping):
        return {}
    return {
        name: rank_of(demand, name, levels[name])
        for name, demand in event.items()
        if not callable(demand) and not is_set(demand)
    }


def described(event: Any) -> str:
    """An event in words, for a message."""
    if not isinstance(event, Mapping):
        return "the evidence of the predicate"
    return "the evidence " + ", ".join(
        f"{name} by a predicate"
        if callable(demand)
        else f"{name} in {list(demand)!r}"
        if is_set(demand)
        else f"{name} = {demand!r}"
        for name, demand in event.items()
    )


# Functions, evaluated once for every combination of the levels they ask for ---------------------------------------------


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
        raise InputError(f"got {function!r}", expected=f"a function of the variables {list(levels)} or a mapping of their levels")  # fmt: skip
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
        raise InputError(f"{function!r} does not say the names of its arguments", remedy="name the variables to pass with of=[…]")  # fmt: skip
    if any(argument.kind is Parameter.VAR_KEYWORD for argument in arguments):
        return everything, lambda cell: function(**dict(zip(everything, cell, strict=True)))
    asked = tuple(argument.name for argument in arguments if argument.name in levels)
    needed = [argument.name for argument in arguments if argument.name not in levels and _is_needed(argument)]
    if needed == ["outcome"] and not asked:
        return everything, lambda cell: function(dict(zip(everything, cell, strict=True)))
    if needed or not asked:
        raise InputError(f"the function's arguments are {[argument.name for argument in arguments]}", expected=f"names of variables: {list(levels)}", remedy="or one argument called 'outcome' for the dict of all, or of=[…] to pass by position")  # fmt: skip
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
            raise InputError.at(f"the mapping's key {key!r}", f"does not name one level for each of {list(levels)}")
        indices = tuple(
            rank_of(level, name, labels) for level, (name, labels) in zip(cell, levels.items(), strict=True)
        )
        entries[tuple(labels[index] for labels, index in zip(levels.values(), indices, strict=True))] = value

    def look_up(cell: tuple[Any, ...]) -> Any:
        if cell not in entries:
            named = ", ".join(f"{name} = {level!r}" for name, level in zip(levels, cell, strict=True))
            raise InputError(f"the mapping says nothing for {named}", remedy="give it a value for every combination of levels")  # fmt: skip
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
            raise InputError.at(what, f"answered {value!r}", expected="True or False", remedy="compare, as in face % 2 == 1")  # fmt: skip
    return values.astype(bool)


def as_numbers(values: Objects, what: str) -> NDArray[np.float64]:
    """The values of a function, every one a number."""
    for value in values.flat:
        if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
            raise InputError.at(what, f"has the value {value!r}", got=value, expected="a number")
    return values.astype(np.float64)
