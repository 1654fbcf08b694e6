"""Ask a saved model: classes, probabilities and actions of rows, the reasons for one row, what the model holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from merula.answers.decision import Costs, conditional_risk, decide
from merula.classify.large_tables import beside
from merula.cli.console import Console
from merula.cli.jobs.large import batches_of
from merula.cli.jobs.models import SavedModel, check_writable, costs_file, open_model
from merula.cli.jobs.readings import note_other_readings
from merula.cli.jobs.recording import Recorder, explained, predicted, recorder_of
from merula.cli.jobs.rows import chosen_rows, key_columns
from merula.cli.jobs.task import named_table
from merula.core import InputError
from merula.data.encode import encode_rows
from merula.data.table import NOTHING_STATED, FileOptions, open_table
from merula.data.table.exact_cells import plain_table
from merula.data.table.read import STANDARD
from merula.data.table.spreadsheets import first_formula, without_formulas
from merula.data.table.write import write_table, writer_of
from merula.engines.opening import large_or_none
from merula.show.progress import progress_bar
from merula.show.text import shortened

OPENED = (".csv", ".tsv")  # files that a double click hands to a spreadsheet
LONGEST = 40


@dataclass(frozen=True, eq=False)
class Explained:
    """One row, by its number from 1: the reasons for its posterior, and what is to be known beside them."""

    row: int
    why: Any
    notes: tuple[str, ...]


def predict_file(
    path: str,
    table: str,
    output: str,
    console: Console,
    costs: str | None = None,
    append: bool = False,
    for_spreadsheets: bool = False,
    file: FileOptions = NOTHING_STATED,
    log: str | None = None,
) -> int:
    """The number of rows answered; the answers are written as a table, and where there is a `log`, recorded before."""
    suffix = ".jsonl" if console.as_json and output == STANDARD else None
    writer_of(output, suffix)
    inputs = [("table", table), ("table of costs", costs)]
    recorder = None if log is None else recorder_of(log, path, inputs)
    if output != STANDARD:
        check_writable(output, "the answers", [("model", path), ("record of answers", log), *inputs])
    with progress_bar(4, console.shows_progress) as step, console.warnings_as_notes():
        step("loading")
        saved = open_model(path)
        console.remember(saved.notes)
        step("reading")
        large = large_or_none(table, saved.like_fit(file))
        if large is not None:
            return _predict_large(saved, large, output, costs, append, for_spreadsheets, recorder, table)
        rows = named_table(table, saved.like_fit(file))
        step("predicting")
        opened = open_table(rows)
        note_other_readings(saved.model.schema_, opened, console)
        read = costs_file(costs, saved.classes)
        answers = answered(saved, opened, read)
        if recorder is not None:
            recorder.write(predicted(table, rows, read), plain_table(answers))
        step("writing")
        answers = beside(rows, answers) if append else answers
        if for_spreadsheets:
            answers = without_formulas(answers)
        elif not console.as_json and output.lower().endswith(OPENED):
            _note_formula(answers, console)
        write_table(answers, output, suffix)
    return int(rows.num_rows)


def _predict_large(
    saved: SavedModel,
    large: Any,
    output: str,
    costs: str | None,
    append: bool,
    for_spreadsheets: bool,
    recorder: Recorder | None,
    table: str,
) -> int:
    """The number of rows answered, of a table that is read in pieces: answers are written as they come."""
    from merula.data.stream.writing import write_batches

    if output == STANDARD:
        raise InputError.at("--output", "is standard output, but the table is read in pieces", remedy="name a file: -o answers.parquet")  # fmt: skip

    read = costs_file(costs, saved.classes)

    def answer(part: Any) -> tuple[Any, Any]:
        return part, answered(saved, open_table(part), read)

    def written(part: Any, answers: Any) -> Any:
        if recorder is not None:
            recorder.write(predicted(table, part, read), plain_table(answers))
        answers = beside(part, answers) if append else answers
        return without_formulas(answers) if for_spreadsheets else answers

    found = batches_of(large, saved.model.fitted_.plan.schema, answer, saved.model.n_jobs)
    return write_batches((written(*one) for one in found), output)


def _note_formula(answers: Any, console: Console) -> None:
    """A note where a spreadsheet that opens the answers would run one of their words; they stay what they are."""
    formula = first_formula(answers)
    if formula is not None:
        console.note(
            f"{shortened(repr(formula), LONGEST)} would be run as a formula by a spreadsheet that opens the answers; --for-spreadsheets puts an apostrophe before such words"
        )


def answered(saved: SavedModel, rows: Any, costs: Costs | None = None) -> Any:
    """For each row the most probable class, the probability of each class, and the action of least risk where there are costs: these, or the model's own."""
    import pyarrow as pa

    proba, labels = saved.model.predict_proba(rows), saved.classes
    columns = {"class": pa.array([labels[index] for index in proba.argmax(axis=1).tolist()])}
    columns |= {f"P({label})": pa.array(proba[:, index]) for index, label in enumerate(labels)}
    read = costs or saved.costs
    if read is not None:
        actions = decide(proba, read, classes=saved.model.classes_)
        columns["action"] = pa.array([str(action) for action in actions.tolist()])
        columns["risk"] = pa.array(np.min(conditional_risk(proba, read, classes=saved.model.classes_), axis=1))
    return pa.table(columns)


def explain_rows(
    path: str,
    table: str,
    stated: Sequence[str],
    console: Console,
    label: str | None = None,
    file: FileOptions = NOTHING_STATED,
    log: str | None = None,
) -> list[Explained]:
    """The reasons for the posterior of each row that is named, with what is to be known of it; where there is a `log`, they are recorded."""
    from merula.answers.explanation import explain  # loaded where reasons are asked for: a prediction needs none

    recorder = None if log is None else recorder_of(log, path, [("table", table)])
    with console.warnings_as_notes():
        saved = open_model(path)
        console.remember(saved.notes)
        rows = named_table(table, saved.like_fit(file, _keys(saved, stated)))
        named = {str(name): name for name in saved.classes}
        if label is not None and label not in named:
            raise InputError.of("--label", label, f"one of {', '.join(named)}")
        chosen, opened, model = chosen_rows(stated, rows), open_table(rows), saved.model
        note_other_readings(model.schema_, opened, console)
        read = encode_rows(
            opened, model.schema_, model.fitted_.plan.named, type(model).__name__
        )  # words are read by all rows
    found = []
    for row in chosen:
        own = Console(quiet=True)
        own.remember(saved.notes)
        with own.warnings_as_notes():
            why = explain(model, read.take(np.array([row])), None if label is None else named[label])
        for note in own.notes:
            console.note(note)
        found.append(Explained(row + 1, why, tuple(own.notes)))
    if recorder is not None:
        recorder.write(*explained(saved, table, rows, chosen, None if label is None else named[label], [one.why for one in found]))  # fmt: skip
    return found


def _keys(saved: SavedModel, stated: Sequence[str]) -> list[str]:
    """Key columns that the model does not ask: their cells are taken as they are written, so that 0042 is not 42."""
    asked = {column.name for column in saved.model.schema_.columns if column.kind != "ignore"}
    return sorted(key_columns(stated) - asked)
