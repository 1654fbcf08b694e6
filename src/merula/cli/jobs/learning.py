"""Fit and merge models from files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn.base import clone

from merula.cli.console import Console
from merula.cli.jobs.counting import holds_counts, merge_counts
from merula.cli.jobs.evaluating import note_calibration
from merula.cli.jobs.large import some_rows_of
from merula.cli.jobs.models import (
    SavedModel,
    check_writable,
    columns_of,
    costs_file,
    new_model,
    open_model,
    write_model,
)
from merula.cli.jobs.task import SAID, Asked, Task, read_task
from merula.core import InputError, located
from merula.data.table import plain_label
from merula.engines.opening import large_or_none
from merula.show.progress import progress_bar

MERGED = "merged.merula"
INSTEAD = (
    "fit both with --model naive or bayes, or tan or aode where no column holds numbers; or fit one on the rows of both"
)


def fit_file(
    asked: Asked,
    model: str,
    output: str,
    console: Console,
    costs: str | None = None,
    like: str | None = None,
    task: Task | None = None,
    calibrate: bool = False,
    resume: str | None = None,
    reference: bool = False,
) -> tuple[SavedModel, Task]:
    """The model fitted on a table, read here unless it was before, and written to a file."""
    check_writable(output, "a model", [("table", asked.table), ("table of costs", costs), ("model", like)])
    if like is not None and (model != "auto" or asked.kinds or asked.ignore):
        raise InputError.at(
            "--like",
            f"takes the model and the kinds of columns from {like}",
            remedy="leave out --model, --kinds and --ignore",
        )
    large = None if task else large_or_none(asked.table, asked.file, resume)
    if large is not None:
        return _fit_large(large, asked, model, output, console, costs, like, calibrate, reference)
    if asked.unlabelled and calibrate:
        raise InputError.at("--calibrate", "fits models anew, which do without the rows that --unlabelled adds", remedy="leave one of them out")  # fmt: skip
    if resume is not None:
        raise InputError.at("--resume", f"is for tables that are read in pieces, and {asked.table} is read at once", got=resume, remedy="leave it out")  # fmt: skip
    with progress_bar(3, console.shows_progress) as step:
        with console.warnings_as_notes(but=SAID):
            step("reading")
            if like is not None:
                example = open_model(like)
                untrained = clone(example.model.with_choices_fixed())
                asked = replace(asked, file=example.like_fit(asked.file))
                task = read_task(asked, console, untrained.kinds, example.words)
                table = columns_of(untrained.kinds, like, task.features)
            else:
                task = task or read_task(asked, console)
                untrained, table = new_model(model, task.kinds), task.table
            read, before = costs_file(costs, task.classes), len(console.said)
            step("fitting")
            others = {} if task.unlabelled is None else {"unlabelled": task.unlabelled}
            fitted = untrained.fit(table, task.labels, sample_weight=task.weights, reference=reference, **others)
            if others and fitted.unlabelled_.weight:  # where they are left out, a warning says so
                console.note(str(fitted.unlabelled_), asked.target)
            if calibrate:
                note_calibration([model] if like is None else [], console)
                fitted = fitted.calibrated(table, task.labels, sample_weight=task.weights)
        step("saving")
        saved = SavedModel(fitted, output, asked.target, read, (*task.said, *console.said[before:]))
        write_model(saved)
    return saved, task


def _fit_large(
    large: Any,
    asked: Asked,
    model: str,
    output: str,
    console: Console,
    costs: str | None,
    like: str | None,
    calibrate: bool,
    reference: bool,
) -> tuple[SavedModel, Task]:
    """The model fitted on a table that is counted where it is; what its columns are, some of its rows tell."""
    for option, stated in (("--like", like), ("--calibrate", calibrate), ("--unlabelled", asked.unlabelled)):
        if stated:
            raise InputError.at(option, f"is for tables that are read at once, and {asked.table} is read in pieces", remedy="leave it out, or fit on some of the rows")  # fmt: skip
    with progress_bar(3, console.shows_progress) as step:
        with console.warnings_as_notes(but=SAID):
            step("reading")
            task = read_task(asked, console, some_rows=some_rows_of(large)[0])
            before = len(console.said)
            step("counting")
            fitted = new_model(model, task.kinds).fit_table(
                large, asked.target, asked.weight, reference=reference, progress=False
            )
        step("saving")
        read, weight = costs_file(costs, _labels(fitted)), fitted.fitted_.collected.class_counts.weight
        counted = getattr(large, "counted", 0) or round(float(weight.sum()))
        saved = SavedModel(fitted, output, asked.target, read, (*task.said, *console.said[before:]))
        write_model(saved)
    return saved, replace(task, counted=counted)


def _labels(model: Any) -> list[Any]:
    return [plain_label(label) for label in model.classes_.tolist()]


def merge_files(paths: Sequence[str], output: str | None = None) -> SavedModel:
    """The model as if fitted on the rows of all models, written to a file; one of them only where it is named for that."""
    check_writable(output or MERGED, "a model", [("model", path) for path in paths if path != output])
    if any(map(holds_counts, paths)):
        return merge_counts(paths, output or MERGED)
    saved = [open_model(path) for path in paths]
    _refuse_calibrated(saved)
    merged = saved[0].model.with_choices_fixed()
    for other in saved[1:]:
        if type(other.model) is not type(merged):
            kinds = f"{type(merged).__name__} and {type(other.model).__name__}"
            raise InputError.at(
                f"{saved[0].path} and {other.path}", f"hold models of different kinds ({kinds}), which do not merge"
            )
        if other.target != saved[0].target:
            raise InputError(
                f"{saved[0].path} predicts {saved[0].target!r}, {other.path} predicts {other.target!r}: they do not merge"
            )
        if merged._no_joint:
            raise InputError.at(
                f"{saved[0].path} and {other.path}",
                "hold models that do not merge: they tell classes apart, and do not describe rows",
                remedy=INSTEAD,
            )
        try:
            merged = merged + other.model.with_choices_fixed()
        except ValueError as error:
            error.add_note(_hint(merged, saved[0].path))
            raise located(error, other.path) from None
    notes = {note: None for one in saved for note in one.notes}
    result = replace(saved[0], model=merged, path=output or MERGED, notes=tuple(notes))
    write_model(result)
    return result


def _refuse_calibrated(saved: Sequence[SavedModel]) -> None:
    for one in saved:
        if hasattr(one.model, "temperature_"):
            raise InputError.at(one.path, "was calibrated, and such models do not merge", remedy="merge models that were fitted without --calibrate")  # fmt: skip


def _hint(model: Any, path: str) -> str:
    """What lets a model like this one merge; nothing where it says so itself."""
    if model._at_once:
        return ""
    if hasattr(model, "numeric") and any(column.cuts for column in model.schema_.columns):
        return "(numbers are cut anew for each table; count both with --like one schema, see merula count --help, or fit both with --model naive or bayes)"
    return f"(fit it with --like {os.fspath(path)})"
