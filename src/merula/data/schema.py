"""What each column is: its kind, its levels, its cuts, its unit; schemas merge and survive JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from os import PathLike
from typing import Any

from merula.core import InputError, Option
from merula.core.plain_fields import PlainFields
from merula.core.sound import are_cuts, are_labels, are_names, is_one_of
from merula.data.units import same_unit

Label = Any
UNIT = re.compile(r"(datetime64|timedelta64)\[(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\]|counts")
FORMS = ("words", "number", "date", "time of day", "duration", "boolean")
ORDERS = ("", "dmy", "mdy", "ymd")
MOST_SHOWN = 20
OTHER = "(other)"  # the level that rare ones are pooled into; a column that has it takes what it never saw for it
GROUPINGS = ("", ".", ",", " ", "'")
BOOLEANS = (
    ({"false", "f"}, {"true", "t"}),
    ({"no", "n"}, {"yes", "y"}),
    ({"off"}, {"on"}),
    ({"nein", "n"}, {"ja", "j"}),
    ({"non"}, {"oui"}),
    ({"no"}, {"sí", "si", "sì"}),
    ({"não", "nao"}, {"sim"}),
    ({"nee"}, {"ja"}),
    ({"nej"}, {"ja"}),
    ({"nie"}, {"tak"}),
)
ENGLISH = BOOLEANS[:2]
MIXED = ({"false", "no", "n"}, {"true", "yes", "y"})  # as English tables mix them that several people filled
FIGURES = ({"0"}, {"1"})
KINDS = ("numeric", "categorical", "count", "text", "datetime", "ignore")


def sort_labels(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Labels in one fixed order, whatever order they came in: numbers, then words; missing (None) last."""

    def key(label: Label) -> tuple[int, Any]:
        if label is None:
            return 2, ""
        return (0, label) if isinstance(label, int | float) else (1, str(label))

    return tuple(sorted(labels, key=key))


def label_order(labels: Sequence[Label]) -> list[int]:
    """Where each label, in the order of `sort_labels`, stands among these.

    Examples
    --------
    >>> label_order(["small", None, "large"])
    [2, 0, 1]
    """
    where = {label: place for place, label in enumerate(labels)}
    return [where[label] for label in sort_labels(labels)]


def no_and_yes(named: Sequence[Any]) -> tuple[set[str], set[str]] | None:
    """The words that mean no and those that mean yes, in the language in which they are `named` so; None where they are not.

    Examples
    --------
    >>> sorted(map(sorted, no_and_yes(("Nein", "ja")))), no_and_yes(("small", "large"))
    ([['j', 'ja'], ['n', 'nein']], None)
    """
    for pair in BOOLEANS:
        sides = [side | figure for side, figure in zip(pair, FIGURES, strict=True)]
        if len(named) == 2 and all(str(name).casefold() in side for name, side in zip(named, sides, strict=True)):
            return pair
    return None


def resolve_levels(name: str, met: Iterable[Label], declared: tuple[Label, ...] | None) -> tuple[Label, ...]:
    """The labels that were met, sorted; or the declared levels in their own order (any other label is an error)."""
    if declared is None:
        return sort_labels(met)
    known = set(declared)
    for label in met:
        if label not in known:
            raise InputError.at(
                f"column {name!r}",
                f"holds {label!r}, which its levels {list(declared)} do not name",
                got=label,
                remedy="add it to its levels or correct the data",
            )
    return declared


@dataclass(frozen=True)
class Reading(PlainFields):
    """How the words of a column are read: what they are, how their numbers or days are written, which of them mean that nothing is there.

    `keep` are words that mostly mean so, but not here.

    Examples
    --------
    >>> Reading("number", decimal=",", grouping=".", unit="€").fits()
    True
    """

    form: str = "words"
    decimal: str = "."
    grouping: str = ""
    unit: str = ""
    order: str = ""
    spellings: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    fold_case: bool = False
    ambiguous: bool = False

    def fits(self) -> bool:
        """True when this says how words are read; a file from a stranger is asked before it is used."""
        signs = is_one_of(self.form, FORMS) and is_one_of(self.decimal, (".", ",")) and is_one_of(self.order, ORDERS)
        apart = is_one_of(self.grouping, GROUPINGS) and self.grouping != self.decimal
        words = all(isinstance(many, tuple) and all(isinstance(word, str) for word in many) for many in (self.spellings, self.missing, self.keep))  # fmt: skip
        named = isinstance(self.unit, str) and words and (self.form != "boolean" or bool(no_and_yes(self.spellings)))
        return signs and apart and named and type(self.fold_case) is bool and type(self.ambiguous) is bool

    def contradicts(self, other: Reading) -> str:
        """Why numbers read in these two ways are not of one kind; nothing where they are."""
        if not same_unit(self.unit, other.unit):
            return f"holds amounts in {self.unit} in one model and in {other.unit} in the other"
        if {self.order, other.order} == {"dmy", "mdy"} and (self.ambiguous or other.ambiguous):
            return "may hold days with day and month the other way round in one of the models: state their order and fit again"
        return ""

    def __or__(self, other: Reading) -> Reading | None:
        """How the words of either are read: the signs where they agree, else as any words are; missing is what is missing in one."""
        missing = tuple(sorted({*self.missing, *other.missing}))
        other = replace(other, unit=self.unit or other.unit)
        if replace(self, missing=(), ambiguous=False, unit=other.unit) == replace(other, missing=(), ambiguous=False):
            return replace(self, missing=missing, unit=other.unit, ambiguous=self.ambiguous and other.ambiguous)
        return Reading(missing=missing) if missing else None


@dataclass(frozen=True, repr=False)
class Column(PlainFields):
    """One column: ``kind`` says how it is read, ``levels`` what it may hold, ``unit`` what its numbers count.

    ``declared`` levels were given by the user: they keep their order, and no other value is allowed at fit. ``reading`` says how
    its words are read where they are more than words.

    Examples
    --------
    >>> Column("size", "categorical", levels=("small", "large"))
    Column('size', 'categorical', levels=('small', 'large'))
    """

    name: str
    kind: str
    levels: tuple[Label, ...] | None = None
    cuts: tuple[float, ...] | None = None
    unit: str | None = None
    declared: bool = False
    reading: Reading | None = None

    def __repr__(self) -> str:
        others = [(field.name, getattr(self, field.name)) for field in fields(self)[2:]]
        told = [f"{name}={_listed(value)}" for name, value in others if value not in (None, False)]
        return f"Column({', '.join([repr(self.name), repr(self.kind), *told])})"

    def state(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        plain = {**super().state(), "reading": self.reading and self.reading.state()}
        return plain if self.reading else {name: value for name, value in plain.items() if name != "reading"}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Column:
        """The column that `state` describes."""
        reading = state.get("reading")
        column = super().from_state({name: value for name, value in state.items() if name != "reading"})
        return column if reading is None else replace(column, reading=Reading.from_state(reading))

    def fits(self) -> bool:
        """True when this describes a column; a file from a stranger is asked before it is used."""
        known = self.levels is None or are_labels(self.levels, missing=True)
        cut = self.cuts is None or (self.kind != "text" and are_cuts(self.cuts) and self._has_intervals(self.cuts))
        timed = self.unit is None or (isinstance(self.unit, str) and UNIT.fullmatch(self.unit) is not None)
        read = self.reading is None or (isinstance(self.reading, Reading) and self.reading.fits())
        return is_one_of(self.kind, KINDS) and known and cut and timed and read and type(self.declared) is bool

    @property
    def holds(self) -> str:
        """The kind of its cells: a column that is read as intervals, which are levels, holds numbers."""
        return "numeric" if self.kind == "categorical" and self.cuts is not None else self.kind

    def _has_intervals(self, cuts: tuple[float, ...]) -> bool:
        """True when a column that is read as intervals has a level for each of them."""
        return self.kind != "categorical" or len(set(self.levels or ()) - {None}) == len(cuts) + 1

    def __add__(self, other: Column) -> Column:
        """The column that holds what either holds; levels unite by label."""
        for what in ("name", "kind", "cuts", "unit", "declared"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                raise InputError.at(
                    f"column {self.name!r}",
                    f"cannot be merged: its {what} is {mine!r} in one model and {theirs!r} in the other",
                    remedy="count both with the same cuts, those of one schema" if what == "cuts" else None,
                )
        if self.declared and self.levels != other.levels:
            raise InputError.at(f"column {self.name!r}", ("cannot be merged: ", Option('levels'), f" declares {self.levels} in one model and {other.levels} in the other"))  # fmt: skip
        readings = [column.reading for column in (self, other) if column.reading is not None]
        if len(readings) == 2 and (why := readings[0].contradicts(readings[1])):
            raise InputError.at(f"column {self.name!r}", f"cannot be merged: it {why}")
        merged = replace(self, reading=readings[0] | readings[-1] if readings else None)
        if self.declared or self.levels is None or other.levels is None:
            return merged if self.levels is not None else replace(merged, levels=other.levels)
        return replace(merged, levels=sort_labels(set(self.levels) | set(other.levels)))


def _listed(value: Any) -> str:
    """A value as it is written; of many, how many there are."""
    return f"<{len(value):,} values>" if isinstance(value, tuple) and len(value) > MOST_SHOWN else repr(value)


@dataclass(frozen=True, repr=False)
class Schema:
    """The columns a model knows, in the order it met them.

    Examples
    --------
    >>> schema = Schema((Column("age", "numeric"), Column("sex", "categorical", ("f", "m"))))
    >>> schema
    Schema('age': numeric, 'sex': categorical)
    >>> schema.names
    ('age', 'sex')
    >>> Schema.from_state(schema.state()) == schema
    True
    """

    columns: tuple[Column, ...]

    def __repr__(self) -> str:
        told = [f"{column.name!r}: {column.kind}" for column in self.columns[:MOST_SHOWN]]
        more = len(self.columns) - MOST_SHOWN
        return f"Schema({', '.join(told + ([f'… {more:,} more'] if more > 0 else []))})"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    def __getitem__(self, name: str) -> Column:
        return self._by_name[name]

    @property
    def kinds(self) -> dict[str, str]:
        """What each column holds, by its name."""
        return {column.name: column.holds for column in self.columns}

    def of_kind(self, *kinds: str) -> tuple[Column, ...]:
        """The columns of these kinds, in order."""
        return tuple(column for column in self.columns if column.kind in kinds)

    def with_levels(self, levels: Mapping[str, tuple[Label, ...]]) -> Schema:
        """The same schema with these columns' levels filled in."""
        return Schema(tuple(replace(c, levels=levels[c.name]) if c.name in levels else c for c in self.columns))

    def with_cuts(self, cuts: Mapping[str, tuple[float, ...]]) -> Schema:
        """The same schema with these columns' cuts filled in."""
        return Schema(tuple(replace(c, cuts=cuts[c.name]) if c.name in cuts else c for c in self.columns))

    def __add__(self, other: Schema) -> Schema:
        """Columns matched by name, levels united; an error where the two cannot be one."""
        if set(self.names) != set(other.names):
            different = sorted(set(self.names) ^ set(other.names))
            raise InputError(f"cannot be merged: only one of the two models has column {different[0]!r}")
        return Schema(tuple(column + other[column.name] for column in self.columns))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the schema into a JSON file, so that other tables are counted like this one."""
        from merula.data.schema_files import write_schema

        write_schema(path, self)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Schema:
        """The schema in a JSON file that `save` or ``merula count --schema-out`` wrote."""
        from merula.data.schema_files import read_schema

        return read_schema(path)

    def state(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return {"columns": [column.state() for column in self.columns]}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Schema:
        """The schema that `state` describes; a ValueError where it describes none."""
        columns = tuple(map(Column.from_state, state["columns"]))
        if not are_names([column.name for column in columns]) or not all(column.fits() for column in columns):
            raise InputError("the columns are not described as columns are")
        return cls(columns)
