"""Numbers and labels as a reader likes them."""

from __future__ import annotations

from math import isinf
from typing import Any

from merula.answers.evaluation.figure import number_text
from merula.show.text import shortened

LONGEST = 60


def name(label: Any) -> str:
    """A label or a column's name, cut where it is endless."""
    text = str(label)
    return text if len(text) <= LONGEST else shortened(text, LONGEST, middle=True)


def percent(share: float) -> str:
    """A share in percent: two digits more where it is near 0 or 1."""
    if share in (0.0, 1.0):
        return f"{share:.0%}".replace("%", " %")
    value = 100 * share
    if 0 < value < 0.005 or 99.995 < value < 100:
        return "< 0.01 %" if value < 1 else "> 99.99 %"
    return f"{value:.2f} %" if value < 1 or value > 99 else f"{value:.1f} %"


def number(value: float | None) -> str:
    """A figure with four decimals, as evaluations print it."""
    return number_text(value)


def weight(value: float) -> str:
    """A number of rows: whole where it is whole."""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"


def short(value: float) -> str:
    """A number in four digits."""
    return f"{value:.4g}"


def signed(value: float) -> str:
    """A weight of evidence."""
    if isinf(value):
        return "certain" if value > 0 else "impossible"
    return f"{round(value, 2) + 0.0:+.2f}"


def several(count: int, what: str, many: str | None = None) -> str:
    """``1 row``, ``2 rows``."""
    return f"{count:,} {what if count == 1 else many or what + 's'}"
