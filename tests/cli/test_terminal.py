"""What strangers wrote into labels, cells, names of columns and files is shown on the terminal, never obeyed by it."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys

import pytest

from merula.cli.console import compilation_told
from merula.core.compilation import WATCHING
from merula.show.text import OBEYED, text_table, visible

HOSTILE = ["\x1b[2J", "\x9b31m", "\x07", "\u202egnp", "\u2066x", "\x00", "\r", "\x7f", "\u2028"]
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@pytest.mark.parametrize("sign", HOSTILE, ids=ascii)
def test_each_sign_is_written_out(sign):
    assert visible(f"wren{sign}") == f"wren{sign}".encode("unicode_escape").decode()
    assert visible(visible(sign)) == visible(sign)


def test_what_is_no_control_stays():
    plain = "größe 色泽 שלום\u200f e\u0301 \u200d 👩\u200d🔬\nnext line"
    assert visible(plain) == plain


def test_cells_of_a_table_stay_below_one_another():
    lines = text_table("", [["label", "p"], ["a\x1b[31m", "1"], ["b", "2"]], 1).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert OBEYED.search("".join(lines)) is None


@pytest.fixture
def hostile(folder):
    """A table whose labels, cells and column names hold every one of them."""
    names = [f"size{HOSTILE[0]}", f"sound{HOSTILE[1]}{HOSTILE[3]}", f"bird{HOSTILE[2]}"]
    rows = [(i % 7, f"cell{HOSTILE[i % 4]}", ("tit", "wren")[i % 2] + HOSTILE[i % 2] + HOSTILE[3]) for i in range(40)]
    lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    (folder / f"birds{HOSTILE[0]}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"birds{HOSTILE[0]}.jsonl", f"bird{HOSTILE[2]}"


def commands(table, target, family):
    model = f"m{HOSTILE[1]}.merula"
    return [
        ("fit", table, "--target", target, "--model", family, "-o", model),
        ("evaluate", table, "--target", target, "--model", family, "--cv", "2"),
        ("explain", model, table),
        ("explain", model, table, "--label", "\x1b]0;title\x07"),
        ("info", model),
        ("predict", model, table, "-o", f"answers{HOSTILE[1]}.csv"),
        ("predict", f"none{HOSTILE[0]}.merula", table),
        ("fit", table, "--target", "\x1b[31m"),
        ("fit", f"none{HOSTILE[1]}.csv", "--target", target),
        *([("demo", table, "--target", target)] if family == "auto" else []),
        ("network", "learn", table, "-o", "net.json"),
        ("network", "show", "net.json"),
        ("network", "query", "net.json"),
        ("network", "query", "net.json", "--given", f"{target}=\x1b[1m"),
        ("fit", "--\x1b[31m"),
    ]


@pytest.mark.parametrize("form", ["text", "json", "debug"])
def test_nothing_that_a_command_prints_is_obeyed(merula, hostile, form):
    family = "auto" if form == "text" else "naive"
    for words in commands(*hostile, family):
        asked = {"text": (), "json": ("--json",), "debug": ("--debug",)}[form]
        result = merula(*words, *asked)
        assert RAW.search(result.stdout + result.stderr) is None, words
        if form == "json" and result.exit_code == 0:
            json.loads(result.stdout)


def test_json_holds_the_labels_as_they_are(merula, hostile):
    table, target = hostile
    merula("fit", table, "--target", target, "-o", "m.merula")
    found = json.loads(merula("info", "m.merula", "--json").stdout)
    assert found["target"] == target
    assert set(found["classes"]) == {f"tit{HOSTILE[0]}{HOSTILE[3]}", f"wren{HOSTILE[1]}{HOSTILE[3]}"}


def test_answers_are_exact_in_a_file_and_harmless_on_a_terminal(merula, hostile, folder, monkeypatch):
    from merula.data.table import read_table
    from merula.data.table.write import write_table

    table, target = hostile
    merula("fit", table, "--target", target, "-o", "m.merula")
    merula("predict", "m.merula", table, "-o", "answers.jsonl")
    answers = read_table("answers.jsonl")
    assert set(answers["class"].to_pylist()) <= {f"tit{HOSTILE[0]}{HOSTILE[3]}", f"wren{HOSTILE[1]}{HOSTILE[3]}"}

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    write_table(answers, "-")
    monkeypatch.undo()
    assert "\\x1b[2J" in terminal.getvalue()
    assert RAW.search(terminal.getvalue()) is None


# --------------------------------------------------------------------------------------------------------- compilation


WORDS = [sys.executable, "-m", "merula", "fit", "fruit.csv", "--target", "ripe", "--model", "naive"]


def on_a_terminal(folder, *more):
    """What a command writes to a terminal, with a folder of compiled loops of its own."""
    import pty

    ours, theirs = pty.openpty()
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "loops"), "TERM": "dumb"}
    done = subprocess.run([*WORDS, *more], cwd=folder, env=environment, stderr=theirs, stdout=subprocess.DEVNULL)
    os.close(theirs)
    written = b""
    with contextlib.suppress(OSError):  # how a terminal that is closed ends
        while piece := os.read(ours, 65_536):
            written += piece
    os.close(ours)
    assert done.returncode == 0, written
    return written.decode()


@pytest.mark.skipif(os.name != "posix", reason="there is no pty")
def test_who_watches_a_terminal_is_told_of_compilation_once(folder):
    (folder / "fruit.csv").write_text("colour,ripe\n" + "red,yes\ngreen,no\nred,no\n" * 12)
    first, again = on_a_terminal(folder), on_a_terminal(folder)
    assert first.count("compiling loops, once for this installation") == 1
    assert re.search(r"compiling took \d+ s of this; the next run is faster", first)
    assert "compiling" not in again


class Watched(io.StringIO):
    """A terminal that somebody watches."""

    def isatty(self):
        return True


@pytest.mark.parametrize(("quiet", "stream", "told"), [(False, Watched(), True), (True, Watched(), False), (False, io.StringIO(), False)])  # fmt: skip
def test_compilation_is_told_to_people_alone(monkeypatch, quiet, stream, told):
    monkeypatch.setattr(sys, "stderr", stream)
    with compilation_told(quiet):
        WATCHING[-1].starts(kept=True)
        WATCHING[-1].ends()
    assert ("compiling" in stream.getvalue()) == told


def test_loops_that_cannot_be_kept_are_not_called_so(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Watched())
    with compilation_told(quiet=False):
        WATCHING[-1].starts(kept=False)
        WATCHING[-1].ends()
    assert sys.stderr.getvalue() == "compiling loops …\ncompiling took 0 s of this\n"


# ------------------------------------------------------------------------------------------------------------ formulas


FORMULAS = ["=cmd|'/c calc'!A0", "@SUM(1)", "+1+cmd", "-1+2", "=1", "＝1"]


@pytest.fixture
def formulas(merula, folder):
    """A table whose classes are formulas, one of them behind a blank, and a model of it."""
    typed = [*FORMULAS[:4], f"\t{FORMULAS[4]}", FORMULAS[5]]
    lines = ["size,bird"] + [f'{i % 6 * 3 + i % 2},"{typed[i % 6]}"' for i in range(60)]
    (folder / "formulas.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert merula("fit", "formulas.csv", "--target", "bird", "-o", "m.merula").exit_code == 0
    return "formulas.csv"


def test_classes_that_are_formulas_come_through_with_a_note(merula, formulas):
    from merula.data.table import read_table

    result = merula("predict", "m.merula", formulas, "-o", "answers.csv")
    assert "would be run as a formula" in result.stderr
    assert "--for-spreadsheets" in result.stderr
    kept = set(read_table("answers.csv")["class"].to_pylist())
    assert kept <= set(FORMULAS)
    assert len(kept) > 2


def test_for_spreadsheets_no_cell_begins_a_formula(merula, formulas, folder):
    result = merula("predict", "m.merula", formulas, "--append", "--for-spreadsheets", "-o", "answers.csv")
    assert (result.exit_code, result.stderr) == (0, "")
    import csv

    rows = list(csv.reader(io.StringIO((folder / "answers.csv").read_text(encoding="utf-8"))))
    assert all(row[1][0] == "'" and row[1][1:] in FORMULAS for row in rows[1:])
    assert all(0 <= float(cell) <= 1 for row in rows[1:] for cell in row[3:])  # numbers stay numbers


def test_numbers_are_no_formulas(merula, folder):
    (folder / "t.csv").write_text("size,sign\n" + "".join(f"{-(i % 7)},{'-1' if i % 2 else '+1'}\n" for i in range(40)))
    assert merula("fit", "t.csv", "--target", "sign", "-o", "m.merula").exit_code == 0
    result = merula("predict", "m.merula", "t.csv", "-o", "answers.csv", "--append")
    assert (result.exit_code, result.stderr) == (0, "")
