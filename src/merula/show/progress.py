"""A progress bar on standard error, where someone is there to see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec

from merula.core import InputError
from merula.show.text import visible

_within: ContextVar[Callable[[str], None] | None] = ContextVar("what names a part of the bar's step", default=None)


@contextmanager
def progress_bar(total: int | None, progress: bool | None) -> Iterator[Callable[[str], None]]:
    """A function that names the next of `total` steps (None: nobody knows how many); it draws nothing where no bar is wanted."""
    if not _wanted(progress):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    begun: list[str] = []
    columns = SpinnerColumn("line"), TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()  # fmt: skip
    with Progress(*columns, console=console, transient=console.is_terminal) as bar:
        task = bar.add_task("", total=total)

        def step(name: str) -> None:
            bar.update(task, description=visible(name), completed=len(begun))
            begun.append(name)

        outer = _within.set(lambda part: bar.update(task, description=visible(f"{begun[-1]}: {part}" if begun else part)))  # fmt: skip
        try:
            yield step
            bar.update(task, completed=total)
        finally:
            _within.reset(outer)


def name_part(part: str) -> None:
    """Say what is being done within a long step, where a bar is shown."""
    if name := _within.get():
        name(part)


def _wanted(progress: bool | None) -> bool:
    if progress not in (None, True, False):
        raise InputError.of("progress", progress, "True, False, or None for 'if a terminal is watching'")
    installed = find_spec("rich") is not None
    if progress and not installed:
        raise ImportError("progress=True needs the package rich, which is not installed: pip install 'merula[cli]'")
    if progress is None:
        return installed and sys.stderr is not None and sys.stderr.isatty()
    return progress
