"""Which model a word means, files that are to be written, and files of costs."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.base import clone

from merula.answers.decision import CalibratedClassifier, Costs, read_costs
from merula.classify import (
    BayesClassifier,
    KernelBayesClassifier,
    NaiveBayesClassifier,
    NearestNeighborsClassifier,
)
from merula.classify.saved import SavedModel as SavedModel, open_model as open_model, write_model as write_model
from merula.cli.jobs.task import named_table
from merula.core import InputError, located
from merula.core.atomic_file import check_folder, check_named
from merula.data.schema import Label
from merula.data.table.codes import python_cells
from merula.data.table.read import STANDARD, files_named


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


def new_model(name: str, kinds: Mapping[str, str], calibrate: bool = False) -> Any:
    """A model to be fitted, by its word; one that is calibrated thereby, where that is asked for."""
    model = MODELS[name](kinds=dict(kinds) or None)
    return CalibratedClassifier(model) if calibrate else model


def unfitted(model: Any, kinds: Mapping[str, str]) -> Any:
    """A model to be fitted with the options of this one: what was left to the rows is left to them again; calibrated, if this one is."""
    fresh = clone(model).set_params(kinds=dict(kinds))
    return CalibratedClassifier(fresh) if hasattr(model, "temperature_") else fresh


def columns_of(kinds: Mapping[str, str], path: str, features: Any) -> Any:
    """The table with the columns of a saved model alone; those that the model ignores may be absent."""
    import pyarrow as pa

    for name, kind in kinds.items():
        if name not in features.column_names and kind != "ignore":
            raise InputError.at(f"the model in {path}", f"has the column {name!r}, which the table does not have")
        if name not in features.column_names:
            features = features.append_column(name, pa.nulls(features.num_rows))
    return features.select(list(kinds))


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
