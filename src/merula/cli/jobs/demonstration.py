"""The main job from beginning to end on one table, told part by part."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shlex import join, quote
from typing import Any

import numpy as np

from merula.answers.decision import Costs, bayes_risk, decide
from merula.answers.evaluation import Evaluation
from merula.answers.explanation import explain
from merula.cli.console import Console, command_name
from merula.cli.jobs.evaluating import evaluate_file
from merula.cli.jobs.learning import fit_file
from merula.cli.jobs.models import SavedModel, new_model, open_model
from merula.cli.jobs.targets import refuse_without_target
from merula.cli.jobs.task import SAID, Asked, Task
from merula.core import Array
from merula.data.encode import UnseenLevelWarning
from merula.show.numbers import percent

FOLDS = 5
PENGUINS = "penguins"
PENGUIN_COSTS = {
    "release": {"Adelie": 0, "Chinstrap": 5, "Gentoo": 5},
    "ring": {"Adelie": 1, "Chinstrap": 0, "Gentoo": 0},
}
MISSED = 5.0  # what taking the rarest class for another costs, where any other mistake costs 1


def demonstrate(table: str, target: str | None, folder: str, console: Console) -> Iterator[str]:
    """Each part of the job as text, as soon as it is done; the model and the report are written into the folder."""
    if target is None and table != PENGUINS:
        refuse_without_target(Asked(table, ""), "demo")
    asked = Asked(table, target or "species")
    if Path(folder).exists() and not Path(folder).is_dir():
        raise NotADirectoryError(f"--folder is {folder}, which is a file; name a folder")
    Path(folder).mkdir(parents=True, exist_ok=True)
    stem = "table" if table == "-" else Path(table).name.partition(".")[0].strip("*?[]") or "table"
    model, page = str(Path(folder) / f"{stem}.merula"), str(Path(folder) / f"{stem}.html")

    found, task = evaluate_file(asked, ["auto", "naive"], console, cv=FOLDS, learning_curve=True)
    yield f"{_title('How good it is, on rows it has not seen')}\n{_table(task)}\n{found}"
    saved, _ = fit_file(asked, "auto", model, console, task=task)
    proba = saved.model.predict_proba(task.table)
    index = int(proba.max(axis=1).argmin())
    row = task.features.slice(index, 1)
    yield f"{_title(f'Why: row {task.row_numbers[index]:,}, one of the least certain')}\n{explain(saved.model, row)}"
    yield f"{_title('What to do')}\n{_decision(saved, proba[index : index + 1], table)}"
    _report(asked, task, found, page, console)
    yield f"{_title('Saved')}\n{_saved(saved, task, proba)}\nreport: {page}"
    yield f"{_title('On your own file')}\n{_commands(table, asked.target, model)}"


def _report(asked: Asked, task: Task, found: Evaluation, page: str, console: Console) -> None:
    """The report on what was already evaluated."""
    from merula.report import write_report  # loaded where a report is written: it draws

    with console.warnings_as_notes(but=(*SAID, UnseenLevelWarning)):  # all was told when it was evaluated
        write_report(
            {"auto": new_model("auto", task.kinds)},
            task.table,
            task.labels,
            page,
            cv=FOLDS,
            repeats=1,
            target=asked.target,
            title=f"{Path(asked.table).name}: {asked.target}" if asked.table != "-" else asked.target,
            command=join(["merula", *asked.typed("report", model="auto", cv=FOLDS, output=page)]),
            remarks=dict.fromkeys(task.kinds, "") | {remark.column: remark.text for remark in task.remarks},
            row_numbers=task.row_numbers,
            left_out=task.left_out,
            evaluation=found,
            progress=console.shows_progress,
        )


def _title(text: str) -> str:
    return f"\n── {text} " + "─" * max(3, 76 - len(text))


def _table(task: Task) -> str:
    missing = sum(column.null_count for column in task.features.columns)
    return f"{task.features.num_rows:,} rows, {task.features.num_columns} columns, {missing:,} missing cells"


def _decision(saved: SavedModel, proba: Array, table: str) -> str:
    """The least-risk action for a row under costs: given ones for the penguins, else the rarest class is the dearest to miss."""
    costs: Any = PENGUIN_COSTS if table == PENGUINS and set(PENGUIN_COSTS["ring"]) == set(saved.classes) else None
    if costs is not None:
        told = "Ringing an Adelie in vain costs 1, letting another penguin go unringed costs 5."
    else:
        rarest = int(np.argmin(saved.model.class_log_prior_))
        paid = 1 - np.eye(len(saved.classes))
        paid[:, rarest] *= MISSED
        costs = Costs(paid, tuple(saved.classes), tuple(saved.classes))
        told = (
            f"Suppose that missing {saved.classes[rarest]!r}, the rarest class, costs {MISSED:g}, any other mistake 1."
        )
    action = decide(proba, costs, classes=saved.model.classes_)[0]
    risk = bayes_risk(proba, costs, classes=saved.model.classes_)[0]
    label = saved.classes[int(proba[0].argmax())]
    return f"{told}\nThe row is most probably {label} ({percent(proba.max())}); what costs least is: {action} (expected cost {risk:.3g})."


def _saved(saved: SavedModel, task: Task, proba: Array) -> str:
    """The model file, opened again and asked the same."""
    if (open_model(saved.path).model.predict_proba(task.table) != proba).any():
        raise RuntimeError(f"{saved.path} does not answer as the model that was saved")
    return f"model:  {saved.path} ({Path(saved.path).stat().st_size:,} bytes; opened again, it answers alike to the last bit)"


def _commands(table: str, target: str, model: str) -> str:
    own = ("my.csv", "outcome", "model.merula") if table == PENGUINS else (table, target, model)
    file, column, saved, merula = map(quote, (*own, command_name()))
    return "\n".join(
        [
            f"{merula} evaluate {file} --target {column}",
            f"{merula} fit {file} --target {column} -o {saved}",
            f"{merula} predict {saved} {file} -o answers.csv",
        ]
    )
