"""Write the report on a table and its model."""

from __future__ import annotations

from pathlib import Path
from shlex import join

import merula as mr
from merula.cli.console import Voice
from merula.cli.jobs.evaluating import usable_folds
from merula.cli.jobs.models import check_writable, costs_file, new_model
from merula.cli.jobs.task import SAID, Asked, read_task
from merula.data.encode import UnseenLevelWarning
from merula.data.table import plain_label


def report_file(
    asked: Asked,
    model: str,
    output: str,
    voice: Voice,
    cv: int | None = None,
    repeats: int = 1,
    costs: str | None = None,
) -> None:
    """The report, written to a file."""
    check_writable(output, "a report", asked.table)
    with voice.heeding_warnings(but=(*SAID, UnseenLevelWarning)):  # folds lack rare levels: nothing to be told
        task = read_task(asked, voice)
        mr.write_report(
            {model: new_model(model, task.kinds)},
            task.features,
            task.labels,
            output,
            cv=cv or usable_folds(task, voice),
            repeats=repeats,
            groups=task.groups,
            costs=costs_file(costs, [plain_label(label) for label in task.classes.classes.tolist()]),
            sample_weight=task.weights,
            target=asked.target,
            title=f"{Path(asked.table).name}: {asked.target}" if asked.table != "-" else asked.target,
            command=join(
                ["merula", *asked.typed("report", model=model, cv=cv, repeats=repeats, costs=costs, output=output)]
            ),
            remarks={remark.column: remark.text for remark in task.remarks},
            progress=voice.shows_progress,
        )
