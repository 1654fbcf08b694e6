"""Averages of one-dependence models: every column in turn stands above the others, and their answers are averaged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from merula.classify.dependent import GAUSSIAN, DependentClassifier
from merula.classify.fitted import Component, ComponentTerms, FittedModel, HasLevel
from merula.classify.intervals import INSTEAD, PLUG_IN, PREDICTIVE, WEIGHED, ClassBelief, ModelPosterior
from merula.classify.mixture_weights import component_weights
from merula.classify.plan import Plan
from merula.core import Array, InputError, Option
from merula.core.checks import checked_number
from merula.core.logspace import times
from merula.data.encode import Encoded
from merula.distributions.discretize.methods import METHODS
from merula.distributions.joint_table import level_cells, unknown_as_missing
from merula.distributions.posteriors import Posterior, log_shares
from merula.engines import Source
from merula.engines.sampling import some_rows
from merula.graphs.dependence import _kernels as kernels
from merula.graphs.dependence.columns import DependentColumns
from merula.graphs.dependence.families import OneDependence, ordered
from merula.graphs.dependence.implied import Implications
from merula.stats import Collected

FASTEST = 2**26  # numbers in a table with a row for every pair of levels
NAIVE = "naive Bayes"


@dataclass(frozen=True, eq=False, repr=False)
class AveragedModel(FittedModel):
    """A mixture of one-dependence models of the same columns, averaged in one loop; what it says is the mixture's.

    Cells that others of their row imply are left out before anything is asked.
    """

    implications: Implications | None = None

    def unsummed(self, rows: Encoded) -> list[ComponentTerms]:
        """See `FittedModel.unsummed`."""
        return super().unsummed(self._resolved(rows))

    def sums(self, rows: Encoded) -> tuple[Array, Array]:
        """See `FittedModel.sums`."""
        return super().sums(self._resolved(rows))

    def _resolved(self, rows: Encoded) -> Encoded:
        return rows if self.implications is None else self.implications.resolved(rows)

    def _add_up(self, rows: Encoded, out: Array, many: bool = False) -> None:
        rows = self._resolved(rows)
        if self._looked_up is None:
            super()._add_up(rows, out, many)
            return
        columns, sizes, starts, weights, log_start, table = self._looked_up
        top = cells = level_cells(rows, columns.columns, columns.level_sets)
        if columns.unseen != "smooth":
            cells = unknown_as_missing(top, columns.level_sets)
        none = kernels.add_average(cells, top, weights, log_start, starts, sizes, table, out)
        for part in self._shared:
            part.add_log_prob(rows, out)
        if none.any():
            fallback = next(one for one in self.components if one.fallback)
            answers = np.empty_like(out)
            fallback.add_up(rows, answers)
            out[none] = answers[none]

    @cached_property
    def _shared(self) -> tuple[Any, ...]:
        """What all components add: columns that depend on the class alone."""
        first = self.components[0]
        pairs = zip(first.parts, first.scored, strict=True)
        return tuple(scored for part, scored in pairs if not isinstance(part, DependentColumns))

    @cached_property
    def _weight(self) -> float | None:
        """What all terms of all components are multiplied by; None where they differ."""
        weights = {weight for one in self.components for weight in one.weights or (1.0,)}
        return weights.pop() if len(weights) == 1 else None

    @cached_property
    def _looked_up(self) -> tuple[Any, ...] | None:
        """All tables as one, by the level above and the level below; None where it would be too large, or there is none."""
        above = [(one, one.condition) for one in self.components if one.condition is not None]
        if not above or not self._weight:
            return None
        first = _dependent(above[0][0])
        sizes = np.array([len(levels) for levels in first.level_sets], dtype=np.int64)
        starts = np.cumsum([0, *(sizes + 1)])
        width, classes = int(starts[-1]), len(self.classes)
        if width * width * classes > FASTEST:
            return None
        table, log_start = np.zeros((width, width, classes)), np.zeros((width, classes))
        weights = np.zeros(width)
        for one, condition in above:
            columns, i = _dependent(one), first.columns.index(condition.column)
            own = slice(starts[i], starts[i] + sizes[i])
            log_start[own] = one.log_weight + one.log_prior + times(self._weight, columns.log_table[i][:-1])
            known = {label: k for k, label in enumerate(first.level_sets[i])}
            weights[[starts[i] + known[label] for label in condition.levels]] = np.exp(one.log_weight)
            for j, part in enumerate(columns.log_table):
                if j != i:
                    below = part if columns.parent_sets[j] else np.broadcast_to(part, (int(sizes[i]), *part.shape))
                    table[own, starts[j] : starts[j + 1]] = times(self._weight, below)
        return first, sizes, starts, weights, log_start, table.reshape(width * width, classes)

    def state(self) -> dict[str, Any]:
        """See `FittedModel.state`."""
        said = self.implications
        return super().state() | ({} if said is None else {"implications": said.state()})

    def fits(self) -> bool:
        """See `FittedModel.fits`; conditions name levels of columns that the components they belong to have alike."""
        if not super().fits():
            return False
        above = [(one, one.condition) for one in self.components if one.condition is not None]
        blocks = [part for one, _ in above for part in one.parts if isinstance(part, DependentColumns)]
        if len(blocks) != len(above) or len({(part.columns, part.level_sets) for part in blocks}) > 1:
            return False
        known = dict(zip(blocks[0].columns, blocks[0].level_sets, strict=True)) if blocks else {}
        return all(set(condition.levels) <= set(known.get(condition.column, ())) for _, condition in above)

    @classmethod
    def from_state(cls, state: Mapping[str, Any], families: Mapping[str, Any], path: Any) -> Self:
        """See `FittedModel.from_state`."""
        model = super().from_state(state, families, path)
        if "implications" not in state:
            return model
        said = Implications.from_state(state["implications"])
        levels = {name: known for part in model.distributions for name, known in part.levels.items()}
        if not said.fits() or any(levels.get(name) != known for name, known in zip(said.columns, said.level_sets, strict=True)):  # fmt: skip
            raise InputError.at(f"{path}", "holds implications between levels that its model does not know")
        return replace(model, implications=said)


@dataclass(frozen=True, eq=False)
class AveragedPosterior:
    """What is believed of each of the models that are averaged, by itself; they share the class and what depends on it alone."""

    naive: ModelPosterior
    fitted: FittedModel
    block: int
    above: list[tuple[int, tuple[Array, Posterior]]]
    empirical: bool

    @property
    def classes(self) -> ClassBelief:
        """What is believed of P(class)."""
        return self.naive.classes

    @property
    def priors(self) -> dict[str, str]:
        """What was believed of each column before its rows."""
        return self.naive.priors

    def draws(self, rng: np.random.Generator) -> Iterator[FittedModel]:
        """Mixtures as probable as the rows and the priors make them, without end."""
        streams = [(i, rows, belief.draws(rng)) for i, (rows, belief) in self.above]
        for drawn in self.naive.draws(rng):
            parts = drawn.components[0].parts
            others = (*parts[: self.block], *parts[self.block + 1 :])
            components = [replace(one, log_prior=drawn.log_prior, parts=parts) for one in self.fitted.components]
            for i, rows, stream in streams:
                log_prior = log_shares(rows, rng) if self.empirical else drawn.log_prior
                components[i] = replace(components[i], log_prior=log_prior, parts=(next(stream), *others))
            yield replace(self.fitted, log_prior=drawn.log_prior, components=tuple(components))


def _dependent(component: Component) -> DependentColumns:
    return next(part for part in component.parts if isinstance(part, DependentColumns))


class AODEClassifier(DependentClassifier):
    """Averaged one-dependence estimators: every column in turn is the super-parent of all others.

    P(c given x) ∝ Σ_i w_i · P(c, x_i) · Π_j≠i P(x_j given c, x_i)

    Only columns whose level in the row is known and frequent enough are averaged; where there is none, naive Bayes answers.
    Models add up: `partial_fit` in any batches and ``a + b`` equal one fit on all rows.

    Parameters
    ----------
    min_count : float
        The rows that must hold a level for its column to stand above the others in a row with that level.
    subsumption : None or float
        Leave a cell out where another cell of the row implies it, as "pregnant" implies "female", in at least this many
        training rows (100 is usual); None keeps all. It needs ``missing="marginalise"``.
    weights : None or "out-of-fold"
        All columns count alike, or each as much as it is worth as the super-parent: weights under which the classes of rows
        left out at fit are most probable. Such a model does not add up.
    kinds, levels, distributions, class_prior, variance, missing, unseen, estimate, n_jobs
        As for `NaiveBayesClassifier`. With ``class_prior="empirical"`` each P(c, x_i) is from the rows that know x_i.
    numeric : "auto", "mdl", "quantile" or "width"
        How columns of numbers are cut into intervals: where the class changes ("mdl", Fayyad & Irani; also "auto"), into
        equal shares, or into equal widths. A family in `distributions`, such as ``{"numeric": "gaussian"}``, leaves them uncut and given the class alone.
    bins : None or int
        The number of intervals, with "quantile" and "width".
    smoothing : float, MEstimate, "backoff" or "bdeu"
        A pseudo-count for every table; or see `TANClassifier`.

    Attributes
    ----------
    super_parents_ : {column: weight}
        The columns that are averaged over, and how much each counts.
    classes_, schema_, feature_names_in_, class_log_prior_, distributions_
        As for `NaiveBayesClassifier`.

    References
    ----------
    Webb, Boughton & Wang (2005), "Not so naive Bayes: aggregating one-dependence estimators"; Zheng & Webb (2006), "Efficient
    lazy elimination for averaged one-dependence estimators".

    Examples
    --------
    >>> import merula as mr
    >>> rows = [["sunny", "hot"], ["sunny", "mild"], ["rain", "mild"], ["rain", "cool"]] * 3
    >>> model = mr.AODEClassifier().fit(rows, ["no", "no", "yes", "yes"] * 3)
    >>> model.predict([["sunny", "cool"], [None, "hot"]])
    array(['no', 'no'], dtype='<U3')
    >>> model.super_parents_
    {'x0': 0.5, 'x1': 0.5}
    """

    _answering: ClassVar[type[FittedModel]] = AveragedModel

    def __init__(
        self,
        *,
        min_count: Any = 1,
        subsumption: Any = None,
        weights: Any = None,
        kinds: Any = None,
        levels: Any = None,
        distributions: Any = None,
        numeric: Any = "auto",
        bins: Any = None,
        class_prior: Any = "empirical",
        smoothing: Any = 1,
        variance: Any = "mle",
        missing: Any = "marginalise",
        unseen: Any = "missing",
        estimate: Any = PLUG_IN,
        n_jobs: Any = None,
    ) -> None:
        super().__init__(kinds=kinds, levels=levels, distributions=distributions, class_prior=class_prior, smoothing=smoothing, variance=variance, missing=missing, unseen=unseen, n_jobs=n_jobs)  # fmt: skip
        self.estimate = estimate
        self.min_count = min_count
        self.subsumption = subsumption
        self.weights = weights
        self.numeric = numeric
        self.bins = bins

    def _dependent(self) -> OneDependence:
        return OneDependence(smoothing=self.smoothing)

    def _check_options(self) -> None:
        super()._check_options()
        if self.numeric == GAUSSIAN:
            raise InputError((Option("numeric", GAUSSIAN), " has no super-parents to average: levels are counted, and numbers have none"), where="numeric", got=GAUSSIAN, remedy=("cut numbers (", Option("numeric", METHODS), "), or use TANClassifier"))  # fmt: skip
        checked_number(self.min_count, "min_count", "a number of rows from 0", lambda count: count >= 0)
        if self.weights is not None and not (isinstance(self.weights, str) and self.weights == "out-of-fold"):
            raise InputError.of("weights", self.weights, "None or 'out-of-fold'")
        if self.subsumption is not None:
            checked_number(
                self.subsumption, "subsumption", "None, or a number of rows above 0", lambda count: count > 0
            )
            if self.missing == "level":
                raise InputError.at("subsumption", "leaves cells out, which are a level of their own here", remedy=("use ", Option("missing", "marginalise")))  # fmt: skip

    def _learn(self, source: Source) -> Self:
        super()._learn(source)
        return self if self.weights is None else self._hold(self._weighed(source))

    @property
    def _at_once(self) -> str:
        fitted = f"weights={self.weights!r} are fitted on all rows at once; weights=None takes them in parts"
        return "" if self.weights is None else fitted

    def with_class_prior(self, class_prior: Any) -> Self:
        """See `NaiveBayesClassifier.with_class_prior`."""
        check_is_fitted(self, "classes_")
        model: Self = clone(self).set_params(class_prior=class_prior)
        built, own = model._build(self.fitted_.plan, self._counted()), self.fitted_.components
        weighed = tuple(replace(one, log_weight=old.log_weight, weights=old.weights) for one, old in zip(built.components, own, strict=True))  # fmt: skip
        return model._hold(replace(built, components=weighed, tuning=self.fitted_.tuning))

    @property
    def super_parents_(self) -> dict[str, float]:
        """The columns that are averaged over, and how much each counts."""
        check_is_fitted(self, "classes_")
        above = [one for one in self.fitted_.components if one.condition is not None]
        shares = np.exp([one.log_weight for one in above])
        return dict(zip([one.name for one in above], (shares / shares.sum()).tolist(), strict=True))

    def _weighed(self, source: Source) -> FittedModel:
        """The model whose super-parents count as much as they are worth."""
        names = list(self.super_parents_)
        if len(names) < 2:
            return self.fitted_
        found = component_weights(self, some_rows(source, "the weights of super-parents were learned"), names)
        return replace(
            self.fitted_,
            components=tuple(replace(one, log_weight=found.get(one.name, 0.0)) for one in self.fitted_.components),
        )

    def _build(self, plan: Plan, collected: Collected) -> FittedModel:
        naive = super()._build(plan, collected)
        places = [k for k, block in enumerate(plan.blocks) if isinstance(block.family, OneDependence)]
        if not places:
            return naive
        (k,) = places
        return self._averaged(naive, k, collected)

    @property
    def _no_posterior(self) -> str:
        return f"{WEIGHED}; {INSTEAD}" if self.weights is not None else super()._no_posterior

    def _posterior(self) -> Any:
        naive, fitted = super()._posterior(), self.fitted_
        above = [one for one in fitted.components if one.condition is not None]
        if not above:
            return naive
        assert fitted.collected is not None  # or there were no posterior
        plan = fitted.plan
        k = next(k for k, block in enumerate(plan.blocks) if isinstance(block.family, OneDependence))
        family, statistic, setting = plan.blocks[k].family, fitted.collected.blocks[k], self._setting(plan, fitted.collected, plan.blocks[k])  # fmt: skip
        found = family.posteriors_above(family.super_parents(statistic, setting, self.min_count), statistic, setting)
        empirical = isinstance(self.class_prior, str) and self.class_prior == "empirical"
        order = sorted(range(len(above)), key=lambda i: above[i].name)
        return AveragedPosterior(naive, fitted, k, [(i, found[i]) for i in order], empirical)

    def _averaged(self, naive: FittedModel, k: int, collected: Collected) -> FittedModel:
        """The mixture of all super-parents, with naive Bayes for rows that admit none."""
        plan = naive.plan
        setting = self._setting(plan, collected, plan.blocks[k])
        parts = naive.components[0].parts
        others = (*parts[:k], *parts[k + 1 :])
        empirical = isinstance(self.class_prior, str) and self.class_prior == "empirical"
        family = plan.blocks[k].family
        family = family.averaging() if self.estimate == PREDICTIVE else family
        found = family.super_parents(collected.blocks[k], setting, self.min_count)
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
        statistic: Any = collected.blocks[k]
        said = None if self.subsumption is None else Implications.met(ordered(statistic, setting), self.subsumption)
        all_parts = (*components, fallback)
        return AveragedModel(plan, naive.classes, naive.log_prior, all_parts, collected, implications=said)
