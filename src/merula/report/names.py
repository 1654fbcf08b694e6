"""Labels and columns by name, as a page has room for them."""

from __future__ import annotations

from typing import Any

from merula.show.text import shortened

LONGEST = 60  # of a label or a column's name


def name(label: Any) -> str:
    """A label or a column's name, cut where it is endless."""
    text = str(label)
    return text if len(text) <= LONGEST else shortened(text, LONGEST, middle=True)
