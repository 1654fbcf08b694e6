"""Commands that ask a saved model, or hand it on: predict, explain, sql, page, info."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from merula.cli import options as ask
from merula.cli.console import Console

CHANGED = 3  # the exit code where rows are not what a model learned from


@ask.reads_a_file
def predict(
    model: ask.ModelFile,
    table: ask.Table,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write: .csv, .tsv, .jsonl, .parquet, .arrow, or - for standard output.",
        ),
    ] = "-",
    costs: ask.Costs = None,
    append: Annotated[
        bool, typer.Option("--append", help="Write the table's own columns too, before the answers.")
    ] = False,
    for_spreadsheets: Annotated[
        bool,
        typer.Option(
            "--for-spreadsheets",
            help="Put an apostrophe before words that a spreadsheet would run as a formula, such as =1+1.",
        ),
    ] = False,
    log: ask.Log = None,
    file: ask.File = None,
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Tell the class of every row, the probability of each class, and the best action where there are costs.

    \b
    Example:
      merula fit penguins --target species -o penguins.merula
      merula predict penguins.merula penguins -o answers.csv
    """
    from merula.cli.jobs.answering import predict_file

    console = Console(quiet, as_json)
    rows = predict_file(model, table, output, console, costs, append, for_spreadsheets, file, log)
    if output != "-":
        console.result(f"{rows:,} rows: {output}", {"rows": rows, "output": output})


@ask.reads_a_file
def explain(
    model: ask.ModelFile,
    table: ask.Table,
    row: Annotated[
        list[str],
        typer.Option(
            "--row",
            metavar="ROW",
            help="Which row: its number from 1, several as 3-7, or all that hold a value in a key column, as 'customer id=0042'. May be repeated.",
        ),
    ] = ["1"],  # noqa: B006
    label: Annotated[
        str | None,
        typer.Option(
            "--label", metavar="CLASS", help="The class to explain; else the most probable one.", show_default=False
        ),
    ] = None,
    top: Annotated[
        str | None,
        typer.Option(
            "--top",
            metavar="N",
            help="How many columns or effects stand on a line of their own, the largest; the others are added up on one line. By default a screenful; all for all of them.",
            show_default=False,
        ),
    ] = None,
    log: ask.Log = None,
    file: ask.File = None,
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Show why rows are what the model says: what each column contributes to the probability of each class.

    \b
    Example:
      merula fit penguins --target species -o penguins.merula
      merula explain penguins.merula penguins --row 4
      merula explain penguins.merula penguins --row 4-6 --row body_mass_g=3750 --top 3
    """
    from merula.cli import rendering
    from merula.cli.jobs.answering import explain_rows
    from merula.cli.jobs.rows import top_of

    console, largest = Console(quiet, as_json), top_of(top)
    found = explain_rows(model, table, row, console, label, file, log)
    console.result(*rendering.explained(found, largest, as_json, console.notes))


def sql(
    model: ask.ModelFile,
    dialect: Annotated[
        str,
        typer.Option(
            "--dialect",
            metavar="NAME",
            help="What the database speaks: duckdb, postgres, sqlite, spark, bigquery, snowflake or trino.",
        ),
    ] = "duckdb",
    table: Annotated[
        str,
        typer.Option(
            "--table",
            metavar="NAME",
            help="The table to score: its name as the database writes it, or a query.",
            show_default=False,
        ),
    ] = "",
    keys: Annotated[
        list[str] | None,
        typer.Option(
            "--keys",
            metavar="COLUMN",
            help="A column of the table to pass through; may be repeated. All of them unless given (in SQLite and Trino, those that the model reads).",
            show_default=False,
        ),
    ] = None,
    terms: Annotated[
        bool, typer.Option("--terms", help="Give the log term of each column and class too: the reasons.")
    ] = False,
    costs: ask.Costs = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write, or - for standard output.")
    ] = "-",
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Print a SELECT that scores the rows of a table inside a database: classes, probabilities, actions where there are costs.

    \b
    Example:
      merula fit penguins --target species --model naive -o penguins.merula
      merula sql penguins.merula --dialect postgres --table penguins --keys island
    """
    from merula.cli.jobs.sql import written_sql

    console = Console(quiet, as_json)
    statement = written_sql(model, dialect, table, keys, terms, costs, output)
    if output == "-" and not as_json and not sys.stdout.isatty():
        typer.echo(statement)  # to the letter: it is for a machine
    elif output == "-":
        console.result(statement, {"dialect": dialect, "sql": statement})
    else:
        console.result(f"{len(statement):,} characters: {output}", {"dialect": dialect, "output": output})


def page(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A file that merula fit wrote, or a network file such as asia.bif.",
            show_default=False,
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write the page.")
    ] = "model.html",
    costs: ask.Costs = None,
    labels: Annotated[
        str | None,
        typer.Option(
            "--labels",
            metavar="FILE",
            help='What columns are called on the page: JSON such as {"bill_length_mm": {"label": "Bill", "description": "from tip to base", "unit": "mm", "range": [30, 60]}}; a slider goes over the range.',
            show_default=False,
        ),
    ] = None,
    min_cell: Annotated[
        float | None,
        typer.Option(
            "--min-cell",
            metavar="N",
            help="Pool levels on fewer rows than this into (other) before anything is written.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="TEXT",
            help="What stands above the page; unless given, the file's name.",
            show_default=False,
        ),
    ] = None,
    language: Annotated[
        ask.Language, typer.Option("--language", help="The language of the page until its reader chooses another.")
    ] = ask.Language.en,
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Write one HTML file in which anyone can ask the model: it works offline, and holds no training row.

    \b
    Example:
      merula fit penguins --target species --model naive -o penguins.merula
      merula page penguins.merula -o penguins.html
    """
    from merula.cli.jobs.pages import written_page

    console = Console(quiet, as_json)
    with console.warnings_as_notes():
        size = written_page(model, output, costs, labels, min_cell, name, language.value)
    console.result(f"{size:,} bytes: {output}", {"bytes": size, "output": output})


@ask.reads_a_file
def monitor(
    model: ask.ModelFile,
    table: ask.Table,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="The column that holds the class, where it is known; unless given, the column that the model was fitted to tell, if the table has it.",
            show_default=False,
        ),
    ] = None,
    before: Annotated[
        str | None,
        typer.Option(
            "--before",
            metavar="FILE",
            help="Rows that the model has not seen, from when it was known to be good: losses, evidence and estimated prevalences are compared with theirs.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Also write everything as a page.", show_default=False),
    ] = None,
    false_alarms: Annotated[
        float,
        typer.Option(
            "--false-alarms",
            metavar="P",
            min=0,
            max=1,
            help="The chance that anything is said to have changed where nothing has, over all tests together.",
        ),
    ] = 0.05,
    weight: ask.Weight = None,
    file: ask.File = None,
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Say whether a model is still true of new rows: what has changed since it learned, and what to do. Ends with exit code 3 if anything has.

    \b
    Example:
      merula fit penguins --target species --model naive --reference -o penguins.merula
      merula monitor penguins.merula penguins
    """
    from merula.cli.jobs.monitoring import monitor_file

    console = Console(quiet, as_json)
    found = monitor_file(model, table, console, target, before, weight, false_alarms, output, file)
    console.result(str(found), found.to_dict())
    if found.changed:
        raise typer.Exit(CHANGED)


def info(
    model: ask.ModelFile,
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Show what a model file holds: classes, columns, distributions.

    \b
    Example:
      merula fit penguins --target species -o penguins.merula
      merula info penguins.merula
    """
    from merula.classify.saved import describe, open_model
    from merula.cli import rendering

    found = describe(open_model(model))
    Console(quiet, as_json).result(rendering.described(found), found)
