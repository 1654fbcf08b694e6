"""Events: sets of outcomes, stated by levels, by sets of levels, or by a predicate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.core.checks import one_of
from merula.graphs.factors.functions import as_truths, evaluated, spread
from merula.graphs.factors.names import Levels, rank_of

Truths = NDArray[np.bool_]


def joined(event: Any, keywords: Mapping[str, Any]) -> Any:
    """An event stated as a mapping, by keywords, or as both; a predicate stands alone."""
    if not keywords:
        return {} if event is None else event
    if event is None:
        return keywords
    if not isinstance(event, Mapping):
        raise ValueError(f"got {event!r} and {dict(keywords)!r}; state one event, as a mapping or as a predicate")
    twice = next((name for name in keywords if name in event), None)
    if twice is not None:
        raise ValueError(f"{twice!r} is stated twice: {event[twice]!r} and {keywords[twice]!r}")
    return {**event, **keywords}


def constraints(event: Any, levels: Levels) -> list[Truths]:
    """What an event demands: arrays of True and False with an axis for each variable, of length 1 where it is free."""
    variables = tuple(levels)
    if callable(event):
        names, values = evaluated(event, levels)
        return [spread(as_truths(values, "the event's predicate"), names, variables)]
    if not isinstance(event, Mapping):
        raise ValueError(f"the event is {event!r}, expected {{variable: level or set of levels}} or a predicate")
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
        raise ValueError(f"{name!r} is stated as {dict(demand)!r}, expected a level or a set of levels; a likelihood for each level is evidence for a BayesianNetwork")  # fmt: skip
    wanted = demand if is_set(demand) else [demand]
    truths = np.zeros(len(levels), dtype=bool)
    truths[[rank_of(level, name, levels) for level in wanted]] = True
    return truths


def is_set(demand: Any) -> bool:
    """True if several levels may be meant, not one."""
    return isinstance(demand, Iterable) and not isinstance(demand, str | bytes) and getattr(demand, "ndim", 1) > 0


def restricted(values: Array, demands: list[Truths]) -> Array:
    """The probabilities of the outcomes that meet every demand, 0 for the others."""
    return reduce(np.multiply, demands, values)


def settled(event: Any, levels: Levels) -> dict[str, int]:
    """The variables that an event sets to one level, with its place."""
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
    parts = []
    for name, demand in event.items():
        if callable(demand):
            parts.append(f"{name} by a predicate")
        else:
            parts.append(f"{name} in {list(demand)!r}" if is_set(demand) else f"{name} = {demand!r}")
    return "the evidence " + ", ".join(parts)
