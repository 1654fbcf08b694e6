"""The family of words and numbers that depend on one another besides the class: tables, and regressions on the numeric parents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from merula.core import InputError, Option
from merula.distributions.base import BaseFamily, Distribution, Setting
from merula.distributions.gaussian import safe_centre
from merula.graphs.dependence.estimates import BACKOFF
from merula.graphs.dependence.families import Dependent, dependent_columns, refuse_new_parents, stated_graph
from merula.graphs.dependence.network_columns import NetworkColumns
from merula.graphs.dependence.network_family import checked_numbers, network_columns
from merula.graphs.dependence.network_statistic import few_digits, standardised
from merula.graphs.network.fitting import regressed
from merula.graphs.network.node import AnyNode, GaussianNode, Node
from merula.graphs.structure.family_scores import spread
from merula.graphs.structure.graph import Graph
from merula.graphs.structure.mixed_dependence import along_a_tree, on_one, on_several, told, words_first
from merula.stats import FullMoments, PairCounts, Statistic, Wanted
from merula.stats.families import Family
from merula.stats.mixed_pairs import MixedPairs
from merula.stats.moments import kept_apart

CLASS = "\0class"  # what the class is called inside: no column is called so, and it comes before every name


@dataclass(frozen=True)
class MixedDependent(BaseFamily):
    """Columns of words and numbers of which each may depend on others besides the class, words on words alone.

    A number is normal about a linear function of its numeric parents, for each class and configuration of its other parents.

    Parameters
    ----------
    structure, k, super_parent, parents, smoothing
        As for `Dependent`.
    numeric : sequence of str
        The columns of numbers.
    """

    structure: str = "tree"
    k: int = 1
    super_parent: str | None = None
    parents: Any = None
    smoothing: Any = BACKOFF
    numeric: Any = ()
    name: ClassVar[str] = "mixed_dependent"
    no_posterior: ClassVar[str] = (
        "lets classes with few rows borrow slopes and variances from all, by a rule that is no prior"
    )
    kinds: ClassVar[tuple[str, ...]] = ("categorical", "numeric")
    distribution: ClassVar[type[Distribution]] = NetworkColumns
    statistic: ClassVar[type[Statistic]] = MixedPairs

    def check(self) -> None:
        self._alike.check()

    @property
    def _alike(self) -> Dependent:
        return Dependent(self.structure, self.k, self.super_parent, self.parents, self.smoothing)

    @property
    def deepest(self) -> int:
        """The most parents that a column may have."""
        return self._alike.deepest

    def wanted(self, columns: Sequence[str], **options: Any) -> Wanted:
        self.check()
        return Wanted(MixedPairs, columns, options={"numeric": checked_numbers(self.numeric, columns), **options})

    def chosen(self, statistic: MixedPairs, setting: Setting) -> Graph:
        """Each column's parents."""
        pairs, (_, unit) = _ordered(statistic, setting), units(statistic)
        if self.parents is not None:
            return self._stated(statistic, unit)
        found = told(statistic, pairs, unit)
        if self.structure == "super-parent":
            return on_one(found, self.super_parent)
        return along_a_tree(found) if self.structure == "tree" else on_several(found, int(self.k))

    def _stated(self, statistic: MixedPairs, unit: Mapping[str, float]) -> Graph:
        words = frozenset(statistic.words.columns)
        graph = stated_graph(self.parents, (*statistic.words.columns, *statistic.numeric))
        for name, parents in graph.items():
            odd = [parent for parent in parents if parent not in words]
            if name in words and odd:
                raise InputError(f"{name!r} has levels, so its parents must too", where=f"column {name!r}", remedy=(f"column {odd[0]!r} holds numbers: cut them (", Option("numeric", "mdl"), "), or turn the two round"))  # fmt: skip
        return {name: words_first([p for p in parents if unit.get(p, 1.0)], words) for name, parents in graph.items()}

    def build(self, statistic: MixedPairs, setting: Setting) -> NetworkColumns:
        pairs, (centre, unit) = _ordered(statistic, setting), units(statistic)
        graph = self.chosen(statistic, setting)
        refuse_new_parents(graph, statistic)
        levels = dict(zip(pairs.columns, map(tuple, pairs.labels), strict=True))
        nodes: dict[str, AnyNode] = _tables(statistic, pairs, graph, self.smoothing, setting)
        deviation, (centre, unit) = unit, few_digits(centre, unit)
        for name in statistic.numeric:
            if unit[name]:
                part = standardised(_moments(statistic, graph[name], name, levels), centre, unit)
                nodes[name] = _regression(part, graph[name], levels, deviation, unit, len(setting.classes))
        even = np.full(len(setting.classes), 1 / len(setting.classes))
        nodes[CLASS] = Node(CLASS, tuple(range(len(even))), (), even)
        return network_columns(statistic.columns, CLASS, nodes, levels, centre, unit)


def _ordered(statistic: MixedPairs, setting: Setting) -> PairCounts:
    """The counts of pairs of words over the levels that the model will know."""
    if not statistic.words.columns:
        return statistic.words.pairs
    declared = {column.name: column.levels for column in setting.columns if column.declared}
    return statistic.words.pairs.ordered([declared.get(name) for name in statistic.words.columns])


def units(statistic: MixedPairs) -> tuple[dict[str, float], dict[str, float]]:
    """The `safe_centre` and the standard deviation of each number in all classes together; 0 for one that never varied."""
    centre, unit = {}, {}
    for name in statistic.numeric:
        part = statistic.numbers.alone(name)
        total = float(part.weight.sum())
        # from the mean of one class, so that far from 0 no digits are lost
        origin = float(part.mean[int(np.argmax(part.weight)), 0])
        drift = (part.mean[:, 0] - origin) + np.broadcast_to(part.rest, part.mean.shape)[:, 0]
        middle = float(part.weight @ drift) / total if total > 0 else 0.0
        with np.errstate(over="ignore"):
            apart = np.where(part.weight > 0, drift - middle, 0.0)
            squares = float(part.scatter.sum() + kept_apart(apart, part.weight * apart**2).sum())
        unit[name] = spread(name, total, origin + middle, squares)
        centre[name] = safe_centre(origin + middle, part.weight, part.mean[:, 0], part.scatter[:, 0, 0])
    return centre, unit


def _tables(
    statistic: MixedPairs, pairs: PairCounts, graph: Graph, smoothing: Any, setting: Setting
) -> dict[str, AnyNode]:
    """The tables of words, the class above every one of them."""
    if not pairs.columns:
        return {}
    found = dependent_columns(statistic.words, pairs, {name: graph[name] for name in pairs.columns}, smoothing, setting)
    parts = zip(found.columns, found.level_sets, found.parent_sets, found.log_table, strict=True)
    return {
        name: Node(name, levels, (CLASS, *parents), np.moveaxis(np.exp(logs[..., :-1, :]), -1, 0))
        for name, levels, parents, logs in parts
        if levels
    }


def _regression(
    part: FullMoments,
    parents: Sequence[str],
    levels: Mapping[str, tuple[Any, ...]],
    deviation: Mapping[str, float],
    unit: Mapping[str, float],
    classes: int,
) -> GaussianNode:
    """The last of these numbers given the class and its parents, in units."""
    words = tuple(parent for parent in parents if parent in levels)
    shape = (classes, *(len(levels[word]) for word in words))
    return regressed(part, [deviation[name] / unit[name] for name in part.columns], (CLASS, *words), shape)


def _moments(statistic: MixedPairs, parents: Sequence[str], name: str, levels: Mapping[str, Any]) -> FullMoments:
    found: FullMoments
    if not parents:
        found = statistic.numbers.alone(name)
    elif len(parents) > 1:
        wanted = Family.of((*parents, name), statistic.numeric)
        found = statistic.deeper.over({word: levels[word] for word in statistic.deeper.labels}, [wanted]).part(name)
    elif parents[0] in levels:
        found = statistic.beside(parents[0], name, levels)
    else:
        found = statistic.numbers.both(parents[0], name)
    return found
