"""Methods that only some models have, and that say why the others do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class available_unless:  # noqa: N801 - a decorator
    """A method that is not there where `reason` gives one; asked for all the same, the AttributeError tells it.

    scikit-learn's ``available_if`` is alike, but leaves the reason to the traceback.

    Examples
    --------
    >>> class Bird:
    ...     @available_unless(lambda bird: "penguins swim")
    ...     def fly(self): ...
    >>> hasattr(Bird(), "fly")
    False
    >>> Bird().fly()
    Traceback (most recent call last):
        ...
    AttributeError: Bird has no attribute 'fly': penguins swim
    """

    def __init__(self, reason: Callable[[Any], str]) -> None:
        self.reason = reason

    def __call__(self, function: Callable[..., Any]) -> Any:
        """The method."""
        return _Method(self.reason, function)


class _Method:
    def __init__(self, reason: Callable[[Any], str], function: Callable[..., Any]) -> None:
        self.reason, self.function = reason, function
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self.__wrapped__ = function

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        if owner is None:
            return self.function
        if why := self.reason(owner):
            raise AttributeError(f"{type(owner).__name__} has no attribute {self.__name__!r}: {why}", obj=owner)
        return self.function.__get__(owner, kind)
