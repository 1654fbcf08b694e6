"""Answers as bytes, in pieces: JSON, JSON lines, CSV and Arrow; what is whole comes in one piece."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np

from merula.core import Array
from merula.core.compiled import are_kept
from merula.data.table.plain.shortest import rows_of_shares
from merula.web.said.answers import Note
from merula.web.said.version import VERSION
from merula.web.service.answering import FEW, Block, Decided, blocks, decided, explained, impossible_note, questioned
from merula.web.service.formats import ARROW, CSV, JSON, LINES
from merula.web.service.models import Served
from merula.web.service.reading import Rows

WORTH = 512  # numbers for which a loop is entered
Pieces = Iterator[bytes]
encode = msgspec.json.Encoder().encode
OFFERED = {
    "predict": (JSON, LINES, CSV, ARROW),
    "decide": (JSON, LINES, CSV, ARROW),
    "explain": (JSON, LINES),
    "question": (JSON, LINES),
}


def head_of(served: Served) -> bytes:
    """How every answer in JSON begins: which model it is that answers."""
    return encode({"version": VERSION, "model": served.name, "hash": served.hash})[:-1]


def answer_pieces(served: Served, rows: Rows, verb: str, form: str, notes: list[Note]) -> Pieces:
    """The answer to a verb in a format, piece by piece; `notes` gathers all that is said beside it."""
    if verb in FEW:
        return _one_by_one(served, rows, verb, form, notes)
    by = decided(served, rows.asked) if verb == "decide" else None
    notes += [*rows.notes, *rows.cells.notes]
    return _json(served, rows, by, notes) if form == JSON else _table(served, rows, form, by, notes)


# ------------------------------------------------------------------------------------------------------------------ JSON


def _json(served: Served, rows: Rows, by: Decided | None, notes: list[Note]) -> Pieces:
    """One document: posteriors as they come, and behind them what is short."""
    actions = b"" if by is None else b',"actions":' + encode(by.actions)
    begin = head_of(served) + b',"classes":' + encode(served.classes) + actions + b',"posterior":['
    found: list[Block] = []
    for part in blocks(served, rows, by):
        yield (b"," if found else begin) + _shares(part.posterior)
        found.append(part)
    notes += impossible_note(served, found)
    yield b'],"class":' + _labels(served.classes, [part.chosen for part in found]) + _decisions(by, found) + b',"notes":' + encode(notes) + b"}"  # fmt: skip


def _shares(posterior: Array) -> bytes:
    """The rows of a posterior, by a compiled loop where there are many."""
    found = rows_of_shares(posterior) if posterior.size >= WORTH and are_kept() else None
    return encode(posterior.tolist())[1:-1] if found is None else found


def _labels(labels: list[Any], chosen: list[Any]) -> bytes:
    """The label of every row as JSON, each written once: of equal length, they lie side by side as they are."""
    written = [encode(label) + b"," for label in labels]
    alike = len({len(text) for text in written}) == 1
    texts = np.array(written, None if alike else object)[np.concatenate(chosen)]
    return b"[" + (texts.tobytes() if alike else b"".join(texts.tolist()))[:-1] + b"]"


def _decisions(by: Decided | None, found: list[Block]) -> bytes:
    if by is None:
        return b""
    action, risk = (np.concatenate([getattr(part, name) for part in found]) for name in ("action", "risk"))
    rejected = np.flatnonzero(action < 0).tolist()
    told = {"action": [by.actions[index] for index in action.tolist()], "risk": risk.tolist(), "rejected": rejected}
    return b"," + encode(told)[1:-1]


def _one_by_one(served: Served, rows: Rows, verb: str, form: str, notes: list[Note]) -> Pieces:
    """An object for each row: an answer of its own, or one document of all."""
    answer: Callable[[Served, Rows, int], dict[str, Any]] = {"explain": explained, "question": questioned}[verb]
    gap, end = (b",", b"]}") if form == JSON else (b"\n", b"\n")
    begin = head_of(served) + b',"answers":[' if form == JSON else b""
    for start in range(0, len(rows), FEW[verb]):
        found = []
        for index in range(start, min(start + FEW[verb], len(rows))):
            told = answer(served, rows, index)
            told["notes"] = [*(rows.notes if index == 0 else ()), *told["notes"]]
            notes += told["notes"]
            found.append(encode({**_model_of(served, form), **told}))
        yield (gap if start else begin) + gap.join(found)
    yield end


def _model_of(served: Served, form: str) -> dict[str, Any]:
    return {"version": VERSION, "model": served.name, "hash": served.hash} if form == LINES else {}


# ---------------------------------------------------------------------------------------------------------------- tables


def _table(served: Served, rows: Rows, form: str, by: Decided | None, notes: list[Note]) -> Pieces:
    """The answers as a table, a row for each row that was sent, with what is to be known of it in the last column."""
    sink, found = io.BytesIO(), list[Block]()
    write = {LINES: _lines, CSV: _csv, ARROW: _arrow}[form](sink)
    told = _told_rows(rows)
    for part in blocks(served, rows, by):
        write(_answers(served, part, by, told))
        found.append(part)
        yield _taken(sink)
    notes += impossible_note(served, found)
    write(None)
    yield _taken(sink)


def _taken(sink: io.BytesIO) -> bytes:
    data = sink.getvalue()
    sink.seek(0)
    sink.truncate()
    return data


def _told_rows(rows: Rows) -> dict[int, str]:
    """What is to be known of each row of which something is."""
    found: dict[int, str] = {}
    for text, where in rows.cells.rows.items():
        for index in where.tolist():
            found[index] = f"{found[index]}; {text}" if index in found else text
    return found


def _answers(served: Served, part: Block, by: Decided | None, told: dict[int, str]) -> Any:
    import pyarrow as pa

    labels = pa.array(served.classes)
    columns = {"class": labels.take(pa.array(part.chosen))}
    columns |= {f"P({label})": pa.array(part.posterior[:, index]) for index, label in enumerate(served.classes)}
    if by is not None:
        columns |= {"action": pa.array([str(by.actions[index]) for index in part.action.tolist()]), "risk": part.risk}  # type: ignore[union-attr]
    columns["notes"] = _notes_of_rows(part, told)
    return pa.table(columns).replace_schema_metadata({"model": served.name, "hash": served.hash})


def _notes_of_rows(part: Block, told: dict[int, str]) -> Any:
    """What is to be known of each row, nothing of most."""
    import pyarrow as pa

    size = len(part.chosen)
    if not told and part.impossible is None:
        return pa.nulls(size, pa.string())
    texts = [told.get(part.start + index) for index in range(size)]
    for index in [] if part.impossible is None else part.impossible.tolist():
        texts[index] = "; ".join(filter(None, (texts[index], "impossible under every class; answered with the prior")))
    return pa.array(texts, pa.string())


Write = Callable[[Any], None]


def _lines(sink: io.BytesIO) -> Write:
    lines = msgspec.json.Encoder().encode_lines

    def write(table: Any) -> None:
        if table is not None:
            sink.write(lines(table.to_pylist()))

    return write


def _csv(sink: io.BytesIO) -> Write:
    from merula.data.table.write import WRITERS, write_csv_rows

    begun = False

    def write(table: Any) -> None:
        nonlocal begun
        if table is not None:
            if not begun:
                WRITERS[".csv"](table.slice(0, 0), sink)
            begun = True
            write_csv_rows(table, sink)

    return write


def _arrow(sink: io.BytesIO) -> Write:
    import pyarrow as pa

    writer: Any = None

    def write(table: Any) -> None:
        nonlocal writer
        if table is None:
            writer.close()
            return
        writer = writer or pa.ipc.new_stream(sink, table.schema)
        writer.write_table(table)

    return write
