"""JSON of numbers alone: what the loop reads is what Python reads, and what it does not know it leaves alone."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from merula.data.table.plain.json_numbers import json_columns

NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70)
NAMES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), min_size=1, max_size=4, unique=True)
BLANKS = st.sampled_from([None, 2, "\t"])


def same(found, expected):
    """Whether columns are the same to the bit."""
    assert list(found) == list(expected)
    for name, cells in expected.items():
        plain = np.array([math.nan if cell is None else float(cell) for cell in cells])
        assert found[name].view(np.int64).tolist() == plain.view(np.int64).tolist()


@settings(deadline=None)  # the loop may be compiled first
@given(NAMES, st.data(), BLANKS)
def test_what_it_reads_is_what_python_reads(names, data, blanks):
    rows = data.draw(st.lists(st.lists(NUMBERS, min_size=len(names), max_size=len(names)), min_size=1, max_size=5))
    columns = {name: [row[k] for row in rows] for k, name in enumerate(names)}
    shapes = [[dict(zip(names, row, strict=True)) for row in rows], {"columns": names, "rows": rows}, columns]
    for shape in shapes:
        for text in (json.dumps(shape, indent=blanks), json.dumps(shape, ensure_ascii=False, separators=(",", ":"))):
            found = json_columns(text.encode())
            if found is not None:
                same(found, columns)


@settings(deadline=None)
@given(
    st.lists(st.from_regex(r"\A-?(0|[1-9][0-9]{0,7})(\.[0-9]{1,9})?([eE][+-]?[0-9]{1,2})?\Z"), min_size=1, max_size=8)
)
def test_decimals_of_any_length_are_those_that_python_reads(texts):
    found = json_columns(('{"dose": [' + ", ".join(texts) + "]}").encode())
    if found is None:  # nothing but what has an exponent may be left to others
        assert "e" in "".join(texts).lower()
    else:
        same(found, {"dose": [float(text) for text in texts]})


def test_it_reads_what_machines_write():
    rng = np.random.default_rng(1)
    table = np.concatenate(
        [rng.normal(size=(400, 3)), rng.normal(size=(200, 3)).round(2), 10.0 ** rng.integers(-30, 30, (200, 3))]
    )
    names = ["blood pressure", "größe", "色泽"]
    expected = {name: table[:, k].tolist() for k, name in enumerate(names)}
    rows = table.tolist()
    for shape in ([dict(zip(names, row, strict=True)) for row in rows], {"columns": names, "rows": rows}, expected):
        for text in (
            json.dumps(shape, ensure_ascii=False),
            json.dumps(shape, separators=(",", ":"), ensure_ascii=False),
        ):
            found = json_columns(text.encode())
            assert found is not None
            same(found, expected)


@pytest.mark.parametrize(
    "text",
    [
        "", "[", "[]", "{}", "[{}]", "[[1]]", "[1]", '[{"a": 01}]', '[{"a": 1.}]', '[{"a": .5}]', '[{"a": +1}]', '[{"a": 1e}]', '[{"a": 1e+}]', '[{"a": -}]', '[{"a": --1}]', '[{"a": 1-2}]', '[{"a": 1.2.3}]', '[{"a": nul}]',
        '[{"a": NaN}]', '[{"a": true}]', '[{"a": "1"}]', '[{"a": 1}', '[{"a": 1}]]', '[{"a": 1}, ]', '[{"a": 1,}]', '[{"a" 1}]', '[{"a": 1} {"a": 2}]', '[{"a": 1}, {"b": 2}]', '[{"a": 1}, {"a": 2, "b": 3}]', '[{"a": 1, "b": 2}, {"b": 2, "a": 1}]',
        '[{"a": 1, "a": 2}]', '[{"a": [1]}]', '[{"a": 1}] x', '{"a": [1, 2], "b": [1]}', '{"a": [1], "a": [2]}', '{"a": [1]', '{"a": [1],}', '{"a": []}', '{"columns": ["a"], "rows": [[1, 2]]}', '{"columns": ["a"], "rows": [[1], []]}',
        '{"columns": ["a", "a"], "rows": [[1, 2]]}', '{"columns": ["a"], "rows": [[1]], "top": 3}', '{"columns": ["a"], "rows": [[1]]} x', '{"columns": [1], "rows": [[1]]}', '{"columns": ["a"], "rows": [1]}', '{"columns": ["a"], "rows": []}',
        '[{"a": 1e400}]', '[{"a": 123456789012345678901}]', '[{"a": 1}, {"a":', "[" * 50, '{"a": [1e5, 2',
    ],
)  # fmt: skip
def test_what_is_none_of_its_shapes_is_left_alone(text):
    assert json_columns(text.encode()) is None


@settings(deadline=None)  # the loop may be compiled first
@given(st.binary(max_size=60), st.integers(0, 200))
def test_damaged_bytes_do_no_harm(noise, cut):
    sound = b'[{"age": 41.5, "dose": -2e3}, {"age": null, "dose": 0.001}]'
    for data in (sound[:cut] + noise + sound[cut:], sound[:cut] + noise, noise):
        found = json_columns(data)
        if found is not None:
            rows = json.loads(data)
            rows = rows if isinstance(rows, list) else None
            same(found, {name: [row[name] for row in rows] for name in found}) if rows else None
