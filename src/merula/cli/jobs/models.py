"""Which model a word means, and model files that also remember the target and the costs."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from merula.answers.decision import CalibratedClassifier, Costs, read_costs
from merula.classify import (
    BayesClassifier,
    KernelBayesClassifier,
    NaiveBayesClassifier,
    NearestNeighborsClassifier,
)
from merula.classify.large_tables import words_of
from merula.classify.model_files import model_of, model_state
from merula.cli.console import SaidNote
from merula.cli.jobs.task import named_table
from merula.core import InputError, located
from merula.core.archive import NotAnArchiveError, read_state, write_state
from merula.core.atomic_file import check_folder, check_named, nearest_file
from merula.data.schema import Label
from merula.data.table import FileOptions, plain_label
from merula.data.table.codes import python_cells
from merula.data.table.read import STANDARD, files_named
from merula.distributions.mixed_cells import KeptRowsDistribution


def _classifier(name: str, **options: Any) -> Any:
    """A classifier that is loaded when it is asked for: it brings networks or loops along that others do not need."""
    import merula.classify as classifiers

    return getattr(classifiers, name)(**options)


MODELS: dict[str, Any] = {
    "auto": partial(_classifier, "AutoBayesClassifier"),
    "naive": NaiveBayesClassifier,
    "naive-auto": partial(NaiveBayesClassifier, distributions="auto"),
    "spode": partial(_classifier, "SPODEClassifier"),
    "tan": partial(_classifier, "TANClassifier"),
    "aode": partial(_classifier, "AODEClassifier"),
    "kdb": partial(_classifier, "KDBClassifier"),
    "network": partial(_classifier, "BayesianNetworkClassifier"),
    "log-linear": partial(_classifier, "LogLinearClassifier"),
    "bayes": BayesClassifier,
    "kernel": KernelBayesClassifier,
    "neighbors": NearestNeighborsClassifier,
}


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
        kept = (word for column in self.model.schema_.columns if column.reading for word in column.reading.keep)
        return replace(file, words=[*self.words, *words], keep=list(dict.fromkeys((*file.keep, *kept))))

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


def new_model(name: str, kinds: Mapping[str, str], calibrate: bool = False) -> Any:
    """A model to be fitted, by its word; one that is calibrated thereby, where that is asked for."""
    model = MODELS[name](kinds=dict(kinds) or None)
    return CalibratedClassifier(model) if calibrate else model


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
    return "cannot be read as a merula model: it is another kind of file, or cut short; the model, as merula fit wrote it, comes before the table"


def check_writable(path: str, what: str, inputs: Sequence[tuple[str, str | None]] = ()) -> None:
    """An error before any work is done, if a file cannot be written, or is one of those that are to be read."""
    output = Path(check_named(path))
    if path == STANDARD:
        raise IsADirectoryError(f"{what} cannot be written to {path}; name a file")
    for role, read in _files_read(inputs) if output.is_file() else ():
        if output.samefile(read):
            named = "" if read == path else f" ({read})"
            raise InputError.at(
                f"{path}", f"is the {role} itself{named}, which would be lost", remedy=f"name another file for {what}"
            )
    check_folder(output)
    special = output.exists() and not output.is_file()  # such as /dev/null, which is not replaced
    if not (special or os.access(output.parent, os.W_OK)) or (output.exists() and not os.access(output, os.W_OK)):
        raise PermissionError(f"{path} may not be written: permission denied")


def _files_read(inputs: Sequence[tuple[str, str | None]]) -> Iterator[tuple[str, str]]:
    """What each file is read as, patterns and folders among their names expanded."""
    for role, name in inputs:
        for file in files_of(name) if name is not None and name != STANDARD else ():
            if Path(file).exists():
                yield role, file


def files_of(name: str) -> list[str]:
    """The files that a name means: itself, all in a folder, those of a pattern; none for a table of a database."""
    if Path(name).is_dir():
        return [str(one) for one in Path(name).rglob("*") if one.is_file()]
    return [] if "://" in name else files_named(name)


def _cells(column: Any, where: str) -> list[Any]:
    """The cells of a file of costs: words, numbers or times."""
    try:
        cells = python_cells(column)
    except InputError as error:
        raise located(error, where) from None
    if not all(isinstance(cell, Hashable) for cell in cells):
        raise InputError.at(where, f"holds {column.type}", expected="actions or numbers")
    return cells


def costs_file(path: str | None, classes: list[Label]) -> Costs | None:
    """The costs in a table whose first column names the actions and whose others are the classes."""
    if path is None:
        return None
    table = named_table(path)
    first, *named = table.column_names
    labels = {str(label): label for label in classes}
    cells = {name: _cells(table[name], f"column {name!r} of {path}") for name in table.column_names}
    columns = {labels.get(name, name): cells[name] for name in named}
    actions = [labels.get(str(action), action) for action in cells[first]]
    stray = [name for name in named if name not in labels]
    absent = [label for label in labels if label not in named]
    if stray or absent:
        wrong = f"names {stray[0]!r}, which is no class" if stray else f"has no column for class {absent[0]!r}"
        raise InputError(
            f"{path} {wrong}",
            remedy=f"its header must be a word for the actions, then the classes: action,{','.join(labels)}",
        )
    if len(set(actions)) < len(actions) or None in actions:
        raise InputError.at(f"{path}", f"must name each action once, in its first column {first!r}")
    try:
        return read_costs({a: {c: columns[c][row] for c in columns} for row, a in enumerate(actions)}, classes)
    except ValueError as error:
        raise located(error, path) from None
