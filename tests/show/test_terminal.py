"""Text in colours on a terminal: the words as they are, escape sequences around some, none where they are not wanted."""

import io
import re

import pytest
from rich.console import Console

import merula as mr
from merula.cli.console import say
from merula.show.terminal import shows_colors

ESCAPES = re.compile(r"\x1b\[[\d;]*m")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    return Terminal()


def explained():
    model = mr.NaiveBayesClassifier(smoothing=1).fit([["red"], ["blue"], ["red"]], ["yes", "no", "yes"])
    return mr.explain(model, ["red"])


def test_colours_change_no_word(terminal):
    text = str(explained()) + "\n" + "x" * 300 + "\n[bold] :smile: 色泽"
    say(text, terminal)
    printed = terminal.getvalue()
    assert ESCAPES.search(printed)
    assert ESCAPES.sub("", printed) == text + "\n"


def test_nothing_in_a_text_is_obeyed(terminal):
    say("a class called \x1b[31mred", terminal)
    assert "\x1b[31m" not in terminal.getvalue()


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_who_wants_no_colours_gets_none(terminal, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert not shows_colors(terminal)
    say("evidence  +1.204", terminal)
    assert terminal.getvalue() == "evidence  +1.204\n"


def test_a_file_gets_no_colours():
    stream = io.StringIO()
    say("note: evidence  +1.204", stream)
    assert stream.getvalue() == "note: evidence  +1.204\n"


def test_results_are_texts_of_rich():
    console = Console(file=Terminal(), force_terminal=True, color_system="truecolor", width=200)
    result = explained()
    console.print(result)
    printed = console.file.getvalue()
    assert ESCAPES.search(printed)
    assert ESCAPES.sub("", printed).strip() == str(result).strip()
