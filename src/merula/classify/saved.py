"""Model files of the command: the model, and beside it the target, the costs and what was said when it was fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from merula.classify.costs import Costs
from merula.classify.large_tables import read_like_fit, words_of
from merula.classify.model_files import model_of, model_state
from merula.core import InputError
from merula.core.archive import NotAnArchiveError, read_state, write_state
from merula.core.atomic_file import check_named, nearest_file
from merula.core.notes import SaidNote
from merula.data.schema import Label
from merula.data.table import FileOptions, plain_label
from merula.distributions.mixed_cells import KeptRowsDistribution


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model from a file, with what the command that wrote it knew besides."""

    model: Any
    path: str
    target: str | None = None
    costs: Costs | None = None
    notes: tuple[SaidNote, ...] = ()  # said when it was fitted

    @property
    def words(self) -> list[str]:
        """The columns that held words when the model was fitted, and so hold words whatever they look like."""
        return words_of(self.model.schema_)

    def like_fit(self, file: FileOptions, words: Sequence[str] = ()) -> FileOptions:
        """What is stated of a file of new rows, with what was kept a word at fit, and the columns that hold words: these too."""
        return read_like_fit(file, self.model.schema_, words)

    @property
    def classes(self) -> list[Label]:
        """The classes, as plain labels."""
        return [plain_label(label) for label in self.model.classes_.tolist()]

    @property
    def shares(self) -> dict[str, float]:
        """How frequent each class is."""
        return dict(zip(map(str, self.classes), np.exp(self.model.class_log_prior_).tolist(), strict=True))

    @property
    def kept_rows(self) -> int:
        """How many of the rows that it was learned from the model keeps, and so does its file."""
        keeping = [part for part in self.model.distributions_ if isinstance(part, KeptRowsDistribution)]
        return max((len(part.labels) for part in keeping), default=0)


def write_model(saved: SavedModel) -> None:
    """Write a model file that `merula.load` reads, with the target, the costs and what was said at fit beside the model."""
    costs = saved.costs and {
        "actions": list(saved.costs.actions),
        "classes": list(saved.costs.classes),
        "table": saved.costs.table,
    }
    notes = [{"text": note.text, "column": note.column} for note in saved.notes]
    about = {"target": saved.target, "costs": costs, "notes": notes}
    write_state(saved.path, {**model_state(saved.model), "command": about})


def open_model(path: str) -> SavedModel:
    """The model in a file; an error in one line if there is none."""
    if Path(check_named(path)).is_dir():
        raise IsADirectoryError(f"{path} is a folder, expected a model file")
    if not Path(path).exists():
        raise FileNotFoundError(f"there is no model file {path}{nearest_file(Path(path), '.merula')}")
    try:
        state = read_state(path)
    except NotAnArchiveError:
        raise InputError(f"{path} {_other_content(path)}") from None
    model = model_of(state, path)
    return SavedModel(model, path, *_kept_beside(model, state.get("command"), path))


def _kept_beside(model: Any, about: Any, path: str) -> tuple[str | None, Costs | None, tuple[SaidNote, ...]]:
    """The target, costs and notes that `write_model` kept beside a model; a file from a stranger may hold anything there."""
    try:
        target, costs = (about or {}).get("target"), (about or {}).get("costs")
        found = costs and Costs(costs["table"], tuple(costs["actions"]), tuple(costs["classes"]))
        notes = tuple(SaidNote(note["text"], note["column"]) for note in (about or {}).get("notes", ()))
    except (AttributeError, KeyError, TypeError):
        raise InputError.at(path, "holds costs or notes that are none", remedy="save the model again") from None
    classes = [plain_label(label) for label in model.classes_.tolist()]
    if not isinstance(target, str | None) or (found and not found.fits(classes)):
        raise InputError.at(path, "holds a target or costs that are none", remedy="save the model again")
    if not all(isinstance(note.text, str) and isinstance(note.column, str | None) for note in notes):
        raise InputError.at(path, "holds costs or notes that are none", remedy="save the model again")
    return target, found, notes


def _other_content(path: str) -> str:
    """What a file holds that is no model."""
    from merula.graphs.formats import (  # loaded where a network may be: models need none of it
        names_network,
        read_network,
    )

    if names_network(path):
        read_network(path)  # or an error that says what is wrong with it
        return "holds a network, not a model; merula network shows and asks it"
    return "cannot be read as a merula model: it is another kind of file, or cut short; name the file that merula fit wrote, before the table if the command takes both"


def describe(saved: SavedModel) -> dict[str, Any]:
    """What a model file holds, as plain data."""
    model = saved.model
    counted = model.fitted_.collected
    families = {name: block.family.name for block in model.fitted_.plan.blocks for name in block.columns}
    pooled = hasattr(model, "parts_")
    return {
        "file": saved.path,
        "model": type(model).__name__,
        "target": saved.target,
        "rows": None if counted is None else float(counted.class_counts.weight.sum()),
        "kept_rows": saved.kept_rows,
        "classes": saved.shares,
        "parameters": model.parameters_count,
        "temperature": getattr(model, "temperature_", None),
        "parts": _parts(model) if pooled else None,
        "columns": [
            {
                "column": column.name,
                "kind": column.holds,
                "distribution": None if pooled else families.get(column.name),
                "levels": None if column.levels is None else len(column.levels),
            }
            for column in model.schema_.columns
        ],
        "actions": None if saved.costs is None else [str(action) for action in saved.costs.actions],
        "said_at_fit": [{"text": note.text, "column": note.column} for note in saved.notes],
    }


def _parts(model: Any) -> list[dict[str, Any]]:
    """The parts of a pool, how much each counts, and how well it tells rows left out; then the whole, and the class frequencies."""
    named = {**{name: name for name in model.parts_}, "pool": "all together", "prior": "class frequencies"}
    return [
        {"part": title, "weight": model.weights_.get(name), "log_loss": loss, "standard_error": error}
        for name, title in named.items()
        for loss, error in [model.out_of_fold_[name]]
    ]
