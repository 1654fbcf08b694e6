"""What the parts of a pooled model are worth: by themselves, and beside the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from merula.answers.decision import underlying
from merula.show.parts import PARTS

POOL = "pool"
Losses = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class PartWorth:
    """One part: its log loss by itself, and how much higher that of the pool is without it, with the standard error.

    Examples
    --------
    >>> from merula.answers.evaluation import PartWorth
    >>> part = PartWorth("twin", 0.31, gain=0.02, standard_error=0.004)
    >>> part.gain, part.title
    (0.02, 'logistic regression')
    """

    name: str
    log_loss: float
    gain: float
    standard_error: float

    @property
    def title(self) -> str:
        """What the part is called in sentences."""
        return PARTS.get(self.name, self.name)


@dataclass(frozen=True)
class Parts:
    """The parts of a pooled model and the log loss of them all together, means over the folds.

    They are judged by rows left out when the model was fitted to a fold's training rows, not by those that the fold tests.

    Examples
    --------
    >>> import merula as mr
    >>> rows = [[wing, song] for wing in range(60, 100) for song in ("long", "short")]
    >>> birds = ["tit" if wing < 75 or song == "short" else "wren" for wing, song in rows]
    >>> found = mr.evaluate(mr.AutoBayesClassifier(order=1, max_rounds=20), rows, birds, cv=2, repeats=1)
    >>> [part.name for part in found.models[0].parts.each]
    ['pairs', 'tables', 'twin']
    """

    log_loss: float
    each: tuple[PartWorth, ...]

    @classmethod
    def of(cls, folds: Sequence[tuple[Losses, Losses]]) -> Parts | None:
        """The means of what each fold's model has found: losses out of fold and gains; None where they are not made of several parts."""
        names = list(dict.fromkeys(name for _, gains in folds for name in gains))
        if len(names) < 2:
            return None
        return cls(_mean([losses[POOL][0] for losses, _ in folds]), tuple(_worth(name, folds) for name in names))


def found_of_parts(model: Any) -> tuple[Losses, Losses]:
    """What a fitted model has found of its parts: losses out of fold, and gains; nothing of a model that has none."""
    own = underlying(model)
    return (own.out_of_fold_, own.gains_) if hasattr(own, "gains_") else ({}, {})


def _worth(name: str, folds: Sequence[tuple[Losses, Losses]]) -> PartWorth:
    """A part that a fold's pool is without adds nothing to it."""
    gained = [gains.get(name, (0.0, 0.0)) for _, gains in folds]
    alone = [losses[name][0] for losses, _ in folds if name in losses]
    return PartWorth(name, _mean(alone), _mean([gain for gain, _ in gained]), _mean([error for _, error in gained]))


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))
