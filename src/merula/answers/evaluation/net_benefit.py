"""Decision curves: what acting on a model's probabilities is worth at each threshold, beside acting always and never.

net benefit(t) = true positives / n − false positives / n · t / (1 − t)

The threshold t says how many needless actions one right action is worth: whoever acts from a probability of 0.1 on takes nine needless
ones for one that was needed (Vickers & Elkin 2006, "Decision curve analysis").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError
from merula.data.schema import Label
from merula.show.colors import COLORS, QUIET
from merula.show.numbers import fixed
from merula.show.plots import draw_on, literal
from merula.show.terminal import colored
from merula.show.text import text_table

if TYPE_CHECKING:
    from merula.answers.evaluation.result import Evaluation

MOST_SHOWN = 20
THRESHOLDS = np.linspace(0.01, 0.99, 99)


@dataclass(frozen=True, eq=False)
class DecisionCurve:
    """Net benefit of acting where P(label given row) is at least the threshold, of each model, of acting always, and of acting never (0).

    Examples
    --------
    >>> import merula as mr
    >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
    >>> curve = mr.evaluate(mr.NaiveBayesClassifier(), heights, sexes, cv=3).decision_curve("m", thresholds=[0.5])
    >>> curve.models["NaiveBayesClassifier"].tolist(), curve.always.tolist()
    ([0.5], [0.0])
    """

    label: Label
    thresholds: Array
    models: dict[str, Array]
    always: Array

    def useful(self, model: str) -> Array:
        """The thresholds at which acting by the model is worth more than acting always and than acting never."""
        return self.thresholds[self.models[model] > np.maximum(self.always, 0.0) + 1e-12]

    def rows(self) -> list[list[str]]:
        """A line for each of the thresholds that are shown, at most twenty."""
        step = -(-len(self.thresholds) // MOST_SHOWN)
        chosen = range(step - 1, len(self.thresholds), step)
        lines = [[fixed(float(self.thresholds[at])), *(fixed(float(values[at])) for values in (*self.models.values(), self.always)), fixed(0.0)] for at in chosen]  # fmt: skip
        return [["threshold", *self.models, "act always", "act never"], *lines]

    def __str__(self) -> str:
        return text_table(f"net benefit of acting on {self.label}, per row", self.rows(), 1)

    def __repr__(self) -> str:
        return str(self)

    __rich__ = colored

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        curves = {name: values.tolist() for name, values in self.models.items()}
        return {"label": self.label, "thresholds": self.thresholds.tolist(), "models": curves, "always": self.always.tolist()}  # fmt: skip

    def plot(self, ax: Any = None) -> Any:
        """The matplotlib axes with a line for each model, for acting always and for acting never."""

        def draw(ax: Any) -> None:
            ax.plot(self.thresholds, self.always, color=QUIET, linestyle="--", label="act always")
            ax.axhline(0.0, color=QUIET, linewidth=1, label="act never")
            for colour, (name, values) in zip(COLORS, self.models.items(), strict=False):
                ax.plot(self.thresholds, values, color=colour, label=literal(name))
            highest = max([float(self.always.max()), *(float(values.max()) for values in self.models.values()), 0.01])
            ax.set_ylim(-0.25 * highest, 1.05 * highest)
            ax.set_xlabel(literal(f"threshold: act if P({self.label}) ≥"))
            ax.set_ylabel("net benefit")
            ax.legend(frameon=False)

        return draw_on(ax, (7, 4.5), [str(self.label), *self.models], draw)


def decision_curve(evaluation: Evaluation, label: Label, thresholds: Any = None) -> DecisionCurve:
    """The curve of every model of an evaluation, over all tested rows of all folds."""
    from merula.answers.evaluation.metrics import pooled
    from merula.answers.evaluation.result import answers_of

    index, at = evaluation.classes.index(label), _checked(thresholds)
    answers = {model.name: pooled(answers_of(evaluation, model.probabilities)) for model in evaluation.models}
    first = next(iter(answers.values()))
    weights = np.ones(len(first.truth)) if first.weights is None else first.weights
    truth = first.truth == index
    models = {name: net_benefit(truth, one.proba[:, index], weights, at) for name, one in answers.items()}
    return DecisionCurve(label, at, models, net_benefit(truth, np.ones(len(truth)), weights, at))


def net_benefit(truth: NDArray[np.bool_], proba: Array, weights: Array, thresholds: Array) -> Array:
    """True positives less false positives · t / (1 − t), as shares of all rows, at each threshold.

    Examples
    --------
    >>> net_benefit(np.array([True, False]), np.array([0.9, 0.6]), np.ones(2), np.array([0.5, 0.75])).tolist()
    [0.0, 0.5]
    """
    acted = proba[None] >= thresholds[:, None]
    right, wrong = (acted @ (weights * some) / weights.sum() for some in (truth, ~truth))
    return np.asarray(right - wrong * thresholds / (1 - thresholds))


def _checked(thresholds: Any) -> Array:
    at = THRESHOLDS if thresholds is None else np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
    if at.ndim != 1 or not len(at) or not ((at > 0) & (at < 1)).all():
        raise InputError.of("thresholds", thresholds, "probabilities between 0 and 1, neither of them included")
    return at
