"""Purified effects as data of the page: what its script needs besides a model's parts to take them apart, as `classify.effects` does.

Tables of effects are three times as wide as those of the parts for each question, so the page works them out itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from merula.classify.effects.grids import Axis, Grid, GridEffects, TermEffect
from merula.classify.effects.marginals import Marginals
from merula.classify.effects.normals import NormalEffects
from merula.classify.effects.purified import Effects
from merula.classify.effects.quadratics import QuadraticEffects
from merula.classify.effects.subjects import PartEffects
from merula.classify.effects.tables import TableEffects
from merula.classify.fitted import FittedModel
from merula.core import Array
from merula.distributions import Distribution
from merula.web.page.context import Context
from merula.web.page.parts import part_data
from merula.web.page.plain import array, integers

Pages = Mapping[int, Sequence[int]]
MISSING = None  # the cell of a number that is not known


def effects_data(fitted: FittedModel, pages: Pages, context: Context) -> dict[str, Any] | None:
    """What the page's script makes purified effects of; None where a model is explained by its own terms.

    ``pages`` has the indices of the page's parts that each distribution, by its id, has become.
    """
    effects = fitted.effects
    if effects is None:
        return None
    marginals = effects.marginals
    return {
        "columns": [_column(name, marginals, context) for name in marginals.columns],
        "beyond": [
            context.index(name)
            for one in effects.parts
            if isinstance(one, GridEffects) and one._beyond
            for name in one._beyond.columns
        ],
        "parts": list(_written(fitted, effects, pages, context)),
    }


def _column(name: str, marginals: Marginals, context: Context) -> dict[str, Any]:
    """A column in the order in which effects name theirs; of words, the codes that were met."""
    known = marginals.level_sets[marginals.places[name]]
    met = {} if known is None else {"met": [int(place < len(known)) for place in context.places(name, known)]}
    return {"column": context.index(name), **met}


@dataclass(frozen=True, eq=False)
class _Source:
    """A distribution that effects were taken of, or one of its factors: the page's parts, and the first of its factors there."""

    part: Distribution
    weight: float
    pages: Sequence[int]
    first: int
    whole: bool

    def factor(self, k: int) -> dict[str, int]:
        """Where the page has its k-th factor: a part for each, or one with all of them."""
        place = self.first + k
        return {"part": self.pages[place], "factor": 0} if len(self.pages) > 1 else {"part": self.pages[0], "factor": place}  # fmt: skip

    def told(self, context: Context) -> dict[str, Any]:
        """Which of the page's parts it is; written out where it is some factors of one."""
        where: dict[str, Any] = {"part": self.pages[0]} if self.whole else {"spec": part_data(self.part, context)}
        return {**where, "weight": self.weight}


def _sources(fitted: FittedModel, pages: Pages) -> Iterator[_Source]:
    """The weighted parts that effects were taken of, in their order: the same objects."""
    component = fitted.components[0]
    weighted = iter(component.weighted_parts)
    for part in component.parts:
        one, weight = next(weighted)
        yield _Source(one, weight, pages[id(part)], 0, one is part)
        if one is not part:  # its factors have weights of their own
            for k in range(1, part.factors_count):
                one, weight = next(weighted)
                yield _Source(one, weight, pages[id(part)], k, False)


def _written(fitted: FittedModel, effects: Effects, pages: Pages, context: Context) -> Iterator[dict[str, Any]]:
    """Every part's effects, in the order in which they were taken: those with grids are told apart from the others by not being next."""
    others: list[PartEffects] = [one for one in effects.parts if not isinstance(one, GridEffects)]
    grids = [grid for one in effects.parts if isinstance(one, GridEffects) for grid in one.grids]
    others.reverse()
    grids.reverse()
    for source in _sources(fitted, pages):
        if source.weight and others and _is_of(others[-1], source.part):
            yield {**source.told(context), **_several(others.pop(), effects.marginals)}
        elif source.weight:
            for k, factor in enumerate(source.part.factors()):
                where = {**source.factor(k), "weight": source.weight}
                if others and _is_term(others[-1], factor):
                    yield {**where, **_term(others.pop(), context)}
                else:
                    yield {**where, **_grid(grids.pop(), effects.marginals, context)}
    assert not others and not grids  # all of them are written


def _is_of(found: PartEffects, part: Distribution) -> bool:
    """Whether these are the effects of the part as a whole."""
    if isinstance(found, TableEffects | QuadraticEffects):
        return found.terms is part
    return isinstance(found, NormalEffects) and found.part is getattr(part, "part", part)


def _is_term(found: PartEffects, factor: Distribution) -> bool:
    """Whether this is the effect of a factor as it is."""
    return isinstance(found, TermEffect) and (found.part.columns, found.part.parents) == (factor.columns, factor.parents)  # fmt: skip


# --------------------------------------------------------------------------------------------------------- of each kind


def _several(found: PartEffects, marginals: Marginals) -> dict[str, Any]:
    """The effects of tables, of the twin of Gaussian Bayes, or of a joint normal."""
    if isinstance(found, TableEffects):
        return _tables(found, marginals)
    if isinstance(found, QuadraticEffects):
        return _quadratic(found, marginals)
    assert isinstance(found, NormalEffects)
    return {"type": "effects_of_normals", "mean": array(found.mean), "variance": array(found.variance), "known": array(found.known)}  # fmt: skip


def _tables(found: TableEffects, marginals: Marginals) -> dict[str, Any]:
    """The codes that rows have in each column, and the share of each."""
    terms, answers = found.terms, []
    for j, (name, known) in enumerate(zip(terms.columns, terms.level_sets, strict=True)):
        codes = terms.codes_of(j, marginals.cells(name, known))
        met, place = np.unique(codes, return_inverse=True)
        shares = np.bincount(place, marginals.weights(name), len(met))
        answers.append({"codes": integers(met), "shares": array(shares)})
    return {"type": "effects_of_tables", "answers": answers}


def _quadratic(found: QuadraticEffects, marginals: Marginals) -> dict[str, Any]:
    """The means of numbers, squares and of being known; of words the share of each row of their table."""
    terms, means = found.terms, found.means
    shares = [
        None if known is None else array(_row_shares(name, known, marginals))
        for name, known in zip(terms.columns, terms.level_sets, strict=True)
    ]
    return {"type": "effects_of_numbers", "a": array(means.a), "square": array(means.square), "known": array(means.known), "shares": shares}  # fmt: skip


def _row_shares(name: str, known: tuple[Any, ...], marginals: Marginals) -> Array:
    """The share of rows at each level of a part, those that it does not know with the missing ones at the end."""
    cells = marginals.cells(name, known)
    rows = np.where(np.isnan(cells), len(known), cells).astype(np.int64)
    return np.bincount(rows, marginals.weights(name), len(known) + 1).astype(np.float64)


def _term(found: PartEffects, context: Context) -> dict[str, Any]:
    """One factor as it is, less its mean."""
    assert isinstance(found, TermEffect)
    mean = {} if isinstance(found.mean, float) else {"mean": array(found.mean)}
    return {
        "type": "effects_of_terms",
        "columns": context.indices(found.subject.columns),
        "whole": found.subject.whole,
        **mean,
    }


def _grid(found: Grid, marginals: Marginals, context: Context) -> dict[str, Any]:
    """The states of each column of a factor, a cell for each, and their shares."""
    parents = context.indices(found.part.parents)
    return {
        "type": "effects_of_grids",
        "parents": parents,
        "axes": [_axis(axis, marginals, context) for axis in found.axes],
    }


def _axis(axis: Axis, marginals: Marginals, context: Context) -> dict[str, Any]:
    """States as the marginals count them, a level never met and a missing cell last; a cell that is in each."""
    j, told = marginals.places[axis.name], {"column": context.index(axis.name), "weights": array(axis.weights)}
    known = marginals.level_sets[j]
    if known is None:
        assert axis.cuts is not None
        numbers = [MISSING if state < 0 else float(marginals.typical[j][state]) for state in axis.example.tolist()]
        return {**told, "cells": numbers, "cuts": array(axis.cuts)}
    levels = context.levels(axis.name)
    codes = [levels.index(level) if level in levels else len(levels) + 1 for level in known]
    states = [place if place < len(known) else 2 * len(known) + 1 - place for place in context.places(axis.name, known)]
    return {**told, "cells": [*codes, len(levels) + 1, len(levels)], "states": states}
