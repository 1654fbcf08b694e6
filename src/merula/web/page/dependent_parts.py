"""Columns that depend on one another besides the class, as data of the page: tables, regressions, and which cells imply others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from merula.classify.fitted import FittedModel
from merula.core import Array, InputError
from merula.core.logspace import safe_log
from merula.data.schema import Label
from merula.graphs.dependence.columns import WIDEST, DependentColumns
from merula.graphs.dependence.depths import DependentByDepth
from merula.graphs.dependence.implied import Implications
from merula.graphs.dependence.network_columns import NetworkColumns
from merula.graphs.factors import TooWideError
from merula.graphs.network.linear_systems import components
from merula.web.page.context import Context
from merula.web.page.plain import array, integers

Say = Callable[[Any, Context], dict[str, Any]]
MISSING, UNKNOWN = -1, -2  # the level of a cell that is missing, and of one never met that has a probability of its own
TOO_WIDE = "sums over so many combinations of missing cells that a page would not answer in time"
FEWER = "let columns depend on fewer others"


def dependent(part: DependentColumns, context: Context) -> dict[str, Any]:
    """Each column's levels, parents and table, and an order in which parents come first."""
    if any(map(len, part.parent_sets)) and not part._trees:
        _refuse_width()
    where = {name: j for j, name in enumerate(part.columns)}
    return {
        "type": "dependent",
        "factors": context.factors_of(part),
        "sizes": [len(levels) for levels in part.level_sets],
        "cells": [
            integers(level_codes(name, levels, part.unseen, context))
            for name, levels in zip(part.columns, part.level_sets, strict=True)
        ],
        "above": [[where[parent] for parent in parents] for parents in part.parent_sets],
        "order": [where[name] for name in part.order],
        "tables": [array(table) for table in part.log_table],
    }


def dependent_by_depth(part: DependentByDepth, context: Context) -> dict[str, Any]:
    """The same, with the tables of each column given fewer of its parents."""
    fewer = [[array(table) for table in tables] for tables in part.shallower]
    return {**dependent(part, context), "type": "dependent_by_depth", "shallower": fewer}


def level_codes(name: str, levels: tuple[Label, ...], unseen: str, context: Context) -> list[int]:
    """The level of each code of a cell, as `level_cells` has it: −1 for missing, −2 for never met where that has a probability."""
    places = context.places(name, levels)
    missing = places[-2] if places[-2] < len(levels) else MISSING
    strange = UNKNOWN if unseen == "smooth" else missing
    return [place if place < len(levels) else missing if place == len(levels) else strange for place in places]


# ------------------------------------------------------------------------------------------------------------- networks


def network(part: NetworkColumns, context: Context) -> dict[str, Any]:
    """Each variable of a network, the class last, with its parents and its table or regressions for each class."""
    _refuse_wide_network(part)
    where = {name: j for j, name in enumerate((*part.columns, part.target))}
    return {
        "type": "network_columns",
        "factors": context.factors_of(part),
        "nodes": [_node(part, j, where, context) for j in range(len(part.columns))],
        "class": {
            "above": [where[name] for name in part.class_parents],
            "table": array(safe_log(part.class_table)),
        },
        "log_class": array(part.log_class),
        "order": [where[name] for name in part.order],
    }


def _node(part: NetworkColumns, j: int, where: dict[str, int], context: Context) -> dict[str, Any]:
    """One column; `table` is None where it says nothing. The class is none of the parents `above` but the axis before the last."""
    name, parents, table = part._each[j]
    levels = part.level_sets[j]
    above = [where[parent] for parent in parents if parent != part.target]
    if levels is not None:
        logs = array(part._by_class(name)) if table.size else None
        cells = integers(level_codes(name, levels, "missing", context))
        return {"size": len(levels), "cells": cells, "above": above, "table": logs}
    scaled = {"centre": float(part.centre[j]), "unit": float(part.unit[j])}
    own = array(_regressions(part, name)) if table.size else None
    words = sum(part._has_levels(parent) for parent in parents if parent != part.target)
    return {"size": 0, "words": words, "above": above, "table": own, **scaled}


def _regressions(part: NetworkColumns, name: str) -> Array:
    """Intercept, variance and slopes of a number for each class."""
    table = part._regressions[name][2]
    return np.broadcast_to(table, (*table.shape[:-2], part.class_count, table.shape[-1]))


def _refuse_wide_network(part: NetworkColumns) -> None:
    """An error where missing cells would be summed out of tables that are too large for a page."""
    words = [name for name in part._words if name in part.graph]
    numbers = [name for name in part._numbers if name in part.graph]
    switches = [one.switches for one in components(part.nodes, (), numbers) if one.switches] if numbers else []
    try:
        part._inference.rows(words, part.target, WIDEST, switches)
    except TooWideError:
        _refuse_width()


def _refuse_width() -> None:
    raise InputError.at("the model", f"cannot be on a page: it {TOO_WIDE}", remedy=FEWER)


# ----------------------------------------------------------------------------------------------- cells that imply others


def implications_data(fitted: FittedModel, context: Context) -> dict[str, Any] | None:
    """The cells that are left out where another of the same row says them already; None where all are kept."""
    said: Implications | None = getattr(fitted, "implications", None)
    if said is None or not len(said.cells):
        return None
    every = zip(said.columns, said.level_sets, strict=True)
    return {
        "columns": context.indices(said.columns),
        "cells": [integers(level_codes(name, levels, "smooth", context)) for name, levels in every],
        "order": _last_names_first(said.columns),
        "implied": integers(said.cells),
    }


def _last_names_first(columns: Sequence[str]) -> list[int]:
    """The places of columns, the last by name first: the order in which cells are left out."""
    return sorted(range(len(columns)), key=columns.__getitem__, reverse=True)


PARTS: dict[type[Any], Say] = {
    DependentColumns: dependent,
    DependentByDepth: dependent_by_depth,
    NetworkColumns: network,
}
