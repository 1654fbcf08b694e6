"""Answers for a Spark DataFrame, as another that is computed when it is asked for: by the model's own SQL, else by Python on the executors."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from merula.core import InputError
from merula.data.table import plain_label


def answers_on_cluster(model: Any, runner: Any, keys: Sequence[str], output: Any = None) -> Any:
    """The DataFrame of the keys, the most probable class and P(class given row); nothing is computed yet."""
    if output is not None:
        raise InputError.at("output", "is stated, but answers on a cluster stay there", got=output, remedy="write the DataFrame that comes back: answers.write.parquet(…)")  # fmt: skip
    try:
        statement = model.to_sql("spark", table=[runner.token], keys=list(keys))
    except InputError:  # what SQL cannot say, Python says on the executors
        return _by_workers(model, runner.frame, keys)
    return runner.lazily(statement)


def _by_workers(model: Any, frame: Any, keys: Sequence[str]) -> Any:
    """The same by the model itself, which travels to the executors as the bytes of its file; merula must be installed there."""
    from pyspark.sql import types

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.merula"
        model.save(path)
        data = path.read_bytes()
    labels = [plain_label(label) for label in model.classes_.tolist()]
    kinds = {str: types.StringType(), bool: types.BooleanType(), int: types.LongType(), float: types.DoubleType()}
    fields = [frame.schema[name] for name in keys]
    empty = model._answered(_one_row(frame, model), {})
    answers = [types.StructField(_free(name, keys), kinds.get(type(labels[0]), types.StringType()) if name == "class" else types.DoubleType()) for name in empty.column_names]  # fmt: skip

    def answer(batches: Iterator[Any]) -> Iterator[Any]:
        yield from answered_batches(data, list(keys), batches)

    return frame.mapInArrow(answer, types.StructType([*fields, *answers]))


def _one_row(frame: Any, model: Any) -> Any:
    """A row of which nothing is known, to learn what answers are called."""
    import pyarrow as pa

    names = [
        column.name for column in model.schema_.columns if column.kind != "ignore" and column.name in frame.columns
    ]
    return pa.table({name: pa.nulls(1, pa.float64()) for name in names})


def _free(name: str, keys: Sequence[str]) -> str:
    while name in keys:
        name = f"predicted {name}"
    return name


def answered_batches(data: bytes, keys: list[str], batches: Iterator[Any]) -> Iterator[Any]:
    """The answers for batches of rows by the model in these bytes; it runs on an executor."""
    import pyarrow as pa

    from merula.classify.large_tables import columns_of
    from merula.classify.model_files import load

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.merula"
        path.write_bytes(data)
        model = load(path)
    for batch in batches:
        rows = pa.Table.from_batches([batch])
        yield from model._answered(rows, columns_of(rows, keys)).to_batches()
