"""Cells of tables from working life: money in thousands and for each, clocks, eras and zones, codes that look like amounts, records within cells."""

import json
import warnings
from datetime import UTC, datetime, time
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import merula as mr
from merula.cli.app import app
from merula.data.encode import infer_schema
from merula.data.table import open_table
from merula.data.units import same_unit
from merula.data.words import as_numbers, understand
from merula.data.words.resemblance import resemblance

NUMBERS = {
    "thousands of dollars": (["$30K", "$41.5K", "$55K"], "$K", [30.0, 41.5, 55.0]),
    "millions apart": (["€ 3,4 Mio.", "€ 1,2 Mio.", "€ 12,25 Mio."], "€ Mio.", [3.4, 1.2, 12.25]),
    "millions of a currency": (["3,4 Mio. €", "1,2 Mio. €", "0,5 Mio. €"], "Mio. €", [3.4, 1.2, 0.5]),
    "billions below zero": (["-$5.2 bn", "($1.0 bn)", "$0.3 bn"], "$ bn", [-5.2, -1.0, 0.3]),
    "crores": (["₹ 1.2 Cr", "₹ 3.4 Cr", "₹ 12 Cr"], "₹ Cr", [1.2, 3.4, 12.0]),
    "each month": (["$10/mo", "$25/mo", "$99.50/mo"], "$/mo", [10.0, 25.0, 99.5]),
    "each square metre": (["12,50 €/m²", "9,80 €/m²", "11 €/m²"], "€/m²", [12.5, 9.8, 11.0]),
    "each piece": (["0,12 €/St.", "1.200,50 €/St.", "11 €/St."], "€/St.", [0.12, 1200.5, 11.0]),
    "each hour": (["$12.50/hr.", "$9/hr.", "$1,100/hr."], "$/hr.", [12.5, 9.0, 1100.0]),
    "codes of currencies": (["AED 12.50", "AED 1,200.00", "AED 9"], "AED", [12.5, 1200.0, 9.0]),
    "rupiahs have no decimals": (["Rp 12.500", "Rp 9.900", "Rp 1.200.000"], "Rp", [12500.0, 9900.0, 1200000.0]),
    "yens in Shift JIS": (["\\12,345", "\\9,876", "\\120"], "¥", [12345.0, 9876.0, 120.0]),
    "north": (["48.1° N", "48.35°N", "47.9° N"], "°N", [48.1, 48.35, 47.9]),
    "people": (["12人", "3人", "150人"], "人", [12.0, 3.0, 150.0]),
    "gaps of databases": (["12.5", r"\N", "7.25"], "", [12.5, None, 7.25]),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_amounts(case):
    words, unit, values = NUMBERS[case]
    reading = understand(words)
    assert (reading.form, reading.unit) == ("number", unit)
    assert as_numbers(words, reading) == (values, [])


@pytest.mark.parametrize("words", [["$30K", "$41M"], ["$30", "€41/mo"], ["48.1° N", "33.9° S"], ["12 €/m²", "9 €/kg"], ["C:\\12", "C:\\13"], ["$3/4", "$1/2"], ["$5 in", "$7 in"]])  # fmt: skip
def test_what_counts_different_things_stays_words(words):
    assert understand(words) is None


def test_units_are_the_same_however_far_apart_their_parts_stand():
    assert same_unit("$ K", "$K") and same_unit("Mio. €", "Mio.€") and not same_unit("$K", "$M")


CLOCKS = {
    "a point before Uhr": (["9.30 Uhr", "14.05 Uhr", "8.15 uhr"], [34200.0, 50700.0, 29700.0]),
    "whole hours": (["9 Uhr", "14 Uhr", "0 Uhr"], [32400.0, 50400.0, 0.0]),
    "whole hours before and after noon": (["9am", "12 pm", "12 a.m."], [32400.0, 43200.0, 0.0]),
    "hours of one half of the day": (["9 am", "8 am", "11 am"], [32400.0, 28800.0, 39600.0]),
    "Japanese": (["午後2:05", "午前0:30", "午後10:11"], [50700.0, 1800.0, 79860.0]),
    "Chinese": (["上午9:05", "下午3:07"], [32700.0, 54420.0]),
    "Korean": (["오전 9:05", "오후 3:07"], [32700.0, 54420.0]),
}


@pytest.mark.parametrize("case", CLOCKS)
def test_times_of_day(case):
    words, seconds = CLOCKS[case]
    reading = understand(words)
    assert reading.form == "time of day" and as_numbers(words, reading) == (seconds, [])


@pytest.mark.parametrize(
    "words", [["13 am", "14 am"], ["午後13:05", "午前3:07"], ["9.30", "14.05"], ["25 Uhr", "26 Uhr"]]
)
def test_other_hours_are_no_times_of_day(words):
    reading = understand(words)
    assert reading is None or reading.form == "number"


INSTANTS = {
    "the year of an emperor": (["令和5年3月12日", "平成元年11月5日", "昭和64年1月7日"], ["2023-03-12", "1989-11-05", "1989-01-07"]),
    "years of the Russians": (["12.03.2023 г.", "13.04.2023 г.", "01.05.2023г."], ["2023-03-12", "2023-04-13", "2023-05-01"]),
    "years of the Poles": (["12.03.2023 r.", "13.04.2023 r.", "01.05.2023 r."], ["2023-03-12", "2023-04-13", "2023-05-01"]),
    "zones by name": (["2023-03-12 14:05 CET", "2023-07-05 03:07 CEST", "2023-01-09 22:11 EST"], ["2023-03-12 13:05", "2023-07-05 01:07", "2023-01-10 03:11"]),
    "zones of Java": (["2023-03-12T14:05:00+01:00[Europe/Berlin]", "2023-07-05T03:07:00+02:00[Europe/Berlin]", "2023-01-09T22:11:00Z[UTC]"], ["2023-03-12 13:05", "2023-07-05 01:07", "2023-01-09 22:11"]),
    "zones of PostgreSQL": (["2023-03-12 14:05:00+02", "2023-07-05 03:07:00-05", "2023-01-09 22:11:00.25+00"], ["2023-03-12 12:05", "2023-07-05 08:07", "2023-01-09 22:11:00.25"]),
    "zones from Greenwich": (["2023/03/12 9:05:07 AM GMT+1", "2023/07/05 12:07:00 AM GMT-11", "2023/01/09 10:11:00 PM UTC+05:30", "2023/01/09 10:11:00 PM GMT+0130"], ["2023-03-12 08:05:07", "2023-07-05 11:07", "2023-01-09 16:41", "2023-01-09 20:41"]),
    "appointments": (["12.03.2023 9.30 Uhr", "13.04.2023 14 Uhr", "01.05.2023 7:05 Uhr"], ["2023-03-12 09:30", "2023-04-13 14:00", "2023-05-01 07:05"]),
}  # fmt: skip


@pytest.mark.parametrize("case", INSTANTS)
def test_instants(case):
    words, days = INSTANTS[case]
    reading = understand(words)
    stamps = [datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1e6 for day in days]
    assert reading.form == "date" and as_numbers(words, reading) == (stamps, [])


@pytest.mark.parametrize("zone", ["+25:00", "-16", "+01:99", "+9930", " GMT+16", " UTC+199"])
def test_no_zone_is_as_far_from_the_others(zone):
    """The days would be others than those that are written."""
    assert understand([f"2023-03-12 {hour}:05{zone}" for hour in range(10, 20)]) is None


def test_hours_and_minutes_with_an_h_between():
    """Beyond a day, they are no times of day."""
    words = ["1 h 05", "26h40", "2 h 03"]
    reading = understand(words)
    assert reading.form == "duration"
    assert as_numbers(words, reading)[0] == [minutes * 60_000_000 for minutes in (65, 1600, 123)]


# ------------------------------------------------------------------------------------------------------ codes, records


def test_a_few_codes_are_no_amounts_of_a_currency_called_like_them():
    """Petrol, conferences, versions; but 95 lei, and many amounts, are."""
    for words in (["RON95", "RON97", "RON100"], ["COP26", "COP27"], ["PHP5", "PHP7", "PHP8"]):
        assert understand(words) is None
    for words in (["RON 95", "RON 97"], ["RON95", "RON97.50"], [f"RON{k}" for k in range(90, 102)]):
        assert understand(words).unit == "RON"


def looked(tmp_path, name, cells, **more):
    path = tmp_path / "kunden.csv"
    classes = [("ja", "nein")[k % 3 == 0] for k in range(len(cells))]
    pd.DataFrame({name: cells, "Zusage": classes}).to_csv(path, index=False)
    return mr.look(path, target="Zusage", **more).columns[0]


PHONES = [301_234_567 + k * 7_919_777 % 600_000_000 for k in range(60)]


@pytest.mark.parametrize(("name", "cells"), [("Rückruf", PHONES), ("PLZ", [10115, 80331, 50667] * 8 + list(range(20095, 20131))), ("zip_code", list(range(94103, 94163))[::-1])])  # fmt: skip
def test_whole_numbers_that_may_be_codes_are_told(tmp_path, name, cells):
    """They stay amounts: nothing but their name or their length says otherwise."""
    found = looked(tmp_path, name, cells)
    assert "telephones, postcodes or accounts" in found.why or "identifier" in found.why
    assert found.kind in ("numeric", "ignore") and "kinds=" in found.told()
    assert "telephones" not in looked(tmp_path, name, cells, kinds={name: "numeric"}).why


@pytest.mark.parametrize(("name", "cells"), [("Umsatz", [12_000_000 * (k % 17 + 1) for k in range(60)]), ("seit", [1_600_000_000 + 86_399 * k * k % 90_000_000 for k in range(60)]), ("Zeit", [1_600_000_000_123 + 86_399_001 * k * k % 90_000_000_000 for k in range(60)])])  # fmt: skip
def test_amounts_and_seconds_since_1970_are_no_codes(tmp_path, name, cells):
    assert "telephones" not in looked(tmp_path, name, cells).why


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ([("70 kg", "154 lb", "81 kg")[k % 3] for k in range(60)], "amounts in different units (kg, lb)"),
        ([f"{60 + k % 5}/100" for k in range(60)], "pairs of numbers"),
        ([("18-24", "25-34", "65+")[k % 3] for k in range(60)], "ranges of numbers"),
    ],
)
def test_words_that_resemble_amounts_are_told_and_kept(tmp_path, cells, told):
    found = looked(tmp_path, "Messung", cells)
    assert found.kind == "categorical" and told in found.why
    assert told not in looked(tmp_path, "Messung", cells, kinds={"Messung": "categorical"}).why


@pytest.mark.parametrize("rows", [60, 600])
def test_days_without_signs_are_told_and_no_identifiers(tmp_path, rows):
    """One row for each day of nearly two years differs in every row."""
    days = [int(f"{day:%Y%m%d}") for day in pd.date_range("2019-01-01", periods=rows)]
    found = looked(tmp_path, "Tag", days)
    assert found.kind == "numeric" and "all days without signs between, such as 20190101" in found.why
    assert "'datetime'" in found.told()
    assert looked(tmp_path, "Tag", days, kinds={"Tag": "datetime"}).kind == "datetime"


def notes_of(path):
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        table = mr.read_table(path)
    return table, [str(note.message) for note in notes]


def test_records_are_columns_and_lists_are_told(tmp_path):
    path = tmp_path / "users.jsonl"
    rows = [{"user": {"age": 20 + k % 7, "home": {"city": ("Ulm", "Köln")[k % 2]}}, "tags": ["a"] * (k % 3), "paid": ("ja", "nein")[k % 2]} for k in range(40)]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    table, notes = notes_of(path)
    assert table.column_names == ["user.age", "user.home.city", "tags", "paid"]
    assert table["user.home.city"].to_pylist()[:2] == ["Ulm", "Köln"] and table["tags"].to_pylist()[:3] == [[], ["a"], ["a", "a"]]  # fmt: skip
    assert any("'user' holds records" in note and "'user.age', 'user.home.city'" in note for note in notes)
    found = mr.look(path, target="paid")
    assert [one.kind for one in found.columns[:3]] == ["numeric", "categorical", "ignore"]
    assert "holds lists" in found.columns[2].why


def test_records_and_lists_are_answered_from_the_command(tmp_path):
    path, model, answers = (str(tmp_path / name) for name in ("users.jsonl", "users.merula", "answers.csv"))
    rows = [{"user": {"age": 20 + k % 7 + 9 * (k % 2)}, "tags": ["a"], "paid": ("ja", "nein")[k % 2]} for k in range(40)]  # fmt: skip
    (tmp_path / "users.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    for words in (["fit", path, "--target", "paid", "--model", "naive", "-o", model], ["predict", model, path, "-o", answers]):  # fmt: skip
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.stderr
    assert pd.read_csv(answers)["class"].tolist() == [row["paid"] for row in rows]


def test_bytes_that_are_text_are_words_and_others_are_told(tmp_path):
    """As Spark and Impala wrote words into Parquet for years."""
    path = tmp_path / "old.parquet"
    pq.write_table(pa.table({"land": pa.array([b"DE", "Österreich".encode(), None]), "key": pa.array([b"\xff\x00"] * 3)}), path)  # fmt: skip
    table, notes = notes_of(path)
    assert table["land"].to_pylist() == ["DE", "Österreich", None] and table["key"].to_pylist() == [b"\xff\x00"] * 3
    assert not notes and "bytes" in mr.look(table).columns[1].why


def test_an_impossible_day_is_named_at_fit(tmp_path):
    path = tmp_path / "besuche.csv"
    days = [f"{1 + k % 28:02d}.{1 + k % 12:02d}.2024" for k in range(200)]
    days[150] = "31.02.2024"
    pd.DataFrame({"Tag": days, "Art": ["neu", "alt"] * 100}).to_csv(path, index=False)
    result = CliRunner().invoke(app, ["fit", str(path), "--target", "Art", "--model", "naive", "-o", str(tmp_path / "m.merula")])  # fmt: skip
    assert result.exit_code == 0
    assert "the first '31.02.2024' in row 151" in " ".join(result.stderr.split())


# ------------------------------------------------------------------------------------------------------- whole files


def test_what_one_column_tells_of_the_decimal_sign_holds_for_others():
    """A table was written in one way: 103.759 Stk. beside 12,5 % are many."""
    words = {"Stück": ["103.759 Stk.", "98.120 Stk.", "11.005 Stk."], "Anteil": ["12,5 %", "7,25 %", "9 %"]}
    schema, _ = infer_schema(open_table(pd.DataFrame(words)))
    pieces = schema["Stück"].reading
    assert (pieces.decimal, pieces.grouping, pieces.ambiguous) == (",", ".", False)
    assert as_numbers(words["Stück"], pieces)[0] == [103759.0, 98120.0, 11005.0]
    alone, _ = infer_schema(open_table(pd.DataFrame({"Stück": words["Stück"]})))
    assert alone["Stück"].reading.ambiguous


def test_what_one_column_tells_of_the_order_of_days_holds_for_others():
    days = {"bought": ["03/04/2018", "05/06/2018", "07/08/2018"], "sent": ["13/04/2018", "25/06/2018", "07/08/2018"]}
    schema, _ = infer_schema(open_table(pd.DataFrame(days)))
    assert [(column.reading.order, column.reading.ambiguous) for column in schema.columns] == [("dmy", False)] * 2


def test_columns_that_tell_different_things_leave_others_in_doubt():
    words = {"in": ["1,234", "5,678", "9,012"], "de": ["1,5 kg", "2,25 kg", "3 kg"], "us": ["$1,234.50", "$12.25", "$9,000"]}  # fmt: skip
    schema, _ = infer_schema(open_table(pd.DataFrame(words)))
    assert schema["in"].reading.ambiguous


HEADER = "Artikel;Menge;Preis\n"
SOLD = [f"{('rot', 'blau', 'grün')[k % 3]};{k};{k},50\n" for k in range(30)]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_header_that_stands_again_is_no_row(tmp_path, ending):
    """As where files were put below one another, or pages were printed."""
    path = tmp_path / "pages.csv"
    path.write_bytes(
        (HEADER + "".join(SOLD[:15]) + HEADER + "".join(SOLD[15:]) + HEADER).replace("\n", ending).encode()
    )
    table, notes = notes_of(path)
    assert table["Menge"].to_pylist() == list(range(30)) and table["Preis"].to_pylist() == [k + 0.5 for k in range(30)]
    assert any("the header stands again in 2 lines" in note for note in notes)


@pytest.mark.parametrize(
    "lines",
    [
        ["wren,small,brown\n", "tit,small,blue\n"] * 40,  # without a header
        ["bird,size,colour\n"] + ["wren,small,brown\n"] * 40 + ["bird,large,grey\n", "bird,size,colour\n"],
        ["wren,7.25,brown\n"] + ["tit,6.5,blue\n"] * 40 + ["wren,7.25,brown\n"],
    ],
)
def test_a_line_that_may_be_a_row_is_one(tmp_path, lines):
    path = tmp_path / "birds.csv"
    path.write_text("".join(lines))
    table, notes = notes_of(path)
    assert table.num_rows == len(lines) - 1 and not any("header stands again" in note for note in notes)


def test_a_header_that_stands_again_in_a_large_file_is_no_row(tmp_path, monkeypatch):
    """The compiled reader leaves such a file to the one for all files."""
    monkeypatch.setattr("merula.data.table.plain.LARGE", 0)
    monkeypatch.setattr("merula.data.table.plain.LARGER", 0)
    path = tmp_path / "pages.csv"
    rows = "".join(f"{('red', 'blue')[k % 2]},{k},{k / 4}\n" for k in range(5000))
    path.write_text(f"colour,count,price\n{rows}colour,count,price\n{rows}")
    table, notes = notes_of(path)
    assert table.num_rows == 10_000 and str(table.schema.types[1:]) == "[DataType(int64), DataType(double)]"
    assert any("the header stands again in 1 line" in note for note in notes)


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_decimals_are_the_nearest_floats(library):
    """To the last bit the numbers that a CSV file of the same digits holds."""
    digits = [f"{k / 100:.2f}" for k in range(1, 2000, 7)] + ["6.10", "0.07", "1234567.89"]
    table = pa.table({"amount": pa.array([Decimal(one) for one in digits], pa.decimal128(18, 2))})
    frame = table if library == "pyarrow" else pl.from_arrow(table)
    assert open_table(frame).numbers(0).tolist() == [float(one) for one in digits]


def test_days_without_a_year_are_no_amounts():
    assert resemblance(["24 Jan", "3 Jul", "7 Okt"]) is None


def test_one_row_of_records_is_a_row(tmp_path):
    """A file of one row that is to be answered has the columns of one of many rows."""
    rows = [{"owner": {"age": 31}, "flat": {"rooms": 2, "town": "Ulm"}}, {"owner": {"age": 52}, "flat": {"rooms": 4, "town": "Bonn"}}]  # fmt: skip
    tables = []
    for count in (1, 2):
        path = tmp_path / f"{count}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows[:count]))
        tables.append(notes_of(path)[0])
    assert tables[0].equals(tables[1].slice(0, 1))
    assert tables[1].to_pydict() == {"owner.age": [31, 52], "flat.rooms": [2, 4], "flat.town": ["Ulm", "Bonn"]}


def test_cells_by_the_names_of_rows_belong_to_their_row(tmp_path):
    """As pandas writes a table, whatever the order in which somebody else has written it."""
    path = tmp_path / "birds.json"
    path.write_text('{"wing": {"0": 4.9, "1": 6.0, "2": 5.1}, "bird": {"2": "robin", "0": "wren", "1": "tit"}}')
    assert notes_of(path)[0].to_pydict() == {"wing": [4.9, 6.0, 5.1], "bird": ["wren", "tit", "robin"]}


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_times_of_day_keep_their_fractions(tmp_path, unit):
    """In a file of Parquet they are the numbers that the same times are as words."""
    words = ["08:15:00.500", "23:59:59.250", "00:00:00"]
    times = list(map(time.fromisoformat, words))
    path = tmp_path / "clock.parquet"
    kind = pa.time32(unit) if unit == "ms" else pa.time64(unit)
    pq.write_table(pa.table({"seen at": pa.array([*times, None], kind)}), path)
    assert mr.read_table(path)["seen at"].to_pylist() == [29700.5, 86399.25, 0.0, None]
    assert as_numbers(words, understand(words))[0] == [29700.5, 86399.25, 0.0]


@pytest.mark.parametrize("kind", ["numeric", "categorical", "count"])
def test_times_of_day_in_a_file_are_those_of_words(tmp_path, kind):
    """Of whatever kind the column is said to be: pages and services send words."""
    path = tmp_path / "calls.csv"
    path.write_text(
        "seen at,ringed\n" + "".join(f"{k % 24:02d}:15:00,{('yes', 'no')[k % 3 == 0]}\n" for k in range(48))
    )
    table = mr.read_table(path)
    model = mr.NaiveBayesClassifier(kinds={"seen at": kind}).fit(table.select(["seen at"]), table["ringed"])
    expected = model.predict_proba(table.select(["seen at"]))[[8, 13]].tolist()
    for words in (["08:15:00", "13:15:00"], ["8:15 am", "1:15 pm"], [29_700, 47_700]):
        assert model.predict_proba(pd.DataFrame({"seen at": words})).tolist() == expected


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary(4), pa.binary_view(), pa.dictionary(pa.int32(), pa.binary())])  # fmt: skip
def test_bytes_that_are_text_are_words_however_they_are_held(tmp_path, kind):
    """As polars, Spark and others write them to Arrow files."""
    names = [b"wren", b"tits", None]
    cells = pa.array(names).dictionary_encode() if pa.types.is_dictionary(kind) else pa.array(names, kind)
    table = pa.table({"bird": cells, "eggs": [5, 9, 7]})
    path = tmp_path / "birds.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    assert mr.read_table(path)["bird"].to_pylist() == ["wren", "tits", None]
