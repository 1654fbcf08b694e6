"""Dataclasses as strict JSON, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from merula.core.plain import from_plain, to_plain


@dataclass(frozen=True)
class Beak:
    color: str
    length: float | None = None


@dataclass(frozen=True, eq=False)
class Bird:
    name: Any
    beak: Beak
    others: tuple[Beak, ...]
    span: tuple[float, float]
    counts: NDArray[np.int64]
    log_terms: NDArray[np.float64]
    by_class: Mapping[Any, float]
    notes: Mapping[str, str]
    seen: frozenset[str]
    mate: Beak | None = None


BIRD = Bird(
    True,
    Beak("yellow", 2.5),
    (Beak("größe"), Beak("色泽", np.inf)),
    (-np.inf, np.nan),
    np.array([[1, 2], [3, 4]]),
    np.array([0.5, -np.inf, np.nan]),
    {1: 0.25, 2.5: np.inf, "a": 0.5, None: 0.1, False: 0.2},
    {"island": "Dream"},
    frozenset({"b", "a"}),
)


def test_a_dataclass_survives_strict_json():
    text = json.dumps(to_plain(BIRD), allow_nan=False)
    back = from_plain(Bird, json.loads(text))
    assert back.name is True
    assert (back.beak, back.others, back.mate, back.notes, back.seen) == (BIRD.beak, BIRD.others, None, BIRD.notes, BIRD.seen)  # fmt: skip
    assert back.by_class == BIRD.by_class
    assert [type(key) for key in back.by_class] == [type(key) for key in BIRD.by_class]
    for name in ("span", "counts", "log_terms"):
        np.testing.assert_array_equal(getattr(back, name), getattr(BIRD, name))
        assert type(getattr(back, name)) is type(getattr(BIRD, name))
    assert back.counts.dtype == np.int64
    assert json.dumps(to_plain(back), allow_nan=False) == text


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ({"a": np.float64(1.5), "b": np.int64(2)}, {"a": 1.5, "b": 2}),
        ({1: "x"}, [[1, "x"]]),
        ([np.inf, -np.inf, np.nan], ["inf", "-inf", None]),
        ({"b", "a"}, ["a", "b"]),
        ((), []),
    ],
)
def test_what_json_lacks_is_written_by_its_name(value, plain):
    assert to_plain(value) == plain
