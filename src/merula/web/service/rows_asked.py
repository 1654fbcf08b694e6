"""Rows that are asked about: the four verbs of a classifier, from a body to an answer whole or in pieces."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from merula.core import InputError
from merula.web.said.answers import Note
from merula.web.said.requests import Asked
from merula.web.service.answering import BLOCK, FEW
from merula.web.service.exchange import JSON as JSON_MEDIA, Exchange
from merula.web.service.formats import JSON, WRITTEN, answer_format, format_of
from merula.web.service.lean import SMALLEST, LeanModels
from merula.web.service.metrics import Metrics
from merula.web.service.models import Served
from merula.web.service.reading import Rows, read_rows
from merula.web.service.recording import Recording
from merula.web.service.refusals import RefusedError
from merula.web.service.writing import OFFERED, answer_pieces

STATED = ("costs", "reject_cost", "prices", "label", "against", "top")


@dataclass(eq=False)
class Begun:
    """An answer whose first piece is there: all of it where it is short, and where to get more."""

    first: bytes
    more: Iterator[bytes] | None
    rows: Rows
    notes: list[Note]


class RowsAsked:
    """The verbs predict, decide, explain and question."""

    def __init__(self, metrics: Metrics, recording: Recording) -> None:
        self._metrics, self._lean, self._recording = metrics, LeanModels(), recording

    async def __call__(self, exchange: Exchange, served: Served, verb: str) -> None:
        """Answer one request."""
        if served.saved is None:
            raise RefusedError(422, f"a network is not asked to {verb} rows", remedy="ask it: POST …/query")
        body = await exchange.body()
        if exchange.settings.log_values:
            exchange.values = body
        if verb == "predict" and len(body) <= SMALLEST and self._is_plain(exchange):
            lean = self._lean.of(served)
            found = lean.answer(body) if lean is not None else None
            if found is not None:
                exchange.rows = 1
                self._metrics.rows[served.name, verb] += 1
                for name in found[1]:
                    self._metrics.missing[served.name, name] += 1
                plain = {"content_type": JSON, "content_encoding": "", "accept": JSON, "query": ""}
                await self._recording.keep(exchange, served, verb, body, found[0], **plain)
                await exchange.answer(200, JSON_MEDIA, found[0])
                return
        await self._by_thread(exchange, served, verb, body)

    @staticmethod
    def _is_plain(exchange: Exchange) -> bool:
        """Whether nothing but JSON is spoken of."""
        media = exchange.header(b"content-type")
        return (
            (media == JSON_MEDIA or not media)
            and exchange.header(b"accept") in (b"", b"*/*", JSON_MEDIA)
            and not exchange.header(b"content-encoding")
            and not exchange.scope["query_string"]
        )

    async def _by_thread(self, exchange: Exchange, served: Served, verb: str, body: bytes) -> None:
        form = format_of(exchange.header(b"content-type"))
        answered = answer_format(exchange.header(b"accept"), form, OFFERED[verb])
        stated = stated_in(exchange.scope["query_string"])
        packed = exchange.packed
        work, deadline = exchange.work, exchange.deadline
        begun = await work.run(deadline, begin, served, body, form, packed, exchange.settings.max_rows, verb, answered, stated)  # fmt: skip
        media = WRITTEN[answered].encode()
        headers = ((b"merula-hash", served.hash.encode()),)
        exchange.rows = len(begun.rows)
        keep = partial(self._recording.keep, exchange, served, verb, body, content_type=form, content_encoding=packed.decode("latin-1"), accept=answered, query=exchange.scope["query_string"].decode("latin-1"))  # fmt: skip
        if begun.more is None:
            await keep(begun.first)
            await exchange.answer(200, media, begun.first, *headers)
        else:
            await exchange.begin(media, *headers)
            await self._in_pieces(exchange, begun.first, begun.more, keep)
        exchange.notes = len(begun.notes)
        self._count(served.name, verb, begun)

    async def _in_pieces(
        self, exchange: Exchange, first: bytes, more: Iterator[bytes], keep: Callable[[bytes], Awaitable[None]]
    ) -> None:
        """Send an answer piece by piece; it is whole only once it is recorded, where that is wanted."""
        sent = [first]
        await exchange.piece(first)
        while piece := await exchange.work.run(exchange.deadline, next, more, b"", begun=True):
            if self._recording.is_wanted:
                sent.append(piece)
            await exchange.piece(piece)
        await keep(b"".join(sent))
        await exchange.piece(b"", more=False)

    def _count(self, name: str, verb: str, begun: Begun) -> None:
        self._metrics.count_rows(name, verb, len(begun.rows))
        self._metrics.count_cells(name, begun.rows.cells.missing, begun.rows.cells.unseen)
        for note in begun.notes:
            self._metrics.notes[name, note.kind] += 1


def stated_in(query: bytes) -> dict[str, Any]:
    """What the address states of the answer, for rows that come as a table; costs and prices are JSON there."""
    found: dict[str, Any] = {}
    for name, text in parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=20):
        if name not in STATED:
            raise InputError.of("a word of the address", name, f"one of {', '.join(STATED)}")
        if name in found:
            raise InputError.at(name, "stands in the address more than once", remedy="state it once")
        found[name] = _read(name, text)
    return found


def _read(name: str, text: str) -> Any:
    if name in ("label", "against"):
        return text
    try:
        value = text if name == "top" and text == "all" else msgspec.json.decode(text)
        return getattr(msgspec.convert({name: value}, Asked), name)
    except (msgspec.DecodeError, RecursionError):
        raise InputError(f"{name} in the address is not written as JSON writes it", where=name) from None


def begin(
    served: Served,
    body: bytes,
    form: str,
    packed: bytes,
    most_rows: int,
    verb: str,
    answered: str,
    stated: dict[str, Any],
) -> Begun:
    """Read the rows and answer for the first of them, or for all where they are few."""
    rows = read_rows(served, body, form, packed, most_rows)
    for name, value in stated.items():
        setattr(rows.asked, name, value)
    _refuse_unused(rows.asked, verb)
    notes: list[Note] = []
    pieces = answer_pieces(served, rows, verb, answered, notes)
    if len(rows) <= FEW.get(verb, BLOCK):
        return Begun(b"".join(pieces), None, rows, notes)
    return Begun(b"".join(islice(pieces, 1)), pieces, rows, notes)


USED = {
    "predict": (),
    "decide": ("costs", "reject_cost"),
    "explain": ("label", "against", "top"),
    "question": ("costs", "reject_cost", "prices"),
}


def _refuse_unused(asked: Asked, verb: str) -> None:
    """An error where something is stated that changes nothing."""
    unused = [name for name in STATED if getattr(asked, name) is not None and name not in USED[verb]]
    if unused:
        raise InputError(f"{unused[0]} changes nothing of {verb}", where=unused[0], remedy="leave it out")
