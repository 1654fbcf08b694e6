"""What the model believes a column holds given each class: densities of numbers, probabilities of levels and of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, rel_entr

from merula.classify.fitted import CONDITIONAL
from merula.classify.readable import axis_unit, interval_of, shown
from merula.core import Array, InputError, Option, one_of
from merula.core.logspace import log_sum_exp
from merula.data.encode import encode_cells
from merula.data.schema import Column, Label
from merula.data.table import as_times, plain_label
from merula.distributions import CountDistribution, Distribution, TokenDistribution

if TYPE_CHECKING:
    from merula.classify.base import BayesianClassifier

CURVE = 101  # places along a number's range
TAIL = 0.002  # of a class's mass left out on either side
FLANK = np.array([1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 5e-4])  # shares where a narrow class's curve comes down to 0
MOST_LEVELS, MOST_WORDS, MOST_NUMBERS = 12, 15, 60


@dataclass(frozen=True)
class Conditional:
    """What a column holds given each class: densities along ``values``, or probabilities of levels or words.

    ``form`` is "density", "numbers", "levels" or "words"; ``given[label][k]`` belongs to ``values[k]``. Beside a density,
    ``masses[value][label]`` are the probabilities of single values. How many levels or words were left out is ``others``.
    ``axis`` is what numbers are told in, and how many of the column's own make one.
    """

    column: str
    form: str
    family: str
    values: tuple[Any, ...]
    given: Mapping[Label, tuple[float, ...]]
    is_time: bool = False
    others: int = 0
    masses: Mapping[float, Mapping[Label, float]] | None = None
    axis: tuple[str, float] = ("", 1.0)


def class_labels(model: BayesianClassifier) -> list[Label]:
    """The classes as plain labels, in the order of `classes_`."""
    return [plain_label(label) for label in model.classes_.tolist()]


def family_names(model: BayesianClassifier) -> dict[str, str]:
    """What each column that is modelled is modelled as."""
    return {name: block.family.name for block in model.fitted_.plan.blocks for name in block.columns}


def parts_of(model: BayesianClassifier, column: Column) -> tuple[Distribution, ...]:
    """The finest parts of the model that give the column's probability: one, but for mixtures; a ValueError if there is none."""
    parts = model.fitted_.factors_of(column.name)
    if not parts:
        raise InputError.at(f"column {column.name!r}", "is ignored: the model knows nothing of it")
    return parts


def quantiles(model: BayesianClassifier, column: str, shares: Array) -> Array:
    """Where these shares of a numeric column lie below, given each class and by each part that knows it: shares × (classes · parts)."""
    return np.hstack([part.quantiles(column, shares, len(model.classes_)) for part in model.fitted_.factors_of(column)])


def atoms(model: BayesianClassifier, column: str) -> Array:
    """The values of a numeric column that have a probability of their own, by any part that knows it."""
    classes = len(model.classes_)
    return np.unique(np.concatenate([part.atoms(column, classes) for part in model.fitted_.factors_of(column)]))


def conditional(model: BayesianClassifier, name: str, closely: int = 0) -> Conditional:
    """p(column given class); a ValueError that says why, where there is no such thing.

    A curve has places along the range of all classes, and `closely` more for each class, where its own mass is.
    """
    column = model.schema_[one_of(name, model.schema_.names, "column")]
    parts = parts_of(model, column)
    if model.fitted_.is_conditional and isinstance(
        parts[0], TokenDistribution
    ):  # words are as frequent, however much they count
        return _words(model, column, parts[0])
    if reason := CONDITIONAL if model.fitted_.is_conditional else "".join({part.no_density for part in parts}):
        raise InputError.at(f"column {name!r}", f"has no distribution given a class: {reason}")
    if model.missing == "level" and any(len(part.columns) > 1 for part in parts):
        raise InputError.at(f"column {name!r}", ("is modelled together with others whose being missing speaks too (", Option('missing', 'level'), "): it has no distribution of its own"))  # fmt: skip
    if isinstance(parts[0], TokenDistribution):
        return _words(model, column, parts[0])
    if column.kind == "categorical":
        return _levels(model, column, [level for level in column.levels or () if level is not None])
    if column.cuts is not None:
        return _levels(model, column, atoms(model, name).tolist())
    return _numbers(model, column, closely)


def _log_given(model: BayesianClassifier, column: Column, values: Sequence[Any]) -> Array:
    """log p(value given class) of one column by itself: values × classes."""
    rows = encode_cells(model.schema_, {column.name: values}, len(values))
    sums = [
        one.log_weight[:, None]
        + _above(one.log_prior, model.class_log_prior_)
        + sum(term.values for term in one.terms if column.name in term.part.columns)
        for one in model.fitted_.unsummed(rows)
    ]
    return sums[0] if len(sums) == 1 else log_sum_exp(np.stack(sums, axis=-1))


def _above(log_prior: Array, overall: Array) -> Array:
    """How far a component's prior lies above the model's; 0 for classes that the model takes for impossible."""
    possible = overall > -np.inf
    return np.where(possible, log_prior - np.where(possible, overall, 0.0), 0.0)


def _given(model: BayesianClassifier, probabilities: Array) -> dict[Label, tuple[float, ...]]:
    return {label: tuple(probabilities[:, index].tolist()) for index, label in enumerate(class_labels(model))}


def _levels(model: BayesianClassifier, column: Column, levels: Sequence[Any]) -> Conditional:
    """The levels (or the intervals these values lie in) most probable in some class; how many others there are is said."""
    if not levels:
        raise InputError.at(f"column {column.name!r}", "was always missing: it has no levels")
    probabilities = np.exp(_log_given(model, column, levels))
    kept = np.sort(np.argsort(-probabilities.max(axis=1), kind="stable")[:MOST_LEVELS])
    called = shown if column.cuts is None or column.kind == "categorical" else interval_of
    return Conditional(
        column.name,
        "levels",
        family_names(model)[column.name],
        tuple(called(column, levels[index]) for index in kept),
        _given(model, probabilities[kept]),
        others=len(levels) - len(kept),
    )


def _words(model: BayesianClassifier, column: Column, part: TokenDistribution) -> Conditional:
    """The words whose presence tells most: frequent in one class, rare in the others."""
    (words,), (table,) = part.vocabularies, part.log_table
    if not len(words) or not table.any():
        raise InputError.at(f"column {column.name!r}", "holds no word that tells classes apart")
    if not part.binary and table.max() > 0:
        raise InputError.at(f"column {column.name!r}", "is weighed by its words' complements, which are no probabilities")  # fmt: skip
    probabilities = expit(table) if part.binary else np.exp(table)  # that a text holds the word, or that a word is it
    telling = np.abs(rel_entr(probabilities, probabilities.mean(axis=1, keepdims=True))).max(axis=1)
    kept = np.argsort(-telling, kind="stable")[:MOST_WORDS]
    return Conditional(
        column.name,
        "words",
        family_names(model)[column.name],
        tuple(str(words[k]) for k in kept),
        _given(model, probabilities[kept]),
        others=len(words) - len(kept),
    )


def _numbers(model: BayesianClassifier, column: Column, closely: int) -> Conditional:
    """Densities from where the lowest class begins to where the highest ends; whole numbers if they are counted."""
    ends = quantiles(model, column.name, np.array([TAIL, 1 - TAIL]))
    low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
    if not high > low:
        raise InputError.at(f"column {column.name!r}", "never varied: it has no density")
    counted = all(isinstance(part, CountDistribution) for part in parts_of(model, column))
    values = _whole(low, high) if counted else _along(model, column.name, (low, high), closely)
    unit = column.unit if column.unit is not None and column.unit.startswith("datetime") else None
    return Conditional(
        column.name,
        "numbers" if counted else "density",
        family_names(model)[column.name],
        tuple(map(str, as_times(np.array(values), unit).astype("datetime64[ms]")) if unit else values),
        _given(model, np.exp(_log_given(model, column, values))),
        is_time=unit is not None,
        masses=None if counted else _masses(model, column, atoms(model, column.name).tolist()),
        axis=axis_unit(column, float(np.ptp(values))),
    )


def _along(model: BayesianClassifier, name: str, ends: tuple[float, float], closely: int) -> list[float]:
    """Places along a range, and where each class's own mass is; none of them a value that has a mass of its own."""
    places = np.linspace(*ends, CURVE)
    if closely:
        shares = np.concatenate([FLANK, np.linspace(TAIL, 1 - TAIL, closely), 1 - FLANK])
        places = np.concatenate([places, quantiles(model, name, shares).ravel()])
    within = places[(places >= ends[0]) & (places <= ends[1])]
    return np.setdiff1d(within, atoms(model, name)).tolist()  # type: ignore[no-any-return]


def _masses(model: BayesianClassifier, column: Column, atoms: list[float]) -> dict[float, dict[Label, float]] | None:
    if not atoms:
        return None
    chances = np.exp(_log_given(model, column, atoms)).tolist()
    return {value: dict(zip(class_labels(model), row, strict=True)) for value, row in zip(atoms, chances, strict=True)}


def _whole(low: float, high: float) -> list[float]:
    first, last = max(0, int(np.floor(low))), int(np.ceil(high))
    return [float(value) for value in range(first, last + 1, max(1, (last - first) // MOST_NUMBERS))]
