"""`--test`, `--by-time`, `--calibrate`: what they measure, and what is said where a stranger slips."""

import json

import numpy as np
import pytest
from sklearn.metrics import log_loss

import merula as mr

from .test_bad_input import BAD_INPUT, check

HEAD = "wing,colour,seen,ring,state"


def rows(first, last):
    """Rows of a river's birds: every other one is ill, two have no day."""
    for i in range(first, last):
        ill = i % 2
        seen = "" if i in (3, 4) else f"2024-{i % 12 + 1:02d}-{i % 27 + 1:02d}"
        yield f"{4 + i % 7 + ill + i / 100},{'red' if (i + ill) % 3 else 'blue'},{seen},{7000 + i},{'Ill' if ill else 'Well'}"


def written(path, lines, head=HEAD):
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")


@pytest.fixture
def table(folder):
    """A table to learn from, and another to measure on."""
    written(folder / "old.csv", rows(0, 80))
    written(folder / "new.csv", rows(80, 110))
    return "old.csv"


@pytest.fixture
def measured(merula, table):
    """What `evaluate` finds, and its notes without those on columns."""

    def run(*words, table=table):
        result = merula("evaluate", table, "-t", "state", "-m", "naive", "--json", *words)
        assert result.exit_code == 0, result.stderr
        found = json.loads(result.stdout)
        return found, [note for note in found["notes"] if not note.startswith("column")]

    return run


def test_the_rows_of_another_file_are_measured_by_a_model_of_all_of_the_table(merula, measured):
    found, notes = measured("--test", "new.csv")
    assert merula("fit", "old.csv", "-t", "state", "-m", "naive").exit_code == 0
    proba = mr.load("model.merula").predict_proba(mr.read_table("new.csv"))
    truth = mr.read_table("new.csv")["state"].to_pylist()
    assert found["models"][0]["figures"]["log_loss"]["value"] == pytest.approx(
        log_loss(truth, proba, labels=["Ill", "Well"]), rel=1e-12
    )
    assert notes == []


@pytest.mark.parametrize(
    ("lines", "head", "words"),
    [
        ([], HEAD, ("new.csv has a header but no rows",)),
        (["5,red,2024-01-01,1"], HEAD.removesuffix(",state"), ("new.csv has no column 'state', which old.csv has",)),
        (["5,red,2024-01-01,1,Ill"], HEAD.replace("colour", "color"), ("no column 'colour'", "did you mean 'color'?")),
        (["5,red,2024-01-01,1,"], HEAD, ("the target 'state' is empty in every row of new.csv",)),
        (["5,red,2024-01-01,1,Dead"], HEAD, ("holds no class", "'Dead' is none of 'Ill', 'Well'")),
    ],
)
def test_a_file_that_nothing_can_be_measured_on(merula, table, folder, lines, head, words):
    written(folder / "new.csv", lines, head)
    check(merula("evaluate", table, "-t", "state", "-m", "naive", "--test", "new.csv"), BAD_INPUT, *words)


@pytest.mark.parametrize("more", [("--cv", "3"), ("--repeats", "2"), ("--groups", "ring"), ("--by-time", "seen")])
def test_a_file_to_measure_on_leaves_no_folds(merula, table, more):
    result = merula("evaluate", table, "-t", "state", "--test", "new.csv", *more)
    check(result, BAD_INPUT, "there are no folds", f"leave out {more[0]} or --test")


def test_there_is_no_such_file(merula, table):
    check(merula("evaluate", table, "-t", "state", "--test", "neu.csv"), BAD_INPUT, "there is no file neu.csv")
    result = merula("evaluate", "-", "-t", "state", "--test", "-", typed=HEAD)
    check(result, BAD_INPUT, "--test is '-'", "the table itself comes from standard input")


def test_a_class_that_was_not_learned_is_said(measured, folder):
    written(folder / "new.csv", [*rows(80, 90), "5,red,2024-01-01,1,Dead"])
    _, notes = measured("--test", "new.csv")
    assert notes == ["1 of the rows to test on is of a class that the rows learned from do not hold ('Dead'): no model gives it a probability"]  # fmt: skip


def test_spellings_that_differ_only_in_case_are_those_learned(measured, folder):
    wanted, _ = measured("--test", "new.csv")
    written(folder / "new.csv", (row.replace("Ill", "ill").replace("Well", "WELL") for row in rows(80, 110)))
    found, notes = measured("--test", "new.csv")
    assert notes == ["spellings of 'state' in new.csv that differ only in case are read as those learned: 'WELL' as 'Well', 'ill' as 'Ill'"]  # fmt: skip
    assert found["models"] == wanted["models"]


def test_one_class_alone_has_no_auc(measured, folder):
    written(folder / "new.csv", [row for row in rows(80, 110) if row.endswith("Ill")])
    found, _ = measured("--test", "new.csv")
    assert found["models"][0]["figures"]["auc"]["value"] is None


def test_rows_without_a_class_are_left_out(measured, folder):
    wanted, _ = measured("--test", "new.csv")
    written(folder / "new.csv", [*rows(80, 110), "5,red,2024-01-01,1,"])
    found, notes = measured("--test", "new.csv")
    assert notes == ["1 of 31 rows of new.csv have no 'state' and are left out"]
    assert found["models"] == wanted["models"]


def test_the_table_itself_is_no_test(measured):
    assert "figures of rows that a model has seen are too good" in measured("--test", "old.csv")[1][0]


# ----------------------------------------------------------------------------------------------------------------- time


def test_earlier_rows_tell_later_ones_however_days_are_written(measured, folder):
    found, notes = measured("--by-time", "seen")
    assert notes[0] == "2 of 80 rows have no 'seen' and are left out"
    lines = (row.split(",") for row in rows(0, 80))
    turned = (",".join([wing, colour, "/".join(reversed(seen.split("-"))) or "unknown", *more]) for wing, colour, seen, *more in lines)  # fmt: skip
    written(folder / "turned.csv", turned)
    again, notes = measured("--by-time", "seen", table="turned.csv")
    assert again["models"] == found["models"]
    assert "'seen' (day before month)" in notes[0]
    assert notes[1] == "2 of 80 rows have no 'seen' and are left out"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--by-time", "sen"), ("--by-time is 'sen'", "did you mean 'seen'?")),
        (("--by-time", "colour"), ("--by-time is 'colour', which holds words whose order in time is not known",)),
        (("--by-time", "state"), ("--by-time is 'state', which is the target itself",)),
        (("--by-time", "seen", "--groups", "ring"), ("--by-time and --groups", "leave out one of them")),
        (("--by-time", "seen", "--repeats", "2"), ("--repeats shuffles rows", "leave out one of them")),
        (("--by-time", "seen", "--cv", "500"), ("--cv is 500", "78 different times", "use 77 or fewer")),
    ],
)
def test_times_that_are_none(merula, table, more, words):
    check(merula("evaluate", table, "-t", "state", "-m", "naive", *more), BAD_INPUT, *words)


def test_too_few_times_and_none_at_all(merula, folder):
    for days, words in ((["2024", "2025"], "2 different times"), ([""], "is 'seen', which is empty in every row")):
        lines = (f"{i % 5},{days[i % len(days)]},{'Ill' if i % 3 else 'Well'}" for i in range(30))
        written(folder / "few.csv", lines, "wing,seen,state")
        check(merula("evaluate", "few.csv", "-t", "state", "--by-time", "seen"), BAD_INPUT, "--by-time", words)


# ---------------------------------------------------------------------------------------------------------- calibration


def test_a_calibrated_model_is_the_librarys_and_says_so(merula, table):
    assert merula("fit", table, "-t", "state", "-m", "naive", "-o", "plain.merula").exit_code == 0
    result = merula("fit", table, "-t", "state", "-m", "naive", "--calibrate", "-o", "calm.merula")
    assert "calibrated: every term is divided by " in result.stdout
    assert "evaluate old.csv --target state --model naive --calibrate" in result.stdout
    cells = mr.read_table(table)
    plain, calm = mr.load("plain.merula"), mr.load("calm.merula")
    wanted = plain.calibrated(cells, cells["state"].to_pylist())
    np.testing.assert_array_equal(calm.predict_proba(cells), wanted.predict_proba(cells))
    assert json.loads(merula("info", "calm.merula", "--json").stdout)["temperature"] == wanted.temperature_


def test_calibrated_models_do_not_merge(merula, table):
    assert merula("fit", table, "-t", "state", "-m", "naive", "--calibrate").exit_code == 0
    result = merula("merge", "model.merula", "model.merula", "-o", "both.merula")
    check(result, BAD_INPUT, "was calibrated", "fitted without --calibrate")


def test_figures_within_subgroups_are_told_and_a_wrong_name_is_one_line(merula, measured, table):
    found, _ = measured("--cv", "4", "--by", "colour")
    (told,) = found["subgroups"]
    assert [group["given"] for group in told["groups"]] == [{"colour": "blue"}, {"colour": "red"}]
    assert sum(group["rows"] for group in told["groups"]) == 80
    result = merula("evaluate", table, "-t", "state", "-m", "naive", "--by", "color")
    assert result.exit_code == 2 and "did you mean 'colour'?" in result.stderr
