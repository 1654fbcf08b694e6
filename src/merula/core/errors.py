"""Bad input as data: what was got, where, what was expected and what to do, for Python, the command line and the web to phrase."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Option:
    """A parameter that a message names: each voice writes it in its own way.

    Examples
    --------
    >>> print(Option("kinds", "text", column="remarks"))
    kinds={'remarks': 'text'}
    >>> print(Option("encoding"))
    encoding=
    """

    name: str
    value: Any = None
    column: str | None = None

    def __str__(self) -> str:
        value = "" if self.value is None else repr(self.value)
        return f"{self.name}={value}" if self.column is None else f"{self.name}={{{self.column!r}: {value}}}"


Message = str | tuple[str | Option, ...]


def phrase(message: Message, write: Callable[[Option], str] = str) -> str:
    """The message as one text, with the options it names written by `write`."""
    return (
        message
        if isinstance(message, str)
        else "".join(write(part) if isinstance(part, Option) else part for part in message)
    )


class InputError(ValueError):
    """Something given cannot be used; nothing was changed.

    Attributes
    ----------
    problem : what is wrong, as a sentence
    where : the column, parameter, file or line, or None
    got : what was given, or None
    expected : what would have been accepted, or None
    remedy : what to do, or None

    Examples
    --------
    >>> import merula as mr
    >>> error = mr.InputError("n_jobs is 0", where="n_jobs", got=0, expected="a number from 1", remedy="leave it out")
    >>> print(error)
    n_jobs is 0, expected a number from 1; leave it out
    >>> error.where, error.got, isinstance(error, ValueError)
    ('n_jobs', 0, True)
    """

    def __init__(
        self,
        problem: Message,
        *,
        where: str | None = None,
        got: Any = None,
        expected: Message | None = None,
        remedy: Message | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem, self.where, self.got, self.expected, self.remedy = problem, where, got, expected, remedy

    def phrased(self, write: Callable[[Option], str] = str) -> str:
        """The whole message, with the options it names written by `write`."""
        expected = "" if self.expected is None else f", expected {phrase(self.expected, write)}"
        remedy = "" if self.remedy is None else f"; {phrase(self.remedy, write)}"
        return phrase(self.problem, write) + expected + remedy

    def __str__(self) -> str:
        return self.phrased()

    def __reduce__(self) -> Any:  # fields given by name survive a process pool
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[InputError], arguments: tuple[Any, ...], fields: dict[str, Any]) -> InputError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(fields)
    return error


InputError.__module__ = "merula"  # where users find it
