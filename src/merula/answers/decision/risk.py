"""From probabilities to actions: the expected cost of each action, and the one that costs least.

R(action given row) = Σ_class cost[action, class] · P(class given row)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.classify.costs import Costs, checked_reject_cost, checked_reject_label, read_costs
from merula.core import Array, InputError, check_probabilities
from merula.core.compiled import kernel
from merula.core.threads import for_each_block
from merula.data.schema import Label
from merula.data.table import label_array

REJECT = -1  # in place of an action's number
SUM_TOLERANCE = 1e-5  # posteriors of other libraries may be single precision
TILE = 16_384


def conditional_risk(proba: Any, costs: Any, *, classes: Sequence[Any] | NDArray[Any] | None = None) -> Array:
    """The expected cost of each action for each row: array of shape (n_rows, n_actions).

    R(a given x) = Σ_c λ[a, c] · P(c given x)

    Parameters
    ----------
    proba : array of shape (n_rows, n_classes)
        P(class given row); a data frame's columns name the classes.
    costs : array, data frame, mapping or None
        As for `read_costs`: row = action, column = truth.
    classes : sequence, optional
        The classes the columns of `proba` stand for, where costs name classes and `proba` does not.

    Examples
    --------
    >>> import merula as mr
    >>> mr.conditional_risk([[0.8, 0.2]], [[0, 10], [1, 0]])
    array([[2. , 0.8]])
    """
    posterior, read = _posterior_and_costs(proba, costs, classes)
    return posterior @ read.table.T


def decide(
    proba: Any,
    costs: Any = None,
    reject_cost: float | None = None,
    *,
    classes: Sequence[Any] | NDArray[Any] | None = None,
    reject_label: Any = None,
) -> NDArray[Any]:
    """The action of least expected cost for each row; ties go to the first action.

    Parameters
    ----------
    proba, costs, classes
        As for `conditional_risk`.
    reject_cost : float, optional
        What it costs to make no decision: a row whose every action is expected to cost more is rejected.
    reject_label : optional
        What to answer for such a row; −1 where actions are numbers, "reject" where they are words.

    Examples
    --------
    >>> import merula as mr
    >>> costs = {"treat": {"ill": 0, "healthy": 1}, "wait": {"ill": 10, "healthy": 0}}
    >>> mr.decide([[0.2, 0.8], [0.05, 0.95]], costs, classes=["ill", "healthy"]).tolist()
    ['treat', 'wait']
    >>> mr.decide([[0.9, 0.1], [0.6, 0.4]], reject_cost=0.2).tolist()
    [0, -1]
    """
    posterior, read = _posterior_and_costs(proba, costs, classes)
    reject = checked_reject_cost(reject_cost)
    labels = action_labels(read.actions, reject_label, reject is not None)
    return labels[least_risk(posterior, read.table, reject)[0]]


def bayes_risk(
    proba: Any,
    costs: Any = None,
    reject_cost: float | None = None,
    *,
    classes: Sequence[Any] | NDArray[Any] | None = None,
) -> Array:
    """The expected cost of the best action (or of rejecting) for each row: array of shape (n_rows,).

    min_a R(a given x); its mean over rows is the risk of the best rule.

    Examples
    --------
    >>> import merula as mr
    >>> mr.bayes_risk([[0.8, 0.2], [0.5, 0.5]], [[0, 10], [1, 0]])
    array([0.8, 0.5])
    """
    posterior, read = _posterior_and_costs(proba, costs, classes)
    return least_risk(posterior, read.table, checked_reject_cost(reject_cost))[1]


def adjust_prior(proba: Any, old_prior: Any, new_prior: Any) -> Array:
    """Posteriors as they would be had the classes been as frequent as `new_prior` says, not `old_prior`.

    P'(c given x) ∝ P(c given x) · new[c] / old[c]; for a merula model, `with_class_prior` does it exactly.

    Examples
    --------
    >>> import merula as mr
    >>> mr.adjust_prior([[0.5, 0.5]], old_prior=[0.5, 0.5], new_prior=[0.9, 0.1])
    array([[0.9, 0.1]])
    """
    posterior = checked_posterior(proba)
    old, new = check_probabilities(old_prior, "old_prior"), check_probabilities(new_prior, "new_prior")
    if not old.shape == new.shape == posterior.shape[1:]:
        raise InputError.at(
            "proba",
            f"has {posterior.shape[1]} classes, old_prior {old.size}, new_prior {new.size}",
            remedy="give a list with one probability for each class",
        )
    if ((old == 0) & (new > 0)).any():
        raise InputError.at(
            "old_prior",
            f"gives class number {int(((old == 0) & (new > 0)).argmax())} probability 0: its posteriors say nothing to correct",
        )
    weighted = posterior * np.divide(new, old, out=np.zeros_like(new), where=old > 0)
    total = weighted.sum(axis=1, keepdims=True)
    return np.where(total > 0, weighted / np.where(total > 0, total, 1.0), new)


def least_risk(posterior: Array, table: Array, reject_cost: float | None) -> tuple[NDArray[np.int64], Array]:
    """The number of each row's best action (−1: reject), and what it is expected to cost."""
    chosen, risk = np.empty(len(posterior), dtype=np.int64), np.empty(len(posterior))
    saving = np.ascontiguousarray(table.max(axis=0) - table)
    limit = np.inf if reject_cost is None else reject_cost

    def tile(start: int) -> None:
        part = slice(start, start + TILE)
        _least_risk(posterior[part], np.ascontiguousarray(table), saving, limit, chosen[part], risk[part])

    for_each_block(tile, len(posterior), None, TILE)
    return chosen, risk


@kernel
def _least_risk(
    posterior: Array, table: Array, saving: Array, limit: float, chosen: NDArray[np.int64], risk: Array
) -> None:
    """The action that saves most against the worst under each truth: under the 0/1 loss exactly the largest posterior."""
    for row in range(posterior.shape[0]):
        best, most = 0, -np.inf
        for action in range(saving.shape[0]):
            saved = 0.0
            for label in range(saving.shape[1]):
                saved += saving[action, label] * posterior[row, label]
            if saved > most:
                best, most = action, saved
        cost = 0.0
        for label in range(table.shape[1]):
            cost += table[best, label] * posterior[row, label]
        chosen[row], risk[row] = (best, cost) if cost <= limit else (REJECT, limit)


def action_labels(actions: tuple[Label, ...], reject_label: Any, with_reject: bool) -> NDArray[Any]:
    """What each action is called, and last of all rejecting; numbers as numbers, words of one kind as words."""
    if reject_label is not None and not with_reject:
        raise InputError.at(
            "reject_label", "is given without reject_cost, so no row is ever rejected", remedy="give both or neither"
        )
    labels = (*actions, checked_reject_label(reject_label, actions)) if with_reject else actions
    numbers = all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels)
    words = all(isinstance(label, str) for label in labels)
    return np.array(labels) if numbers or words else label_array(labels)


def actual_costs(truth: NDArray[np.int64], chosen: NDArray[np.int64], costs: Costs, reject_cost: float | None) -> Array:
    """What each row's action really cost, given the number of its true class."""
    paid = costs.table[chosen, truth]
    return paid if reject_cost is None else np.where(chosen == REJECT, reject_cost, paid)


def _posterior_and_costs(proba: Any, costs: Any, classes: Any) -> tuple[Array, Costs]:
    if classes is None and hasattr(proba, "columns"):
        classes = list(proba.columns)
    posterior = checked_posterior(proba)
    if classes is None and isinstance(costs, Costs):
        classes = costs.classes
    if classes is None and (hasattr(costs, "keys") or hasattr(costs, "columns")):
        raise InputError.at("costs", "names classes, but the columns of proba have no names", remedy="say which they are: classes=model.classes_")  # fmt: skip
    if classes is None:
        classes = range(posterior.shape[1])
    read = read_costs(costs, list(classes))
    if posterior.shape[1] != len(read.classes):
        raise InputError.at(
            "proba",
            f"has {posterior.shape[1]} columns, but there are {len(read.classes)} classes ({list(read.classes)})",
        )
    return posterior, read


def checked_posterior(proba: Any, what: str = "proba", classes: int | None = None) -> Array:
    """Rows of probabilities that sum to 1, one column for each class; else an error naming the row."""
    wanted = "rows × classes" if classes is None else f"rows × {classes} classes"
    try:
        posterior = np.ascontiguousarray(proba, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError.of(what, proba, f"an array of probabilities, {wanted}") from None
    if posterior.ndim != 2 or posterior.shape[1] != (classes or posterior.shape[1] or 1):
        raise InputError.at(what, f"has shape {posterior.shape}", got=posterior.shape, expected=f"{wanted}")
    row = _first_bad_row(posterior, SUM_TOLERANCE)
    if row >= 0:
        raise InputError.at(
            f"row {row} of {what}",
            f"is {posterior[row].tolist()}",
            got=posterior[row].tolist(),
            remedy="probabilities are numbers from 0 to 1 that sum to 1",
        )
    return posterior


@kernel
def _first_bad_row(posterior: Array, tolerance: float) -> int:
    """The first row that holds no probabilities; −1 if all do."""
    for row in range(posterior.shape[0]):
        total, fine = 0.0, True
        for label in range(posterior.shape[1]):
            fine &= 0.0 <= posterior[row, label] <= 1.0 + tolerance  # False for NaN
            total += posterior[row, label]
        if not (fine and abs(total - 1.0) <= tolerance):
            return row
    return -1
