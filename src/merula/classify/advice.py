"""What should be said of a table's columns before a model is fitted: identifiers, constants, leaks, texts, numbers in disguise."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core.notes import warn_user
from merula.core.threads import thread_count
from merula.data.encode import Encoded, Target, infer_schema
from merula.data.encode.lookalikes import are_dates, meant_missing, others_than_numbers, shown
from merula.data.schema import Column
from merula.data.table import Table, plain_label

FEWEST_ROWS = 10  # below that, chance explains anything
FEWEST_LEVELS = 20  # of words, before they can be called identifiers
EXPECTED_REPEATS = 5.0  # of whole numbers drawn by chance: where none repeats, e^−5 is all that chance allows
LEAK = 0.9  # of the errors of always guessing the commonest class, avoided by one column alone
FEWEST_TO_LEAK = 30
BINS = 64
MOST_CODES, ROWS_OF_A_CODE = 10, 10
MOST_ROWS = 65_536  # of numbers, that tell a leak
NAMED_ID = re.compile(r"(^|[\W_])(id|uuid|guid|key|index|nr|no|number)$|[a-z]I[dD]$|^(id|ID)[\W_]|编号", re.IGNORECASE)
GLANCE = 64  # rows that tell most columns from the class
MOST_NUMBERED = 50  # classes that are called by whole numbers

ADVISED = {
    "identifier": "ignore",
    "unread numbers": "ignore",
    "unread dates": "ignore",
    "text": "text",
    "codes": "categorical",
}

Said = tuple[str, str]


class TargetColumnWarning(UserWarning):
    """A column holds the class itself in every row, so that a model would learn nothing else; leave it out.

    Examples
    --------
    >>> import merula as mr, pandas as pd, warnings
    >>> birds = pd.DataFrame({"wing": [4.9, 9.8] * 5, "bird": ["wren", "tit"] * 5})
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     model = mr.NaiveBayesClassifier().fit(birds, birds["bird"])
    >>> said[0].category is mr.TargetColumnWarning
    True
    """


@dataclass(frozen=True)
class Remark:
    """One thing worth knowing of one column.

    ``what`` is "identifier", "empty", "constant", "text", "codes", "numbers as words", "unread numbers", "unread dates",
    "missing as words" or "leak"; ``kind`` is what the column would be without the remark.
    """

    column: str
    what: str
    text: str
    kind: str


def guessed_columns(table: Table, kinds: Mapping[str, str] | None = None) -> tuple[Column, ...]:
    """The columns, of the kinds stated or that a model would guess; what is guessed is for `review` to say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return infer_schema(table, kinds, threads=thread_count(None)).columns


def review(
    table: Table, columns: Sequence[Column], target: Target | None, stated: Collection[str] = ()
) -> list[Remark]:
    """What should be said of a table's columns, in their order; of those whose kind is `stated`, nothing about it.

    Without a target nothing is said of leaks.

    - "identifier": words of which more than half differ; or whole numbers of which none repeats, though by chance some would:
      n² / (2 · range) ≥ 5 repeats are expected of any n numbers within a range
    - "leak": the column alone tells the class of a row it has not seen in all but a few cases:
      errors(level's commonest class, without the row itself) ≤ 0.1 · errors(commonest class)
    - "codes": whole numbers of at most ten values, each many times: names of categories rather than amounts
    - "unread numbers", "unread dates": words that would be an identifier, but are numbers or dates
    - "empty", "constant", "text", "numbers as words", "missing as words" are what they say

    Examples
    --------
    >>> from merula.data.encode import encode_target
    >>> from merula.data.table import open_table
    >>> import pandas as pd
    >>> birds = pd.DataFrame({"ring": range(40), "planet": "Earth", "wing": [4.9, 5.1, 9.8, 9.5] * 10})
    >>> table, target = open_table(birds), encode_target(["wren", "wren", "tit", "tit"] * 10, 40)
    >>> [(remark.column, remark.what) for remark in review(table, guessed_columns(table), target)]
    [('ring', 'identifier'), ('planet', 'constant'), ('wing', 'leak')]
    """
    remarks = []
    for position, column in enumerate(columns):
        if column.kind == "ignore":
            continue
        if column.kind in ("text", "categorical"):
            found = _of_words(table, position, column.kind, target, column.name in stated)
        else:
            found = _of_numbers(table.numbers(position, column.unit), column, target, column.name in stated)
        remarks += [Remark(column.name, *said, column.kind) for said in found]
    return remarks


def advised_kinds(columns: Sequence[Column], remarks: Sequence[Remark]) -> dict[str, str]:
    """The kind of every column: as the remarks advise, else its own.

    Examples
    --------
    >>> from merula.data.table import open_table
    >>> import pandas as pd
    >>> birds = open_table(pd.DataFrame({"ring": range(40), "brood": [1, 2] * 20, "wing": [4.9, 5.1, 9.8, 9.5] * 10}))
    >>> columns = guessed_columns(birds)
    >>> advised_kinds(columns, review(birds, columns, None))
    {'ring': 'ignore', 'brood': 'categorical', 'wing': 'numeric'}
    """
    advised = {remark.column: ADVISED[remark.what] for remark in remarks if remark.what in ADVISED}
    return {column.name: advised.get(column.name, column.kind) for column in columns}


# --------------------------------------------------------------------------------------------------------------- words


def _of_words(table: Table, position: int, kind: str, target: Target | None, stated: bool) -> Iterator[Said]:
    if kind == "text":
        if not stated:
            yield "text", "holds sentences and is read word by word"
        return
    codes, labels = table.codes(position)
    codes = np.asarray(codes, dtype=np.int64)
    cells = int(np.count_nonzero(codes >= 0))
    words = all(type(label) is str for label in labels) and not stated
    if cells < 1:
        yield "empty", "holds nothing"
    elif len(labels) == 1:
        yield "constant", f"holds {labels[0]!r} and nothing else"
    elif words and _mostly_differ(len(labels), cells):
        yield _identifying_words(labels, cells)
    else:
        yield from _leak(codes + 1, len(labels) + 1, target)
        yield from _disguised(labels) if words else ()


def _mostly_differ(distinct: int, cells: int) -> bool:
    return distinct == cells >= FEWEST_ROWS or (distinct > FEWEST_LEVELS and distinct > 0.5 * cells)


def _identifier(distinct: int, cells: int) -> Said:
    return "identifier", f"looks like an identifier ({distinct:,} different values in {cells:,} rows)"


def _identifying_words(words: Sequence[str], cells: int) -> Said:
    """Words that tell rows apart, or numbers and dates that were taken for words."""
    if others_than_numbers(words) is not None:
        return "unread numbers", next(_disguised(words))[1]
    if are_dates(words):
        return "unread dates", f"holds dates written as words ({shown(words)})"
    return _identifier(len(words), cells)


def _disguised(words: Sequence[str]) -> Iterator[Said]:
    """Words most of which are numbers, or that mean that there is none."""
    others = others_than_numbers(words)
    if others is not None:
        yield (
            "numbers as words",
            f"holds numbers and {shown(others)}" if others else f"holds numbers written as words ({shown(words)})",
        )
        return
    missing = meant_missing(words)
    if missing:
        yield "missing as words", f"holds {shown(missing)} as a word"


# ------------------------------------------------------------------------------------------------------------- numbers


def _of_numbers(values: NDArray[Any], column: Column, target: Target | None, stated: bool) -> Iterator[Said]:
    known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    amounts = stated or column.unit is not None
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    if not len(known):
        yield "empty", "holds nothing"
    elif low == high:
        yield "constant", f"holds {low:g} and nothing else" if not column.unit else "never changes"
    elif not amounts and _tells_rows_apart(known, high - low + 1, column.name):
        yield _identifier(len(known), len(known))
    else:
        step = max(1, len(values) // MOST_ROWS)
        part = target and Target(target.codes[::step], target.classes, None)
        yield from _leak(_intervals(values[::step].astype(np.float64)), BINS + 1, part)
        if not amounts and (count := _few_whole_numbers(known)):
            yield "codes", f"holds {count} different whole numbers and is read as categories"


def _few_whole_numbers(values: NDArray[Any]) -> int:
    """How many different values there are, if they are few whole numbers, each there many times; else 0."""
    if len(np.unique(values[: FEWEST_TO_LEAK * MOST_CODES])) > MOST_CODES:  # most columns are settled by a glance
        return 0
    found = np.unique(values)
    few = len(found) <= MOST_CODES and len(values) >= ROWS_OF_A_CODE * len(found) and bool((found % 1 == 0).all())
    return len(found) if few else 0


def _tells_rows_apart(values: NDArray[Any], width: float, name: str) -> bool:
    """Whether whole numbers all differ where chance would make some repeat, or are called a number of something."""
    n = len(values)
    chance = n * n / (2 * width) >= EXPECTED_REPEATS
    if n < FEWEST_ROWS or width < n or not (chance or NAMED_ID.search(name)):
        return False
    return bool((values[:MOST_ROWS] % 1 == 0).all()) and len(np.unique(values)) == n and bool((values % 1 == 0).all())


def _intervals(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The number of each value's interval, equally frequent ones; 0 is missing."""
    known = values[~np.isnan(values)]
    if not len(known):
        return np.zeros(len(values), dtype=np.int64)
    cuts = np.unique(np.quantile(known, np.arange(1, BINS) / BINS, method="inverted_cdf"))
    return np.where(np.isnan(values), 0, 1 + np.searchsorted(cuts, values))


# ---------------------------------------------------------------------------------------------------------------- leaks


def _leak(cells: NDArray[np.int64], width: int, target: Target | None) -> Iterator[Said]:
    """A column that alone tells the class almost always, also of rows it has not seen."""
    if target is None or len(cells) < FEWEST_TO_LEAK:
        return
    count = len(target.classes)
    counts = np.bincount(cells * count + target.codes, minlength=width * count).reshape(width, count)
    classes = counts.sum(axis=0)
    told = sum(_told(counts, label, int(classes.argmax())) for label in range(count))
    wrong, base = len(cells) - told, len(cells) - int(classes.max())
    if base and wrong <= (1 - LEAK) * base:
        yield "leak", f"alone tells the class in {told / len(cells):.1%} of the rows"


def _told(counts: NDArray[np.int64], label: int, commonest: int) -> int:
    """How many rows of a class the other rows of their cell tell rightly; of one alone in its cell, the commonest class is told."""
    others = counts.copy()
    others[:, label] -= 1
    told = np.where(others.max(axis=1) > 0, others.argmax(axis=1), commonest)
    return int(counts[told == label, label].sum())


# --------------------------------------------------------------------------------------------------------------- target


def warn_of_target(rows: Encoded, target: Target) -> None:
    """A warning where a column holds the class itself in every row."""
    labels = [plain_label(label) for label in target.classes.tolist()]
    if len(rows) < FEWEST_ROWS or len(labels) < 2:
        return
    name = _worded_target(rows, target, labels)
    if name is None and all(isinstance(label, int | float) for label in labels):
        name = _numbered_target(rows, target)
    if name is not None:
        warn_user(
            f"column {name!r} holds the class itself in every row, so the model learns nothing else; leave the target out of X",
            TargetColumnWarning,
        )


def _worded_target(rows: Encoded, target: Target, labels: Sequence[Any]) -> str | None:
    """The column of words that holds the class in every row; most columns are settled by a glance at the first rows."""
    where = {label: index for index, label in enumerate(labels)}
    for name, coded in rows.coded.items():
        if not 0 <= len(coded.slots) - len(labels) <= 2:  # missing may have a slot, and booleans have both
            continue
        held = coded.codes[rows.start : rows.stop]
        # a slot more for whole numbers beyond the range that slots were made for
        indices = np.array([*(where.get(label, -1) for label in coded.slots), -1])
        if all(
            (_clipped(indices, np.asarray(held[part]), coded.shift) == target.codes[part]).all()
            for part in (slice(GLANCE), slice(None))
        ):
            return name
    return None


def _clipped(indices: NDArray[np.int64], codes: NDArray[Any], shift: int) -> NDArray[np.int64]:
    """The place of each code's slot; the last one for codes that have none."""
    slots = codes.astype(np.int64) - shift
    return indices[np.where((slots >= 0) & (slots < len(indices)), slots, -1)]


def _numbered_target(rows: Encoded, target: Target) -> str | None:
    for name, values in rows.numeric.items():
        held = values[rows.start : rows.stop]
        if all((held[part] == target.classes[target.codes[part]]).all() for part in (slice(GLANCE), slice(None))):
            return name
    return None


def check_target(target: Target, name: str) -> None:
    """A ValueError where a column is no target: a measurement, an identifier, or the same in every row.

    Examples
    --------
    >>> from merula.data.encode import encode_target
    >>> check_target(encode_target(list(range(140, 200)) * 9, 540), "height")
    Traceback (most recent call last):
        ...
    ValueError: the target 'height' holds 60 different numbers; merula tells classes apart: cut them into a few classes
    """
    count, rows, labels = len(target.classes), len(target.codes), target.classes.tolist()
    if count < 2:
        raise ValueError(f"the target {name!r} holds one class only ({labels[0]!r}); a model needs at least two")
    if count > FEWEST_LEVELS and count > 0.5 * rows:
        raise ValueError(
            f"the target {name!r} has {count:,} different values in {rows:,} rows; a target names classes that many rows share"
        )
    whole = all(isinstance(label, int) for label in labels)
    numbers = whole or all(isinstance(label, float) for label in labels)
    if numbers and count > (MOST_NUMBERED if whole else FEWEST_LEVELS):
        raise ValueError(
            f"the target {name!r} holds {count:,} different numbers; merula tells classes apart: cut them into a few classes"
        )
