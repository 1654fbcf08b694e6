"""The different words of a column → how they are read; and words → numbers, instants or labels, read so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from merula.data.schema import BOOLEANS, ENGLISH, FIGURES, MIXED, Label, Reading, no_and_yes
from merula.data.words.cleaning import ALWAYS_MISSING, clean, is_gap, other_spellings, without_gaps
from merula.data.words.numbers import PADDED, PLAIN, NumberForm, number_form, numbers_in, parts_of
from merula.data.words.times import (
    are_compact,
    are_months,
    date_order,
    duration,
    instant,
    is_impossible,
    names_week,
    possible_days,
    seconds_of_day,
)

FEWEST_NUMBERS = (
    10  # different whole numbers without a sign, or close behind letters, before they are amounts and not names
)
FEWEST_DATES = 3  # different ones, before figures with signs between them are days
FEWEST_WEEKS = 10  # different ones, before they are days and no names
FEWEST_BESIDE, MOST_STRAYS, MOST_STRAY_CELLS = (
    20,
    5,
    0.2,
)  # different numbers or days, before a few words beside them mean none; such words; their share
LIKE_NAMES = re.compile("(?:[A-Z]{3})?[0-9]+")  # 95, and RON95, a petrol, though RON are lei


@dataclass(frozen=True)
class Hints:
    """What the user has said of all words of a table: what else is missing and what is not, the decimal sign, the order of dates, whether case matters."""

    missing: tuple[str, ...] = ()
    decimal: str | None = None
    date_order: str | None = None
    fold_case: bool = False
    keep: tuple[str, ...] = ()
    stand_ins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # numbers of a column that mean none
    of_the_day: tuple[str, ...] = ()  # columns whose numbers are the seconds since midnight of times that were read

    @property
    def of_words(self) -> Reading | None:
        """What of this concerns words that stay words; None where nothing does."""
        return self.of_labels("")

    def of_labels(self, name: str) -> Reading | None:
        """What of this concerns the labels of a column of categories, words or numbers; None where nothing does."""
        missing = (*self.missing, *self.stand_ins.get(name, ()))
        if name in self.of_the_day:
            return Reading("time of day", missing=missing, fold_case=self.fold_case, keep=self.keep)
        stated = missing or self.fold_case or self.keep
        return Reading("words", missing=missing, fold_case=self.fold_case, keep=self.keep) if stated else None

    def of_numbers(self, name: str) -> Reading | None:
        """What of this concerns cells of a column that came as numbers, so that words among new ones are read like them; None where nothing does."""
        if name in self.of_the_day:
            return Reading("time of day", missing=(*self.missing, *self.stand_ins.get(name, ())))
        decimal, missing = self.decimal or ".", (*self.missing, *self.stand_ins.get(name, ()))
        return Reading("number", decimal, missing=missing) if missing or decimal == "," else None


NO_HINTS = Hints()


def understand(
    words: Sequence[str], counts: Sequence[int] | None = None, hints: Hints = NO_HINTS, wanted: str | None = None
) -> Reading | None:
    """How a column's different words are read: as numbers, days, times, durations, yes or no; None where they are just words.

    `wanted` is the kind that the column is known to have, "numeric" or "datetime": then a few words are enough to tell.

    Examples
    --------
    >>> understand(["$29.85", "$1,338.79", "unknown"]).form, understand(["red", "12"]) is None
    ('number', True)
    >>> understand(["14 Oct 2018", "3 Nov 2018", "1 Jan 2019"]).form
    'date'
    """
    said, gaps = without_gaps(dict.fromkeys(map(clean, words)), hints.missing, hints.keep)
    missing = {*hints.missing, *(gap for gap in gaps if gap not in ALWAYS_MISSING)}
    if not said:
        return None
    strays = [] if counts is None else _strays(said, words, counts, hints)
    for rest in (said, [word for word in said if word not in strays]) if strays else (said,):
        for read in (_number, _date, _clock, _duration):
            found = read(rest, hints, wanted)
            if found is not None:
                missing |= {*found.pop("impossible", ()), *(strays if rest is not said else ())}
                return Reading(**{**found, "missing": tuple(sorted(missing)), "fold_case": hints.fold_case, "keep": hints.keep})  # fmt: skip
    spelled = None if wanted else _boolean(words, counts, hints.keep)
    if spelled is None:
        return None
    return Reading("boolean", spellings=spelled, missing=hints.missing, fold_case=hints.fold_case, keep=hints.keep)


def _strays(said: Sequence[str], words: Sequence[str], counts: Sequence[int], hints: Hints) -> list[str]:
    """A few words without a figure, in few cells, beside many that have one: `refused`, `not yet`; none that was said to be kept."""
    strays = [word for word in said if not any(map(str.isdigit, word))]
    if not 0 < len(strays) <= MOST_STRAYS or len(said) - len(strays) < FEWEST_BESIDE or set(strays) & set(hints.keep):
        return []
    cells = [sum(count for word, count in zip(words, counts, strict=True) if clean(word) in some) for some in (set(strays), set(said))]  # fmt: skip
    return strays if cells[0] <= MOST_STRAY_CELLS * cells[1] else []


def _number(words: Sequence[str], hints: Hints, wanted: str | None) -> dict[str, Any] | None:
    if wanted == "datetime" or (not any(map(str.isdigit, words[0])) and parts_of(words[0]) is None):
        return None
    if wanted is None and len(words) >= FEWEST_DATES and (are_compact(words) or are_months(words)):
        return None
    if wanted is None and len(words) < FEWEST_NUMBERS and all(map(LIKE_NAMES.fullmatch, words)):
        return None
    form = number_form(words, hints.decimal) or (number_form(words) if hints.decimal else None)
    if form is None:
        return None
    return {
        "form": "number",
        "decimal": form.decimal,
        "grouping": form.grouping,
        "unit": form.unit,
        "ambiguous": form.ambiguous,
    }


def _date(words: Sequence[str], hints: Hints, wanted: str | None) -> dict[str, Any] | None:
    if wanted == "numeric" or (
        wanted is None and len(words) < FEWEST_DATES and hints.date_order is None and not _has_full_year(words)
    ):
        return None
    if wanted is None and len(words) < FEWEST_WEEKS and all(map(names_week, words)):
        return None
    known = wanted == "datetime"  # and a column may be written in another order than was said
    found, impossible = date_order(words, hints.date_order, known) or date_order(words, None, known), list[str]()
    if found is None and (possible := possible_days(words)) is not None:
        found = date_order(possible, hints.date_order, known) or date_order(possible, None, known)
        impossible = [word for word in words if is_impossible(word)]
    return None if found is None else {"form": "date", "order": found[0], "ambiguous": found[1], "impossible": impossible}  # fmt: skip


def _has_full_year(words: Sequence[str]) -> bool:
    return all(sum(map(str.isdigit, word)) >= 5 for word in words)


def _clock(words: Sequence[str], _hints: Hints, wanted: str | None) -> dict[str, Any] | None:
    fits = wanted != "datetime" and all(seconds_of_day(word) is not None for word in words)
    return {"form": "time of day"} if fits else None


def _duration(words: Sequence[str], _hints: Hints, wanted: str | None) -> dict[str, Any] | None:
    fits = wanted != "numeric" and all(duration(word) is not None for word in words)
    return {"form": "duration"} if fits else None


def _boolean(words: Sequence[str], counts: Sequence[int] | None, keep: Sequence[str]) -> tuple[str, str] | None:
    """What no and yes are called where they are spelled in several ways, each as it is most often; None where there is nothing to mend."""
    weights = dict(zip(words, counts or [1] * len(words), strict=True))
    spelled: dict[str, int] = {}
    for word, count in weights.items():
        if clean(word) not in ALWAYS_MISSING.difference(keep):
            spelled[clean(word)] = spelled.get(clean(word), 0) + count
    for no, yes in (*BOOLEANS, MIXED):
        if (no, yes) == MIXED and not all(_stands_on_both_sides(pair, spelled) for pair in ENGLISH):
            continue
        sides = [
            [word for word in spelled if word.casefold() in side | figure]
            for side, figure in zip((no, yes), FIGURES, strict=True)
        ]
        if all(sides) and len(spelled) == len(sides[0]) + len(sides[1]) > 2:
            called = ENGLISH[1] if (no, yes) == MIXED else (no, yes)  # both named as one pair has them
            named = [
                max(
                    sorted(w for w in side if w.casefold() in called[k]) or sides[k],
                    key=lambda word: (spelled[word], len(word)),
                )
                for k, side in enumerate(sides)
            ]
            return named[0], named[1]
    return None


def spelled_as_one(counts: Mapping[str, int], fold_case: bool = False) -> tuple[dict[str, str], list[list[str]]]:
    """Spellings of classes that mean the same: {another spelling: the one it is read as}; and those that differ only in case, but too often to be mistakes.

    Of yes and no all spellings are known, as in any column.

    Examples
    --------
    >>> spelled_as_one({"No": 125, "no": 27, "Yes": 37, "YES": 8}), spelled_as_one({"M": 20, "m": 12, "f": 9})
    (({'no': 'No', 'YES': 'Yes'}, []), ({}, [['M', 'm']]))
    """
    named = _boolean(list(counts), list(counts.values()), ())
    if named is None:
        return other_spellings(counts, fold_case)
    means = _spellings(Reading("boolean", spellings=named), frozenset(named))
    one = {word: means.get(clean(word).casefold(), word) for word in counts}  # what means missing is no class
    return {word: name for word, name in one.items() if word != name}, []


def _stands_on_both_sides(pair: tuple[set[str], set[str]], words: Iterable[str]) -> bool:
    """Whether both no and yes are spelled as the pair has them."""
    met = {word.casefold() for word in words}
    return all(met & side for side in pair)


# ------------------------------------------------------------------------------------------------------- read as decided


def time_unit(reading: Reading | None) -> str | None:
    """What the numbers of a reading count, as NumPy calls it; None for plain numbers."""
    return {"date": "datetime64[ms]", "duration": "timedelta64[ms]"}.get(reading.form if reading else "")


def time_kind(reading: Reading) -> str:
    """Whether words are instants or durations, as NumPy calls them; "" where they are neither."""
    return (time_unit(reading) or "").partition("[")[0]


def as_numbers(words: Sequence[Label], reading: Reading) -> tuple[list[float | int | None], list[Label]]:
    """Each word as a number, None where it means that there is none; and the words that are neither. Times count microseconds.

    Examples
    --------
    >>> as_numbers(["9 %", "n/a", "many"], Reading("number", unit="%"))
    ([9.0, None, None], ['many'])
    """
    values: list[float | int | None] = []
    strange: list[Label] = []
    parse = _parser(reading)
    for word in words:
        found = float(word) if isinstance(word, bool | int | float) else None
        if isinstance(word, str):
            cleaned = clean(word)
            if cleaned not in reading.missing and not is_gap(cleaned, reading.keep):
                found = parse(cleaned)
                strange += [word] if found is None else []
        values.append(found)
    return values, strange


def _parser(reading: Reading) -> Callable[[str], float | int | None]:
    if reading.form == "date":
        return lambda word: instant(word, reading.order)
    form = NumberForm(reading.decimal, reading.grouping, reading.unit)
    others = {"duration": duration, "time of day": seconds_of_day}
    return others.get(reading.form, lambda word: numbers_in([word], form)[0])


def as_labels(labels: Sequence[Label], reading: Reading | None, known: Sequence[Label] | None) -> list[Label]:
    """Each label as the column's levels are written: cleaned, None for missing, numbers and words matched to those that are known.

    Examples
    --------
    >>> as_labels([" Yes", "no ", "NA"], None, None), as_labels(["2", "x"], None, (1, 2, 3)), as_labels([7], None, ("7", "8"))
    (['Yes', 'no', None], [2, 'x'], ['7'])
    """
    levels = frozenset(known or ())
    settle = _label_reader(reading, levels)
    return [label if label in levels else settle(label) for label in labels]


def truth_in_words(labels: Sequence[Label], reading: Reading | None, known: Sequence[Label] | None) -> list[Label]:
    """The labels, True and False as the levels have them where these are words: yes and no, or the two written out.

    Examples
    --------
    >>> truth_in_words([True, False, None], None, ("nein", "ja")), truth_in_words([True], None, ("False", "True", "unclear"))
    (['ja', 'nein', None], ['True'])
    """
    levels = frozenset(level for level in known or () if level is not None)
    if not any(isinstance(label, bool) for label in labels) or {type(level) for level in levels} != {str}:
        return list(labels)
    spelled = _spellings(reading, levels)
    found: dict[bool, Label] = {}
    for value, figure in ((False, "0"), (True, "1")):
        written = [level for level in levels if level.casefold() == str(value).casefold()]
        found[value] = spelled.get(figure, written[0] if len(written) == 1 else value)
    return [found[label] if isinstance(label, bool) else label for label in labels]


def _label_reader(reading: Reading | None, levels: frozenset[Label]) -> Callable[[Label], Label]:
    missing = ALWAYS_MISSING.difference(reading.keep).union(reading.missing) if reading else ALWAYS_MISSING
    spelled = _spellings(reading, levels)
    kinds = {type(level) for level in levels if level is not None}
    numbers = frozenset(float(word) for word in reading.missing if PLAIN.fullmatch(word)) if reading else frozenset()
    of_the_day = reading is not None and reading.form == "time of day"

    def settle(label: Label) -> Label:
        if not isinstance(label, str):
            if numbers and label in numbers:
                return None
            if kinds != {str} or type(label) not in (int, float) or label != label // 1:
                return label
            word = str(int(label))  # whole numbers beside missing ones come as floats
            return spelled.get(word, word)
        word = clean(label)
        if word in levels:
            return word
        if word in missing:
            return None
        seconds = seconds_of_day(word) if of_the_day else None
        if seconds is not None:
            return _whole(seconds)
        if reading is not None and reading.fold_case:
            word = word.casefold()
        if spelled:
            return spelled.get(word.casefold(), word)
        if kinds and kinds <= {int, float} and PLAIN.fullmatch(word) and not PADDED.fullmatch(word):
            return _whole(float(word))
        return word

    return settle


def _whole(number: float) -> float:
    """A number as files have it: a whole one without a fraction."""
    return int(number) if number.is_integer() else number


def _spellings(reading: Reading | None, levels: frozenset[Label]) -> Mapping[str, Label]:
    """What each spelling of yes and no is called; true and false are what Python calls so, unless they are levels as words."""
    named: Sequence[Label] = reading.spellings if reading is not None and reading.form == "boolean" else ()
    if not named and levels and all(isinstance(level, bool | None) for level in levels):
        named = ("false", "true")
    named = named or _levels_no_and_yes(levels)
    sides = no_and_yes(named)
    if sides is None:
        return {}
    if str(named[0]).casefold() == "false" and levels.isdisjoint(named):
        named = (False, True)
    if sides in ENGLISH:
        sides = (sides[0] | MIXED[0], sides[1] | MIXED[1])
    return {word: name for side, figure, name in zip(sides, FIGURES, named, strict=True) for word in side | figure}


def _levels_no_and_yes(levels: frozenset[Label]) -> tuple[str, ...]:
    """The levels themselves where one of them means no and the other yes."""
    words = [level for level in levels if isinstance(level, str)]
    for pair in BOOLEANS:
        sides = [[word for word in words if word.casefold() in side] for side in pair]
        if len(words) == 2 and all(sides):
            return sides[0][0], sides[1][0]
    return ()
