"""The numbers of a column as people write them: days, durations, times of day, amounts with their unit; by themselves and along an axis."""

from __future__ import annotations

import re

import numpy as np

from merula.data.schema import Column, Label
from merula.data.table import as_times
from merula.distributions.discretize import assign, interval_labels
from merula.show.numbers import ENDLESS

DURATIONS = {
    "days": np.timedelta64(1, "D"),
    "hours": np.timedelta64(1, "h"),
    "minutes": np.timedelta64(1, "m"),
    "seconds": np.timedelta64(1, "s"),
    "milliseconds": np.timedelta64(1, "ms"),
    "microseconds": np.timedelta64(1, "us"),
    "nanoseconds": np.timedelta64(1, "ns"),
}
OF_NO_LENGTH = ("timedelta64[Y]", "timedelta64[M]")  # one's own: years and months differ
MINUTE, HOUR, DAY = 60, 3600, 86400  # seconds
MONTH = 2_629_800  # a twelfth of 365.25 days, as durations in months are read
MOST_HOURS = 48  # of a duration that is told in hours and minutes
OF_THE_DAY = "hours since midnight"
IN_FRONT = frozenset("$£¥₹₩₦₱฿")  # of the amount, as they are written
NO_TIME, NO_FRACTION = re.compile(r"T00:00:00(\.0+)?$"), re.compile(r"(?<=:\d\d)\.0+$")


def shown(column: Column, value: Label) -> str:
    """A cell as a person reads it.

    Examples
    --------
    >>> from merula.data.schema import Reading
    >>> shown(Column("waited", "datetime", unit="timedelta64[ms]"), 11_220_000.0)
    '3:07 h'
    >>> shown(Column("arrival", "numeric", reading=Reading("time of day")), 52_200.0)
    '14:30'
    >>> shown(Column("share", "numeric", reading=Reading("number", unit="%")), 37.4)
    '37.4 %'
    """
    if value is None:
        return "missing"
    if not isinstance(value, int | float) or isinstance(value, bool):
        return str(value)
    if column.unit is not None:
        return _length(value * _seconds(column)) if _is_told_in_seconds(column, value) else _instant(column.unit, value)
    if is_of_the_day(column) and np.isfinite(value):
        return clock(value)
    return with_unit(column, _plain(value))


def with_unit(column: Column, number: str) -> str:
    """A number that is written already, with the unit that its column was read with.

    Examples
    --------
    >>> from merula.data.schema import Reading
    >>> with_unit(Column("price", "numeric", reading=Reading("number", unit="$")), "-9.5")
    '-$9.5'
    """
    unit = unit_of(column)
    if unit[:1] not in IN_FRONT:
        return f"{number} {unit}".rstrip()
    sign, size = ("-", number[1:]) if number.startswith("-") else ("", number)
    return f"{sign}{unit[0]}{size}{unit[1:]}"  # $1.2M


def interval_of(column: Column, value: float) -> str:
    """The interval between a column's cuts in which a value lies, as a person reads it."""
    cuts = column.cuts or ()
    index = int(assign([value], cuts)[0])
    if column.unit is None and not is_of_the_day(column):
        return f"{interval_labels(cuts)[index]} {unit_of(column)}".rstrip()
    low, high = (shown(column, cuts[k]) if 0 <= k < len(cuts) else "" for k in (index - 1, index))
    return f"({low}, {high}]" if low and high else f"≤ {high}" if high else f"> {low}"


def axis_unit(column: Column, spread: float) -> tuple[str, float]:
    """What numbers of a column that differ by `spread` are told in, and how many of its own make one: ("", 1) for plain numbers.

    Durations are in the largest unit in which they differ by more than 1, times of day in hours, amounts in their own unit.

    Examples
    --------
    >>> axis_unit(Column("waited", "datetime", unit="timedelta64[ms]"), 90_000.0)
    ('minutes', 60000.0)
    """
    if is_duration(column):
        sizes = [(name, float(step / np.ones(1, dtype=column.unit)[0])) for name, step in DURATIONS.items()]
        return next((pair for pair in sizes if pair[1] <= spread), sizes[-1])
    return (OF_THE_DAY, float(HOUR)) if is_of_the_day(column) else (unit_of(column), 1.0)


def is_duration(column: Column) -> bool:
    """Whether a column counts how long something lasts."""
    return column.unit is not None and column.unit.startswith("timedelta")


def is_of_the_day(column: Column) -> bool:
    """Whether a column's numbers are seconds since midnight."""
    return column.unit is None and column.reading is not None and column.reading.form == "time of day"


def unit_of(column: Column) -> str:
    """The unit that the words of a column of numbers had, as they had it; nothing where there is none."""
    named = column.reading is not None and column.reading.form == "number" and column.holds in ("numeric", "count")
    return column.reading.unit if named and column.reading is not None else ""


def names_unit(name: str, unit: str) -> bool:
    """Whether the name of a column ends with its unit, in brackets or not.

    Examples
    --------
    >>> names_unit("Betrag (€)", "€"), names_unit("weight kg", "kg"), names_unit("bkg", "kg")
    (True, True, False)
    """
    return name.rstrip(")] ").endswith((f" {unit}", f"({unit}", f"[{unit}"))


def clock(seconds: float) -> str:
    """A time of day, given in seconds since midnight.

    Examples
    --------
    >>> clock(52_200.0), clock(65.0), clock(65.25)
    ('14:30', '0:01:05', '0:01:05.25')
    """
    seconds = _measured(seconds)
    return _parts(seconds, HOUR) if seconds % MINUTE == 0 else _parts(seconds, HOUR, MINUTE)


def _length(seconds: float) -> str:
    """How long something lasts: years and months where it is whole ones, days and hours, hours and minutes, minutes and seconds, or seconds."""
    size = abs(seconds)
    if size < MINUTE:
        return f"{seconds:.6g} s"
    seconds = _measured(seconds)
    size = abs(seconds)
    if size < HOUR:
        return f"{_parts(seconds, MINUTE) if size % MINUTE else _plain(seconds / MINUTE)} min"
    if size < MOST_HOURS * HOUR:
        return f"{clock(round(seconds))} h"
    sign = "-" if seconds < 0 else ""
    if size % MONTH == 0:
        years, months = divmod(round(size) // MONTH, 12)
        return sign + " ".join(
            f"{count:,} {unit}{'s' if count > 1 else ''}" for count, unit in ((years, "yr"), (months, "mo")) if count
        )
    days, rest = divmod(round(size), DAY)
    return f"{sign}{days:,} d" + (f" {clock(rest)} h" if rest else "")


def _measured(seconds: float) -> float:
    """Seconds as they were measured; whole ones of what was worked out, such as a mean, whose fraction has no end."""
    return seconds if round(seconds, 3) == seconds else float(round(seconds))


def _parts(seconds: float, *sizes: int) -> str:
    """Seconds in parts of these sizes and the next smaller one, with colons between: the last has two figures and its fraction."""
    sign, rest, texts = "-" if seconds < 0 else "", round(abs(seconds), 6), list[str]()
    for size in sizes:
        whole, rest = divmod(rest, size)
        texts.append(f"{whole:02.0f}" if texts else f"{whole:,.0f}")
    last = round(rest / (sizes[-1] // MINUTE), 6)
    fraction = f"{last % 1:.6f}"[1:].rstrip("0").rstrip(".")
    return sign + ":".join([*texts, f"{int(last):02d}{fraction}"])


def _is_told_in_seconds(column: Column, value: float) -> bool:
    return is_duration(column) and column.unit not in OF_NO_LENGTH and bool(np.isfinite(value))


def _seconds(column: Column) -> float:
    return float(np.ones(1, dtype=column.unit)[0] / np.timedelta64(1, "s"))


def _instant(unit: str, value: float) -> str:
    text = str(as_times(np.array([value], dtype=np.float64), unit)[0])
    return NO_FRACTION.sub("", NO_TIME.sub("", text)).replace("T", " ")


def _plain(value: float) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if 1e6 <= abs(value) < ENDLESS else f"{value:.6g}"
