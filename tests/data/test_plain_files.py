"""Large plain CSV files: the compiled loop gives the table, the notes and the errors of the reader for all files."""

from __future__ import annotations

import random
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from merula import read_table
from merula.core.notes import kept_back
from merula.data.table import plain
from merula.data.table.plain import blocks, reader

CORPUS = sorted((Path(__file__).parent / "messy").glob("*.csv"))
HUGE = 2**60
SLOW = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@dataclass
class Answer:
    """What reading a file gives: a table or an error, warnings, everything that was noted; and whether the compiled loop read it."""

    table: Any
    error: str | None
    warnings: list[str]
    notes: list[str]
    fast: bool


def read_so(path: Path, monkeypatch: pytest.MonkeyPatch, fast: bool, block: int, **stated: Any) -> Answer:
    tables = []

    def spy(*arguments: Any) -> Any:
        tables.append(reader_itself(*arguments))
        return tables[-1]

    reader_itself = reader.read_plain
    with monkeypatch.context() as patched, warnings.catch_warnings(record=True) as caught:
        patched.setattr(plain, "LARGE", 0 if fast else HUGE)
        patched.setattr(plain, "LARGER", 0 if fast else HUGE)
        patched.setattr(blocks, "BLOCK", block)
        patched.setattr(reader, "read_plain", spy)
        warnings.simplefilter("always")
        table, error, notes = None, None, []
        try:
            table = read_table(path, **stated)
            with kept_back() as kept:
                read_table(path, **stated)
            notes = [str(note) for note in kept]
        except (ValueError, OSError) as problem:
            error = str(problem)
    return Answer(table, error, [str(one.message) for one in caught], notes, any(one is not None for one in tables))


def same_bits(left: Any, right: Any) -> bool:
    """Whether two columns of the same type hold the same, to the sign of zero."""
    if not pa.types.is_floating(left.type):
        return bool(left.equals(right))
    ours, theirs = (column.fill_null(0.125).to_numpy() for column in (left, right))
    bits = np.where(np.isnan(ours), 0, ours.view(np.int64)), np.where(np.isnan(theirs), 0, theirs.view(np.int64))
    nulls = all(np.array_equal(*(np.asarray(column.is_null()) for column in (left, right))) for _ in (0,))
    return nulls and bool(np.array_equal(np.isnan(ours), np.isnan(theirs)) and np.array_equal(*bits))


def check_same(path: Path, monkeypatch: pytest.MonkeyPatch, block: int = blocks.BLOCK, **stated: Any) -> Answer:
    """The answer of the compiled loop, which is that of the reader for all files."""
    found = read_so(path, monkeypatch, fast=True, block=block, **stated)
    usual = read_so(path, monkeypatch, fast=False, block=block, **stated)
    assert not usual.fast
    assert found.error == usual.error
    assert found.warnings == usual.warnings
    assert found.notes == usual.notes
    if usual.table is not None:
        found.table.validate(full=True)
        assert found.table.schema == usual.table.schema
        assert found.table.schema.metadata == usual.table.schema.metadata
        for name in usual.table.column_names:
            assert same_bits(found.table[name], usual.table[name]), name
    return found


# --------------------------------------------------------------------------------------------------- the corpus, and by lot


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
@pytest.mark.parametrize("block", [200, blocks.BLOCK])
def test_the_messy_corpus(path: Path, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check_same(path, monkeypatch, block)


def test_some_of_the_corpus_is_read_by_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(read_so(path, monkeypatch, fast=True, block=500).fast for path in CORPUS) > 10


digits = st.text("0123456789", min_size=1, max_size=20)
odd_numbers = st.sampled_from(
    ["+1", ".5", "5.", ".", "-", "-.", "-0", "0", "00", "-00", "007", "-007", "0.0", "-0.0", "1e5", "1E5", "1e+5", "1e-5", "1e", "1e+", "e5", "1.e3", ".5e1", "1e400", "-1e400", "1e-400", "5e-324", "2.2250738585072014e-308", "1.7976931348623157e308", "9007199254740992", "9007199254740993", "9007199254740994", "0.1", "0.30000000000000004", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809", "123456789012345678", "1234567890123456789", "12345678", "123456789", "1234567.8", "-1234567.8", "12345678.9", "99999999", "0.12345678901234567", "1e22", "1e23", "9007199254740993e22", "1e0022", "1_000", "1,5", "1.2.3", "0x10", "1d5", "inf", "-inf", "Inf", "INFINITY", "nan", "NaN", "-nan", "infinity", "1e5.5", "1-2", "--1", "1-", "٣", "１"]
)  # fmt: skip
decimals = st.builds("{}{}.{}".format, st.sampled_from(["", "-"]), digits, digits)
scientific = st.builds("{}{}.{}e{}".format, st.sampled_from(["", "-"]), digits, digits, st.integers(-330, 330))
whole = st.integers(-(10**19), 10**19).map(str) | st.integers(-999, 999).map(str)
words = st.sampled_from(
    ["wren", "robin", "blackbird", "Größe", "色泽", "a-word-of-sixteen", "a-word-of-seventeen-signs-or-more", "yes", "no", "true", "false", "True", "TRUE", "NA", "N/A", "-", "?", "unknown", "Unknown", "none", "null", "2024-12-31", "2024-1-1", "2024-02-30", "2024-12-31T10:00:00", "12:30", "12:30:15", "12kg", "$5", "'it", "#", "%", "wren\u200b", "é", "é"]
)  # fmt: skip
blanks = st.sampled_from([" ", "  ", " 12", "12 ", " wren", "wren ", " 1.5 ", "\t", "a\tb"])
days = st.dates().map(str)
flavours = [
    st.integers(-999, 999).map(str), whole, decimals, scientific, odd_numbers, words, blanks, days,
    st.floats().map(repr), st.floats(-1e6, 1e6).map(lambda x: f"{x:.4f}"), st.sampled_from(["0", "1"]),
    st.sampled_from(["01067", "04109", "12345"]), st.sampled_from(["true", "false"]), st.just(""),
]  # fmt: skip


@st.composite
def files(draw: Any) -> bytes:
    """A CSV file, mostly of columns of one flavour with some cells of another."""
    width, rows = draw(st.integers(2, 5)), draw(st.integers(1, 40))
    sign, line = draw(st.sampled_from(",;\t|")), draw(st.sampled_from(["\n", "\n", "\r\n"]))
    seed = random.Random(draw(st.integers(0, 2**32)))
    columns = []
    for _ in range(width):
        usual, other = (draw(st.lists(draw(st.sampled_from(flavours)), min_size=1, max_size=12)) for _ in range(2))
        share = draw(st.sampled_from([0, 0, 0.05, 0.3]))
        empty = draw(st.sampled_from([0, 0, 0.1]))
        columns.append(
            [
                "" if seed.random() < empty else seed.choice(other if seed.random() < share else usual)
                for _ in range(rows)
            ]
        )
    if draw(st.booleans()):
        columns[-1][-1] = draw(words | odd_numbers)  # what only the last block tells
    header = draw(st.lists(st.sampled_from(["ring", "wing", "größe", "", "色泽"]), min_size=width, max_size=width))
    lines = [sign.join(row) for row in [tuple(header), *zip(*columns, strict=True)]]
    if draw(st.integers(0, 9)) == 0:
        lines.insert(
            draw(st.integers(0, len(lines))), draw(st.sampled_from(["", "Birds of 2024", sign * width, 'a "b"']))
        )
    text = line.join(lines) + line * draw(st.sampled_from([0, 1, 1, 1, 3]))
    return draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + text.encode()


@SLOW
@given(data=files(), block=st.sampled_from([40, 100, 1000, 10**6]))
def test_any_file(data: bytes, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "birds.csv"
    path.write_bytes(data)
    check_same(path, monkeypatch, block)
