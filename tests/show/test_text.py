"""Width on a terminal, in any script."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from merula.show.text import display_width, pad


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
