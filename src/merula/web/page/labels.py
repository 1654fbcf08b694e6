"""What columns are called on a page: labels, descriptions and units that were given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from merula.core import InputError, one_of

Labels = Mapping[str, str | Mapping[str, str]]
FIELDS = ("label", "description", "unit")


def labelled(columns: Sequence[Mapping[str, Any]], labels: Any) -> list[dict[str, Any]]:
    """The columns with what was said of them; an error where a label is for no column, or is no text.

    Examples
    --------
    >>> labelled([{"name": "bill_length_mm"}], {"bill_length_mm": {"label": "Bill", "unit": "mm"}})
    [{'name': 'bill_length_mm', 'label': 'Bill', 'shown_unit': 'mm'}]
    """
    if labels is not None and not isinstance(labels, Mapping):
        raise InputError.of("labels", labels, "{column: text} or {column: {'label': …, 'description': …, 'unit': …}}")
    names = [str(column["name"]) for column in columns]
    said = {one_of(name, names, "labels"): _fields(name, given) for name, given in (labels or {}).items()}
    return [{**column, **said.get(str(column["name"]), {})} for column in columns]


def _fields(name: str, given: Any) -> dict[str, str]:
    """What was said of one column; a text alone is its label."""
    fields = {"label": given} if isinstance(given, str) else given
    where = f"labels[{name!r}]"
    if not isinstance(fields, Mapping):
        raise InputError.of(where, given, "a text, or {'label': …, 'description': …, 'unit': …}")
    for key, text in fields.items():
        one_of(key, FIELDS, where)
        if not isinstance(text, str):
            raise InputError.of(f"{where}[{key!r}]", text, "a text")
    return {
        "shown_unit" if key == "unit" else key: text for key, text in fields.items()
    }  # a time has a unit of its own
