"""A progress bar on standard error, where someone is there to see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from merula.core import InputError
from merula.show.text import visible


@contextmanager
def progress_bar(total: int | None, progress: bool | None) -> Iterator[Callable[[str], None]]:
    """A function that names the next of `total` steps (None: nobody knows how many); it draws nothing where no bar is wanted."""
    if not _wanted(progress):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=console.is_terminal) as bar:
        task = bar.add_task("", total=total)
        yield lambda step: bar.update(task, description=escape(visible(step)), advance=1)


def _wanted(progress: bool | None) -> bool:
    if progress not in (None, True, False):
        raise InputError.of("progress", progress, "True, False, or None for 'if a terminal is watching'")
    installed = find_spec("rich") is not None
    if progress and not installed:
        raise ImportError("progress=True needs the package rich, which is not installed: pip install 'merula[cli]'")
    if progress is None:
        return installed and sys.stderr is not None and sys.stderr.isatty()
    return progress
