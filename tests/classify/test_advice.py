"""What is said of columns before a model is fitted."""

import numpy as np
import pandas as pd
import pytest

from merula.classify.advice import advised_kinds, check_target, review
from merula.data.encode import encode_target, infer_schema
from merula.data.table import open_table

ROWS = 200


def remarks(values, labels=None, name="column", kinds=None):
    """What is said of one column."""
    labels = ["wren", "tit"] * (len(values) // 2) if labels is None else labels
    frame = pd.DataFrame({name: values})
    table = open_table(frame)
    target = encode_target(labels, len(frame))
    return [remark.what for remark in review(table, infer_schema(table, kinds)[0], target, kinds or ())]


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize(
    "values",
    [
        list(range(ROWS)),
        list(range(5_000, 5_000 + 7 * ROWS, 7)),
        [f"ring-{i}" for i in range(ROWS)],
        [f"ticket {i % 150}" for i in range(ROWS)],
    ],
    ids=["a sequence", "with gaps", "words", "most words differ"],
)
def test_identifiers(values):
    assert remarks(values) == ["identifier"]


def test_large_numbers_that_are_called_an_id(rng):
    numbers = rng.choice(10**9, ROWS, replace=False)
    assert remarks(numbers, name="Customer ID") == ["identifier"]
    assert remarks(numbers, name="income") == []


def test_measurements_are_no_identifiers(rng):
    assert remarks(rng.normal(size=ROWS)) == []
    assert remarks(rng.integers(0, 40, ROWS)) == []
    assert remarks(rng.choice(["red", "green", "blue"], ROWS)) == []
    assert remarks([1, 2, 3, 4], labels=["wren", "tit"] * 2) == []


def test_numbers_drawn_by_chance_are_hardly_ever_identifiers(rng):
    """Of whole numbers in a range, chance lets none repeat with probability e^−5 at most where they are called identifiers."""
    found = [remarks(rng.integers(0, 2_000, 150)) for _ in range(300)]
    assert sum(what == ["identifier"] for what in found) <= 10


def test_codes(rng):
    assert remarks(rng.integers(1, 5, ROWS)) == ["codes"]
    assert remarks(np.where(rng.random(ROWS) < 0.1, np.nan, rng.integers(0, 2, ROWS))) == ["codes"]
    assert remarks(rng.integers(1, 5, ROWS) / 2) == []
    assert remarks(rng.integers(1, 5, 20), labels=["wren", "tit"] * 10) == []
    assert remarks(rng.integers(1, 5, ROWS), kinds={"column": "numeric"}) == []


def test_kinds_are_advised_for_every_column(rng):
    frame = pd.DataFrame(
        {
            "ring": range(ROWS),
            "sex": rng.integers(0, 2, ROWS),
            "wing": rng.normal(size=ROWS),
            "day": pd.date_range("2024", periods=ROWS),
        }
    )
    table = open_table(frame)
    schema, _ = infer_schema(table, {"wing": "ignore"})
    assert advised_kinds(schema, review(table, schema, None, ["wing"])) == {
        "ring": "ignore",
        "sex": "categorical",
        "wing": "ignore",
        "day": "datetime",
    }


def test_constants_and_empty_columns():
    assert remarks(["Earth"] * ROWS) == ["constant"]
    assert remarks([9.81] * (ROWS - 1) + [None]) == ["constant"]
    assert remarks([None] * ROWS) == ["empty"]
    assert remarks([np.nan] * ROWS) == ["empty"]


def test_text(rng):
    words = ["pain", "in", "the", "knee", "and", "elbow", "since", "monday"]
    assert remarks([" ".join(rng.choice(words, 6)) for _ in range(ROWS)]) == ["text"]


def test_numbers_in_disguise(rng):
    labels = rng.choice(["wren", "tit"], ROWS)
    numbers = [str(value) for value in rng.integers(0, 40, ROWS)]
    assert remarks(numbers, labels) == remarks([f"{value} €" for value in numbers], labels) == []
    assert remarks([*numbers[:-2], "NA", "?"], labels) == []
    assert remarks([*numbers[:-2], "30 or so", "half of 9"], labels) == ["numbers as words"]
    assert remarks([*numbers[:-2], "many", "few"], labels) == []  # which mean that there is none
    assert remarks([f"level {value}" for value in numbers], labels) == []


def test_leaks(rng):
    labels = np.repeat(["ill", "healthy"], ROWS // 2)
    told = np.where(labels == "ill", "A", "B").astype(object)
    assert remarks(told, labels) == ["leak"]
    told[::50] = "A"  # two of a hundred are wrong
    assert remarks(told, labels) == ["leak"]
    told[::4] = "A"
    assert remarks(told, labels) == []
    assert remarks(np.where(labels == "ill", 3.0, 1.0) + rng.normal(size=ROWS) / 10, labels) == ["leak"]
    assert remarks(np.where(labels == "ill", rng.choice(["B1", "B2"], ROWS), None), labels) == [
        "leak"
    ]  # whether it is known tells all


def test_many_levels_do_not_leak_by_chance(rng):
    assert (
        remarks(
            rng.integers(0, 90, ROWS).astype(str), rng.choice(["ill", "healthy"], ROWS), kinds={"column": "categorical"}
        )
        == []
    )


def test_share_told_is_that_of_leaving_rows_out(rng):
    """The share in the remark, beside leaving out one row after the other."""
    labels = np.repeat(["ill", "healthy", "dead"], 50)
    cells = np.array(["A", "B", "C"])[np.repeat([0, 1, 2], 50)]
    cells[rng.choice(150, 6, replace=False)] = "C"
    right = 0
    for i in range(150):
        others = (cells == cells[i]) & (np.arange(150) != i)
        names, counts = np.unique(labels[others], return_counts=True)
        right += names[counts.argmax()] == labels[i]
    table = open_table(pd.DataFrame({"code": cells}))
    (remark,) = review(table, infer_schema(table)[0], encode_target(labels, 150))
    assert remark.text == f"alone predicts the class in {100 * right / 150:.1f} % of the rows"


def test_kinds_that_are_stated_are_not_doubted():
    assert remarks(list(range(ROWS)), kinds={"column": "numeric"}) == []
    assert remarks([f"ring-{i}" for i in range(ROWS)], kinds={"column": "categorical"}) == []
    assert remarks([f"ring-{i}" for i in range(ROWS)], kinds={"column": "ignore"}) == []


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["wren"] * 40, "one class only"),
        ([f"wren {i}" for i in range(40)], "40 different values in 40 rows"),
        (list(np.arange(120) % 60), "60 different numbers"),
        (list(np.arange(120) % 30 * 1.0), "30 different numbers"),
        ([f"${250 + i},000" for i in range(40)], "40 different numbers; merula tells classes apart"),
        ([f"{10 + i % 25} kg" for i in range(100)], "25 different numbers"),
    ],
)
def test_targets_that_are_none(labels, words):
    with pytest.raises(ValueError, match=words):
        check_target(encode_target(labels, len(labels)), "bird")


def test_a_target_of_ticks_points_at_its_empty_cells():
    with pytest.raises(
        ValueError, match="one class only .*; if the 60 empty cells mean the opposite, write that there"
    ):
        check_target(encode_target(["x"] * 40, 40), "cancelled", left_out=60)


def test_digits_and_codes_are_targets():
    check_target(encode_target([f"{dose} mg" for dose in (5, 10, 20)] * 9, 27), "dose")
    check_target(encode_target(list(range(10)) * 9, 90), "digit")
    check_target(encode_target([0.0, 1.0] * 9, 18), "ill")


def test_numbers_in_disguise_are_no_identifiers():
    percent = [f"{i} %" for i in range(40)]
    assert remarks(percent) == []
    assert remarks([f"${i}.50" for i in range(39)] + ["free on 4 days"]) == ["unread numbers"]
    assert remarks([f"${i}.50" for i in range(39)] + ["unpriced"]) == []  # read as numbers, and as missing
    assert remarks([f"{i % 28 + 1}.{i % 12 + 1}.2024" for i in range(40)]) == []
    assert remarks([f"{i % 31 + 1}.{i % 31 + 1}.2024" for i in range(40)]) == ["unread dates"]
    table = open_table(pd.DataFrame({"share": percent, "bird": ["wren", "tit"] * 20}))
    schema, _ = infer_schema(table)
    assert advised_kinds(schema, review(table, schema, None)) == {"share": "numeric", "bird": "categorical"}


def test_levels_that_differ_only_in_case_are_told():
    answers = ["Agree", "agree", "Disagree", "neutral"] * 10
    assert remarks(answers, ["wren", "wren", "wren", "wren", "tit"] * 8) == ["spellings"]
    assert remarks(["m", "M", "f", "F"] * 10, ["wren", "wren", "wren", "wren", "tit"] * 8) == []  # letters may be codes


def test_times_of_day_and_groups_of_thousands_are_no_identifiers():
    assert remarks([f"{k // 60:02d}:{k % 60:02d}" for k in range(40)]) == []
    assert remarks([f"{1000 + k:,}" for k in range(40)]) == []
    assert remarks([f"{1000 + k}" for k in range(40)]) == ["identifier"]


def test_numbers_of_accounts_are_no_sentences():
    assert remarks([f"DE{10 + k} 3704 0044 0532 {1000 + k} 00" for k in range(60)]) == ["identifier"]


def test_words_for_missing():
    assert remarks(["male", "female", "-", "male"] * 10, ["wren"] * 20 + ["tit"] * 20) == ["missing as words"]
    assert remarks(["male", "female", "NA", "male"] * 10, ["wren"] * 20 + ["tit"] * 20) == []
    assert remarks(["1", "2", "3", "4", "none"] * 8, ["wren"] * 20 + ["tit"] * 20) == ["numbers as words"]
