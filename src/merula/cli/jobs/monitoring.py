"""Is a saved model still true? The rows of another file beside what it keeps, as text, as plain data and as a page."""

from __future__ import annotations

from typing import Any

from merula.answers.monitoring import Monitoring
from merula.answers.monitoring.run import monitored
from merula.cli.console import Console, typed
from merula.cli.jobs.models import SavedModel, check_writable, open_model
from merula.cli.jobs.new_rows import as_learned
from merula.cli.jobs.readings import note_other_readings
from merula.cli.jobs.task import named_table, numbers_of
from merula.core import InputError
from merula.core.checks import nearest
from merula.data.encode import UnseenLevelWarning
from merula.data.table import FileOptions, open_table
from merula.show.progress import progress_bar


def monitor_file(
    path: str,
    table: str,
    console: Console,
    target: str | None = None,
    before: str | None = None,
    weight: str | None = None,
    false_alarms: float = 0.05,
    output: str | None = None,
    file: FileOptions | None = None,
) -> Monitoring:
    """What has changed since the model in a file learned; a page is written where one is asked for."""
    if output is not None:
        check_writable(output, "the page", [("table", table), ("model", path), ("table of rows before", before)])
    with progress_bar(4, console.shows_progress) as step, console.warnings_as_notes(but=(UnseenLevelWarning,)):
        step("loading")
        saved = open_model(path)
        console.remember(saved.notes)
        step("reading")
        stated = file or FileOptions()
        rows, labels, weights = _rows(saved, table, target, weight, stated, console)
        old = None if before is None else _rows(saved, before, target, None, stated, console)[:2]
        step("comparing")
        found = monitored(
            saved.model, rows, labels, typed, sample_weight=weights, before=old, false_alarms=false_alarms
        )
        step("writing")
        if output is not None:
            from merula.report import write_monitoring  # a page alone needs the libraries that draw

            write_monitoring(found, output)
    return found


def _rows(
    saved: SavedModel, table: str, target: str | None, weight: str | None, file: FileOptions, console: Console
) -> tuple[Any, Any, Any]:
    """The rows of a file with their classes and weights, where they are there; of a very large file some rows, with a note."""
    named = target or saved.target
    words = [named] if named is not None and any(isinstance(label, str) for label in saved.classes) else []
    found = named_table(table, saved.like_fit(file, words))
    for option, name in (("--target", target), ("--weight", weight)):
        if name is not None and name not in found.column_names:
            raise InputError.at(option, f"is {name!r}, which {table} does not have{nearest(name, found.column_names)}", got=name)  # fmt: skip
    note_other_readings(saved.model.schema_, open_table(found), console)
    labels = None
    if named is not None and named in found.column_names:
        labels = as_learned(found[named], saved.classes, named, table, console).to_pylist()
        if target is None:
            console.note(
                f"the column {named!r} of {table} holds the classes: the model's predictions are checked against them"
            )
    return found, labels, None if weight is None else numbers_of(found, weight)
