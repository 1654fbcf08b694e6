"""Commands on a table: look, and those that learn from it: fit, evaluate, report, count, merge, and demo, which shows them all once."""

from __future__ import annotations

from typing import Annotated

import typer

from merula.cli import options as ask
from merula.cli.console import Console, say

MODEL_OUT = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where the model is written.")]
MODEL, REPORT, COUNTS = "model.merula", "report.html", "table.counts"  # written unless another name is stated
MODELS = Annotated[
    list[ask.ModelName],
    typer.Option(
        "--model",
        "-m",
        help="The model, as for merula fit; auto unless given. May be repeated, to compare several.",
        show_default=False,
    ),
]
REPORT_OUT = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where the report is written.")]

SCHEMA_OUT = Annotated[
    str | None,
    typer.Option(
        "--schema-out",
        metavar="FILE",
        help="Write how columns are read, with levels and cuts, into this .json, for others to count with --like.",
        show_default=False,
    ),
]
LIKE = Annotated[
    str | None,
    typer.Option(
        "--like",
        metavar="MODEL",
        help="Take kinds, distributions and options from this model, so that both merge, if such models do.",
        show_default=False,
    ),
]
UNLABELLED = Annotated[
    bool,
    typer.Option(
        "--unlabelled",
        help="Learn from rows without a class too, as much as they help to tell the classes of others (--model naive, bayes, tan); without it they are left out.",
    ),
]
RESUME = Annotated[
    str | None,
    typer.Option(
        "--resume",
        metavar="FILE",
        help="Of a table that is read in pieces: where is kept how far it has been counted, so that a fit that was interrupted, asked again, goes on there.",
        show_default=False,
    ),
]
REFERENCE = Annotated[
    bool,
    typer.Option(
        "--reference",
        help="Also keep the distinct numbers of each column, at most 2,048 of them, so that merula monitor compares whole distributions.",
    ),
]


@ask.reads_a_file
def look(
    table: ask.Table,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="The column that holds the class: columns that give it away are then named.",
            show_default=False,
        ),
    ] = None,
    kinds: ask.Kinds = [],  # noqa: B006
    file: ask.File = None,
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Show how each column of a table is read. Also why, with examples, and which option would change it.

    \b
    Examples:
      merula look penguins
      merula look penguins --target species --kinds year=numeric
    """
    from merula.cli.console import typed
    from merula.cli.jobs.looking import look_file

    found = look_file(table, target, kinds, file)
    Console(quiet, as_json).result(found.told(typed), {"table": table, **found.to_dict(typed)})


@ask.reads_a_file
def fit(
    table: ask.Table,
    target: ask.Target = None,
    output: MODEL_OUT = MODEL,
    model: ask.Model = ask.ModelName.auto,
    kinds: ask.Kinds = [],  # noqa: B006 - typer asks for a list
    ignore: ask.Ignore = [],  # noqa: B006
    weight: ask.Weight = None,
    costs: ask.Costs = None,
    like: LIKE = None,
    calibrate: ask.Calibrate = False,
    unlabelled: UNLABELLED = False,
    resume: RESUME = None,
    reference: REFERENCE = False,
    file: ask.File = None,
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Fit a model on a table and save it.

    A folder, and files of more than 1 GiB together, are read in pieces: they need not fit into memory. Tables of databases are counted
    where they are: 'duckdb:///shop.db?table=orders', 'postgresql://user@host/shop?table=orders'.

    \b
    Example:
      merula fit penguins --target species -o penguins.merula
    """
    from merula.cli import rendering
    from merula.cli.jobs.learning import fit_file
    from merula.cli.jobs.targets import refuse_without_target
    from merula.cli.jobs.task import Asked

    console = Console(quiet, as_json)
    chosen = None if model is ask.ModelName.auto else model.value
    written = None if output == MODEL else output
    asked = Asked(table, target or "", kinds, ignore, weight, None, file, unlabelled=unlabelled)
    if not asked.target:
        refuse_without_target(
            asked,
            "fit",
            model=chosen,
            costs=costs,
            like=like,
            calibrate=calibrate or None,
            unlabelled=unlabelled or None,
            output=written,
        )
    saved, task = fit_file(
        asked, model.value, output, console, costs, like, calibrate=calibrate, resume=resume, reference=reference
    )
    again = [] if table == "-" or like or unlabelled else asked.typed("evaluate", model=chosen, costs=costs)
    again += ["--calibrate"] if again and calibrate else []
    console.result(*rendering.fitted(saved, task, again))


@ask.reads_a_file
def evaluate(
    table: ask.Table,
    target: ask.Target = None,
    models: MODELS = [],  # noqa: B006
    like: Annotated[
        str | None,
        typer.Option(
            "--like",
            metavar="MODEL",
            help="Measure the model in this file in place of --model: its options and kinds of columns, fitted anew for every fold, and its costs.",
            show_default=False,
        ),
    ] = None,
    cv: ask.Folds = None,
    repeats: ask.Repeats = None,
    groups: ask.Groups = None,
    by_time: ask.ByTime = None,
    test: ask.Test = None,
    costs: ask.Costs = None,
    learning_curve: ask.LearningCurve = False,
    by: ask.By = [],  # noqa: B006
    act_on: ask.ActOn = None,
    calibrate: ask.Calibrate = False,
    kinds: ask.Kinds = [],  # noqa: B006
    ignore: ask.Ignore = [],  # noqa: B006
    weight: ask.Weight = None,
    file: ask.File = None,
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Measure how good a model is on rows it has not seen, and whether it beats the class frequencies.

    \b
    Examples:
      merula evaluate penguins --target species
      merula evaluate penguins --target species --model naive --model bayes --cv 5
      merula evaluate penguins --target species --model naive --by sex --by island
    """
    from merula.cli import rendering
    from merula.cli.jobs.evaluating import evaluate_file
    from merula.cli.jobs.targets import refuse_without_target
    from merula.cli.jobs.task import Asked

    console = Console(quiet, as_json)
    names = [model.value for model in models]
    chosen = None if names == [ask.ModelName.auto.value] else names or None
    measured = {"like": like, "cv": cv, "repeats": repeats, "test": test, "costs": costs, "by": by}
    stated = {**measured, "calibrate": calibrate or None}
    asked = Asked(table, target or "", kinds, ignore, weight, groups, file, by_time)
    if not asked.target:
        refuse_without_target(asked, "evaluate", model=chosen, **stated, learning_curve=learning_curve or None)
    found, _ = evaluate_file(
        asked, names, console, cv, repeats, costs, learning_curve, test, calibrate, by, like, act_on
    )
    console.result(*rendering.evaluated(found, act_on))


@ask.reads_a_file
def report(
    table: ask.Table,
    target: ask.Target = None,
    output: REPORT_OUT = REPORT,
    model: ask.Model = ask.ModelName.auto,
    cv: ask.Folds = None,
    repeats: ask.Repeats = None,
    groups: ask.Groups = None,
    by_time: ask.ByTime = None,
    costs: ask.Costs = None,
    learning_curve: ask.LearningCurve = True,
    by: ask.By = [],  # noqa: B006
    kinds: ask.Kinds = [],  # noqa: B006
    ignore: ask.Ignore = [],  # noqa: B006
    weight: ask.Weight = None,
    file: ask.File = None,
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Write a report on a table and its model that a browser shows.

    \b
    Example:
      merula report penguins --target species -o penguins.html
      merula report penguins --target species --by sex -o penguins.html
    """
    from merula.cli.jobs.evaluating import report_file
    from merula.cli.jobs.targets import refuse_without_target
    from merula.cli.jobs.task import Asked

    console = Console(quiet, as_json)
    chosen = None if model is ask.ModelName.auto else model.value
    written = None if output == REPORT else output
    asked = Asked(table, target or "", kinds, ignore, weight, groups, file, by_time)
    if not asked.target:
        refuse_without_target(asked, "report", model=chosen, cv=cv, repeats=repeats, costs=costs, by=by, output=written)
    report_file(asked, model.value, output, console, cv, repeats, costs, learning_curve, by)
    console.result(f"report: {output}", {"report": output})


@ask.reads_a_file
def count(
    table: ask.Table,
    target: ask.Target = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where the statistics are written.")
    ] = COUNTS,
    model: Annotated[
        ask.CountedModel | None,
        typer.Option(
            "--model",
            "-m",
            help="The model that the statistics are for, as for merula fit; those of auto, naive-auto, log-linear, kernel and neighbors need the rows. kdb and network need --like MODEL, for their arcs.",
            show_default="naive",
        ),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(
            "--like",
            metavar="FILE",
            help="Read and cut columns as there, so that statistics add up: a schema (.json), statistics (.counts) or a model; of these the options too.",
            show_default=False,
        ),
    ] = None,
    min_cell: Annotated[
        float | None,
        typer.Option(
            "--min-cell",
            metavar="N",
            help="Keep no count of fewer than N rows: rare levels are pooled into (other), other small cells too, or left out. It is no differential privacy.",
            show_default=False,
        ),
    ] = None,
    schema_out: SCHEMA_OUT = None,
    kinds: ask.Kinds = [],  # noqa: B006
    ignore: ask.Ignore = [],  # noqa: B006
    weight: ask.Weight = None,
    file: ask.File = None,
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Count what a model needs of a table, without the model: the file holds no row, and merula merge makes a model of several.

    \b
    Example:
      merula count penguins --target species --model tan --schema-out schema.json -o north.counts
      merula count penguins --target species --model tan --like schema.json -o south.counts
      merula merge north.counts south.counts -o both.merula
    """
    from merula.cli.jobs.counting import count_file, counted
    from merula.cli.jobs.targets import refuse_without_target
    from merula.cli.jobs.task import Asked

    console, chosen = Console(quiet, as_json), None if model is None else model.value
    asked = Asked(table, target or "", kinds, ignore, weight, None, file)
    if not asked.target:
        written = None if output == COUNTS else output
        refuse_without_target(asked, "count", model=chosen, like=like, min_cell=min_cell, schema_out=schema_out, output=written)  # fmt: skip
    found = count_file(asked, chosen, output, console, like, min_cell, schema_out)
    console.result(*counted(found, output, schema_out))


def merge(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Files of models that merula fit wrote, or of statistics of merula count.",
            show_default=False,
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where the model is written.", show_default="merged.merula"
        ),
    ] = None,
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Merge models, or statistics that were counted apart, into one model, as if fitted on the rows of all of them.

    Models of --model naive, bayes, kernel and neighbors merge; those of naive-auto if the later ones were fitted with --like the first;
    those of spode, tan, aode and kdb where no column holds numbers. Those of auto, log-linear and network do not. Files of
    statistics, as the command count writes them, merge where they were counted alike.

    \b
    Example:
      merula fit penguins --target species --model naive-auto -o north.merula
      merula fit penguins --target species --like north.merula -o south.merula
      merula merge north.merula south.merula -o both.merula
    """
    from merula.classify.saved import describe
    from merula.cli import rendering
    from merula.cli.jobs.counting import holds_counts
    from merula.cli.jobs.learning import merge_files
    from merula.core import InputError

    if len(models) < 2 and not holds_counts(models[0]):
        raise InputError("one model is already merged", remedy="name two or more")
    found = describe(merge_files(models, output))
    Console(quiet, as_json).result(rendering.described(found), found)


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

    console, parts = Console(quiet, as_json), []
    for part in demonstrate(table, target, folder, console):
        parts.append(part.strip())
        if not as_json:
            say(part)
    console.result("", {"parts": parts, "folder": folder})
