"""What a command says: results on standard output, notes and progress on standard error."""

from __future__ import annotations

import json
import re
import shutil
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

IN_PYTHON = (  # how the library asks for an option, and how the command line does
    (re.compile(r"(?:say |or )?kinds=\{'([^']*)': '(\w+)'\}"), r"say --kinds '\1=\2'"),
    # a parameter of an object that is shown, as in Histogram(bins=10, method='width'), stays as it is
    (
        re.compile(r"(?<![(\w'])(?<!, )(encoding|kinds|numeric|method|score|target|cv)=(?:'([\w-]+|…)'|(\d+))?"),
        r"--\1 \2\3",
    ),
    (re.compile(r"\bmax_parents=(\d*)"), r"--max-parents \1"),
    (re.compile(r", or sklearn\.[\w.]+\(\)"), ""),
    (re.compile(r"(--[\w-]+ [\w-]+) or '([\w-]+)'"), r"\1 or \2"),
)


@dataclass
class Voice:
    """How much is said, and in which form; notes are kept so that JSON can hold them."""

    quiet: bool = False
    as_json: bool = False
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Say on standard error what the user should know, each thing once."""
        line = one_line(text)
        if line not in self.notes:
            self.notes.append(line)
            if not self.quiet:
                print(f"note: {line}", file=sys.stderr)

    def result(self, text: str, data: Mapping[str, Any]) -> None:
        """Print what was found: text for people, one JSON object with the notes for machines."""
        if self.as_json:
            from merula.core.plain import to_plain  # loads NumPy, which --help need not wait for

            ascii_only = "utf" not in (getattr(sys.stdout, "encoding", None) or "utf").lower()
            print(json.dumps(to_plain({**data, "notes": self.notes}), ensure_ascii=ascii_only, allow_nan=False))
        elif text:
            print(text)

    @property
    def shows_progress(self) -> bool | None:
        """As the library takes it: never, or where a terminal is watching."""
        return False if self.quiet else None

    @contextmanager
    def heeding_warnings(self, but: tuple[type[Warning], ...] = ()) -> Iterator[None]:
        """While the library works, its warnings become notes, `but` those of some kinds."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            try:
                yield
            finally:
                for warning in caught:
                    if issubclass(warning.category, UserWarning) and not issubclass(warning.category, but):
                        self.note(str(warning.message))


def command_name() -> str:
    """What to type to run merula again: its name where the shell finds it, else the path it was run by."""
    return "merula" if shutil.which("merula") or not sys.argv[0].endswith("merula") else sys.argv[0]


def one_line(text: str) -> str:
    """A message on one line, in the words of the command line."""
    line = " ".join(text.split())
    for said, typed in IN_PYTHON:
        line = said.sub(typed, line)
    return line.replace("  ", " ")
