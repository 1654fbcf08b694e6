"""Tables as plain data and back again, to the bit."""

import datetime
import decimal
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from merula.core import InputError
from merula.data.table.exact_cells import plain_table, table_of

COLUMNS = {
    "blood pressure": pa.array([1 / 3, float("nan"), None, -0.0, float("-inf")]),
    "weight": pa.array([0.1, float("nan"), None, -0.0, 3e38], pa.float32()),
    "half": pa.array(np.array([0.1, 1, 2, 3, 65504], dtype=np.float16)),
    "number": pa.array([2**63 - 1, None, -(2**63), 0, 1]),
    "size": pa.array([2**64 - 1, None, 0, 0, 1], pa.uint64()),
    "seen at": pa.array([0, 1, None, 2**60, -5], pa.timestamp("ns")),
    "in Berlin": pa.array([0, 1, None, 2**40, -5], pa.timestamp("us", tz="Europe/Berlin")),
    "autumn night": pa.array([1_698_539_400_000_000, 1_698_535_800_000_000, None, 0, 1], pa.timestamp("us", tz="Europe/Berlin")),
    "born": pa.array([datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31), datetime.date(2024, 2, 29), None]),
    "at noon": pa.array([0, 1, None, 5, 6], pa.time64("ns")),
    "for": pa.array([0, 1, None, 5, 6], pa.duration("ns")),
    "price": pa.array([decimal.Decimal("1.10"), None, decimal.Decimal("-3.00"), None, None]),
    "ward": pa.array(["b", "a", None, "b", "c"]).dictionary_encode(),
    "call": pa.array([b"\xff", b"", None, b"a", b"b"]),
    "scores": pa.array([[1], [2, None], None, [], [3]]),
    "nothing": pa.nulls(5),
    "smokes": pa.array([True, None, False, True, True]),
    "色泽": pa.array(["ä\n", "", None, "\u2028", "NaN"]),
    "remark": pa.array(["ä", "", None, "x", "NaN"], pa.large_string()),
    "view": pa.array(["ä", "", None, "x", "NaN"], pa.string_view()),
}  # fmt: skip


def again(table):
    return table_of(json.loads(json.dumps(plain_table(table), allow_nan=False)))


def same(one, other):
    """Whether the same cells are there with the same bits; NaN is no number that equals itself."""
    if not pa.types.is_floating(one.type):
        return one.equals(other)
    known = [column.is_valid().to_pylist() for column in (one, other)]
    held = [[cell.tobytes() for cell, there in zip(column.to_numpy(), known[0], strict=True) if there] for column in (one, other)]  # fmt: skip
    return known[0] == known[1] and held[0] == held[1]


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_every_type_come_back(name):
    table = pa.table({name: COLUMNS[name]})
    found = again(table)
    assert found.schema.equals(table.schema, check_metadata=True)
    assert same(found[name], table[name])


def test_what_is_kept_beside_the_columns_comes_back():
    table = pa.table(COLUMNS).replace_schema_metadata({b"merula": b'{"decimal": ","}', b"x": b"\xff"})
    found = again(pa.concat_tables([table, table]))
    assert found.schema.equals(table.schema, check_metadata=True) and found.num_rows == 10


def test_tables_without_rows_and_columns_of_one_name_come_back():
    table = pa.table(COLUMNS).slice(0, 0)
    assert again(table).schema == table.schema and again(table).num_rows == 0
    twice = pa.Table.from_arrays([pa.array([1]), pa.array(["a"])], names=["ward", "ward"])
    assert again(twice).equals(twice)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.none(), st.floats()), max_size=20))
def test_any_number_comes_back(cells):
    column = pa.array(cells, pa.float64(), from_pandas=False)
    found = again(pa.table({"blood pressure": column}))["blood pressure"]
    assert [str(cell) for cell in found.to_pylist()] == [str(cell) for cell in cells]


def test_numbers_and_words_can_be_read():
    told = plain_table(pa.table({"blood pressure": [120.5, None], "seen": pa.array([0, 1], pa.date32())}))
    assert [column["cells"] for column in told["columns"]] == [[120.5, None], ["1970-01-01", "1970-01-02"]]


@pytest.mark.parametrize("told", [{}, {"rows": 1, "schema": "AAAA", "columns": []}, {"rows": 1, "schema": 3, "columns": []}])  # fmt: skip
def test_what_is_no_table_is_one_error(told):
    with pytest.raises(InputError, match="is no table"):
        table_of(told)
