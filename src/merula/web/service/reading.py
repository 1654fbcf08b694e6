"""The bytes of a request → encoded rows and what is stated of the answer, read as the model's own schema says."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np

from merula.core import InputError, bounded, nearest
from merula.core.notes import Mentioned, kept_back
from merula.data.encode import Encoded, encode_rows
from merula.data.table import NOTHING_STATED
from merula.data.table.read import read_arrow, read_content, read_csv, read_parquet
from merula.web.said.answers import Cell, Note
from merula.web.said.requests import Asked
from merula.web.service.cells import Cells, told_cells
from merula.web.service.formats import ARROW, ARROW_FILE, CSV, JSON, LINES, PARQUET, TSV
from merula.web.service.models import Served
from merula.web.service.refusals import RefusedError

ITEM = 64  # bytes that a cell of JSON takes in memory, mostly
MOST_TIMES = 32  # what JSON of the worst kind takes beside its own size
SHOWN = 3
STATE_ROWS = frozenset({"rows", "columns"})  # what holds rows, unless columns are called so
NOT_JSON = (b"NaN", b"Infinity")  # which some write for what is unknown
WORTH = 4_096  # bytes of a body for which the fastest way is tried
Row = dict[str, Cell]
Columns = dict[str, list[Cell]]
READERS = {CSV: read_csv, TSV: read_csv, ARROW: read_arrow, ARROW_FILE: read_arrow, PARQUET: read_parquet}
_rows = msgspec.json.Decoder(list[Row])
_columns = msgspec.json.Decoder(Columns)
_row = msgspec.json.Decoder(Row)
_asked = msgspec.json.Decoder(Asked)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as they were sent: encoded, with what was noticed while they were read, and each as it can be asked again."""

    encoded: Encoded
    asked: Asked
    notes: list[Note]
    cells: Cells
    one: Callable[[int], Any] = field(repr=False)

    def __len__(self) -> int:
        return len(self.encoded)


def read_rows(served: Served, body: bytes, form: str, packed: bytes, most_rows: int) -> Rows:
    """The rows of a request; an `InputError` or a refusal where they are none, or too many."""
    body = unpacked(body, packed)
    if not body.strip():
        raise InputError("there are no rows: the body is empty")
    with kept_back() as told:
        rows = (_read_json if form in (JSON, LINES) else _read_table)(served, body, form, most_rows)
    return replace(rows, notes=[*rows.notes, *_said(told)])


def unpacked(body: bytes, packed: bytes) -> bytes:
    """The body as it was before it was packed; a refusal where it was packed otherwise than by gzip."""
    if packed in (b"", b"identity"):
        return body
    if packed != b"gzip":
        raise RefusedError(
            415, "the body is packed in a way that is not known", where="content-encoding", expected="gzip"
        )
    try:
        return bounded.unpacked(body if body[:2] == bounded.PACKED else gzip.compress(body))
    except InputError as error:
        raise RefusedError(413 if "becomes" in str(error) else 422, f"the body {error}") from None


# ---------------------------------------------------------------------------------------------------------------- tables


def _read_table(served: Served, body: bytes, form: str, most_rows: int) -> Rows:
    model = served.model
    options = served.saved.like_fit(NOTHING_STATED) if served.saved else NOTHING_STATED
    table = options.noted_in(read_content(body, "the body", options, READERS[form]))
    _refuse_many(table.num_rows, most_rows)
    known = set(model.schema_.names)
    ignored = [name for name in table.column_names if name not in known]
    encoded = encode_rows(table, model.schema_, model.fitted_.plan.named, type(model).__name__)
    notes = _ignored(served, ignored) if model.fitted_.plan.named else []
    return Rows(encoded, Asked(), notes, told_cells(served, encoded), lambda index: table.slice(index, 1))


def _refuse_many(count: int, most: int) -> None:
    if count > most:
        raise RefusedError(413, f"there are {count:,} rows, but {most:,} is the most that is taken", remedy="send fewer rows at a time")  # fmt: skip


def _ignored(served: Served, names: Sequence[str]) -> list[Note]:
    """A note of columns that the model does not know; its target may well stand there."""
    strange = [name for name in names if served.saved is None or name != served.saved.target]
    if not strange:
        return []
    shown = ", ".join(repr(name[:80]) for name in strange[:SHOWN]) + (" …" if len(strange) > SHOWN else "")
    several = len(strange) > 1
    hint = nearest(strange[0], served.model.schema_.names)
    text = f"{shown} {'are no columns' if several else 'is no column'} of the model, and {'are' if several else 'is'} passed over{hint}"
    return [Note("ignored", text, column=strange[0])]


# ------------------------------------------------------------------------------------------------------------------ JSON


def _read_json(served: Served, body: bytes, form: str, most_rows: int) -> Rows:
    if MOST_TIMES * len(body) > (most := bounded.most_bytes()) and ITEM * (items := _items(body)) > most:
        raise RefusedError(413, f"the body holds {items:,} items, more than memory is given for", remedy="send fewer rows at a time")  # fmt: skip
    try:
        return _of_json(served, body, form, most_rows)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        remedy = "write null for what is unknown: JSON has neither NaN nor Infinity" if any(word in body for word in NOT_JSON) else "GET /openapi.json tells how rows are written"  # fmt: skip
        raise InputError(f"the body is not the JSON that is expected: {error}", remedy=remedy) from None
    except RecursionError:
        raise InputError("the body is nested too deeply") from None
    except OverflowError:
        raise InputError("a whole number is too large", expected="numbers that a float holds") from None


def _items(body: bytes) -> int:
    return sum(map(body.count, (b",", b"[", b"{")))


def _of_json(served: Served, body: bytes, form: str, most_rows: int) -> Rows:
    if form == LINES:
        return _of_rows(served, _lines(body), Asked(), most_rows)
    is_list = body.lstrip()[:1] == b"["
    typed = _typed(served, body, is_list, most_rows)
    if typed is not None:
        return typed
    if is_list:
        return _of_rows(served, _rows.decode(body), Asked(), most_rows)
    try:
        return _of_rows(served, [_row.decode(body)], Asked(), most_rows)
    except msgspec.ValidationError as error:  # not a bare row
        own = error
    columns = _by_column(served, body)
    if columns is not None:
        return _of_columns(served, columns, Asked(), most_rows)
    try:
        return _of_asked(served, _asked.decode(body), most_rows)
    except msgspec.ValidationError as error:
        raise (error if b'"row' in body or b'"columns"' in body else own) from None


def _by_column(served: Served, body: bytes) -> Columns | None:
    """The cells of each column; None where these are something else, such as rows that are stated to be none."""
    try:
        found = _columns.decode(body)
    except msgspec.ValidationError:
        return None
    states_rows = bool(found) and STATE_ROWS.issuperset(found) and STATE_ROWS.isdisjoint(served.model.schema_.names)
    return None if states_rows else found


def _typed(served: Served, body: bytes, is_list: bool, most_rows: int) -> Rows | None:
    """Rows that are as the schema has them, by the way that is fastest; None where they are not, or few."""
    if len(body) < WORTH or served.typed is None:
        return None
    found = served.typed.numbers(body)
    found = served.typed.rows(body) if found is None and is_list else found
    return None if found is None else _of_columns(served, found, Asked(), most_rows)


def _lines(body: bytes) -> list[Row]:
    return [_row.decode(line) for line in body.splitlines() if line.strip()]


def _of_asked(served: Served, asked: Asked, most_rows: int) -> Rows:
    """The rows of an envelope, in whichever shape they are there."""
    given = [name for name in ("row", "rows", "columns") if getattr(asked, name) is not msgspec.UNSET]
    if given == ["row"]:
        return _of_rows(served, [asked.row], asked, most_rows)  # type: ignore[list-item]
    if given == ["columns"] and isinstance(asked.columns, dict):
        return _of_columns(served, asked.columns, asked, most_rows)
    if given == ["rows"] and all(isinstance(row, dict) for row in asked.rows):  # type: ignore[union-attr]
        return _of_rows(served, asked.rows, asked, most_rows)  # type: ignore[arg-type]
    if given == ["rows", "columns"] and isinstance(asked.columns, list):
        return _of_matrix(served, asked.columns, asked.rows, asked, most_rows)  # type: ignore[arg-type]
    raise InputError("rows are given in no shape that is known", expected="row, rows, columns, or rows of lists with a list of columns")  # fmt: skip


def _of_matrix(served: Served, names: list[str], rows: Sequence[Any], asked: Asked, most_rows: int) -> Rows:
    uneven = next((place for place, row in enumerate(rows) if not isinstance(row, list) or len(row) != len(names)), None)  # fmt: skip
    if uneven is not None:
        raise InputError.at(f"row {uneven}", "is no list with a cell for each column", expected=_cells(len(names)))
    if len(set(names)) < len(names):
        raise InputError("a column is named twice", where="columns")
    cells = zip(*rows, strict=True) if rows else ([] for _ in names)
    return _of_columns(served, dict(zip(names, map(list, cells), strict=True)), asked, most_rows)


def _cells(count: int) -> str:
    return f"{count:,} cell{'' if count == 1 else 's'}"


def _of_rows(served: Served, rows: Sequence[Row], asked: Asked, most_rows: int) -> Rows:
    _refuse_many(len(rows), most_rows)
    known = served.model.schema_.names
    if len(rows) == 1 and served.reader is not None:
        ignored = [name for name in rows[0] if name not in known]
        _refuse_strangers(served, ignored, len(ignored) < len(rows[0]))
        return _rows_of(served, served.reader.one(rows[0]), asked, ignored, lambda _: _named(rows[0], known))
    names = known if served.reader is not None else (served.model.schema_.columns[0].levels or ())
    columns = {name: [row.get(name) for row in rows] for name in names}
    named = set[str]().union(*rows)
    ignored = sorted(named.difference(names))
    _refuse_strangers(served, ignored, len(ignored) < len(named))
    return _encoded(served, columns, len(rows), asked, ignored, lambda index: _named(rows[index], names))


def _named(row: Mapping[str, Cell], names: Sequence[str]) -> Row:
    known = set(names)
    return {name: value for name, value in row.items() if name in known}


def _of_columns(served: Served, columns: Mapping[str, Sequence[Cell]], asked: Asked, most_rows: int) -> Rows:
    lengths = {name: len(cells) for name, cells in columns.items()}
    count = max(lengths.values(), default=0)
    _refuse_many(count, most_rows)
    short = next((name for name, length in lengths.items() if length < count), None)
    if short is not None:
        raise InputError.at(f"column {short!r}", f"has {_cells(lengths[short])}, another {count:,}", remedy="give every column as many")  # fmt: skip
    names = served.model.schema_.names if served.reader is not None else served.model.schema_.columns[0].levels or ()
    known = {name: columns[name] for name in names if name in columns}
    ignored = [name for name in columns if name not in known]
    _refuse_strangers(served, ignored, bool(known))
    return _encoded(
        served,
        known,
        count,
        asked,
        ignored,
        lambda index: {name: _plain(cells[index]) for name, cells in known.items()},
    )


def _plain(cell: Any) -> Any:
    """A cell as JSON has it, whichever way it was read."""
    return (None if cell != cell else float(cell)) if isinstance(cell, np.floating) else cell


def rows_of_columns(served: Served, columns: Mapping[str, Sequence[Cell]], most_rows: int) -> Rows:
    """Rows from the cells of each column, whoever read them."""
    with kept_back() as told:
        try:
            rows = _of_columns(served, columns, Asked(), most_rows)
        except OverflowError:
            raise InputError("a whole number is too large", expected="numbers that a float holds") from None
    return replace(rows, notes=[*rows.notes, *_said(told)])


def _said(told: Sequence[Any]) -> list[Note]:
    return [Note("reading", str(note), column=note.column) for note in told if not isinstance(note, Mentioned)]


def _encoded(
    served: Served,
    columns: Mapping[str, Sequence[Cell]],
    count: int,
    asked: Asked,
    ignored: list[str],
    one: Callable[[int], Any],
) -> Rows:
    if not count:
        raise InputError("there are no rows")
    if served.reader is not None:
        return _rows_of(served, served.reader.many(columns, count), asked, ignored, one)
    model = served.model  # a matrix of counted words; a word that is not named is not there
    words = model.schema_.columns[0].levels or ()
    try:
        counts = np.array(
            [[cell or 0 for cell in columns.get(word, [0] * count)] for word in words], dtype=np.float64
        ).T
    except (TypeError, ValueError):
        raise InputError("a count of words is no number", expected="numbers from 0") from None
    encoded = encode_rows(counts, model.schema_, None, type(model).__name__)
    return _rows_of(served, encoded, asked, ignored, one)


def _refuse_strangers(served: Served, ignored: Sequence[str], known: bool) -> None:
    """An error where rows name columns, but none that the model has."""
    if ignored and not known:
        hint = nearest(ignored[0], served.model.schema_.names)
        raise InputError.at(repr(ignored[0][:80]), f"is no column of the model, and no other is named{hint}", expected="its columns: GET …/metadata lists them")  # fmt: skip


def _rows_of(served: Served, encoded: Encoded, asked: Asked, ignored: list[str], one: Callable[[int], Any]) -> Rows:
    return Rows(encoded, asked, _ignored(served, ignored), told_cells(served, encoded), one)
