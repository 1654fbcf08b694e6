"""The model that may leave the house: without the rows it was learned from, rare levels pooled, and what that has changed."""

from __future__ import annotations

import warnings
from typing import Any

from numpy.typing import NDArray

from merula.answers.decision import DecisionClassifier, read_costs, underlying
from merula.answers.explanation.reasons import own_classifier
from merula.classify.counted import Counts
from merula.show.numbers import short


def model_that_leaves(model: Any, min_cell: float | None = None) -> tuple[Any, list[Any]]:
    """The model to be written, and what sets it apart from the one given, for the page to say."""
    inner, said = own_classifier(underlying(model), "a page holds the terms of one"), list[Any]()
    if min_cell is not None:
        inner, told = _pooled(inner, min_cell)
        said += [{"says": "limit.pooled", "least": short(min_cell)}, *told]
    if getattr(inner, "keep_rows", False) and hasattr(inner, "portable"):
        whole, inner = inner, inner.portable()
        said += [{"says": "limit.portable"}] if whole.parts_ != inner.parts_ else []
    return inner, said


def _pooled(model: Any, min_cell: float) -> tuple[Any, tuple[str, ...]]:
    """The model made anew of its statistics without small cells; an error with the reason where that cannot be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what was pooled is told on the page
        counts = Counts.of(model).pooled(min_cell)
    return counts.model(), counts.notes


def costs_of(model: Any, costs: Any, classes: NDArray[Any]) -> dict[str, Any] | None:
    """The costs given, else those of a DecisionClassifier, as plain data; None where there are none."""
    reject = None
    if costs is None and isinstance(model, DecisionClassifier):
        costs, reject = model.costs, model.reject_cost
    if costs is None and reject is None:
        return None
    read = read_costs(costs, classes)
    return {
        "actions": [str(action) for action in read.actions],
        "table": read.table.tolist(),
        "reject": None if reject is None else float(reject),
    }
