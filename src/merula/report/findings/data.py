"""What a table holds: kinds, missing cells, reach, commonest levels, what was pointed out; and its fingerprint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.classify.advice import review
from merula.classify.single_row import shown
from merula.data.encode import Target, infer_schema
from merula.data.schema import Column, Schema, sort_labels
from merula.data.table import SparseTable, Table, open_table
from merula.report.findings.result import ColumnSummary, DataSummary

COMMONEST = 5  # levels that are named


def summarise_data(
    X: Any, target: Target, schema: Schema | None = None, remarks: Mapping[str, str] | None = None
) -> DataSummary | None:
    """What the table holds, column by column; None for a sparse matrix, whose columns are words.

    `schema` says how a fitted model reads the columns; without one, they are read as a model would. `remarks` are what
    was already pointed out of them.
    """
    table = open_table(X)
    if isinstance(table, SparseTable):
        return None
    guessed, _ = infer_schema(table)  # the report shows what was guessed
    read = guessed if schema is None else schema
    columns = read.columns
    stated = [
        name for name in read.names if read[name].kind != guessed[name].kind
    ]  # only a person can have stated them
    found = {remark.column: remark.text for remark in review(table, read, target, stated)}
    remarks = {**found, **(remarks or {})}
    summaries = tuple(_summary(table, index, column, remarks) for index, column in enumerate(columns))
    return DataSummary(table.rows, summaries, fingerprint(table, target, columns))


def _summary(table: Table, index: int, column: Column, remarks: Mapping[str, str]) -> ColumnSummary:
    remark = remarks.get(column.name, "")
    if column.kind in ("numeric", "count", "datetime"):
        values = np.asarray(table.numbers(index, column.unit), dtype=np.float64)
        known = values[~np.isnan(values)]
        return ColumnSummary(
            column.name,
            column.kind,
            len(values) - len(known),
            len(np.unique(known)),
            _reach(column, known),
            remark=remark,
        )
    cells = _words(table, index)
    counted = Counter(cell for cell in cells if cell is not None)
    commonest = () if column.kind in ("text", "ignore") else tuple(_ranked(counted)[:COMMONEST])
    return ColumnSummary(
        column.name, column.kind, sum(cell is None for cell in cells), len(counted), None, commonest, remark
    )


def _words(table: Table, index: int) -> list[str | None]:
    """The cells of a column as words, None where one is missing."""
    return table.texts(index)  # type: ignore[union-attr]


def _ranked(counted: Counter[str]) -> list[tuple[str, int]]:
    """Levels from the commonest on, equally common ones by name."""
    return sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))


def _reach(column: Column, known: NDArray[np.float64]) -> tuple[str, str, str] | None:
    if not len(known):
        return None
    low, middle, high = np.quantile(known, [0.0, 0.5, 1.0], method="inverted_cdf").tolist()
    return shown(column, low), shown(column, middle), shown(column, high)


def fingerprint(table: Table, target: Target, columns: tuple[Column, ...]) -> str:
    """The SHA-256 of names, cells and classes in their order, whatever library holds them."""
    digest = sha256()
    for index, column in enumerate(columns):
        digest.update(f"{column.name}\0{column.kind}\0".encode())
        if column.kind in ("numeric", "count", "datetime"):
            values = np.asarray(table.numbers(index, column.unit), dtype=np.float64)
            digest.update(np.where(np.isnan(values), np.nan, values + 0.0).tobytes())
        else:
            _digest_words(digest, _words(table, index))
    _digest_words(digest, [str(label) for label in target.classes[target.codes].tolist()])
    return digest.hexdigest()


def _digest_words(digest: Any, words: list[str | None]) -> None:
    labels = sort_labels(set(words))
    indices = {label: index for index, label in enumerate(labels)}
    digest.update(repr(labels).encode())
    digest.update(np.array([indices[word] for word in words], dtype=np.int64).tobytes())
