"""What each column of a table is read as, and why: the decisions that a command takes before it learns, as plain sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.classify.advice import Remark, advised_kinds, review
from merula.classify.single_row import shown as shown_cell
from merula.core import InputError, Option, one_of
from merula.core.errors import Message, Write, phrase
from merula.data.encode import Encoded, encode, encode_target, infer_schema, read_codes
from merula.data.encode.kinds import read_as, shown
from merula.data.schema import Column, Schema
from merula.data.table import Table, build_frame, label_array, open_table, plain_label, read_table
from merula.show.html import html_block, html_table
from merula.show.numbers import several
from merula.show.text import display_width, pad, visible

WIDTH, LONGEST_NAME = 100, 30
MOST_LINES = 40  # that show themselves where it was not printed
OTHER_KINDS = {"numeric": ("categorical", "ignore"), "categorical": ("text", "ignore"), "text": ("categorical", "ignore"), "datetime": ("categorical", "ignore"), "count": ("numeric",), "ignore": ("categorical", "numeric")}  # fmt: skip
CALLED = {"numeric": "numbers", "categorical": "categories", "count": "counts", "text": "text", "datetime": "times", "ignore": "left out", "class": "the class"}  # fmt: skip


@dataclass(frozen=True)
class LookedAt:
    """One column: the kind it is read as, what it holds and why it is read so, and the option that would change it."""

    column: str
    kind: str
    why: str
    change: Message = ""

    def told(self, write: Write = str) -> str:
        """What is said of the column, with the option that would change it."""
        other = phrase(self.change, write)
        return f"{self.why}; otherwise: {other}" if other else self.why


@dataclass(frozen=True)
class Look:
    """What each column of a table is read as, and why; printed, it is one line for each."""

    rows: int
    columns: tuple[LookedAt, ...]

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of every column but the target, as the command line takes them: ``AutoBayesClassifier(kinds=look.kinds)``."""
        return {one.column: one.kind for one in self.columns if one.kind != "class"}

    def told(self, write: Write = str) -> str:
        """The whole list, with options written by `write`."""
        head = f"{several(self.rows, 'row')}, {several(len(self.columns), 'column')}"
        names = [visible(one.column) for one in self.columns]
        width = min(LONGEST_NAME, max(map(display_width, names)))
        kinds = max(len(CALLED[one.kind]) for one in self.columns)
        lines = [head, ""]
        for name, one in zip(names, self.columns, strict=True):
            first, *rest = wrap(visible(one.told(write)), WIDTH - width - kinds - 4, break_on_hyphens=False) or [""]
            lines.append(f"{pad(name, width)}  {CALLED[one.kind]:{kinds}}  {first}")
            lines += [" " * (width + kinds + 4) + more for more in rest]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.told()

    def __repr__(self) -> str:
        lines = self.told().split("\n")
        if len(lines) <= MOST_LINES:
            return "\n".join(lines)
        return "\n".join(
            [*lines[:MOST_LINES], "…", f"({several(len(self.columns), 'column')}: print it, or see to_frame())"]
        )

    def _repr_html_(self) -> str:
        rows = [[one.column, CALLED[one.kind], one.told()] for one in self.columns[:MOST_LINES]]
        head = f"{several(self.rows, 'row')}, {several(len(self.columns), 'column')}"
        more = f"{len(self.columns) - MOST_LINES:,} more in to_frame()" if len(self.columns) > MOST_LINES else ""
        return html_block(html_table(head, [["column", "read as", "why"], *rows], 3, more))

    def to_frame(self, library: str = "pandas") -> Any:
        """The list as a table of this library: column, kind, why, and the option that would change it."""
        held = {
            "column": [one.column for one in self.columns],
            "kind": [one.kind for one in self.columns],
            "why": [one.why for one in self.columns],
            "change": [phrase(one.change) for one in self.columns],
        }
        return build_frame({name: label_array(cells) for name, cells in held.items()}, library)


def look(table: Any, target: str | None = None, kinds: Any = None) -> Look:
    """What each column of a table is read as, and why.

    Parameters
    ----------
    table : path or table
        A file, as for `read_table`, or a data frame.
    target : str, optional
        The column that holds the class: it is not read like the others, and columns that give it away are named.
    kinds : dict, optional
        ``{"column": kind}``: how some columns are to be read, as for the classifiers.

    Returns
    -------
    Look
        Printed, one line for each column. ``.kinds`` are the kinds that the command line would take (identifiers left out,
        few whole numbers as categories): `AutoBayesClassifier(kinds=look.kinds)` then reads the table as the command does.

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> birds = pd.DataFrame({"ring": [f"R{i:03d}" for i in range(40)], "price": ["$9.50", "$1,200", "$12", "unknown"] * 10})
    >>> print(mr.look(birds))
    40 rows, 2 columns
    <BLANKLINE>
    ring   left out  looks like an identifier (40 different values in 40 rows); otherwise:
                     kinds={'ring': 'categorical'}
    price  numbers   holds amounts in $ ('$9.50', '$1,200', '$12'), read as numbers; 'unknown' is
                     missing; otherwise: kinds={'price': 'categorical'} or 'ignore'
    """
    source = read_table(table) if isinstance(table, str | PathLike) else table
    opened = open_table(source)
    if isinstance(target, str):
        one_of(target, opened.names, "target")
    rest = _without(source, opened, target)
    schema, _ = infer_schema(rest, {name: kind for name, kind in (kinds or {}).items() if name != target})
    labels = None if target is None else _classes(opened, target)
    known = None if labels is None else labels >= 0
    classes = None
    if labels is not None and known is not None and known.all():
        classes = encode_target(labels, opened.rows)
    remarks = review(rest, schema, classes, set(kinds or {}))
    told = _told(rest, schema, remarks, kinds or {})
    return Look(opened.rows, tuple(_target_told(opened, name) if name == target else told[name] for name in opened.names))  # fmt: skip


def _without(source: Any, opened: Table, target: str | None) -> Table:
    if target is None:
        return opened
    if len(opened.names) == 1:
        raise InputError(f"the table has no column besides {target!r}", remedy="there is nothing to learn from")
    import narwhals as nw

    return open_table(nw.from_native(source, eager_only=True).drop(target).to_native())


def _classes(table: Table, target: str) -> NDArray[Any]:
    return np.asarray(table.codes(table.names.index(target))[0])


def _target_told(table: Table, target: str) -> LookedAt:
    codes, labels = table.codes(table.names.index(target))
    counts = np.bincount(np.asarray(codes) + 1, minlength=len(labels) + 1)
    ranked = sorted(zip(counts[1:].tolist(), map(str, labels), strict=True), key=lambda pair: (-pair[0], pair[1]))
    held = ", ".join(f"{label} ({count:,})" for count, label in ranked[:6]) + (", …" if len(ranked) > 6 else "")
    missing = f"; {counts[0]:,} missing, whose rows are left out" if counts[0] else ""
    return LookedAt(target, "class", f"{several(len(ranked), 'class', 'classes')}: {held}{missing}")


def _told(table: Table, schema: Schema, remarks: Sequence[Remark], stated: Any) -> dict[str, LookedAt]:
    advised = advised_kinds(schema, remarks)
    found = {}
    rows = encode(table, Schema(tuple(column for column in schema.columns if column.kind not in ("text", "ignore"))), [position for position, column in enumerate(schema.columns) if column.kind not in ("text", "ignore")])  # fmt: skip
    for position, column in enumerate(schema.columns):
        said = [remark.text for remark in remarks if remark.column == column.name]
        held = _held(table, rows, column, position)
        why = "; ".join([*said, *([held] if held and not said else [])])
        kind = advised[column.name]
        leaks = any(remark.what == "leak" for remark in remarks if remark.column == column.name)
        others = "ignore" if leaks else column.kind if kind != column.kind else OTHER_KINDS[kind]
        option = Option("kinds", others, column=column.name)
        guessed = bool(said) or column.reading is not None
        found[column.name] = LookedAt(column.name, kind, f"as stated; {why}" if column.name in stated else why, (option,) if guessed else "")  # fmt: skip
    return found


def _held(table: Table, rows: Encoded, column: Column, position: int) -> str:
    """What the column holds, in a few words."""
    if column.kind == "ignore":
        return "not looked at"
    if column.kind == "text":
        return "sentences, read word by word"
    if column.reading is not None and column.reading.form != "words":
        labels = [label for label in table.codes(position)[1] if isinstance(label, str)] if table.kind(position)[0] == "categorical" else []  # fmt: skip
        if labels:
            return read_as(labels, column.reading)
    if column.kind == "categorical":
        codes, labels_read = read_codes(table, column, position)
        missing = int(np.count_nonzero(np.asarray(codes) < 0))
        return f"{several(len(labels_read), 'level')} ({shown(sorted(map(plain_label, labels_read), key=str))})" + _lacking(missing)  # fmt: skip
    values = rows.values((column.name,))[:, 0]
    known = values[~np.isnan(values)]
    if not len(known):
        return "nothing"
    ends = [shown_cell(column, float(end)) if column.unit else f"{end:,.6g}" for end in (known.min(), known.max())]
    return f"from {ends[0]} to {ends[1]}" + _lacking(len(values) - len(known))


def _lacking(missing: int) -> str:
    return f"; {missing:,} missing" if missing else ""
