"""Semi-naive Bayes: categorical columns that depend on one another besides the class, one mechanism for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from merula.classify.base import BayesianClassifier
from merula.classify.plan import Block, Plan
from merula.core import InputError, Option, one_of
from merula.data.encode import encode_rows, encode_target
from merula.data.intervals import interval_labels
from merula.data.schema import Column, Schema
from merula.data.table import Table
from merula.distributions import Gaussian, Multinomial, NegativeBinomial
from merula.distributions.discretize.methods import METHODS, cuts_for, settled_bins
from merula.distributions.priors import Smoothing
from merula.engines import Source, collect
from merula.graphs.dependence.families import Dependent, OneDependence
from merula.graphs.dependence.mixed_family import MixedDependent
from merula.stats import Collected, ValueCounts, Wanted

if TYPE_CHECKING:
    from merula.graphs.network import BayesianNetwork

GAUSSIAN = "gaussian"  # numbers that are not cut, normal about a linear function of others


class DependentClassifier(BayesianClassifier):
    """What these models share: numbers are cut into intervals, and a second pass counts families of more than two columns."""

    _shaping: ClassVar[tuple[str, ...]] = ("kinds", "levels", "distributions", "numeric", "bins")

    _own_families: ClassVar[tuple[Any, ...]] = (Dependent, MixedDependent, OneDependence)

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
        if one_of(self.numeric, (*METHODS, GAUSSIAN), "numeric") == GAUSSIAN:
            self._check_uncut()
        else:
            settled_bins(self.numeric, self.bins)

    def _check_uncut(self) -> None:
        """A ValueError for an option that numbers which are not cut do not heed."""
        normal, cut = Option("numeric", GAUSSIAN), (", or cut numbers: ", Option("numeric", METHODS))
        if self.bins is not None:
            raise InputError((Option("bins", self.bins), " does nothing with ", normal), where="bins", got=self.bins, remedy=("leave it out", *cut))  # fmt: skip
        if self.variance != "mle":
            raise InputError((Option("variance", self.variance), " does nothing with ", normal, ", whose variances are those of the largest likelihood"), where="variance", got=self.variance, remedy=("leave it out", *cut))  # fmt: skip
        for name, value, allowed in (("missing", "level", "marginalise"), ("unseen", "smooth", "missing")):
            if getattr(self, name) == value:
                raise InputError((Option(name, value), " needs columns of levels alone, and ", normal, " keeps numbers"), where=name, got=value, remedy=("use ", Option(name, allowed), *cut))  # fmt: skip

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
        names = {column.name for column in cut}
        some = Schema(tuple(c if c.name in names else replace(c, kind="ignore") for c in schema.columns))
        values: Any = collect(source, some, [Wanted(ValueCounts, [c.name for c in cut])], self.n_jobs).blocks[0]
        cuts = {
            column.name: cuts_for(self.numeric, met, counts, self.bins)
            for column, met, counts in zip(cut, values.values, values.counts, strict=True)
        }
        return Schema(tuple(_cut(c, cuts[c.name]) if c.name in cuts else c for c in schema.columns))

    def _inspect(self, table: Table, y: Any, sample_weight: Any, more_to_come: bool = False) -> Plan:
        plan = super()._inspect(table, y, sample_weight, more_to_come)
        return replace(plan, blocks=tuple(_telling_numbers(block, plan.schema) for block in plan.blocks))

    def _of_structure(self, structure: str, **options: Any) -> Dependent | MixedDependent:
        """The family of columns that depend on one another so: of words alone, or of words and numbers."""
        family = MixedDependent if self.numeric == GAUSSIAN else Dependent
        return family(structure, smoothing=self.smoothing, **options)

    def _count(self, plan: Plan, X: Any, y: Any, sample_weight: Any) -> Collected:
        deep = [k for k, block in enumerate(plan.blocks) if getattr(block.family, "deepest", 0) > 1]
        if not deep:
            return super()._count(plan, X, y, sample_weight)
        rows = encode_rows(X, plan.schema, plan.named, type(self).__name__)
        target = encode_target(y, len(rows), sample_weight)
        first = super()._count(plan, rows, target, None)
        blocks: list[Any] = list(first.blocks)
        for k in deep:
            block, chosen = plan.blocks[k], self._chosen(plan, k, first)
            wanted = block.family.wanted(block.columns, chosen=chosen, only_deeper=True)
            second: Any = collect(Source(rows, target), plan.schema, [wanted], self.n_jobs).blocks[0]
            blocks[k] = blocks[k].with_deeper(second)
        return replace(first, blocks=tuple(blocks))

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


def _telling_numbers(block: Block, schema: Schema) -> Block:
    """The block with a family that knows which of its columns hold numbers, where it asks for that."""
    if not hasattr(block.family, "numeric"):
        return block
    numeric = tuple(sorted(name for name in block.columns if schema[name].kind == "numeric"))
    return Block(replace(block.family, numeric=numeric), block.columns)


def _cut(column: Column, cuts: tuple[float, ...]) -> Column:
    return replace(column, kind="categorical", levels=interval_labels(cuts), cuts=cuts, declared=True)


class TANClassifier(OneSumClassifier):
    """Tree-augmented naive Bayes: each column depends on the class and on one other column, along the most probable tree.

    P(c given x) ∝ P(c) · Π_j P(x_j given c, x_parent(j))

    Parameters
    ----------
    numeric : {"mdl", "quantile", "width", "gaussian"}
        Numbers cut into intervals, or kept ("gaussian"): each is normal about a linear function of its numeric parents, for each
        class and configuration of its other parents, N(x_j; a_cd + Σ_i b_cdi · x_i, σ²_cd), where a class or configuration with
        few rows borrows slopes and variance from all together. Words then depend on words alone. What two numbers tell of each other
        is −½ log(1 − ρ²), averaged over classes; what a word tells of a number, the gain in mean log density.
    """

    def __init__(
        self,
        *,
        kinds: Any = None,
        levels: Any = None,
        distributions: Any = None,
        numeric: Any = "mdl",
        bins: Any = None,
        class_prior: Any = "empirical",
        smoothing: Any = "backoff",
        variance: Any = "mle",
        missing: Any = "marginalise",
        unseen: Any = "missing",
        n_jobs: Any = None,
    ) -> None:
        super().__init__(kinds=kinds, levels=levels, distributions=distributions, class_prior=class_prior, smoothing=smoothing, variance=variance, missing=missing, unseen=unseen, n_jobs=n_jobs)  # fmt: skip
        self.numeric = numeric
        self.bins = bins

    def _dependent(self) -> Dependent | MixedDependent:
        return self._of_structure("tree")


class SPODEClassifier(OneSumClassifier):
    """One super-parent: every column depends on the class and on the same other column.

    P(c given x) ∝ P(c) · P(x_i given c) · Π_j≠i P(x_j given c, x_i)

    Parameters
    ----------
    numeric : {"mdl", "quantile", "width", "gaussian"}
        As for `TANClassifier`.
    """

    def __init__(
        self,
        *,
        super_parent: Any = None,
        kinds: Any = None,
        levels: Any = None,
        distributions: Any = None,
        numeric: Any = "mdl",
        bins: Any = None,
        class_prior: Any = "empirical",
        smoothing: Any = "backoff",
        variance: Any = "mle",
        missing: Any = "marginalise",
        unseen: Any = "missing",
        n_jobs: Any = None,
    ) -> None:
        super().__init__(kinds=kinds, levels=levels, distributions=distributions, class_prior=class_prior, smoothing=smoothing, variance=variance, missing=missing, unseen=unseen, n_jobs=n_jobs)  # fmt: skip
        self.super_parent = super_parent
        self.numeric = numeric
        self.bins = bins

    def _dependent(self) -> Dependent | MixedDependent:
        return self._of_structure("super-parent", super_parent=self.super_parent)


class KDBClassifier(OneSumClassifier):
    """K-dependence Bayes: each column depends on the class and on up to k others.

    P(c given x) ∝ P(c) · Π_j P(x_j given c, x_parents(j))

    Parameters
    ----------
    numeric : {"mdl", "quantile", "width", "gaussian"}
        As for `TANClassifier`.
    """

    def __init__(
        self,
        k: Any = 2,
        *,
        parents: Any = None,
        kinds: Any = None,
        levels: Any = None,
        distributions: Any = None,
        numeric: Any = "mdl",
        bins: Any = None,
        class_prior: Any = "empirical",
        smoothing: Any = "backoff",
        variance: Any = "mle",
        missing: Any = "marginalise",
        unseen: Any = "missing",
        n_jobs: Any = None,
    ) -> None:
        super().__init__(kinds=kinds, levels=levels, distributions=distributions, class_prior=class_prior, smoothing=smoothing, variance=variance, missing=missing, unseen=unseen, n_jobs=n_jobs)  # fmt: skip
        self.k = k
        self.parents = parents
        self.numeric = numeric
        self.bins = bins

    def _dependent(self) -> Dependent | MixedDependent:
        return self._of_structure("k-dependence", k=self.k, parents=self.parents)
