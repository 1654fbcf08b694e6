"""Bad input as data: what was got, where, what was expected and what to do, for Python, the command line and the web to phrase."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

LONGEST_PART = 500  # characters that a damaged file may put into one part of an error
LONGEST_WORD = 1_000  # characters without a blank in any message: longer than paths and addresses that people have


@dataclass(frozen=True)
class Option:
    """A parameter that a message names: each voice writes it in its own way.

    A tuple of values says that any of them will do.

    Examples
    --------
    >>> print(Option("kinds", "text", column="remarks"))
    kinds={'remarks': 'text'}
    >>> print(Option("encoding"), Option("score", ("bic", "aic")))
    encoding= score='bic' or 'aic'
    >>> print(Option("levels", column="remarks"))
    levels={'remarks': …}
    """

    name: str
    value: Any = None
    column: str | None = None

    @property
    def values(self) -> tuple[Any, ...]:
        """The values that will do; none where the option alone is named."""
        return self.value if isinstance(self.value, tuple) else () if self.value is None else (self.value,)

    def __str__(self) -> str:
        first, *others = map(repr, self.values or ("",))
        first = first if self.values else "" if self.column is None else "…"
        first = first if self.column is None else f"{{{self.column!r}: {first}}}"
        return " or ".join([f"{self.name}={first}", *others])


@dataclass(frozen=True)
class InPython:
    """Words for those who call merula from Python; the other voices leave them out, or the command line has its own.

    Examples
    --------
    >>> phrase(("use a smaller sample", InPython(", or raise limit=")))
    'use a smaller sample, or raise limit='
    """

    text: str
    typed: str = ""

    def __str__(self) -> str:
        return self.text


Part = str | Option | InPython
Message = str | tuple[Part, ...]
Write = Callable[[Option | InPython], str]


def phrase(message: Message, write: Write = str) -> str:
    """The message as one text, what is not text in it written by `write`, and no name or cell in it endless."""
    return bounded("".join(part if isinstance(part, str) else write(part) for part in _parts(message)))


def bounded(text: str) -> str:
    """The text without the middle of words that are endless: names and cells that something else than a person wrote.

    Examples
    --------
    >>> len(bounded("column '" + "x" * 100_000 + "' is constant"))
    1022
    """
    return re.sub(rf"\S{{{LONGEST_WORD + 1},}}", lambda word: _without_middle(word[0], LONGEST_WORD), text)


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
        self.where, self.got = where, got
        self.told = {"problem": problem, "expected": expected, "remedy": remedy}  # with the options each voice writes
        self.problem, self.expected, self.remedy = (part and phrase(part) for part in self.told.values())
        super().__init__(self.phrased())

    @classmethod
    def of(cls, where: str, got: Any, expected: Message | None = None, remedy: Message | None = None) -> Self:
        """The error that `where` is `got`, in the commonest words."""
        return cls(f"{where} is {got!r}", where=where, got=got, expected=expected, remedy=remedy)

    @classmethod
    def at(cls, where: str, told: Message, **fields: Any) -> Self:
        """The error that a sentence beginning with `where` tells; `fields` are those of the class."""
        return cls((f"{where} ", *_parts(told)), where=where, **fields)

    def phrased(self, write: Write = str) -> str:
        """The whole message, with the options it names written by `write`."""
        problem, expected, remedy = (None if part is None else phrase(part, write) for part in self.told.values())
        return (
            f"{problem}{'' if expected is None else f', expected {expected}'}{'' if remedy is None else f'; {remedy}'}"
        )

    def __reduce__(self) -> Any:  # fields given by name survive a process pool
        return _restored, (type(self), self.args, self.__dict__)


def fields_of(error: ValueError) -> dict[str, Any]:
    """What an error says, by the names of `InputError`'s fields; of another's error all is the problem."""
    if not isinstance(error, InputError):
        return {"problem": str(error)}
    return {**error.told, "where": error.where, "got": error.got}


def located(error: ValueError, where: str, link: str = ": ") -> InputError:
    """The same error, told of a file, a line or a part of it, each of its parts on one line and not endless.

    Examples
    --------
    >>> error = located(InputError("P(rain) sums to 0.9", where="P(rain)", got=0.9, expected="1"), "line 7")
    >>> print(error)
    line 7: P(rain) sums to 0.9, expected 1
    >>> error.where, error.got
    ('line 7, P(rain)', 0.9)
    """
    fields = fields_of(error)
    inner = fields.get("where")
    told = {name: _one_line(fields[name]) for name in ("expected", "remedy") if fields.get(name) is not None}
    problem = (f"{where}{link}", *_one_line(fields["problem"]))
    found = InputError(problem, where=f"{where}, {inner}" if inner else where, got=fields.get("got"), **told)
    found.__dict__.update({name: value for name, value in error.__dict__.items() if name == "__notes__"})
    return found


def renamed(error: InputError, words: Mapping[str, str], options: Mapping[str, str]) -> InputError:
    """The same error with other words for things, and its options under other names.

    Examples
    --------
    >>> error = InputError(("column 'y' is numeric: use ", Option("score", "bic")), where="column 'y'")
    >>> print(renamed(error, {"'y'": "'class'"}, {"score": "structure_score"}))
    column 'class' is numeric: use structure_score='bic'
    """

    def told(message: Message | None) -> Any:
        return None if message is None else tuple(
            part if isinstance(part, InPython) else replace(part, name=options.get(part.name, part.name)) if isinstance(part, Option) else _replaced(part, words)
            for part in _parts(message)
        )  # fmt: skip

    parts = {name: told(message) for name, message in error.told.items()}
    return InputError(**parts, where=error.where and _replaced(error.where, words), got=error.got)


def _replaced(text: str, words: Mapping[str, str]) -> str:
    for old, new in words.items():
        text = text.replace(old, new)
    return text


def _one_line(message: Message) -> tuple[Part, ...]:
    """The parts of a message without line breaks, and without the middle of what a damaged file made endless."""
    return tuple(_shortened(part) if isinstance(part, str) else part for part in _parts(message))


def _shortened(text: str) -> str:
    return re.sub(r"\s+", " ", text if len(text) <= LONGEST_PART else _without_middle(text, LONGEST_PART))


def _without_middle(text: str, longest: int) -> str:
    half = longest // 2
    return f"{text[:half]} … {text[-half:]}"


def _parts(message: Message) -> tuple[Part, ...]:
    return (message,) if isinstance(message, str) else message


def _restored(kind: type[InputError], arguments: tuple[Any, ...], fields: dict[str, Any]) -> InputError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(fields)
    return error
