"""Measure how good models are on a table, and write the report on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import join
from typing import Any

import numpy as np

from merula.answers.evaluation import Evaluation, evaluate
from merula.classify.folds import uncut
from merula.classify.saved import SavedModel
from merula.cli.console import Console
from merula.cli.jobs.models import check_writable, columns_of, costs_file, new_model, open_model, unfitted
from merula.cli.jobs.new_rows import check_test, read_test
from merula.cli.jobs.task import SAID, Asked, Task, read_task, stated_kinds
from merula.cli.jobs.time_order import folds_in_time
from merula.core import InputError, one_of
from merula.data.encode import UnseenLevelWarning

REPEATED = "often because several columns say the same; try another --model, or leave columns out with --ignore"
TOO_SURE = {
    "auto": "often because rows that belong together (--groups) tell of each other; try --model naive, or leave columns out with --ignore"
}
CALIBRATED = ", calibrated"
WEIGHTED = ("auto",)  # models whose parts are weighted out of fold
FOLDS, FEWER_FOLDS, MANY_ROWS = 10, 5, 10_000


def evaluate_file(
    asked: Asked,
    models: Sequence[str],
    console: Console,
    cv: int | None = None,
    repeats: int | None = None,
    costs: str | None = None,
    learning_curve: bool = False,
    test: str | None = None,
    calibrate: bool = False,
    by: Sequence[str] = (),
    like: str | None = None,
    act_on: str | None = None,
) -> tuple[Evaluation, Task]:
    """Figures of models on rows they were not fitted on, beside the class frequencies; those of a `test` file where one is named.

    `like` names a model file whose options are measured in place of those that `models` name.
    """
    check_test(test, asked.table, cv=cv, repeats=repeats, groups=asked.groups, by_time=asked.by_time)
    if like is not None and (models or asked.kinds or asked.ignore or calibrate):
        raise InputError.at("--like", f"takes the model and the kinds of columns from {like}", remedy="leave out --model, --kinds, --ignore and --calibrate")  # fmt: skip
    with console.warnings_as_notes(but=(*SAID, UnseenLevelWarning)):  # folds lack rare levels: nothing to be told
        saved = None if like is None else open_model(like)
        asked = asked if saved is None else replace(asked, file=saved.like_fit(asked.file))
        task, rows, named = read_like(saved, asked, by, console) if saved else _read(asked, models, calibrate, console)
        if act_on is not None:
            one_of(act_on, [str(label) for label in task.classes], "--act-on")
        found = evaluate(
            named,
            rows,
            task.labels,
            test=None if test is None else read_test(asked, test, task, console, by),
            **({} if test else folds_of(task, cv, repeats, console)),
            costs=costs_file(costs, task.classes) or (saved and saved.costs),
            sample_weight=task.weights,
            learning_curve=learning_curve,
            by=list(by) or None,
            progress=console.shows_progress,
        )
    _advise(found, console)
    return replace(found, tested=test or ""), task


def _read(asked: Asked, models: Sequence[str], calibrate: bool, console: Console) -> tuple[Task, Any, dict[str, Any]]:
    """The table, its columns, and the models that are named, to be fitted on it."""
    task, names = read_task(asked, console), list(models) or ["auto"]
    if calibrate:
        note_calibration(names, console)
    return task, task.table, {_called(name, calibrate): new_model(name, task.kinds, calibrate) for name in names}


def read_like(saved: SavedModel, asked: Asked, by: Sequence[str], console: Console) -> tuple[Task, Any, dict[str, Any]]:
    """The table as a saved model reads it, the model's columns and those that rows are told apart by, and the model unfitted."""
    kinds = uncut(saved.model.schema_).kinds
    task = read_task(asked, console, kinds, saved.words)
    for name in by:
        one_of(name, task.features.column_names, "a column of --by")
    aside = dict.fromkeys([name for name in by if name not in kinds], "ignore")
    rows = columns_of({**kinds, **aside}, saved.path, task.features)
    return replace(task, kinds={**kinds, **aside}), rows, {Path(saved.path).stem: unfitted(saved.model, {**kinds, **aside})}  # fmt: skip


def folds_of(task: Task, cv: int | None, repeats: int | None, console: Console) -> dict[str, Any]:
    """How rows are dealt to folds."""
    if task.times is None:
        return {"cv": cv or usable_folds(task, console), "repeats": repeats or 1, "groups": task.groups}
    if repeats is not None:
        raise InputError.at("--repeats", "shuffles rows, but --by-time keeps them in order; leave out one of them")
    return {"cv": folds_in_time(task, cv, console), "times": task.times}


def _called(model: str, calibrate: bool) -> str:
    return f"{model}{CALIBRATED}" if calibrate else model


def note_calibration(models: Sequence[str], console: Console) -> None:
    """A note where a model is weighted by rows left out already."""
    for name in models:
        if name in WEIGHTED:
            console.note(
                f"the parts of {name} are already weighted by rows left out: --calibrate fits it five times more, and will hardly change it"
            )


def usable_folds(task: Task, console: Console) -> int:
    """Ten folds; five of many rows, which tell as much in half the time; as many as the rows or groups of a small table allow."""
    rows = np.bincount(task.target.codes)
    wanted = FOLDS if rows.sum() < MANY_ROWS else FEWER_FOLDS
    most = wanted if rows.max() >= wanted else max(2, int(rows.min()))
    groups = most if task.groups is None else len(np.unique(task.groups))
    if groups < most:
        console.note(f"there are {groups} groups, so that {groups} folds are used")
        return groups
    if wanted < FOLDS and most == wanted:
        console.note(
            f"the table has {rows.sum():,} rows, for which {most} folds are enough; --cv {FOLDS} takes about twice as long"
        )
    elif most < FOLDS:
        console.note(f"the table is too small for ten folds; {most} are used")
    return most


def _advise(found: Evaluation, console: Console) -> None:
    """A note on what to do where a model's probabilities are worse than the class frequencies."""
    for one in found.against_baseline("log_loss"):
        if one.direction > 0:
            console.note(
                f"{one.first} is too sure of itself, {TOO_SURE.get(one.first.removesuffix(CALIBRATED), REPEATED)}"
            )


def report_file(
    asked: Asked,
    model: str,
    output: str,
    console: Console,
    cv: int | None = None,
    repeats: int | None = None,
    costs: str | None = None,
    learning_curve: bool = True,
    by: Sequence[str] = (),
    task: Task | None = None,
) -> None:
    """The report on a table, read here unless it was before, written to a file."""
    from merula.report import write_report  # loaded where a report is asked for: it draws

    check_writable(output, "a report", [("table", asked.table), ("table of costs", costs)])
    with console.warnings_as_notes(but=(*SAID, UnseenLevelWarning)):  # folds lack rare levels: nothing to be told
        task = task or read_task(asked, console)
        write_report(
            {model: new_model(model, task.kinds)},
            task.table,
            task.labels,
            output,
            **folds_of(task, cv, repeats, console),
            costs=costs_file(costs, task.classes),
            sample_weight=task.weights,
            learning_curve=learning_curve,
            by=list(by) or None,
            target=asked.target,
            title=f"{Path(asked.table).name}: {asked.target}" if asked.table != "-" else asked.target,
            command=join(
                [
                    "merula",
                    *asked.typed("report", model=model, cv=cv, repeats=repeats, costs=costs, by=by, output=output),
                    *([] if learning_curve else ["--no-learning-curve"]),
                ]
            ),
            remarks=_remarks(task, asked),
            row_numbers=task.row_numbers,
            left_out=task.left_out,
            progress=console.shows_progress,
        )


def _remarks(task: Task, asked: Asked) -> dict[str, str]:
    """What was said of each column; one whose kind was stated is for the report to remark on, whose readers did not state it."""
    looked_at = set(task.kinds) - set(stated_kinds(asked.kinds, list(task.kinds)))
    return dict.fromkeys(looked_at, "") | {remark.column: remark.text for remark in task.remarks}
