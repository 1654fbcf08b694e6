"""The page of every command and option, written from the Typer app whenever the site is built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

PAGE = "reference/commands.md"
OPENING = """# Commands

Written from the commands themselves: this is what `--help` says. How to use them: [The command line](../howto/command-line.md).
"""


def on_files(files: Any, config: Any) -> Any:
    """Add the page to the site."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, PAGE, content=page()))
    return files


def page() -> str:
    """The page as Markdown."""
    import typer

    from merula.cli.app import app

    return "\n".join([OPENING, *(_section(name, command) for name, command in commands(typer.main.get_command(app)))])


def commands(command: Any, path: str = "merula") -> Iterator[tuple[str, Any]]:
    """Every command with the words that call it, groups before what they hold."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{path} {name}")


def _section(path: str, command: Any) -> str:
    import typer

    context = typer.Context(command, info_name=path)
    said = [f"\n## `{path}`\n", _prose(command.help or "")]
    for title, kind in (("Argument", "argument"), ("Option", "option")):
        asked = [each for each in command.get_params(context) if each.param_type_name == kind]
        rows = [_row(record) for each in asked if (record := each.get_help_record(context))]
        if rows:
            said += [f"\n| {title} | |\n|---|---|", *rows]
    return "\n".join(said)


def _prose(text: str) -> str:
    r"""The help text; what follows a \b keeps its lines."""
    paragraphs = [part.strip("\n") for part in text.split("\n\n")]
    return "\n\n".join(_example(part) if part.startswith("\b") else part for part in paragraphs)


def _example(part: str) -> str:
    title, *lines = part.lstrip("\b").strip("\n").splitlines()
    return "\n".join([title, "", "```sh", *(line.strip() for line in lines), "```"])


def _row(record: tuple[str, str]) -> str:
    """A line of a table: how the parameter is spelled, and what its help says."""
    spelled, about = (" ".join(text.split()) for text in record)
    return f"| `{re.sub(' <(list.)?str.?>', '', spelled)}` | {about.replace('|', chr(92) + '|')} |"
