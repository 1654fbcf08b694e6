"""The rows to be split, or to learn from and to be tested on: their labels, weights and classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from merula.answers.evaluation.folds import RareClassWarning, Split
from merula.core import Array, InputError, warn_user
from merula.data.encode import Target, encode_target
from merula.data.schema import Label, sort_labels
from merula.data.table import RowSource, open_rows, plain_label
from merula.data.table.frame import Rows

TESTED = "other rows"  # what rows to be tested on are called, where they have no name


@dataclass(frozen=True, eq=False)
class Data:
    """The rows to split, their labels, weights, and the index of each label in `classes`."""

    rows: RowSource
    labels: NDArray[Any]
    weights: Array | None
    truth: NDArray[np.int64]
    classes: tuple[Label, ...]


def read_data(rows: RowSource, y: Any, sample_weight: Any, models: Mapping[str, Any]) -> Data:
    """The checked target and weights; the classes are those of y and of models that stay fitted when cloned."""
    if rows.count == 0:
        raise InputError.at("X", "has no rows", remedy="there is nothing to evaluate")
    target = encode_target(y, rows.count, sample_weight)
    if len(target.classes) < 2:
        raise InputError.at(
            "y", f"holds one class only ({plain_label(target.classes[0])!r})", remedy="there is nothing to tell apart"
        )
    own = _labels(target)
    fitted = [getattr(clone(model), "classes_", ()) for model in models.values()]
    classes = sort_labels({*own, *(plain_label(label) for known in fitted for label in np.asarray(known).tolist())})
    indices = np.array([classes.index(label) for label in own], dtype=np.int64)
    words = target.classes.dtype != object or isinstance(own[0], str)
    labels = target.classes if words else np.array(target.classes.tolist())  # scikit-learn refuses numbers as objects
    return Data(rows, labels[target.codes], target.weights, indices[target.codes], classes)


def with_test(data: Data, test: Any) -> tuple[Data, Split]:
    """The rows to learn from with those to be tested on behind them, and the one split into both."""
    if not isinstance(test, tuple | list) or len(test) not in (2, 3):
        raise InputError.at("test", f"is of type {type(test).__name__}", expected="(X, y) or (X, y, sample_weight)")
    rows, first = open_rows(test[0]), data.rows.count
    if rows.count == 0:
        raise InputError.at("test", "has no rows", remedy="there is nothing to test on")
    target = encode_target(test[1], rows.count, *test[2:])
    own = _labels(target)
    _check_classes(target, own, data)
    classes = sort_labels({*data.classes, *own})
    before, after = (np.array([classes.index(label) for label in some], dtype=np.int64) for some in (data.classes, own))
    joined = replace(
        data,
        rows=RowSource(first + rows.count, lambda some: _taken(some, data.rows, rows)),
        weights=_joined(data.weights, target.weights, first, rows.count),
        truth=np.concatenate([before[data.truth], after[target.codes]]),
        classes=classes,
    )
    kept = np.arange(first + rows.count) if joined.weights is None else np.flatnonzero(joined.weights > 0)
    if not (kept >= first).any():
        raise InputError.at("test", "has rows of weight 0 alone", remedy="there is nothing to test on")
    return joined, Split(kept[kept < first], kept[kept >= first])


def _labels(target: Target) -> list[Label]:
    return [plain_label(label) for label in target.classes.tolist()]


def _check_classes(target: Target, own: list[Label], data: Data) -> None:
    """A warning where rows to be tested on are of a class that no model is shown, an error where all are."""
    learned = {data.classes[index] for index in np.unique(data.truth).tolist()}
    stray = [k for k, label in enumerate(own) if label not in learned]
    if len(stray) == len(own):
        known = ", ".join(map(repr, sort_labels(learned)))
        raise InputError.at("test", f"holds no class that y holds ({own[0]!r} is none of {known})", got=own[0])
    if stray:
        rows = int(np.isin(target.codes, stray).sum())
        named = ", ".join(repr(own[k]) for k in stray)
        warn_user(
            f"{rows:,} of the rows to test on {'is' if rows == 1 else 'are'} of a class that the rows learned from do not hold ({named}): no model gives it a probability",
            RareClassWarning,
        )


def _taken(some: Rows, learned: RowSource, tested: RowSource) -> Any:
    """Rows of the one table or of the other, never of both."""
    return learned.take(some) if some[0] < learned.count else tested.take(some - learned.count)


def _joined(first: Array | None, second: Array | None, count: int, more: int) -> Array | None:
    if first is None and second is None:
        return None
    return np.concatenate([np.ones(count) if first is None else first, np.ones(more) if second is None else second])
