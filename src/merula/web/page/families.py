"""Distributions of single columns, by type, as data of the page: what a cell adds for each class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from merula.distributions import CategoricalDistribution, GaussianDistribution
from merula.web.page.context import Context
from merula.web.page.plain import array, number

Say = Callable[[Any, Context], dict[str, Any]]


def categorical(part: CategoricalDistribution, context: Context) -> dict[str, Any]:
    """A table of log probabilities, one row for each code of a cell."""
    (name,), (levels,), (table,) = part.columns, part.level_sets, part.log_table
    return {"type": "categorical", "table": array(table[context.places(name, levels)])}


def gaussian(part: GaussianDistribution, _context: Context) -> dict[str, Any]:
    """Mean and scale of each class; values are held within what squares can bear."""
    scale, _, present, lowest, highest = part._constants
    return {
        "type": "gaussian",
        "mean": array(part.mean[:, 0]),
        "scale": array(scale[:, 0]),
        "present": array(present[:, 0]),
        "missing": array(part.log_missing[:, 0]),
        "bounds": [number(float(lowest[0])), number(float(highest[0]))],
    }


FAMILIES: dict[type[Any], Say] = {
    CategoricalDistribution: categorical,
    GaussianDistribution: gaussian,
}
