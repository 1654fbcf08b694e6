"""What the shell may do wrong: an exit code, one clear line on standard error, no traceback."""

import gzip
import os
import subprocess
import sys
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import merula as mr
from merula.classify.model_files import model_state
from merula.cli.console import OPTIONS, typed
from merula.cli.jobs.models import costs_file
from merula.core.archive import write_state
from merula.core.errors import InPython, Option

BAD_INPUT, FAILED = 2, 1
SHELL = [sys.executable, "-W", "error", "-m", "merula"]


def check(result, code, *words):
    """The exit code, and one line that holds these words."""
    assert result.exit_code == code, (result.stdout, result.stderr)
    errors = [line for line in result.stderr.splitlines() if not line.startswith("note: ")]
    assert len(errors) == 1, result.stderr
    assert errors[0].startswith("error: ")
    for word in words:
        assert word in errors[0], errors[0]
    assert "Traceback" not in result.stderr


# ---------------------------------------------------------------------------------------------------------- table files

TABLES = {
    "empty file": (b"", "is empty"),
    "blank lines": (b"\n\n  \n", "is empty"),
    "header only": (b"island,species\n", "no rows"),
    "binary garbage": (bytes(range(256)) * 20, "is no table: it holds binary data"),
    "an executable": (b"\x7fELF\x02\x01\x01" + bytes(100), "is no table"),
    "ragged": (
        b"island,species\nDream,Adelie\nDream\nBiscoe,Gentoo,female\n",
        "line 3 has 1 cell where the header has 2",
    ),
    "open quote": (b'island,species\nDream,"Adelie\nBiscoe,Gentoo\n', "quotation mark that is never closed"),
    "numbers for names": (b"1,2,3\n4,5,6\n", "the first line must name the columns"),
    "damaged UTF-8": (
        "größe,species\nGröße,Ärger\n".encode() * 9 + b"\xf6,x\n",
        "line 19 holds the byte 0xf6; save it as UTF-8, or say its encoding, such as --encoding cp1252 or gb18030",
    ),
    "damaged gzip": (gzip.compress(b"island,species\nDream,Adelie\n")[:-9], "cut short or damaged"),
    "damaged parquet": (b"PAR1" + b"\x00" * 50, "cannot be read"),
    "a list of numbers": (b"[1, 2, 3]", "is JSON, but not"),
    "broken JSON lines": (b'{"island": "Dream"\n', "cannot be read"),
    "JSON without end": (b'[{"island": ' + b"[" * 9_000 + b"]" * 9_000 + b"}]", "nested more than 100 deep"),
    "forty digits": (b'[{"species": "Adelie", "rings": ' + b"9" * 40 + b"}]", "more than 64 bits"),
    "two million columns": (b"species," * 2_000_000, "columns, which take more than"),
}


@pytest.mark.parametrize("what", TABLES)
@pytest.mark.parametrize("command", ["fit", "evaluate"])
def test_table_that_is_none(merula, folder, what, command):
    content, words = TABLES[what]
    (folder / "table.csv").write_bytes(content)
    check(merula(command, "table.csv", "--target", "species"), BAD_INPUT, "table.csv", words)


def test_missing_file_suggests_the_nearest(merula, folder):
    (folder / "penguins_2024.csv").write_text("island,species\n")
    check(
        merula("fit", "penguin_2024.csv", "-t", "species"),
        BAD_INPUT,
        "there is no file",
        "did you mean penguins_2024.csv?",
    )


def test_folder_instead_of_a_file(merula, folder):
    (folder / "data").mkdir()
    check(merula("fit", "data", "-t", "species"), BAD_INPUT, "data is a folder", "data/*.csv")


@pytest.mark.parametrize(
    "words",
    [("fit", "", "--target", "species"), ("fit", "penguins", "--target", "species", "--output", ""), ("info", "")],
)
def test_an_empty_name(merula, words):
    check(merula(*words), BAD_INPUT, "the name of the file is empty")


def test_a_read_error_is_no_write_error(merula, folder, monkeypatch):
    (folder / "table.csv").write_text("island,species\nDream,Adelie\n")

    def fail():  # as a broken disk does while a file is read
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("merula.core.bounded.most_bytes", fail)
    check(merula("fit", "table.csv", "--target", "species"), FAILED, "table.csv: input/output error")


@pytest.mark.parametrize("change", [{"target": 5}, {"costs": 5}, {"costs": {"table": 1, "actions": [], "classes": []}}])
def test_what_is_kept_beside_a_model_is_checked(merula, folder, change):
    model = mr.NaiveBayesClassifier().fit([["red"], ["blue"]], ["pos", "neg"])
    write_state(
        folder / "forged.merula", {**model_state(model), "command": {"target": "species", "costs": None} | change}
    )
    check(merula("info", "forged.merula"), BAD_INPUT, "forged.merula holds")


def test_pattern_without_files(merula):
    check(merula("fit", "part-*.csv", "-t", "species"), BAD_INPUT, "no file matches the pattern part-*.csv")


def test_workbook(merula, folder):
    with zipfile.ZipFile(folder / "table.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    check(
        merula("fit", "table.xlsx", "-t", "species"),
        BAD_INPUT,
        "table.xlsx is a workbook that cannot be read",
        "save it again",
    )


def test_one_enormous_line(merula, folder):
    (folder / "line.csv").write_text("species" + ",x" * 500_000)
    check(merula("fit", "line.csv", "-t", "species"), BAD_INPUT, "line.csv")
    (folder / "cell.csv").write_text("species,note\nAdelie," + "x" * 5_000_000 + "\n")
    check(merula("fit", "cell.csv", "-t", "species"), BAD_INPUT, "holds one class only")


def test_empty_standard_input(merula):
    check(merula("fit", "-", "-t", "species", typed=""), BAD_INPUT, "standard input is empty")


# -------------------------------------------------------------------------------------------------------------- columns


def test_wrong_target_suggests_the_nearest(merula):
    check(merula("fit", "penguins", "-t", "spcies"), BAD_INPUT, "--target is 'spcies'", "did you mean 'species'?")


@pytest.mark.parametrize("option", ["--ignore", "--weight", "--groups"])
def test_wrong_column_suggests_the_nearest(merula, option):
    result = merula("evaluate", "penguins", "-t", "species", option, "iland")
    check(result, BAD_INPUT, f"{option} is 'iland'", "did you mean 'island'?")


def test_wrong_kinds(merula):
    check(merula("fit", "penguins", "-t", "species", "--kinds", "island"), BAD_INPUT, "expected COLUMN=KIND")
    check(
        merula("fit", "penguins", "-t", "species", "--kinds", "island=categoric"),
        BAD_INPUT,
        "did you mean 'categorical'?",
    )
    check(merula("fit", "penguins", "-t", "species", "--kinds", "iland=count"), BAD_INPUT, "did you mean 'island'?")
    check(
        merula("fit", "penguins", "-t", "species", "--kinds", "island=numeric"),
        BAD_INPUT,
        "'island'",
        "--kinds 'island=categorical'",
    )


def test_target_that_is_a_measurement(merula):
    check(
        merula("fit", "penguins", "-t", "body_mass_g"), BAD_INPUT, "94 different numbers", "cut them into a few classes"
    )


def test_target_with_fractions(merula):
    check(
        merula("fit", "penguins", "-t", "bill_length_mm"),
        BAD_INPUT,
        "'bill_length_mm' holds continuous numbers, not classes",
    )


def test_target_without_classes(merula, folder):
    (folder / "t.csv").write_text("island,species\nDream,Adelie\nBiscoe,Adelie\n")
    check(merula("fit", "t.csv", "-t", "species"), BAD_INPUT, "one class only ('Adelie')")
    (folder / "t.csv").write_text("island,species\nDream,\nBiscoe,\n")
    check(merula("fit", "t.csv", "-t", "species"), BAD_INPUT, "'species' is empty in every row")
    (folder / "t.csv").write_text("species\nAdelie\nGentoo\n")
    check(merula("fit", "t.csv", "-t", "species"), BAD_INPUT, "no column besides 'species'")
    (folder / "t.csv").write_text(
        "ring,species\n" + "".join(f"r{i},{'Adelie' if i % 2 else 'Gentoo'}\n" for i in range(40))
    )
    check(merula("fit", "t.csv", "-t", "species"), BAD_INPUT, "every column", "is left out")


def test_negative_weights(merula, folder):
    (folder / "t.csv").write_text("island,n,species\nDream,1,Adelie\nBiscoe,-2,Gentoo\n")
    check(merula("fit", "t.csv", "-t", "species", "--weight", "n"), BAD_INPUT, "the weight 'n' holds a negative value")


# --------------------------------------------------------------------------------------------------------- model files


def test_model_that_is_none(merula, folder):
    check(merula("predict", "absent.merula", "penguins"), BAD_INPUT, "there is no model file absent.merula")
    (folder / "table.merula").write_text("island,species\nDream,Adelie\n")
    for command in ("predict", "explain"):
        check(merula(command, "table.merula", "penguins"), BAD_INPUT, "cannot be read as a merula model")
    check(merula("info", "table.merula"), BAD_INPUT, "cannot be read as a merula model")
    (folder / "box").mkdir()
    check(merula("info", "box"), BAD_INPUT, "is a folder")
    mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2]).write("rain.bif")
    check(merula("info", "rain.bif"), BAD_INPUT, "rain.bif holds a network")


def test_model_of_other_columns(merula, model, folder):
    (folder / "cars.csv").write_text("doors,colour\n4,red\n5,blue\n")
    check(merula("predict", model, "cars.csv"), BAD_INPUT, "column 'island' is missing from the table")


def test_words_where_the_model_knows_numbers(merula, model, folder):
    header = "island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year\n"
    (folder / "new.csv").write_text(header + "Dream,long,18,190,4000,male,2007\n")
    check(merula("predict", model, "new.csv"), BAD_INPUT, "column 'bill_length_mm'", "long")


def test_row_and_label_that_are_not_there(merula, model):
    check(merula("explain", model, "penguins", "--row", "345"), BAD_INPUT, "rows 1 to 344")
    check(merula("explain", model, "penguins", "--row", "0"), BAD_INPUT, "rows 1 to 344")
    check(merula("explain", model, "penguins", "--label", "Emperor"), BAD_INPUT, "Adelie, Chinstrap, Gentoo")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("action,Adelie,Gentoo\nring,1,0\n", "no column for class 'Chinstrap'"),
        ("action,Adelie,Chinstrap,Gentoo,Emperor\nring,1,0,0,0\n", "names 'Emperor', which is no class"),
        ("action,Adelie,Chinstrap,Gentoo\nring,1,0,\n", "ring"),
        ("action,Adelie,Chinstrap,Gentoo\nring,1,0,much\n", "'much', expected a number"),
        ("action,Adelie,Chinstrap,Gentoo\nring,1,0,0\nring,0,5,5\n", "each action once"),
        ("0,1,2\n1,0,1\n", "must name the columns"),
    ],
)
def test_costs_of_the_wrong_shape(merula, model, folder, content, words):
    (folder / "costs.csv").write_text(content)
    check(merula("predict", model, "penguins", "--costs", "costs.csv"), BAD_INPUT, "costs.csv", words)
    check(merula("evaluate", "penguins", "-t", "species", "--costs", "costs.csv"), BAD_INPUT, "costs.csv", words)


def test_one_model_does_not_merge(merula, model):
    check(merula("merge", model), BAD_INPUT, "two or more")


# ------------------------------------------------------------------------------------------------------------- writing


def test_output_that_cannot_be_written_is_refused_before_any_work(merula, model, folder):
    (folder / "box").mkdir()
    for command in (
        ("fit", "absent.csv", "-t", "species"),
        ("predict", model, "absent.csv"),
        ("report", "absent.csv", "-t", "s"),
    ):
        check(merula(*command, "-o", "nowhere/file.csv"), BAD_INPUT, "there is no folder nowhere")
    check(merula("fit", "absent.csv", "-t", "species", "-o", "box"), BAD_INPUT, "box")
    check(merula("fit", "absent.csv", "-t", "species", "-o", "-"), BAD_INPUT, "name a file")
    check(merula("predict", model, "penguins", "-o", "answers.xlsx"), BAD_INPUT, "answers.xlsx", ".csv")


def test_folder_without_write_permission(merula, folder, monkeypatch):
    closed = folder / "closed"
    closed.mkdir(mode=0o500)
    if os.access(closed, os.W_OK):  # whoever may write anywhere is told that they may not
        monkeypatch.setattr(os, "access", lambda path, mode: False)
    check(merula("fit", "penguins", "-t", "species", "-o", "closed/m.merula"), BAD_INPUT, "permission denied")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no folder that nobody may write to")
def test_writing_that_fails_after_all(merula):
    result = merula("fit", "penguins", "-t", "species", "-m", "naive", "-o", "/proc/self/model.merula")
    check(result, result.exit_code, "/proc/self")
    assert result.exit_code in (BAD_INPUT, FAILED)


# ------------------------------------------------------------------------------------------------------------ the shell


def test_words_that_are_no_command(merula):
    check(merula("fti"), BAD_INPUT, "No such command 'fti'", "--help")
    check(merula("fit", "penguins"), BAD_INPUT, "--target")
    check(merula("fit", "penguins", "-t", "species", "--modle", "naive"), BAD_INPUT, "--model")
    check(merula("fit", "penguins", "-t", "species", "--model", "boosted"), BAD_INPUT, "boosted", "neighbors")
    check(merula("evaluate", "penguins", "-t", "species", "--cv", "ten"), BAD_INPUT, "--cv")
    check(merula("evaluate", "penguins", "-t", "species", "--cv", "1"), BAD_INPUT, "--cv")


def test_an_error_of_our_own_is_one_line_and_says_how_to_see_more(merula, monkeypatch):
    monkeypatch.setattr("merula.cli.jobs.learning.read_task", lambda *_: 1 / 0)
    check(merula("fit", "penguins", "-t", "species"), FAILED, "ZeroDivisionError", "--debug shows where")


def test_debug_shows_where(merula):
    result = merula("fit", "absent.csv", "-t", "species", "--debug")
    assert result.exit_code == BAD_INPUT  # as without it
    assert result.stderr.startswith("Traceback")
    assert "FileNotFoundError: there is no file absent.csv" in result.stderr


def test_groups_that_are_missing(merula):
    result = merula("evaluate", "penguins", "-t", "species", "--groups", "sex", "-q")
    check(result, BAD_INPUT, "--groups is 'sex'", "missing in 11 of 344 rows")


def test_options_are_written_as_they_are_typed(merula):
    learn = ("network", "learn", "penguins", "-o", "p.bif")
    check(
        merula(*learn, "--method", "chow-liu", "--max-parents", "2"),
        BAD_INPUT,
        "--max-parents does nothing with --method chow-liu; leave it out, or use --method hill-climb or tabu",
    )
    check(merula(*learn, "--score", "k2", "--numeric", "gaussian"), BAD_INPUT, "only .json holds")
    gaussian = ("network", "learn", "penguins", "-o", "p.json", "--numeric", "gaussian", "--score")
    check(merula(*gaussian, "k2"), BAD_INPUT, "which --score k2 cannot count; use --score bic, or discretise it")


def test_what_python_alone_can_do_is_left_out(merula):
    result = merula("evaluate", "penguins", "-t", "species", "--cv", "200")
    check(result, BAD_INPUT, "--cv 200 folds, but the largest class ('Adelie') has 152 rows; use --cv 152 or fewer")
    assert "sklearn" not in result.stderr


def test_names_and_values_stay_as_they_are(merula, folder):
    rows = "".join(f"{i},{'wren' if i % 2 else 'tit'}\n" for i in range(40))
    (folder / "t.csv").write_text("score='bic',bird\n" + rows)
    result = merula("fit", "t.csv", "-t", "bird", "--kinds", "score='bic'=text", "-m", "neighbors")
    assert result.exit_code in (0, BAD_INPUT)
    assert "--score" not in result.stderr


def test_an_option_that_the_command_lacks_is_said_in_words():
    OPTIONS.set({"kinds"})
    assert typed(Option("kinds", "ignore", column="it's")) == "--kinds 'it'\"'\"'s=ignore'"
    assert typed(Option("cv", 5)) == "cv 5"
    assert typed(Option("equivalent_sample_size")) == "equivalent sample size"
    assert typed(InPython("X.collect()")) == ""
    OPTIONS.set({"missing"})  # the words for missing cells, not what is made of them
    assert typed(Option("missing", "level")) == "missing level"


def in_shell(command, folder, **more):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300, **more)


def test_from_the_shell_an_error_is_a_line_and_a_code(folder):
    result = in_shell([*SHELL, "fit", "absent.csv", "--target", "species"], folder)
    assert (result.returncode, result.stdout, result.stderr) == (2, "", "error: there is no file absent.csv\n")
    result = in_shell([*SHELL, "fit", "absent.csv", "--target", "species", "--debug"], folder)
    assert result.returncode == 2
    assert "Traceback" in result.stderr


def test_pipe_closed_early_by_head(merula, model, folder):
    command = f"set -o pipefail; {' '.join(SHELL)} predict {model} big.csv | head -n 2"
    lines = ["island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year"]
    lines += ["Dream,43.2,18.5,192,4100,male,2008"] * 50_000  # more than a pipe holds
    (folder / "big.csv").write_text("\n".join(lines) + "\n")
    result = in_shell(["bash", "-c", command], folder)
    assert (result.returncode, result.stderr) == (0, "")
    assert len(result.stdout.splitlines()) == 2


def test_without_the_extra_one_line_says_what_to_install(folder):
    code = "import sys; sys.modules['typer'] = None; from merula.cli import main; main()"
    result = in_shell([sys.executable, "-c", code], folder)
    assert (result.returncode, result.stderr.strip()) == (
        1,
        "the merula command needs the packages typer and pyarrow: pip install 'merula[cli]'",
    )
    code = "import sys; sys.modules['pyarrow'] = None; sys.argv = ['merula', 'info', 'x']; from merula.data.table import read_table; read_table('x')"
    result = in_shell([sys.executable, "-c", code], folder)
    assert (
        "ImportError: tables in files are read by pyarrow, which is not installed: pip install 'merula[cli]'"
        in result.stderr
    )


def test_no_progress_bar_where_no_terminal_is_watching(merula, model):
    assert merula("predict", model, "penguins").stderr == ""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pa.array([2**60, 0], pa.timestamp("ms")), pa.array([1, 0])),
        (pa.array([0, 1], pa.timestamp("s", tz="Not/AZone")), pa.array([1, 0])),
        (pa.array([[1], [2]]), pa.array([1, 0])),
        (pa.array(["treat", "wait"]), pa.array([2**31 - 1, 0], pa.date32())),
        (pa.array(["treat", "wait"]), pa.array([[1], [0]])),
    ],
)
def test_a_file_of_costs_holds_actions_and_numbers(first, second, tmp_path):
    path = tmp_path / "costs.parquet"
    pq.write_table(pa.table({"action": first, "ill": second, "well": second}), path)
    with pytest.raises(mr.InputError, match=r"costs\.parquet"):
        costs_file(str(path), ["ill", "well"])
