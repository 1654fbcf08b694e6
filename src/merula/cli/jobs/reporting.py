"""Write the report on a table and its model."""

from __future__ import annotations

from pathlib import Path
from shlex import join

from merula.cli.console import Voice
from merula.cli.jobs.evaluating import usable_folds
from merula.cli.jobs.models import check_writable, costs_file, new_model
from merula.cli.jobs.task import SAID, Asked, Task, read_task, stated_kinds
from merula.data.encode import UnseenLevelWarning
from merula.report import write_report


def report_file(
    asked: Asked,
    model: str,
    output: str,
    voice: Voice,
    cv: int | None = None,
    repeats: int = 1,
    costs: str | None = None,
    task: Task | None = None,
) -> None:
    """The report on a table, read here unless it was before, written to a file."""
    check_writable(output, "a report", asked.table)
    with voice.heeding_warnings(but=(*SAID, UnseenLevelWarning)):  # folds lack rare levels: nothing to be told
        task = task or read_task(asked, voice)
        write_report(
            {model: new_model(model, task.kinds)},
            task.table,
            task.labels,
            output,
            cv=cv or usable_folds(task, voice),
            repeats=repeats,
            groups=task.groups,
            costs=costs_file(costs, task.classes),
            sample_weight=task.weights,
            target=asked.target,
            title=f"{Path(asked.table).name}: {asked.target}" if asked.table != "-" else asked.target,
            command=join(
                ["merula", *asked.typed("report", model=model, cv=cv, repeats=repeats, costs=costs, output=output)]
            ),
            remarks=_remarks(task, asked),
            progress=voice.shows_progress,
        )


def _remarks(task: Task, asked: Asked) -> dict[str, str]:
    """What was said of each column; one whose kind was stated is for the report to remark on, whose readers did not state it."""
    looked_at = set(task.kinds) - set(stated_kinds(asked.kinds, list(task.kinds)))
    return dict.fromkeys(looked_at, "") | {remark.column: remark.text for remark in task.remarks}
