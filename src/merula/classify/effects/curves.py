"""Learned effects as plain data: of one column along its values, of two over all combinations of theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from merula.classify.effects.marginals import MISSING, Marginals, States
from merula.classify.effects.purified import Effects
from merula.classify.effects.subjects import Subject
from merula.core import Array, InputError
from merula.data.encode import Encoded
from merula.data.schema import Label

CURVE, MAP = 201, 61  # places along a number's range, for a curve and for a map
MOST_LEVELS = 20


@dataclass(frozen=True, eq=False)
class Places:
    """Where a column's effects are told: numbers, or levels (None for missing), the most frequent first, and how many are left out."""

    name: str
    values: tuple[Any, ...]
    states: States
    others: int = 0

    @property
    def is_number(self) -> bool:
        """Whether these are numbers."""
        return not len(self.states)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.values)


@dataclass(frozen=True, eq=False)
class EffectCurve:
    """The effect of one column or of two, purified: an axis for each column, then classes.

    ``missing`` is that of a single column of numbers where it is missing, for each class; None where no row lacked it.
    """

    places: tuple[Places, ...]
    effects: Array
    missing: Array | None = None


def effect_curve(effects: Effects, columns: Sequence[str], fineness: int = MAP) -> EffectCurve:
    """The effect of one column or of two; a ValueError where there is none.

    A map has `fineness` places along a number's range. Numbers run from the first to the last interval that rows were met in, with both sides of every cut among them. The other columns
    are known: what they hold has no influence on a purified effect.

    Examples
    --------
    >>> import merula as mr
    >>> rows = [[wing, song] for wing in range(60, 100) for song in ("long", "short")]
    >>> model = mr.LogLinearClassifier(order=2).fit(rows, [song == "long" and wing > 80 for wing, song in rows])
    >>> found = effect_curve(model.fitted_.effects, ("x0",))
    >>> found.places[0].values[0], found.places[0].values[-1], bool(found.effects[-1, 1] > 0 > found.effects[0, 1])
    (60.0, 99.0, True)
    """
    marginals = effects.marginals
    names = tuple(sorted(columns, key=lambda name: marginals.places.get(name, -1)))
    subject = Subject(names)
    if subject not in effects.subjects or not marginals.places.keys() >= set(names):
        told = " and ".join(map(repr, columns))
        raise InputError(f"{told} {'have' if len(names) > 1 else 'has'} no effect in this model", got=list(columns))
    axes = tuple(places_of(marginals, name, None if len(names) == 1 else fineness) for name in names)
    shape = [axis.count for axis in axes]
    at = np.unravel_index(np.arange(int(np.prod(shape))), shape)
    rows = _rows(marginals, dict(zip(axes, at, strict=True)), len(at[0]))
    found = effects.values(rows, [subject])[subject].reshape(*shape, -1)
    return EffectCurve(axes, found, _of_missing(effects, axes[0], subject) if len(axes) == 1 else None)


def _of_missing(effects: Effects, places: Places, subject: Subject) -> Array | None:
    """The effect of one column of numbers where it is missing."""
    marginals = effects.marginals
    if not places.is_number or not marginals.missing[marginals.places[places.name]]:
        return None
    found: Array = effects.values(_rows(marginals, {}, 1, lacking=places.name), [subject])[subject][0]
    return found


def places_of(marginals: Marginals, name: str, count: int | None = None) -> Places:
    """Where a column's effects are told: numbers for a curve, or so many for a map; or levels."""
    j = marginals.places[name]
    known: tuple[Label, ...] | None = marginals.level_sets[j]
    if known is None:
        return Places(name, tuple(_numbers(marginals, j, count).tolist()), np.zeros(0, dtype=np.int64))
    frequent = np.argsort(-marginals.shares[j], kind="stable")
    shown = [*frequent[:MOST_LEVELS].tolist(), *([MISSING] if marginals.missing[j] > 0 else [])]
    values = tuple(None if state == MISSING else known[state] for state in shown)
    return Places(name, values, np.array(shown, dtype=np.int64), max(0, len(frequent) - MOST_LEVELS))


def _numbers(marginals: Marginals, j: int, count: int | None) -> Array:
    """Places for a map, so many; or for a curve, with both sides of every cut."""
    met = marginals.typical[j][marginals.shares[j] > 0]
    if not len(met):
        return np.zeros(1)
    low, high = met[0], met[-1]
    even = low + (0.5 * high - 0.5 * low) * np.linspace(0, 2, count or CURVE)
    cuts = marginals.cuts[j] if count is None else np.zeros(0)  # a map has cells, not steps
    inner = cuts[(cuts >= low) & (cuts < high)]
    return np.unique(np.clip(np.concatenate([even, inner, np.nextafter(inner, np.inf)]), low, high))


def _rows(marginals: Marginals, at: Mapping[Places, Any], count: int, lacking: str = "") -> Encoded:
    """Rows with these places in their columns, and what is most frequent in all others but one that they lack."""
    usual = {name: np.full(count, int(np.argmax(marginals.shares[j]))) for name, j in marginals.places.items() if len(marginals.shares[j]) and name != lacking}  # fmt: skip
    rows = marginals.rows(
        usual | {axis.name: axis.states[own] for axis, own in at.items() if not axis.is_number}, count
    )
    return replace(rows, numeric={**rows.numeric, **{axis.name: np.array(axis.values)[own] for axis, own in at.items() if axis.is_number}})  # fmt: skip
