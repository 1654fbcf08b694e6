"""Tables for notebooks: every text escaped, rows of one width, the same rules as in text."""

from __future__ import annotations

from xml.etree import ElementTree

from merula.show.html import Html, html_block, html_table, html_tag, html_text

HOSTILE = "<script>alert('1')</script> & \"größe\""


def widths(table):
    """How many columns each row spans."""
    rows = ElementTree.fromstring(f"<div>{table}</div>").iter("tr")
    return [sum(int(cell.get("colspan", "1")) for cell in row) for row in rows]


def test_texts_are_escaped_and_html_is_not():
    assert html_text(HOSTILE).count("<") == 0
    assert html_text("one\ntwo") == "one<br>two"
    assert html_tag("b", HOSTILE, html_tag("i", "x")) == f"<b>{html_text(HOSTILE)}<i>x</i></b>"
    assert html_text(Html("<b>x</b>")) == "<b>x</b>"


def test_every_part_of_a_table_is_escaped():
    table = html_table(HOSTILE, [[HOSTILE, "x"], [HOSTILE, HOSTILE]], 1, HOSTILE)
    assert "<script" not in table
    assert table.count("&lt;script") == 5


def test_the_last_cell_of_a_short_row_spans_the_rest():
    rows = [["", "P(x)", "evidence"], ["caption"], ["prior", "0.5", "+0.1", "bar"], [], ["sum", "1", "+0.1"]]
    assert set(widths(html_table("", rows, 0))) == {4}


def test_a_row_without_cells_is_a_rule_above_the_next():
    rows = ElementTree.fromstring(html_table("", [["x", "y"], ["1", "2"], [], ["3", "4"]], 0)).iter("tr")
    assert ["border-top" in row.get("style", "") for row in rows] == [False, False, True]


def test_names_are_heads_of_their_rows():
    table = ElementTree.fromstring(html_table("", [["x", "y", "z"], ["1", "2", "3"]], 2))
    assert [[cell.tag for cell in row] for row in table.iter("tr")] == [["th"] * 3, ["th", "th", "td"]]
    assert html_block(Html("<p>x</p>")).startswith("<div")
