"""Objects as plain data: the state of a dataclass is every field by name."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Self


class PlainFields:
    """What dataclasses share whose fields are plain data and arrays: they become plain data, and are made from it."""

    def state(self) -> dict[str, Any]:
        """Plain data: numbers, words, lists, arrays, by the names of the fields."""
        return {field.name: _with_lists(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The object that `state` describes."""
        return cls(**{name: _with_tuples(value) for name, value in state.items()})


def _with_lists(value: Any) -> Any:
    """Tuples and ranges as lists, all the way down."""
    return [_with_lists(part) for part in value] if isinstance(value, tuple | list | range) else value


def _with_tuples(value: Any) -> Any:
    """Lists as tuples, all the way down."""
    if not isinstance(value, list):
        return value
    return tuple(_with_tuples(part) for part in value) if list in set(map(type, value)) else tuple(value)
