"""Numbers in print: one rule for each kind."""

from __future__ import annotations

from decimal import Decimal, getcontext
from math import inf, log

import pytest
from hypothesis import given, strategies as st

from merula.show.numbers import count, fixed, from_log, percent, rounded, several, short, signed


@pytest.mark.parametrize("log_value", [0.0, -1.0, 12.5, -599.9, -601.0, -12345.6, 900.0])
def test_logarithms_are_shown_as_what_they_are_logarithms_of(log_value):
    getcontext().prec = 40
    exact = Decimal(log_value).exp()
    assert Decimal(from_log(log_value)) == pytest.approx(exact, rel=Decimal("6e-4"))
    assert len(from_log(log_value).partition("e")[0].replace(".", "").lstrip("0")) <= 4


def test_what_cannot_be_is_called_impossible():
    assert from_log(-inf) == "impossible"
    assert (signed(inf), signed(-inf)) == ("certain", "impossible")


@given(st.floats(-50, 50))
def test_evidence_has_a_sign_and_three_decimals(evidence):
    text = signed(evidence)
    assert text[0] in "+-"
    assert len(text.partition(".")[2]) == 3
    assert float(text) == pytest.approx(evidence, abs=0.0005000001)
    assert text != "-0.000"


@given(st.floats(0, 1))
def test_percentages_are_near_and_only_0_and_1_are_called_so(share):
    text = percent(share)
    assert text.endswith(" %")
    if text[0] in "<>":
        assert 0 < share < 0.0005 or 0.9995 <= share < 1
    else:
        assert float(text[:-2]) == pytest.approx(100 * share, abs=0.0500001)
        assert (text == "0 %") <= (share == 0)
        assert (text == "100 %") <= (share > 1 - 1e-11)


def test_counts_are_whole_where_they_can_be():
    assert (count(1234567), count(3.0), count(3.25)) == ("1,234,567", "3", "3.2")
    assert (several(1, "row"), several(0, "row"), several(2, "class", "classes")) == ("1 row", "0 rows", "2 classes")


def test_figures_have_four_decimals_where_they_show_something():
    assert (fixed(0.0), fixed(0.12345), fixed(1e-7), fixed(2.5e7), fixed(None)) == ("0.0000", "0.1235", "1e-07", "2.5e+07", "–")  # fmt: skip
    assert short(log(2), 2) == "0.69"


def test_numbers_have_the_decimals_their_spread_deserves():
    assert (rounded(3.14159, 1.0), rounded(3.14159, 100.0), rounded(3.14159, 0.01)) == ("3.14", "3", "3.1416")
    assert rounded(-0.001, 1.0) == "0.00"
