"""Which columns of words and numbers depend on which besides the class: words on words alone, numbers on either."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from merula.core import Array, InputError, Option, one_of
from merula.graphs.structure.family_scores import FLOOR, LOG_2PI, ROWS_PER_PARAMETER, regressions, typical_floor
from merula.graphs.structure.graph import Graph
from merula.graphs.structure.spanning_tree import DIGITS, directed_tree, spanning_tree
from merula.stats import FullMoments, PairCounts
from merula.stats.mixed_pairs import MixedPairs
from merula.stats.pair_moments import PairMoments

WORDS = "\0words"  # all words together, as one that numbers may hang on: no column is called so


@dataclass(frozen=True, eq=False)
class Told:
    """What columns tell of each other given the class, and of the class, in nats; and what it costs to say so.

    ``mass[i, j]`` is the weight of the rows that know both, ``cost[i, j]`` the parameters that column j has more for each class
    with i as a parent.
    """

    names: tuple[str, ...]
    words: frozenset[str]
    of_each_other: Array
    of_class: Array
    mass: Array
    cost: Array

    def best_first(self, names: Sequence[str]) -> list[str]:
        """Columns, those first that tell most of the class; equal ones by name."""
        told = dict(zip(self.names, self.of_class.round(DIGITS).tolist(), strict=True))
        return sorted(names, key=lambda name: (-told[name], name))

    def between(self, one: str, other: str) -> float:
        """What one tells of the other given the class, rounded so that it compares."""
        return float(self._rounded[self._where[one], self._where[other]])

    @cached_property
    def _rounded(self) -> Array:
        return self.of_each_other.round(DIGITS)

    @cached_property
    def _where(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names)}


def told(statistic: MixedPairs, pairs: PairCounts, unit: Mapping[str, float]) -> Told:
    """What the pairs of columns say; `unit` is the standard deviation of each number, 0 for one that says nothing."""
    words, numbers = pairs.columns, statistic.numeric
    names, w = (*words, *numbers), len(words)
    levels = dict(zip(words, map(tuple, pairs.labels), strict=True))
    mutual, mass, cost = (np.zeros((len(names), len(names))) for _ in range(3))
    if words:
        mutual[:w, :w], mass[:w, :w] = pairs.information(), pairs.pair_weight()
    free = np.array([len(levels[name]) - 1 for name in words], dtype=np.float64)
    cost[:w, :w] = np.outer(free, free)
    for j, name in enumerate(numbers, start=w):
        for i, word in enumerate(words):
            part = statistic.beside(word, name, levels)
            shape = (-1, len(levels[word]))
            mutual[i, j] = mutual[j, i] = of_word(part, shape, unit[name]) if unit[name] and levels[word] else 0.0
            mass[i, j] = mass[j, i] = part.weight.sum()
            cost[i, j] = 2 * max(0.0, free[i])
    varies = np.array([unit[name] > 0 for name in numbers], dtype=np.bool_)
    mutual[w:, w:] = of_numbers(statistic.numbers) * np.outer(varies, varies)
    mass[w:, w:], cost[w:, w:] = statistic.numbers.weight.sum(axis=0), 1.0
    of_class = [*pairs.class_information(), *(of_groups(statistic.numbers.alone(name), unit[name]) for name in numbers)]
    return Told(names, frozenset(words), mutual, np.array(of_class), mass, cost)


def of_numbers(moments: PairMoments) -> Array:
    """I(one; other given class) = Σ_c P(c) · −½ log(1 − ρ_c²); a class with few rows has the correlation within all together."""
    few = moments.weight < 3 * ROWS_PER_PARAMETER
    scatter, squares = (np.where(few, part.sum(axis=0), part) for part in (moments.scatter, moments.squares))
    spreads = np.sqrt(squares) * np.sqrt(squares.swapaxes(1, 2))
    share = np.divide(scatter, spreads, out=np.zeros_like(scatter), where=spreads > 0)
    told = (moments.weight * -0.5 * np.log(np.maximum(1.0 - share**2, FLOOR))).sum(axis=0)
    total = moments.weight.sum(axis=0)
    found = np.divide(told, total, out=np.zeros_like(told), where=total > 0)
    np.fill_diagonal(found, 0.0)
    return found


def of_word(part: FullMoments, shape: tuple[int, int], unit: float) -> float:
    """I(number; word given class): how much more probable numbers are once the word is known, per row."""
    mass, mean = part.weight.reshape(shape), (part.mean + part.rest).reshape(shape)
    scatter = part.scatter.reshape(shape)
    total = mass.sum(axis=1)
    middle = (mass * mean).sum(axis=1) / np.where(total > 0, total, 1.0)
    apart = np.where(mass > 0, mean - middle[:, None], 0.0)
    coarse = scatter.sum(axis=1) + (mass * apart**2).sum(axis=1)
    fine = _log_likelihood(mass.ravel(), mean.ravel(), scatter.ravel(), unit)
    gain, rows = fine - _log_likelihood(total, middle, coarse, unit), float(mass.sum())
    return max(0.0, gain / rows) if rows > 0 else 0.0


def of_groups(part: FullMoments, unit: float) -> float:
    """I(number; class): how much more probable numbers are once the class is known, per row."""
    return 0.0 if not unit else of_word(part, (1, len(part.weight)), unit)


def _log_likelihood(mass: Array, mean: Array, squares: Array, unit: float) -> float:
    """The largest log likelihood of numbers that are normal within each group, as they are fitted."""
    scatter = squares / unit**2
    _, variance, left = regressions(mass, scatter.reshape(-1, 1, 1), typical_floor(mass, mean, scatter, unit))
    met = mass > 0
    return float(-0.5 * (mass[met] * (LOG_2PI + np.log(variance[met])) + left[met] / variance[met]).sum())


# ---------------------------------------------------------------------------------------------------------------- graphs


def along_a_tree(found: Told) -> Graph:
    """Of all trees in which words depend on words alone the one that tells most.

    Words hang together as in Friedman, Geiger & Goldszmidt (1997), figure 3; numbers on each other, or on the word that tells
    most of them.
    """
    words = sorted(found.words)
    numbers = sorted(name for name in found.names if name not in found.words)
    near = spanning_tree(words, _matrix(words, found.between))
    graph = directed_tree(near, found.best_first(words))
    hub = {name: min(words, key=lambda word: (-found.between(word, name), word)) for name in numbers if words}

    def between(one: str, other: str) -> float:
        if WORDS not in (one, other):
            return found.between(one, other)
        name = other if one == WORDS else one
        return found.between(hub[name], name) if words else 0.0

    names = [WORDS, *numbers]
    near = spanning_tree(names, _matrix(names, between))
    below = directed_tree(near, [WORDS, *found.best_first(numbers)])
    graph |= {name: tuple(hub[name] if parent == WORDS else parent for parent in below[name]) for name in numbers}
    return {name: graph[name] for name in found.names}


def _matrix(names: Sequence[str], between: Any) -> Array:
    return np.array([[0.0 if one == other else between(one, other) for other in names] for one in names]).reshape(
        len(names), len(names)
    )


def on_one(found: Told, parent: str | None = None) -> Graph:
    """Every column depends on one, words on a word alone: the stated one, or that with the best BIC of all.

    BIC(i) = Σ_j n_ij · I(j; i given class) − ½ log n_ij · classes · parameters_ij, over the columns j that may depend on i.
    """
    chosen = _best_parent(found) if parent is None else one_of(parent, found.names, "super_parent")
    if parent is not None and len(found.names) > 1 and not any(_may(found, chosen, name) for name in found.names if name != chosen):  # fmt: skip
        raise InputError.at("super_parent", f"is {chosen!r}, which holds numbers, and the other columns have levels: they cannot depend on numbers that are kept", remedy=("cut numbers (", Option("numeric", "mdl"), "), or name another column"))  # fmt: skip
    return {
        name: (chosen,) if name != chosen and _may(found, chosen, name) and found.between(chosen, name) > 0 else ()
        for name in found.names
    }


def _may(found: Told, parent: str, child: str) -> bool:
    return parent in found.words or child not in found.words


def _best_parent(found: Told) -> str:
    gain = found.mass * found.of_each_other - np.log(np.maximum(found.mass, 1.0)) / 2 * found.cost
    allowed = np.array([[one != other and _may(found, one, other) and found.between(one, other) > 0 for other in found.names] for one in found.names])  # fmt: skip
    scores = np.where(allowed, gain, 0.0).sum(axis=1) / max(float(found.mass.max(initial=0.0)), 1.0)
    ranked = dict(zip(found.names, scores.round(DIGITS).tolist(), strict=True))
    return min(ranked, key=lambda name: (-ranked[name], name))


def on_several(found: Told, k: int) -> Graph:
    """Each column depends on the k that tell most of it given the class, among those that tell more of the class than itself.

    Sahami (1996), "Learning limited dependence Bayesian classifiers", the KDB algorithm; words depend on words alone. Of the
    parents of a number those with levels come first.
    """
    order = found.best_first(found.names)
    graph: dict[str, tuple[str, ...]] = {}
    for position, name in enumerate(order):
        telling = [one for one in order[:position] if _may(found, one, name) and found.between(one, name) > 0]
        best = sorted(telling, key=lambda one, name=name: (-found.between(one, name), one))[:k]  # type: ignore[misc]
        graph[name] = tuple(best) if name in found.words else words_first(best, found.words)
    return {name: graph[name] for name in found.names}


def words_first(parents: Sequence[str], words: frozenset[str]) -> tuple[str, ...]:
    """The parents of a number, those with levels first."""
    return tuple(sorted(parents, key=lambda name: name not in words))
