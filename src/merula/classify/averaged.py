"""Averages of one-dependence models: every column in turn stands above the others, and their answers are averaged."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from merula.classify.dependent import GAUSSIAN, DependentClassifier
from merula.classify.fitted import Component, FittedModel, HasLevel
from merula.classify.plan import Plan
from merula.core import Array, InputError, Option
from merula.core.checks import checked_number
from merula.data.encode import Encoded
from merula.distributions.discretize.methods import METHODS
from merula.distributions.joint_table import UNKNOWN, level_cells
from merula.graphs.dependence import _kernels as kernels
from merula.graphs.dependence.columns import DependentColumns
from merula.graphs.dependence.families import OneDependence
from merula.stats import Collected

FASTEST = 2**26  # numbers in a table with a row for every pair of levels
NAIVE = "naive Bayes"


class AveragedModel(FittedModel):
    """A mixture of one-dependence models of the same columns, averaged in one loop; what it says is the mixture's."""

    def _add_up(self, rows: Encoded, out: Array) -> None:
        if self._looked_up is None:
            super()._add_up(rows, out)
            return
        columns, sizes, starts, admitted, log_start, table = self._looked_up
        cells = level_cells(rows, columns.columns, columns.level_sets)
        if columns.unseen != "smooth":
            cells = np.where(cells == UNKNOWN, columns._missing, cells)
        none = kernels.add_average(cells, admitted, log_start, starts, sizes, table, out)
        for part in self._shared:
            part.add_log_prob(rows, out)
        if none.any():
            self._fall_back(rows, none, out)

    def _fall_back(self, rows: Encoded, none: NDArray[np.bool_], out: Array) -> None:
        """Rows that admit no super-parent are answered by the component that is there for them."""
        fallback = next(one for one in self.components if one.fallback)
        answers = np.tile(fallback.log_prior, (len(rows), 1))
        for part in fallback.parts:
            part.add_log_prob(rows, answers)
        out[none] = answers[none]

    @cached_property
    def _shared(self) -> tuple[Any, ...]:
        """The parts that all components have: columns that depend on the class alone."""
        return tuple(part for part in self.components[0].parts if not isinstance(part, DependentColumns))

    @cached_property
    def _looked_up(self) -> tuple[Any, ...] | None:
        """All tables as one, by the level above and the level below; None where it would be too large, or there is none."""
        above = [(one, one.condition) for one in self.components if one.condition is not None]
        if not above:
            return None
        first = _dependent(above[0][0])
        sizes = np.array([len(levels) for levels in first.level_sets], dtype=np.int64)
        starts = np.cumsum([0, *(sizes + 1)])
        width, classes = int(starts[-1]), len(self.classes)
        if width * width * classes > FASTEST:
            return None
        table, log_start = np.zeros((width, width, classes)), np.zeros((width, classes))
        admitted = np.zeros(width, dtype=np.bool_)
        for one, condition in above:
            columns, i = _dependent(one), first.columns.index(condition.column)
            own = slice(starts[i], starts[i] + sizes[i])
            log_start[own] = one.log_prior + columns.log_table[i][:-1]
            known = {label: k for k, label in enumerate(first.level_sets[i])}
            admitted[[starts[i] + known[label] for label in condition.levels]] = True
            for j, part in enumerate(columns.log_table):
                if j != i:
                    below = part if columns.parent_sets[j] else np.broadcast_to(part, (int(sizes[i]), *part.shape))
                    table[own, starts[j] : starts[j + 1]] = below
        return first, sizes, starts, admitted, log_start, table.reshape(width * width, classes)


def _dependent(component: Component) -> DependentColumns:
    return next(part for part in component.parts if isinstance(part, DependentColumns))


class AODEClassifier(DependentClassifier):
    """Averaged one-dependence estimators: every column in turn is the super-parent of all others.

    P(c given x) ∝ mean over i of P(c, x_i) · Π_j≠i P(x_j given c, x_i)
    """

    _answering: ClassVar[type[FittedModel]] = AveragedModel

    def __init__(
        self,
        *,
        min_count: Any = 1,
        kinds: Any = None,
        levels: Any = None,
        distributions: Any = None,
        numeric: Any = "mdl",
        bins: Any = None,
        class_prior: Any = "empirical",
        smoothing: Any = 1,
        variance: Any = "mle",
        missing: Any = "marginalise",
        unseen: Any = "missing",
        n_jobs: Any = None,
    ) -> None:
        super().__init__(kinds=kinds, levels=levels, distributions=distributions, class_prior=class_prior, smoothing=smoothing, variance=variance, missing=missing, unseen=unseen, n_jobs=n_jobs)  # fmt: skip
        self.min_count = min_count
        self.numeric = numeric
        self.bins = bins

    def _dependent(self) -> OneDependence:
        return OneDependence(smoothing=self.smoothing)

    def _check_options(self) -> None:
        super()._check_options()
        if self.numeric == GAUSSIAN:
            raise InputError((Option("numeric", GAUSSIAN), " has no super-parents to average: levels are counted, and numbers have none"), where="numeric", got=GAUSSIAN, remedy=("cut numbers (", Option("numeric", METHODS), "), or use TANClassifier"))  # fmt: skip
        checked_number(self.min_count, "min_count", "a number of rows from 0", lambda count: count >= 0)

    def _build(self, plan: Plan, collected: Collected) -> FittedModel:
        naive = super()._build(plan, collected)
        places = [k for k, block in enumerate(plan.blocks) if isinstance(block.family, OneDependence)]
        if not places:
            return naive
        (k,) = places
        return self._averaged(naive, k, collected)

    def _averaged(self, naive: FittedModel, k: int, collected: Collected) -> FittedModel:
        """The mixture of all super-parents, with naive Bayes for rows that admit none."""
        plan = naive.plan
        setting = self._setting(plan, collected, plan.blocks[k])
        parts = naive.components[0].parts
        others = (*parts[:k], *parts[k + 1 :])
        empirical = isinstance(self.class_prior, str) and self.class_prior == "empirical"
        found = plan.blocks[k].family.super_parents(collected.blocks[k], setting, self.min_count)
        components = [
            Component(
                one.log_prior if empirical else naive.log_prior,
                (one.columns, *others),
                condition=HasLevel(one.name, one.levels),
                name=one.name,
            )
            for one in found
        ]
        if not components:
            return naive
        fallback = Component(naive.log_prior, parts, fallback=True, name=NAIVE)
        return AveragedModel(plan, naive.classes, naive.log_prior, (*components, fallback), collected)
