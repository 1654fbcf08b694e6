"""Large plain CSV files: the compiled loop gives the table, the notes and the errors of the reader for all files."""

from __future__ import annotations

import random
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from merula import read_table
from merula.core import compiled
from merula.core.notes import kept_back
from merula.data.table import NOTHING_STATED, plain
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


# ------------------------------------------------------------------------------------------------------- one case at a time


HEADER = "bird,wing,ring\n"
ROWS = "wren,4.9,17\nrobin,7.25,-3\n" * 200


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "birds.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


PLAIN = {
    "plain": HEADER + ROWS,
    "no last line end": HEADER + ROWS[:-1],
    "blank lines at the end": HEADER + ROWS + "\r\n\n\n",
    "returns": (HEADER + ROWS).replace("\n", "\r\n"),
    "empty cells": HEADER + ROWS + ",,\n,1.5,\n",
    "words among numbers": HEADER + ROWS + "wren,unknown,?\nwren,-,4\n",
    "words in the last block": HEADER + ROWS + "wren,long,17\n",
    "fractions in the last block": HEADER + ROWS + "wren,4.9,0.25\n",
    "a zero below zero among fractions": HEADER + ROWS + "wren,4.9,-0\nwren,-0.0,0.25\n",
    "codes in the last block": HEADER + ROWS + "wren,4.9,007\n",
    "numbers that no loop reads": HEADER + ROWS + "wren,1e400,9223372036854775807\nwren,inf,17\nwren,nan,5\nwren,0.1234567890123456789,8\n",
    "too large whole numbers": HEADER + ROWS + "wren,4.9,9223372036854775808\n",
    "below whole numbers": HEADER + ROWS + "wren,4.9,-9223372036854775808\n",
    "blanks": HEADER + ROWS + "wren ,4.9 , 17\n",
    "tabs in cells": HEADER + ROWS + "\twren\t,\t4.9,17\n",
    "true, false and figures": "bird,ringed\n" + "wren,1\nrobin,0\n" * 50 + "wren,true\n",
    "true and false": "bird,ringed\n" + "wren,true\nrobin,false\n" * 50,
    "dates": "bird,seen\n" + "wren,2024-12-31\nrobin,2024-01-01\n" * 50 + "wren,\n",
    "times": "bird,seen\n" + "wren,12:30:15\nrobin,01:00:00\n" * 50,
    "instants": "bird,seen\n" + "wren,2024-12-31 12:30:15\nrobin,2024-01-01 00:00:00\n" * 50 + "wren,2024-12-31\n",
    "semicolons": (HEADER + ROWS).replace(",", ";"),
    "decimal commas": (HEADER + ROWS).replace(",", ";").replace(".", ","),
    "a mark": b"\xef\xbb\xbf" + (HEADER + ROWS).encode(),
    "titles": "Birds of 2024\n\n" + HEADER + ROWS,
    "names that stand twice": "bird,wing,wing\n" + ROWS,
    "no name": "bird,wing,\n" + ROWS,
    "an empty last column": "bird,wing,ring,\n" + ROWS.replace("\n", ",\n"),
    "an empty column": "bird,wing,ring\n" + "wren,,17\nrobin,,18\n" * 50,
    "long words": HEADER + ROWS + "".join(f"{'very ' * k}long wren,4.9,17\n" for k in range(60)),
    "all alphabets": HEADER + ROWS + "Größe,4.9,17\n色泽,4.9,17\nдрозд\u200b,4.9,17\n",
}  # fmt: skip


@pytest.mark.parametrize("block", [100, 1000, blocks.BLOCK])
@pytest.mark.parametrize("name", PLAIN)
def test_is_read_by_the_loop(name: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_same(written(tmp_path, PLAIN[name]), monkeypatch, block).fast


LEFT = {
    "quotation marks at the end": HEADER + ROWS + '"wren",4.9,17\n',
    "a quotation mark never closed": HEADER + ROWS + 'wren,"4.9,17\n',
    "ragged": HEADER + ROWS + "wren,4.9\n",
    "one cell too many": HEADER + ROWS + "wren,4.9,17,5\n",
    "two wrong rows that make up for each other": HEADER + ROWS + "wren,4.9\nwren,4.9,17,18\n",
    "a blank line in between": HEADER + ROWS + "\n" + ROWS,
    "a lone return": HEADER + ROWS + "wren,4.9,17\rrobin,4.9,18\n",
    "returns alone": (HEADER + ROWS).replace("\n", "\r"),
    "zero bytes": HEADER + ROWS + "wr\0en,4.9,17\n",
    "a line longer than a part": HEADER + ROWS + "wren" * 30_000 + ",4.9,17\n",
    "another encoding": (HEADER + ROWS + "Größe,4.9,17\n" * 9).encode("cp1252"),
    "damaged UTF-8": (HEADER + ROWS).encode() + b"gr\xc3,4.9,17\n",
    "UTF-16": (HEADER + ROWS).encode("utf-16"),
    "one column": "wing\n" + "4.9\n5.1\n" * 50,
    "numbers for a header": "1,2,3\n" + ROWS,
    "a header alone": HEADER,
    "very many words": HEADER + "".join(f"bird {k},4.9,17\n" for k in range(40_000)),
    "JSON": '{"bird": "wren"}\n' * 50,
    "a sign at the end of every row but the header": HEADER + ROWS.replace("\n", ",\n"),
}  # fmt: skip


@pytest.mark.parametrize("block", [100, blocks.BLOCK])
@pytest.mark.parametrize("name", LEFT)
def test_is_left_to_the_reader_for_all_files(
    name: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not check_same(written(tmp_path, LEFT[name]), monkeypatch, block).fast


@pytest.mark.parametrize(
    "stated",
    [
        {"missing": ["refused", "wren"]}, {"missing": ["-3"]}, {"keep": ["NA", "unknown"]}, {"words": ["ring"]}, {"decimal": ","},
        {"decimal": "."}, {"skip_rows": 2}, {"skip_rows": 10**6}, {"encoding": "utf-8"}, {"encoding": "cp1252"}, {"on_error": "skip"},
        {"fold_case": True}, {"date_order": "dmy"}, {"sheet": 1},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("end", ["wren,unknown,NA\n", "refused,1.5,refused\n", "wren,4.9\n"])
def test_what_is_stated(stated: dict[str, Any], end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_same(written(tmp_path, HEADER + ROWS + end), monkeypatch, 1000, **stated)


@pytest.mark.parametrize("seed", range(4))
def test_numbers_are_those_that_python_reads(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lot = random.Random(seed)
    texts = [
        f"{lot.choice(['', '-'])}{lot.randrange(10 ** lot.randint(1, 9))}.{lot.randrange(10 ** lot.randint(1, 9)):0{lot.randint(1, 9)}}"
        for _ in range(20_000)
    ]
    texts += [f"{lot.randrange(10 ** lot.randint(1, 15))}e{lot.randint(-30, 22)}" for _ in range(2_000)]
    path = written(tmp_path, "wing,bird\n" + "".join(f"{text},wren\n" for text in texts))
    answer = read_so(path, monkeypatch, fast=True, block=2**16)
    assert answer.fast
    assert np.array_equal(
        answer.table["wing"].to_numpy().view(np.int64), np.array([float(text) for text in texts]).view(np.int64)
    )


@pytest.mark.parametrize("ends", [["\n"], ["\r\n"], ["\n", "\r\n"]], ids=str)
@pytest.mark.parametrize("column", ["first", "last"])
def test_short_numbers_are_those_that_python_reads(
    column: str, ends: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to eight signs are read eight cells at a time; empty cells, exponents and longer numbers stand among them."""
    lot = random.Random(1)
    shapes = ["{:.0f}", "{:.1f}", "{:.4f}", "{:.6f}", "{:.9g}", "{:e}", ".{:.0f}", "{:.0f}."]
    sizes = [lot.uniform(0, 10 ** lot.randint(0, 8)) for _ in range(5_000)]
    texts = [lot.choice(["", "-"]) + lot.choice(shapes).format(size) for size in sizes]
    texts = [lot.choice([text, text, text, ""]) for text in texts] + [
        "0",
        "-0",
        "-0.0",
        ".5",
        "5.",
        "99999999",
        "1234567.",
    ]
    rows = [(text, "wren") if column == "first" else ("wren", text) for text in texts]
    header = "wing,bird" if column == "first" else "bird,wing"
    lines = [f"{one},{other}{lot.choice(ends)}" for one, other in rows]
    path = written(tmp_path, header + ends[0] + "".join(lines))
    answer = read_so(path, monkeypatch, fast=True, block=2**14)
    assert answer.fast
    expected = np.array([float(text) if text else np.nan for text in texts])
    found = answer.table["wing"].to_numpy(zero_copy_only=False)
    assert np.array_equal(np.isnan(found), np.isnan(expected))
    assert np.array_equal(np.signbit(found) | np.isnan(found), np.signbit(expected) | np.isnan(expected))
    assert np.array_equal(np.nan_to_num(found), np.nan_to_num(expected))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_short_whole_numbers_are_those_that_python_reads(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lot = random.Random(2)
    numbers = [lot.choice([1, -1]) * lot.randrange(10 ** lot.randint(1, 10)) for _ in range(5_000)]
    path = written(tmp_path, f"bird,ring{end}" + "".join(f"wren,{number}{end}" for number in numbers))
    answer = read_so(path, monkeypatch, fast=True, block=2**14)
    assert answer.fast
    assert answer.table["ring"].to_pylist() == numbers


def test_threads_and_blocks_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lot = random.Random(0)
    lines = [
        f"{lot.choice(['wren', 'robin', 'tit', 'crow'])},{lot.random():.4f},{lot.randrange(99)}\n" for _ in range(5_000)
    ]
    path = written(tmp_path, HEADER + "".join(lines))
    tables = [read_so(path, monkeypatch, fast=True, block=block).table for block in (64, 1_000, 10_000, 10**6)]
    assert all(table.equals(tables[0]) for table in tables)


def test_a_file_that_shrinks_meanwhile_is_left_to_the_reader_for_all_files(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER + ROWS)
    size = path.stat().st_size
    assert reader.read_plain(str(path), size + 1000, path.read_bytes(), NOTHING_STATED) is None


def test_where_loops_cannot_be_kept_they_are_not_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_said", [True])
    assert not check_same(written(tmp_path, HEADER + ROWS), monkeypatch).fast


def test_small_files_compile_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER + ROWS)
    code = f"import sys, merula; merula.read_table({str(path)!r}); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
