"""How well each class is told: how many of its rows are found, and how many of the rows taken for it are of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from merula.answers.evaluation import Evaluation
from merula.answers.evaluation.reliability import wilson_interval
from merula.data.schema import Label
from merula.show.numbers import NOTHING, percent


@dataclass(frozen=True)
class Share:
    """A share of so many rows, with its 95 % interval; None where there are no rows."""

    value: float | None
    interval: tuple[float, float] = (0.0, 1.0)

    def __str__(self) -> str:
        if self.value is None:
            return NOTHING
        low, high = map(_end, self.interval)
        return f"{percent(self.value)} ({low} to {high} %)"


def _end(share: float) -> str:
    """An end of an interval, in whole percent; one that is only near 0 or 100 % has a decimal."""
    whole = f"{100 * share:.0f}"
    return whole if whole not in ("0", "100") else percent(share).removesuffix(" %")


@dataclass(frozen=True)
class ClassFigures:
    """One class: the weight of its tested rows, the share of them that is found, and of the rows predicted the share that is right."""

    label: Label
    rows: float
    recall: Share
    precision: Share


def class_figures(evaluation: Evaluation) -> list[ClassFigures]:
    """The figures of each class by the first model, each tested row counted once."""
    confusion = evaluation.models[0].confusion
    hits, actual, predicted = np.diagonal(confusion), confusion.sum(axis=1), confusion.sum(axis=0)
    return [
        ClassFigures(label, float(actual[k]), _share(hits[k], actual[k]), _share(hits[k], predicted[k]))
        for k, label in enumerate(evaluation.classes)
    ]


def _share(hits: float, rows: float) -> Share:
    if rows <= 0:
        return Share(None)
    value = min(1.0, float(hits / rows))
    return Share(value, wilson_interval(value, float(rows)))
