"""Every command and option is documented, and what the pages type exists."""

import re
import runpy
import shlex
from pathlib import Path

import pytest
import typer

ROOT = Path(__file__).parents[2]
HOOK = runpy.run_path(str(ROOT / "docs" / "hooks" / "commands.py"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = dict(HOOK["commands"](typer.main.get_command(__import__("merula.cli.app", fromlist=["app"]).app)))


def options(path):
    """Every spelling of every option of a command."""
    command = COMMANDS[path]
    asked = command.get_params(typer.Context(command, info_name=path))
    return {word for each in asked if each.param_type_name == "option" for word in (*each.opts, *each.secondary_opts)}


@pytest.fixture(scope="module")
def sections():
    """The page's text by command."""
    parts = re.split(r"^## `([^`]+)`$", HOOK["page"](), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("path", COMMANDS)
def test_command_has_a_section_with_all_its_options(path, sections):
    spelled = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", " ".join(re.findall(r"^\| `([^`]+)`", sections[path], re.M))))
    assert options(path) <= spelled
    assert (COMMANDS[path].help or "").splitlines()[0] in sections[path]


@pytest.mark.parametrize("path", [path for path, command in COMMANDS.items() if not hasattr(command, "commands")])
def test_every_option_says_what_it_is_for(path, sections):
    rows = re.findall(r"^\| `[^`]+` \| (.*) \|$", sections[path], re.MULTILINE)
    assert rows
    assert all(len(row.split()) >= 2 for row in rows), rows


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_named_on_the_pages_exist(page):
    """Words and options of `merula …` between backticks; whole blocks of shell are run by test_shell."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for line in re.findall(r"`(merula [^`\n]+)`", text):
        words = shlex.split(line)
        path = next(path for n in (3, 2, 1) if (path := " ".join(words[:n])) in COMMANDS)
        rest = words[len(path.split()) :]
        assert not hasattr(COMMANDS[path], "commands") or not rest or not rest[0].islower() or rest[0][0] == "-", line
        assert {word for word in rest if re.fullmatch(r"--?[a-z][\w-]*", word)} <= options(path), line
