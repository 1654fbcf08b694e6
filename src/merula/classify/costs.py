"""What each action costs under each truth: read from arrays, tables and dicts into one labelled table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError, Option, nearest
from merula.core.sound import all_shaped, are_finite, are_labels
from merula.data.schema import Label
from merula.data.table import plain_label


@dataclass(frozen=True, eq=False)
class Costs:
    """``table[a, c]``: what action ``actions[a]`` costs when ``classes[c]`` is true; negative costs are gains."""

    table: Array
    actions: tuple[Label, ...]
    classes: tuple[Label, ...]

    def fits(self, classes: Sequence[Label]) -> bool:
        """True when these are costs of actions given these classes; a file from a stranger is asked before it is used."""
        shaped = all_shaped((len(self.actions), len(self.classes)), self.table) and list(self.classes) == list(classes)
        return shaped and len(self.actions) > 0 and are_labels(self.actions) and are_finite(self.table)


def read_costs(costs: Any, classes: Sequence[Any] | NDArray[Any] | None = None) -> Costs:
    """The labelled table of costs, its columns in the order of `classes`.

    Parameters
    ----------
    costs : None, array, data frame, mapping or Costs
        None is the 0/1 loss. An array has a row for each action and a column for each class; K × K for K classes means
        that the actions are the classes. A data frame has actions as its index and classes as its columns. A mapping is
        ``{action: {class: cost}}``; only the cost of an action that names the true class may be left out: it is 0.
    classes : sequence, optional
        The classes; without them, those the costs name, or numbers from 0.

    Examples
    --------
    >>> from merula.answers.decision import read_costs
    >>> costs = read_costs({"treat": {"ill": 1, "healthy": 5}, "wait": {"ill": 20, "healthy": 0}}, ["healthy", "ill"])
    >>> costs.actions, costs.table.tolist()
    (('treat', 'wait'), [[5.0, 1.0], [0.0, 20.0]])
    """
    known = None if classes is None else tuple(plain_label(label) for label in np.asarray(classes).tolist())
    if costs is None:
        if known is None:
            raise InputError(("the 0/1 loss needs to know the classes: give ", Option("classes"), ", or costs"))
        return Costs(1.0 - np.eye(len(known)), known, known)
    if isinstance(costs, Costs):
        costs = _nested(costs.table, costs.actions, costs.classes)
    elif hasattr(costs, "columns") and hasattr(costs, "index") and hasattr(costs, "to_numpy"):
        costs = _nested(costs.to_numpy(), costs.index.tolist(), costs.columns.tolist())
    elif hasattr(costs, "columns"):
        raise InputError.at(
            "costs",
            "is a table without an index to name the actions",
            remedy="give {action: {class: cost}} or an array",
        )
    read = _from_mapping(costs, known) if isinstance(costs, Mapping) else _from_array(costs, known)
    if not np.isfinite(read.table).all():
        action, label = np.argwhere(~np.isfinite(read.table))[0]
        raise InputError(
            f"the cost of action {read.actions[action]!r} when {read.classes[label]!r} is true is {read.table[action, label]}",
            remedy="every cost must be a number",
        )
    return read


def _nested(table: Any, actions: Sequence[Any], classes: Sequence[Any]) -> dict[Any, dict[Any, Any]]:
    if len(set(actions)) < len(actions) or len(set(classes)) < len(classes):
        raise InputError.at(
            "costs", f"names an action or a class twice (actions {list(actions)}, classes {list(classes)})"
        )
    return {
        plain_label(action): {plain_label(label): value for label, value in zip(classes, row, strict=True)}
        for action, row in zip(actions, np.asarray(table).tolist(), strict=True)
    }


def _from_array(costs: Any, classes: tuple[Label, ...] | None) -> Costs:
    try:
        table = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError.of("costs", costs, "numbers with a row for each action and a column for each class") from None
    wanted = "any number of actions × classes" if classes is None else f"any number of actions × {len(classes)} classes"
    if table.ndim != 2 or table.size == 0 or (classes is not None and table.shape[1] != len(classes)):
        raise InputError.at(
            "costs", f"has shape {table.shape}", got=table.shape, expected=f"{wanted} (row = action, column = truth)"
        )
    labels = tuple(range(table.shape[1])) if classes is None else classes
    return Costs(table, labels if table.shape[0] == len(labels) else tuple(range(table.shape[0])), labels)


def _from_mapping(costs: Mapping[Any, Any], classes: tuple[Label, ...] | None) -> Costs:
    for action, row in costs.items():
        if not isinstance(row, Mapping):
            raise InputError.of(f"costs[{action!r}]", row, "{class: cost}")
    if not costs:
        raise InputError.at("costs", "is empty", expected="{action: {class: cost}}")
    named = tuple(dict.fromkeys(label for row in costs.values() for label in row))
    labels = named if classes is None else classes
    stray = [label for label in named if label not in labels]
    if stray:
        raise InputError.at(
            "costs",
            f"names class {stray[0]!r}, which is none of the classes {list(labels)}{nearest(stray[0], map(str, labels))}",
            got=stray[0],
        )
    table = [[_cost(action, row, label) for label in labels] for action, row in costs.items()]
    return Costs(np.array(table, dtype=np.float64), tuple(costs), labels)


def _cost(action: Any, row: Mapping[Any, Any], label: Any) -> float:
    if label not in row and action != label:
        raise InputError.at(f"costs[{action!r}]", f"says nothing of class {label!r}", remedy="give its cost")
    value = row.get(label, 0.0)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError.of(f"costs[{action!r}][{label!r}]", value, "a number") from None


def checked_reject_cost(reject_cost: Any) -> float | None:
    """The cost of rejecting a row, None for never; a ValueError if it is negative or no number."""
    if reject_cost is None:
        return None
    try:
        cost = float(reject_cost)
    except (TypeError, ValueError):
        raise InputError.of("reject_cost", reject_cost, "a number from 0, or None for never") from None
    if not 0 <= cost < inf:
        raise InputError.of("reject_cost", reject_cost, "a number from 0, or None for never")
    return cost


def checked_reject_label(reject_label: Any, actions: tuple[Label, ...]) -> Label:
    """What a rejected row is called: as asked, else −1 where actions are numbers and "reject" where they are words."""
    if reject_label is None:
        numbers = all(isinstance(action, int | float) and not isinstance(action, bool) for action in actions)
        reject_label = -1 if numbers else "reject"
    if reject_label in actions:
        raise InputError.at(
            "reject_label",
            f"is {reject_label!r}, which is also an action",
            got=reject_label,
            remedy="choose another word for 'no decision'",
        )
    return reject_label


def binary_threshold(costs: Any, classes: Sequence[Any] | NDArray[Any] | None = None) -> float:
    """The probability of the second class from which on the second action costs no more than the first.

    p ≥ (λ10 − λ00) / ((λ10 − λ00) + (λ01 − λ11)), λ[action, truth]; 0 if the second action is never worse, inf if never better.

    Examples
    --------
    >>> import merula as mr
    >>> round(mr.binary_threshold([[0, 10], [1, 0]]), 4)
    0.0909
    """
    read = read_costs(costs, classes)
    if read.table.shape != (2, 2):
        raise InputError.at("costs", f"has shape {read.table.shape}", got=read.table.shape, remedy="a threshold needs two actions and two classes")  # fmt: skip
    loss, gain = (float(value) for value in (read.table[1] - read.table[0]) * [1, -1])
    if loss <= 0 <= gain:
        return 0.0
    if gain <= 0 <= loss:
        return inf
    if loss < 0:
        raise InputError(
            f"under these costs the second action ({read.actions[1]!r}) pays when {read.classes[1]!r} is *im*probable",
            remedy="swap the rows of costs",
        )
    return loss / (loss + gain)
