"""Which rows a model learns from and which it is tested on, fold by fold; checked before anything is fitted."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedGroupKFold
from sklearn.utils import check_random_state

from merula.answers.evaluation.time_order import time_folds
from merula.core import InputError, InPython, Option, warn_user
from merula.data.table import codes_of_labels, plain_label
from merula.data.table.frame import Rows

EXPECTED = "a number of folds from 2, a scikit-learn splitter, (train, test) row numbers, or an iterable of such pairs"
REPEATS, FOLDS, FOLDS_IN_TIME = 3, 10, 5


class RareClassWarning(UserWarning):
    """A class has fewer rows than there are folds, so some folds are tested without it.

    Examples
    --------
    >>> from merula.answers.evaluation import RareClassWarning
    >>> issubclass(RareClassWarning, UserWarning)
    True
    """


@dataclass(frozen=True, eq=False)
class Split:
    """The numbers of the rows to learn from, and of those to test on."""

    train: Rows
    test: Rows


def make_splits(
    cv: Any,
    repeats: int | None,
    random_state: Any,
    X: Any,
    labels: NDArray[Any],
    marks: NDArray[Any] | None,
    weights: NDArray[np.float64] | None,
    ranks: NDArray[np.int64] | None = None,
) -> tuple[Split, ...]:
    """Every fold, without rows of weight 0; no row, and no group, is on both sides of one.

    marks : the checked group of each row.
    ranks : the checked rank of each row in time, where folds are in its order.
    """
    if ranks is not None:
        pairs = _in_time(cv, repeats, random_state, labels, marks, weights, ranks)
    elif cv is None or (isinstance(cv, Integral) and not isinstance(cv, bool)):
        pairs = _stratified(
            usual_folds() if cv is None else int(cv), _checked_repeats(repeats), random_state, labels, marks
        )
    else:
        _refuse_unused(repeats, random_state, "cv gives the folds itself")
        pairs = _given(cv, X, labels, marks)
    kept = np.ones(len(labels), dtype=bool) if weights is None else weights > 0
    splits = tuple(_checked_split(pair, number, kept) for number, pair in enumerate(pairs, 1))
    if not splits:
        raise InputError.at("cv", "holds no folds", expected=EXPECTED)
    if marks is not None:
        for number, split in enumerate(splits, 1):
            _refuse_leak(split, marks, number)
    return splits


def usual_folds(times: Any = None) -> int:
    """How many folds there are where nobody says: five in time order, else ten."""
    return FOLDS if times is None else FOLDS_IN_TIME


def half_of(train: Rows, truth: NDArray[np.int64], groups: NDArray[np.int64] | None, rng: Any) -> Rows:
    """About half of the training rows, in their order: whole groups where there are any, every class in its share.

    Units (rows or groups) are ordered by class and size, and every other one is taken: neighbours are alike. A class of which
    nothing would be left keeps its first unit.
    """
    classes = truth[train]
    _, first, unit, sizes = np.unique(
        train if groups is None else groups[train], return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((rng.permutation(len(first)), sizes, classes[first]))
    kept = np.zeros(len(first), dtype=bool)
    kept[order[::2]] = True
    for lost in np.setdiff1d(classes, classes[kept[unit]]):
        kept[unit[(classes == lost).argmax()]] = True
    return train[kept[unit]]


# ---------------------------------------------------------------------------------------------------- a number of folds


def _stratified(
    folds: int, repeats: int, random_state: Any, labels: NDArray[Any], groups: NDArray[Any] | None
) -> list[Any]:
    """Folds that hold the classes in like shares, groups kept whole, shuffled anew for each repeat."""
    if folds < 2:
        raise InputError.at("cv", f"is {folds}", got=folds, expected=EXPECTED)
    if groups is not None and (count := len(np.unique(groups))) < folds:
        raise InputError.at(
            "groups",
            (f"holds {count} groups, fewer than ", Option("cv", folds), " folds"),
            got=count,
            remedy="use a smaller cv",
        )
    _check_class_sizes(folds, labels, groups)
    rng, nothing = check_random_state(random_state), np.zeros(len(labels))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")  # said above, once, and with advice
        if groups is None:
            splitter = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=rng)
            return list(splitter.split(nothing, labels))
        splitters = [StratifiedGroupKFold(folds, shuffle=True, random_state=rng) for _ in range(repeats)]
        return [pair for splitter in splitters for pair in splitter.split(nothing, labels, groups)]


def _check_class_sizes(folds: int, labels: NDArray[Any], groups: NDArray[Any] | None) -> None:
    """One warning when a class cannot be in every fold; an error when none can."""
    classes, codes = np.unique(labels, return_inverse=True)
    rows = np.bincount(codes)
    if rows.max() < 2:
        raise InputError(
            "every class has one row alone, so none is both learned and tested",
            remedy="evaluating needs more rows of a class",
        )
    if rows.max() < folds:
        raise InputError(
            (
                Option("cv", folds),
                f" folds, but the largest class ({plain_label(classes[rows.argmax()])!r}) has {rows.max()} rows",
            ),
            where="cv",
            got=folds,
            remedy=(
                "use ",
                Option("cv", int(max(2, rows.max()))),
                " or fewer",
                InPython(", or sklearn.model_selection.LeaveOneOut()"),
            ),
        )
    units = rows if groups is None else _groups_per_class(codes, groups)
    if units.min() < folds:
        _warn_rare(folds, classes, units, "row" if groups is None else "group")


def _groups_per_class(codes: NDArray[np.int64], groups: NDArray[Any]) -> NDArray[np.int64]:
    """How many groups hold rows of each class."""
    names, marks = np.unique(groups, return_inverse=True)
    return np.bincount(np.unique(codes * len(names) + marks) // len(names))


def _warn_rare(folds: int, classes: NDArray[Any], units: NDArray[np.int64], unit: str) -> None:
    rarest, count = plain_label(classes[units.argmin()]), int(units.min())
    others = int((units < folds).sum()) - 1
    more = f" (and {others} more {'class' if others == 1 else 'classes'} likewise)" if others else ""
    advice = ("use ", Option("cv", count), " or fewer") if count > 1 else ("merge it with another class",)
    untaught = "" if count > 1 else ", and the model tested on it has never seen it"
    warn_user(
        (
            f"class {rarest!r} has {count} {unit}{'s' * (count > 1)}, fewer than ",
            Option("cv", folds),
            f" folds{more}: some folds are tested without it, where AUC is undefined{untaught}; ",
            *advice,
            ", or gather more rows",
        ),
        RareClassWarning,
    )


def _checked_repeats(repeats: int | None) -> int:
    if repeats is None:
        return REPEATS
    if not isinstance(repeats, Integral) or isinstance(repeats, bool) or repeats < 1:
        raise InputError.of("repeats", repeats, "a whole number from 1")
    return int(repeats)


def _refuse_unused(repeats: int | None, random_state: Any, why: str) -> None:
    """An error for options that only a number of shuffled folds makes use of."""
    if repeats is not None:
        raise InputError.at(
            "repeats",
            f"is {repeats!r}, but {why}",
            got=repeats,
            remedy="leave repeats out, or give cv as a number of folds",
        )
    if random_state is not None and not (isinstance(random_state, Integral) and random_state == 0):
        raise InputError.at(
            "random_state",
            f"is {random_state!r}, but {why}",
            got=random_state,
            remedy="set it on the splitter, or give cv as a number of folds",
        )


def _in_time(
    cv: Any,
    repeats: int | None,
    random_state: Any,
    labels: NDArray[Any],
    groups: NDArray[Any] | None,
    weights: NDArray[np.float64] | None,
    ranks: NDArray[np.int64],
) -> list[Any]:
    """Folds in time order."""
    if groups is not None:
        raise InputError.at("groups", "is given beside times, but rows are dealt to folds by the one or by the other", remedy="leave out one of them")  # fmt: skip
    if cv is not None and (not isinstance(cv, Integral) or isinstance(cv, bool)):
        raise InputError.at("cv", f"is {cv!r}, but times say how rows are split", got=cv, expected="a number of folds")
    _refuse_unused(repeats, random_state, "folds in time order are not shuffled")
    folds = usual_folds(ranks) if cv is None else int(cv)
    pairs = time_folds(ranks, folds, weights)
    usable = [pair for pair in pairs if len(np.unique(labels[pair[0]])) > 1]
    earliest = f"the earliest rows hold one class only ({plain_label(labels[ranks.argmin()])!r})"
    if not usable:
        raise InputError(f"{earliest}, as far as those of the last fold", where="times", remedy="no model can be tested on later rows")  # fmt: skip
    if len(usable) < folds:
        warn_user(f"{earliest}, so that {folds - len(usable)} of {folds} folds are left out", RareClassWarning)
    return usable


# --------------------------------------------------------------------------------------------------------- given splits


def _given(cv: Any, X: Any, labels: NDArray[Any], groups: NDArray[Any] | None) -> list[Any]:
    """The pairs of row numbers that a splitter makes, or that the user gives."""
    if isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise InputError.of("cv", cv, EXPECTED)
    if hasattr(cv, "split"):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The groups parameter is ignored")  # `make_splits` looks for itself
            return list(cv.split(X, labels) if groups is None else cv.split(X, labels, groups))
    given = list(cv)
    return [given] if len(given) == 2 and all(map(_is_one_row_list, given)) else given


def _is_one_row_list(part: Any) -> bool:
    """True for row numbers (or a mask); False for a pair of them."""
    listed = hasattr(part, "__len__") and not isinstance(part, str)
    return listed and (len(part) == 0 or np.ndim(next(iter(part))) == 0)


def _checked_split(pair: Any, number: int, kept: NDArray[np.bool_]) -> Split:
    """One fold without rows of weight 0; a ValueError unless both sides hold rows, and none the other's."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InputError.of(f"fold {number} of cv", pair, "a pair (train, test) of row numbers")
    train, test = (_row_numbers(part, side, number, kept) for part, side in zip(pair, ("train", "test"), strict=True))
    shared = np.intersect1d(train, test)
    if len(shared):
        raise InputError.at(
            f"fold {number} of cv",
            f"has row {shared[0]} both in train and in test ({len(shared)} such rows)",
            remedy="a model must be tested on rows it has not seen",
        )
    return Split(train, test)


def _row_numbers(part: Any, side: str, number: int, kept: NDArray[np.bool_]) -> Rows:
    rows, count = np.asarray(part), len(kept)
    what = f"the {side} rows of fold {number} of cv"
    if rows.dtype == bool and rows.shape == (count,):
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise InputError.at(what, f"are an array of {rows.dtype} of shape {rows.shape}", expected=f"row numbers, or a mask of {count}")  # fmt: skip
    if rows.size and not 0 <= rows.min() <= rows.max() < count:
        raise InputError.at(
            what, f"go from {rows.min()} to {rows.max()}", expected=f"row numbers from 0 to {count - 1}"
        )
    numbers: Rows = rows[kept[rows.astype(np.int64)]].astype(np.int64)
    if not numbers.size:
        raise InputError.at(
            what, "are none (or all of weight 0)", remedy="every fold must learn from rows and be tested on rows"
        )
    return numbers


# --------------------------------------------------------------------------------------------------------------- groups


def checked_groups(groups: Any, rows: int) -> NDArray[Any]:
    """The group of each row as an array; a ValueError if any is missing."""
    values = np.asarray(groups)
    if values.shape != (rows,):
        raise InputError.at(
            "groups", f"has shape {values.shape}", got=values.shape, expected=f"({rows},): one group per row of X"
        )
    # NumPy makes the word "nan" of a missing value among words
    codes, names = codes_of_labels(np.array(groups, dtype=object) if values.dtype.kind in "US" else values)
    missing = int((codes < 0).sum())
    if missing:
        raise InputError.at("groups", f"is missing for {missing} of {rows} rows", remedy="name the group of every row")
    if len({isinstance(name, str) for name in names}) > 1:
        raise InputError.at(
            "groups", f"mixes words and numbers ({list(names)[:3]} …)", remedy="make them all words or all numbers"
        )
    return np.array(names)[codes]


def _refuse_leak(split: Split, groups: NDArray[Any], number: int) -> None:
    """An error if rows of one group are on both sides of a fold."""
    shared = np.intersect1d(groups[split.train], groups[split.test])
    if len(shared):
        raise InputError.at(
            f"fold {number} of cv",
            f"has group {plain_label(shared[0])!r} both in train and in test",
            remedy=(
                "give cv as a number of folds",
                InPython(", or a splitter that keeps groups together such as sklearn.model_selection.GroupKFold"),
            ),
        )
