"""What users should know beside the answer, as data; the estimators turn it into warnings."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from merula.core.errors import Message, Write, phrase

_kept_back: ContextVar[list[Note] | None] = ContextVar("notes that are kept back, if they are", default=None)


@dataclass(frozen=True)
class Note:
    """One thing to know: the warning it is in Python, the sentence, and the column it is about, if any.

    Examples
    --------
    >>> print(Note(UserWarning, "column 'colour' holds level 'mauve', never seen at fit", column="colour"))
    column 'colour' holds level 'mauve', never seen at fit
    """

    category: type[Warning]
    message: Message
    column: str | None = None

    def phrased(self, write: Write = str) -> str:
        """The sentence, with the options it names written by `write`."""
        return phrase(self.message, write)

    def __str__(self) -> str:
        return self.phrased()


@dataclass(frozen=True)
class SaidNote:
    """A note that was said, and the column that it is about, if it is about one."""

    text: str
    column: str | None = None


class Mentioned(Note):
    """A note for those alone who keep notes back."""


@contextmanager
def kept_back() -> Iterator[list[Note]]:
    """While it is open, notes of this package are no warnings but come into this list.

    Unlike `warnings.catch_warnings`, it concerns nobody but the caller, whatever other threads do meanwhile.

    Examples
    --------
    >>> with kept_back() as notes:
    ...     warn_user("the first line is no header", UserWarning)
    >>> print(*notes)
    the first line is no header
    """
    notes = list[Note]()
    before = _kept_back.set(notes)
    try:
        yield notes
    finally:
        _kept_back.reset(before)


@contextmanager
def silenced() -> Iterator[None]:
    """While it is open, notes of this package are no warnings: what there is to know was said before.

    Examples
    --------
    >>> with silenced():
    ...     warn_user("said already", UserWarning)
    """
    with kept_back():
        yield


def mention(message: Message) -> None:
    """A note for who keeps notes back to tell everything that was decided; nobody else is bothered with it.

    Examples
    --------
    >>> with kept_back() as notes:
    ...     mention("cells are parted by ';'")
    >>> print(*notes)
    cells are parted by ';'
    """
    kept = _kept_back.get()
    if kept is not None:
        kept.append(Mentioned(UserWarning, message))


def warn_of(notes: Iterable[Note]) -> None:
    """One warning for each note, pointing at the line outside this package that asked; the warning carries its note."""
    kept = _kept_back.get()
    if kept is not None:
        kept += notes
        return
    level = _level_outside()
    for note in notes:
        warning = note.category(str(note))
        warning.note = note  # type: ignore[attr-defined]
        warnings.warn(warning, stacklevel=level)


def tell_again(notes: Iterable[Note]) -> None:
    """Tell notes that were kept back as if they were new: of what was a mention, none but those hear who keep notes back.

    Examples
    --------
    >>> with kept_back() as first:
    ...     mention("cells are parted by ';'")
    >>> tell_again(first)
    """
    for note in notes:
        if isinstance(note, Mentioned):
            mention(note.message)
        else:
            warn_of([note])


def warn_user(message: Message, category: type[Warning]) -> None:
    """A warning that points at the line outside this package that asked."""
    warn_of([Note(category, message)])


def _level_outside() -> int:
    """How far up from the caller of this function the first frame is that is not merula's."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "merula":
        frame, level = frame.f_back, level + 1
    return level
