"""Beliefs held before the data: class priors, Laplace and m-estimate smoothing, applied to raw counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError, check_probabilities, one_of
from merula.data.schema import Label

LARGEST = 1e300  # imaginary rows; sums of more would overflow


@dataclass(frozen=True)
class MEstimate:
    """Smoothing by m imaginary rows distributed as p: P(v given c) = (n_cv + m·p_v) / (n_c + m).

    Parameters
    ----------
    m : float
        The weight of the prior belief, in rows.
    p : None, float, mapping or array
        The belief itself: None for 1/m_j each (m_j levels), one number for every level, ``{level: p}``,
        ``{class: {level: p}}``, an array of levels or of classes × levels, or ``{column: any of these}``.

    Examples
    --------
    >>> from merula.distributions.priors import MEstimate, smoothed
    >>> import numpy as np
    >>> smoothed(np.array([[4.0, 0.0, 6.0]]), MEstimate(2, 1 / 3), "size", ("s", "m", "l"), ("pos",)).round(4)
    array([[0.3889, 0.0556, 0.5556]])
    """

    m: float
    p: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.m, int | float | np.number) or not 0 <= _plain(self.m) <= LARGEST:
            raise InputError.of("MEstimate's m", self.m, "a number of imaginary rows from 0")


Smoothing = float | MEstimate


def _plain(number: Any) -> float:
    """A number that compares with any other: whole ones have no end, a float32 would overflow."""
    return number if isinstance(number, int) else float(number)


def checked_smoothing(smoothing: Any, columns: Sequence[str]) -> Smoothing:
    """The option itself if it is a pseudo-count from 0 or an `MEstimate`, else a ValueError.

    An m-estimate whose belief is given by column gets one entry for each of the columns.
    """
    if isinstance(smoothing, MEstimate):
        return _by_column(smoothing, columns)
    is_number = isinstance(smoothing, int | float | np.number) and not isinstance(smoothing, bool)
    if is_number and 0 <= _plain(smoothing) <= LARGEST:
        return float(smoothing)
    raise InputError.of("smoothing", smoothing, "a pseudo-count from 0 (1 is Laplace, 0 is none) or MEstimate(m, p)")


def _by_column(smoothing: MEstimate, columns: Sequence[str]) -> MEstimate:
    p = smoothing.p
    if not isinstance(p, Mapping) or not set(p) & set(columns):
        return smoothing
    for name in p:
        one_of(name, columns, "a column of MEstimate's p")
    return MEstimate(smoothing.m, {name: p.get(name) for name in columns})


def pseudo_counts(smoothing: Smoothing, column: str, levels: Sequence[Label], classes: Sequence[Label]) -> Array:
    """What smoothing adds to each class's count of each level."""
    shape = (len(classes), len(levels))
    if not isinstance(smoothing, MEstimate):
        return np.full(shape, smoothing)
    if smoothing.p is None:
        return np.full(shape, smoothing.m / max(1, len(levels)))
    belief = np.broadcast_to(_belief(smoothing.p, column, levels, classes), shape)
    what = f"MEstimate's p over the {len(levels)} levels of column {column!r}"
    check_probabilities(belief, what, remedy=f"leave p out for 1/{len(levels)} each")
    return smoothing.m * belief / belief.sum(axis=1, keepdims=True)


def _belief(p: Any, column: str, levels: Sequence[Label], classes: Sequence[Label]) -> Array:
    """P as an array that broadcasts to classes × levels."""
    if isinstance(p, Mapping) and column in p:
        p = p[column]
        if p is None:
            return np.array(1 / len(levels))
    if isinstance(p, Mapping) and not set(p) & (set(levels) | set(classes)):
        raise InputError.at(
            "MEstimate's p",
            f"names {next(iter(p), None)!r}, which is no column, no class and no level of column {column!r} (levels: {list(levels)})",
            remedy="give it as {column: {level: p}}",
        )
    if isinstance(p, Mapping) and p and all(isinstance(row, Mapping) for row in p.values()):
        return np.array([_row(_of_class(p, label, column), column, levels) for label in classes])
    if isinstance(p, Mapping):
        return np.array(_row(p, column, levels))
    array = np.asarray(p, dtype=np.float64)
    if array.shape not in ((), (len(levels),), (len(classes), len(levels))):
        raise InputError.at(
            "MEstimate's p",
            f"has shape {array.shape} for column {column!r}",
            got=array.shape,
            expected=f"one number, {len(levels)} levels, or {len(classes)} classes × {len(levels)} levels",
        )
    return array


def _of_class(p: Mapping[Any, Any], label: Label, column: str) -> Mapping[Any, Any]:
    if label not in p:
        raise InputError.at("MEstimate's p", f"gives column {column!r} no probabilities for class {label!r}")
    return p[label]


def _row(p: Mapping[Any, Any], column: str, levels: Sequence[Label]) -> list[float]:
    stray = set(p) - set(levels)
    if stray:
        raise InputError.at(
            "MEstimate's p",
            f"names {next(iter(stray))!r}, which is not a level of column {column!r} (levels: {list(levels)})",
        )
    return [float(p.get(level, 0.0)) for level in levels]


def smoothed(
    counts: Array, smoothing: Smoothing, column: str, levels: Sequence[Label], classes: Sequence[Label]
) -> Array:
    """P(level given class) = (n + a) / Σ (n + a); a class without any count and without smoothing takes all classes' counts."""
    total = counts + pseudo_counts(smoothing, column, levels, classes)
    empty = total.sum(axis=1) == 0
    if empty.any():
        pooled = counts.sum(axis=0)
        total[empty] = pooled if pooled.any() else 1.0
    return total / total.sum(axis=1, keepdims=True)


def log_belief(imagined: Array | float, logs: Array) -> float:
    """Σ imagined · log p: how probable a prior of so many imaginary rows takes the probabilities p, up to a constant."""
    rows = np.broadcast_to(imagined, logs.shape)
    believed = rows > 0
    return float((rows[believed] * logs[believed]).sum())


def unseen_probability(counts: Array, smoothing: Smoothing) -> Array:
    """What a level never seen gets when it is smoothed: a / (n_c + Σ a), the seen levels' probabilities unchanged."""
    levels = max(1, counts.shape[1])
    extra = smoothing.m / levels if isinstance(smoothing, MEstimate) else smoothing
    total = counts.sum(axis=1) + extra * levels
    return np.divide(extra, total, out=np.zeros(len(counts)), where=total > 0)


def class_probabilities(option: Any, classes: NDArray[Any], weight: Array) -> Array:
    """P(class): "empirical" n_c/n, "laplace" (n_c + 1)/(n + C), "uniform" 1/C, or as given."""
    if isinstance(option, Mapping):
        return _given_prior(option, classes)
    if not isinstance(option, str) and isinstance(option, Sequence | np.ndarray):
        if np.ndim(option) != 1:
            raise InputError.at("class_prior", f"has shape {np.shape(option)}", expected="one number for each class")
        if len(option) != len(classes):
            raise InputError.at(
                "class_prior",
                f"has {len(option)} values",
                expected=f"one for each of the {len(classes)} classes {classes.tolist()}",
            )
        return _given_prior(dict(zip(classes.tolist(), option, strict=True)), classes)
    word = one_of(option, ("empirical", "laplace", "uniform"), "class_prior")
    if word == "uniform":
        return np.full(len(classes), 1 / len(classes))
    total = weight + (1.0 if word == "laplace" else 0.0)
    return total / total.sum()


def _given_prior(option: Mapping[Any, Any], classes: NDArray[Any]) -> Array:
    labels = classes.tolist()
    for label in labels:
        if label not in option:
            raise InputError.at(
                "class_prior", f"gives no probability for class {label!r}", remedy=f"it must name each of {labels}"
            )
    stray = [label for label in option if label not in labels and option[label]]
    if stray:
        raise InputError.at(
            "class_prior", f"names class {stray[0]!r}, which the data do not hold (classes: {labels})", got=stray[0]
        )
    return check_probabilities([option[label] for label in labels], "class_prior")
