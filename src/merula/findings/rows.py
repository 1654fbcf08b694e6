"""Rows worth a look, explained: those the model is least and most certain of, and those whose class surprises it most."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.explanation import explain
from merula.findings.result import RowStory
from merula.table import RowSource, plain_label

Array = NDArray[np.float64]
CHOSEN = {"least certain": 3, "most surprising": 2, "most certain": 2}


def row_stories(model: Any, rows: RowSource, X: Any, truth: NDArray[np.int64]) -> tuple[RowStory, ...]:
    """The chosen rows with their explanations, by a model that has seen them."""
    proba = model.predict_proba(X)
    labels = [plain_label(label) for label in model.classes_.tolist()]
    return tuple(
        RowStory(row + 1, why, labels[truth[row]], explain(model, rows.take(np.array([row]))))
        for why, row in chosen_rows(proba, truth)
    )


def chosen_rows(proba: Array, truth: NDArray[np.int64]) -> list[tuple[str, int]]:
    """Which rows to explain, and why; a row is chosen once, ties go to the earlier one.

    Examples
    --------
    >>> import numpy as np
    >>> proba = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
    >>> chosen_rows(proba, np.array([1, 0, 1]))
    [('least certain', 1), ('most surprising', 0), ('most certain', 2)]
    """
    certainty, own = proba.max(axis=1), proba[np.arange(len(proba)), truth]
    wrong = np.flatnonzero(proba.argmax(axis=1) != truth)
    candidates = {
        "least certain": np.argsort(certainty, kind="stable"),
        "most surprising": wrong[np.argsort(own[wrong], kind="stable")],
        "most certain": np.argsort(-certainty, kind="stable"),
    }
    limits = {why: max(1, min(most, len(proba) // 3)) for why, most in CHOSEN.items()}
    chosen: list[tuple[str, int]] = []
    for why, order in candidates.items():
        taken = {row for _, row in chosen}
        chosen += [(why, row) for row in order.tolist() if row not in taken][: limits[why]]
    return chosen
