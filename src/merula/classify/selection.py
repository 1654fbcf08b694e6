"""How many columns tell the class best, and with how many parents each: selective k-dependence Bayes.

Martínez, Webb, Chen & Zaidi (2016), "Scalable learning of Bayesian network classifiers": columns are taken in the order of what
they tell of the class, and every number of them is tried with every number of parents, on rows left out one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from merula.classify.fitted import FittedModel
from merula.classify.folds import Folds, Some
from merula.classify.left_out import Held, LeftOutTerms, left_out_terms
from merula.classify.plan import Block, Plan
from merula.classify.term_weights import DIGITS, FARTHEST, FOLDS, MOST_CELLS
from merula.core import Array
from merula.core.logspace import log_sum_exp
from merula.data.encode import Encoded, Target
from merula.data.schema import Column, Schema
from merula.graphs.dependence.depths import DependentInSteps
from merula.graphs.dependence.families import ordered
from merula.graphs.structure.dependence import by_information
from merula.graphs.structure.graph import Graph
from merula.stats import Collected
from merula.stats.dependence import Dependence

Dealt = Callable[[int, int], tuple[Folds, list[Some]]]  # so many folds, and of each at most so many rows


@dataclass(frozen=True, eq=False)
class Selection:
    """The columns that are kept with their parents, and the mean log loss of rows left out: numbers of parents × columns."""

    graph: Graph
    losses: Array


def selected(
    fitted: FittedModel, blocks: Sequence[Held], rows: Encoded, target: Target, dealt: Dealt
) -> tuple[Plan, Collected, float] | None:
    """Plan and statistics of the columns and parents that tell the class best, and the log loss; None where no column depends."""
    k = next((k for k, one in enumerate(blocks) if isinstance(one.statistic, Dependence)), None)
    if k is None or fitted.collected is None:
        return None
    held = [_in_steps(one) if isinstance(one.statistic, Dependence) else one for one in blocks]
    factors = [one.part.factors_count for one in held]
    folds, some = dealt(FOLDS, MOST_CELLS // (sum(factors) * len(fitted.classes)))
    terms = left_out_terms(held, rows, target, fitted.plan.schema, folds, some)
    first = sum(factors[:k])
    chosen = choose(terms, fitted.log_prior, held[k], slice(first, first + factors[k]))
    plan, collected = _narrowed(fitted.plan, fitted.collected, k, chosen.graph)
    return plan, collected, float(chosen.losses.min())


def _in_steps(block: Held) -> Held:
    """The same block with a term for each further parent."""
    family = DependentInSteps(**block.family.get_params())
    return replace(block, family=family, part=family.build(block.statistic, block.setting))


def choose(terms: LeftOutTerms, log_prior: Array, block: Held, own: slice) -> Selection:
    """The smallest mean log loss to 12 digits; of equal ones the fewest columns, then the fewest parents."""
    steps = block.part.factors()
    order = by_information(ordered(block.statistic, block.setting))
    graph: Graph = block.part.graph
    depths = range(max(map(len, graph.values()), default=0) + 1)
    values = _below_the_best(terms.values)
    where = {(one.columns[0], one.depth): index for index, one in enumerate(steps, own.start)}
    start = log_prior + values[: own.start].sum(axis=0) + values[own.stop :].sum(axis=0)
    losses = np.array([_losses(values, where, order, depth, start, terms) for depth in depths])
    rounded = np.round(losses, DIGITS)
    count, depth = min(np.argwhere(rounded == rounded.min())[:, ::-1].tolist())
    return Selection({name: graph[name][:depth] for name in order[: count + 1]}, losses)


def _losses(
    values: Array,
    where: Mapping[tuple[str, int], int],
    order: Sequence[str],
    deepest: int,
    start: Array,
    terms: LeftOutTerms,
) -> Array:
    """The mean log loss with one column, two, …, each with at most so many parents."""
    scores, found = start.copy(), []
    for name in order:
        for depth in range(deepest + 1):
            if (name, depth) in where:
                scores += values[where[name, depth]]
        own = scores[np.arange(len(scores)), terms.codes] - log_sum_exp(scores)
        found.append(-float(terms.weights @ own) / float(terms.weights.sum()))
    return np.array(found)


def _below_the_best(values: Array) -> Array:
    """How far each term lies below the best class; what is impossible, as far as a term may."""
    best = values.max(axis=2, keepdims=True)
    best = np.where(np.isneginf(best), 0.0, best)
    return np.maximum(np.where(np.isneginf(values).all(axis=2, keepdims=True), 0.0, values - best), -FARTHEST)


def _narrowed(plan: Plan, collected: Collected, k: int, graph: Graph) -> tuple[Plan, Collected]:
    """The plan and the statistics of these columns alone, their parents stated; the others are ignored from now on."""
    block, statistic = plan.blocks[k], collected.blocks[k]
    assert isinstance(statistic, Dependence)
    names = tuple(name for name in block.columns if name in graph)
    stated = {name: graph[name] for name in names}
    left_out = set(block.columns) - set(names)
    schema = Schema(tuple(Column(c.name, "ignore") if c.name in left_out else c for c in plan.schema.columns))
    blocks, parts = list(plan.blocks), list[Any](collected.blocks)
    blocks[k] = Block(replace(block.family, parents=stated), names)
    parts[k] = statistic.with_parents(stated)
    return replace(plan, schema=schema, blocks=tuple(blocks)), replace(collected, blocks=tuple(parts))
