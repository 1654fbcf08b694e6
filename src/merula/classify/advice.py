"""What should be said of a table's columns before a model is fitted: identifiers, constants, leaks, texts, numbers in disguise."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.classify.sentinels import sentinels, told
from merula.core import Array, InputError, Note, Option
from merula.data.encode import Encoded, GuessedKindWarning, Target, encode, encode_target, read_codes
from merula.data.encode.kinds import are_dates, compact_days, meant_missing, others_than_numbers, shown
from merula.data.encode.target import CONTINUOUS
from merula.data.intervals import assign
from merula.data.schema import Column, Schema
from merula.data.table import Table, plain_label
from merula.data.words import clean, understand
from merula.data.words.resemblance import resemblance
from merula.distributions.discretize import quantile_cuts
from merula.engines import Source, collect
from merula.show.numbers import percent, several
from merula.stats import Collected, LevelCounts, ValueCounts, Wanted, sole_values
from merula.stats.distinct_rows import sum_rows

FEWEST_ROWS = 10  # below that, chance explains anything
FEWEST_LEVELS = 20  # of words, before they can be called identifiers
EXPECTED_REPEATS = 5.0  # of whole numbers drawn by chance: where none repeats, e^−5 is all that chance allows
LEAK = 0.9  # of the errors of always guessing the commonest class, avoided by one column alone
FEWEST_TO_LEAK = 30
BINS = 64
MOST_CODES, ROWS_OF_A_CODE = 10, 10
MOST_ROWS = 65_536  # of numbers, that tell a leak
NAMED_ID = re.compile(r"(^|[\W_])(id|uuid|guid|key|index|nr|no|number)$|[a-z]I[dD]$|^(id|ID)[\W_]|编号", re.IGNORECASE)
NAMED_CODE = re.compile(
    r"(^|[\W_])((zip|post|postal|pin|area|country)[ _-]?codes?|zip|plz|postleitzahl|(tele)?phones?|tele?fon(nummer)?|tel|mobile?|handy|fax|iban|isbn|ean|gtin|upc|sku|imei|konto(nummer|nr)?|account)([\W_]|$)|郵便番号|邮编|邮政编码|电话|電話|手机",
    re.IGNORECASE,
)  # what is numbered so is called by numbers
NUMBERED = 1e8  # from here on, numbers of equally many figures may be those of telephones and accounts
CLOCKS = tuple(
    (946_684_800 * k, 2_145_916_800 * k) for k in (1, 1_000, 1_000_000)
)  # seconds since 1970 in the years 2000 to 2037, and parts of them
NAMED_TARGET = re.compile(
    r"^(.*[\W_])?(target|class|label|labels|outcome|y|survived|survival|churn|churned|diagnosis|species|default|defaulted|fraud|"
    r"response|result|status|category|type|quality|grade|income|approved|subscribed|exited|attrition|readmitted|spam|klasse|ziel|分类|类别)([\W_].*)?$",
    re.IGNORECASE,
)
PLAINLY_TARGET = re.compile(
    r"^(target|class|label|outcome|y)$", re.IGNORECASE
)  # no column is called so for any other reason
MOST_NUMBERED = 50  # classes that are called by whole numbers

ADVISED = {
    "identifier": "ignore",
    "unread numbers": "ignore",
    "unread dates": "ignore",
    "unread amounts": "ignore",
    "text": "text",
    "codes": "categorical",
}

YES_OR_NO = "holds 0 and 1"

Said = tuple[str, ...]  # what, the text, words that may mean that a cell is empty


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


class AlikeClassesWarning(UserWarning):
    """Classes differ only in how they are written."""


@dataclass(frozen=True)
class Remark:
    """One thing worth knowing of one column.

    ``what`` is "identifier", "empty", "constant", "text", "codes", "numbers as words", "unread numbers", "unread dates",
    "missing as words", "spellings", "sentinel", "numbered", "days", "resembling", "unread amounts", "infinite" or "leak"; ``kind`` is what the column would be without the remark; ``words`` are those that may mean
    that a cell is empty.
    """

    column: str
    what: str
    text: str
    kind: str
    words: Sequence[str] = ()


def review(table: Table, schema: Schema, target: Target | None, stated: Collection[str] = ()) -> list[Remark]:
    """What should be said of a table's columns, in their order; of those whose kind is `stated`, nothing about it.

    Without a target nothing is said of leaks.

    - "identifier": words of which more than half differ; or whole numbers of which none repeats, though by chance some would:
      n² / (2 · range) ≥ 5 repeats are expected of any n numbers within a range
    - "leak": the column alone tells the class of a row it has not seen in all but a few cases:
      errors(level's commonest class, without the row itself) ≤ 0.1 · errors(commonest class)
    - "codes": 0 and 1; or whole numbers of at most ten values, each many times: names of categories rather than amounts
    - "numbered": whole numbers that may be called like telephones, postcodes or accounts, or are as long as such
    - "days": whole numbers that are all days without signs between
    - "resembling", "unread amounts": words that look like ranges, pairs of numbers or amounts in different units
    - "sentinel": a few numbers so far beyond all others that they may stand for something else
    - "unread numbers", "unread dates": words that would be an identifier, but are numbers or dates
    - "spellings": levels that differ in capital letters alone
    - "empty", "constant", "text", "numbers as words", "missing as words", "infinite" are what they say

    Examples
    --------
    >>> from merula.data.encode import encode_target, infer_schema
    >>> from merula.data.table import open_table
    >>> import pandas as pd
    >>> birds = open_table(pd.DataFrame({"ring": range(40), "planet": "Earth", "wing": [4.9, 5.1, 9.8, 9.5] * 10}))
    >>> target = encode_target(["wren", "wren", "tit", "tit"] * 10, 40)
    >>> [(remark.column, remark.what) for remark in review(birds, infer_schema(birds)[0], target)]
    [('ring', 'identifier'), ('planet', 'constant'), ('wing', 'leak')]
    """
    rows = _readable(table, schema)
    every = None if target is None else Source(rows, Target(target.codes, target.classes))
    some = every and _sample(every)
    remarks = []
    for position, column in enumerate(schema.columns):
        if column.kind == "text" and column.name not in stated:
            remarks.append(Remark(column.name, "text", "holds sentences and is read word by word", "text"))
        if column.name in rows.coded:
            found = _of_words(*read_codes(table, column, position), column, every, column.name in stated)
        elif column.name in rows.numeric:
            found = _of_numbers(rows.numeric[column.name], column, some, column.name in stated)
            if column.unit is None and column.name not in stated and (day := compact_days(table, position, False)):
                found = iter((_told_as_days(day), *(one for one in found if one[0] != "identifier")))
        else:
            continue
        remarks += [Remark(column.name, what, text, column.kind, words) for what, text, *words in found]
    return remarks


def _told_as_days(day: str) -> Said:
    return "days", f"holds whole numbers that are all days without signs between, such as {day}, read as numbers"


def kinds_despite_types(table: Table, schema: Schema, stated: Collection[str]) -> tuple[dict[str, str], list[Note]]:
    """The kinds of a data frame's columns that are not what their types say, and notes: identifiers and 0/1, as the command has them.

    Other whole numbers are amounts, as their type says, where the command may take them for codes. That 0 and 1 are categories
    needs no note.

    Examples
    --------
    >>> from merula.data.encode import infer_schema
    >>> from merula.data.table import open_table
    >>> import pandas as pd
    >>> birds = open_table(pd.DataFrame({"ring": range(40), "male": [0, 1] * 20, "eggs": [0, 1, 2, 3] * 10}))
    >>> kinds, notes = kinds_despite_types(birds, infer_schema(birds)[0], ())
    >>> kinds, [note.column for note in notes]
    ({'ring': 'ignore', 'male': 'categorical'}, ['ring'])
    """
    kinds, notes = {}, []
    for one in review(table, schema, None, stated):
        if one.column in stated:
            continue
        if one.what == "identifier":
            keep = Option("kinds", one.kind, column=one.column)
            notes.append(Note(GuessedKindWarning, (f"column {one.column!r} {one.text} and is left out; say ", keep, " to learn from it"), one.column))  # fmt: skip
        whole = table.integers(schema.names.index(one.column)) is not None  # 0.0 and 1.0 are numbers, says their type
        if one.what == "identifier" or (one.what == "codes" and one.text.startswith(YES_OR_NO) and whole):
            kinds[one.column] = ADVISED[one.what]
    return kinds, notes


def leaking(table: Table, schema: Schema, target: Target) -> list[str]:
    """The columns that alone predict the class almost always: see "leak" of `review`."""
    rows = _readable(table, schema)
    every = Source(rows, Target(target.codes, target.classes))
    sources = {**dict.fromkeys(rows.coded, every), **dict.fromkeys(rows.numeric, _sample(every))}
    finite = {name for name in sources if name not in rows.numeric or not np.isinf(rows.numeric[name]).any()}
    return [name for name, source in sources.items() if name in finite and any(_leak(source, schema[name]))]


def _readable(table: Table, schema: Schema) -> Encoded:
    """The columns that are not texts."""
    kinds = tuple(replace(column, kind="ignore") if column.kind == "text" else column for column in schema.columns)
    return encode(table, Schema(kinds), range(len(kinds)))


def advised_kinds(schema: Schema, remarks: Sequence[Remark]) -> dict[str, str]:
    """The kind of every column: as the remarks advise, else as the schema says.

    Examples
    --------
    >>> from merula.data.encode import infer_schema
    >>> from merula.data.table import open_table
    >>> import pandas as pd
    >>> birds = open_table(pd.DataFrame({"ring": range(40), "brood": [1, 2] * 20, "wing": [4.9, 5.1, 9.8, 9.5] * 10}))
    >>> schema, _ = infer_schema(birds)
    >>> advised_kinds(schema, review(birds, schema, None))
    {'ring': 'ignore', 'brood': 'categorical', 'wing': 'numeric'}
    """
    advised = {remark.column: ADVISED[remark.what] for remark in remarks if remark.what in ADVISED}
    return {column.name: advised.get(column.name, column.kind) for column in schema.columns}


# --------------------------------------------------------------------------------------------------------------- words


def _of_words(
    codes: NDArray[Any], labels: Sequence[Any], column: Column, source: Source | None, stated: bool
) -> Iterator[Said]:
    cells = int(np.count_nonzero(codes >= 0))
    words = all(type(label) is str for label in labels) and not stated
    differ = len(labels) == cells >= FEWEST_ROWS or (len(labels) > FEWEST_LEVELS and len(labels) > 0.5 * cells)
    if cells < 1:
        yield "empty", "holds nothing"
    elif len(labels) == 1:
        ticked = (
            ""
            if cells == len(codes)
            else "; the default model takes an empty cell for an answer where enough rows have one; for other models, write there what it means"
        )
        yield "constant", f"holds {labels[0]!r} and nothing else{ticked}"
    elif words and differ:
        yield _identifying_words(labels, cells)
    else:
        yield from _leak(source, column)
        yield from _disguised(labels) if words else ()
        if words and (alike := resemblance(labels)) is not None:
            yield "resembling", f"holds {alike[0]} ({shown(labels)}), read as words; {alike[1]}"
        yield from _spelled_in_two_ways(labels) if words and not (column.reading and column.reading.fold_case) else ()


def _spelled_in_two_ways(words: Sequence[str]) -> Iterator[Said]:
    """Levels that differ in capital letters alone, longer than a letter: those may be codes."""
    alike: dict[str, list[str]] = {}
    for word in words:
        alike.setdefault(word.casefold(), []).append(word)
    found = [sorted(group) for group in alike.values() if len(group) > 1 and len(group[0]) > 1]
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        yield "spellings", f"holds {' and '.join(map(repr, found[0][:2]))}{more}, which differ only in case"


def _identifier(distinct: int, cells: int) -> Said:
    return "identifier", f"looks like an identifier ({distinct:,} different values in {cells:,} rows)"


def _identifying_words(words: Sequence[str], cells: int) -> Said:
    """Words that tell rows apart, or numbers and dates that were taken for words."""
    if others_than_numbers(words) is not None:
        return "unread numbers", *next(_disguised(words))[1:]
    if are_dates(words):
        return "unread dates", f"contains dates stored as text ({shown(words)})"
    if (found := resemblance(words)) is not None:
        what, advice = found
        return "unread amounts", f"holds {what} ({shown(words)}): {advice}"
    return _identifier(len(words), cells)


def _disguised(words: Sequence[str]) -> Iterator[Said]:
    """Words most of which are numbers, or that mean that there is none."""
    others = others_than_numbers(words)
    if others is not None:
        yield (
            "numbers as words",
            f"holds numbers and {shown(others)}" if others else f"contains numbers stored as text ({shown(words)})",
            *meant_missing(others),
        )
        return
    missing = meant_missing(words)
    if missing:
        yield "missing as words", f"holds {shown(missing)} as a word", *missing


# ------------------------------------------------------------------------------------------------------------- numbers


def _of_numbers(values: NDArray[Any], column: Column, source: Source | None, stated: bool) -> Iterator[Said]:
    infinite = np.flatnonzero(np.isinf(values)) if values.dtype.kind == "f" else np.empty(0, np.intp)
    if len(infinite):  # no statistic takes them: there is nothing else to tell
        yield "infinite", f"holds {several(len(infinite), 'infinite number')}, first in row {infinite[0] + 1:,}, which no model takes: write numbers, or leave these cells empty"  # fmt: skip
        return
    known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    read = column.reading
    amounts = stated or column.unit is not None or bool(read and (read.unit or read.form == "time of day"))
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    if not len(known):
        yield "empty", "holds nothing"
    elif low == high:
        yield "constant", f"holds {low:g} and nothing else" if not column.unit else "never changes"
    elif not amounts and not (read and read.grouping) and _tells_rows_apart(known, high - low + 1, column.name):
        yield _identifier(len(known), len(known))
    else:
        yield from _leak(source, column)
        if column.unit is None and (found := sentinels(values)):
            yield "sentinel", told(found), *(f"{value:.15g}" for value in found)
        if not amounts and (count := _few_whole_numbers(known)):
            held = YES_OR_NO if (low, high, count) == (0, 1, 2) else f"holds {count} different whole numbers"
            yield "codes", f"{held} and is read as categories"
        elif not amounts and _may_be_numbered(known, column.name):
            yield "numbered", "holds whole numbers as telephones, postcodes or accounts have, read as amounts"


def _may_be_numbered(values: NDArray[Any], name: str) -> bool:
    """Whether whole numbers may be no amounts but codes: called so, or all as long as numbers of telephones, and nearly all different."""
    low, high = float(values.min()), float(values.max())
    long = low >= NUMBERED and len(f"{low:.0f}") == len(f"{high:.0f}") and len(values) >= FEWEST_LEVELS
    timed = any(first <= low and high <= last for first, last in CLOCKS)
    if low < 0 or not (NAMED_CODE.search(name) or (long and not timed)) or (values % 1 != 0).any():
        return False
    return NAMED_CODE.search(name) is not None or len(np.unique(values)) > 0.9 * len(values)


def _few_whole_numbers(values: NDArray[Any]) -> int:
    """How many different values there are, if they are 0 and 1, or few whole numbers, each there many times; else 0."""
    if len(np.unique(values[: FEWEST_TO_LEAK * MOST_CODES])) > MOST_CODES:  # most columns are settled by a glance
        return 0
    found = np.unique(values)
    if found.tolist() == [0, 1]:
        return 2
    few = len(found) <= MOST_CODES and len(values) >= ROWS_OF_A_CODE * len(found) and bool((found % 1 == 0).all())
    return len(found) if few else 0


def _tells_rows_apart(values: NDArray[Any], width: float, name: str) -> bool:
    """Whether whole numbers all differ where chance would make some repeat, or are called a number of something."""
    n = len(values)
    if n < FEWEST_ROWS or width < n or not (n * n / (2 * width) >= EXPECTED_REPEATS or NAMED_ID.search(name)):
        return False
    return bool((values[:MOST_ROWS] % 1 == 0).all()) and len(np.unique(values)) == n and bool((values % 1 == 0).all())


# ---------------------------------------------------------------------------------------------------------------- leaks


def _sample(source: Source) -> Source:
    """Some of the rows, evenly spread: as many as tell whether a column of numbers leaks."""
    step = max(1, len(source.table) // MOST_ROWS)
    part = Target(source.target.codes[::step], source.target.classes)
    return source if step == 1 else Source(source.table.take(np.arange(0, len(source.table), step)), part)


def _leak(source: Source | None, column: Column) -> Iterator[Said]:
    """A column that alone tells the class almost always, also of rows it has not seen."""
    if source is None or len(source.table) < FEWEST_TO_LEAK:
        return
    counts = _cell_counts(source, column)
    classes = counts.sum(axis=1)
    told = sum(_told(counts, label, int(classes.argmax())) for label in range(len(classes)))
    rows = classes.sum()
    wrong, base = rows - told, rows - classes.max()
    if base and wrong <= (1 - LEAK) * base:
        yield "leak", f"alone predicts the class in {percent(told / rows)} of the rows"


def _cell_counts(source: Source, column: Column) -> Array:
    """The rows of each class at each level, or in each of a few intervals of equal weight; missing first."""
    statistic = LevelCounts if column.kind == "categorical" else ValueCounts
    found: Any = collect(source, Schema((column,)), [Wanted(statistic, (column.name,))]).blocks[0]
    cells = found.counts[0]
    if column.kind != "categorical":
        cuts = quantile_cuts(found.values[0], cells, BINS)
        cells = sum_rows(cells.T, assign(found.values[0], cuts), len(cuts) + 1).T
    return np.column_stack([found.missing, cells])


def _told(counts: Array, label: int, commonest: int) -> float:
    """How many rows of a class the other rows of their cell tell rightly; of one alone in its cell, the commonest class is told."""
    others = counts.copy()
    others[label] -= 1
    told = np.where(others.max(axis=0) > 0, others.argmax(axis=0), commonest)
    return float(counts[label, told == label].sum())


# --------------------------------------------------------------------------------------------------------------- target


def may_be_target(name: str, plainly: bool = False) -> bool:
    """Whether a column is called as one that holds the class often is; `plainly`, as nothing else is.

    Examples
    --------
    >>> may_be_target("loan_status"), may_be_target("loan_status", plainly=True), may_be_target("wing span")
    (True, False, False)
    """
    return (PLAINLY_TARGET if plainly else NAMED_TARGET).match(name.strip()) is not None


def target_notes(collected: Collected) -> list[Note]:
    """A note where a column holds the class itself in every row, and where classes differ only in how they are written."""
    spelled = _spelled_alike([label for label in collected.classes.tolist() if isinstance(label, str)])
    return [*_holding_the_class(collected), *spelled]


def _spelled_alike(labels: Sequence[str]) -> list[Note]:
    """A note of classes that differ only in case, in blanks around them or in what cannot be seen."""
    alike: dict[str, list[str]] = {}
    for label in labels:
        alike.setdefault(clean(label).casefold(), []).append(label)
    problem = "differ only in case or blanks; make them one before fit if they are"
    return [
        Note(AlikeClassesWarning, f"the classes {shown(words)} {problem}") for words in alike.values() if len(words) > 1
    ]


def _holding_the_class(collected: Collected) -> list[Note]:
    labels, weight = [plain_label(label) for label in collected.classes.tolist()], collected.class_counts.weight
    if weight.sum() < FEWEST_ROWS or len(labels) < 2:
        return []
    held = {
        name: values
        for block in collected.blocks
        for name, values in zip(getattr(block, "columns", ()), sole_values(block, weight), strict=False)
    }
    problem = "holds the class itself in every row, so the model learns nothing else; leave the target out of X"
    stray = next((name for name, values in held.items() if values == labels), None)
    return [] if stray is None else [Note(TargetColumnWarning, f"column {stray!r} {problem}", stray)]


def named_target(cells: Any, rows: int, target: str) -> Target:
    """The class of each row; an `InputError` that names the column where it holds none."""
    try:
        return encode_target(cells, rows)
    except ValueError as error:
        continuous = str(error).startswith(CONTINUOUS)
        what = "holds continuous numbers, not classes" if continuous else f"names no classes: {error}"
        remedy = "write its values as words if they are classes, else cut it into a few"
        raise InputError.at(f"the target {target!r}", what, remedy=remedy) from None


def check_target(target: Target, name: str, left_out: int = 0) -> None:
    """A ValueError where a column is no target: a measurement, an identifier, or the same in every row but those `left_out`, where it is empty.

    Examples
    --------
    >>> from merula.data.encode import encode_target
    >>> check_target(encode_target(list(range(140, 200)) * 9, 540), "height")
    Traceback (most recent call last):
        ...
    merula.core.errors.InputError: the target 'height' holds 60 different numbers; merula tells classes apart: cut them into a few classes
    """
    count, rows, labels = len(target.classes), len(target.codes), target.classes.tolist()
    if count < 2:
        ticked = f"; if the {left_out:,} empty cells mean the opposite, write that there" if left_out else ""
        raise InputError.at(f"the target {name!r}", f"holds one class only ({labels[0]!r})", remedy=f"a model needs at least two{ticked}")  # fmt: skip
    if count > FEWEST_LEVELS and count > 0.5 * rows and not _are_amounts(labels):
        raise InputError.at(f"the target {name!r}", f"has {count:,} different values in {rows:,} rows", remedy="a target names classes that many rows share")  # fmt: skip
    whole = all(isinstance(label, int) for label in labels)
    numbers = whole or all(isinstance(label, float) for label in labels) or _are_amounts(labels)
    if numbers and count > (MOST_NUMBERED if whole else FEWEST_LEVELS):
        raise InputError.at(
            f"the target {name!r}",
            f"holds {count:,} different numbers",
            remedy="merula tells classes apart: cut them into a few classes",
        )


def _are_amounts(labels: Sequence[Any]) -> bool:
    """Whether all labels are words that mean numbers, such as $250,000."""
    if not all(isinstance(label, str) for label in labels):
        return False
    found = understand(labels)
    return found is not None and found.form == "number"
