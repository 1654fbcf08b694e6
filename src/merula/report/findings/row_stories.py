"""Rows worth a look, explained: those the model is least and most certain of, and those whose class surprises it most."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.answers.explanation import explain
from merula.answers.explanation.reasons import Explanation
from merula.classify.base import BayesianClassifier
from merula.core import Array, InputError
from merula.core.logspace import to_posterior
from merula.data.encode import Encoded
from merula.data.encode.tokens import words
from merula.data.schema import Label
from merula.data.table import plain_label
from merula.distributions.multinomial import TokenDistribution
from merula.report.findings.result import RowStory

MOST_WORDS = 10  # of a text, that are named
CHOSEN = {"least certain": 3, "most surprising": 2, "most certain": 2}


def checked_numbers(numbers: Any, rows: int) -> NDArray[np.int64]:
    """What the rows are called: 1, 2, 3, … unless they are given."""
    if numbers is None:
        return np.arange(1, rows + 1)
    given = np.asarray(numbers)
    if given.shape != (rows,) or given.dtype.kind not in "iu":
        raise InputError.at("row_numbers", f"has the shape {given.shape} and holds {given.dtype}", expected=f"a whole number for each of {rows:,} rows")  # fmt: skip
    return given.astype(np.int64)


def row_stories(
    model: BayesianClassifier, rows: Encoded, truth: NDArray[np.int64], numbers: NDArray[np.int64]
) -> tuple[RowStory, ...]:
    """The chosen rows with their `numbers` and explanations, by a model that has seen them."""
    labels = [plain_label(label) for label in model.classes_.tolist()]
    posterior, _ = model.fitted_.score(rows, to_posterior, model.n_jobs)
    return tuple(
        _story(model, int(numbers[row]), why, labels[truth[row]], explain(model, rows.take(np.array([row]))))
        for why, row in chosen_rows(posterior, truth)
    )


def _story(model: BayesianClassifier, number: int, why: str, truth: Label, explanation: Explanation) -> RowStory:
    position = explanation.classes.index(explanation.label)
    others = [k for k in np.argsort(-explanation.posterior, kind="stable").tolist() if k != position]
    telling = _telling_words(model, explanation, position, others[0])
    return RowStory(number, why, truth, explanation, telling, explanation.classes[others[0]])


def _telling_words(
    model: BayesianClassifier, explanation: Explanation, position: int, rival: int
) -> tuple[tuple[str, float], ...]:
    """The words of a row's texts that tell most between two classes; between two, words' weights add up to the text's."""
    weights: dict[str, float] = {}
    texts = {
        reason.columns[0]: reason.values[0]
        for reason in explanation.reasons
        if reason.known and len(reason.columns) == 1
    }
    for part, factor in model.fitted_.components[0].weighted_parts:
        if not isinstance(part, TokenDistribution):
            continue
        for column, vocabulary, table in zip(part.columns, part.vocabularies, part.log_table, strict=True):
            known = {word: k for k, word in enumerate(vocabulary)}
            for word, count in Counter(words(texts.get(column, ""))).items():
                if word in known:
                    term = table[known[word]]
                    weight = factor * float(term[position] - term[rival]) * (1 if part.binary else count)
                    weights[word] = weights.get(word, 0.0) + weight
    return tuple(sorted(weights.items(), key=lambda pair: (-abs(pair[1]), pair[0]))[:MOST_WORDS])


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
