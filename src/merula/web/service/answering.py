"""Rows → what is answered for them, a block of rows at a time: posteriors, decisions, explanations, questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.answers.decision import Costs, checked_reject_cost, least_risk, read_costs
from merula.classify.costs import checked_reject_label
from merula.classify.fitted import MANY
from merula.core import Array, InputError, one_of
from merula.core.logspace import to_posterior, zero_evidence_notes
from merula.core.notes import kept_back
from merula.core.plain import to_plain
from merula.data.encode import Encoded
from merula.web.said.answers import Label, Note
from merula.web.said.requests import Asked
from merula.web.service.models import Served
from merula.web.service.reading import Rows

BLOCK = 16_384  # rows that are scored at once
FEW = {"explain": 64, "question": 8}  # rows that are answered at once where each takes long
SHOWN_ROWS = 20


@dataclass(frozen=True, eq=False)
class Block:
    """The answers for some rows: posteriors, the most probable class, and what to do where there are costs."""

    start: int
    posterior: Array
    chosen: NDArray[np.int64]
    action: NDArray[np.int64] | None = None
    risk: Array | None = None
    impossible: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class Decided:
    """By which costs is decided, and what it costs to decide nothing."""

    costs: Costs
    reject_cost: float | None

    @property
    def actions(self) -> list[Label]:
        """The actions; for rows that are rejected one more."""
        named = [to_plain(action) for action in self.costs.actions]
        rejected = [] if self.reject_cost is None else [to_plain(checked_reject_label(None, self.costs.actions))]
        return [*named, *rejected]


def decided(served: Served, asked: Asked) -> Decided:
    """The costs that were sent, else those that the model was saved with, else one for each mistake."""
    saved = None if served.saved is None else served.saved.costs
    costs = saved if asked.costs is None and saved is not None else read_costs(_costs(served, asked.costs), served.model.classes_)  # fmt: skip
    return Decided(costs, checked_reject_cost(asked.reject_cost))


def _costs(served: Served, given: Any) -> Any:
    """Costs with classes, and actions that are called like one, under their own labels: JSON knows them by their text."""
    if not isinstance(given, Mapping):
        return given
    if not given:
        raise InputError("costs name no action", where="costs", expected="{action: {class: cost}}")
    for classes in given.values():
        for name in classes:
            one_of(name, list(served.labels), "a class of costs")
    labels = served.labels
    return {
        labels.get(action, action): {labels[name]: cost for name, cost in row.items()} for action, row in given.items()
    }


def label_of(served: Served, given: Any, what: str) -> Any:
    """The class that a label of JSON means."""
    if given is None:
        return None
    if any(type(label) is type(given) and label == given for label in served.classes):
        return given
    return served.labels[one_of(str(given), list(served.labels), what)]


def blocks(served: Served, rows: Rows, by: Decided | None = None) -> Iterator[Block]:
    """The answers for all rows, block by block."""
    for start, stop in bounds(len(rows)):
        yield block(served, rows.encoded.tile(start, stop), start, by)


def bounds(count: int) -> list[tuple[int, int]]:
    """Where blocks begin and end; the last is no smaller than many rows are, so that its answers are those of all rows at once.

    Examples
    --------
    >>> bounds(10), bounds(2 * BLOCK + 1)
    ([(0, 10)], [(0, 16384), (16384, 32769)])
    """
    starts = list(range(0, max(count - MANY, 0) + 1, BLOCK))
    return list(zip(starts, [*starts[1:], count], strict=True))


def block(served: Served, tile: Encoded, start: int, by: Decided | None) -> Block:
    """The answers for rows that are scored at once, in the very bits of `predict_proba`."""
    fitted, n_jobs = served.model.fitted_, served.model.n_jobs
    with kept_back():
        posterior, without = fitted.score(tile, to_posterior, n_jobs)
    impossible = np.flatnonzero(np.isneginf(fitted.score(tile, None, n_jobs)[0]).all(axis=1)) if without else None
    action, risk = (None, None) if by is None else least_risk(posterior, by.costs.table, by.reject_cost)
    return Block(start, posterior, posterior.argmax(axis=1), action, risk, impossible)


def impossible_note(served: Served, found: list[Block]) -> list[Note]:
    """One note of all rows that are impossible under every class."""
    where = [part.impossible + part.start for part in found if part.impossible is not None]
    if not where:
        return []
    rows = np.concatenate(where)
    text = str(next(iter(zero_evidence_notes(len(rows), served.model._remedy))))
    return [Note("impossible", text, None, rows[:SHOWN_ROWS].tolist(), len(rows))]


def explained(served: Served, rows: Rows, index: int) -> dict[str, Any]:
    """Why one row is what the model says, as plain data."""
    from merula.answers.explanation import explain

    asked = rows.asked
    label, against = (label_of(served, getattr(asked, name), name) for name in ("label", "against"))
    with kept_back() as told:
        why = explain(served.model, rows.encoded.take(np.array([index])), label, against)
        plain = to_plain(why.to_dict("all" if asked.top is None else asked.top))
    return {**plain, "notes": _told(told, rows, index)}


def questioned(served: Served, rows: Rows, index: int) -> dict[str, Any]:
    """What to find out next of one row, as plain data."""
    from merula.answers.question import next_question

    asked = rows.asked
    costs = _costs(served, asked.costs) if asked.costs is not None else served.saved and served.saved.costs
    with kept_back() as told:
        found = next_question(served.model, rows.one(index), costs, asked.prices, reject_cost=asked.reject_cost)
    return {**to_plain(found.to_dict()), "notes": _told(told, rows, index)}


def _told(told: list[Any], rows: Rows, index: int) -> list[Note]:
    """What was noticed of one row; levels never seen were told while it was read."""
    unseen = [Note("unseen", text) for text, where in rows.cells.rows.items() if index in where]
    others = [Note("impossible" if "impossible" in str(note) else "other", str(note), note.column) for note in told]
    return [*unseen, *(note for note in others if "never seen" not in note.text)]
