"""`explain --row` and `--top`, and a target that nobody named: what is meant, and what is said where nothing can be."""

import json

import pytest

from .test_bad_input import BAD_INPUT, check


@pytest.fixture
def rings(folder):
    """Four penguins with rings, two of which are the same bird."""
    head = "ring,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year"
    cells = ["007,Dream,39.1,18.7,181,3750,male,2007", "008,Biscoe,46.5,13.5,210,4550,female,2007"]
    cells += ["007,Dream,39.5,17.4,186,3800,female,2008", "0070,Torgersen,40.3,18,195,3250,female,2008"]
    (folder / "rings.csv").write_text("\n".join([head, *cells]) + "\n")
    return "rings.csv"


def numbers(result):
    """The numbers of the rows that were explained."""
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    return [one["row"] for one in (found if isinstance(found, list) else [found])]


@pytest.mark.parametrize(
    ("stated", "meant"),
    [
        ([], [1]),
        (["--row", "4"], [4]),
        (["--row", "2-3"], [2, 3]),
        (["--row", "ring=007"], [1, 3]),
        (["--row", "ring=0070"], [4]),
        (["--row", "body_mass_g=3750.0"], [1]),
        (["--row", "3", "--row", "ring=007", "--row", "2-3"], [3, 1, 2]),
    ],
)
def test_the_rows_that_are_meant(merula, model, rings, stated, meant):
    assert numbers(merula("explain", model, rings, "--json", *stated)) == meant


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("0", ("--row is 0", "rows 1 to 4")),
        ("5", ("--row is 5", "rows 1 to 4")),
        ("3-9", ("--row is 3-9", "rows 1 to 4")),
        ("3-2", ("ends before it begins",)),
        ("-1", ("--row is '-1'", "a number from 1, a range such as 3-7, or COLUMN=VALUE")),
        ("first", ("--row is 'first'", "COLUMN=VALUE")),
        ("ring=009", ("no row holds '009' in 'ring'", "the nearest are '008', '007'")),
        ("island=Torgerson", ("no row holds 'Torgerson' in 'island'", "the nearest is 'Torgersen'")),
        ("rink=007", ("no column 'rink'", "did you mean 'ring'?")),
    ],
)
def test_rows_that_are_none(merula, model, rings, row, words):
    check(merula("explain", model, rings, "--row", row), BAD_INPUT, *words)


def test_the_largest_reasons_stand_alone(merula, model, rings):
    lines = merula("explain", model, rings, "--top", "2").stdout.splitlines()
    assert sum(" = " in line for line in lines) == 2
    assert any(line.startswith("5 other columns") for line in lines)
    assert sum(" = " in line for line in merula("explain", model, rings, "--top", "all").stdout.splitlines()) == 7


@pytest.mark.parametrize("word", ["0", "-3", "many", "2.5"])
def test_a_number_of_reasons_that_is_none(merula, model, rings, word):
    check(
        merula("explain", model, rings, "--top", word), BAD_INPUT, f"--top is '{word}'", "a whole number from 1, or all"
    )


@pytest.mark.parametrize("command", ["fit", "evaluate", "report"])
def test_a_target_that_nobody_named_is_guessed(merula, patients, command):
    result = merula(command, patients)
    check(result, BAD_INPUT, "which column of patients.csv holds the class?", "'patient id', 'hospital'", "diagnosis'")
    assert result.stderr.splitlines()[0].startswith("error: ")
    assert f"{command} patients.csv --target" in result.stderr


def test_what_to_type_keeps_what_was_typed(merula, patients):
    result = merula("evaluate", patients, "-m", "naive", "--cv", "3", "--missing", "-9", "--ignore", "hospital")
    assert result.stderr.strip().endswith("--model naive --cv 3 --ignore hospital --missing -9")
    result = merula("fit", patients, "--calibrate", "-o", "ill.merula")
    assert result.stderr.strip().endswith("--calibrate --output ill.merula")
    assert "--model" not in result.stderr


def test_a_target_that_nobody_can_guess(merula, folder):
    (folder / "wings.csv").write_text("wing,tail\n" + "".join(f"{i / 7},{i / 3}\n" for i in range(40)))
    result = merula("fit", "wings.csv")
    check(result, BAD_INPUT, "It has 'wing', 'tail'; type: ", "--target COLUMN")
    assert "perhaps" not in result.stderr


def test_many_columns_are_not_all_listed(merula, folder):
    (folder / "wide.csv").write_text(",".join(f"wing {i}" for i in range(300)) + "\n" + ",".join("1" * 300) + "\n")
    check(merula("fit", "wide.csv"), BAD_INPUT, "'wing 11', … (300 in all)")
