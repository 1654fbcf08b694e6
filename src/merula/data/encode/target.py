"""The target: class codes, the sorted classes, checked weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import InputError, Option, warn_user
from merula.core.compiled import kernel
from merula.core.sound import LEAST_WEIGHT
from merula.data.encode.encoded import WIDEST_RANGE
from merula.data.encode.kinds import shown
from merula.data.table import codes_of_words, is_missing

CONTINUOUS = "Unknown label type: continuous"  # as scikit-learn says it
LONGEST = 1_000  # characters of a label that NumPy keeps as a word
NUMBERS = "give every row a number from 0"
LIGHTEST, HEAVIEST = 1e-15, 1e15  # what the heaviest row may weigh: squares of sums are numbers


@dataclass(frozen=True, eq=False)
class Target:
    """Class codes (positions in `classes`) and frequency weights of the rows; weights are None when all are 1."""

    codes: NDArray[Any]
    classes: NDArray[Any]
    weights: NDArray[np.float64] | None = None

    def tile(self, start: int, stop: int) -> Target:
        """The rows from start to stop."""
        return self.take(slice(start, stop))

    def take(self, rows: Any) -> Target:
        """Some rows: those at these indices, of this slice, or that a mask keeps."""
        return Target(self.codes[rows], self.classes, None if self.weights is None else self.weights[rows])

    def by_class(self) -> Iterator[Target]:
        """The targets to count one after the other: this one."""
        yield self


@dataclass(frozen=True, eq=False)
class SharedTarget:
    """Rows that belong to every class in part: the weight of each row in each class, rows × classes.

    They are counted once for each class, without a copy of theirs.
    """

    shares: NDArray[np.float64]
    classes: NDArray[Any]

    def tile(self, start: int, stop: int) -> SharedTarget:
        """The rows from start to stop."""
        return SharedTarget(self.shares[start:stop], self.classes)

    def by_class(self) -> Iterator[Target]:
        """All rows as rows of each class that has some of them, by their share in it."""
        for label in np.flatnonzero(self.shares.any(axis=0)).tolist():
            codes = np.full(len(self.shares), label, dtype=_unsigned(len(self.classes)))
            yield Target(codes, self.classes, np.ascontiguousarray(self.shares[:, label]))


@kernel
def _range_of(values: NDArray[Any]) -> tuple[int, int]:
    low = high = values[0]
    for value in values:
        low = min(low, value)
        high = max(high, value)
    return low, high


@kernel
def _count_from(values: NDArray[Any], low: int, codes: NDArray[Any], present: NDArray[np.bool_]) -> None:
    """codes = values − low, and which of them occur."""
    for row in range(len(values)):
        code = np.int64(values[row]) - low
        codes[row] = code
        present[code] = True


def encode_target(y: Any, rows: int, sample_weight: Any = None, part: bool = False) -> Target:
    """Class codes, the sorted classes and the checked weights; those of a part may all be light beside rows to come."""
    words = codes_of_words(y)
    values = words[0] if words else _target_values(y)
    if len(values) != rows:
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: X has {rows} rows, y has {len(values)}"
        )
    weights = checked_weights(sample_weight, rows, part=part)
    if words:
        codes, classes = _word_classes(*words)
        classes = classes.astype(y.dtype) if isinstance(y, np.ndarray) else classes
    else:
        codes, classes = _integer_classes(values) if values.dtype.kind in "iub" else _sorted_classes(values)
    if weights is not None and not weights.all():
        codes, classes = _with_weight(codes, classes, weights)
    return Target(codes, classes, weights)


def _with_weight(
    codes: NDArray[Any], classes: NDArray[Any], weights: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Codes and classes without those that only have rows of weight 0; such rows may carry any code."""
    present = np.bincount(codes, weights, minlength=len(classes)) > 0
    return np.where(present, np.cumsum(present) - 1, 0).astype(codes.dtype)[codes], classes[present]


def _target_values(y: Any) -> NDArray[Any]:
    """The target as one array without missing values."""
    if y is None:
        raise InputError("requires y to be passed, but the target y is None")
    if isinstance(y, str):
        raise InputError.of("y", y, f"the class of each row: an array, or the column itself, X[{y!r}]")
    if hasattr(y, "nnz"):
        raise TypeError("y is sparse; a target is one dense value per row")
    if np.ma.is_masked(y):
        _refuse_missing(int(np.ma.getmaskarray(y).sum()), len(y))
    values = np.asarray(y, dtype=object if _are_long_words(y) else None)
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if values.dtype.kind in "US" and isinstance(y, list | tuple) and not all(isinstance(label, str) for label in y):
        values = np.array(y, dtype=object)  # NumPy would make words of numbers and missing values
    if values.ndim == 2 and values.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warn_user("A column-vector y was passed when a 1d array was expected; it is read as y.ravel()", DataConversionWarning)  # fmt: skip
        values = values.ravel()
    if values.ndim != 1:
        raise InputError(f"y should be a 1d array, got an array of shape {values.shape} instead")
    if values.dtype.kind == "c":
        raise InputError("Complex data not supported: a target is a label, a word or a whole number")
    if values.dtype.kind in "fOMm":
        _check_labels(values)
    return _in_microseconds(values) if values.dtype.kind in "Mm" else values


def _in_microseconds(times: NDArray[Any]) -> NDArray[Any]:
    """Times that Python can name: those counted in nanoseconds are mere numbers to it, unless they need not be."""
    coarse = times.astype(f"{times.dtype.kind}8[us]")
    return coarse if np.datetime_data(times.dtype)[0] == "ns" and bool((coarse == times).all()) else times


def _are_long_words(y: Any) -> bool:
    """True for a list that holds a word so long that an array of words, each as wide as the longest, may not fit into memory."""
    return isinstance(y, list | tuple) and any(isinstance(label, str) and len(label) > LONGEST for label in y)


def _check_labels(values: NDArray[Any]) -> None:
    """No missing target, no continuous one."""
    if values.dtype.kind == "f":
        missing = int(np.isnan(values).sum())
        if not missing and np.isinf(values).any():
            raise InputError("Input y contains infinity", remedy="a target is a label, a word or a whole number")
    else:
        missing = sum(map(is_missing, values.tolist())) if values.dtype.kind == "O" else int(np.isnat(values).sum())
    if missing:
        _refuse_missing(missing, len(values))
    if values.dtype.kind == "f" and (values != np.floor(values)).any():
        raise InputError(f"{CONTINUOUS}. The target holds fractions", remedy="a classifier needs classes")


def _refuse_missing(missing: int, rows: int) -> None:
    raise InputError(
        f"Input y contains NaN: {missing} of {rows} targets are missing",
        remedy=(
            "drop those rows before fit, or have fit learn from them as rows without a class (",
            Option("unlabelled"),
            ")",
        ),
    )


def _word_classes(codes: NDArray[Any], labels: list[str]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Class codes of a column of words that its library has coded already; unused words are no classes."""
    missing = int((codes < 0).sum())
    if missing:
        _refuse_missing(missing, len(codes))
    order = sorted(np.flatnonzero(np.bincount(codes, minlength=len(labels))).tolist(), key=lambda index: labels[index])
    rank = np.zeros(len(labels), dtype=_unsigned(len(order)))
    rank[order] = np.arange(len(order))
    return rank[codes], np.array([labels[index] for index in order], dtype=object)


def _integer_classes(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Class codes of whole numbers or booleans, without sorting when they lie close together."""
    plain = values.view(np.uint8) if values.dtype.kind == "b" else values
    if not len(plain):
        return _sorted_classes(values)
    low, high = _range_of(plain)
    if int(high) - int(low) >= WIDEST_RANGE or abs(int(low)) > 2**62:
        return _sorted_classes(values)
    width = int(high) - int(low) + 1
    codes, present = np.empty(len(plain), dtype=_unsigned(width)), np.zeros(width, dtype=np.bool_)
    _count_from(plain, int(low), codes, present)
    classes = (np.flatnonzero(present) + int(low)).astype(values.dtype)
    if not present.all():
        codes = (np.cumsum(present) - 1).astype(_unsigned(len(classes)))[codes]
    return codes, classes


def _sorted_classes(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Class codes of anything that can be sorted."""
    if values.dtype.kind != "O":
        classes, codes = np.unique(values, return_inverse=True)
        return codes.astype(_unsigned(len(classes))), classes
    met: dict[Any, int] = {}
    try:
        codes = np.array([met.setdefault(label, len(met)) for label in values.tolist()], dtype=np.int64)
    except TypeError:
        raise InputError.at(
            "y",
            f"holds {values[0]!r}",
            got=values[0],
            remedy="a target is a label, a word or a whole number in every row",
        ) from None
    try:
        if bool in (types := set(map(type, met))) and len(types) > 1:
            raise TypeError("True is not 1")
        ordered = sorted(met)
    except TypeError:
        raise InputError.at(
            "y", f"mixes labels of different types ({list(met)[:3]} …)", remedy="make them all words or all numbers"
        ) from None
    rank = np.empty(len(met), dtype=_unsigned(len(met)))
    rank[[met[label] for label in ordered]] = np.arange(len(met))
    classes = np.empty(len(met), dtype=object)
    classes[:] = ordered
    return rank[codes], classes


def _unsigned(count: int) -> Any:
    return np.uint8 if count <= 256 else np.uint16 if count <= 65_536 else np.uint32


def checked_weights(
    sample_weight: Any, rows: int, what: str = "sample_weight", part: bool = False
) -> NDArray[np.float64] | None:
    """Frequency weights: finite, not negative, not all 0, nor all next to it but in a part; what counts at all counts for as much as a file holds."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, int | float | np.number):
        sample_weight = np.full(rows, sample_weight)
    weights = weight_numbers(sample_weight, what)
    if weights.ndim != 1:
        raise InputError(f"Sample weights must be 1D array or scalar, got an array of shape {weights.shape}")
    if len(weights) != rows:
        raise InputError(f"{what}.shape == {weights.shape}", expected=f"({rows},): one weight per row")
    if not np.isfinite(weights).all():
        raise InputError.at(
            what, "holds NaN or infinite values", remedy="give every row a finite weight, 0 to leave it out"
        )
    if (weights < 0).any():
        raise InputError.at(
            what,
            f"holds a negative value ({weights.min():g}, row {int(weights.argmin())})",
            remedy="weights count rows and start at 0",
        )
    if not weights.any():
        raise InputError(f"every number in {what} is zero: no rows are left to learn from")
    if not part or weights.max() > HEAVIEST:
        refuse_extreme(float(weights.max()), what)
    light = (weights > 0) & (weights < LEAST_WEIGHT)
    return np.where(light, LEAST_WEIGHT, weights) if light.any() else weights


def weight_numbers(given: Any, what: str) -> NDArray[np.float64]:
    """Weights of any sort as floats, NaN for missing; an error where one is a word, a truth value or a time."""
    try:
        values = np.asarray(given)
    except ValueError:  # rows of different lengths
        raise InputError.at(what, "holds something that is not a number", remedy=NUMBERS) from None
    if values.dtype.kind in "iuf":
        return np.ascontiguousarray(values, dtype=np.float64)
    plain = values.astype(str if values.dtype.kind in "mM" else object).ravel().tolist()
    return np.array([_weight_number(value, what) for value in plain], dtype=np.float64).reshape(values.shape)


def _weight_number(value: Any, what: str) -> float:
    if is_missing(value):
        return np.nan
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real | Decimal):
        raise InputError.at(what, f"holds {shown([value])}, which is not a number", got=value, remedy=NUMBERS)
    try:
        return float(value)
    except OverflowError:
        return np.inf


def refuse_extreme(largest: float, what: str) -> None:
    """An error where the heaviest row weighs next to nothing, or more than can be squared and summed."""
    if not LIGHTEST <= largest <= HEAVIEST:
        raise InputError.at(
            what,
            f"holds no larger number than {largest:g}" if largest < 1 else f"holds {largest:g}",
            got=largest,
            expected=f"a largest weight from {LIGHTEST:g} to {HEAVIEST:g}",
            remedy="weights count rows: rescale them",
        )
