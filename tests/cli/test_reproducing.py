"""Answers that were recorded are worked out again, bit for bit; whatever differs is said, and ends in exit code 1."""

import json
import shutil

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import merula as mr
from merula.core.journal import Journal, read_journal

COSTS = "action,Adelie,Chinstrap,Gentoo\nrelease,0,5,5\nring,1,0,0\n"


def recorded(log="answers.log"):
    return [dict(entry.told) for entry in read_journal(log)]


def recorded_with(entry, **changed):
    """A record of the same entry with parts of it changed, hashes and all."""
    told = {name: value for name, value in entry.items() if name not in ("previous", "hash")} | changed
    Journal("changed.log", synced=False).append(told)
    return "changed.log"


@pytest.fixture
def sick(folder):
    """Rows as people have them: money, decimal commas, dates, words, texts, gaps, hostile names."""
    lines = ["bill;größe;色泽;ward;seen on;=remark;diagnosis"]
    remarks = ["pain in the left knee", "feels well today", "cough since last week", "no sleep at night"]
    for i in range(80):
        bill, size = f'"${1_000 + 37 * (i * 7 % 23):,}.50"', "" if i == 9 else f"{150 + i * 11 % 40},{i % 10}"
        colour, seen = "" if i % 13 == 5 else ("乌黑" if i % 3 else "浅白"), f"{1 + i % 28:02d}.{1 + i % 12:02d}.2024"
        lines.append(f"{bill};{size};{colour};{i % 4};{seen};{remarks[i % 4]} {i};{'ill' if i % 3 == 0 else 'well'}")
    (folder / "sick.csv").write_text("\n".join(lines), encoding="utf-8")
    return "sick.csv"


@pytest.mark.parametrize(
    "asked",
    [["naive"], ["naive", "--calibrate"], ["tan"], ["log-linear", "--ignore", "=remark"], ["neighbors", "--ignore", "=remark"]],
    ids=lambda words: " ".join(words),
)  # fmt: skip
def test_answers_for_every_kind_of_column_are_reproduced(merula, sick, asked):
    fitted = merula("fit", sick, "--target", "diagnosis", "--model", *asked, "-o", "sick.merula", "-q")
    assert fitted.exit_code == 0, fitted.stderr
    assert merula("predict", "sick.merula", sick, "-o", "out.csv", "--log", "answers.log", "-q").exit_code == 0
    assert merula("explain", "sick.merula", sick, "--row", "3-5", "--row", "10", "--log", "answers.log", "-q").exit_code == 0  # fmt: skip
    found = merula("reproduce", "answers.log", "sick.merula", "--json")
    assert found.exit_code == 0, found.stdout
    told = json.loads(found.stdout)
    assert (told["answers"], told["same"], told["wrong"]) == (2, 2, [])
    assert told["last_hash"] == recorded()[-1]["hash"]


def test_what_is_recorded_is_what_was_written(merula, model, folder):
    assert merula("predict", model, "penguins", "-o", "out.parquet", "--log", "answers.log").exit_code == 0
    (entry,) = recorded()
    written = pq.read_table("out.parquet")
    assert [column["cells"] for column in entry["answered"]["columns"]] == [written[name].to_pylist() for name in written.column_names]  # fmt: skip
    told = {column["name"]: column["cells"] for column in entry["asked"]["rows"]["columns"]}
    assert told["island"][:2] == ["Torgersen"] * 2 and told["bill_length_mm"][:4] == [39.1, 39.5, 40.3, None]
    assert entry["versions"]["merula"] == mr.__version__


def test_costs_of_a_file_and_costs_of_the_model_are_reproduced(merula, model, folder):
    (folder / "costs.csv").write_text(COSTS)
    assert merula("predict", model, "penguins", "-o", "a.csv", "--costs", "costs.csv", "--log", "answers.log").exit_code == 0  # fmt: skip
    (folder / "costs.csv").unlink()
    (folder / "own.csv").write_text(COSTS)
    fitted = merula("fit", "penguins", "--target", "species", "--model", "naive", "--costs", "own.csv", "-o", "own.merula")  # fmt: skip
    assert fitted.exit_code == 0
    assert merula("predict", "own.merula", "penguins", "-o", "b.csv", "--log", "answers.log").exit_code == 0
    assert merula("reproduce", "answers.log", model, "own.merula").exit_code == 0
    first, second = recorded()
    assert first["asked"]["costs"]["actions"] == ["release", "ring"] and second["asked"]["costs"] is None
    assert first["answered"]["columns"][-2]["name"] == "action"


def test_a_large_table_is_recorded_piece_by_piece(merula, model, folder):
    birds = pd.read_csv(mr.__path__[0] + "/data/penguins.csv")
    (folder / "birds").mkdir()
    birds[:200].to_csv("birds/a.csv", index=False)
    birds[200:].to_csv("birds/b.csv", index=False)
    found = merula("predict", model, "birds", "-o", "out.csv", "--log", "answers.log", "--append")
    assert found.exit_code == 0, found.stderr
    assert sum(entry["asked"]["rows"]["rows"] for entry in recorded()) == 344
    assert merula("reproduce", "answers.log", model).exit_code == 0


def test_bytes_words_by_codes_and_times_of_parquet_are_reproduced(merula, folder):
    rows = {
        "ward": pa.array(["b", "a", None, "b"] * 20).dictionary_encode(),
        "code": pa.array([b"\xff", b"a", None, b"b"] * 20),
        "seen": pa.array([0, 10**9, None, 2**60] * 20, pa.timestamp("ns")),
        "pressure": pa.array([120.1, float("nan"), None, -0.0] * 20),
        "ill": pa.array([True, False, False, True] * 20),
    }
    pq.write_table(pa.table(rows), "rows.parquet")
    asked = ("--target", "ill", "--model", "naive", "--ignore", "code", "-o", "ill.merula")
    assert merula("fit", "rows.parquet", *asked).exit_code == 0
    assert merula("predict", "ill.merula", "rows.parquet", "-o", "out.csv", "--log", "answers.log").exit_code == 0
    found = merula("reproduce", "answers.log", "ill.merula")
    assert found.exit_code == 0, found.stdout


def test_rows_are_recorded_whole_where_they_are_read_otherwise_by_themselves(merula, folder):
    """03.04.2024 alone may be March or April; among 25.12.2024 it is in April."""
    days = [f"{1 + i % 12:02d}/{1 + i % 12:02d}/2024" for i in range(39)] + ["25/12/2024"]
    pd.DataFrame({"seen": days, "größe": range(40), "ill": ["yes", "no"] * 20}).to_csv("days.csv", index=False)
    assert merula("fit", "days.csv", "--target", "ill", "--model", "naive", "-o", "days.merula").exit_code == 0
    assert merula("explain", "days.merula", "days.csv", "--row", "3", "--log", "answers.log").exit_code == 0
    assert recorded()[0]["asked"]["numbers"] == [3]
    assert merula("reproduce", "answers.log", "days.merula").exit_code == 0


def test_explain_records_the_rows_it_was_asked_about_alone(merula, model):
    assert (
        merula("explain", model, "penguins", "--row", "7", "--label", "Gentoo", "--log", "answers.log").exit_code == 0
    )
    assert recorded()[0]["asked"]["rows"]["rows"] == 1 and recorded()[0]["asked"]["label"] == "Gentoo"
    assert merula("reproduce", "answers.log", model).exit_code == 0


def test_a_network_that_was_queried_answers_the_same(merula, folder):
    assert merula("network", "learn", "penguins", "-o", "birds.bif").exit_code == 0
    query = ("network", "query", "birds.bif", "--given", "island=Dream", "--log", "answers.log")
    assert merula(*query, "species", "--do", "sex=male").exit_code == 0 and merula(*query).exit_code == 0
    found = merula("reproduce", "answers.log", "birds.bif")
    assert found.exit_code == 0 and "2 of 2 answers reproduced bit for bit" in found.stdout


# ---------------------------------------------------------------------------------------------------------- what differs


@pytest.fixture
def entry(merula, model):
    assert merula("explain", model, "penguins", "--row", "1", "--log", "answers.log").exit_code == 0
    return recorded()[0]


def test_another_model_is_said(merula, model, entry):
    assert merula("fit", "penguins", "--target", "species", "--model", "tan", "-o", "tan.merula").exit_code == 0
    found = merula("reproduce", "answers.log", "tan.merula")
    assert found.exit_code == 1 and "was answered by another model" in found.stdout
    assert "0 of 1 answer reproduced" in found.stdout


def test_other_versions_are_said_also_where_the_answer_is_the_same(merula, model, entry):
    log = recorded_with(entry, versions=entry["versions"] | {"numpy": "0.9"})
    found = merula("reproduce", log, model)
    assert found.exit_code == 1 and "numpy 0.9 then" in found.stdout and "the same now" in found.stdout


def test_another_answer_is_said(merula, model, entry):
    answered = entry["answered"]
    answered[0]["posterior"][0] += 1e-16 * 2
    found = merula("reproduce", recorded_with(entry, answered=answered), model)
    assert found.exit_code == 1 and "has another answer now" in found.stdout


def test_what_was_tampered_with_is_said(merula, model, entry, folder):
    log = folder / "answers.log"
    log.write_bytes(log.read_bytes().replace(b"Torgersen", b"Biscoe   "))
    found = merula("reproduce", "answers.log", model)
    assert found.exit_code == 1 and "was altered" in found.stdout


def test_a_line_cut_short_is_told_and_the_others_are_reproduced(merula, model, entry, folder):
    assert merula("explain", model, "penguins", "--row", "2", "--log", "answers.log").exit_code == 0
    log = folder / "answers.log"
    log.write_bytes(log.read_bytes()[:-30])
    found = merula("reproduce", "answers.log", model)
    assert found.exit_code == 0 and "line 2 of answers.log is cut short" in found.stderr
    assert "1 of 1 answer reproduced" in found.stdout


@pytest.mark.parametrize(
    "changed",
    [{"asked": {"by": "magic"}}, {"asked": {}}, {"asked": None}, {"model": {}}, {"versions": 3}, {"asked": {"by": "predict", "rows": {}, "costs": None}}],
)  # fmt: skip
def test_what_is_no_answer_is_one_sentence(merula, model, entry, changed):
    found = merula("reproduce", recorded_with(entry, **changed), model)
    assert found.exit_code == 1 and "changed.log, line 1: " in found.stdout and "Traceback" not in found.stdout


def test_one_entry_is_reproduced_alone(merula, model, entry):
    for row in ("2", "3"):
        assert merula("explain", model, "penguins", "--row", row, "--log", "answers.log").exit_code == 0
    found = merula("reproduce", "answers.log", model, "--entry", "2", "--entry", "3")
    assert found.exit_code == 0 and "2 of 2 answers" in found.stdout
    found = merula("reproduce", "answers.log", model, "--entry", "9")
    assert found.exit_code == 2 and "no such line" in found.stderr


# ------------------------------------------------------------------------------------------------------------ bad input


def test_what_is_read_is_never_added_to(merula, model, folder):
    shutil.copy(mr.__path__[0] + "/data/penguins.csv", "birds.csv")
    before = (folder / "birds.csv").read_bytes(), (folder / model).read_bytes()
    for log in ("birds.csv", model, "./birds.csv"):
        found = merula("predict", model, "birds.csv", "-o", "out.csv", "--log", log)
        assert found.exit_code == 2 and found.stderr.count("\n") == 1, found.stderr
    assert before == ((folder / "birds.csv").read_bytes(), (folder / model).read_bytes())
    found = merula("predict", model, "birds.csv", "-o", "both.csv", "--log", "both.csv")
    assert found.exit_code == 2 and "both.csv" in found.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nothing.log", "penguins.merula"), "there is no record of answers nothing.log"),
        (("penguins.merula", "penguins.merula"), "is no record of answers"),
        (("answers.log", "nothing.merula"), "there is no model file nothing.merula"),
        (("empty.log", "penguins.merula"), "holds no answers"),
    ],
)
def test_bad_input_is_one_line(merula, model, entry, folder, words, told):
    (folder / "empty.log").touch()
    found = merula("reproduce", *words)
    assert found.exit_code == 2 and told in found.stderr and found.stderr.startswith("error: ")


def test_a_refused_question_is_no_answer(merula, model, folder):
    assert merula("explain", model, "penguins", "--row", "999", "--log", "answers.log").exit_code == 2
    assert (folder / "answers.log").read_bytes() == b""
