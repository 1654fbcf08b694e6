"""What a user may state about a file: which columns hold words, what is missing, where the table begins, how it is written."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from merula.core import InputError, one_of
from merula.core.checks import checked_number
from merula.data.table.times_of_day import OF_THE_DAY

KEY = b"merula"  # in the metadata of a pyarrow schema
STAND_INS = b"merula numbers that stand for none"  # there while a file is read: what each column holds of them
FOUND = b"merula decimal comma"  # there while a file is read, where its numbers have one
DECIMALS, DATE_ORDERS, ON_ERROR = (".", ","), ("dmy", "mdy", "ymd"), ("raise", "skip")
NOT_OF_ALL = {
    "skip_rows": "lines to skip",
    "sheet": "sheets",
    "encoding": "encoding to state",
    "on_error": "rows of more or fewer cells than others",
}  # what may be stated of some files only, and what others lack
UNDERSTOOD_LATER = ("missing", "keep", "decimal", "date_order", "fold_case")  # by who reads the words of the columns


@dataclass(frozen=True)
class FileOptions:
    """What is stated about a file; see `read_table`. What is not stated is found in the file.

    Examples
    --------
    >>> FileOptions(missing=["-9"], date_order="dmy").stated
    {'missing': ['-9'], 'date_order': 'dmy'}
    """

    words: Collection[str] = ()
    missing: Sequence[str] = ()
    keep: Sequence[str] = ()
    encoding: str | None = None
    skip_rows: int | None = None
    sheet: str | int | None = None
    decimal: str | None = None
    date_order: str | None = None
    fold_case: bool = False
    on_error: str = "raise"

    def __post_init__(self) -> None:
        for name in ("words", "missing", "keep"):
            given = getattr(self, name)
            if isinstance(given, str):
                raise InputError.of(name, given, "a list of words", "put it into brackets")
            if not isinstance(given, Collection) or not all(isinstance(word, str) for word in given):
                raise InputError.of(name, given, "a list of words")
        if not isinstance(self.encoding, str | None):
            raise InputError.of("encoding", self.encoding, "the name of an encoding, such as 'cp1252'")
        for name, allowed in (("decimal", DECIMALS), ("date_order", DATE_ORDERS)):
            if getattr(self, name) is not None:
                one_of(getattr(self, name), allowed, name)
        one_of(self.on_error, ON_ERROR, "on_error")
        if not isinstance(self.fold_case, bool):
            raise InputError.of("fold_case", self.fold_case, "True or False")
        if self.skip_rows is not None:
            checked_number(self.skip_rows, "skip_rows", "a whole number from 0", lambda n: n >= 0, whole=True)
        if self.sheet is not None and not isinstance(self.sheet, str):
            expected = "the name of a sheet, or its number from 1"
            checked_number(self.sheet, "sheet", expected, lambda n: n >= 1, whole=True)

    @property
    def stated(self) -> dict[str, Any]:
        """What was stated of all that those need who understand the words of a column, as plain data."""
        held = {name: getattr(self, name) for name in UNDERSTOOD_LATER}
        return {name: list(value) if name in ("missing", "keep") else value for name, value in held.items() if value}

    def noted_in(self, table: Any) -> Any:
        """The pyarrow table with what was stated in its schema's metadata, and what was found of its numbers; else without such."""
        held = table.schema.metadata or {}
        others = {key: value for key, value in held.items() if key not in (KEY, FOUND, STAND_INS, OF_THE_DAY)}
        found = {"stand_ins": json.loads(held[STAND_INS])} if STAND_INS in held else {}
        found |= {"of_the_day": json.loads(held[OF_THE_DAY])} if OF_THE_DAY in held else {}
        known = found | ({"decimal": ","} if FOUND in held else {}) | self.stated
        ours = {KEY: json.dumps(known, ensure_ascii=False).encode()} if known else {}
        return table.replace_schema_metadata({**others, **ours} or None)

    def refuse_lines(self, what: str) -> None:
        """An `InputError` where something is stated of lines, sheets or text, and a file has none of them: `what` it is."""
        for name in NOT_OF_ALL:
            self.refuse(name, what)

    def refuse(self, name: str, what: str) -> None:
        """An `InputError` where something is stated that a file of this kind does not have."""
        value = getattr(self, name)
        if value not in (None, NOTHING_STATED.on_error):
            raise InputError(
                f"is {what}, which has no {NOT_OF_ALL[name]}",
                where=name,
                got=value,
                remedy=f"leave {name.replace('_', ' ')} out",
            )


def with_decimal(table: Any, decimal: str) -> Any:
    """The pyarrow table, marked where the decimal sign of its file is a comma: new files of a model are read the same way."""
    return table.replace_schema_metadata({FOUND: b""}) if decimal == "," else table


NOTHING_STATED = FileOptions()
