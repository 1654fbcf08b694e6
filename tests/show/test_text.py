"""Width on a terminal, in any script."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from merula.show.text import display_width, pad, text_table


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("blood pressure", 14),
        ("größe", 5),
        (normalize("NFD", "größe"), 5),
        ("色泽", 4),
        ("Ａ１", 4),  # fullwidth
        ("ｱ", 1),  # halfwidth
        ("한글", 4),
        (normalize("NFD", "한글"), 4),
        ("x\u0301\u0302", 1),  # marks that have no composed form
        ("0.1 ± 0.2 ↓ –", 13),
    ],
)
def test_width(text, width):
    assert display_width(text) == width


def test_padding():
    assert pad("色泽", 6) == "色泽  "
    assert pad("色泽", 6, right=True) == "  色泽"
    assert pad("too long", 3) == "too long"


def test_tables_align_in_any_script():
    rows = [["色泽", "probability"], ["乌黑", "0.25"], ["浅", "0.75"]]
    lines = text_table("P(色泽)", rows, 1, "(2 rows)").splitlines()
    assert lines[0] == "P(色泽)"
    assert lines[-1] == "(2 rows)"
    assert len({display_width(line) for line in lines[1:-1]}) == 1
    assert all(line.endswith(row[1]) for line, row in zip(lines[1:-1], rows, strict=True))


def test_names_stand_to_the_left_and_no_line_ends_in_spaces():
    text = text_table("", [["column", "kind"], ["blood pressure", "numeric"], ["size", ""]], 2)
    assert text.splitlines() == ["column          kind", "blood pressure  numeric", "size"]


def test_a_row_without_cells_is_a_rule_and_a_short_one_ends_early():
    lines = text_table(
        "", [["", "P"], ["a caption longer than the rest"], ["x", "0.5"], [], ["sum", "1"]], 1
    ).splitlines()
    assert lines[1] == "a caption longer than the rest"
    assert set(lines[3]) == {"─"}
    assert len(lines[3]) == display_width(lines[0]) == display_width(lines[2])


def test_cells_stay_on_one_line():
    assert text_table("", [["a\nb", "c"]], 2) == "a b  c"
