"""The `merula` command: it parses, calls one job, and prints what came back."""

from __future__ import annotations

import sys

NEEDED = "the merula command needs the packages typer and pyarrow: pip install 'merula[cli]'"


def main() -> None:
    """Run the command that the shell asked for, and end with its exit code."""
    try:
        from merula.cli.app import app
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "typer":
            raise
        sys.exit(NEEDED)
    app()
