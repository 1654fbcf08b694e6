"""What was said when a model was fitted is kept in its file and not said again; what is new is."""

import json
import warnings

import pandas as pd
import pytest

import merula as mr

HEAD = "price,seen,colour,ring,bird\n"


def rows(count=80):
    for i in range(count):
        tit = i % 2
        yield (
            f"${10 + i % 13 + 3 * tit}.50,{i % 12 + 1:02d}/{i % 27 + 1:02d}/2024,{'red' if (i + tit) % 3 else 'blue'},{1000 + i},{'tit' if tit else 'wren'}"
        )


@pytest.fixture
def fitted(merula, folder):
    """A model of birds whose prices, days and rings made fit say something; and what it said."""
    (folder / "birds.csv").write_text(HEAD + "\n".join(rows()) + "\n")
    result = merula("fit", "birds.csv", "-t", "bird", "-m", "naive")
    assert result.exit_code == 0, result.stderr
    return [line.removeprefix("note: ") for line in result.stderr.splitlines()]


def test_fit_says_how_words_are_read_and_what_is_left_out(fitted):
    assert any("'price' ($); as dates: 'seen' (month before day)" in line for line in fitted)
    assert any("'ring' looks like an identifier" in line for line in fitted)
    assert len(fitted) == 2


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_they_are_not_said_again(merula, fitted, command):
    result = merula(command, "model.merula", "birds.csv")
    assert (result.exit_code, result.stderr) == (0, "")


def test_info_shows_what_was_said(merula, fitted):
    told = json.loads(merula("info", "model.merula", "--json").stdout)["said_at_fit"]
    assert [note["text"] for note in told] == fitted
    assert [note["column"] for note in told] == [None, "ring"]
    assert all(f"note: {line}" in merula("info", "model.merula").stdout for line in fitted)


@pytest.mark.parametrize("command", ["predict", "explain"])
@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("$12.50,01/22/2024,green,1,", "column 'colour' holds level 'green', never seen at fit"),
        ('"$12,50",01/22/2024,red,1,', "'price' as numbers ($, decimal ','), not numbers ($)"),
        ("$12.50,22/01/2024,red,1,", "'seen' is read as days, day before month; at fit it was read month before day"),
        ("-,01/22/2024,red,1,", None),
        ("12.5,2024-01-22,red,1,", None),
    ],
)
def test_what_is_new_is_said(merula, fitted, folder, command, row, said):
    (folder / "new.csv").write_text(f"{HEAD}{row}\n")
    result = merula(command, "model.merula", "new.csv")
    assert result.exit_code == 0, result.stderr
    lines = [line for line in result.stderr.splitlines() if "read as missing" not in line]
    assert len(lines) == (said is not None)
    assert said is None or said in lines[0]


def test_a_column_that_is_gone_and_one_that_no_number_is(merula, fitted, folder):
    (folder / "new.csv").write_text("price,seen\n$9.50,01/22/2024\n")
    result = merula("predict", "model.merula", "new.csv")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: column 'colour' is missing from the table")
    told = {
        "cheap": "is numeric but holds something else ('cheap')",
        "€12.50": "holds amounts in €, but those learned from are in $; give them in $",
    }
    for price, said in told.items():
        (folder / "new.csv").write_text(f"price,seen,colour\n{price},01/22/2024,red\n")
        result = merula("predict", "model.merula", "new.csv")
        assert result.exit_code == 2
        assert result.stderr.startswith(f"error: column 'price' {said}")


def test_a_column_that_the_model_does_not_know_is_no_matter(merula, fitted, folder):
    (folder / "new.csv").write_text("price,seen,colour,weather\n$9.50,01/22/2024,red,fine\n")
    result = merula("predict", "model.merula", "new.csv")
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_row_is_explained_as_the_whole_file_is_read(merula, fitted, folder):
    """02/03/2024 alone could be read as the model's rows were; beside 22/01/2024 it is the second of March."""
    (folder / "new.csv").write_text(f"{HEAD}$12.50,02/03/2024,red,1,\n$12.50,22/01/2024,red,1,\n")
    told = json.loads(merula("explain", "model.merula", "new.csv", "--row", "1", "--json").stdout)
    answers = merula("predict", "model.merula", "new.csv").stdout.splitlines()
    assert told["posterior"] == pytest.approx([float(cell) for cell in answers[1].split(",")[1:]], rel=1e-12)
    assert "2024-03-02" in merula("explain", "model.merula", "new.csv", "--row", "1").stdout


def test_a_merged_model_remembers_what_both_said_once(merula, fitted):
    assert merula("merge", "model.merula", "model.merula", "-o", "both.merula").exit_code == 0
    told = json.loads(merula("info", "both.merula", "--json").stdout)["said_at_fit"]
    assert [note["text"] for note in told] == fitted


def test_in_python_predict_does_not_repeat_what_fit_said():
    cells = [row.split(",") for row in rows()]
    birds = pd.DataFrame(cells, columns=HEAD.strip().split(","))
    with pytest.warns(mr.GuessedKindWarning) as said:
        model = mr.NaiveBayesClassifier().fit(birds.drop(columns="bird"), birds["bird"])
    assert {"price", "seen", "ring"} <= {warning.message.note.column for warning in said}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_proba(birds)
        mr.explain(model, birds.drop(columns="bird").iloc[[3]])
    with pytest.warns(mr.UnseenLevelWarning, match="'green'"):
        model.predict(birds.assign(colour="green"))
