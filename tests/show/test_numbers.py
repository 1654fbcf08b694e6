"""Numbers in print: one rule for each kind."""

from __future__ import annotations

from decimal import Decimal, getcontext
from math import inf, log

import pytest
from hypothesis import given, strategies as st

from merula.show.numbers import count, fixed, from_log, percent, rounded, several, short, signed, with_error


@pytest.mark.parametrize("log_value", [0.0, -1.0, 12.5, -599.9, -690.0, 690.0])
def test_logarithms_are_shown_as_what_they_are_logarithms_of(log_value):
    getcontext().prec = 40
    exact = Decimal(log_value).exp()
    assert Decimal(from_log(log_value).replace(",", "")) == pytest.approx(exact, rel=Decimal("6e-4"))
    assert len(from_log(log_value).partition("e")[0].replace(".", "").lstrip("0")) <= 4


@pytest.mark.parametrize("log_value", [-691.0, -12345.6, -1e20, 691.0, 900.0])
def test_beyond_300_powers_of_ten_no_digits_are_shown(log_value):
    assert from_log(log_value) == ("< 1e-300" if log_value < 0 else "> 1e+300")


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


def test_figures_have_four_decimals_or_are_said_to_be_small():
    assert (fixed(0.0), fixed(0.12345), fixed(2.5e7), fixed(None)) == ("0.0000", "0.1235", "25,000,000", "–")
    assert (fixed(1e-7), fixed(-1e-7), fixed(-1.554e-15), fixed(0.00005)) == (
        "< 0.0001",
        "> -0.0001",
        "0.0000",
        "0.0001",
    )
    assert short(log(2), 2) == "0.69"


@given(st.floats(-1e7, 1e7), st.floats(0, 1e4))
def test_a_figure_and_its_error_are_written_alike(value, error):
    """No powers of ten beside decimals, as in 1.554e-15 ± 0.0000."""
    text = with_error(value, error)
    assert "e" not in text
    shown, sign, spread = text.partition(" ± ")
    if sign:
        assert float(spread.replace(",", "")) == pytest.approx(error, abs=0.50001)
        assert ("." in shown) == ("." in spread)
    else:
        assert abs(value) < 0.00005 > error


@given(st.floats(1e4, 1e14))
def test_large_numbers_have_their_thousands_apart(value):
    for text in (short(value), short(value, 6), count(round(value))):
        whole = text.partition(".")[0]
        assert [len(part) for part in whole.split(",")[1:]] == [3] * ((len(whole.replace(",", "")) - 1) // 3)
        assert float(text.replace(",", "")) == pytest.approx(value, abs=0.51)


def test_numbers_have_the_decimals_their_spread_deserves():
    assert (rounded(3.14159, 1.0), rounded(3.14159, 100.0), rounded(3.14159, 0.01)) == ("3.14", "3", "3.1416")
    assert rounded(-0.001, 1.0) == "0.00"
