"""The `merula` command: it parses, calls one job, and prints what came back."""

from __future__ import annotations

import gc
import sys

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
    app()
