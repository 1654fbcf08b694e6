"""Read a probability table however it is written: cells by their levels, an array, a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from merula.core import Array, InputError, one_of
from merula.core.limits import check_cells
from merula.data.schema import Label
from merula.data.table import open_table, plain_label
from merula.graphs.factors.named import NamedTable
from merula.graphs.factors.names import Levels, checked_rows, rank_of, title

MOST_CELLS = 2**26  # half a gigabyte of numbers
MOST_AXES = 64  # of a NumPy array
TO_SUM_TO_1 = "add what is missing or divide by the sum (combinations that are not listed have probability 0)"
FORMS = "{levels: probability} with names, an array with levels, a table with a column 'probability', or a Series with a named index"


def read_joint(variables: Any, probabilities: Any) -> tuple[Levels, Array]:
    """The levels of each variable, in order, and the array of their joint probabilities."""
    names, levels = read_variables(variables)
    if isinstance(probabilities, Mapping):
        if names is None:
            raise InputError("got {levels: probability} without names", expected=f"JointDistribution(names, {{…}}): {_few(probabilities)}")  # fmt: skip
        columns, numbers = cell_columns(names, probabilities)
    elif is_table(probabilities):
        columns = read_columns(probabilities)
        numbers = columns.pop("probability")
        columns = _chosen(columns, names)
    else:
        levels, array = read_array(names, levels, probabilities)
        return levels, checked_values(levels, array)
    found = {name: declared_levels(name, values, (levels or {}).get(name)) for name, values in columns.items()}
    return found, checked_values(found, placed(found, columns, numbers))


def read_variables(variables: Any) -> tuple[tuple[str, ...] | None, Levels | None]:
    """The names of the variables, and their levels where ``{name: levels}`` states them."""
    if variables is None:
        return None, None
    names = (variables,) if isinstance(variables, str) else tuple(variables)
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"a variable is called {name!r} ({type(name).__name__})", remedy="name every variable by a word")  # fmt: skip
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError.at(f"variable {twice!r}", "is named more than once", remedy="give every variable its own name")
    if not isinstance(variables, Mapping):
        return names, None
    return names, {name: distinct_levels(name, levels) for name, levels in variables.items()}


def distinct_levels(name: str, levels: Iterable[Label]) -> tuple[Label, ...]:
    """A variable's levels as plain data, in order; an error if there is none or one stands twice."""
    if isinstance(levels, str | Mapping) or not isinstance(levels, Iterable):
        raise InputError.at(f"the levels of {name!r}", f"are {levels!r}", got=levels, expected="a list such as ['low', 'high']")  # fmt: skip
    labels = tuple(plain_label(level) for level in levels)
    if not labels:
        raise InputError.at(f"variable {name!r}", "has no levels", remedy="a random variable takes at least one value")
    twice = next((label for label in labels if labels.count(label) > 1), None) if len(set(labels)) < len(labels) else ()
    if twice != ():
        raise InputError(f"level {twice!r} of {name!r} stands more than once (True equals 1)", remedy="list every level once")  # fmt: skip
    return labels


def checked_size(levels: Levels) -> tuple[int, ...]:
    """The shape of the table over these levels, if it can be held."""
    shape = tuple(len(labels) for labels in levels.values())
    remedy = "take fewer variables or levels, or state a BayesianNetwork"
    if len(shape) > MOST_AXES:
        raise InputError.at(f"{title(levels)}", f"has {len(shape)} variables", expected=f"at most {MOST_AXES}", remedy=remedy)  # fmt: skip
    check_cells(prod(shape), MOST_CELLS, title(levels), remedy)
    return shape


def checked_values(levels: Levels, array: Array) -> Array:
    """The array brought to the sum 1; else an error."""
    return checked_rows(levels, 0, array, remedy=TO_SUM_TO_1)


# --------------------------------------------------------------------------------------------------------------- arrays


def read_array(names: Sequence[str] | None, levels: Levels | None, values: Any) -> tuple[Levels, Array]:
    """An array over stated levels, one axis for each variable."""
    if names is None or not isinstance(values, np.ndarray | list | tuple):
        raise InputError(f"the probabilities are {values!r}", expected=FORMS)
    if levels is None:
        raise InputError("an array says nothing about its levels", remedy=f"name them, as in {{{names[0] if names else 'size'!r}: ['low', 'high'], …}} instead of {list(names)}")  # fmt: skip
    array = numbers_of(values)
    if array.shape != checked_size(levels):
        raise InputError(f"the array has shape {array.shape}", expected=f"{checked_size(levels)}: one axis for each of {list(names)}, one entry for each level")  # fmt: skip
    return levels, array


def numbers_of(values: Any) -> Array:
    """An array of numbers, the values themselves if they are one, or a ValueError that says what is none."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the probabilities hold something that is not a number ({error})") from None


# ---------------------------------------------------------------------------------------------------------------- cells


def cell_columns(names: Sequence[str], cells: Mapping[Any, Any]) -> tuple[dict[str, list[Label]], list[Any]]:
    """The columns of ``{levels: probability}``; a single variable's levels may stand bare."""
    if not cells:
        raise InputError(f"no cells were given for {title(names)}", expected="{levels: probability}")
    keys = [key if isinstance(key, tuple) or len(names) != 1 else (key,) for key in cells]
    strange = next((key for key in keys if not isinstance(key, tuple) or len(key) != len(names)), None)
    if strange is not None:
        raise InputError.at(f"the cell {strange!r}", f"does not name one level for each of {list(names)}", remedy="write it as a tuple")  # fmt: skip
    labels = distinct_cells({name: [plain_label(key[axis]) for key in keys] for axis, name in enumerate(names)})
    return labels, list(cells.values())


def distinct_cells(columns: dict[str, list[Label]]) -> dict[str, list[Label]]:
    """The columns themselves, if no combination of levels stands twice."""
    met: set[tuple[Label, ...]] = set()
    for cell in zip(*columns.values(), strict=True):
        if cell in met:
            named = ", ".join(f"{name} = {label!r}" for name, label in zip(columns, cell, strict=True))
            raise InputError(f"the cell {named} stands more than once", remedy="list every combination once")
        met.add(cell)
    return columns


def placed(levels: Levels, columns: Mapping[str, Sequence[Label]], numbers: Any) -> Array:
    """The array of a table's probabilities: each row at the index of its levels, 0 where there is none."""
    shape, probabilities = checked_size(levels), numbers_of(numbers)
    if not levels:
        return probabilities.reshape(())
    values = np.zeros(shape)
    ranks = [{label: rank for rank, label in enumerate(labels)} for labels in levels.values()]
    indices = [[rank[label] for label in columns[name]] for name, rank in zip(levels, ranks, strict=True)]
    flat = np.ravel_multi_index(tuple(np.array(index, dtype=np.int64) for index in indices), shape)
    values.reshape(-1)[flat] = probabilities
    return values


def declared_levels(name: str, met: Sequence[Label], declared: tuple[Label, ...] | None) -> tuple[Label, ...]:
    """The declared levels, or those that were met in order of first appearance."""
    if declared is None:
        return tuple(dict.fromkeys(met))
    for label in dict.fromkeys(met):
        rank_of(label, name, declared)
    return declared


def _few(cells: Mapping[Any, Any]) -> str:
    shown = ", ".join(f"{key!r}: {value!r}" for key, value in list(cells.items())[:2])
    return "{" + shown + (", …}" if len(cells) > 2 else "}")


# --------------------------------------------------------------------------------------------------------------- tables


def is_table(source: Any) -> bool:
    """True for data frames, a pandas Series, lists of dicts, and another distribution."""
    if isinstance(source, NamedTable):
        return True
    if isinstance(source, list):
        return not source or isinstance(source[0], Mapping)
    return hasattr(source, "columns") or hasattr(source, "column_names") or hasattr(source, "reset_index")


def read_columns(joint: Any) -> dict[str, list[Any]]:
    """The columns of a joint distribution by name, "probability" among them, labels as plain data."""
    if isinstance(joint, NamedTable):
        return {name: column.tolist() for name, column in joint._columns().items()}
    if hasattr(joint, "reset_index") and not hasattr(joint, "columns"):
        joint = _series_table(joint)
    if not is_table(joint):
        raise InputError(f"the joint distribution is {joint!r}", expected=FORMS)
    columns = plain_columns(joint)
    if "probability" not in columns:
        raise InputError(f"the joint has columns {list(columns)}", remedy="one of them must be 'probability'")
    numbers = columns.pop("probability")
    labels = distinct_cells({name: [plain_label(value) for value in values] for name, values in columns.items()})
    return {**labels, "probability": numbers}


def _series_table(series: Any) -> Any:
    """A pandas Series of probabilities as a data frame; its index must be named."""
    if None in series.index.names:
        raise InputError(f"the index of the Series is named {list(series.index.names)}", remedy="name every level, as in series.rename_axis(['color', 'shape'])")  # fmt: skip
    return series.rename("probability").reset_index()


def plain_columns(table: Any) -> dict[str, list[Any]]:
    """The columns of a data frame or of a list of dicts, by name."""
    if hasattr(table, "to_pylist"):
        table = table.to_pylist()
    if not isinstance(table, list):
        return {name: list(table[name]) for name in open_table(table).names}
    names = list(table[0]) if table else []
    strange = next((row for row in table if not isinstance(row, Mapping) or set(row) != set(names)), None)
    if strange is not None:
        raise InputError("the joint's rows must all name the same variables", remedy=f"{strange} does not name {names}")
    return {name: [row[name] for row in table] for name in names}


def _chosen(columns: dict[str, list[Any]], names: Sequence[str] | None) -> dict[str, list[Any]]:
    """The columns in the order asked for; every one must be asked for."""
    if names is None:
        return columns
    for name in names:
        one_of(name, columns, "a variable")
    left = [name for name in columns if name not in names]
    if left:
        raise InputError(f"the table has a column {left[0]!r} that {list(names)} do not name", remedy="drop it, or name it and sum it out with marginal()")  # fmt: skip
    return {name: columns[name] for name in names}
