"""What the page's next question needs of a model: who is asked, and where the numbers of a column are summed or integrated."""

from __future__ import annotations

from typing import Any

import numpy as np

from merula.answers.question import LANDMARKS, askable, asked_instead
from merula.classify.base import BayesianClassifier
from merula.classify.conditionals import atoms, quantiles
from merula.core import Array, InputError
from merula.data.schema import Column
from merula.web.page.plain import array


def ask_data(model: BayesianClassifier) -> dict[str, Any]:
    """Whether the model itself is asked, or the joint part of a pool, or none and why; and its columns of numbers by their indices."""
    asked = vars(model).get("joint_", model)
    try:
        askable(asked)
    except InputError:
        gives_rows = not (asked.fitted_.no_joint or asked.fitted_.weights_vary)
        return {"of": None, "why": {"says": "question.level" if gives_rows else "question.none"}, "columns": {}}
    if asked is not model:
        return {"of": "joint", "asked": asked_instead(model), "columns": {}}
    named = {str(index): _places(model, column) for index, column in enumerate(model.schema_.columns) if column.kind in ("numeric", "count", "datetime")}  # fmt: skip
    return {"of": "self", "columns": named}


def _places(model: BayesianClassifier, column: Column) -> dict[str, Any]:
    """Edges between which a density changes smoothly, values that have a probability of their own, and whether these are all."""
    parts = model.fitted_.factors_of(column.name)
    if not parts:
        return {"edges": [], "atoms": [], "discrete": True}
    edges = np.unique(quantiles(model, column.name, LANDMARKS))
    discrete = all(part.discrete for part in parts)
    told = {"edges": array(edges[np.isfinite(edges)]), "discrete": discrete}
    try:
        return {**told, **_atoms(atoms(model, column.name))}
    except InputError as error:  # too many to ask about one by one
        return {"edges": [], "atoms": [], "discrete": True, "why": str(error)}


def _atoms(values: Array) -> dict[str, Any]:
    """The values, or how many there are where they are the whole numbers from 0."""
    if len(values) > 2 and np.array_equal(values, np.arange(len(values))):
        return {"counts": len(values)}
    return {"atoms": array(values)}
