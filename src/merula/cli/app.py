"""The commands, and what becomes of errors: one clear line and an exit code, never a traceback unless --debug asks."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from merula.cli import answering, auditing, learning, networks, serving
from merula.cli.command import Command
from merula.cli.console import OPTIONS, one_line, phrased, say, stray_warnings_as_notes

BAD_INPUT, FAILED, INTERRUPTED = 2, 1, 130
INPUT_ERRORS = (ValueError, FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)


class Commands(TyperGroup):
    """The group of all commands; it answers errors with one line and the right exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; a reader that has seen enough (`| head`) ends it quietly."""
        try:
            result = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(
                os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
            )  # nothing more is to be flushed into the pipe
            raise typer.Exit(0) from None
        return result

    def main(self, args: Any = None, prog_name: str | None = None, **extra: Any) -> Any:  # type: ignore[override]
        """Run the command and end with its exit code."""
        given = sys.argv[1:] if args is None else list(args)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a sign that the terminal does not have is shown by its number
                stream.reconfigure(errors="backslashreplace")
        extra["standalone_mode"] = False
        OPTIONS.set(_options(self, given))
        with stray_warnings_as_notes(quiet=not {"--quiet", "-q"}.isdisjoint(given)):
            code = exit_code(lambda: super(Commands, self).main(given, prog_name, **extra), "--debug" in given)
        sys.exit(code)


def _options(command: Any, words: Sequence[str]) -> set[str]:
    """The options of the command that the words name, as Python would call them."""
    for word in words:
        command = getattr(command, "commands", {}).get(word, command)
    return {name.lstrip("-").replace("-", "_") for parameter in command.params for name in parameter.opts}


def exit_code(run: Callable[[], Any], debug: bool) -> int:
    """What running a command ends with; errors are said in one line on standard error."""
    try:
        found = run()
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except Exception as error:
        if debug:
            say("".join(traceback.format_exception(error)), sys.stderr)
            return _told(error)[1]
        return _say(*_told(error))
    return found if isinstance(found, int) else 0


def _out_of_range(error: Any) -> str | None:
    """What was typed for an option that is a number, and what it may be; None where an error is about something else."""
    (found, *more) = error.__cause__.errors() if hasattr(error.__cause__, "errors") else [{}]
    words = {"greater_than_equal": ("ge", "or more"), "less_than_equal": ("le", "or less")}
    if more or found.get("type") not in words or getattr(error, "param", None) is None:
        return None
    limit, word = words[found["type"]]
    return f"{error.param.opts[0]} is {found['input']}, expected {found['ctx'][limit]} {word}"


def _told(error: Exception) -> tuple[str, int]:
    """An error in one line, and its exit code."""
    if hasattr(error, "format_message"):  # typer's own: a word on the command line that it does not understand
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        return f"{_out_of_range(error) or error.format_message().rstrip('.')}{hint}", BAD_INPUT
    if isinstance(error, ImportError):
        return str(error), FAILED
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        code = BAD_INPUT if isinstance(error, INPUT_ERRORS) else FAILED
        return f"{error.filename}: {error.strerror[:1].lower()}{error.strerror[1:]}", code
    if isinstance(error, OSError) and error.strerror:
        return f"what was found could not be written: {error.strerror[:1].lower()}{error.strerror[1:]}", FAILED
    if isinstance(error, MemoryError):
        return f"not enough memory ({phrased(error) or 'no more could be had'})", FAILED
    if isinstance(error, INPUT_ERRORS):
        return " ".join([phrased(error), *getattr(error, "__notes__", ())]), BAD_INPUT
    return f"{type(error).__name__}: {error}; --debug shows where", FAILED


def _say(text: str, code: int) -> int:
    say(f"error: {one_line(text)}", sys.stderr)
    return code


def _version(asked: bool) -> None:
    if asked:
        import merula

        typer.echo(f"merula {merula.__version__}")
        raise typer.Exit


app = typer.Typer(cls=Commands, name="merula", rich_markup_mode=None, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def _merula(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Bayesian classification on real tables: probabilities, decisions, and the reasons for them.

    \b
    Begin with:
      merula demo
      merula look penguins
      merula fit penguins --target species
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for command in (
    learning.look, learning.fit, learning.evaluate, learning.report, learning.count, learning.merge,
    answering.predict, answering.explain, answering.monitor, answering.sql, answering.page, answering.info, serving.serve,
    auditing.dossier, auditing.reproduce, learning.demo,
):  # fmt: skip
    app.command(cls=Command)(command)
app.add_typer(networks.app, name="network")
