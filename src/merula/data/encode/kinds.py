"""Table → schema: what each column is, from its dtype, what it holds, and what users say of it.

Words may be something else: numbers with signs, dates in another order, what people write for missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NoReturn

import numpy as np

from merula.core import InputError, Note, Option, one_of
from merula.data.encode.whole import telling
from merula.data.schema import KINDS, Column, Label, Reading, Schema
from merula.data.table import SparseTable, Table
from merula.data.table.frame import UNREAD
from merula.data.words import ALWAYS_MISSING, Hints, as_labels, clean, time_unit, understand
from merula.data.words.cleaning import DASHES
from merula.data.words.numbers import is_limit
from merula.data.words.resemblance import resemblance
from merula.data.words.times import are_compact, far_year, has_time, is_impossible
from merula.show.numbers import several
from merula.show.text import shortened

FEWEST_TEXTS, MANY_TEXTS, WORDS_OF_A_TEXT = 20, 1_000, 3  # when a column of words is text: see `_read_like_text`
FEWEST_SAID = 0.25  # of the words of a text, with more letters than figures
FEWEST_NUMBERS = 10  # different ones, before words may be called numbers
COUNTED = "counts"  # the unit of a text column that came as a matrix of counts, a column for each word
SIGNS = str.maketrans("", "", " ,'%€$£")
DATE = re.compile(r"(\d{4}[./-]\d{1,2}[./-]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2}))([ T]\d{1,2}:\d{2}(:\d{2})?)?")
FIGURES = re.compile(r"\d+")
TELEPHONE = re.compile(r"\+\d+ \d")  # with the code of a country
NUMBER = re.compile(r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
PADDED = re.compile(r"0\d+")  # as in "007", a name
FEWEST_WORDS = 5
MOST_OTHERS = 0.2  # of the words
SHOWN, LONGEST = 3, 60  # words that are quoted, and their letters
COMPACT = (19_000_101, 21_001_231)  # days of plausible years as whole numbers
MOST_SPELLINGS = 50  # of yes and no
READ_AS = {"number": "numbers", "date": "days", "time of day": "seconds since midnight", "duration": "durations", "boolean": "{0.spellings[0]} and {0.spellings[1]}"}  # fmt: skip
ORDERS = {"dmy": "day before month", "mdy": "month before day", "ymd": "year first"}
DOUBTS = {"number": "another decimal sign", "date": "the other order of day and month"}


class GuessedKindWarning(UserWarning):
    """A column's kind was guessed from what it holds; say it in `kinds=`.

    Examples
    --------
    >>> import merula as mr, warnings
    >>> texts = [[f"message number {i} says hello to you"] for i in range(40)]
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     model = mr.NaiveBayesClassifier().fit(texts, ["ham", "spam"] * 20)
    >>> said[0].category is mr.GuessedKindWarning, model.schema_["x0"].kind
    (True, 'text')
    """


def infer_schema(
    table: Table, kinds: Any = None, levels: Any = None, more_to_come: bool = False, threads: int = 1
) -> tuple[Schema, tuple[Note, ...]]:
    """The schema of a table, kinds from dtypes, overridden by `kinds` and `levels`; and what was guessed of it.

    A column without any value says nothing, unless there is `more_to_come`: then its kind must be given. Rows that are a part of
    those learned from are read as all of these are.
    """
    table = telling(table)
    given = dict.fromkeys(table.names, kinds) if isinstance(kinds, str) else by_column(table, kinds or {}, "kinds")
    for name, kind in given.items():
        one_of(kind, KINDS, f"kinds[{name!r}]" if not isinstance(kinds, str) else "kinds")
    if given.keys() == set(table.names) and set(given.values()) == {"text"} and holds_counts(table):
        words = table.names if table.named else None
        return Schema((Column(SparseTable.names[0], "text", words, unit=COUNTED, declared=table.named),)), ()
    declared = {name: _declared(name, values) for name, values in by_column(table, levels or {}, "levels").items()}
    stated = {*given, *declared}
    table.read_words([index for index, name in enumerate(table.names) if name not in stated], threads)
    found = [
        _column(table, position, name, given.get(name), declared.get(name), more_to_come)
        for position, name in enumerate(table.names)
    ]
    found = _in_one_convention(table, found)
    return Schema(tuple(column for column, _ in found)), tuple(note for _, note in found if note is not None)


def _in_one_convention(table: Table, found: list[tuple[Column, Note | None]]) -> list[tuple[Column, Note | None]]:
    """The columns, those in doubt read with the decimal sign and the order of days of others that leave none: one table was written by one."""
    sure = [column.reading for column, _ in found if column.reading is not None and not column.reading.ambiguous]
    commas = any(reading.form == "number" and reading.decimal == "," for reading in sure)
    points = any(reading.form == "number" and reading.grouping == "," for reading in sure)
    orders = {reading.order for reading in sure if reading.order in ("dmy", "mdy")}
    hints = table.hints
    if commas != points and hints.decimal is None:
        hints = replace(hints, decimal="," if commas else ".")
    if len(orders) == 1 and hints.date_order is None:
        hints = replace(hints, date_order=orders.pop())
    if hints is table.hints:
        return found
    return [_settled(table, place, *one, hints) if one[0].reading and one[0].reading.ambiguous else one for place, one in enumerate(found)]  # fmt: skip


def _settled(
    table: Table, position: int, column: Column, note: Note | None, hints: Hints
) -> tuple[Column, Note | None]:
    """A column in doubt, as its words are read under what others tell; as it was where they do not fit."""
    codes, labels = table.codes(position)
    reading = understand(_words(labels), _counts(codes, labels), hints, "datetime" if column.unit else "numeric")
    if column.reading is None or reading is None or reading.ambiguous or reading.form != column.reading.form:
        return column, note
    settled = replace(column, reading=reading)
    return settled, note if note is None else _understood(column.name, labels, reading, codes)[1]


def holds_counts(table: Table) -> bool:
    """Whether a table may be a matrix of counted words: numbers in every column."""
    if isinstance(table, SparseTable):
        return True
    whole = table.whole
    if whole is not None and whole.dtype.kind in "fiub":
        return True
    return all(table.kind(position)[0] == "numeric" for position in range(len(table.names)))


def _refuse_number_as_text(name: str) -> NoReturn:
    """An error: a single number is not read as a word, and as a count it wants others beside it."""
    raise InputError.at(
        f"column {name!r}",
        "holds numbers, which are counts of words only where every column is",
        remedy=("say ", Option("kinds", ("count", "numeric"), column=name)),
    )


def _declared(name: str, values: Any) -> tuple[Label, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError.of(f"levels[{name!r}]", values, "a list of levels")
    return tuple(values)


def by_column(table: Table, option: Any, what: str) -> dict[str, Any]:
    """An option keyed by column, with positions turned into names; unknown columns are an error."""
    if not isinstance(option, Mapping):
        raise InputError.of(what, option, f"a mapping from columns, such as {{{table.names[0]!r}: …}}")
    named = {
        table.names[key] if isinstance(key, int) and key < len(table.names) else key: value
        for key, value in option.items()
    }
    for name in named:
        one_of(name, table.names, f"a key of {what}=")
    return named


def _column(
    table: Table, position: int, name: str, kind: str | None, levels: tuple[Label, ...] | None, more_to_come: bool
) -> tuple[Column, Note | None]:
    """One column, and a note where its kind was guessed."""
    if levels is not None:
        if kind not in (None, "categorical"):
            raise InputError(
                (
                    Option("levels"),
                    f" declares levels for column {name!r}, which ",
                    Option("kinds"),
                    f" calls {kind!r}",
                ),
                where="levels",
                remedy="only a categorical column has levels",
            )
        if len(set(levels)) < len(levels) or not levels:
            raise InputError.at(
                f"levels[{name!r}]", f"is {list(levels)}: it must name each level once", got=list(levels)
            )
        return Column(name, "categorical", levels, declared=True), None
    if kind == "ignore":
        return Column(name, kind), None
    found, unit = table.kind(position)
    if found == UNREAD:
        return _unread(name, kind)
    if kind == "text":
        if found == "numeric":
            _refuse_number_as_text(name)
        return Column(name, kind), None
    if kind == "categorical":
        return Column(name, kind, reading=_of_categories(table, position, found)), None
    reading = table.hints.of_numbers(name)
    if found == "categorical":
        if kind is None:
            return _guessed(table, position, name)
        codes, labels = table.codes(position)
        reading = understand(_words(labels), _counts(codes, labels), table.hints, "datetime" if kind == "datetime" else "numeric")  # fmt: skip
        unit = time_unit(reading)
    if found == "empty":
        if kind is None and more_to_come:
            raise InputError.at(
                f"column {name!r}",
                "is empty in the first batch, so its kind is unknown",
                remedy=("say ", Option("kinds", ("numeric", "categorical"), column=name)),
            )
        found = "categorical"
    if found == "numeric" and unit is None and kind in (None, "datetime"):
        day = compact_days(table, position, kind is not None)
        if day is not None:
            return _of_compact_days(name, kind, day, reading)
    if kind == "datetime" and unit is None:
        raise InputError(
            (Option("kinds"), f" calls column {name!r} a datetime, but its values are not"),
            where="kinds",
            remedy="convert the column first",
        )
    note = _stand_in_note(name, table.hints.stand_ins.get(name, ())) if found == "numeric" else None
    return Column(name, kind or found, unit=unit, reading=reading), note


def _stand_in_note(name: str, words: Sequence[str]) -> Note | None:
    """A note of numbers such as 9999 that stand where there is none."""
    if not words:
        return None
    held = f"column {name!r} holds {' and '.join(words)}, far beyond all its other values, read as missing; "
    leaves = "leaves it a number" if len(words) == 1 else "leaves one a number"
    return Note(GuessedKindWarning, (held, Option("keep", [words[0]]), f" {leaves}"), name)


def _unread(name: str, kind: str | None) -> tuple[Column, Note]:
    """A column of lists, records or bytes: left out, unless it is said to be something else."""
    if kind is not None:
        raise InputError.at(f"column {name!r}", "holds lists, records or bytes, which no model reads", remedy=("convert it or say ", Option("kinds", "ignore", column=name)))  # fmt: skip
    told = f"column {name!r} holds lists, records or bytes, which no model reads: it is left out"
    return Column(name, "ignore"), Note(UserWarning, told, column=name)


def _of_compact_days(name: str, kind: str | None, day: str, reading: Reading | None) -> tuple[Column, Note | None]:
    """A column of whole numbers such as 20190131: days where that was stated, else numbers, with a note."""
    if kind == "datetime":
        return Column(name, kind, unit="datetime64[ms]", reading=Reading("date", order="ymd")), None
    problem = f"column {name!r} holds whole numbers that are all days without signs between, such as {day}, and is read as numbers; say "
    days = Option("kinds", "datetime", column=name)
    return Column(name, "numeric", reading=reading), Note(
        GuessedKindWarning, (problem, days, " if they are days"), name
    )


def compact_days(table: Table, position: int, stated: bool) -> str | None:
    """The first of numbers that are nothing but days of a plausible year such as 20190131, at least a few; None where they are not.

    Unless it is `stated` that they are days, whole numbers alone are looked at, and for most columns only the first.
    """
    values = table.numbers(position, None) if stated else table.integers(position)
    if values is None or not len(values) or not (stated or COMPACT[0] <= values[0] <= COMPACT[1]):
        return None
    different = np.unique(values[~np.isnan(values)] if values.dtype.kind == "f" else values)
    inside = len(different) > 0 and different[0] >= COMPACT[0] and different[-1] <= COMPACT[1]
    if not inside or (len(different) < SHOWN and not stated) or (different != np.floor(different)).any():
        return None
    days = [str(int(day)) for day in different]
    return days[0] if are_compact(days) else None


def _of_categories(table: Table, position: int, found: str) -> Reading | None:
    """How the words of a column that is known to hold categories are read: yes and no may have several spellings."""
    if found != "categorical" or table.has_categories(position):
        return table.hints.of_labels(table.names[position])
    codes, labels = table.codes(position)
    told = understand(_words(labels), _counts(codes, labels), table.hints) if len(labels) <= MOST_SPELLINGS else None
    return told if told is not None and told.form == "boolean" else table.hints.of_words


def _counts(codes: Any, labels: Sequence[Label]) -> list[int]:
    """In how many rows each word stands."""
    counts = np.bincount(np.asarray(codes) + 1, minlength=len(labels) + 1)[1:].tolist()
    return [count for count, label in zip(counts, labels, strict=True) if isinstance(label, str)]


def _words(labels: Sequence[Label]) -> list[str]:
    return [label for label in labels if isinstance(label, str)]


def _guessed(table: Table, position: int, name: str) -> tuple[Column, Note | None]:
    """A column of words: text or categories, with a note where a person may think otherwise."""
    codes, labels = table.codes(position)
    words = all(type(label) is str for label in labels)
    if table.has_categories(position) or not words:
        return Column(name, "categorical", reading=table.hints.of_words), None
    counts = _counts(codes, labels)
    reading = understand(labels, counts, table.hints)
    if reading is not None:
        return _understood(name, labels, reading, codes)
    read = [label for label in dict.fromkeys(as_labels(labels, table.hints.of_words, None)) if label is not None]
    cells = sum(counts) if len(read) > FEWEST_TEXTS else 0
    if _read_like_text(read, cells):
        held = f"looks like text ({len(labels):,} different values in {cells:,} cells, several words each) and is read word by word"
        text, remedy = Option("kinds", "text", column=name), " if it is, or 'categorical' if it is not"
        return Column(name, "text"), Note(GuessedKindWarning, (f"column {name!r} {held}; say ", text, remedy), name)
    column = Column(name, "categorical", reading=table.hints.of_words)
    others = others_than_numbers(read) if len(read) >= FEWEST_NUMBERS else None
    if others is None:
        return column, _resembling(name, read) or _gap_note(name, labels, table.hints)
    held = f"holds numbers and {shown(others)}" if others else f"contains numbers stored as text ({shown(labels)})"
    problem = f"column {name!r} {held}, so it is read as categories; make it a column of numbers, or say "
    names = Option("kinds", "categorical", column=name)
    return column, Note(GuessedKindWarning, (problem, names, " if it holds names"), name)


def _resembling(name: str, words: Sequence[str]) -> Note | None:
    """A note of categories that look like amounts of some sort, which are not read as such."""
    found = resemblance(words)
    if found is None:
        return None
    what, advice = found
    names = Option("kinds", "categorical", column=name)
    problem = f"column {name!r} holds {what} ({shown(words)}), so it is read as categories; {advice}, or say "
    return Note(GuessedKindWarning, (problem, names, " if that is right"), name)


def _understood(name: str, labels: Sequence[str], reading: Reading, codes: Any) -> tuple[Column, Note | None]:
    """A column whose words are more than words, and a note that says what they are taken for."""
    kind = {"boolean": "categorical", "date": "datetime", "duration": "datetime"}.get(reading.form, "numeric")
    column = Column(name, kind, unit=time_unit(reading), reading=reading)
    words = Option("kinds", "categorical", column=name)
    told = read_as(labels, reading) + where_impossible(labels, reading, codes)
    return column, Note(GuessedKindWarning, (f"column {name!r} {told}; say ", words, " if it holds names"), name)


def where_impossible(labels: Sequence[str], reading: Reading, codes: Any) -> str:
    """In how many cells days stand that there are not, and in which row the first."""
    wrong = [k for k, label in enumerate(labels) if reading.form == "date" and clean(label) in reading.missing and is_impossible(clean(label))]  # fmt: skip
    if not wrong:
        return ""
    rows = np.flatnonzero(np.isin(np.asarray(codes), wrong))
    return f" ({several(len(rows), 'cell')} with no day that there is, the first {labels[codes[rows[0]]]!r} in row {rows[0] + 1:,})"


def read_as(labels: Sequence[str], reading: Reading) -> str:
    """What a column's words are read as, in words.

    Examples
    --------
    >>> print(read_as(["$29.85", "none"], Reading("number", unit="$", missing=("none",))))
    holds amounts in $ ('$29.85'), read as numbers; 'none' is missing
    >>> print(read_as(["0.7", "0.9", "<0.5", ">9"], Reading("number")))
    holds numbers ('0.7', '0.9', '<0.5', …), read as numbers; '<0.5', '>9' count as the limits that they name
    """
    nothing = ALWAYS_MISSING.difference(reading.keep).union(reading.missing)
    gaps = [label for label in labels if (word := clean(label)) in nothing and word]
    said = list(islice((label for label in labels if clean(label) not in nothing), SHOWN + 1))
    timed = reading.form == "date" and any(has_time(clean(label)) for label in said)
    what = f"holds {_called(reading)} ({shown(said)}), read as {'times' if timed else READ_AS[reading.form].format(reading)}"
    what += f", {ORDERS[reading.order]}" if reading.order in ORDERS else ""
    doubt = f", though {DOUBTS[reading.form]} would fit as well" if reading.ambiguous else ""
    far = far_years(labels, reading)
    doubt += f"; {far}" if far else ""
    limits = [
        label for label in labels if reading.form == "number" and clean(label) not in nothing and is_limit(clean(label))
    ]
    doubt += (
        f"; {shown(limits)} {'counts as the limit that it names' if len(limits) == 1 else 'count as the limits that they name'}"
        if limits
        else ""
    )
    return what + doubt + (f"; {shown(gaps)} {'is' if len(gaps) == 1 else 'are'} missing" if gaps else "")


def far_years(labels: Sequence[str], reading: Reading) -> str:
    """What two digits of a year are taken for, where that is far in the future."""
    if reading.form != "date" or reading.order == "ymd":
        return ""
    far = next(((label, year) for label in labels if (year := far_year(clean(label))) is not None), None)
    return "" if far is None else f"{far[0]!r} is taken for {far[1]}: write years in full where that is wrong"


def _called(reading: Reading) -> str:
    if reading.form != "number":
        return {"date": "dates", "time of day": "times of day", "duration": "durations", "boolean": "yes and no in several spellings"}[reading.form]  # fmt: skip
    return {"": "numbers", "%": "percentages"}.get(reading.unit, f"amounts in {reading.unit}")


def _gap_note(name: str, labels: Sequence[str], hints: Hints) -> Note | None:
    """A note of words that mean that a cell is empty."""
    gaps = [
        label
        for label in labels
        if (word := clean(label)) in ALWAYS_MISSING and word and word not in (*hints.missing, *hints.keep)
    ]
    if not gaps:
        return None
    keep = Option("levels", column=name)
    return Note(
        GuessedKindWarning,
        (f"column {name!r} holds {shown(gaps)}, read as missing; name it in ", keep, " if it is a level"),
        name,
    )


def _read_like_text(labels: Sequence[str], cells: int) -> bool:
    """True when words are sentences: most cells differ (or very many do), and a cell has several words."""
    if not any(letter.isalpha() for label in labels for letter in label):  # telephones in groups of digits
        return False
    several = len(labels) > max(FEWEST_TEXTS, min(0.5 * cells, MANY_TEXTS))
    words = [word for label in labels for word in label.split()] if several else []
    said = sum(
        sum(map(str.isalpha, word)) > sum(map(str.isdigit, word)) for word in words
    )  # others are numbers of accounts and the like
    return several and len(words) >= WORDS_OF_A_TEXT * len(labels) and said > FEWEST_SAID * len(words)


def others_than_numbers(words: Sequence[str]) -> list[str] | None:
    """The words that are no numbers, where most are; None where most are not, some begin with 0 as codes do, or they are too few to tell.

    Examples
    --------
    >>> others_than_numbers(["12 %", "7 %", "1,200 %", "9.5 %", "none"])
    ['none']
    >>> others_than_numbers(["red", "green", "blue", "white", "7"]) is None
    True
    >>> others_than_numbers(["01067", "04109", "20095", "50667", "80331"]) is None
    True
    """
    most, others = MOST_OTHERS * len(words), []
    for word in words:
        if not _is_number(word):
            others.append(word)
            if len(others) > most or PADDED.fullmatch(word):
                return None
    return others if len(words) >= FEWEST_WORDS else None


def meant_missing(words: Sequence[str]) -> list[str]:
    """The words that people write where a cell is empty; a minus beside a plus is none.

    Examples
    --------
    >>> meant_missing(["male", "-"]), meant_missing(["+", "-"])
    (['-'], [])
    """
    return [word for word in words if word in DASHES and not (word == "-" and "+" in words)]


def are_dates(words: Sequence[str]) -> bool:
    """Whether all words are days, written in an order that is not read as a date."""
    return len(words) >= FEWEST_WORDS and all(DATE.fullmatch(word) and _may_be_day(word) for word in words)


def _may_be_day(word: str) -> bool:
    """Whether two of three numbers are small enough for a day and a month, even if mistyped, as those of 56-77-36 are not."""
    numbers = sorted(int(number) for number in FIGURES.findall(word)[:3])
    return 1 <= numbers[0] <= numbers[1] <= 31


def shown(words: Sequence[Any]) -> str:
    """The first few words, quoted; long ones cut."""
    cut = (
        shortened(word, LONGEST) if isinstance(word, str) and len(word) > LONGEST else word for word in words[:SHOWN]
    )
    return ", ".join(map(repr, cut)) + (", …" if len(words) > SHOWN else "")


def _is_number(word: str) -> bool:
    return NUMBER.fullmatch(word.translate(SIGNS)) is not None and TELEPHONE.match(word) is None
