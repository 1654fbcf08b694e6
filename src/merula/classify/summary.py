"""A fitted model in short: its classes, and for each column its kind, its family, what is missing, what it holds given each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from merula.classify.conditionals import Conditional, class_labels, conditional, family_names, parts_of
from merula.classify.readable import axis_unit
from merula.core import Array, InputError
from merula.data.schema import Column, Label
from merula.data.table import as_times, times_longer
from merula.distributions import CountDistribution, GaussianDistribution, MultivariateGaussianDistribution
from merula.show.numbers import NOTHING, rounded, short
from merula.show.text import shortened
from merula.stats import known_weight

if TYPE_CHECKING:
    from merula.classify.base import BayesianClassifier

Items = tuple[str, ...]  # short texts, each of which stays on one line
ONE_SIGMA = ndtr([-1.0, 0.0, 1.0])  # the shares below mean − deviation, mean, mean + deviation of a normal column
MOST_LEVELS, MOST_WORDS, LONGEST = 3, 4, 24
DAY, MINUTE = 86_400, 60  # seconds


@dataclass(frozen=True)
class ColumnLine:
    """One column: how it is read and modelled, the share of its cells that is missing (None if unknown), what it holds.

    ``form`` says how to read what it holds ``given`` each class: "moments", "range", "levels", "words" or "nothing".
    """

    name: str
    kind: str
    family: str
    missing: float | None
    form: str
    given: tuple[Items, ...]


@dataclass(frozen=True)
class ModelSummary:
    """A model in short; `rows` is the weight it learned from, None where its probabilities were stated."""

    rows: float | None
    columns: int
    classes: int
    prior: Mapping[Label, float]
    lines: tuple[ColumnLine, ...]


def summarise_model(model: BayesianClassifier, most_columns: int = 20, most_classes: int = 8) -> ModelSummary:
    """The first columns of a fitted model, and its most probable classes."""
    prior, collected = np.exp(model.class_log_prior_), model.fitted_.collected
    indices = np.sort(np.argsort(-prior, kind="stable")[:most_classes]).tolist()
    labels, missing, families = class_labels(model), _missing_shares(model), family_names(model)
    lines = []
    for column in model.schema_.columns[:most_columns]:
        lost = missing.get(column.name)
        form, given = _given(model, column) if lost != 1 else _nothing(model)
        family = families.get(column.name, "").replace("_", " ")
        lines.append(
            ColumnLine(column.name, column.holds, family, lost, form, tuple(given[index] for index in indices))
        )
    return ModelSummary(
        None if collected is None else float(collected.class_counts.weight.sum()),
        len(model.schema_.columns),
        len(labels),
        {labels[index]: float(prior[index]) for index in indices},
        tuple(lines),
    )


def _missing_shares(model: BayesianClassifier) -> dict[str, float]:
    """The share of each column's cells that was missing, of those columns whose statistic tells."""
    fitted = model.fitted_
    if fitted.collected is None:
        return {}
    total, shares = float(fitted.collected.class_counts.weight.sum()), dict[str, float]()
    for block, statistic in zip(fitted.plan.blocks, fitted.collected.blocks, strict=True):
        known = known_weight(statistic)
        if known is not None and total > 0:
            lost = np.clip(1 - known / total, 0.0, 1.0)
            lost[lost < 1e-12] = 0.0  # what rounding leaves of a sum of weights is not a missing cell
            shares |= dict(zip(block.columns, lost.tolist(), strict=True))
    return shares


def _given(model: BayesianClassifier, column: Column) -> tuple[str, list[Items]]:
    """What a column holds given each class; nothing where the model has no such thing."""
    try:
        if column.kind not in ("categorical", "text") and column.cuts is None:
            return _spreads(model, column)
        found = conditional(model, column.name)
    except ValueError:
        return _nothing(model)
    return found.form, _listed(found)


def _nothing(model: BayesianClassifier) -> tuple[str, list[Items]]:
    return "nothing", [(NOTHING,)] * len(model.classes_)


def _listed(found: Conditional) -> list[Items]:
    """The most probable levels of each class; the words most of all more frequent in a class than in the mean of all."""
    chances = np.array(list(found.given.values()))
    words = found.form == "words"
    telling = chances - chances.mean(axis=0) if words else chances
    order = np.argsort(-telling, axis=1, kind="stable")[:, : MOST_WORDS if words else MOST_LEVELS]
    lists = []
    for own, more, kept in zip(chances, telling, order, strict=True):
        texts = [f"{shortened(found.values[k], LONGEST)}: {short(own[k], 3)}" for k in kept if more[k] > 0] or [NOTHING]
        lists.append((*(f"{text}," for text in texts[:-1]), texts[-1]))
    return lists


# -------------------------------------------------------------------------------------------------------------- numbers


def _spreads(model: BayesianClassifier, column: Column) -> tuple[str, list[Items]]:
    """Mean ± standard deviation of normal columns and of counts; else the median, and from 16% to 84% of the mass."""
    part, *others = parts_of(model, column)
    if others or part.no_density:
        raise InputError.at(f"column {column.name!r}", part.no_density or "is known to several components")
    if isinstance(part, CountDistribution):
        return "moments", _plus_minus(*part.mean_and_deviation(column.name))
    reach = part.quantiles(column.name, ONE_SIGMA, len(model.classes_))
    spread = float((reach[2] - reach[0]).max())
    if column.unit is not None and column.unit.startswith("datetime"):
        return "range", [_around([_time(column.unit, value, spread) for value in row]) for row in reach.T]
    unit, size = axis_unit(column, spread)
    if isinstance(part, GaussianDistribution | MultivariateGaussianDistribution):
        return "moments", _plus_minus(reach[1] / size, (reach[2] - reach[1]) / size, unit)
    return "range", [_around([rounded(value / size, spread / size) for value in row], unit) for row in reach.T]


def _plus_minus(mean: Array, deviation: Array, unit: str = "") -> list[Items]:
    spread = float(deviation.max())
    pairs = zip(mean, deviation, strict=True)
    return [(f"{rounded(m, spread)} ± {rounded(d, spread)} {unit}".rstrip(),) for m, d in pairs]


def _around(texts: Sequence[str], unit: str = "") -> Items:
    low, middle, high = texts
    return middle, f"({low} – {high}) {unit}".rstrip()


def _time(unit: str, value: float, spread: float) -> str:
    """An instant as finely as the column's spread makes sense: to the day, to the minute, or whatever it is."""
    moment, seconds = as_times(np.array([value]), unit)[0], spread * times_longer(unit, "datetime64[s]")
    fine = "D" if seconds >= 2 * DAY else "m" if seconds >= 2 * MINUTE else "ms"
    return str(moment.astype("datetime64[ms]").astype(f"datetime64[{fine}]")).replace("T", " ")
