"""What each column of a table is read as, and why: the decisions that a command takes before it learns, as plain sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from merula.classify.advice import Remark, advised_kinds, check_target, named_target, review
from merula.classify.readable import is_of_the_day, shown as shown_cell
from merula.core import InputError, InPython, Option, one_of
from merula.core.errors import Message, Part, Write, phrase
from merula.core.notes import kept_back
from merula.data.encode import Encoded, Target, encode, infer_schema, read_codes
from merula.data.encode.kinds import COUNTED, read_as, shown
from merula.data.schema import Column, Schema
from merula.data.table import (
    FrameTable,
    SparseTable,
    Table,
    build_frame,
    label_array,
    open_table,
    plain_label,
    read_table,
)
from merula.data.words import spelled_as_one
from merula.show.html import html_block, html_table
from merula.show.numbers import several, short
from merula.show.terminal import colored
from merula.show.text import display_width, pad, shortened, visible, wrapped

NO_MODEL = "holds lists, records or bytes, which no model reads"
WIDTH, LONGEST_NAME, LONGEST_EXAMPLE, MOST_CLASSES = 100, 30, 60, 6
MOST_LINES = 40  # that show themselves where it was not printed
OTHER_KINDS = {"numeric": ("categorical", "ignore"), "categorical": ("text", "ignore"), "text": ("categorical", "ignore"), "datetime": ("categorical", "ignore"), "count": ("numeric",), "ignore": ("categorical", "numeric")}  # fmt: skip
CALLED = {"numeric": "numbers", "categorical": "categories", "count": "counts", "text": "text", "datetime": "times", "ignore": "left out", "class": "the class"}  # fmt: skip
SAY_ALL = ("constant", "empty")  # remarks beside which nothing is to be said of a column
UNREAD = ("unread numbers", "unread dates", "unread amounts")  # that leave a column out, with cells of it
ANY_COLUMN: Message = ("any other reading of a column: ", Option("kinds", "KIND", column="COLUMN"), " with numeric, categorical, count, text, datetime or ignore")  # fmt: skip


@dataclass(frozen=True)
class LookedAt:
    """One column: the kind it is read as, what it holds and why it is read so, and the option that would change it."""

    column: str
    kind: str
    why: str
    change: Message = ""
    typed: str = ""  # the kind that its type alone would say

    def told(self, write: Write = str) -> str:
        """What is said of the column, with the option that would change it."""
        other = phrase(self.change, write)
        return f"{self.why}; otherwise: {other}" if other else self.why


@dataclass(frozen=True)
class Look:
    """What each column of a table is read as, and why; printed, it is one line for each, below what was decided of the file."""

    rows: int
    columns: tuple[LookedAt, ...]
    decided: tuple[Message, ...] = ()

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of every column but the target, as the command line takes them: ``AutoBayesClassifier(kinds=look.kinds)``."""
        return {one.column: one.kind for one in self.columns if one.kind != "class"}

    @property
    def _head(self) -> str:
        counted = Counter(CALLED[one.kind] for one in self.columns)
        kinds = ", ".join(f"{called} {count}" for called, count in counted.most_common())
        return f"{several(self.rows, 'row')}, {several(len(self.columns), 'column')} ({kinds})"

    def told(self, write: Write = str) -> str:
        """The whole list, with options written by `write`."""
        lines = [self._head]
        for message in self.decided:
            lines += _hanging("- ", visible(phrase(message, write)))
        lines.append("")
        names = [shortened(visible(one.column), LONGEST_NAME, middle=True) for one in self.columns]
        width = max(map(display_width, names))
        kinds = max(len(CALLED[one.kind]) for one in self.columns)
        for name, one in zip(names, self.columns, strict=True):
            lines += _hanging(f"{pad(name, width)}  {CALLED[one.kind]:{kinds}}  ", visible(one.told(write)))
        lines += ["", *wrapped(phrase(ANY_COLUMN, write), WIDTH)]
        lines += wrapped(of_types, WIDTH) if (of_types := phrase(self._of_types, write)) else []
        return "\n".join(lines)

    @property
    def _of_types(self) -> Message:
        """What is said in Python of whole numbers that are read as categories, where their type says otherwise."""
        codes = [one.column for one in self.columns if (one.kind, one.typed) == ("categorical", "numeric")]
        return (InPython(f"without kinds=look.kinds, a model takes {shown(codes)} for amounts, as the type says"),) if codes else ""  # fmt: skip

    def __str__(self) -> str:
        return self.told()

    def __repr__(self) -> str:
        lines = self.told().split("\n")
        if len(lines) <= MOST_LINES:
            return "\n".join(lines)
        return "\n".join(
            [*lines[:MOST_LINES], "…", f"({several(len(self.columns), 'column')}: print it, or see to_frame())"]
        )

    __rich__ = colored

    def _repr_html_(self) -> str:
        rows = [[one.column, CALLED[one.kind], one.told()] for one in self.columns[:MOST_LINES]]
        head = "; ".join(filter(None, [self._head, *map(phrase, self.decided), phrase(self._of_types)]))
        more = f"{len(self.columns) - MOST_LINES:,} more in to_frame()" if len(self.columns) > MOST_LINES else ""
        return html_block(html_table(head, [["column", "read as", "why"], *rows], 3, more))

    def to_dict(self, write: Write = str) -> dict[str, Any]:
        """The same as plain data, with options written by `write`."""
        return {
            "rows": self.rows,
            "decided": [phrase(message, write) for message in self.decided],
            "columns": [
                {"column": one.column, "kind": one.kind, "why": one.why, "change": phrase(one.change, write) or None}
                for one in self.columns
            ],
        }

    def to_frame(self, library: str = "pandas") -> Any:
        """The list as a table of this library: column, kind, why, and the option that would change it."""
        held = {
            "column": [one.column for one in self.columns],
            "kind": [one.kind for one in self.columns],
            "why": [one.why for one in self.columns],
            "change": [phrase(one.change) for one in self.columns],
        }
        return build_frame({name: label_array(cells) for name, cells in held.items()}, library)


def _hanging(first: str, text: str) -> list[str]:
    """The text behind its first words, its other lines indented as far."""
    indent = display_width(first)
    lines = wrapped(text, WIDTH - indent)
    return [(first + lines[0]).rstrip(), *(" " * indent + line for line in lines[1:])]


def look(table: Any, target: str | None = None, kinds: Any = None) -> Look:
    """What each column of a table is read as, and why.

    Parameters
    ----------
    table : path or table
        A file, as for `read_table`, or a data frame.
    target : str, optional
        The column that holds the class: it is not read like the others, rows without it are left out, and columns that give
        it away are named.
    kinds : dict or str, optional
        ``{"column": kind}``: how some columns are to be read, as for the classifiers.

    Returns
    -------
    Look
        Printed, what was decided of the file, then each column. ``.kinds`` are the kinds that the command line would take
        (identifiers left out, few whole numbers as categories): `AutoBayesClassifier(kinds=look.kinds)` then reads the table
        as the command does.

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> birds = pd.DataFrame({"ring": [f"R{i:03d}" for i in range(40)], "price": ["$9.50", "$1,200", "$12", "unknown"] * 10})
    >>> print(mr.look(birds))
    40 rows, 2 columns (left out 1, numbers 1)
    <BLANKLINE>
    ring   left out  looks like an identifier (40 different values in 40 rows), such as 'R000', 'R001',
                     'R002', …; otherwise: kinds={'ring': 'categorical'}
    price  numbers   holds amounts in $ ('$9.50', '$1,200', '$12'), read as numbers; 'unknown' is
                     missing; otherwise: kinds={'price': 'categorical'} or 'ignore'
    <BLANKLINE>
    any other reading of a column: kinds={'COLUMN': 'KIND'} with numeric, categorical, count, text,
    datetime or ignore
    """
    with kept_back() as notes:
        source = read_table(table) if isinstance(table, str | PathLike) else table
    return look_at(source, target, kinds, [note.message for note in notes])


def look_at(source: Any, target: str | None = None, kinds: Any = None, decided: Sequence[Message] = ()) -> Look:
    """`look` at a table that was read, of which this was `decided`."""
    opened = open_table(source)
    if target is None:
        rest, classes, of_target = opened, None, None
    else:
        one_of(target, opened.names, "target")
        rest, classes, of_target = _parted(opened, target)
    schema, _ = infer_schema(rest, kinds)
    stated = set(schema.names) if isinstance(kinds, str) else set(kinds or {})
    told = _told(rest, schema, review(rest, schema, classes, stated), stated)
    order = opened.names if told.keys() <= set(opened.names) else tuple(told)  # a matrix of counted words is one text
    columns = (of_target if of_target is not None and name == target else told[name] for name in order)
    return Look(opened.rows, tuple(columns), tuple(decided))


# --------------------------------------------------------------------------------------------------------------- target


def _parted(opened: Table, target: str) -> tuple[Table, Target, LookedAt]:
    """The other columns and the classes of the rows that have one; and what is said of the target."""
    if not isinstance(opened, FrameTable):
        raise InputError.at("target", "names a column, which a matrix does not have", got=target, remedy="give a data frame")  # fmt: skip
    if len(opened.names) == 1:
        raise InputError(f"the table has no column besides {target!r}", remedy="there is nothing to learn from")
    codes, labels = opened.codes(opened.names.index(target))
    codes = np.asarray(codes)
    known = codes >= 0
    if not known.any():
        raise InputError.at(f"the target {target!r}", "is empty in every row", got=target)
    frame = opened.frame if known.all() else opened.frame.filter(known.tolist())
    counts = dict(zip(labels, np.bincount(codes[known], minlength=len(labels)).tolist(), strict=True))
    merged, apart = (
        spelled_as_one(counts, opened.hints.fold_case) if all(isinstance(label, str) for label in labels) else ({}, [])
    )
    cells: Any = frame[target].to_native()
    if merged:
        cells = label_array([merged.get(label, label) for label in labels])[codes[known]]
    classes = _classes(cells, int(known.sum()), target, int((~known).sum()))
    said = LookedAt(target, "class", "; ".join(_of_classes(classes, merged, apart, counts, int((~known).sum()))))
    return open_table(frame.drop(target).to_native()), classes, said


def _classes(cells: Any, rows: int, target: str, left_out: int) -> Target:
    classes = named_target(cells, rows, target)
    check_target(classes, target, left_out)
    return classes


def _of_classes(
    classes: Target, merged: Mapping[str, str], apart: Sequence[Sequence[str]], counts: Mapping[Any, int], missing: int
) -> Iterator[str]:
    found = np.bincount(classes.codes, minlength=len(classes.classes)).tolist()
    ranked = sorted(zip(found, map(str, classes.classes.tolist()), strict=True), key=lambda pair: (-pair[0], pair[1]))
    held = ", ".join(f"{shortened(label, LONGEST_EXAMPLE)} ({count:,})" for count, label in ranked[:MOST_CLASSES])
    yield f"{several(len(ranked), 'class', 'classes')}: {held}{', …' if len(ranked) > MOST_CLASSES else ''}"
    if merged:
        alike = all(word.casefold() == first.casefold() for word, first in merged.items())
        yield f"spellings that {'differ only in case' if alike else 'mean the same'} are read as one: " + ", ".join(f"{word!r} ({counts[word]:,}) as {first!r}" for word, first in merged.items())  # fmt: skip
    for words in apart:
        yield f"{', '.join(map(repr, words))} differ only in case; write them alike if they are one"
    if missing:
        yield f"{missing:,} missing, {'whose row is' if missing == 1 else 'whose rows are'} left out"


# -------------------------------------------------------------------------------------------------------------- columns


def _told(table: Table, schema: Schema, remarks: Sequence[Remark], stated: set[str]) -> dict[str, LookedAt]:
    advised = advised_kinds(schema, remarks)
    read = [position for position, column in enumerate(schema.columns) if column.kind not in ("text", "ignore")]
    rows = encode(table, Schema(tuple(schema.columns[position] for position in read)), read)
    found = {}
    for position, column in enumerate(schema.columns):
        of_it = [remark for remark in remarks if remark.column == column.name]
        known = column.name in stated
        held = NO_MODEL if column.kind == "ignore" and not known else _held(table, rows, column, position, advised[column.name] == "ignore")  # fmt: skip
        why = _why(of_it, held)
        stand_ins = table.hints.stand_ins.get(column.name, ()) if column.kind == "numeric" else ()
        change = "" if known else _change(column, advised[column.name], of_it, stand_ins)
        found[column.name] = LookedAt(
            column.name,
            advised[column.name],
            "; ".join(filter(None, ["as stated", why])) if known else why,
            change,
            column.kind,
        )
    return found


def _why(remarks: Sequence[Remark], held: str) -> str:
    """What is remarkable of a column, with what it holds; alone where there is nothing to add."""
    said = "; ".join(remark.text for remark in remarks)
    if any(remark.what in UNREAD for remark in remarks):
        return f"{said}; left out as it is, since most cells differ from one another"
    if not held or any(remark.what in SAY_ALL for remark in remarks):
        return said
    return f"{said}{', ' if held.startswith('such as') else '; '}{held}" if said else held


def _change(column: Column, kind: str, remarks: Sequence[Remark], stand_ins: Sequence[str]) -> Message:
    """The options that would have the column read in another way; none where nothing was guessed, or nothing is held."""
    if not (remarks or column.reading) or any(remark.what in SAY_ALL for remark in remarks):
        return ""
    reading = column.reading
    other: list[tuple[Part, ...]] = []
    if reading is not None and reading.ambiguous:
        name, value = ("decimal", "," if reading.decimal == "." else ".") if reading.form == "number" else ("date_order", "mdy" if reading.order == "dmy" else "dmy")  # fmt: skip
        other.append(_of_the_file(name, value))
    words = next((remark.words for remark in remarks if remark.words and remark.what != "leak"), ())
    if words:
        other.append(_of_the_file("missing", [words[0]]))
    if any(remark.what == "spellings" for remark in remarks):
        other.append(_of_the_file("fold_case", True))
    if stand_ins:
        other.append(_of_the_file("keep", [stand_ins[0]]))
    leaks = any(remark.what == "leak" for remark in remarks)
    alone = leaks or (reading is not None and reading.form == "boolean")  # to leave it out is all that can be done
    kinds: str | tuple[str, ...] = "ignore" if alone else column.kind if kind != column.kind else OTHER_KINDS[kind]
    if any(remark.what == "days" for remark in remarks):
        kinds = ("datetime", *OTHER_KINDS[kind])
    other.append((Option("kinds", kinds, column=column.name),))
    return tuple(part for place, parts in enumerate(other) for part in ((", or ", *parts) if place else parts))


def _of_the_file(name: str, value: Any) -> tuple[Part, ...]:
    """An option of those who read a file."""
    return InPython("read_table(…, "), Option(name, value), InPython(")")


def _held(table: Table, rows: Encoded, column: Column, position: int, left_out: bool) -> str:
    """What the column holds, in a few words: its range or some of its cells."""
    if column.kind == "ignore":
        return ""
    if column.unit == COUNTED or isinstance(table, SparseTable):
        return "a matrix that counts words, a column for each"
    if column.kind == "text":
        texts = (text for text in table.texts(position) if text)
        return f"such as {shortened(next(texts, ''), LONGEST_EXAMPLE)!r}"
    if column.reading is not None and column.reading.form != "words":
        labels = [label for label in table.codes(position)[1] if isinstance(label, str)] if table.kind(position)[0] == "categorical" else []  # fmt: skip
        if labels:
            missing = int(np.count_nonzero(np.asarray(table.codes(position)[0]) < 0))
            return read_as([shortened(label, LONGEST_EXAMPLE) for label in labels], column.reading) + _lacking(missing)
    if column.kind == "categorical":
        codes, labels_read = read_codes(table, column, position)
        missing = int(np.count_nonzero(np.asarray(codes) < 0))
        levels = sorted(map(plain_label, labels_read), key=str)
        examples = shown([shortened(level, LONGEST_EXAMPLE) if isinstance(level, str) else level for level in levels])
        return (
            f"such as {examples}" if left_out else f"{several(len(levels), 'level')} ({examples})" + _lacking(missing)
        )
    values = rows.values((column.name,))[:, 0]
    known = values[np.isfinite(values)]
    if not len(known):
        return "" if np.isinf(values).any() else "nothing"
    ends = [
        shown_cell(column, float(end)) if column.unit or is_of_the_day(column) else short(float(end), 6)
        for end in (known.min(), known.max())
    ]
    nines = table.hints.stand_ins.get(column.name, ())
    lacking = f", {' and '.join(nines)} among them, far beyond all other values" if nines else ""
    clock = ", read as seconds since midnight" if is_of_the_day(column) else ""
    return (
        f"{'times of day ' if clock else ''}from {ends[0]} to {ends[1]}{clock}"
        + _lacking(int(np.isnan(values).sum()))
        + lacking
    )


def _lacking(missing: int) -> str:
    return f"; {missing:,} missing" if missing else ""
