"""The shortest way for one row of JSON: read, scored and written at once by the thread that serves, in the same bits."""

from __future__ import annotations

from typing import Any

import msgspec

from merula.core.logspace import to_posterior
from merula.data.encode.plain_rows import NotPlainError, PlainRows
from merula.web.said.answers import Cell
from merula.web.service.models import Served
from merula.web.service.writing import head_of

SMALLEST = 64 * 1024  # bytes of a body that is worth looking at
encode = msgspec.json.Encoder().encode
_row = msgspec.json.Decoder(dict[str, Cell])


class Lean:
    """One model, made ready for single rows."""

    def __init__(self, served: Served, reader: PlainRows) -> None:
        self._one, self._fitted, self._prior = reader.lean, served.model.fitted_, served.model.class_log_prior_
        self._names = frozenset(served.model.schema_.names)
        self._begin = head_of(served) + b',"classes":' + encode(served.classes) + b',"posterior":['
        self._ends = [b'],"class":[' + encode(label) + b'],"notes":[]}' for label in served.classes]

    def answer(self, body: bytes) -> tuple[bytes, list[str]] | None:
        """The answer to predict and the columns that are missing; None for all but a bare row about which nothing is to be said."""
        try:
            row = _row.decode(body)
            if not self._names.issuperset(row):
                return None
            rows, missing = self._one(row)
        except (msgspec.DecodeError, NotPlainError, UnicodeDecodeError, RecursionError):
            return None
        joint = self._fitted.log_joint(rows)
        if to_posterior(joint, self._prior) or rows.unseen_hits:
            return None
        posterior = joint[0]
        return self._begin + encode(posterior.tolist()) + self._ends[posterior.argmax()], missing


class LeanModels:
    """The shortest way for each model that has one, kept as long as the model is served."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, Lean | None]] = {}

    def of(self, served: Served) -> Lean | None:
        """The way for one model; None where it has none: it is heavy, or a network."""
        held = self._kept.get(served.name)
        if held is None or held[0] != served.hash:
            held = served.hash, self._made(served)
            self._kept[served.name] = held
        return held[1]

    @staticmethod
    def _made(served: Served) -> Lean | None:
        reader: Any = served.reader if served.saved is not None else None
        return Lean(served, reader) if served.is_light and reader is not None and reader.is_lean else None
