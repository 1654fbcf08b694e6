"""The Open Inference Protocol, version 2, for those who speak it already: tensors by column in, posteriors and classes out."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from merula.core import InputError
from merula.show.numbers import several
from merula.web.service.answering import blocks
from merula.web.service.models import Served
from merula.web.service.reading import Rows, rows_of_columns

Datatype = Literal[
    "BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64", "BYTES"
]
encode = msgspec.json.Encoder().encode


class Tensor(Struct):
    """One tensor of a request, its cells by rows."""

    name: str
    shape: list[int]
    datatype: Datatype
    data: list[Any]
    parameters: dict[str, Any] | UnsetType = UNSET


class Wanted(Struct):
    """An output that is asked for."""

    name: str
    parameters: dict[str, Any] | UnsetType = UNSET


class Inference(Struct):
    """A request: a tensor for each column, or one of rows × columns."""

    inputs: list[Tensor]
    id: str | UnsetType = UNSET
    parameters: dict[str, Any] | UnsetType = UNSET
    outputs: list[Wanted] | UnsetType = UNSET


_request = msgspec.json.Decoder(Inference)
DATATYPES = {"numeric": "FP64", "count": "INT64", "categorical": "BYTES", "text": "BYTES", "datetime": "BYTES"}
OUTPUTS = ("posterior", "class")


def model_told(served: Served) -> dict[str, Any]:
    """The metadata of a model, as the protocol has them."""
    classes, columns = served.classes, [c for c in served.model.schema_.columns if c.kind != "ignore"]
    return {
        "name": served.name,
        "versions": [served.hash],
        "platform": "merula",
        "inputs": [{"name": c.name, "datatype": DATATYPES[c.holds], "shape": [-1]} for c in columns],
        "outputs": [
            {"name": "posterior", "datatype": "FP64", "shape": [-1, len(classes)]},
            {"name": "class", "datatype": "BYTES", "shape": [-1]},
        ],
    }


def inferred(served: Served, body: bytes, most_rows: int) -> tuple[bytes, Rows]:
    """The answer to a request, and its rows."""
    try:
        asked = _request.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InputError(f"the body is no request of the Open Inference Protocol: {error}") from None
    wanted = [one.name for one in asked.outputs] if asked.outputs else list(OUTPUTS)
    strange = [name for name in wanted if name not in OUTPUTS]
    if strange:
        raise InputError.of("an output", strange[0], f"one of {', '.join(OUTPUTS)}")
    rows = rows_of_columns(served, _columns(served, asked.inputs), most_rows)
    found = list(blocks(served, rows))
    posterior = [share for part in found for share in part.posterior.ravel().tolist()]
    chosen = [str(served.classes[index]) for part in found for index in part.chosen.tolist()]
    outputs = {
        "posterior": {"shape": [len(rows), len(served.classes)], "datatype": "FP64", "data": posterior},
        "class": {"shape": [len(rows)], "datatype": "BYTES", "data": chosen},
    }
    told = [note.text for note in (*rows.notes, *rows.cells.notes)]
    answer = {
        "model_name": served.name,
        "model_version": served.hash,
        **({"id": asked.id} if asked.id is not UNSET else {}),
        "parameters": {"notes": told, "classes": [str(c) for c in served.classes]},
        "outputs": [{"name": name, **outputs[name]} for name in wanted],
    }
    return encode(answer), rows


def _columns(served: Served, tensors: Sequence[Tensor]) -> dict[str, list[Any]]:
    """The cells of each column; one tensor of rows × columns has them in the model's order."""
    names = [column.name for column in served.model.schema_.columns if column.kind != "ignore"]
    for tensor in tensors:
        if any(size < 0 for size in tensor.shape) or len(tensor.shape) not in (1, 2):
            raise InputError.of(f"the shape of {tensor.name!r}", tensor.shape, "[rows] or [rows, columns]")
    if len(tensors) == 1 and len(tensors[0].shape) == 2 and (tensors[0].shape[1] > 1 or tensors[0].name not in names):
        (one,) = tensors
        cells, width = _flat(one), one.shape[1]
        if width != len(names):
            raise InputError.of(
                f"the shape of {one.name!r}", one.shape, f"{len(names)} columns: {', '.join(names[:20])}"
            )
        return {name: cells[place::width] for place, name in enumerate(names)}
    if len({tensor.name for tensor in tensors}) < len(tensors):
        raise InputError("a tensor is named twice", where="inputs")
    return {tensor.name: _flat(tensor) for tensor in tensors}


def _flat(tensor: Tensor) -> list[Any]:
    """The cells of a tensor, in order, whether rows are lists of their own or not."""
    cells = tensor.data
    if cells and all(isinstance(row, list) for row in cells):
        cells = [cell for row in cells for cell in row]
    if len(cells) != prod(tensor.shape) or any(isinstance(cell, list | dict) for cell in cells):
        raise InputError.at(f"the data of {tensor.name!r}", f"has {several(len(cells), 'cell')}", expected=f"{prod(tensor.shape):,}, as its shape says")  # fmt: skip
    return cells
