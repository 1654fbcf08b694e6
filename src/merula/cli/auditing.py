"""Commands for those who check: dossier, reproduce."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from merula.cli import options as ask
from merula.cli.console import Console

DOSSIER = "dossier.html"  # written unless another name is stated
Part = StrEnum("Part", ["card", "model", "data", "performance", "sensitivity", "limits", "origin"])

Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="The column that holds the class; that of the model unless given.",
        show_default=False,
    ),
]
About = Annotated[
    str | None,
    typer.Option(
        "--about",
        metavar="FILE",
        help="What only people know, such as purpose and population: a .yaml, .toml or .json file.",
        show_default=False,
    ),
]
Title = Annotated[
    str | None,
    typer.Option("--title", metavar="TEXT", help="What stands above the dossier.", show_default=False),
]
Only = Annotated[
    Part | None,
    typer.Option("--only", help="Print this part alone, and write no file.", show_default=False),
]


@ask.reads_a_file
def dossier(
    model: ask.ModelFile,
    table: Annotated[
        str, typer.Option("--table", metavar="TABLE", help="The table that the model learned from.", show_default=False)
    ],
    target: Target = None,
    about: About = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write: .html, .md or .json.")
    ] = DOSSIER,
    test: ask.Test = None,
    by: ask.By = [],  # noqa: B006
    act_on: ask.ActOn = None,
    cv: ask.Folds = None,
    repeats: ask.Repeats = None,
    groups: ask.Groups = None,
    by_time: ask.ByTime = None,
    costs: ask.Costs = None,
    weight: ask.Weight = None,
    title: Title = None,
    only: Only = None,
    file: ask.File = None,
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Write a model card that is filled from the model, its table, an evaluation and a short file of what only people know.

    The model in the file, which has seen the table, is not measured on it: models with its options are fitted anew, fold by fold, or on
    the whole table for the rows of --test. Every part names the command that prints its numbers.

    \b
    Examples:
      merula fit penguins --target species --model naive -o penguins.merula
      merula dossier penguins.merula --table penguins --by sex -o penguins.html
    """
    from merula.cli.jobs.dossier import Wanted, dossier_file
    from merula.cli.jobs.task import Asked

    console = Console(quiet, as_json)
    part = None if only is None else only.value
    wanted = Wanted(model, about, test, by, act_on, cv, repeats, costs, title, part)
    asked = Asked(table, target or "", (), (), weight, groups, file, by_time)
    found = dossier_file(wanted, asked, output, console)
    if part is None:
        answered, stated = found.answered
        console.result(f"{found}\ndossier: {output}", {"dossier": output, "answered": answered, "stated": stated})
    else:
        from merula.report.dossier.markdown import section_markdown
        from merula.report.dossier.sections import sections_of

        told = [section for section in sections_of(found) if part != "card" or section.key in ("summary", "card")]
        console.result("\n\n".join(map(section_markdown, told)), found.to_dict())


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
