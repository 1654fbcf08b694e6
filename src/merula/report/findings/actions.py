"""The best action under the costs: how often each is taken, what it costs, and at which probabilities it is the best."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.answers.decision import Costs, decide
from merula.answers.evaluation import Evaluation
from merula.answers.evaluation.metrics import Answers
from merula.core import Array
from merula.report.findings.curves import best_threshold, tested
from merula.report.findings.result import Action, Actions

REJECTED = "no decision"


def summarise_actions(evaluation: Evaluation) -> Actions | None:
    """What to do under the evaluation's costs, by its first model; None where there are none."""
    costs = evaluation.costs
    if costs is None:
        return None
    answers = tested(evaluation, evaluation.models[0])
    label = None if evaluation.reject_cost is None else REJECTED
    chosen = decide(answers.proba, costs, evaluation.reject_cost, reject_label=label)
    reaches = _reaches(costs, evaluation.reject_cost, label) if len(costs.classes) == 2 else {}
    table = {action: costs.table[index] for index, action in enumerate(costs.actions)}
    if evaluation.reject_cost is not None:
        table[REJECTED] = np.full(len(costs.classes), evaluation.reject_cost)
    each = tuple(_action(name, row, chosen, answers, reaches.get(name)) for name, row in table.items())
    knowing = _mean(np.min(list(table.values()), axis=0)[answers.truth], answers)
    paid = {model.name: model.figures["mean_cost"].value for model in evaluation.beside_baseline}
    return Actions(
        each,
        {name: cost for name, cost in paid.items() if cost is not None},
        knowing,
        best_threshold(evaluation) if evaluation.reject_cost is None else None,
    )


def _mean(values: Array, answers: Answers) -> float:
    return float(np.average(values, weights=answers.weights))


def _action(name: Any, row: Array, chosen: NDArray[Any], answers: Answers, reach: Any) -> Action:
    taken = np.array([action == name for action in chosen.tolist()])
    weights = np.ones(len(taken)) if answers.weights is None else answers.weights
    by_class = np.bincount(answers.truth, weights * taken, minlength=len(row))
    classes = np.bincount(answers.truth, weights, minlength=len(row))
    shares = by_class / np.where(classes > 0, classes, 1.0)
    return Action(name, _mean(taken, answers), _mean(row[answers.truth], answers), tuple(shares.tolist()), reach)


def _reaches(costs: Costs, reject_cost: float | None, label: str | None) -> dict[Any, tuple[float, float]]:
    """Between which probabilities of the second class each action is the best: expected costs are lines, and lines cross."""
    start, slope = costs.table[:, 0], costs.table[:, 1] - costs.table[:, 0]
    if reject_cost is not None:
        start, slope = np.append(start, reject_cost), np.append(slope, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = -(start[:, None] - start) / (slope[:, None] - slope)
    edges = np.unique([0.0, 1.0, *crossings[(crossings > 0) & (crossings < 1)].round(12)])
    middles = (edges[:-1] + edges[1:]) / 2
    best = decide(np.column_stack([1 - middles, middles]), costs, reject_cost, reject_label=label).tolist()
    return {
        name: (float(edges[best.index(name)]), float(edges[len(best) - best[::-1].index(name)])) for name in set(best)
    }
