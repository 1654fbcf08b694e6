"""What a file from a stranger may bring: one vocabulary of checks for every array and list that a model is made from.

Each says whether something is sound; none raises for what is not, and none changes anything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUNDING = 1e-6  # how far from 1 probabilities may add up to
LARGEST = 1.7e308  # a number, but hardly any larger one
HEAVIEST = 1e150  # weight of rows; many such weights add up to a number
LEAST_WEIGHT = 1 / HEAVIEST  # of rows that count at all
MOST_COUNTED = 2**53  # of anything: whole numbers up to it are floats as well
SMALLEST = 1e-300  # its inverse is still a number
LABELS = (str, int, float, bool)


def all_shaped(shape: tuple[int, ...], *arrays: Any) -> bool:
    """True when all are arrays of float64 of this shape, as this machine writes them, row by row."""
    return all(
        isinstance(array, np.ndarray)
        and array.dtype == np.float64
        and array.dtype.isnative
        and array.shape == shape
        and array.flags.c_contiguous
        for array in arrays
    )


def all_paired(columns: Sequence[str], keys: Any, tables: Any, shape: Callable[[Any], tuple[int, ...]]) -> bool:
    """True when every column has a key and a table, an array of float64 of the shape that its key asks for."""
    return len(columns) == len(keys) == len(tables) and all(map(all_shaped, map(shape, keys), tables))


def within(low: float, high: float, *arrays: Any) -> bool:
    """True when every number lies between the two, ends included; NaN does not.

    Examples
    --------
    >>> within(0, 1, np.array([0.0, 1.0])), within(0, 1, np.array([np.nan]))
    (True, False)
    """
    return all(bool(array.min() >= low and array.max() <= high) for array in map(np.asarray, arrays) if array.size)


def are_finite(*arrays: Any) -> bool:
    """True when every number is neither NaN nor infinite."""
    return within(-LARGEST, LARGEST, *arrays)


def are_weights(*arrays: Any) -> bool:
    """True when every number is a weight: 0, or neither so small nor so large that shares of a sum fail."""
    light = any(((array > 0) & (array < LEAST_WEIGHT)).any() for array in arrays)
    return within(0.0, HEAVIEST, *arrays) and not light


def are_positive(*arrays: Any) -> bool:
    """True when every number is positive and finite, and neither so small nor so large that arithmetic fails."""
    return within(SMALLEST, LARGEST, *arrays)


def are_logs(*arrays: Any) -> bool:
    """True when every number is the logarithm of a probability: at most 0 but for rounding, −inf for what cannot be."""
    return within(-np.inf, ROUNDING, *arrays)


def are_finite_or_missing(array: NDArray[Any]) -> bool:
    """True when every number is finite, or NaN for missing."""
    return are_finite(array[~np.isnan(array)])


def are_log_shares(table: NDArray[Any], axis: int = 0) -> bool:
    """True when these are logarithms of probabilities that add up to 1 along the axis, but for rounding.

    Examples
    --------
    >>> are_log_shares(np.log([[0.25, 0.5], [0.75, 0.5]])), are_log_shares(np.log([0.25, 0.5]))
    (True, False)
    """
    return are_logs(table) and bool((np.abs(np.exp(table).sum(axis=axis) - 1) <= ROUNDING).all())


def are_present_and_missing(log_present: NDArray[Any], log_missing: NDArray[Any]) -> bool:
    """True when a cell is present or missing with probabilities that add up to 1, or says nothing by it (both are 0)."""
    silent = (log_present == 0) & (log_missing == 0)
    total = np.exp(log_present) + np.exp(log_missing)
    return are_logs(log_present, log_missing) and bool((silent | (np.abs(total - 1) <= ROUNDING)).all())


def ascends(values: Any) -> bool:
    """True when every number is finite and larger than the one before it."""
    array = np.asarray(values, dtype=np.float64)
    return array.ndim == 1 and are_finite(array) and bool((array[1:] > array[:-1]).all())


def are_cuts(cuts: Any) -> bool:
    """True when these are the cuts of a column: finite numbers that ascend."""
    return isinstance(cuts, tuple | list) and set(map(type, cuts)) <= {int, float} and ascends(cuts)


def are_codes(codes: Any, shape: tuple[int, ...], kind: type[np.integer[Any]], low: int, sizes: Any) -> bool:
    """True when this is an array of whole numbers of this kind and shape, from `low` and below `sizes`."""
    if not isinstance(codes, np.ndarray) or codes.dtype != kind or not codes.dtype.isnative or codes.shape != shape:
        return False
    return codes.flags.c_contiguous and bool(((codes >= low) & (codes < sizes)).all())


def are_labels(labels: Any, missing: bool = False) -> bool:
    """True when these are words, numbers but NaN, true or false, each once; None may be one where missing is a level."""
    if not isinstance(labels, tuple | list | range):
        return False
    if isinstance(labels, range):
        return True
    kinds = set(map(type, labels)) - ({type(None)} if missing else set())
    numbers = float not in kinds or not any(label != label for label in labels if type(label) is float)
    if not kinds.issubset(LABELS) or not numbers:
        return False
    return len(set(labels)) == len(labels) or len({(type(label), label) for label in labels}) == len(labels)


def are_names(names: Any) -> bool:
    """True when these are the names of columns: words, each once."""
    return isinstance(names, tuple | list) and set(map(type, names)) <= {str} and len(set(names)) == len(names)


def are_classes(classes: Any) -> bool:
    """True when this is an array of labels in ascending order: words, numbers or times."""
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or not len(classes) or not classes.dtype.isnative:
        return False
    if classes.dtype.kind not in "biufUMmO" or (classes.dtype.kind == "f" and not are_finite(classes)):
        return False
    labels = classes.tolist()
    if classes.dtype.kind == "O" and not are_labels(labels):
        return False
    try:
        return all(first < second for first, second in pairwise(labels if classes.dtype.kind in "OU" else classes))
    except TypeError:  # labels that cannot be compared
        return False


def is_number(value: Any, low: float, high: float) -> bool:
    """True for a number between the two that a float can hold; true and false are none."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
    return known and (isinstance(value, float) or -LARGEST <= value <= LARGEST)


def is_one_of(word: Any, allowed: Collection[Any]) -> bool:
    """True for a word that is allowed."""
    return isinstance(word, str) and word in allowed


def each(sound: Callable[..., bool], *fields: Iterable[Any]) -> bool:
    """True when the check holds of each entry of these fields, which have equally many."""
    return all(sound(*entries) for entries in zip(*fields, strict=True))
