"""The command that shows the whole job once: demo."""

from __future__ import annotations

from typing import Annotated

import typer

from merula.cli import options as ask
from merula.cli.console import Voice


def demo(
    table: Annotated[str, typer.Argument(metavar="TABLE", help=ask.TABLE)] = "penguins",
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="The column that holds the class; needed for your own table.",
            show_default=False,
        ),
    ] = None,
    folder: Annotated[
        str, typer.Option("--folder", metavar="FOLDER", help="Where model and report are written.")
    ] = "merula-demo",
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Show the whole job once: evaluate, fit, explain a row, decide under costs, save, report.

    \b
    Examples:
      merula demo
      merula demo penguins --target sex
    """
    from merula.cli.jobs.demonstration import demonstrate

    voice, parts = Voice(quiet, as_json), []
    for part in demonstrate(table, target, folder, voice):
        parts.append(part.strip())
        if not as_json:
            typer.echo(part)
    voice.result("", {"parts": parts, "folder": folder})
