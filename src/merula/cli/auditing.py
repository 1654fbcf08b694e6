"""Commands for those who check: reproduce."""

from __future__ import annotations

from typing import Annotated

import typer

from merula.cli import options as ask
from merula.cli.console import Console


def reproduce(
    log: Annotated[
        str, typer.Argument(metavar="LOG", help="A record that --log of another command wrote.", show_default=False)
    ],
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...", help="The files of the models or networks that answered.", show_default=False
        ),
    ],
    entry: Annotated[
        list[int],
        typer.Option(
            "--entry",
            metavar="N",
            min=1,
            help="Reproduce the answer on this line of the record alone. May be repeated.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Work out past answers again from their record, and compare them bit for bit; exit code 1 where anything differs.

    \b
    Example:
      merula fit penguins --target species --model naive -o penguins.merula
      merula predict penguins.merula penguins -o answers.csv --log answers.log
      merula reproduce answers.log penguins.merula
    """
    from merula.cli.jobs.reproducing import reproduce as reproduced

    console = Console(quiet, as_json)
    with console.warnings_as_notes():
        found = reproduced(log, models, entry)
    for note in found.notes:
        console.note(note)
    console.result(found.told(), found.to_dict())
    if not found.is_sound:
        raise typer.Exit(1)
