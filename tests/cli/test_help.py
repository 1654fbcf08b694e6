"""Help: every command has an example that works when pasted, every option says what it does, and the shell completes."""

import os
import shlex
import subprocess
import sys

import pytest
import typer.main

from merula.cli.app import app

ROOT = typer.main.get_command(app)


def commands(group=ROOT, path=()):
    """Every command with the words that call it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


ALL = dict(commands())
NAMES = {" ".join(words): words for words in ALL}


def examples(command):
    return [line.strip() for line in (command.help or "").splitlines() if line.strip().startswith("merula ")]


def test_every_command_of_the_design_is_there():
    wanted = [
        "look",
        "fit",
        "predict",
        "evaluate",
        "explain",
        "sql",
        "page",
        "report",
        "count",
        "merge",
        "info",
        "monitor",
        "serve",
        "dossier",
        "reproduce",
        "demo",
    ]
    wanted += [f"network {word}" for word in ("show", "query", "learn", "convert")]
    assert set(wanted) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_help_has_an_example_and_explains_every_option(merula, name):
    result = merula(*NAMES[name], "--help")
    assert result.exit_code == 0
    command = ALL[NAMES[name]]
    assert examples(command)
    for line in examples(command):
        assert line in result.stdout  # not broken across lines
    for parameter in command.params:
        assert getattr(parameter, "help", None), (name, parameter.name)


@pytest.mark.parametrize("name", NAMES)
def test_examples_in_help_run(merula, name, monkeypatch):
    from merula.web.service.running import StoppingServer

    async def at_once(*_, **__):
        """A service in a test stops as soon as it listens."""

    monkeypatch.setattr(StoppingServer, "serve", at_once)
    for line in examples(ALL[NAMES[name]]):
        result = merula(*shlex.split(line)[1:])
        assert result.exit_code == 0, (line, result.stderr)


def test_examples_of_the_whole_are_examples_of_commands_and_so_run(merula):
    for line in ("merula demo", "merula fit penguins --target species"):
        assert line in merula().stdout
        assert line in [example.split(" -o ")[0] for example in examples(ALL[shlex.split(line)[1],])]


def test_help_without_a_command(merula):
    assert merula().exit_code == 0
    assert merula().stdout == merula("--help").stdout


def test_help_of_networks_without_a_command(merula):
    found = merula("network")
    assert found.exit_code == 0
    assert "convert" in found.stdout


def test_version(merula):
    import merula as mr

    assert merula("--version").stdout == f"merula {mr.__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion(shell):
    words = {"COMP_WORDS": "merula ev", "COMP_CWORD": "1", "_TYPER_COMPLETE_ARGS": "merula ev"}
    environment = (
        os.environ | words | {"_MERULA_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    )
    script = [sys.executable, "-c", "from merula.cli import main; import sys; sys.argv[0] = 'merula'; main()"]
    found = subprocess.run(script, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert "evaluate" in found.stdout, found.stderr


def test_commands_load_the_library_only_when_they_work():
    code = "import sys; sys.argv = ['merula', '--help']\ntry:\n    from merula.cli import main; main()\nfinally:\n    print(sorted({'numpy', 'sklearn', 'numba', 'pyarrow', 'rich', 'pandas'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert found.stdout.splitlines()[-1] == "[]"


def test_fitting_and_predicting_load_no_networks(folder):
    for words in (["fit", "penguins", "-t", "species"], ["predict", "model.merula", "penguins", "-o", "answers.csv"]):
        code = f"import sys; sys.argv = {['merula', *words]}\ntry:\n    from merula.cli import main; main()\nfinally:\n    print(sorted({{'merula.graphs.network', 'merula.graphs.formats'}} & set(sys.modules)))"
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
        assert found.stdout.splitlines()[-1] == "[]", found.stderr
    assert (folder / "answers.csv").exists()


def test_the_command_ends_before_the_interpreter_is_taken_down():
    """Threads of Arrow that let go of a Python object later than that abort the process: 1 of 60 short commands under load did."""
    code = (
        "import sys; sys.argv = ['merula', '--version']\n"
        "class Late:\n    def __del__(self):\n        print('taken down')\n"
        "late = Late(); late.itself = late\n"
        "from merula.cli import main\ntry:\n    main()\nfinally:\n    print('left')"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "left\n" in ended.stdout
    assert "taken down" not in ended.stdout and not ended.stderr
