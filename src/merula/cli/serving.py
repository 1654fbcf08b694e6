"""The command that serves models over HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from merula.cli import options as ask
from merula.cli.console import Console, say

NEEDS = "serving needs starlette, uvicorn and msgspec, which are not all installed: pip install 'merula[serve]'"
TOKEN = "MERULA_TOKEN"

Models = Annotated[
    list[str],
    typer.Argument(
        metavar="MODEL...",
        help="Files that merula fit wrote, or of networks; each is served under its name without the suffix, or as NAME=FILE says.",
        show_default=False,
    ),
]
Host = Annotated[str, typer.Option("--host", metavar="NAME", help="The address that is listened at.")]
Port = Annotated[int, typer.Option("--port", metavar="N", help="The port; 0 for any that is free.")]
TokenFile = Annotated[
    str | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        help=f"A file that holds the token which every request but those for health must bring; or the environment variable {TOKEN}.",
        show_default=False,
    ),
]
WithoutToken = Annotated[bool, typer.Option("--without-token", help="Let other machines ask without a token.")]
AllowHost = Annotated[
    list[str],
    typer.Option(
        "--allow-host", metavar="NAME", help="A name by which it may be asked. May be repeated.", show_default=False
    ),
]
AllowOrigin = Annotated[
    list[str],
    typer.Option(
        "--allow-origin",
        metavar="ORIGIN",
        help="Another host whose pages may ask, such as https://intranet.example. May be repeated.",
        show_default=False,
    ),
]
MaxBody = Annotated[float, typer.Option("--max-body", metavar="MB", help="The largest body, in megabytes.")]
MaxRows = Annotated[int, typer.Option("--max-rows", metavar="N", help="The most rows of one request.")]
Timeout = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", help="How long a body may take to come, and the work on it.")
]
Concurrent = Annotated[
    int,
    typer.Option(
        "--concurrent", metavar="N", help="How many requests are worked on at a time; 0 for two on each core."
    ),
]
Waiting = Annotated[
    int, typer.Option("--waiting", metavar="N", help="How many wait for that; one more is told to come again.")
]
Connections = Annotated[int, typer.Option("--connections", metavar="N", help="The most open connections.")]
Grace = Annotated[
    float, typer.Option("--grace", metavar="SECONDS", help="How long to finish what was begun, when it is to stop.")
]
Poll = Annotated[
    float, typer.Option("--poll", metavar="SECONDS", help="How often files are looked at, whether they have changed.")
]
LogValues = Annotated[
    bool, typer.Option("--log-values", help="Write into the log what rows hold, and errors that quote it.")
]
Log = Annotated[
    str | None,
    typer.Option(
        "--log",
        metavar="FILE",
        help="Add to this record every question and its answer, cells of rows among them, before it is sent, so that merula reproduce can work it out again.",
        show_default=False,
    ),
]


def serve(
    models: Models,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    token_file: TokenFile = None,
    without_token: WithoutToken = False,
    allow_host: AllowHost = [],  # noqa: B006 - typer asks for a list
    allow_origin: AllowOrigin = [],  # noqa: B006
    max_body: MaxBody = 64.0,
    max_rows: MaxRows = 1_000_000,
    timeout: Timeout = 30.0,
    concurrent: Concurrent = 0,
    waiting: Waiting = 32,
    connections: Connections = 1_000,
    grace: Grace = 30.0,
    poll: Poll = 1.0,
    log_values: LogValues = False,
    log: Log = None,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> None:
    """Serve models over HTTP: the page, and predictions, decisions, reasons and questions as JSON, CSV or Arrow.

    \b
    Example:
      merula fit penguins --target species -o penguins.merula
      merula serve penguins.merula --port 8000
      curl localhost:8000/v1/models/penguins/predict -H 'content-type: application/json' -d '{"island": "Dream"}'
    """
    try:
        from merula.web.service import Settings, named_files, serve as serve_models
    except ImportError as error:
        if error.name and error.name.partition(".")[0] in ("starlette", "uvicorn", "msgspec", "httptools"):
            raise ImportError(NEEDS) from None
        raise
    settings = Settings(
        host, port, _token(token_file), without_token, tuple(allow_host), tuple(allow_origin), round(max_body * 1e6), max_rows, 16 * 1024,
        timeout, concurrent, waiting, connections, grace, poll, not quiet, log_values, log,
    )  # fmt: skip
    console = Console(quiet)
    with console.warnings_as_notes():
        serve_models(named_files(models), settings, began=lambda address: say(f"serving at {address}"))


def _token(file: str | None) -> str | None:
    """The token in a file, else in the environment."""
    if file is None:
        return os.environ.get(TOKEN, "").strip() or None
    token = Path(file).read_text(encoding="utf-8").strip()
    if not token:
        from merula.core import InputError

        raise InputError.at("--token-file", "names an empty file", remedy="write the token into it")
    return token
