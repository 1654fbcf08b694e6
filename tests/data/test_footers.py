"""Remarks below a table are left out and told; rows that look like totals are kept and told; what is cut short is still an error."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import merula as mr
from merula.core import InputError
from merula.core.notes import kept_back

HEADER = "bird,wing,ring,eggs\n"
ROWS = "wren,4.9,17,3\nrobin,5.1,18,4\ntit,6.0,19,5\n"
REMARKS = {
    "a source": ("Source: ringing station\n", "'Source: ringing station'"),
    "a source without a line end": ("Source: ringing station", "'Source: ringing station'"),
    "a source below a blank line": ("\nSource: ringing, 2024\n", "'Source: ringing 2024'"),
    "a source as wide as the table": ("Source: a, b, c, d\n", "'Source: a b c d'"),
    "a source wider than the table": ("Source: a, b, c, d, e, f\n", "'Source: a b c d e f'"),
    "German": ("\nQuelle: Vogelwarte\nStand: 31.12.2024\n", "'Quelle: Vogelwarte', 'Stand: 31.12.2024'"),
    "several": ("\n\nNotes: provisional\n* estimated\n", "'Notes: provisional', '* estimated'"),
    "in quotation marks": ('\n"Source: ringing, 2024"\n', "'Source: ringing, 2024'"),
    "padded": (",,,\nSource: ringing station,,,\n", "'Source: ringing station'"),
    "a total that does not fit": ("Total,54\n", "'Total 54'"),
    "rows counted": ("(3 rows affected)\n", "'(3 rows affected)'"),
    "a sentence": ("This was made by hand\n", "'This was made by hand'"),
    "when it was exported": ("Exported on 2024-12-31 by ringer\n", "'Exported on 2024-12-31 by ringer'"),
    "anything below a blank line": ("\n3\n", "'3'"),
}
NO_REMARKS = {
    "cut short within its first cell": "wre",
    "one cell": "wren\n",
    "two cells": "wren,4.9\n",
    "cut short within a text": "a very long name of a bi",
    "one cell too many": "wren,4.9,17,3,8\n",
    "uneven rows before the last": "wren,4.9\nwren,4.9,17,3\n",
}


def read(tmp_path: Path, text: str, **stated: Any) -> tuple[Any, list[str]]:
    path = tmp_path / "birds.csv"
    path.write_text(text, encoding="utf-8")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        table = mr.read_table(path, **stated)
    return table, [str(one.message) for one in told]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", REMARKS)
def test_remarks_are_left_out_and_quoted(name: str, end: str, tmp_path: Path) -> None:
    remark, said = REMARKS[name]
    clean, nothing = read(tmp_path, HEADER + ROWS)
    table, told = read(tmp_path, (HEADER + ROWS + remark).replace("\n", end))
    assert nothing == []
    assert table.equals(clean)
    assert len(told) == 1 and told[0].startswith("the last ") and told[0].endswith(f"left out ({said})")


def test_titles_and_remarks_of_a_short_table(tmp_path: Path) -> None:
    table, told = read(tmp_path, "Birds of 2024\n\n" + HEADER + ROWS + "\nSource: ringing\nNote: provisional\n")
    assert table.column_names == ["bird", "wing", "ring", "eggs"] and table.num_rows == 3
    assert [note.partition(",")[0] for note in told] == ["the first 2 lines are a title", "the last 3 lines are no rows but remarks"]  # fmt: skip


@pytest.mark.parametrize("name", NO_REMARKS)
def test_what_is_cut_short_or_uneven_is_an_error_as_before(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ragged"):
        read(tmp_path, HEADER + ROWS + NO_REMARKS[name])


@pytest.mark.parametrize("row", ["Total,16.0,54,12", "Total,,54,", "Summe:,16.0,54,12", "Grand total,,,12"])
def test_a_total_that_fits_is_kept_and_told(row: str, tmp_path: Path) -> None:
    table, told = read(tmp_path, HEADER + ROWS + row + "\n")
    assert table.num_rows == 4
    assert len(told) == 1 and f"called {row.split(',')[0]!r} and looks like a total" in told[0]


@pytest.mark.parametrize("row", ["robin,,,", ",,,", ",1.5,,", "Totality,1.0,1,1", "tit,6.0,19,5"])
def test_rows_like_others_are_kept_without_a_word(row: str, tmp_path: Path) -> None:
    table, told = read(tmp_path, HEADER + ROWS + row + "\n")
    assert table.num_rows == 4 and told == []


@pytest.mark.parametrize("row", [",1.5,,", "robin,,,"])
def test_rows_nearly_all_missing_below_an_empty_one_are_rows(row: str, tmp_path: Path) -> None:
    table, told = read(tmp_path, HEADER + ROWS + ",,,\n" + row + "\n")
    assert table.num_rows == 5 and told == []


def test_a_class_called_total_is_no_total(tmp_path: Path) -> None:
    table, told = read(tmp_path, HEADER + ROWS + "total,1.0,1,1\ntotal,2.0,2,2\n")
    assert table.num_rows == 5 and told == []


def test_a_column_of_sentences_has_no_remarks(tmp_path: Path) -> None:
    table, told = read(tmp_path, "message\nhello to all of you\nSource: of all evil\n")
    assert table.num_rows == 2 and told == []


def test_more_lines_than_remarks_have_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ragged"):
        read(tmp_path, HEADER + ROWS * 30 + "\n" + "another table\n" * 30)


@pytest.mark.parametrize("remark", ["Source: ringing station\n", "Total,49,170,30\n"])
def test_large_plain_files_say_the_same(remark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from merula.data.table import plain

    text = HEADER + ROWS * 50 + remark
    usual = read(tmp_path, text)
    monkeypatch.setattr(plain, "LARGE", 0)
    monkeypatch.setattr(plain, "LARGER", 0)
    table, told = read(tmp_path, text)
    assert table.equals(usual[0]) and told == usual[1] and len(told) == 1


def test_streams_leave_remarks_out_and_say_so_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from merula.data.stream import lines
    from merula.data.stream.delimited import DelimitedFiles

    path = tmp_path / "birds.csv"
    path.write_text(HEADER + ROWS * 40 + "\nSource: ringing station\n")
    monkeypatch.setattr(lines, "BYTES", 500)
    with kept_back() as notes:
        files = DelimitedFiles((str(path),))
        counted = [
            sum(part.num_rows for piece in files.pieces() for part in piece.read(["wing"], {})) for _ in range(2)
        ]
    assert counted == [120, 120]
    assert [str(note) for note in notes] == [
        "the last 2 lines are no rows but remarks, and left out ('Source: ringing station')"
    ]
