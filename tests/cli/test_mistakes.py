"""What newcomers type by mistake: one line that says what to do, and nothing lost."""

import json
import os
import subprocess
import sys

import pytest
from tests.cli.test_bad_input import BAD_INPUT, FAILED, check

import merula as mr

BIRDS = "wing,colour,bird\n" + "".join(
    f"{(i % 2) * 10 + i / 10},{'red' if i % 3 else 'blue'},{'wren' if i % 2 else 'tit'}\n" for i in range(40)
)


@pytest.fixture
def birds(folder):
    (folder / "birds.csv").write_text(BIRDS)
    return "birds.csv"


# ------------------------------------------------------------------------------------------------- one file for another


@pytest.mark.parametrize("command", ["fit", "report", "predict"])
def test_the_table_is_never_overwritten(merula, model, birds, folder, command):
    words = {
        "fit": ("fit", birds, "-t", "bird"),
        "report": ("report", birds, "-t", "bird"),
        "predict": ("predict", model, birds),
    }[command]
    check(merula(*words, "-o", f"./{birds}"), BAD_INPUT, "is the table itself")
    assert (folder / birds).read_text() == BIRDS


def test_a_network_does_not_overwrite_its_table(merula, folder):
    rows = json.dumps([{"bird": "wren", "colour": "red"}, {"bird": "tit", "colour": "blue"}])
    (folder / "birds.json").write_text(rows)
    check(merula("network", "learn", "birds.json", "-o", "birds.json"), BAD_INPUT, "is the table itself")
    assert (folder / "birds.json").read_text() == rows


def test_models_networks_and_tables_are_told_apart(merula, model, birds):
    assert merula("network", "learn", birds, "-o", "birds.bif").exit_code == 0
    check(merula("fit", model, "-t", "bird"), BAD_INPUT, f"{model} is a model, expected a table")
    check(merula("fit", "birds.bif", "-t", "bird"), BAD_INPUT, "birds.bif is a network, expected a table")
    for words in (("show", model), ("query", model), ("convert", model, "x.bif")):
        check(merula("network", *words), BAD_INPUT, "holds a model", "merula predict")
    check(merula("info", "birds.bif"), BAD_INPUT, "holds a network, not a model")


def test_a_far_name_is_not_suggested(merula, birds):
    result = merula("fit", "absent.csv", "-t", "bird")
    check(result, BAD_INPUT, "there is no file absent.csv")
    assert "did you mean" not in result.stderr


# ---------------------------------------------------------------------------------------------------------------- options


def test_an_option_that_would_change_nothing(merula, model):
    fit = ("fit", "penguins", "-t", "species", "--like", model)
    for more in (("--model", "bayes"), ("--kinds", "island=text"), ("--ignore", "island")):
        check(merula(*fit, *more), BAD_INPUT, "--like takes the model and the kinds")


def test_weights_and_groups(merula, birds):
    check(merula("fit", birds, "-t", "bird", "--weight", "colour"), BAD_INPUT, "--weight is 'colour'", "no numbers")
    check(merula("fit", birds, "-t", "bird", "--weight", "bird"), BAD_INPUT, "which is the target itself")
    check(merula("evaluate", birds, "-t", "bird", "--groups", "bird"), BAD_INPUT, "which is the target itself")


def test_messages_are_in_the_words_of_the_command_line(merula, folder):
    (folder / "t.csv").write_bytes("größe,vogel\n1,wren\n2,tit\n3,wren,1\n".encode("latin-1"))
    check(merula("fit", "t.csv", "-t", "vogel"), BAD_INPUT, "line 4 has 3 cells", "leave them out: --on-error skip")
    said = merula("fit", "t.csv", "-t", "vogel", "-m", "naive", "--on-error", "skip").stderr
    assert "note: read as Windows-1252 (found by its bytes); --encoding NAME says another" in said
    assert "note: 1 row has more or fewer cells than the header and is left out (line 4)" in said
    learn = ("network", "learn", "penguins", "-o", "p.bif")
    check(merula(*learn, "--numeric", "mdl"), BAD_INPUT, "--numeric mdl", "--target …")
    check(merula(*learn, "--method", "pc", "--score", "bic"), BAD_INPUT, "--score does nothing with --method pc")


def test_the_fold_that_failed_is_named(merula, folder):
    (folder / "t.csv").write_text("wing,bird\n5,wren\n20,tit\n21,tit\n")
    check(merula("evaluate", "t.csv", "-t", "bird"), BAD_INPUT, "one class only", "(in fold 1, evaluating auto)")


# --------------------------------------------------------------------------------------------------------------- columns


def test_a_mistyped_column_of_a_new_table(merula, folder, birds):
    assert merula("fit", birds, "-t", "bird", "-m", "naive").exit_code == 0
    (folder / "new.csv").write_text("wing,color\n5,red\n")
    check(merula("predict", "model.merula", "new.csv"), BAD_INPUT, "'colour' is missing", "did you mean 'color'?")
    (folder / "new.csv").write_text("wing,colour\nbroad,red\n")
    check(merula("predict", "model.merula", "new.csv"), BAD_INPUT, "column 'wing' is numeric", "'broad'")
    assert merula("predict", "model.merula", "new.csv", "--missing", "broad").exit_code == 0


def test_numbers_and_days_among_words_are_read_and_said_and_a_word_is_kept(merula, folder):
    rows = "".join(f"{i}%,{i + 1}.03.2024,{i % 7},{'wren' if i % 2 else 'NA'}\n" for i in range(30))
    (folder / "t.csv").write_text("share,day,eggs,bird\n" + rows)
    result = merula("fit", "t.csv", "-t", "bird", "-m", "naive", "--keep", "NA")
    assert result.exit_code == 0, result.stderr
    assert "words are read as numbers: 'share' (%); as dates: 'day' (day before month)" in result.stderr
    assert "2 classes (NA 50 %, wren 50 %)" in result.stdout


def test_labels_of_many_lines_and_letters_stay_on_one_line(merula, folder):
    rows = "".join(f'{i % 7},"{"wren" * 500 if i % 2 else "tit, the"}\nbird"\n' for i in range(20))
    (folder / "t.csv").write_text("wing,bird\n" + rows)
    result = merula("fit", "t.csv", "-t", "bird", "-m", "naive")
    assert "'tit, the bird' 50 %" in result.stdout
    assert max(map(len, result.stdout.splitlines())) < 200


def test_five_hundred_columns_take_no_time(merula, folder):
    names = ",".join(f"gene {i}" for i in range(500))
    rows = "".join(
        ",".join(str((i * j) % 17 / 3) for j in range(500)) + f",{'ill' if i % 2 else 'well'}\n" for i in range(30)
    )
    (folder / "genes.csv").write_text(f"{names},state\n{rows}")
    check(merula("fit", "genes.csv", "-t", "stat"), BAD_INPUT, "(501 in all); did you mean 'state'?")


# -------------------------------------------------------------------------------------------------------------- networks


def test_network_of_a_table_with_dates(merula, folder):
    rows = "".join(f"2024-03-{i % 28 + 1:02},{'red' if i % 2 else 'blue'}\n" for i in range(40))
    (folder / "t.csv").write_text("day,colour\n" + rows)
    result = merula("network", "learn", "t.csv", "-o", "t.bif")
    assert result.exit_code == 0, result.stderr
    assert "column 'day' is datetime, which a network does not hold, and is left out" in result.stderr


def test_network_of_a_table_with_sentences_and_durations(merula, folder):
    notes = ("coughs a lot at night", "sleeps well again since Monday", "came back with a fever")
    rows = "".join(
        f"{notes[i % 3]} {i},{f'{i} days' if i % 2 else f'{i + 1} h'},{'red' if i % 2 else 'blue'}\n" for i in range(40)
    )
    (folder / "t.csv").write_text("note,lasted,colour\n" + rows)
    result = merula("network", "learn", "t.csv", "-o", "t.bif")
    assert result.exit_code == 0, result.stderr
    told = [line for line in result.stderr.splitlines() if "left out" in line]
    assert told == [
        "note: column 'note' is text, which a network does not hold, and is left out",
        "note: column 'lasted' holds durations, which a network does not hold, and is left out",
    ]


def test_gaussian_networks_are_written_as_json_alone(merula, birds):
    learn = ("network", "learn", birds, "--numeric", "gaussian", "-o")
    check(merula(*learn, "birds.bif"), BAD_INPUT, "which only .json holds")
    assert merula(*learn, "birds.json").exit_code == 0
    result = merula("network", "query", "birds.json", "wing", "bird", "--json")
    rows = json.loads(result.stdout)["probabilities"]
    assert {row["bird"] for row in rows} == {"tit", "wren"}
    assert all(row["numbers"]["deviation"] > 0 for row in rows)
    check(merula("network", "query", "birds.json", "bird", "-g", "wing=nan"), BAD_INPUT, "give a number")


def test_mdl_cuts_for_a_target(merula):
    result = merula("network", "learn", "penguins", "-o", "p.bif", "--numeric", "mdl", "--target", "species")
    assert result.exit_code == 0, result.stderr


def test_nested_columns_are_appended_to_csv(merula, folder, birds):
    assert merula("fit", birds, "-t", "bird", "-m", "naive").exit_code == 0
    (folder / "new.jsonl").write_text('{"wing": 5, "colour": "red", "eggs": [1, 2]}\n')
    result = merula("predict", "model.merula", "new.jsonl", "--append")
    assert result.exit_code == 0, result.stderr
    assert '"[1, 2]"' in result.stdout


# ------------------------------------------------------------------------------------------------------------- the shell


def test_a_device_is_written_to_and_not_replaced(merula, birds):
    result = merula("fit", birds, "-t", "bird", "-m", "naive", "-o", os.devnull)
    assert result.exit_code == 0, result.stderr
    assert not os.path.isfile(os.devnull)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no disk that is always full")
def test_a_full_disk(merula, birds):
    fit = ("fit", birds, "-t", "bird", "-m", "naive", "-o", "/dev/full")
    check(merula(*fit), FAILED, "could not be written: no space left on device")


def test_closed_standard_input(merula, birds, monkeypatch):
    from merula.data.table import read as files

    monkeypatch.setattr(files.sys, "stdin", None)
    with pytest.raises(ValueError, match="standard input is closed"):
        files.read_table("-")


def test_a_terminal_without_the_signs(folder, birds):
    shell = [sys.executable, "-m", "merula"]
    more = {"cwd": folder, "env": {**os.environ, "PYTHONIOENCODING": "ascii"}, "capture_output": True, "check": True}
    learned = subprocess.run([*shell, "network", "learn", birds, "-o", "b.bif"], **more).stdout
    assert b"\\u2264" in learned
    shown = subprocess.run([*shell, "network", "show", "b.bif", "--json"], **more).stdout
    assert any("≤" in level for level in json.loads(shown)["variables"][0]["levels"])


def test_a_network_in_another_encoding(merula, folder):
    text = (
        "network n {}\nvariable Größe { type discrete [2] { klein, groß }; }\nprobability (Größe) { table 0.5, 0.5; }\n"
    )
    (folder / "n.bif").write_bytes(text.encode("latin-1"))
    check(merula("network", "show", "n.bif"), BAD_INPUT, "line 2", "say --encoding latin-1")
    for words in (("show", "n.bif"), ("query", "n.bif", "Größe"), ("convert", "n.bif", "n.net")):
        result = merula("network", *words, "--encoding", "latin-1")
        assert result.exit_code == 0, result.stderr


def test_a_table_before_the_model(merula, model, birds):
    check(merula("predict", birds, model), BAD_INPUT, f"{birds} cannot be read as a merula model", "before the table")


def test_words_for_missing_in_the_bundled_table(merula):
    result = merula("fit", "penguins", "-t", "species", "-m", "naive", "--missing", "Dream", "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(merula("info", "model.merula", "--json").stdout)["columns"]
    assert next(column["levels"] for column in told if column["column"] == "island") == 2


def test_a_number_of_a_variable_that_a_file_holds_as_intervals(merula, birds):
    assert merula("network", "learn", birds, "-o", "birds.bif").exit_code == 0
    levels = json.loads(merula("network", "show", "birds.bif", "--json").stdout)["variables"][0]["levels"]
    ask = ("network", "query", "birds.bif", "bird", "--json", "--given")
    by_number, by_level = merula(*ask, "wing=-5"), merula(*ask, f"wing={levels[0]}")
    assert by_number.exit_code == 0, by_number.stderr
    assert json.loads(by_number.stdout)["probabilities"] == json.loads(by_level.stdout)["probabilities"]
    check(merula(*ask, "wing=long"), BAD_INPUT, "'wing' holds numbers", "give a number")


def test_the_word_for_missing_is_named(merula, folder):
    rows = "".join(f"{'NA' if i == 3 else i / 7},{'?' if i % 9 == 0 else 'mf'[i % 2]},{i % 2}\n" for i in range(40))
    (folder / "t.csv").write_text("wing,sex,bird\n" + rows)
    said = merula("fit", "t.csv", "-t", "bird", "-m", "naive").stderr
    assert (
        "note: column 'wing' holds numbers and 'NA'; column 'sex' holds words and '?', read as missing; --keep '?' leaves it a word"
        in said
    )
    said = merula("fit", "t.csv", "-t", "bird", "-m", "naive", "--keep", "?").stderr
    assert "'wing' holds numbers and 'NA', read as missing" in said
    assert "?" not in said
    assert set(mr.load("model.merula").schema_["sex"].levels) == {"?", "f", "m"}
    assert merula("fit", "t.csv", "-t", "bird", "-m", "naive", "--missing", "NA", "--missing", "?").exit_code == 0


def test_a_file_where_the_demo_wants_a_folder(merula, birds):
    check(merula("demo", "--folder", birds), BAD_INPUT, f"--folder is {birds}, which is a file")


def test_a_number_that_is_too_small_is_told_with_what_it_may_be(merula):
    check(merula("evaluate", "penguins", "-t", "species", "--cv", "1"), BAD_INPUT, "--cv is 1, expected 2 or more")
