"""A table with a target, ready to be learned from: columns found, rows without a class left out, what is odd pointed out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from merula.classify.advice import (
    AlikeClassesWarning,
    Remark,
    TargetColumnWarning,
    advised_kinds,
    check_target,
    named_target,
    review,
)
from merula.classify.sentinels import SentinelWarning
from merula.cli.console import Console
from merula.cli.jobs.large import some_rows_of
from merula.cli.jobs.readings import note_readings, one_spelling
from merula.cli.jobs.time_order import with_times
from merula.core import InputError, one_of, warn_of
from merula.core.notes import SaidNote
from merula.data.encode import Target, checked_weights, infer_schema
from merula.data.encode.kinds import meant_missing
from merula.data.schema import KINDS, Label
from merula.data.table import NOTHING_STATED, FileOptions, Table, open_table, plain_label, read_file
from merula.engines.opening import large_or_none
from merula.show.numbers import rows_without

BUNDLED = ("penguins",)
SAID = (TargetColumnWarning, SentinelWarning, AlikeClassesWarning)  # by a remark already: a leak, a sentinel, or a note
TABLES = (
    ".csv",
    ".tsv",
    ".jsonl",
    ".json",
    ".parquet",
    ".arrow",
    ".xlsx",
    ".xls",
    ".ods",
    ".sav",
    ".dta",
    ".sas7bdat",
)  # what tables are called, as networks hardly are
MOST_NAMED = 6
HINTS = {
    "identifier": " and is left out; --kinds '{column}={kind}' keeps it",
    "unread numbers": " and is left out; write the numbers plainly, or say with --missing WORD what means that one is missing",
    "unread amounts": "; until then it is left out, and --kinds '{column}=categorical' keeps it",
    "resembling": "; --kinds '{column}=categorical' says that they are names",
    "days": "; --kinds '{column}=datetime' reads them as days",
    "unread dates": " and is left out; write them as 2024-12-31",
    "text": "; --kinds '{column}=categorical' takes it whole, --ignore '{column}' leaves it out",
    "numbers as words": ", so it is read as words; --missing WORD says which of them mean that the number is missing",
    "missing as words": "; if that means that a cell is empty, say --missing WORD",
    "spellings": "; --fold-case reads words that do as one",
    "sentinel": "; if it stands for a missing number, say --missing WORD",
    "numbered": "; --ignore '{column}' leaves them out, --kinds '{column}=categorical' reads them as names",
    "leak": "; if it is known only once the class is, leave it out: --ignore '{column}'",
}


@dataclass(frozen=True)
class Asked:
    """What a command was asked to learn from, as it was typed."""

    table: str
    target: str
    kinds: Sequence[str] = ()
    ignore: Sequence[str] = ()
    weight: str | None = None
    groups: str | None = None
    file: FileOptions = NOTHING_STATED
    by_time: str | None = None
    unlabelled: bool = False  # whether rows without a class are learned from too

    def with_target(self, target: str) -> Asked:
        """The same about another target."""
        return replace(self, target=target)

    def typed(self, command: str, **options: Any) -> list[str]:
        """The words that ask another command about the same table, with these options besides."""
        asked = {"weight": self.weight, "groups": self.groups, "by_time": self.by_time, **options}
        asked |= {"kinds": self.kinds, "ignore": self.ignore}
        asked |= {
            field.name: value
            for field in fields(FileOptions)
            if field.name != "words"
            and (value := getattr(self.file, field.name)) != getattr(NOTHING_STATED, field.name)
        }
        words = [command, self.table, "--target", self.target]
        return words + [word for name, value in asked.items() for word in _typed(name, value)]


def _typed(name: str, value: Any) -> list[str]:
    """The words that state an option: none where it has no value, its name alone where it is true, once for each value of several."""
    option = f"--{name.replace('_', '-')}"
    if value is None or value is True:
        return [] if value is None else [option]
    values = value if isinstance(value, list | tuple) else [value]
    return [word for one in values for word in (option, str(one))]


@dataclass(frozen=True, eq=False)
class Task:
    """Columns to learn from (read once, and opened once for all that ask them), the class of each row, and what was decided."""

    features: Any
    table: Table
    labels: Any
    target: Target
    kinds: dict[str, str]
    remarks: tuple[Remark, ...]
    weights: Any = None
    groups: Any = None
    times: Any = None
    said: tuple[SaidNote, ...] = ()
    row_numbers: Any = None  # of the file, from 1: rows without a class or a time are left out
    left_out: Mapping[str, int] = field(default_factory=dict)  # so many rows, for lack of what
    counted: int | None = None  # of a large table, of which this holds some rows
    unlabelled: Any = None  # the columns of rows without a class, where they are asked for

    @property
    def rows(self) -> int:
        """How many rows were learned from."""
        return self.table.rows if self.counted is None else self.counted

    @property
    def classes(self) -> list[Label]:
        """The classes, as plain labels."""
        return [plain_label(label) for label in self.target.classes.tolist()]


def named_table(name: str, file: FileOptions = NOTHING_STATED) -> Any:
    """The table in a file of which something is stated, or the one that comes with merula; of a very large one some rows."""
    if name in BUNDLED and not Path(name).exists():
        with as_file(files("merula") / "data" / f"{name}.csv") as path:
            return read_file(path, file)
    if not name.lower().removesuffix(".gz").endswith(TABLES):
        from merula.graphs.formats import names_network  # loaded where a name leaves it open: tables need none of it

        if names_network(name):
            raise InputError.at(name, "is a network", expected="a table")
    large = large_or_none(name, file)
    if large is None:
        return read_file(name, file)
    table, note = some_rows_of(large)
    warn_of([note])
    return table


def read_task(
    asked: Asked,
    console: Console,
    like: Mapping[str, str] | None = None,
    words: Collection[str] = (),
    some_rows: Any = None,
    is_part: bool = False,
) -> Task:
    """The table that was asked for, with a note for everything that the user should know of it.

    Where kinds of columns are those of another model, `like` it, columns that it does not have are left out; `words` names
    columns that hold words whatever they look like. Of a large table `some_rows` tell what its columns are. A part of what
    is learned from may be of one class.
    """
    before = len(console.said)
    with console.warnings_as_notes():
        table = named_table(asked.table, replace(asked.file, words=words)) if some_rows is None else some_rows
    _check_names(asked, table.column_names)
    unlabelled = _without_classes(table, asked)
    table, times, row_numbers, left_out = _with_classes_and_times(table, asked, console)
    if some_rows is None:  # others of a large table are counted as they are written
        place = table.column_names.index(asked.target)
        table = table.set_column(
            place, asked.target, one_spelling(table[asked.target], asked.target, console, asked.file.fold_case)
        )
    when = None if asked.by_time in {item.rpartition("=")[0] for item in asked.kinds} else asked.by_time
    aside = [name for name in (asked.target, asked.weight, asked.groups, when) if name is not None]
    features = table.drop_columns(list(dict.fromkeys(aside)))
    if not features.num_columns:
        raise InputError.at(
            f"{asked.table}",
            f"has no column besides {', '.join(map(repr, aside))}",
            remedy="there is nothing to learn from",
        )
    kinds = _stated(asked, aside, features.column_names, like)
    target, opened = (
        _classes(table, asked.target, console, left_out.get(asked.target, 0), is_part),
        open_table(features),
    )
    schema, _ = infer_schema(opened, kinds)
    remarks = review(opened, schema, target if len(target.classes) > 1 else None, kinds)
    note_readings(schema, opened, console)
    note_remarks(remarks, console)
    kinds = advised_kinds(schema, remarks)
    if set(kinds.values()) == {"ignore"}:
        raise InputError(
            f"every column of {asked.table} besides {asked.target!r} is left out",
            remedy="there is nothing to learn from",
        )
    weights = None if asked.weight is None else numbers_of(table, asked.weight)
    groups = None if asked.groups is None else _groups(table, asked.groups)
    return Task(
        features,
        opened,
        table[asked.target],
        target,
        kinds,
        tuple(remarks),
        weights,
        groups,
        times,
        tuple(console.said[before:]),
        row_numbers,
        left_out,
        unlabelled=unlabelled,
    )


def _stated(asked: Asked, aside: list[str], columns: list[str], like: Mapping[str, str] | None) -> dict[str, str]:
    """What was said of columns: their kinds, those to ignore, and the kinds that they have in another model."""
    return {
        **stated_kinds(asked.kinds, columns),
        **dict.fromkeys(set(asked.ignore) - set(aside), "ignore"),
        **({} if like is None else {name: like.get(name, "ignore") for name in columns}),
    }


def _asked_columns(asked: Asked) -> list[tuple[str, str]]:
    named = [(asked.target, "--target"), (asked.weight, "--weight"), (asked.groups, "--groups")]
    named += [(asked.by_time, "--by-time")]
    return [(name, option) for name, option in named if name is not None] + [
        (name, "--ignore") for name in asked.ignore
    ]


def _check_names(asked: Asked, names: list[str]) -> None:
    """An error where a column that was asked for is not there, or is the target itself."""
    for name, option in _asked_columns(asked):
        one_of(name, names, option)
        if option in ("--weight", "--groups", "--by-time") and name == asked.target:
            raise InputError.at(
                option, f"is {name!r}, which is the target itself", got=name, remedy="name another column"
            )


def _with_classes_and_times(table: Any, asked: Asked, console: Console) -> tuple[Any, Any, Any, dict[str, int]]:
    """The rows that can be learned from, their times, their numbers in the file, and how many are left out for lack of what."""
    labelled = np.flatnonzero(table[asked.target].is_valid().to_numpy(zero_copy_only=False))
    without = {asked.target: table.num_rows - len(labelled)}
    table, times, known = with_times(_with_classes(table, asked, console), asked, console)
    if asked.by_time is not None and asked.by_time != asked.target:
        without[asked.by_time] = int((~known).sum())
    return table, times, labelled[known] + 1, {name: rows for name, rows in without.items() if rows}


def _with_classes(table: Any, asked: Asked, console: Console) -> Any:
    """The rows whose class is known."""
    target = asked.target
    missing = table[target].null_count
    if missing == table.num_rows:
        raise InputError.at(f"the target {target!r}", "is empty in every row")
    if missing:
        told = "learned from as far as they help" if asked.unlabelled else "left out"
        console.note(rows_without(missing, table.num_rows, target, told), target)
        table = table.filter(table[target].is_valid())
    return table


def _without_classes(table: Any, asked: Asked) -> Any:
    """The columns of the rows without a class, where they are asked for."""
    if not asked.unlabelled:
        return None
    if asked.weight is not None:
        raise InputError.at("--unlabelled", "counts all rows without a class alike, and --weight says otherwise", remedy="leave one of them out")  # fmt: skip
    rows = table.filter(table[asked.target].is_null()).drop_columns([asked.target])
    if not rows.num_rows:
        raise InputError.at("--unlabelled", f"is for rows without a class, and every row has a {asked.target!r}", remedy="leave it out")  # fmt: skip
    return rows


def _classes(table: Any, target: str, console: Console, left_out: int, is_part: bool) -> Target:
    """The class of each row; a ValueError where the column is no target, which one class alone is but in a part."""
    classes = named_target(table[target], table.num_rows, target)
    if not (is_part and len(classes.classes) == 1):
        check_target(classes, target, left_out)
    for label in meant_missing(classes.classes.tolist()):
        console.note(
            f"the target {target!r} has the class {label!r}; if that means that it is empty, say --missing '{label}'"
        )
    return classes


def stated_kinds(stated: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    """{column: kind} of words such as ``size=categorical``."""
    kinds = {}
    for item in stated:
        name, equals, kind = item.rpartition("=")
        if not equals:
            raise InputError.of("--kinds", item, f"COLUMN=KIND, such as {columns[0]}=categorical")
        one_of(name, columns, "the column in --kinds")
        kinds[name] = one_of(kind, KINDS, f"the kind of {name!r} in --kinds")
    return kinds


def note_remarks(remarks: Sequence[Remark], console: Console) -> None:
    """Each remark as a note with what to do about it; columns of codes are named together."""
    for remark in remarks:
        if remark.what != "codes":
            hint = HINTS.get(remark.what, "").format(column=remark.column, kind=remark.kind)
            hint = hint.replace("WORD", repr(remark.words[0]) if remark.words else "WORD")
            console.note(f"column {remark.column!r} {remark.text}{hint}", remark.column)
    codes = [remark.column for remark in remarks if remark.what == "codes"]
    if codes:
        named = ", ".join(map(repr, codes[:MOST_NAMED])) + (
            f" and {len(codes) - MOST_NAMED} more" if len(codes) > MOST_NAMED else ""
        )
        which = f"column {named} holds" if len(codes) == 1 else f"columns {named} hold"
        console.note(
            f"{which} few whole numbers, read as categories; --kinds '{codes[0]}=numeric' reads them as amounts",
            codes[0] if len(codes) == 1 else None,
        )


def _groups(table: Any, name: str) -> Any:
    missing = table[name].null_count
    if missing:
        raise InputError.at(
            "--groups",
            f"is {name!r}, which is missing in {missing:,} of {table.num_rows:,} rows",
            got=name,
            remedy="say the group of every row",
        )
    return table[name].to_numpy(zero_copy_only=False)


def numbers_of(table: Any, name: str) -> Any:
    """The column that says how often each row counts."""
    column = open_table(table.select([name]))
    if column.kind(0)[0] != "numeric":
        raise InputError.at(
            "--weight",
            f"is {name!r}, which holds no numbers",
            got=name,
            remedy="name a column that says how often each row counts",
        )
    return checked_weights(column.numbers(0), table.num_rows, f"the weight {name!r}")
