"""What columns are called on a page: labels, descriptions and units that were given, and over what range sliders go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import isfinite, nan
from numbers import Real
from typing import Any

from merula.core import InputError, one_of

Labels = Mapping[str, str | Mapping[str, Any]]
TEXTS = ("label", "description", "unit")
RANGE = "range"


def labelled(columns: Sequence[Mapping[str, Any]], labels: Any) -> list[dict[str, Any]]:
    """The columns with what was said of them; an error where a label is for no column, or is no text.

    Examples
    --------
    >>> labelled([{"name": "bill_length_mm"}], {"bill_length_mm": {"label": "Bill", "unit": "mm"}})
    [{'name': 'bill_length_mm', 'label': 'Bill', 'shown_unit': 'mm'}]
    """
    if labels is not None and not isinstance(labels, Mapping):
        raise InputError.of(
            "labels", labels, "{column: text} or {column: {'label': …, 'description': …, 'unit': …, 'range': …}}"
        )
    names = [str(column["name"]) for column in columns]
    said = {one_of(name, names, "labels"): _fields(name, given) for name, given in (labels or {}).items()}
    return [_told(column, said.get(str(column["name"]), {})) for column in columns]


def _told(column: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """The column with what was said of it; a range goes where otherwise stands what was seen."""
    if RANGE not in said:
        return {**column, **said}
    if column.get("kind") not in ("numeric", "count"):
        raise InputError.of(f"labels[{column['name']!r}][{RANGE!r}]", said[RANGE], "none: this is no column of numbers")
    low, high = said[RANGE]
    middle = min(max(column.get("seen", {}).get("middle", (low + high) / 2), low), high)
    whole = column["kind"] == "count" or column.get("seen", {}).get("whole", False)
    seen = {"low": low, "high": high, "middle": middle, "whole": whole, "exact": True, "stated": True}
    return {**column, **{key: value for key, value in said.items() if key != RANGE}, "seen": seen}


def _fields(name: str, given: Any) -> dict[str, Any]:
    """What was said of one column; a text alone is its label."""
    fields = {"label": given} if isinstance(given, str) else given
    where = f"labels[{name!r}]"
    if not isinstance(fields, Mapping):
        raise InputError.of(where, given, "a text, or {'label': …, 'description': …, 'unit': …, 'range': [low, high]}")
    for key, value in fields.items():
        one_of(key, (*TEXTS, RANGE), where)
        if key != RANGE and not isinstance(value, str):
            raise InputError.of(f"{where}[{key!r}]", value, "a text")
    found = {"shown_unit" if key == "unit" else key: value for key, value in fields.items()}  # a time has its own
    return found if RANGE not in found else {**found, RANGE: _ends(found[RANGE], f"{where}[{RANGE!r}]")}


def _ends(given: Any, where: str) -> tuple[float, float]:
    """The two ends of a range as JSON writes them, of whatever kind the numbers are."""
    try:
        low, high = (float(end) if isinstance(end, Real | Decimal) and not isinstance(end, bool) else nan for end in given)  # fmt: skip
    except (TypeError, ValueError, OverflowError):  # no two of them, or beyond all floats
        low = high = nan
    if not low < high or not isfinite(high - low):
        raise InputError.of(where, given, "two numbers, the lower one first")
    return low, high
