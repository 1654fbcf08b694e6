"""Statistics from files, without a model, and models from the statistics of several."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from merula.classify.counted import Counts, Like, count_rows, estimator_of, plain_classes, read_like
from merula.classify.model_files import counts_of
from merula.cli.console import Console
from merula.cli.jobs.large import some_rows_of
from merula.cli.jobs.models import SavedModel, check_writable, open_model, write_model
from merula.cli.jobs.task import SAID, Asked, Task, read_task
from merula.core import InputError, located
from merula.core.archive import NotAnArchiveError, read_state
from merula.core.atomic_file import check_named, nearest_file
from merula.core.notes import SaidNote
from merula.engines import Source
from merula.engines.opening import labelled, large_or_none
from merula.show.numbers import short
from merula.show.progress import progress_bar

ALIKE = "(count each with --like the first, or with --like one schema)"


def count_file(
    asked: Asked,
    model: str | None,
    output: str,
    console: Console,
    like: str | None = None,
    min_cell: float | None = None,
    schema_out: str | None = None,
) -> Counts:
    """The statistics of a table for a model, written to a file; its schema to another, if that is asked for."""
    _check_outputs(asked, output, like, schema_out)
    if like is not None and (asked.kinds or asked.ignore):
        raise InputError.at("--like", f"takes the kinds of columns from {like}", remedy="leave out --kinds and --ignore")  # fmt: skip
    with progress_bar(3, console.shows_progress) as step, console.warnings_as_notes(but=SAID):
        step("reading")
        example = _example(like)
        kinds = None if example.schema is None else example.schema.kinds
        asked = replace(asked, file=example.options(asked.file))
        large = large_or_none(asked.table, asked.file)
        some = None if large is None else some_rows_of(large)[0]
        task = read_task(asked, console, kinds, asked.file.words, some_rows=some, is_part=True)
        step("counting")
        rows = _rows(task, example, like) if large is None else _large_rows(large, asked, example, like)
        found = count_rows(_model(model, example, task), rows, asked.target, example)
        found = found if min_cell is None else found.pooled(min_cell)
        step("saving")
        found.save(output)
        if schema_out is not None:
            found.schema.save(schema_out)
    return found


def _check_outputs(asked: Asked, output: str, like: str | None, schema_out: str | None) -> None:
    """An error before any work is done, if a file cannot be written, or is one that is to be read."""
    inputs = [("table", asked.table), ("file that columns are read like", like)]
    check_writable(output, "the statistics", inputs)
    if schema_out is not None:
        check_writable(schema_out, "the schema", inputs)
        if os.path.abspath(schema_out) == os.path.abspath(output):
            raise InputError.at("--schema-out", f"is {schema_out}, where the statistics are written", remedy="name another file")  # fmt: skip


def _example(path: str | None) -> Like:
    """What a file of a schema, of counts or of a model says of columns."""
    if path is not None and not os.path.exists(check_named(path)):
        raise FileNotFoundError(f"there is no file {path} to count like")
    return read_like(path)


def _model(word: str | None, like: Like, task: Task) -> Any:
    """The model to count for: that of the word, unless another is to be counted like."""
    if like.estimator is not None:
        return word
    model = estimator_of(word or "naive")
    return model.set_params(kinds=task.kinds) if like.schema is None else model


def _rows(task: Task, like: Like, path: str | None) -> Source:
    """The columns that are counted, with classes and weights."""
    if like.schema is None:
        return Source(task.table, task.labels, task.weights)
    import pyarrow as pa

    features = task.features
    for name, kind in like.schema.kinds.items():
        if name not in features.column_names and kind != "ignore":
            raise InputError.at(f"{path}", f"has the column {name!r}, which the table does not have", remedy="give it empty if it is unknown")  # fmt: skip
        if name not in features.column_names:
            features = features.append_column(name, pa.nulls(features.num_rows))
    return Source(features.select(list(like.schema.names)), task.labels, task.weights)


def _large_rows(large: Any, asked: Asked, like: Like, path: str | None) -> Source:
    """All rows of a large table, counted where they are."""
    columns = like.schema.columns if like.schema is not None else ()
    for name in (column.name for column in columns if column.kind != "ignore"):
        if name not in large.names:
            raise InputError.at(f"{path}", f"has the column {name!r}, which the table does not have", remedy="add it to the table, empty if it is unknown")  # fmt: skip
    return labelled(large, asked.target, asked.weight, "the model")


def counted(found: Counts, path: str, schema_out: str | None) -> tuple[str, dict[str, Any]]:
    """What is said of statistics that were written, and the same for machines."""
    weights = dict(zip(map(str, plain_classes(found)), found.collected.class_counts.weight.tolist(), strict=True))
    lines = [f"statistics: {path}", f"  {found!r}"[:-1].replace("Counts(", "")]
    lines += [f"  {name!r}: {short(weight)}" for name, weight in weights.items()]
    lines += [] if schema_out is None else [f"schema: {schema_out}"]
    lines.append(f"next: merula merge {path} … -o model.merula")
    about: dict[str, Any] = {
        "counts": path,
        "model": type(found.estimator).__name__,
        "target": found.target,
        "rows": found.weight,
    }
    about |= {"classes": weights, "columns": found.schema.kinds, "min_cell": found.min_cell, "schema": schema_out}
    return "\n".join(lines), {**about, "notes": list(found.notes)}


# --------------------------------------------------------------------------------------------------------------- merging


def holds_counts(path: str) -> bool:
    """Whether a file holds statistics and no model; one that cannot be read is said to hold none."""
    try:
        return os.path.isfile(path) and "counts" in read_state(path)
    except (NotAnArchiveError, InputError, OSError):
        return False


def merge_counts(paths: Sequence[str], output: str) -> SavedModel:
    """The model of the statistics in several files, and of models among them, as if fitted on the rows of all."""
    found = [_open(path) for path in paths]
    (total, _), *others = found
    models = [saved for _, saved in found if saved is not None]
    for path, (counts, _) in zip(paths[1:], others, strict=True):
        try:
            total = total + counts
        except ValueError as error:
            error.add_note(ALIKE)
            raise located(error, path) from None
    said = dict.fromkeys(note for saved in models for note in saved.notes)
    told = tuple(SaidNote(text, None) for text in total.notes)
    costs = next((saved.costs for saved in models if saved.costs is not None), None)
    result = SavedModel(total.model(), output, total.target, costs, (*said, *told))
    write_model(result)
    return result


def _open(path: str) -> tuple[Counts, SavedModel | None]:
    """The statistics in a file, its own or its model's, and the model."""
    if not os.path.exists(check_named(path)):
        from pathlib import Path

        raise FileNotFoundError(f"there is no file {path}{nearest_file(Path(path), '.counts')}")
    if holds_counts(path):
        return counts_of(read_state(path), path), None
    saved = open_model(path)
    try:
        return Counts.of(saved.model, saved.target), saved
    except ValueError as error:
        raise located(error, path) from None
