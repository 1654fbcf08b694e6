"""What is recorded of an answer besides what was asked and answered: when it was, by which model and which versions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from merula.core.versions import deciding_versions

Plain = dict[str, Any]


def entry_of(model: Mapping[str, str], asked: Mapping[str, Any], answered: Any) -> Plain:
    """One entry of a record: `model` has its name and its hash, `asked` and `answered` are plain data.

    Examples
    --------
    >>> sorted(entry_of({"name": "birds", "hash": "ab12"}, {"by": "predict"}, ["wren"]))
    ['answered', 'asked', 'model', 'time', 'versions']
    """
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return {"time": now, "model": dict(model), "versions": deciding_versions(), "asked": dict(asked), "answered": answered}  # fmt: skip


def other_versions(told: Mapping[str, str]) -> list[str]:
    """What is at work in another version than an entry was recorded with, in words.

    Examples
    --------
    >>> other_versions({**deciding_versions(), "numpy": "0.1"})[0].startswith("numpy 0.1 then, ")
    True
    """
    now = deciding_versions()
    names = [name for name in {**told, **now} if told.get(name) != now.get(name)]
    return [f"{name} {told.get(name, 'none')} then, {now.get(name, 'none')} now" for name in names]
