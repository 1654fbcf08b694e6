"""Dataclasses, arrays and labels as data that strict JSON holds, and back again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite, isnan
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np


def to_plain(value: Any) -> Any:
    """The value as strict JSON holds it: dicts, lists, texts, finite numbers, true, false and null.

    A dataclass is a dict of its fields, a mapping whose keys are not all texts a list of pairs; infinite numbers are
    written by their names, not-a-number as null.

    Examples
    --------
    >>> to_plain({"evidence": (1.5, float("-inf")), "counts": {1: 2.0}})
    {'evidence': [1.5, '-inf'], 'counts': [[1, 2.0]]}
    """
    if is_dataclass(value):
        return {one.name: to_plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        items = [(key, to_plain(item)) for key, item in value.items()]
        return (
            dict(items)
            if all(isinstance(key, str) for key in value)
            else [[to_plain(key), item] for key, item in items]
        )
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return None if isnan(value) else str(value)
    return value


def from_plain(kind: Any, data: Any) -> Any:
    """What `to_plain` was given, of which `kind` is the type: a dataclass, whose hints say what its fields are, or any hint.

    Examples
    --------
    >>> from_plain(tuple[float, ...], [1.5, "-inf"]), from_plain(dict[int, float], [[1, 2.0]])
    ((1.5, -inf), {1: 2.0})
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind is float:
        return float("nan" if data is None else data)
    if data is None:
        return None
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{one.name: from_plain(hints[one.name], data[one.name]) for one in fields(kind)})  # type: ignore[operator]
    if type(None) in inner:
        (known,) = (one for one in inner if one is not type(None))
        return from_plain(known, data)
    if origin is np.ndarray:
        return np.array(data, dtype=get_args(inner[1])[0])
    if origin is not None and issubclass(origin, Mapping):
        pairs = data.items() if isinstance(data, Mapping) else data
        return {from_plain(inner[0], key): from_plain(inner[1], item) for key, item in pairs}
    if origin in (tuple, frozenset):
        kinds = inner if origin is tuple and inner[-1] is not ... else [inner[0]] * len(data)
        return origin(from_plain(one, item) for one, item in zip(kinds, data, strict=True))
    return data
