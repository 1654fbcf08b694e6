"""Which columns depend on which besides the class: on one of them, along a tree, or on the k that tell most; from counts of pairs."""

from __future__ import annotations

import numpy as np

from merula.core import Array, one_of
from merula.graphs.structure.graph import Graph
from merula.graphs.structure.spanning_tree import DIGITS, tree_of_pairs
from merula.stats import PairCounts


def on_one(pairs: PairCounts, parent: str | None = None) -> Graph:
    """Every column depends on one: the stated one, or that with the best BIC of all, columns that tell nothing left alone.

    BIC(i) = Σ_j n_ij · I(j; i given class) − ½ log n_ij · classes · (levels_i − 1)(levels_j − 1), over all columns j but i.
    """
    chosen = _best_parent(pairs) if parent is None else one_of(parent, pairs.columns, "super_parent")
    single = {name for name, labels in zip(pairs.columns, pairs.labels, strict=True) if len(labels) < 2}
    return {name: () if name == chosen or {name, chosen} & single else (chosen,) for name in pairs.columns}


def along_a_tree(pairs: PairCounts) -> Graph:
    """The tree of Friedman, Geiger & Goldszmidt (1997), "Bayesian network classifiers", figure 3: of all trees the most probable.

    Its root is the column that tells most of the class.
    """
    return tree_of_pairs(pairs, by_information(pairs)[0])


def on_several(pairs: PairCounts, k: int) -> Graph:
    """Each column depends on the k that tell most of it given the class, among those that tell more of the class than itself.

    Sahami (1996), "Learning limited dependence Bayesian classifiers", the KDB algorithm. Parents that tell most come first.
    """
    order = by_information(pairs)
    told = pairs.information().round(DIGITS)
    where = {name: position for position, name in enumerate(pairs.columns)}
    graph: dict[str, tuple[str, ...]] = {}
    for position, name in enumerate(order):
        share = told[where[name]]
        telling = [other for other in order[:position] if share[where[other]] > 0]
        graph[name] = tuple(sorted(telling, key=lambda other: (-share[where[other]], other))[:k])
    return {name: graph[name] for name in pairs.columns}


def by_information(pairs: PairCounts) -> list[str]:
    """The columns, those first that tell most of the class; equal ones by name."""
    told = dict(zip(pairs.columns, pairs.class_information().round(DIGITS).tolist(), strict=True))
    return sorted(told, key=lambda name: (-told[name], name))


def _best_parent(pairs: PairCounts) -> str:
    """The column with the best score; one that tells nothing only where there is no other."""
    scores = dict(zip(pairs.columns, _super_parent_scores(pairs).round(DIGITS).tolist(), strict=True))
    single = {name for name, labels in zip(pairs.columns, pairs.labels, strict=True) if len(labels) < 2}
    return min(scores, key=lambda name: (name in single, -scores[name], name))


def _super_parent_scores(pairs: PairCounts) -> Array:
    """The BIC that each column has as everyone's parent, beside that of naive Bayes; per row, so that its digits compare."""
    free = np.array([len(labels) - 1 for labels in pairs.labels], dtype=np.float64)
    mass = pairs.pair_weight()
    cost = np.log(np.maximum(mass, 1.0)) / 2 * pairs.weight.shape[1] * np.outer(free, free)
    gain = mass * pairs.information() - cost
    np.fill_diagonal(gain, 0.0)
    return gain.sum(axis=1) / max(float(mass.max(initial=0.0)), 1.0)
