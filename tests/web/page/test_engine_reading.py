"""What a person types is read on the page as Python reads a cell: numbers, money, percent, days, durations, yes and no."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.classify.single_row import encode_row

DRAW = random.Random(7)
GAPS = [
    "NA",
    "n/a",
    "",
    "  ",
    "?",
    "unknown",
    "Unknown",
    "-",
    "--",
    "none",
    "NaN",
    "null",
    "#N/A",
    "#DIV/0!",
    "*",
    "nil",
]
DIGITS = ["0", "7", "007", "12", "1234", "1,234", "1.234", "1,234.5", "1.234,5", "1 234", "1 234,50", "1'234.50", "12,5", "12.5", ".5", ",5", "1e3", "1.5E-3", "12.-", "12,-", "12-", "1,23,456", "1.2.3.4", "10-12", "3.", "", "٣٤", "１２"]  # fmt: skip
UNITS = ["", "€", "$", "kg", " kg", "%", " %", "°C", " km/h", "CHF ", " EUR", "V", "k", "B", " Stück", "lb", "µg"]
MONTHS = ["Jan", "January", "März", "août", "Oct", "Oktober", "Dez", "xyz", "mai", "Sept", "juin"]
LABELS = ["Yes", " YES ", "no", "N", "y", "true", "False", "1", "0", "2", "NA", "maybe", "New\u00a0York", "new york", "straße", "ja", "nein", "\u200byes", "-", "1.0", "01", "True", 1, 0, 2, True, False, 1.5, None]  # fmt: skip
LENGTHS = ["2 Std. 5 Min.", "3 Tage 4 Stunden", "1 Jahr", "2 heures 5 minutes", "30 jours", "3 semanas", "1h 30min", "90 min", "26:15:00", "3 days 04:05:06", "1:30", "PT1H30M", "P3M", "5 M", "2w", "3 yrs 4 mos", "1 year", "2 months 3 d", "1.5 s", "-2h", "5", "xx", "2H", "10 hours, 3 minutes", "1小时12分钟", "45分钟", "2個小時", "1時間30分", "5時間", "2시간 30분", "3天4小时", "30分", "5일", "30秒", *GAPS]  # fmt: skip
CLOCKS = [
    "14:30",
    "2:30 pm",
    "25:00",
    "7h15",
    "07:15:30",
    "12:00 am",
    "12:30 Uhr",
    "5",
    "abc",
    "14:30:15.5",
    "10時18分",
    "午前10時18分",
    "14点30分",
    "下午2点",
    "5点",
    "90点",
    "10時半",
    "오전 9시",
    "오후 2시 5분 30초",
    "14時",
    "25時10分",
    *GAPS,
]


def number_word() -> str:
    """A number as somebody might write it, or not quite."""
    digits, unit, sign = DRAW.choice(DIGITS), DRAW.choice(UNITS), DRAW.choice(["", "", "", "-", "+", "−", "("])
    forms = [sign + digits + unit, sign + unit + digits, unit + sign + digits, f"  {sign}{digits}{unit}\u00a0"]
    return DRAW.choice(forms) + (")" if sign == "(" else "")


def day_word() -> str:
    """A day as somebody might write it, or none; years in full."""
    year, month, day = DRAW.choice([1970, 2024, 1999, 1888]), DRAW.randint(0, 13), DRAW.randint(0, 32)
    name = DRAW.choice(MONTHS)
    days = [f"{year}-{month:02d}-{day:02d}", f"{day}.{month}.{year}", f"{month}/{day}/{year}", f"{day:02d}-{month:02d}-{year}", f"{day} {name} {year}", f"{name} {day}, {year}", f"{year}年{month}月{day}日", f"Tue, {day} {name} {year}", f"{day}.{month}.{year % 100:02d}"]  # fmt: skip
    return DRAW.choice(days) + DRAW.choice(["", "", " 12:30", "T08:15:30", "T08:15:30.25Z", " 3:15 pm", " 25:10", " 12:30:15+02:00"])  # fmt: skip


NUMBER_WORDS = [number_word() for _ in range(400)] + [*GAPS, "€ -", "abc", "12B", "14:30", "1h 30min", "1e400", "\\N", "$30K", "$ 1.2 bn", "3,4 Mio. €", "12,50 €/m²", "12,50 €/St.", "$10/mo", "$10/mo.", "48.1° N", "9 am", "9.30 Uhr", "\\12,345", "Rp 12.500", "12人", "22세", "95分", "5点", "61.5公斤", '="12"', '="']  # fmt: skip
DAY_WORDS = [day_word() for _ in range(400)] + [*GAPS, "2024", "2024-05", "2010-11", "20240503T120000", "31.02.2024", "Tue May 3 12:30:00 2024", "0000-00-00", "12.03.2023 г.", "令和5年3月12日", "平成元年5月3日", "2023年3月12日 午後2:05", "2023-03-12 14:05 CET", "12.03.2023 9.30 Uhr", "12.03.2023 9 Uhr", "2023-03-12 9pm", "2023-03-12 14:05:00+02", "2023-03-12 14:05:00-05:30", "2023-03-12 14:05+25:00", "2023-03-12 14:05-01:75", "2023/03/12 9:05:07 AM GMT+1", "2023/03/12 9:05:07 PM GMT-5", "2023-03-12 14:05 UTC+05:30", "2023-03-12 14:05 GMT+0100", "2023-03-12 14:05 UTC+530", "2023-03-12 14:05 GMT+16", "2023-03-12 14:05 UTC", "2023-03-12 14:05 CET+1", "2023-03-12 14:05 GMT+", "Mo, 13.03.2023", "2023-03-13 (Mon)", "13/03/2023, MONTAG", "2023年3月13日（月）", "Jan-18", "März 2023", "12 marca 2023", "12 мая 2023 г.", "1er août 2023", "2023-W07", "1957W531", "1950-W01-7", "2023-W53", "2020-W53-7", "2023-W00", "2023-03-12T14:05:00+01:00[Europe/Berlin]", "06.2023", "6/2023", "13.2023", "10/2009", "02-2010", "2023年10月5日14时30分", "2023年10月5日 下午2点30分", "令和5年10月3日 14時30分", "2023년 10월 5일 오후 2시 5분", '="2023-10-05"', "\\N"]  # fmt: skip
DAYS = pd.date_range("2020-01-11", periods=15)
HELD: dict[str, tuple[Any, list[Any], Any]] = {
    "numbers": ([1.5, 2, 3, 4.25] * 4, NUMBER_WORDS, None),
    "euro": (["1.889,50 €", "12 €", "7 €", "1.200 €", "3,5 €", "99 €", "12,25 €", "8 €", "9,99 €", "10 €", "11 €"], NUMBER_WORDS, None),
    "dollar": (["$1,889.50", "$12", "$7.25", "$1,200", "$3.5", "$99", "$8", "$9.99", "$10", "$11", "unknown"], NUMBER_WORDS, None),
    "thousands": ([f"${k}.5K" for k in range(12)], NUMBER_WORDS, None),
    "rent": ([f"{k},25 €/m²" for k in range(12)], NUMBER_WORDS, None),
    "north": ([f"{40 + k}.25° N" for k in range(12)], NUMBER_WORDS, None),
    "percent": ([f"{k} %" for k in range(12)], NUMBER_WORDS, None),
    "instants": (pd.date_range("2020-01-01", periods=12, freq="7h"), DAY_WORDS, None),
    "day first": (DAYS.strftime("%d.%m.%Y").tolist(), DAY_WORDS, None),
    "month first": (DAYS.strftime("%m/%d/%Y").tolist(), DAY_WORDS, None),
    "month by name": (DAYS.strftime("%d %b %Y").tolist(), [*DAY_WORDS, "03/05/2018", "31/12/2018", "12/31/2018", "5.3.2018"], None),
    "durations": (["1h 30min", "2h", "45min", "3h 5min", "1h", "10min", "20min", "4h", "5h"], LENGTHS, None),
    "timedeltas": (pd.to_timedelta(range(12), unit="h"), LENGTHS, None),
    "times of day": ([f"{hour}:15" for hour in range(10, 22)], CLOCKS, None),
    "yes and no": (["yes", "no"] * 8, LABELS, None),
    "truth": ([True, False] * 8, LABELS, None),
    "ja und nein": (["ja", "nein"] * 8, LABELS, None),
    "spelled": (["Yes", "no", "YES", "No", "yes", "N"] * 4, LABELS, None),
    "words": (["New York", "straße", "maybe", "unknown"] * 4, LABELS, None),
    "whole numbers": ([1, 2, 3, 1] * 4, LABELS, "categorical"),
    "figures": (["1", "2", "3", "1"] * 4, LABELS, "categorical"),
}  # fmt: skip


def python_cell(model: Any, value: Any) -> Any:
    """The cell as Python reads it: a number, the code of a level, None for missing, "refused" where it is an error."""
    column = model.schema_["größe"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            cell = encode_row(model, {"größe": value}).cell("größe")
        except ValueError:
            return "refused"
    if cell is None or cell != cell:
        return None
    if column.kind != "categorical":
        return cell
    levels = [level for level in column.levels or () if level is not None]
    return levels.index(cell) if cell in levels else len(levels) + 1


@pytest.mark.parametrize("held", HELD)
def test_words_are_read_as_python_reads_them(ask_engine: Any, held: str) -> None:
    cells, words, kinds = HELD[held]
    truth = np.resize(["a", "b"], len(cells))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = mr.NaiveBayesClassifier(kinds=kinds).fit(pd.DataFrame({"größe": cells}), truth)
    said = ask_engine(model, [{"größe": word} for word in words], [{"ask": "cells"}])
    column = model.schema_["größe"]
    missing = len([level for level in column.levels or () if level is not None]) if column.kind == "categorical" else np.nan  # fmt: skip
    for word, (told,) in zip(words, said, strict=True):
        mine = "refused" if isinstance(told, dict) else told[0]
        mine = None if mine == missing or (isinstance(mine, float) and np.isnan(mine)) else mine
        theirs = python_cell(model, word)
        close = isinstance(mine, int | float) and isinstance(theirs, int | float) and mine == pytest.approx(theirs, rel=1e-12)  # fmt: skip
        assert mine == theirs or close, (word, mine, theirs)


def test_times_of_day_that_are_levels_are_read_as_python_reads_them(ask_engine: Any, tmp_path: Any) -> None:
    """Of a file of times they are seconds, whatever way a person writes them."""
    path = tmp_path / "calls.csv"
    path.write_text("größe,ringed\n" + "14:30:00,yes\n07:15:00,no\n00:00:00,yes\n12:30:00,no\n" * 4)
    table = mr.read_table(path)
    model = mr.NaiveBayesClassifier(kinds={"größe": "categorical"}).fit(table.select(["größe"]), table["ringed"])
    words = [*CLOCKS, "52200", 52200, 45000.0]
    said = ask_engine(model, [{"größe": word} for word in words], [{"ask": "cells"}])
    missing = len(model.schema_["größe"].levels)
    told = [None if cells[0] == missing else cells[0] for (cells,) in said]
    assert told == [python_cell(model, word) for word in words]
    assert told[:2] == [3, 3]  # 14:30 and 2:30 pm


def test_what_is_typed_becomes_a_case(ask_engine: Any) -> None:
    table = pd.DataFrame(
        {"day": pd.date_range("2024-01-01", periods=8), "sum": np.arange(8.0), "paid": ["yes", "no"] * 4}
    )
    model = mr.NaiveBayesClassifier().fit(table, ["a", "b"] * 4)
    typed = {"day": "3 Jan 2024", "sum": "1,200.5", "paid": " YES"}
    ((read,), (strange,)) = ask_engine(model, [typed, {"day": "soon", "sum": "n/a"}], [{"ask": "read"}])
    assert read == {"case": {"day": "2024-01-03", "sum": 1200.5, "paid": "yes"}, "notes": []}
    assert strange["case"] == {"day": None, "sum": None}
    assert [(note["kind"], note["column"]) for note in strange["notes"]] == [("unread", "day")]
