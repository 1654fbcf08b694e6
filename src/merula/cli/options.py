"""What several commands are asked alike: tables, targets, models, and how to answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from typing import Annotated, Any

import typer


class ModelName(StrEnum):
    """The models that a command can fit."""

    auto = "auto"
    naive = "naive"
    naive_auto = "naive-auto"
    spode = "spode"
    tan = "tan"
    aode = "aode"
    kdb = "kdb"
    network = "network"
    log_linear = "log-linear"
    bayes = "bayes"
    kernel = "kernel"
    neighbors = "neighbors"


class CountedModel(StrEnum):
    """The models whose statistics can be counted apart from them."""

    naive = "naive"
    bayes = "bayes"
    spode = "spode"
    tan = "tan"
    aode = "aode"
    kdb = "kdb"
    network = "network"


class Decimal(StrEnum):
    """Decimal signs."""

    point = "."
    comma = ","


class DateOrder(StrEnum):
    """Orders of day, month and year."""

    dmy = "dmy"
    mdy = "mdy"
    ymd = "ymd"


class Language(StrEnum):
    """Languages that a page speaks."""

    en = "en"
    zh = "zh"


class OnError(StrEnum):
    """What is done with rows that cannot be read."""

    raise_ = "raise"
    skip = "skip"


TABLE = "A file (CSV, TSV, JSON lines, Parquet, Arrow, Excel, ODS, SPSS, Stata, SAS; also packed by gzip), a pattern such as 'part-*.csv', - for standard input, or penguins, the table that comes with merula."

Table = Annotated[str, typer.Argument(metavar="TABLE", help=TABLE, show_default=False)]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="A file that merula fit wrote.", show_default=False)]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="The column that holds the class. Without it the columns are listed, and which of them may be meant.",
        show_default=False,
    ),
]
Model = Annotated[
    ModelName,
    typer.Option(
        "--model",
        "-m",
        help="auto: several models, each weighted by how well it predicts rows left out; naive: naive Bayes with normal distributions (such models always merge); naive-auto: with the distribution that suits each column best; spode, tan, aode, kdb: columns depend on one another: all on one, along a tree, on each in turn, each on two; network: a Bayesian network that is searched for; log-linear: columns and pairs of columns, fitted to tell classes apart; bayes: all columns together; kernel: kernel densities; neighbors: the most similar rows.",
    ),
]
Kinds = Annotated[
    list[str],
    typer.Option(
        "--kinds",
        metavar="COLUMN=KIND",
        help="How a column is read: numeric, categorical, count, text, datetime or ignore. May be repeated.",
        show_default=False,
    ),
]
Ignore = Annotated[
    list[str],
    typer.Option("--ignore", metavar="COLUMN", help="Leave this column out. May be repeated.", show_default=False),
]
Weight = Annotated[
    str | None,
    typer.Option(
        "--weight", metavar="COLUMN", help="The column that says how many times each row counts.", show_default=False
    ),
]
By = Annotated[
    list[str],
    typer.Option(
        "--by", metavar="COLUMN", help="Also tell every figure within the subgroups of this column; may be repeated."
    ),
]
ActOn = Annotated[
    str | None,
    typer.Option(
        "--act-on",
        metavar="CLASS",
        help="Also tell what acting on the probability of this class is worth at each threshold (net benefit), beside acting always and never.",
        show_default=False,
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="COLUMN",
        help="Rows alike in this column (a patient, a day) are never parted by a fold.",
        show_default=False,
    ),
]
Costs = Annotated[
    str | None,
    typer.Option(
        "--costs",
        metavar="FILE",
        help="What each action costs: a table with a line for each action, its name first, then its cost under each class named in the header.",
        show_default=False,
    ),
]
Missing = Annotated[
    list[str],
    typer.Option(
        "--missing",
        metavar="WORD",
        help="A word that means a missing cell in CSV or a workbook, besides NA and the like, such as -9. May be repeated.",
        show_default=False,
    ),
]
Keep = Annotated[
    list[str],
    typer.Option(
        "--keep",
        metavar="WORD",
        help="A word that stays one although it mostly means a missing cell, such as NA for Namibia. May be repeated.",
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="The encoding of CSV, such as cp1252; found unless given.",
        show_default=False,
    ),
]
SkipRows = Annotated[
    int | None,
    typer.Option(
        "--skip-rows",
        metavar="N",
        min=0,
        help="How many lines stand above the header of CSV or of a sheet; unless given, lines that are clearly titles are skipped.",
        show_default=False,
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        "--sheet",
        metavar="NAME",
        help="The sheet of a workbook, by name or number from 1; unless given, the first that holds anything.",
        show_default=False,
    ),
]
DecimalSign = Annotated[
    Decimal | None,
    typer.Option("--decimal", help="The decimal sign of numbers; found unless given.", show_default=False),
]
OrderOfDates = Annotated[
    DateOrder | None,
    typer.Option(
        "--date-order",
        help="Whether 03/04/2024 is the third of April (dmy) or the fourth of March (mdy); unless given, all cells of a column decide.",
        show_default=False,
    ),
]
FoldCase = Annotated[
    bool, typer.Option("--fold-case", help="Read words that differ only in upper and lower case as the same.")
]
OnErrors = Annotated[
    OnError,
    typer.Option(
        "--on-error", help="Rows of CSV with too many or too few cells: raise an error, or skip them with a note."
    ),
]


File = Any  # a FileOptions, whose module is loaded when a command runs: help needs no tables
FILE: dict[str, tuple[Any, Any]] = {  # its fields, and what each is unless stated
    "missing": (Missing, []),
    "keep": (Keep, []),
    "encoding": (Encoding, None),
    "skip_rows": (SkipRows, None),
    "sheet": (Sheet, None),
    "decimal": (DecimalSign, None),
    "date_order": (OrderOfDates, None),
    "fold_case": (FoldCase, False),
    "on_error": (OnErrors, OnError.raise_),
}


def reads_a_file(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for all that may be stated about the file it reads; it gets them as one, called `file`."""
    by_name = inspect.Parameter.KEYWORD_ONLY
    about = [inspect.Parameter(name, by_name, annotation=kind, default=unless) for name, (kind, unless) in FILE.items()]
    own = inspect.signature(command, eval_str=True).parameters.values()
    asked = [new for one in own for new in (about if one.name == "file" else [one.replace(kind=by_name)])]

    @wraps(command)
    def with_file(**given: Any) -> None:
        from merula.data.table import FileOptions

        stated = {name: given.pop(name) for name in FILE}
        plain: dict[str, Any] = {
            name: str(value) if isinstance(value, StrEnum) else value for name, value in stated.items()
        }
        command(**given, file=FileOptions(**plain))

    with_file.__signature__ = inspect.Signature(asked)  # type: ignore[attr-defined]
    with_file.__annotations__ = {one.name: one.annotation for one in asked}
    return with_file


Folds = Annotated[
    int | None,
    typer.Option(
        "--cv",
        metavar="K",
        min=2,
        help="The number of folds: 10 unless given; 5 from 10,000 rows on, and fewer where rows are few.",
        show_default=False,
    ),
]
Repeats = Annotated[
    int | None,
    typer.Option(
        "--repeats",
        metavar="N",
        min=1,
        help="How often rows are shuffled into folds anew: once unless given.",
        show_default=False,
    ),
]
LearningCurve = Annotated[
    bool,
    typer.Option(
        "--learning-curve/--no-learning-curve",
        help="Say whether more rows would help: fit also on half of them, which takes half as long again.",
    ),
]
ByTime = Annotated[
    str | None,
    typer.Option(
        "--by-time",
        metavar="COLUMN",
        help="Folds in the order of this column (numbers, dates, or words such as 2024-12): each learns from earlier rows alone and is tested on the next; 5 unless --cv says otherwise. The column itself is left out of the model, unless --kinds says how to read it.",
        show_default=False,
    ),
]
Test = Annotated[
    str | None,
    typer.Option(
        "--test",
        metavar="FILE",
        help="Fit on all of TABLE and measure on the rows of this file, read like it: columns are matched by name, rows without a class left out.",
        show_default=False,
    ),
]
Calibrate = Annotated[
    bool,
    typer.Option(
        "--calibrate",
        help="Make the model as certain as rows left out in five folds say it should be: every term is divided by one temperature.",
    ),
]
Log = Annotated[
    str | None,
    typer.Option(
        "--log",
        metavar="FILE",
        help="Add to this record what is asked and answered, cells of rows among it, so that merula reproduce can work it out again.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON, for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress bar on standard error.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error arose.")]
