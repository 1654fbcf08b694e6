"""Semi-naive Bayes: categorical columns that depend on one another besides the class, one mechanism for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from merula.classify.base import BayesianClassifier
from merula.classify.fitted import FittedModel
from merula.classify.intervals import PLUG_IN
from merula.classify.plan import Block, Plan
from merula.classify.weighting import WeightedTerms
from merula.core import Array, InputError, Option, one_of
from merula.core.checks import true_or_false
from merula.data.intervals import interval_labels
from merula.data.schema import Column, Schema
from merula.distributions import Gaussian, Multinomial, NegativeBinomial
from merula.distributions.discretize.methods import METHODS, cuts_for, settled_bins
from merula.distributions.priors import Smoothing
from merula.engines import Source, collect, encoded
from merula.engines.cells import counted_in_cells
from merula.engines.sampling import some_rows
from merula.graphs.dependence.depths import DependentInSteps
from merula.graphs.dependence.families import Dependent, OneDependence
from merula.graphs.dependence.mixed_family import CLASS, MixedDependent
from merula.stats import Collected, Statistic, ValueCounts, Wanted
from merula.stats.dependence import Dependence

if TYPE_CHECKING:
    from merula.graphs.network import BayesianNetwork

GAUSSIAN = "gaussian"  # numbers that are not cut, normal about a linear function of others


class DependentClassifier(BayesianClassifier):
    """What these models share: numbers are cut into intervals, and a second pass counts families of more than two columns."""

    _shaping: ClassVar[tuple[str, ...]] = ("kinds", "levels", "distributions", "numeric", "bins", "smoothing")

    _own_families: ClassVar[tuple[Any, ...]] = (Dependent, DependentInSteps, MixedDependent, OneDependence)

    numeric: Any
    bins: Any

    def _dependent(self) -> Any:
        """The family of the categorical columns."""
        raise TypeError(f"{type(self).__name__} must name the family of its categorical columns")

    def _default_families(self) -> Mapping[str, Any]:
        family = self._dependent()
        family.check()
        return {
            "numeric": family if self.numeric == GAUSSIAN else Gaussian(),
            "datetime": Gaussian(),
            "count": NegativeBinomial(),
            "categorical": family,
            "text": Multinomial(),
        }

    def _check_options(self) -> None:
        super()._check_options()
        if one_of(self.numeric, ("auto", *METHODS, GAUSSIAN), "numeric") == GAUSSIAN:
            self._check_uncut()
            return
        settled_bins(self._cutting, self.bins, "numeric")
        if self.numeric == "mdl" and self._leaves_out:
            raise InputError.at("numeric", "is 'mdl', whose cuts know the class of every row, also of those left out", remedy=("use ", Option("numeric", "quantile"), " or ", Option("numeric", "auto")))  # fmt: skip

    @property
    def _leaves_out(self) -> bool:
        """Whether something is learned from rows left out at fit."""
        return False

    @property
    def _cutting(self) -> str:
        """How numbers are cut."""
        free = "quantile" if self._leaves_out else "mdl"
        return free if self.numeric == "auto" else str(self.numeric)

    def _check_uncut(self) -> None:
        """A ValueError for an option that numbers which are not cut do not heed."""
        normal, cut = Option("numeric", GAUSSIAN), (", or cut numbers: ", Option("numeric", METHODS))
        if self.bins is not None:
            raise InputError((Option("bins", self.bins), " does nothing with ", normal), where="bins", got=self.bins, remedy=("leave it out", *cut))  # fmt: skip
        if self._leaves_out:
            raise InputError.at("numeric", "is 'gaussian', but what is learned from rows left out needs levels to count", remedy=("cut numbers: ", Option("numeric", "quantile")))  # fmt: skip
        if self.variance != "mle":
            raise InputError((Option("variance", self.variance), " does nothing with ", normal, ", whose variances are those of the largest likelihood"), where="variance", got=self.variance, remedy=("leave it out", *cut))  # fmt: skip
        for name, value, allowed in (("missing", "level", "marginalise"), ("unseen", "smooth", "missing")):
            if getattr(self, name) == value:
                raise InputError((Option(name, value), " needs columns of levels alone, and ", normal, " keeps numbers"), where=name, got=value, remedy=("use ", Option(name, allowed), *cut))  # fmt: skip

    def _with_choices_stated(self, plan: Plan) -> Self:
        return super()._with_choices_stated(plan).set_params(numeric=self._cutting)

    def with_choices_fixed(self) -> Self:
        """See `NaiveBayesClassifier.with_choices_fixed`; how numbers are cut is stated as well."""
        return super().with_choices_fixed().set_params(numeric=self._cutting)._hold(self.fitted_)

    def _smoothing_of_columns(self, plan: Plan) -> Smoothing:
        return 1.0 if isinstance(self.smoothing, str) else super()._smoothing_of_columns(plan)

    def _read_as(self, schema: Schema, source: Source) -> Schema:
        self._check_options()
        if self.numeric == GAUSSIAN:
            return schema
        chosen = self.distributions if isinstance(self.distributions, Mapping) else {}
        cut = [c for c in schema.of_kind("numeric") if "numeric" not in chosen and c.name not in chosen]
        if not cut:
            return schema
        met = self._met(schema, source, [c.name for c in cut])
        cuts = {name: cuts_for(self._cutting, values, counts, self.bins) for name, (values, counts) in met.items()}
        return Schema(tuple(_cut(c, cuts[c.name]) if c.name in cuts else c for c in schema.columns))

    def _met(self, schema: Schema, source: Source, names: Sequence[str]) -> dict[str, tuple[Array, Array]]:
        """The different numbers of these columns, or the ends of cells so fine that they tell cuts, and the weight of each class in each."""
        if source.is_large:
            found = counted_in_cells(source, schema, names, self.n_jobs)
            return {name: counts.told_apart(name) for name, counts in found.items()}
        some = Schema(tuple(c if c.name in names else replace(c, kind="ignore") for c in schema.columns))
        values: Any = collect(source, some, [Wanted(ValueCounts, names)], self.n_jobs).blocks[0]
        return dict(zip(names, zip(values.values, values.counts, strict=True), strict=True))

    def _inspect(self, source: Source, more_to_come: bool = False, like: Schema | None = None) -> Plan:
        if like is not None:
            self._refuse_uncut(like)
        plan = super()._inspect(source, more_to_come, like)
        if CLASS in plan.schema.names:
            raise InputError.at(f"column {CLASS!r}", "is called as the class is inside the model", remedy="rename it")
        return replace(plan, blocks=tuple(_telling_numbers(block, plan.schema) for block in plan.blocks))

    def _refuse_uncut(self, like: Schema) -> None:
        """An error where a schema states no cuts for numbers that this model counts by intervals."""
        chosen = self.distributions if isinstance(self.distributions, Mapping) else {}
        numbers = [c.name for c in like.of_kind("numeric") if "numeric" not in chosen and c.name not in chosen]
        if numbers and self.numeric != GAUSSIAN:
            raise InputError.at(f"column {numbers[0]!r}", f"holds numbers, and the schema states no cuts for them, by which {type(self).__name__} counts", remedy="make the schema by counting for this model")  # fmt: skip

    def _family(self) -> type[Dependent]:
        """The family of columns of words that depend on one another."""
        return Dependent

    def _of_structure(self, structure: str, **options: Any) -> Dependent | MixedDependent:
        """The family of columns that depend on one another so: of words alone, or of words and numbers."""
        family = MixedDependent if self.numeric == GAUSSIAN else self._family()
        return family(structure, smoothing=self.smoothing, **options)

    def _count(self, plan: Plan, source: Source) -> Collected:
        deep = [k for k, block in enumerate(plan.blocks) if getattr(block.family, "deepest", 0) > 1]
        if not deep:
            return super()._count(plan, source)
        if not source.is_large:  # encoded once for both passes
            rows, target = encoded(replace(source, named=plan.named), plan.schema, self.n_jobs)
            source = replace(source, table=rows, target=target)
        first = super()._count(plan, source)
        blocks: list[Any] = list(first.blocks)
        for k in deep:
            block, chosen = plan.blocks[k], self._chosen(plan, k, first)
            wanted = block.family.wanted(block.columns, chosen=chosen, only_deeper=True)
            second: Any = collect(source, plan.schema, [wanted], self.n_jobs).blocks[0]
            blocks[k] = blocks[k].with_deeper(second)
        return replace(first, blocks=tuple(blocks))

    def _wanted_again(self, block: Block, statistic: Any) -> Wanted:
        if getattr(block.family, "deepest", 0) < 2:
            return super()._wanted_again(block, statistic)
        wanted: Wanted = block.family.wanted(block.columns, chosen=statistic.parents)
        return wanted

    def _chosen(self, plan: Plan, k: int, counted: Collected) -> Mapping[str, tuple[str, ...]]:
        """The parents of each column: those of the rows before, or the best by the pairs of these rows."""
        if hasattr(self, "fitted_") and plan is self.fitted_.plan:
            known: Any = self._counted().blocks[k]
            return known.parents  # type: ignore[no-any-return]
        block = plan.blocks[k]
        return block.family.chosen(counted.blocks[k], self._setting(plan, counted, block))  # type: ignore[no-any-return]


class OneSumClassifier(DependentClassifier):
    """What models of one sum share: each column has its parents, and the whole is a Bayesian network."""

    @property
    def parents_(self) -> dict[str, tuple[str, ...]]:
        """The columns that each column depends on besides the class."""
        check_is_fitted(self, "classes_")
        return {name: one.parents for part in self.distributions_ for one in part.factors() for name in one.columns}

    def to_network(self, target: str = "class") -> BayesianNetwork:
        """The same model as a Bayesian network: arcs from the class to every column, and from each column's parents to it.

        Parameters
        ----------
        target : str
            What to call the class.

        Examples
        --------
        >>> import merula as mr
        >>> rows = [["red", "round"], ["red", "round"], ["blue", "square"], ["blue", "round"]] * 5
        >>> model = mr.TANClassifier().fit(rows, ["ripe", "unripe", "ripe", "unripe"] * 5)
        >>> model.to_network("state").arcs
        [('state', 'x1'), ('state', 'x0'), ('x1', 'x0')]
        """
        from merula.classify.conversion import as_network  # on first use: networks take their time to load

        return as_network(self, target)


class WeightedSumClassifier(WeightedTerms, OneSumClassifier):
    """What models of one sum share whose terms may be weighted, each further parent by itself."""

    @property
    def _leaves_out(self) -> bool:
        return self._weighs

    def _as_chosen(self, block: Block, statistic: Statistic, part: Any) -> tuple[Any, Wanted]:
        if not isinstance(statistic, Dependence):
            return super()._as_chosen(block, statistic, part)
        wanted = Wanted(Dependence, block.columns, options={"chosen": statistic.parents})
        return replace(block.family, parents=part.graph), wanted

    def _family(self) -> type[Dependent]:
        return DependentInSteps if self._weighs else Dependent


def _telling_numbers(block: Block, schema: Schema) -> Block:
    """The block with a family that knows which of its columns hold numbers, where it asks for that."""
    if not hasattr(block.family, "numeric"):
        return block
    numeric = tuple(sorted(name for name in block.columns if schema[name].kind == "numeric"))
    return Block(replace(block.family, numeric=numeric), block.columns)


def _cut(column: Column, cuts: tuple[float, ...]) -> Column:
    return replace(column, kind="categorical", levels=interval_labels(cuts), cuts=cuts, declared=True)


class TANClassifier(WeightedSumClassifier):
    """Tree-augmented naive Bayes: each column depends on the class and on one other column, along the most probable tree.

    P(c given x) ∝ P(c) · Π_j P(x_j given c, x_parent(j))

    The tree has the largest sum of conditional mutual information given the class; its root is the column that tells most of
    the class. `partial_fit` and ``a + b`` find it anew from the summed counts of pairs.

    Parameters
    ----------
    kinds, levels, distributions, class_prior, variance, missing, unseen, estimate, n_jobs
        As for `NaiveBayesClassifier`. Dates, counts and texts depend on the class alone, as there. A family named in
        `distributions` for numbers, such as ``{"numeric": "gaussian"}``, leaves them uncut and given the class alone.
    numeric : "auto", "mdl", "quantile", "width" or "gaussian"
        How columns of numbers are cut into intervals: where the class changes ("mdl", Fayyad & Irani), into equal shares, or
        into equal widths. "auto" is "mdl", or "quantile" where something is learned from rows left out at fit: cuts that know
        their classes would tell them. Models with other cuts cannot be merged.
        "gaussian" keeps numbers: each is normal about a linear function of its numeric parents, for each class and
        configuration of its other parents, N(x_j; a_cd + Σ_i b_cdi · x_i, σ²_cd), where a class or configuration with few rows
        borrows slopes and variance from all together. Words then depend on words alone. What two numbers tell of each other
        is −½ log(1 − ρ²), averaged over classes; what a word tells of a number, the gain in mean log density.
    bins : None or int
        The number of intervals, with "quantile" and "width".
    smoothing : "backoff", "bdeu", float or MEstimate
        How tables are estimated from counts. "backoff": the estimate with one parent fewer is the prior of the next,
        (n_pcv + m · P(v given c, one parent fewer)) / (n_pc + m), with the m under which rows left out one at a time are
        most probable. "bdeu": one imaginary row, spread over all cells. A number: a pseudo-count for every cell.
    weights : None or "conditional"
        "conditional" weights what each column says, and apart from it what its parent adds: P(c given x) ∝ P(c) ·
        Π_j P(x_j given c)^w_j0 · (P(x_j given c, x_parent(j)) / P(x_j given c))^w_j1. How weights are learned, and what such a model
        lacks, is told under `NaiveBayesClassifier`.

    Attributes
    ----------
    parents_ : {column: tuple of columns}
        The columns that each column depends on besides the class.
    weights_ : {column: weight, or weights without and with its parent}, with ``weights="conditional"``
        What log terms are multiplied by.
    ridge_ : float, with ``weights="conditional"``
        How strongly the weights are held near 1.
    classes_, schema_, feature_names_in_, class_log_prior_, distributions_
        As for `NaiveBayesClassifier`.

    References
    ----------
    Friedman, Geiger & Goldszmidt (1997), "Bayesian network classifiers".

    Examples
    --------
    >>> import merula as mr
    >>> rows = [["sunny", "hot"], ["sunny", "mild"], ["rain", "mild"], ["rain", "cool"]] * 3
    >>> model = mr.TANClassifier().fit(rows, ["no", "yes", "yes", "no"] * 3)
    >>> model.parents_
    {'x0': ('x1',), 'x1': ()}
    >>> model.predict([[None, "mild"], [None, "cool"]])
    array(['yes', 'no'], dtype='<U3')
    >>> weighted = mr.TANClassifier(weights="conditional").fit(rows, ["no", "yes", "yes", "no"] * 3)
    >>> {column: len(weight) if isinstance(weight, tuple) else 1 for column, weight in weighted.weights_.items()}
    {'x0': 2, 'x1': 1}
    """

    _shaping: ClassVar[tuple[str, ...]] = (*DependentClassifier._shaping, "weights")

    def __init__(
        self,
        *,
        kinds: Any = None,
        levels: Any = None,
        distributions: Any = None,
        numeric: Any = "auto",
        bins: Any = None,
        class_prior: Any = "empirical",
        smoothing: Any = "backoff",
        weights: Any = None,
        variance: Any = "mle",
        missing: Any = "marginalise",
        unseen: Any = "missing",
        estimate: Any = PLUG_IN,
        n_jobs: Any = None,
    ) -> None:
        super().__init__(kinds=kinds, levels=levels, distributions=distributions, class_prior=class_prior, smoothing=smoothing, variance=variance, missing=missing, unseen=unseen, n_jobs=n_jobs)  # fmt: skip
        self.estimate = estimate
        self.weights = weights
        self.numeric = numeric
        self.bins = bins

    def _dependent(self) -> Dependent | MixedDependent:
        return self._of_structure("tree")


class SPODEClassifier(OneSumClassifier):
    """One super-parent: every column depends on the class and on the same other column.

    P(c given x) ∝ P(c) · P(x_i given c) · Π_j≠i P(x_j given c, x_i)

    Parameters
    ----------
    super_parent : None or str
        The column that all others depend on; None takes the one with the best BIC.
    kinds, levels, distributions, class_prior, variance, missing, unseen, estimate, n_jobs
        As for `NaiveBayesClassifier`. Dates, counts and texts depend on the class alone, as there. A family named in
        `distributions` for numbers, such as ``{"numeric": "gaussian"}``, leaves them uncut and given the class alone.
    numeric : "auto", "mdl", "quantile", "width" or "gaussian"
        As for `TANClassifier`.
    bins : None or int
        The number of intervals, with "quantile" and "width".
    smoothing : "backoff", "bdeu", float or MEstimate
        How tables are estimated from counts. "backoff": the estimate with one parent fewer is the prior of the next,
        (n_pcv + m · P(v given c, one parent fewer)) / (n_pc + m), with the m under which rows left out one at a time are
        most probable. "bdeu": one imaginary row, spread over all cells. A number: a pseudo-count for every cell.

    Attributes
    ----------
    parents_ : {column: tuple of columns}
        The columns that each column depends on besides the class.
    classes_, schema_, feature_names_in_, class_log_prior_, distributions_
        As for `NaiveBayesClassifier`.

    Examples
    --------
    >>> import merula as mr
    >>> rows = [["sunny", "hot"], ["sunny", "mild"], ["rain", "mild"], ["rain", "cool"]] * 3
    >>> model = mr.SPODEClassifier(super_parent="x0").fit(rows, ["no", "yes", "yes", "no"] * 3)
    >>> model.parents_
    {'x0': (), 'x1': ('x0',)}
    """

    _shaping: ClassVar[tuple[str, ...]] = (*DependentClassifier._shaping, "super_parent")

    def __init__(
        self,
        *,
        super_parent: Any = None,
        kinds: Any = None,
        levels: Any = None,
        distributions: Any = None,
        numeric: Any = "auto",
        bins: Any = None,
        class_prior: Any = "empirical",
        smoothing: Any = "backoff",
        variance: Any = "mle",
        missing: Any = "marginalise",
        unseen: Any = "missing",
        estimate: Any = PLUG_IN,
        n_jobs: Any = None,
    ) -> None:
        super().__init__(kinds=kinds, levels=levels, distributions=distributions, class_prior=class_prior, smoothing=smoothing, variance=variance, missing=missing, unseen=unseen, n_jobs=n_jobs)  # fmt: skip
        self.estimate = estimate
        self.super_parent = super_parent
        self.numeric = numeric
        self.bins = bins

    @property
    def _needs_classes(self) -> str:
        return ""

    def _dependent(self) -> Dependent | MixedDependent:
        return self._of_structure("super-parent", super_parent=self.super_parent)


class KDBClassifier(WeightedSumClassifier):
    """K-dependence Bayes: each column depends on the class and on up to k others.

    P(c given x) ∝ P(c) · Π_j P(x_j given c, x_parents(j))

    Columns are ranked by how much they tell of the class; each depends on the k before it that tell most of it given the
    class. With k > 1 rows are read twice: parents are chosen from counts of pairs, then their families are counted. More rows
    (`partial_fit`) and ``a + b`` go on with the same parents, and are an error where those would no longer be chosen;
    `parents` states them once and for all.

    Parameters
    ----------
    k : int
        The most parents of a column besides the class, unless `parents` states them: 0 is naive Bayes.
    select : bool
        Choose how many columns to keep, and with how many parents each (up to k), by the log loss of rows left out one at a
        time: selective k-dependence Bayes. Rows are read three times. The other columns are ignored from then on.
    parents : None or {column: columns}
        The parents of each column, stated; columns that are not named have none.
    kinds, levels, distributions, class_prior, variance, missing, unseen, estimate, n_jobs
        As for `NaiveBayesClassifier`. Dates, counts and texts depend on the class alone, as there. A family named in
        `distributions` for numbers, such as ``{"numeric": "gaussian"}``, leaves them uncut and given the class alone.
    numeric : "auto", "mdl", "quantile", "width" or "gaussian"
        As for `TANClassifier`.
    bins : None or int
        The number of intervals, with "quantile" and "width".
    smoothing : "backoff", "bdeu", float or MEstimate
        How tables are estimated from counts. "backoff": the estimate with one parent fewer is the prior of the next,
        (n_pcv + m · P(v given c, one parent fewer)) / (n_pc + m), with the m under which rows left out one at a time are
        most probable. "bdeu": one imaginary row, spread over all cells. A number: a pseudo-count for every cell.
    weights : None or "conditional"
        "conditional" weights what each column says, and apart from it what each further parent adds, as for `TANClassifier`.

    Attributes
    ----------
    parents_ : {column: tuple of columns}
        The columns that each column depends on besides the class.
    left_out_log_loss_ : float, with ``select=True``
        The mean log loss of rows whose terms leave them out one at a time, for the columns and parents that were kept; P(class) is
        that of all rows. Terms without a closed form,
        such as those of rows that lack a parent, are by models of the rows of other folds, with all parents.
    weights_ : {column: weight, or weights given no parent, one, two, …}, with ``weights="conditional"``
        What log terms are multiplied by.
    ridge_ : float, with ``weights="conditional"``
        How strongly the weights are held near 1.
    classes_, schema_, feature_names_in_, class_log_prior_, distributions_
        As for `NaiveBayesClassifier`.

    References
    ----------
    Sahami (1996), "Learning limited dependence Bayesian classifiers"; Martínez, Webb, Chen & Zaidi (2016), "Scalable learning of
    Bayesian network classifiers".

    Examples
    --------
    >>> import merula as mr
    >>> rows = [["sunny", "hot", "dry"], ["sunny", "mild", "wet"], ["rain", "mild", "wet"], ["rain", "cool", "wet"]] * 3
    >>> model = mr.KDBClassifier(2).fit(rows, ["no", "yes", "yes", "no"] * 3)
    >>> model.parents_
    {'x0': ('x1', 'x2'), 'x1': (), 'x2': ('x1',)}
    """

    _shaping: ClassVar[tuple[str, ...]] = (*DependentClassifier._shaping, "weights", "k", "parents", "select")

    def __init__(
        self,
        k: Any = 2,
        *,
        select: Any = False,
        parents: Any = None,
        kinds: Any = None,
        levels: Any = None,
        distributions: Any = None,
        numeric: Any = "auto",
        bins: Any = None,
        class_prior: Any = "empirical",
        smoothing: Any = "backoff",
        weights: Any = None,
        variance: Any = "mle",
        missing: Any = "marginalise",
        unseen: Any = "missing",
        estimate: Any = PLUG_IN,
        n_jobs: Any = None,
    ) -> None:
        super().__init__(kinds=kinds, levels=levels, distributions=distributions, class_prior=class_prior, smoothing=smoothing, variance=variance, missing=missing, unseen=unseen, n_jobs=n_jobs)  # fmt: skip
        self.estimate = estimate
        self.k = k
        self.select = select
        self.parents = parents
        self.weights = weights
        self.numeric = numeric
        self.bins = bins

    def _dependent(self) -> Dependent | MixedDependent:
        return self._of_structure("k-dependence", k=self.k, parents=self.parents)

    @property
    def _needs_classes(self) -> str:
        if self.select:
            return "its columns are selected by how well they tell the classes of rows"
        if self.parents is None and isinstance(self.k, int | np.integer) and self.k > 1:
            return "with k above 1, the parents of columns are chosen by rows with a class once and for all; state them (parents=…)"
        return super()._needs_classes

    @property
    def _leaves_out(self) -> bool:
        return (isinstance(self.select, bool | np.bool_) and bool(self.select)) or super()._leaves_out

    def _check_options(self) -> None:
        super()._check_options()
        true_or_false(self.select, "select")

    @property
    def _at_once(self) -> str:
        chosen = "select=True chooses columns from all rows at once; fit once, then take with_choices_fixed()"
        return chosen if self.select else ""

    def with_choices_fixed(self) -> Self:
        """See `NaiveBayesClassifier.with_choices_fixed`; columns and parents that were selected are stated as well."""
        model = super().with_choices_fixed()
        return model.set_params(select=False, parents=self.parents_)._hold(self.fitted_) if self.select else model

    def _tuned(self, fitted: FittedModel, source: Source) -> FittedModel:
        if self.select:
            from merula.classify.selection import selected

            source = replace(some_rows(source, "columns were selected"), named=fitted.plan.named)
            rows, target = encoded(source, fitted.plan.schema, self.n_jobs)
            dealt = partial(self._dealt, fitted.plan, source, rows, target)
            found = selected(fitted, self._held(fitted), rows, target, dealt)
            if found is not None:
                plan, collected, loss = found
                fitted = replace(self._build(plan, collected), tuning={"left_out_log_loss": loss})
        return super()._tuned(fitted, source)

    def _hold(self, fitted: FittedModel) -> Any:
        super()._hold(fitted)
        self.__dict__.pop("left_out_log_loss_", None)
        if "left_out_log_loss" in fitted.tuning:
            self.left_out_log_loss_ = fitted.tuning["left_out_log_loss"]
        return self
