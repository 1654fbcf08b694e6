"""Cells as people write them, wherever a model answers: durations, times of day, days, percentages, amounts."""

import pytest

import merula as mr
from merula.classify.readable import axis_unit, interval_of, shown
from merula.data.schema import Column, Reading
from merula.data.words.times import duration, seconds_of_day

pytestmark = pytest.mark.filterwarnings("ignore::merula.data.encode.kinds.GuessedKindWarning")
WAITED = Column("Dauer", "datetime", unit="timedelta64[ms]")
ARRIVED = Column("Abfahrt", "numeric", reading=Reading("time of day"))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(11_220, "3:07 h"), (11_225, "3:07:05 h"), (420, "7 min"), (65, "1:05 min"), (12.5, "12.5 s"), (0, "0 s"), (-5_400, "-1:30 h"), (8 * 86_400 + 3_600, "8 d 1:00 h"), (26 * 365.25 * 7_200, "2 yrs 2 mos"), (-12 * 365.25 * 7_200, "-1 yr"), (365.25 * 7_200, "1 mo"), (1_217 * 86_400, "1,217 d"), (11_220.123456, "3:07 h"), (59.9999, "59.9999 s")],
)  # fmt: skip
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_durations(seconds, text, unit):
    """In the unit that suits them, whatever unit the library counts in."""
    column = Column("Dauer", "datetime", unit=f"timedelta64[{unit}]")
    assert shown(column, seconds * {"ms": 1e3, "us": 1e6, "ns": 1e9}[unit]) == text


@pytest.mark.parametrize("minutes", [60, 61, 187, 600, 1_439, 2_000])
def test_what_is_shown_of_hours_is_read_again(minutes):
    """A person may give back what the model said."""
    assert duration(shown(WAITED, minutes * 60_000.0)) == minutes * 60_000_000


@pytest.mark.parametrize("seconds", [0, 59, 3_600, 52_200, 86_399])
def test_times_of_day_are_read_again(seconds):
    """Likewise."""
    assert seconds_of_day(shown(ARRIVED, float(seconds))) == seconds


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [("%", 37.4, "37.4 %"), ("€", 923.27, "923.27 €"), ("$", -9.5, "-$9.5"), ("kg", 12, "12 kg"), ("", 2.5, "2.5"), ("$M", -1.2, "-$1.2M"), ("$/mo", 25, "$25/mo"), ("$ bn", 3.5, "$3.5 bn"), ("€/m²", 12.5, "12.5 €/m²"), ("€", 1_500_000.0, "1500000 €")],
)  # fmt: skip
def test_amounts_have_their_unit(unit, value, text):
    """As it stood in the file."""
    assert shown(Column("Betrag", "numeric", reading=Reading("number", unit=unit)), value) == text


def test_what_is_missing_or_a_word_stays_so():
    """No unit stands behind a word."""
    price = Column("Preis", "numeric", reading=Reading("number", unit="€"))
    assert shown(price, None) == "missing" and shown(Column("größe", "categorical"), "klein") == "klein"
    assert shown(Column("Tag", "datetime", unit="datetime64[ms]"), 86_400_000.0) == "1970-01-02"


def test_intervals_and_axes():
    """Both ends of an interval are told in the unit, and an axis names it."""
    cut = Column("Gewicht", "numeric", cuts=(10.0, 12.5), reading=Reading("number", unit="kg"))
    assert [interval_of(cut, value) for value in (9.0, 11.0, 20.0)] == ["≤ 10 kg", "(10, 12.5] kg", "> 12.5 kg"]
    clocks = Column("Abfahrt", "numeric", cuts=(28_800.0, 43_200.0), reading=Reading("time of day"))
    assert interval_of(clocks, 36_000.0) == "(8:00, 12:00]"
    assert axis_unit(cut, 5.0) == ("kg", 1.0) and axis_unit(clocks, 5.0) == ("hours since midnight", 3600.0)
    assert axis_unit(WAITED, 90_000.0) == ("minutes", 60_000.0) and axis_unit(Column("Länge", "numeric"), 1.0) == ("", 1.0)  # fmt: skip


@pytest.fixture(scope="module")
def trips(tmp_path_factory):
    """A table of every kind of reading, written as people write it."""
    path = tmp_path_factory.mktemp("trips") / "Fahrten.csv"
    lines = ["Dauer;Abfahrt;Ankunft;Tag;Anteil;Betrag;Art"]
    for k in range(60):
        late = k % 2
        lines.append(f"{2 + late} h {10 + k % 7:02d} min;{8 + 2 * late:02d}:{k % 60:02d};{1 + late}:{k % 60:02d} pm;{1 + k % 28:02d}.0{1 + 3 * late}.2024;{30 + k % 9 + 20 * late},5 %;{900 + k + 200 * late},25 €;{'spät' if late else 'früh'}")  # fmt: skip
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = mr.read_table(path)
    return mr.NaiveBayesClassifier().fit(table.drop_columns(["Art"]), table["Art"]), table.drop_columns(["Art"])


def test_every_answer_shows_them_alike(trips):
    """Explanations, questions and changes; never a count of milliseconds or of seconds."""
    model, rows = trips
    told = str(mr.explain(model, rows.slice(0, 1)))
    for text in ("Dauer = 2:10 h", "Abfahrt = 8:00", "Ankunft = 13:00", "Tag = 2024-01-01", "Anteil = 30.5 %", "Betrag = 900.25 €"):  # fmt: skip
        assert text in told
    assert "e+06" not in told and "00000" not in told


def test_times_that_the_reader_knows_are_times_of_day():
    """Cells of a type for times are read as words such as 2:30 pm are."""
    from merula.data.encode import infer_schema
    from merula.data.table import open_table
    from merula.data.table.read import read_content

    read = read_content(b"Abfahrt,Preis\n08:15:00,4\n17:30:00,5\n", "x.csv")
    assert read["Abfahrt"].to_pylist() == [29_700, 63_000]
    from merula.data.table import FileOptions

    schema, _ = infer_schema(open_table(FileOptions().noted_in(read)))
    assert schema["Abfahrt"].reading == Reading("time of day") and schema["Preis"].reading is None


def test_plots_name_the_unit(trips):
    """The axis of a density counts in what a person counts in."""
    model, _ = trips
    assert model.plot("Dauer").get_xlabel() in ("hours", "minutes")
    assert model.plot("Abfahrt").get_xlabel() == "hours since midnight"
    assert model.plot("Betrag").get_xlabel() == "€"
    _, high = model.plot("Dauer").get_xlim()
    assert high < 2_000  # no milliseconds
