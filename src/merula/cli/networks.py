"""Commands on Bayesian networks: show, query, learn, convert."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from merula.cli import options as ask
from merula.cli.command import Command
from merula.cli.console import Console

app = typer.Typer(name="network", rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def _network(context: typer.Context) -> None:
    """Learn, ask, show and convert Bayesian networks."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


# how a structure is learned, and what becomes of columns of numbers
Method = StrEnum("Method", {"hill_climb": "hill-climb", "tabu": "tabu", "chow_liu": "chow-liu", "pc": "pc"})
Numeric = StrEnum("Numeric", ["quantile", "width", "mdl", "gaussian"])

NETWORK = "A network file: .bif, .xmlbif, .net, .xdsl, .uai or .json, also with .gz."
NetworkFile = Annotated[str, typer.Argument(metavar="NETWORK", help=NETWORK, show_default=False)]
NetworkEncoding = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="The encoding of a file that is not UTF-8.", show_default=False),
]
NetworkOut = Annotated[
    str,
    typer.Option("--output", "-o", metavar="FILE", help="Where the network is written; its suffix names the format."),
]


@app.command(cls=Command)
def show(
    network: NetworkFile,
    encoding: NetworkEncoding = None,
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Show the variables of a network, their levels and their parents.

    \b
    Example:
      merula network learn penguins -o penguins.bif
      merula network show penguins.bif
    """
    from merula.cli.jobs.networks import outline, outline_text

    found = outline(network, encoding)
    Console(quiet, as_json).result(outline_text(found), found)


@app.command(cls=Command)
def query(
    network: NetworkFile,
    variables: Annotated[
        list[str] | None,
        typer.Argument(metavar="[VARIABLE]...", help="The variables asked for, together; none: each by itself."),
    ] = None,
    given: Annotated[
        list[str],
        typer.Option(
            "--given", "-g", metavar="VARIABLE=LEVEL", help="What is known. May be repeated.", show_default=False
        ),
    ] = [],  # noqa: B006 - typer asks for a list
    do: Annotated[
        list[str],
        typer.Option(
            "--do",
            metavar="VARIABLE=LEVEL",
            help="What is brought about, whatever its causes. May be repeated.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval",
            metavar="LEVEL",
            help="Also tell between which probabilities each lies, such as 0.9 for 90 % credible intervals: of one variable, by the counts that a .json network keeps.",
            show_default=False,
        ),
    ] = None,
    equivalent_sample_size: Annotated[
        float | None,
        typer.Option(
            "--equivalent-sample-size",
            metavar="ROWS",
            help="Of --interval: how many rows the tables of a network without counts are worth.",
            show_default=False,
        ),
    ] = None,
    encoding: NetworkEncoding = None,
    log: ask.Log = None,
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Tell the probabilities of variables, given what is known of others.

    \b
    Example:
      merula network learn penguins -o penguins.bif
      merula network query penguins.bif species --given island=Dream --given sex=female
      merula network learn penguins -o penguins.json
      merula network query penguins.json species --given island=Dream --interval 0.9
    """
    from merula.cli.jobs.networks import ask_network
    from merula.cli.jobs.recording import queried, recorder_of
    from merula.core.plain import to_plain

    recorder = None if log is None else recorder_of(log, network)
    asked = (variables or [], given, do, encoding, interval, equivalent_sample_size)
    text, found = ask_network(network, *asked)
    if recorder is not None:
        recorder.write(queried(*asked), to_plain(found))
    Console(quiet, as_json).result(text, found)


@app.command(cls=Command)
@ask.reads_a_file
def learn(
    table: ask.Table,
    output: NetworkOut = "network.bif",
    method: Annotated[Method, typer.Option("--method", help="How the structure is found.")] = Method.hill_climb,
    score: Annotated[
        str | None,
        typer.Option("--score", help="Of a search: bic, aic, log-likelihood, bdeu or k2.", show_default=False),
    ] = None,
    numeric: Annotated[
        Numeric,
        typer.Option(
            "--numeric",
            help="Numbers are cut into intervals, or are gaussian (such a network is written as .json only).",
        ),
    ] = Numeric.quantile,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="The column whose levels the cuts of --numeric mdl tell apart.",
            show_default=False,
        ),
    ] = None,
    max_parents: Annotated[
        int | None, typer.Option("--max-parents", metavar="N", min=0, help="Of a search.", show_default=False)
    ] = None,
    kinds: ask.Kinds = [],  # noqa: B006
    ignore: ask.Ignore = [],  # noqa: B006
    file: ask.File = None,
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Learn a network from a table: which column depends on which, and how.

    \b
    Example:
      merula network learn penguins -o penguins.bif
    """
    from merula.cli.jobs.networks import learn_file, outline, outline_text

    console = Console(quiet, as_json)
    chosen = {
        "method": method.value,
        "score": score,
        "numeric": numeric.value,
        "target": target,
        "max_parents": max_parents,
    }
    learn_file(table, output, console, chosen, kinds, ignore, file)
    found = outline(output)
    console.result(outline_text(found), found)


@app.command(cls=Command)
def convert(
    network: NetworkFile,
    output: Annotated[
        str, typer.Argument(metavar="FILE", help="The file to write; its suffix names the format.", show_default=False)
    ],
    encoding: NetworkEncoding = None,
    as_json: ask.AsJson = False,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Write a network in another format.

    \b
    Example:
      merula network learn penguins -o penguins.bif
      merula network convert penguins.bif penguins.xdsl
    """
    from merula.cli.jobs.networks import convert_file

    count = convert_file(network, output, encoding)
    Console(quiet, as_json).result(f"{count} variables: {output}", {"variables": count, "output": output})
