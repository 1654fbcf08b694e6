"""What a command says: results on standard output, notes and progress on standard error."""

from __future__ import annotations

import json
import shutil
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

from merula.show.terminal import print_colored, shows_colors
from merula.show.text import OBEYED, counted_alike, visible

if TYPE_CHECKING:
    from merula.core.notes import SaidNote

OTHERWISE = ("missing",)  # options of the library that a command has in another sense
OPTIONS: ContextVar[Collection[str]] = ContextVar("the options of the command that is run", default=())


@dataclass
class Console:
    """How much is said, and in which form; notes are kept so that JSON can hold them."""

    quiet: bool = False
    as_json: bool = False
    notes: list[str] = field(default_factory=list)
    said: list[SaidNote] = field(default_factory=list)
    known: set[str] = field(default_factory=set)

    def note(self, text: str, column: str | None = None) -> None:
        """Say on standard error what the user should know, each thing once: also where its numbers differ, as those of folds do."""
        line = one_line(text)
        if counted_alike(line) not in self.known:
            self.known.add(counted_alike(line))
            self.notes.append(line)
            self.said.append(_said(line, column))
            if not self.quiet:
                say(f"note: {line}", sys.stderr)

    def remember(self, notes: Iterable[SaidNote]) -> None:
        """Do not say again what was said before: when the model that is asked was fitted."""
        self.known |= {counted_alike(note.text) for note in notes}

    def result(self, text: str, data: Mapping[str, Any] | Sequence[Any]) -> None:
        """Print what was found: text for people, for machines one JSON object with the notes, or a list of what has its own."""
        if self.as_json:
            from merula.core.plain import to_plain  # on first use: help needs no arrays

            whole = {**data, "notes": self.notes} if isinstance(data, Mapping) else list(data)
            ascii_only = "utf" not in (getattr(sys.stdout, "encoding", None) or "utf").lower()
            written = json.dumps(to_plain(whole), ensure_ascii=ascii_only, allow_nan=False)
            print(OBEYED.sub(lambda sign: f"\\u{ord(sign[0]):04x}", written))  # the same JSON, harmless to a terminal
        elif text:
            say(text)

    @property
    def shows_progress(self) -> bool | None:
        """As the library takes it: never, or where a terminal is watching."""
        return False if self.quiet else None

    @contextmanager
    def warnings_as_notes(self, but: tuple[type[Warning], ...] = ()) -> Iterator[None]:
        """While the library works, its warnings become notes, `but` those of some kinds."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            try:
                yield
            finally:
                for warning in caught:
                    if issubclass(warning.category, UserWarning) and not issubclass(warning.category, but):
                        self.note(
                            phrased(warning.message), getattr(getattr(warning.message, "note", None), "column", None)
                        )


def _said(text: str, column: str | None) -> SaidNote:
    from merula.core.notes import SaidNote  # on first use: help needs no arrays

    return SaidNote(text, column)


def command_name() -> str:
    """What to type to run merula again: its name where the shell finds it, else the path it was run by."""
    return "merula" if shutil.which("merula") or not sys.argv[0].endswith("merula") else sys.argv[0]


def phrased(told: Any) -> str:
    """What an error or a warning says, the options it names written as they are typed; the Python in it is left out."""
    told = getattr(told, "note", told)
    return told.phrased(typed) if hasattr(told, "phrased") else str(told)


def typed(part: Any) -> str:
    """An `Option` as the command takes it, in plain words where the command does not have it; nothing for Python alone.

    Examples
    --------
    >>> from merula.core.errors import Option
    >>> _ = OPTIONS.set({"kinds", "max_parents", "missing"})
    >>> typed(Option("kinds", ("text", "ignore"), column="remarks")), typed(Option("max_parents", 4))
    ("--kinds 'remarks=text' or 'remarks=ignore'", '--max-parents 4')
    >>> typed(Option("missing", "level")), typed(Option("missing", ["-9"]))
    ('missing level', "--missing '-9'")
    >>> typed(Option("equivalent_sample_size")), typed(Option("score", ("bic", "aic")))
    ('equivalent sample size', 'score bic or aic')
    """
    if not hasattr(part, "values"):
        return str(part.typed)
    of_a_file = isinstance(part.value, list)  # words that a file holds
    known = part.name in OPTIONS.get() and (of_a_file or part.name not in OTHERWISE)
    name = f"--{part.name.replace('_', '-')}" if known else part.name.replace("_", " ")
    of = "" if part.column is None else f"{part.column}=".replace("'", "'\"'\"'")
    given = () if known and part.value is True else part.value if of_a_file else part.values
    values = [f"'{of}{value}'" if of or of_a_file or value == "," else str(value) for value in given]
    return f"{name} {' or '.join(values)}".rstrip()


def one_line(text: str) -> str:
    """A message on one line, no name or cell in it endless."""
    from merula.core.errors import bounded  # on first use: help needs no arrays

    return bounded(" ".join(text.split()))


def say(text: str, stream: TextIO | None = None) -> None:
    """Print what people read: the one way to the terminal, on which no sign in it is obeyed."""
    stream = stream or sys.stdout
    if shows_colors(stream):
        print_colored(visible(text), stream)
    else:
        print(visible(text), file=stream)


@contextmanager
def compilation_told(quiet: bool) -> Iterator[None]:
    """Tell who watches a terminal that loops are being compiled, which may take a minute the first time, and how long it took."""
    from merula.core.compilation import watched_compilation  # on first use: help needs no arrays

    told = not quiet and sys.stderr is not None and sys.stderr.isatty()

    def begun(kept: bool) -> None:
        say(f"compiling loops{', once for this installation' if kept else ''} …", sys.stderr)

    with watched_compilation(begun if told else None) as compiled:
        yield
    if told and compiled.loops:
        faster = "; the next run is faster" if compiled.kept else ""
        say(f"compiling took {compiled.seconds:.0f} s of this{faster}", sys.stderr)


@contextmanager
def stray_warnings_as_notes(quiet: bool) -> Iterator[None]:
    """Warnings outside a job, such as those of loading the library, are notes too; those of other libraries stay as they are."""
    with warnings.catch_warnings():
        others = warnings.showwarning

        def show(message: Any, category: type[Warning], *where: Any, **also: Any) -> None:
            if not issubclass(category, UserWarning):
                others(message, category, *where, **also)
            elif not quiet:
                say(f"note: {one_line(phrased(message))}", sys.stderr)

        warnings.showwarning = show
        yield
