"""What a table holds: kinds, missing cells, reach, commonest levels, what was pointed out; and its fingerprint."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.classify.advice import leaking, review
from merula.classify.folds import uncut
from merula.classify.readable import shown
from merula.data.encode import Target, infer_schema, is_counted, numbers_read
from merula.data.schema import Column, Schema, sort_labels
from merula.data.table import SparseTable, Table, open_table
from merula.report.findings.result import ColumnSummary, DataSummary

COMMONEST = 5  # levels that are named
WHOLE = re.compile(r"-?\d+(\.0)?")  # a number that has no fraction, also where its column holds floats


def summarise_data(
    X: Any,
    target: Target,
    schema: Schema | None = None,
    remarks: Mapping[str, str] | None = None,
    left_out: Mapping[str, int] | None = None,
) -> DataSummary | None:
    """What the table holds, column by column; None for a matrix of counted words, whose columns are words.

    `schema` says how a fitted model reads the columns; without one, they are read as a model would. `remarks` are what
    was already pointed out of them, "" for nothing; columns that it does not name are looked at here. Rows that
    the table had besides are `left_out`, so many for lack of what.
    """
    table = open_table(X)
    if isinstance(table, SparseTable) or (schema is not None and is_counted(schema)):
        return None
    said = dict(remarks or {})
    read = infer_schema(table)[0] if schema is None else uncut(schema)
    if not said.keys() >= set(table.names):
        guessed = read if schema is None else infer_schema(table)[0]
        stated = [name for name in read.names if read[name].kind != guessed[name].kind]  # by a person: not doubted
        said = {remark.column: remark.text for remark in review(table, read, target, stated)} | said
    digest, leaks = sha256(), set(leaking(table, read, target))
    summaries = tuple(
        replace(_summary(table, index, column, said, digest), leaks=column.name in leaks)
        for index, column in enumerate(read.columns)
    )
    _digest_words(digest, [str(label) for label in target.classes[target.codes].tolist()])
    return DataSummary(table.rows, summaries, digest.hexdigest(), dict(left_out or {}))


def _summary(table: Table, index: int, column: Column, remarks: Mapping[str, str], digest: Any) -> ColumnSummary:
    """One column; its name, its kind and its cells in their order enter the fingerprint, whatever library holds them."""
    remark = remarks.get(column.name, "")
    digest.update(f"{column.name}\0{column.kind}\0".encode())
    if column.kind in ("numeric", "count", "datetime"):
        values = np.asarray(numbers_read(table, column, index), dtype=np.float64)
        digest.update(np.where(np.isnan(values), np.nan, values + 0.0).tobytes())
        known = values[~np.isnan(values)]
        missing, distinct = len(values) - len(known), len(np.unique(known))
        return ColumnSummary(column.name, column.kind, missing, distinct, _reach(column, known), remark=remark)
    words = table.texts(index)  # type: ignore[union-attr]
    _digest_words(digest, words)
    counted = Counter(word for word in words if word is not None)
    named = Counter() if column.kind in ("text", "ignore") else counted
    ranked = sorted(named.items(), key=lambda pair: (-pair[1], pair[0]))[:COMMONEST]
    whole = table.kind(index)[0] == "numeric" and all(WHOLE.fullmatch(word) for word in counted)
    commonest = tuple((word.removesuffix(".0") if whole else word, rows) for word, rows in ranked)
    missing = len(words) - counted.total()
    return ColumnSummary(column.name, column.kind, missing, len(counted), None, commonest, remark)


def _reach(column: Column, known: NDArray[np.float64]) -> tuple[str, str, str] | None:
    if not len(known):
        return None
    low, middle, high = np.quantile(known, [0.0, 0.5, 1.0], method="inverted_cdf").tolist()
    return shown(column, low), shown(column, middle), shown(column, high)


def _digest_words(digest: Any, words: Sequence[str | None]) -> None:
    labels = sort_labels(set(words))
    indices = {label: index for index, label in enumerate(labels)}
    digest.update(repr(labels).encode())
    digest.update(np.array([indices[word] for word in words], dtype=np.int64).tobytes())
