"""Changes in words: what has changed, how serious it is, and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from merula.answers.monitoring.columns import LEVELS, MOMENTS, NUMBERS, ColumnChange, Test
from merula.answers.monitoring.losses import OWN_WORD, ROWS_BEFORE, Evidence, Loss
from merula.answers.monitoring.prevalence import Share
from merula.answers.monitoring.result import Change, held_then_and_now, moved_most
from merula.core import InPython, Option
from merula.core.errors import Message, Write, phrase
from merula.data.schema import Column, Label
from merula.show.numbers import fixed, percent, several
from merula.show.text import shortened

LONGEST, MOST_NAMED = 40, 3
MOVED = 0.1  # standard deviations: less is not worth a word about the mean
NOTHING_CHANGED = "Nothing has changed beyond chance."
FEW_TESTS = "Nothing could be tested: the model keeps nothing to compare these rows with."


def verdict_of(
    changes: Sequence[Change], doubts: Sequence[Change], tests: Mapping[str, float], false_alarms: float
) -> str:
    """One sentence: whether anything has changed."""
    if not tests:
        return FEW_TESTS
    rests = f"({several(len(tests), 'test')}, false alarms at most {percent(false_alarms)} in all)"
    if not changes and doubts:
        return f"{NOTHING_CHANGED[:-1]}, but the model's own word is in doubt {rests}."
    if not changes:
        return f"{NOTHING_CHANGED[:-1]} {rests}."
    named = [TITLES[change.of] if change.column is None else change.column for change in changes]
    more = len(named) - MOST_NAMED
    first = [shortened(one, LONGEST) for one in named[:MOST_NAMED]] + ([f"{more} more"] if more > 0 else [])
    return f"Changed: {listed_with_and(first)} {rests}."


TITLES = {"class": "how frequent the classes are", "loss": "how good the probabilities are", "evidence": "how probable such rows are"}  # fmt: skip


def listed_with_and(words: Sequence[str]) -> str:
    """Words in a row, the last behind "and".

    Examples
    --------
    >>> listed_with_and(["age", "sex", "town"])
    'age, sex and town'
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def column_sentence(one: ColumnChange, column: Column | None) -> str:
    """What has changed in a column."""
    parts = [part for test in one.tests if test.changed for part in [_of(test, one, column)] if part]
    return f"{one.column!r}: {'; '.join(dict.fromkeys(parts))}."


def _of(test: Test, one: ColumnChange, column: Column | None) -> str:
    if test.of == "missing":
        return f"missing in {percent(one.missing_now or 0.0)} of rows, {percent(one.missing_then or 0.0)} then"
    if test.of == LEVELS:
        return _levels(one)
    if test.of == NUMBERS and abs(moved_by(one)) < MOVED:
        return f"{_interval(one)}; its mean is much the same"
    if test.of == "spread":
        assert one.numbers_then is not None and one.numbers_now is not None
        times = one.numbers_now.deviation / one.numbers_then.deviation
        return f"it varies {'more' if times > 1 else 'less'}: its standard deviation is {times:.2f} times what it was"
    then, now = held_then_and_now(one, column)
    apart = moved_by(one)
    by = f", {abs(apart):.1f} standard deviations {'higher' if apart > 0 else 'lower'}" if abs(apart) < 1e3 else ""
    return f"{now} on average, {then} then{by}"


def moved_by(one: ColumnChange) -> float:
    """By how many standard deviations the mean has moved."""
    if one.numbers_then is None or one.numbers_now is None:
        return 0.0
    apart = one.numbers_now.mean - one.numbers_then.mean
    return apart / one.numbers_then.deviation if one.numbers_then.deviation > 0 else 1e9 * (apart > 0) - 1e9 * (apart < 0)  # fmt: skip


def _levels(one: ColumnChange) -> str:
    label = moved_most(one)
    then, now = one.shares[label]
    told = "" if label in one.unseen else f"{shortened(str(label), LONGEST)} in {percent(now)} of the rows that know it, {percent(then)} then"  # fmt: skip
    if not one.unseen:
        return told
    named = sorted(one.unseen, key=lambda level: -one.unseen[level])[:MOST_NAMED]
    more = len(one.unseen) - len(named)
    rest = f" and {several(more, 'more level')}" if more else ""
    share = sum(one.unseen.values()) / one.known_now
    return f"{told}{'; ' if told else ''}never seen before: {', '.join(shortened(str(level), LONGEST) for level in named)}{rest} ({percent(share)})"  # fmt: skip


def _interval(one: ColumnChange) -> str:
    label = moved_most(one)
    then, now = one.shares[label]
    return f"{percent(now)} of its numbers are in {label}, {percent(then)} then"


def class_sentence(shares: Mapping[Label, Share], counted: bool) -> str:
    """How the classes have changed."""
    label = max(shares, key=lambda one: abs(shares[one].now - shares[one].then))
    one = shares[label]
    how = "counted" if counted else "estimated from the probabilities"
    return f"Classes: {shortened(str(label), LONGEST)} is {'more' if one.now > one.then else 'less'} frequent: {percent(one.now)} ({percent(one.low)} to {percent(one.high)}, {how}) now, {percent(one.then)} then."  # fmt: skip


def loss_sentence(loss: Loss) -> str:
    """That probabilities are worse than they should be."""
    if loss.realised is None:
        return f"Loss: the model is less certain of these rows; it expects a log loss of {fixed(loss.expected)}, {fixed(loss.before)} of the rows before."
    if loss.standard != OWN_WORD:
        rows = "the rows before" if loss.standard == ROWS_BEFORE else "the rows left out when it learned"
        return f"Loss: its probabilities are worse than they were: log loss {fixed(loss.realised)}, {fixed(loss.before)} on {rows}."
    return f"Loss: its probabilities are too sure for these rows: log loss {fixed(loss.realised)}, where it expects {fixed(loss.expected_of_labelled)}."  # fmt: skip


def evidence_sentence(evidence: Evidence) -> str:
    """That rows are of another sort."""
    how = "less" if evidence.mean < evidence.usual else "more"
    return f"Evidence: such rows are {how} probable than the rows before: log evidence {evidence.mean:.2f} a row, {evidence.usual:.2f} then; single columns need not show why."


# -------------------------------------------------------------------------------------------------------- what to do


def column_remedy(one: ColumnChange) -> str:
    """What to look at in a column that changed."""
    of = {test.of for test in one.tests if test.changed}
    if "missing" in of and (one.missing_now or 0) > (one.missing_then or 0):
        return f"Find out why {one.column!r} is missing more often."
    if one.unseen and LEVELS in of:
        return f"Look at the new levels of {one.column!r}: another spelling of known ones is to be mapped to these, new ones are to be learned."  # fmt: skip
    if one.compared in (NUMBERS, MOMENTS):
        return f"Look at how {one.column!r} is measured: unit, device, rounding; and whether such rows come from elsewhere."  # fmt: skip
    return f"Look at how {one.column!r} is recorded, and whether such rows come from elsewhere."


def class_remedy(shares: Mapping[Label, Share], write: Write = str) -> str:
    """The prior to answer with."""
    known = {label: one.now for label, one in shares.items() if one.then > 0}
    if not sum(known.values()) > 0:
        return NEW_CLASSES
    told = ", ".join(f"{label!r}: {now / sum(known.values()):.4g}" for label, now in known.items())
    prior = InPython(f"model.with_class_prior({{{told}}})", f"a model with the class prior {{{told}}}")
    return phrase(
        ("If rows of a class are still what they were, ", prior, " answers for classes as frequent as now."), write
    )


def steps_of(changes: Sequence[Change], doubts: Sequence[Change], labelled: int, write: Write = str) -> tuple[str, ...]:
    """What to do, once each, the most urgent first."""
    of = {change.of for change in changes if change.column is None}
    doubtful = {change.of for change in doubts}
    steps: list[Message] = [LEARN] if "loss" in of and labelled else []
    steps += [change.remedy for change in changes if change.remedy]
    if changes and not labelled:
        steps.append(GET_CLASSES)
    if changes and labelled and "loss" not in of | doubtful:
        steps.append(STILL_RIGHT)
    if doubts:
        steps.append(TOO_SURE if "loss" in doubtful else UNSURE)
    return tuple(dict.fromkeys(phrase(step, write) for step in steps))


NEW_CLASSES = "Learn the new classes: the model knows none of those that these rows are of."
LEARN = ("Learn again with these rows: fit anew", InPython(", or model.faded(0.5).partial_fit(rows, y) where old rows may fade"), "; until then, act on its probabilities with care.")  # fmt: skip
GET_CLASSES = "Get the classes of some of these rows, and monitor again with them: only they tell whether its probabilities are still right."  # fmt: skip
STILL_RIGHT = (
    "On the rows with a class its probabilities are not shown to be worse: it may go on answering while you look."
)
TOO_SURE = ("It may always have been too sure of itself: rows from when it was known to be good (", Option("before"), ") tell", InPython("; model.calibrated(rows, y, cv=\"prefit\") makes it as sure as these rows say"), ".")  # fmt: skip
UNSURE = ("That estimate supposes that its probabilities were right: rows from when it was known to be good (", Option("before"), "), or a calibrated model, tell.")  # fmt: skip
