"""The `merula` command: it parses, calls one job, and prints what came back."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from contextlib import suppress

NEEDED = "the merula command needs the packages typer and pyarrow: pip install 'merula[cli]'"


def main() -> None:
    """Run the command that the shell asked for, and end with its exit code."""
    gc.set_threshold(
        100_000, 50, 1_000
    )  # loading libraries makes many objects that stay: looking for garbage among them took 0.4 s
    try:
        from merula.cli.app import app
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "typer":
            raise
        sys.exit(NEEDED)
    codes: list[object] = []
    atexit.register(_leave, codes)  # the first to be registered is the last to be called
    try:
        app()
    except SystemExit as ended:
        codes.append(ended.code)
        raise


def _leave(codes: list[object]) -> None:
    """End the process before the interpreter is taken down: a thread of Arrow that still holds one of its objects would then abort it."""
    if codes and isinstance(codes[0], int):
        for stream in (sys.stdout, sys.stderr):
            with suppress(AttributeError, OSError, ValueError):  # closed, or full, which was said before
                stream.flush()
        os._exit(codes[0])
