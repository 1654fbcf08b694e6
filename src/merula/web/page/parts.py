"""Which function writes a distribution as data of the page, by its type; and why others cannot be on a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from merula.core import InputError
from merula.distributions import Distribution
from merula.web.page import dependent_parts, pooled_parts
from merula.web.page.context import Context
from merula.web.page.families import FAMILIES

Say = Callable[[Any, Context], dict[str, Any]]
PARTS: dict[type[Any], Say] = {**FAMILIES, **pooled_parts.PARTS, **dependent_parts.PARTS}
ROWS = "compares with training rows, which a page must not hold"
REFUSED = {
    "ProductKernelDistribution": (f"is a kernel density, which {ROWS}", "use NaiveBayesClassifier"),
    "NeighborDistribution": (ROWS, "use NaiveBayesClassifier or AutoBayesClassifier(order=2).portable()"),
    "SimilarRows": (f"has a part that {ROWS}", "take model.portable()"),
}


def parts_data(part: Distribution, context: Context) -> list[dict[str, Any]]:
    """A distribution as parts of the page: one for each column of those that know nothing but single columns."""
    several: Sequence[Distribution] = part.factors() if type(part) in FAMILIES else (part,)
    return [part_data(one, context) for one in several]


def part_data(part: Distribution, context: Context) -> dict[str, Any]:
    """One part of the page, with the indices of its columns; an error where a page cannot say it."""
    if type(part) not in PARTS:
        refuse(part)
    told = {"columns": context.indices(part.columns), "parents": context.indices(part.parents)}
    return {**told, **PARTS[type(part)](part, context)}


def factors_count(data: dict[str, Any]) -> int:
    """How many factors a part of the page has."""
    return len(data["factors"]) if "factors" in data else 1


def refuse(part: Distribution) -> None:
    """An error that says why a distribution cannot be on a page, and what to do."""
    name = type(part).__name__
    where = f"column {part.columns[0]!r}" if len(part.columns) == 1 else "the model"
    why, remedy = REFUSED.get(name, (f"is a {name}, of which a page knows nothing", "use one of merula's own families"))
    raise InputError.at(where, f"cannot be on a page: it {why}", remedy=remedy)
