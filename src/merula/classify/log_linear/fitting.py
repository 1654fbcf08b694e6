"""From encoded rows to the terms of a conditional log-linear model, and to each row's scores by models that have not seen it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.classify.folds import Folds
from merula.classify.log_linear import tables, twin
from merula.classify.log_linear.cases import Cases, distinct_cases
from merula.classify.log_linear.terms import LOST, ConditionalTerms, QuadraticTerms, TableTerms
from merula.core import Array
from merula.data.encode import Encoded, Target
from merula.data.schema import Label
from merula.distributions.mixed_cells import read_cells

GAUSSIAN = "gaussian"
ROUNDS = 800
MOST_CODES = 2**32  # of a column
Levels = tuple[tuple[Label, ...] | None, ...]


@dataclass(frozen=True)
class Wish:
    """What is to be fitted: `order` questions in each table, or the twin of Gaussian Bayes; for how many rounds, by which chance.

    Being missing is an answer with ``missing="level"``, or of the columns that `missing` names. A twin that is not `crossed` has no
    products of two numbers.
    """

    order: Any = 2
    rounds: int = ROUNDS
    missing: str | frozenset[str] = "marginalise"
    seed: int = 0
    n_jobs: int | None = None
    crossed: bool = True


def fit_terms(
    rows: Encoded,
    target: Target,
    level_sets: dict[str, tuple[Label, ...] | None],
    wish: Wish,
    folds: Folds | None = None,
) -> tuple[Array, ConditionalTerms]:
    """Scores of rows × classes by models that have not seen the row, and the terms of the mean of these models.

    Scores are log P(class given row) up to a constant of the row. ``level_sets`` has the levels of each column, None for one of
    numbers. Folds are the model's own unless they are given; a row whose weight lies in several folds has their mean score.
    """
    columns = tuple(sorted(level_sets))
    levels = tuple(level_sets[name] for name in columns)
    gaps = [
        name in wish.missing if isinstance(wish.missing, frozenset) else wish.missing == "level" for name in columns
    ]
    cases = distinct_cases(read_cells(rows, columns, levels), levels, target, gaps)
    gaussian = wish.order == GAUSSIAN
    repeats = 1 if folds is not None else (twin if gaussian else tables).repeats_of(float(cases.weight.sum()))
    shares = cases.shares(repeats) if folds is None else cases.shares_of(folds.shares)
    if gaussian:
        weighed = twin.weighed_twin(cases, shares, repeats, wish.n_jobs, wish.crossed)
        return cases.of_rows(weighed.scores), quadratic_terms(cases, weighed, columns, levels)
    grown = tables.grown_tables(cases, shares, int(wish.order), wish.rounds, wish.seed, wish.n_jobs)
    return cases.of_rows(grown.scores), table_terms(cases, grown, columns, levels)


def _gaps(cases: Cases, count: int) -> tuple[bool, ...]:
    told = {variable.place: variable.gaps for variable in cases.variables}
    return tuple(told.get(j, False) for j in range(count))


# --------------------------------------------------------------------------------------------------------------- tables


def table_terms(cases: Cases, grown: tables.Grown, columns: Sequence[str], levels: Levels) -> TableTerms:
    """Tables in terms of values and levels instead of codes; those that ask the same questions as one."""
    signs = np.ones(len(columns))
    for variable in cases.variables:
        signs[variable.place] = variable.sign
    bounds = [_bounds(cases, j, levels) for j in range(len(cases.variables))]
    asked, numbers, shares, places = _questions(cases, grown, bounds)
    merged, values = _merged(places, grown.values[..., np.argsort(cases.ranks)])
    return TableTerms(tuple(columns), levels, _gaps(cases, len(columns)), signs, asked, numbers, merged, values, grown.rounds, grown.log_loss, shares)  # fmt: skip


def _bounds(cases: Cases, j: int, levels: Levels) -> Array:
    """What the question for each code of a column compares with: halfway to the next number, or a level."""
    variable = cases.variables[j]
    if variable.is_word:
        return np.where(variable.met < 0, len(levels[variable.place] or ()), variable.met)
    low, high = variable.met[:-1], variable.met[1:]
    with np.errstate(invalid="ignore"):
        middle = low + (0.5 * high - 0.5 * low)
    return np.where(np.isneginf(low), LOST, np.where(middle < high, middle, low))


def _questions(
    cases: Cases, grown: tables.Grown, bounds: list[Array]
) -> tuple[NDArray[np.int32], Array, Array, NDArray[np.int32]]:
    """The questions asked, in the order of columns and bounds, with the share of yes to each; and for each table the places of its questions among them."""
    real = np.arange(grown.columns.shape[1]) < grown.depths[:, None]
    keys, bound = np.zeros(real.shape, dtype=np.int64), np.zeros(real.shape)
    for j, variable in enumerate(cases.variables):
        own = real & (grown.columns == j)
        bound[own] = bounds[j][grown.cuts[own]]
        answer = bound[own] if variable.is_word else grown.cuts[own]
        keys[own] = variable.place * MOST_CODES + answer.astype(np.int64)
    met, first, inverse = np.unique(keys[real], return_index=True, return_inverse=True)
    places = np.full(real.shape, -1, dtype=np.int32)
    places[real] = inverse
    return (met // MOST_CODES).astype(np.int32), bound[real][first], grown.shares[real][first], places


def _merged(places: NDArray[np.int32], values: Array) -> tuple[NDArray[np.int32], Array]:
    """Tables with their questions in order; those that ask the same ones added up."""
    last = np.iinfo(np.int32).max
    ranks = np.argsort(np.where(places < 0, last, places), axis=1, kind="stable")
    turned, depths, ordered = (
        np.empty_like(values),
        (places >= 0).sum(axis=1),
        np.take_along_axis(places, ranks, axis=1),
    )
    kinds = numbered(np.column_stack([ranks, depths]))
    for kind in range(kinds.max(initial=-1) + 1):
        own = np.flatnonzero(kinds == kind)
        turned[own] = _turned_cells(values[own], ranks[own[0], : depths[own[0]]])
    same = numbered(ordered)
    _, first = np.unique(same, return_index=True)
    total = np.zeros((len(first), *values.shape[1:]))
    np.add.at(total, same, turned)
    return np.ascontiguousarray(ordered[first]), total


def numbered(rows: NDArray[Any]) -> NDArray[np.int64]:
    """For each row of whole numbers from −1 the number of the row that it equals, in the order of rows."""
    found = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        found = np.unique(found * (int(column.max(initial=0)) + 2) + column + 1, return_inverse=True)[1]
    return found


def _turned_cells(values: Array, permutation: NDArray[np.int64]) -> Array:
    """The cells of tables whose questions are asked in another order."""
    depth = len(permutation)
    cells = values[:, : 1 << depth].reshape(len(values), *(2,) * depth, values.shape[2])
    found = np.zeros_like(values)
    moved = cells.transpose(0, *(1 + permutation), depth + 1)
    found[:, : 1 << depth] = moved.reshape(len(values), 1 << depth, values.shape[2])
    return found


# ----------------------------------------------------------------------------------------------------------------- twin


def quadratic_terms(cases: Cases, weighed: twin.Weighed, columns: Sequence[str], levels: Levels) -> QuadraticTerms:
    """Weights in terms of z and levels instead of features of mean 0 and deviation 1."""
    features, k, d = weighed.features, len(cases.ranks), len(columns)
    weights = (weighed.weights / features.unit[:, None])[:, np.argsort(cases.ranks)] if len(features.unit) else np.zeros((0, k))  # fmt: skip
    single = {kind: np.zeros((d, k)) for kind in ("constant", "linear", "square", "missing")}
    tables_of = [np.zeros((0 if known is None else len(known) + 1, k)) for known in levels]
    pairs, middle, products = list[tuple[int, int]](), list[float](), list[Array]()
    for (kind, j, other), weight, average in zip(features.origin, weights, features.middle, strict=True):
        variable = cases.variables[j]
        if kind == "product":
            pairs.append((variable.place, cases.variables[other].place))
            middle.append(average)
            products.append(weight)
        elif kind == "constant":
            single["constant"][[one.place for one in cases.variables]] += weight / len(cases.variables)
        else:
            single["constant"][variable.place] -= average * weight
            if kind == "level":
                tables_of[variable.place][int(variable.met[other])] = weight  # −1, the last row, for missing
            else:
                single[kind][variable.place] += weight
            if kind == "square" and variable.gaps:
                single["missing"][variable.place] += average * weight  # what has no number has no square
    center, scale = np.zeros(d), np.ones(d)
    for j, variable in enumerate(cases.variables):
        center[variable.place], scale[variable.place] = features.center[j], features.scale[j]
    order = sorted(range(len(pairs)), key=lambda k: tuple(sorted(pairs[k])))
    return QuadraticTerms(
        tuple(columns),
        levels,
        _gaps(cases, d),
        center,
        scale,
        **single,
        level_weights=tuple(tables_of),
        pairs=np.array([sorted(pairs[k]) for k in order], dtype=np.int32).reshape(-1, 2),
        middle=np.array([middle[k] for k in order]),
        products=np.array([products[k] for k in order]).reshape(-1, k),
        ridge=weighed.ridge,
        log_loss=weighed.log_loss,
    )
