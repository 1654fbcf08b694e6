"""What several commands are asked alike: tables, targets, models, and how to answer."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

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


TABLE = "A file (CSV, TSV, JSON lines, Parquet, Arrow; also packed by gzip), a pattern such as 'part-*.csv', - for standard input, or penguins, the table that comes with merula."

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
        help="auto: several models, each weighted by how well it predicts rows left out; naive: naive Bayes with normal distributions (such models always merge); naive-auto: with the distribution that suits each column best; spode, tan, aode, kdb: columns that depend on one another, on one of them, along a tree, on each in turn, on two; network: a Bayesian network that is searched for; log-linear: columns and pairs of columns, fitted to tell classes apart; bayes: all columns together; kernel: kernel densities; neighbors: the most similar rows.",
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
        help="What also means a missing cell in CSV, such as NA. May be repeated.",
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="The encoding of CSV that is not UTF-8.", show_default=False),
]
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
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON, for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress bar on standard error.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error arose.")]
