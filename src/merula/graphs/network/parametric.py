"""Conditionals stated by few numbers: noisy-OR, noisy-MAX, and numbers that depend linearly on others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from merula.core import Array, InputError
from merula.core.checks import check_probabilities, checked_number, one_of
from merula.data.schema import Label
from merula.graphs.factors.names import Levels, rank_of
from merula.graphs.network.node import GaussianNode, NoisyNode
from merula.graphs.network.noisy import noisy_max

POSITIVE = {"t", "true", "yes", "y", "present", "on", "high", "1", "positive", "ja", "是", "有"}


@dataclass(frozen=True)
class NoisyOr:
    """An effect with independent causes: each cause alone produces it with its own probability.

    P(effect given x) = 1 − (1 − leak) · Π_{i present} (1 − causes_i)

    Parameters
    ----------
    causes : mapping
        ``{parent: probability}``; the parent's last level is the one that causes (write "no" before "yes"), or name the
        levels: ``{parent: {level: probability}}``, those not named cause nothing.
    leak : float
        The probability of the effect without any of these causes.

    Examples
    --------
    >>> import merula as mr
    >>> network = mr.BayesianNetwork()
    >>> network.add("flu", ["no", "yes"], [0.9, 0.1]).add("cold", ["no", "yes"], [0.7, 0.3])
    BayesianNetwork(2 variables, 0 arcs, 2 parameters)
    >>> network.add("fever", ["no", "yes"], mr.NoisyOr({"flu": 0.9, "cold": 0.4}, leak=0.02))
    BayesianNetwork(3 variables, 2 arcs, 5 parameters)
    >>> round(network.query("fever", given={"flu": "yes", "cold": "yes"})["yes"], 4)
    0.9412
    """

    causes: Mapping[str, Any]
    leak: float = 0.0

    @property
    def parents(self) -> tuple[str, ...]:
        """The causes' names."""
        return tuple(self.causes)

    def node(self, name: str, levels: Sequence[Label], parents: Levels) -> NoisyNode:
        """The variable with these numbers; it must have two levels, the effect last."""
        if len(levels) != 2:
            raise InputError(f"a NoisyOr has two levels, {name!r} has {list(levels)}", remedy="use NoisyMax for more")
        _absent_first(name, levels)
        effects = {}
        for (parent, stated), known in zip(self.causes.items(), parents.values(), strict=True):
            strengths = _by_level(parent, known, stated).items()
            found = {level: _probability(p, f"the strength of {parent!r}") for level, p in strengths}
            effects[parent] = {level: {levels[1]: p, levels[0]: 1 - p} for level, p in found.items()}
        leak = _probability(self.leak, "the leak")
        return NoisyMax(effects, {levels[0]: 1 - leak, levels[1]: leak}).node(name, levels, parents)


@dataclass(frozen=True)
class NoisyMax:
    """An effect with ordered levels and independent causes: the highest level that any of them brings about shows.

    P(Y ≤ y given x) = P(leak ≤ y) · Π_i P(Z_i ≤ y given x_i)

    Parameters
    ----------
    effects : mapping
        ``{parent: {level of the parent: {level of the effect: probability}}}``; levels of the parent that are not named
        bring about nothing, that is the effect's first level.
    leak : mapping or None
        ``{level of the effect: probability}`` of what is not in the model; None: nothing.

    Examples
    --------
    >>> import merula as mr
    >>> pain = mr.NoisyMax({"injury": {"yes": {"mild": 0.3, "severe": 0.7}}}, leak={"none": 0.8, "mild": 0.2})
    >>> network = mr.BayesianNetwork().add("injury", ["no", "yes"], [0.9, 0.1]).add("pain", ["none", "mild", "severe"], pain)
    >>> round(network.query("pain", given={"injury": "yes"})["severe"], 6)
    0.7
    """

    effects: Mapping[str, Any]
    leak: Mapping[Any, float] | None = None

    @property
    def parents(self) -> tuple[str, ...]:
        """The causes' names."""
        return tuple(self.effects)

    def node(self, name: str, levels: Sequence[Label], parents: Levels) -> NoisyNode:
        """The variable with these numbers; its levels are taken as ordered, the one that says 'nothing' first."""
        _absent_first(name, levels)
        nothing = np.eye(len(levels))[0]
        strengths = []
        for (parent, stated), known in zip(self.effects.items(), parents.values(), strict=True):
            if not isinstance(stated, Mapping):
                raise InputError.of(f"the effect of {parent!r} on {name!r}", stated, f"{{level of {parent!r}: {{level of {name!r}: probability}}}}")  # fmt: skip
            rows = np.tile(nothing, (len(known), 1))
            for level, row in stated.items():
                rows[rank_of(level, parent, known)] = _distribution(name, levels, row, f"{parent} = {level!r}")
            strengths.append(rows)
        leak = nothing if self.leak is None else _distribution(name, levels, self.leak, "the leak")
        if not strengths:
            noisy_max([], leak)
        return NoisyNode(name, tuple(levels), tuple(parents), tuple(strengths), leak)


@dataclass(frozen=True)
class LinearGaussian:
    """A number, normal about a linear function of numeric parents; one such function for each combination of discrete ones.

    p(y given x, d) = N(y; intercept_d + Σ_j slopes_dj · x_j, variance_d)

    Parameters
    ----------
    intercept, variance : float, or mapping from levels of the discrete parents
        ``{"male": 178.0, "female": 165.0}``; by tuples of levels when there are several discrete parents.
    slopes : mapping
        ``{numeric parent: slope}``, or ``{levels of the discrete parents: {numeric parent: slope}}``.

    Examples
    --------
    >>> import merula as mr
    >>> network = mr.BayesianNetwork().add("sex", ["f", "m"], [0.5, 0.5])
    >>> network.add("height", mr.LinearGaussian({"f": 165.0, "m": 178.0}, variance=49.0), parents=["sex"])
    BayesianNetwork(2 variables, 1 arcs, 5 parameters)
    >>> round(network.query("sex", given={"height": 180.0})["m"], 3)
    0.905
    """

    intercept: Any = 0.0
    variance: Any = 1.0
    slopes: Any = None

    def node(self, name: str, discrete: Levels, numeric: Sequence[str]) -> GaussianNode:
        """The variable with these numbers."""
        shape = tuple(len(known) for known in discrete.values())
        intercept = _per_row(name, "intercept", self.intercept, discrete, shape)
        variance = _per_row(name, "variance", self.variance, discrete, shape)
        if not (variance > 0).all():
            raise InputError.at(f"the variance of {name!r}", f"is {float(variance.min()):g}", got=float(variance.min()), expected="numbers above 0")  # fmt: skip
        slopes = np.zeros((*shape, len(numeric)))
        stated = self.slopes or {}
        if not isinstance(stated, Mapping):
            raise InputError.at(f"the slopes of {name!r}", f"are {stated!r}", got=stated, expected="{numeric parent: slope}")  # fmt: skip
        one_for_all = not any(isinstance(value, Mapping) for value in stated.values())
        if not one_for_all:
            _check_keys(name, "slopes", stated, discrete)
        for index in np.ndindex(shape):
            row = stated if one_for_all else _row_of(name, "slopes", stated, discrete, index)
            for parent in row:
                one_of(parent, numeric, f"a numeric parent in the slopes of {name!r}")
            for j, parent in enumerate(numeric):
                if parent not in row:
                    raise InputError(f"{name!r} has the numeric parent {parent!r} but no slope for it", where=f"variable {name!r}", remedy=f"state slopes={{{parent!r}: …}}")  # fmt: skip
                slopes[(*index, j)] = _number(row[parent], f"the slope of {name!r} for {parent!r}")
        if not np.isfinite(slopes).all():
            raise InputError.at(f"a slope of {name!r}", "is not a finite number")
        return GaussianNode(name, tuple(discrete), tuple(numeric), intercept, slopes, variance)


def _per_row(name: str, what: str, stated: Any, discrete: Levels, shape: tuple[int, ...]) -> Array:
    """One number for each combination of the discrete parents."""
    if isinstance(stated, Mapping):
        found = np.empty(shape)
        _check_keys(name, what, stated, discrete)
        for index in np.ndindex(shape):
            found[index] = _number(_row_of(name, what, stated, discrete, index), f"the {what} of {name!r}")
    else:
        try:
            array = np.asarray(stated, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError.of(f"the {what} of {name!r}", stated, "one number, or one for each combination of the discrete parents") from None  # fmt: skip
        if array.shape not in ((), shape):
            raise InputError.at(f"the {what} of {name!r}", f"has the shape {array.shape}", got=array.shape, expected=f"one number or {shape}")  # fmt: skip
        found = np.broadcast_to(array, shape).copy()
    if not np.isfinite(found).all():
        raise InputError.at(f"the {what} of {name!r}", "is not a finite number")
    return found


def _check_keys(name: str, what: str, stated: Mapping[Any, Any], discrete: Levels) -> None:
    """An error for a combination of levels that the discrete parents do not have."""
    for key in stated if discrete else ():
        levels = key if isinstance(key, tuple) and len(key) == len(discrete) else (key,)
        if len(levels) != len(discrete):
            raise InputError.at(f"the {what} of {name!r}", f"names {key!r}", got=key, expected=f"a level of each of {list(discrete)}")  # fmt: skip
        for level, (parent, known) in zip(levels, discrete.items(), strict=True):
            rank_of(level, parent, known)


def _row_of(name: str, what: str, stated: Mapping[Any, Any], discrete: Levels, index: tuple[int, ...]) -> Any:
    """What is stated for one combination of the discrete parents."""
    key = tuple(known[rank] for known, rank in zip(discrete.values(), index, strict=True))
    for form in (key, key[0] if len(key) == 1 else key):
        if form in stated:
            return stated[form]
    if not key:
        return stated
    raise InputError.at(f"the {what} of {name!r}", f"says nothing of {dict(zip(discrete, key, strict=True))}", remedy="state it")  # fmt: skip


def _by_level(parent: str, known: Sequence[Label], stated: Any) -> dict[Label, float]:
    """The strength of each level of a cause that has one."""
    if isinstance(stated, Mapping):
        return dict(stated)
    if len(known) != 2:
        raise InputError(f"{parent!r} has the levels {list(known)}", where=f"variable {parent!r}", got=list(known), remedy=f"say which of them cause: {{{parent!r}: {{level: probability}}}}")  # fmt: skip
    _absent_first(parent, known)
    return {known[-1]: stated}


def _absent_first(name: str, levels: Sequence[Label]) -> None:
    if len(levels) > 1 and str(levels[0]).lower() in POSITIVE:
        raise InputError(f"{name!r} has the levels {list(levels)}", where=f"variable {name!r}", got=list(levels), remedy=f"a noisy gate takes the first one for 'absent' and the last for 'present': write {list(levels[::-1])}, or name the level that causes")  # fmt: skip


def _number(value: Any, what: str) -> float:
    return float(checked_number(value, what, "a number"))


def _probability(value: Any, what: str) -> float:
    return float(checked_number(value, what, "a probability from 0 to 1", lambda p: 0 <= p <= 1))


def _distribution(name: str, levels: Sequence[Label], row: Mapping[Any, Any], where: str) -> Array:
    if not isinstance(row, Mapping):
        raise InputError.of(f"the distribution of {name!r} by {where}", row, f"{{level of {name!r}: probability}}")
    found = np.zeros(len(levels))
    for level, probability in row.items():
        found[rank_of(level, name, tuple(levels))] = _probability(probability, f"P({name} = {level!r}) by {where}")
    return check_probabilities(found, f"the distribution of {name!r} by {where}")
