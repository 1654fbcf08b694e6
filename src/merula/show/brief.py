"""A result as one line, however much it holds: what a notebook or a terminal shows of it when nothing else was asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from merula.show.numbers import several

LONGEST, MOST = 60, 3  # of one value, and values that are listed one by one


def brief(result: Any) -> str:
    """A dataclass by its fields, in which tables and long lists are told by their size.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Birds:
    ...     names: list
    ...     weights: object
    ...     __repr__ = brief
    >>> import numpy as np
    >>> Birds(["wren", "tit"], np.zeros((1000, 2)))
    Birds(names=['wren', 'tit'], weights=<1000 × 2 array>)
    >>> Birds(list(range(40)), None)
    Birds(names=<40 values>, weights=None)
    """
    told = ", ".join(f"{field.name}={_value(getattr(result, field.name))}" for field in fields(result) if field.repr)
    return f"{type(result).__name__}({told})"


def _value(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if shape is not None:
        return f"<{' × '.join(map(str, shape))} array>" if shape else repr(value)
    if isinstance(value, Mapping) or (is_dataclass(value) and not isinstance(value, type)):
        return _unless_long(
            value, f"<{several(len(value), 'value')}>" if isinstance(value, Mapping) else type(value).__name__
        )
    if isinstance(value, Collection) and not isinstance(value, str | bytes):
        return (
            f"<{several(len(value), 'value')}>"
            if len(value) > MOST
            else _unless_long(value, f"<{several(len(value), 'value')}>")
        )
    return _unless_long(value, f"<{type(value).__name__}>")


def _unless_long(value: Any, otherwise: str) -> str:
    if isinstance(value, Collection) and any(hasattr(part, "shape") for part in value):
        return otherwise
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…" if isinstance(value, str) else otherwise
