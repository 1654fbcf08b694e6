"""What words mean: numbers, days, times and yes or no as people write them; and what is none of it."""

import re
from dataclasses import replace
from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

import merula as mr
from merula.core import InputError
from merula.data.encode import GuessedKindWarning, encode, encode_cells, infer_schema
from merula.data.encode.reading import worded_numbers
from merula.data.schema import Column, Reading, Schema
from merula.data.table import open_table
from merula.data.table.cleaning import AMONG_NUMBERS, CODE, seen_in, trimmed
from merula.data.units import same_unit
from merula.data.words import (
    Hints,
    as_labels,
    clean,
    numbers as numbers_of_words,
    other_spellings,
    spelled_as_one,
    understand,
)
from merula.data.words.decision import as_numbers, truth_in_words
from merula.data.words.numbers import is_limit, number_form, numbers_in, parts_of
from merula.data.words.times import month_named

NUMBERS = {
    "money before": (["$29.85", "-$3.00", "$1,338.79"], [29.85, -3.0, 1338.79]),
    "money behind": (["1.889,50 €", "0,99 €", "12 €"], [1889.5, 0.99, 12.0]),
    "euros in groups have no three decimals": (["1.889 €", "2.500 €"], [1889.0, 2500.0]),
    "a currency's code": (["CHF 1'200.00", "CHF 12.50"], [1200.0, 12.5]),
    "reais": (["R$ 12,50", "R$ 1.200,00"], [12.5, 1200.0]),
    "accounting": (["($4.50)", "$3.00"], [-4.5, 3.0]),
    "accounting in a spreadsheet": (["$ (1,204.50)", "$ 3.00", "$ -", "$ 12.00"], [-1204.5, 3.0, 0.0, 12.0]),
    "even amounts": (["Fr. 12.–", "Fr. 7.50", "Fr. 1'200.--", "Fr. 9.-"], [12.0, 7.5, 1200.0, 9.0]),
    "even amounts in German": (["12,- €", "1.299,-- €", "7,50 €"], [12.0, 1299.0, 7.5]),
    "thin blanks": (["1\u202f234,50\u00a0€", "12,00\u202f€"], [1234.5, 12.0]),
    "a unit in any case": (["12 kg", "9 KG", "7Kg"], [12.0, 9.0, 7.0]),
    "volts": (["12 V", "230 V"], [12.0, 230.0]),
    "pieces": (["12 Stück", "1400 Stück"], [12.0, 1400.0]),
    "a minus behind": (["12-", "14", "3.5-"], [-12.0, 14.0, -3.5]),
    "a true minus": (["−12", "14.5"], [-12.0, 14.5]),
    "percentages": (["9%", "12.5 %", "-3%"], [9.0, 12.5, -3.0]),
    "groups": (["1,338", "22,100", "999"], [1338.0, 22100.0, 999.0]),
    "groups as in India": (["1,23,456", "12,34,567"], [123456.0, 1234567.0]),
    "groups by blanks": (["1 234,5", "12", "5 000"], [1234.5, 12.0, 5000.0]),
    "decimal commas": (["1,5", "22,25", "3"], [1.5, 22.25, 3.0]),
    "a unit": (["12 kg", "9.5 kg"], [12.0, 9.5]),
    "a unit close by": (["12kg", "9.5kg"], [12.0, 9.5]),
    "one year, many years": (["12 years", "1 year"], [12.0, 1.0]),
    "degrees": (["21°C", "19.5°C"], [21.0, 19.5]),
    "powers": (["1e5", "2.5E-3"], [1e5, 2.5e-3]),
    "Arabic digits and signs": (["١٬٢٣٤٫٥", "٣٫٢٥", "١٢"], [1234.5, 3.25, 12.0]),
    "digits and signs of full width": (["１２．５", "－３．２５", "９"], [12.5, -3.25, 9.0]),
    "even amounts in India": (["1,14,335/-", "Rs. 500.50/-", "Rs. 1,500/-"], [114335.0, 500.5, 1500.0]),
    "degrees of Fahrenheit close by": (["98.6F", "101.2F"], [98.6, 101.2]),
    "points between thousands": (
        ["997", "850", "1.005", "912", "12.300", "2.010"],
        [997.0, 850.0, 1005.0, 912.0, 12300.0, 2010.0],
    ),
    "points between thousands of kilograms": (
        ["997 kg", "850 kg", "1.005 kg", "912 kg", "12.300 kg", "2.010 kg"],
        [997.0, 850.0, 1005.0, 912.0, 12300.0, 2010.0],
    ),
    "gaps": (["1.5", "unknown", "-", "2.5"], [1.5, None, None, 2.5]),
}
DAYS = {
    "day first": ["14/10/2018", "05/11/2018", "01/02/2019"],
    "month first": ["10/14/2018", "11/05/2018", "02/01/2019"],
    "points": ["14.10.2018", "05.11.2018", "01.02.2019"],
    "two digits": ["14.10.18", "05.11.18", "01.02.19"],
    "names": ["14 Oct 2018", "5 November 2018", "Feb 1, 2019"],
    "names with a weekday": ["Sunday, 14 Oct 2018", "Mon, 5 Nov 2018", "Fri, 1 Feb 2019"],
    "German": ["14. Oktober 2018", "5. Nov. 2018", "1. Februar 2019"],
    "French": ["14 octobre 2018", "5 novembre 2018", "1 février 2019"],
    "Spanish": ["14 de octubre de 2018", "5 de noviembre de 2018", "1 de febrero de 2019"],
    "French with the first of the month": ["14 octobre 2018", "dim. 5 novembre 2018", "1er février 2019"],
    "German weekdays": ["So, 14.10.2018", "Montag, 05.11.2018", "Fr. 01.02.2019"],
    "Polish": ["14 października 2018", "5 listopada 2018 r.", "1 lutego 2019"],
    "Russian": ["14 октября 2018 г.", "5 ноября 2018", "1 февраля 2019"],
    "Chinese weekdays": ["2018/10/14 周日", "2018/11/5 星期一", "2019/2/1 周五"],
    "Japanese weekdays": ["2018年10月14日(日)", "2018/11/5(月)", "2019-02-01 金曜日"],
    "Chinese": ["2018年10月14日", "2018年11月5日", "2019年2月1日"],
    "year first": ["2018/10/14", "2018/11/5", "2019/2/1"],
    "mixed": ["2018-10-14", "05.11.2018", "Feb 1, 2019"],
    "Korean": ["2018년 10월 14일", "2018년 11월 5일", "2019년 2월 1일"],
    "Korean with points": ["2018. 10. 14.", "2018. 11. 5.", "2019. 2. 1."],
}
WORDS = {
    "units that differ": ["12 kg", "9 lb"],
    "currencies that differ": ["$12", "€9"],
    "codes": ["01067", "20095", "50667"],
    "letters before": ["A12", "A13", "A14"],
    "letters behind": ["12B", "13B", "7B"],
    "generations": ["3G", "4G", "5G"],
    "ranges": ["10-12", "13-15"],
    "versions": ["1.2.3", "1.3.0"],
    "addresses": ["10.0.0.1", "192.168.1.1"],
    "addresses like groups": ["192.168.101.254", "192.168.110.111", "172.160.101.102"],
    "telephones in groups": [f"{300 + k} 389 149" for k in range(12)],
    "towns that are one": ["10115 Berlin", "10117 Berlin", "12049 Berlin"],
    "flats": ["1 A", "2 A", "12 A"],
    "underscores": ["1_100", "1_101", "2_200"],
    "milli and mega": ["5 mW", "7 MW"],
    "metres and millions": ["5 m", "7 M"],
    "versions like days": ["1.2.10", "1.3.11", "2.4.12", "11.5.20"],
    "levels in brackets": ["(1)", "(2)", "(3)", "(4)"],
    "rings with a dash": ["12-", "13-", "14-"],
    "beyond all numbers": ["$1e400", "$5"],
    "debit and credit": ["12.50 CR", "7.50 DR"],
    "thousands and millions": ["$5K", "$1.5M"],
    "blood pressure": ["120/80", "135/90", "110/75"],
    "coordinates": ["12.5, 48.1", "11.5, 47.9"],
    "weeks": ["2023-W01", "2023-W02"],
    "cards": ["4111 1111 1111 1111", "5500 0000 0000 0004"],
    "flags": ["1.2 H", "3.4 L", "5.6"],
    "telephones": ["+49 170 1234567", "+49 171 7654321"],
    "streets": ["12 Main St", "14 Oak Ave"],
    "ages": ["<5", "5-10", "10+"],
    "more": ["2", "3", "4", "5more"],
    "no such day": ["31.02.2018", "14.10.2018", "12.12.2018"],
    "no common order": ["31/12/2018", "12/31/2018", "01/01/2018"],
    "scores": ["3:1", "2:0", "0:0"],
    "feet": ["5'11\"", "6'0\""],
    "towns": ["10115 Berlin", "20095 Hamburg"],
    "quarters": ["2018 Q1", "2018 Q2"],
    "few whole numbers": ["1", "2", "3"],
    "signs": ["+", "-"],
    "yes and no": ["Yes", "No"],
    "infinite": ["1.5", "inf", "2"],
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers(case):
    words, expected = NUMBERS[case]
    reading = understand(words)
    assert reading.form == "number" and reading.fits()
    assert as_numbers(words, reading) == (expected, [])


@pytest.mark.parametrize("case", DAYS)
def test_days(case):
    reading = understand(DAYS[case])
    assert reading.fits()  # else no model that holds it could be loaded
    found = [datetime(1970, 1, 1) + timedelta(microseconds=count) for count in as_numbers(DAYS[case], reading)[0]]
    assert [one.date() for one in found] == [date(2018, 10, 14), date(2018, 11, 5), date(2019, 2, 1)]


@pytest.mark.parametrize("case", WORDS)
def test_what_stays_words(case):
    assert understand(WORDS[case]) is None


MONTHS = {
    "figures": ["2019-01", "2019-02", "2018-12"],
    "as spreadsheets show them": ["Jan-19", "Feb-19", "Dec-18"],
    "names": ["Jan 2019", "February 2019", "Dez. 2018"],
    "short years": ["Jan '19", "Feb ’19", "Dec '18"],
}


@pytest.mark.parametrize("case", MONTHS)
def test_months_are_their_first_days(case):
    words = MONTHS[case]
    reading = understand(words)
    assert reading.form == "date" and reading.fits()
    found = [datetime(1970, 1, 1) + timedelta(microseconds=count) for count in as_numbers(words, reading)[0]]
    assert found == [datetime(2019, 1, 1), datetime(2019, 2, 1), datetime(2018, 12, 1)]


@pytest.mark.parametrize(
    "words", [["2010-11", "2011-12", "2009-10"], ["2019-13", "2019-01", "2019-02"], ["2019-01", "80-96", "2019-02"], ["1012-01", "1012-02", "1012-03"]]
)  # fmt: skip
def test_seasons_and_codes_are_no_months(words):
    assert understand(words) is None


def test_days_without_a_year_are_no_months():
    assert understand(["May 12", "May 13", "Jun 14"]) is None


def test_many_weeks_are_their_mondays():
    weeks = [date(2018, 1, 1) + timedelta(weeks=k) for k in range(60)]
    words = [f"{day.isocalendar()[0]}-W{day.isocalendar()[1]:02d}" for day in weeks]
    found = as_numbers(words, understand(words))[0]
    assert [(datetime(1970, 1, 1) + timedelta(microseconds=count)).date() for count in found] == weeks


# ---------------------------------------------------------------------------------- limits, strays, points of thousands

MEASURED = [f"{0.5 + k / 10:.1f}" for k in range(40)]


def test_limits_of_measurements_count_as_the_limit():
    words = [*MEASURED, "<0.5", ">9.5", "≥ 12", "90+"]
    schema, notes = infer_schema(open_table(pd.DataFrame({"lead": words})))
    assert schema["lead"].kind == "numeric" and "count as the limits that they name" in str(notes[0])
    values = encode(open_table(pd.DataFrame({"lead": words})), schema, [0]).values(("lead",))[:, 0]
    assert values.tolist() == [*map(float, MEASURED), 0.5, 9.5, 12.0, 90.0]
    new = encode(open_table(pd.DataFrame({"lead": ["<0.5", "0.5"]})), schema, [0]).values(("lead",))[:, 0]
    assert new.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    "words",
    [["0", "1", "2", "3+"], ["<18", "18", "19", "65+"], [*MEASURED[:12], *(f"<{k}" for k in range(20))], ["1+", "2+", "3+"]],
    ids=["children", "ages", "mostly limits", "crosses"],
)  # fmt: skip
def test_limits_beside_few_numbers_are_names(words):
    assert understand(words) is None


STRAYS = ["refused", "(blank)", "don't know"]


def test_few_words_in_few_cells_among_many_numbers_mean_none():
    cells = [*(str(k) for k in range(20, 60)), *STRAYS]
    table = pd.DataFrame({"age": cells * 2})
    schema, notes = infer_schema(open_table(table))
    assert schema["age"].kind == "numeric" and schema["age"].reading.missing == tuple(sorted(STRAYS))
    assert "'refused', '(blank)', \"don't know\" are missing" in str(notes[0])
    values = encode(open_table(table), schema, [0]).values(("age",))[:, 0]
    assert np.isnan(values).tolist() == [word in STRAYS for word in table["age"]]
    assert values[~np.isnan(values)].tolist() == [float(word) for word in table["age"] if word not in STRAYS]
    with pytest.raises(InputError, match="'widowed'"):  # at fit nobody said that it means none
        encode(open_table(pd.DataFrame({"age": ["44", "widowed"]})), schema, [0]).values(("age",))


@pytest.mark.parametrize(
    "cells",
    [
        [str(k) for k in range(30, 60)] + ["S", "M", "L"] * 20,  # sizes of two sorts
        [str(k) for k in range(30, 60)] + ["12a", "14b"],  # numbers of houses
        [str(k) for k in range(5)] * 20 + ["none yet"],  # few different numbers are categories
        [str(k) for k in range(30, 90)] + ["a b", "c d", "e f", "g h", "i j", "k l"],
    ],
    ids=["many cells", "with figures", "few numbers", "many words"],
)
def test_other_words_among_numbers_leave_them_words(cells):
    different = list(dict.fromkeys(cells))
    assert understand(different, [cells.count(word) for word in different]) is None


@pytest.mark.parametrize(
    ("words", "decimal"),
    [
        (["1", "2", "3", "1.125", "2.375", "3.625"], "."),  # eighths
        (["997", "850", "912", "1.005", "1.5", "2.25"], "."),
        (["997", "850", "912", "0.125", "1.005", "2.010"], "."),
        (["1.005", "2.010", "3.100", "4.125"], "."),
    ],
)
def test_other_points_are_decimal(words, decimal):
    assert understand(words, wanted="numeric").decimal == decimal


def test_words_with_a_time_are_read_as_times():
    schema, notes = infer_schema(open_table(pd.DataFrame({"seen": ["5/1/2022 3:00 PM", "5/2/2022 6:30 PM", "5/13/2022 9:15 AM"]})))  # fmt: skip
    assert schema["seen"].kind == "datetime" and "read as times, month before day" in str(notes[0])


def test_durations_in_other_languages():
    hours = ["2 Std. 30 Min.", "2 heures 30 minutes", "1 Stunde", "3 Tage 4 Stunden"]
    assert [count / 6e7 for count in as_numbers(hours, understand(hours))[0]] == [150, 150, 60, 76 * 60]


def test_days_without_signs_are_days_where_all_are():
    words = ["20190131", "20200229", "20181201"]
    reading = understand(words)
    assert (reading.form, reading.order) == ("date", "ymd")
    found = [datetime(1970, 1, 1) + timedelta(microseconds=count) for count in as_numbers(words, reading)[0]]
    assert found == [datetime(2019, 1, 31), datetime(2020, 2, 29), datetime(2018, 12, 1)]
    others = [str(20190101 + k) for k in range(40)]  # the 32nd of January is none
    assert understand(others).form == "number"
    assert understand(["12340101", "12340102", "12340103"]) is None  # no year that anybody writes


def test_years_and_months_last():
    words = ["3 yrs 4 mos", "2 yrs", "5 months", "1 year 1 month"]
    reading = understand(words)
    assert reading.form == "duration"
    months = [count / 1e6 / 86400 / (365.25 / 12) for count in as_numbers(words, reading)[0]]
    assert np.allclose(months, [40, 24, 5, 13], rtol=1e-12)
    assert understand(["12 years", "1 year"]).form == "number"


SEEN = [f"{1 + k % 28:02d}.{1 + k % 12:02d}.2024" for k in range(60)]
NO_DAYS = ["31.02.2024", "2024-13-45", "30 Feb 2024", "29.02.2023", "12.12.2024 25:00"]


@pytest.mark.parametrize("wrong", NO_DAYS)
def test_one_impossible_day_is_missing_and_named(wrong):
    words = [*SEEN[:17], wrong, *SEEN[17:], wrong]
    schema, notes = infer_schema(open_table(pd.DataFrame({"seen": words})))
    assert schema["seen"].kind == "datetime" and schema["seen"].reading.order == "dmy"
    assert len(notes) == 1 and f"2 cells with no day that there is, the first {wrong!r} in row 18" in str(notes[0])
    values = encode(open_table(pd.DataFrame({"seen": words})), schema, [0]).values(("seen",))[:, 0]
    right = [(datetime.strptime(word, "%d.%m.%Y") - datetime(1970, 1, 1)) / timedelta(milliseconds=1) for word in SEEN]
    assert np.isnan(values[[17, 61]]).all()
    assert np.delete(values, [17, 61]).tolist() == right


def test_an_impossible_day_in_new_rows_is_missing_with_a_warning():
    schema, _ = infer_schema(open_table(pd.DataFrame({"seen": SEEN})))
    with pytest.warns(UserWarning, match="column 'seen' holds '31.04.2024', no day that there is, read as missing"):
        values = encode(open_table(pd.DataFrame({"seen": ["01.02.2024", "31.04.2024"]})), schema, [0]).values(("seen",))
    assert np.isnan(values[:, 0]).tolist() == [False, True]


@pytest.mark.parametrize(
    "words",
    [
        ["31.02.2018", "14.10.2018", "12.12.2018"],  # too few to tell
        [*SEEN[:12], "31.02.2024", "30.02.2024", "31.04.2024"],  # more than one in ten
        [*SEEN, "soon"],
        ["99-12-3456", "12-34-5678", "55-66-7788", "11-11-1990", "12-11-1990"],
    ],
    ids=["few", "many", "a word", "numbers of people"],
)
def test_other_words_among_days_leave_them_words(words):
    assert understand(list(dict.fromkeys(words))) is None


RESEMBLING = {
    "units": (["70 kg", "154 lb", "80 kg"], "amounts in different units (kg, lb)"),
    "ranges": (["80-96", "97-120", "121-140"], "ranges of numbers"),
    "open ranges": (["<5", "5-10", "10+"], "ranges of numbers"),
    "shares": (["45/100", "7/10", "3/4"], "pairs of numbers"),
}


@pytest.mark.parametrize("case", RESEMBLING)
def test_what_looks_like_numbers_but_is_read_as_categories_is_told(case):
    words, what = RESEMBLING[case]
    schema, notes = infer_schema(open_table(pd.DataFrame({"weight": words * 4})))
    assert schema["weight"].kind == "categorical"
    assert len(notes) == 1 and f"column 'weight' holds {what}" in str(notes[0])


@pytest.mark.parametrize("words", [["red", "green"], ["A-1", "A-2"], ["3:1", "2:0"], ["12B", "13B"], ["10-9", "8-7"]])
def test_categories_are_not_remarked_on(words):
    assert infer_schema(open_table(pd.DataFrame({"colour": words * 4})))[1] == ()


def test_whole_numbers_that_are_days_are_told_and_read_as_days_on_request():
    frame = pd.DataFrame({"seen": [20190131, 20200229, 20181201, 20181202]})
    schema, notes = infer_schema(open_table(frame))
    assert schema["seen"].kind == "numeric"
    assert len(notes) == 1 and "say kinds={'seen': 'datetime'} if they are days" in str(notes[0])
    stated, nothing = infer_schema(open_table(frame), {"seen": "datetime"})
    assert nothing == () and Schema.from_state(stated.state()) == stated
    values = encode(open_table(frame), stated, [0]).values(("seen",))[:, 0]
    right = [datetime(2019, 1, 31), datetime(2020, 2, 29), datetime(2018, 12, 1), datetime(2018, 12, 2)]
    assert values.tolist() == [(day - datetime(1970, 1, 1)) / timedelta(milliseconds=1) for day in right]
    one = encode(open_table(pd.DataFrame({"seen": [20190131]})), stated, [0]).values(("seen",))
    words = encode(open_table(pd.DataFrame({"seen": ["2019-01-31"]})), stated, [0]).values(("seen",))
    assert one.tolist() == words.tolist() == [[values[0]]]


@pytest.mark.parametrize("numbers", [[20190131, 20190132, 20190133], [1, 2, 3], [20190131.5, 20190130.0, 20190129.0], [12340101, 12340102, 12340103]])  # fmt: skip
def test_other_whole_numbers_are_no_days(numbers):
    frame = open_table(pd.DataFrame({"ring": numbers}))
    assert infer_schema(frame)[1] == ()
    with pytest.raises(InputError, match="a datetime, but its values are not"):
        infer_schema(frame, {"ring": "datetime"})


def test_times_of_day_and_durations():
    assert as_numbers(["14:30", "2:30 pm", "12:05 AM"], understand(["14:30", "2:30 pm", "12:05 AM"]))[0] == [
        52200,
        52200,
        300,
    ]
    hours = ["2h 30m", "45 min", "1h", "PT1H", "26:15:00", "1 day 02:00:00"]
    assert [count / 6e7 for count in as_numbers(hours, understand(hours))[0]] == [
        150,
        45,
        60,
        60,
        26 * 60 + 15,
        26 * 60,
    ]
    at = ["14.10.2018 15:30", "2018-10-14T15:30:00Z", "10/14/2018 3:30 PM", "2018-10-14 17:30:00+02:00"]
    for word in at:
        assert as_numbers([word], understand([word], wanted="datetime"))[0] == [1539531000 * 1_000_000]


def test_instants_as_people_and_machines_write_them():
    noon = ["14.10.2018 12:30 Uhr", "14/10/2018 12h30", "20181014T123000Z", "20181014T1230", "Sun Oct 14 12:30:00 2018", "Sun Oct 14 14:30:00 +0200 2018", "Sun Oct 14 12:30:00 UTC 2018"]  # fmt: skip
    for word in noon:
        found = as_numbers([word], understand([word], wanted="datetime"))[0]
        assert found == [(datetime(2018, 10, 14, 12, 30) - datetime(1970, 1, 1)) // timedelta(microseconds=1)]
    assert as_numbers(["14h30", "8 h 05", "14:30 Uhr"], understand(["14h30", "8 h 05"]))[0] == [52200, 29100, 52200]


def test_the_order_of_days_is_told_by_all_of_them():
    unsure = ["03/04/2018", "05/06/2018", "07/08/2018"]
    assert (understand(unsure).order, understand(unsure).ambiguous) == ("mdy", True)
    assert (understand([*unsure, "13/01/2018"]).order, understand([*unsure, "13/01/2018"]).ambiguous) == ("dmy", False)
    assert understand(unsure, hints=Hints(date_order="dmy")).order == "dmy"


def test_short_years_that_come_first():
    days = [date(2018, 10, 1) + timedelta(days=11 * k) for k in range(30)]
    words = [f"{day:%y/%m/%d}" for day in days]
    found = as_numbers(words, understand(words))[0]
    assert [(datetime(1970, 1, 1) + timedelta(microseconds=count)).date() for count in found] == days
    stated = understand(words[:3], hints=Hints(date_order="ymd"))
    assert as_numbers(words[:1], stated)[0] == found[:1]
    words = [f"{day:%d/%m/%y}" for day in days]
    assert understand(words).order == "dmy"


def test_groups_in_money_leave_no_doubt():
    assert not understand(["¥1,200", "¥99,000"]).ambiguous
    assert understand(["1,200", "99,000"]).ambiguous


def test_the_decimal_sign_is_told_by_all_numbers():
    unsure = ["1,234", "22,500"]
    assert (understand(unsure).decimal, understand(unsure).ambiguous) == (".", True)
    assert (understand([*unsure, "3,5"]).decimal, understand([*unsure, "3,5"]).ambiguous) == (",", False)
    assert understand(unsure, hints=Hints(decimal=",")).decimal == ","


def test_yes_and_no_in_several_spellings():
    reading = understand(["Yes", "YES", "no", "N"], [50, 2, 40, 1])
    assert as_labels(["Yes", "YES", "no", "N", "y", "?"], reading, None) == ["Yes", "Yes", "no", "no", "Yes", None]
    truth = understand(["TRUE", "true", "False"])
    assert as_labels(["TRUE", "true", "False", "1"], truth, None) == [True, True, False, True]


@pytest.mark.parametrize(
    "words", [["ja", "Ja", "NEIN"], ["oui", "non", "Oui"], ["sí", "no", "SI"], ["sim", "não", "Não"]]
)
def test_yes_and_no_in_other_languages(words):
    reading = understand(words)
    assert reading.form == "boolean"
    assert len(set(as_labels(words, reading, None))) == 2


def test_compass_points_are_no_answers():
    assert understand(["N", "S", "n"]) is None
    assert as_labels(["0", "no"], None, ("N", "S")) == ["0", "no"]


@pytest.mark.parametrize(
    "words", [["5%", "0.05", "7%"], ["12 Main St", "14 Main St", "9 Main St"], ["2 D", "3 D", "7 D"]]
)
def test_what_may_mean_something_else_stays_words(words):
    assert understand(words) is None


def test_what_others_keep_in_the_metadata_of_a_table_is_theirs():
    birds = pa.table({"wing": ["4.9 cm", "5.1 cm", "9.8 cm"]})
    for said in (b"[1]", b"no json", b'{"order": 3}'):
        schema, _ = infer_schema(open_table(birds.replace_schema_metadata({b"merula": said})))
        assert schema["wing"].reading.unit == "cm"


def test_numbers_in_another_unit_are_refused():
    """Pounds are not read as the kilograms that a model learned from."""
    column = Column("weight", "numeric", reading=understand(["12 kg", "9.5 kg"]))
    assert worded_numbers(["7 KG", "8", "n/a"], column)[:2].tolist() == [7.0, 8.0]
    for words in (["26 lb"], ["26 lb", "7 lb"], ["$3.00"]):
        with pytest.raises(InputError, match="column 'weight' holds amounts in .*, but those learned from are in kg"):
            worded_numbers(words, column)
    euros = Column("price", "numeric", reading=understand(["12,50 €", "9,99 €"]))
    assert worded_numbers(["1.200,00 EUR", "3,5"], euros).tolist() == [1200.0, 3.5]
    plain = Column("weight", "numeric")
    assert worded_numbers(["7 kg", "8.5 kg"], plain).tolist() == [7.0, 8.5]


def test_days_that_databases_write_for_none():
    reading = understand(["2018-10-14", "0000-00-00", "2018-11-05", "2018-11-06"])
    assert (reading.form, as_numbers(["0000-00-00"], reading)) == ("date", ([None], []))


def test_labels_are_matched_to_the_levels_that_are_known():
    assert as_labels([" 2", "3.0", "x"], None, (1, 2, 3)) == [2, 3, "x"]
    assert as_labels(["true", "FALSE"], None, (False, True)) == [True, False]
    assert as_labels([7, 8], None, ("7", "8")) == ["7", "8"]
    assert as_labels(["NA", "EU"], None, ("EU", "NA")) == ["NA", "EU"]  # North America
    assert as_labels(["Yes "], None, ("Yes ", "No")) == ["Yes "]  # a level that a library declared


@pytest.mark.parametrize("word", ["\u200bYes\u00a0", "Yes\ufeff", "\tYes \r\n", "Y\u00ades"])
def test_what_cannot_be_seen_is_taken_away(word):
    assert clean(word) == "Yes"


@settings(deadline=None)  # the first column loads pyarrow
@given(st.lists(st.text("aé-\u200b\u200d\u00a0\u2028\u202e\x1f\x85\ufeff \t", max_size=6), min_size=1, max_size=6))
def test_whole_columns_are_tidied_as_single_words_are(words):
    import pyarrow as pa

    tidy = trimmed(pa.chunked_array([pa.array(words, pa.string())])).to_pylist()
    assert [clean(word or "") for word in tidy] == [clean(word) for word in words]
    assert all(not word or (word[0] not in " \t\u200b" and word[-1] not in " \t\u200b") for word in tidy)


def test_what_is_missing_in_one_cell_is_so_in_a_column():
    assert all(understand(["1.5", word, "2.5"]).form == "number" for word in AMONG_NUMBERS)
    assert {"NA", "<NA>", "Unknown", "NOT AVAILABLE", "No Data", "#DIV/0!", "n.a.", "N.A.", "–"} <= set(AMONG_NUMBERS)


def test_what_is_to_be_kept_is_a_level_and_no_gap():
    assert understand(["1.5", "NA", "2.5"], hints=Hints(keep=("NA",))) is None
    namibia = Hints(keep=("NA",)).of_words
    assert as_labels(["NA", "n/a", "DE"], namibia, None) == ["NA", None, "DE"]


def test_accents_are_written_in_one_way():
    assert clean("Cafe\u0301") == clean("Café") == "Café"
    assert clean("می\u200cخواهم") == "می\u200cخواهم"  # a joiner within a word is part of it


def test_rare_spellings_of_a_class_are_the_common_one():
    assert other_spellings({"Yes": 100, "yes": 60}) == ({}, [["Yes", "yes"]])
    assert other_spellings({"Yes": 100, "yes": 10, "YES": 1})[0] == {"yes": "Yes", "YES": "Yes"}
    assert other_spellings({"a": 100, "A": 1}) == ({}, [["a", "A"]])  # one letter may be two names


@given(
    st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=1, max_size=8),
    st.sampled_from([(",", "."), (".", ","), (" ", ","), ("'", "."), ("", ",")]),
    st.sampled_from(["", "$", "€", "%", " kg"]),
)
def test_every_number_comes_back_from_every_way_of_writing_it(numbers, signs, unit):
    group, point = signs
    words = [f"{number:,.2f}".translate(str.maketrans({",": group, ".": point})) + unit for number in numbers]
    reading = understand(words, wanted="numeric")
    assert as_numbers(words, reading)[0] == [float(number) for number in numbers]


@given(
    st.lists(st.dates(date(1970, 1, 1), date(2060, 12, 31)), min_size=3, max_size=12),
    st.sampled_from(["%d.%m.%Y", "%Y-%m-%d", "%d %b %Y", "%B %d, %Y", "%d.%m.%y", "%Y/%m/%d"]),
)
def test_every_day_comes_back_from_every_way_of_writing_it(days, form):
    words = [f"{day:{form}}" for day in days]
    found = as_numbers(words, understand(words, wanted="datetime"))[0]
    assert [(datetime(1970, 1, 1) + timedelta(microseconds=count)).date() for count in found] == days


@given(st.lists(st.text(max_size=12), min_size=1, max_size=12))
def test_any_words_are_read_whatever_their_order(words):
    def told(reading):
        return None if reading is None else reading.state()

    assert told(understand(words)) == told(understand(words[::-1]))


def test_months_are_known_by_the_beginning_of_their_names():
    for number in range(1, 13):
        for form in ("%b", "%B"):
            assert month_named(f"{date(2018, number, 1):{form}}") == number
    assert month_named("ju") is month_named("jui") is month_named("Sunday") is None


# ------------------------------------------------------------------------------------------------------------- in tables


def read(words, column):
    table = open_table(np.array([[word] for word in words], dtype=object))
    return encode(table, Schema((column,)), [0])


def test_a_column_of_numbers_takes_words_at_predict():
    column = Column("x0", "numeric")
    for words, expected in NUMBERS.values():
        wanted = np.array([np.nan if value is None else value for value in expected])
        np.testing.assert_array_equal(read(words, column).numeric["x0"], wanted)


def test_a_column_of_times_takes_days_at_predict():
    column = Column("x0", "datetime", unit="datetime64[ns]")
    wanted = np.array(["2018-10-14", "2018-11-05", "2019-02-01"], dtype="datetime64[ns]").astype(np.int64).astype(float)
    for words in DAYS.values():
        np.testing.assert_array_equal(read(words, column).numeric["x0"], wanted)


@pytest.mark.parametrize(("word", "number"), [("1,500 €", 1.5), ("1,5 €", 1.5), ("€ 1,500", 1.5), ("1.500 €", 1500.0), ("1.234,50 €", 1234.5), ("$1,500.00", 1500.0)])  # fmt: skip
def test_a_decimal_comma_of_plain_cells_holds_for_amounts(word, number):
    cells = [f"{k},{k * 7 % 90 + 10}" for k in range(1, 25)]
    column = infer_schema(open_table(pd.DataFrame({"preis": cells})))[0]["preis"]
    assert column.reading.decimal == ","
    assert worded_numbers([word], column).tolist() == [number]


def test_new_rows_are_read_as_fit_read_them():
    days = [[f"{k % 12 + 1:02d}/{k % 28 + 1:02d}/2018"] for k in range(40)]  # month first, as some of them show
    schema, _ = infer_schema(open_table(np.array(days, dtype=object)))
    assert schema["x0"].reading.order == "mdy"
    stored = Schema.from_state(schema.state())
    assert stored == schema
    one = encode(open_table(np.array([["03/04/2018"]], dtype=object)), stored, [0])
    assert one.numeric["x0"].tolist() == [np.datetime64("2018-03-04", "ms").astype(np.int64)]
    assert encode_cells(stored, {"x0": ["03/04/2018"]}, 1).numeric["x0"].tolist() == one.numeric["x0"].tolist()


def test_a_number_that_was_said_to_be_missing_is_missing_in_new_rows():
    column = Column("x0", "numeric", reading=Reading("number", missing=("-9", "lost")))
    np.testing.assert_array_equal(read([1.5, -9.0], column).numeric["x0"], [1.5, np.nan])
    np.testing.assert_array_equal(read(["1.5", "lost", "-9"], column).numeric["x0"], [1.5, np.nan, np.nan])


def test_a_word_that_is_no_number_is_named():
    with pytest.raises(InputError, match=r"column 'x0' is numeric but holds something else \('broken'\)"):
        read(["12 kg", "broken"], Column("x0", "numeric"))
    with pytest.raises(InputError, match=r"column 'x0' is a date but holds something else \('soon'\)"):
        read(["soon"], Column("x0", "datetime", unit="datetime64[ms]"))


def test_readings_merge():
    euro, dollar = (Column("price", "numeric", reading=Reading("number", unit=unit)) for unit in "€$")
    assert (euro + euro).reading == euro.reading
    with pytest.raises(InputError, match="'price' cannot be merged: it holds amounts in € in one model and in \\$ in"):
        euro + dollar
    spelled = Column("price", "numeric", reading=replace(euro.reading, unit="EUR"))
    assert (euro + spelled).reading == euro.reading
    days = [Column("day", "datetime", unit="datetime64[D]", reading=Reading("date", order=order, ambiguous=doubt)) for order, doubt in (("mdy", True), ("dmy", False), ("mdy", False))]  # fmt: skip
    with pytest.raises(InputError, match="'day' cannot be merged: it may hold days with day and month the other way"):
        days[0] + days[1]
    assert (days[1] + days[2]).reading is None
    assert (euro + Column("price", "numeric")).reading == (Column("price", "numeric") + euro).reading == euro.reading
    words = [Column("sky", "categorical", ("blue",), reading=Reading(missing=(word,))) for word in ("x", "y")]
    assert (words[0] + words[1]).reading.missing == ("x", "y")


def test_a_forged_reading_is_refused():
    state = Schema((Column("price", "numeric", reading=Reading("number")),)).state()
    for name, value in (
        ("form", "code"),
        ("decimal", "x"),
        ("order", "ydm"),
        ("missing", [1]),
        ("spellings", "ab"),
        ("grouping", "."),
    ):
        forged = {"columns": [{**state["columns"][0], "reading": {**state["columns"][0]["reading"], name: value}}]}
        with pytest.raises((InputError, TypeError, ValueError)):
            Schema.from_state(forged)


def learned(words):
    """Naive Bayes of two classes in turn, from one column of words."""
    with pytest.warns(GuessedKindWarning):
        return mr.NaiveBayesClassifier().fit(told(words), ["a", "b"] * (len(words) // 2))


def told(words):
    return pd.DataFrame({"cell": words})


def test_another_unit_than_that_learned_from_is_an_error():
    model = learned(["12 kg", "7 kg", "9 kg", "8.5 kg"])
    same = model.predict_proba(told(["12 kg", "12 KG", "12"]))
    assert (same == same[0]).all()
    with pytest.raises(ValueError, match="'cell' holds amounts in g, but those learned from are in kg"):
        model.predict_proba(told(["12000 g"]))
    with pytest.raises(ValueError, match="holds something else"):
        model.predict_proba(told(["12 kg", "1200 g"]))


def test_days_the_other_way_round_than_at_fit_are_read_and_said():
    model = learned(["02/03/2024", "05/04/2024", "07/08/2024", "11/12/2024"])
    with pytest.warns(UserWarning, match="as days, day before month; at fit .* month before day, where either would"):
        read = model.predict_proba(told(["25/03/2024", "02/03/2024"]))
    assert (read == model.predict_proba(told(["2024-03-25", "2024-03-02"]))).all()


def test_how_a_column_is_read_does_not_depend_on_its_first_word():
    amounts = ["$ -", "$5", "$7.50", "$8"]
    assert understand(amounts).form == understand(amounts[::-1]).form == "number"


@pytest.mark.parametrize("word", ["(" + " " * 5_000 + "x1", "1" + " " * 50_000 + "!", "12 a" + " " * 50_000 + "!1"])
def test_long_rows_of_blanks_are_no_numbers_and_take_no_time(word):
    assert understand([word]) is None


@pytest.mark.parametrize("word", ["99999999999999 days", "999999999999:00", "9" * 400 + ":00"])
def test_what_lasts_longer_than_anything_is_a_word(word):
    assert understand([word, "3 days 4h", "26:15:00"]) is None


def test_no_that_is_always_a_figure_keeps_its_name():
    answers = ["Yes", "yes", "0"]
    reading = understand(answers, [5, 1, 4])
    assert as_labels(answers, reading, None) == ["Yes", "Yes", "0"]
    assert as_labels(["y", "No", 0], reading, ("0", "Yes")) == ["Yes", "0", "0"]


def test_figures_mean_no_and_yes_as_words_and_as_numbers():
    assert as_labels(["0", "1", 0, 1], None, ("No", "Yes")) == ["No", "Yes", "No", "Yes"]


@pytest.mark.parametrize(
    ("levels", "cells"),
    [
        (("false", "true"), ["TRUE", "True", "1", True, 1, "false", "F", False, "0"]),
        (("False", "True"), ["true", "TRUE", "t", True, 1.0, "FALSE", False, "0", 0]),
        (("No", "Yes"), ["TRUE", "yes", "1", True, 1, "no", False, "N", 0]),
        (("nein", "ja"), ["Ja", "J", "1", True, 1, "NEIN", False, "n", 0]),
    ],
)
def test_levels_that_are_words_for_no_and_yes_take_other_spellings_and_truth_values(levels, cells):
    no, yes = levels
    assert as_labels(truth_in_words(cells, None, levels), None, levels) == [yes] * 5 + [no] * 4


def test_truth_values_are_the_words_for_them_beside_others():
    assert truth_in_words([True, False], None, ("true", "false", "unclear")) == ["true", "false"]
    assert truth_in_words([True, False], None, ("True", "TRUE", "x")) == [True, False]
    assert truth_in_words([True, False], None, (1, 2)) == [True, False]


@pytest.mark.parametrize("words", [["true", "false"], ["ja", "nein"], ["Yes", "no", "YES"], ["TRUE", "false", "unclear"]])  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_columns_of_truth_values_are_read_as_the_words_learned_from(words):
    said = np.resize(words, 30)
    model = mr.NaiveBayesClassifier().fit(pd.DataFrame({"ringed": said}), np.where(said == words[0], "wren", "tit"))
    expected = model.predict_proba(pd.DataFrame({"ringed": words[:2]}))
    for cells in ([True, False], pd.array([True, False], "boolean"), np.array([True, False], dtype=object)):
        np.testing.assert_array_equal(model.predict_proba(pd.DataFrame({"ringed": cells})), expected)


def test_spellings_of_classes_may_have_blanks_and_stand_beside_none():
    counts = {"yes": 10, "no": 10, "Yes": 5, "no ": 3, "NA": 2}
    assert spelled_as_one(counts) == ({"Yes": "yes", "no ": "no"}, [])
    assert spelled_as_one({"True": 9, "true": 3, "false": 8})[0] == {"true": "True"}


def test_a_number_beyond_all_numbers_is_no_level():
    assert as_labels(["1e999"], None, (1, 2)) == [float("inf")]


def test_what_was_said_to_be_missing_is_so_in_new_rows_though_no_cell_held_it():
    reading = understand(["8.5 kg", "7 kg"], hints=Hints(missing=("-9",)))
    assert as_numbers(["-9", "7 kg"], reading) == ([None, 7.0], [])


@pytest.mark.parametrize(
    "odd",
    [
        Reading("number", grouping="5"),
        Reading("boolean", spellings=("small", "large")),
        Reading("date", order="dym"),
    ],
)
def test_a_reading_that_says_nothing_sensible_is_none(odd):
    assert not odd.fits()


def test_codes_are_numbers_where_it_is_known_that_their_column_holds_numbers():
    rings = Column("ring", "numeric")
    assert worded_numbers(["00017", "3", "n/a"], rings).tolist()[:2] == [17.0, 3.0]
    with pytest.raises(InputError, match="holds something else"):
        worded_numbers(["00017", "R3"], rings)
    birds = pd.DataFrame({"ring": ["007", "012", "113", "008"] * 5})
    model = mr.NaiveBayesClassifier(kinds={"ring": "numeric"}).fit(birds, ["wren", "tit"] * 10)
    assert model.schema_["ring"].kind == "numeric"


def test_a_word_that_other_words_make_another_number_is_said():
    rents = Column("rent", "numeric", reading=Reading("number", decimal=",", grouping=".", unit="€"))
    assert worded_numbers(["1,234 €"], rents).tolist() == [1.234]
    assert worded_numbers(["1,234.50 €", "12.50 €"], rents).tolist() == [1234.5, 12.5]
    with pytest.warns(UserWarning, match="decimal sign '.', so that '1,234 €' is 1234; at fit it was ','"):
        assert worded_numbers(["1,234 €", "12.50 €"], rents).tolist() == [1234.0, 12.5]


def test_a_month_by_its_name_needs_no_order():
    for days in (["04-Apr-2019", "29-Aug-2020", "31-Jul-2021"], ["June 10, 2013", "May 12, 2005", "July 1, 2007"]):
        assert (understand(days).form, understand(days).order) == ("date", "")
    assert understand(["2019.01.20", "2023.04.12", "2022.09.05"]).order == "ymd"


def test_times_of_web_servers_are_times():
    words = ["01/Jan/2024:00:00:37 +0000", "02/Jan/2024:10:00:00 +0000", "03/Feb/2024:23:59:59 +0100"]
    reading = understand(words)
    expected = ["2024-01-01T00:00:37+00:00", "2024-01-02T10:00:00+00:00", "2024-02-03T23:59:59+01:00"]
    assert [value / 1e6 for value in as_numbers(words, reading)[0]] == [datetime.fromisoformat(day).timestamp() for day in expected]  # fmt: skip


def test_months_of_iso_durations_are_no_minutes():
    assert understand(["P3M", "P11M", "P5M"]) is None and understand(["P1Y2M", "P3Y", "P2M"]) is None
    assert as_numbers(["PT3M", "P1DT2M"], understand(["PT3M", "P1DT2M"]))[0] == [180e6, (86_400 + 120) * 1e6]


@pytest.mark.parametrize(
    ("words", "unit", "first"),
    [
        (["3.70V", "3.65V"], "V", 3.7),
        (["1.6L", "2.0L"], "L", 1.6),
        (["45y", "7y"], "y", 45),
        (["1.50x", "2x"], "x", 1.5),
        (["1005 cc", "1012 cc"], "cc", 1005),
        (["￥10,126.56", "￥980.00"], "￥", 10126.56),
        (["18岁", "20岁"], "岁", 18),
    ],
)
def test_units_of_batteries_cars_and_ages(words, unit, first):
    reading = understand(words)
    assert (reading.form, reading.unit, as_numbers(words, reading)[0][0]) == ("number", unit, first)


def test_letters_close_to_whole_numbers_are_codes():
    assert understand(["12A", "14A", "7A"]) is None and understand(["12L", "14L"]) is None


def test_yes_and_true_in_one_column_are_one():
    reading = understand(["Yes", "Y", "TRUE", "1", "No", "n", "FALSE", "0"], [9, 1, 1, 1, 9, 1, 1, 1])
    assert (reading.form, reading.spellings) == ("boolean", ("No", "Yes"))
    assert understand(["Yes", "N", "TRUE", "FALSE"], [1, 9, 9, 1]).spellings == (
        "N",
        "Yes",
    )  # of one pair, so that a model knows them
    assert as_labels(["true", "y", "1", "FALSE", " n", "0"], reading, ("No", "Yes")) == ["Yes"] * 3 + ["No"] * 3


@pytest.mark.parametrize("words", [["N", "T", "Y"], ["No", "Yes", "TRUE"], ["F", "N", "T", "Y"], ["F", "M", "N"]])
def test_letters_and_words_that_only_partly_mean_yes_or_no_stay_apart(words):
    assert understand(words) is None


def test_a_power_is_one_however_it_is_written():
    assert same_unit("m2", "m²") and same_unit("m³", "m3") and not same_unit("m2", "m3")


def test_prices_without_pennies_tell_their_decimal_sign():
    words = ["105,-", "99,–", "1.200,-", "7.350,--"]
    form = number_form(words)
    assert (form.decimal, form.ambiguous) == (",", False)
    assert numbers_in(words, form) == [105, 99, 1200, 7350]
    assert number_form(["12-", "13-"]) is None  # places in a list


@given(
    st.from_regex(r"[-+<]?[$€£%]?[0-9.,' ]{1,8}[%+kM$]?", fullmatch=True) | st.text("-$€£07.,'+(<% kM５", max_size=9)
)
@settings(max_examples=500, deadline=None)
def test_what_is_told_at_a_glance_is_what_a_closer_look_tells(word):
    closer = numbers_of_words._parts_of_any(word)
    assert parts_of(word) == closer
    assert is_limit(word) == (closer is not None and closer.limit)


@given(st.lists(st.text("00179.:-/eE x\t", max_size=5), min_size=2, max_size=6), st.sampled_from(["", "\n", "\r\n"]))
@settings(max_examples=500, deadline=None)
def test_no_code_and_no_blank_at_an_end_is_overlooked(cells, end):
    data = ("a,b\n" + ",".join(cells[:2]) + "".join(f"\n{cell},1" for cell in cells[2:]) + end).encode()
    codes, untidy = seen_in(data, ",", 4)
    assert codes or not any(re.match(CODE, cell.strip()) for cell in cells)
    assert untidy or all(cell == cell.strip() for cell in cells)


def test_days_without_signs_are_days_where_days_were_learned_from():
    days = pd.DataFrame({"seen": pd.date_range("2019-01-01", periods=40)})
    model = mr.NaiveBayesClassifier().fit(days, np.where(np.arange(40) % 3, "well", "ill"))
    whole = pd.DataFrame({"seen": days["seen"].dt.strftime("%Y%m%d").astype(int)})
    np.testing.assert_array_equal(model.predict_proba(whole), model.predict_proba(days))
    for numbers in ([5, 7], [20190101, 20191301]):
        with pytest.raises(mr.InputError, match="give days or times"):
            model.predict_proba(pd.DataFrame({"seen": numbers}))
