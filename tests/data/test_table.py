"""The same cells in every table library: kinds, numbers, codes, what is missing, and what is not copied."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from merula.data.table import is_missing, open_rows, open_table, plain_label

SHANGHAI = timezone(timedelta(hours=8))
PATIENTS = {
    "blood pressure": [120.5, None, -3.25, 0.0, 120.5, 1e-3],
    "children": [0, 3, 1, 1, 0, 12],
    "visits": [2, None, 2, 700, -1, 0],
    "raucher": [True, False, False, True, True, False],
    "insured": [True, None, False, None, True, True],
    "色泽": ["乌黑", None, "浅白", "乌黑", "", "青绿"],
    "größe": ["klein", "groß", None, "klein", "mittel", "groß"],
    "stage": ["II", "I", "I", None, "III", "II"],
    "admitted": [
        datetime(2020, 2, 29, 3, 4, 5, 678901),
        None,
        datetime(1950, 1, 1),
        datetime(2020, 2, 29, 3, 4, 5, 678901),
        datetime(2262, 1, 1),
        datetime(1970, 1, 1),
    ],
    "discharged": [
        datetime(2020, 3, 1, 1, 2, 3, tzinfo=SHANGHAI),
        None,
        datetime(1950, 1, 2, tzinfo=SHANGHAI),
        datetime(2021, 1, 1, tzinfo=SHANGHAI),
        None,
        datetime(2021, 1, 1, tzinfo=SHANGHAI),
    ],
    "born": [date(1960, 5, 5), date(1990, 12, 31), None, date(1960, 5, 5), date(1970, 1, 1), date(2000, 2, 29)],
    "stay": [
        timedelta(days=1, seconds=3),
        None,
        timedelta(microseconds=7),
        timedelta(0),
        timedelta(days=1, seconds=3),
        timedelta(days=400),
    ],
    "fee": [Decimal("1.50"), Decimal("-2.25"), None, Decimal("1.50"), Decimal("100.00"), Decimal("0.01")],
    "notes": [None] * 6,
}
KINDS = {
    "numeric": ["blood pressure", "children", "visits", "fee"],
    "categorical": ["raucher", "insured", "色泽", "größe", "stage"],
    "datetime": ["admitted", "discharged", "born", "stay"],
}
KIND_OF = {name: kind for kind, names in KINDS.items() for name in names}
STAGES = ["I", "II", "III", "IV"]


def arrow_table():
    columns = {name: pa.array(values) for name, values in PATIENTS.items()}
    columns["größe"] = columns["größe"].dictionary_encode()
    columns["stage"] = pa.DictionaryArray.from_arrays(
        pa.array([None if s is None else STAGES.index(s) for s in PATIENTS["stage"]], pa.int8()), pa.array(STAGES)
    )
    columns["discharged"] = columns["discharged"].cast(pa.timestamp("us", "Asia/Shanghai"))
    return pa.table(columns)


def chunked_arrow_table():
    whole = arrow_table()
    parts = [whole.slice(0, 2), whole.slice(2, 1), whole.slice(3, 3)]
    own = [
        part.set_column(6, "größe", part["größe"].cast(pa.string()).dictionary_encode()) for part in parts
    ]  # every chunk with a dictionary of its own
    return pa.concat_tables(own)


def pandas_numpy():
    columns = {
        name: pd.Series(values) for name, values in PATIENTS.items() if name not in ("insured", "born", "fee", "notes")
    }
    columns |= {name: pd.Series(PATIENTS[name], dtype=object) for name in ("insured", "born", "fee", "notes")}
    columns["größe"] = columns["größe"].astype("category")
    columns["stage"] = pd.Series(pd.Categorical(PATIENTS["stage"], STAGES, ordered=True))
    columns["admitted"] = pd.Series(np.array(PATIENTS["admitted"], dtype="datetime64[us]"))
    columns["discharged"] = pd.to_datetime(columns["discharged"], utc=True).dt.tz_convert("Asia/Shanghai")
    return pd.DataFrame(columns)[list(PATIENTS)]


def pandas_nanoseconds():
    frame = pandas_numpy().drop(columns="admitted")
    frame["discharged"] = frame["discharged"].astype("datetime64[ns, Asia/Shanghai]")
    frame["stay"] = frame["stay"].astype("timedelta64[ns]")
    return frame


def polars_frame():
    columns = {
        name: pl.Series(name, values, dtype=pl.Decimal(10, 2) if name == "fee" else None)
        for name, values in PATIENTS.items()
    }
    columns["größe"] = columns["größe"].cast(pl.Categorical)
    columns["stage"] = columns["stage"].cast(pl.Enum(STAGES))
    columns["discharged"] = columns["discharged"].dt.convert_time_zone("Asia/Shanghai")
    return pl.DataFrame(columns)


def object_matrix():
    matrix = np.empty((6, len(PATIENTS)), dtype=object)
    for position, values in enumerate(PATIENTS.values()):
        matrix[:, position] = values
    return matrix


SOURCES = {
    "pandas": pandas_numpy,
    "pandas ns": pandas_nanoseconds,
    "pandas nullable": lambda: pandas_numpy().convert_dtypes(),
    "pandas arrow": lambda: arrow_table().to_pandas(types_mapper=pd.ArrowDtype),
    "pandas object": lambda: pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in PATIENTS.items()}),
    "polars": polars_frame,
    "pyarrow": arrow_table,
    "pyarrow chunked": chunked_arrow_table,
    "numpy object": object_matrix,
    "lists": lambda: [list(row) for row in zip(*PATIENTS.values(), strict=True)],
}
CASES = [
    (source, name) for source in SOURCES for name in PATIENTS if not (source == "pandas ns" and name == "admitted")
]


def opened(source, name):
    """The table, and where the column stands in it."""
    table = open_table(SOURCES[source]())
    return table, table.names.index(name) if table.named else list(PATIENTS).index(name)


def count_of(cell, unit):
    """A cell as a number: NaN for missing, times as a count of the unit, by whole-number arithmetic."""
    if cell is None:
        return np.nan
    if isinstance(cell, date) and not isinstance(cell, datetime):
        cell = datetime(cell.year, cell.month, cell.day)
    if isinstance(cell, datetime):
        cell = cell - datetime(1970, 1, 1, tzinfo=cell.tzinfo and UTC)
    if isinstance(cell, timedelta):
        microseconds = cell // timedelta(microseconds=1)
        return float(Fraction(microseconds) / {"ns": Fraction(1, 1000), "us": 1, "ms": 1000}[unit[-3:-1]])
    return float(cell)


def same_cell(label, cell):
    """Does the label of a code name this cell? Times and decimals are named by their text."""
    if isinstance(cell, datetime):
        return datetime.fromisoformat(label) == cell
    if isinstance(cell, date):
        return date.fromisoformat(label) == cell
    if isinstance(cell, timedelta):
        return pd.Timedelta(label) == cell
    return Decimal(label) == cell if isinstance(cell, Decimal) else label == cell


@pytest.mark.parametrize("source", SOURCES)
def test_names_and_rows(source):
    table = open_table(SOURCES[source]())
    assert table.rows == 6
    if table.named:
        assert set(table.names) <= set(PATIENTS)
    else:
        assert table.names == tuple(f"x{position}" for position in range(len(PATIENTS)))


@pytest.mark.parametrize(("source", "name"), [case for case in CASES if case[1] != "notes"])
def test_kind(source, name):
    table, position = opened(source, name)
    kind, unit = table.kind(position)
    assert kind == KIND_OF[name]
    assert (unit is not None) == (kind == "datetime")


@pytest.mark.parametrize(("source", "name"), [case for case in CASES if case[1] not in ("色泽", "größe", "stage")])
def test_numbers(source, name):
    table, position = opened(source, name)
    unit = table.kind(position)[1]
    np.testing.assert_array_equal(table.numbers(position, unit), [count_of(cell, unit) for cell in PATIENTS[name]])


@pytest.mark.parametrize(("source", "name"), CASES)
def test_codes(source, name):
    table, position = opened(source, name)
    codes, labels = table.codes(position)
    assert np.asarray(codes).dtype.kind == "i"
    for code, cell in zip(codes.tolist(), PATIENTS[name], strict=True):
        assert code == -1 if cell is None else same_cell(labels[code], cell)


@pytest.mark.parametrize("source", SOURCES)
def test_an_empty_column_holds_nothing_but_missing_cells(source):
    table, position = opened(source, "notes")
    assert table.kind(position)[0] == "empty"
    assert table.codes(position)[0].tolist() == [-1] * 6


@pytest.mark.parametrize("source", ["pandas", "pandas arrow", "polars", "pyarrow", "pyarrow chunked"])
def test_the_levels_a_source_declares_are_its_labels(source):
    table, position = opened(source, "stage")
    assert set(table.codes(position)[1]) <= set(STAGES)


# ---------------------------------------------------------------------------------------------------------------------
# Missing


MISSING = [
    None,
    np.nan,
    float("nan"),
    np.float32("nan"),
    pd.NA,
    pd.NaT,
    np.datetime64("NaT"),
    np.timedelta64("NaT"),
    Decimal("NaN"),
]


@pytest.mark.parametrize("marker", MISSING, ids=repr)
def test_every_way_to_say_missing(marker):
    assert is_missing(marker)
    assert plain_label(marker) is None
    cells = np.array([["klein"], [None], ["groß"]], dtype=object)
    cells[1, 0] = marker
    for source in (cells, pd.DataFrame(cells, columns=["größe"], dtype=object)):
        codes, labels = open_table(source).codes(0)
        assert codes.tolist() == [0, -1, 1]
        assert list(labels) == ["klein", "groß"]


@pytest.mark.parametrize("marker", [None, np.nan, pd.NA, Decimal("NaN")], ids=repr)
def test_missing_among_numbers_is_nan(marker):
    cells = np.empty((2, 1), dtype=object)
    cells[:, 0] = [7, marker]
    assert open_table(cells).kind(0) == ("numeric", None)
    np.testing.assert_array_equal(open_table(cells).numbers(0), [7.0, np.nan])


@pytest.mark.parametrize("cell", ["", "nan", "NA", "None", 0, 0.0, False, np.inf, "<NA>"])
def test_what_is_not_missing(cell):
    assert not is_missing(cell)


def test_nan_and_null_are_both_missing_in_polars():
    table = open_table(pl.DataFrame({"blood pressure": [80.0, float("nan"), None]}))
    np.testing.assert_array_equal(table.numbers(0), [80.0, np.nan, np.nan])
    assert table.codes(0)[0].tolist() == [0, -1, -1]


def test_a_null_inside_an_arrow_dictionary_is_missing():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), pa.array(["klein", None, "groß"]))
    codes, labels = open_table(pa.table({"größe": column})).codes(0)
    assert [None if code == -1 else labels[code] for code in codes.tolist()] == ["klein", None, "groß", None]
    assert codes.tolist()[1] == -1


@pytest.mark.parametrize("made_of", [pd.DataFrame, pl.DataFrame, pa.table])
def test_rows_of_an_opened_table_are_those_of_the_data_frame(made_of):
    birds = made_of({"bird": ["wren", "tit", "robin"], "wing": [4.9, None, 7.1]})
    rows = open_rows(open_table(birds))
    assert rows.count == 3
    taken = rows.take(np.array([2, 0]))
    assert type(taken) is type(birds)
    assert [list(taken["bird"].to_numpy()), list(taken["wing"].to_numpy())] == [["robin", "wren"], [7.1, 4.9]]
