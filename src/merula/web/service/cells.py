"""What is to be known of the cells of some rows: how many are missing, and which levels fit never saw."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from merula.classify.fitted import UNSEEN
from merula.data.encode import Encoded, level_positions, unseen_note
from merula.data.schema import Column
from merula.web.said.answers import Note
from merula.web.service.models import Served

SHOWN_ROWS, SHOWN_LEVELS = 20, 3


@dataclass(frozen=True, eq=False)
class Cells:
    """Counts by column, the rows that hold a level never seen, and what each of them is told."""

    missing: dict[str, int] = field(default_factory=dict)
    unseen: dict[str, int] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    rows: dict[str, NDArray[np.int64]] = field(default_factory=dict)


def told_cells(served: Served, rows: Encoded) -> Cells:
    """What there is to know of all cells; an `InputError` for a level never seen, where the model takes none."""
    found = Cells()
    for column in served.model.schema_.columns:
        if column.kind == "ignore":
            continue
        if column.name in rows.coded:
            _coded(served, rows, column, found)
        elif column.name in rows.numeric:
            _count(found.missing, column.name, int(np.isnan(rows.numeric[column.name][rows.start : rows.stop]).sum()))
        elif column.name in rows.texts:
            _count(found.missing, column.name, int(rows.tokens(column.name).absent.sum()))
    if found.unseen and served.model.unseen == "error":
        rows.unseen_hits.update(found.unseen)
        served.model._notes(rows)  # which raises
    return found


def _count(counts: dict[str, int], name: str, count: int) -> None:
    if count:
        counts[name] = count


def _coded(served: Served, rows: Encoded, column: Column, found: Cells) -> None:
    """Count the cells of one column of levels by the slots that they have in common."""
    slots, labels = rows.coded[column.name].in_slots()
    slots = slots[rows.start : rows.stop]
    absent = np.array([label is None for label in labels] + [False])
    _count(found.missing, column.name, int(absent[np.clip(slots, 0, len(labels))].sum()))
    if not column.levels:
        return
    strange = level_positions(labels, column.levels) == len(column.levels) + 1
    if not strange[:-1].any():
        return
    where = np.flatnonzero(strange[np.clip(slots, 0, len(labels))])
    if len(where):
        met = [labels[slot] for slot in np.unique(slots[where][:10_000])[: SHOWN_LEVELS + 1].tolist()]
        treated = UNSEEN.get(served.model.unseen, "treated as missing")
        text = str(unseen_note(column.name, met, treated=treated))
        found.unseen[column.name], found.rows[text] = len(where), where
        found.notes.append(Note("unseen", text, column.name, where[:SHOWN_ROWS].tolist(), len(where)))
