"""Fit and merge models from files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn.base import clone

from merula.cli.console import Voice
from merula.cli.jobs.models import SavedModel, check_writable, costs_file, new_model, open_model, write_model
from merula.cli.jobs.task import SAID, Asked, Task, read_task
from merula.data.table import plain_label

AUTO = "auto"  # the model where none is named


def fit_file(
    asked: Asked, model: str, output: str, voice: Voice, costs: str | None = None, like: str | None = None
) -> tuple[SavedModel, Task]:
    """The model fitted on a table and written to a file."""
    check_writable(output, "a model", asked.table)
    if like is not None and (model != AUTO or asked.kinds or asked.ignore):
        raise ValueError(
            f"--like takes the model and the kinds of columns from {like}; leave out --model, --kinds and --ignore"
        )
    with voice.progress(3) as step, voice.heeding_warnings(but=SAID):
        step("reading")
        example = None if like is None else open_model(like)
        task = read_task(asked, voice) if example is None else _task_like(asked, voice, example)
        read = costs_file(costs, [plain_label(label) for label in task.classes.classes.tolist()])
        step("fitting")
        untrained, columns = (
            (new_model(model, task.kinds), task.features) if example is None else _like(example, task.features)
        )
        fitted = untrained.fit(columns, task.labels, sample_weight=task.weights)
        step("saving")
        saved = SavedModel(fitted, output, asked.target, read)
        write_model(saved)
    return saved, task


def _task_like(asked: Asked, voice: Voice, example: SavedModel) -> Task:
    """The table, its columns of the kinds that a saved model gives them."""
    return read_task(asked, voice, example.model.with_choices_fixed().kinds, example.words)


def _like(saved: SavedModel, features: Any) -> tuple[Any, Any]:
    """An unfitted model with all choices of a saved one, and the table with that one's columns alone."""
    import pyarrow as pa

    path, example = saved.path, saved.model.with_choices_fixed()
    for name, kind in example.kinds.items():
        if name not in features.column_names and kind != "ignore":
            raise ValueError(f"the model in {path} has the column {name!r}, which the table does not have")
        if name not in features.column_names:
            features = features.append_column(name, pa.nulls(features.num_rows))
    return clone(example), features.select(list(example.kinds))


def merge_files(paths: Sequence[str], output: str) -> SavedModel:
    """The model as if fitted on the rows of all models, written to a file."""
    check_writable(output, "a model")
    saved = [open_model(path) for path in paths]
    merged = saved[0].model.with_choices_fixed()
    for other in saved[1:]:
        if type(other.model) is not type(merged):
            kinds = f"{type(merged).__name__} and {type(other.model).__name__}"
            raise ValueError(
                f"{saved[0].path} and {other.path} hold models of different kinds ({kinds}), which do not merge"
            )
        if other.target != saved[0].target:
            raise ValueError(
                f"{saved[0].path} tells {saved[0].target!r}, {other.path} tells {other.target!r}: they do not merge"
            )
        try:
            merged = merged + other.model.with_choices_fixed()
        except ValueError as error:
            raise ValueError(f"{other.path}: {error} (fit it with --like {os.fspath(saved[0].path)})") from None
    result = replace(saved[0], model=merged, path=output)
    write_model(result)
    return result
