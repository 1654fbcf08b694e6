"""The discriminative twin of Gaussian Bayes: weights of numbers, their squares and products, and of levels, by ridge.

−Σ weight · log P(class given row) + ½ · ridge · Σ penalty · weights², minimised by L-BFGS (SciPy) on every fold

The classes' normal distributions give a log posterior of just this form (Ng & Jordan 2002, "On discriminative vs. generative
classifiers"); here its weights are those that tell classes apart best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from merula.classify.log_linear._kernels import loss_of
from merula.classify.log_linear.cases import Cases, Variable, per_weight
from merula.classify.log_linear.tables import as_odds, by_class
from merula.classify.log_linear.terms import standardised
from merula.core import Array, InputError
from merula.core.limits import at_once, check_bytes
from merula.core.threads import for_each_block, thread_count

RIDGES, FEW_RIDGES = (1000.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03), (100.0, 10.0, 1.0, 0.1, 0.01)
LARGE = 1e6  # cases × classes × features, from which on fewer ridges are tried
MANY = 1_000  # rows, from which on one fold chooses the ridge
WORSE, PATIENCE = 1.02, 2  # times the least loss, and ridges without a lesser one, until no more are tried
MOST_CROSSED = 40  # columns of numbers whose products are features
# penalties of weights; those of z, z² and levels are 1. Without one for the constant, a class that a fold does not hold
# would be driven out of it
OF_PRODUCTS, OF_CONSTANTS = 3.0, 1.0
FLAT = 1e-6  # a feature that varies less says nothing
ITERATIONS, TOLERANCE = 100, 1e-6
WHOLE, PART = 20, 8  # bytes of a feature and case: of the features as they are made and kept, and of a fold's


@dataclass(frozen=True, eq=False)
class Features:
    """What weights are fitted to, cases × features; for each feature its penalty, and where it comes from.

    ``origin[f]`` is (kind, variable, level or other variable), ``middle[f]`` and ``unit[f]`` are what was subtracted and divided by.
    """

    matrix: Array
    penalty: Array
    origin: tuple[tuple[str, int, int], ...]
    middle: Array
    unit: Array
    center: Array
    scale: Array


@dataclass(frozen=True, eq=False)
class Weighed:
    """Weights (features × classes by rank) averaged over folds, the ridge chosen, and every case's scores without it."""

    features: Features
    weights: Array
    ridge: float
    scores: Array
    log_loss: float


def repeats_of(weight: float) -> int:
    """How often rows are dealt to folds anew: the fewer there are, the more often."""
    return 4 if weight < 100 else 2 if weight < MANY else 1


def quadratic_features(cases: Cases, crossed: bool = True) -> Features:
    """A constant; z, z² and, if `crossed`, products of numbers; levels: all of mean 0 but the constant, and 0 where a cell is missing."""
    count = len(cases.variables)
    answered, numbers = cases.codes >= 0, dict[int, tuple[Array, NDArray[np.bool_]]]()
    center, scale = np.zeros(count), np.ones(count)
    found: list[tuple[tuple[str, int, int], Array, float, float, float]] = []
    for j, variable in enumerate(cases.variables):
        codes = cases.codes[j]
        if variable.is_word:
            found += [(("level", j, v), *_spread(codes == v, answered[j], cases.weight, 1.0, 1.0)) for v in range(len(variable.met))]  # fmt: skip
            continue
        known = answered[j] & ~np.isneginf(variable.met)[codes]
        z, center[j], scale[j] = _z(variable, codes, known, cases.weight)
        numbers[j] = z, known
        found.append((("linear", j, 0), z, 1.0, 0.0, 1.0))
        found.append((("square", j, 0), *_spread(z * z, known, cases.weight, 1.0)))
        if variable.gaps:
            found.append((("missing", j, 0), *_spread(~known, answered[j], cases.weight, 1.0, 1.0)))
    for i, j in combinations(numbers, 2) if _is_crossed(len(numbers), crossed) else ():
        (one, known), (two, also) = numbers[i], numbers[j]
        found.append((("product", i, j), *_spread(one * two, known & also, cases.weight, OF_PRODUCTS)))
    if count:  # of a row that is all known it is 1, of one of which nothing is known 0
        found.append((("constant", 0, 0), answered.mean(axis=0), OF_CONSTANTS, 0.0, 1.0))
    origin, columns, penalty, middle, unit = zip(*found, strict=True) if found else ((), (), (), (), ())
    matrix = np.column_stack(columns) if found else np.zeros((len(cases), 0))
    return Features(matrix, np.array(penalty), origin, np.array(middle), np.array(unit), center, scale)


def _z(variable: Variable, codes: NDArray[np.int32], known: NDArray[np.bool_], weight: Array) -> tuple[Array, float, float]:  # fmt: skip
    """The numbers of a column in standard deviations, 0 where missing; its mean, and its deviation with the column's sign."""
    met = variable.met[np.isfinite(variable.met)]
    low, half = met[0], max(0.5 * met[-1] - 0.5 * met[0], 1e-300)
    values = np.where(known, (0.5 * variable.met[codes] - 0.5 * low) / half, 0.0)
    heavy = np.where(known, weight, 0.0) / weight[known].sum()
    mean = float(heavy @ values)
    deviation = float(np.sqrt(heavy @ (values - mean) ** 2)) or 1.0
    center, scale = variable.sign * (low + 2.0 * mean * half), variable.sign * 2.0 * deviation * half
    z = standardised(variable.sign * np.where(known, variable.met[codes], np.nan), np.array(center), np.array(scale))
    return np.where(known, z, 0.0), float(center), float(scale)


def _spread(
    values: NDArray[Any], known: NDArray[np.bool_], weight: Array, penalty: float, unit: float = 0.0
) -> tuple[Array, float, float, float]:
    """A feature of mean 0 where it is known, 0 elsewhere; its penalty, what was subtracted, what it was divided by.

    It is divided by its deviation unless the unit is given.
    """
    heavy = np.where(known, weight, 0.0)
    total = max(float(heavy.sum()), 1e-300)
    middle = float(heavy @ values) / total
    deviation = float(np.sqrt(heavy @ (values - middle) ** 2 / total))
    unit = unit or (deviation if deviation > FLAT else np.inf)
    return np.where(known, (values - middle) / unit, 0.0), penalty, middle, unit


def objective(
    features: NDArray[Any], labels: NDArray[np.int64], weight: Array, start: Array, penalty: Array
) -> Callable[[Array], tuple[float, Array]]:
    """−Σ weight · log P(class given row) + ½ Σ penalty · weights² and its derivatives, of the weights laid end to end.

    Scores are `start` (by class, or the log-odds of two) + features · weights; products are as precise as the features.
    """
    width, rows, kind = len(start), np.arange(len(labels)), features.dtype
    across, heavy, first = np.ascontiguousarray(features.T), weight.astype(kind), start.astype(kind)

    def of_two(flat: Array) -> tuple[float, Array]:
        sign = (2 * labels - 1).astype(kind)
        odds = sign * (features @ flat.astype(kind) + first[0])
        away = np.exp(-np.abs(odds))
        loss = weight @ (np.log1p(away) + np.maximum(-odds, 0))
        slope = -heavy * sign * np.where(odds > 0, away, 1) / (1 + away)
        return float(loss + 0.5 * (penalty @ flat**2)), across @ slope + penalty * flat

    def of_more(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(width, -1)
        scores = weights.astype(kind) @ across + first[:, None]
        own, highest = scores[labels, rows], scores.max(axis=0)
        scores -= highest
        np.exp(scores, out=scores)
        total = scores.sum(axis=0)
        loss = weight @ (np.log(total) + highest - own)
        scores *= heavy / total
        scores[labels, rows] -= heavy
        return float(loss + 0.5 * (penalty @ (weights**2).sum(axis=0))), (scores @ features + penalty * weights).ravel()

    return of_two if width == 1 else of_more


def fitted_weights(
    features: NDArray[Any],
    labels: NDArray[np.int64],
    weight: Array,
    start: Array,
    penalty: Array,
    first: Array | None = None,
    tolerance: float = TOLERANCE,
    iterations: int = ITERATIONS,
) -> Array:
    """The weights at the least penalised loss, features × classes (× 1 for the log-odds of two), looked for from `first`."""
    width, d = len(start), features.shape[1]
    initial = np.zeros(width * d) if first is None else first.T.ravel()
    options = {"maxiter": iterations, "ftol": tolerance, "gtol": tolerance * 1e-2 * float(weight.sum()), "maxcor": 10}
    function = objective(features, labels, weight, start, penalty)
    if d == 0:
        return initial.reshape(width, d).T
    with np.errstate(invalid="ignore"):  # BLAS may set the flag where every number is finite; the outcome is looked at
        found = minimize(function, initial, jac=True, method="L-BFGS-B", options=options)
    if not np.isfinite(found.fun):
        raise InputError(f"weights of {d} features came to no finite loss", remedy="use fewer or other columns")
    weights: Array = found.x.reshape(width, d).T
    return weights


def weighed_twin(cases: Cases, shares: Array, repeats: int, n_jobs: int | None, crossed: bool = True) -> Weighed:
    """Weights fitted on every fold but one with the ridge that is best for those left out; `shares` is cases × folds."""
    threads = _threads(cases, crossed, min(thread_count(n_jobs), shares.shape[1]))
    features, start = quadratic_features(cases, crossed), as_odds(cases.log_prior)
    single = features.matrix.astype(np.float32)  # precise enough to choose weights by, and twice as fast
    more = 2.0 if len(start) > 1 else 1.0  # as each of two classes has half of the odds' weight
    first = shares.shape[1] // repeats
    choosing = 1 if cases.weight.sum() >= MANY else first

    def fit(fold: int, ridge: float, before: Array | None) -> tuple[Array, float]:
        train = np.maximum((cases.weight - shares[:, fold]).round(12), 0.0)
        some = np.flatnonzero(train)
        weights = fitted_weights(single[some], cases.labels[some], train[some], start, more * ridge * features.penalty, before)  # fmt: skip
        held = np.flatnonzero(shares[:, fold])
        loss = loss_of(np.ascontiguousarray(features.matrix[held] @ weights + start), cases.labels[held], np.ascontiguousarray(shares[held, fold]))  # fmt: skip
        return weights, float(loss)

    large = len(cases) * len(cases.ranks) * features.matrix.shape[1] > LARGE
    ridge, found = _along_path(fit, FEW_RIDGES if large else RIDGES, choosing, threads)
    found += for_each_block(lambda k: fit(choosing + k, ridge, None), shares.shape[1] - choosing, threads, 1)
    scores = np.zeros((len(cases), len(start)))
    for fold, (weights, _) in enumerate(found):
        scores += shares[:, [fold]] * (features.matrix @ weights)
    scores = cases.evened(by_class(per_weight(scores, shares)) + cases.log_prior)
    mean = np.mean([weights for weights, _ in found], axis=0)
    return Weighed(
        features, cases.evened(by_class(mean)), ridge, scores, sum(loss for _, loss in found) / float(shares.sum())
    )


def _along_path(fit: Any, ridges: tuple[float, ...], folds: int, threads: int) -> tuple[float, list[Any]]:
    """The ridge of least loss, from the strongest on, each fit beginning where the last one ended; and the fits it made."""
    best, before = (np.inf, 0, ridges[0], list[Any]()), [None] * folds
    for index, ridge in enumerate(ridges):
        found = for_each_block(lambda fold: fit(fold, ridge, before[fold]), folds, threads, 1)  # noqa: B023
        before, loss = [weights for weights, _ in found], float(f"{sum(loss for _, loss in found):.12g}")
        if loss < best[0]:
            best = loss, index, ridge, found
        if loss > WORSE * best[0] or index >= best[1] + PATIENCE:
            break
    return best[2], list(best[3])


def _is_crossed(numbers: int, crossed: bool) -> bool:
    """Whether products of so many columns of numbers are features."""
    return crossed and numbers <= MOST_CROSSED


def _threads(cases: Cases, crossed: bool, most: int) -> int:
    """On how many threads folds are fitted: no more than memory has room for; an error where it has none for one."""
    numbers = sum(not variable.is_word for variable in cases.variables)
    levels = sum(len(variable.met) for variable in cases.variables if variable.is_word)
    products = numbers * (numbers - 1) // 2 if _is_crossed(numbers, crossed) else 0
    count = len(cases.variables) + 3 * numbers + levels + products
    what, each = f"{count:,} features of {len(cases):,} different rows need tables", 1.0 * count * len(cases)
    check_bytes(each * (WHOLE + PART), what, "use fewer rows or fewer columns")
    return at_once(each * WHOLE, each * PART, most)
